"""Names and shapes, before the weights are loaded."""

from tutor.check.exercise import WRITE, Exercise


def _lists(missing=True, unknown=True, shapes=True, order=sorted):
    def compare(wanted, found):
        return (
            order(n for n in wanted if n not in found) if missing else [],
            order(n for n in found if n not in wanted) if unknown else [],
            order(n for n in wanted if n in found and tuple(wanted[n]) != tuple(found[n]))
            if shapes
            else [],
        )

    return compare


_right = _lists()


def _sizes_only(wanted, found):
    def size(shape):
        count = 1
        for n in shape:
            count *= n
        return count

    missing, unknown, _ = _right(wanted, found)
    both = sorted(n for n in wanted if n in found and size(wanted[n]) != size(found[n]))
    return missing, unknown, both


def _by_place(wanted, found):
    """Compares the shapes of what stands at the same place, whatever its name."""
    missing, unknown, _ = _right(wanted, found)
    pairs = zip(wanted, wanted.values(), found.values(), strict=False)
    return missing, unknown, sorted(n for n, a, b in pairs if tuple(a) != tuple(b))


def _shape_of_all(wanted, found):
    missing, unknown, _ = _right(wanted, found)
    return missing, unknown, sorted(n for n in wanted if wanted[n] != found.get(n))


def _third(differ):
    """Names in both whose shapes differ in this sense."""

    def compare(wanted, found):
        both = sorted(n for n in wanted if n in found and differ(wanted[n], found[n]))
        return *_right(wanted, found)[:2], both

    return compare


def _with_pairs(wanted, found):
    """Compares names together with their shapes, so that another shape is missing and unknown."""
    missing = sorted({n for n, _ in wanted.items() - found.items()})
    unknown = sorted({n for n, _ in found.items() - wanted.items()})
    return missing, unknown, _right(wanted, found)[2]


def _by_truth(third):
    """Takes `()` for no shape; in the first two lists, or in the third, or in all."""

    def compare(wanted, found):
        missing = sorted(n for n in wanted if not found.get(n))
        unknown = sorted(n for n in found if not wanted.get(n))
        both = sorted(n for n in wanted if found.get(n) and found[n] != wanted[n])
        right = _right(wanted, found)
        return {
            "alone": (*right[:2], both),
            "too": (missing, unknown, both),
            "not": (missing, unknown, right[2]),
        }[third]

    return compare


def _cases_of_names():
    a, b, c = "norm.weight", "embedding.weight", "out.bias"
    yield {a: (2,)}, {a: (2,)}
    yield {a: (2,), b: (3, 2)}, {b: (3, 2)}
    yield {b: (3, 2)}, {a: (2,), b: (3, 2)}
    yield {a: (2,), b: (3, 2)}, {b: (2, 3), a: (2,)}
    yield {a: (2,), c: (4,)}, {f"module.{a}": (2,), f"module.{c}": (4,)}
    yield {c: (4,), b: (3, 2), a: (2,)}, {"x": (2,), b: (2, 2), "d": (1,)}
    yield {c: (4,), b: (3, 2), a: (2,)}, {a: (1,), b: (6,), c: (2, 2)}
    yield {}, {c: (1,), a: (1,)}
    yield {"scale": (), a: (2,)}, {a: (2,), "scale": ()}  # () is one number
    yield {"scale": (), a: (2,)}, {a: (2,), "scale": (1,)}
    yield {"scale": (1,), a: (1, 2)}, {a: (2,), "scale": ()}
    yield {a: (3, 2)}, {a: (3, 5)}


