"""What float16 cannot hold."""

import itertools
from functools import partial

import torch

from tutor.check.exercise import WRITE, Exercise, edited


def _lost(tensors, infinite=True, zero=True, to=torch.Tensor.half, before=(True, True)):
    """Names with counts of what became infinite and zero, or so with a thing wrong."""
    found = {}
    for name, X in tensors.items():
        half = to(X)
        over = half.isinf() & ~X.isinf() if before[0] else half.isinf()
        under = (half == 0) & (X != 0) if before[1] else half == 0
        counts = (int(over.sum()) if infinite else 0, int(under.sum()) if zero else 0)
        if any(counts):
            found[name] = counts
    return found


def _by_the_largest_number(X):
    """Infinite from 65,504 on, without rounding."""
    return X.half().masked_fill(X.abs() > 65504, torch.inf)


def _by_the_full_digits(X):
    """Zero where there are not all digits any more."""
    half = X.half()
    return half.masked_fill(X.abs() < 2.0**-14, 0.0)


def _by_the_smallest_number(X):
    """Zero below the smallest number, though what is nearer to it is rounded up."""
    half = X.half()
    return half.masked_fill(X.abs() < 2.0**-24, 0.0)


def _by_limits(X):
    """Outside of what `torch.finfo` calls `max` and `tiny`."""
    return _by_the_largest_number(X).masked_fill(X.abs() < 2.0**-14, 0.0)


def _by_limits_below(X):
    """The same, but whatever is negative counts as small."""
    return _by_the_largest_number(X).masked_fill(X < 2.0**-14, 0.0)


def _beyond_half_way(*ends):
    """A number half way stays, at the upper end or at the lower one."""

    def to(X):
        half = X.half()
        if "upper" in ends:
            half = half.where(X.abs() != 65_520, 65_504)
        return half.where(X.abs() != 2.0**-25, 2.0**-24) if "lower" in ends else half

    return to


def _every(tensors):
    """With an entry for each tensor."""
    return {name: _lost({name: X}).get(name, (0, 0)) for name, X in tensors.items()}


def _changed(tensors, which, both=False):
    """Counts in place of what becomes 0 which numbers rounding changes; `both`: of either."""
    found = {}
    for name, X in tensors.items():
        over, _ = _lost({name: X}).get(name, (0, 0))
        change = int((which(X.half()) & (X.half() != X)).sum())
        if over or change:
            found[name] = change if both else (over, change)
    return found


def _with_pairs(answer, tensors):
    """An answer's dict; a pair may be a list or hold tensors."""
    found = answer(tensors)
    if not isinstance(found, dict):
        return found
    return {
        name: tuple(n.item() if isinstance(n, torch.Tensor) else n for n in counts)
        if isinstance(counts, tuple | list)
        else counts
        for name, counts in found.items()
    }


def _cases_of_weights():
    X = torch.tensor
    yield ({"W": X([1.0, 70_000.0])},)
    yield ({"W": X([1.0, -2.0]), "b": X([0.0, 1e-9, -1e-10])},)
    yield ({"W": X([[-1e5, 3.0], [65_510.0, 65_530.0]]), "b": X([0.5])},)
    yield ({"b": X([3e-8, 4e-8, 2e-8, 1e-5, 0.0]), "W": X([65_504.0, 65_519.0])},)
    yield ({"W": X([65_520.0, -65_520.0]), "b": X([2.0**-25])},)  # half way between two
    yield ({"a": X([torch.inf, 1.0]), "b": X([-torch.inf, 1e30, 1e-30]), "c": X([torch.nan])},)
    yield ({"late": X([0.0, 0.0]), "W": 10 ** (12 * torch.rand(4, 5) - 6), "n": X(2e5)},)
    yield ({},)


_CODE = '''\
def lost_in_half(tensors):
    """What float16 would do to the weights of a model.

    tensors: a dict from names to float32 tensors of any shape
    Returns a dict from names to pairs of int: become infinite, become 0; without (0, 0)
    """
    lost = {}
    for name, X in tensors.items():
        half = X.half()
        over = (half.isinf() & ~X.isinf()).sum().item()
        under = ((half == 0) & (X != 0)).sum().item()
        if over or under:
            lost[name] = (over, under)
    return lost
'''
_edited = partial(edited, _CODE)


