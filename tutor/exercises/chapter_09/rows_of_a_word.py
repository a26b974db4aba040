"""The row in which a token is read."""

import torch

from tutor.check.exercise import MEND, Exercise


def _steps_of_words(owners, step):
    M = torch.zeros(max(owners) + 1, len(owners) + 1)
    for t, word in enumerate(owners):
        M[word, t + (step == "input")] = 1 / owners.count(word)
    return M


def _moved(output, late):
    """The same shares in other rows: `output` and `late` are added to the place of a token."""

    def steps(owners, step):
        M = torch.zeros(max(owners) + 1, len(owners) + 1)
        for t, word in enumerate(owners):
            M[word, t + (output if step == "output" else late)] = 1 / owners.count(word)
        return M

    return steps


def _one_row(place):
    """One row alone for each word: that of its first (0) or its last (-1) token."""

    def steps(owners, step):
        M = torch.zeros(max(owners) + 1, len(owners) + 1)
        for word in range(len(M)):
            tokens = [t for t, owner in enumerate(owners) if owner == word]
            M[word, tokens[place] + (step == "input")] = 1.0
        return M

    return steps


def _added_at_0(owners, step):
    M = torch.zeros(max(owners) + 1, len(owners) + 1)
    for t, word in enumerate(owners):
        M[word, t if step == "output" else max(t - 1, 0)] += 1 / owners.count(word)
    return M


def _at(row):
    """The right output step, and an input step whose row is made of t and T."""

    def steps(owners, step):
        M = torch.zeros(max(owners) + 1, len(owners) + 1)
        for t, word in enumerate(owners):
            M[word, t if step == "output" else row(t, M.shape[1])] = 1 / owners.count(word)
        return M

    return steps


def _first_left_out(owners, step):
    M = _moved(0, -1)(owners, step)
    if step == "input":
        M[owners[0], -1] = 0.0
    return M


def _cases_of_steps():
    for owners in ([0], [0, 0], [0, 1, 1], [0, 1, 2], [0, 0, 1, 2, 2, 2]):
        for step in ("output", "input"):
            yield owners, step


