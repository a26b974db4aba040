"""One step of a training."""

import torch
import torch.nn.functional as F
from torch import nn

from tutor.check.exercise import WRITE, Exercise


class _Descent:
    """Plain gradient descent. The first optimizer of torch.optim takes seconds to load."""

    def __init__(self, parameters, lr):
        self.parameters, self.lr = list(parameters), lr

    def zero_grad(self, set_to_none=True):
        for p in self.parameters:
            p.grad = None

    def step(self):
        for p in self.parameters:
            if p.grad is not None:
                p.data -= self.lr * p.grad


def _after_steps(answer, lr, steps, X, wanted):
    """Weights and biases of a small model after some steps, each with an optimizer, and losses."""
    with torch.random.fork_rng(devices=[]):
        model = nn.Linear(X.shape[-1], 3)
    optimizers = [_Descent([model.weight], lr), _Descent([model.bias], 2 * lr)]
    losses = []
    for _ in range(steps):
        losses.append(answer(model, F.cross_entropy(model(X), wanted), optimizers))
    if any(loss is None for loss in losses):
        return None
    return model.weight.detach(), model.bias.detach(), losses


def _in_order(order, of=lambda optimizers: optimizers):
    """A step whose parts come in the order of the letters: Zero, Backward, Step."""

    def step(model, loss, optimizers):
        for letter in order:
            if letter == "Z":
                model.zero_grad()
            elif letter == "B":
                loss.backward()
            else:
                for optimizer in of(optimizers):
                    optimizer.step()
        return loss.item()

    return step


one_step = Exercise(
    name="one_step",
    chapter="07",
    section="The loop",
    kind=WRITE,
    title="One step of a training",
    goal="Write the three calls of a training step in the right order.",
    difficulty=2,
    importance=5,
    minutes=4,
    text="""\
One step of a training: new gradients for all weights of the model, then a step of every optimizer
in the list. Return the loss as a plain number. (The check trains a small model. Item 0 are its
weights, item 1 its biases, which have an optimizer each, and item 2 the losses.)""",
    hints=(
        "Three things in this order: forget the old gradients, compute new ones, move.",
        "`model.zero_grad()` forgets, `loss.backward()` computes.",
        "`for optimizer in optimizers: optimizer.step()` moves; `return loss.item()` ends it.",
    ),
    stub='''\
def one_step(model, loss, optimizers):
    """Move the weights by one step of every optimizer, against the loss. Returns the loss."""
    ...  # three things; mind that backward() adds to the gradients that are there
    ...  # return loss.item(), the loss as a plain number
''',
    solution='''\
def one_step(model, loss, optimizers):
    """Move the weights by one step of every optimizer, against the loss. Returns the loss."""
    model.zero_grad()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
    return loss.item()
''',
    reference=_in_order("ZBS"),
    call=_after_steps,
    cases=lambda: [
        (lr, steps, torch.randn(N, d), torch.randint(3, (N,)))
        for lr, steps, N, d in [(0.5, 1, 1, 2), (0.5, 2, 1, 2), (1.0, 4, 5, 2), (0.1, 3, 4, 1)]
    ],
    mistakes=(
        (
            "The old gradients are still there: `backward` adds to them, and the second step goes "
            "too far. Call `model.zero_grad()`.",
            _in_order("BS"),
        ),
        (
            "The weights do not move: the gradients are gone when `step` comes, or `step` never "
            "comes. `zero_grad` must not stand between `backward` and `step`.",
            _in_order("BZS"),
        ),
        (
            "Each `step` comes before its `backward`, so it is one gradient behind and the first "
            "step does nothing.",
            _in_order("SZB"),
        ),
        (
            "Only the first optimizer takes a step: the biases stand still.",
            _in_order("ZBS", of=lambda optimizers: optimizers[:1]),
        ),
        ("Two steps are taken with each gradient.", _in_order("ZBSS")),
    ),
    wrong={
        """\
def one_step(model, loss, optimizers):
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
    return loss.item()
""": "still there",
        """\
def one_step(model, loss, optimizers):
    loss.backward()
    for optimizer in optimizers:
        optimizer.zero_grad()
        optimizer.step()
    return loss.item()
""": "do not move",
        """\
def one_step(model, loss, optimizers):
    for optimizer in optimizers:
        optimizer.step()
    model.zero_grad()
    loss.backward()
    return loss.item()
""": "one gradient behind",
        """\
def one_step(model, loss, optimizers):
    model.zero_grad()
    loss.backward()
    optimizers[0].step()
    return loss.item()
""": "Only the first optimizer",
        """\
def one_step(model, loss, optimizers):
    model.zero_grad()
    loss.backward()
    return loss.item()
""": "do not move",
    },
    right=(
        """\
def one_step(model, loss, optimizers):
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
    model.zero_grad()
    return loss.item()
""",
        """\
def one_step(model, loss, optimizers):
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    [optimizer.step() for optimizer in optimizers]
    return loss.item()
""",
    ),
)
