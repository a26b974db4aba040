"""Exercises of chapter 08: one token, one step of beams, one row of a cache."""

import math

import torch

from tutor import decoding
from tutor.check.exercise import EXPLAIN, MEND, PREDICT, WRITE, Exercise
from tutor.museum import EXHIBITS
from tutor.text.tokenizer import EOS, PAD

best_on_top = Exercise(
    name="best_on_top",
    chapter="08",
    section="Beam search on paper",
    kind=PREDICT,
    title="Two beams, four steps",
    goal="Run beam search by hand, with finished beams in the pool.",
    difficulty=3,
    importance=4,
    minutes=12,
    text="""\
A toy model looks at the last word alone:

| after | comes |
|---|---|
| `[BOS]` | a 0.6, the 0.4 |
| a | cat 0.4, dog 0.35, `[EOS]` 0.25 |
| the | cat 0.9, dog 0.1 |
| cat | sleeps 0.55, `[EOS]` 0.45 |
| dog | `[EOS]` 1 |
| sleeps | `[EOS]` 0.7, well 0.3 |
| well | `[EOS]` 1 |

Run beam search with $k = 2$, ranked by the sum of logarithms alone ($\\alpha = 0$), with the three
rules of the chapter. **Predict** the probability of the **best beam of the pool** after each of the
first four steps: a list of four numbers, good to three decimals.""",
    hints=(
        "Write the proposals of both beams below each other after every step, with their products, "
        "and keep the two largest. Both may have the same parent.",
        "After step 2 the pool is *the cat* 0.36 and *a cat* 0.24. Each has two children.",
        "After step 3 the pool is *the cat sleeps* and *the cat* `[EOS]`. By rule 2, the second "
        "proposes itself in step 4, at no cost.",
    ),
    stub="best_on_top = None  # a list of four numbers, such as [0.9, 0.5, 0.2, 0.1]",
    solution="best_on_top = [0.6, 0.36, 0.198, 0.162]",
    because="a, the cat, the cat sleeps; then the cat [EOS], which kept its place: 0.162 > 0.139.",
    reference=[0.6, 0.36, 0.198, 0.162],
    tolerance=0.0006,
    mistakes=(
        (
            "That is greedy search, one beam. With two, *the* (0.4) stays in the pool, and its "
            "child *the cat* is better than *a cat*.",
            [0.6, 0.24, 0.132, 0.0924],
        ),
        (
            "Three steps are right. In the fourth you lost a finished beam: *the cat* `[EOS]` is "
            "in the pool after step 3, and by rule 2 it proposes itself, unchanged.",
            [0.6, 0.36, 0.198, 0.1386],
        ),
        (
            "Those are the factors of the last step. A beam's probability is the product of all "
            "its steps.",
            [0.6, 0.9, 0.55, 0.7],
        ),
        (
            "Those are the second beams of the pool. The best is asked for.",
            [0.4, 0.24, 0.162, 0.1386],
        ),
        (
            "That is the way of the winner. Asked for is the best beam after each step, whichever "
            "it is.",
            [0.4, 0.36, 0.162, 0.162],
        ),
        (
            "Those are logarithms. Give the probabilities.",
            [math.log(p) for p in (0.6, 0.36, 0.198, 0.162)],
        ),
        (
            "The finished beam pays for a step that it does not take: it proposes itself at no "
            "cost.",
            [0.6, 0.36, 0.198, 0.162 * 0.7],
        ),
        (
            "*Well* is less probable than `[EOS]` after *sleeps*; and look at the finished beam.",
            [0.6, 0.36, 0.198, 0.0594],
        ),
        (
            "In the third step, *sleeps* (0.55) is more probable after *the cat* than `[EOS]` "
            "(0.45).",
            [0.6, 0.36, 0.162, 0.162],
        ),
        (
            "After the first step, *a* (0.6) is the best beam; *the* is the second.",
            [0.4, 0.36, 0.198, 0.162],
        ),
        ("Those have two decimals. Three are asked for.", [0.6, 0.36, 0.2, 0.16]),
    ),
    wrong={
        "best_on_top = [0.6, 0.6 * 0.4, 0.6 * 0.4 * 0.55, 0.6 * 0.4 * 0.55 * 0.7]": "greedy",
        "best_on_top = [0.6, 0.36, 0.198, 0.139]": "lost a finished beam",
        "best_on_top = [0.6, 0.9, 0.55, 0.7]": "factors of the last step",
        "best_on_top = [0.4, 0.24, 0.162, 0.139]": "second beams",
        "best_on_top = [0.4, 0.36, 0.162, 0.162]": "the way of the winner",
        "best_on_top = [math.log(p) for p in (0.6, 0.36, 0.198, 0.162)]": "logarithms",
        "best_on_top = [0.6, 0.36, 0.198]": "of length 3",
        "best_on_top = [0.6, 0.36, 0.36 * 0.45, 0.36 * 0.45]": "*sleeps* (0.55)",
        "best_on_top = [0.6, 0.36, 0.2, 0.16]": "Three are asked for",
    },
    right=(
        "best_on_top = [0.6, 0.4 * 0.9, 0.4 * 0.9 * 0.55, 0.4 * 0.9 * 0.45]",
        "best_on_top = torch.tensor([0.6, 0.36, 0.198, 0.162])",
    ),
)


def _choose(E):
    best = E.index_fill(1, torch.arange(EOS), -torch.inf).log_softmax(-1).max(-1)
    return best.indices, best.values


def _log_p_of_all(E):
    """The right ids, with log-probabilities of a softmax over all tokens."""
    ids = _choose(E)[0]
    return ids, E.log_softmax(-1).gather(1, ids[:, None])[:, 0]


def _best(E, score=None):
    """The best ids of one tensor, with their entries in another."""
    ids = E.argmax(-1)
    return ids, (E if score is None else score).gather(1, ids[:, None])[:, 0]


def _without(E, *ids, by=-torch.inf):
    return E.index_fill(1, torch.tensor(ids), by)


