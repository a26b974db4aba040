"""Hide the padding."""

import torch

import tutor.attention
from tutor.check.exercise import WRITE, Exercise

PAD = tutor.attention.PAD


def _cases():
    yield (torch.tensor([[4, 2, PAD]]),)
    yield (torch.tensor([[3, PAD, PAD], [5, 1, 2]]),)
    yield (torch.tensor([[1, 1], [2, PAD], [PAD, PAD]]),)
    yield (torch.randint(0, 3, (4, 5)),)


padding_mask = Exercise(
    name="padding_mask",
    chapter="02",
    section="Words that may not be seen",
    kind=WRITE,
    title="Hide the padding",
    goal="Make a mask that broadcasts over heads and queries.",
    difficulty=3,
    importance=5,
    minutes=5,
    text="""\
`ids` has one sentence a row, filled up with `PAD`. Return a mask of shape (N, 1, 1, S): booleans,
`True` where the key is padding. The two dimensions of size 1 stand for heads and queries.""",
    hints=(
        "Compare all ids with PAD at once; that has shape (N, S).",
        "Indexing with `None` puts a dimension of size 1 there, as in `x[:, None]`.",
        "The mask is (N, S). Between N and S two dimensions are missing: `[:, None, None, :]`.",
    ),
    setup="\nfrom tutor.attention import PAD\n",
    stub='''\
def padding_mask(ids):
    """ids: (N, S). True where the key is PAD. Boolean, (N, 1, 1, S)."""
    ...  # one line
''',
    solution="""\
def padding_mask(ids):
    if ids.dim() != 2:
        raise ValueError(f"ids must have shape (N, S), one row a sentence, not {tuple(ids.shape)}.")
    return (ids == PAD)[:, None, None, :]
""",
    reference=tutor.attention.padding_mask,
    cases=_cases,
    mistakes=(
        (
            "The polarity is the other one: True must mean *may not be attended to*, so padding is "
            "True.",
            lambda ids: (ids != PAD)[:, None, None, :],
        ),
        (
            "The sizes of 1 stand in the wrong places: (N, S) must become (N, 1, 1, S), with the "
            "keys last.",
            lambda ids: (ids == PAD)[:, :, None, None],
        ),
        (
            "Two dimensions are missing, those of heads and queries: (N, 1, 1, S).",
            lambda ids: ids == PAD,
        ),
        (
            "One dimension is missing: heads and queries both need theirs, (N, 1, 1, S).",
            lambda ids: (ids == PAD)[:, None, :],
        ),
    ),
    wrong={
        """\
def padding_mask(ids):
    return (ids != PAD)[:, None, None]
""": "polarity",
        """\
def padding_mask(ids):
    return (ids == PAD)[..., None, None]
""": "wrong places",
        """\
def padding_mask(ids):
    return ids.eq(PAD)
""": "Two dimensions are missing",
        """\
def padding_mask(ids):
    return (ids == PAD).unsqueeze(1)
""": "One dimension is missing",
        """\
def padding_mask(ids):
    return (ids == PAD).float()[:, None, None, :]
""": "torch.bool is wanted",
    },
    right=(
        """\
def padding_mask(ids):
    return (ids == PAD).unsqueeze(1).unsqueeze(1)
""",
        """\
def padding_mask(ids):
    N, S = ids.shape
    return ids.eq(0).reshape(N, 1, 1, S)
""",
        """\
def padding_mask(ids):
    return ~ids.bool()[:, None, None]
""",
    ),
)
