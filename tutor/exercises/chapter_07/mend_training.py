"""Three silent mistakes."""

from functools import partial
from itertools import product

import torch
import torch.nn.functional as F
from torch import nn

from tutor.attention import PAD
from tutor.check.exercise import MEND, Exercise, edited
from tutor.text.batches import make_batch


class _Tiny(nn.Module):
    """A translator of a few numbers: it adds the mean of the source to each token of the target."""

    def __init__(self):
        super().__init__()
        self.embedding, self.dropout = nn.Embedding(9, 6), nn.Dropout(0.2)
        self.embedding.weight.data *= 1.4  # so that clipping has work at some steps
        self.out = nn.Linear(6, 9)

    def forward(self, source, target_in):
        Y = self.embedding(target_in) + self.embedding(source).mean(1, keepdim=True)  # (N, T, 6)
        return self.out(self.dropout(Y))  # (N, T, 9)


class _Descent:
    """Plain gradient descent. The first optimizer of torch.optim takes seconds to load."""

    def __init__(self, model, lr):
        self.model, self.lr = model, lr

    def zero_grad(self, set_to_none=True):
        self.model.zero_grad()

    def step(self):
        for p in self.model.parameters():
            if p.grad is not None:
                p.data -= self.lr * p.grad


class _WarmUp:
    """A rate that rises by as much again at each step."""

    def __init__(self, optimizer):
        self.optimizer, self.first = optimizer, optimizer.lr

    def step(self):
        self.optimizer.lr += self.first


def _train_a_model(answer, epochs, train, val):
    """Losses and weights of a model that is made here, with batches of these pairs."""
    with torch.random.fork_rng(devices=[]):
        model = _Tiny()
    optimizer = _Descent(model, 0.2)
    train, val = ([make_batch(pairs) for pairs in part] for part in (train, val))
    losses = answer(model, optimizer, _WarmUp(optimizer), train, val, epochs)
    return losses, [p.detach() for p in model.parameters()]


PADDING, SCHEDULE, MODE = (
    {
        "right": "",
        "counted": "Padding still counts in the training loss.",
        "divided": "Padding adds nothing to the training loss, yet you divide by its places too.",
        "sum": "The training loss is a sum over tokens; take their mean.",
        "smoothed": "The training loss is smoothed now; take the one that the validation takes.",
        "sentences": "The training loss is a mean of sentence means; take that of all tokens.",
    },
    {
        "right": "",
        "epoch": "The schedule still steps once an epoch, not after each step of the optimizer.",
        "early": "The schedule steps before the optimizer, so each rate comes a step too soon.",
        "both": "The schedule steps once an epoch as well; only the inner loop is its place.",
        "never": "The schedule never steps: the rate stays at its first value.",
        "bunch": "The schedule has its steps, but all of them after the epoch.",
    },
    {
        "right": "",
        "stays": "After the first validation the model still trains without dropout.",
        "never": "Without `eval()`, the validation runs with dropout.",
        "off": "`eval()` comes before the training, so that it has no dropout at all.",
    },
)


