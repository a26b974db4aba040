"""Each step is larger than the last."""

import torch
import torch.nn.functional as F
from torch import nn

from tutor.check.exercise import MEND, Exercise


class _Descent:
    """Plain gradient descent. The first optimiser of torch.optim takes seconds to load."""

    def __init__(self, parameters, lr):
        self.parameters, self.lr = list(parameters), lr

    def zero_grad(self, set_to_none=True):
        for p in self.parameters:
            p.grad = None

    def step(self, closure=None):
        loss = closure() if closure else None
        for p in self.parameters:
            if p.grad is not None:
                p.data -= self.lr * p.grad
        return loss


def _train_a_model(answer, lr, steps, X, wanted):
    """Losses and final weights of a small model that an answer trains."""
    with torch.random.fork_rng(devices=[]):  # only answers may be blamed for random numbers
        model = nn.Linear(X.shape[-1], 3)
    optimizer = _Descent(model.parameters(), lr)
    losses = answer(model, optimizer, X, wanted, steps)
    return losses, model.weight.detach(), model.bias.detach()


def _loop(order):
    """A training whose steps are the letters of `order`: Zero, Backward, Step."""

    def train(model, optimizer, X, wanted, steps):
        losses = []
        for _ in range(steps):
            loss = F.cross_entropy(model(X), wanted)
            work = {"Z": optimizer.zero_grad, "B": loss.backward, "S": optimizer.step}
            for letter in order:
                work[letter]()
            losses.append(loss.item())
        return losses

    return train


def _one_step_at_the_end(model, optimizer, X, wanted, steps):
    losses = _loop("B")(model, optimizer, X, wanted, steps)
    optimizer.step()
    return losses


def _one_loss(model, optimizer, X, wanted, steps):
    return _loop("ZBS")(model, optimizer, X, wanted, steps)[-1:]


def _losses_after(model, optimizer, X, wanted, steps):
    work = _loop("ZBS")
    losses = []
    for _ in range(steps):
        work(model, optimizer, X, wanted, 1)
        losses.append(F.cross_entropy(model(X), wanted).item())
    return losses


def _stops_when_it_rises(model, optimizer, X, wanted, steps):
    losses = []
    for _ in range(steps):
        losses += _loop("ZBS")(model, optimizer, X, wanted, 1)
        if len(losses) > 1 and losses[-1] > losses[-2]:
            break
    return losses


def _lets_graphs_go(answer):
    losses, *_ = _train_a_model(answer, 0.5, 2, torch.ones(1, 2), torch.tensor([1]))
    return not any(getattr(loss, "requires_grad", False) for loss in losses)