def _cases_of_logits():
    yield (torch.tensor([[0.0, -3.0, -3.0, -1.0, -2.0]]),)
    yield (torch.tensor([[3.0, 0.0, 0.0, 1.0, 2.0]]),)
    for wished, N, V in [(1, 1, 5), (2, 3, 7), (3, 1, 6), (0, 2, 9)]:
        E = 2 * torch.randn(N, V)
        E[0, wished] = 6.0
        yield (E,)
    yield (torch.randn(1, 4) - 5,)  # [EOS] is all that can be written
    yield (torch.randn(4, 11) - 10,)


def _forbid_sentences(E):
    E = E.clone()
    E[:EOS] = -torch.inf
    best = E.log_softmax(-1).max(-1)
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
        "A logit of $-\\infty$ has the probability 0. Work on a copy: `E = E.clone()`.",
        "`E[:, :EOS] = -torch.inf`, then `best = E.log_softmax(-1).max(-1)`, which has `indices` "
        "and `values`.",
    ),
    setup="from tutor.text.tokenizer import BOS, EOS, PAD, UNK\n",
    stub='''\
def choose_next(E):
    """The most probable token of each sentence that may be written.

    E: float tensor (N, V), logits of the next token
    Returns ids: int tensor (N,), and log_p: float tensor (N,)
    """
    raise NotImplementedError
''',
    solution='''\
def choose_next(E):
    """The most probable token of each sentence that may be written.

    E: float tensor (N, V), logits of the next token
    Returns ids: int tensor (N,), and log_p: float tensor (N,)
    """
    E = E.clone()
    E[:, :EOS] = -torch.inf
    best = E.log_softmax(dim=-1).max(dim=-1)  # (N,) each
    return best.indices, best.values
''',
    reference=_choose,
    cases=_cases_of_logits,
    forbidden=(decoding.most_probable,),
    mistakes=(
        (
            "Nothing is forbidden here: [PAD], [UNK] and [BOS] can be written.",
            lambda E: _best(E.log_softmax(-1)),
        ),
        (
            "Nothing is forbidden here, and those are the largest logits: forbid the three ids, "
            "then take the log-softmax.",
            _best,
        ),
        (
            "The ids are right, but those are the largest logits, some of forbidden tokens. Take "
            "the log-softmax of what may be written.",
            lambda E: (_choose(E)[0], E.amax(-1)),
        ),
        (
            "Only [PAD] is forbidden; [UNK] and [BOS] are no words either.",
            lambda E: _best(_without(E, 0).log_softmax(-1)),
        ),
        (
            "[BOS] can still be written: a slice ends before its last number, so `:EOS` is meant.",
            lambda E: _best(_without(E, 0, 1).log_softmax(-1)),
        ),
        (
            "[EOS] is forbidden too, so no sentence can end.",
            lambda E: _best(_without(E, 0, 1, 2, 3).log_softmax(-1)),
        ),
        (
            "The logits of forbidden tokens are set to 0, which is an ordinary logit. Use minus "
            "infinity.",
            lambda E: _best(_without(E, 0, 1, 2, by=0.0).log_softmax(-1)),
        ),
        (
            "The ids are right. The log-probabilities are taken among all tokens: forbid the three "
            "before the softmax, not after it.",
            _log_p_of_all,
        ),
        (
            "The ids are right, but those are logits. Take the log-softmax.",
            lambda E: _best(_without(E, 0, 1, 2)),
        ),
        (
            "The ids are right, but those are probabilities. Take their logarithms.",
            lambda E: _best(_without(E, 0, 1, 2).softmax(-1)),
        ),
        (
            "Your ids count from [EOS], because the first three columns were cut off. Add 3 again.",
            lambda E: (_choose(E)[0] - EOS, _choose(E)[1]),
        ),
        (
            "The two results are exchanged: ids first.",
            lambda E: _choose(E)[::-1],
        ),
        (
            "Your softmax runs over the sentences, dimension 0.",
            lambda E: _best(_without(E, 0, 1, 2).log_softmax(0)),
        ),
        (
            "`E[:EOS]` are the first sentences. The first tokens are `E[:, :EOS]`.",
            _forbid_sentences,
        ),
    ),
    wrong={
        """\
def choose_next(E):
    log_p = F.log_softmax(E, dim=-1)
    ids = log_p.argmax(dim=-1)
    return ids, log_p[torch.arange(len(E)), ids]
""": "Nothing is forbidden",
        """\
def choose_next(E):
    best = E.max(dim=-1)
    return best.indices, best.values
""": "Nothing is forbidden here, and those are the largest logits",
        """\
def choose_next(E):
    allowed = E.clone()
    allowed[:, :EOS] = float("-inf")
    return allowed.log_softmax(-1).argmax(-1), E.max(-1).values
""": "some of forbidden tokens",
        """\
def choose_next(E):
    log_p = torch.where(torch.arange(E.shape[1]) == PAD, -torch.inf, E).log_softmax(-1)
    return log_p.argmax(-1), log_p.amax(-1)
""": "Only [PAD] is forbidden",
        """\
def choose_next(E):
    E = E.clone()
    E[:, PAD:BOS] = float("-inf")
    log_p, ids = E.log_softmax(dim=-1).topk(1)
    return ids.squeeze(1), log_p.squeeze(1)
""": "[BOS] can still be written",
        """\
def choose_next(E):
    E = E.clone()
    for i in range(EOS + 1):
        E[:, i] = float("-inf")
    log_p, ids = E.log_softmax(dim=-1).max(dim=-1)
    return ids, log_p
""": "no sentence can end",
        """\
def choose_next(E):
    allowed = torch.ones(E.shape[1])
    allowed[:EOS] = 0
    log_p = F.log_softmax(E * allowed, dim=-1)
    return log_p.argmax(-1), log_p.amax(-1)
""": "ordinary logit",
        """\
def choose_next(E):
    log_p = E.log_softmax(dim=-1)
    log_p[:, :EOS] = float("-inf")
    ids = log_p.argmax(dim=-1)
    return ids, log_p.gather(1, ids.unsqueeze(1)).squeeze(1)
""": "before the softmax",
        """\
def choose_next(E):
    values, indices = torch.cat([torch.full_like(E[:, :3], -1e9), E[:, 3:]], dim=1).max(1)
    return indices, values
""": "those are logits",
        """\
def choose_next(E):
    p = E[:, 3:].softmax(-1)
    return p.argmax(-1) + 3, p.amax(-1)
""": "those are probabilities",
        """\
def choose_next(E):
    log_p = E[:, EOS:].log_softmax(-1)
    return log_p.argmax(-1), log_p.amax(-1)
""": "Add 3 again",
        """\
def choose_next(E):
    E = E.clone()
    E[:, [PAD, UNK, BOS]] = -torch.inf
    return tuple(E.log_softmax(-1).max(-1))
""": "exchanged",
        """\
def choose_next(E):
    E[:, :EOS] = -torch.inf
    log_p = E.log_softmax(-1)
    return log_p.argmax(-1), log_p.amax(-1)
""": "changes its argument `E`",
        """\
def choose_next(E):
    log_p = E[:, EOS:].log_softmax(-1)
    log_p, ids = log_p.topk(1)
    return ids + EOS, log_p
""": "of shape (1, 1)",
        """\
def choose_next(E):
    E = E.clone()
    E[:EOS] = float("-inf")
    log_p, ids = F.log_softmax(E, dim=1).max(dim=1)
    return ids, log_p
""": "are the first sentences",
    },
    right=(
        """\
def choose_next(E):
    log_p = E[:, EOS:].log_softmax(-1)
    return log_p.argmax(-1) + EOS, log_p.amax(-1)
""",
        """\
def choose_next(E):
    forbidden = torch.arange(E.shape[1]) < EOS
    p = E.masked_fill(forbidden, float("-inf")).softmax(-1)
    ids = p.argmax(-1)
    return ids, torch.stack([row[i].log() for row, i in zip(p, ids)])
""",
        """\
def choose_next(E):
    ids, log_p = [], []
    for row in E.tolist():
        best = max(range(3, len(row)), key=lambda i: row[i])
        ids.append(best)
        log_p.append(row[best] - math.log(sum(math.exp(x) for x in row[3:])))
    return torch.tensor(ids), torch.tensor(log_p)
""",
    ),
)

