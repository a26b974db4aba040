"""A control that was too strong."""

import torch

from tutor.check.exercise import MEND, Exercise


def _pushes(ours, theirs, position, directions, whole=False, raw=False, piled=False):
    """The pushes with some of the three mistakes."""
    change = theirs - ours if whole else (theirs - ours)[position]
    X, pushed = ours.clone(), []
    for direction in directions:
        X = X.clone() if piled else ours.clone()
        X[position] += change.norm() * (direction if raw else direction / direction.norm())
        pushed.append(X)
    return torch.stack(pushed)


def _with(**mistakes):
    return lambda *given: _pushes(*given, **mistakes)


def _put(make):
    """One vector at the position, made by a function of (ours, theirs, unit direction) there."""

    def pushes(ours, theirs, position, directions):
        X = ours.repeat(len(directions), 1, 1)
        for n, direction in enumerate(directions):
            X[n, position] = make(ours[position], theirs[position], direction / direction.norm())
        return X

    return pushes


def _scaled(divisor):
    """A direction divided by something else than its own length."""

    def pushes(ours, theirs, position, directions):
        length = (theirs - ours)[position].norm()
        X = ours.repeat(len(directions), 1, 1)
        for n, direction in enumerate(directions):
            X[n, position] += length * direction / divisor(direction, directions)
        return X

    return pushes


def _as_long_as(length):
    """Pushes as long as a function of the whole change and the position says."""

    def pushes(ours, theirs, position, directions):
        X = ours.repeat(len(directions), 1, 1)
        unit = directions / directions.norm(dim=1, keepdim=True)
        X[:, position] += length(theirs - ours, position) * unit
        return X

    return pushes


def _by_norms(sign):
    """The lengths of both runs as a whole, subtracted."""

    def pushes(ours, theirs, position, directions):
        X = ours.repeat(len(directions), 1, 1)
        unit = directions / directions.norm(dim=1, keepdim=True)
        X[:, position] += sign(theirs.norm() - ours.norm()) * unit
        return X

    return pushes


def _everywhere(ours, theirs, position, directions):
    length = (theirs - ours)[position].norm()
    return ours + length * (directions / directions.norm(dim=1, keepdim=True))[:, None]


def _from_theirs(ours, theirs, position, directions):
    return _pushes(theirs, ours, position, directions)


def _last_one_alone(ours, theirs, position, directions):
    return _pushes(ours, theirs, position, directions[-1:]).expand(len(directions), -1, -1)


def _cases_of_pushes():
    yield torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]), 0, torch.tensor([[0.0, 2.0]])
    yield torch.ones(2, 2), torch.tensor([[4.0, 5.0], [1.0, 2.0]]), 1, torch.tensor([[0.0, 2.0]])
    for S, d, n, position in [(2, 3, 2, 0), (5, 4, 3, 3), (3, 8, 5, 2)]:
        yield torch.randn(S, d), torch.randn(S, d), position, torch.randn(n, d)


_STILL = {
    "whole": "The push is still too long: you take the length of the change at all positions.",
    "raw": "The push is still too long: a random direction has a length of its own. Divide by it.",
    "piled": "The pushes still pile up: each begins where the one before ended.",
}
_TWO = {
    (
        "whole",
        "raw",
    ): "Two mistakes are left. Each push begins anew now. For the next, ask how long "
    "a direction is.",
    ("whole", "piled"): "Two mistakes are left. Directions have length 1 now. For the next, ask at "
    "what vector the second push begins.",
    ("raw", "piled"): "Two mistakes are left. The length is that of the one change now. For the "
    "next, ask at what vector the second push begins.",
}