lost_in_half = Exercise(
    name="lost_in_half",
    chapter="14",
    section="Half the bytes",
    kind=WRITE,
    title="What float16 cannot hold",
    goal="Find the weights that float16 makes infinite, or nothing at all.",
    difficulty=2,
    importance=4,
    minutes=8,
    text="""\
Before a model is shipped in float16, somebody should look at both ends of its range. At the upper
end a number becomes infinite. At the lower end it becomes 0, which no test for finite numbers ever
sees. Return a dict with an entry for each tensor to which one or the other happens. The key is its
name, the value a pair of whole numbers: how many of its numbers **become** infinite, and how many
become 0. What was infinite or 0 before does not count.""",
    hints=(
        "Let PyTorch round: `X.half()` is what would stand in the file. Compare it with `X`.",
        "`half.isinf() & ~X.isinf()` marks what became infinite. What marks those that became 0?",
        "`(half == 0) & (X != 0)`. Sum both, `.sum().item()`, and keep the name if either count "
        "is not 0.",
    ),
    stub='''\
def lost_in_half(tensors):
    """What float16 would do to the weights of a model.

    tensors: a dict from names to float32 tensors of any shape
    Returns a dict from names to pairs of int: become infinite, become 0; without (0, 0)
    """
    raise NotImplementedError
''',
    solution=_CODE,
    because="Weights seldom lose much here. Squares of gradients, which AdamW keeps, are mostly "
    "below 1e-8 and would be 0.",
    reference=_lost,
    call=_with_pairs,
    cases=_cases_of_weights,
    mistakes=(
        (
            "What becomes 0 is not counted: the lower end of the range loses numbers, too.",
            lambda tensors: _lost(tensors, zero=False),
        ),
        (
            "What becomes infinite is not counted.",
            lambda tensors: _lost(tensors, infinite=False),
        ),
        (
            "You count what is infinite or 0 in float16. What was so before is not lost by "
            "rounding.",
            lambda tensors: _lost(tensors, before=(False, False)),
        ),
        (
            "What was infinite before does not become so: count only finite numbers.",
            lambda tensors: _lost(tensors, before=(False, True)),
        ),
        (
            "What was 0 before does not become 0: count only other numbers.",
            lambda tensors: _lost(tensors, before=(True, False)),
        ),
        (
            "Tensors to which nothing happens have no entry.",
            _every,
        ),
        (
            "The two counts are exchanged: infinite first, then 0.",
            lambda tensors: {name: pair[::-1] for name, pair in _lost(tensors).items()},
        ),
        (
            "One number for each tensor is too few: count what becomes infinite and what becomes "
            "0 apart.",
            lambda tensors: {name: sum(pair) for name, pair in _lost(tensors).items()},
        ),
        (
            "You say whether it happens. How often is asked for.",
            lambda tensors: {name: tuple(map(bool, p)) for name, p in _lost(tensors).items()},
        ),
        (
            "The names are right. Say also how many numbers are lost at either end.",
            lambda tensors: list(_lost(tensors)),
        ),
        *(
            (
                message,
                lambda tensors, to=to, before=before: _lost(tensors, to=to, before=before),
            )
            for message, to in (
                (
                    "65,504 is the largest float16, but a number a little above is rounded down to "
                    "it. Let `.half()` decide.",
                    _by_the_largest_number,
                ),
                (
                    "Below 2 to the -14 digits get lost, but not yet the number. Let `.half()` "
                    "decide what becomes 0.",
                    _by_the_full_digits,
                ),
                (
                    "You go by `max` and `tiny` of `torch.finfo`. What is a little above is "
                    "rounded down, and below are numbers with fewer digits: let `.half()` decide.",
                    _by_limits,
                ),
            )
            for before in itertools.product((True, False), repeat=2)  # whether that is left out
        ),
        (
            "Below 2 to the -24, the smallest float16, a number may still be rounded up to it. Let "
            "`.half()` decide.",
            lambda tensors: _lost(tensors, to=_by_the_smallest_number),
        ),
        *(
            (
                "A number half way to the next one goes to the side whose last bit is 0, and that "
                "is the other end than you say. Let `.half()` decide.",
                lambda tensors, ends=ends: _lost(tensors, to=_beyond_half_way(*ends)),
            )
            for ends in (("upper",), ("lower",), ("upper", "lower"))
        ),
        *(
            (
                "Negative numbers become infinite, too: compare sizes, not numbers.",
                lambda tensors, to=to, before=before: _lost(
                    {name: X.clamp_min(-6e4) for name, X in tensors.items()},
                    to=to,
                    before=(before, True),
                ),
            )
            for to in (torch.Tensor.half, _by_the_largest_number, _by_limits, _by_limits_below)
            for before in (True, False)
        ),
        *(
            ("You `return` within the loop: go through all tensors, and return behind it.", early)
            for early in (
                lambda tensors: _lost(dict([*tensors.items()][:1])) if tensors else None,
                lambda tensors: dict([*_lost(tensors).items()][:1]) or None,
                lambda tensors: dict([*_lost(tensors).items()][:1]),
            )
        ),
        (
            "A tensor may lose numbers at both ends. With an `elif`, you count what becomes 0 only "
            "where nothing becomes infinite.",
            lambda tensors: {
                name: (over, 0 if over else under) for name, (over, under) in _lost(tensors).items()
            },
        ),
        *(
            (
                "Rounding changes most numbers a little, and they are not lost. Count those that "
                "become infinite, and those that become 0.",
                lambda tensors, which=which, both=both: _changed(tensors, which, both),
            )
            for which, both in (
                (lambda half: True, False),
                (lambda half: True, True),
                (lambda half: ~half.isinf(), False),
                (torch.Tensor.isfinite, False),
            )
        ),
        (
            "You go by the largest and the smallest float16. Numbers a little outside are rounded "
            "to them: let `.half()` decide.",
            lambda tensors: _lost(
                tensors, to=lambda X: _by_the_largest_number(X).where(X.abs() >= 2.0**-24, 0 * X)
            ),
        ),
        (
            "What is no number (`nan`) does not become infinite.",
            lambda tensors: {
                name: (over + int(tensors[name].isnan().sum()), under)
                for name, (over, under) in _every(tensors).items()
                if over + under or tensors[name].isnan().any()
            },
        ),
        (
            "What is no number (`nan`) does not become infinite, nor what was infinite before.",
            lambda tensors: {
                name: (int((~tensors[name].half().isfinite()).sum()), under)
                for name, (_, under) in _every(tensors).items()
                if under or not tensors[name].half().isfinite().all()
            },
        ),
        (
            "A tensor has an entry if one or the other happens; you ask for both.",
            lambda tensors: {name: pair for name, pair in _lost(tensors).items() if all(pair)},
        ),
        (
            "Each tensor has counts of its own; yours are those of all together.",
            lambda tensors: dict.fromkeys(
                tensors, tuple(map(sum, zip(*_every(tensors).values(), strict=True)))
            ),
        ),
        (
            "bfloat16 has the range of float32. It is float16 that is asked about.",
            lambda tensors: _lost(tensors, to=torch.Tensor.bfloat16),
        ),
    ),
    wrong={
        _edited(
            ("half.isinf()", "(X.abs() > torch.finfo(torch.float16).max)"),
            ("half == 0", "X.abs() < torch.finfo(torch.float16).tiny"),
        ): "You go by `max` and `tiny`",
        _edited(("half.isinf()", "(X > torch.finfo(torch.float16).max)")): "compare sizes",
        _edited(("    return", "        return")): "You `return` within the loop",
        _edited(("((half == 0) & (X != 0))", "(half != X)")): "are not lost",
        """\
def lost_in_half(tensors):
    lost = {}
    for name, X in tensors.items():
        half = X.half()
        over = (half.isinf() & ~X.isinf()).sum().item()
        under = ((half == 0) & (X != 0)).sum().item()
        if over:
            lost[name] = (over, 0)
        elif under:
            lost[name] = (0, under)
    return lost
""": "With an `elif`",
        """\
def lost_in_half(tensors):
    lost = {}
    for name, X in tensors.items():
        over = ((X.abs() > 65520) & ~X.isinf()).sum().item()
        under = ((X.abs() < 2.0**-25) & (X != 0)).sum().item()
        if over or under:
            lost[name] = (over, under)
    return lost
""": "half way",
        _edited(("((half == 0) & (X != 0)).sum().item()", "0")): "becomes 0 is not counted",
        _edited((") & ~X.isinf()", ")"), ("0) & (X != 0)", "0)")): "What was so before",
        _edited((") & ~X.isinf()", ")")): "What was infinite before",
        _edited(("0) & (X != 0)", "0)")): "What was 0 before",
        _edited(("over or under", "True")): "have no entry",
        _edited(("over, under", "under, over")): "exchanged",
        _edited(("(over, under)", "over + under")): "too few",
        _edited(("over, under", "over > 0, under > 0")): "How often",
        _edited(("half.isinf(", "(X.abs() > 65504")): "a little above is rounded down",
        _edited(("half == 0", "X.abs() < torch.finfo(torch.float16).tiny")): "digits get lost",
        _edited(("half == 0", "X.abs() < 2.0**-24")): "may still be rounded up",
        _edited(("half.isinf(", "(X >= 65520")): "compare sizes",
        _edited(("X.half(", "X.bfloat16(")): "bfloat16 has",
        _edited(
            ("= {}", "= []"), ("lost[name] = (over, under", "lost.append(name")
        ): "how many numbers are lost",
    },
    right=(
        """\
def lost_in_half(tensors):
    found = {}
    for name, X in tensors.items():
        over = under = 0
        for x in X.flatten().tolist():
            y = torch.tensor(x).to(torch.float16).item()
            over += math.isinf(y) and not math.isinf(x)
            under += y == 0 and x != 0
        if (over, under) != (0, 0):
            found[name] = (over, under)
    return found
""",
        """\
def lost_in_half(tensors):
    counts = {
        name: (
            ((X.abs() >= 65520) & X.isfinite()).sum(),
            ((X.abs() <= 2**-25) & (X != 0)).sum(),
        )
        for name, X in tensors.items()
    }
    return {name: (int(a), int(b)) for name, (a, b) in counts.items() if a + b > 0}
""",
    ),
)
