"""Exercises of chapter 07: the loss, the schedule, the loop."""

import torch
import torch.nn.functional as F
from torch import nn

from tutor.attention import PAD
from tutor.check.exercise import EXPLAIN, MEND, PREDICT, WRITE, Exercise
from tutor.museum import EXHIBITS
from tutor.training.loss import smoothed_cross_entropy
from tutor.training.optimizers import inverse_square_root

loss_in_bits = Exercise(
    name="loss_in_bits",
    chapter="07",
    section="Label smoothing",
    kind=PREDICT,
    title="A smoothed loss on paper",
    goal="Compute a smoothed cross-entropy from its formula.",
    difficulty=3,
    importance=4,
    minutes=8,
    text="""\
A vocabulary of four tokens. The model gives them
$p = [\\frac12, \\frac14, \\frac18, \\frac18]$, the first is right, and $\\varepsilon = 0.2$. So
$-\\log p_v$ is 1, 2, 3 and 3 times $\\log 2$.

**Predict** the smoothed loss on paper, in bits: as a multiple of $\\log 2$, good to two
decimals.""",
    hints=(
        "Write down $q$ first: four numbers that sum to 1.",
        "$\\varepsilon / V = 0.05$ goes to every token, the right one included, and $1 - "
        "\\varepsilon = 0.8$ to the right one on top.",
        "$q = [0.85, 0.05, 0.05, 0.05]$. Multiply with 1, 2, 3 and 3, and add up.",
    ),
    stub="loss_in_bits = None  # a number",
    solution="loss_in_bits = 1.25",
    because="0.85 · 1 + 0.05 · (2 + 3 + 3) = 1.25.",
    reference=1.25,
    tolerance=0.006,
    mistakes=(
        (
            "That is the loss without smoothing: only the right token counts in it.",
            1.0,
        ),
        (
            "You spread ε over the three wrong tokens. It is spread over the whole vocabulary, the "
            "right token included.",
            0.8 + 0.2 / 3 * 8,
        ),
        (
            "Your q sums to more than 1: the right token keeps 1 − ε, plus its share of ε.",
            1.05 + 0.05 * 8,
        ),
        (
            "Your q sums to less than 1: the right token has 1 − ε and a share of ε as well.",
            0.8 + 0.05 * 8,
        ),
        (
            "That is in nats. A bit is log 2 = 0.693 nats: divide by it.",
            1.25 * 0.6931,
        ),
        (
            "That is the mean of all four. The right token weighs more than the others.",
            2.25,
        ),
        (
            "That is the part of the right token. The other three have a share each.",
            0.85,
        ),
        (
            "The sign is wrong: a loss is minus a logarithm of something below 1.",
            -1.25,
        ),
        (
            "You took ε for the right token's weight; it has 1 − ε, and its share of ε.",
            0.2 + 0.8 / 3 * 8,
        ),
        (
            "That is 1 − ε times the loss of the right token. The share ε / V of each of the four "
            "is missing.",
            0.8,
        ),
    ),
    wrong={
        "loss_in_bits = 1": "without smoothing",
        "loss_in_bits = 0.8 * 1 + 0.067 * (2 + 3 + 3)": "the right token included",
        "loss_in_bits = 1.05 * 1 + 0.05 * 8": "more than 1",
        "loss_in_bits = 0.8 + 0.1 + 0.15 + 0.15": "less than 1",
        "loss_in_bits = 0.87": "in nats",
        "loss_in_bits = (1 + 2 + 3 + 3) / 4": "mean of all four",
        "loss_in_bits = -1.25": "sign is wrong",
        "loss_in_bits = [0.85, 0.1, 0.15, 0.15]": "a number is wanted",
        "loss_in_bits = (1 - 0.2) * 1": "is missing",
    },
    right=(
        "loss_in_bits = 0.85 + 0.1 + 0.15 + 0.15",
        """\
log_p = torch.tensor([1 / 2, 1 / 4, 1 / 8, 1 / 8]).log()
loss = F.cross_entropy(log_p[None], torch.tensor([0]), label_smoothing=0.2)
loss_in_bits = loss / math.log(2)
""",
    ),
)