_RAW, _TWICE = EXHIBITS["grow_the_beams"], EXHIBITS["grow_and_add_up"]


def _step(total, logits):
    return _TWICE.mended(total, logits)


def _choose_by(score, logits, total):
    """The children with the best score, with their right totals."""
    k, V = logits.shape
    at = score.flatten().topk(k).indices
    right = total[:, None] + logits.log_softmax(-1)
    return right.flatten()[at], at // V, at % V


def _as_published(total, logits):
    best, parents, tokens = _RAW.wrong(total, logits)
    return total[parents] + best, parents, tokens


def _one_softmax_for_all(of_sums, twice):
    """A step whose softmax runs over all beams: of logits or of sums; it may add totals again."""

    def step(total, logits):
        added = total[:, None] + logits if of_sums else logits
        log_p = added.flatten().log_softmax(0).view(logits.shape)
        best, parents, tokens = _step_with(0 * total if of_sums else total, log_p)
        return best + twice * total[parents], parents, tokens

    return step


_TWO_ROWS = torch.tensor([[0.6, 0.3, 0.1], [0.9, 0.07, 0.03]])


def _cases_of_steps():
    yield torch.tensor([0.5, 0.25]).log(), _TWO_ROWS.log() + 1
    for k, V in [(1, 3), (2, 5), (3, 4), (5, 7), (4, 9)]:
        lift = 3 * torch.randn(k, 1)  # a softmax does not see it
        yield -3 * torch.rand(k), 2 * torch.randn(k, V) + lift


def _best_of_each(total, logits):
    best = (total[:, None] + logits.log_softmax(-1)).max(-1)
    return best.values, torch.arange(len(total)), best.indices


