"""Full, but not too full."""

from tutor.check.exercise import WRITE, Exercise
from tutor.text.batches import cut_by_tokens as shipped
from tutor.text.batches import longer_side


def _cut(fits):
    """Cut as the package does, with `fits(group, pair, max_tokens)` as the condition."""

    def cut_by_tokens(pairs, max_tokens):
        groups = []
        for pair in pairs:
            if groups and fits(groups[-1], pair, max_tokens):
                groups[-1].append(pair)
            else:
                groups.append([pair])
        return groups

    return cut_by_tokens


def _by_number_of_groups(pairs, max_tokens):
    groups = []
    for pair in pairs:
        if groups and longer_side(pair) * (len(groups) + 1) <= max_tokens:
            groups[-1].append(pair)
        else:
            groups.append([pair])
    return groups


def _pair(S, T):
    return [9] * S, [8] * T


def _cases_of_pairs():
    yield [_pair(1, 1), _pair(1, 1)], 4
    yield [_pair(1, 1), _pair(1, 1)], 3
    yield [_pair(1, 1), _pair(2, 1), _pair(3, 2)], 8
    yield [_pair(1, 2), _pair(1, 3), _pair(4, 1), _pair(5, 1)], 10
    yield [_pair(1, 1)] * 7, 6
    yield [_pair(0, 1), _pair(2, 2), _pair(2, 3), _pair(4, 4), _pair(9, 3)], 8
    yield [_pair(n // 3, n // 4) for n in range(30)], 24
    yield [_pair(n // 4, n // 3) for n in range(30)], 24
    yield [], 5


cut_by_tokens = Exercise(
    name="cut_by_tokens",
    chapter="06",
    section="Padding is waste",
    kind=WRITE,
    title="Full, but not too full",
    goal="Fill a batch up to a number of tokens, padding included.",
    difficulty=3,
    importance=4,
    minutes=6,
    text="""\
The pairs come sorted by `longer_side`: the tokens of the longer of the two sides, with its mark.
Put each pair into the newest group if the group's rectangle then has at most `max_tokens` places,
else into a group of its own. A rectangle is as wide as its longest row.""",
    hints=(
        "How many rows would the group have, with this pair in it? How wide would it be?",
        "The pairs are sorted, so the newest is the longest: the width is `longer_side(pair)`.",
        "Places are width times rows, and the rows are `len(groups[-1]) + 1`.",
    ),
    setup="from tutor.text.batches import longer_side\n",
    stub='''\
def cut_by_tokens(pairs, max_tokens):
    """Groups of pairs; each rectangle has at most max_tokens places, or one row."""
    groups = []
    for pair in pairs:  # ascending, so the newest pair is the longest
        if groups and ... <= max_tokens:  # one expression: width times rows, with this pair
            groups[-1].append(pair)
        else:
            groups.append([pair])
    return groups
''',
    solution="""\
def cut_by_tokens(pairs, max_tokens):
    groups = []
    for pair in pairs:  # ascending, so the newest pair is the longest
        if groups and longer_side(pair) * (len(groups[-1]) + 1) <= max_tokens:
            groups[-1].append(pair)
        else:
            groups.append([pair])
    return groups
""",
    because="The newest pair sets the width, and it is one row more.",
    reference=shipped,
    cases=_cases_of_pairs,
    mistakes=(
        (
            "You count the rows without the new pair: with it there is one more, and the rectangle "
            "grows too large.",
            _cut(lambda group, pair, most: longer_side(pair) * len(group) <= most),
        ),
        (
            "You count rows only; `max_tokens` counts places, rows times width.",
            _cut(lambda group, pair, most: len(group) + 1 <= most),
        ),
        (
            "You look at the width alone; multiply it by the rows, with the new pair among them.",
            _cut(lambda group, pair, most: longer_side(pair) <= most),
        ),
        (
            "You add up the tokens themselves. Padding takes places too: all rows are as wide as "
            "the longest.",
            _cut(lambda group, pair, most: sum(map(longer_side, [*group, pair])) <= most),
        ),
        (
            "The width is that of the group's first pair, its shortest. The newest pair is longer.",
            _cut(lambda group, pair, most: longer_side(group[0]) * (len(group) + 1) <= most),
        ),
        (
            "The width is that of the pair before. The newest pair may be longer.",
            _cut(lambda group, pair, most: longer_side(group[-1]) * (len(group) + 1) <= most),
        ),
        (
            "A group may be full to the last place: `<=`, not `<`.",
            _cut(lambda group, pair, most: longer_side(pair) * (len(group) + 1) < most),
        ),
        (
            "You look at the source alone. The longer of both sides counts.",
            _cut(lambda group, pair, most: (len(pair[0]) + 1) * (len(group) + 1) <= most),
        ),
        (
            "You look at the target alone. The longer of both sides counts.",
            _cut(lambda group, pair, most: (len(pair[1]) + 1) * (len(group) + 1) <= most),
        ),
        (
            "BOS or EOS takes a place too: the width is `longer_side(pair)`.",
            _cut(lambda group, pair, most: max(map(len, pair)) * (len(group) + 1) <= most),
        ),
        (
            "You count the groups; the rows are those of the newest group, `groups[-1]`.",
            _by_number_of_groups,
        ),
        (
            "Each pair stands alone: the condition never holds.",
            lambda pairs, most: [[pair] for pair in pairs],
        ),
    ),
    wrong={
        """\
def cut_by_tokens(pairs, max_tokens):
    groups = []
    for pair in pairs:
        if groups and longer_side(pair) * len(groups[-1]) <= max_tokens:
            groups[-1].append(pair)
        else:
            groups.append([pair])
    return groups
""": "without the new pair",
        """\
def cut_by_tokens(pairs, max_tokens):
    return [pairs[i : i + max_tokens] for i in range(0, len(pairs), max_tokens)]
""": "rows only",
        """\
def cut_by_tokens(pairs, max_tokens):
    groups, used = [], 0
    for pair in pairs:
        used += longer_side(pair)
        if groups and used <= max_tokens:
            groups[-1].append(pair)
        else:
            groups.append([pair])
            used = longer_side(pair)
    return groups
""": "Padding takes places too",
        """\
def cut_by_tokens(pairs, max_tokens):
    groups = []
    for pair in pairs:
        if groups and longer_side(groups[-1][-1]) * (len(groups[-1]) + 1) <= max_tokens:
            groups[-1].append(pair)
        else:
            groups.append([pair])
    return groups
""": "pair before",
        """\
def cut_by_tokens(pairs, max_tokens):
    groups = []
    for pair in pairs:
        if groups and longer_side(pair) * (len(groups[-1]) + 1) < max_tokens:
            groups[-1].append(pair)
        else:
            groups.append([pair])
    return groups
""": "full to the last place",
        """\
def cut_by_tokens(pairs, max_tokens):
    groups = []
    for pair in pairs:
        if groups and max(len(pair[0]), len(pair[1])) * (len(groups[-1]) + 1) <= max_tokens:
            groups[-1].append(pair)
        else:
            groups.append([pair])
    return groups
""": "takes a place too",
        """\
def cut_by_tokens(pairs, max_tokens):
    groups = []
    for pair in pairs:
        if groups and (len(pair[0]) + 1) * (len(groups[-1]) + 1) <= max_tokens:
            groups[-1].append(pair)
        else:
            groups.append([pair])
    return groups
""": "the source alone",
        """\
def cut_by_tokens(pairs, max_tokens):
    groups = []
    for pair in pairs:
        if groups and longer_side(pair) * (len(groups) + 1) <= max_tokens:
            groups[-1].append(pair)
        else:
            groups.append([pair])
    return groups
""": "count the groups",
        """\
def cut_by_tokens(pairs, max_tokens):
    from tutor.text import batches
    return batches.cut_by_tokens(pairs, max_tokens)
""": "calls `cut_by_tokens`",
    },
    right=(
        """\
def cut_by_tokens(pairs, max_tokens):
    groups, group = [], []
    for pair in pairs:
        if group and longer_side(pair) * (len(group) + 1) > max_tokens:
            groups.append(group)
            group = []
        group.append(pair)
    return groups + [group] if group else groups
""",
        """\
def cut_by_tokens(pairs, max_tokens):
    groups = []
    for pair in pairs:
        width = 1 + max(len(pair[0]), len(pair[1]))
        if groups and len(groups[-1]) < max_tokens // width:
            groups[-1].append(pair)
        else:
            groups.append([pair])
    return groups
""",
    ),
)
