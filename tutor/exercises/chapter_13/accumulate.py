"""A batch in parts."""

import torch
import torch.nn.functional as F
from torch import nn

from tutor.check.exercise import WRITE, Exercise


def _after(answer, parts):
    """The gradients of a small model, which held old ones, after an answer's work."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = nn.Linear(parts[0][0].shape[-1], 3)
    for p in model.parameters():
        p.grad = torch.ones_like(p)
    answer(model, parts)
    return model.weight.grad, model.bias.grad


def _in_parts(weight, forget="first"):
    """Accumulation in which part X of a batch of `rows` in `count` parts gets a weight."""

    def accumulate(model, parts):
        rows = sum(len(wanted) for _, wanted in parts)
        if forget == "first":
            model.zero_grad()
        for X, wanted in parts:
            if forget == "always":
                model.zero_grad()
            loss = F.cross_entropy(model(X), wanted)
            (loss * weight(len(wanted), rows, len(parts))).backward()

    return accumulate


accumulate = Exercise(
    name="accumulate",
    chapter="13",
    section="Two processes, one gradient",
    kind=WRITE,
    title="A batch in parts",
    goal="Compute the gradient of a batch that is too large for the memory.",
    difficulty=3,
    importance=4,
    minutes=8,
    text="""\
A batch comes in parts `(X, wanted)`: vectors, and the class of each. The loss of a part is
`F.cross_entropy(model(X), wanted)`, a mean over its rows. Forget the old gradients, and leave in
`.grad` of every parameter the gradient of the mean over the rows of *all* parts. Only one part may
be in the memory at a time, so do not join them. (The check looks at the gradients of a weight and
of a bias.)""",
    hints=(
        "`backward` adds to `.grad`. So forget once, before the loop, and call it for each part.",
        "A part has `len(wanted)` rows. Count the rows of all parts first.",
        "In the loop: `(F.cross_entropy(model(X), wanted) * len(wanted) / rows).backward()`.",
    ),
    stub='''\
def accumulate(model, parts):
    """parts: a list of (X, wanted), X: (rows, d), wanted: (rows,). Fills .grad, returns nothing."""
    ...  # four or five lines
''',
    solution='''\
def accumulate(model, parts):
    """parts: a list of (X, wanted), X: (rows, d), wanted: (rows,). Fills .grad, returns nothing."""
    rows = sum(len(wanted) for _, wanted in parts)
    model.zero_grad()
    for X, wanted in parts:
        (F.cross_entropy(model(X), wanted) * len(wanted) / rows).backward()
''',
    because="Each part weighs as much as it has rows.",
    reference=_in_parts(lambda own, rows, count: own / rows),
    call=_after,
    cases=lambda: [
        ([(torch.randn(n, d), torch.randint(3, (n,))) for n in lengths],)
        for d, lengths in [(1, (1, 3)), (2, (2, 2)), (2, (5, 1, 2)), (3, (4,))]
    ],
    mistakes=(
        (
            "All parts weigh the same here. Each should weigh as much as it has rows.",
            _in_parts(lambda own, rows, count: 1 / count),
        ),
        (
            "The losses are added up; a mean over all rows is wanted.",
            _in_parts(lambda own, rows, count: 1),
        ),
        (
            "The old gradients are still there. Forget them before the first part.",
            _in_parts(lambda own, rows, count: own / rows, forget="never"),
        ),
        (
            "You forget the gradients before each part, so only the last one counts.",
            _in_parts(lambda own, rows, count: own / rows, forget="always"),
        ),
        (
            "The sum over all rows is not divided by their number.",
            _in_parts(lambda own, rows, count: own),
        ),
        (
            "The loss of a part is a mean already. Multiply by its rows before you divide by all.",
            _in_parts(lambda own, rows, count: 1 / rows),
        ),
        (
            "All parts weigh the same, and the old gradients are still there.",
            _in_parts(lambda own, rows, count: 1 / count, forget="never"),
        ),
    ),
    wrong={
        """\
def accumulate(model, parts):
    model.zero_grad()
    for X, wanted in parts:
        (F.cross_entropy(model(X), wanted) / len(parts)).backward()
""": "weigh the same",
        """\
def accumulate(model, parts):
    model.zero_grad()
    for X, wanted in parts:
        F.cross_entropy(model(X), wanted).backward()
""": "added up",
        """\
def accumulate(model, parts):
    rows = sum(len(wanted) for X, wanted in parts)
    for X, wanted in parts:
        (F.cross_entropy(model(X), wanted, reduction="sum") / rows).backward()
""": "still there",
        """\
def accumulate(model, parts):
    rows = sum(len(wanted) for X, wanted in parts)
    for X, wanted in parts:
        model.zero_grad()
        (F.cross_entropy(model(X), wanted, reduction="sum") / rows).backward()
""": "only the last one",
    },
    right=(
        """\
def accumulate(model, parts):
    rows = sum(len(X) for X, wanted in parts)
    for p in model.parameters():
        p.grad = None
    for X, wanted in parts:
        loss = F.cross_entropy(model(X), wanted, reduction="sum") / rows
        loss.backward()
""",
        """\
def accumulate(model, parts):
    model.zero_grad()
    rows = 0
    for X, wanted in parts:
        F.cross_entropy(model(X), wanted, reduction="sum").backward()
        rows += len(wanted)
    for p in model.parameters():
        p.grad /= rows
""",
    ),
)
