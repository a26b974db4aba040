"""The word that answers itself."""

import torch

from tutor.attention import causal_mask, padding_mask
from tutor.check.exercise import MEND, Exercise
from tutor.exercises.chapter_05.shared import right_mask


def _cut(ids, first=0, answer=1, mask_of=None):
    """Inputs, answers and mask; switches for where they begin."""
    T = ids.shape[1] - 1
    inputs = ids[:, first : first + T]
    return (
        inputs,
        ids[:, answer : answer + T],
        right_mask(inputs if mask_of is None else mask_of),
    )


def _questions_and_answers(ids):
    return _cut(ids)


def _future_alone(ids):
    inputs, answers, mask = _cut(ids)
    return inputs, answers, causal_mask(inputs.shape[1]).expand(mask.shape)


def _without_diagonal(ids):
    inputs, answers, mask = _cut(ids)
    return inputs, answers, mask | torch.eye(inputs.shape[1], dtype=torch.bool)


def _cases_of_targets():
    for ids in [
        [[2, 3]],
        [[2, 5, 3]],
        [[2, 7, 5, 3], [2, 6, 3, 0]],
        [[2, 8, 6, 4, 7, 3], [2, 5, 5, 3, 0, 0], [2, 3, 0, 0, 0, 0]],
        [[2, 9, 4, 5, 6, 7, 8, 3]],
    ]:
        yield (torch.tensor(ids),)


