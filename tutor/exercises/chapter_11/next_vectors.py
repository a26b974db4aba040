"""Three slips in four lines."""

import itertools

import torch
from torch import nn

from tutor.check.exercise import MEND, Exercise
from tutor.exercises.chapter_11.shared import filled, warm_up


def _nothing(T):
    return None


def _added(T):
    return torch.ones(T, T).tril()


def _future(T):
    return torch.ones(T, T, dtype=torch.bool).triu(1)


def _last_of_row(Y, padding):
    return Y[:, -1]


def _last_token(Y, padding):
    return Y[torch.arange(len(Y)), (~padding).sum(dim=1) - 1]


def _shifted(by):
    def row(Y, padding):
        at = (~padding).sum(dim=1) - 1 + by
        return Y[torch.arange(len(Y)), at % Y.shape[1]]

    return row


def _one_behind(Y, padding):
    """Raises as a row of full length does."""
    return Y[torch.arange(len(Y)), (~padding).sum(dim=1)]


def _mean(Y, padding):
    real = ~padding[..., None]  # (N, T, 1)
    return (Y * real).sum(dim=1) / real.sum(dim=1)


def _run(future=_future, names=("src", "memory"), row=_last_token, turned=False, **also):
    """The box with this mask, told of the source's padding under these names, and read here.

    also: more arguments of the box; True stands for the padding of the target.
    """

    def answer(box, source, target, source_padding, target_padding):
        told = {f"{name}_key_padding_mask": source_padding ^ turned for name in names}
        told |= {
            name: target_padding if "padding" in name else value for name, value in also.items()
        }
        Y = box(source, target, tgt_mask=future(target.shape[1]), **told)  # (N, T, d_model)
        return row(Y, target_padding)

    return answer


# what is left of the three: each is a change to a right answer, and what is said of it
_LEFT = (
    (
        {"future": _added},
        "a mask of numbers is added to the scores. Its ones prefer what may be seen, and its zeros "
        "hide nothing: a boolean mask hides where it is True.",
    ),
    (
        {"names": ("src",)},
        "cross-attention still reads what the encoder made of padding: it has a mask of its own.",
    ),
    (
        {"row": _last_of_row},
        "the last row of a short target belongs to padding: read the row of its last token.",
    ),
)


_TRIANGLES = (
    (
        "The causal mask is turned over: True hides, so True belongs above the diagonal.",
        lambda T: torch.ones(T, T, dtype=torch.bool).tril(-1),
    ),
    (
        "The causal mask is turned over: True hides, so True belongs above the diagonal, and only "
        "there.",
        lambda T: torch.ones(T, T, dtype=torch.bool).tril(),
    ),
    (
        "The causal mask hides each token from itself as well: begin above the diagonal.",
        lambda T: torch.ones(T, T, dtype=torch.bool).triu(),
    ),
)


_OPEN = (
    (
        "No mask hides the future of the target: its rows read what stands behind them, and the "
        "padding, too.",
        _nothing,
    ),
    (
        "A mask of numbers is added to the scores: 1 in the future even prefers it. Minus "
        "infinity or True hides.",
        lambda T: torch.ones(T, T).triu(1),
    ),
)


def _what_is_left():
    words = {1: "Two of three are mended. But", 2: "Two of three are left. One is this:"}
    for many in (1, 2):
        for left in itertools.combinations(_LEFT, many):
            changes = {key: value for change, _ in left for key, value in change.items()}
            yield f"{words[many]} {left[0][1]}", _run(**changes)
            yield f"{words[many]} {left[0][1]}", _run(**changes, tgt_key_padding_mask=True)


def _cases_of_batches():
    warm_up()
    for N, S, T, d_model, num_heads in [(1, 4, 3, 4, 2), (2, 4, 3, 4, 2), (3, 4, 5, 8, 4)]:
        box = nn.Transformer(d_model, num_heads, 1, 2, 5, batch_first=True)
        words, tokens = torch.randint(1, S, (N, 1)), torch.randint(1, T, (N, 1))
        if N > 1:
            tokens[0] = T  # the batch is as long as its longest target
        source, target = torch.randn(N, S, d_model), torch.randn(N, T, d_model)
        yield filled(box), source, target, torch.arange(S) >= words, torch.arange(T) >= tokens


