"""The loss of a batch, without smoothing."""

import torch
import torch.nn.functional as F

from tutor.attention import PAD
from tutor.check.exercise import WRITE, Exercise


def _of_tokens(Z, answers):
    return F.cross_entropy(Z.flatten(0, 1), answers.flatten(), ignore_index=PAD)


def _each(Z, answers, dim=-1):
    """The loss of every place, padding included: (N, T)."""
    return -Z.log_softmax(dim).gather(-1, answers[..., None])[..., 0]


def _cases_of_batches():
    for V, T, lengths in [(3, 1, [1]), (4, 3, [2]), (5, 4, [4, 1]), (7, 5, [3, 5, 2]), (6, 2, [2])]:
        answers = torch.randint(1, V, (len(lengths), T))
        for n, length in enumerate(lengths):
            answers[n, length:] = PAD
        yield 2 * torch.randn(len(lengths), T, V), answers


token_loss = Exercise(
    name="token_loss",
    chapter="07",
    section="One number to make smaller",
    kind=WRITE,
    title="The loss of a batch",
    goal="Write the cross-entropy so that padding has no say in it.",
    difficulty=2,
    importance=5,
    minutes=4,
    text="""\
The loss of a batch: minus the logarithm of the probability of each right token, and the mean over
all tokens that are not padding.""",
    hints=(
        "Three steps: logarithms of all probabilities, those of the right tokens, their mean.",
        "`Z.log_softmax(dim=-1).gather(-1, answers[..., None])[..., 0]` has the shape (N, T): one "
        "logarithm for each place.",
        "`answers != PAD` is True where a token is real; a tensor indexed with it keeps those "
        "places alone. Take their mean, and change the sign.",
    ),
    setup="from tutor.text.tokenizer import PAD\n",
    stub='''\
def token_loss(Z, answers):
    """Z: logits (N, T, vocab_size), answers: ids (N, T). Mean over tokens that are not PAD."""
    ...  # three lines: logarithms, those of the right tokens, the mean without padding
''',
    solution='''\
def token_loss(Z, answers):
    """Z: logits (N, T, vocab_size), answers: ids (N, T). Mean over tokens that are not PAD."""
    log_p = Z.log_softmax(dim=-1)  # (N, T, vocab_size)
    right = log_p.gather(-1, answers[..., None])[..., 0]  # (N, T)
    return -right[answers != PAD].mean()
''',
    reference=_of_tokens,
    cases=_cases_of_batches,
    gradient=True,
    mistakes=(
        (
            "Padding counts in your loss, as if it were a word to predict. Leave it out.",
            lambda Z, answers: _each(Z, answers).mean(),
        ),
        (
            "Padding adds nothing to your sum, but you divide by all N · T places. Divide by the "
            "number of real tokens.",
            lambda Z, answers: (_each(Z, answers) * (answers != PAD)).mean(),
        ),
        (
            "That is the sum over tokens: twice the batch, twice the loss. Take the mean.",
            lambda Z, answers: _each(Z, answers)[answers != PAD].sum(),
        ),
        (
            "You take the mean of each sentence first, so that a token of a short one weighs more. "
            "Take one mean over all real tokens.",
            lambda Z, answers: (
                (_each(Z, answers) * (answers != PAD)).sum(1) / (answers != PAD).sum(1)
            ).mean(),
        ),
        (
            "The sign is wrong: a loss is minus the logarithm.",
            lambda Z, answers: -_of_tokens(Z, answers),
        ),
        (
            "Logits are no logarithms of probabilities yet: take `log_softmax` first.",
            lambda Z, answers: -Z.gather(-1, answers[..., None])[..., 0][answers != PAD].mean(),
        ),
        (
            "The logarithm is missing: you average the probabilities themselves.",
            lambda Z, answers: (
                -Z.softmax(-1).gather(-1, answers[..., None])[..., 0][answers != PAD].mean()
            ),
        ),
        (
            "Your softmax runs over the places, dimension 1. It belongs to the vocabulary, the "
            "last one.",
            lambda Z, answers: _each(Z, answers, dim=1)[answers != PAD].mean(),
        ),
        (
            "The softmax is taken twice: `F.cross_entropy` wants logits, not probabilities.",
            lambda Z, answers: _of_tokens(Z.softmax(-1), answers),
        ),
        (
            "You average over the vocabulary too. Pick the right token of each place, with "
            "`gather`.",
            lambda Z, answers: -Z.log_softmax(-1)[answers != PAD].mean(),
        ),
    ),
    wrong={
        """\
def token_loss(Z, answers):
    return F.cross_entropy(Z.transpose(1, 2), answers)
""": "Padding counts",
        """\
def token_loss(Z, answers):
    losses = F.cross_entropy(Z.transpose(1, 2), answers, reduction="none", ignore_index=PAD)
    return losses.mean()
""": "all N · T places",
        """\
def token_loss(Z, answers):
    log_p = Z.log_softmax(dim=-1)
    right = log_p.gather(-1, answers[..., None])[..., 0]
    return -right[answers != PAD].sum()
""": "Take the mean",
        """\
def token_loss(Z, answers):
    losses = F.cross_entropy(Z.transpose(1, 2), answers, reduction="none")
    real = (answers != PAD).float()
    return ((losses * real).sum(dim=-1) / real.sum(dim=-1)).mean()
""": "a short one weighs more",
        """\
def token_loss(Z, answers):
    log_p = Z.log_softmax(dim=-1)
    right = log_p.gather(-1, answers.unsqueeze(-1)).squeeze(-1)
    return right[answers != PAD].mean()
""": "sign is wrong",
        """\
def token_loss(Z, answers):
    right = Z.gather(-1, answers[..., None])[..., 0]
    return -right[answers != PAD].mean()
""": "log_softmax",
        """\
def token_loss(Z, answers):
    p = Z.softmax(dim=-1)
    right = p.gather(-1, answers[..., None])[..., 0]
    return -right[answers != PAD].mean()
""": "logarithm is missing",
        """\
def token_loss(Z, answers):
    log_p = Z.log_softmax(dim=1)
    right = log_p.gather(-1, answers[..., None])[..., 0]
    return -right[answers != PAD].mean()
""": "dimension 1",
        """\
def token_loss(Z, answers):
    p = Z.softmax(dim=-1)
    return F.cross_entropy(p[answers != PAD], answers[answers != PAD])
""": "taken twice",
        """\
def token_loss(Z, answers):
    return -Z[answers != PAD].log_softmax(dim=-1).mean()
""": "over the vocabulary too",
    },
    right=(
        """\
def token_loss(Z, answers):
    return F.cross_entropy(Z.transpose(1, 2), answers, ignore_index=PAD)
""",
        """\
def token_loss(Z, answers):
    real = answers != PAD
    p = Z[real].softmax(dim=-1)
    return -p[range(len(p)), answers[real]].log().sum() / real.sum()
""",
        """\
def token_loss(Z, answers):
    wanted = F.one_hot(answers, Z.shape[-1]) * (answers != PAD)[..., None]
    return -(wanted * Z.log_softmax(-1)).sum() / wanted.sum()
""",
    ),
)
