"""Two beams, four steps."""

import math

from tutor.check.exercise import PREDICT, Exercise

best_on_top = Exercise(
    name="best_on_top",
    chapter="08",
    section="Beam search on paper",
    kind=PREDICT,
    title="Two beams, four steps",
    goal="Run beam search by hand, with finished beams in the pool.",
    difficulty=3,
    importance=4,
    minutes=12,
    text="""\
A toy model looks at the last word alone:

| after | comes |
|---|---|
| `[BOS]` | a 0.6, the 0.4 |
| a | cat 0.4, dog 0.35, `[EOS]` 0.25 |
| the | cat 0.9, dog 0.1 |
| cat | sleeps 0.55, `[EOS]` 0.45 |
| dog | `[EOS]` 1 |
| sleeps | `[EOS]` 0.7, well 0.3 |
| well | `[EOS]` 1 |

Run beam search with $k = 2$, ranked by the sum of logarithms alone ($\\alpha = 0$), with the three
rules of the chapter. **Predict** the probability of the **best beam of the pool** after each of the
first four steps: a list of four numbers, good to three decimals.""",
    hints=(
        "Write the proposals of both beams below each other after every step, with their products, "
        "and keep the two largest. Both may have the same parent.",
        "After step 2 the pool is *the cat* 0.36 and *a cat* 0.24. Each has two children.",
        "After step 3 the pool is *the cat sleeps* and *the cat* `[EOS]`. By rule 2, the second "
        "proposes itself in step 4, at no cost.",
    ),
    stub="best_on_top = None  # a list of four numbers, such as [0.9, 0.5, 0.2, 0.1]",
    solution="best_on_top = [0.6, 0.36, 0.198, 0.162]",
    because="a, the cat, the cat sleeps; then the cat [EOS], which kept its place: 0.162 > 0.139.",
    reference=[0.6, 0.36, 0.198, 0.162],
    tolerance=0.0006,
    mistakes=(
        (
            "That is greedy search, one beam. With two, *the* (0.4) stays in the pool, and its "
            "child *the cat* is better than *a cat*.",
            [0.6, 0.24, 0.132, 0.0924],
        ),
        (
            "Three steps are right. In the fourth you lost a finished beam: *the cat* `[EOS]` is "
            "in the pool after step 3, and by rule 2 it proposes itself, unchanged.",
            [0.6, 0.36, 0.198, 0.1386],
        ),
        (
            "Those are the factors of the last step. A beam's probability is the product of all "
            "its steps.",
            [0.6, 0.9, 0.55, 0.7],
        ),
        (
            "Those are the second beams of the pool. The best is asked for.",
            [0.4, 0.24, 0.162, 0.1386],
        ),
        (
            "That is the way of the winner. Asked for is the best beam after each step, whichever "
            "it is.",
            [0.4, 0.36, 0.162, 0.162],
        ),
        (
            "Those are logarithms. Give the probabilities.",
            [math.log(p) for p in (0.6, 0.36, 0.198, 0.162)],
        ),
        (
            "The finished beam pays for a step that it does not take: it proposes itself at no "
            "cost.",
            [0.6, 0.36, 0.198, 0.162 * 0.7],
        ),
        (
            "*Well* is less probable than `[EOS]` after *sleeps*; and look at the finished beam.",
            [0.6, 0.36, 0.198, 0.0594],
        ),
        (
            "In the third step, *sleeps* (0.55) is more probable after *the cat* than `[EOS]` "
            "(0.45).",
            [0.6, 0.36, 0.162, 0.162],
        ),
        (
            "After the first step, *a* (0.6) is the best beam; *the* is the second.",
            [0.4, 0.36, 0.198, 0.162],
        ),
        ("Those have two decimals. Three are asked for.", [0.6, 0.36, 0.2, 0.16]),
    ),
    wrong={
        "best_on_top = [0.6, 0.6 * 0.4, 0.6 * 0.4 * 0.55, 0.6 * 0.4 * 0.55 * 0.7]": "greedy",
        "best_on_top = [0.6, 0.36, 0.198, 0.139]": "lost a finished beam",
        "best_on_top = [0.6, 0.9, 0.55, 0.7]": "factors of the last step",
        "best_on_top = [0.4, 0.24, 0.162, 0.139]": "second beams",
        "best_on_top = [0.4, 0.36, 0.162, 0.162]": "the way of the winner",
        "best_on_top = [math.log(p) for p in (0.6, 0.36, 0.198, 0.162)]": "logarithms",
        "best_on_top = [0.6, 0.36, 0.198]": "of length 3",
        "best_on_top = [0.6, 0.36, 0.36 * 0.45, 0.36 * 0.45]": "*sleeps* (0.55)",
        "best_on_top = [0.6, 0.36, 0.2, 0.16]": "Three are asked for",
    },
    right=(
        "best_on_top = [0.6, 0.4 * 0.9, 0.4 * 0.9 * 0.55, 0.4 * 0.9 * 0.45]",
        "best_on_top = torch.tensor([0.6, 0.36, 0.198, 0.162])",
        """\
from decimal import Decimal
best_on_top = [Decimal("0.6"), torch.tensor([0.36]), Decimal("0.198"), Decimal("0.162")]
""",
    ),
)
