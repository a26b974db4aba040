"""A crash that should not matter."""

import copy
import itertools

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from tutor.check.exercise import MEND, Exercise

KEPT = ("schedule", "done", "random")  # what the stub forgets


def _rate(step):
    return min(1, (step + 1) / 8)


def _training(keeps=KEPT, states=("model", "optimizer"), **slips):
    """The training of the stub, whose checkpoint holds these besides the states.

    slips: `seed`, another one; `reseed`, by the step; `own_steps`, counts those of the last part
    alone; `more` steps are written down; `to_steps`, ends the loop there; `early`, sets the random
    state before the model is made; `late`, makes the schedule after the loading; `schedule_ahead`,
    gives the steps that are done to a new schedule; `again`, sets the first seed before the loop.
    """

    def train(data, steps, checkpoint=None):
        torch.manual_seed(slips.get("seed", 0))
        if checkpoint and slips.get("early"):
            torch.set_rng_state(checkpoint["random"])
        model = nn.Linear(data.shape[1], data.shape[1])
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        now, done = {"model": model, "optimizer": optimizer}, 0
        if not slips.get("late"):
            now["schedule"] = LambdaLR(optimizer, _rate)
        if checkpoint:
            for name in states:
                now[name].load_state_dict(checkpoint[name])
            done = checkpoint["done"] if "done" in keeps else 0
            if "random" in keeps and not slips.get("early"):
                torch.set_rng_state(checkpoint["random"])
        if slips.get("late"):
            now["schedule"] = LambdaLR(optimizer, _rate)
        if checkpoint and "schedule" in keeps:
            now["schedule"].load_state_dict(checkpoint["schedule"])
        if checkpoint and slips.get("reseed"):
            torch.manual_seed(done)
        if checkpoint and slips.get("again"):
            torch.manual_seed(0)
        if checkpoint and slips.get("schedule_ahead"):
            now["schedule"] = LambdaLR(optimizer, _rate, last_epoch=done)
        for step in range(done, steps if slips.get("to_steps") else done + steps):
            X = data[step % len(data)]
            loss = (model(F.dropout(X)) - X).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            now["schedule"].step()
        kept = {name: part.state_dict() for name, part in now.items() if name in (*states, *keeps)}
        kept["random"] = torch.get_rng_state()
        kept["done"] = (0 if slips.get("own_steps") else done) + steps + slips.get("more", 0)
        return model.weight, kept

    return train


def _without_a_stop(data, steps):
    """The weight of the stub's training. (An answer may not call what is right; this may.)"""
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    W, b = (p.detach() for p in model.parameters())
    mean_W, mean_b = torch.zeros_like(W), torch.zeros_like(b)
    for step in range(steps):
        X = data[step % len(data)]
        Z = F.dropout(X)
        error = 2 * (W @ Z + b - X) / len(X)  # (d,), the gradient of b
        mean_W, mean_b = 0.9 * mean_W + error[:, None] * Z, 0.9 * mean_b + error
        rate = 0.1 * min(1, (step + 1) / 8)
        W, b = W - rate * mean_W, b - rate * mean_b
    return W


def _interrupted(answer, data, before, after):
    """Is a training without a stop as it was? And the weight of one with two stops."""
    whole = answer(data, before + after + 2)
    if not isinstance(whole, tuple | list):
        return whole
    if not torch.allclose(whole[0], _without_a_stop(data, before + after + 2), atol=1e-5):
        return False, torch.zeros_like(whole[0])
    _, checkpoint = answer(data, before)
    _, checkpoint = answer(data, after, copy.deepcopy(checkpoint))  # as a file gives it back
    return True, answer(data, 2, copy.deepcopy(checkpoint))[0].detach()


_LEFT = {
    "schedule": "the schedule begins its warm-up again: it has a state_dict, too.",
    "done": "the first sentences come again after the crash: keep how many steps are done, and go "
    "on from there.",
    "random": "dropout does not go on where it was stopped: keep the random state that there is at "
    "the end, and set it right before the loop.",
}


def _what_is_left():
    words = {1: "Two of three are mended. But", 2: "Two of three are left. One is this:"}
    for many in (1, 2):
        for left in itertools.combinations(KEPT, many):
            keeps = [name for name in KEPT if name not in left]
            yield f"{words[many]} {_LEFT[left[0]]}", _training(keeps)


