"""What one beam proposes."""

import math

from tutor.check.exercise import WRITE, Exercise


def _propose(tokens, total, log_p):
    if tokens[-1:] == ("[EOS]",):
        return [(tokens, total)]
    return [((*tokens, token), total + step) for token, step in log_p.items()]


def _in_order(answer, tokens, total, log_p):
    """Proposals in one order, whatever the answer's; as it is where it is no list of them."""
    proposals = answer(tokens, total, log_p)
    try:
        return sorted(list(map(tuple, proposals)))
    except TypeError:
        return proposals


def _cases_of_beams():
    for tokens, total, shares in [
        (("un",), 0.5, {"box": 0.4, "boîte": 0.35, "carton": 0.25}),
        ((), 1.0, {"un": 0.5, "une": 0.4, "[EOS]": 0.1}),
        (("une", "boîte"), 0.36, {"rouge": 0.5, "[EOS]": 0.45, "ouverte": 0.05}),
        (("une", "boîte", "[EOS]"), 0.162, {"un": 0.75, "une": 0.25}),
        (("[EOS]",), 0.1, {"un": 1.0}),
    ]:
        yield tokens, math.log(total), {token: math.log(q) for token, q in shares.items()}


def _never_ended(tokens, total, log_p):
    return [((*tokens, token), total + step) for token, step in log_p.items()]


def _ended_or(tokens, total, proposals):
    return [(tokens, total)] if tokens[-1:] == ("[EOS]",) else proposals


propose = Exercise(
    name="propose",
    chapter="08",
    section="Beam search on paper",
    kind=WRITE,
    title="What one beam proposes",
    goal="Grow a beam by every next token, and keep one that has ended.",
    difficulty=2,
    importance=5,
    minutes=6,
    text="""\
Write rules 1 and 2: all proposals of one beam. A beam is a tuple of tokens and the sum of their
log-probabilities; `log_p` maps each possible next token to its log-probability.""",
    hints=(
        "Ask first whether the last token is `[EOS]`. The beam may be empty: then there is none.",
        "`tokens[-1:]` is a tuple of the last token, or an empty one. A beam that has ended "
        "proposes `[(tokens, total)]`.",
        "`(*tokens, token)` is the longer tuple, and `total + log_p[token]` its sum: one pair for "
        "each token of `log_p`.",
    ),
    stub='''\
def propose(tokens, total, log_p):
    """tokens: a tuple. log_p: dict from next token to log-probability.

    Returns a list of (tokens, total), one for each proposal."""
    ...  # two or three lines
''',
    solution="""\
def propose(tokens, total, log_p):
    if tokens[-1:] == ("[EOS]",):
        return [(tokens, total)]
    return [((*tokens, token), total + step) for token, step in log_p.items()]
""",
    because="A finished beam costs nothing more; a live one has a child for each next token.",
    reference=_propose,
    cases=_cases_of_beams,
    call=_in_order,
    mistakes=(
        (
            "A beam that has ended goes on here. By rule 2 it proposes itself, unchanged. "
            '`tokens[-1:]` is a tuple: compare with `("[EOS]",)`, not with a text.',
            _never_ended,
        ),
        (
            "A beam that has ended proposes nothing here, so it is lost. By rule 2 it proposes "
            "itself, unchanged.",
            lambda tokens, total, log_p: (
                [] if tokens[-1:] == ("[EOS]",) else _never_ended(tokens, total, log_p)
            ),
        ),
        (
            "The new totals hold the last token alone. Add it to the beam's total.",
            lambda tokens, total, log_p: _ended_or(
                tokens, total, [((*tokens, token), step) for token, step in log_p.items()]
            ),
        ),
        (
            "You multiply logarithms. Probabilities are multiplied, so their logarithms are added.",
            lambda tokens, total, log_p: _ended_or(
                tokens, total, [((*tokens, token), total * step) for token, step in log_p.items()]
            ),
        ),
        (
            "The proposals hold the new token alone; each is the whole beam, one token longer.",
            lambda tokens, total, log_p: _ended_or(
                tokens, total, [((token,), total + step) for token, step in log_p.items()]
            ),
        ),
        (
            "The new token stands in front. It belongs behind the others.",
            lambda tokens, total, log_p: _ended_or(
                tokens, total, [((token, *tokens), total + step) for token, step in log_p.items()]
            ),
        ),
        (
            "The beam itself is among the proposals of a live beam. Only a finished one proposes "
            "itself.",
            lambda tokens, total, log_p: _ended_or(
                tokens, total, [(tokens, total), *_never_ended(tokens, total, log_p)]
            ),
        ),
        (
            "An empty beam has no last token: `tokens[-1]` fails there. `tokens[-1:]` is a tuple "
            "that may be empty.",
            lambda tokens, total, log_p: (
                [(tokens, total)] if tokens[-1] == "[EOS]" else _never_ended(tokens, total, log_p)
            ),
        ),
    ),
    wrong={
        """\
def propose(tokens, total, log_p):
    proposals = []
    for token in log_p:
        proposals.append((tokens + (token,), total + log_p[token]))
    return proposals
""": "goes on here",
        """\
def propose(tokens, total, log_p):
    if tokens[-1:] == "[EOS]":
        return [(tokens, total)]
    return [((*tokens, token), total + step) for token, step in log_p.items()]
""": "is a tuple",
        """\
def propose(tokens, total, log_p):
    if "[EOS]" in tokens:
        return []
    return [(tokens + (token,), total + step) for token, step in log_p.items()]
""": "proposes nothing",
        """\
def propose(tokens, total, log_p):
    if len(tokens) and tokens[-1] == "[EOS]":
        return [(tokens, total)]
    return [(tokens + (token,), log_p[token]) for token in log_p]
""": "last token alone",
        """\
def propose(tokens, total, log_p):
    if "[EOS]" in tokens:
        return [(tokens, total)]
    return [((*tokens, token), total * step) for token, step in log_p.items()]
""": "multiply logarithms",
        """\
def propose(tokens, total, log_p):
    if "[EOS]" in tokens:
        return [(tokens, total)]
    return [((token,), total + step) for token, step in log_p.items()]
""": "the whole beam",
        """\
def propose(tokens, total, log_p):
    if tokens[-1] == "[EOS]":
        return [(tokens, total)]
    return [((*tokens, token), total + step) for token, step in log_p.items()]
""": "no last token",
    },
    right=(
        """\
def propose(tokens, total, log_p):
    if "[EOS]" in tokens:
        return [(tokens, total)]
    proposals = []
    for token in sorted(log_p):
        proposals.append([tokens + (token,), total + log_p[token]])
    return proposals
""",
        """\
def propose(tokens, total, log_p):
    if tokens and tokens[-1] == "[EOS]":
        return [(tokens, total)]
    return [(tuple(list(tokens) + [token]), total + log_p[token]) for token in log_p]
""",
    ),
)