def _smoothed(logits, targets, smoothing):
    real = targets != PAD
    return F.cross_entropy(logits[real], targets[real], label_smoothing=smoothing)


def _each(logits, targets, smoothing, peak=None, rest=None, dim=-1):
    """The smoothed loss of every place, (N, T); `peak` and `rest` are probabilities of q."""
    rest = smoothing / logits.shape[-1] if rest is None else rest
    peak = 1 - smoothing + rest if peak is None else peak
    log_p = logits.log_softmax(dim)  # (N, T, V)
    right = log_p.gather(-1, targets[..., None])[..., 0]  # (N, T)
    return -(peak - rest) * right - rest * log_p.sum(-1)


def _mean_of_real(losses, targets):
    return losses[targets != PAD].mean()


def _not_to_padding(logits, targets, smoothing):
    real, V = targets != PAD, logits.shape[-1]
    log_p = logits[real].log_softmax(-1)  # (tokens, V)
    right = F.nll_loss(log_p, targets[real])
    return (1 - smoothing) * right - smoothing * log_p[:, 1:].sum(-1).mean() / (V - 1)


def _cases_of_losses():
    for V, T, lengths, smoothing in [
        (3, 1, [1], 0.3), (4, 2, [1], 0.3), (5, 3, [3, 1], 0.1), (7, 4, [2, 4, 1], 0.2),
        (6, 5, [0, 5, 2], 0.1), (5, 3, [2, 2], 0.0),
    ]:  # fmt: skip
        N = len(lengths)
        targets = torch.randint(1, V, (N, T))
        for n, length in enumerate(lengths):
            targets[n, length:] = PAD
        yield 2 * torch.randn(N, T, V), targets, smoothing


def _without_logarithm(logits, targets, smoothing):
    E, right = logits[targets != PAD].softmax(-1), targets[targets != PAD]
    return -(1 - smoothing) * E[range(len(right)), right].mean() - smoothing * E.mean()


def _zero_logits(logits, targets, smoothing):
    return _each(logits * (targets != PAD)[..., None], targets, smoothing).mean()


def _whole_columns(logits, targets, smoothing):
    E, right = logits[targets != PAD], targets[targets != PAD]
    q = torch.full_like(E, smoothing / E.shape[-1])
    q[:, right] += 1 - smoothing
    return -(q * E.log_softmax(-1)).sum(-1).mean()