take_steps = Exercise(
    name="take_steps",
    chapter="07",
    section="The loop",
    kind=MEND,
    title="Each step is larger than the last",
    goal="Know what `backward` does with the gradients that are there already.",
    difficulty=2,
    importance=5,
    minutes=8,
    text="""\
This training begins well. After some steps the loss jumps up and down, and a smaller learning rate
hardly helps. One call of the chapter's loop is missing. **Find the mistake and mend it.**

(The check looks at three things: item 0 are the losses, items 1 and 2 the weights and the biases
after the training.)""",
    hints=(
        "Print `model.weight.grad` after each `backward`, with the learning rate at 0. What should "
        "stay the same?",
        "`backward` adds to the gradients that are there. Who clears them?",
        "`optimizer.zero_grad()` belongs in the loop, anywhere but between `backward` and `step`.",
    ),
    stub='''\
def take_steps(model, optimizer, X, wanted, steps):
    """Train a model on one batch. It has a mistake: find it and mend it.

    model: nn.Module that makes logits (N, V) of X
    optimizer: an optimiser of its parameters, with `zero_grad` and `step`
    X: float tensor (N, d)
    wanted: int tensor (N,), the right classes
    steps: int, the number of steps
    Returns losses: list of float, one for each step
    """
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(model(X), wanted)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
''',
    solution='''\
def take_steps(model, optimizer, X, wanted, steps):
    """Train a model on one batch.

    model: nn.Module that makes logits (N, V) of X
    optimizer: an optimiser of its parameters, with `zero_grad` and `step`
    X: float tensor (N, d)
    wanted: int tensor (N,), the right classes
    steps: int, the number of steps
    Returns losses: list of float, one for each step
    """
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(X), wanted)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
''',
    because="Without it, step 10 is made with the sum of ten gradients, nine of them outdated.",
    reference=_loop("ZBS"),
    call=_train_a_model,
    cases=lambda: [
        (lr, steps, torch.randn(N, d), torch.randint(3, (N,)))
        for lr, steps, N, d in [
            (0.5, 1, 1, 2),
            (0.5, 2, 1, 2),
            (1.0, 4, 5, 2),
            (0.1, 3, 4, 1),
            (40.0, 6, 9, 2),  # so fast that the loss rises
        ]
    ],
    mistakes=(
        (
            "As it was: the second step goes too far, and the third further still.",
            _loop("BS"),
        ),
        (
            "The weights do not move: either no `step` is taken, or the gradients are gone when it "
            "comes. `zero_grad` must not stand between `backward` and `step`.",
            _loop("BZS"),
        ),
        (
            "Each `step` comes before its `backward`, so it is one gradient behind and the first "
            "step does nothing.",
            lambda *inputs: _loop("SZB")(*inputs),
        ),
        (
            "There is one `step` only, after the loop, with the sum of all gradients.",
            _one_step_at_the_end,
        ),
        (
            "Two steps are taken with each gradient.",
            _loop("ZBSS"),
        ),
        (
            "The training is right, but only the last loss is returned. A loss for each step is "
            "wanted.",
            _one_loss,
        ),
        (
            "You stop early when the loss rises. It may rise in a training that goes well: take "
            "all `steps`.",
            _stops_when_it_rises,
        ),
        (
            "The weights are right, but those are the losses after each step. Wanted is the loss "
            "that the step is made from.",
            _losses_after,
        ),
    ),
    properties=(
        (
            "Your losses are tensors that hold on to the graphs they were made with, and no "
            "step's memory is freed: take `loss.item()`.",
            _lets_graphs_go,
        ),
    ),
    wrong={
        """\
def take_steps(model, optimizer, X, wanted, steps):
    optimizer.zero_grad()
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(model(X), wanted)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
""": "As it was",
        """\
def take_steps(model, optimizer, X, wanted, steps):
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(model(X), wanted)
        loss.backward()
        model.zero_grad()
        optimizer.step()
        losses.append(loss.item())
    return losses
""": "do not move",
        """\
def take_steps(model, optimizer, X, wanted, steps):
    losses = []
    for _ in range(steps):
        logits = model(X)
        loss = nn.CrossEntropyLoss()(logits, wanted)
        optimizer.zero_grad()
        optimizer.step()
        losses.append(loss.item())
    return losses
""": "the gradients are gone",
        """\
def take_steps(model, optimizer, X, wanted, steps):
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(model(X), wanted)
        optimizer.step()
        optimizer.zero_grad()
        loss.backward()
        losses.append(loss.item())
    return losses
""": "one gradient behind",
        """\
def take_steps(model, optimizer, X, wanted, steps):
    losses = []
    optimizer.zero_grad()
    for _ in range(steps):
        loss = F.cross_entropy(model(X), wanted)
        losses.append(float(loss))
        loss.backward()
    optimizer.step()
    return losses
""": "after the loop",
        """\
def take_steps(model, optimizer, X, wanted, steps):
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(X), wanted)
        loss.backward()
        optimizer.step()
    losses.append(loss.item())
    return losses
""": "only the last loss",
        """\
def take_steps(model, optimizer, X, wanted, steps):
    loss = F.cross_entropy(model(X), wanted)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
""": "RuntimeError",
        """\
def take_steps(model, optimizer, X, wanted, steps):
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        F.cross_entropy(model(X), wanted).backward()
        optimizer.step()
        losses.append(F.cross_entropy(model(X), wanted).item())
    return losses
""": "losses after each step",
        """\
def take_steps(model, optimizer, X, wanted, steps):
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(X), wanted)
        loss.backward()
        losses.append(loss.item())
    return losses
""": "no `step` is taken",
        """\
def take_steps(model, optimizer, X, wanted, steps):
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(X), wanted)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if losses[-1] > min(losses):
            break
    return losses
""": "You stop early",
        """\
def take_steps(model, optimizer, X, wanted, steps):
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(X), wanted)
        loss.backward()
        optimizer.step()
        losses.append(loss)
    return losses
""": "hold on to the graphs",
    },
    right=(
        """\
def take_steps(model, optimizer, X, wanted, steps):
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(model(X), wanted)
        loss.backward()
        optimizer.step()
        model.zero_grad()
        losses.append(loss.item())
    return losses
""",
        """\
def take_steps(model, optimizer, X, wanted, steps):
    losses = []
    for _ in range(steps):
        for p in model.parameters():
            p.grad = None
        log_p = model(X).log_softmax(-1)
        losses.append(F.nll_loss(log_p, wanted))
        losses[-1].backward()
        optimizer.step()
    return [loss.detach() for loss in losses]
""",
        """\
def take_steps(model, optimizer, X, wanted, steps):
    def closure():
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(X), wanted)
        loss.backward()
        return loss

    return [optimizer.step(closure).item() for _ in range(steps)]
""",
    ),
)
