"""The paper's curve, as high as you like."""

from tutor.check.exercise import WRITE, Exercise
from tutor.training.optimizers import inverse_square_root


def _rate(step, peak, warmup):
    return peak * min((step + 1) / warmup, (warmup / (step + 1)) ** 0.5)


def _from_step_1(step, peak, warmup):
    if step == 0:
        raise ZeroDivisionError  # without Python's words, which are others for other divisions
    return peak * min(step / warmup, (warmup / step) ** 0.5)


def _from_warmup_less_1(always):
    """Divides by warmup - 1, at every step or only while the rate rises."""

    def rate(step, peak, warmup):
        if warmup == 1 and (always or step < warmup):
            raise ZeroDivisionError
        if step < warmup:
            return peak * min(step / (warmup - 1), (warmup / (step + 1)) ** (0.5 * always))
        return peak * (warmup / (step + 1)) ** 0.5

    return rate


paper_rate = Exercise(
    name="paper_rate",
    chapter="07",
    section="How large a step?",
    kind=WRITE,
    title="The paper's curve, as high as you like",
    goal="Write a warm-up schedule that is right at step 0 and at its peak.",
    difficulty=3,
    importance=3,
    minutes=6,
    text="""\
The paper's learning rate rises in a line for `warmup` steps and then falls like the inverse square
root of the step. How high it rises depends on $d_{model}$ and `warmup`. Write the same curve with a
height of your choice: the **largest rate is `peak`**. Steps are counted from 0, and the largest
rate is that of step `warmup - 1`.""",
    hints=(
        "The chapter's function counts with `step + 1`: at step 0 one step is taken. Which two "
        "curves does it take the minimum of?",
        "Divide the chapter's formula by its own value at the peak, where `step + 1` is `warmup`; "
        "both curves are `warmup ** -0.5` there, and $d_{model}$ cancels.",
        "The line is `(step + 1) / warmup`. The other curve is 1 there too: "
        "`(warmup / (step + 1)) ** 0.5`.",
    ),
    stub='''\
def paper_rate(step, peak, warmup):
    """The learning rate at a step.

    step: int, counted from 0
    peak: float, the largest rate
    warmup: int, at least 1, the number of steps in which the rate rises
    Returns a float
    """
    raise NotImplementedError
''',
    solution='''\
def paper_rate(step, peak, warmup):
    """The learning rate at a step.

    step: int, counted from 0
    peak: float, the largest rate
    warmup: int, at least 1, the number of steps in which the rate rises
    Returns a float
    """
    return peak * min((step + 1) / warmup, (warmup / (step + 1)) ** 0.5)
''',
    reference=_rate,
    cases=lambda: [
        (0, 1.0, 1),
        (0, 1.0, 4),
        (3, 1.0, 4),
        (4, 1.0, 4),
        (15, 1.0, 4),
        (2, 0.5, 1),
        (99, 3.0, 7),
        (4999, 0.002, 4000),
    ],  # fmt: skip
    tolerance=1e-6,
    forbidden=(inverse_square_root,),
    mistakes=(
        (
            "That is the chapter's curve without its d_model. Divide by its value at the peak, and "
            "multiply by `peak`.",
            lambda step, peak, warmup: min((step + 1) ** -0.5, (step + 1) * warmup**-1.5),
        ),
        *(
            (
                "There is a width in your formula, as in the chapter's. Here nobody knows d_model: "
                "the height is `peak`.",
                lambda step, peak, warmup, factor=factor: (
                    (peak * factor) * min((step + 1) ** -0.5, (step + 1) * warmup**-1.5)
                ),
            )
            for factor in (512**-0.5, 256**-0.5, 128**-0.5, 64**-0.5)
        ),
        *(
            (
                "You divide by `warmup - 1`, so the line begins at 0 or is too steep. `warmup` "
                "steps lead to the peak.",
                of,
            )
            for of in (
                _from_warmup_less_1(always=True),
                _from_warmup_less_1(always=False),
                lambda step, peak, warmup: (
                    peak * min(step / max(warmup - 1, 1), (warmup / (step + 1)) ** 0.5)
                ),
                lambda step, peak, warmup: (
                    peak * (step / max(warmup - 1, 1))
                    if step < warmup
                    else peak * (warmup / (step + 1)) ** 0.5
                ),
                lambda step, peak, warmup: (
                    peak * min((step + 1) / max(warmup - 1, 1), (warmup / (step + 1)) ** 0.5)
                ),
            )
        ),
        *(
            (
                "`//` drops the fraction: the rate is 0 where it should rise or fall. Divide with "
                "`/`.",
                of,
            )
            for of in (
                lambda step, peak, warmup: (
                    peak * min((step + 1) // warmup, (warmup / (step + 1)) ** 0.5)
                ),
                lambda step, peak, warmup: (
                    peak * min((step + 1) / warmup, (warmup // (step + 1)) ** 0.5)
                ),
                lambda step, peak, warmup: (
                    peak * min((step + 1) // warmup, (warmup // (step + 1)) ** 0.5)
                ),
            )
        ),
        (
            "The rise has a square root too. It is a line; the root belongs to the fall.",
            lambda step, peak, warmup: peak * min((step + 1) / warmup, warmup / (step + 1)) ** 0.5,
        ),
        (
            "At step 0 you divide by 0. Steps are counted from 0, so use `step + 1`.",
            _from_step_1,
        ),
        (
            "Your curve is one step late, and the first step has a rate of 0: it moves nothing. "
            "Use `step + 1`.",
            lambda step, peak, warmup: peak * min(step / warmup, (warmup / max(step, 1)) ** 0.5),
        ),
        (
            "Your curve is one step late: only step 0 is right. Use `step + 1`, not "
            "`max(step, 1)`.",
            lambda step, peak, warmup: _rate(max(step, 1) - 1, peak, warmup),
        ),
        (
            "The line begins at 0, and the first step moves nothing: it too counts with "
            "`step + 1`.",
            lambda step, peak, warmup: peak * min(step / warmup, (warmup / (step + 1)) ** 0.5),
        ),
        (
            "You take the larger of the two curves: the rate is huge at the start and grows "
            "without end. Take the smaller.",
            lambda step, peak, warmup: (
                peak * max((step + 1) / warmup, (warmup / (step + 1)) ** 0.5)
            ),
        ),
        (
            "The warm-up is right, but then the rate stays where it is. It must fall like the "
            "inverse square root.",
            lambda step, peak, warmup: peak * min((step + 1) / warmup, 1.0),
        ),
        (
            "There is no warm-up: the rate is largest at step 0.",
            lambda step, peak, warmup: peak * (warmup / (step + 1)) ** 0.5,
        ),
        (
            "The rate falls like the inverse of the step; the square root is missing.",
            lambda step, peak, warmup: peak * min((step + 1) / warmup, warmup / (step + 1)),
        ),
        (
            "The curve has the right form, but not the height: its largest rate is "
            "peak / √warmup. Divide by the value at the peak.",
            lambda step, peak, warmup: peak * min((step + 1) ** -0.5, (step + 1) * warmup**-1.5),
        ),
        (
            "After the warm-up your curve counts the steps anew, and falls far too fast.",
            lambda step, peak, warmup: (
                peak * (step + 1) / warmup if step < warmup else peak * (step + 1 - warmup) ** -0.5
            ),
        ),
        (
            "The fall is right, but it joins the warm-up with a jump: it must be `peak` at step "
            "`warmup - 1`, so multiply by √warmup.",
            lambda step, peak, warmup: (
                peak * (step + 1) / warmup if step < warmup else peak * (step + 1) ** -0.5
            ),
        ),
        (
            "After the warm-up the rate still rises: the fraction is upside down.",
            lambda step, peak, warmup: (
                peak * ((step + 1) / warmup) ** (1.0 if step < warmup else 0.5)
            ),
        ),
        (
            "The line goes on for one step too many: the largest rate is that of step `warmup - "
            "1`.",
            lambda step, peak, warmup: (
                peak * ((step + 1) / warmup if step <= warmup else (warmup / (step + 1)) ** 0.5)
            ),
        ),
        (
            "The line is right, but the fall is one step late: there, too, count with `step + 1`.",
            lambda step, peak, warmup: (
                peak * ((step + 1) / warmup if step < warmup else (warmup / step) ** 0.5)
            ),
        ),
        (
            "The form is right, but its largest value is 1: multiply by `peak`.",
            lambda step, peak, warmup: _rate(step, 1.0, warmup),
        ),
    ),
    wrong={
        """\
def paper_rate(step, peak, warmup):
    return min((step + 1) ** -0.5, (step + 1) * warmup ** -1.5)
""": "without its d_model",
        """\
def paper_rate(step, peak, warmup):
    n = step + 1
    return peak * 512 ** -0.5 * min(n ** -0.5, n * warmup ** -1.5)
""": "nobody knows d_model",
        """\
def paper_rate(step, peak, warmup):
    return peak * min(step / max(warmup - 1, 1), math.sqrt(warmup / (step + 1)))
""": "divide by `warmup - 1`",
        """\
def paper_rate(step, peak, warmup):
    if step < warmup:
        return peak * step / (warmup - 1)
    return peak * math.sqrt(warmup / (step + 1))
""": "divide by `warmup - 1`",
        """\
def paper_rate(step, peak, warmup):
    return peak * min((step + 1) // warmup, math.sqrt(warmup / (step + 1)))
""": "drops the fraction",
        """\
def paper_rate(step, peak, warmup):
    n = (step + 1) / warmup
    return peak * math.sqrt(min(n, 1 / n))
""": "rise has a square root",
        """\
def paper_rate(step, peak, warmup):
    up = step / warmup
    down = math.sqrt(warmup) / math.sqrt(step)
    return peak * min(up, down)
""": "divide by 0",
        """\
def paper_rate(step, peak, warmup):
    if step < warmup:
        return peak * step / warmup
    return peak * math.sqrt(warmup / step)
""": "one step late",
        """\
def paper_rate(step, peak, warmup):
    step = max(1, step)
    return peak * warmup ** 0.5 * min(step ** -0.5, step * warmup ** -1.5)
""": "not `max(step, 1)`",
        """\
def paper_rate(step, peak, warmup):
    step += 1
    return peak * warmup ** 0.5 * max(step ** -0.5, step * warmup ** -1.5)
""": "Take the smaller",
        """\
def paper_rate(step, peak, warmup):
    step = step + 1
    if step <= warmup:
        return step / warmup * peak
    return peak
""": "stays where it is",
        """\
def paper_rate(step, peak, warmup):
    return peak * math.sqrt(warmup) * (step + 1) ** -0.5
""": "no warm-up",
        """\
def paper_rate(step, peak, warmup):
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * warmup / (step + 1)
""": "square root is missing",
        """\
def paper_rate(step, peak, warmup):
    n = step + 1
    return peak * min(1 / math.sqrt(n), n / warmup ** 1.5)
""": "not the height",
        """\
def paper_rate(step, peak, warmup):
    n = step + 1
    if n <= warmup:
        return peak * n / warmup
    return peak / math.sqrt(n - warmup)
""": "counts the steps anew",
        """\
def paper_rate(step, peak, warmup):
    n = step + 1
    if n <= warmup:
        return peak * n / warmup
    return peak / math.sqrt(n)
""": "with a jump",
        """\
def paper_rate(step, peak, warmup):
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * math.sqrt((step + 1) / warmup)
""": "upside down",
        """\
def paper_rate(step, peak, warmup):
    if step > warmup:
        return peak * math.sqrt(warmup / (step + 1))
    return peak * (step + 1) / warmup
""": "one step too many",
        """\
def paper_rate(step, peak, warmup):
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * math.sqrt(warmup / step)
""": "one step late",
        """\
def paper_rate(step, peak, warmup):
    n = (step + 1) / warmup
    return min(n, 1 / math.sqrt(n))
""": "multiply by `peak`",
    },
    right=(
        """\
def paper_rate(step, peak, warmup):
    step += 1
    return peak * warmup ** 0.5 * min(step ** -0.5, step * warmup ** -1.5)
""",
        """\
def paper_rate(step, peak, warmup):
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * math.sqrt(warmup / (step + 1))
""",
        """\
def paper_rate(step, peak, warmup):
    def curve(step):
        return min((step + 1) ** -0.5, (step + 1) * warmup ** -1.5)

    return torch.tensor(curve(step) / curve(warmup - 1) * peak, dtype=torch.float64)
""",
    ),
)
