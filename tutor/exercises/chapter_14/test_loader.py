"""A test of what loads weights."""

import contextlib
import inspect
import textwrap
from functools import partial

import torch
from torch import nn

from tutor.check.exercise import TEST, Exercise, edited


class Refused(Exception):
    """What one loader raises in place of ValueError."""


def _loader(missing=True, unknown=True, shapes=True, write=None, error=ValueError):
    """A loader, or one without some of its tests."""

    def put(p, X):
        with torch.no_grad():
            (write or torch.Tensor.copy_)(p, X)

    def load(model, tensors):
        own = dict(model.named_parameters())
        if unknown and tensors.keys() - own.keys():
            raise error(f"unknown: {sorted(tensors.keys() - own.keys())}")
        for name, p in own.items():
            if name not in tensors:
                if missing:
                    raise error(f"missing: {name}")
                continue
            if shapes and p.shape != tensors[name].shape:
                raise error(f"another shape: {name}")
        for name, p in own.items():
            if name in tensors:
                put(p, tensors[name])

    return load


def _too_soon(model, tensors):
    """Goes through the file, and writes each tensor before it has looked at the next."""
    own = dict(model.named_parameters())
    if own.keys() - tensors.keys():
        raise ValueError("missing")
    for name, X in tensors.items():
        if name not in own or own[name].shape != X.shape:
            raise ValueError(name)
        with torch.no_grad():
            own[name].copy_(X)


def _by_place(model, tensors):
    """Takes the tensors in their order in the file, and compares names as a set."""
    own = dict(model.named_parameters())
    if own.keys() != tensors.keys():
        raise ValueError("names")
    for name, p in own.items():
        if p.shape != tensors[name].shape:
            raise ValueError("shape")
    same_shape = {}
    for X in tensors.values():
        same_shape.setdefault(X.shape, []).append(X)
    with torch.no_grad():
        for p in own.values():
            p.copy_(same_shape[p.shape].pop(0))


def _all_or_nothing(model, tensors):
    state = model.state_dict()
    if sorted(state) != sorted(tensors) or any(state[n].shape != tensors[n].shape for n in state):
        raise Refused("this file is not for this model")
    model.load_state_dict(tensors)


def _without_a_word(model, tensors):
    with contextlib.suppress(ValueError):
        _loader()(model, tensors)


def _stretched(model, tensors):
    """Numbers as many as wanted are put into the shape that is wanted."""
    shapes = {name: p.shape for name, p in model.named_parameters()}
    fitting = {
        name: X.reshape(shapes[name]) if name in shapes and X.numel() == shapes[name].numel() else X
        for name, X in tensors.items()
    }
    _loader()(model, fitting)


def small_model():
    """Two square layers, so that a mistake of names is no mistake of shapes."""
    return nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))


_CODE = '''\
def test_loader(load):
    """Raises AssertionError if load does not keep its promises."""
    good = dict(reversed(small_model().state_dict().items()))
    model = small_model()
    load(model, good)
    assert all(torch.equal(p, good[name]) for name, p in model.state_dict().items())

    missing = {name: X for name, X in good.items() if name != "1.bias"}
    unknown = good | {"2.bias": torch.zeros(3)}
    for wrong in (missing, unknown, good | {"1.bias": torch.zeros(1)},
                  good | {"1.weight": torch.zeros(9)}):
        model = small_model()
        before = {name: p.clone() for name, p in model.state_dict().items()}
        try:
            load(model, wrong)
        except Exception:
            for name, p in model.state_dict().items():
                assert torch.equal(p, before[name])
        else:
            raise AssertionError("a wrong file was loaded")
'''
_edited = partial(edited, _CODE)
_GOOD = _CODE.split("\n    missing")[0]  # and nothing else is tested
_ORDER = ("dict(reversed(small_model().state_dict().items()))", "small_model().state_dict()")
_EQUAL = "all(torch.equal(p, good[name]) for name, p in model.state_dict().items())"
_LOOP = _CODE[_CODE.index("            for name, p") : _CODE.index("        else:")]
_COMPARED = _LOOP, "            pass\n"
_AFTER = textwrap.indent(textwrap.dedent(_LOOP), " " * 8)  # compared, whether it raised or not
_FILES = (
    _CODE[
        _CODE.index("    missing") : _CODE.index("        model = small_model()\n        before")
    ],
    """\
    files = [{name: X for name, X in good.items() if name != "1.bias"}]
    for name, X in (("2.bias", torch.zeros(3)), ("1.bias", torch.zeros(1)),
                    ("1.weight", torch.zeros(9))):  # stands first in the file
        files.append({name: X} | {other: Y for other, Y in good.items() if other != name})
    for wrong in files:
""",
)
_ELSE = _CODE[_CODE.index("        else:") :]


