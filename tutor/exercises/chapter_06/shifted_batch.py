"""A loss of zero after a minute."""

import torch

from tutor.check.exercise import MEND, Exercise
from tutor.text.batches import make_batch, pad
from tutor.text.tokenizer import BOS, EOS, PAD


def _shift(sentences):
    batch = make_batch([([], ids) for ids in sentences])
    return batch.target_in, batch.target_out


def _framed(sentences):
    return pad([[BOS, *ids, EOS] for ids in sentences])


def _shifted(answer, sentences):
    """[EOS] in front of padding does no harm in target_in, so we do not look at it there."""
    result = answer(sentences)
    pair = isinstance(result, list | tuple) and len(result) == 2
    if pair and isinstance(result[0], torch.Tensor):
        target_in, target_out = result
        return target_in.masked_fill(target_in == EOS, PAD), target_out
    return result


def _pad_in_front(sentences):
    longest = max(map(len, sentences)) + 2
    ids = torch.tensor([[PAD] * (longest - len(s) - 2) + [BOS, *s, EOS] for s in sentences])
    return ids[:, :-1], ids[:, 1:]


def _pad_with_end(sentences):
    ids = _framed(sentences)
    ids = ids.masked_fill(ids == PAD, EOS)
    return ids[:, :-1], ids[:, 1:]


def _without_end(sentences):
    ids = pad([[BOS, *ids] for ids in sentences])
    return ids[:, :-1], ids[:, 1:]