smoothed_loss = Exercise(
    name="smoothed_loss",
    chapter="07",
    section="Label smoothing",
    kind=WRITE,
    title="The loss of a batch",
    goal="Write the smoothed loss so that padding has no say in it.",
    difficulty=3,
    importance=5,
    minutes=15,
    text="""\
Write the loss of a batch: cross-entropy with label smoothing, as in the formula of the chapter, and
the **mean over all real tokens** of the batch. A place whose target is padding must not enter, with
neither half of the loss. At least one token is real; a row may be nothing but padding.""",
    hints=(
        "Do the padding first: keep the logits and targets of real tokens only. What is left has "
        "no batch any more, which makes the rest easier.",
        "With `real = targets != PAD`, `logits[real]` has the shape (tokens, V) and "
        "`targets[real]` (tokens,). The chapter's `loss_by_hand` takes these.",
        "`q` is full of `smoothing / V`, plus `1 - smoothing` at the right tokens. The loss of a "
        "token is `-(q * logits.log_softmax(-1)).sum(-1)`.",
    ),
    setup="from tutor.text.tokenizer import PAD\n",
    stub='''\
def smoothed_loss(logits, targets, smoothing):
    """Cross-entropy with label smoothing, the mean over real tokens.

    logits: float tensor (N, T, V)
    targets: int tensor (N, T), PAD where there is no token
    smoothing: float, the share that is spread over all V tokens
    Returns the loss: float tensor without dimensions
    """
    raise NotImplementedError
''',
    solution='''\
def smoothed_loss(logits, targets, smoothing):
    """Cross-entropy with label smoothing, the mean over real tokens.

    logits: float tensor (N, T, V)
    targets: int tensor (N, T), PAD where there is no token
    smoothing: float, the share that is spread over all V tokens
    Returns the loss: float tensor without dimensions
    """
    real = targets != PAD  # (N, T)
    E, right = logits[real], targets[real]  # (tokens, V), (tokens,)
    q = torch.full_like(E, smoothing / E.shape[-1])
    q[range(len(right)), right] += 1 - smoothing
    return -(q * E.log_softmax(dim=-1)).sum(dim=-1).mean()
''',
    reference=_smoothed,
    cases=_cases_of_losses,
    gradient=True,
    forbidden=(smoothed_cross_entropy,),
    mistakes=(
        (
            "Padding counts in your loss, as if it were a word to predict. Leave it out.",
            lambda logits, targets, smoothing: _each(logits, targets, smoothing).mean(),
        ),
        (
            "One half of your loss leaves padding out, the other counts it: the mean of the "
            "smoothing runs over every place.",
            EXHIBITS["loss_with_smoothing"].wrong,
        ),
        (
            "Padding adds nothing to your sum, but you divide by all N · T places. Divide by the "
            "number of real tokens.",
            lambda logits, targets, smoothing: (
                _each(logits, targets, smoothing) * (targets != PAD)
            ).mean(),
        ),
        (
            "You divide by the number of sentences. Divide by the number of real tokens.",
            lambda logits, targets, smoothing: (
                (_each(logits, targets, smoothing) * (targets != PAD)).sum() / len(targets)
            ),
        ),
        (
            "That is the sum over tokens: twice the batch, twice the loss. Take the mean.",
            lambda logits, targets, smoothing: (
                _each(logits, targets, smoothing) * (targets != PAD)
            ).sum(),
        ),
        (
            "You take the mean of each sentence first, so that a token of a short one weighs more. "
            "Take one mean over all real tokens.",
            lambda logits, targets, smoothing: (
                (_each(logits, targets, smoothing) * (targets != PAD)).sum(1)
                / (targets != PAD).sum(1)
            ).mean(),
        ),
        (
            "The smoothing has no effect: this is the plain cross-entropy.",
            lambda logits, targets, smoothing: _smoothed(logits, targets, 0.0),
        ),
        (
            "You spread the smoothing over the wrong tokens only. It goes to all V, the right one "
            "included.",
            lambda logits, targets, smoothing: _mean_of_real(
                _each(
                    logits, targets, smoothing, 1 - smoothing, smoothing / (len(logits[0, 0]) - 1)
                ),
                targets,
            ),
        ),
        (
            "Your q sums to less than 1: the right token has 1 − ε and its share of ε.",
            lambda logits, targets, smoothing: _mean_of_real(
                _each(logits, targets, smoothing, peak=1 - smoothing), targets
            ),
        ),
        (
            "Your q sums to more than 1: the right token has 1 − ε, not 1, and its share of ε.",
            lambda logits, targets, smoothing: _mean_of_real(
                _each(logits, targets, smoothing, peak=1 + smoothing / logits.shape[-1]), targets
            ),
        ),
        (
            "You add the logarithms of all tokens with weight ε each, V times too much: each has "
            "ε / V.",
            lambda logits, targets, smoothing: _mean_of_real(
                _each(logits, targets, smoothing, peak=1.0, rest=smoothing), targets
            ),
        ),
        (
            "Your smoothing gives padding nothing. That is a good thought; but the formula here "
            "spreads ε over all V tokens.",
            _not_to_padding,
        ),
        (
            "The softmax is taken twice: `F.cross_entropy` wants logits, not probabilities.",
            lambda logits, targets, smoothing: _smoothed(logits.softmax(-1), targets, smoothing),
        ),
        (
            "Your softmax runs over the positions, dimension 1. It belongs to the vocabulary, the "
            "last one.",
            lambda logits, targets, smoothing: _mean_of_real(
                _each(logits, targets, smoothing, dim=1), targets
            ),
        ),
        (
            "The sign is wrong: a loss is minus the logarithm.",
            lambda logits, targets, smoothing: -_smoothed(logits, targets, smoothing),
        ),
        (
            "Logits are no log-probabilities: take `log_softmax` first.",
            lambda logits, targets, smoothing: _mean_of_real(
                -(1 - smoothing) * logits.gather(-1, targets[..., None])[..., 0]
                - smoothing * logits.mean(-1),
                targets,
            ),
        ),
        (
            "You take the mean over the vocabulary too. The loss of a token is a sum over its V "
            "terms.",
            lambda logits, targets, smoothing: (
                _smoothed(logits, targets, smoothing) / logits.shape[-1]
            ),
        ),
        (
            "Those are probabilities, and the loss wants their logarithms: take `log_softmax`.",
            _without_logarithm,
        ),
        (
            "Logits of padding are set to 0, which is still a distribution, and the loss counts "
            "it. Leave those places out.",
            _zero_logits,
        ),
        (
            "`q[:, targets]` raises those columns in every row. Give the row as well: "
            "`q[range(len(targets)), targets]`.",
            _whole_columns,
        ),
    ),
    wrong={
        """\
def smoothed_loss(logits, targets, smoothing):
    V = logits.shape[-1]
    return F.cross_entropy(logits.view(-1, V), targets.view(-1), label_smoothing=smoothing)
""": "Padding counts",
        """\
def smoothed_loss(logits, targets, smoothing):
    log_p = F.log_softmax(logits, dim=-1).flatten(0, 1)
    nll = F.nll_loss(log_p, targets.flatten(), ignore_index=PAD)
    smooth = -log_p.mean(dim=-1).mean()
    return (1 - smoothing) * nll + smoothing * smooth
""": "One half of your loss",
        """\
def smoothed_loss(logits, targets, smoothing):
    losses = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none",
                             ignore_index=PAD, label_smoothing=smoothing)
    return losses.mean()
""": "all N · T places",
        """\
def smoothed_loss(logits, targets, smoothing):
    total = F.cross_entropy(logits.transpose(1, 2), targets, reduction="sum", ignore_index=PAD,
                            label_smoothing=smoothing)
    return total / targets.shape[0]
""": "number of sentences",
        """\
def smoothed_loss(logits, targets, smoothing):
    criterion = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=smoothing, reduction="sum")
    return criterion(logits.transpose(1, 2), targets)
""": "sum over tokens",
        """\
def smoothed_loss(logits, targets, smoothing):
    losses = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none",
                             label_smoothing=smoothing)
    real = (targets != PAD).float()
    return ((losses * real).sum(dim=-1) / real.sum(dim=-1)).mean()
""": "a short one weighs more",
        """\
def smoothed_loss(logits, targets, smoothing):
    return F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=PAD)
""": "no effect",
        """\
def smoothed_loss(logits, targets, smoothing):
    V = logits.shape[-1]
    E, y = logits[targets != PAD], targets[targets != PAD]
    q = F.one_hot(y, V).float()
    q = torch.where(q == 1, 1 - smoothing, smoothing / (V - 1))
    return -(q * E.log_softmax(-1)).sum(-1).mean()
""": "wrong tokens only",
        """\
def smoothed_loss(logits, targets, smoothing):
    V = logits.shape[-1]
    E, y = logits[targets != PAD], targets[targets != PAD]
    q = torch.full_like(E, smoothing / V)
    q[torch.arange(len(y)), y] = 1 - smoothing
    return -(q * E.log_softmax(-1)).sum(-1).mean()
""": "less than 1",
        """\
def smoothed_loss(logits, targets, smoothing):
    E, y = logits[targets != PAD], targets[targets != PAD]
    log_p = torch.log(torch.softmax(E, dim=-1))
    right = log_p[torch.arange(len(y)), y]
    return -((1 - smoothing) * right + smoothing * log_p.sum(dim=-1)).mean()
""": "V times too much",
        """\
def smoothed_loss(logits, targets, smoothing):
    p = F.softmax(logits, dim=-1)
    return F.cross_entropy(p.transpose(1, 2), targets, ignore_index=PAD, label_smoothing=smoothing)
""": "softmax is taken twice",
        """\
def smoothed_loss(logits, targets, smoothing):
    return F.cross_entropy(logits, targets, ignore_index=PAD, label_smoothing=smoothing)
""": "RuntimeError",
        """\
def smoothed_loss(logits, targets, smoothing):
    loss = F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=PAD,
                           label_smoothing=smoothing)
    return loss.item()
""": "a tensor is wanted",
        """\
def smoothed_loss(logits, targets, smoothing):
    real = targets != PAD
    E, y = logits[real], targets[real]
    q = torch.full_like(E, smoothing / E.shape[-1])
    q[range(len(y)), y] += 1 - smoothing
    return -(q * E.log_softmax(-1)).mean()
""": "mean over the vocabulary",
        """\
def smoothed_loss(logits, targets, smoothing):
    real = targets != PAD
    E, y = logits[real], targets[real]
    q = torch.full_like(E, smoothing / E.shape[-1])
    q[range(len(y)), y] += 1 - smoothing
    return -(q * E.softmax(-1)).sum(-1).mean()
""": "wants their logarithms",
        """\
def smoothed_loss(logits, targets, smoothing):
    E = logits * (targets != PAD).unsqueeze(-1)
    return F.cross_entropy(E.transpose(1, 2), targets, label_smoothing=smoothing)
""": "set to 0",
        """\
def smoothed_loss(logits, targets, smoothing):
    real = targets != PAD
    log_p, y = logits[real].log_softmax(-1), targets[real]
    q = torch.full_like(log_p, smoothing / log_p.shape[-1])
    q[:, y] = q[:, y] + 1 - smoothing
    return (-q * log_p).sum() / real.sum()
""": "in every row",
    },
    right=(
        """\
def smoothed_loss(logits, targets, smoothing):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD,
                           label_smoothing=smoothing)
""",
        """\
def smoothed_loss(logits, targets, smoothing):
    real = (targets != PAD).float()
    log_p = logits - logits.logsumexp(dim=-1, keepdim=True)
    right = torch.einsum("ntv,ntv->nt", F.one_hot(targets, logits.size(-1)).float(), log_p)
    losses = -(1 - smoothing) * right - smoothing * log_p.mean(-1)
    return (losses * real).sum() / real.sum()
""",
        """\
def smoothed_loss(logits, targets, smoothing):
    losses = []
    for E, y in zip(logits.flatten(0, 1), targets.flatten().tolist()):
        if y != PAD:
            log_p = (E.exp() / E.exp().sum()).log()
            losses.append(-(1 - smoothing) * log_p[y] - smoothing * log_p.mean())
    return sum(losses) / len(losses)
""",
    ),
)


