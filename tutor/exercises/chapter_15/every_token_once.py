"""A text that is longer than the model."""

import torch

from tutor.check.exercise import WRITE, Exercise


def _starts(T, width, stride):
    start = 0
    yield start
    while start + width < T:
        start += stride
        yield start


def _right(nats_of, ids, width, stride):
    parts = []
    for start in _starts(len(ids), width, stride):
        nats = nats_of(ids[start : start + width])
        fresh = len(nats) - (width - stride - 1 if start else 0)
        parts.append(nats[len(nats) - fresh :])
    return torch.cat(parts)


def _pieces(nats_of, ids, width, stride):
    return torch.cat([nats_of(piece) for piece in ids.split(width) if len(piece) > 1])


def _all_of_each(nats_of, ids, width, stride):
    starts = _starts(len(ids), width, stride)
    return torch.cat([nats_of(ids[start : start + width]) for start in starts])


def _overwritten(nats_of, ids, width, stride):
    nats = torch.zeros(len(ids) - 1)
    for start in _starts(len(ids), width, stride):
        piece = nats_of(ids[start : start + width])
        nats[start : start + len(piece)] = piece
    return nats


def _whole_windows_only(nats_of, ids, width, stride):
    parts = [nats_of(ids[:width])]
    for start in range(stride, len(ids) - width + 1, stride):
        parts.append(nats_of(ids[start : start + width])[-stride:])
    return torch.cat(parts)


def _last_window_is_whole(nats_of, ids, width, stride):
    parts = [nats_of(ids[:width])]
    for start in [*_starts(len(ids), width, stride)][1:]:
        fresh = min(stride, len(ids) - (start + width - stride))
        start = min(start, len(ids) - width)
        parts.append(nats_of(ids[start : start + width])[-fresh:])
    return torch.cat(parts)


def _last_counted_twice(nats_of, ids, width, stride):
    parts = [nats_of(ids[:width])]
    for start in [*_starts(len(ids), width, stride)][1:]:
        parts.append(nats_of(ids[start : start + width])[-stride:])
    return torch.cat(parts)


def _one_too_few(nats_of, ids, width, stride):
    """The index in the window is taken for that of its nats."""
    parts = [nats_of(ids[:width])]
    for start in [*_starts(len(ids), width, stride)][1:]:
        parts.append(nats_of(ids[start : start + width])[width - stride :])
    return torch.cat(parts)


def _averaged(nats_of, ids, width, stride):
    nats, times = torch.zeros(2, len(ids) - 1)
    for start in _starts(len(ids), width, stride):
        piece = nats_of(ids[start : start + width])
        nats[start : start + len(piece)] += piece
        times[start : start + len(piece)] += 1
    return nats / times


def _first_window_is_short(nats_of, ids, width, stride):
    """The text in steps of stride from the beginning, each with what fits in before it."""
    parts = [nats_of(ids[:stride])]
    for start in range(stride, len(ids), stride):
        end = min(start + stride, len(ids))
        piece = nats_of(ids[max(0, start + stride - width) : end])
        parts.append(piece[len(piece) - (end - start) :])
    return torch.cat(parts)


def _with_stride(stride_of):
    return lambda nats_of, ids, width, stride: _right(nats_of, ids, width, stride_of(width, stride))


def _made_of(result):
    return lambda *given: result(_right(*given))


def _model_of_width(width):
    """Nats that depend on each token before, and on how far away it is."""

    def nats_of(ids):
        if len(ids) > width:
            raise ValueError(f"{len(ids)} tokens are too many for this model: it reads {width}.")
        at = torch.arange(len(ids))
        weights = (1 / (1.7 + at[:, None] - at)).tril(-1)  # (n, n)
        return 1 + ids[1:] / 10 + (weights @ ids.float())[1:]

    return nats_of


def _cases_of_texts():
    for T, width, stride in [(5, 4, 2), (3, 4, 2), (4, 4, 1), (8, 4, 2), (11, 5, 3), (14, 6, 2)]:
        yield _model_of_width(width), torch.randint(4, 20, (T,)), width, stride


