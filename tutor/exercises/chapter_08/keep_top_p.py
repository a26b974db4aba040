"""The nucleus."""

import torch

from tutor import decoding
from tutor.check.exercise import WRITE, Exercise


def _keep(shares, top_p):
    return shares.cumsum(dim=-1) - shares < top_p


def _cases_of_shares():
    # Rounding decides nothing: no sum is as large as top_p but one, which binary holds exactly.
    yield torch.tensor([0.5, 0.3, 0.15, 0.05]), 0.7
    yield torch.tensor([0.9, 0.06, 0.04]), 0.85
    yield torch.tensor([0.5, 0.25, 0.25]), 0.5
    yield torch.tensor([[0.5, 0.3, 0.15, 0.05], [0.97, 0.01, 0.01, 0.01]]), 0.9
    for shape in ((3, 6), (2, 2, 5)):
        yield torch.randn(shape).softmax(-1).sort(dim=-1, descending=True).values, 0.6


keep_top_p = Exercise(
    name="keep_top_p",
    chapter="08",
    section="Sampling",
    kind=WRITE,
    title="The nucleus",
    goal="Cut a distribution where enough probability has been gathered.",
    difficulty=3,
    importance=3,
    minutes=6,
    text="""\
The fewest tokens, the most probable ones, that have at least `top_p` together: which are they? The
shares are sorted, the largest first. Any number of dimensions may stand in front.""",
    hints=(
        "A token is needed as long as those **before** it do not have enough.",
        "`shares.cumsum(dim=-1)` adds up the shares from the left, each with its own. What do "
        "those before a token have?",
        "`shares.cumsum(dim=-1) - shares` is what stands before each token. Compare it with top_p.",
    ),
    stub='''\
def keep_top_p(shares, top_p):
    """shares: (..., vocab_size), the largest first. True where a token stays, same shape."""
    ...  # one line, with `cumsum`
''',
    solution="""\
def keep_top_p(shares, top_p):
    return shares.cumsum(dim=-1) - shares < top_p  # (..., vocab_size)
""",
    because="A token stays if those before it are not enough; so the first one always stays.",
    reference=_keep,
    cases=_cases_of_shares,
    forbidden=(decoding.keep_top_p, decoding.tokens_to_keep),
    mistakes=(
        (
            "The token that crosses the border is missing, so those that stay have less than "
            "top_p together. Look at what stands *before* each token.",
            lambda shares, top_p: shares.cumsum(dim=-1) <= top_p,
        ),
        (
            "The token that crosses the border is missing, so those that stay have too little "
            "together. Look at what stands *before* each token.",
            lambda shares, top_p: shares.cumsum(dim=-1) < top_p,
        ),
        (
            "Where those before a token have exactly top_p, they are enough: compare with <.",
            lambda shares, top_p: shares.cumsum(dim=-1) - shares <= top_p,
        ),
        (
            "You kept what should go: True is for the tokens that stay.",
            lambda shares, top_p: ~_keep(shares, top_p),
        ),
        (
            "You compare each share alone with top_p. What counts is their sum, from the left.",
            lambda shares, top_p: shares >= top_p,
        ),
        (
            "You compare each share alone with top_p. What counts is their sum, from the left.",
            lambda shares, top_p: shares < top_p,
        ),
        (
            "You compare with top_p times the largest share; that is min-p.",
            lambda shares, top_p: shares >= top_p * shares[..., :1],
        ),
        (
            "Your sums run over dimension 0. The tokens are the last dimension.",
            lambda shares, top_p: shares.cumsum(dim=0) - shares < top_p,
        ),
        (
            "Return which tokens stay, True or False, not their shares.",
            lambda shares, top_p: shares * _keep(shares, top_p),
        ),
    ),
    wrong={
        """\
def keep_top_p(shares, top_p):
    return shares.cumsum(dim=-1) <= top_p
""": "crosses the border",
        """\
def keep_top_p(shares, top_p):
    return torch.cumsum(shares, -1) < top_p
""": "crosses the border",
        """\
def keep_top_p(shares, top_p):
    return shares.cumsum(dim=-1) - shares <= top_p
""": "exactly top_p",
        """\
def keep_top_p(shares, top_p):
    return torch.cumsum(shares, -1) - shares >= top_p
""": "kept what should go",
        """\
def keep_top_p(shares, top_p):
    return shares >= top_p
""": "share alone",
        """\
def keep_top_p(shares, top_p):
    return shares >= top_p * shares.amax(dim=-1, keepdim=True)
""": "that is min-p",
        """\
def keep_top_p(shares, top_p):
    return shares.cumsum(dim=0) - shares < top_p
""": "last dimension",
    },
    right=(
        """\
def keep_top_p(shares, top_p):
    before = F.pad(shares.cumsum(-1)[..., :-1], (1, 0))
    return before < top_p
""",
        """\
def keep_top_p(shares, top_p):
    sums = shares.cumsum(-1)
    needed = (sums < top_p).sum(-1, keepdim=True) + 1
    return torch.arange(shares.shape[-1]) < needed
""",
    ),
)
