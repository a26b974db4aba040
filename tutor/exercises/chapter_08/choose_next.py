"""One token that may be written."""

import torch

from tutor import decoding
from tutor.check.exercise import WRITE, Exercise
from tutor.text.tokenizer import EOS


def _choose(Z):
    best = Z.index_fill(1, torch.arange(EOS), -torch.inf).log_softmax(-1).max(-1)
    return best.indices, best.values


def _log_p_of_all(Z):
    """The right ids, with log-probabilities of a softmax over all tokens."""
    ids = _choose(Z)[0]
    return ids, Z.log_softmax(-1).gather(1, ids[:, None])[:, 0]


def _best(Z, score=None):
    """The best ids of one tensor, with their entries in another."""
    ids = Z.argmax(-1)
    return ids, (Z if score is None else score).gather(1, ids[:, None])[:, 0]


def _without(Z, *ids, by=-torch.inf):
    return Z.index_fill(1, torch.tensor(ids), by)


def _cases_of_logits():
    yield (torch.tensor([[0.0, -3.0, -3.0, -1.0, -2.0]]),)
    yield (torch.tensor([[3.0, 0.0, 0.0, 1.0, 2.0]]),)
    for wished, N, V in [(1, 1, 5), (2, 3, 7), (3, 1, 6), (0, 2, 9)]:
        Z = 2 * torch.randn(N, V)
        Z[0, wished] = 6.0
        yield (Z,)
    yield (torch.randn(1, 4) - 5,)  # [EOS] is all that can be written
    yield (torch.randn(4, 11) - 10,)


def _forbids_at_any_logit(answer):
    Z = torch.tensor([[0.0, 0.0, 0.0, -40_000.0, -40_001.0]])
    try:
        ids, _ = answer(Z)
    except (ArithmeticError, ValueError):
        return True  # a softmax by hand: exp is 0 here
    return ids.tolist() == [EOS]


def _forbid_sentences(Z):
    Z = Z.clone()
    Z[:EOS] = -torch.inf
    best = Z.log_softmax(-1).max(-1)
    return best.indices, best.values


