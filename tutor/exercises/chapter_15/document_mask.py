"""Documents that share a row and do not see each other."""

import torch

from tutor.check.exercise import WRITE, Exercise


def _mask(documents):
    T = len(documents)
    future = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)  # (T, T)
    return future | (documents[:, None] != documents[None, :])  # (T, T)


def _others(documents):
    return documents[:, None] != documents[None, :]  # (T, T)


def _cases_of_rows():
    for row in ([1, 1, 1, 2, 2], [1, 2, 2, 3], [1, 1], [1, 1, 2, 2, 2, 3, 0, 0]):
        yield (torch.tensor(row),)


document_mask = Exercise(
    name="document_mask",
    chapter="15",
    section="Many documents in one row",
    kind=WRITE,
    title="Neighbours that do not see each other",
    goal="Keep documents apart that share a row.",
    difficulty=2,
    importance=4,
    minutes=4,
    text="""\
`documents` says for each token of a row which document it belongs to. Return the mask: True where
the query (row) may not attend to the key (column), because it is later or of another document.""",
    hints=(
        "Two reasons to hide a key, joined with `|`.",
        "`documents[:, None]` is a column, `documents[None, :]` a row; `!=` compares all pairs.",
        "`causal_mask(len(documents)) | (documents[:, None] != documents[None, :])`.",
    ),
    stub='''\
def document_mask(documents):
    """documents: (T), a whole number a token. Returns (T, T) bool, True = may not be attended to.

    causal_mask(T) is at hand.
    """
    ...  # one line
''',
    setup="from tutor.attention import causal_mask\n",
    solution="""\
def document_mask(documents):
    return causal_mask(len(documents)) | (documents[:, None] != documents[None, :])  # (T, T)
""",
    because="A mask has one True for every reason to look away.",
    reference=_mask,
    cases=_cases_of_rows,
    mistakes=(
        ("The mask is upside down: True means *hidden*.", lambda documents: ~_mask(documents)),
        ("Later tokens of the same document are not hidden.", _others),
        (
            "Other documents are not hidden: this is the causal mask alone.",
            lambda documents: _mask(torch.zeros_like(documents)),
        ),
        (
            "Only what is hidden for both reasons is hidden: join the two with `|`, not `&`.",
            lambda documents: _mask(torch.zeros_like(documents)) & _others(documents),
        ),
        (
            "This hides the token's own document, and not the others.",
            lambda documents: _mask(torch.zeros_like(documents)) | ~_others(documents),
        ),
        (
            "`<` hides documents with a larger number alone: those before it, and later tokens of "
            "its own, are seen.",
            lambda documents: documents[:, None] < documents,
        ),
        (
            "`>` hides documents with a smaller number alone: what comes later is seen.",
            lambda documents: documents[:, None] > documents,
        ),
        (
            "Numbers need not grow: in the last row padding has the number 0. Compare with `!=`.",
            lambda documents: _mask(torch.zeros_like(documents)) | (documents[:, None] > documents),
        ),
    ),
    wrong={
        """\
def document_mask(documents):
    return documents[:, None] != documents[None, :]
""": "Later tokens",
        """\
def document_mask(documents):
    return causal_mask(len(documents))
""": "Other documents are not hidden",
        """\
def document_mask(documents):
    return causal_mask(len(documents)) | (documents[:, None] == documents[None, :])
""": "own document",
        """\
def document_mask(documents):
    return ~(causal_mask(len(documents)) | (documents[:, None] != documents[None, :]))
""": "upside down",
        """\
def document_mask(documents):
    return documents[:, None] < documents[None, :]
""": "with a larger number alone",
        """\
def document_mask(documents):
    return torch.gt(documents[:, None], documents)
""": "with a smaller number alone",
        """\
def document_mask(documents):
    return causal_mask(len(documents)) | (documents[:, None] > documents)
""": "need not grow",
    },
    right=(
        """\
def document_mask(documents):
    T = len(documents)
    mask = torch.ones(T, T, dtype=torch.bool)
    for t in range(T):
        for s in range(t + 1):
            mask[t, s] = documents[t] != documents[s]
    return mask
""",
        """\
def document_mask(documents):
    T = len(documents)
    at = torch.arange(T)
    allowed = (at[:, None] >= at) & (documents[:, None] == documents)
    return ~allowed
""",
    ),
)
