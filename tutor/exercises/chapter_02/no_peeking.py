"""Every word reads the answer."""

import math

import torch

from tutor.attention import causal_mask, compute_attention_matrix
from tutor.check.exercise import MEND, Exercise
from tutor.exercises.chapter_02.shared import LOW_SCORES, scores


def _hidden(Q, padding):
    return causal_mask(Q.shape[-2]) | padding  # (N, 1, T, T)


def _right(Q, K, V, padding):
    return compute_attention_matrix(Q, K, _hidden(Q, padding)) @ V


def _seeing(visible):
    """Attention with a mask that may be wrong: (past, later, padding) -> what is seen.

    past and later are (T, T); the word itself is in neither.
    """

    def no_peeking(Q, K, V, padding):
        square = torch.ones(Q.shape[-2], Q.shape[-2], dtype=torch.bool)
        seen = visible(square.tril(-1), square.triu(1), padding)
        return compute_attention_matrix(Q, K, ~seen) @ V

    return no_peeking


def _adding(number):
    """A mask of numbers, added to the scores: hidden -> number."""
    return lambda Q, K, V, padding: (scores(Q, K) + number(_hidden(Q, padding))).softmax(-1) @ V


def _cases_with_padding():
    for h, d_k, d_v, padding in [
        (1, 1, 1, [[0, 0, 1]]),
        (2, 3, 2, [[0, 0, 0, 1], [1, 0, 0, 0]]),
        (1, 4, 5, [[0] * 5, [1, 1, 0, 0, 0], [0, 0, 1, 1, 1]]),
    ]:
        padding = torch.tensor(padding).bool()[:, None, None]  # (N, 1, 1, T)
        N, T = len(padding), padding.shape[-1]
        yield *(torch.randn(N, h, T, d) for d in (d_k, d_k, d_v)), padding


def _seen_at_any_score(answer):
    """Whether the only visible key is found, also where its score is very low."""
    Q, K = torch.tensor([[[[200.0], [200.0]]]]), torch.tensor([[[[-200.0], [0.0]]]])
    V, padding = torch.tensor([[[[1.0], [9.0]]]]), torch.tensor([[[[False, True]]]])
    return torch.allclose(answer(Q, K, V, padding), torch.ones(1, 1, 2, 1))


