"""The loss of a batch."""

import torch
import torch.nn.functional as F

from tutor.attention import PAD
from tutor.check.exercise import WRITE, Exercise
from tutor.museum import EXHIBITS
from tutor.training.loss import smoothed_cross_entropy


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


def _without_two(logits, targets, smoothing):
    rest = smoothing / max(1, logits.shape[-1] - 2)
    losses = _each(logits, targets, smoothing, 1 - smoothing, rest)
    return losses + rest * logits.log_softmax(-1)[..., PAD]


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


def _mean_of_sentences(logits, targets, smoothing):
    """The mean of each sentence that has tokens, and the sum of these means."""
    real = targets != PAD
    losses = (_each(logits, targets, smoothing) * real).sum(1)
    return (losses / real.sum(1).clamp(min=1))[real.any(1)]


def _entropy_away(logits, targets, smoothing):
    """What F.kl_div gives: the loss without the entropy of q."""
    V = logits.shape[-1]
    q = torch.full((V,), smoothing / V)
    q[0] += 1 - smoothing
    return _smoothed(logits, targets, smoothing) + torch.special.entr(q).sum().neg()


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


def _holds_for_large(answer):
    """The right token is sure, so that the smoothing is all of the loss: 0.1 * 2 / 3 * 120."""
    logits = torch.tensor([[[0.0, 120.0, 0.0]]], requires_grad=True)
    loss = answer(logits, torch.tensor([[1]]), 0.1)
    loss.backward()
    return abs(loss.item() - 8.0) < 1e-3 and bool(logits.grad.isfinite().all())


def _by(log_of):
    """The right loss, but for the way to log-probabilities."""

    def loss(logits, targets, smoothing):
        log_p, right = log_of(logits[targets != PAD]), targets[targets != PAD]
        each = -(1 - smoothing) * log_p[range(len(right)), right] - smoothing * log_p.mean(-1)
        return each.mean()

    return loss


_LOSSES = """\
def smoothed_loss(logits, targets, smoothing):
    log_p = logits.log_softmax(dim=-1)
    right = log_p.gather(-1, targets[..., None])[..., 0]
    losses = -(1 - smoothing) * right - smoothing * log_p.mean(dim=-1)
    real = targets != PAD
"""

