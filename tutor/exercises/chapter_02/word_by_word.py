"""Attention in the order in which a sentence is written."""

import itertools
import math

import torch
import torch.nn.functional as F

from tutor.attention import causal_mask, compute_attention_matrix
from tutor.check.exercise import MEND, Exercise


def _all_at_once(Q, K, V):
    return compute_attention_matrix(Q, K, causal_mask(Q.shape[-2])) @ V


def _loop(itself=True, scale=None, dim=-1, late=0):
    """The loop over words, with steps that may be wrong.

    itself: a word sees itself. scale: (q, k) -> what stands under the root in place of d_k.
    dim: of the softmax. late: by how many words the values end later than the keys.
    """

    def word_by_word(Q, K, V):
        rows = []
        for t in range(Q.shape[-2]):
            end = t + itself
            q, k = Q[..., t, :], K[..., :end, :]  # (..., d_k), (..., t + 1, d_k)
            e = (k @ q[..., None])[..., 0] / math.sqrt(scale(q, k) if scale else q.shape[-1])
            a = e.softmax(dim=dim)  # (..., t + 1)
            rows.append((a[..., None] * V[..., : end + late, :]).sum(dim=-2))  # (..., d_v)
        return torch.stack(rows, dim=-2)  # (..., T, d_v)

    return word_by_word


_CODE = """\
def word_by_word(Q, K, V):
    rows = []
    for t in range(Q.shape[-2]):
        q, k, v = Q[..., t, :], K[..., :KEYS, :], V[..., :VALUES, :]
        e = (k * q[..., None, :]).sum(dim=-1)
        a = WEIGHTS
        rows.append((a[..., None] * v).sum(dim=-2))
    return torch.stack(rows, dim=STACK)
"""


def _code(weights, keys="t + 1", values=None, stack=-2):
    """An answer that keeps the loop."""
    code = _CODE.replace("KEYS", keys).replace("VALUES", values or keys)
    return code.replace("WEIGHTS", weights).replace("STACK", str(stack))


_OLD = {  # what a mistake shows: its options
    "the result of the first word is 0, and should be its own value": {"itself": False},
    "a word divides its scores by a number that depends on its place": {
        "scale": lambda q, k: max(1, k.shape[-2])
    },
    "one sentence is right, but in a batch the weights of a word do not sum to 1": {"dim": 0},
}


def _what_is_left():
    """A message for each set of the stub's mistakes; it names what the first of them shows."""
    for number in (3, 2, 1):
        for left in itertools.combinations(_OLD, number):
            options = {k: v for words in left for k, v in _OLD[words].items()}
            begins = {3: "As it was", 2: "Two mistakes are left", 1: "One mistake is left"}
            said = f"{begins[number]}: {left[0]}."
            yield said, _loop(**options)
            if "scale" in options:  # where there are no keys, the root of 0
                options["scale"] = lambda q, k: k.shape[-2]
                yield said, _loop(**options)


def _without_a_batch(Q, K, V):
    if Q.dim() > 2:
        raise Exception  # where it fails depends on how it is written
    return _all_at_once(Q, K, V)


def _cases():
    for N, T, d_k, d_v in [((), 1, 2, 1), ((), 3, 2, 1), ((1,), 3, 5, 2), ((2,), 4, 3, 5)]:
        yield tuple((2 * torch.randn(*N, T, d)).round() / 2 for d in (d_k, d_k, d_v))
    yield tuple(torch.randn(2, 3, 5, d) for d in (7, 7, 2))


