"""Neighbours in a row that must not meet."""

import torch

from tutor.check.exercise import WRITE, Exercise


def _hidden(segments):
    """For each query and key: other captions, padding as key, the future. Each (N, 1, T, T)."""
    queries, keys = segments[:, None, :, None], segments[:, None, None, :]
    later = torch.ones(2 * segments.shape[-1:], dtype=torch.bool).triu(1)
    shape = torch.zeros_like(queries == keys)
    return queries != keys, (keys == 0) | shape, later | shape


def _mask(segments):
    other, padding, later = _hidden(segments)
    return other | padding | later


def _of(join):
    """A mask that is made in another way of the three."""
    return lambda segments: join(*_hidden(segments))


def _cases_of_segments():
    for rows in (
        [[1, 2]],
        [[1, 1, 0]],
        [[1, 1, 2, 2, 0]],
        [[1, 2, 2, 2, 3, 3], [1, 1, 1, 2, 0, 0], [1, 1, 1, 1, 1, 1]],
        [[1, 1, 1, 0, 0, 0, 0], [1, 2, 3, 4, 4, 5, 0]],
    ):
        yield (torch.tensor(rows),)


segment_mask = Exercise(
    name="segment_mask",
    chapter="06",
    section="A batch, drawn",
    kind=WRITE,
    title="Neighbours that must not meet",
    goal="Keep packed captions apart with one mask.",
    difficulty=3,
    importance=4,
    minutes=6,
    text="""\
A row holds several captions, one after the other. `segments` says which place belongs to which: 1
for the first caption of the row, 2 for the second, and so on, and 0 for padding, which stands at
the end. A decoder reads such rows, and each caption must get the result that it would get alone.

Write the mask, as everywhere in the course **True = hidden**. A place sees itself and the earlier
places of its own caption, and nothing else. Padding is seen by nobody, not even by padding. And it
sees nothing: its row of the mask is hidden from end to end.""",
    hints=(
        "Three reasons to hide a key from a query: it is of another caption, it comes later, it "
        "is padding. Which two numbers does each reason compare?",
        "`segments[:, None, :, None]` has the shape (N, 1, T, 1), a segment for each query, and "
        "`segments[:, None, None, :]` the shape (N, 1, 1, T), one for each key.",
        "Join three masks with `|`: queries `!=` keys, keys `== 0`, and `torch.ones(T, T, "
        "dtype=torch.bool).triu(1)`, the future.",
    ),
    stub='''\
def segment_mask(segments):
    """Hides all but the past of one's own caption.

    segments: int tensor (N, T), 0 is padding
    Returns mask: bool tensor (N, 1, T, T), True = hidden
    """
    raise NotImplementedError
''',
    solution='''\
def segment_mask(segments):
    """Hides all but the past of one's own caption.

    segments: int tensor (N, T), 0 is padding
    Returns mask: bool tensor (N, 1, T, T), True = hidden
    """
    T = segments.shape[1]
    queries = segments[:, None, :, None]  # (N, 1, T, 1)
    keys = segments[:, None, None, :]  # (N, 1, 1, T)
    later = torch.ones(T, T, dtype=torch.bool).triu(1)  # (T, T)
    return (queries != keys) | (keys == 0) | later  # (N, 1, T, T)
''',
    because=(
        "Within a caption nothing has changed, so each gets the result that it would get alone, "
        "if the positions begin anew as well."
    ),
    reference=_mask,
    cases=_cases_of_segments,
    mistakes=(
        (
            "Padding sees itself. A place of padding sees nothing, and nobody sees it.",
            _of(
                lambda other, padding, later: (
                    (other | padding | later) & ~torch.eye(len(later[0, 0]), dtype=torch.bool)
                )
            ),
        ),
        *(
            (
                "You make the mask of the first row alone. Each row of the batch has its own: "
                "(N, 1, T, T).",
                lambda segments, index=index: _mask(segments)[index],
            )
            for index in (0, (0, 0))
        ),
        (
            "Your mask is turned over: in this course True hides.",
            _of(lambda other, padding, later: ~(other | padding | later)),
        ),
        (
            "Padding sees padding, because 0 equals 0. Hide the keys that are padding, too.",
            _of(lambda other, padding, later: other | later),
        ),
        (
            "The future is open: a place sees the tokens that it has to predict.",
            _of(lambda other, padding, later: other | padding),
        ),
        (
            "A place sees the captions before its own. Hide keys of other segments.",
            _of(lambda other, padding, later: padding | later),
        ),
        (
            "A place sees the captions before its own. Hide keys of other segments.",
            lambda segments: (
                (segments[:, None, :, None] < segments[:, None, None, :])
                | _of(lambda other, padding, later: padding | later)(segments)
            ),
        ),
        (
            "The padding, as a query, sees the captions: its segment is not greater than theirs. "
            "Compare with `!=`.",
            lambda segments: (
                (segments[:, None, :, None] > segments[:, None, None, :])
                | _of(lambda other, padding, later: padding | later)(segments)
            ),
        ),
        (
            "A place sees the next one, which it has to predict: `triu(1)`.",
            _of(lambda other, padding, later: other | padding | later & later.roll(1, 3)),
        ),
        (
            "All rows of the batch get the mask of the first.",
            lambda segments: _mask(segments[:1].expand_as(segments)),
        ),
        (
            "Only other captions are hidden. The future of one's own, and padding, must be, too.",
            _of(lambda other, padding, later: other),
        ),
        (
            "Only the future is hidden. Other captions and padding must be, too.",
            _of(lambda other, padding, later: later),
        ),
        (
            "Only padding is hidden. Other captions and the future must be, too.",
            _of(lambda other, padding, later: padding),
        ),
        (
            "A place must see itself: `triu(1)` begins above the diagonal.",
            _of(
                lambda other, padding, later: (
                    other | padding | later | torch.eye(len(later[0, 0]), dtype=torch.bool)
                )
            ),
        ),
        (
            "Queries and keys have changed places: a place sees its future, and not its past.",
            _of(lambda other, padding, later: (other | padding | later).mT),
        ),
        (
            "Queries and keys have changed places: a place sees its future, and not its past.",
            _of(lambda other, padding, later: other | padding | later.mT),
        ),
        (
            "Queries and keys have changed places, and padding sees padding.",
            _of(lambda other, padding, later: other | later.mT),
        ),
        (
            "The masks are joined with `&`, which hides only what all of them hide. Take `|`.",
            _of(lambda other, padding, later: other & padding & later),
        ),
        (
            "The masks are joined with `&`, which hides only what all of them hide. Take `|`.",
            _of(lambda other, padding, later: (other | padding) & later),
        ),
        (
            "The masks are joined with `&`, which hides only what all of them hide. Take `|`.",
            _of(lambda other, padding, later: other & later | padding),
        ),
        (
            "The masks are joined with `&`, which hides only what all of them hide. Take `|`.",
            _of(lambda other, padding, later: other | padding & later),
        ),
        (
            "What is hidden is right, but the dimension for the heads is missing: (N, 1, T, T).",
            lambda segments: _mask(segments)[:, 0],
        ),
        (
            "The mask is made of numbers. It must be boolean, True = hidden.",
            lambda segments: _mask(segments).float(),
        ),
        (
            "The mask is made of numbers. It must be boolean, True = hidden.",
            lambda segments: _mask(segments).long(),
        ),
        (
            "The mask is made of numbers to add to scores. It must be boolean, True = hidden.",
            lambda segments: torch.zeros(_mask(segments).shape).masked_fill(
                _mask(segments), -torch.inf
            ),
        ),
        (
            "The mask is made of numbers to add to scores. It must be boolean, True = hidden.",
            lambda segments: -1e9 * _mask(segments).float(),
        ),
    ),
    wrong={
        """\
def segment_mask(segments):
    T = segments.shape[1]
    other = segments[:, None, :, None] != segments[:, None, None, :]
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    mask = other | later | (segments == 0)[:, None, None, :]
    return mask & ~torch.eye(T, dtype=torch.bool)
""": "Padding sees itself",
        """\
def segment_mask(segments):
    row, T = segments[0], segments.shape[1]
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    return ((row[:, None] != row) | (row == 0) | later)[None]
""": "of the first row alone",
        """\
def segment_mask(segments):
    same = segments[:, None, :, None] == segments[:, None, None, :]
    T = segments.shape[1]
    return same & torch.ones(T, T, dtype=torch.bool).tril() & (segments != 0)[:, None, None]
""": "turned over",
        """\
def segment_mask(segments):
    other = segments[:, None, :, None] != segments[:, None, None, :]
    T = segments.shape[1]
    return other | torch.ones(T, T, dtype=torch.bool).triu(1)
""": "0 equals 0",
        """\
def segment_mask(segments):
    other = segments[:, None, :, None] != segments[:, None, None, :]
    return other | (segments == 0)[:, None, None, :]
""": "The future is open",
        """\
def segment_mask(segments):
    T = segments.shape[1]
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    return later | (segments == 0)[:, None, None, :]
""": "captions before its own",
        """\
def segment_mask(segments):
    return segments[:, None, :, None] != segments[:, None, None, :]
""": "Only other captions",
        """\
def segment_mask(segments):
    T = segments.shape[1]
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    return later.expand(len(segments), 1, T, T)
""": "Only the future",
        """\
def segment_mask(segments):
    T = segments.shape[1]
    other = segments[:, None, :, None] != segments[:, None, None, :]
    later = torch.ones(T, T, dtype=torch.bool).triu()
    return other | later | (segments == 0)[:, None, None, :]
""": "must see itself",
        """\
def segment_mask(segments):
    T = segments.shape[1]
    other = segments[:, None, :, None] != segments[:, None, None, :]
    later = torch.ones(T, T, dtype=torch.bool).tril(-1)
    return other | later | (segments == 0)[:, None, :, None]
""": "changed places",
        """\
def segment_mask(segments):
    T = segments.shape[1]
    other = segments[:, None, :, None] != segments[:, None, None, :]
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    return other & later & (segments == 0)[:, None, None, :]
""": "joined with `&`",
        """\
def segment_mask(segments):
    T = segments.shape[1]
    other = segments[:, :, None] != segments[:, None, :]
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    return other | later | (segments == 0)[:, None, :]
""": "dimension for the heads",
        """\
def segment_mask(segments):
    T = segments.shape[1]
    other = segments[:, None, :, None] != segments[:, None, None, :]
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    return (other | later | (segments == 0)[:, None, None, :]).float() * -1e9
""": "numbers to add to scores",
        """\
def segment_mask(segments):
    return (segments == 0)[:, None, None, :].expand(-1, 1, segments.shape[1], -1)
""": "Only padding is hidden",
    },
    right=(
        """\
def segment_mask(segments):
    N, T = segments.shape
    mask = torch.ones(N, 1, T, T, dtype=torch.bool)
    for n in range(N):
        for t in range(T):
            for s in range(t + 1):
                mask[n, 0, t, s] = segments[n, s] == 0 or segments[n, s] != segments[n, t]
    return mask
""",
        """\
def segment_mask(segments):
    from tutor.attention import causal_mask, padding_mask

    other = segments[..., None] != segments[..., None, :]
    return other[:, None] | padding_mask(segments) | causal_mask(segments.shape[1])
""",
        """\
def segment_mask(segments):
    one_hot = F.one_hot(segments)[..., 1:].float()
    seen = torch.einsum("nts,nus->ntu", one_hot, one_hot).tril() > 0
    return ~seen.unsqueeze(1)
""",
    ),
)