def _rate(step, peak, warmup):
    return peak * min((step + 1) / warmup, (warmup / (step + 1)) ** 0.5)


paper_rate = Exercise(
    name="paper_rate",
    chapter="07",
    section="How fast to learn: warm-up and decay",
    kind=WRITE,
    title="The paper's curve, as high as you like",
    goal="Write a warm-up schedule that is right at step 0 and at its peak.",
    difficulty=3,
    importance=3,
    minutes=12,
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
            "At step 0 you divide by 0. Steps are counted from 0, so use `step + 1`.",
            lambda step, peak, warmup: peak * min(step / warmup, (warmup / step) ** 0.5),
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


def _use_a_model(answer, dropout, training, X):
    """A model that is made here, so that an answer may change its mode."""
    model = nn.Sequential(nn.Linear(X.shape[-1], 5), nn.Dropout(dropout)).train(training)
    result = answer(model, X)
    return result, model.training, model[1].p


def _no_dropout(model, X):
    model[1].p = 0.0
    return model(X)


def _other_mode(model, X):
    was_training = model.training
    Y = model.eval()(X)
    model.train(not was_training)
    return Y


def _with_a_seed(model, X):
    torch.manual_seed(0)
    return model(X)


def _leave(mode, first=True):
    """Evaluate, before or after the work, and leave the model in a mode."""

    def answer(model, X):
        if first:
            model.eval()
        Y = model(X)
        model.train(mode)
        return Y

    return answer


def _outermost(after):
    """Set the attribute of one module, and then to `after`, or to what it was."""

    def answer(model, X):
        was_training = model.training
        model.training = False
        Y = model(X)
        model.training = was_training if after is None else after
        return Y

    return answer


steady_results = Exercise(
    name="steady_results",
    chapter="07",
    section="What can go wrong",
    kind=MEND,
    title="Two translations of one sentence",
    goal="Switch dropout off for a result, and leave the model as it was.",
    difficulty=2,
    importance=5,
    minutes=10,
    text="""\
Asked twice, this model gives two answers, although `no_grad` is there. **Find the mistake and mend
it.** The function is called in the middle of a training, and also when the training is over: **the
model must leave it in the mode in which it came**, training or evaluation.

(The check looks at three things: item 0 is the result, item 1 is `model.training` afterwards, item
2 the share of numbers that dropout drops.)""",
    hints=(
        "`no_grad` switches gradients off. What else does a model do in training that has no place "
        "here?",
        "`model.eval()` switches dropout off. `model.training` tells in which mode a model is.",
        "Keep `was_training = model.training`, call `model.eval()`, and afterwards "
        "`model.train(was_training)`.",
    ),
    stub='''\
def steady_results(model, X):
    """What a model makes of X. It has a mistake: find it and mend it.

    model: nn.Module with dropout, in training or evaluation mode
    X: float tensor (N, d)
    Returns Y: float tensor (N, d_out), without dropout
    """
    with torch.no_grad():
        return model(X)
''',
    solution='''\
def steady_results(model, X):
    """What a model makes of X, without dropout; its mode is then as it was.

    model: nn.Module with dropout, in training or evaluation mode
    X: float tensor (N, d)
    Returns Y: float tensor (N, d_out), without dropout
    """
    was_training = model.training
    model.eval()
    with torch.no_grad():
        Y = model(X)
    model.train(was_training)
    return Y
''',
    because="eval() changes the mode, no_grad() does not; and the training goes on with dropout.",
    reference=EXHIBITS["translate_a_sentence"].mended,
    call=_use_a_model,
    cases=lambda: [
        (dropout, training, torch.randn(N, d))
        for dropout, training, N, d in [
            (0.5, True, 1, 2),
            (0.5, False, 1, 2),
            (0.1, True, 3, 7),
            (0.9, False, 2, 1),
        ]
    ],  # fmt: skip
    draws=True,
    mistakes=(
        (
            "As it was: a model in training mode gives two results in two calls.",
            EXHIBITS["translate_a_sentence"].wrong,
        ),
        (
            "The result is right, but the model stays in evaluation mode: a training that goes on "
            "has no dropout any more.",
            _leave(False),
        ),
        (
            "The result is right, but the model is always in training mode afterwards, also when "
            "it came in evaluation mode.",
            _leave(True),
        ),
        (
            "The result is right, but the model's mode is turned over: what came in training mode "
            "leaves in evaluation mode, and the other way round.",
            _other_mode,
        ),
        (
            "`eval()` comes too late: the result was computed with dropout before.",
            _leave(False, first=False),
        ),
        (
            "`train()` switches dropout on; `eval()` switches it off.",
            lambda model, X: model.train()(X),
        ),
        (
            "A seed makes two calls equal, but dropout is still at work: numbers are missing.",
            _with_a_seed,
        ),
        (
            "The result is right, but you set the dropout to 0 for good: a training that goes on "
            "has none any more. Change the mode instead.",
            _no_dropout,
        ),
        (
            "Setting `training` reaches the outermost module alone; `eval()` also reaches the "
            "dropout within.",
            _outermost(None),
        ),
        (
            "Setting `training` reaches the outermost module alone; `eval()` also reaches the "
            "dropout within.",
            _outermost(True),
        ),
        (
            "Setting `training` reaches the outermost module alone; `eval()` also reaches the "
            "dropout within.",
            _outermost(False),
        ),
    ),
    wrong={
        """\
def steady_results(model, X):
    with torch.inference_mode():
        return model.forward(X)
""": "As it was",
        """\
@torch.no_grad()
def steady_results(model, X):
    model.eval()
    return model(X)
""": "stays in evaluation mode",
        """\
def steady_results(model, X):
    model.eval()
    with torch.no_grad():
        Y = model(X)
    model.train()
    return Y
""": "always in training mode",
        """\
def steady_results(model, X):
    with torch.no_grad():
        Y = model(X)
    model.eval()
    return Y
""": "too late",
        """\
def steady_results(model, X):
    torch.manual_seed(0)
    with torch.no_grad():
        return model(X)
""": "A seed makes two calls equal",
        """\
def steady_results(model, X):
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0
    with torch.no_grad():
        return model(X)
""": "for good",
        """\
def steady_results(model, X):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        Y = model(X)
    if not was_training:
        model.train()
    return Y
""": "turned over",
        """\
def steady_results(model, X):
    torch.set_grad_enabled(False)
    was_training = model.training
    Y = model.eval()(X)
    model.train(was_training)
    return Y
""": "whether gradients are computed",
        """\
def steady_results(model, X):
    model.training = False
    with torch.no_grad():
        Y = model(X)
    model.training = True
    return Y
""": "outermost module",
        """\
def steady_results(model, X):
    model.eval
    with torch.no_grad():
        return model(X)
""": "As it was",
    },
    right=(
        """\
def steady_results(model, X):
    before = model.training
    model.train(False)
    Y = model(X).detach()
    if before:
        model.train()
    return Y
""",
        """\
def steady_results(model, X):
    import copy

    with torch.no_grad():
        return copy.deepcopy(model).eval()(X)
""",
        """\
def steady_results(model, X):
    was_training = model.training
    try:
        model.eval()
        with torch.inference_mode():
            return model(X)
    finally:
        model.train(was_training)
""",
    ),
)


class _Descent:
    """Plain gradient descent. The first optimiser of torch.optim takes seconds to load."""

    def __init__(self, parameters, lr):
        self.parameters, self.lr = list(parameters), lr

    def zero_grad(self):
        for p in self.parameters:
            p.grad = None

    def step(self):
        for p in self.parameters:
            if p.grad is not None:
                p.data -= self.lr * p.grad


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
        for lr, steps, N, d in [(0.5, 1, 1, 2), (0.5, 2, 1, 2), (1.0, 4, 5, 2), (0.1, 3, 4, 1)]
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
            "The weights are right, but those are the losses after each step. Wanted is the loss "
            "that the step is made from.",
            _losses_after,
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
    ),
)

