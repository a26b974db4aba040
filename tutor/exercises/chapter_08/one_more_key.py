"""Whose past is it?"""

import torch

from tutor.check.exercise import MEND, Exercise
from tutor.museum import EXHIBITS

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


def _over_its_own_source(K, parents, new):
    moved = K.clone()
    for b, parent in enumerate(parents):
        moved[b] = moved[parent].clone()
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
            "Your loop overwrites keys that a later beam still needs: read from K, and write into "
            "a copy.",
            _over_its_own_source,
        ),
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
        """\
def one_more_key(K, parents, new):
    past = K.clone()
    for b in range(len(parents)):
        past[b] = past[parents[b]]
    return torch.cat([past, new], dim=1)
""": "overwrites keys that a later beam",
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
