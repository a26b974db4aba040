"""Three rectangles."""

from tutor.attention import PAD
from tutor.check.exercise import WRITE, Exercise
from tutor.text.batches import Batch, pad
from tutor.text.batches import make_batch as shipped
from tutor.text.tokenizer import BOS, EOS


def _plainly(answer, pairs):
    """The three tensors. `[EOS]` before padding does no harm in target_in, so it is left out."""
    batch = answer(pairs)
    if not isinstance(batch, tuple) or len(batch) != 3:
        return batch
    if any(part is ... for part in batch):
        return ...  # not written yet
    source, target_in, target_out = batch
    return source, target_in.masked_fill(target_in == EOS, PAD), target_out


def _batch(source, target_in, target_out):
    """A batch from three functions of a list of ids."""

    def make_batch(pairs):
        return Batch(
            pad([source(ids) for ids, _ in pairs]),
            pad([target_in(ids) for _, ids in pairs]),
            pad([target_out(ids) for _, ids in pairs]),
        )

    return make_batch


def _plain(ids):
    return [*ids]


def _begun(ids):
    return [BOS, *ids]


def _ended(ids):
    return [*ids, EOS]


def _framed(ids):
    return [BOS, *ids, EOS]


def _sides_exchanged(pairs):
    return shipped([(target, source) for source, target in pairs])


_UNSHIFTED = (
    "Nothing is shifted: target_in and target_out have the same token at each place, so a model "
    "that copies what it reads is right."
)