rows_of_a_word = Exercise(
    name="rows_of_a_word",
    chapter="09",
    section="One word, two rows",
    kind=MEND,
    title="The row in which a token is read",
    goal="Find the rows of a map that belong to a word, at either step.",
    difficulty=3,
    importance=4,
    minutes=5,
    text="""\
Row $t$ of a map *reads* token $t$ of `["[BOS]", *tokens]` and *writes* token $t$ of
`[*tokens, "[EOS]"]`. A colleague makes the matrix that averages the rows of each word, at the
output step or at the input step. It runs. At the output step all rates are those of the chapter. At
the input step head (0, 0) of the translator of captions, which has 16 % there in the chapter, is
wrong about nearly every word. **Find the mistake and mend it.**""",
    hints=(
        "Take two words of one token each, `[0, 1]`. Their map has three rows. Which of them reads "
        "the first word?",
        "Write the two lists of the text below each other. Where is the first token read?",
        "Row $t$ writes token $t$, and row $t + 1$ reads it. (In Python, `M[word, -1]` is no "
        "error: it is the last column.)",
    ),
    stub='''\
def rows_of_a_word(owners, step):
    """The rows of each word, with equal shares. It has a mistake: find it and mend it.

    owners: list of ints, the word of each target token, 0 to T' - 1
    step: "output" or "input"
    Returns float tensor (T', T), where T is the number of tokens plus 1; each row sums to 1
    """
    M = torch.zeros(max(owners) + 1, len(owners) + 1)
    for t, word in enumerate(owners):
        row = t if step == "output" else t - 1
        M[word, row] = 1 / owners.count(word)
    return M
''',
    solution='''\
def rows_of_a_word(owners, step):
    """The rows of each word, with equal shares.

    owners: list of ints, the word of each target token, 0 to T' - 1
    step: "output" or "input"
    Returns float tensor (T', T), where T is the number of tokens plus 1; each row sums to 1
    """
    M = torch.zeros(max(owners) + 1, len(owners) + 1)
    for t, word in enumerate(owners):
        row = t if step == "output" else t + 1
        M[word, row] = 1 / owners.count(word)
    return M
''',
    because="A token is read one row after it was written: that is what the shift is for.",
    reference=_steps_of_words,
    cases=_cases_of_steps,
    mistakes=(
        (
            "As it was: at the output step all is well, and at the input step the rows are those "
            "of other tokens.",
            _moved(0, -1),
        ),
        (
            "Now both steps have the same rows. A token is written in one row and read in another.",
            _moved(0, 0),
        ),
        *(
            (
                "One thing has changed: the first token no longer gets the last row. But ask "
                "whether a token is read before it is written, or after.",
                mistake,
            )
            for mistake in (
                _added_at_0,
                _at(lambda t, T: max(t - 1, 0)),
                _at(lambda t, T: abs(t - 1)),
                _at(lambda t, T: (t - 1) % (T - 1)),
            )
        ),
        (
            "The last token may go one row on, too: a map has one row more than there are tokens.",
            _at(lambda t, T: min(t + 1, T - 2)),
        ),
        ("Now the steps are exchanged: a token is written first, and read then.", _moved(1, 0)),
        (
            "The input step is right now, but the output step has moved too, and it was right.",
            _moved(1, 1),
        ),
        (
            "The rows are right, but each has a weight of 1: shares of a word must sum to 1, which "
            "was so before.",
            lambda owners, step: (_steps_of_words(owners, step) > 0).float(),
        ),
        (
            "Only the first token of each word is left. The others look, too.",
            _one_row(0),
        ),
        (
            "Only the last token of each word is left. The others look, too.",
            _one_row(-1),
        ),
        (
            "The matrix has lost a row: a map has one row more than there are tokens, since "
            "`[BOS]` is read and `[EOS]` is written.",
            lambda owners, step: _moved(0, 0)(owners, step)[:, :-1],
        ),
        (
            "The first token of each sentence is left out at the input step, which avoids the "
            "wrong row and loses a word.",
            _first_left_out,
        ),
    ),
    wrong={
        """\
def rows_of_a_word(owners, step):
    words = F.one_hot(torch.tensor(owners)).float()  # (tokens, T')
    M = F.pad((words / words.sum(dim=0)).T, (0, 1))
    return M if step == "output" else M.roll(-1, dims=1)
""": "as it was",
        """\
def rows_of_a_word(owners, step):
    words = F.one_hot(torch.tensor(owners)).float()
    return F.pad((words / words.sum(dim=0)).T, (0, 1))
""": "same rows",
        """\
def rows_of_a_word(owners, step):
    words = F.one_hot(torch.tensor(owners)).float()
    return F.pad((words / words.sum(dim=0)).T, (1, 0) if step == "output" else (0, 1))
""": "exchanged",
        """\
def rows_of_a_word(owners, step):
    M = torch.zeros(max(owners) + 1, len(owners) + 1)
    for t in range(1, len(owners) + 1):
        M[owners[t - 1], t] = 1 / owners.count(owners[t - 1])
    return M
""": "output step has moved",
        """\
def rows_of_a_word(owners, step):
    M = torch.zeros(max(owners) + 1, len(owners) + 1)
    for t, word in enumerate(owners):
        M[word, t if step == "output" else t + 1] = 1
    return M
""": "weight of 1",
        """\
def rows_of_a_word(owners, step):
    M = torch.zeros(len(set(owners)), len(owners) + 1)
    for word in set(owners):
        t = owners.index(word)
        M[word, t + 1 if step == "input" else t] = 1.0
    return M
""": "Only the first token",
        """\
def rows_of_a_word(owners, step):
    M = torch.zeros(max(owners) + 1, len(owners))
    for t, word in enumerate(owners):
        M[word, t] = 1 / owners.count(word)
    return M
""": "lost a row",
        """\
def rows_of_a_word(owners, step):
    M = torch.zeros(max(owners) + 1, len(owners) + 1)
    for t, word in enumerate(owners):
        row = t if step == "output" else t - 1
        if row >= 0:
            M[word, row] = 1 / owners.count(word)
    return M
""": "loses a word",
        """\
def rows_of_a_word(owners, step):
    M = torch.zeros(max(owners) + 1, len(owners) + 1)
    for t, word in enumerate(owners):
        row = t if step == "output" else max(t - 1, 0)
        M[word, row] = 1 / owners.count(word)
    return M
""": "no longer gets the last row",
        """\
def rows_of_a_word(owners, step):
    M = torch.zeros(max(owners) + 1, len(owners) + 1)
    for t, word in enumerate(owners):
        row = t if step == "output" else (t - 1) % len(owners)
        M[word, row] = 1 / owners.count(word)
    return M
""": "no longer gets the last row",
    },
    right=(
        """\
def rows_of_a_word(owners, step):
    words = F.one_hot(torch.tensor(owners)).float()  # (tokens, T')
    M = (words / words.sum(dim=0)).T
    return F.pad(M, (0, 1)) if step == "output" else F.pad(M, (1, 0))
""",
        """\
def rows_of_a_word(owners, step):
    M = torch.zeros(max(owners) + 1, len(owners) + 1)
    for t, word in enumerate(owners):
        M[word, t + int(step == "input")] += 1
    return M / M.sum(dim=1, keepdim=True)
""",
    ),
)
