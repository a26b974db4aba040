"""A batch in parts."""

import torch
import torch.nn.functional as F
from torch import nn

from tutor.check.exercise import WRITE, Exercise


def _after(answer, parts):
    """Are the weights of a small model as they were? And its gradients; it held old ones."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = nn.Linear(parts[0][0].shape[-1], 3)
    for p in model.parameters():
        p.grad = torch.ones_like(p)
    before = model.weight.detach().clone()
    answer(model, parts)
    if not torch.equal(model.weight, before):  # then the gradients are those of other weights
        return False, torch.zeros_like(model.weight), torch.zeros_like(model.bias)
    return True, model.weight.grad, model.bias.grad


class _Watched(nn.Linear):
    """Notes the rows that it is given at once, and the results for which no backward has run."""

    def __init__(self):
        super().__init__(2, 3)
        self.rows, self.waiting, self.most = 0, 0, 0

    def forward(self, X):
        Y = super().forward(X)  # (rows, 3)
        self.rows = max(self.rows, len(X))
        if Y.requires_grad:
            self.waiting += 1
            self.most = max(self.most, self.waiting)
            Y.register_hook(self.done)
        return Y

    def done(self, gradient):
        self.waiting -= 1


def _watch(answer):
    """A model on which an answer has worked."""
    parts = [(torch.randn(n, 2), torch.randint(3, (n,))) for n in (2, 3, 1)]
    model = _Watched()
    answer(model, parts)
    return model


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
`.grad` of every parameter the gradient of the mean over the rows of *all* parts.

Only one part may be in the memory at a time. So the model gets one part, and its backward pass
runs, before it gets the next. The weights stay as they are: the step comes later. (Item 0 of
what the check compares says whether they do; the others are the gradients of a weight and of a
bias.)""",
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
        (
            "The losses are added up, and the old gradients are still there.",
            _in_parts(lambda own, rows, count: 1, forget="never"),
        ),
        (
            "You forget the gradients before each part, so only the last one counts. And a part "
            "weighs as much as it has rows.",
            _in_parts(lambda own, rows, count: 1, forget="always"),
        ),
        (
            "You forget the gradients before each part, so only the last one counts. And a part "
            "weighs as much as it has rows.",
            _in_parts(lambda own, rows, count: 1 / count, forget="always"),
        ),
        (
            "The weights have changed. Accumulating fills `.grad` for one step, which comes later.",
            lambda model, parts: model.requires_grad_(False).weight.add_(1.0),
        ),
        (
            "The gradients are forgotten at the end, so that nothing is left of them.",
            lambda model, parts: model.zero_grad(),
        ),
        (
            "The old gradients are all that there is: call `backward` for each part.",
            lambda model, parts: None,
        ),
    ),
    properties=(
        (
            "The gradients are right, but the model is never called. Give it each part.",
            lambda answer: _watch(answer).rows > 0,
        ),
        (
            "The gradients are right, but the model is given several parts at once. Give it one "
            "part at a time.",
            lambda answer: _watch(answer).rows <= 3,
        ),
        (
            "The gradients are right, but what the forward passes keep is in the memory for all "
            "parts at once. Call `backward` for each part, before the next one.",
            lambda answer: _watch(answer).most <= 1,
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
        """\
def accumulate(model, parts):
    model.zero_grad()
    X, wanted = (torch.cat(tensors) for tensors in zip(*parts))
    F.cross_entropy(model(X), wanted).backward()
""": "several parts at once",
        """\
def accumulate(model, parts):
    model.zero_grad()
    rows = sum(len(wanted) for X, wanted in parts)
    losses = [F.cross_entropy(model(X), wanted) * len(wanted) for X, wanted in parts]
    (sum(losses) / rows).backward()
""": "for all parts at once",
        """\
def accumulate(model, parts):
    model.zero_grad()
    Z = torch.cat([model(X) for X, wanted in parts])
    F.cross_entropy(Z, torch.cat([wanted for X, wanted in parts])).backward()
""": "for all parts at once",
        """\
def accumulate(model, parts):
    model.zero_grad()
    rows = sum(len(wanted) for X, wanted in parts)
    for X, wanted in parts:
        (F.cross_entropy(model(X), wanted) * len(wanted) / rows).backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= 0.1 * p.grad
""": "the weights have changed",
        """\
def accumulate(model, parts):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    rows = sum(len(wanted) for X, wanted in parts)
    optimizer.zero_grad()
    for X, wanted in parts:
        (F.cross_entropy(model(X), wanted) * len(wanted) / rows).backward()
        optimizer.step()
""": "the weights have changed",
        """\
def accumulate(model, parts):
    model.zero_grad()
    X, wanted = (torch.cat(tensors) for tensors in zip(*parts))
    F.cross_entropy(F.linear(X, model.weight, model.bias), wanted).backward()
""": "never called",
        """\
def accumulate(model, parts):
    model.zero_grad()
    for X, wanted in parts:
        model.zero_grad()
        F.cross_entropy(model(X), wanted).backward()
""": "only the last one",
        """\
def accumulate(model, parts):
    rows = sum(len(wanted) for X, wanted in parts)
    for X, wanted in parts:
        (F.cross_entropy(model(X), wanted) * len(wanted) / rows).backward()
    model.zero_grad()
""": "nothing is left",
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
        """\
def accumulate(model, parts):
    rows = sum(len(wanted) for X, wanted in parts)
    total = [torch.zeros_like(p) for p in model.parameters()]
    for X, wanted in parts:
        loss = F.cross_entropy(model(X), wanted, reduction="sum") / rows
        for old, new in zip(total, torch.autograd.grad(loss, list(model.parameters()))):
            old += new
    for p, gradient in zip(model.parameters(), total):
        p.grad = gradient
""",
        """\
def accumulate(model, parts):
    model.zero_grad()
    rows = sum(len(wanted) for X, wanted in parts)
    for X, wanted in parts:
        for x, y in zip(X, wanted):
            (F.cross_entropy(model(x[None]), y[None]) / rows).backward()
""",
    ),
)