choose_next = Exercise(
    name="choose_next",
    chapter="08",
    section="The same in tensors",
    kind=WRITE,
    title="One token that may be written",
    goal="Choose the most probable token, and never one that is no word.",
    difficulty=2,
    importance=4,
    minutes=10,
    text="""\
Write one step of greedy decoding for a batch. `[PAD]`, `[UNK]` and `[BOS]` (the ids 0, 1 and 2) are
**never** written, whatever their logits. `[EOS]` (3) may be. Return the ids, and the
log-probability of each among the tokens that may be written: the three others have the probability
0, and the rest sums to 1. Leave the logits that you are given as they are.""",
    hints=(
        "Make three logits impossible first; after that it is a log-softmax and a maximum.",
        "A logit of $-\\infty$ has the probability 0. Work on a copy: `Z = Z.clone()`.",
        "`Z[:, :EOS] = -torch.inf`, then `best = Z.log_softmax(-1).max(-1)`, which has `indices` "
        "and `values`.",
    ),
    setup="from tutor.text.tokenizer import BOS, EOS, PAD, UNK\n",
    stub='''\
def choose_next(Z):
    """The most probable token of each sentence that may be written.

    Z: float tensor (N, V), logits of the next token
    Returns ids: int tensor (N,), and log_p: float tensor (N,)
    """
    raise NotImplementedError
''',
    solution='''\
def choose_next(Z):
    """The most probable token of each sentence that may be written.

    Z: float tensor (N, V), logits of the next token
    Returns ids: int tensor (N,), and log_p: float tensor (N,)
    """
    Z = Z.clone()
    Z[:, :EOS] = -torch.inf
    best = Z.log_softmax(dim=-1).max(dim=-1)  # (N,) each
    return best.indices, best.values
''',
    reference=_choose,
    cases=_cases_of_logits,
    forbidden=(decoding.most_probable,),
    mistakes=(
        (
            "Nothing is forbidden here: [PAD], [UNK] and [BOS] can be written.",
            lambda Z: _best(Z.log_softmax(-1)),
        ),
        (
            "Nothing is forbidden here, and those are the largest logits: forbid the three ids, "
            "then take the log-softmax.",
            _best,
        ),
        (
            "The ids are right, but those are the largest logits, some of forbidden tokens. Take "
            "the log-softmax of what may be written.",
            lambda Z: (_choose(Z)[0], Z.amax(-1)),
        ),
        (
            "Only [PAD] is forbidden; [UNK] and [BOS] are no words either.",
            lambda Z: _best(_without(Z, 0).log_softmax(-1)),
        ),
        (
            "[BOS] can still be written: a slice ends before its last number, so `:EOS` is meant.",
            lambda Z: _best(_without(Z, 0, 1).log_softmax(-1)),
        ),
        (
            "[EOS] is forbidden too, so no sentence can end.",
            lambda Z: _best(_without(Z, 0, 1, 2, 3).log_softmax(-1)),
        ),
        (
            "The logits of forbidden tokens are set to 0, which is an ordinary logit. Use minus "
            "infinity.",
            lambda Z: _best(_without(Z, 0, 1, 2, by=0.0).log_softmax(-1)),
        ),
        (
            "The ids are right. The log-probabilities are taken among all tokens: forbid the three "
            "before the softmax, not after it.",
            _log_p_of_all,
        ),
        (
            "The ids are right, but those are logits. Take the log-softmax.",
            lambda Z: _best(_without(Z, 0, 1, 2)),
        ),
        (
            "The ids are right, but those are probabilities. Take their logarithms.",
            lambda Z: _best(_without(Z, 0, 1, 2).softmax(-1)),
        ),
        (
            "Your ids count from [EOS], because the first three columns were cut off. Add 3 again.",
            lambda Z: (_choose(Z)[0] - EOS, _choose(Z)[1]),
        ),
        (
            "The two results are exchanged: ids first.",
            lambda Z: _choose(Z)[::-1],
        ),
        (
            "Your softmax runs over the sentences, dimension 0.",
            lambda Z: _best(_without(Z, 0, 1, 2).log_softmax(0)),
        ),
        (
            "`Z[:EOS]` are the first sentences. The first tokens are `Z[:, :EOS]`.",
            _forbid_sentences,
        ),
    ),
    properties=(
        (
            "With ordinary logits your answer is right. But logits can be lower than the number "
            "that you put in for forbidden tokens, and then these are written: use minus infinity.",
            _forbids_at_any_logit,
        ),
    ),
    wrong={
        """\
def choose_next(Z):
    log_p = F.log_softmax(Z, dim=-1)
    ids = log_p.argmax(dim=-1)
    return ids, log_p[torch.arange(len(Z)), ids]
""": "Nothing is forbidden",
        """\
def choose_next(Z):
    best = Z.max(dim=-1)
    return best.indices, best.values
""": "Nothing is forbidden here, and those are the largest logits",
        """\
def choose_next(Z):
    allowed = Z.clone()
    allowed[:, :EOS] = float("-inf")
    return allowed.log_softmax(-1).argmax(-1), Z.max(-1).values
""": "some of forbidden tokens",
        """\
def choose_next(Z):
    log_p = torch.where(torch.arange(Z.shape[1]) == PAD, -torch.inf, Z).log_softmax(-1)
    return log_p.argmax(-1), log_p.amax(-1)
""": "Only [PAD] is forbidden",
        """\
def choose_next(Z):
    Z = Z.clone()
    Z[:, PAD:BOS] = float("-inf")
    log_p, ids = Z.log_softmax(dim=-1).topk(1)
    return ids.squeeze(1), log_p.squeeze(1)
""": "[BOS] can still be written",
        """\
def choose_next(Z):
    Z = Z.clone()
    for i in range(EOS + 1):
        Z[:, i] = float("-inf")
    log_p, ids = Z.log_softmax(dim=-1).max(dim=-1)
    return ids, log_p
""": "no sentence can end",
        """\
def choose_next(Z):
    allowed = torch.ones(Z.shape[1])
    allowed[:EOS] = 0
    log_p = F.log_softmax(Z * allowed, dim=-1)
    return log_p.argmax(-1), log_p.amax(-1)
""": "ordinary logit",
        """\
def choose_next(Z):
    log_p = Z.log_softmax(dim=-1)
    log_p[:, :EOS] = float("-inf")
    ids = log_p.argmax(dim=-1)
    return ids, log_p.gather(1, ids.unsqueeze(1)).squeeze(1)
""": "before the softmax",
        """\
def choose_next(Z):
    values, indices = torch.cat([torch.full_like(Z[:, :3], -1e9), Z[:, 3:]], dim=1).max(1)
    return indices, values
""": "those are logits",
        """\
def choose_next(Z):
    p = Z[:, 3:].softmax(-1)
    return p.argmax(-1) + 3, p.amax(-1)
""": "those are probabilities",
        """\
def choose_next(Z):
    log_p = Z[:, EOS:].log_softmax(-1)
    return log_p.argmax(-1), log_p.amax(-1)
""": "Add 3 again",
        """\
def choose_next(Z):
    Z = Z.clone()
    Z[:, [PAD, UNK, BOS]] = -torch.inf
    return tuple(Z.log_softmax(-1).max(-1))
""": "exchanged",
        """\
def choose_next(Z):
    Z[:, :EOS] = -torch.inf
    log_p = Z.log_softmax(-1)
    return log_p.argmax(-1), log_p.amax(-1)
""": "changes its argument `Z`",
        """\
def choose_next(Z):
    log_p = Z[:, EOS:].log_softmax(-1)
    log_p, ids = log_p.topk(1)
    return ids + EOS, log_p
""": "of shape (1, 1)",
        """\
def choose_next(Z):
    Z = Z.clone()
    Z[:EOS] = float("-inf")
    log_p, ids = F.log_softmax(Z, dim=1).max(dim=1)
    return ids, log_p
""": "are the first sentences",
        """\
def choose_next(Z):
    forbidden = torch.arange(Z.shape[1]) < EOS
    log_p = Z.masked_fill(forbidden, -100.0).log_softmax(dim=-1)
    return log_p.argmax(dim=-1), log_p.amax(dim=-1)
""": "use minus infinity",
        """\
def choose_next(Z):
    forbidden = torch.arange(Z.shape[1]) < EOS
    log_p = Z.masked_fill(forbidden, -20.0).log_softmax(dim=-1)
    return log_p.argmax(dim=-1), log_p.amax(dim=-1)
""": "use minus infinity",
        """\
def choose_next(Z):
    forbidden = torch.arange(Z.shape[1]) < EOS
    log_p = Z.masked_fill(forbidden, -1e4).log_softmax(dim=-1)
    return log_p.argmax(dim=-1), log_p.amax(dim=-1)
""": "use minus infinity",
    },
    right=(
        """\
def choose_next(Z):
    log_p = Z[:, EOS:].log_softmax(-1)
    return log_p.argmax(-1) + EOS, log_p.amax(-1)
""",
        """\
def choose_next(Z):
    forbidden = torch.arange(Z.shape[1]) < EOS
    p = Z.masked_fill(forbidden, float("-inf")).softmax(-1)
    ids = p.argmax(-1)
    return ids, torch.stack([row[i].log() for row, i in zip(p, ids)])
""",
        """\
def choose_next(Z):
    ids, log_p = [], []
    for row in Z.tolist():
        best = max(range(3, len(row)), key=lambda i: row[i])
        ids.append(best)
        log_p.append(row[best] - math.log(sum(math.exp(x) for x in row[3:])))
    return torch.tensor(ids), torch.tensor(log_p)
""",
    ),
)