shifted_batch = Exercise(
    name="shifted_batch",
    chapter="06",
    section="Batches: making sentences rectangular",
    kind=MEND,
    title="A loss of zero after a minute",
    goal="Shift the target by one, so that the model is asked for what it has not read.",
    difficulty=2,
    importance=5,
    minutes=10,
    text="""\
A colleague's translator reaches a loss near zero within a minute and then cannot write a word. This
function makes the decoder's input and its answers. **Find the mistake and mend it.**

`target_in` is each sentence behind `[BOS]`, `target_out` is each sentence before `[EOS]`. They have
the same width, that of the longest sentence and one mark. (If a shorter row of `target_in` still
has its `[EOS]` in front of the padding, no harm is done, and the check does not mind.)""",
    hints=(
        "Call it with `[[5, 6, 7]]` and write the two rows below each other. Which answer stands "
        "below `[BOS]`?",
        "Below each token of the input must stand the token that follows it: column $t$ of the "
        "answers is column $t + 1$ of the input.",
        "`ids[:, :-1]` is everything but the last column, `ids[:, 1:]` everything but the first. "
        "Or pad two lists: `[BOS] + ids` and `ids + [EOS]`.",
    ),
    setup="from tutor.text.tokenizer import BOS, EOS, PAD\n",
    stub='''\
def shifted_batch(sentences):
    """Input and answers of the decoder. It has a mistake: find it and mend it.

    sentences: list of N lists of ids, without special tokens
    Returns target_in, target_out: int tensors (N, T), padded with PAD
    """
    framed = [[BOS] + ids + [EOS] for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in framed])
    return ids, ids
''',
    solution='''\
def shifted_batch(sentences):
    """Input and answers of the decoder.

    sentences: list of N lists of ids, without special tokens
    Returns target_in, target_out: int tensors (N, T), padded with PAD
    """
    framed = [[BOS] + ids + [EOS] for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in framed])
    return ids[:, :-1], ids[:, 1:]
''',
    because="Each place is asked for the token that follows; a copy of the input is no answer now.",
    reference=_shift,
    call=_shifted,
    cases=lambda: (
        ([[5]],),
        ([[]],),
        ([[5, 6, 7]],),
        ([[5, 6, 7], [8]],),
        ([[9], [], [4, 5, 6, 7, 8]],),
    ),
    forbidden=(make_batch,),
    mistakes=(
        (
            "As it was: a model that repeats what it reads has a loss of 0.",
            lambda sentences: (_framed(sentences), _framed(sentences)),
        ),
        (
            "The marks are right, and still nothing is shifted: both rows have the same token at "
            "each place.",
            lambda sentences: (pad([[BOS, *ids] for ids in sentences]),) * 2,
        ),
        (
            "The marks are right, and still nothing is shifted: both rows have the same token at "
            "each place.",
            lambda sentences: (pad([[*ids, EOS] for ids in sentences]),) * 2,
        ),
        (
            "The two are exchanged: the model reads what comes next and is asked for what was "
            "before.",
            lambda sentences: _shift(sentences)[::-1],
        ),
        (
            "Only the input lost a column, so the answers are one wider and still begin with "
            "[BOS]. Take the first column from them.",
            lambda sentences: (_framed(sentences)[:, :-1], _framed(sentences)),
        ),
        (
            "Only the answers lost a column; the input is one wider. Take its last column away.",
            lambda sentences: (_framed(sentences), _framed(sentences)[:, 1:]),
        ),
        (
            "You cut away sentences, not tokens: the first dimension is the batch. `[:, 1:]` cuts "
            "columns.",
            lambda sentences: (_framed(sentences)[:-1], _framed(sentences)[1:]),
        ),
        (
            "`roll` brings the first token back at the end: [BOS] is an answer now.",
            lambda sentences: (_framed(sentences), _framed(sentences).roll(-1, dims=1)),
        ),
        (
            "One column too many: in the last one nothing is asked but padding.",
            lambda sentences: (
                _framed(sentences),
                pad([[*ids, EOS, PAD] for ids in sentences]),
            ),
        ),
        (
            "The shift is by two: a token is skipped, and the model is never asked for it.",
            lambda sentences: (_framed(sentences)[:, :-2], _framed(sentences)[:, 2:]),
        ),
        (
            "[BOS] is missing, so the first word of a sentence is never asked for.",
            lambda sentences: (_framed(sentences)[:, 1:-1], _framed(sentences)[:, 2:]),
        ),
        (
            "[EOS] is missing from the answers: the model never learns to stop.",
            lambda sentences: (pad([[BOS, *ids[:-1]] for ids in sentences]), pad(sentences)),
        ),
        (
            "The marks are right, and still nothing is shifted: both rows have the same token at "
            "each place.",
            lambda sentences: (_framed(sentences)[:, :-1],) * 2,
        ),
        (
            "The marks are right, and still nothing is shifted: both rows have the same token at "
            "each place.",
            lambda sentences: (_framed(sentences)[:, 1:],) * 2,
        ),
        (
            "The two are exchanged: the model reads what comes next and is asked for what was "
            "before.",
            lambda sentences: (_framed(sentences)[:, 1:], _framed(sentences)[:, :-1]),
        ),
        (
            "[EOS] is missing from the answers: the model never learns to stop.",
            _without_end,
        ),
        (
            "[EOS] is missing from the answers: the model never learns to stop.",
            lambda sentences: (
                pad([[BOS, *ids] for ids in sentences]),
                pad([[*ids, PAD] for ids in sentences]),
            ),
        ),
        ("The padding stands in front. It belongs behind the sentence.", _pad_in_front),
        (
            "Short rows are filled up with [EOS], and the loss would count it. Fill up with [PAD].",
            _pad_with_end,
        ),
    ),
    wrong={
        """\
def shifted_batch(sentences):
    longest = max(len(ids) for ids in sentences) + 2
    target = torch.zeros(len(sentences), longest, dtype=torch.long)
    for n, ids in enumerate(sentences):
        row = torch.tensor([BOS, *ids, EOS])
        target[n, :len(row)] = row
    return target, target.clone()
""": "As it was",
        """\
def shifted_batch(sentences):
    longest = max(map(len, sentences)) + 1
    rows = [[BOS] + ids for ids in sentences]
    target = torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])
    target_in = target.clone()
    target_out = target.clone()
    return target_in, target_out
""": "nothing is shifted",
        """\
def shifted_batch(sentences):
    longest = max(map(len, sentences)) + 1
    target_in = [ids + [EOS] + [PAD] * (longest - len(ids) - 1) for ids in sentences]
    target_out = [[BOS] + ids + [PAD] * (longest - len(ids) - 1) for ids in sentences]
    return torch.tensor(target_in), torch.tensor(target_out)
""": "exchanged",
        """\
def shifted_batch(sentences):
    framed = [[BOS] + ids + [EOS] for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in framed])
    return ids.narrow(1, 0, longest - 1), ids
""": "Only the input lost a column",
        """\
def shifted_batch(sentences):
    framed = [[BOS] + ids + [EOS] for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in framed])
    return ids[:-1], ids[1:]
""": "cut away sentences",
        """\
def shifted_batch(sentences):
    framed = [[BOS] + ids + [EOS] for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in framed])
    return ids, torch.cat([ids[:, 1:], ids[:, :1]], dim=1)
""": "[BOS] is an answer now",
        """\
def shifted_batch(sentences):
    framed = [[BOS] + ids + [EOS] for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in framed])
    return ids, F.pad(ids[:, 1:], (0, 1), value=PAD)
""": "One column too many",
        """\
def shifted_batch(sentences):
    longest = max(map(len, sentences)) + 1
    rows = [ids + [EOS] + [PAD] * (longest - len(ids)) for ids in sentences]
    ids = torch.tensor(rows)
    return ids[:, :-2], ids[:, 1:-1]
""": "[BOS] is missing",
        """\
def shifted_batch(sentences):
    target_in = [[BOS] + ids for ids in sentences]
    target_out = [ids + [EOS] for ids in sentences]
    return torch.tensor(target_in), torch.tensor(target_out)
""": "ValueError",
        """\
def shifted_batch(sentences):
    framed = [[BOS] + ids + [EOS] for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in framed])
    return ids[:, 1:], ids[:, :-1]
""": "exchanged",
        """\
def shifted_batch(sentences):
    framed = [[BOS] + ids + [EOS] for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in framed])
    return ids[:, :-1], ids[:, :-1]
""": "nothing is shifted",
        """\
def shifted_batch(sentences):
    framed = [[BOS] + ids + [EOS] for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([[PAD] * (longest - len(row)) + row for row in framed])
    return ids[:, :-1], ids[:, 1:]
""": "stands in front",
        """\
def shifted_batch(sentences):
    framed = [[BOS] + ids + [EOS] for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([row + [EOS] * (longest - len(row)) for row in framed])
    return ids[:, :-1], ids[:, 1:]
""": "filled up with [EOS]",
        """\
def shifted_batch(sentences):
    framed = [[BOS] + ids for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in framed])
    return ids[:, :-1], ids[:, 1:]
""": "[EOS] is missing",
        """\
def shifted_batch(sentences):
    framed = [[BOS] + ids + [EOS] for ids in sentences]
    longest = max(map(len, framed))
    ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in framed])
    return ids[:, :-1]
""": "a tuple is wanted",
    },
    right=(
        """\
def shifted_batch(sentences):
    longest = max(map(len, sentences)) + 1
    target_in = [[BOS] + ids + [PAD] * (longest - len(ids) - 1) for ids in sentences]
    target_out = [ids + [EOS] + [PAD] * (longest - len(ids) - 1) for ids in sentences]
    return torch.tensor(target_in), torch.tensor(target_out)
""",
        """\
def shifted_batch(sentences):
    T = max(len(ids) for ids in sentences) + 1
    target_in = torch.full((len(sentences), T), PAD)
    target_out = target_in.clone()
    for n, ids in enumerate(sentences):
        target_in[n, 0] = BOS
        for t, i in enumerate(ids):
            target_in[n, t + 1] = i
            target_out[n, t] = i
        target_out[n, len(ids)] = EOS
    return target_in, target_out
""",
        """\
def shifted_batch(sentences):
    rows = [torch.tensor([BOS, *ids, EOS]) for ids in sentences]
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)
    return [ids[:, :-1], ids[:, 1:]]
""",
    ),
)