every_token_once = Exercise(
    name="every_token_once",
    chapter="15",
    section="The decoder without a source",
    kind=WRITE,
    title="A text longer than the model",
    goal="Measure a model on a text for which it has too few positions.",
    difficulty=4,
    importance=4,
    minutes=11,
    text="""\
A model reads `width` tokens at most, and a book has more. Cut into pieces, each piece would begin
without knowing what came before, which costs nats. So one lets the pieces overlap. The first window
is `ids[:width]`. Each further one begins `stride` tokens later, until one reaches the end of the
text; the last one may be shorter than `width`. Every token counts **once**: in the first window
that holds it, where it has the most tokens before it.

`nats_of(piece)` is the model: for a piece of $n$ ids it returns $n - 1$ numbers, the nats of
`piece[1:]`, each from what stands before it *in the piece*. It raises ValueError if $n$ is larger
than `width`. Return the nats of `ids[1:]`. There are 2 ids or more, and 1 ≤ `stride` < `width`.""",
    hints=(
        "Let T = 5, `width` = 4, `stride` = 2. Which tokens are in the first window, which in the "
        "second, and which of those are new?",
        "A whole window after the first has `stride` new tokens, and they are its last ones. The "
        "last window may have fewer: those from the end of the window before.",
        "Keep `done`, the number of tokens that are counted (first `min(width, T)`). While "
        "`done < T`: move on, take `nats_of(ids[start : start + width])`, and of it the last "
        "`min(start + width, T) - done`.",
    ),
    stub='''\
def every_token_once(nats_of, ids, width, stride):
    """The nats of a text that is read in overlapping windows.

    nats_of: the model, a function: int tensor (n,) -> float tensor (n - 1,), n at most width
    ids: int tensor (T,)
    Returns float tensor (T - 1,)
    """
    raise NotImplementedError
''',
    solution='''\
def every_token_once(nats_of, ids, width, stride):
    """The nats of a text that is read in overlapping windows.

    nats_of: the model, a function: int tensor (n,) -> float tensor (n - 1,), n at most width
    ids: int tensor (T,)
    Returns float tensor (T - 1,)
    """
    parts, start, done = [nats_of(ids[:width])], 0, width
    while done < len(ids):
        start += stride
        end = min(start + width, len(ids))
        parts.append(nats_of(ids[start:end])[-(end - done) :])
        done = end
    return torch.cat(parts)
''',
    because="Every counted token but the first few has at least width - stride tokens before it; a "
    "small stride gives more context and costs more windows.",
    reference=_right,
    cases=_cases_of_texts,
    mistakes=(
        (
            "The pieces do not overlap: the first token of each is counted by nobody, and those "
            "after it know nothing of what came before.",
            _pieces,
        ),
        (
            "All tokens of every window are counted, so those where two windows overlap count "
            "twice.",
            _all_of_each,
        ),
        (
            "Where two windows overlap, the later one decides here: there the token has less "
            "before it. The first window that holds it counts.",
            _overwritten,
        ),
        (
            "The end of the text is missing: the last window may be shorter than width.",
            _whole_windows_only,
        ),
        (
            "The last window is moved back until it is whole. It begins stride after the one "
            "before it, like the others, and is shorter.",
            _last_window_is_whole,
        ),
        (
            "The last window has fewer than stride new tokens where it is shorter; you count some "
            "of its tokens again.",
            _last_counted_twice,
        ),
        (
            "One token is lost in each window: entry i of the nats belongs to token i + 1 of the "
            "piece.",
            _one_too_few,
        ),
        (
            "You move on by one token each time, whatever stride is, so tokens see more than the "
            "first window gives them.",
            _with_stride(lambda width, stride: 1),
        ),
        (
            "You move on by width - stride: stride is how far the windows move, not how much they "
            "overlap.",
            _with_stride(lambda width, stride: width - stride),
        ),
        (
            "Your windows share a single token: each begins with the last one that was counted. "
            "They move on by stride, so that they share more.",
            _with_stride(lambda width, stride: width - 1),
        ),
        (
            "You average where windows overlap. Each token counts in the first window that holds "
            "it, where it has the most before it.",
            _averaged,
        ),
        (
            "Your windows end at multiples of stride. They begin there: the first is "
            "`ids[:width]`, the next begins with token stride.",
            _first_window_is_short,
        ),
        ("Return the nats of each token, not their sum.", _made_of(torch.sum)),
        ("Return the nats of each token, not their mean.", _made_of(torch.mean)),
        (
            "The whole text goes into the model at once, which reads no more than width tokens.",
            lambda nats_of, ids, width, stride: nats_of(ids),
        ),
        (
            "There is a zero in front: nobody predicts the first token, and T - 1 numbers are "
            "wanted.",
            _made_of(lambda nats: torch.cat([torch.zeros(1), nats])),
        ),
    ),
    wrong={
        """\
def every_token_once(nats_of, ids, width, stride):
    nats, times, start = torch.zeros(len(ids) - 1), torch.zeros(len(ids) - 1), 0
    while True:
        piece = nats_of(ids[start : start + width])
        nats[start : start + len(piece)] += piece
        times[start : start + len(piece)] += 1
        if start + width >= len(ids):
            return nats / times
        start += stride
""": "You average",
        """\
def every_token_once(nats_of, ids, width, stride):
    parts = [nats_of(ids[:stride])]
    for start in range(stride, len(ids), stride):
        new = min(stride, len(ids) - start)
        parts.append(nats_of(ids[max(0, start + stride - width) : start + stride])[-new:])
    return torch.cat(parts)
""": "They begin there",
        """\
def every_token_once(nats_of, ids, width, stride):
    starts = range(0, len(ids) - 1, width - 1)
    return torch.cat([nats_of(ids[start : start + width]) for start in starts])
""": "share a single token",
        """\
def every_token_once(nats_of, ids, width, stride):
    return torch.cat([nats_of(p) for p in ids.split(width) if len(p) > 1])
""": "do not overlap",
        """\
def every_token_once(nats_of, ids, width, stride):
    return nats_of(ids)
""": "at once",
        """\
def every_token_once(nats_of, ids, width, stride):
    parts, start = [nats_of(ids[:width])], 0
    while start + width < len(ids):
        start += stride
        parts.append(nats_of(ids[start : start + width]))
    return torch.cat(parts)
""": "count twice",
        """\
def every_token_once(nats_of, ids, width, stride):
    parts, start = [nats_of(ids[:width])], 0
    while start + width < len(ids):
        start += stride
        parts.append(nats_of(ids[start : start + width])[-stride:])
    return torch.cat(parts)
""": "fewer than stride",
        """\
def every_token_once(nats_of, ids, width, stride):
    parts, start = [nats_of(ids[:width])], 0
    while start + width < len(ids):
        start += stride
        parts.append(nats_of(ids[start : start + width])[width - stride :])
    return torch.cat(parts)
""": "One token is lost",
        """\
def every_token_once(nats_of, ids, width, stride):
    nats, start = torch.empty(len(ids) - 1), 0
    while True:
        piece = nats_of(ids[start : start + width])
        nats[start : start + len(piece)] = piece
        if start + width >= len(ids):
            return nats
        start += stride
""": "the later one decides",
        """\
def every_token_once(nats_of, ids, width, stride):
    parts = [nats_of(ids[:width])]
    for start in range(stride, len(ids) - width + 1, stride):
        parts.append(nats_of(ids[start : start + width])[-stride:])
    return torch.cat(parts)
""": "end of the text is missing",
        """\
def every_token_once(nats_of, ids, width, stride):
    nats = []
    for t in range(1, len(ids)):
        start = max(0, t + 1 - width)
        nats.append(nats_of(ids[start : t + 1])[-1])
    return torch.stack(nats)
""": "by one token each time",
        """\
def every_token_once(nats_of, ids, width, stride):
    parts, start, done = [nats_of(ids[:width])], 0, width
    while done < len(ids):
        start += width - stride
        end = min(start + width, len(ids))
        parts.append(nats_of(ids[start:end])[-(end - done) :])
        done = end
    return torch.cat(parts)
""": "by width - stride",
        """\
def every_token_once(nats_of, ids, width, stride):
    parts, start, done = [nats_of(ids[:width])], 0, width
    while done < len(ids):
        start += stride
        end = min(start + width, len(ids))
        begin = max(0, end - width)
        parts.append(nats_of(ids[begin:end])[-(end - done) :])
        done = end
    return torch.cat(parts)
""": "moved back",
        """\
def every_token_once(nats_of, ids, width, stride):
    parts, start, done = [nats_of(ids[:width])], 0, width
    while done < len(ids):
        start += stride
        end = min(start + width, len(ids))
        parts.append(nats_of(ids[start:end])[-(end - done) :])
        done = end
    return torch.cat(parts).mean()
""": "not their mean",
    },
    right=(
        """\
def every_token_once(nats_of, ids, width, stride):
    nats = []
    for t in range(1, len(ids)):
        window = max(0, math.ceil((t + 1 - width) / stride))  # the first one that holds token t
        start = window * stride
        nats.append(nats_of(ids[start : start + width])[t - 1 - start])
    return torch.stack(nats)
""",
        """\
def every_token_once(nats_of, ids, width, stride):
    nats = torch.full((len(ids) - 1,), torch.nan)
    for start in range(0, len(ids), stride):
        if not nats.isnan().any():
            break
        piece = nats_of(ids[start : start + width])
        place = slice(start, start + len(piece))
        nats[place] = torch.where(nats[place].isnan(), piece, nats[place])
    return nats
""",
    ),
)
