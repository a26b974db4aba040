"""From tokens to words."""

import torch
import torch.nn.functional as F

from tutor.check.exercise import WRITE, Exercise


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
    minutes=10,
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
    """Weights (T', S') between words from weights A (T, S) between tokens.

    target_words: T ints, the word of each target token; source_words: S ints, likewise
    """
    ...  # five lines: zeros, a loop over t, one over s, where A[t, s] goes, return
''',
    solution="""\
def map_of_words(A, target_words, source_words):
    M = torch.zeros(target_words[-1] + 1, source_words[-1] + 1)
    for t, j in enumerate(target_words):
        for s, i in enumerate(source_words):
            M[j, i] += A[t, s] / target_words.count(j)
    return M
""",
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
