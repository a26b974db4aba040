"""Three faults of a collate function."""

import copy
from functools import partial
from itertools import product

import torch

from tutor.check.exercise import MEND, Exercise, edited
from tutor.text.batches import Batch, pad
from tutor.text.tokenizer import BOS, EOS


def _collate_twice(answer, pairs, max_len):
    """Two batches of the same pairs, as in two epochs, and whether the pairs are still the same."""
    pairs = copy.deepcopy(pairs)
    before = copy.deepcopy(pairs)
    first = answer(pairs, max_len)
    return first, answer(pairs, max_len), pairs == before


ORDER, CUT, MARKS = (
    {
        "right": "",
        "alone": "The sources are sorted without their targets, so they get those of others.",
        "as given": "The rows are not sorted: the longest source comes first.",
        "shortest": "The rows are sorted, but the shortest source comes first.",
        "by target": "The rows are sorted by their targets; the sources decide.",
        "by both": "The rows are sorted by the longer side; the sources alone decide.",
        "both keys": "Pairs with equally long sources keep their order, whatever their targets.",
        "apart": "Sources and targets are sorted apart, so that pairs are torn.",
        "cut": "You sort after cutting, when long sources are equally long. Sort before.",
        "ties": "Pairs with equally long sources change places; `reverse=True` keeps their order.",
    },
    {
        "right": "",
        "mark": "Of a long sentence the mark is cut off. Cut the words, and then add it.",
        "long": "The longest rows have max_len + 1 tokens: the mark counts, too.",
        "source": "The long source keeps its mark, the long target does not.",
        "target": "The long target keeps its mark, the long source does not.",
        "uncut": "Nothing is cut: rows are longer than max_len.",
        "short": "The longest rows are shorter than they may be: max_len - 1 words and the mark.",
        "bare": "EOS is missing: both sides have lost their mark.",
        "bare long": "EOS is missing: both sides have lost their mark.",
        "source uncut": "The sources are not cut: their rows are longer than max_len.",
        "target uncut": "The targets are not cut: their rows are longer than max_len.",
    },
    {
        "right": "",
        "grows": "`append` and `+=` change the lists of the caller: each epoch adds one more EOS.",
    },
)


_SYMPTOM = (
    "As it was, and three faults are left. In the second epoch the same pairs give other rows."
)


def _collate(order="right", cut="right", marks="right", shifted=True, bos=0):
    def collate(pairs, max_len):
        key = {
            "by target": lambda pair: len(pair[1]),
            "both keys": lambda pair: (len(pair[0]), len(pair[1])),
            "by both": lambda pair: max(map(len, pair)),
            "cut": lambda pair: min(len(pair[0]), max_len - 1),
        }.get(order, lambda pair: len(pair[0]))
        rows = sorted(pairs, key=key, reverse=order not in ("shortest", "ties"))
        if order == "ties":
            rows = rows[::-1]
        if order in ("alone", "apart", "as given"):
            rows = pairs
        sides = [[source for source, _ in rows], [target for _, target in rows]]
        for side in {"alone": sides[:1], "apart": sides}.get(order, []):
            side.sort(key=len, reverse=True)
        done = []
        for name, side in zip(("source", "target"), sides, strict=True):
            lost = cut == "mark" or cut in ("source", "target") and cut != name
            words = {
                "long": max_len,
                "bare long": max_len,
                "uncut": None,
                "short": max_len - 2,
                f"{name} uncut": None,
            }.get(cut, max_len if lost else max_len - 1)
            if marks == "grows":
                for ids in side:
                    ids.append(EOS)
                side = [ids[:-1] for ids in side]
            mark = [] if "bare" in cut else [EOS]
            side = [ids[:words] + mark for ids in side]
            done.append([ids[:max_len] for ids in side] if lost else side)
        source, target = done
        target_in = [[BOS] + ids[:-1] for ids in target] if shifted else target
        if not bos:
            return Batch(pad(source), pad(target_in), pad(target))
        return Batch(pad([[BOS] + ids for ids in source]), pad(target_in), pad(target))

    return collate


def _left():
    """A message for each way to leave some of the faults, or to mend one of them badly."""
    for parts in product(ORDER, CUT, MARKS):
        words = (of[part] for of, part in zip((ORDER, CUT, MARKS), parts, strict=True))
        left = [*filter(None, words)]
        badly_mended = {*parts} - {"right", "alone", "mark", "grows"}
        if parts == ("alone", "mark", "grows"):
            yield _SYMPTOM, _collate(*parts)
        elif left and len(badly_mended) < 2:
            number = ("One fault is", "Two faults are", "Three faults are")[len(left) - 1]
            one = "" if len(left) == 1 else "One of them: "
            yield f"{number} left. {one}{left[0]}", _collate(*parts)