resume = Exercise(
    name="resume",
    chapter="13",
    section="A training that survives",
    kind=MEND,
    title="A crash that should not matter",
    goal="Put into a checkpoint all that a training remembers, and take it out again.",
    difficulty=4,
    importance=5,
    minutes=14,
    text="""\
This training can be stopped and goes on from its own checkpoint. Nothing complains, and the loss
keeps falling. But the weights are not those of a training that was never stopped: the checkpoint
forgets **three things**. **Find them and mend them.** A training without a checkpoint must stay
bit for bit as it is.

(The check trains without a stop. Then it trains once more with two: `before` steps, `after` steps,
and two more, each time from a copy of the last checkpoint. Item 0 of the result says whether the
first training is as it was, item 1 is the weight of the second. What your checkpoint looks like is
up to you.)""",
    hints=(
        "Two of the things are numbers that change in the loop without being a parameter. The "
        "third is used by `F.dropout`.",
        "The schedule counts its steps and has a `state_dict`. `step` begins at 0 again, so the "
        "first sentences come twice.",
        "`torch.get_rng_state()` at the end; `torch.set_rng_state(...)` after the model is made, "
        "since making it draws numbers. And `range(done, done + steps)`.",
    ),
    setup="from torch.optim.lr_scheduler import LambdaLR\n",
    stub='''\
def resume(data, steps, checkpoint=None):
    """Train a small model, from the beginning or on from a checkpoint.

    data: float tensor (sentences, d). Returns the weights and a checkpoint to go on from.
    """
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
    for step in range(steps):
        X = data[step % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    states = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    return model.weight, states
''',
    solution='''\
def resume(data, steps, checkpoint=None):
    """Train a small model, from the beginning or on from a checkpoint."""
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    parts, done = (model, optimizer, schedule), 0
    if checkpoint:
        states, done, random = checkpoint
        for part, state in zip(parts, states):
            part.load_state_dict(state)
        torch.set_rng_state(random)
    for step in range(done, done + steps):
        X = data[step % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    states = [part.state_dict() for part in parts]
    return model.weight, (states, done + steps, torch.get_rng_state())
''',
    because="Nothing of it can be seen in the loss; a test that compares bits sees it at once.",
    reference=_training(),
    call=_interrupted,
    cases=lambda: [
        (torch.randn(length, d), before, after)
        for length, d, before, after in [(3, 1, 1, 1), (5, 2, 3, 2)]
    ],
    draws=True,
    mistakes=(
        (
            "As it was: all three things are still forgotten.",
            _training(()),
        ),
        *_what_is_left(),
        (
            "Your checkpoint counts the steps of the last part alone, so the second stop goes back "
            "in the data: count all steps since the beginning.",
            _training(own_steps=True),
        ),
        (
            "After a stop you do one step twice: the last one that was done is not the next.",
            _training(more=-1),
        ),
        (
            "After a stop you skip a step of the data.",
            _training(more=1),
        ),
        (
            "The random state is set too early: making the model draws numbers from it. Set it "
            "right before the loop.",
            _training(early=True),
        ),
        (
            "A seed that depends on the step draws other numbers than a training without a stop: "
            "keep the random state itself.",
            _training(reseed=True),
        ),
        (
            "A seed begins the same random numbers again. What dropout has drawn since then is "
            "lost: keep the random state itself.",
            _training(again=True),
        ),
        (
            "The loop runs from `done` to `steps`. But `steps` is how many are to come: it ends at "
            "`done + steps`.",
            _training(to_steps=True),
        ),
        (
            "The loop runs from `done` to `steps`. But `steps` is how many are to come: it ends at "
            "`done + steps`.",
            _training(to_steps=True, own_steps=True),
        ),
        (
            "A new schedule with `last_epoch` takes one step at once, so it is one step ahead. "
            "Load the state of the old one.",
            _training(schedule_ahead=True),
        ),
        *(
            (
                "The optimizer is not restored: its momentum begins at 0 again.",
                _training(keeps, states=("model",)),
            )
            for many in (3, 2, 1, 0)
            for keeps in itertools.combinations(KEPT, many)
        ),
        (
            "The weights themselves are not restored any more.",
            _training(states=("optimizer",)),
        ),
        (
            "A new schedule sets the rate of its first step. Make it before the optimizer's state "
            "is loaded, and then load its own.",
            _training(late=True),
        ),
        (
            "An uninterrupted training must stay as it is. Yours gives other weights even without "
            "a checkpoint.",
            _training(seed=1),
        ),
    ),
    wrong={
        """\
def resume(data, steps, checkpoint=None):
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
    for step in range(steps):
        X = data[step % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.weight, {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
    }
""": "As it was",
        """\
def resume(data, steps, checkpoint=None):
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        schedule.load_state_dict(checkpoint["schedule"])
    for step in range(steps):
        X = data[step % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.weight, {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
    }
""": "Two of three are left. One is this: the first sentences",
        """\
def resume(data, steps, checkpoint=None):
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    done = 0
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        done = checkpoint["done"]
        torch.set_rng_state(checkpoint["random"])
    for step in range(done, done + steps):
        X = data[step % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.weight, {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "done": done + steps,
        "random": torch.get_rng_state(),
    }
""": "mended. But the schedule",
        """\
def resume(data, steps, checkpoint=None):
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        schedule.load_state_dict(checkpoint["schedule"])
        torch.set_rng_state(checkpoint["random"])
    for step in range(steps):
        X = data[step % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.weight, {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "random": torch.get_rng_state(),
    }
""": "mended. But the first sentences",
        """\
def resume(data, steps, checkpoint=None):
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    done = 0
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        schedule.load_state_dict(checkpoint["schedule"])
        done = checkpoint["done"]
    for step in range(done, done + steps):
        X = data[step % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.weight, {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "done": done + steps,
    }
""": "mended. But dropout",
        """\
def resume(data, steps, checkpoint=None):
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        torch.set_rng_state(checkpoint["random"])
    for step in range(steps):
        X = data[step % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.weight, {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "random": torch.get_rng_state(),
    }
""": "Two of three are left. One is this: the schedule",
        """\
def resume(data, steps, checkpoint=None):
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    done = 0
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        schedule.load_state_dict(checkpoint["schedule"])
        done = checkpoint["done"]
        torch.set_rng_state(checkpoint["random"])
    for step in range(done, done + steps):
        X = data[step % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.weight, {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "done": steps,
        "random": torch.get_rng_state(),
    }
""": "last part alone",
        """\
def resume(data, steps, checkpoint=None):
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    done = 0
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        schedule.load_state_dict(checkpoint["schedule"])
        done = checkpoint["done"]
        torch.set_rng_state(checkpoint["random"])
    for step in range(done, done + steps):
        X = data[step % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.weight, {
        "model": model.state_dict(),
        "schedule": schedule.state_dict(),
        "done": done + steps,
        "random": torch.get_rng_state(),
    }
""": "its momentum begins at 0",
        """\
def resume(data, steps, checkpoint=None):
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    done = 0
    if checkpoint:
        optimizer.load_state_dict(checkpoint["optimizer"])
        schedule.load_state_dict(checkpoint["schedule"])
        done = checkpoint["done"]
        torch.set_rng_state(checkpoint["random"])
    for step in range(done, done + steps):
        X = data[step % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.weight, {
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "done": done + steps,
        "random": torch.get_rng_state(),
    }
""": "The weights themselves",
        """\
def resume(data, steps, checkpoint=None):
    torch.manual_seed(0)
    if checkpoint:
        torch.set_rng_state(checkpoint["random"])
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    done = 0
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        schedule.load_state_dict(checkpoint["schedule"])
        done = checkpoint["done"]
    for step in range(done, done + steps):
        X = data[step % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.weight, {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "done": done + steps,
        "random": torch.get_rng_state(),
    }
""": "making the model draws",
        """\
def resume(data, steps, checkpoint=None):
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    done = 0
    random = torch.get_rng_state()
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        schedule.load_state_dict(checkpoint["schedule"])
        done = checkpoint["done"]
        torch.set_rng_state(checkpoint["random"])
    for step in range(done, done + steps):
        X = data[step % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.weight, {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "done": done + steps,
        "random": random,
    }
""": "does not go on where it was stopped",
        """\
def resume(data, steps, checkpoint=None):
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    done = 0
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        schedule.load_state_dict(checkpoint["schedule"])
        done = checkpoint["done"]
        torch.set_rng_state(checkpoint["random"])
    random = torch.get_rng_state()
    for step in range(done, done + steps):
        X = data[step % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.weight, {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "done": done + steps,
        "random": random,
    }
""": "does not go on where it was stopped",
        """\
def resume(data, steps, checkpoint=None):
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    done = 0
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        schedule.load_state_dict(checkpoint["schedule"])
        done = checkpoint["done"]
        torch.set_rng_state(checkpoint["random"])
    for step in range(done, done + steps):
        X = data[(step - done) % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.weight, {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "done": done + steps,
        "random": torch.get_rng_state(),
    }
""": "mended. But the first sentences",
        """\
def resume(data, steps, checkpoint=None):
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    done = 0
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        schedule.load_state_dict(checkpoint["schedule"])
        done = checkpoint["done"]
        torch.set_rng_state(checkpoint["random"])
    for step in range(done + 1, done + steps + 1):
        X = data[step % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.weight, {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "done": done + steps,
        "random": torch.get_rng_state(),
    }
""": "An uninterrupted training",
        """\
def resume(data, steps, checkpoint=None):
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    done = 0
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        schedule.load_state_dict(checkpoint["schedule"])
        done = checkpoint["done"]
        torch.set_rng_state(checkpoint["random"])
    for step in range(done, done + steps):
        X = data[step % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.weight, {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "done": step,
        "random": torch.get_rng_state(),
    }
""": "one step twice",
        """\
def resume(data, steps, checkpoint=None):
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    done = 0
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        schedule.load_state_dict(checkpoint["schedule"])
        done = checkpoint["done"]
        torch.set_rng_state(checkpoint["random"])
    for step in range(done, done + steps):
        X = data[step % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.weight, {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "done": done + steps + 1,
        "random": torch.get_rng_state(),
    }
""": "skip a step",
        """\
def resume(data, steps, checkpoint=None):
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    done = 0
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        schedule.load_state_dict(checkpoint["schedule"])
        done = checkpoint["done"]
    for step in range(done, done + steps):
        torch.manual_seed(step)
        X = data[step % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.weight, {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "done": done + steps,
    }
""": "An uninterrupted training",
        """\
def resume(data, steps, checkpoint=None):
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    done = 0
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        done = checkpoint["done"]
        torch.set_rng_state(checkpoint["random"])
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    if checkpoint:
        schedule.load_state_dict(checkpoint["schedule"])
    for step in range(done, done + steps):
        X = data[step % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.weight, {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "done": done + steps,
        "random": torch.get_rng_state(),
    }
""": "sets the rate of its first step",
    },
    right=(
        """\
def resume(data, steps, checkpoint=None):
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        schedule.load_state_dict(checkpoint["schedule"])
        torch.set_rng_state(checkpoint["random"])
    for step in range(steps):
        X = data[schedule.last_epoch % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.weight, {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "random": torch.get_rng_state(),
    }
""",
        """\
def resume(data, steps, checkpoint=None):
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    done = 0
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        done = checkpoint["done"]
        torch.set_rng_state(checkpoint["random"])
    for group in optimizer.param_groups:
        group["lr"] = 0.1 * min(1, (done + 1) / 8)
    schedule.last_epoch = done
    for step in range(done, done + steps):
        X = data[step % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.weight, {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "done": done + steps,
        "random": torch.get_rng_state(),
    }
""",
        """\
def resume(data, steps, checkpoint=None):
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    parts = {"model": model, "optimizer": optimizer, "schedule": schedule}
    first, states = 0, None
    if checkpoint is not None:
        first, states, random = checkpoint
        for name, part in parts.items():
            part.load_state_dict(states[name])
        torch.random.set_rng_state(random)
    for step in range(steps):
        X = data[(first + step) % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    states = {name: part.state_dict() for name, part in parts.items()}
    return model.weight, (first + steps, states, torch.get_rng_state())
""",
        """\
def resume(data, steps, checkpoint=None):
    total = steps  # nothing is kept but a number: the past is computed once more
    if checkpoint:
        total = steps + checkpoint["done"]
    torch.manual_seed(0)
    model = nn.Linear(data.shape[1], data.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = LambdaLR(optimizer, lambda step: min(1, (step + 1) / 8))
    for step in range(total):
        X = data[step % len(data)]
        loss = (model(F.dropout(X)) - X).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model.weight, {"done": total}
""",
    ),
)
