"""Padding on the left."""

import torch

from tutor.check.exercise import WRITE, Exercise


def _mask(
    future=lambda T: torch.ones(T, T, dtype=torch.bool).triu(1),
    keys=lambda padding: padding[:, None, :],
    itself=True,
    heads=lambda hidden, h: hidden.repeat_interleave(h, dim=0),
    join=torch.logical_or,
    polarity=False,
):
    """The mask, or one with one of these things wrong."""

    def mask(padding, num_heads):
        T = padding.shape[1]
        hidden = join(future(T), keys(padding)).expand(len(padding), T, T)
        if itself:
            hidden = hidden & ~torch.eye(T, dtype=torch.bool)
        return heads(hidden ^ polarity, num_heads)

    return mask


def _padding_sees_real_words(padding, num_heads):
    """Rows of padding see whatever is real, so that none is empty; real rows are right."""
    hidden = _mask(heads=lambda hidden, h: hidden)(padding, 1)
    hidden = torch.where(padding[:, :, None], padding[:, None, :], hidden)
    return hidden.repeat_interleave(num_heads, dim=0)


def _rows_of_padding(free):
    """Rows of padding see everything (free), or what the causal mask lets them."""

    def mask(padding, num_heads):
        hidden = _mask(heads=lambda hidden, h: hidden)(padding, 1)
        T = padding.shape[1]
        instead = torch.zeros(T, T, dtype=torch.bool)
        if not free:
            instead = torch.ones(T, T, dtype=torch.bool).triu(1)
        hidden = torch.where(padding[:, :, None], instead, hidden)
        return hidden.repeat_interleave(num_heads, dim=0)

    return mask


def _first_place_free(padding, num_heads):
    hidden = _mask(itself=False, heads=lambda hidden, h: hidden.clone())(padding, 1)
    hidden[:, 0, 0] = False
    return hidden.repeat_interleave(num_heads, dim=0)


def _one_behind_the_other(hidden, h):
    return hidden.repeat_interleave(h, dim=0)


def _in_turns(hidden, h):
    return hidden.repeat(h, 1, 1)


_OTHERWISE = (
    (
        "The polarity is turned over: here True marks what may be seen.",
        {"polarity": True},
    ),
    (
        "The future is open: hide the tokens that come later as well.",
        {"future": lambda T: torch.zeros(T, T, dtype=torch.bool)},
    ),
    (
        "The past is hidden and the future is open: turn the triangle over.",
        {"future": lambda T: torch.ones(T, T, dtype=torch.bool).tril(-1)},
    ),
    (
        "This is the causal mask alone: words still see the padding in front of them.",
        {"keys": lambda padding: torch.zeros_like(padding)[:, None, :]},
    ),
    (
        "You hide padding as a query (a row). Words still see it: hide it as a key, a column.",
        {"keys": lambda padding: padding[:, :, None]},
    ),
    (
        "`padding` is taken the wrong way round: it is True at padding, which is to be hidden.",
        {"keys": lambda padding: ~padding[:, None, :]},
    ),
    (
        "You hide only what is future and padding at once. One of the two is reason enough: join "
        "the masks with `|`.",
        {"join": torch.logical_and},
    ),
)


def _cases_of_padding():
    for h, T, lengths in [
        (1, 2, [2]), (1, 2, [1]), (1, 3, [1, 3]), (2, 3, [2, 1]), (3, 4, [1, 4, 2]),
        (2, 5, [5, 3, 2]),
    ]:  # fmt: skip
        yield torch.arange(T) < T - torch.tensor(lengths)[:, None], h


