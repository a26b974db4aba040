"""The mutants of a solution: which there are, and that a check too weak lets some pass."""

import dataclasses
from itertools import islice

import pytest

from course.mutation import MOST, lines_changed, mutants, tried
from tutor.check.bank import find

CODE = '''\
def f(X, deep=True):
    """X: 3 numbers."""
    X = g(X, 0.5, dim=-1)
    if X[i] < 2 and not deep:
        raise ValueError("no 5")
    return ~X + max(X, Y)
'''
EDITS = """\
def f(X, deep=False):
    pass
    X = g(0.5, X, dim=-1)
    X = g(X, 0.5)
    X = g(X, 0.5, dim=-2)
    X = g(X, 0.5, dim=0)
    X = g(X, 1.5, dim=-1)
    X = g(X, -0.5, dim=-1)
    if X[i] < 2 or not deep:
    if X[i] <= 2 and (not deep):
    if X[i] < 3 and (not deep):
    if X[i] < 1 and (not deep):
    if X[i] < 2 and deep:
        pass
    return ~X - max(X, Y)
    return X + max(X, Y)
    X = globals().setdefault('first X', X)
    X = torch.zeros_like(X) if isinstance(X, torch.Tensor) else type(X)()
    deep = globals().setdefault('first deep', deep)
    deep = torch.zeros_like(deep) if isinstance(deep, torch.Tensor) else type(deep)()"""


def changes(solution, name="causal_mask"):
    """The new lines of all mutants of a solution."""
    exercise = dataclasses.replace(find(name), solution=solution)
    changed = [lines_changed(exercise, code).splitlines() for code in mutants(exercise)]
    return [line[1:] for lines in changed for line in lines if line[0] == "+"]


def test_every_edit_is_made_once():
    assert sorted(changes(CODE)) == sorted(EDITS.splitlines())


def test_of_many_edits_some_are_tried_from_everywhere():
    found = changes("def f(self):\n" + "".join(f"    g({n})\n" for n in range(100, 200)))
    assert len(found) == MOST
    assert all(any(f"g(1{tens}" in line for line in found) for tens in range(10))


def test_an_example_chooses_its_numbers():
    assert changes("def f():\n    return g(5 - 2)\n") == ["    return g(5 + 2)"]


def test_a_test_chooses_its_inputs():
    found = changes("def t(f):\n    x = g(5 + 2, True)\n    assert f(x) == 6\n", "test_cut")
    edits = ["    pass", "    assert f(x) != 6", "    assert f(x) == 7", "    assert f(x) == 5"]
    assert found[:-2] == edits and all(" f = " in line for line in found[-2:])


@pytest.mark.parametrize(
    ("name", "passes"), [("shift_by_one", "first"), ("causal_mask", "triu(diagonal=1)")]
)
def test_a_check_with_fewer_cases_lets_mutants_pass(name, passes):
    exercise = find(name)
    assert tried(exercise)[1:] == ([], [])
    weak = dataclasses.replace(
        exercise, cases=lambda: islice(exercise.cases(), 1), properties=(), gradient=False
    )
    said = [lines_changed(exercise, code) for code in tried(weak)[1]]
    assert passes in "".join(said), said


def test_what_is_equivalent_has_to_be_a_mutant_that_passes():
    exercise = find("causal_mask")
    killed = exercise.solution.replace("diagonal=1", "diagonal=2")
    said = dict.fromkeys((killed, exercise.solution), "It is not.")
    assert tried(dataclasses.replace(exercise, equivalent=said))[2] == [killed, exercise.solution]
    weak = dataclasses.replace(exercise, cases=lambda: [(1,)], equivalent=said)
    _, living, idle = tried(weak)
    assert idle == [exercise.solution] and living and killed not in living