published_step = Exercise(
    name="published_step",
    chapter="08",
    section="What can go wrong",
    kind=MEND,
    title="A step as it was published",
    goal="Find the two mistakes that make beams compare what cannot be compared.",
    difficulty=3,
    importance=5,
    minutes=12,
    text="""\
One step of beam search, for one sentence with $k$ beams: each beam proposes all $V$ tokens, and the
best $k$ proposals stay. A published tutorial once did it as below, with **two mistakes** that
raise no error. **Find both and mend them.** The new totals must be log-probabilities of the longer
beams, the best first.""",
    hints=(
        "Take one beam with total $\\log 0.5$ and logits $\\log 0.8, \\log 0.2$, on paper. What is "
        "the new total? What does the function say? Then add 9 to both logits.",
        "The section shows both mistakes on the toy: which line adds numbers that are no "
        "log-probabilities, and which line adds a number for the second time?",
        "`logits.log_softmax(dim=-1)` has a common zero for all beams. And `best` contains the "
        "parent's total already.",
    ),
    stub='''\
def published_step(total, logits):
    """One step of beam search. It has two mistakes: find them and mend them.

    total: float tensor (k,), log-probabilities of the beams
    logits: float tensor (k, V), logits of their next tokens
    Returns new totals: float tensor (k,), parents: int tensor (k,), tokens: int tensor (k,)
    """
    k, V = logits.shape
    score = total[:, None] + logits  # (k, V)
    best, at = score.flatten().topk(k)  # (k,) each
    parents, tokens = at // V, at % V
    return total[parents] + best, parents, tokens
''',
    solution='''\
def published_step(total, logits):
    """One step of beam search.

    total: float tensor (k,), log-probabilities of the beams
    logits: float tensor (k, V), logits of their next tokens
    Returns new totals: float tensor (k,), parents: int tensor (k,), tokens: int tensor (k,)
    """
    k, V = logits.shape
    score = total[:, None] + logits.log_softmax(dim=-1)  # (k, V)
    best, at = score.flatten().topk(k)  # (k,) each
    parents, tokens = at // V, at % V
    return best, parents, tokens
''',
    because="Log-probabilities have a common zero, and each parent counts once.",
    reference=_step,
    cases=_cases_of_steps,
    mistakes=(
        (
            "As it was: a beam of 0.5 and a token of 0.8 make 0.2 and not 0.4, and a beam with 9 "
            "added to all logits wins.",
            _as_published,
        ),
        (
            "One of two is mended. The parent's total still counts twice: the score that was "
            "compared contains it.",
            _TWICE.wrong,
        ),
        (
            "One of two is mended. Raw logits are still added to log-probabilities: they have no "
            "common zero.",
            _RAW.wrong,
        ),
        (
            "The parent's total no longer counts at all. It counts once.",
            lambda total, logits: _step(torch.zeros_like(total), logits),
        ),
        (
            "You add probabilities to log-probabilities: take `log_softmax`, not `softmax`.",
            lambda total, logits: _step_with(total, logits.softmax(-1)),
        ),
        (
            "Your log-softmax runs over the beams. It belongs to the vocabulary, the last "
            "dimension.",
            lambda total, logits: _step_with(total, logits.log_softmax(0)),
        ),
        *(
            (
                "Your log-softmax runs over all beams at once, k · V numbers; each beam has a "
                "distribution of its own, over V.",
                _one_softmax_for_all(of_sums, twice),
            )
            for of_sums in (False, True)
            for twice in (False, True)
        ),
        (
            "The totals are right, but the choice is still made by raw logits.",
            lambda total, logits: _choose_by(total[:, None] + logits, logits, total),
        ),
        (
            "The totals are right, but the choice is made without them: by the new token alone.",
            lambda total, logits: _choose_by(logits.log_softmax(-1), logits, total),
        ),
        (
            "Parents and tokens are right; the first result is the new token's log-probability "
            "alone. Add the parent's total, once.",
            lambda total, logits: (
                _step(total, logits)[0] - total[_step(total, logits)[1]],
                *_step(total, logits)[1:],
            ),
        ),
        (
            "Both mistakes are mended, but parents and tokens are exchanged now.",
            lambda total, logits: (_step(total, logits)[0], *_step(total, logits)[:0:-1]),
        ),
        (
            "Each beam has one child here. Both survivors may come from one beam: choose among all "
            "k · V proposals.",
            lambda total, logits: _one_child_each(
                total, logits.log_softmax(-1), torch.zeros_like(total).bool()
            ),
        ),
        (
            "Each beam keeps one child here, and the beams are not ordered. Choose among all k · V "
            "proposals.",
            _best_of_each,
        ),
    ),
    wrong={
        """\
def published_step(total, logits):
    k, V = logits.shape
    score = logits + total.unsqueeze(1)
    best, at = score.view(-1).topk(k)
    parents = torch.div(at, V, rounding_mode="floor")
    return best + total[parents], parents, at % V
""": "As it was",
        """\
def published_step(total, logits):
    k, V = logits.shape
    score = total[:, None] + F.log_softmax(logits, dim=-1)
    best, at = score.flatten().topk(k)
    return best + total.gather(0, at // V), at // V, at % V
""": "still counts twice",
        """\
def published_step(total, logits):
    k, V = logits.shape
    score = (total.view(k, 1) + logits).view(-1)
    at = score.argsort(descending=True)[:k]
    return score[at], at // V, at % V
""": "Raw logits are still added",
        """\
def published_step(total, logits):
    k, V = logits.shape
    score = torch.log_softmax(total[:, None] + logits, dim=-1)
    best, at = score.flatten().topk(k)
    return best, at // V, at % V
""": "no longer counts at all",
        """\
def published_step(total, logits):
    k, V = logits.shape
    score = total[:, None] + torch.softmax(logits, dim=1)
    best, at = score.flatten().topk(k)
    return best, at // V, at % V
""": "not `softmax`",
        """\
def published_step(total, logits):
    k, V = logits.shape
    score = total[:, None] + F.log_softmax(logits, dim=0)
    best, at = score.flatten().topk(k)
    return best, at // V, at % V
""": "over the beams",
        """\
def published_step(total, logits):
    k, V = logits.shape
    log_p = F.log_softmax(logits.view(-1), dim=-1).view(k, V)
    best, at = (total[:, None] + log_p).view(-1).topk(k)
    return best, at // V, at % V
""": "over all beams at once",
        """\
def published_step(total, logits):
    k, V = logits.shape
    score = total[:, None] + logits
    best, at = score.flatten().log_softmax(dim=-1).topk(k)
    return best, at // V, at % V
""": "over all beams at once",
        """\
def published_step(total, logits):
    k, V = logits.shape
    score = total[:, None] + logits.flatten().log_softmax(dim=0).unflatten(0, (k, V))
    best, at = score.flatten().topk(k)
    return total[at // V] + best, at // V, at % V
""": "over all beams at once",
        """\
def published_step(total, logits):
    k, V = logits.shape
    score = total[:, None] + logits
    _, at = score.flatten().topk(k)
    parents, tokens = at // V, at % V
    log_p = logits.log_softmax(-1)
    return total[parents] + log_p[parents, tokens], parents, tokens
""": "still made by raw logits",
        """\
def published_step(total, logits):
    k, V = logits.shape
    log_p = logits - logits.logsumexp(-1, keepdim=True)
    best, at = log_p.flatten().topk(k)
    parents, tokens = at // V, at % V
    return total[parents] + best, parents, tokens
""": "by the new token alone",
        """\
def published_step(total, logits):
    k, V = logits.shape
    log_p = logits.log_softmax(dim=-1)
    total += log_p.amax(-1)
    return total, torch.arange(k), log_p.argmax(-1)
""": "changes its argument `total`",
        """\
def published_step(total, logits):
    k, V = logits.shape
    score = total[:, None] + logits.log_softmax(dim=-1)
    best, at = score.flatten().topk(k)
    return best, at % V, at // V
""": "are exchanged now",
        """\
def published_step(total, logits):
    score = total[:, None] + logits.log_softmax(dim=-1)
    best, tokens = score.topk(1)
    return best[:, 0], torch.arange(len(total)), tokens[:, 0]
""": "one child",
    },
    right=(
        """\
def published_step(total, logits):
    k, V = logits.shape
    log_p = logits - logits.logsumexp(dim=-1, keepdim=True)
    proposals = [(total[b] + log_p[b, v], b, v) for b in range(k) for v in range(V)]
    proposals.sort(key=lambda proposal: proposal[0].item(), reverse=True)
    best, parents, tokens = zip(*proposals[:k])
    return torch.stack(best), torch.tensor(parents), torch.tensor(tokens)
""",
        """\
def published_step(total, logits):
    k, V = logits.shape
    p = total.exp()[:, None] * logits.softmax(-1)
    best, at = p.flatten().sort(descending=True)
    return best[:k].log(), at[:k] // V, at[:k] % V
""",
    ),
)


