"""Patch every place, and see which ones move the answer."""

import torch

from tutor.check.exercise import WRITE, Exercise


def _vectors(layers, X):
    """What each layer reads, and what the last one returns."""
    found = [X]
    for layer in layers:
        found.append(layer(found[-1]))
    return found


def _effects(layers, X_A, X_B, answer, put=None, share=True, after=0):
    """The table with changes for the mistakes: how to put in, what to divide by, which layer."""
    if put is None:

        def put(X, other, t):
            X = X.clone()
            X[t] = other[t]
            return X

    of_a, of_b = _vectors(layers, X_A), _vectors(layers, X_B)
    a, b = answer(of_a[-1]), answer(of_b[-1])
    table = torch.zeros(len(of_a), len(X_B), dtype=X_A.dtype)
    for layer in range(len(of_a)):
        for t in range(len(X_B)):
            X = put(of_b[layer], of_a[layer], t)
            for later in layers[layer + after :]:
                X = later(X)
            table[layer, t] = (answer(X) - b) / (a - b) if share else answer(X) - b
    return table


def _cumulative(layers, X_A, X_B, answer):
    def put(X, other, t):
        return torch.cat([other[: t + 1], X[t + 1 :]])

    return _effects(layers, X_A, X_B, answer, put)


def _stays_patched(layers, X_A, X_B, answer):
    """Each place is patched into what the last patch left."""
    of_a, of_b = _vectors(layers, X_A), [X.clone() for X in _vectors(layers, X_B)]
    a, b = answer(of_a[-1]), answer(of_b[-1])
    return _cumulative(layers, X_A, X_B, answer) + 0 * (a - b)


def _from_the_bottom(layers, X_A, X_B, answer):
    def put(X, other, t):
        X = X.clone()
        X[t] = X_A[t]
        return X

    return _effects(layers, X_A, X_B, answer, put)


def _over_a(layers, X_A, X_B, answer):
    a, b = (answer(_vectors(layers, X)[-1]) for X in (X_A, X_B))
    return (_effects(layers, X_A, X_B, answer, share=False) + b) / a


def _held(layers, X_A, X_B, answer):
    """The place gets A's vector again behind each later layer."""
    return _on_the_way(layers, X_A, X_B, answer, lambda X, a, b, t: _row(X, a, t))


def _alone(layers, X_A, X_B, answer):
    """Only the patched token goes on; the others stay those of B at each level."""
    return _on_the_way(layers, X_A, X_B, answer, lambda X, a, b, t: _row(b, X, t))


def _row(X, other, t):
    return torch.cat([X[:t], other[t : t + 1], X[t + 1 :]])


def _on_the_way(layers, X_A, X_B, answer, change):
    of_a, of_b = _vectors(layers, X_A), _vectors(layers, X_B)
    a, b = answer(of_a[-1]), answer(of_b[-1])
    table = torch.zeros(len(of_a), len(X_B))
    for level in range(len(of_a)):
        for t in range(len(X_B)):
            X = _row(of_b[level], of_a[level], t)
            for i in range(level, len(layers)):
                X = change(layers[i](X), of_a[i + 1], of_b[i + 1], t)
            table[level, t] = (answer(X) - b) / (a - b)
    return table


def _first_layers(layers, X_A, X_B, answer):
    """As many layers as are left, but from the bottom."""
    of_a, of_b = _vectors(layers, X_A), _vectors(layers, X_B)
    a, b = answer(of_a[-1]), answer(of_b[-1])
    table = torch.zeros(len(of_a), len(X_B))
    for level in range(len(of_a)):
        for t in range(len(X_B)):
            X = _row(of_b[level], of_a[level], t)
            for layer in layers[: len(layers) - level]:
                X = layer(X)
            table[level, t] = (answer(X) - b) / (a - b)
    return table


class _Layer:
    """Tokens hear one another (M) and change by themselves (W)."""

    def __init__(self, d_model, T):
        self.W, self.M = torch.randn(d_model, d_model), torch.randn(T, T)

    def __repr__(self):
        return "a layer"

    def __call__(self, X):
        return X + torch.tanh(self.M @ X @ self.W)  # (T, d_model)


def _answer(w):
    return lambda X: X[0] @ w  # what is read from the first token: a number


