"""Exercises of chapter 09: from maps to words, links and numbers, and what a map does not show."""

import torch
import torch.nn.functional as F

from tutor.attention import unslice_vertically
from tutor.check.exercise import EXPLAIN, MEND, PREDICT, WRITE, Exercise
from tutor.evaluation.alignment import error_rates
from tutor.evaluation.scoring import alignment_error_rate

rate_on_paper = Exercise(
    name="rate_on_paper",
    chapter="09",
    section="What is true?",
    kind=PREDICT,
    title="Five links, four of them true",
    goal="Compute an alignment error rate by hand.",
    difficulty=1,
    importance=4,
    minutes=5,
    text="""\
*He is not sleeping .* is *Il ne dort pas .*, and words are counted from 0, the full stop too. A
link is (English, French), as in the chapter. True are

(0, 0), (2, 1), (1, 2), (3, 2), (2, 3), (4, 4).

A head gives each French word one link: (0, 0), (2, 1), (3, 2), (4, 3), (4, 4).

**Predict** the alignment error rate, on paper: a number, good to two decimals.""",
    hints=(
        "Three numbers are needed: how many links are true, how many are predicted, how many are "
        "both.",
        "The head found four true links. What stands below the line is the sum of both sizes.",
        "AER is $1 - 2 \\cdot 4 / (5 + 6)$.",
    ),
    stub="rate_on_paper = None  # a number, such as 0.5",
    solution="rate_on_paper = 1 - 2 * 4 / (5 + 6)",
    because="Four of the links are in both sets, of five and of six: 1 - 8 / 11 = 0.27.",
    reference=3 / 11,
    tolerance=0.006,
    mistakes=(
        ("That is the share of agreement. The error rate is 1 minus it.", 8 / 11),
        ("The 2 above the line is missing: a hit is in both sets, and counts for both.", 7 / 11),
        ("The 2 above the line is missing, and you did not take the share from 1.", 4 / 11),
        (
            "You divided by the predicted links alone. AER also asks for the true links that were "
            "not found: both sizes stand below the line.",
            1 / 5,
        ),
        (
            "You divided by the true links alone. AER also asks for the predicted links that are "
            "false: both sizes stand below the line.",
            1 / 3,
        ),
        (
            "You divided by the links that are in at least one of the sets. Below the line stands "
            "the sum of both sizes.",
            3 / 7,
        ),
        ("One hit was overlooked: (3, 2) is right too, though dort has a second partner.", 5 / 11),
        ("Look at (4, 3) again: pas is linked to the full stop, and that is not true.", 1 / 11),
    ),
    wrong={
        "rate_on_paper = 8 / 11": "1 minus it",
        "rate_on_paper = 1 - 4 / (5 + 6)": "The 2 above the line is missing: a hit",
        "rate_on_paper = 0.36": "did not take the share from 1",
        "rate_on_paper = 0.2": "predicted links alone",
        "rate_on_paper = 2 / 6": "true links alone",
        "rate_on_paper = 1 - 4 / 7": "in at least one",
        "rate_on_paper = 0.45": "overlooked",
        "rate_on_paper = 1 - 2 * 5 / 11": "linked to the full stop",
        "rate_on_paper = [3, 11]": "a number is wanted",
    },
    right=("rate_on_paper = 0.27", "rate_on_paper = torch.tensor(3) / 11"),
)


def _map_of_words(A, target_words, source_words):
    rows = F.one_hot(torch.tensor(target_words)).to(A)  # (T, T')
    return (rows / rows.sum(0)).T @ A @ F.one_hot(torch.tensor(source_words)).to(A)


def _sum_and_sum(A, target_words, source_words):
    rows, columns = (F.one_hot(torch.tensor(w)).to(A) for w in (target_words, source_words))
    return rows.T @ A @ columns


def _one_token(A, target_words, place):
    """The rows of A at the first (place 0) or last (-1) token of each target word."""
    every = range(max(target_words) + 1)
    return A[[[t for t, w in enumerate(target_words) if w == j][place] for j in every]]


def _same(A):
    """Each row a word of its own."""
    return list(range(len(A)))


def _largest(A, target_words, source_words):
    M = A.new_zeros(max(target_words) + 1, max(source_words) + 1)
    for t, j in enumerate(target_words):
        for s, i in enumerate(source_words):
            M[j, i] = max(M[j, i], A[t, s])
    return M


def _cases_of_maps():
    yield torch.tensor([[0.6, 0.1, 0.3], [0.2, 0.2, 0.6]]), [0, 0], [0, 0, 1]
    yield torch.tensor([[0.75, 0.25]]), [0], [0, 1]
    yield torch.zeros(2, 2), [0, 1], [0, 0]
    sizes = [([0, 1, 1, 2], [0, 1, 2, 2, 2]), ([0, 0, 0, 1, 2], [0, 1, 1, 2, 3, 3])]
    for target_words, source_words in [*sizes, ([0, 1, 2], [0, 1, 2, 3]), ([0, 0], [0, 0, 0])]:
        A = torch.randn(len(target_words), len(source_words) + 1).softmax(-1)
        yield A[:, :-1], target_words, source_words  # without the column of [EOS]


