"""Keys for a group of heads."""

import torch

from tutor.check.exercise import WRITE, Exercise

repeat_heads = Exercise(
    name="repeat_heads",
    chapter="16",
    section="Fewer keys than queries",
    kind=WRITE,
    title="Keys for a group of heads",
    goal="Hand each key-value head to its group of query heads, in the right order.",
    difficulty=2,
    importance=4,
    minutes=4,
    text="""\
`K` has few heads, and each serves a group of `times` query heads: the first serves query heads 0 to
`times` - 1, the second the next `times`, and so on. Repeat each head so often, in this order.""",
    hints=(
        "Heads are the third dimension from the end, -3.",
        "Heads a, b for two each: a, a, b, b is wanted, not a, b, a, b.",
        "`K.repeat_interleave(times, dim=-3)`.",
    ),
    stub='''\
def repeat_heads(K, times):
    """K: (N, h_kv, S, d). Returns (N, h_kv * times, S, d)."""
    ...  # one line
''',
    solution="""\
def repeat_heads(K, times):
    return K.repeat_interleave(times, dim=-3)  # (N, h, S, d)
""",
    because="Neighbouring query heads read the same keys.",
    reference=lambda K, times: K.repeat_interleave(times, dim=-3),
    cases=lambda: [
        (torch.randn(1, 1, 2, 1), 2),
        (torch.randn(1, 2, 2, 1), 2),
        (torch.randn(2, 2, 2, 2), 3),
        (torch.randn(2, 3, 4, 2), 2),
    ],
    gradient=True,
    mistakes=(
        (
            "The groups are mixed: heads come as a, b, a, b. Neighbours are equal: a, a, b, b.",
            lambda K, times: torch.cat([K] * times, dim=-3),
        ),
        (
            "Tokens are repeated, not heads. Heads are dimension -3.",
            lambda K, times: K.repeat_interleave(times, dim=-2),
        ),
        (
            "Whole texts are repeated, not heads. Heads are dimension -3.",
            lambda K, times: K.repeat_interleave(times, dim=0),
        ),
        (
            "Columns are repeated, not heads. Heads are dimension -3.",
            lambda K, times: K.repeat_interleave(times, dim=-1),
        ),
        (
            "Without `dim`, `repeat_interleave` makes one long row of everything. Heads are "
            "dimension -3.",
            lambda K, times: K.repeat_interleave(times),
        ),
        ("Nothing is repeated.", lambda K, times: K),
    ),
    wrong={
        """\
def repeat_heads(K, times):
    return K.repeat(1, times, 1, 1)
""": "groups are mixed",
        """\
def repeat_heads(K, times):
    return torch.cat([K] * times, dim=1)
""": "groups are mixed",
        """\
def repeat_heads(K, times):
    return K.repeat_interleave(times, dim=2)
""": "Tokens are repeated",
        """\
def repeat_heads(K, times):
    return K.repeat_interleave(times, dim=0)
""": "Whole texts",
        """\
def repeat_heads(K, times):
    return K.repeat_interleave(times)
""": "Without `dim`",
    },
    right=(
        """\
def repeat_heads(K, times):
    N, heads, S, d = K.shape
    return K[:, :, None].expand(N, heads, times, S, d).reshape(N, heads * times, S, d)
""",
        """\
def repeat_heads(K, times):
    return torch.stack([K] * times, dim=2).flatten(1, 2)
""",
    ),
)