def _script(
    padding="right", schedule="right", mode="right",
    order="ZBCS", means=False, shifted=0, copies=False, softmax=False,
    returned=slice(None),
):  # fmt: skip
    """order: the parts of a step, Zero (z: once an epoch), Backward, Clip, Step.
    shifted: places, once too often. copies: the decoder reads target_out.
    """

    smoothing = 0.1 if padding == "smoothed" else 0.0

    def loss_of(Z, answers):
        each = F.cross_entropy(Z.mT, answers, reduction="none", label_smoothing=smoothing)  # (N, T)
        if padding == "counted":
            return each.mean()
        real = answers != PAD  # (N, T)
        each = each * real
        if padding == "sentences":
            return (each.sum(1) / real.sum(1)).mean()
        return each.sum() / {"divided": each.numel(), "sum": 1}.get(padding, real.sum())

    def train_it(model, optimizer, each_rate, train, val, epochs):
        losses = []
        for _ in range(epochs):
            if mode == "off":
                model.eval()
            for number, batch in enumerate(train):
                answers = batch.target_out
                Z = model(batch.source, answers if copies else batch.target_in)
                Z = Z.softmax(-1) if softmax else Z
                loss = loss_of(Z[:, : Z.shape[1] - shifted], answers[:, shifted:])
                if schedule == "early":
                    each_rate.step()
                for part in order:
                    if part == "Z" or part == "z" and number == 0:
                        optimizer.zero_grad()
                    elif part == "B":
                        loss.backward()
                    elif part == "C":
                        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                    elif part == "S":
                        optimizer.step()
                if schedule in ("right", "both"):
                    each_rate.step()
            for _ in range({"epoch": 1, "both": 1, "bunch": len(train)}.get(schedule, 0)):
                each_rate.step()
            if mode != "never":
                model.eval()
            with torch.no_grad():
                parts = [
                    F.cross_entropy(
                        model(batch.source, batch.target_in).mT, batch.target_out,
                        ignore_index=PAD, reduction="sum",
                    ).item()
                    for batch in val
                ]  # fmt: skip
            tokens = [(batch.target_out != PAD).sum().item() for batch in val]
            if means:
                losses.append(sum(p / n for p, n in zip(parts, tokens, strict=True)) / len(val))
            else:
                losses.append(sum(parts) / sum(tokens))
            if mode == "right":
                model.train()
        return losses[returned]

    return train_it


_SYMPTOM = (
    "As it was, and three mistakes are left. Pad a batch with ten more places, and its training "
    "loss is another."
)


def _left():
    """A message for each way to leave some of the mistakes, or to mend one of them badly."""
    for parts in product(PADDING, SCHEDULE, MODE):
        words = (of[part] for of, part in zip((PADDING, SCHEDULE, MODE), parts, strict=True))
        left = [*filter(None, words)]
        badly_mended = {*parts} - {"right", "counted", "epoch", "stays"}
        if parts == ("counted", "epoch", "stays"):
            yield _SYMPTOM, _script(*parts)
        elif left and len(badly_mended) < 2:
            number = ("One mistake is", "Two mistakes are", "Three mistakes are")[len(left) - 1]
            one = "" if len(left) == 1 else "One of them: "
            yield f"{number} left. {one}{left[0]}", _script(*parts)


def _cases_of_trainings():
    def batches(number, N):
        drawn = (
            [
                (torch.randint(4, 9, (n + 1,)).tolist(), torch.randint(4, 9, (n,)).tolist())
                for n in torch.randint(1, 6, (N,)).tolist()
            ]
            for _ in range(number)
        )
        return [[*pairs, ([5], [6]), ([7], [8, 4, 4, 6, 5, 7])] for pairs in drawn]

    yield 1, batches(2, 1), batches(1, 1)
    yield 3, batches(2, 3), [*batches(1, 1), *batches(1, 4)]


_STUB = '''\
def mend_training(model, optimizer, schedule, train, val, epochs):
    """Train a translator. It has three mistakes: find them and mend them."""
    losses = []
    model.train()
    for _ in range(epochs):
        for batch in train:
            Z = model(batch.source, batch.target_in)  # (N, T, vocab_size)
            Z, answers = Z.flatten(0, 1), batch.target_out.flatten()  # (N * T, ...), (N * T)
            loss = F.cross_entropy(Z, answers)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        schedule.step()
        model.eval()
        total, tokens = 0.0, 0
        for batch in val:
            with torch.no_grad():
                Z = model(batch.source, batch.target_in)  # (N, T, vocab_size)
            real = batch.target_out != PAD  # (N, T)
            total += F.cross_entropy(Z[real], batch.target_out[real], reduction="sum").item()
            tokens += real.sum().item()
        losses.append(total / tokens)
    return losses
'''


_edited = partial(edited, _STUB)
_WORDS = ("It has three mistakes: find them and mend them.", "It had three mistakes.")
_CALL = "F.cross_entropy(Z, answers)"
_LOSS = (_CALL, "F.cross_entropy(Z, answers, ignore_index=PAD)")
_RATE = (
    "            optimizer.step()\n        schedule.step()",
    "            optimizer.step()\n            schedule.step()",
)
_MODE = (
    "    model.train()\n    for _ in range(epochs):\n",
    "    for _ in range(epochs):\n",
)
_MODE = (_MODE[0], _MODE[1] + "        model.train()\n")
_BACKWARD = "            optimizer.zero_grad()\n            loss.backward()\n"

