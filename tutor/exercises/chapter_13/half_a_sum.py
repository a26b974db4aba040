"""A sum that stops."""

from tutor.check.exercise import PREDICT, Exercise

half_a_sum = Exercise(
    name="half_a_sum",
    chapter="13",
    section="Numbers of sixteen bits",
    kind=PREDICT,
    title="A sum that stops",
    goal="Say where a sum in sixteen bits stops growing.",
    difficulty=3,
    importance=4,
    minutes=6,
    text="""\
A total in bfloat16 starts at 0. We add 0.001, again and again; each new total is rounded to the
nearest bfloat16. **Predict** the number at which it stays for ever.

(From $2^e$ up to $2^{e+1}$ there are $2^7$ numbers at equal distances.)""",
    hints=(
        "It stays where 0.001 is less than half of the distance to the next number.",
        "From 1/4 to 1/2 the distance is $2^{-2} / 2^7 = 2^{-9}$, about 0.00195. Is 0.001 more "
        "than half of that?",
        "It is, barely, so the total moves on. From 1/2 to 1 the distance is twice as large.",
    ),
    stub="half_a_sum = None  # a number",
    solution="half_a_sum = 0.5",
    because="From 1/2 on the distance is 0.0039, and 0.001 is less than half of it.",
    reference=0.5,
    tolerance=0.001,
    mistakes=(
        (
            "From 1/4 on the distance is 0.00195. Half of that is 0.00098, less than 0.001: the "
            "total still moves.",
            0.25,
        ),
        (
            "From 1/2 to 1 the distance is 0.0039. Half of that is more than 0.001, so 1 is never "
            "reached.",
            1.0,
        ),
        ("That is where ones stop. Here 0.001 is added.", 256.0),
        ("That is 256 times 0.001. The distances are powers of two, and 0.001 is none.", 0.256),
        (
            "From 1/8 on the distance is 0.00098, so each 0.001 moves the total by one number.",
            0.125,
        ),
        (
            "That is 512 times 0.001. Do not count: ask where half a distance is more than 0.001.",
            0.512,
        ),
        ("That is where float16, with 10 bits of mantissa, stops.", 4.0),
    ),
    wrong={
        "half_a_sum = 0.125": "by one number",
        "half_a_sum = 0.25": "still moves",
        "half_a_sum = 1": "never",
        "half_a_sum = 256 * 0.001": "powers of two",
    },
    right=(
        "half_a_sum = 1 / 2",
        """\
half_a_sum = torch.zeros((), dtype=torch.bfloat16)
for _ in range(2000):
    half_a_sum = half_a_sum + 0.001
half_a_sum = half_a_sum.item()
""",
    ),
)