next_vectors = Exercise(
    name="next_vectors",
    chapter="11",
    section="What can go wrong",
    kind=MEND,
    title="Three slips in four lines",
    goal="Tell PyTorch's Transformer what is hidden, and read the right row.",
    difficulty=4,
    importance=5,
    minutes=14,
    text="""\
From a batch of beginnings, this function takes the vectors from which the next tokens will be
predicted: for each target the row of its **last token**. What it returns looks plausible. Yet it
makes **three mistakes**, and none raises an error. **Find them and mend them.** Sources and targets
are padded on the right, and each has at least one token.""",
    hints=(
        "Go through the three arguments of attention: what may the target see of itself, what of "
        "the source, and which row is returned?",
        "The kind of a mask counts: numbers are added to scores, True hides. And the padding of "
        "the source is met twice, in the encoder and in cross-attention.",
        "`torch.ones(T, T, dtype=torch.bool).triu(1)` hides the future; "
        "`memory_key_padding_mask` is the second mask; the last token of target n stands at "
        "`(~target_padding[n]).sum() - 1`.",
    ),
    stub='''\
def next_vectors(box, source, target, source_padding, target_padding):
    """The row of each target's last token. It has three mistakes: find them and mend them.

    box: nn.Transformer, batch-first, in eval mode
    source, target: float tensors (N, S, d_model), (N, T, d_model)
    source_padding, target_padding: bool tensors (N, S), (N, T), True where padding is
    Returns float tensor (N, d_model)
    """
    T = target.shape[1]
    may_see = torch.ones(T, T).tril()
    Y = box(source, target, tgt_mask=may_see, src_key_padding_mask=source_padding)
    return Y[:, -1]
''',
    solution='''\
def next_vectors(box, source, target, source_padding, target_padding):
    """The row of each target's last token.

    box: nn.Transformer, batch-first, in eval mode
    source, target: float tensors (N, S, d_model), (N, T, d_model)
    source_padding, target_padding: bool tensors (N, S), (N, T), True where padding is
    Returns float tensor (N, d_model)
    """
    T = target.shape[1]
    hidden = torch.ones(T, T, dtype=torch.bool).triu(1)
    Y = box(
        source,
        target,
        tgt_mask=hidden,
        src_key_padding_mask=source_padding,
        memory_key_padding_mask=source_padding,
    )
    last = (~target_padding).sum(dim=1) - 1  # (N,)
    return Y[torch.arange(len(Y)), last]
''',
    because="The target's own padding needs no mask here: it comes later, and is hidden as future.",
    reference=_run(),
    cases=_cases_of_batches,
    mistakes=(
        (
            "As it was: all three mistakes are still there.",
            _run(_added, ("src",), _last_of_row),
        ),
        (
            "All three mistakes are still there. What you hide is the padding of the target, which "
            "stands behind the last token.",
            _run(_added, ("src",), _last_of_row, tgt_key_padding_mask=True),
        ),
        *_what_is_left(),
        *(
            (message, _run(future, names, row, **also))
            for also in ({}, {"tgt_key_padding_mask": True})
            for message, future in _TRIANGLES
            for names in (("src", "memory"), ("src",))
            for row in (_last_token, _last_of_row)
        ),
        *(
            (message, _run(future, names, row, **also))
            for message, future in _OPEN
            for names in (("src", "memory"), ("src",))
            for row in (_last_token, _last_of_row)
            for also in ({}, {"tgt_key_padding_mask": True})
        ),
        (
            "`is_causal` is a hint, and the hint needs the mask that it hints at: pass both, or "
            "the mask alone.",
            _run(_nothing, tgt_is_causal=True),
        ),
        (
            "Cross-attention reads the source, so its mask has as many columns as the source: it "
            "wants `source_padding`.",
            _run(names=("src",), memory_key_padding_mask=True),
        ),
        (
            "Cross-attention hides the padding of the source, and the encoder does not any more.",
            _run(names=("memory",)),
        ),
        (
            "The padding of the source is not hidden anywhere any more.",
            _run(names=()),
        ),
        (
            "The source's masks are turned over: in this module True hides, as `source_padding` "
            "has it.",
            _run(turned=True),
        ),
        (
            "You read the row in front of the last token: n tokens end at place n - 1.",
            _run(row=_shifted(-1)),
        ),
        (
            "You read the row behind the last token: n tokens end at place n - 1.",
            _run(row=_shifted(1)),
        ),
        (
            "You read the row behind the last token, which a target of full length does not have: "
            "n tokens end at place n - 1.",
            _run(row=_one_behind),
        ),
        (
            "You set the rows of padding to zero and read them all the same: the last row of a "
            "short target is not that of its last token.",
            _run(row=lambda Y, padding: Y.masked_fill(padding[..., None], 0.0)[:, -1]),
        ),
        (
            "You count the padding: `target_padding` is True where no token is. Count the others.",
            _run(row=lambda Y, padding: Y[torch.arange(len(Y)), padding.sum(dim=1) - 1]),
        ),
        (
            "You take the last tokens' places of all targets from each target. One row of each is "
            "wanted: index with the numbers of the sentences as well.",
            _run(row=lambda Y, padding: Y[:, (~padding).sum(dim=1) - 1]),
        ),
        *(
            (
                "`src_mask` and `memory_mask` are for pairs of places. What is padding is told by "
                "the masks whose names have `key_padding` in them.",
                lambda box, source, target, source_padding, target_padding, told=told: box(
                    source, target, **{told: source_padding}
                ),
            )
            for told in ("src_mask", "memory_mask")
        ),
        (
            "You read the mean of a target's rows. The next token is predicted from the row of the "
            "last one.",
            _run(row=_mean),
        ),
        (
            "You read the first row of each target; the last token's row is wanted.",
            _run(row=lambda Y, padding: Y[:, 0]),
        ),
        (
            "You return all rows. Of each target, the row of the last token is wanted.",
            _run(row=lambda Y, padding: Y),
        ),
    ),
    wrong={
        """\
def next_vectors(box, source, target, source_padding, target_padding):
    T = target.shape[1]
    Y = box(source, target, tgt_mask=torch.ones(T, T).triu(1),
            src_key_padding_mask=source_padding)
    return Y[:, -1]
""": "1 in the future even prefers it",
        """\
def next_vectors(box, source, target, source_padding, target_padding):
    T = target.shape[1]
    may_see = torch.ones(T, T).tril().bool()
    Y = box(source, target, tgt_mask=may_see, src_key_padding_mask=source_padding,
            memory_key_padding_mask=source_padding, tgt_key_padding_mask=target_padding)
    return Y[range(len(Y)), (~target_padding).sum(dim=1) - 1]
""": "turned over",
        """\
def next_vectors(box, source, target, source_padding, target_padding):
    T = target.shape[1]
    Y = box(source, target, tgt_mask=torch.ones(T, T).tril(),
            src_key_padding_mask=source_padding, tgt_key_padding_mask=target_padding)
    return Y[:, -1]
""": "All three mistakes are still there",
        """\
def next_vectors(box, source, target, source_padding, target_padding):
    Y = box(source, target, tgt_mask=torch.ones(2 * [target.shape[1]]).tril(),
            src_key_padding_mask=source_padding)
    return Y[:, target.shape[1] - 1]
""": "As it was",
        """\
def next_vectors(box, source, target, source_padding, target_padding):
    T = target.shape[1]
    hidden = torch.ones(T, T, dtype=torch.bool).triu(1)
    Y = box(source, target, tgt_mask=hidden, src_key_padding_mask=source_padding,
            memory_key_padding_mask=source_padding)
    return Y[:, -1]
""": "the last row of a short target",
        """\
def next_vectors(box, source, target, source_padding, target_padding):
    T = target.shape[1]
    hidden = torch.ones(T, T, dtype=torch.bool).triu(1)
    Y = box(source, target, tgt_mask=hidden, src_key_padding_mask=source_padding)
    last = (~target_padding).sum(dim=1) - 1
    return Y[range(len(Y)), last]
""": "cross-attention still reads",
        """\
def next_vectors(box, source, target, source_padding, target_padding):
    T = target.shape[1]
    Y = box(source, target, tgt_mask=torch.ones(T, T).tril(),
            src_key_padding_mask=source_padding, memory_key_padding_mask=source_padding)
    last = (~target_padding).sum(dim=1) - 1
    return Y[range(len(Y)), last]
""": "a mask of numbers is added",
        """\
def next_vectors(box, source, target, source_padding, target_padding):
    T = target.shape[1]
    may_see = torch.ones(T, T).tril()
    Y = box(source, target, tgt_mask=may_see, src_key_padding_mask=source_padding,
            memory_key_padding_mask=source_padding, tgt_key_padding_mask=target_padding)
    return Y[torch.arange(len(Y)), -1]
""": "Two of three are left",
        """\
def next_vectors(box, source, target, source_padding, target_padding):
    T = target.shape[1]
    may_see = torch.ones(T, T).tril().bool()
    Y = box(source, target, tgt_mask=may_see, src_key_padding_mask=source_padding,
            memory_key_padding_mask=source_padding)
    last = (~target_padding).sum(dim=1) - 1
    return Y[range(len(Y)), last]
""": "turned over",
        """\
def next_vectors(box, source, target, source_padding, target_padding):
    T = target.shape[1]
    hidden = torch.ones(T, T, dtype=torch.bool).triu(1)
    Y = box(source, target, tgt_mask=hidden, memory_key_padding_mask=source_padding)
    last = (~target_padding).sum(dim=1) - 1
    return Y[range(len(Y)), last]
""": "the encoder does not",
        """\
def next_vectors(box, source, target, source_padding, target_padding):
    T = target.shape[1]
    hidden = torch.ones(T, T, dtype=torch.bool).triu(1)
    Y = box(source, target, tgt_mask=hidden, src_key_padding_mask=source_padding,
            memory_key_padding_mask=source_padding)
    last = (~target_padding).sum(dim=1)
    return Y[range(len(Y)), last]
""": "of full length does not have",
        """\
def next_vectors(box, source, target, source_padding, target_padding):
    T = target.shape[1]
    hidden = torch.ones(T, T, dtype=torch.bool).triu(1)
    Y = box(source, target, tgt_mask=hidden, src_key_padding_mask=~source_padding,
            memory_key_padding_mask=~source_padding)
    last = (~target_padding).sum(dim=1) - 1
    return Y[range(len(Y)), last]
""": "source's masks are turned over",
        """\
def next_vectors(box, source, target, source_padding, target_padding):
    Y = box(source, target, tgt_is_causal=True, src_key_padding_mask=source_padding,
            memory_key_padding_mask=source_padding)
    last = (~target_padding).sum(dim=1) - 1
    return Y[range(len(Y)), last]
""": "the hint needs the mask",
        """\
def next_vectors(box, source, target, source_padding, target_padding):
    T = target.shape[1]
    hidden = torch.ones(T, T, dtype=torch.bool).triu(1)
    Y = box(source, target, tgt_mask=hidden, src_key_padding_mask=source_padding,
            memory_key_padding_mask=target_padding)
    last = (~target_padding).sum(dim=1) - 1
    return Y[range(len(Y)), last]
""": "as many columns as the source",
        """\
def next_vectors(box, source, target, source_padding, target_padding):
    T = target.shape[1]
    hidden = torch.ones(T, T, dtype=torch.bool).triu(1)
    Y = box(source, target, tgt_mask=hidden, src_key_padding_mask=source_padding,
            memory_key_padding_mask=source_padding)
    return Y[~target_padding]
""": "shape",
    },
    right=(
        """\
def next_vectors(box, source, target, source_padding, target_padding):
    T = target.shape[1]
    added = torch.zeros(T, T).masked_fill(torch.ones(T, T).triu(1) == 1, float("-inf"))
    Y = box(source, target, tgt_mask=added, src_key_padding_mask=source_padding,
            memory_key_padding_mask=source_padding, tgt_is_causal=True)
    rows = []
    for y, padding in zip(Y, target_padding):
        rows.append(y[~padding][-1])
    return torch.stack(rows)
""",
        """\
def next_vectors(box, source, target, source_padding, target_padding):
    rows = []
    for x, y, no_x, no_y in zip(source, target, source_padding, target_padding):
        x, y = x[~no_x], y[~no_y]
        future = nn.Transformer.generate_square_subsequent_mask(len(y))
        rows.append(box(x[None], y[None], tgt_mask=future)[0, -1])
    return torch.stack(rows)
""",
        """\
def next_vectors(box, source, target, source_padding, target_padding):
    T = target.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    memory = box.encoder(source, src_key_padding_mask=source_padding)
    Y = box.decoder(target, memory, tgt_mask=future, tgt_key_padding_mask=target_padding,
                    memory_key_padding_mask=source_padding)
    last = (~target_padding).long().cumsum(dim=1).argmax(dim=1)
    return Y.gather(1, last[:, None, None].expand(-1, 1, Y.shape[2]))[:, 0]
""",
        """\
def next_vectors(box, source, target, source_padding, target_padding):
    rows = []
    for n in range(len(source)):
        length = int((~target_padding[n]).sum())
        Y = box(source[n : n + 1], target[n : n + 1, :length],
                tgt_mask=torch.ones(length, length, dtype=torch.bool).triu(1),
                src_key_padding_mask=source_padding[n : n + 1],
                memory_key_padding_mask=source_padding[n : n + 1])
        rows.append(Y[0, -1])
    return torch.stack(rows)
""",
    ),
)