def _step_with(total, step):
    """A step whose numbers are added as they are."""
    return _RAW.wrong(total, step)


def _step_of(log_p, ended):
    """The steps of all beams, in which a finished one proposes itself."""
    step = log_p.masked_fill(ended[:, None], -torch.inf)
    step[:, PAD] = step[:, PAD].masked_fill(ended, 0.0)
    return step


def _grow(total, log_p, ended):
    return _step_with(total, _step_of(log_p, ended))


def _grow_with(step_of_ended):
    """A step in which a finished beam's proposals, (V,), are made by a function of its own."""

    def grow(total, log_p, ended):
        rows = [step_of_ended(row) if e else row for row, e in zip(log_p, ended, strict=True)]
        return _step_with(total, torch.stack(rows))

    return grow


def _itself(token, cost=0.0):
    """A finished beam proposes itself, by one token."""

    def propose(row):
        return torch.full_like(row, -torch.inf).index_fill(0, torch.tensor([token]), cost)

    return propose


def _numbers_exchanged(total, log_p, ended):
    best, parents, tokens = _grow(total, log_p, ended)
    return best, tokens, parents


def _one_child_each(total, log_p, ended):
    best, tokens = (total[:, None] + _step_of(log_p, ended)).max(-1)
    best, parents = best.sort(descending=True)
    return best, parents, tokens[parents]


def _one_child_chosen_first(total, log_p, ended):
    """Another token where the total is minus infinity."""
    step, tokens = _step_of(log_p, ended).max(-1)
    best, parents = (total + step).sort(descending=True)
    return best, parents, tokens[parents]


def _divided_by_beams(total, log_p, ended):
    best, parents, tokens = _grow(total, log_p, ended)
    at = parents * log_p.shape[1] + tokens
    return best, at // len(total), at % len(total)


def _cases_of_pools():
    words = torch.tensor([[-9.0, -9.0, -9.0, 0.7, 0.3], [-9.0, -9.0, -9.0, 0.4, 0.6]]).log()
    words = words.nan_to_num(nan=-torch.inf)  # [PAD], [UNK] and [BOS] are never written
    yield torch.tensor([0.5, 0.4]).log(), words, torch.tensor([False, False])
    yield torch.tensor([0.3, 0.4]).log(), words, torch.tensor([True, False])
    yield torch.tensor([0.0, -torch.inf]), words, torch.tensor([False, False])  # the first step
    for V, ended in [
        (6, [False]), (5, [True, False]), (9, [False, True, False]), (7, [True, False, True]),
        (8, [False, False, False, False]), (11, [False, True, False, True, False]),
    ]:  # fmt: skip
        logits = torch.randn(len(ended), V)
        logits[:, :EOS] = -torch.inf
        yield -2 - 2 * torch.rand(len(ended)), logits.log_softmax(-1), torch.tensor(ended)


def _pad_too_late(total, log_p, ended):
    best, parents, tokens = _step_with(total, log_p)
    return best, parents, tokens.masked_fill(ended[parents], PAD)