mend_training = Exercise(
    name="mend_training",
    chapter="07",
    section="The training",
    kind=MEND,
    title="Three silent mistakes",
    goal="Read a whole training script, and find what no error message tells.",
    difficulty=4,
    importance=5,
    minutes=10,
    text="""\
This script runs, its losses fall, and the model learns. Yet it learns worse than it could. **Find
the three mistakes and mend them.** No two are of one kind.

The model has dropout. `train` and `val` are lists of batches with `source`, `target_in` and
`target_out`, padded with `PAD`. `schedule.step()` goes on to the rate of the next *step*, as in the
chapter. The result is a list: after each epoch the loss on `val`, a mean over its tokens, without
dropout. The lines that compute it are right. In which mode the model is at the end does not matter.

(The check trains a small model. Item 0 of its results are the losses, item 1 the weights
afterwards.)""",
    hints=(
        "Follow the second epoch line by line, and write down three things: over which places the "
        "mean of the loss runs, how often the rate has changed, and whether dropout is on.",
        "The two losses differ in one respect. The chapter's `learn` calls all its `step`s at one "
        "place. And what undoes `model.eval()`?",
        "`ignore_index=PAD`; `schedule.step()` right after `optimizer.step()`, inside the inner "
        "loop; `model.train()` as first line of the outer loop.",
    ),
    setup="from tutor.text.tokenizer import PAD\n",
    stub=_STUB,
    solution=_edited(_WORDS, _LOSS, _RATE, _MODE),
    because=(
        "None of them stops the loss from falling. Only reading, or a comparison with a run that "
        "is right, finds such mistakes."
    ),
    reference=_script(),
    call=_train_a_model,
    cases=_cases_of_trainings,
    draws=True,
    mistakes=(
        (
            "The three are mended, but the old gradients are no longer forgotten before "
            "`backward`, which adds to them.",
            _script(order="BCS"),
        ),
        (
            "The three are mended, but the old gradients are forgotten once an epoch only: each "
            "step needs new ones.",
            _script(order="zBCS"),
        ),
        (
            "The three are mended, but now the decoder reads target_out, which it is asked for.",
            _script(copies=True),
        ),
        (
            "`F.cross_entropy` wants logits. With a softmax before it, it takes two.",
            _script(softmax=True),
        ),
        (
            "The training is right. But a loss after each epoch is wanted, not only the last.",
            _script(returned=slice(-1, None)),
        ),
        (
            "You return after the first epoch: see that `return` does not stand in the loop.",
            lambda *given: _script()(*given[:-1], 1),
        ),
        (
            "The three are mended, but no step moves the weights: the gradients are forgotten "
            "before it, or belong to a copy of the model.",
            _script(order="BZCS"),
        ),
        (
            "The three are mended, but the gradients are not clipped when the step comes.",
            _script(order="ZBS"),
        ),
        (
            "The batches are shifted already: target_out is target_in, one step later. Shifted "
            "once more, the model learns the token after the next.",
            _script(shifted=1),
        ),
        (
            "The training is right. But your losses are means of batch means, in which a token of "
            "a small batch weighs more.",
            _script(means=True),
        ),
        *_left(),
    ),
    wrong={
        _edited((_CALL, "nn.CrossEntropyLoss()(Z, answers)")): "As it was, and three",
        _edited(
            _LOSS,
            _MODE,
            ("        schedule.step()\n", "        [schedule.step() for _ in train]\n"),
        ): "all of them after the epoch",
        _edited(
            _RATE,
            _MODE,
            (_CALL, "F.cross_entropy(Z, answers, ignore_index=PAD, label_smoothing=0.1)"),
        ): "smoothed now",
        _edited(
            _LOSS,
            _RATE,
            _MODE,
            (
                "    losses = []\n",
                "    import copy\n    model, losses = copy.deepcopy(model), []\n",
            ),
        ): "a copy of the model",
        _edited(_RATE, _MODE): "Padding still counts",
        _edited(_LOSS, _MODE): "once an epoch",
        _edited(_LOSS, _RATE): "trains without dropout",
        _edited(_LOSS): "Two mistakes are left. One of them: The schedule still",
        _edited(_RATE): "Two mistakes are left. One of them: Padding still",
        _edited(_MODE): "Two mistakes are left. One of them: Padding still",
        _edited(
            _RATE,
            _MODE,
            (_CALL, "F.cross_entropy(Z, answers, reduction='none', ignore_index=PAD).mean()"),
        ): "divide by its places too",
        _edited(
            _LOSS,
            _MODE,
            (
                "            optimizer.step()\n        schedule.step()",
                "            schedule.step()\n            optimizer.step()",
            ),
        ): "a step too soon",
        _edited(_LOSS, _MODE, ("        schedule.step()\n", "")): "never steps",
        _edited(_LOSS, _RATE, ("        model.eval()\n", "")): "runs with dropout",
        _edited(_LOSS, _RATE, ("    model.train()\n", "    model.eval()\n")): "no dropout at all",
        _edited(
            _LOSS, _RATE, _MODE, ("            optimizer.zero_grad()\n", "")
        ): "no longer forgotten",
        _edited(
            _LOSS, _RATE, _MODE, ("nn.utils.clip_grad_norm_(model.parameters(), 1.0)", "pass")
        ): "not clipped when the step comes",
        _edited(
            _LOSS,
            _RATE,
            (
                "    model.train()\n    for _ in range(epochs):\n",
                (
                    "    for _ in range(epochs):\n        model.train()\n"
                    "        optimizer.zero_grad()\n"
                ),
            ),
            (_BACKWARD, "            loss.backward()\n"),
        ): "once an epoch only",
        _edited(_LOSS, _RATE, _MODE, ("Z.flatten", "Z.softmax(-1).flatten")): ("wants logits"),
        _edited(_LOSS, _RATE, _MODE, ("    return losses", "        return losses")): (
            "does not stand in the loop"
        ),
        _edited(_LOSS, _RATE, _MODE, (_BACKWARD, "".join(_BACKWARD.splitlines(True)[::-1]))): (
            "no step moves the weights"
        ),
        _edited(
            _LOSS, _MODE, ("optimizer.step()\n", "optimizer.step()\n            schedule.step()\n")
        ): "once an epoch as well",
        _edited(
            _RATE,
            _MODE,
            (_CALL, "F.cross_entropy(Z, answers, reduction='sum', ignore_index=PAD)"),
        ): "a sum over tokens",
        _edited(
            _LOSS,
            _RATE,
            _MODE,
            ("Z.flatten(0, 1)", "Z[:, :-1].flatten(0, 1)"),
            ("batch.target_out.flatten()", "batch.target_out[:, 1:].flatten()"),
        ): "the token after the next",
        _edited(
            _LOSS,
            _RATE,
            _MODE,
            ("total += F", "losses_of = F"),
            ('reduction="sum").item()', 'reduction="mean").item()'),
            ("tokens += real.sum().item()", "total, tokens = total + losses_of, tokens + 1"),
        ): "means of batch means",
    },
    right=(
        _edited(
            _RATE,
            (_CALL, "F.cross_entropy(Z[answers != PAD], answers[answers != PAD])"),
            (
                "losses.append(total / tokens)",
                "losses.append(total / tokens)\n        model.train()",
            ),
        ),
        _edited(
            _LOSS,
            _MODE,
            (_BACKWARD, "            loss.backward()\n"),
            (
                "            optimizer.step()\n        schedule.step()",
                "            for each in (optimizer, schedule):\n                each.step()\n"
                "            model.zero_grad()",
            ),
        ),
        """\
def mend_training(model, optimizer, schedule, train, val, epochs):
    def total_loss(batch):
        log_p = model(batch.source, batch.target_in).log_softmax(-1)
        return F.nll_loss(log_p.mT, batch.target_out, ignore_index=PAD, reduction="sum")

    def tokens(batch):
        return (batch.target_out != PAD).sum()

    def learn(batch):
        optimizer.zero_grad()
        (total_loss(batch) / tokens(batch)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()

    losses = []
    for _ in range(epochs):
        model.train()
        for batch in train:
            learn(batch)
        model.eval()
        with torch.inference_mode():
            losses.append((sum(map(total_loss, val)) / sum(map(tokens, val))).item())
    return losses
""",
    ),
)