test_loader = Exercise(
    name="test_loader",
    chapter="14",
    section="What can go wrong",
    kind=TEST,
    title="Test what loads weights",
    goal="Write the test that a loader of weights must pass.",
    difficulty=4,
    importance=5,
    minutes=15,
    text="""\
`load(model, tensors)` puts the tensors of a file, a dict from names to tensors, into the parameters
of these names. It promises:

- afterwards each parameter holds the numbers of the tensor of its name, in whatever order the file
  has them;
- if a name is missing, or unknown, or a tensor has another shape, it raises an exception, of
  whatever class (another shape is also one with as many numbers, or one that could be stretched);
- in that case no parameter has changed.

Write the test. `small_model()` makes a model with the four parameters `0.weight`, `0.bias`,
`1.weight` and `1.bias`. Its matrices are (3, 3), its biases (3,), its numbers random. There are two
right loaders and eight mutants. If `load` does not raise where it must, your test must fail.""",
    hints=(
        "Four files: a good one, in another order than the model's; one without a name; one with a "
        "name too many; one with another shape. Keep a copy of the parameters before each.",
        "Expect the exception with `try`, `except Exception`, `else: raise AssertionError`. "
        "(An `assert` within the `try` would be caught by its own `except`.)",
        "After each refusal compare all parameters with their copies. Let the fault be the last in "
        "the file, so that a loader that writes too soon has written. And try (9,) or (1, 3, 3) "
        "for (3, 3), which has as many numbers.",
    ),
    setup=inspect.getsource(small_model),
    stub='''\
def test_loader(load):
    """Raises AssertionError if load does not keep its promises.

    load: called with a model and a dict from names to tensors
    """
    raise NotImplementedError
''',
    solution=_CODE,
    because="A loader that refuses half way leaves a model that is neither the old nor the new.",
    twins={
        "looks at all names and shapes, and then copies": _loader(),
        "raises an exception of its own, and leaves the copying to PyTorch": _all_or_nothing,
    },
    mutants={
        "ignores a missing name": _loader(missing=False),
        "ignores an unknown name": _loader(unknown=False),
        "gives equal shapes in the file's order, whatever the names": _by_place,
        "reshapes a tensor that has as many numbers": _stretched,
        "stretches a tensor of one number over a whole bias": _loader(shapes=False),
        "writes until it meets what is wrong": _too_soon,
        "transposes the matrices": _loader(write=lambda p, X: p.copy_(X.t())),
        "loads no wrong file, and raises nothing": _without_a_word,
    },
    wrong={
        _GOOD: "One of them ignores a missing name",
        _edited(_ORDER): "gives equal shapes in the file's order",
        _edited(("except Exception:", "except ValueError:")): "raises Refused",
        _edited(_COMPARED): "writes until it meets",
        _edited(("torch.zeros(9)", "torch.zeros(2, 3)")): "reshapes a tensor that has as many",
        _edited(("missing, unknown", "missing")): "ignores an unknown name",
        _edited(("missing, unknown", "unknown")): "ignores a missing name",
        _edited((_EQUAL, "model.state_dict().keys() == good.keys()")): "One of them gives equal",
        _edited((_EQUAL, _EQUAL.replace("p, good[name]", "p.sum(), good[name].sum()"))): (
            "It is one that transposes the matrices"
        ),
        _edited((".clone()", "")): "writes until it meets",
        _edited(
            _COMPARED, (_ELSE, _AFTER)
        ): "It is one that loads no wrong file, and raises nothing",
        _edited(
            ("load(model, wrong)", "load(model, wrong)\n            assert False"),
            _COMPARED,
            (_ELSE, _AFTER),
        ): "It is one that loads no wrong file, and raises nothing",
        _edited(
            (_ELSE, ""), ("load(model, good)", "model.load_state_dict(good)")
        ): "ignores a missing",
        """\
def test_loader(load):
    model, good = small_model(), small_model().state_dict()
    load(model, good)
    for name, p in model.state_dict().items():
        assert torch.equal(p, good[name])
    del good["1.bias"]
    try:
        load(model, good)
        assert False
    except Exception:
        pass
""": "ignores a missing name",
        _edited(_FILES): "1 of 8 wrong functions pass. It is one that writes until it meets",
        """\
def test_loader(load):
    good = small_model().state_dict()
    model = load(small_model(), good)
    assert torch.equal(model.state_dict()["0.bias"], good["0.bias"])
""": "crashes on a right function",
        """\
def test_loader(load):
    model, good = small_model(), small_model().state_dict()
    load(model, good)
    assert model.state_dict() == good
""": "whole tensor is true",
        """\
def test_loader(load):
    model, good = small_model(), small_model().state_dict()
    model.load_state_dict(good)
    return all(torch.equal(p, good[name]) for name, p in model.state_dict().items())
""": "never calls `load`",
        """\
def test_loader(load):
    good = small_model().state_dict()
    model = small_model()
    load(model, good)
    assert not any(torch.equal(p, good[name]) for name, p in model.state_dict().items())
""": "fails whatever it is given",
    },
    right=(
        """\
def test_loader(load):
    def refuses(change):
        tensors, model = small_model().state_dict(), small_model()
        before = [p.detach().clone() for p in model.parameters()]
        change(tensors)
        try:
            load(model, tensors)
        except Exception:
            return all(map(torch.equal, model.parameters(), before))
        return False

    model, other = small_model(), small_model().state_dict()
    load(model, {name: other[name] for name in ("1.bias", "0.bias", "1.weight", "0.weight")})
    return (
        all(torch.equal(X, other[name]) for name, X in model.state_dict().items())
        and refuses(lambda tensors: tensors.pop("1.weight"))
        and refuses(lambda tensors: tensors.update({"extra": torch.ones(3)}))
        and refuses(lambda tensors: tensors.update({"1.bias": torch.ones(1, 3)}))
        and refuses(lambda tensors: tensors.update({"0.bias": torch.tensor(2.0)}))
    )
""",
        """\
def test_loader(load):
    names = ["0.weight", "0.bias", "1.weight", "1.bias"]
    shapes = {n: (3, 3) if "weight" in n else (3,) for n in names}
    files = [{n: torch.randn(shapes[n]) for n in names if n != gone} for gone in names]
    files.append({n: torch.randn(shapes[n]) for n in names} | {"2.weight": torch.randn(3, 3)})
    for name in names:
        for shape in [(1,), (9,)]:
            files.append({n: torch.randn(shapes[n]) for n in names} | {name: torch.randn(shape)})
    for tensors in files:
        model = small_model()
        before = {n: p.clone() for n, p in model.named_parameters()}
        raised = False
        try:
            load(model, tensors)
        except Exception:
            raised = True
        assert raised
        for n, p in model.named_parameters():
            torch.testing.assert_close(p, before[n])
    model = small_model()
    tensors = {n: torch.randn(shapes[n]) for n in reversed(names)}
    load(model, tensors)
    for n, p in model.named_parameters():
        torch.testing.assert_close(p.data, tensors[n])
""",
    ),
)