grow_beams = Exercise(
    name="grow_beams",
    chapter="08",
    section="The same in tensors",
    kind=WRITE,
    title="The three rules in tensors",
    goal="Grow live beams and keep finished ones, in one pool.",
    difficulty=4,
    importance=5,
    minutes=25,
    text="""\
Write one step of beam search for **one** sentence with $k$ beams, with $\\alpha = 0$, so that sums
are compared. The three rules:

1. Every live beam proposes itself with each token added. (The log-probabilities of `[PAD]`, `[UNK]`
   and `[BOS]` are $-\\infty$ already.)
2. A beam that has ended proposes itself, unchanged, at no cost. One more `[PAD]` (id 0) says so.
3. The best $k$ proposals stay, the best first.

The steps have names, but they are shuffled. Put them in order first:

- *choose*: the best $k$ of all $k \\cdot V$ proposals, laid out in one row;
- *silence*: all proposals of a finished beam become impossible;
- *unfold*: from each place in the row, find the beam and the token;
- *itself*: a finished beam's `[PAD]` costs nothing;
- *add*: a proposal's total is that of its parent and its own step.

Leave the arguments as they are: work on copies.""",
    hints=(
        "The order is: silence, itself, add, choose, unfold. Each is one line.",
        "Work on a copy, `step = log_p.clone()`. `step[ended]` are the rows of finished beams, and "
        "`step[ended, PAD]` one entry of each. `total[:, None]` has the shape (k, 1).",
        "`best, at = (total[:, None] + step).flatten().topk(k)`. Place `at` of the row is token "
        "`at % V` of beam `at // V`.",
    ),
    setup="from tutor.text.tokenizer import EOS, PAD\n",
    stub='''\
def grow_beams(total, log_p, ended):
    """One step of beam search for one sentence, ranked by the sum.

    total: float tensor (k,), log-probabilities of the beams
    log_p: float tensor (k, V), log-probabilities of their next tokens
    ended: bool tensor (k,), True where a beam has finished
    Returns new totals: float tensor (k,), parents: int tensor (k,), tokens: int tensor (k,)
    """
    raise NotImplementedError
''',
    solution='''\
def grow_beams(total, log_p, ended):
    """One step of beam search for one sentence, ranked by the sum.

    total: float tensor (k,), log-probabilities of the beams
    log_p: float tensor (k, V), log-probabilities of their next tokens
    ended: bool tensor (k,), True where a beam has finished
    Returns new totals: float tensor (k,), parents: int tensor (k,), tokens: int tensor (k,)
    """
    k, V = log_p.shape
    step = log_p.clone()
    step[ended] = -torch.inf
    step[ended, PAD] = 0.0
    best, at = (total[:, None] + step).flatten().topk(k)  # (k,) each
    return best, at // V, at % V
''',
    reference=_grow,
    cases=_cases_of_pools,
    forbidden=(decoding.grow,),
    mistakes=(
        (
            "Finished beams go on: they are extended behind their [EOS].",
            lambda total, log_p, ended: _step_with(total, log_p),
        ),
        (
            "Finished beams fall out of the pool. They propose themselves, unchanged.",
            _grow_with(lambda row: torch.full_like(row, -torch.inf)),
        ),
        (
            "A finished beam proposes itself once for every token of the vocabulary, and fills the "
            "pool with copies. One proposal is enough.",
            _grow_with(torch.zeros_like),
        ),
        (
            "A finished beam adds another [EOS]. It adds [PAD].",
            _grow_with(_itself(EOS)),
        ),
        (
            "A finished beam pays for its [PAD]: its total must stay as it is, so the step costs "
            "0, the logarithm of 1.",
            _grow_with(_itself(PAD, cost=-1.0)),
        ),
        (
            "A finished beam gains from its [PAD]: a probability of 1 is a logarithm of 0.",
            _grow_with(_itself(PAD, cost=1.0)),
        ),
        (
            "A finished beam's [PAD] costs nothing, but it may still be extended by other tokens.",
            _grow_with(lambda row: row.index_fill(0, torch.tensor([PAD]), 0.0)),
        ),
        (
            "Parents and tokens are exchanged: `//` gives the beam, `%` the token.",
            _numbers_exchanged,
        ),
        (
            "You divide by the number of beams. A row of proposals is V wide: divide by V.",
            _divided_by_beams,
        ),
        (
            "Each beam has one child here. Both survivors may come from one beam: choose among all "
            "k · V proposals.",
            _one_child_each,
        ),
        (
            "Each beam has one child here. Both survivors may come from one beam: choose among all "
            "k · V proposals.",
            _one_child_chosen_first,
        ),
        (
            "The parent's total is missing: a proposal's total is that of its parent and its step.",
            lambda total, log_p, ended: _grow(torch.zeros_like(total), log_p, ended),
        ),
        (
            "The parent's total counts twice.",
            lambda total, log_p, ended: _grow(2 * total, log_p, ended),
        ),
        (
            "The parent's total counts twice: the score that was compared contains it.",
            lambda total, log_p, ended: (
                _grow(total, log_p, ended)[0] + total[_grow(total, log_p, ended)[1]],
                *_grow(total, log_p, ended)[1:],
            ),
        ),
        (
            "Totals are multiplied; logarithms are added.",
            lambda total, log_p, ended: _step_with(
                torch.zeros_like(total), total[:, None] * _step_of(log_p, ended)
            ),
        ),
        (
            "The token of a finished beam is overwritten with [PAD], but its total has paid for "
            "another. Make the step cost 0 before you choose.",
            _pad_too_late,
        ),
        (
            "0 and minus infinity are exchanged: [PAD] must cost nothing, and all other tokens "
            "must be impossible.",
            _grow_with(
                lambda row: torch.zeros_like(row).index_fill(0, torch.tensor([PAD]), -torch.inf)
            ),
        ),
        (
            "Those are probabilities. Add log-probabilities.",
            lambda total, log_p, ended: (
                _grow(total, log_p, ended)[0].exp(),
                *_grow(total, log_p, ended)[1:],
            ),
        ),
        (
            "You silence the live beams and let the finished ones go on. It is the other way "
            "round.",
            lambda total, log_p, ended: _grow(total, log_p, ~ended),
        ),
    ),
    wrong={
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    best, at = torch.topk((total.unsqueeze(1) + log_p).view(-1), k)
    return best, at // V, at % V
""": "Finished beams go on",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    scores = total[:, None] + log_p
    scores = scores.masked_fill(ended[:, None], float("-inf"))
    best, at = scores.view(-1).topk(k)
    return best, at // V, at % V
""": "fall out of the pool",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = torch.where(ended[:, None], torch.tensor(0.0), log_p)
    best, at = (total[:, None] + step).view(-1).topk(k)
    return best, at // V, at % V
""": "with copies",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    for b in range(k):
        if ended[b]:
            step[b] = float("-inf")
            step[b, EOS] = 0
    best, at = (total[:, None] + step).view(-1).topk(k)
    return best, at // V, at % V
""": "another [EOS]",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    step[ended] = -torch.inf
    step[ended, PAD] = 1.0
    best, at = (total[:, None] + step).flatten().topk(k)
    return best, at // V, at % V
""": "gains from its [PAD]",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    step[ended, PAD] = 0.0
    best, at = (total[:, None] + step).flatten().topk(k)
    return best, at // V, at % V
""": "extended by other tokens",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    only_pad = torch.full((V,), -torch.inf)
    only_pad[PAD] = 0
    step = torch.where(ended[:, None], only_pad, log_p)
    best, at = (total[:, None] + step).flatten().topk(k)
    return best, at % V, at // V
""": "exchanged",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    only_pad = torch.full((V,), -torch.inf)
    only_pad[PAD] = 0
    step = torch.where(ended[:, None], only_pad, log_p)
    best, at = (total[:, None] + step).flatten().topk(k)
    return best, at // k, at % k
""": "divide by V",
        """\
def grow_beams(total, log_p, ended):
    step, tokens = log_p.max(dim=-1)
    step = torch.where(ended, torch.zeros_like(step), step)
    tokens = torch.where(ended, torch.full_like(tokens, PAD), tokens)
    best, parents = (total + step).topk(len(total))
    return best, parents, tokens[parents]
""": "one child",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    step[ended] = -torch.inf
    step[ended, PAD] = 0.0
    best, at = step.flatten().topk(k)
    return best, at // V, at % V
""": "total is missing",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    step[ended] = -torch.inf
    step[ended, PAD] = 0.0
    best, at = (total[:, None] + step).flatten().topk(k)
    return best + total[at // V], at // V, at % V
""": "counts twice",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    log_p[ended] = -torch.inf
    log_p[ended, PAD] = 0.0
    best, at = (total[:, None] + log_p).flatten().topk(k)
    return best, at // V, at % V
""": "changes its argument `log_p`",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.masked_fill(ended, -torch.inf)
    step[:, PAD] = step[:, PAD].masked_fill(ended, 0.0)
    best, at = (total[:, None] + step).flatten().topk(k)
    return best, at // V, at % V
""": "RuntimeError",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    best, at = (total[:, None] + log_p).flatten().topk(k)
    parents, tokens = at // V, at % V
    tokens[ended[parents]] = PAD
    return best, parents, tokens
""": "has paid for another",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    step[ended] = 0.0
    step[ended, PAD] = -torch.inf
    best, at = (total[:, None] + step).flatten().topk(k)
    return best, at // V, at % V
""": "0 and minus infinity",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    p = log_p.exp()
    p[ended] = 0.0
    p[ended, PAD] = 1.0
    best, at = (total.exp()[:, None] * p).flatten().topk(k)
    return best, at // V, at % V
""": "Those are probabilities",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    step[~ended] = -torch.inf
    step[~ended, PAD] = 0.0
    best, at = (total[:, None] + step).flatten().topk(k)
    return best, at // V, at % V
""": "silence the live beams",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    step = log_p.clone()
    step[ended] = -torch.inf
    step[ended][:, PAD] = 0.0
    best, at = (total[:, None] + step).flatten().topk(k)
    return best, at // V, at % V
""": "fall out of the pool",
    },
    right=(
        """\
def grow_beams(total, log_p, ended):
    proposals = []
    for b in range(len(total)):
        if ended[b]:
            proposals.append((total[b].item(), b, PAD))
        else:
            for v in range(EOS, log_p.shape[1]):
                proposals.append(((total[b] + log_p[b, v]).item(), b, v))
    proposals.sort(reverse=True)
    best, parents, tokens = zip(*proposals[:len(total)])
    return torch.tensor(best), torch.tensor(parents), torch.tensor(tokens)
""",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    is_pad = torch.arange(V) == PAD
    itself = torch.zeros(V).masked_fill(~is_pad, -torch.inf)
    scores = total.unsqueeze(1) + torch.where(ended.unsqueeze(1), itself, log_p)
    best, at = scores.view(-1).sort(descending=True)
    at = at[:k]
    parents = torch.div(at, V, rounding_mode="floor")
    return best[:k], parents, at - parents * V
""",
        """\
def grow_beams(total, log_p, ended):
    k, V = log_p.shape
    live = total[:, None] + log_p.masked_fill(ended[:, None], -torch.inf)
    done = total.masked_fill(~ended, -torch.inf)
    best, at = torch.cat([live.flatten(), done]).topk(k)
    parents = torch.where(at < k * V, at // V, at - k * V)
    tokens = torch.where(at < k * V, at % V, PAD)
    return best, parents, tokens
""",
    ),
)

