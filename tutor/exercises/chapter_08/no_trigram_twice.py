"""Nothing three times in a row, twice."""

import torch

from tutor.check.exercise import WRITE, Exercise


def _blocked(before, n=3, last=None, shift=0):
    """The tokens that would repeat a run of n; `last` and `shift` are for the mistakes."""
    found = set()
    end = before[len(before) - n + 1 :] if last is None else last(before)
    for i in range(len(before) - n + 1):
        if before[i : i + n - 1] == end:
            at = i + n - 1 + shift
            found |= {before[at]} if 0 <= at < len(before) else set()
    return found


def _with(blocked_of, value=-torch.inf):
    """log_p with the tokens of each beam, which a function of its own finds, at a value."""

    def answer(ids, log_p):
        result = log_p.clone()
        for b, row in enumerate(ids.tolist()):
            result[b, sorted(blocked_of(row))] = value
        return result

    return answer


_no_trigram_twice = _with(_blocked)


def _of_all_beams(ids, log_p):
    found = sorted(set().union(*map(_blocked, ids.tolist())))
    return log_p.index_fill(1, torch.tensor(found, dtype=torch.long), -torch.inf)


def _in_any_beam(ids, log_p):
    """A trigram of any beam may not come again in another."""
    result = log_p.clone()
    rows = ids.tolist()
    for b, row in enumerate(rows):
        for other in rows:
            for i in range(len(row) - 2):
                if other[i : i + 2] == row[-2:]:
                    result[b, other[i + 2]] = -torch.inf
    return result


def _whole_beam(ids, log_p):
    hit = torch.tensor([bool(_blocked(row)) for row in ids.tolist()])
    return log_p.masked_fill(hit[:, None], -torch.inf)


def _in_any_order(before):
    pair = sorted(before[-2:])
    return {before[i + 2] for i in range(len(before) - 2) if sorted(before[i : i + 2]) == pair}


def _first_found(before):
    for i in range(len(before) - 2):
        if before[i : i + 2] == before[-2:]:
            return {before[i + 2]}
    return set()


def _last_found(before):
    for i in reversed(range(len(before) - 2)):
        if before[i : i + 2] == before[-2:]:
            return {before[i + 2]}
    return set()


def _past_the_end(stop):
    """A loop that goes on to a place where no third token is."""

    def blocked(row):
        return {row[i + 2] for i in range(len(row) - stop) if row[i : i + 2] == row[-2:]}

    return _with(_raising(IndexError, blocked))


def _raising(kind, blocked_of):
    """The same with an exception without a message, which stands for any of its class."""

    def blocked(row):
        try:
            return blocked_of(row)
        except kind:
            raise kind from None

    return blocked


def _unpacked(row):
    u, v = row[-2:]
    return _blocked(row)


def _one_before_last(row):
    row[-2]
    return _blocked(row)


def _shared_out(ids, log_p):
    p = _no_trigram_twice(ids, log_p).exp()
    return (p / p.sum(-1, keepdim=True)).log()


def _all_that_followed(before):
    return {
        w
        for i in range(len(before) - 2)
        if before[i : i + 2] == before[-2:]
        for w in before[i + 2 :]
    }


def _all_three(before):
    return {
        w
        for i in range(len(before) - 2)
        if before[i : i + 2] == before[-2:]
        for w in before[i : i + 3]
    }


def _blocks(before):
    starts = range(0, len(before) - 2, 3)
    return {before[i + 2] for i in starts if before[i : i + 2] == before[-2:]}


def _what_came_before(before):
    return {before[i] for i in range(len(before) - 2) if before[i + 1 : i + 3] == before[-2:]}


def _also_old_ones(ids, log_p):
    """A beam that has a trigram twice already may write nothing at all."""
    result = _no_trigram_twice(ids, log_p)
    for b, row in enumerate(ids.tolist()):
        runs = [tuple(row[i : i + 3]) for i in range(len(row) - 2)]
        if len(set(runs)) < len(runs):
            result[b] = -torch.inf
    return result


def _first_beam(ids, log_p):
    return torch.cat([_no_trigram_twice(ids[:1], log_p[:1]), log_p[1:]])


