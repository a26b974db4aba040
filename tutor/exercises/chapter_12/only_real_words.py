"""A mask from another library."""

import torch
from torch import nn

from tutor.check.exercise import MEND, Exercise
from tutor.exercises.chapter_11.shared import filled, warm_up


def _masked(mask_of):
    """Self-attention with the key_padding_mask that mask_of makes of `real`."""

    def attend(attention, X, real):
        return attention(X, X, X, key_padding_mask=mask_of(real), need_weights=False)[0]

    return attend


def _cases_of_padding():
    warm_up()
    for N, S, d_model, num_heads in [(1, 2, 2, 1), (1, 3, 4, 2), (2, 4, 4, 2), (3, 5, 6, 3)]:
        attention = nn.MultiheadAttention(d_model, num_heads, batch_first=True)
        tokens = torch.randint(1, S, (N, 1))  # of each sentence; the rest is padding
        tokens[1:2] = S  # the second sentence of a batch has no padding
        real = (torch.arange(S) < tokens).long()
        yield filled(attention), torch.randn(N, S, d_model), real


only_real_words = Exercise(
    name="only_real_words",
    chapter="12",
    section="Room 2: it trains, but is wrong",
    kind=MEND,
    title="A mask from another library",
    goal="Hand a mask from one library to another that reads it the other way round.",
    difficulty=3,
    importance=5,
    minutes=5,
    text="""\
A tokenizer of another library returns, beside the ids, a tensor `real`: 1 where a token is, 0 where
padding is. This code hands it to `nn.MultiheadAttention`. No error, and the loss even falls a
little; but the words see the padding and nothing else. **Find the mistake and mend it.** In a
sentence without padding nothing is hidden. Return all rows as the attention gives them, also those
of padding: they see the words, and nobody reads them.""",
    hints=(
        "What does True mean in a boolean mask of `nn.MultiheadAttention`? Chapter 11 has both "
        "polarities side by side.",
        "What is hidden if `real.bool()` is the mask?",
        "Where `real` is 0 there is padding: a comparison gives a boolean mask. (A mask of numbers "
        "would be added to the scores, and `~` of an int is another int.)",
    ),
    stub='''\
def only_real_words(attention, X, real):
    """Self-attention that hides padding. It has a mistake: find it and mend it.

    attention: nn.MultiheadAttention, batch-first, in eval mode
    X: float tensor (N, S, d_model)
    real: int tensor (N, S), 1 = token, 0 = padding
    Returns float tensor (N, S, d_model)
    """
    Y, _ = attention(X, X, X, key_padding_mask=real.bool(), need_weights=False)
    return Y
''',
    solution='''\
def only_real_words(attention, X, real):
    """Self-attention that hides padding.

    attention: nn.MultiheadAttention, batch-first, in eval mode
    X: float tensor (N, S, d_model)
    real: int tensor (N, S), 1 = token, 0 = padding
    Returns float tensor (N, S, d_model)
    """
    Y, _ = attention(X, X, X, key_padding_mask=real == 0, need_weights=False)
    return Y
''',
    because="In this module True hides. The test: change a padded place, and no word may move.",
    reference=_masked(lambda real: real == 0),
    cases=_cases_of_padding,
    mistakes=(
        (
            "As it was: the words are hidden, and the padding is seen.",
            _masked(lambda real: real.bool()),
        ),
        (
            "As it was: the words are hidden, and the padding is seen.",
            lambda attention, X, real: attention(X, X, X, key_padding_mask=real.bool())[0],
        ),
        (
            "A mask of numbers is added to the scores: 1 for words prefers them a little and hides "
            "nothing.",
            _masked(lambda real: real.float()),
        ),
        (
            "A mask of numbers is added to the scores: 1 for padding even prefers it.",
            _masked(lambda real: 1.0 - real),
        ),
        (
            "Now nothing is hidden: every word sees the padding, too.",
            lambda attention, X, real: attention(X, X, X)[0],
        ),
        (
            "The padding is set to zero and not hidden: with its biases, zero is a key and a value "
            "like any other.",
            lambda attention, X, real: attention(*[X * real[..., None]] * 3)[0],
        ),
        (
            "The words are right. But you set the rows of padding to zero, and the task wants them "
            "as the attention gives them.",
            lambda attention, X, real: (
                _masked(lambda real: real == 0)(attention, X, real) * real[..., None]
            ),
        ),
        (
            "`~` of a whole number is another whole number, never 0: everything is hidden. Make a "
            "boolean of it first.",
            _masked(lambda real: torch.ones_like(real).bool()),
        ),
        (
            "The words are right. But you set the rows of padding in X to zero, so that they ask "
            "for something else; the task wants them as the attention gives them.",
            lambda attention, X, real: _masked(lambda real: real == 0)(
                attention, X * real[..., None], real
            ),
        ),
        (
            "You clean the rows of the result at padded places. Hide the columns: the words still "
            "see the padding.",
            lambda attention, X, real: attention(X, X, X)[0] * real[..., None],
        ),
        *(
            (
                "You hide padding as a query, not as a key: rows of padding see nothing, and the "
                "words still see the padding.",
                lambda attention, X, real, asked=asked: attention(
                    X,
                    X,
                    X,
                    attn_mask=(real == 0)[:, :, None]
                    .expand(-1, -1, X.shape[1])
                    .repeat_interleave(attention.num_heads, dim=0),
                    need_weights=asked,
                )[0],
            )
            for asked in (False, True)
        ),
    ),
    wrong={
        """\
def only_real_words(attention, X, real):
    return attention(X, X, X, key_padding_mask=(~real).bool(), need_weights=False)[0]
""": "another whole number",
        """\
def only_real_words(attention, X, real):
    X = X * real[..., None]
    return attention(X, X, X, key_padding_mask=real == 0)[0]
""": "rows of padding in X",
        """\
def only_real_words(attention, X, real):
    return attention(X, X, X, key_padding_mask=~(real == 0), need_weights=False)[0]
""": "as it was",
        """\
def only_real_words(attention, X, real):
    return attention(X, X, X, key_padding_mask=real.to(X.dtype))[0]
""": "1 for words",
        """\
def only_real_words(attention, X, real):
    return attention(X, X, X, key_padding_mask=(real == 0).float())[0]
""": "1 for padding",
        """\
def only_real_words(attention, X, real):
    mask = torch.where(real.bool(), float("-inf"), 0.0)
    return attention(X, X, X, key_padding_mask=mask)[0]
""": "words are hidden, and the padding is seen",
        """\
def only_real_words(attention, X, real):
    nobody = torch.zeros(real.shape, dtype=torch.bool)
    return attention(X, X, X, key_padding_mask=nobody)[0]
""": "nothing is hidden",
        """\
def only_real_words(attention, X, real):
    X = X.masked_fill(real[:, :, None] == 0, 0.0)
    Y, _ = attention(X, X, X, need_weights=False)
    return Y
""": "set to zero and not hidden",
        """\
def only_real_words(attention, X, real):
    Y, _ = attention(X, X, X, need_weights=False)
    return Y.masked_fill(real.unsqueeze(-1) == 0, 0.0)
""": "clean the rows",
        """\
def only_real_words(attention, X, real):
    Y, _ = attention(X, X, X, key_padding_mask=real == 0, need_weights=False)
    return Y * real[:, :, None]
""": "set the rows of padding to zero",
        """\
def only_real_words(attention, X, real):
    return attention(X, X, X, key_padding_mask=~real)[0]
""": "your answer raises",
        """\
def only_real_words(attention, X, real):
    return attention(X, X, X, attn_mask=real == 0)[0]
""": "your answer raises",
    },
    right=(
        """\
def only_real_words(attention, X, real):
    return attention(X, X, X, key_padding_mask=~real.bool())[0]
""",
        """\
def only_real_words(attention, X, real):
    added = torch.zeros(real.shape).masked_fill(real == 0, float("-inf"))
    return attention(X, X, X, key_padding_mask=added)[0]
""",
        """\
def only_real_words(attention, X, real):
    results = []
    for x, n in zip(X, real.sum(dim=1)):
        results.append(attention(x, x[:n], x[:n])[0])  # without padding nothing need be hidden
    return torch.stack(results)
""",
    ),
)