smoothed_loss = Exercise(
    name="smoothed_loss",
    chapter="07",
    section="Label smoothing",
    kind=WRITE,
    title="The loss of a batch",
    goal="Write the smoothed loss so that padding has no say in it.",
    difficulty=3,
    importance=5,
    minutes=10,
    text="""\
Write the loss of a batch: cross-entropy with label smoothing, as in the formula of the chapter, and
the **mean over all real tokens** of the batch. A place whose target is padding must not enter, with
neither half of the loss. At least one token is real; a row may be nothing but padding. Logits may
be large, 100 and more, and the loss must stay finite.

PyTorch's `F.cross_entropy` and `nn.CrossEntropyLoss` can do it all in one call, so they may not be
used here. Write the formula with `log_softmax`.""",
    hints=(
        "Do the padding first: keep the logits and targets of real tokens only. What is left has "
        "no batch any more, which makes the rest easier.",
        "With `real = targets != PAD`, `logits[real]` has the shape (tokens, V) and "
        "`targets[real]` (tokens,).",
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
    forbidden=(smoothed_cross_entropy, F.cross_entropy),
    properties=(
        (
            "With logits of 0, 120 and 0 your loss is infinite, or wrong. exp(120) is infinite in "
            "float32, and a probability that is rounded to 0 has no logarithm. `log_softmax` "
            "avoids both.",
            _holds_for_large,
        ),
    ),
    mistakes=(
        (
            "Your softmax runs over the sentences, dimension 0. It belongs to the vocabulary, the "
            "last one.",
            lambda logits, targets, smoothing: _mean_of_real(
                _each(logits, targets, smoothing, dim=0), targets
            ),
        ),
        (
            "Your softmax runs over the tokens, dimension 0. It belongs to the vocabulary, the "
            "last one.",
            _by(lambda E: E.log_softmax(0)),
        ),
        (
            "You smooth with 0.1, whatever `smoothing` says.",
            lambda logits, targets, smoothing: _smoothed(logits, targets, 0.1),
        ),
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
        *(
            (
                "You take the mean of each sentence first, so that a token of a short one weighs "
                "more. Take one mean over all real tokens.",
                of_sentences,
            )
            for of_sentences in (
                lambda *inputs: _mean_of_sentences(*inputs).mean(),
                lambda *inputs: _mean_of_sentences(*inputs).sum() / len(inputs[0]),
            )
        ),
        (
            "That is what `F.kl_div` gives: the cross-entropy less the entropy of q. The formula "
            "has no such part.",
            _entropy_away,
        ),
        (
            "You spread the smoothing over V - 2 tokens, without the right one and padding. The "
            "formula spreads it over all V.",
            lambda logits, targets, smoothing: _mean_of_real(
                _without_two(logits, targets, smoothing), targets
            ),
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
            "The softmax is taken twice: `log_softmax` wants logits, not probabilities.",
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
        _LOSSES + "    return losses.mean()\n": "Padding counts",
        _LOSSES + "    return (losses * real).mean()\n": "all N · T places",
        _LOSSES + "    return (losses * real).sum() / len(targets)\n": "number of sentences",
        _LOSSES + "    return losses[real].sum()\n": "sum over tokens",
        _LOSSES
        + "    return ((losses * real).sum(-1) / real.sum(-1)).mean()\n": "a short one weighs more",
        _LOSSES + "    return ((losses * real).sum(-1) / real.sum(-1).clamp(min=1)).mean()\n": (
            "a short one weighs more"
        ),
        _LOSSES
        + "    means = [each[r].mean() for each, r in zip(losses, real) if r.any()]\n"
        + "    return sum(means) / len(means)\n": "a short one weighs more",
        _LOSSES + "    return F.nll_loss(log_p.mT, targets, ignore_index=PAD)\n": "no effect",
        _LOSSES + "    return F.nll_loss(log_p, targets, ignore_index=PAD)\n": "RuntimeError",
        _LOSSES + "    return losses[real].mean().item()\n": "a tensor is wanted",
        _LOSSES + "    loss = losses[real].mean()\n    loss.backward()\n    return loss\n": (
            "calls `backward` itself"
        ),
        _LOSSES.replace("logits.log_softmax(dim=-1)", "logits.softmax(dim=-1).log_softmax(dim=-1)")
        + "    return losses[real].mean()\n": "softmax is taken twice",
        _LOSSES.replace(
            "logits.log_softmax(dim=-1)",
            "(logits * (targets != PAD)[..., None]).log_softmax(dim=-1)",
        )
        + "    return losses.mean()\n": "set to 0",
        _LOSSES.replace("logits.log_softmax(dim=-1)", "logits.softmax(dim=-1).log()")
        + "    return losses[real].mean()\n": "avoids both",
        _LOSSES.replace(
            "logits.log_softmax(dim=-1)",
            "(logits.exp() / logits.exp().sum(-1, keepdim=True)).log()",
        )
        + "    return losses[real].mean()\n": "avoids both",
        _LOSSES.replace(
            "logits.log_softmax(dim=-1)", "logits - logits.exp().sum(-1, keepdim=True).log()"
        )
        + "    return losses[real].mean()\n": "avoids both",
        _LOSSES.replace("logits.log_softmax(dim=-1)", "(logits.softmax(dim=-1) + 1e-9).log()")
        + "    return losses[real].mean()\n": "avoids both",
        _LOSSES.replace("logits.log_softmax(dim=-1)", "logits.log_softmax(0)")
        + "    return losses[real].mean()\n": "over the sentences",
        _LOSSES.replace("    log_p", "    smoothing = 0.1\n    log_p", 1)
        + "    return losses[real].mean()\n": "with 0.1, whatever",
        """\
def smoothed_loss(logits, targets, smoothing):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD,
                           label_smoothing=smoothing)
""": "calls `cross_entropy`",
        """\
def smoothed_loss(logits, targets, smoothing):
    criterion = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=smoothing)
    return criterion(logits.mT, targets)
""": "calls `cross_entropy`",
        """\
def smoothed_loss(logits, targets, smoothing):
    log_p = F.log_softmax(logits, dim=-1).flatten(0, 1)
    nll = F.nll_loss(log_p, targets.flatten(), ignore_index=PAD)
    smooth = -log_p.mean(dim=-1).mean()
    return (1 - smoothing) * nll + smoothing * smooth
""": "One half of your loss",
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
    real = targets != PAD
    log_p, y = logits[real].log_softmax(-1), targets[real]
    q = torch.full_like(log_p, smoothing / log_p.shape[-1])
    q[:, y] = q[:, y] + 1 - smoothing
    return (-q * log_p).sum() / real.sum()
""": "in every row",
        """\
def smoothed_loss(logits, targets, smoothing):
    real = targets != PAD
    log_p = logits.log_softmax(dim=-1)
    log_p[~real] = 0
    right = log_p.gather(-1, targets[..., None])[..., 0]
    losses = -(1 - smoothing) * right - smoothing * log_p.mean(dim=-1)
    return losses.sum() / real.sum()
""": "the result of `log_softmax` in the line `log_p[~real] = 0`",
        """\
def smoothed_loss(logits, targets, smoothing):
    real = targets != PAD
    log_p = logits[real].log_softmax(dim=-1)
    q = torch.full_like(log_p, smoothing / log_p.shape[-1])
    q[range(len(q)), targets[real]] += 1 - smoothing
    return F.kl_div(log_p, q, reduction="batchmean")
""": "what `F.kl_div` gives",
        """\
def smoothed_loss(logits, targets, smoothing):
    real = targets != PAD
    log_p = logits[real].log_softmax(dim=-1)
    q = torch.full_like(log_p, smoothing / (log_p.shape[-1] - 2))
    q[range(len(q)), targets[real]] = 1 - smoothing
    q[:, PAD] = 0
    return -(q * log_p).sum(dim=-1).mean()
""": "over V - 2 tokens",
    },
    right=(
        _LOSSES + "    return losses[real].mean()\n",
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
            log_p = E - torch.logsumexp(E, 0)
            losses.append(-(1 - smoothing) * log_p[y] - smoothing * log_p.mean())
    return sum(losses) / len(losses)
""",
    ),
)