questions_and_answers = Exercise(
    name="questions_and_answers",
    chapter="05",
    section="What can go wrong",
    kind=MEND,
    title="The word that answers itself",
    goal="Cut inputs, answers and mask from one sentence without a slip.",
    difficulty=3,
    importance=5,
    minutes=12,
    text="""\
A batch of whole targets, from `[BOS]` (id 2) to `[EOS]` (id 3), shall become a batch to train on:
what the decoder reads, what it is asked for, and its mask. Here a model that repeats its input has
a loss of 0, and the mask does not fit. There are **two** mistakes. **Find both and mend them.** In
messages, item 0 is the inputs, item 1 the answers, item 2 the mask.""",
    hints=(
        "Write down one sentence, such as `[2, 5, 7, 3]`. What is read at each place, and what is "
        "the answer there?",
        "The answer to question $t$ is the token at place $t + 1$. And for how many places is the "
        "mask?",
        "The answers are `ids[:, 1:]`. The mask belongs to the inputs: cut first, then make it "
        "from what was cut.",
    ),
    stub='''\
def questions_and_answers(ids):
    """Inputs, answers and mask. It has two mistakes: find them and mend them.

    ids: int64 tensor (N, T + 1), from [BOS] to [EOS], 0 is padding
    Returns: inputs (N, T), answers (N, T), mask (N, 1, T, T) for the inputs, True = hidden
    """
    places = ids.shape[1]
    future = torch.ones(places, places, dtype=torch.bool).triu(1)
    mask = future | (ids == 0)[:, None, None, :]
    inputs = ids[:, :-1]
    answers = ids[:, :-1]
    return inputs, answers, mask
''',
    solution='''\
def questions_and_answers(ids):
    """Inputs, answers and mask.

    ids: int64 tensor (N, T + 1), from [BOS] to [EOS], 0 is padding
    Returns: inputs (N, T), answers (N, T), mask (N, 1, T, T) for the inputs, True = hidden
    """
    inputs = ids[:, :-1]
    answers = ids[:, 1:]
    places = inputs.shape[1]
    future = torch.ones(places, places, dtype=torch.bool).triu(1)
    mask = future | (inputs == 0)[:, None, None, :]
    return inputs, answers, mask
''',
    because="Each place is asked for the token one step later, under the mask of what is read.",
    reference=_questions_and_answers,
    cases=_cases_of_targets,
    forbidden=(causal_mask, padding_mask),
    mistakes=(
        (
            "As it was: a model that repeats its input has a loss of 0, and the mask is one place "
            "too large.",
            lambda ids: _cut(ids, answer=0, mask_of=ids),
        ),
        (
            "The answers are right now, but the mask is still made from the sentence before it was "
            "cut; it is one place too large.",
            lambda ids: _cut(ids, mask_of=ids),
        ),
        (
            "The mask is right now, but each place is still asked for the token that it reads; the "
            "answer is the token one step later.",
            lambda ids: _cut(ids, answer=0),
        ),
        (
            "Inputs and answers have changed places: the decoder reads all tokens but the last, "
            "and is asked for all but the first.",
            lambda ids: _cut(ids, first=1, answer=0),
        ),
        (
            "The first token is cut from the inputs as well as from the answers, so each place is "
            "still asked for what it reads.",
            lambda ids: _cut(ids, first=1, answer=1),
        ),
        (
            "Inputs and answers are right now, but the mask is made from the answers; it must hide "
            "the padding of the inputs.",
            lambda ids: _cut(ids, mask_of=ids[:, 1:]),
        ),
        (
            "Inputs and answers are right now, but the mask no longer hides padding.",
            _future_alone,
        ),
        (
            "Inputs and answers are right now, but the mask hides the diagonal; a place may see "
            "the token that it reads.",
            _without_diagonal,
        ),
        (
            "Inputs and answers are right now, but the mask is turned over; `True` hides.",
            lambda ids: (*_cut(ids)[:2], ~_cut(ids)[2]),
        ),
        (
            "The answers are not cut: they still hold [BOS], which is never asked for.",
            lambda ids: (_cut(ids)[0], ids, _cut(ids)[2]),
        ),
        (
            "The inputs are not cut: nothing comes after the last token, so it asks nothing.",
            lambda ids: (ids, ids[:, 1:], right_mask(ids)),
        ),
    ),
    wrong={
        """\
def questions_and_answers(ids):
    T = ids.shape[1]
    mask = torch.ones(T, T).triu(1).bool() | (ids == 0)[:, None, None]
    return ids[:, :-1], ids[:, 1:], mask
""": "before it was cut",
        """\
def questions_and_answers(ids):
    inputs = answers = ids[:, :-1]
    T = inputs.shape[1]
    mask = torch.ones(T, T).triu(1).bool() | (inputs == 0)[:, None, None]
    return inputs, answers, mask
""": "still asked for the token that it reads",
        """\
def questions_and_answers(ids):
    inputs, answers = ids[:, 1:], ids[:, :-1]
    T = inputs.shape[1]
    mask = torch.ones(T, T).triu(1).bool() | (inputs == 0)[:, None, None]
    return inputs, answers, mask
""": "changed places",
        """\
def questions_and_answers(ids):
    ids = ids[:, 1:]
    T = ids.shape[1]
    mask = torch.ones(T, T).triu(1).bool() | (ids == 0)[:, None, None]
    return ids, ids, mask
""": "still asked for what it reads",
        """\
def questions_and_answers(ids):
    T = ids.shape[1]
    mask = torch.ones(T, T).triu(1).bool() | (ids == 0)[:, None, None]
    return ids[:, :-1], ids[:, 1:], mask[:, :, 1:, 1:]
""": "made from the answers",
        """\
def questions_and_answers(ids):
    N, T = ids.shape
    mask = torch.ones(N, 1, T - 1, T - 1, dtype=torch.bool).triu(1)
    return ids[:, :-1], ids[:, 1:], mask
""": "no longer hides padding",
        """\
def questions_and_answers(ids):
    inputs, answers = ids[:, :-1], ids[:, 1:]
    T = inputs.shape[1]
    mask = torch.ones(T, T).triu().bool() | (inputs == 0)[:, None, None]
    return inputs, answers, mask
""": "hides the diagonal",
        """\
def questions_and_answers(ids):
    inputs, answers = ids[:, :-1], ids[:, 1:]
    T = inputs.shape[1]
    seen = torch.ones(T, T).tril().bool() & (inputs != 0)[:, None, None]
    return inputs, answers, seen
""": "turned over",
        """\
def questions_and_answers(ids):
    inputs, answers = ids, ids[:, 1:]
    T = inputs.shape[1]
    mask = torch.ones(T, T).triu(1).bool() | (inputs == 0)[:, None, None]
    return inputs, answers, mask
""": "inputs are not cut",
        """\
def questions_and_answers(ids):
    inputs, answers = ids[:, :-1], ids[:, 1:]
    T = inputs.shape[1]
    return inputs, answers, torch.ones(T, T).triu(1).bool()
""": "of shape (1, 1)",
    },
    right=(
        """\
def questions_and_answers(ids):
    T = ids.shape[1]
    mask = torch.ones(T, T).triu(1).bool() | (ids == 0)[:, None, None]
    return ids[:, :-1], ids[:, 1:], mask[:, :, :-1, :-1]
""",
        """\
def questions_and_answers(ids):
    inputs = ids[:, :-1]
    answers = ids.roll(-1, dims=1)[:, :-1]
    place = torch.arange(inputs.shape[1])
    seen = (place <= place[:, None]) & (inputs != 0)[:, None, None, :]
    return inputs, answers, ~seen
""",
    ),
)