map_of_words = Exercise(
    name="map_of_words",
    chapter="09",
    section="From tokens to words",
    kind=WRITE,
    title="From tokens to words",
    goal="Turn a map between tokens into a map between words.",
    difficulty=3,
    importance=5,
    minutes=15,
    text="""\
Here is a map of one head, and two lists that say which word each token belongs to: for *mange|nt*
and *eat|ing|.* they are `[0, 0]` and `[0, 0, 1]`. Write the map between words: what the tokens of a
source word receive is **added**, and how the tokens of a target word look is **averaged**. Each
word has at least one token. Loops are welcome.

The column of `[EOS]` has been left out of `A` already, so its rows may sum to less than 1.""",
    hints=(
        "Start from a matrix of zeros with a row for each target word and a column for each source "
        "word. Where does the weight `A[t, s]` go?",
        "It is added to row `target_words[t]` and column `source_words[s]`. What it must be "
        "divided by first depends on the target word only.",
        "`target_words.count(j)` tokens make up word `j`: add "
        "`A[t, s] / target_words.count(target_words[t])`.",
    ),
    stub='''\
def map_of_words(A, target_words, source_words):
    """Weights between words from weights between tokens.

    A: float tensor (T, S)
    target_words: list of T ints, the word of each target token, 0 to T' - 1
    source_words: list of S ints, the word of each source token, 0 to S' - 1
    Returns M: float tensor (T', S')
    """
    raise NotImplementedError
''',
    solution='''\
def map_of_words(A, target_words, source_words):
    """Weights between words from weights between tokens.

    A: float tensor (T, S)
    target_words: list of T ints, the word of each target token, 0 to T' - 1
    source_words: list of S ints, the word of each source token, 0 to S' - 1
    Returns M: float tensor (T', S')
    """
    M = torch.zeros(target_words[-1] + 1, source_words[-1] + 1)
    for t, j in enumerate(target_words):
        for s, i in enumerate(source_words):
            M[j, i] += A[t, s] / target_words.count(j)
    return M
''',
    because="Columns are added and rows averaged, so a row of words sums to what its tokens' did.",
    reference=_map_of_words,
    cases=_cases_of_maps,
    mistakes=(
        (
            "Your rows are added: a word of two tokens looks twice as much as it can. Average "
            "them.",
            _sum_and_sum,
        ),
        (
            "Your columns are averaged: a source word receives what all its tokens receive "
            "together. Add them.",
            lambda A, t, s: _map_of_words(A, t, s) / F.one_hot(torch.tensor(s)).sum(0),
        ),
        (
            "It is the other way round: columns are added, rows are averaged.",
            lambda A, t, s: _sum_and_sum(A, t, s) / F.one_hot(torch.tensor(s)).sum(0),
        ),
        (
            "You take the largest weight of each pair of words. Add the columns, average the rows.",
            _largest,
        ),
        (
            "You take one token of each target word, the first. All of its tokens look; average "
            "their rows.",
            lambda A, t, s: _map_of_words(_one_token(A, t, 0), list(range(max(t) + 1)), s),
        ),
        (
            "You take one token of each target word, the last: an assignment with `=` forgets the "
            "rows before it. Average them.",
            lambda A, t, s: _map_of_words(_one_token(A, t, -1), list(range(max(t) + 1)), s),
        ),
        (
            "You take one token of each source word, the last: an assignment with `=` forgets the "
            "columns before it. Add them.",
            lambda A, t, s: _map_of_words(_one_token(A.T, s, -1).T, t, list(range(max(s) + 1))),
        ),
        (
            "You keep the last weight of each pair of words only: an assignment with `=` forgets "
            "those before it. Use `+=`.",
            lambda A, t, s: _one_token(_one_token(A, t, -1).T, s, -1).T,
        ),
        (
            "You divide each row by its sum, so that it sums to 1. Without `[EOS]` it need not: "
            "divide by the number of tokens.",
            lambda A, t, s: F.normalize(_sum_and_sum(A, t, s), p=1, dim=-1),
        ),
        (
            "You divide by the number of all target tokens; each word is divided by its own.",
            lambda A, t, s: _sum_and_sum(A, t, s) / len(t),
        ),
        (
            "You use the numbers of words as places of tokens, so that rows and columns are "
            "repeated. They say where a weight goes to, not where it comes from.",
            lambda A, t, s: A[t][:, s],
        ),
        (
            "Your map lies on its side: rows are target words, columns source words.",
            lambda A, t, s: _map_of_words(A, t, s).T,
        ),
        (
            "Your rows are averaged, but the columns are still those of tokens.",
            lambda A, t, s: _map_of_words(A, t, list(range(len(s)))),
        ),
    ),
    wrong={
        """\
def map_of_words(A, target_words, source_words):
    M = torch.zeros(max(target_words) + 1, max(source_words) + 1)
    for t in range(len(A)):
        for s in range(len(A[0])):
            M[target_words[t], source_words[s]] += A[t, s]
    return M
""": "rows are added",
        """\
def map_of_words(A, target_words, source_words):
    rows, columns = torch.tensor(target_words), torch.tensor(source_words)
    M = torch.zeros(rows.max() + 1, columns.max() + 1)
    for j in range(M.shape[0]):
        for i in range(M.shape[1]):
            M[j, i] = A[rows == j][:, columns == i].mean()
    return M
""": "columns are averaged",
        """\
def map_of_words(A, target_words, source_words):
    of_target = F.one_hot(torch.tensor(target_words)).float()
    of_source = F.one_hot(torch.tensor(source_words)).float()
    return of_target.T @ A @ (of_source / of_source.sum(dim=0, keepdim=True))
""": "other way round",
        """\
def map_of_words(A, target_words, source_words):
    rows, columns = torch.tensor(target_words), torch.tensor(source_words)
    words = [
        [A[rows == j][:, columns == i].max() for i in range(max(source_words) + 1)]
        for j in range(max(target_words) + 1)
    ]
    return torch.tensor(words)
""": "largest weight",
        """\
def map_of_words(A, target_words, source_words):
    M = torch.zeros(target_words[-1] + 1, source_words[-1] + 1)
    for j in range(len(M)):
        row = A[target_words.index(j)]
        for s, i in enumerate(source_words):
            M[j, i] += row[s]
    return M
""": "the first",
        """\
def map_of_words(A, target_words, source_words):
    columns = F.one_hot(torch.tensor(source_words)).float()
    M = torch.zeros(target_words[-1] + 1, source_words[-1] + 1)
    for t, word in enumerate(target_words):
        M[word] = A[t] @ columns
    return M
""": "target word, the last",
        """\
def map_of_words(A, target_words, source_words):
    M = torch.zeros(target_words[-1] + 1, source_words[-1] + 1)
    for j in range(len(M)):
        rows = A[[t for t, word in enumerate(target_words) if word == j]].mean(dim=0)
        for s, i in enumerate(source_words):
            M[j, i] = rows[s]
    return M
""": "source word, the last",
        """\
def map_of_words(A, target_words, source_words):
    M = torch.zeros(target_words[-1] + 1, source_words[-1] + 1)
    for t, j in enumerate(target_words):
        for s, i in enumerate(source_words):
            M[j, i] = A[t, s]
    return M
""": "Use `+=`",
        """\
def map_of_words(A, target_words, source_words):
    M = torch.zeros(target_words[-1] + 1, source_words[-1] + 1)
    for t, j in enumerate(target_words):
        for s, i in enumerate(source_words):
            M[j, i] += A[t, s]
    return M / M.sum(dim=1, keepdim=True).clamp(min=1e-9)
""": "so that it sums to 1",
        """\
def map_of_words(A, target_words, source_words):
    T, S = A.shape
    M = torch.zeros(target_words[-1] + 1, source_words[-1] + 1)
    for t in range(T):
        for s in range(S):
            M[target_words[t], source_words[s]] += A[t, s] / T
    return M
""": "all target tokens",
        """\
def map_of_words(A, target_words, source_words):
    rows, columns = torch.tensor(target_words), torch.tensor(source_words)
    return A[rows[:, None], columns]
""": "places of tokens",
        """\
def map_of_words(A, target_words, source_words):
    M = torch.zeros(source_words[-1] + 1, target_words[-1] + 1)
    for t, j in enumerate(target_words):
        for s, i in enumerate(source_words):
            M[i, j] += A[t, s] / target_words.count(j)
    return M
""": "on its side",
        """\
def map_of_words(A, target_words, source_words):
    rows = torch.tensor(target_words)
    return torch.stack([A[rows == j].mean(dim=0) for j in range(rows.max() + 1)])
""": "those of tokens",
        """\
def map_of_words(A, target_words, source_words):
    A /= torch.tensor([target_words.count(j) for j in target_words])[:, None]
    rows = F.one_hot(torch.tensor(target_words)).float()
    return rows.T @ A @ F.one_hot(torch.tensor(source_words)).float()
""": "changes its argument `A`",
    },
    right=(
        """\
def map_of_words(A, target_words, source_words):
    of_target = F.one_hot(torch.tensor(target_words)).float()  # (T, T')
    of_source = F.one_hot(torch.tensor(source_words)).float()  # (S, S')
    return (of_target / of_target.sum(dim=0)).T @ A @ of_source
""",
        """\
def map_of_words(A, target_words, source_words):
    rows, columns = torch.tensor(target_words), torch.tensor(source_words)
    M = torch.zeros(rows.max() + 1, columns.max() + 1)
    for j in range(M.shape[0]):
        for i in range(M.shape[1]):
            M[j, i] = A[rows == j][:, columns == i].sum(dim=1).mean()
    return M
""",
        """\
def map_of_words(A, target_words, source_words):
    added = torch.zeros(len(A), max(source_words) + 1).index_add(1, torch.tensor(source_words), A)
    rows = torch.tensor(target_words)
    return torch.stack([added[rows == j].mean(dim=0) for j in rows.unique()])
""",
    ),
)


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
    minutes=10,
    text="""\
Row $t$ of a map *reads* token $t$ of `["[BOS]", *tokens]` and *writes* token $t$ of
`[*tokens, "[EOS]"]`. A colleague makes the matrix that averages the rows of each word, at the
output step or at the input step. It runs, and at the output step all is well. At the input step
every error rate is a disaster. That would be true of the small models, so compare with the model of
captions: even its aligner of chapter 09 is bad now. **Find the mistake and mend it.**""",
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
            "As it was: the input step goes one row back, and for the first token that is the "
            "last row.",
            _moved(0, -1),
        ),
        (
            "Now both steps have the same rows. A token is written in one row and read in another.",
            _moved(0, 0),
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


def _rate_of_all(predicted, sure):
    predicted, sure = (
        {(n, *link) for n, links in enumerate(side) for link in links} for side in (predicted, sure)
    )
    return alignment_error_rate(predicted, sure)


def _counts(predicted, sure):
    hits = sum(len(p & s) for p, s in zip(predicted, sure, strict=True))
    return hits, sum(map(len, predicted)), sum(map(len, sure))


def _from_counts(rate):
    """A rate from the numbers of hits, of predicted and of true links; 1 without any."""

    def of_all(predicted, sure):
        hits, guesses, truths = _counts(predicted, sure)
        return rate(hits, guesses, truths) if guesses else 1.0

    return of_all


def _mean_rate(predicted, sure):
    rates = [1 - 2 * len(p & s) / (len(p) + len(s)) for p, s in zip(predicted, sure, strict=True)]
    return sum(rates) / len(rates)


def _joined(predicted, sure):
    return _mean_rate([set().union(*predicted)], [set().union(*sure)])


def _cases_of_links():
    yield [{(0, 0), (1, 1)}], [{(0, 0), (1, 1), (2, 1)}]
    yield [{(0, 0), (1, 1), (2, 2)}], [{(0, 0), (1, 2), (2, 1)}]
    yield [{(0, 0)}], [{(0, 0)}]
    yield [set()], [{(0, 0), (1, 1)}]
    yield [{(0, 0), (1, 1)}, {(0, 1)}], [{(0, 0)}, {(0, 1), (1, 0), (1, 1)}]
    four = {(i, i) for i in range(4)}
    yield [{(0, 0)}, four, set()], [{(0, 1)}, {(0, 0), (1, 1)}, {(0, 0)}]
    for _ in range(2):
        yield tuple(
            [set(map(tuple, torch.randint(4, (size, 2)).tolist())) for size in sizes]
            for sizes in ((4, 6, 5), (6, 4, 9))
        )


rate_of_all = Exercise(
    name="rate_of_all",
    chapter="09",
    section="From maps to a number",
    kind=WRITE,
    title="One error rate for many sentences",
    goal="Count links over a whole test set and turn the counts into a rate.",
    difficulty=2,
    importance=4,
    minutes=10,
    text="""\
Write the alignment error rate of a test set. A sentence has a set of predicted links and a set of
true ones; a link is a tuple (English, French). As in the chapter, the links of all sentences count
**together**: the rate is not the mean over the sentences. A set may be empty, but there is always
at least one true link.""",
    hints=(
        "Three sums over the sentences are needed: of hits, of predicted and of true links.",
        "`p & s` is the set of what two sets share, and `len` counts it. Link (0, 0) of one "
        "sentence is not link (0, 0) of another, so count sentence by sentence.",
        "`zip(predicted, sure)` yields the two sets of each sentence. With the three sums, the "
        "rate is `1 - 2 * hits / (guesses + truths)`.",
    ),
    stub='''\
def rate_of_all(predicted, sure):
    """Alignment error rate of N sentences.

    predicted: list of N sets of tuples (English, French), the links that a head gives
    sure: list of N sets of such tuples, the true links
    Returns a float, 0 (all right) to 1 (all wrong)
    """
    raise NotImplementedError
''',
    solution='''\
def rate_of_all(predicted, sure):
    """Alignment error rate of N sentences.

    predicted: list of N sets of tuples (English, French), the links that a head gives
    sure: list of N sets of such tuples, the true links
    Returns a float, 0 (all right) to 1 (all wrong)
    """
    hits = sum(len(p & s) for p, s in zip(predicted, sure))
    guesses = sum(len(p) for p in predicted)
    truths = sum(len(s) for s in sure)
    return 1 - 2 * hits / (guesses + truths)
''',
    because="Counted together, a long sentence weighs more than a short one.",
    reference=_rate_of_all,
    cases=_cases_of_links,
    forbidden=(alignment_error_rate, error_rates),
    mistakes=(
        (
            "Your rate is the mean of the sentences' rates, in which a short sentence counts as "
            "much as a long one. Add up the links of all sentences first.",
            _mean_rate,
        ),
        (
            "You join the links of all sentences in one set, where (0, 0) of two sentences is one "
            "link. Count sentence by sentence, or put the number of the sentence into each link.",
            _joined,
        ),
        (
            "That is the agreement, which is 1 when all is right. The error rate is 1 minus it.",
            lambda predicted, sure: 1 - _rate_of_all(predicted, sure),
        ),
        (
            "The 2 above the line is missing: even a perfect head would have a rate of 1/2.",
            _from_counts(lambda hits, guesses, truths: 1 - hits / (guesses + truths)),
        ),
        (
            "You divide by the predicted links alone, so that links which were not found cost "
            "nothing.",
            _from_counts(lambda hits, guesses, truths: 1 - hits / guesses),
        ),
        (
            "You divide by the true links alone, so that a bluffer who links each word with each "
            "gets a rate of 0.",
            _from_counts(lambda hits, guesses, truths: 1 - hits / truths),
        ),
        (
            "You divide by the links that are in at least one of the sets; below the line stands "
            "the sum of both sizes.",
            _from_counts(lambda hits, guesses, truths: 1 - hits / (guesses + truths - hits)),
        ),
        (
            "Your rate is that of the last sentence alone: each turn of the loop begins anew.",
            lambda predicted, sure: _mean_rate(predicted[-1:], sure[-1:]),
        ),
        (
            "Your rate is that of the first sentence alone: the `return` stands inside the loop.",
            lambda predicted, sure: _mean_rate(predicted[:1], sure[:1]),
        ),
        (
            "Your rate is in percent; it goes from 0 to 1.",
            lambda predicted, sure: 100 * _rate_of_all(predicted, sure),
        ),
    ),
    wrong={
        """\
def rate_of_all(predicted, sure):
    total = 0
    for p, s in zip(predicted, sure):
        total += 1 - 2 * len(p.intersection(s)) / (len(p) + len(s))
    return total / len(sure)
""": "mean of the sentences",
        """\
def rate_of_all(predicted, sure):
    A = {link for links in predicted for link in links}
    S = {link for links in sure for link in links}
    return 1 - 2 * len(A & S) / (len(A) + len(S))
""": "in one set",
        """\
def rate_of_all(predicted, sure):
    hits = sum(link in s for p, s in zip(predicted, sure) for link in p)
    return 2 * hits / sum(len(p) + len(s) for p, s in zip(predicted, sure))
""": "1 minus it",
        """\
def rate_of_all(predicted, sure):
    hits = sum(len(p & s) for p, s in zip(predicted, sure))
    both = sum(len(p) + len(s) for p, s in zip(predicted, sure))
    return (both - hits) / both
""": "2 above the line",
        """\
def rate_of_all(predicted, sure):
    wrong = sum(len(p - s) for p, s in zip(predicted, sure))
    return wrong / max(1, sum(map(len, predicted))) if any(predicted) else 1.0
""": "predicted links alone",
        """\
def rate_of_all(predicted, sure):
    missed = sum(len(s - p) for p, s in zip(predicted, sure))
    return missed / sum(len(s) for s in sure)
""": "true links alone",
        """\
def rate_of_all(predicted, sure):
    hits = sum(len(p & s) for p, s in zip(predicted, sure))
    return 1 - hits / sum(len(p | s) for p, s in zip(predicted, sure))
""": "at least one of the sets",
        """\
def rate_of_all(predicted, sure):
    for p, s in zip(predicted, sure):
        hits = len(p & s)
        size = len(p) + len(s)
    return 1 - 2 * hits / size
""": "last sentence alone",
        """\
def rate_of_all(predicted, sure):
    for p, s in zip(predicted, sure):
        return 1 - 2 * len(p & s) / (len(p) + len(s))
""": "inside the loop",
        """\
def rate_of_all(predicted, sure):
    hits = sum(len(p & s) for p, s in zip(predicted, sure))
    size = sum(map(len, predicted)) + sum(map(len, sure))
    return round(100 * (1 - 2 * hits / size), 2)
""": "in percent",
        """\
def rate_of_all(predicted, sure):
    return 1 - 2 * len(predicted & sure) / (len(predicted) + len(sure))
""": "TypeError: unsupported operand",
        """\
def rate_of_all(predicted, sure):
    from tutor.evaluation.scoring import alignment_error_rate
    A = {(n, *link) for n, links in enumerate(predicted) for link in links}
    S = {(n, *link) for n, links in enumerate(sure) for link in links}
    return alignment_error_rate(A, S)
""": "calls `alignment_error_rate`",
    },
    right=(
        """\
def rate_of_all(predicted, sure):
    A = {(n, *link) for n, links in enumerate(predicted) for link in links}
    S = {(n, *link) for n, links in enumerate(sure) for link in links}
    return 1 - 2 * len(A & S) / (len(A) + len(S))
""",
        """\
def rate_of_all(predicted, sure):
    alone = total = 0
    for p, s in zip(predicted, sure):
        alone += len(p ^ s)
        total += len(p) + len(s)
    return alone / total
""",
        """\
def rate_of_all(predicted, sure):
    hits = torch.tensor([len(p & s) for p, s in zip(predicted, sure)]).sum()
    sizes = torch.tensor([len(p) + len(s) for p, s in zip(predicted, sure)]).sum()
    return 1 - 2 * hits / sizes
""",
    ),
)


def _merge(Y, W_O):
    return unslice_vertically(Y) @ W_O


def _without_head(Y, W_O, head):
    """The sum over all heads but one of what each adds."""
    d_v = Y.shape[-1]
    parts = [Y[:, i] @ W_O[i * d_v : (i + 1) * d_v] for i in range(Y.shape[1]) if i != head]
    return sum(parts, Y.new_zeros(Y.shape[0], Y.shape[2], W_O.shape[1]))


def _rows_off(rows_of):
    """Zeros in other rows of W_O: rows_of(head, h, d_v, d_model) is a slice."""

    def without(Y, W_O, head):
        W_O = W_O.clone()
        W_O[rows_of(head, Y.shape[1], Y.shape[3], W_O.shape[1])] = 0
        return _merge(Y, W_O)

    return without


def _columns_off(Y, W_O, head):
    W_O, d_v = W_O.clone(), Y.shape[-1]
    W_O[:, head * d_v : (head + 1) * d_v] = 0
    return _merge(Y, W_O)


def _first_rows(Y, W_O, head):
    """The head is taken out of Y, and the first rows of W_O meet what is left."""
    rest = unslice_vertically(torch.cat([Y[:, :head], Y[:, head + 1 :]], dim=1))
    return rest @ W_O[: rest.shape[-1]]


def _cases_of_heads():
    for N, h, T, d_v, d_model, head in [
        (1, 2, 1, 1, 2, 1),
        (1, 2, 1, 1, 2, 0),
        (1, 3, 2, 2, 4, 1),
        (2, 3, 4, 5, 6, 2),
        (2, 4, 3, 3, 12, 1),
        (3, 1, 2, 4, 5, 0),
    ]:
        yield torch.randn(N, h, T, d_v), torch.randn(h * d_v, d_model), head
    yield torch.zeros(2, 2, 3, 2), torch.randn(4, 4), 0


result_without_a_head = Exercise(
    name="result_without_a_head",
    chapter="09",
    section="Switching heads off",
    kind=WRITE,
    title="Take a head away",
    goal="Switch one head off by its rows of $W^O$.",
    difficulty=3,
    importance=4,
    minutes=12,
    text="""\
The heads of an attention have done their work; `Y` holds their results. What is left is to put the
results side by side and to multiply with $W^O$. Do so, but let one head add nothing: set its rows
of $W^O$ to zero. The caller still needs the whole $W^O$, so do that on a copy.

Whoever likes may silence the head in `Y` in place of $W^O$; the numbers are the same.""",
    hints=(
        "Which columns belong to the head, once all results stand side by side? Its rows of $W^O$ "
        "have the same numbers.",
        "Head 0 has rows 0 to $d_v - 1$, and each further head the next $d_v$ rows. `W_O.clone()` "
        "is a copy.",
        "Set rows `head * d_v : (head + 1) * d_v` of the copy to 0. "
        "`Y.transpose(1, 2).flatten(2)` puts the heads side by side, (N, T, h * d_v).",
    ),
    stub='''\
def result_without_a_head(Y, W_O, head):
    """The result of many heads, without one of them.

    Y: float tensor (N, h, T, d_v), the results of the heads
    W_O: float tensor (h * d_v, d_model), the way out
    head: int, the head that is to add nothing, from 0
    Returns float tensor (N, T, d_model)
    """
    raise NotImplementedError
''',
    solution='''\
def result_without_a_head(Y, W_O, head):
    """The result of many heads, without one of them.

    Y: float tensor (N, h, T, d_v), the results of the heads
    W_O: float tensor (h * d_v, d_model), the way out
    head: int, the head that is to add nothing, from 0
    Returns float tensor (N, T, d_model)
    """
    d_v = Y.shape[-1]
    W_O = W_O.clone()
    W_O[head * d_v : (head + 1) * d_v] = 0.0
    return Y.transpose(1, 2).flatten(2) @ W_O  # (N, T, d_model)
''',
    because="Heads add up behind W_O, so a head without rows is gone and the others stay.",
    reference=_without_head,
    cases=_cases_of_heads,
    mistakes=(
        (
            "Your head is still there: nothing was switched off.",
            lambda Y, W_O, head: _merge(Y, W_O),
        ),
        (
            "You set columns of W_O to zero. Columns belong to the result, of which every head has "
            "a say; a head's rows are what it adds.",
            _columns_off,
        ),
        (
            "You set every h-th row of W_O to zero. The rows of a head stand together.",
            _rows_off(lambda head, h, d_v, d_model: slice(head, None, h)),
        ),
        (
            "You set one row of W_O to zero; a head has d_v rows.",
            _rows_off(lambda head, h, d_v, d_model: slice(head, head + 1)),
        ),
        (
            "Your rows begin at `head`; the rows of a head begin at head times d_v.",
            _rows_off(lambda head, h, d_v, d_model: slice(head, head + d_v)),
        ),
        (
            "You count d_model / h rows for each head. The width of a head's result is d_v.",
            _rows_off(
                lambda head, h, d_v, d_model: slice(
                    head * (d_model // h), (head + 1) * (d_model // h)
                )
            ),
        ),
        (
            "You keep the one head and switch the others off.",
            lambda Y, W_O, head: _merge(Y, W_O) - _without_head(Y, W_O, head),
        ),
        (
            "The head is out, but the heads behind it meet rows of W_O that are not theirs: zero "
            "the rows, or leave them out as well.",
            _first_rows,
        ),
        (
            "You make up for the head that is gone: the others stay as they are.",
            lambda Y, W_O, head: (
                _without_head(Y, W_O, head) * (Y.shape[1] / max(1, Y.shape[1] - 1))
            ),
        ),
        (
            "The heads are joined without swapping heads and words back: transpose first.",
            lambda Y, W_O, head: (
                Y.index_fill(1, torch.tensor([head]), 0).reshape(
                    Y.shape[0], Y.shape[2], W_O.shape[0]
                )
                @ W_O
            ),
        ),
        (
            "You counted the heads from 1; `head` counts them from 0.",
            lambda Y, W_O, head: _without_head(Y, W_O, head - 1 if head else Y.shape[1] - 1),
        ),
    ),
    wrong={
        """\
def result_without_a_head(Y, W_O, head):
    N, h, T, d_v = Y.shape
    left = torch.cat([W_O[: head * d_v], W_O[head * d_v :]])
    return Y.transpose(1, 2).reshape(N, T, h * d_v) @ left
""": "nothing was switched off",
        """\
def result_without_a_head(Y, W_O, head):
    N, h, T, d_v = Y.shape
    keep = torch.ones(W_O.shape[1])
    keep[head * d_v : head * d_v + d_v] = 0
    return Y.transpose(1, 2).reshape(N, T, -1) @ (W_O * keep)
""": "columns of W_O",
        """\
def result_without_a_head(Y, W_O, head):
    N, h, T, d_v = Y.shape
    keep = (torch.arange(h * d_v) % h != head).float()
    return Y.transpose(1, 2).reshape(N, T, -1) @ (W_O * keep[:, None])
""": "every h-th row",
        """\
def result_without_a_head(Y, W_O, head):
    W = torch.clone(W_O)
    W[head] = 0
    return Y.transpose(1, 2).flatten(start_dim=2) @ W
""": "one row",
        """\
def result_without_a_head(Y, W_O, head):
    d_v = Y.size(-1)
    W = torch.cat([W_O[:head], 0 * W_O[head : head + d_v], W_O[head + d_v :]])
    return Y.transpose(1, 2).flatten(2) @ W
""": "begin at `head`",
        """\
def result_without_a_head(Y, W_O, head):
    d = W_O.shape[1] // Y.shape[1]
    W = W_O.clone()
    W[d * head : d * (head + 1), :] = 0
    return Y.permute(0, 2, 1, 3).flatten(2) @ W
""": "d_model / h",
        """\
def result_without_a_head(Y, W_O, head):
    d_v = Y.shape[-1]
    return Y[:, head] @ W_O[head * d_v : (head + 1) * d_v]
""": "switch the others off",
        """\
def result_without_a_head(Y, W_O, head):
    N, h, T, d_v = Y.shape
    others = [i for i in range(h) if i != head]
    return Y[:, others].transpose(1, 2).flatten(2) @ W_O[: (h - 1) * d_v]
""": "not theirs",
        """\
def result_without_a_head(Y, W_O, head):
    N, h, T, d_v = Y.shape
    parts = [Y[:, i] @ W_O[i * d_v : (i + 1) * d_v] for i in range(h) if i != head]
    if not parts:
        return torch.zeros(N, T, W_O.shape[1])
    return torch.stack(parts).mean(dim=0) * h
""": "make up",
        """\
def result_without_a_head(Y, W_O, head):
    N, h, T, d_v = Y.shape
    silent = Y * (torch.arange(h) != head)[:, None, None]
    return silent.reshape(N, T, h * d_v) @ W_O
""": "without swapping",
        """\
def result_without_a_head(Y, W_O, head):
    N, h, T, d_v = Y.shape
    silent = torch.stack([Y[:, i] * (i != (head - 1) % h) for i in range(h)], dim=2)
    return silent.flatten(2) @ W_O
""": "heads from 1",
        """\
def result_without_a_head(Y, W_O, head):
    d_v = Y.shape[-1]
    W_O[head * d_v : (head + 1) * d_v] = 0
    return Y.transpose(1, 2).flatten(2) @ W_O
""": "changes its argument `W_O`",
    },
    right=(
        """\
def result_without_a_head(Y, W_O, head):
    silent = Y.clone()
    silent[:, head] = 0
    return torch.cat(silent.unbind(dim=1), dim=-1) @ W_O
""",
        """\
def result_without_a_head(Y, W_O, head):
    N, h, T, d_v = Y.shape
    on = (torch.arange(h) != head).float()
    return torch.einsum("nhtv,hvd,h->ntd", Y, W_O.view(h, d_v, -1), on)
""",
        """\
def result_without_a_head(Y, W_O, head):
    d_v = Y.shape[-1]
    whole = Y.transpose(1, 2).flatten(2) @ W_O
    return whole - Y[:, head] @ W_O[d_v * head : d_v * (head + 1)]
""",
    ),
)

what_the_map_leaves_out = Exercise(
    name="what_the_map_leaves_out",
    chapter="09",
    section="What a heat map does not show",
    kind=EXPLAIN,
    title="“It looked at *nurse*”",
    goal="Say what a heat map does not show, and how one would find out.",
    difficulty=3,
    importance=5,
    minutes=15,
    text="""\
A colleague shows you one head's map of one sentence. In the row of *infirmière* the column *nurse*
is bright. “So this is why the model wrote *infirmière*”, she says, “and this is its most important
head.” **Explain** in four to seven sentences what the map does not show. Name at least three
things, and for two of them a measurement that would tell.""",
    hints=(
        "Four paths lead away from her claim: what the row stands for, what the column stands for, "
        "whether the weights were needed, and how this head and sentence were chosen.",
        "Which two names does a row have? What has happened to the vector at the place of *nurse* "
        "before the decoder sees it?",
        "Two measurements of the chapter: replace the head's weights by even ones, or switch the "
        "head off, and translate many sentences again.",
    ),
    stub='''\
what_the_map_leaves_out = """

"""
''',
    solution='''\
what_the_map_leaves_out = """
The map does not show that these weights were needed. Replace them by even ones in 100 sentences,
translate again, and see how far exact match falls. Nor does it show that the head matters: switch
it off and count what is lost. Without the best aligner of the small model that was only a few
sentences; without another head with a worse map it was far more. A row has two names: it writes one
token and has read the one before, so one must first measure at which step this head aligns. The
column is called nurse, but its key and value come from the encoder, where all places have been
mixed. A weight does not say how long the vector is that comes in with it, nor what later layers
make of it. And one sentence proves nothing: choose the head on validation sentences, and report its
error rate on others.
"""
''',
    because="Nobody has judged it yet: compare it with the rubric beside the solution.",
    wrong={
        "what_the_map_leaves_out = 'The map shows only one head.'": "at least 12 words",
        "what_the_map_leaves_out = ['rows', 'columns']": "as a text in quotes",
        "what_the_map_leaves_out = None": "as a text in quotes",
    },
    rubric="""\
3 points at most for what is not shown, 1 for each:

- the weights may not have been needed: other weights, same translation;
- a good map does not make a head important;
- a row writes one token and reads another;
- the encoder has mixed the column's vector with its neighbours;
- the length of the value and what later layers do are not seen;
- one sentence and one head were picked, so luck is reported too.

2 points at most for measurements that fit, 1 for each:

- even weights, or the head switched off, over many sentences;
- the error rate at both steps, against gold links;
- choosing on validation and reporting on test, or an untrained model beside it;
- changing a neighbouring word and seeing the vectors move.

Take 1 point off for the claim that attention *never* explains anything: it has to be tested.""",
)

EXERCISES = (
    rate_on_paper,
    map_of_words,
    rows_of_a_word,
    rate_of_all,
    result_without_a_head,
    what_the_map_leaves_out,
)
