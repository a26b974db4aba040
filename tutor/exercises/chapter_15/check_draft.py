"""A small model drafts, a large one checks."""

from typing import NamedTuple
from unittest.mock import ANY

import torch
from torch.nn import functional as F

from tutor.check.exercise import WRITE, Exercise


def _normal(x):
    return x / x.sum()


def _keep(p, q):
    return (p / q).clamp(max=1)


def _rest(p, q):
    return _normal((p - q).clamp(min=0))


def _one_hot(x):
    return F.one_hot(x.argmax(), len(x)).to(x.dtype)


KEEP = (
    ("", _keep),
    ("is p / q, which can be more than 1: a probability is not.", lambda p, q: p / q),
    (
        "is min(1, q / p): a token that the draft offers too often must be refused at times.",
        lambda p, q: (q / p).clamp(max=1),
    ),
    ("is p itself: a draft that is as good as the model is never refused.", lambda p, q: p),
    (
        "is 0 or 1. That refuses every token which is offered too often, even by a little.",
        lambda p, q: (p >= q).to(p.dtype),
    ),
    (
        "is min(p, q): that is how often the token is drafted *and* kept. Divide by q.",
        torch.minimum,
    ),
    (
        "is one number. Each token is kept with a probability of its own.",
        lambda p, q: torch.minimum(p, q).sum().expand(len(p)),
    ),
    (
        "is p / (p + q), smaller than it may be: where p is larger than q nothing need be refused.",
        lambda p, q: p / (p + q),
    ),
    (
        "is 0 or 1. That refuses every token which is offered too often, even by a little.",
        lambda p, q: (p > q).to(p.dtype),
    ),
    (
        "is one-hot: it keeps one token and refuses all others. Each has a probability of its own.",
        lambda p, q: _one_hot(p),
    ),
    (
        "is 1 - |p - q|. It must bring q * keep down to p, so it is a ratio, not a difference.",
        lambda p, q: 1 - (p - q).abs(),
    ),
)
REST = (
    ("", _rest),
    (
        "is p: then tokens that the draft has brought already come too often. Draw what is still "
        "missing.",
        lambda p, q: p,
    ),
    ("does not sum to 1: divide by the sum.", lambda p, q: (p - q).clamp(min=0)),
    (
        "is made of max(0, q - p), the tokens that come too often. Draw those that lack.",
        lambda p, q: _normal((q - p).clamp(min=0)),
    ),
    ("has negative entries: nothing is missing where q is larger.", lambda p, q: p - q),
    (
        "is made of |p - q|: nothing is missing where q is larger.",
        lambda p, q: _normal((p - q).abs()),
    ),
    (
        "is q: then tokens that the draft has brought too often come again. Draw from what p has "
        "and q lacks.",
        lambda p, q: q,
    ),
    (
        "is a softmax of p - q, which gives something to every token.",
        lambda p, q: (p - q).softmax(-1),
    ),
    (
        "is p where p is larger than q. Missing is only what q has not brought, p - q.",
        lambda p, q: _normal(p * (p > q)),
    ),
    (
        "is p / q where p is larger. Missing is a difference, not a ratio.",
        lambda p, q: _normal((p / q) * (p > q)),
    ),
    (
        "is made of (p - q) / p. Missing is a difference, not a ratio.",
        lambda p, q: _normal(((p - q) / p).clamp(min=0)),
    ),
    (
        "is made of (p - q) / p. Missing is a difference, not a ratio; and it must sum to 1.",
        lambda p, q: ((p - q) / p).clamp(min=0),
    ),
    (
        "is made of 1 - keep, which is large where tokens come too often. Draw those that lack.",
        lambda p, q: _normal(1 - _keep(p, q)),
    ),
    (
        "is made of p and 1 - keep. That gives most to the tokens that come too often already.",
        lambda p, q: _normal(p * (1 - _keep(p, q))),
    ),
    *(
        (
            "is one-hot: all goes to one token, though others lack too. Return the distribution "
            "from which the other token is drawn.",
            lambda p, q, most=most: _one_hot(most(p, q)),
        )
        for most in (
            lambda p, q: p - q,
            lambda p, q: p / q,
            lambda p, q: p,
            lambda p, q: q,
        )
    ),
    (
        "does not sum to 1: divide by the sum of what is left, not by the share that was kept.",
        lambda p, q: (p - q).clamp(min=0) / torch.minimum(p, q).sum(),
    ),
)


class Scheme(NamedTuple):
    keep: torch.Tensor
    rest: torch.Tensor
    comes_out: torch.Tensor  # with which probability each token does; NaN for an unlawful scheme