left_padded_mask = Exercise(
    name="left_padded_mask",
    chapter="11",
    section="Where PyTorch surprises",
    kind=WRITE,
    title="Padding on the left",
    goal="Write a mask for PyTorch in which no row is empty.",
    difficulty=3,
    importance=4,
    minutes=10,
    text="""\
To write on, a batch of beginnings is padded on the **left**: all of them then end at the same
place. Give `nn.Transformer` the causal mask and the padding, and two things happen that padding on
the right never showed. The causal mask no longer hides the padding from the words. And a row of
padding sees nothing at all; under `no_grad`, PyTorch 2.13 makes `nan` of such a row, and the next
layer makes `nan` of its whole sentence.

Write one mask that does it all. **Each place sees itself, and the tokens before it that are no
padding; nothing else.** So a place of padding sees itself alone. As always, `True` hides. PyTorch
takes such a mask as `attn_mask` in the shape $(N \\cdot h, T, T)$: first sentence 0 for head 0, for
head 1, ..., then sentence 1.""",
    hints=(
        "Three masks are joined: what lies behind, what is padding as a key, and, taken out again, "
        "the diagonal.",
        "`padding[:, None, :]` hides keys, in the shape (N, 1, T). "
        "`~torch.eye(T, dtype=torch.bool)` is False on the diagonal alone.",
        "Join with `|`, take the diagonal out with `&`. Then each sentence is needed h times in a "
        "row: `repeat_interleave`, not `repeat`.",
    ),
    stub='''\
def left_padded_mask(padding, num_heads):
    """A mask without empty rows, for every sentence and head. True hides.

    padding: bool tensor (N, T), True where a place is padding, on the left
    Returns a bool tensor (N * num_heads, T, T), rows ask and columns are asked
    """
    raise NotImplementedError
''',
    solution='''\
def left_padded_mask(padding, num_heads):
    """A mask without empty rows, for every sentence and head. True hides.

    padding: bool tensor (N, T), True where a place is padding, on the left
    Returns a bool tensor (N * num_heads, T, T), rows ask and columns are asked
    """
    T = padding.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    hidden = future | padding[:, None, :]  # (N, T, T)
    hidden = hidden & ~torch.eye(T, dtype=torch.bool)
    return hidden.repeat_interleave(num_heads, dim=0)  # (N * h, T, T)
''',
    because="Nobody reads a row of padding, but a nan in it reaches every row of the next layer.",
    reference=_mask(),
    cases=_cases_of_padding,
    mistakes=(
        (
            "A row of padding sees nothing here, which becomes `nan`: let each place see itself.",
            _mask(itself=False),
        ),
        (
            "A row of padding sees nothing here: you free one place only, and all places of "
            "padding are to see themselves.",
            _first_place_free,
        ),
        (
            "The sentences take turns: head 0 of all, then head 1 of all. A sentence's heads stand "
            "one behind the other.",
            _mask(heads=_in_turns),
        ),
        *(
            (message, _mask(**wrong, itself=itself, heads=heads))
            for message, wrong in _OTHERWISE
            for itself in (True, False)
            for heads in (_one_behind_the_other, _in_turns)
        ),
        (
            "The sentences take turns, and a row of padding sees nothing. A sentence's heads stand "
            "one behind the other, and each place sees itself.",
            _mask(itself=False, heads=_in_turns),
        ),
        (
            "Each place hides itself: the words do not see their own token. Begin the triangle "
            "above the diagonal.",
            _mask(future=lambda T: torch.ones(T, T, dtype=torch.bool).triu(), itself=False),
        ),
        (
            "Rows of padding see everything here. Words are right, but the task wants a place of "
            "padding to see itself alone.",
            _rows_of_padding(free=True),
        ),
        (
            "Rows of padding see the padding before them. Words are right, but the task wants a "
            "place of padding to see itself alone.",
            _rows_of_padding(free=False),
        ),
        (
            "Rows of padding see the words. The task wants a place of padding to see itself alone.",
            _padding_sees_real_words,
        ),
        *(
            (
                "One mask for each sentence is right, but each head wants its own copy: the first "
                "dimension is N · h.",
                _mask(itself=itself, heads=lambda hidden, h: hidden),
            )
            for itself in (True, False)
        ),
        *(
            (
                "Sentences and heads have a dimension each. This module wants one for both, N · h.",
                _mask(itself=itself, heads=heads),
            )
            for itself in (True, False)
            for heads in (
                lambda hidden, h: hidden[:, None],
                lambda hidden, h: hidden[:, None].repeat(1, h, 1, 1),
            )
        ),
        (
            "A mask of numbers is added to the scores, and hides nothing unless it is minus "
            "infinity. Make it a boolean one.",
            lambda padding, num_heads: _mask()(padding, num_heads).float(),
        ),
        (
            "A mask of numbers is added to the scores, and hides nothing unless it is minus "
            "infinity. Make it a boolean one.",
            lambda padding, num_heads: _mask(itself=False)(padding, num_heads).float(),
        ),
        (
            "Rows and columns are exchanged: rows ask, and columns are asked.",
            lambda padding, num_heads: _mask()(padding, num_heads).transpose(1, 2),
        ),
    ),
    wrong={
        """\
def left_padded_mask(padding, num_heads):
    T = padding.shape[1]
    hidden = torch.ones(T, T).triu(1).bool() | padding[:, None, :]
    return hidden.repeat_interleave(num_heads, dim=0)
""": "sees nothing here",
        """\
def left_padded_mask(padding, num_heads):
    T = padding.shape[1]
    hidden = torch.ones(T, T).triu(1).bool() | padding[:, None]
    return (hidden & ~torch.eye(T).bool()).repeat(num_heads, 1, 1)
""": "take turns",
        """\
def left_padded_mask(padding, num_heads):
    T = padding.shape[1]
    seen = torch.ones(T, T).tril().bool() & ~padding[:, None, :]
    return (seen | torch.eye(T).bool()).repeat_interleave(num_heads, dim=0)
""": "polarity is turned over",
        """\
def left_padded_mask(padding, num_heads):
    T = padding.shape[1]
    hidden = padding[:, None, :] & ~torch.eye(T, dtype=torch.bool)
    return hidden.repeat_interleave(num_heads, 0)
""": "future is open",
        """\
def left_padded_mask(padding, num_heads):
    N, T = padding.shape
    return torch.ones(T, T, dtype=torch.bool).triu(1).repeat(N * num_heads, 1, 1)
""": "causal mask alone",
        """\
def left_padded_mask(padding, num_heads):
    T = padding.shape[1]
    hidden = torch.ones(T, T).triu(1).bool() | padding[:, :, None]
    return (hidden & ~torch.eye(T).bool()).repeat_interleave(num_heads, 0)
""": "hide it as a key",
        """\
def left_padded_mask(padding, num_heads):
    T = padding.shape[1]
    hidden = torch.ones(T, T).tril(-1).bool() | padding[:, None, :]
    return (hidden & ~torch.eye(T).bool()).repeat_interleave(num_heads, 0)
""": "turn the triangle over",
        """\
def left_padded_mask(padding, num_heads):
    T = padding.shape[1]
    hidden = torch.ones(T, T).triu(0).bool() | padding[:, None, :]
    return hidden.repeat_interleave(num_heads, 0)
""": "do not see their own token",
        """\
def left_padded_mask(padding, num_heads):
    T = padding.shape[1]
    hidden = torch.ones(T, T).triu(1).bool() | padding[:, None, :]
    return hidden & ~torch.eye(T).bool()
""": "own copy",
        """\
def left_padded_mask(padding, num_heads):
    N, T = padding.shape
    hidden = torch.ones(T, T).triu(1).bool() | padding[:, None, :]
    hidden = hidden & ~torch.eye(T).bool()
    return hidden[:, None].expand(N, num_heads, T, T)
""": "have a dimension each",
        """\
def left_padded_mask(padding, num_heads):
    N, T = padding.shape
    hidden = torch.ones(T, T).triu(1).bool() | padding[:, None, :]
    hidden[padding] = False
    return hidden.repeat_interleave(num_heads, 0)
""": "see everything",
        """\
def left_padded_mask(padding, num_heads):
    T = padding.shape[1]
    future = torch.ones(T, T).triu(1).bool()
    both = padding[:, None, :] & ~padding[:, :, None]
    return (future | both).repeat_interleave(num_heads, 0)
""": "see the padding before them",
        """\
def left_padded_mask(padding, num_heads):
    T = padding.shape[1]
    hidden = torch.ones(T, T).triu(1).bool() | ~padding[:, None, :]
    return (hidden & ~torch.eye(T).bool()).repeat_interleave(num_heads, 0)
""": "wrong way round",
        """\
def left_padded_mask(padding, num_heads):
    T = padding.shape[1]
    hidden = torch.ones(T, T).triu(1).bool() | padding[:, None, :]
    hidden = (hidden & ~torch.eye(T).bool()).repeat_interleave(num_heads, 0)
    return torch.zeros(hidden.shape).masked_fill(hidden, -torch.inf)
""": "torch.bool is wanted",
        """\
def left_padded_mask(padding, num_heads):
    T = padding.shape[1]
    hidden = torch.ones(T, T).triu(1).bool() | padding[:, None, :]
    return hidden.float().repeat_interleave(num_heads, dim=0)
""": "Make it a boolean one",
        """\
def left_padded_mask(padding, num_heads):
    T = padding.shape[1]
    hidden = torch.ones(T, T).triu(1).bool() & padding[:, None, :]
    return hidden.repeat_interleave(num_heads, dim=0)
""": "reason enough",
        """\
def left_padded_mask(padding, num_heads):
    T = padding.shape[1]
    hidden = padding[:, None, :].expand(-1, T, T) & ~torch.eye(T, dtype=torch.bool)
    return hidden.repeat(num_heads, 1, 1)
""": "future is open",
        """\
def left_padded_mask(padding, num_heads):
    T = padding.shape[1]
    hidden = torch.ones(T, T).triu(1).bool() | padding[:, None, :]
    hidden[:, 0, 0] = False
    return hidden.repeat_interleave(num_heads, dim=0)
""": "one place only",
    },
    right=(
        """\
def left_padded_mask(padding, num_heads):
    N, T = padding.shape
    mask = torch.ones(N * num_heads, T, T, dtype=torch.bool)
    for n in range(N):
        for head in range(num_heads):
            for t in range(T):
                for s in range(t + 1):
                    mask[n * num_heads + head, t, s] = bool(padding[n, s]) and s != t
    return mask
""",
        """\
def left_padded_mask(padding, num_heads):
    N, T = padding.shape
    place = torch.arange(T)
    seen = (place[None, :] < place[:, None]) & ~padding[:, None, :]
    seen = seen | (place[None, :] == place[:, None])
    return ~seen[:, None].expand(N, num_heads, T, T).flatten(0, 1)
""",
        """\
def left_padded_mask(padding, num_heads):
    T = padding.shape[1]
    hidden = torch.triu(torch.ones(T, T), 1).bool() | padding.unsqueeze(1)
    hidden.diagonal(dim1=1, dim2=2).fill_(False)
    return torch.stack([row for row in hidden for _ in range(num_heads)])
""",
    ),
)