make_batch = Exercise(
    name="make_batch",
    chapter="06",
    section="A batch, drawn",
    kind=WRITE,
    title="Three rectangles",
    goal="Make of pairs of ids what the model reads and what it is asked for.",
    difficulty=2,
    importance=5,
    minutes=5,
    text="""\
Pairs of lists of ids become three padded tensors. The source ends with `EOS`. The decoder reads the
target behind `BOS`; it is asked for the target with `EOS` at the end. In messages, item 0 is
the source, item 1 `target_in`, item 2 `target_out`.""",
    hints=(
        "Make three lists of lists, and give each to `pad`.",
        "A list with a token at its end is `ids + [EOS]`, one with a token in front `[BOS] + ids`.",
        "`pad([source + [EOS] for source, _ in pairs])` is the first of the three.",
    ),
    setup="from tutor.text.batches import Batch, pad\n"
    "from tutor.text.tokenizer import BOS, EOS, PAD\n",
    stub='''\
def make_batch(pairs):
    """pairs: (source ids, target ids), lists of ids without marks."""
    return Batch(
        source=...,
        target_in=...,
        target_out=...,
    )
''',
    solution="""\
def make_batch(pairs):
    return Batch(
        source=pad([source + [EOS] for source, _ in pairs]),
        target_in=pad([[BOS] + target for _, target in pairs]),
        target_out=pad([target + [EOS] for _, target in pairs]),
    )
""",
    because="Each place is asked for the token that follows.",
    reference=shipped,
    call=_plainly,
    cases=lambda: (
        ([([5], [6])],),
        ([([], [])],),
        ([([5, 6, 7], [8])],),
        ([([5, 6, 7], [8]), ([9], [10, 11])],),
        ([([9], []), ([], [4, 5, 6, 7, 8]), ([7, 6], [5, 4])],),
    ),
    mistakes=(
        (_UNSHIFTED, _batch(_ended, _begun, _begun)),
        (_UNSHIFTED, _batch(_ended, _ended, _ended)),
        (_UNSHIFTED, _batch(_ended, _framed, _framed)),
        (_UNSHIFTED, _batch(_ended, _plain, _plain)),
        (
            "target_in and target_out are exchanged: the model reads what comes next and is asked "
            "for what was before.",
            _batch(_ended, _ended, _begun),
        ),
        (
            "The source has no EOS, so the encoder cannot tell where it ends.",
            _batch(_plain, _begun, _ended),
        ),
        (
            "The source needs no BOS: nothing is asked before it.",
            _batch(_framed, _begun, _ended),
        ),
        ("The source ends with EOS; BOS begins a target.", _batch(_begun, _begun, _ended)),
        (
            "BOS is missing in target_in: the first word would never be asked for.",
            _batch(_ended, _plain, _ended),
        ),
        (
            "EOS is missing in target_out: the model would never learn to stop.",
            _batch(_ended, _begun, _plain),
        ),
        (
            "target_in is one column too wide: nothing is asked after EOS.",
            _batch(_ended, _framed, _ended),
        ),
        (
            "BOS is no answer: target_out begins with the first word.",
            _batch(_ended, _begun, _framed),
        ),
        (
            "Source and target are exchanged: this batch translates backwards.",
            _sides_exchanged,
        ),
    ),
    wrong={
        """\
def make_batch(pairs):
    target = pad([[BOS] + target + [EOS] for _, target in pairs])
    return Batch(pad([source + [EOS] for source, _ in pairs]), target, target)
""": "Nothing is shifted",
        """\
def make_batch(pairs):
    target = pad([target + [EOS] for _, target in pairs])
    return Batch(pad([source + [EOS] for source, _ in pairs]), target, target.clone())
""": "Nothing is shifted",
        """\
def make_batch(pairs):
    return Batch(
        source=pad([source + [EOS] for source, _ in pairs]),
        target_in=pad([target + [EOS] for _, target in pairs]),
        target_out=pad([[BOS] + target for _, target in pairs]),
    )
""": "exchanged",
        """\
def make_batch(pairs):
    return Batch(
        source=pad([source for source, _ in pairs]),
        target_in=pad([[BOS] + target for _, target in pairs]),
        target_out=pad([target + [EOS] for _, target in pairs]),
    )
""": "source has no EOS",
        """\
def make_batch(pairs):
    return Batch(
        source=pad([source + [EOS] for source, _ in pairs]),
        target_in=pad([[BOS] + target for _, target in pairs]),
        target_out=pad([target for _, target in pairs]),
    )
""": "never learn to stop",
        """\
def make_batch(pairs):
    return Batch(
        source=pad([source + [EOS] for source, _ in pairs]),
        target_in=pad([target for _, target in pairs]),
        target_out=pad([target + [EOS] for _, target in pairs]),
    )
""": "BOS is missing",
        """\
def make_batch(pairs):
    for source, target in pairs:
        source.append(EOS)
    return Batch(
        source=pad([source for source, _ in pairs]),
        target_in=pad([[BOS] + target for _, target in pairs]),
        target_out=pad([target + [EOS] for _, target in pairs]),
    )
""": "changes its argument",
        """\
def make_batch(pairs):
    return Batch(
        source=torch.tensor([source + [EOS] for source, _ in pairs]),
        target_in=torch.tensor([[BOS] + target for _, target in pairs]),
        target_out=torch.tensor([target + [EOS] for _, target in pairs]),
    )
""": "ValueError",
    },
    right=(
        """\
def make_batch(pairs):
    ids = pad([[BOS] + target + [EOS] for _, target in pairs])
    return Batch(pad([source + [EOS] for source, _ in pairs]), ids[:, :-1], ids[:, 1:])
""",
        """\
def make_batch(pairs):
    sources, targets = zip(*pairs)
    return (
        pad([[*ids, EOS] for ids in sources]),
        pad([[BOS, *ids] for ids in targets]),
        pad([[*ids, EOS] for ids in targets]),
    )
""",
        """\
def make_batch(pairs):
    def rectangle(rows):
        rows = [torch.tensor(row) for row in rows]
        return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)
    return Batch(
        rectangle([source + [EOS] for source, _ in pairs]),
        rectangle([[BOS] + target for _, target in pairs]),
        rectangle([target + [EOS] for _, target in pairs]),
    )
""",
    ),
)
