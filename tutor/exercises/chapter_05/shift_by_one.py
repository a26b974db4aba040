"""Read one, ask for the next."""

import torch

from tutor.check.exercise import WRITE, Exercise


def _shift_by_one(ids):
    return ids[:, :-1], ids[:, 1:]


def _cases_of_targets():
    for ids in [
        [[2, 5, 3]],
        [[2, 3]],
        [[2, 7, 5, 3], [2, 6, 9, 3]],
        [[2, 8, 6, 4, 7, 3], [2, 5, 5, 3, 0, 0], [2, 3, 0, 0, 0, 0]],
    ]:
        yield (torch.tensor(ids),)


shift_by_one = Exercise(
    name="shift_by_one",
    chapter="05",
    section="All questions of a sentence at once",
    kind=WRITE,
    title="Read one, ask for the next",
    goal="Cut what is read and what is asked from one sentence.",
    difficulty=1,
    importance=5,
    minutes=3,
    text="""\
From whole targets, `[BOS]` (id 2) to `[EOS]` (id 3), make what the decoder reads and what it is
asked for. The answer at place $t$ is the token at place $t + 1$. In messages, item 0 is what is
read, item 1 what is asked.""",
    hints=(
        "Write down one sentence, such as `[2, 5, 7, 3]`. What is read at each place, and what is "
        "the answer there?",
        "Nothing comes after the last token, so it is not read. `[BOS]` is never an answer.",
        "All tokens but the last are `ids[:, :-1]`.",
    ),
    stub='''\
def shift_by_one(ids):
    """ids: (N, T + 1), from BOS to EOS. Returns target_in and target_out, (N, T) each."""
    ...  # one line
''',
    solution="""\
def shift_by_one(ids):
    return ids[:, :-1], ids[:, 1:]  # (N, T), (N, T)
""",
    because="Each place is asked for the token one step later.",
    reference=_shift_by_one,
    cases=_cases_of_targets,
    mistakes=(
        (
            "Each place is asked for the token that it reads: a model that repeats its input would "
            "be right.",
            lambda ids: (ids[:, :-1], ids[:, :-1]),
        ),
        (
            "Each place is asked for the token that it reads: the first one is cut from both.",
            lambda ids: (ids[:, 1:], ids[:, 1:]),
        ),
        (
            "Inputs and answers have changed places: all tokens but the last are read, all but the "
            "first are asked for.",
            lambda ids: (ids[:, 1:], ids[:, :-1]),
        ),
        (
            "The inputs are not cut: nothing comes after the last token, so it asks nothing.",
            lambda ids: (ids, ids[:, 1:]),
        ),
        (
            "The answers are not cut: they still hold [BOS], which is never asked for.",
            lambda ids: (ids[:, :-1], ids),
        ),
        (
            "You have cut sentences from the batch; cut places from the sentences, in dimension 1.",
            lambda ids: (ids[:-1], ids[1:]),
        ),
        (
            "The answers come two steps later; one step is wanted.",
            lambda ids: (ids[:, :-2], ids[:, 2:]),
        ),
        (
            "The answers have come round from the front: the last place must be asked for [EOS].",
            lambda ids: (ids, ids.roll(-1, dims=1)),
        ),
    ),
    wrong={
        """\
def shift_by_one(ids):
    target = ids[:, :-1]
    return target, target
""": "reads: a model",
        """\
def shift_by_one(ids):
    target = ids[:, 1:]
    return target, target
""": "cut from both",
        """\
def shift_by_one(ids):
    return ids[:, 1:], ids[:, :-1]
""": "changed places",
        """\
def shift_by_one(ids):
    return ids, ids[:, 1:]
""": "inputs are not cut",
        """\
def shift_by_one(ids):
    return ids[:, : ids.shape[1] - 1], ids
""": "answers are not cut",
        """\
def shift_by_one(ids):
    return ids[:-1], ids[1:]
""": "dimension 1",
        """\
def shift_by_one(ids):
    return ids[:, :-2], ids[:, 2:]
""": "two steps",
        """\
def shift_by_one(ids):
    return ids, torch.roll(ids, -1, 1)
""": "round from the front",
        """\
def shift_by_one(ids):
    return ids[:, 1:]
""": "a tuple is wanted",
    },
    right=(
        """\
def shift_by_one(ids):
    T = ids.shape[1] - 1
    return ids.narrow(1, 0, T), ids.narrow(1, 1, T)
""",
        """\
def shift_by_one(ids):
    target_in = torch.stack([sentence[:-1] for sentence in ids])
    target_out = torch.stack([sentence[1:] for sentence in ids])
    return target_in, target_out
""",
    ),
)