def _cases_of_models():
    for L, T, d_model in [(1, 2, 2), (2, 3, 2), (3, 4, 3)]:
        layers = [_Layer(d_model, T) for _ in range(L)]
        X_A, X_B = torch.randn(T, d_model), torch.randn(T, d_model)
        w = torch.randn(d_model)
        of = [_answer(w)(_vectors(layers, X)[-1]) for X in (X_A, X_B)]
        if abs(of[0] - of[1]) < 0.5:  # a share of nearly nothing is only noise
            X_A[0] += 3 * w / w.norm()
        yield layers, X_A, X_B, _answer(w)


effect_of_places = Exercise(
    name="effect_of_places",
    chapter="10",
    section="From *whether* to *where*",
    kind=WRITE,
    title="Patch every place",
    goal="Find the places of a run that decide its answer.",
    difficulty=4,
    importance=4,
    minutes=16,
    text="""\
Here is a model without hooks: `layers` is a list of functions from (T, d_model) to (T, d_model),
applied one after the other, and `answer` makes one number of the last vectors. Run A starts from
`X_A`, run B from `X_B`.

Make the table of the chapter. Entry (l, t): run B, but at level l the vector of token t is that of
run A. Level 0 is what the first layer reads, level L what the last one returns. Write down how far
the answer moves: 0 where it stays B's, 1 where it becomes A's. A share may lie below 0 or above 1;
leave it so. Each entry is a patch of its own, with the rest of B as it was. No gradients are asked
for.""",
    hints=(
        "First run both, and keep their vectors at all L + 1 levels in two lists.",
        "For entry (l, t): copy B's vectors of level l, put in row t of A's, and apply "
        "`layers[l:]`. Start each entry from B again.",
        "The share is `(answer(X) - b) / (a - b)`, where a and b are the answers of the two runs "
        "without any patch.",
    ),
    stub='''\
def effect_of_places(layers, X_A, X_B, answer):
    """How far each place of run A moves run B's answer towards A's.

    layers: list of L functions from (T, d_model) to (T, d_model)
    X_A, X_B: float tensors (T, d_model), what the first layer reads in each run
    answer: function from (T, d_model) to a tensor with one number
    Returns float tensor (L + 1, T)
    """
    raise NotImplementedError
''',
    solution='''\
def effect_of_places(layers, X_A, X_B, answer):
    """How far each place of run A moves run B's answer towards A's.

    layers: list of L functions from (T, d_model) to (T, d_model)
    X_A, X_B: float tensors (T, d_model), what the first layer reads in each run
    answer: function from (T, d_model) to a tensor with one number
    Returns float tensor (L + 1, T)
    """
    of_a, of_b = [X_A], [X_B]
    for layer in layers:
        of_a.append(layer(of_a[-1]))
        of_b.append(layer(of_b[-1]))
    a, b = answer(of_a[-1]), answer(of_b[-1])
    table = torch.zeros(len(layers) + 1, len(X_B))
    for level in range(len(layers) + 1):
        for t in range(len(X_B)):
            X = of_b[level].clone()
            X[t] = of_a[level][t]
            for layer in layers[level:]:
                X = layer(X)
            table[level, t] = (answer(X) - b) / (a - b)
    return table
''',
    because="In the last row only tokens that the answer reads can matter; if it reads one, that "
    "has all.",
    reference=_effects,
    cases=_cases_of_models,
    tolerance=1e-3,
    mistakes=(
        (
            "You put B's vector into run A. It is run B that is patched.",
            lambda layers, X_A, X_B, answer: _effects(layers, X_B, X_A, answer),
        ),
        (
            "You put B's vector into run A, which is the same as all of A's vectors but one in "
            "run B. One vector of A is put into run B.",
            lambda layers, X_A, X_B, answer: 1 - _effects(layers, X_B, X_A, answer),
        ),
        *(
            (
                "The two runs are exchanged in the share: 0 where the answer stays B's, 1 where it "
                "becomes A's.",
                lambda *given, turn=turn: turn(_effects(*given)),
            )
            for turn in (lambda share: 1 - share, lambda share: share - 1, lambda share: -share)
        ),
        (
            "You cut the shares off at 0 and 1. A patch can move the answer away, or beyond: leave "
            "the share as it is.",
            lambda *given: _effects(*given).clamp(0, 1),
        ),
        (
            "You take absolute values. A patch can move the answer away from A's: then the share "
            "is negative.",
            lambda *given: _effects(*given).abs(),
        ),
        (
            "You put B's vector into run A, and cut the shares off at 0 and 1. Run B is patched, "
            "and a share may be anything.",
            lambda layers, X_A, X_B, answer: _effects(layers, X_B, X_A, answer).clamp(0, 1),
        ),
        (
            "You put in what the first layer reads in run A, at every level. Level l gets A's "
            "vector of level l.",
            _from_the_bottom,
        ),
        (
            "Your table lies on its side: rows are levels, columns tokens.",
            lambda *given: _effects(*given).T,
        ),
        (
            "You divide the patched answer by A's. A share begins at B's answer: subtract it above "
            "and below the line.",
            _over_a,
        ),
        (
            "You report the difference from B's answer; a share is divided by A's less B's.",
            lambda layers, X_A, X_B, answer: _effects(layers, X_A, X_B, answer, share=False),
        ),
        (
            "A place that was patched stays patched for the next ones: start each entry from B.",
            _cumulative,
        ),
        (
            "You put A's vector in again behind each later layer. A patch is made once, at level "
            "l; from there on the run goes as it goes.",
            _held,
        ),
        (
            "Behind the patch you let only token t change, and keep the others as in B. They hear "
            "of the patch, too: apply the layers to all tokens.",
            _alone,
        ),
        (
            "Behind the patch you apply the first L - l layers. Those that follow level l are "
            "`layers[l:]`.",
            _first_layers,
        ),
        (
            "After the patch you skip a layer: the layer at this level reads the patched vectors.",
            lambda layers, X_A, X_B, answer: _effects(layers, X_A, X_B, answer, after=1),
        ),
        (
            "You patch one feature of all tokens. A place is a token: a row.",
            lambda layers, X_A, X_B, answer: _effects(
                layers,
                X_A,
                X_B,
                answer,
                put=lambda X, other, t: torch.where(
                    torch.arange(X.shape[1]) == t, other, X
                ),  # (T, d_model)
            ),
        ),
        (
            "Your rows begin at the top: level 0 is what the first layer reads.",
            lambda layers, X_A, X_B, answer: _effects(layers, X_A, X_B, answer).flip(0),
        ),
        (
            "The last level is missing: what the last layer returns can be patched too.",
            lambda layers, X_A, X_B, answer: _effects(layers, X_A, X_B, answer)[:-1],
        ),
    ),
    wrong={
        """\
def effect_of_places(layers, X_A, X_B, answer):
    def run(X):
        kept = [X]
        for layer in layers:
            kept.append(layer(kept[-1]))
        return kept
    A, B = run(X_A), run(X_B)
    a, b = answer(A[-1]), answer(B[-1])
    rows = []
    for l in range(len(A)):
        row = []
        X_l = B[l].clone()
        for t in range(len(X_A)):
            X_l[t] = A[l][t]
            X = X_l
            for layer in layers[l:]:
                X = layer(X)
            row.append((answer(X) - b) / (a - b))
        rows.append(torch.stack(row))
    return torch.stack(rows)
""": "start each entry from B",
        """\
def effect_of_places(layers, X_A, X_B, answer):
    def run(X):
        kept = [X]
        for layer in layers:
            kept.append(layer(kept[-1]))
        return kept
    A, B = run(X_A), run(X_B)
    table = torch.zeros(len(A), len(X_A))
    for l in range(len(A)):
        for t in range(len(X_A)):
            X = B[l].clone()
            X[t] = A[l][t]
            for layer in layers[l:]:
                X = layer(X)
            table[l, t] = answer(X) - answer(B[-1])
    return table
""": "divided by A's less B's",
        """\
def effect_of_places(layers, X_A, X_B, answer):
    def run(X):
        kept = [X]
        for layer in layers:
            kept.append(layer(kept[-1]))
        return kept
    A, B = run(X_A), run(X_B)
    a, b = answer(A[-1]), answer(B[-1])
    table = torch.zeros(len(A), len(X_A))
    for l in range(len(A)):
        for t in range(len(X_A)):
            X = B[l].clone()
            X[t] = A[l][t]
            for layer in layers[l + 1:]:
                X = layer(X)
            table[l, t] = (answer(X) - b) / (a - b)
    return table
""": "skip a layer",
        """\
def effect_of_places(layers, X_A, X_B, answer):
    def run(X):
        kept = [X]
        for layer in layers:
            kept.append(layer(kept[-1]))
        return kept
    A, B = run(X_A), run(X_B)
    a, b = answer(A[-1]), answer(B[-1])
    table = torch.zeros(len(A), len(X_A))
    for l in range(len(A)):
        for t in range(len(X_A)):
            X = A[l].clone()
            X[t] = B[l][t]
            for layer in layers[l:]:
                X = layer(X)
            table[l, t] = (answer(X) - b) / (a - b)
    return table
""": "into run A",
        """\
def effect_of_places(layers, X_A, X_B, answer):
    def run(X):
        kept = [X]
        for layer in layers:
            kept.append(layer(kept[-1]))
        return kept
    A, B = run(X_A), run(X_B)
    a, b = answer(A[-1]), answer(B[-1])
    table = torch.zeros(len(layers), len(X_A))
    for l in range(len(layers)):
        for t in range(len(X_A)):
            X = B[l].clone()
            X[t] = A[l][t]
            for layer in layers[l:]:
                X = layer(X)
            table[l, t] = (answer(X) - b) / (a - b)
    return table
""": "last level is missing",
        """\
def effect_of_places(layers, X_A, X_B, answer):
    def run(X):
        kept = [X]
        for layer in layers:
            kept.append(layer(kept[-1]))
        return kept
    A, B = run(X_A), run(X_B)
    a, b = answer(A[-1]), answer(B[-1])
    table = torch.zeros(len(A), len(X_A))
    for l in range(len(A)):
        for t in range(len(X_A)):
            X = B[l].clone()
            X[t] = A[l][t]
            for layer in layers[l:]:
                X = layer(X)
            table[l, t] = (answer(X) - b) / (a - b)
    return table.clamp(0, 1)
""": "cut the shares off",
        """\
def effect_of_places(layers, X_A, X_B, answer):
    def run(X):
        kept = [X]
        for layer in layers:
            kept.append(layer(kept[-1]))
        return kept
    A, B = run(X_A), run(X_B)
    a, b = answer(A[-1]), answer(B[-1])
    table = torch.zeros(len(A), len(X_A))
    for l in range(len(A)):
        for t in range(len(X_A)):
            X = B[l].clone()
            X[t] = A[l][t]
            for layer in layers[l:]:
                X = layer(X)
            table[l, t] = (answer(X) - a) / (b - a)
    return table
""": "exchanged in the share",
        """\
def effect_of_places(layers, X_A, X_B, answer):
    def run(X):
        kept = [X]
        for layer in layers:
            kept.append(layer(kept[-1]))
        return kept
    A, B = run(X_A), run(X_B)
    a, b = answer(A[-1]), answer(B[-1])
    table = torch.zeros(len(A), len(X_A))
    for l in range(len(A)):
        for t in range(len(X_A)):
            X = B[l].clone()
            X[t] = A[l][t]
            for layer in layers[l:]:
                X = layer(X)
            table[l, t] = ((answer(X) - b) / (a - b)).abs()
    return table
""": "absolute values",
        """\
def effect_of_places(layers, X_A, X_B, answer):
    def run(X):
        kept = [X]
        for layer in layers:
            kept.append(layer(kept[-1]))
        return kept
    A, B = run(X_A), run(X_B)
    a, b = answer(A[-1]), answer(B[-1])
    table = torch.zeros(len(A), len(X_A))
    for l in range(len(A)):
        for t in range(len(X_A)):
            X = B[l].clone()
            X[t] = A[l][t]
            for layer in layers[l:]:
                X = layer(X)
            table[l, t] = (answer(X) - b) / (b - a)
    return table
""": "exchanged in the share",
        """\
def effect_of_places(layers, X_A, X_B, answer):
    of_a, of_b = [X_A], [X_B]
    for layer in layers:
        of_a.append(layer(of_a[-1]))
        of_b.append(layer(of_b[-1]))
    a, b = answer(of_a[-1]), answer(of_b[-1])
    table = torch.zeros(len(layers) + 1, len(X_B))
    for l in range(len(layers) + 1):
        for t in range(len(X_B)):
            X = of_b[l].clone()
            X[t] = X_A[t]
            for layer in layers[l:]:
                X = layer(X)
            table[l, t] = (answer(X) - b) / (a - b)
    return table
""": "what the first layer reads in run A",
        """\
def effect_of_places(layers, X_A, X_B, answer):
    of_a, of_b = [X_A], [X_B]
    for layer in layers:
        of_a.append(layer(of_a[-1]))
        of_b.append(layer(of_b[-1]))
    a, b = answer(of_a[-1]), answer(of_b[-1])
    table = torch.zeros(len(layers) + 1, len(X_B))
    for l in range(len(layers) + 1):
        for t in range(len(X_B)):
            X = of_b[l].clone()
            X[t] = of_a[l][t]
            for layer in layers[l:]:
                X = layer(X)
            table[l, t] = (answer(X) - b) / (a - b)
    return table.T
""": "lies on its side",
        """\
def effect_of_places(layers, X_A, X_B, answer):
    A, B = [X_A], [X_B]
    for layer in layers:
        A.append(layer(A[-1]))
        B.append(layer(B[-1]))
    a, b = answer(A[-1]), answer(B[-1])
    table = torch.zeros(len(A), len(X_B))
    for l in range(len(A)):
        for t in range(len(X_B)):
            X = B[l].clone()
            X[t] = A[l][t]
            for i in range(l, len(layers)):
                X = layers[i](X)
                X[t] = A[i + 1][t]
            table[l, t] = (answer(X) - b) / (a - b)
    return table
""": "in again behind each",
        """\
def effect_of_places(layers, X_A, X_B, answer):
    A, B = [X_A], [X_B]
    for layer in layers:
        A.append(layer(A[-1]))
        B.append(layer(B[-1]))
    a, b = answer(A[-1]), answer(B[-1])
    table = torch.zeros(len(A), len(X_B))
    for l in range(len(A)):
        for t in range(len(X_B)):
            X = B[l].clone()
            X[t] = A[l][t]
            for i in range(l, len(layers)):
                new = B[i + 1].clone()
                new[t] = layers[i](X)[t]
                X = new
            table[l, t] = (answer(X) - b) / (a - b)
    return table
""": "let only token t change",
        """\
def effect_of_places(layers, X_A, X_B, answer):
    A, B = [X_A], [X_B]
    for layer in layers:
        A.append(layer(A[-1]))
        B.append(layer(B[-1]))
    a, b = answer(A[-1]), answer(B[-1])
    table = torch.zeros(len(A), len(X_B))
    for l in range(len(A)):
        for t in range(len(X_B)):
            X = B[l].clone()
            X[t] = A[l][t]
            for layer in layers[:len(layers) - l]:
                X = layer(X)
            table[l, t] = (answer(X) - b) / (a - b)
    return table
""": "the first L - l layers",
    },
    right=(
        """\
def effect_of_places(layers, X_A, X_B, answer):
    def finish(X, level):
        for layer in layers[level:]:
            X = layer(X)
        return answer(X)

    a, b, rows = finish(X_A, 0), finish(X_B, 0), []
    for level in range(len(layers) + 1):
        row = []
        for t in range(X_B.shape[0]):
            X = torch.cat([X_B[:t], X_A[t : t + 1], X_B[t + 1 :]])
            row.append((finish(X, level) - b) / (a - b))
        rows.append(torch.stack(row))
        if level < len(layers):
            X_A, X_B = layers[level](X_A), layers[level](X_B)
    return torch.stack(rows)
""",
        """\
def effect_of_places(layers, X_A, X_B, answer):
    def go(X, start, row=None, t=None):
        if t is not None:
            X = torch.where((torch.arange(len(X)) == t)[:, None], row, X)
        for layer in layers[start:]:
            X = layer(X)
        return float(answer(X))

    top, bottom = go(X_A, 0), go(X_B, 0)
    table = []
    for level in range(len(layers) + 1):
        table.append([(go(X_B, level, X_A[t], t) - bottom) / (top - bottom)
                      for t in range(len(X_B))])
        if level < len(layers):
            X_A, X_B = layers[level](X_A), layers[level](X_B)
    return torch.tensor(table)
""",
    ),
)