_CACHE = EXHIBITS["extend_the_cache"]


def _cases_of_caches():
    for parents, t, d in [
        ([0], 1, 2), ([1, 0], 1, 3), ([0, 0], 3, 1), ([1, 0], 0, 3), ([2, 0, 1], 4, 5),
        ([0, 0, 3, 1], 5, 3), ([0, 1, 2], 2, 5),
    ]:  # fmt: skip
        k = len(parents)
        yield torch.randn(k, t, d), torch.tensor(parents), torch.randn(k, 1, d)


def _to_the_children(K, parents, new):
    moved = K.clone()
    moved[parents] = K
    return torch.cat([moved, new], dim=1)


one_more_key = Exercise(
    name="one_more_key",
    chapter="08",
    section="Beams are queries side by side",
    kind=MEND,
    title="Whose past is it?",
    goal="Keep a cache in step with beams that come and go.",
    difficulty=3,
    importance=4,
    minutes=10,
    text="""\
A library gives every beam its own keys. After a step of the search, beam $b$ goes on from beam
`parents[b]`, and the key of its newest token is added to its past. With one beam this function is
perfect; with several, translations become a little worse and nothing warns. **Find the mistake and
mend it.** `new` holds the keys of the new beams, in their order.""",
    hints=(
        "Let `parents` be `[0, 0]`: both new beams come from beam 0. Whose keys has the second?",
        "One argument is not used. The chapter shows the line that other libraries have.",
        "`K[parents]` has for each new beam the keys of its parent. Do that before the new key is "
        "added.",
    ),
    stub='''\
def one_more_key(K, parents, new):
    """The keys of all beams after a step. It has a mistake: find it and mend it.

    K: float tensor (k, t, d_k), the keys of the old beams
    parents: int tensor (k,), for each new beam the old beam that it goes on from
    new: float tensor (k, 1, d_k), the key of each new beam's newest token
    Returns K: float tensor (k, t + 1, d_k)
    """
    return torch.cat([K, new], dim=1)
''',
    solution='''\
def one_more_key(K, parents, new):
    """The keys of all beams after a step.

    K: float tensor (k, t, d_k), the keys of the old beams
    parents: int tensor (k,), for each new beam the old beam that it goes on from
    new: float tensor (k, 1, d_k), the key of each new beam's newest token
    Returns K: float tensor (k, t + 1, d_k)
    """
    return torch.cat([K[parents], new], dim=1)
''',
    because="Each new beam reads its parent's past; the newest key is its own already.",
    reference=lambda K, parents, new: _CACHE.mended(K, parents, new),
    cases=_cases_of_caches,
    mistakes=(
        (
            "As it was: with several beams, a beam keeps keys that are not of its own words.",
            _CACHE.wrong,
        ),
        (
            "The new keys are in the right order already; `parents` belongs to the old ones alone.",
            lambda K, parents, new: torch.cat([K, new], dim=1)[parents],
        ),
        (
            "You reordered the new keys and not the old ones. It is the other way round.",
            lambda K, parents, new: torch.cat([K, new[parents]], dim=1),
        ),
        (
            "`parents` says for each new beam where it comes from, not for each old one where it "
            "goes. Read with it, `K[parents]`; do not write with it.",
            _to_the_children,
        ),
        (
            "`argsort` turns `parents` round: that says where an old beam goes. `parents` itself "
            "says where a new one comes from.",
            lambda K, parents, new: torch.cat([K[parents.argsort()], new], dim=1),
        ),
        (
            "The order of the beams is right, but the newest key stands in front. It comes last.",
            lambda K, parents, new: torch.cat([new, K[parents]], dim=1),
        ),
        (
            "`parents` picks tokens here, dimension 1. It is about beams, dimension 0.",
            lambda K, parents, new: torch.cat([K[:, parents], new], dim=1),
        ),
        (
            "The newest key takes the place of the last one. It is added behind it.",
            lambda K, parents, new: torch.cat([K[parents][:, :-1], new], dim=1),
        ),
        (
            "You join the keys along the beams, dimension 0. A token more is a row more in "
            "dimension 1.",
            lambda K, parents, new: torch.cat([K[parents], new], dim=0),
        ),
        (
            "You join the keys along their width, the last dimension. A token more is a row more "
            "in dimension 1.",
            lambda K, parents, new: torch.cat([K[parents], new], dim=-1),
        ),
        (
            "You sorted `parents`, so the beams stand in another order than their scores.",
            lambda K, parents, new: torch.cat([K[parents.sort().values], new], dim=1),
        ),
        (
            "The newest keys are missing: add them behind the past.",
            lambda K, parents, new: K[parents],
        ),
    ),
    wrong={
        """\
def one_more_key(K, parents, new):
    k, t, d = K.shape
    longer = torch.empty(k, t + 1, d)
    longer[:, :t] = K
    longer[:, t:] = new
    return longer
""": "As it was",
        """\
def one_more_key(K, parents, new):
    return torch.cat([K, new], dim=1).index_select(0, parents)
""": "in the right order already",
        """\
def one_more_key(K, parents, new):
    return torch.cat((K, new.index_select(0, parents)), 1)
""": "the other way round",
        """\
def one_more_key(K, parents, new):
    moved = K.clone()
    for b, parent in enumerate(parents.tolist()):
        moved[parent] = K[b]
    return torch.cat([moved, new], dim=1)
""": "do not write with it",
        """\
def one_more_key(K, parents, new):
    order = torch.argsort(parents)
    return torch.cat([torch.stack([K[b] for b in order]), new], dim=1)
""": "turns `parents` round",
        """\
def one_more_key(K, parents, new):
    return torch.hstack([new, K.index_select(0, parents)])
""": "comes last",
        """\
def one_more_key(K, parents, new):
    return torch.cat([K[parents], new], dim=0)
""": "along the beams",
        """\
def one_more_key(K, parents, new):
    return torch.cat([K[parents], new], dim=-1)
""": "along their width",
        """\
def one_more_key(K, parents, new):
    K.copy_(K[parents])
    return torch.cat([K, new], dim=1)
""": "changes its argument `K`",
        """\
def one_more_key(K, parents, new):
    return K.index_select(0, parents)
""": "newest keys are missing",
    },
    right=(
        """\
def one_more_key(K, parents, new):
    return torch.stack([torch.cat([K[p], new[b]]) for b, p in enumerate(parents.tolist())])
""",
        """\
def one_more_key(K, parents, new):
    index = parents[:, None, None].expand_as(K)
    return torch.cat([K.gather(0, index), new], dim=1)
""",
        """\
def one_more_key(K, parents, new):
    choice = F.one_hot(parents, len(K)).to(K.dtype)
    return torch.cat([torch.einsum("bp,ptd->btd", choice, K), new], dim=1)
""",
    ),
)