def _last_beam(ids, log_p):
    return torch.cat([log_p[:-1], _no_trigram_twice(ids[-1:], log_p[-1:])])


def _infinity_times_0(ids, log_p):
    return log_p + ~_kept(ids, log_p) * -torch.inf


def _kept(ids, log_p):
    return torch.isfinite(_no_trigram_twice(ids, log_p))


def _cases_of_beams():
    log_p = torch.tensor([0.1, 0.2, 0.3, 0.4]).log()
    for ids in (
        [[1, 2, 3, 1, 2]],
        [[2, 1, 3, 1, 2]],
        [[1, 2, 3]],
        [[3, 3, 3]],
        [[1, 2, 1, 2]],
        [[1, 2]],
        [[1]],
        [[1, 3, 1, 2, 1, 3]],
        [[1, 2, 0, 1, 2, 3, 1, 2], [0, 3, 2, 1, 1, 2, 0, 3]],
    ):
        yield torch.tensor(ids), log_p.expand(len(ids), 4).clone()
    log_p = torch.randn(2, 5).log_softmax(-1)
    yield torch.tensor([[1, 2, 3, 4, 1, 2], [1, 2, 4, 4, 3, 2]]), log_p
    for k, t in [(3, 12), (4, 9), (2, 20)]:
        log_p = torch.randn(k, 3).log_softmax(-1)
        log_p[0] -= 40_000.0  # a beam may be as improbable as it likes
        yield torch.randint(3, (k, t)), log_p