def _scheme(answer, p, q):
    """An answer, and what it makes of the draft."""
    result = answer(p, q)
    if not isinstance(result, tuple | list) or len(result) != 2:
        return result
    keep, rest = result
    if any(not isinstance(x, torch.Tensor) or x.shape != p.shape for x in result):
        return Scheme(keep, rest, torch.full_like(p, torch.nan))  # the form of these is named
    keep, rest = keep.to(p.dtype), rest.to(p.dtype)  # yes and no as 1 and 0
    lawful = (keep >= 0).all() & (keep <= 1).all() & (rest >= 0).all()
    comes_out = q * keep + (1 - (q * keep).sum()) * rest  # (V,)
    return Scheme(keep, rest, comes_out if lawful else torch.full_like(p, torch.nan))


def _mistakes():
    for i, (about_keep, keep) in enumerate(KEEP):
        for j, (about_rest, rest) in enumerate(REST):
            if (i, j) == (2, 3):
                said = "p and q have changed places: the draft comes from q."
            elif i and j and max(i, j) > 6:
                continue  # a rare pair
            elif i and j:
                said = f"Both are wrong. First `keep`: it {about_keep}"
            elif i:
                said = f"`rest` is right. But `keep` {about_keep}"
            elif j:
                said = f"`keep` is right. But `rest` {about_rest}"
            else:
                continue
            yield said, lambda p, q, keep=keep, rest=rest: (keep(p, q), rest(p, q))


def _cases_of_distributions():
    yield torch.tensor([0.5, 0.3, 0.2]), torch.tensor([0.2, 0.3, 0.5])
    yield torch.tensor([0.6, 0.25, 0.15]), torch.tensor([0.3, 0.2, 0.5])
    for V in (4, 7, 12):
        yield (1.5 * torch.randn(V)).softmax(-1), (1.5 * torch.randn(V)).softmax(-1)