wider_and_worse = Exercise(
    name="wider_and_worse",
    chapter="08",
    section="What can go wrong",
    kind=EXPLAIN,
    title="More beams, worse translations",
    goal="Tell a mistake of the search from a mistake of the model.",
    difficulty=3,
    importance=4,
    minutes=12,
    text="""\
A friend searches with $\\alpha = 0$. With 5 beams the translations are good. With 50 they are
shorter, some are empty, and BLEU falls, although the search is without a mistake. **Explain** in
three to five sentences: what does a wider beam find, and why is that shorter? Whose fault is it,
and what can be done about it?""",
    hints=(
        "Compare a sentence of three tokens with one of four by the sum of their logarithms. What "
        "does one more factor do?",
        "Is the empty translation hard to find for a search? Where does it stand in the pool of 5 "
        "beams after the first step, and where in that of 50?",
        "What does the length penalty divide by, and how is $\\alpha$ chosen?",
    ),
    stub='''\
wider_and_worse = """

"""
''',
    solution='''\
wider_and_worse = """
A wider beam drops less, so it finds sentences that are more probable; that is all a search is asked
for. Every further token multiplies by a number of at most 1, so the sum of logarithms can only
fall, and short sentences, the empty one above all, have an advantage. A narrow beam drops the early
[EOS] after the first step and so never sees that sentence win. The fault is the model's, which
gives the short sentence too much, and the question's: the most probable is not the best. Dividing
the sum by a length penalty before comparing makes up for it, with an alpha chosen on validation
sentences.
"""
''',
    because="Nobody has judged it yet: compare it with the rubric beside the solution.",
    wrong={
        "wider_and_worse = 'The beam is too wide.'": "at least 12 words",
        "wider_and_worse = 50": "as a text in quotes",
        "wider_and_worse = None": "as a text in quotes",
    },
    rubric="""\
- 1 point: a wider beam finds sentences that are more probable, so the search does its work.
- 1 point: each further factor is at most 1, so sums favour short sentences.
- 1 point: the fault is the model's, or the question's; a narrow beam hides it.
- 1 point: compare scores divided by a length penalty, with $\\alpha$ chosen on validation sentences
  (half a point for: use fewer beams).""",
)

EXERCISES = (
    best_on_top,
    choose_next,
    published_step,
    grow_beams,
    one_more_key,
    wider_and_worse,
)
