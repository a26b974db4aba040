"""No bigger than the number of rows."""

import torch

from tutor.check.exercise import MEND, Exercise


def _ids_fit(ids, vocab_size):
    return bool((ids >= 0).all() and (ids < vocab_size).all())


def _cases_of_ids():
    for ids, vocab_size in [
        ([0], 1),
        ([1], 1),
        ([2, 1], 3),
        ([3, 0], 3),
        ([-1, 2], 3),
        ([-4, 2], 3),
        ([0, 6, 4], 8),
        ([0, 6, 8], 8),
        ([9, 1], 8),
        ([1, 0, 1, 0, 1], 2),
        ([-8, 0], 8),
        ([[1, 2], [0, 4]], 5),
        ([[1, 2], [5, 4]], 5),
        ([[0, 0], [0, -2]], 5),
    ]:
        yield torch.tensor(ids), vocab_size


ids_fit = Exercise(
    name="ids_fit",
    chapter="01",
    section="What can go wrong",
    kind=MEND,
    title="No bigger than the number of rows",
    goal="Say which ids a table has rows for.",
    difficulty=2,
    importance=4,
    minutes=4,
    text="""\
"The ids are integers no bigger than the number of rows", says a tutorial. Somebody made a test of
that sentence. It should say `True` if every id has a row of its own in the table. But it lets ids
through that have none, for **two** reasons. **Find both and mend them.** (If there are no ids at
all, none lacks a row: that is `True`, too.)""",
    hints=(
        "Our table has 8 rows. Which numbers do its first and its last row have?",
        "Try the function with `torch.tensor([8])` and `vocab_size=8`. Then think of ids that are "
        "too small.",
        "Two conditions must hold for all ids: at least 0, and smaller than `vocab_size`. `&` "
        "joins two tensors of booleans.",
    ),
    stub='''\
def ids_fit(ids, vocab_size):
    """Whether all ids are rows of a table. It has two mistakes: find them and mend them.

    ids: int64 tensor of any shape
    vocab_size: int, rows of the table
    Returns: True or False
    """
    return bool((ids <= vocab_size).all())
''',
    solution='''\
def ids_fit(ids, vocab_size):
    """Whether all ids are rows of a table.

    ids: int64 tensor of any shape
    vocab_size: int, rows of the table
    Returns: True or False
    """
    return bool(((0 <= ids) & (ids < vocab_size)).all())
''',
    because="Rows are counted from 0, and a negative id would silently mean a row from the end.",
    reference=_ids_fit,
    cases=_cases_of_ids,
    mistakes=(
        (
            "As it was: a table of 8 rows has no row for the id 8, and it passes. Two mistakes are "
            "left.",
            lambda ids, vocab_size: bool((ids <= vocab_size).all()),
        ),
        (
            "One mistake is left. The upper end is right now, but negative ids still pass; a bare "
            "table would return rows from its end.",
            lambda ids, vocab_size: bool((ids < vocab_size).all()),
        ),
        (
            "One mistake is left. Negative ids are refused now, but an id as large as the number "
            "of rows still passes; rows are counted from 0.",
            lambda ids, vocab_size: bool(((0 <= ids) & (ids <= vocab_size)).all()),
        ),
        (
            "Now id 0 is refused: the first row is row 0.",
            lambda ids, vocab_size: bool(((0 < ids) & (ids < vocab_size)).all()),
        ),
        (
            "Those are the bounds for counting from 1; rows are counted from 0.",
            lambda ids, vocab_size: bool(((0 < ids) & (ids <= vocab_size)).all()),
        ),
        (
            "One good id is enough for you; all of them must have a row.",
            lambda ids, vocab_size: bool(((0 <= ids) & (ids < vocab_size)).any()),
        ),
        (
            "Negative ids down to -vocab_size pass. A bare table has rows for them, counted from "
            "its end, but nobody means those.",
            lambda ids, vocab_size: bool(((-vocab_size <= ids) & (ids < vocab_size)).all()),
        ),
        (
            "`abs` makes a good id of a bad one: -3 passes as 3. Ask for the lower end, too.",
            lambda ids, vocab_size: bool((ids.abs() < vocab_size).all()),
        ),
        (
            "`abs` makes a good id of a bad one: -3 passes as 3. And rows are counted from 0.",
            lambda ids, vocab_size: bool((ids.abs() <= vocab_size).all()),
        ),
        (
            "One end is enough for you, with `or`. An id must be at least 0 *and* below the number "
            "of rows.",
            lambda ids, vocab_size: bool((ids < vocab_size).all() or (ids >= 0).all()),
        ),
        (
            "You compare the number of ids with the number of rows; a sentence may be as long as "
            "it likes. It is the ids themselves that count.",
            lambda ids, vocab_size: ids.numel() <= vocab_size,
        ),
        (
            "The last row is refused now: its id, vocab_size - 1, is a good one.",
            lambda ids, vocab_size: bool(((0 <= ids) & (ids < vocab_size - 1)).all()),
        ),
    ),
    properties=(
        (
            "An empty tensor of ids must give True, for none of its ids lacks a row. It has no "
            "`min` and no `max`: they raise an error.",
            lambda answer: answer(torch.zeros(2, 0, dtype=torch.int64), 3),
        ),
    ),
    wrong={
        """\
def ids_fit(ids, vocab_size):
    return ids.max().item() < vocab_size
""": "negative ids still pass",
        """\
def ids_fit(ids, vocab_size):
    return bool(ids.min() >= 0 and ids.max() <= vocab_size)
""": "an id as large as the number of rows still passes",
        """\
def ids_fit(ids, vocab_size):
    return bool(ids.min() > 0 and ids.max() < vocab_size)
""": "id 0 is refused",
        """\
def ids_fit(ids, vocab_size):
    return all(i in range(1, vocab_size + 1) for i in ids.flatten().tolist())
""": "counting from 1",
        """\
def ids_fit(ids, vocab_size):
    return any(0 <= i < vocab_size for i in ids.flatten().tolist())
""": "one good id",
        """\
def ids_fit(ids, vocab_size):
    try:
        torch.zeros(vocab_size)[ids]
    except IndexError:
        return False
    return True
""": "down to -vocab_size",
        """\
def ids_fit(ids, vocab_size):
    return (ids.abs() < vocab_size).all()
""": "`abs` makes a good id of a bad one",
        """\
def ids_fit(ids, vocab_size):
    return (ids.abs() <= vocab_size).all()
""": "And rows are counted from 0",
        """\
def ids_fit(ids, vocab_size):
    return bool((ids >= 0).all() or (ids < vocab_size).all())
""": "with `or`",
        """\
def ids_fit(ids, vocab_size):
    return all(i in range(vocab_size - 1) for i in ids.flatten().tolist())
""": "the last row is refused",
        """\
def ids_fit(ids, vocab_size):
    return (0 <= ids) & (ids < vocab_size)
""": "True or False is wanted",
        """\
def ids_fit(ids, vocab_size):
    return 0 <= ids < vocab_size
""": "a tensor; True or False",
        """\
def ids_fit(ids, vocab_size):
    return bool(ids.min() >= 0 and ids.max() < vocab_size)
""": "An empty tensor of ids must give True",
        """\
def ids_fit(ids, vocab_size):
    if ids.numel() == 0:
        return False
    return bool(((ids >= 0) & (ids < vocab_size)).all())
""": "An empty tensor of ids must give True",
    },
    right=(
        """\
def ids_fit(ids, vocab_size):
    return not ids.numel() or bool(0 <= ids.min() <= ids.max() < vocab_size)
""",
        """\
def ids_fit(ids, vocab_size):
    return all(i in range(vocab_size) for i in ids.flatten().tolist())
""",
        """\
def ids_fit(ids, vocab_size):
    try:
        F.embedding(ids, torch.zeros(vocab_size, 1))
    except IndexError:
        return False
    return True
""",
        """\
def ids_fit(ids, vocab_size):
    return ((ids >= 0) * (ids <= vocab_size - 1)).all()
""",
    ),
)