random_pushes = Exercise(
    name="random_pushes",
    chapter="10",
    section="Is it so? Two controls, and two repetitions",
    kind=MEND,
    title="A control that was too strong",
    goal="Make a control that differs from the experiment in one thing alone.",
    difficulty=3,
    importance=5,
    minutes=9,
    text="""\
The chapter's first control pushes the vector of *riding* in random directions, each time as far as
the horse's vector is from the bicycle's. The verb stays, fifty times of fifty. A colleague repeats
it with the function below, on the same run. In *her* control the verb is lost fifty times of fifty
(this was run, with all three models). “So any injury there spoils the verb”, she writes, “and your
patch proves nothing.”

Her function has **three silent mistakes. Find them and mend them.** Each of the $n$ results is
`ours` with one vector changed: the one at `position`, pushed in one of the directions by the
distance between `theirs` and `ours` **at that position**.""",
    hints=(
        "Take two tokens, $d_{model} = 2$ and two directions, on paper. What is the length of each "
        "push, and at what vector does the second begin?",
        "How long is a vector of 96 random numbers, each about 1 in size? And over which vectors "
        "does `(theirs - ours).norm()` run?",
        "`(theirs - ours)[position].norm()` is the one length; `direction / direction.norm()` has "
        "length 1; and `X = ours.clone()` belongs into the loop.",
    ),
    stub='''\
def random_pushes(ours, theirs, position, directions):
    """Copies of a run's vectors, one of them pushed at random. It has three mistakes: mend them.

    ours, theirs: float tensors (S, d_model), what the decoder reads in two runs
    position: int, the token to push; directions: float tensor (n, d_model), random numbers
    Returns float tensor (n, S, d_model)
    """
    length = (theirs - ours).norm()
    X, pushed = ours.clone(), []
    for direction in directions:
        X[position] += length * direction
        pushed.append(X.clone())
    return torch.stack(pushed)
''',
    solution='''\
def random_pushes(ours, theirs, position, directions):
    """Copies of a run's vectors, one of them pushed at random, as far as the patch goes.

    ours, theirs: float tensors (S, d_model), what the decoder reads in two runs
    position: int, the token to push; directions: float tensor (n, d_model), random numbers
    Returns float tensor (n, S, d_model)
    """
    length = (theirs - ours)[position].norm()
    pushed = []
    for direction in directions:
        X = ours.clone()
        X[position] += length * direction / direction.norm()
        pushed.append(X)
    return torch.stack(pushed)
''',
    because="A control is as large as the experiment, at the same place, and each begins anew.",
    reference=_pushes,
    cases=_cases_of_pushes,
    mistakes=(
        (
            "As it was: a pushed vector ends much farther away than the patched one.",
            _with(whole=True, raw=True, piled=True),
        ),
        *((said, _with(**dict.fromkeys(two, True))) for two, said in _TWO.items()),
        *((f"One mistake is left. {said}", _with(**{one: True})) for one, said in _STILL.items()),
        (
            "You put the push in place of the vector. It is added to the vector that is there.",
            _put(lambda ours, theirs, unit: (theirs - ours).norm() * unit),
        ),
        (
            "You push `theirs`. The run of `ours` is patched, so it is pushed in the control.",
            _from_theirs,
        ),
        (
            "You begin with the patched vector and push that. The control takes the push in place "
            "of the patch.",
            _put(lambda ours, theirs, unit: theirs + (theirs - ours).norm() * unit),
        ),
        (
            "You push all positions. The patch changes one vector, and so does its control.",
            _everywhere,
        ),
        (
            "Your push is as long as the vector of `theirs`. Take the length of the change.",
            _put(lambda ours, theirs, unit: ours + theirs.norm() * unit),
        ),
        (
            "Your push is as long as the vector of `ours`. Take the length of the change.",
            _put(lambda ours, theirs, unit: ours + ours.norm() * unit),
        ),
        (
            "Your push is as long as two vectors differ in length. Take the length of their "
            "difference.",
            _put(lambda ours, theirs, unit: ours + (theirs.norm() - ours.norm()).abs() * unit),
        ),
        *(
            (
                "Your push is as long as two vectors differ in length. Take the length of their "
                "difference.",
                mistake,
            )
            for mistake in (
                _put(lambda ours, theirs, unit: ours + (theirs.norm() - ours.norm()) * unit),
                _by_norms(abs),
                _by_norms(lambda length: length),
            )
        ),
        (
            "You divide by the sum of a direction's numbers. Its length is `direction.norm()`.",
            _scaled(lambda direction, directions: direction.sum()),
        ),
        (
            "You divide by the sum of a direction's absolute values. Its length is the root of the "
            "sum of squares.",
            _scaled(lambda direction, directions: direction.abs().sum()),
        ),
        (
            "You divide a direction by the root of d_model, which is its length on average only. "
            "Divide by its own.",
            _scaled(lambda direction, directions: len(direction) ** 0.5),
        ),
        (
            "You divide by the length of all directions together. Each has its own.",
            _scaled(lambda direction, directions: directions.norm()),
        ),
        (
            "You divide by the largest number of a direction. Its length is `direction.norm()`.",
            _scaled(lambda direction, directions: direction.abs().max()),
        ),
        (
            "You divide by the squared length of a direction. Its length is the root of that.",
            _scaled(lambda direction, directions: direction.norm() ** 2),
        ),
        (
            "You divide by the standard deviation of a direction. Divide by its "
            "length, `direction.norm()`.",
            _scaled(lambda direction, directions: direction.std()),
        ),
        (
            "You divide feature by feature (`dim=0`), over all directions. Each direction has a "
            "length of its own.",
            _scaled(lambda direction, directions: directions.norm(dim=0)),
        ),
        (
            "Your pushes go in the opposite directions.",
            lambda ours, theirs, position, directions: _pushes(ours, theirs, position, -directions),
        ),
        (
            "You multiply the change by the direction, feature by feature. Only its length is "
            "taken; where it points is what the control changes.",
            _put(lambda ours, theirs, unit: ours + (theirs - ours) * unit),
        ),
        *(
            (
                "You take the length of the change at another position, or at all of them. It is "
                "the one at `position`.",
                _as_long_as(length),
            )
            for length in (
                lambda change, position: change.norm() / len(change),
                lambda change, position: change.norm(dim=1).mean(),
                lambda change, position: change.norm(dim=1).sum(),
                lambda change, position: change.norm(dim=1).max(),
                lambda change, position: change[0].norm(),
                lambda change, position: change[-1].norm(),
            )
        ),
        (
            "You add up absolute values. The length of a vector is the root of its sum of squares.",
            _as_long_as(lambda change, position: change[position].abs().sum()),
        ),
        (
            "You forgot the root: the length of a vector is the root of its sum of squares.",
            _as_long_as(lambda change, position: change[position].pow(2).sum()),
        ),
        (
            "You return the pushed vectors alone. The other vectors of the run belong to each "
            "result, too.",
            lambda *given: _pushes(*given)[:, given[2]],
        ),
        (
            "All results are the same tensor, and hold the last push: append a copy.",
            _last_one_alone,
        ),
        (
            "Your push has length 1 always. It is as long as the change.",
            _put(lambda ours, theirs, unit: ours + unit),
        ),
    ),
    wrong={
        """\
def random_pushes(ours, theirs, position, directions):
    pushed = []
    total = torch.zeros_like(directions[0])
    for direction in directions:
        total = total + (theirs - ours).norm() * direction
        X = ours.clone()
        X[position] = ours[position] + total
        pushed.append(X)
    return torch.stack(pushed)
""": "As it was",
        """\
def random_pushes(ours, theirs, position, directions):
    length = (theirs - ours)[position].norm()
    X, pushed = ours.clone(), []
    for direction in directions:
        X[position] += length * direction
        pushed.append(X.clone())
    return torch.stack(pushed)
""": "For the next, ask at what vector",
        """\
def random_pushes(ours, theirs, position, directions):
    length = (theirs - ours).norm()
    pushed = []
    for direction in directions:
        X = ours.clone()
        X[position] += length * direction
        pushed.append(X)
    return torch.stack(pushed)
""": "ask how long a direction is",
        """\
def random_pushes(ours, theirs, position, directions):
    length = (theirs - ours).norm()
    X, pushed = ours.clone(), []
    for direction in directions:
        X[position] += length * direction / direction.norm()
        pushed.append(X.clone())
    return torch.stack(pushed)
""": "Directions have length 1 now",
        """\
def random_pushes(ours, theirs, position, directions):
    length = (theirs - ours)[position].norm()
    pushed = []
    for direction in directions:
        X = ours.clone()
        X[position] += length * direction
        pushed.append(X)
    return torch.stack(pushed)
""": "One mistake is left. The push is still too long: a random",
        """\
def random_pushes(ours, theirs, position, directions):
    length = (theirs - ours)[position].norm()
    X, pushed = ours.clone(), []
    for direction in directions:
        X[position] += length * direction / direction.norm()
        pushed.append(X.clone())
    return torch.stack(pushed)
""": "One mistake is left. The pushes still pile up",
        """\
def random_pushes(ours, theirs, position, directions):
    length = (theirs - ours).norm()
    unit = directions / directions.norm(dim=1, keepdim=True)
    X = ours.repeat(len(directions), 1, 1)
    X[:, position] += length * unit
    return X
""": "One mistake is left. The push is still too long: you take",
        """\
def random_pushes(ours, theirs, position, directions):
    length = (theirs - ours)[position].norm()
    X = ours.repeat(len(directions), 1, 1)
    X[:, position] = length * F.normalize(directions, dim=1)
    return X
""": "in place of the vector",
        """\
def random_pushes(ours, theirs, position, directions):
    length = (theirs - ours)[position].norm()
    X = ours.repeat(len(directions), 1, 1)
    X[:, position] += length * directions / directions.norm()
    return X
""": "all directions together",
        """\
def random_pushes(ours, theirs, position, directions):
    length = (theirs - ours)[position].norm()
    X = ours.clone()
    pushed = []
    for direction in directions:
        X[position] = ours[position] + length * direction / direction.norm()
        pushed.append(X)
    return torch.stack(pushed)
""": "append a copy",
        """\
def random_pushes(ours, theirs, position, directions):
    length = (theirs - ours)[position].norm()
    pushed = []
    for direction in directions:
        X = ours
        X[position] += length * direction / direction.norm()
        pushed.append(X.clone())
    return torch.stack(pushed)
""": "changes its argument `ours`",
        """\
def random_pushes(ours, theirs, position, directions):
    length = (theirs - ours)[position].norm()
    d_model = ours.shape[1]
    X = ours.repeat(len(directions), 1, 1)
    X[:, position] += length * directions / d_model**0.5
    return X
""": "on average only",
        """\
def random_pushes(ours, theirs, position, directions):
    length = (theirs - ours).norm(dim=1).mean()
    X = ours.repeat(len(directions), 1, 1)
    X[:, position] += length * F.normalize(directions, dim=1)
    return X
""": "at another position",
        """\
def random_pushes(ours, theirs, position, directions):
    length = (theirs - ours)[position].norm()
    return ours[position] + length * F.normalize(directions, dim=1)
""": "pushed vectors alone",
        """\
def random_pushes(ours, theirs, position, directions):
    length = theirs[position].norm() - ours[position].norm()
    pushed = []
    for direction in directions:
        X = ours.clone()
        X[position] += length * direction / direction.norm()
        pushed.append(X)
    return torch.stack(pushed)
""": "differ in length",
        """\
def random_pushes(ours, theirs, position, directions):
    length = theirs.norm() - ours.norm()
    pushed = []
    for direction in directions:
        X = ours.clone()
        X[position] += length * direction / direction.norm()
        pushed.append(X)
    return torch.stack(pushed)
""": "differ in length",
        """\
def random_pushes(ours, theirs, position, directions):
    length = (theirs - ours)[position].norm()
    pushed = []
    for direction in directions:
        X = ours.clone()
        X[position] += length * direction / direction.sum()
        pushed.append(X)
    return torch.stack(pushed)
""": "the sum of a direction's numbers",
        """\
def random_pushes(ours, theirs, position, directions):
    length = (theirs - ours)[position].norm()
    pushed = []
    for direction in directions:
        X = ours.clone()
        X[position] += length * direction / direction.abs().sum()
        pushed.append(X)
    return torch.stack(pushed)
""": "absolute values",
    },
    right=(
        """\
def random_pushes(ours, theirs, position, directions):
    length = torch.dist(theirs[position], ours[position])
    X = ours.expand(len(directions), -1, -1).clone()  # (n, S, d_model)
    X[:, position] += length * F.normalize(directions, dim=-1)
    return X
""",
        """\
def random_pushes(ours, theirs, position, directions):
    here = F.one_hot(torch.tensor(position), len(ours)).to(ours.dtype)  # (S,)
    length = (theirs[position] - ours[position]).pow(2).sum().sqrt()
    unit = directions / directions.pow(2).sum(-1, keepdim=True).sqrt()
    return ours + torch.einsum("s,nd->nsd", here, length * unit)
""",
    ),
)