too_good_to_be_true = Exercise(
    name="too_good_to_be_true",
    chapter="07",
    section="What can go wrong",
    kind=EXPLAIN,
    title="A success that is none",
    goal="Find out why a loss can be too good, and name the test that settles it.",
    difficulty=3,
    importance=4,
    minutes=10,
    text="""\
A friend is happy: after fifty steps the smoothed loss of her translator is all but at its floor, on
new sentences too. But when it writes, it writes nonsense.

**Explain** in three to five sentences what the model has learned. Why do the causal mask and the
new sentences not reveal it, and why does writing? Which test would have told her in a second?""",
    hints=(
        "What stands in the decoder's input, and what is asked for, if she forgot one thing?",
        "While it trains, the input of the decoder is the reference. What is it while it writes?",
        "The chapter changes one token of the input and looks at one prediction. Which token, and "
        "which prediction?",
    ),
    stub='''\
too_good_to_be_true = """

"""
''',
    solution='''\
too_good_to_be_true = """
The target was not shifted, so the token that is asked for stands in the decoder's input at the same
place, and the model learned to copy it. The causal mask lets a position see itself, so it hides
nothing here. With new sentences their reference is fed in just the same way, and copying works on
any text. When the model writes there is no reference in the input, only what it has written itself,
and there is nothing to copy. The test: change the answer where it stands in the decoder's input;
the prediction of it must not move.
"""
''',
    because="Nobody has judged it yet: compare it with the rubric beside the solution.",
    wrong={
        "too_good_to_be_true = 'It overfits.'": "at least 12 words",
        "too_good_to_be_true = None": "as a text in quotes",
        "too_good_to_be_true = 0.01": "as a text in quotes",
    },
    rubric="""\
- 1 point: the target is not shifted (or the future is visible), so the model copies its input.
- 1 point: the causal mask does not help, since a position sees itself; new sentences do not help,
  since their reference is fed in too.
- 1 point: in writing, the reference is not there and nothing can be copied.
- 1 point: a test that decides: change the answer in the decoder's input, and see whether its
  prediction moves. (Half a point for: a loss that falls far too fast is a warning.)""",
)

EXERCISES = (
    loss_in_bits,
    smoothed_loss,
    paper_rate,
    steady_results,
    take_steps,
    too_good_to_be_true,
)
