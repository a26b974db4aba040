"""Alone it translates well."""

import torch
from torch import nn

from tutor.check.exercise import MEND, Exercise
from tutor.exercises.chapter_11.shared import filled, warm_up


def _told_twice(box, source, target, padding):
    return box(
        source,
        target,
        tgt_mask=_future(target),
        src_key_padding_mask=padding,
        memory_key_padding_mask=padding,
    )


def _future(target):
    return torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).triu(1)


def _told(*names, future=True, real=False):
    """The box, told of the padding (or, `real`, of what is no padding) under these names."""

    def run(box, source, target, padding):
        told = dict.fromkeys(names, ~padding if real else padding)
        return box(source, target, tgt_mask=_future(target) if future else None, **told)

    return run


def _one_turned(turned):
    """The padding told twice, and once as what is no padding."""

    def run(box, source, target, padding):
        names = ("src_key_padding_mask", "memory_key_padding_mask")
        told = {name: ~padding if name == turned else padding for name in names}
        return box(source, target, tgt_mask=_future(target), **told)

    return run


def _silenced(box, source, target, padding):
    return _told("src_key_padding_mask")(
        box, source.masked_fill(padding[..., None], 0.0), target, padding
    )


def _cases_of_boxes():
    warm_up()
    for N, S, T, d_model, num_heads in [(1, 2, 2, 4, 2), (1, 3, 2, 4, 2), (2, 4, 3, 6, 2)]:
        box = nn.Transformer(d_model, num_heads, 1, 1, 5, batch_first=True)
        real = torch.randint(1, S, (N, 1))  # tokens of each source; the rest is padding
        source, target = torch.randn(N, S, d_model), torch.randn(N, T, d_model)
        yield filled(box), source, target, torch.arange(S) >= real


