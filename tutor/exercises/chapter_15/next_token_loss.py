"""The loss of a text that is its own answer."""

import math

import torch
from torch.nn import functional as F

from tutor.check.exercise import WRITE, Exercise


def _loss(Z, ids):
    return F.cross_entropy(Z[:-1], ids[1:])


def _cases_of_texts():  # no text holds 0, PAD: who ignores it is right
    yield torch.randn(3, 4), torch.tensor([2, 1, 3])  # all different, so that a shift is seen
    for T, V in [(5, 4), (7, 9)]:
        yield torch.randn(T, V), torch.randint(1, V, (T,))


next_token_loss = Exercise(
    name="next_token_loss",
    chapter="15",
    section="The decoder without a source",
    kind=WRITE,
    title="A text is its own answer",
    goal="Say which logits are compared with which ids when a text is predicted token by token.",
    difficulty=2,
    importance=5,
    minutes=4,
    text="""\
Row t of the logits was computed from the ids 0 to t. Return the mean loss, in nats, over all tokens
that are predicted.""",
    hints=(
        "Row t has read token t: the token it has to guess is the next one.",
        "The first token is guessed by no row; what the last row guesses, nobody knows.",
        "`F.cross_entropy(Z[:-1], ids[1:])`.",
    ),
    stub='''\
def next_token_loss(Z, ids):
    """Z: (T, V_size) logits. ids: (T), the text that was read. Returns a tensor (), in nats."""
    ...  # one line, with F.cross_entropy
''',
    solution="""\
def next_token_loss(Z, ids):
    return F.cross_entropy(Z[:-1], ids[1:])  # (T - 1, V_size) against (T - 1)
""",
    because="Every text of T tokens holds T - 1 questions and their answers.",
    reference=_loss,
    cases=_cases_of_texts,
    mistakes=(
        (
            "Row t is compared with token t, which it has read. It has to guess token t + 1.",
            lambda Z, ids: F.cross_entropy(Z, ids),
        ),
        (
            "The rows are shifted the wrong way: row t + 1 is compared with token t.",
            lambda Z, ids: F.cross_entropy(Z[1:], ids[:-1]),
        ),
        (
            "Row t is compared with token t, which it has read. It has to guess token t + 1.",
            lambda Z, ids: F.cross_entropy(Z[1:], ids[1:]),
        ),
        (
            "Row t is compared with token t, which it has read. It has to guess token t + 1.",
            lambda Z, ids: F.cross_entropy(Z[:-1], ids[:-1]),
        ),
        (
            "The last row is compared with the first token: nobody knows what comes after the end.",
            lambda Z, ids: F.cross_entropy(Z, ids.roll(-1)),
        ),
        (
            "Take the mean over the tokens, not the sum.",
            lambda Z, ids: F.cross_entropy(Z[:-1], ids[1:], reduction="sum"),
        ),
        (
            "You divide by T. Divide by T - 1, the tokens that are predicted: nobody predicts the "
            "first.",
            lambda Z, ids: F.cross_entropy(Z[:-1], ids[1:], reduction="sum") / len(ids),
        ),
        (
            "Padding is counted: behind the last token stands 0, which is no answer. Leave that "
            "row out, or give `ignore_index=0`.",
            lambda Z, ids: F.cross_entropy(Z, F.pad(ids[1:], (0, 1))),
        ),
        (
            "This is the mean of the logits, turned negative. `F.nll_loss` takes no softmax and no "
            "logarithm; `F.cross_entropy` takes both.",
            lambda Z, ids: F.nll_loss(Z[:-1], ids[1:]),
        ),
        (
            "The logarithm is missing: the loss is the mean of -log p, not of -p.",
            lambda Z, ids: F.nll_loss(Z[:-1].softmax(-1), ids[1:]),
        ),
        (
            "The sign is wrong: a loss is the negative of a log-probability.",
            lambda Z, ids: -_loss(Z, ids),
        ),
        (
            "`F.cross_entropy` takes the softmax itself: give it the logits.",
            lambda Z, ids: F.cross_entropy(Z[:-1].softmax(-1), ids[1:]),
        ),
        (
            "This is the perplexity, e to the loss. Return the loss.",
            lambda Z, ids: _loss(Z, ids).exp(),
        ),
        (
            "These are bits, for you divide by log 2. Return nats.",
            lambda Z, ids: _loss(Z, ids) / math.log(2),
        ),
    ),
    wrong={
        """\
def next_token_loss(Z, ids):
    return F.cross_entropy(Z, ids)
""": "which it has read",
        """\
def next_token_loss(Z, ids):
    return F.cross_entropy(Z[:-1], ids[:-1])
""": "which it has read",
        """\
def next_token_loss(Z, ids):
    return F.cross_entropy(Z[1:], ids[:-1])
""": "the wrong way",
        """\
def next_token_loss(Z, ids):
    return F.cross_entropy(Z, torch.roll(ids, -1))
""": "after the end",
        """\
def next_token_loss(Z, ids):
    return F.cross_entropy(Z[:-1], ids[1:], reduction="sum")
""": "not the sum",
        """\
def next_token_loss(Z, ids):
    return F.cross_entropy(F.softmax(Z[:-1], dim=1), ids[1:])
""": "the softmax itself",
        """\
def next_token_loss(Z, ids):
    return F.cross_entropy(Z[:-1], ids[1:], reduction="sum") / ids.shape[0]
""": "Divide by T - 1",
        """\
def next_token_loss(Z, ids):
    targets = torch.cat([ids[1:], torch.tensor([0])])
    return F.cross_entropy(Z, targets)
""": "Padding is counted",
        """\
def next_token_loss(Z, ids):
    return F.nll_loss(Z[:-1], ids[1:])
""": "no softmax and no logarithm",
        """\
def next_token_loss(Z, ids):
    p = Z.softmax(dim=-1)
    return -torch.stack([p[t, ids[t + 1]] for t in range(len(ids) - 1)]).mean()
""": "The logarithm is missing",
        """\
def next_token_loss(Z, ids):
    return torch.exp(F.cross_entropy(Z[:-1], ids[1:]))
""": "the perplexity",
        """\
def next_token_loss(Z, ids):
    return F.cross_entropy(Z[:-1], ids[1:]) * math.log2(math.e)
""": "These are bits",
    },
    right=(
        """\
def next_token_loss(Z, ids):
    targets = F.pad(ids[1:], (0, 1))  # [PAD] behind the last
    return F.cross_entropy(Z, targets, ignore_index=0)
""",
        """\
def next_token_loss(Z, ids):
    return F.nll_loss(Z.log_softmax(-1)[: len(ids) - 1], ids[1:])
""",
        """\
def next_token_loss(Z, ids):
    log_p = Z.log_softmax(dim=-1)
    return -torch.stack([log_p[t, ids[t + 1]] for t in range(len(ids) - 1)]).mean()
""",
    ),
)