what_does_not_fit = Exercise(
    name="what_does_not_fit",
    chapter="14",
    section="What can go wrong",
    kind=WRITE,
    title="Which tensor is missing?",
    goal="Say before loading what a file lacks, has too much of, or has in another shape.",
    difficulty=2,
    importance=4,
    minutes=8,
    text="""\
A model wants tensors, a file has tensors. PyTorch says what does not fit only after it has loaded
what does. Write a comparison that comes before: return **three sorted lists of names**. First what
the model wants and the file lacks. Then what the file has and the model does not know. Then what
both have, but in different shapes.""",
    hints=(
        "Both arguments are dicts. `name in found` asks for a key.",
        "`sorted(name for name in wanted if name not in found)` is the first list.",
        "For the third, ask only for names that are in both: `if name in found and wanted[name] != "
        "found[name]`.",
    ),
    stub='''\
def what_does_not_fit(wanted, found):
    """Compare the tensors that a model wants with those of a file.

    wanted, found: dicts from a tensor's name to its shape, a tuple of int; () is one number
    Returns three sorted lists of names: missing, unknown, of another shape
    """
    raise NotImplementedError
''',
    solution='''\
def what_does_not_fit(wanted, found):
    """Compare the tensors that a model wants with those of a file.

    wanted, found: dicts from a tensor's name to its shape, a tuple of int; () is one number
    Returns three sorted lists of names: missing, unknown, of another shape
    """
    missing = sorted(wanted.keys() - found.keys())
    unknown = sorted(found.keys() - wanted.keys())
    both = wanted.keys() & found.keys()
    return missing, unknown, sorted(name for name in both if wanted[name] != found[name])
''',
    because="Three empty lists, and only then the weights: no layer stays random.",
    reference=_right,
    cases=_cases_of_names,
    mistakes=(
        (
            "Missing and unknown are exchanged: what the file lacks is missing.",
            lambda wanted, found: (
                _right(wanted, found)[1],
                _right(wanted, found)[0],
                _right(wanted, found)[2],
            ),
        ),
        ("Shapes are not compared: the third list stays empty.", _lists(shapes=False)),
        ("What the file has and the model does not know is missed.", _lists(unknown=False)),
        ("What the model wants and the file lacks is missed.", _lists(missing=False)),
        ("The lists are not sorted.", _lists(order=list)),
        (
            "You compare how many numbers a tensor has. (2, 3) and (3, 2) have as many.",
            _sizes_only,
        ),
        (
            "The third list holds what fits. What has another shape is wanted.",
            _third(lambda a, b: a == b),
        ),
        (
            "You compare how many dimensions a tensor has, not how long they are.",
            _third(lambda a, b: len(a) != len(b)),
        ),
        (
            "`zip` stops where the shorter shape ends: `()` and `(1,)` differ, and so do (2,) and "
            "(2, 3).",
            _third(lambda a, b: any(n != m for n, m in zip(a, b, strict=False))),
        ),
        *(
            ("You compare the first sizes only. (3, 2) and (3, 5) differ in the second.", compare)
            for compare in (
                _third(lambda a, b: a[:1] != b[:1]),
                _third(lambda a, b: a[0] != b[0]),  # raises where a shape is ()
            )
        ),
        (
            "You compare the sizes of a shape in whatever order. (2, 3) is another shape than "
            "(3, 2).",
            _third(lambda a, b: sorted(a) != sorted(b)),
        ),
        (
            "You leave out sizes of 1. (1, 2) is another shape than (2,).",
            _third(lambda a, b: [n for n in a if n != 1] != [n for n in b if n != 1]),
        ),
        (
            "What has another shape stands in the first two lists as well. It is neither missing "
            "nor unknown: compare names alone there.",
            _with_pairs,
        ),
        *(
            (
                "A tensor of shape `()`, one number, counts as if it were not there: an empty "
                "tuple is false. Ask with `in`.",
                _by_truth(third),
            )
            for third in ("alone", "too", "not")
        ),
        (
            "You compare shapes by place. Tensors belong together by name.",
            _by_place,
        ),
        (
            "The third list is for names that are in both. A missing tensor has no shape.",
            _shape_of_all,
        ),
        (
            "The third list is for names that are in both. A missing or unknown tensor has one "
            "shape only.",
            lambda wanted, found: (
                *_right(wanted, found)[:2],
                sorted(n for n in {**wanted, **found} if wanted.get(n) != found.get(n)),
            ),
        ),
        (
            "The names are right. Return three lists, not only whether they are empty.",
            lambda wanted, found: tuple(map(bool, _right(wanted, found))),
        ),
        (
            "Your first two lists are the same. Tell what the file lacks from what the model does "
            "not know.",
            lambda wanted, found: (
                sorted(wanted.keys() ^ found.keys()),
                sorted(wanted.keys() ^ found.keys()),
                _right(wanted, found)[2],
            ),
        ),
        *(
            (
                "The names are right, but in one list. Return three, one for each thing that can "
                "go wrong.",
                lambda wanted, found, order=order: order(sum(_right(wanted, found), [])),
            )
            for order in (list, sorted)
        ),
    ),
    wrong={
        """\
def what_does_not_fit(wanted, found):
    missing, unknown = sorted(set(wanted) - set(found)), sorted(set(found) - set(wanted))
    both = set(wanted) & set(found)
    differ = [n for n in both if not all(a == b for a, b in zip(wanted[n], found[n]))]
    return missing, unknown, sorted(differ)
""": "where the shorter shape ends",
        """\
def what_does_not_fit(wanted, found):
    missing, unknown = sorted(set(wanted) - set(found)), sorted(set(found) - set(wanted))
    both = set(wanted) & set(found)
    return missing, unknown, sorted(n for n in both if wanted[n][:1] != found[n][:1])
""": "the first sizes only",
        """\
def what_does_not_fit(wanted, found):
    names = sorted(set(wanted) ^ set(found))
    return names, names, sorted(n for n in wanted if n in found and wanted[n] != found[n])
""": "Your first two lists are the same",
        """\
def what_does_not_fit(wanted, found):
    names = sorted(set(wanted) - set(found)) + sorted(set(found) - set(wanted))
    return names + sorted(n for n in wanted if n in found and wanted[n] != found[n])
""": "in one list",
        """\
def what_does_not_fit(wanted, found):
    missing, unknown = sorted(set(wanted) - set(found)), sorted(set(found) - set(wanted))
    return missing, unknown, sorted(n for n in wanted if found.get(n) and found[n] != wanted[n])
""": "an empty tuple is false",
        """\
def what_does_not_fit(wanted, found):
    missing, unknown = sorted(set(wanted) - set(found)), sorted(set(found) - set(wanted))
    both = set(wanted) & set(found)
    return missing, unknown, sorted(n for n in both if len(wanted[n]) != len(found[n]))
""": "how many dimensions",
        """\
def what_does_not_fit(wanted, found):
    missing = sorted(dict(wanted.items() - found.items()))
    unknown = sorted(dict(found.items() - wanted.items()))
    return missing, unknown, sorted(n for n in wanted if n in found and wanted[n] != found[n])
""": "neither missing nor unknown",
        """\
def what_does_not_fit(wanted, found):
    missing = sorted(found.keys() - wanted.keys())
    unknown = sorted(wanted.keys() - found.keys())
    return missing, unknown, sorted(n for n in wanted if n in found and wanted[n] != found[n])
""": "exchanged",
        """\
def what_does_not_fit(wanted, found):
    return sorted(set(wanted) - set(found)), sorted(set(found) - set(wanted)), []
""": "Shapes are not compared",
        """\
def what_does_not_fit(wanted, found):
    missing = [n for n in wanted if n not in found]
    unknown = [n for n in found if n not in wanted]
    return missing, unknown, [n for n in wanted if n in found and wanted[n] != found[n]]
""": "not sorted",
        """\
def what_does_not_fit(wanted, found):
    missing = sorted(n for n in wanted if n not in found)
    unknown = sorted(n for n in found if n not in wanted)
    return missing, unknown, sorted(n for n in wanted if wanted[n] != found[n])
""": "KeyError",
        """\
def what_does_not_fit(wanted, found):
    missing = sorted(n for n in wanted if n not in found)
    unknown = sorted(n for n in found if n not in wanted)
    return missing, unknown, sorted(n for n in wanted if wanted[n] != found.get(n))
""": "in both",
        """\
def what_does_not_fit(wanted, found):
    missing = sorted(n for n in wanted if n not in found)
    unknown = sorted(n for n in found if n not in wanted)
    both = [n for n in wanted if n in found]
    return missing, unknown, sorted(n for n in both if math.prod(wanted[n]) != math.prod(found[n]))
""": "how many numbers",
        """\
def what_does_not_fit(wanted, found):
    missing = sorted(n for n in wanted if n not in found)
    return missing, [], sorted(n for n in wanted if n in found and wanted[n] != found[n])
""": "does not know is missed",
    },
    right=(
        """\
def what_does_not_fit(wanted, found):
    missing, other = [], []
    for name in sorted(wanted):
        if name not in found:
            missing.append(name)
        elif list(wanted[name]) != list(found[name]):
            other.append(name)
    return missing, sorted(name for name in found if name not in wanted), other
""",
        """\
def what_does_not_fit(wanted, found):
    missing = sorted(set(wanted) - set(found))
    unknown = sorted(set(found) - set(wanted))
    other = dict(wanted.items() - found.items())
    return [missing, unknown, sorted(name for name in other if name in found)]
""",
    ),
)