check_draft = Exercise(
    name="check_draft",
    chapter="15",
    section="Reading is cheap, writing is expensive",
    kind=WRITE,
    title="A small model drafts, a large one checks",
    goal="Make a large model write faster without changing what it writes.",
    difficulty=4,
    importance=4,
    minutes=12,
    text="""\
A large model reads five tokens in hardly more time than it writes one. So let a small model write
some tokens as a draft, and let the large one check them all in one pass (**speculative decoding**,
Leviathan et al. 2023). What comes out must be distributed exactly as if the large model had written
it. At one place the large model has the probabilities $p$, the small one $q$:

1. a token $x$ is drawn from $q$;
2. it is kept with a probability `keep[x]`, as large as possible;
3. if it is refused, another token is drawn from a third distribution, `rest`.

Find `keep` and `rest`, such that every token comes out with its probability $p_x$, in one of the
two ways. All probabilities are above 0, and $p$ and $q$ are not the same. Return both.""",
    hints=(
        "Take p = (0.5, 0.3, 0.2) and q = (0.2, 0.3, 0.5). Token 2 is drafted in half of all "
        "cases, and must come out in a fifth. How often may it be kept? And token 0?",
        "A token that is drafted with $q_x$ and kept with `keep[x]` comes out that way with "
        "$q_x \\cdot$ `keep[x]`, which must not be more than $p_x$. So `keep` is the smaller "
        "of 1 and $p / q$.",
        "So $\\min(p_x, q_x)$ comes out as a draft. What is still missing is "
        "$p_x - \\min(p_x, q_x)$, that is $\\max(0, p_x - q_x)$. Divide by the sum, and "
        "it is a distribution.",
    ),
    stub='''\
def check_draft(p, q):
    """What to do with a draft.

    p, q: float tensors (V,), the probabilities of the large model and of the small one
    Returns keep: float tensor (V,), the probability that a draft of this token is kept; and
        rest: float tensor (V,), the distribution of the token that is drawn if it is refused
    """
    raise NotImplementedError
''',
    solution='''\
def check_draft(p, q):
    """What to do with a draft.

    p, q: float tensors (V,), the probabilities of the large model and of the small one
    Returns keep: float tensor (V,), the probability that a draft of this token is kept; and
        rest: float tensor (V,), the distribution of the token that is drawn if it is refused
    """
    keep = (p / q).clamp(max=1)
    missing = (p - q).clamp(min=0)
    return keep, missing / missing.sum()
''',
    because="The sum of min(p, q) is the share of drafts that are kept. The nearer the small "
    "model, the faster the large one; and the distribution never changes.",
    reference=lambda p, q: (_keep(p, q), _rest(p, q)),
    cases=_cases_of_distributions,
    call=_scheme,
    mistakes=(
        *_mistakes(),
        (
            "The distribution is right; `keep` can be larger.",
            lambda p, q: Scheme(ANY, ANY, p),
        ),
        ("`keep` comes first, `rest` second.", lambda p, q: (_rest(p, q), _keep(p, q))),
        ("Return both, `keep` and `rest`.", lambda p, q: _keep(p, q)),
    ),
    wrong={
        """\
def check_draft(p, q):
    keep = torch.clamp(p / q, max=1.0)
    return keep, (1 - keep) / (1 - keep).sum()
""": "is made of 1 - keep",
        """\
def check_draft(p, q):
    keep = torch.clamp(p / q, max=1.0)
    return keep, p * (1 - keep) / (p * (1 - keep)).sum()
""": "of p and 1 - keep",
        """\
def check_draft(p, q):
    return p / (p + q), torch.relu(p - q) / torch.relu(p - q).sum()
""": "smaller than it may be",
        """\
def check_draft(p, q):
    return torch.clamp(p / q, max=1.0), p
""": "come too often",
        """\
def check_draft(p, q):
    return p / q, torch.relu(p - q) / torch.relu(p - q).sum()
""": "can be more than 1",
        """\
def check_draft(p, q):
    return torch.clamp(p / q, max=1.0), torch.relu(p - q)
""": "divide by the sum",
        """\
def check_draft(p, q):
    return torch.clamp(p / q, max=1.0), p - q
""": "negative entries",
        """\
def check_draft(p, q):
    return torch.clamp(p / q, max=1.0), (p - q).softmax(-1)
""": "to every token",
        """\
def check_draft(p, q):
    return torch.minimum(p, q), torch.relu(p - q) / torch.relu(p - q).sum()
""": "drafted *and* kept",
        """\
def check_draft(p, q):
    return (p > q).float() + (p == q).float(), torch.relu(p - q) / torch.relu(p - q).sum()
""": "0 or 1",
        """\
def check_draft(p, q):
    return torch.clamp(q / p, max=1.0), torch.relu(q - p) / torch.relu(q - p).sum()
""": "changed places",
        """\
def check_draft(p, q):
    rest = torch.where(p > q, p, 0.0)
    return torch.clamp(p / q, max=1.0), rest / rest.sum()
""": "has not brought",
        """\
def check_draft(p, q):
    return p, p
""": "Both are wrong",
        """\
def check_draft(p, q):
    return torch.clamp(p / q, max=1.0), (p - q).abs() / (p - q).abs().sum()
""": "|p - q|",
        """\
def check_draft(p, q):
    return torch.zeros_like(p), p
""": "`keep` can be larger",
        """\
def check_draft(p, q):
    return p / q / (p / q).max(), p
""": "`keep` can be larger",
        """\
def check_draft(p, q):
    return 1 - (p - q).abs(), torch.relu(p - q) / torch.relu(p - q).sum()
""": "so it is a ratio",
        """\
def check_draft(p, q):
    rest = ((p - q) / p).relu()
    return torch.clamp(p / q, max=1.0), rest / rest.sum()
""": "a difference, not a ratio",
        """\
def check_draft(p, q):
    return torch.clamp(p / q, max=1.0), q
""": "`keep` is right. But `rest` is q:",
        """\
def check_draft(p, q):
    return torch.minimum(p, q), q
""": "Both are wrong. First `keep`: it is min(p, q)",
        """\
def check_draft(p, q):
    return torch.clamp(p / q, max=1.0), F.one_hot((p - q).argmax(), len(p)).float()
""": "`keep` is right. But `rest` is one-hot",
        """\
def check_draft(p, q):
    return torch.clamp(p / q, max=1.0), F.one_hot(p.argmax(), len(p))
""": "`keep` is right. But `rest` is one-hot",
        """\
def check_draft(p, q):
    keep = F.one_hot(p.argmax(), len(p)).float()
    return keep, torch.relu(p - q) / torch.relu(p - q).sum()
""": "`rest` is right. But `keep` is one-hot",
        """\
def check_draft(p, q):
    return torch.clamp(p / q, max=1.0), (p - q).argmax()
""": "whose `rest` is of shape ()",
    },
    right=(
        """\
def check_draft(p, q):
    both = torch.minimum(p, q)
    return both / q, (p - both) / (1 - both.sum())
""",
        """\
def check_draft(p, q):
    keep, rest = [], []
    for a, b in zip(p.tolist(), q.tolist()):
        keep.append(min(1.0, a / b))
        rest.append(max(0.0, a - b))
    return torch.tensor(keep), torch.tensor(rest) / sum(rest)
""",
    ),
)
