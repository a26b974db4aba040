"""Several captions in one row."""

import torch

from tutor.check.exercise import WRITE, Exercise
from tutor.text.tokenizer import EOS, PAD


def _rectangle(rows, width):
    return torch.tensor([row + [PAD] * (width - len(row)) for row in rows])


def _full(room):
    """Rows that are filled as long as `room(row, caption, width)` holds."""

    def rows_of(captions, width):
        rows = []
        for caption in captions:
            if rows and room(rows[-1], caption, width):
                rows[-1].append(caption)
            else:
                rows.append([caption])
        return rows

    return rows_of


def _length(row):
    return sum(map(len, row))


def _first_with_room(captions, width):
    rows = []
    for caption in captions:
        for row in rows:
            if _length(row) + len(caption) <= width:
                row.append(caption)
                break
        else:
            rows.append([caption])
    return rows


def _over_the_edge(captions, width):
    """The ids and the numbers of captions in one stream, cut every `width` tokens."""
    ids = [i for caption in captions for i in caption]
    numbers = [n for n, caption in enumerate(captions, 1) for _ in caption]
    cuts = range(0, len(ids), width)
    return tuple(_rectangle([x[c : c + width] for c in cuts], width) for x in (ids, numbers))


def _over_the_edge_numbered(captions, width):
    """Each row is filled to its end, also by a part of a caption; the segments begin with 1."""
    rows, segments = [], []
    for caption in captions:
        number = segments[-1][-1] + 1 if rows and len(rows[-1]) < width else 1
        while caption:
            if not rows or len(rows[-1]) == width:
                rows.append([])
                segments.append([])
                number = 1
            part = caption[: width - len(rows[-1])]
            rows[-1] += part
            segments[-1] += [number] * len(part)
            caption = caption[len(part) :]
    return _rectangle(rows, width), _rectangle(segments, width)


def _a_row_for_each(captions, width):
    """Packed, and as many rows as captions: those behind are empty."""
    return tuple(
        torch.cat([x, x.new_zeros(len(captions) - len(x), width)]) for x in _pack()(captions, width)
    )


_RIGHT = _full(lambda row, caption, width: _length(row) + len(caption) <= width)


def _number_in_row(row):
    return range(1, len(row) + 1)


def _pack(rows_of=_RIGHT, number=_number_in_row, padding=0, pad=PAD):
    """`number(row)` gives the segments of a row's captions."""

    def pack(captions, width):
        rows = rows_of(captions, width)
        widest = max(width, *map(_length, rows))
        ids, segments = [], []
        for row in rows:
            joined = [i for caption in row for i in caption]
            marks = [n for n, caption in zip(number(row), row, strict=True) for _ in caption]
            rest = widest - len(joined)
            ids.append(joined + [pad] * rest)
            segments.append(marks + [marks[-1] if padding is None else padding] * rest)
        return torch.tensor(ids), torch.tensor(segments)

    return pack


def _through_all(captions, width):
    """The numbers of the segments go on from row to row."""
    ids, segments = _pack()(captions, width)
    offset = 0
    for row in segments:
        most = int(row.max())
        row[row > 0] += offset
        offset += most
    return ids, segments


def _places(captions, width):
    ids, segments = _pack()(captions, width)
    places = torch.zeros_like(segments)
    for row, numbered in zip(segments, places, strict=True):
        for s in range(1, int(row.max()) + 1):
            numbered[row == s] = torch.arange(1, int((row == s).sum()) + 1)
    return ids, places


def _padding_in_front(captions, width):
    ids, segments = _pack()(captions, width)
    order = (segments > 0).int().argsort(stable=True)
    return ids.gather(1, order), segments.gather(1, order)


def _rows_numbered(captions, width):
    ids, segments = _pack()(captions, width)
    return ids, (segments > 0) * torch.arange(1, len(ids) + 1)[:, None]


def _no_padding(captions, width):
    """Raises what `torch.tensor` does, unless all rows are equally long."""
    rows = _RIGHT(captions, width)
    ids = [[i for caption in row for i in caption] for row in rows]
    segments = [[n for n, caption in enumerate(row, 1) for _ in caption] for row in rows]
    return torch.tensor(ids), torch.tensor(segments)


def _with_marks(captions, width):
    """Each caption followed by EOS, which is not counted when the row is filled."""
    rows = _RIGHT(captions, width)
    return _pack(lambda *_: [[caption + [EOS] for caption in row] for row in rows])(None, width)


def _narrow(captions, width):
    ids, segments = _pack()(captions, width)
    longest = int((segments > 0).sum(1).max())
    return ids[:, :longest], segments[:, :longest]


def _loses_the_last(captions, width):
    ids, segments = _pack()(captions, width)
    return tuple(torch.tensor(x.tolist()[:-1]) for x in (ids, segments))


