"""One token too many."""

import torch

from tutor.check.exercise import MEND, Exercise
from tutor.museum import EXHIBITS

_PREPARE = EXHIBITS["inputs_and_their_mask"]


def _other_mask(change, inputs=lambda target: target[:, :-1]):
    """Inputs with a mask that `change` makes of their number."""

    def prepare(target):
        return inputs(target), change(inputs(target).shape[1])

    return prepare


def _ones(T):
    return torch.ones(T, T, dtype=torch.bool)


def _cases_of_targets():
    for N, T in [(1, 2), (1, 3), (2, 4), (3, 3), (2, 7)]:
        yield (torch.randint(4, 99, (N, T)),)


inputs_and_mask = Exercise(
    name="inputs_and_mask",
    chapter="12",
    section="Room 1: it crashes",
    kind=MEND,
    title="One token too many",
    goal="Make a mask from what the model gets.",
    difficulty=1,
    importance=3,
    minutes=6,
    text="""\
A model is trained to write the next token, so it is fed a target without its last token. This code
prepares both, the inputs and their causal mask (True hides). It runs; its caller crashes:
*The size of tensor a (4) must match the size of tensor b (5)*. **Find the mistake and mend
it.**""",
    hints=(
        "For a target of 5 tokens: how many tokens does the model get, and how many rows has the "
        "mask?",
        "The mask is measured before the target is cut.",
        "Cut first, `inputs = target[:, :-1]`, and make the mask from `inputs.shape[1]`.",
    ),
    stub='''\
def inputs_and_mask(target):
    """What the decoder is fed, and its mask. It has a mistake: find it and mend it.

    target: int tensor (N, T), with [BOS] at the start and [EOS] at the end
    Returns a tuple: inputs, int tensor (N, T - 1), the target without its last token; and their
    causal mask, bool tensor (T - 1, T - 1), True = may not be attended to
    """
    T = target.shape[1]
    mask = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
    return target[:, :-1], mask
''',
    solution='''\
def inputs_and_mask(target):
    """What the decoder is fed, and its mask.

    target: int tensor (N, T), with [BOS] at the start and [EOS] at the end
    Returns a tuple: inputs, int tensor (N, T - 1), the target without its last token; and their
    causal mask, bool tensor (T - 1, T - 1), True = may not be attended to
    """
    inputs = target[:, :-1]
    T = inputs.shape[1]
    return inputs, torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
''',
    because="A mask that is made from the inputs fits them, whatever was cut before.",
    reference=_PREPARE.mended,
    cases=_cases_of_targets,
    mistakes=(
        ("As it was: the mask has a row and a column more than there are inputs.", _PREPARE.wrong),
        (
            "Now the mask fits because the inputs are not cut: the model is fed the last token, "
            "after which there is nothing to write.",
            _other_mask(lambda T: _ones(T).triu(1), inputs=lambda target: target),
        ),
        (
            "You cut the first token. The inputs lack the last one; what lacks the first is what "
            "the model is to write.",
            _other_mask(lambda T: _ones(T).triu(1), inputs=lambda target: target[:, 1:]),
        ),
        (
            "You cut a sentence, not a token: the first dimension counts sentences.",
            lambda target: (target[:-1], _ones(target.shape[1]).triu(1)),
        ),
        (
            "The sizes fit, but the diagonal is hidden, too: the first token may see nothing.",
            _other_mask(lambda T: _ones(T).triu()),
        ),
        (
            "The sizes fit, but the mask works the wrong way round: True hides.",
            _other_mask(lambda T: _ones(T).tril()),
        ),
        (
            "The sizes fit, but the mask hides the past: rows are the tokens that look, columns "
            "those that are seen.",
            _other_mask(lambda T: _ones(T).tril(-1)),
        ),
        (
            "The sizes fit, but `diagonal=2` lets each token see the next one: that moves the "
            "diagonal, it does not cut the mask.",
            _other_mask(lambda T: _ones(T).triu(2)),
        ),
        (
            "The mask has lost one row and kept all its columns: it must be cut in both.",
            lambda target: (target[:, :-1], _ones(target.shape[1]).triu(1)[:-1]),
        ),
        (
            "The mask is cut, but its first row is lost and its last column kept: now each token "
            "sees the next one.",
            lambda target: (target[:, :-1], _ones(target.shape[1]).triu(1)[1:, :-1]),
        ),
    ),
    wrong={
        """\
def inputs_and_mask(target):
    N, T = target.shape
    i = torch.arange(T)
    return target[:, : T - 1], i[None, :] > i[:, None]
""": "as it was",
        """\
def inputs_and_mask(target):
    N, T = target.shape
    i = torch.arange(T)
    return target, i[None, :] > i[:, None]
""": "not cut",
        """\
def inputs_and_mask(target):
    inputs = target[:, 1:]
    i = torch.arange(inputs.shape[1])
    return inputs, i[None, :] > i[:, None]
""": "cut the first token",
        """\
def inputs_and_mask(target):
    i = torch.arange(target.shape[1] - 1)
    return target[:, :-1], i >= i[:, None]
""": "diagonal is hidden",
        """\
def inputs_and_mask(target):
    i = torch.arange(target.shape[1] - 1)
    return target[:, :-1], i <= i[:, None]
""": "wrong way round",
        """\
def inputs_and_mask(target):
    i = torch.arange(target.shape[1] - 1)
    return target[:, :-1], i < i[:, None]
""": "hides the past",
        """\
def inputs_and_mask(target):
    T = target.shape[1]
    mask = torch.ones(T, T, dtype=torch.bool).triu(diagonal=2)
    return target[:, :-1], mask[:-1, :-1]
""": "moves the diagonal",
        """\
def inputs_and_mask(target):
    i = torch.arange(target.shape[1])
    return target[:, :-1], i > i[:-1, None]
""": "lost one row",
        """\
def inputs_and_mask(target):
    T = target.shape[1] - 1
    return target[:, :-1], nn.Transformer.generate_square_subsequent_mask(T)
""": "torch.bool is wanted",
    },
    right=(
        """\
def inputs_and_mask(target):
    T = target.shape[1]
    mask = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
    return target[:, :-1], mask[:-1, :-1]
""",
        """\
def inputs_and_mask(target):
    T = target.shape[1] - 1
    return target[:, :T], torch.tensor([[s > t for s in range(T)] for t in range(T)])
""",
        """\
def inputs_and_mask(target):
    inputs = target[:, :-1]
    mask = nn.Transformer.generate_square_subsequent_mask(inputs.shape[1])
    return inputs, mask == float("-inf")
""",
    ),
)
