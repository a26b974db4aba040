"""A training that forgets."""

import torch

from tutor.check.exercise import MEND, Exercise


def _training(keeps):
    """Momentum with a warm-up, whose checkpoint holds these of w, average and step."""

    def survive(w, steps, checkpoint=None):
        now = {"w": w, "average": torch.zeros_like(w), "step": 0}
        if checkpoint:
            now |= checkpoint
        for _ in range(steps):
            now["average"] = 0.9 * now["average"] + now["w"]
            now["w"] = now["w"] - 0.1 * min(1, (now["step"] + 1) / 8) * now["average"]
            now["step"] += 1
        return now["w"], {key: now[key] for key in keeps}

    return survive


def _counts_its_own_part(w, steps, checkpoint=None):
    """The step of the checkpoint is that of the last part alone."""
    w, now = _training(("w", "average", "step"))(w, steps, checkpoint)
    return w, now | {"step": steps}


def _writes_into_its_checkpoint(w, steps, checkpoint=None):
    average, step = torch.zeros_like(w), 0
    if checkpoint:
        w, average, step = (checkpoint[key] for key in ("w", "average", "step"))
    for done in range(step, step + steps):
        average.mul_(0.9).add_(w)
        w = w - 0.1 * min(1, (done + 1) / 8) * average
    return w, {"w": w, "average": average, "step": step + steps}


def _interrupted(answer, w, before, after):
    """The weights of a training in three parts, and of its second part, done once more."""
    first = answer(w, before)
    if first is None:
        return None
    second = answer(w, after, first[1])
    return answer(w, 3, second[1])[0], answer(w, after, first[1])[0]


survive = Exercise(
    name="survive",
    chapter="13",
    section="A training that survives",
    kind=MEND,
    title="A training that forgets",
    goal="Put into a checkpoint all that a training remembers.",
    difficulty=2,
    importance=5,
    minutes=7,
    text="""\
This training has a momentum and a warm-up. It can go on from its own checkpoint, but the weights
then differ from those of a training that was never interrupted. Mend it. (The check trains `before`
steps, goes on from the checkpoint for `after` steps, and from the next checkpoint for three more.
Then it goes on from the first checkpoint once more. It looks at `w`. What your checkpoint is, is up
to you.)""",
    hints=(
        "Three things change in the loop. How many are in the checkpoint?",
        "`average` remembers the gradients of earlier steps, `step` the place in the warm-up.",
        'Return `{"w": w, "average": average, "step": step}`, and take all three out again.',
    ),
    stub='''\
def survive(w, steps, checkpoint=None):
    """Steps on the loss w²/2, whose gradient is w. Returns w and a checkpoint to go on from."""
    average, step = torch.zeros_like(w), 0
    if checkpoint:
        w = checkpoint["w"]
    for _ in range(steps):
        average = 0.9 * average + w
        w = w - 0.1 * min(1, (step + 1) / 8) * average
        step += 1
    return w, {"w": w}
''',
    solution='''\
def survive(w, steps, checkpoint=None):
    """Steps on the loss w²/2, whose gradient is w. Returns w and a checkpoint to go on from."""
    average, step = torch.zeros_like(w), 0
    if checkpoint:
        w, average, step = checkpoint["w"], checkpoint["average"], checkpoint["step"]
    for _ in range(steps):
        average = 0.9 * average + w
        w = w - 0.1 * min(1, (step + 1) / 8) * average
        step += 1
    return w, {"w": w, "average": average, "step": step}
''',
    because="Whatever changes from step to step belongs in the checkpoint.",
    reference=_training(("w", "average", "step")),
    call=_interrupted,
    cases=lambda: [
        (torch.ones(1), 1, 1),
        (torch.randn(2), 3, 2),
        (torch.randn(2, 2), 8, 4),
        (torch.randn(3), 0, 3),
    ],
    mistakes=(
        (
            "The weights go on, but average and step begin anew: both change in the loop, and both "
            "are lost.",
            _training(("w",)),
        ),
        (
            "The average of the gradients is kept, but the warm-up begins again: keep the step.",
            _training(("w", "average")),
        ),
        (
            "The step is kept, but the average of the gradients begins at 0 again.",
            _training(("w", "step")),
        ),
        (
            "The second training begins anew: nothing of the checkpoint is used.",
            _training(()),
        ),
        (
            "The weights themselves are lost: the second training begins with the first ones.",
            _training(("average", "step")),
        ),
        (
            "Your checkpoint counts the steps of the last part alone. The second part goes well, "
            "and the third begins its warm-up too early: count all steps since the beginning.",
            _counts_its_own_part,
        ),
        (
            "Your training writes into the checkpoint that it is given, so one cannot go on from "
            "it twice. Make new tensors, or copy those of the checkpoint.",
            _writes_into_its_checkpoint,
        ),
    ),
    wrong={
        """\
def survive(w, steps, checkpoint=None):
    average, step = torch.zeros_like(w), 0
    if checkpoint:
        w, average = checkpoint["w"], checkpoint["average"]
    for _ in range(steps):
        average = 0.9 * average + w
        w = w - 0.1 * min(1, (step + 1) / 8) * average
        step += 1
    return w, {"w": w, "average": average}
""": "keep the step",
        """\
def survive(w, steps, checkpoint=None):
    average, step = torch.zeros_like(w), 0
    if checkpoint:
        w, step = checkpoint["w"], checkpoint["step"]
    for _ in range(steps):
        average = 0.9 * average + w
        w = w - 0.1 * min(1, (step + 1) / 8) * average
        step += 1
    return w, {"w": w, "step": step}
""": "begins at 0 again",
        """\
def survive(w, steps, checkpoint=None):
    average, step = torch.zeros_like(w), 0
    for _ in range(steps):
        average = 0.9 * average + w
        w = w - 0.1 * min(1, (step + 1) / 8) * average
        step += 1
    return w, {"w": w, "average": average, "step": step}
""": "begins anew",
        """\
def survive(w, steps, checkpoint=None):
    average, step = torch.zeros_like(w), 0
    if checkpoint:
        w, average, step = checkpoint["w"], checkpoint["average"], checkpoint["step"]
    for _ in range(steps):
        average = 0.9 * average + w
        w = w - 0.1 * min(1, (step + 1) / 8) * average
        step += 1
    return w, {"w": w, "average": average, "step": steps}
""": "the steps of the last part alone",
        """\
def survive(w, steps, checkpoint=None):
    average, step = torch.zeros_like(w), 0
    if checkpoint:
        w, average, step = checkpoint["w"], checkpoint["average"], checkpoint["step"]
    for _ in range(steps):
        average.mul_(0.9).add_(w)
        w = w - 0.1 * min(1, (step + 1) / 8) * average
        step += 1
    return w, {"w": w, "average": average, "step": step}
""": "writes into the checkpoint",
    },
    right=(
        """\
def survive(w, steps, checkpoint=None):
    average, step = torch.zeros_like(w), 0
    if checkpoint is not None:
        w, average, step = checkpoint
    for step in range(step, step + steps):
        average = 0.9 * average + w
        w = w - 0.1 * min(1, (step + 1) / 8) * average
    return w, (w, average, step + 1 if steps else step)
""",
        """\
def survive(w, steps, checkpoint=None):
    state = dict(checkpoint or {"w": w, "average": torch.zeros_like(w), "step": 0})
    for _ in range(steps):
        state["average"] = 0.9 * state["average"] + state["w"]
        rate = 0.1 * min(1, (state["step"] + 1) / 8)
        state["w"] = state["w"] - rate * state["average"]
        state["step"] += 1
    return state["w"], state
""",
    ),
)