padding_of_the_source = Exercise(
    name="padding_of_the_source",
    chapter="11",
    section="What can go wrong",
    kind=MEND,
    title="Alone it translates well",
    goal="Tell PyTorch of the padding wherever it is met.",
    difficulty=3,
    importance=5,
    minutes=10,
    text="""\
A sentence that is translated alone comes out well. In a batch with a longer sentence, the same one
comes out differently: its padding has a say. **Find the mistake and mend it.** The targets of this
batch are all equally long, so they have no padding.""",
    hints=(
        "Where in the box are the tokens of the source attended to? There are two places.",
        "The encoder hides the padding, and still it returns a vector for each padded place. Who "
        "reads these vectors?",
        "Cross-attention has a mask argument of its own, `memory_key_padding_mask`. The decoder "
        "does not inherit that of the encoder.",
    ),
    stub='''\
def padding_of_the_source(box, source, target, padding):
    """An nn.Transformer on a padded batch. It has a mistake: find it and mend it.

    box: nn.Transformer, batch-first, in eval mode
    source: float tensor (N, S, d_model)
    target: float tensor (N, T, d_model)
    padding: bool tensor (N, S), True where the source has padding
    Returns float tensor (N, T, d_model)
    """
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    return box(source, target, tgt_mask=future, src_key_padding_mask=padding)
''',
    solution='''\
def padding_of_the_source(box, source, target, padding):
    """An nn.Transformer on a padded batch.

    box: nn.Transformer, batch-first, in eval mode
    source: float tensor (N, S, d_model)
    target: float tensor (N, T, d_model)
    padding: bool tensor (N, S), True where the source has padding
    Returns float tensor (N, T, d_model)
    """
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    return box(
        source,
        target,
        tgt_mask=future,
        src_key_padding_mask=padding,
        memory_key_padding_mask=padding,
    )
''',
    because="The source is read twice, by the encoder and by cross-attention: tell both.",
    reference=_told_twice,
    cases=_cases_of_boxes,
    mistakes=(
        (
            "As it was: the decoder attends to what the encoder made of padding.",
            _told("src_key_padding_mask"),
        ),
        (
            "Now the decoder knows of the padding, and the encoder no longer does: both must.",
            _told("memory_key_padding_mask"),
        ),
        (
            "Now no padding is hidden anywhere.",
            _told(),
        ),
        (
            "`tgt_key_padding_mask` hides words of the target, which has no padding here; the "
            "decoder still reads what the encoder made of the source's padding.",
            _told("src_key_padding_mask", "tgt_key_padding_mask"),
        ),
        (
            "The source's padding is told twice now, and once too often: `tgt_key_padding_mask` "
            "hides words of the target.",
            _told("src_key_padding_mask", "tgt_key_padding_mask", "memory_key_padding_mask"),
        ),
        (
            "`memory_mask` says for each target word what it may not see, (T, S); padding is "
            "another for each sentence and has an argument of its own.",
            _told("src_key_padding_mask", "memory_mask"),
        ),
        (
            "The padding is hidden now, but the future no longer is: `tgt_mask` was right.",
            _told("src_key_padding_mask", "memory_key_padding_mask", future=False),
        ),
        (
            "Your masks work the wrong way round: for PyTorch's modules True hides.",
            _told("src_key_padding_mask", "memory_key_padding_mask", real=True),
        ),
        *(
            (
                "One of your two masks of padding works the wrong way round: for PyTorch's modules "
                "True hides.",
                _one_turned(name),
            )
            for name in ("src_key_padding_mask", "memory_key_padding_mask")
        ),
        (
            "Zeros in the source do not help: zero is a vector like any other, and after the "
            "encoder it is not even zero. Hide the places from the decoder.",
            _silenced,
        ),
    ),
    wrong={
        """\
def padding_of_the_source(box, source, target, padding):
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    memory = box.encoder(source, src_key_padding_mask=padding)
    return box.decoder(target, memory, tgt_mask=future)
""": "as it was",
        """\
def padding_of_the_source(box, source, target, padding):
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    memory = box.encoder(source)
    return box.decoder(target, memory, tgt_mask=future, memory_key_padding_mask=padding)
""": "encoder no longer does",
        """\
def padding_of_the_source(box, source, target, padding):
    future = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
    return box(source, target, tgt_mask=future)
""": "no padding is hidden",
        """\
def padding_of_the_source(box, source, target, padding):
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    memory = box.encoder(source, src_key_padding_mask=padding)
    return box.decoder(target, memory, tgt_mask=future, tgt_key_padding_mask=padding)
""": "hides words of the target, which has no padding",
        """\
def padding_of_the_source(box, source, target, padding):
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    masks = {f"{name}_key_padding_mask": padding for name in ("src", "tgt", "memory")}
    return box(source, target, tgt_mask=future, **masks)
""": "once too often",
        """\
def padding_of_the_source(box, source, target, padding):
    memory = box.encoder(source, src_key_padding_mask=padding)
    return box.decoder(target, memory, memory_key_padding_mask=padding)
""": "future no longer is",
        """\
def padding_of_the_source(box, source, target, padding):
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    real = padding.logical_not()
    memory = box.encoder(source, src_key_padding_mask=real)
    return box.decoder(target, memory, tgt_mask=future, memory_key_padding_mask=real)
""": "wrong way round",
        """\
def padding_of_the_source(box, source, target, padding):
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    source = source * ~padding[:, :, None]
    return box(source, target, tgt_mask=future, src_key_padding_mask=padding)
""": "zeros in the source",
        """\
def padding_of_the_source(box, source, target, padding):
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    memory = box.encoder(source, src_key_padding_mask=~padding)
    return box.decoder(target, memory, tgt_mask=future, memory_key_padding_mask=padding)
""": "One of your two masks",
        """\
def padding_of_the_source(box, source, target, padding):
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    memory = box.encoder(source, src_key_padding_mask=padding)
    return box.decoder(target, memory, tgt_mask=future, memory_key_padding_mask=~padding)
""": "One of your two masks",
        """\
def padding_of_the_source(box, source, target, padding):
    memory = box.encoder(source, src_key_padding_mask=padding)
    return box.decoder(target, memory, tgt_is_causal=True, memory_key_padding_mask=padding)
""": "Your answer raises RuntimeError: Need attn_mask",
    },
    right=(
        """\
def padding_of_the_source(box, source, target, padding):
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    memory = box.encoder(source, src_key_padding_mask=padding)
    return box.decoder(target, memory, tgt_mask=future, memory_key_padding_mask=padding)
""",
        """\
def padding_of_the_source(box, source, target, padding):
    future = torch.full((target.shape[1],) * 2, float("-inf")).triu(1)
    one_by_one = []
    for n, hidden in enumerate(padding):
        real = source[n : n + 1, ~hidden]  # without padding there is nothing to hide
        one_by_one.append(box(real, target[n : n + 1], tgt_mask=future))
    return torch.cat(one_by_one)
""",
    ),
)