def _apart(pairs, max_len):
    """Both sides, cut, are sorted by themselves."""
    sides = ([pair[side][: max_len - 1] + [EOS] for pair in pairs] for side in (0, 1))
    source, target = (sorted(side, key=len, reverse=True) for side in sides)
    return Batch(pad(source), pad([[BOS] + ids[:-1] for ids in target]), pad(target))


def _last_words(pairs, max_len):
    return _collate()([tuple(ids[-max_len + 1 :] for ids in pair) for pair in _sorted(pairs)], 99)


def _sorted(pairs):
    return sorted(pairs, key=lambda pair: len(pair[0]), reverse=True)


def _drops_the_long(pairs, max_len):
    return _collate()([pair for pair in pairs if max(map(len, pair)) < max_len], max_len)


def _without_a_mark(words):
    """Sources without EOS, cut to as many words."""
    return lambda pairs, max_len: _collate()(pairs, max_len)._replace(
        source=pad([source[: words(max_len)] for source, _ in _sorted(pairs)])
    )


def _other_target_in(words):
    """A target_in of its own: BOS, and words of the target by a cut of its own."""
    return lambda pairs, max_len: _collate()(pairs, max_len)._replace(
        target_in=pad([[BOS] + words(target, max_len) for _, target in _sorted(pairs)])
    )


def _in_is_out(pairs, max_len):
    batch = _collate()(pairs, max_len)
    return batch._replace(target_in=batch.target_out, target_out=batch.target_in)


def _in_and_end(pairs, max_len):
    batch = _collate()(pairs, max_len)
    rows = [[BOS] + ids for ids in batch.target_out.tolist()]
    return batch._replace(target_in=pad(rows))


def _sorts_the_list(pairs, max_len):
    pairs.sort(key=lambda pair: len(pair[0]), reverse=True)
    return _collate()(pairs, max_len)


def _cases_of_pairs():
    def ids(n):
        return torch.randint(4, 90, (n,)).tolist()

    yield [(ids(2), ids(1)), (ids(4), ids(3))], 9
    yield [(ids(1), ids(5)), (ids(3), ids(2)), (ids(3), ids(4)), (ids(6), ids(6))], 5
    yield [(ids(n), ids(m)) for n, m in [(4, 7), (8, 0), (2, 9), (5, 6), (5, 5), (9, 8)]], 7


_STUB = '''\
def mend_collate(pairs, max_len):
    """Three rectangles from a list of pairs. It has three faults: find them and mend them.

    pairs: list of (source, target), two lists of ids without marks; used again in each epoch
    max_len: int, the most tokens that a row may have, its mark included
    Returns a Batch of source (N, S), target_in (N, T) and target_out (N, T)
    """
    sources = sorted([source for source, _ in pairs], key=len, reverse=True)
    targets = [target for _, target in pairs]
    for ids in sources + targets:
        ids.append(EOS)
    sources = [ids[:max_len] for ids in sources]
    targets = [ids[:max_len] for ids in targets]
    return Batch(
        source=pad(sources),
        target_in=pad([[BOS] + ids[:-1] for ids in targets]),
        target_out=pad(targets),
    )
'''
_SOLUTION = '''\
def mend_collate(pairs, max_len):
    """Three rectangles from a list of pairs.

    pairs: list of (source, target), two lists of ids without marks; used again in each epoch
    max_len: int, the most tokens that a row may have, its mark included
    Returns a Batch of source (N, S), target_in (N, T) and target_out (N, T)
    """
    pairs = sorted(pairs, key=lambda pair: len(pair[0]), reverse=True)
    sources = [source[: max_len - 1] + [EOS] for source, _ in pairs]
    targets = [target[: max_len - 1] + [EOS] for _, target in pairs]
    return Batch(
        source=pad(sources),
        target_in=pad([[BOS] + ids[:-1] for ids in targets]),
        target_out=pad(targets),
    )
'''
_SORT = "    pairs = sorted(pairs, key=lambda pair: len(pair[0]), reverse=True)\n"
_SOURCE = "source[: max_len - 1] + [EOS] for"
_TARGET = "target[: max_len - 1] + [EOS] for"
_GROW = "    for ids in [ids for pair in pairs for ids in pair]:\n        ids.append(EOS)\n"