word_by_word = Exercise(
    name="word_by_word",
    chapter="02",
    section="Words that may not be seen",
    kind=MEND,
    title="Word by word",
    goal="See causal attention as a loop, and find mistakes that no shape betrays.",
    difficulty=3,
    importance=5,
    minutes=10,
    text="""\
Here is causal attention without a mask: one word after the other, each with the keys that are there
when it is written. The results should be those of a causal mask, in which each word sees itself
and all earlier words, for any number of batch dimensions in front, or none. They are not: there are
**three** silent mistakes. **Find and mend them.** Gradients must flow through it, and neither
`F.scaled_dot_product_attention` nor a function of the course may do its work.""",
    hints=(
        "Ask of each line: which keys, divided by what, and over which dimension? The shape of `e` "
        "is (..., keys).",
        "Print `k.shape` for t = 0: how many keys does the first word have? And what is "
        "`k.shape[-2]` for the last word; is that the width of a query?",
        "`K[..., : t + 1, :]` and the same of `V`; `math.sqrt(q.shape[-1])`; and the keys of `e` "
        "are in its last dimension, wherever the batch stands.",
    ),
    stub='''\
def word_by_word(Q, K, V):
    """Causal attention, one word at a time. It has three mistakes: find them and mend them.

    Q, K: float tensors (..., T, d_k)
    V: float tensor (..., T, d_v)
    Returns Y: float tensor (..., T, d_v)
    """
    rows = []
    for t in range(Q.shape[-2]):
        q = Q[..., t, :]  # (..., d_k)
        k, v = K[..., :t, :], V[..., :t, :]  # the words so far
        e = (k * q[..., None, :]).sum(dim=-1) / math.sqrt(max(1, k.shape[-2]))  # (..., keys)
        a = e.softmax(dim=0)  # (..., keys)
        rows.append((a[..., None] * v).sum(dim=-2))  # (..., d_v)
    return torch.stack(rows, dim=-2)  # (..., T, d_v)
''',
    solution='''\
def word_by_word(Q, K, V):
    """Causal attention, one word at a time.

    Q, K: float tensors (..., T, d_k)
    V: float tensor (..., T, d_v)
    Returns Y: float tensor (..., T, d_v)
    """
    rows = []
    for t in range(Q.shape[-2]):
        q = Q[..., t, :]  # (..., d_k)
        k, v = K[..., : t + 1, :], V[..., : t + 1, :]  # the words so far, itself included
        e = (k * q[..., None, :]).sum(dim=-1) / math.sqrt(q.shape[-1])  # (..., keys)
        a = e.softmax(dim=-1)  # (..., keys)
        rows.append((a[..., None] * v).sum(dim=-2))  # (..., d_v)
    return torch.stack(rows, dim=-2)  # (..., T, d_v)
''',
    because="A word that sees only what is there needs no mask; chapter 08 writes text this way.",
    reference=_all_at_once,
    cases=_cases,
    gradient=True,
    forbidden=(compute_attention_matrix, F.scaled_dot_product_attention),
    mistakes=(
        *_what_is_left(),
        (
            "Right for one sentence alone: `K[: t + 1]` cuts the first dimension, which is the "
            "batch if there is one. `K[..., : t + 1, :]` counts from the end.",
            _without_a_batch,
        ),
        (
            "Now every word sees all words, later ones too: cut the keys at each step.",
            lambda Q, K, V: compute_attention_matrix(Q, K) @ V,
        ),
        (
            "The scaling is gone: the scores are to be divided by the root of d_k.",
            _loop(scale=lambda q, k: 1),
        ),
        (
            "The scores are divided by d_k; it must be its square root.",
            _loop(scale=lambda q, k: q.shape[-1] ** 2),
        ),
        (
            "The scores are divided by the root of T, the number of all words; it is the width of "
            "a query that counts.",
            lambda Q, K, V: _all_at_once(Q * math.sqrt(Q.shape[-1] / Q.shape[-2]), K, V),
        ),
        (
            "The scores are divided by the root of d_v; it is the width of a query that counts.",
            lambda Q, K, V: _all_at_once(Q * math.sqrt(Q.shape[-1] / V.shape[-1]), K, V),
        ),
        (
            "The future is taken out after the softmax, so the weights no longer sum to 1. Compute "
            "them from the words so far.",
            lambda Q, K, V: (
                compute_attention_matrix(Q, K).masked_fill(causal_mask(Q.shape[-2]), 0.0) @ V
            ),
        ),
        (
            "The first word is right now, and all others still do not see themselves: word t needs "
            "the keys 0 to t.",
            lambda Q, K, V: torch.cat(
                [V[..., :1, :], _loop(itself=False)(Q, K, V)[..., 1:, :]], dim=-2
            ),
        ),
        (
            "`e` has the shape (..., keys): the keys are in its last dimension, -1.",
            _loop(dim=-2),
        ),
        (
            "`e` has the shape (..., keys): the keys are in its last dimension, -1.",
            _loop(dim=2),
        ),
        (
            "The results lie on their side: rows are words. `dim=-2`, as it was.",
            lambda Q, K, V: _all_at_once(Q, K, V).mT,
        ),
        (
            "`cat` makes no new dimension for the words; `stack` does, as it was.",
            lambda Q, K, V: torch.cat([*_all_at_once(Q, K, V).unbind(-2)], dim=-2),
        ),
        (
            "The softmax still counts its dimension from the front: with one batch dimension it is "
            "right, with two or none it is not.",
            _loop(dim=1),
        ),
        (
            "Keys and values no longer belong together: the keys end at t, the values one later. "
            "Cut both at the same place.",
            _loop(itself=False, late=1),
        ),
        *(
            (
                "Keys and values no longer belong together: the values end one word too early. "
                "Cut both at the same place.",
                _loop(late=-1, scale=scale, dim=dim),
            )
            for scale in (None, lambda q, k: k.shape[-2])
            for dim in (-1, 0)
        ),
        (
            "The results stand in a new first dimension; the words belong before the columns: "
            "`dim=-2`, as it was.",
            lambda Q, K, V: _all_at_once(Q, K, V).movedim(-2, 0),
        ),
        (
            "A word sees one word too many, the next one.",
            lambda Q, K, V: (
                compute_attention_matrix(
                    Q, K, torch.ones(Q.shape[-2], Q.shape[-2], dtype=torch.bool).triu(2)
                )
                @ V
            ),
        ),
        (
            "You divide each weight by the sum of the scores; a softmax takes the exponentials "
            "first.",
            lambda Q, K, V: torch.stack(
                [
                    (lambda e: (e / e.sum(-1, keepdim=True)) @ V[..., : t + 1, :])(
                        Q[..., t : t + 1, :] @ K[..., : t + 1, :].mT / math.sqrt(Q.shape[-1])
                    )[..., 0, :]
                    for t in range(Q.shape[-2])
                ],
                dim=-2,
            ),
        ),
    ),
    wrong={
        _code("(e / math.sqrt(k.shape[-2])).softmax(0)", "t"): "as it was",
        _code("(e / math.sqrt(k.shape[-2])).softmax(0)"): "Two mistakes are left: a word divides",
        _code(
            "(e / math.sqrt(q.shape[-1])).softmax(0)", "t"
        ): "Two mistakes are left: the result of the first",
        _code("(e / math.sqrt(t + 1)).softmax(-1)"): "One mistake is left: a word divides",
        _code(
            "(e / math.sqrt(max(1, t))).softmax(-1)", "t"
        ): "Two mistakes are left: the result of the first",
        _code(
            "(e / math.sqrt(q.shape[-1])).softmax(-1)", "t"
        ): "One mistake is left: the result of the first",
        _code(
            "(e / math.sqrt(q.shape[-1])).softmax(0)"
        ): "One mistake is left: one sentence is right",
        _code("(e / math.sqrt(q.shape[-1])).softmax(1)"): "from the front",
        _code("(e / math.sqrt(K.shape[-2])).softmax(-1)"): "root of T",
        _code("(e / math.sqrt(v.shape[-1])).softmax(-1)"): "root of d_v",
        _code("(e / math.sqrt(q.shape[-1])).softmax(-1)", "max(1, t)"): "The first word is right",
        _code("(e / math.sqrt(q.shape[-1])).softmax(-2)"): "last dimension, -1",
        _code("(e / math.sqrt(q.shape[-1])).softmax(-1)", stack=-1): "lie on their side",
        _code("e.softmax(-1)"): "scaling is gone",
        _code("(e / q.shape[-1]).softmax(-1)"): "must be its square root",
        _code("(e / math.sqrt(q.shape[-1])).softmax(-1)", "t", "t + 1"): "cut both",
        _code("(e / math.sqrt(q.shape[-1])).softmax(-1)", "t + 1", "t"): "one word too early",
        _code("(e / math.sqrt(k.shape[-2])).softmax(0)", "t + 1", "t"): "one word too early",
        _code("(e.detach() / math.sqrt(q.shape[-1])).softmax(-1)", "t + 1"): "gradient of `Q`",
        """\
def word_by_word(Q, K, V):
    rows = []
    for t in range(Q.shape[-2]):
        q, k, v = Q[..., t, :], K[..., : t + 1, :], V[..., : t + 1, :].detach()
        a = ((k * q[..., None, :]).sum(dim=-1) / math.sqrt(q.shape[-1])).softmax(dim=-1)
        rows.append((a[..., None] * v).sum(dim=-2))
    return torch.stack(rows, dim=-2)
""": "gradient of `V`",
        _code("(e / math.sqrt(q.shape[-1])).softmax(-1)", "t + 2"): "one word too many",
        _code("(e / math.sqrt(q.shape[-1])).softmax(-1)", stack=0): "new first dimension",
        _code("(e / math.sqrt(q.shape[-1])).softmax(-1)", ""): "sees all words",
        """\
def word_by_word(Q, K, V):
    return F.scaled_dot_product_attention(Q, K, V, is_causal=True)
""": "calls `scaled_dot_product_attention`",
        """\
def word_by_word(Q, K, V):
    rows = []
    for t in range(Q.shape[-2]):
        e = (K[: t + 1] * Q[t]).sum(dim=-1) / math.sqrt(Q.shape[-1])
        rows.append(e.softmax(-1) @ V[: t + 1])
    return torch.stack(rows)
""": "`K[..., : t + 1, :]`",
    },
    right=(
        """\
def word_by_word(Q, K, V):
    Y = torch.empty(*Q.shape[:-1], V.shape[-1])
    for t in range(Q.shape[-2]):
        q, k, v = Q[..., t : t + 1, :], K[..., : t + 1, :], V[..., : t + 1, :]
        Y[..., t : t + 1, :] = (q @ k.mT / math.sqrt(Q.shape[-1])).softmax(-1) @ v
    return Y
""",
        """\
def word_by_word(Q, K, V):
    E = Q @ K.mT / math.sqrt(Q.shape[-1])
    future = torch.ones(E.shape[-2:], dtype=torch.bool).triu(1)
    return E.masked_fill(future, -math.inf).softmax(-1) @ V
""",
        """\
def word_by_word(Q, K, V):
    T, d_k = Q.shape[-2:]
    rows = []
    for t in range(T):
        e = torch.einsum("...d,...sd->...s", Q[..., t, :], K[..., : t + 1, :]) * d_k**-0.5
        rows.append(torch.einsum("...s,...sv->...v", e.softmax(-1), V[..., : t + 1, :]))
    return torch.stack(rows).movedim(0, -2)
""",
    ),
)