no_peeking = Exercise(
    name="no_peeking",
    chapter="02",
    section="Words that may not be seen",
    kind=MEND,
    title="Every word reads the answer",
    goal="Join two masks in either polarity.",
    difficulty=3,
    importance=5,
    minutes=7,
    text="""\
Padding and the future are to be hidden, and PyTorch's fast attention is to do it. Somebody knew
that `True` means *may be attended to* there, and turned both masks over before joining them. The
program runs, and every word reads the words that come after it. There are **two** mistakes.
**Find and mend them.**

A word sees itself and earlier words, unless they are padding. A query that may see nothing, such as
padding at the front, gets zeros. Gradients must flow to Q, K and V. You may keep
`F.scaled_dot_product_attention`; `compute_attention_matrix` of the course may not be called.""",
    hints=(
        "Draw `later`, `~later` and `visible` for three words of which the last is padding.",
        "A key is hidden if it comes later *or* is padding. When may it be seen?",
        "Both must hold: `~later & ~padding`, or `~(later | padding)`. And is a word later than "
        "itself? See which diagonal `triu` keeps.",
    ),
    stub='''\
def no_peeking(Q, K, V, padding):
    """Attention to earlier words that are no padding. It has two mistakes: find and mend them.

    Q, K: float tensors (N, h, T, d_k)
    V: float tensor (N, h, T, d_v)
    padding: bool tensor (N, 1, 1, T), True where a key is padding
    Returns Y: float tensor (N, h, T, d_v)
    """
    later = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).triu()  # (T, T)
    visible = ~later | ~padding  # (N, 1, T, T)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=visible)  # (N, h, T, d_v)
''',
    solution='''\
def no_peeking(Q, K, V, padding):
    """Attention to earlier words that are no padding.

    Q, K: float tensors (N, h, T, d_k)
    V: float tensor (N, h, T, d_v)
    padding: bool tensor (N, 1, 1, T), True where a key is padding
    Returns Y: float tensor (N, h, T, d_v)
    """
    later = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).triu(1)  # (T, T)
    visible = ~(later | padding)  # (N, 1, T, T)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=visible)  # (N, h, T, d_v)
''',
    because="What is hidden is joined with `|`, so what is visible is joined with `&`.",
    reference=_right,
    cases=_cases_with_padding,
    gradient=True,
    forbidden=(compute_attention_matrix,),
    mistakes=(
        (
            "As it was: change the last word, and the results of earlier words move. Two mistakes "
            "are left.",
            _seeing(lambda past, later, padding: past | ~padding),
        ),
        (
            "One mistake is left: change the last word, and the results of earlier words move.",
            _seeing(lambda past, later, padding: ~later | ~padding),
        ),
        (
            "One mistake is left: the result of the first word is 0, and should be its own value.",
            _seeing(lambda past, later, padding: past & ~padding),
        ),
        (
            "The future is hidden now, and padding is seen. Both must be hidden.",
            _seeing(lambda past, later, padding: ~later & (padding | ~padding)),
        ),
        (
            "Padding is hidden now, and the future is seen. Both must be hidden.",
            _seeing(lambda past, later, padding: (~padding).expand(-1, 1, len(past), -1)),
        ),
        (
            "Now nothing is hidden at all: every word sees every word.",
            _seeing(lambda past, later, padding: padding | ~padding),
        ),
        (
            "The polarity is the other one: what should be hidden is seen, and the rest is not.",
            _seeing(lambda past, later, padding: later | padding),
        ),
        *(
            (
                "Joined with `|`, and one of the two masks is not turned over: see in a drawing "
                "which words that lets through.",
                _seeing(visible),
            )
            for visible in (
                lambda past, later, padding: ~later | padding,
                lambda past, later, padding: past | padding,
                lambda past, later, padding: later | ~padding,
                lambda past, later, padding: ~past | ~padding,
            )
        ),
        (
            "Padding is seen now, and the first word does not see itself.",
            _seeing(lambda past, later, padding: past & (padding | ~padding)),
        ),
        (
            "Only later words that are padding are seen: neither mask is turned over now.",
            _seeing(lambda past, later, padding: later & padding),
        ),
        (
            "Only later words that are padding are seen: neither mask is turned over now.",
            _seeing(lambda past, later, padding: ~past & padding),
        ),
        (
            "A word sees the next one, too: the first hidden diagonal is 1, right of the word "
            "itself.",
            _seeing(lambda past, later, padding: ~later.triu(2) & ~padding),
        ),
        (
            "Only what is later than the word *and* no padding is seen: one of the two masks is "
            "still turned over.",
            _seeing(lambda past, later, padding: later & ~padding),
        ),
        (
            "Only padding is seen, as far as it is no later word: one of the two masks is still "
            "turned over.",
            _seeing(lambda past, later, padding: ~later & padding),
        ),
        (
            "A word sees itself and what comes after it. It should see itself and what comes "
            "before: the other triangle.",
            _seeing(lambda past, later, padding: ~past & ~padding),
        ),
        (
            "You hide the rows of padding, the queries. A mask hides keys, which are columns.",
            _seeing(lambda past, later, padding: ~later & ~padding.mT),
        ),
        (
            "You hide after the softmax: the hidden words have taken their shares, and the others "
            "no longer sum to 1.",
            lambda Q, K, V, padding: (
                scores(Q, K).softmax(-1).masked_fill(_hidden(Q, padding), 0.0) @ V
            ),
        ),
        (
            "A query that may see nothing gives NaN: its softmax divides 0 by 0. It should give "
            "zeros.",
            _adding(lambda hidden: torch.zeros(hidden.shape).masked_fill(hidden, -math.inf)),
        ),
        (
            "A query that may see nothing gives NaN: its softmax divides 0 by 0. It should give "
            "zeros.",
            lambda Q, K, V, padding: (
                scores(Q, K).masked_fill(_hidden(Q, padding), -math.inf).softmax(-1) @ V
            ),
        ),
        (
            "A query that may see nothing gives a mean of hidden values. It should give zeros: set "
            "hidden weights to 0 afterwards.",
            lambda Q, K, V, padding: (
                scores(Q, K).masked_fill(_hidden(Q, padding), -1e9).softmax(-1) @ V
            ),
        ),
        (
            "0 times infinity is NaN: the words that may be seen got it, too. Put -inf only where "
            "something is hidden, with `masked_fill`.",
            _adding(lambda hidden: hidden.float() * -math.inf),
        ),
        (
            "A mask of floats is added to the scores: 1 for hidden words prefers them.",
            _adding(lambda hidden: hidden.float()),
        ),
        (
            "A mask of floats is added to the scores: a difference of 1 makes hidden words weaker, "
            "and hides nothing.",
            _adding(lambda hidden: (~hidden).float()),
        ),
        (
            "A tensor of booleans has no single truth: `not` and `and` ask for one. Use `~`, `&` "
            "and `|`, which work number by number.",
            lambda Q, K, V, padding: not torch.ones(2),
        ),
    ),
    properties=((LOW_SCORES[0], _seen_at_any_score),),
    wrong={
        """\
def no_peeking(Q, K, V, padding):
    later = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).triu()
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~(later & padding))
""": "as it was",
        """\
def no_peeking(Q, K, V, padding):
    later = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).triu(1)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~later | ~padding)
""": "One mistake is left: change the last word",
        """\
def no_peeking(Q, K, V, padding):
    later = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).triu()
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~(later | padding))
""": "One mistake is left: the result of the first word is 0",
        """\
def no_peeking(Q, K, V, padding):
    return F.scaled_dot_product_attention(Q, K, V, is_causal=True)
""": "padding is seen",
        """\
def no_peeking(Q, K, V, padding):
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~padding)
""": "the future is seen",
        """\
def no_peeking(Q, K, V, padding):
    return F.scaled_dot_product_attention(Q, K, V)
""": "nothing is hidden",
        """\
def no_peeking(Q, K, V, padding):
    later = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).triu(1)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=later | padding)
""": "polarity",
        """\
def no_peeking(Q, K, V, padding):
    later = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).triu(1)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~later | padding)
""": "not turned over",
        """\
def no_peeking(Q, K, V, padding):
    past = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).tril(-1)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=past)
""": "Padding is seen now, and",
        """\
def no_peeking(Q, K, V, padding):
    later = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).triu()
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=later & padding)
""": "neither mask is turned over",
        """\
def no_peeking(Q, K, V, padding):
    later = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).triu(2)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~(later | padding))
""": "sees the next one",
        """\
def no_peeking(Q, K, V, padding):
    later = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).triu(1)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=later & ~padding)
""": "Only what is later",
        """\
def no_peeking(Q, K, V, padding):
    later = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).tril(-1)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~(later | padding))
""": "the other triangle",
        """\
def no_peeking(Q, K, V, padding):
    later = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).triu(1)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~(later | padding.mT))
""": "which are columns",
        """\
def no_peeking(Q, K, V, padding):
    hidden = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).triu(1) | padding
    A = (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(-1)
    return A.masked_fill(hidden, 0.0) @ V
""": "after the softmax",
        """\
def no_peeking(Q, K, V, padding):
    hidden = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).triu(1) | padding
    E = (Q @ K.mT / math.sqrt(Q.shape[-1])).masked_fill(hidden, -torch.inf)
    return E.softmax(-1) @ V
""": "gives NaN",
        """\
def no_peeking(Q, K, V, padding):
    hidden = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).triu(1) | padding
    E = (Q @ K.mT / math.sqrt(Q.shape[-1])).masked_fill(hidden, torch.finfo(Q.dtype).min)
    return E.softmax(-1) @ V
""": "a mean of hidden values",
        """\
def no_peeking(Q, K, V, padding):
    hidden = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).triu(1) | padding
    E = Q @ K.mT / math.sqrt(Q.shape[-1]) + hidden.float() * -torch.inf
    return E.softmax(-1) @ V
""": "0 times infinity",
        """\
def no_peeking(Q, K, V, padding):
    hidden = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).triu(1) | padding
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=1.0 * hidden)
""": "prefers them",
        """\
def no_peeking(Q, K, V, padding):
    hidden = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).triu(1) | padding
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=1.0 - hidden.float())
""": "hides nothing",
        """\
def no_peeking(Q, K, V, padding):
    later = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).triu(1)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=not (later | padding))
""": "no single truth",
        """\
def no_peeking(Q, K, V, padding):
    hidden = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).triu(1) | padding
    E = (Q @ K.mT / math.sqrt(Q.shape[-1])).masked_fill(hidden, -1e4)
    return E.softmax(-1).masked_fill(hidden, 0.0) @ V
""": "the visible key is lost",
        """\
def no_peeking(Q, K, V, padding):
    later = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).triu(1)
    return F.scaled_dot_product_attention(Q, K, V.detach(), attn_mask=~(later | padding))
""": "the gradient of `V` is missing",
        """\
def no_peeking(Q, K, V, padding):
    hidden = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).triu(1) | padding
    A = (Q @ K.mT / math.sqrt(Q.shape[-1])).masked_fill(hidden, -1e30).softmax(-1)
    A *= ~hidden
    return A @ V
""": "the result of `softmax` in the line `A *= ~hidden`",
    },
    right=(
        """\
def no_peeking(Q, K, V, padding):
    past = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).tril()
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=past.logical_and(~padding))
""",
        """\
def no_peeking(Q, K, V, padding):
    hidden = torch.triu(torch.ones(Q.shape[-2], K.shape[-2]), 1).bool() | padding
    added = torch.zeros(hidden.shape).masked_fill(hidden, float("-inf"))
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=added)
""",
        """\
def no_peeking(Q, K, V, padding):
    t = torch.arange(Q.shape[-2])
    hidden = (t > t[:, None]) | padding
    E = (Q @ K.mT / math.sqrt(Q.shape[-1])).masked_fill(hidden, -1e9)
    return E.softmax(-1).masked_fill(hidden, 0.0) @ V
""",
        """\
def no_peeking(Q, K, V, padding):
    from tutor.attention import causal_mask

    hidden = causal_mask(Q.shape[-2]) | padding
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=~hidden)
""",
    ),
)