_edited = partial(edited, _SOLUTION)


mend_collate = Exercise(
    name="mend_collate",
    chapter="06",
    section="`Dataset`, `DataLoader`, `collate_fn`",
    kind=MEND,
    title="A batch that looks right",
    goal="Find what a collate function does to pairs, to marks and to the data set.",
    difficulty=3,
    importance=4,
    minutes=10,
    text="""\
A colleague sorts the rows of a batch, **the longest source first** (pairs whose sources are equally
long keep their order). A sentence that is too long loses its last words, **never its mark**: no row
has more than `max_len` tokens, `BOS` or `EOS` included. The shapes come out right, nothing raises,
and the model learns rubbish. **Find the three faults and mend them.**

Long means: the number of ids of the source as it comes. `max_len` is at least 2. (The check makes
two batches from the same list, as two epochs do. They are items 0 and 1 of the result; item 2 says
whether the caller's pairs are as they were.)""",
    hints=(
        "Take two pairs, `([5, 6], [7])` and `([8, 9, 4], [5, 5])`, with `max_len=3`. Go through "
        "the lines on paper: which target stands beside which source? Does each row end with EOS?",
        "Then do it once more with the same list. What has `append` done to it?",
        "Sort the pairs, not the sources. And `ids[: max_len - 1] + [EOS]` cuts first, and makes "
        "a new list.",
    ),
    setup=(
        "from tutor.text.batches import Batch, pad\nfrom tutor.text.tokenizer import BOS, EOS\n"
    ),
    stub=_STUB,
    solution=_SOLUTION,
    because="A collate function sees each pair in every epoch: what it changes in place adds up.",
    reference=_collate(),
    call=_collate_twice,
    cases=_cases_of_pairs,
    mistakes=(
        *_left(),
        (
            "The rectangles are right. But `pairs.sort` puts the caller's own list into another "
            "order; `sorted` makes a new one.",
            _sorts_the_list,
        ),
        ("Now target_in is target_out: the shift is lost.", _collate(shifted=False)),
        ("The source has a BOS, which it did not have.", _collate(bos=1)),
        (ORDER["apart"], _apart),
        ("A long sentence loses its last words; you keep these.", _last_words),
        ("Pairs that are too long are left out. Cut them.", _drops_the_long),
        *(
            ("The source has lost its EOS altogether.", _without_a_mark(words))
            for words in (
                lambda max_len: max_len - 1,
                lambda max_len: max_len,
                lambda max_len: None,
            )
        ),
        *(
            (
                "The three are mended, but target_in is cut elsewhere than target_out. It is BOS "
                "and target_out without its last place.",
                _other_target_in(words),
            )
            for words in (
                lambda ids, max_len: ids,
                lambda ids, max_len: ids[:max_len],
                lambda ids, max_len: ids[: max_len - 2],
                lambda ids, max_len: ids[:-1],
            )
        ),
        (
            "target_in and target_out have changed places: the decoder reads what begins with BOS.",
            _in_is_out,
        ),
        ("Only target_out holds EOS; you gave it to target_in too.", _in_and_end),
    ),
    wrong={
        _STUB.replace("ids.append(EOS)", "ids += [EOS]"): "As it was, and three",
        _STUB.replace("ids.append(EOS)", "pass"): "Two faults are left",
        _edited((_SOURCE, "source[:max_len] for"), (_TARGET, "target[:max_len] for")): (
            "EOS is missing"
        ),
        _edited(("[BOS] + ids[:-1] for ids in targets", "[BOS] + t for _, t in pairs")): (
            "cut elsewhere than target_out"
        ),
        _edited(
            ("[BOS] + ids[:-1] for ids in targets", "[BOS] + t[:max_len] for _, t in pairs")
        ): "cut elsewhere than target_out",
        _edited(
            ("[BOS] + ids[:-1] for ids in targets", "[BOS] + t[: max_len - 2] for _, t in pairs")
        ): "cut elsewhere than target_out",
        _edited(
            ("target_out=pad(targets)", "target_in=pad(targets)"),
            ("target_in=pad([[BOS]", "target_out=pad([[BOS]"),
        ): "have changed places",
        _edited(("len(pair[0]), reverse=True)", "len(pair[0]))[::-1]")): "change places",
        _edited((_SOURCE, "source[: max_len - 1] for")): "lost its EOS",
        _edited((_SOURCE, "source[:max_len] for")): "lost its EOS",
        _edited((_SOURCE, "source + [EOS] for")): "The sources are not cut",
        _edited((_TARGET, "target + [EOS] for")): "The targets are not cut",
        _edited(
            (_SORT, "    targets = [target for _, target in pairs]\n" + _SORT),
            (_SOURCE, "(source + [EOS])[:max_len] for"),
            (_TARGET + " _, target in pairs", "(target + [EOS])[:max_len] for target in targets"),
        ): "Two faults are left. One of them: The sources are sorted without",
        _edited(
            (_SORT, "    targets = [target for _, target in pairs]\n" + _SORT),
            (
                "target[: max_len - 1] + [EOS] for _, target in pairs",
                "target[: max_len - 1] + [EOS] for target in targets",
            ),
        ): "those of others",
        _edited(
            (_SOURCE, "(source + [EOS])[:max_len] for"), (_TARGET, "(target + [EOS])[:max_len] for")
        ): "the mark is cut off",
        _edited(
            (_SORT, _SORT + _GROW),
            (_SOURCE, "source[: max_len - 1] + [EOS] * (len(source) > max_len - 1) for"),
            (_TARGET, "target[:-1][: max_len - 1] + [EOS] for"),
            (
                "source[: max_len - 1] + [EOS] * (len(source) > max_len - 1) for",
                "source[:-1][: max_len - 1] + [EOS] for",
            ),
        ): "one more EOS",
        _edited((_SORT, "")): "not sorted",
        _edited((", reverse=True", "")): "shortest source comes first",
        _edited(("len(pair[0])", "len(pair[1])")): "the sources decide",
        _edited(
            (_SOURCE, "source[:max_len] + [EOS] for"), (_TARGET, "target[:max_len] + [EOS] for")
        ): "max_len + 1",
        _edited((_SOURCE, "source + [EOS] for"), (_TARGET, "target + [EOS] for")): "Nothing is cut",
        _edited((_TARGET, "(target + [EOS])[:max_len] for")): "long target does not",
        _edited((_SOURCE, "(source + [EOS])[:max_len] for")): "long source does not",
        _edited((_SORT, _SORT.replace("pairs = sorted(pairs, ", "pairs.sort("))): "new one",
        _edited(("len(pair[0])", "(len(pair[0]), len(pair[1]))")): "whatever their targets",
        _edited(
            (_SOURCE, "source[-max_len + 1 :] + [EOS] for"),
            (_TARGET, "target[-max_len + 1 :] + [EOS] for"),
        ): "you keep these",
        _edited(
            (_SORT, _SORT + "    pairs = [p for p in pairs if max(map(len, p)) < max_len]\n")
        ): "left out",
        _edited(
            (_SORT, ""),
            (
                "    return Batch(",
                "    sources.sort(key=len, reverse=True)\n"
                "    targets.sort(key=len, reverse=True)\n    return Batch(",
            ),
        ): "are torn",
        _edited(("[BOS] + ids[:-1]", "ids")): "shift is lost",
        _edited(
            (_SORT, _SORT + _GROW),
            (_SOURCE, "source[:max_len] for"),
            (_TARGET, "target[:max_len] for"),
        ): "cut off. Cut the words",
        _edited((_SOURCE, "[BOS] + source[: max_len - 1] + [EOS] for")): "has a BOS",
    },  # fmt: skip
    right=(
        """\
def mend_collate(pairs, max_len):
    order = torch.tensor([-len(source) for source, _ in pairs]).argsort(stable=True)
    sides = [[], []]
    for n in order.tolist():
        for side, ids in zip(sides, pairs[n]):
            side.append([*ids[: max_len - 1], EOS])
    sources, targets = sides
    return Batch(pad(sources), pad([[BOS, *ids[:-1]] for ids in targets]), pad(targets))
""",
        """\
def mend_collate(pairs, max_len):
    import copy

    pairs = copy.deepcopy(pairs)
    pairs.sort(key=lambda pair: -len(pair[0]))
    for source, target in pairs:
        for ids in (source, target):
            del ids[max_len - 1 :]
            ids.append(EOS)
    target_out = pad([target for _, target in pairs])
    target_in = pad([[BOS] + target[:-1] for _, target in pairs])
    return pad([source for source, _ in pairs]), target_in, target_out
""",
    ),
)