def _cases_of_captions():
    def captions(*lengths):
        return [torch.randint(4, 99, (n,)).tolist() for n in lengths]

    yield captions(2, 1), 4
    yield captions(2, 2, 3), 5
    yield captions(3, 3, 1, 2, 1), 4
    yield captions(4, 2, 3, 1, 1, 1, 4), 6
    yield captions(5, 5, 5), 5
    yield captions(1), 3


pack_captions = Exercise(
    name="pack_captions",
    chapter="06",
    section="Padding is waste",
    kind=WRITE,
    title="Several captions in one row",
    goal="Pack short texts into rows of one width, and keep note of which token belongs to which.",
    difficulty=3,
    importance=4,
    minutes=10,
    text="""\
Language models waste even less than buckets do: they **pack** several texts into one row. Fill rows
of `width` places, in the order of the captions. A caption goes into the newest row if all of it
fits there, otherwise it begins a new row. The rest of a row is `PAD`.

Nothing may be confused later, so each place also gets a **segment**: 1 for the first caption *of
its row*, 2 for the second, and so on, and 0 for padding. There is at least one caption; none is
empty or longer than `width`.""",
    hints=(
        "Keep a list of rows of ids and a list of rows of segments, and let both grow together. "
        "When does a caption begin a new row?",
        "It fits if `len(rows[-1]) + len(caption) <= width`. Its segment is one more than the "
        "last one of the row, `segments[-1][-1] + 1`, or 1 in a new row.",
        "`rows[-1] += caption` and `segments[-1] += [number] * len(caption)`. In the end fill "
        "both up with zeros (`PAD` is 0), `row + [0] * (width - len(row))`, and make tensors.",
    ),
    setup="from tutor.text.tokenizer import PAD\n",
    stub='''\
def pack_captions(captions, width):
    """Pack captions into rows.

    captions: list of lists of ids
    width: int, the places of a row
    Returns two int tensors (rows, width): the ids, and the segments
    """
    raise NotImplementedError
''',
    solution='''\
def pack_captions(captions, width):
    """Pack captions into rows.

    captions: list of lists of ids
    width: int, the places of a row
    Returns two int tensors (rows, width): the ids, and the segments
    """
    rows, segments = [], []
    for caption in captions:
        if not rows or len(rows[-1]) + len(caption) > width:
            rows.append([])
            segments.append([])
        number = segments[-1][-1] + 1 if segments[-1] else 1
        rows[-1] += caption
        segments[-1] += [number] * len(caption)
    return tuple(
        torch.tensor([row + [PAD] * (width - len(row)) for row in each])
        for each in (rows, segments)
    )
''',
    because="Packed rows are nearly full, whatever the lengths; the segments keep texts apart.",
    reference=_pack(),
    cases=_cases_of_captions,
    mistakes=(
        (
            "A row may be full to the last place: `<=`, not `<`.",
            _pack(_full(lambda row, caption, width: _length(row) + len(caption) < width)),
        ),
        (
            "You look at the row without the new caption, and it grows beyond `width`.",
            _pack(_full(lambda row, caption, width: _length(row) < width)),
        ),
        (
            "Each caption has a row of its own: nothing is packed.",
            _pack(_full(lambda row, caption, width: False)),
        ),
        (
            "All captions are in one row. When one does not fit, a new row begins.",
            _pack(_full(lambda row, caption, width: True)),
        ),
        (
            "You put a caption into the first row with room. Only the newest row is filled, so "
            "that the order stays.",
            _pack(_first_with_room),
        ),
        (
            "You sort the captions by length. Keep their order.",
            _pack(lambda captions, width: _RIGHT(sorted(captions, key=len), width)),
        ),
        (
            "You sort the captions by length. Keep their order.",
            _pack(lambda captions, width: _RIGHT(sorted(captions, key=len, reverse=True), width)),
        ),
        (
            "The two results have changed places: first the ids, then the segments.",
            lambda captions, width: _pack()(captions, width)[::-1],
        ),
        (
            "The padding stands in front. It fills the end of a row.",
            _padding_in_front,
        ),
        (
            "The ids are right. But you number the rows; a segment is the number of a caption in "
            "its row.",
            _rows_numbered,
        ),
        ("The rows are not filled up: each needs PAD up to `width`.", _no_padding),
        ("Add no marks: the captions come with all that they need.", _with_marks),
        (
            "Add no marks: the captions come with all that they need.",
            lambda captions, width: _pack()([caption + [EOS] for caption in captions], width),
        ),
        (
            "A caption is cut at the end of a row and goes on in the next. It stays whole.",
            _over_the_edge,
        ),
        (
            "A caption is cut at the end of a row and goes on in the next. It stays whole.",
            _over_the_edge_numbered,
        ),
        (
            "Empty rows follow the packed ones. Return only rows that hold a caption.",
            _a_row_for_each,
        ),
        (
            "The ids are right, but the segments are one too small: the first caption has 1, and "
            "padding 0.",
            _pack(number=lambda row: range(len(row)), padding=-1),
        ),
        (
            "The ids are right, but the segments count through all rows; they begin with 1 in "
            "each row.",
            _through_all,
        ),
        (
            "The ids are right, but the segments begin with 0, which is that of padding.",
            _pack(number=lambda row: range(len(row))),
        ),
        (
            "The ids are right, but padding has the segment of the caption before it; it has 0.",
            _pack(padding=None),
        ),
        (
            "The ids are right, but padding has a segment of its own, -1; it has 0.",
            _pack(padding=-1),
        ),
        (
            "The ids are right, but all tokens have segment 1: you mark what is real, and not "
            "which caption it is from.",
            _pack(number=lambda row: [1] * len(row)),
        ),
        (
            "The ids are right. But you number the tokens within their captions; a segment is the "
            "number of a caption in its row.",
            _places,
        ),
        (
            "The rows are only as wide as the fullest; all have `width` places.",
            _narrow,
        ),
        (
            "The last row is missing: it is not full, but it counts.",
            _loses_the_last,
        ),
    ),
    wrong={
        """\
def pack_captions(captions, width):
    rows, segments = [[]], [[]]
    for caption in captions:
        number = segments[-1][-1] + 1 if segments[-1] else 1
        for i in caption:
            if len(rows[-1]) == width:
                rows.append([])
                segments.append([])
                number = 1
            rows[-1].append(i)
            segments[-1].append(number)
    return tuple(torch.tensor([r + [0] * (width - len(r)) for r in x]) for x in (rows, segments))
""": "It stays whole",
        """\
def pack_captions(captions, width):
    ids = torch.zeros(len(captions), width, dtype=torch.long)
    segments = torch.zeros_like(ids)
    row = start = number = 0
    for caption in captions:
        if start + len(caption) > width:
            row, start, number = row + 1, 0, 0
        number += 1
        ids[row, start : start + len(caption)] = torch.tensor(caption)
        segments[row, start : start + len(caption)] = number
        start += len(caption)
    return ids, segments
""": "Empty rows follow",
        """\
def pack_captions(captions, width):
    rows, segments = [], []
    for caption in captions:
        if rows and len(rows[-1]) + len(caption) <= width:
            segments[-1] += [segments[-1][-1] + 1] * len(caption)
            rows[-1] += caption
        else:
            rows.append([*caption])
            segments.append([0] * len(caption))
    ids = torch.tensor([r + [PAD] * (width - len(r)) for r in rows])
    return ids, torch.tensor([s + [-1] * (width - len(s)) for s in segments])
""": "one too small",
        """\
def pack_captions(captions, width):
    rows, segments = [[]], [[]]
    for caption in captions:
        if len(rows[-1]) + len(caption) >= width:
            rows.append([])
            segments.append([])
        number = segments[-1][-1] + 1 if segments[-1] else 1
        rows[-1] += caption
        segments[-1] += [number] * len(caption)
    rows, segments = [[x for x in each if x] for each in (rows, segments)]
    return tuple(torch.tensor([r + [0] * (width - len(r)) for r in x]) for x in (rows, segments))
""": "not `<`",
        """\
def pack_captions(captions, width):
    rows, segments, number = [[]], [[]], 0
    for caption in captions:
        number += 1
        if len(rows[-1]) + len(caption) > width:
            rows.append([])
            segments.append([])
        rows[-1] += caption
        segments[-1] += [number] * len(caption)
    return tuple(torch.tensor([r + [0] * (width - len(r)) for r in x]) for x in (rows, segments))
""": "count through all rows",
        """\
def pack_captions(captions, width):
    ids = torch.zeros(len(captions), width, dtype=torch.long)
    for n, caption in enumerate(captions):
        ids[n, : len(caption)] = torch.tensor(caption)
    return ids, (ids != PAD).long()
""": "nothing is packed",
        """\
def pack_captions(captions, width):
    rows, segments = [], []
    for caption in captions:
        for row, marks in zip(rows, segments):
            if len(row) + len(caption) <= width:
                row += caption
                marks += [marks[-1] + 1] * len(caption)
                break
        else:
            rows.append([*caption])
            segments.append([1] * len(caption))
    return tuple(torch.tensor([r + [0] * (width - len(r)) for r in x]) for x in (rows, segments))
""": "first row with room",
        """\
def pack_captions(captions, width):
    ids = [i for caption in captions for i in caption]
    marks = [n + 1 for n, caption in enumerate(captions) for _ in caption]
    rest = [0] * (-len(ids) % width)
    return tuple(torch.tensor(x + rest).view(-1, width) for x in (ids, marks))
""": "It stays whole",
        """\
def pack_captions(captions, width):
    rows, segments = [], []
    for caption in captions:
        if rows and len(rows[-1]) + len(caption) <= width:
            segments[-1] += [segments[-1][-1] + 1] * len(caption)
            rows[-1] += caption
        else:
            rows.append([*caption])
            segments.append([0] * len(caption))
    return tuple(torch.tensor([r + [0] * (width - len(r)) for r in x]) for x in (rows, segments))
""": "begin with 0",
        """\
def pack_captions(captions, width):
    rows, segments = [], []
    for caption in captions:
        if rows and len(rows[-1]) + len(caption) <= width:
            segments[-1] += [segments[-1][-1] + 1] * len(caption)
            rows[-1] += caption
        else:
            rows.append([*caption])
            segments.append([1] * len(caption))
    ids = torch.tensor([r + [PAD] * (width - len(r)) for r in rows])
    return ids, torch.tensor([s + [s[-1]] * (width - len(s)) for s in segments])
""": "caption before it",
        """\
def pack_captions(captions, width):
    rows = []
    for caption in captions:
        if rows and len(rows[-1]) + len(caption) <= width:
            rows[-1] += caption
        else:
            rows.append([*caption])
    ids = torch.tensor([r + [PAD] * (width - len(r)) for r in rows])
    return ids, (ids != PAD).int()
""": "what is real",
        """\
def pack_captions(captions, width):
    rows, segments = [], []
    for caption in captions:
        if rows and len(rows[-1]) + len(caption) <= width:
            rows[-1] += caption
        else:
            rows.append([*caption])
            segments.append([])
        segments[-1] += range(1, len(caption) + 1)
    return tuple(torch.tensor([r + [0] * (width - len(r)) for r in x]) for x in (rows, segments))
""": "within their captions",
        """\
def pack_captions(captions, width):
    rows, segments = [], []
    for caption in captions:
        if rows and len(rows[-1]) + len(caption) <= width:
            segments[-1] += [segments[-1][-1] + 1] * len(caption)
            rows[-1] += caption
        else:
            rows.append([*caption])
            segments.append([1] * len(caption))
    widest = max(map(len, rows))
    return tuple(torch.tensor([r + [0] * (widest - len(r)) for r in x]) for x in (rows, segments))
""": "as wide as the fullest",
        """\
def pack_captions(captions, width):
    done, row, marks, number = [], [], [], 1
    for caption in captions:
        if len(row) + len(caption) > width:
            rest = [0] * (width - len(row))
            done.append((row + rest, marks + rest))
            row, marks, number = [], [], 1
        row, marks = row + caption, marks + [number] * len(caption)
        number += 1
    return torch.tensor([r for r, _ in done]), torch.tensor([m for _, m in done])
""": "last row is missing",
        """\
def pack_captions(captions, width):
    ids, marks = [], []
    for n, caption in enumerate(captions):
        ids, marks = ids + caption, marks + [n + 1] * len(caption)
    rest = [0] * (width - len(ids))
    return torch.tensor([ids + rest]), torch.tensor([marks + rest])
""": "All captions are in one row",
        """\
def pack_captions(captions, width):
    rows, segments = [], []
    for caption in captions:
        if rows and len(rows[-1]) <= width - len(caption):
            segments[-1] += [segments[-1][-1] + 1] * len(caption)
            rows[-1] += caption
        else:
            rows.append(caption)
            segments.append([1] * len(caption))
    return tuple(torch.tensor([r + [0] * (width - len(r)) for r in x]) for x in (rows, segments))
""": "changes its argument",
    },
    right=(
        """\
def pack_captions(captions, width):
    ids = torch.zeros(len(captions), width, dtype=torch.long)
    segments = torch.zeros_like(ids)
    row = start = number = 0
    for caption in captions:
        if start + len(caption) > width:
            row, start, number = row + 1, 0, 0
        number += 1
        ids[row, start : start + len(caption)] = torch.tensor(caption)
        segments[row, start : start + len(caption)] = number
        start += len(caption)
    return ids[: row + 1], segments[: row + 1]
""",
        """\
def pack_captions(captions, width):
    groups = [[]]
    for caption in captions:
        if sum(map(len, groups[-1])) + len(caption) > width:
            groups.append([])
        groups[-1].append(caption)

    def rectangle(mark):
        rows = [[x for n, c in enumerate(g, 1) for x in mark(n, c)] for g in groups]
        return torch.tensor([row + [PAD] * (width - len(row)) for row in rows], dtype=torch.int32)

    return [rectangle(lambda n, c: c), rectangle(lambda n, c: [n] * len(c))]
""",
    ),
)
