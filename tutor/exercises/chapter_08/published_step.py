"""A step as it was published."""

import torch

from tutor.check.exercise import MEND, Exercise
from tutor.exercises.chapter_08.shared import RAW, one_child_each, step_with
from tutor.museum import EXHIBITS

_TWICE = EXHIBITS["grow_and_add_up"]


def _step(total, logits):
    return _TWICE.mended(total, logits)


def _choose_by(score, logits, total):
    """The children with the best score, with their right totals."""
    k, V = logits.shape
    at = score.flatten().topk(k).indices
    right = total[:, None] + logits.log_softmax(-1)
    return right.flatten()[at], at // V, at % V


def _as_published(total, logits):
    best, parents, tokens = RAW.wrong(total, logits)
    return total[parents] + best, parents, tokens


def _one_softmax_for_all(of_sums, twice):
    """A step whose softmax runs over all beams: of logits or of sums; it may add totals again."""

    def step(total, logits):
        added = total[:, None] + logits if of_sums else logits
        log_p = added.flatten().log_softmax(0).view(logits.shape)
        best, parents, tokens = step_with(0 * total if of_sums else total, log_p)
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
        "Which line adds numbers that are no log-probabilities (the section shows what comes of "
        "it), and which line adds a number for the second time?",
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
            RAW.wrong,
        ),
        (
            "The parent's total no longer counts at all. It counts once.",
            lambda total, logits: _step(torch.zeros_like(total), logits),
        ),
        (
            "You add probabilities to log-probabilities: take `log_softmax`, not `softmax`.",
            lambda total, logits: step_with(total, logits.softmax(-1)),
        ),
        (
            "Your log-softmax runs over the beams. It belongs to the vocabulary, the last "
            "dimension.",
            lambda total, logits: step_with(total, logits.log_softmax(0)),
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
            lambda total, logits: one_child_each(
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