no_trigram_twice = Exercise(
    name="no_trigram_twice",
    chapter="08",
    section="Beam search on paper",
    kind=WRITE,
    title="No trigram twice",
    goal="Forbid a search to repeat itself, beam by beam.",
    difficulty=3,
    importance=4,
    minutes=12,
    text="""\
*A man and a man and a man and …* Beams like to repeat themselves, since what was probable once is
probable again. Many programs therefore allow no **trigram** (three tokens in a row) twice in one
sentence. If a beam ends with the tokens $u, v$, and somewhere before it has $u, v, w$, then $w$ may
not come next.

Return `log_p` with $-\\infty$ in the places of such tokens, for each of $k$ beams by its own past,
and all else as it was. Trigrams may overlap: in 3 3 3 the last two tokens are 3 3, and so are the
first two, which 3 follows. All ids are ordinary tokens. Loops are welcome, and `log_p` must stay
as it is: work on a copy.""",
    hints=(
        "On paper: a beam has 1 2 3 1 2. Which token may not come next? Which two places had to be "
        "compared to find that out?",
        "For each beam, go through all places `i` where three tokens begin. If the tokens `i` and "
        "`i + 1` are the beam's last two, the token `i + 2` is forbidden.",
        "`row = ids[b].tolist()`, `for i in range(len(row) - 2)`, and "
        "`if row[i:i + 2] == row[-2:]`, then `row[i + 2]` is the column of the copy.",
    ),
    stub='''\
def no_trigram_twice(ids, log_p):
    """Log-probabilities of the next tokens, where none may complete a trigram a second time.

    ids: int tensor (k, t), what the beams have written so far; t may be as small as 1
    log_p: float tensor (k, V), log-probabilities of their next tokens
    Returns float tensor (k, V)
    """
    raise NotImplementedError
''',
    solution='''\
def no_trigram_twice(ids, log_p):
    """Log-probabilities of the next tokens, where none may complete a trigram a second time.

    ids: int tensor (k, t), what the beams have written so far; t may be as small as 1
    log_p: float tensor (k, V), log-probabilities of their next tokens
    Returns float tensor (k, V)
    """
    log_p = log_p.clone()
    for b, row in enumerate(ids.tolist()):
        for i in range(len(row) - 2):
            if row[i : i + 2] == row[-2:]:
                log_p[b, row[i + 2]] = -torch.inf
    return log_p
''',
    because="The beam may still say it otherwise; a sentence that needs the trigram twice is lost.",
    reference=_no_trigram_twice,
    cases=_cases_of_beams,
    mistakes=(
        ("Nothing is forbidden: what you return is `log_p` as it came.", lambda ids, log_p: log_p),
        (
            "You forbid every token that the beam has written before. Only the third token of a "
            "trigram that would come again is forbidden.",
            _with(set),
        ),
        (
            "You compare one token: a pair that comes again is forbidden. Compare the last two, "
            "since three make a trigram.",
            _with(lambda row: _blocked(row, n=2)),
        ),
        (
            "You compare the last three tokens, so that four in a row are forbidden. The last two "
            "and the next make a trigram.",
            _with(lambda row: _blocked(row, n=4)),
        ),
        (
            "You compare with the first two tokens of the beam. A trigram would be completed by "
            "the next token: compare with the last two.",
            _with(lambda row: _blocked(row, last=lambda before: before[:2])),
        ),
        (
            "What you forbid stands one place too far to the right: a trigram that begins at i "
            "ends at i + 2.",
            _with(lambda row: _blocked(row, shift=1)),
        ),
        (
            "You forbid the second token of the trigram that was found; the third is what would "
            "come next.",
            _with(lambda row: _blocked(row, shift=-1)),
        ),
        (
            "Your loop stops one place early: the last trigram of the beam counts too, also where "
            "it shares tokens with the last two.",
            _with(
                lambda row: {row[i + 2] for i in range(len(row) - 3) if row[i : i + 2] == row[-2:]}
            ),
        ),
        (
            "Trigrams that share a token with the beam's last two are overlooked. They may "
            "overlap.",
            _with(
                lambda row: {row[i + 2] for i in range(len(row) - 4) if row[i : i + 2] == row[-2:]}
            ),
        ),
        (
            "A token that one beam may not write is forbidden to all. Each beam has its own past.",
            _of_all_beams,
        ),
        (
            "You look for the trigram in the past of all beams. Each beam has its own past.",
            _in_any_beam,
        ),
        *(
            (
                "Your loop looks for a third token where there is none: no token after the beam's "
                "end is known. The last trigram begins at t - 3.",
                _past_the_end(stop),
            )
            for stop in (0, 1)
        ),
        *(
            (
                "A beam with one token has no last two. It has no trigram either: leave its row as "
                "it is.",
                _with(_raising(kind, blocked)),
            )
            for kind, blocked in ((ValueError, _unpacked), (IndexError, _one_before_last))
        ),
        (
            "You silence the whole beam. It may go on with any other token.",
            _whole_beam,
        ),
        (
            "You stop at the first trigram that is found. The last two tokens may have been "
            "followed by several tokens before, and none of them may come.",
            _with(_first_found),
        ),
        (
            "You use one trigram alone, the latest. The last two tokens may have been followed by "
            "several tokens before, and none of them may come.",
            _with(_last_found),
        ),
        (
            "You forbid all that came after the pair, up to the end. Only the token right behind "
            "it completes the trigram.",
            _with(_all_that_followed),
        ),
        (
            "You forbid all three tokens of the trigram. Only its third would complete it.",
            _with(_all_three),
        ),
        (
            "You cut the beam into blocks of three. A trigram may begin at every place.",
            _with(_blocks),
        ),
        (
            "You forbid the token that came before the pair. What comes next must not be the one "
            "that came after it.",
            _with(_what_came_before),
        ),
        (
            "You silence a beam that has some trigram twice already. What is written is written: "
            "only the trigram that the next token would complete counts.",
            _also_old_ones,
        ),
        (
            "Only the first beam is looked at. Each of the k beams has its own past.",
            _first_beam,
        ),
        (
            "Only the last beam is looked at. Each of the k beams has its own past.",
            _last_beam,
        ),
        (
            "Minus infinity times 0 is NaN, and so everything is NaN. Choose with `masked_fill` "
            "or `torch.where`.",
            _infinity_times_0,
        ),
        (
            "You compare the two tokens without their order. 1 2 and 2 1 are two different pairs.",
            _with(_in_any_order),
        ),
        *(
            (
                "A large negative number is not minus infinity: beams have totals that are lower. "
                "Use `-torch.inf`.",
                _with(_blocked, value),
            )
            for value in (*(-(10.0**n) for n in range(1, 13)), torch.finfo(torch.float32).min)
        ),
        (
            "A log-probability of 0 is certainty. What may not come has minus infinity, the "
            "logarithm of 0.",
            _with(_blocked, 0.0),
        ),
        (
            "You make the other tokens more probable: a softmax comes after the ban. All else "
            "stays as it was.",
            lambda ids, log_p: _no_trigram_twice(ids, log_p).log_softmax(-1),
        ),
        (
            "You make the other tokens more probable: what is left is divided by its sum. All else "
            "stays as it was.",
            _shared_out,
        ),
        (
            "You return a mask; log-probabilities are asked for.",
            lambda ids, log_p: ~_kept(ids, log_p),
        ),
        ("You return a mask; log-probabilities are asked for.", _kept),
        (
            "You return probabilities; log-probabilities are asked for.",
            lambda ids, log_p: _no_trigram_twice(ids, log_p).exp(),
        ),
        (
            "You keep only what is forbidden: it is the other way round.",
            lambda ids, log_p: log_p.masked_fill(_kept(ids, log_p), -torch.inf),
        ),
    ),
    wrong={
        """\
def no_trigram_twice(ids, log_p):
    return log_p.clone()
""": "Nothing is forbidden",
        """\
def no_trigram_twice(ids, log_p):
    return log_p.scatter(1, ids, -torch.inf)
""": "every token that the beam has written",
        """\
def no_trigram_twice(ids, log_p):
    log_p = log_p.clone()
    for b in range(len(ids)):
        for u, w in zip(ids[b, :-1], ids[b, 1:]):
            if u == ids[b, -1]:
                log_p[b, w] = -torch.inf
    return log_p
""": "You compare one token",
        """\
def no_trigram_twice(ids, log_p):
    log_p = log_p.clone()
    for b, row in enumerate(ids.tolist()):
        for i in range(len(row) - 3):
            if row[i:i + 3] == row[-3:]:
                log_p[b, row[i + 3]] = -torch.inf
    return log_p
""": "four in a row",
        """\
def no_trigram_twice(ids, log_p):
    log_p = log_p.clone()
    for b, row in enumerate(ids.tolist()):
        for i in range(len(row) - 3):
            if row[i] == row[-2] and row[i + 1] == row[-1]:
                log_p[b, row[i + 2]] = -torch.inf
    return log_p
""": "one place early",
        """\
def no_trigram_twice(ids, log_p):
    log_p = log_p.clone()
    for row in ids.tolist():
        for i in range(len(row) - 2):
            if row[i:i + 2] == row[-2:]:
                log_p[:, row[i + 2]] = -torch.inf
    return log_p
""": "forbidden to all",
        """\
def no_trigram_twice(ids, log_p):
    log_p = log_p.clone()
    for b, row in enumerate(ids.tolist()):
        for i in range(len(row) - 2):
            if row[i:i + 2] == row[-2:]:
                log_p[b] = -torch.inf
    return log_p
""": "silence the whole beam",
        """\
def no_trigram_twice(ids, log_p):
    log_p = log_p.clone()
    for b, row in enumerate(ids.tolist()):
        after = dict(zip(zip(row, row[1:]), row[2:]))
        if len(row) > 1 and tuple(row[-2:]) in after:
            log_p[b, after[tuple(row[-2:])]] = -torch.inf
    return log_p
""": "one trigram alone",
        """\
def no_trigram_twice(ids, log_p):
    log_p = log_p.clone()
    for b, row in enumerate(ids.tolist()):
        for i in range(len(row) - 2):
            if row[i:i + 2] == row[-2:]:
                log_p[b, row[i + 2]] = -1e4
    return log_p
""": "not minus infinity",
        """\
def no_trigram_twice(ids, log_p):
    p = log_p.exp()
    for b, row in enumerate(ids.tolist()):
        for i in range(len(row) - 2):
            if row[i:i + 2] == row[-2:]:
                p[b, row[i + 2]] = 0
    return (p / p.sum(-1, keepdim=True)).log()
""": "more probable",
        """\
def no_trigram_twice(ids, log_p):
    for b, row in enumerate(ids.tolist()):
        for i in range(len(row) - 2):
            if row[i:i + 2] == row[-2:]:
                log_p[b, row[i + 2]] = -torch.inf
    return log_p
""": "changes its argument `log_p`",
        """\
def no_trigram_twice(ids, log_p):
    log_p = log_p.clone()
    for b, row in enumerate(ids.tolist()):
        for i in range(len(row) - 2):
            if set(row[i:i + 2]) == set(row[-2:]):
                log_p[b, row[i + 2]] = -torch.inf
    return log_p
""": "without their order",
        """\
def no_trigram_twice(ids, log_p):
    out = log_p.clone()
    for b, row in enumerate(ids.tolist()):
        for w in range(log_p.shape[1]):
            runs = list(zip(row, row[1:] + [w], row[2:] + [w, w]))[: len(row) - 1]
            if len(runs) > len(set(runs)):
                out[b, w] = -torch.inf
    return out
""": "What is written is written",
        """\
def no_trigram_twice(ids, log_p):
    mask = torch.zeros_like(log_p)
    for b, row in enumerate(ids.tolist()):
        for i in range(len(row) - 2):
            if row[i:i + 2] == row[-2:]:
                mask[b, row[i + 2]] = 1
    return log_p + mask * -torch.inf
""": "times 0 is NaN",
        """\
def no_trigram_twice(ids, log_p):
    log_p = log_p.clone()
    for b, row in enumerate(ids.tolist()):
        for i in range(0, len(row) - 2, 3):
            if row[i:i + 2] == row[-2:]:
                log_p[b, row[i + 2]] = -torch.inf
    return log_p
""": "blocks of three",
        """\
def no_trigram_twice(ids, log_p):
    log_p = log_p.clone()
    for b, row in enumerate(ids.tolist()):
        for i in range(len(row)):
            if row[i:i + 2] == row[-2:]:
                log_p[b, row[i + 2]] = -torch.inf
    return log_p
""": "no token after the beam's end",
        """\
def no_trigram_twice(ids, log_p):
    log_p = log_p.clone()
    for b, row in enumerate(ids.tolist()):
        u, v = row[-2:]
        for i in range(len(row) - 2):
            if row[i] == u and row[i + 1] == v:
                log_p[b, row[i + 2]] = -torch.inf
    return log_p
""": "has no last two",
        """\
def no_trigram_twice(ids, log_p):
    log_p = log_p.clone()
    for b in range(len(ids)):
        u, v = ids[b, -2], ids[b, -1]
        for i in range(ids.shape[1] - 2):
            if ids[b, i] == u and ids[b, i + 1] == v:
                log_p[b, ids[b, i + 2]] = -torch.inf
    return log_p
""": "has no last two",
        """\
def no_trigram_twice(ids, log_p):
    log_p = log_p.clone()
    for b, row in enumerate(ids.tolist()):
        for i in range(len(row) - 2):
            if row[i:i + 2] == row[:2]:
                log_p[b, row[i + 2]] = -torch.inf
    return log_p
""": "first two tokens of the beam",
    },
    right=(
        """\
def no_trigram_twice(ids, log_p):
    if ids.shape[1] < 3:
        return log_p
    runs = ids.unfold(1, 3, 1)  # (k, t - 2, 3)
    again = (runs[..., :2] == ids[:, None, -2:]).all(-1)  # (k, t - 2)
    hit = (F.one_hot(runs[..., 2], log_p.shape[1]).bool() & again[..., None]).any(1)
    return log_p.masked_fill(hit, -torch.inf)
""",
        """\
def no_trigram_twice(ids, log_p):
    rows = []
    for past, row in zip(ids.tolist(), log_p):
        seen = {tuple(past[i:i + 3]) for i in range(len(past) - 2)}
        banned = [(*past[-2:], w) in seen for w in range(len(row))]
        rows.append(torch.where(torch.tensor(banned), -torch.inf, row))
    return torch.stack(rows)
""",
        """\
def no_trigram_twice(ids, log_p):
    out = log_p.clone()
    for b in range(len(ids)):
        for i in range(2, ids.shape[1]):
            if ids[b, i - 2] == ids[b, -2] and ids[b, i - 1] == ids[b, -1]:
                out[b, ids[b, i]] = float("-inf")
    return out
""",
    ),
)
