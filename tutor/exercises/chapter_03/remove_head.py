"""A head that is taken out."""

import torch

from tutor.check.exercise import WRITE, Exercise


def _left(number, m, width):
    """The places of all heads but one, if each is `width` wide."""
    return [i for i in range(number) if i // width != m]


def _remove_head(W_Q, W_K, W_V, W_O, h, m):
    d_k, d_v = W_Q.shape[1] // h, W_V.shape[1] // h
    k, v = _left(h * d_k, m, d_k), _left(h * d_v, m, d_v)
    return W_Q[:, k], W_K[:, k], W_V[:, v], W_O[v]


def _zeroed(*which):
    """Some of the four matrices keep their shape, with zeros where the head was."""

    def remove(W_Q, W_K, W_V, W_O, h, m):
        matrices = [W_Q.clone(), W_K.clone(), W_V.clone(), W_O.clone()]
        for i, W in enumerate(matrices):
            rows = W.T if i < 3 else W
            width = len(rows) // h
            if i in which:
                rows[m * width : (m + 1) * width] = 0
        return tuple(matrices)

    return remove


def _with(**changed):
    """The right answer, with matrices that are cut otherwise: name -> (all arguments) -> matrix."""

    def remove(*arguments):
        names = ("W_Q", "W_K", "W_V", "W_O")
        right = zip(names, _remove_head(*arguments), strict=True)
        return tuple(changed[n](*arguments) if n in changed else W for n, W in right)

    return remove


def _interleaved(W_Q, W_K, W_V, W_O, h, m):
    def without(W):
        return W[:, [i for i in range(W.shape[1]) if i % h != m]]

    return without(W_Q), without(W_K), without(W_V), without(W_O.T).T


def _only(W_Q, W_K, W_V, W_O, h, m):
    return (*(W.chunk(h, dim=1)[m] for W in (W_Q, W_K, W_V)), W_O.chunk(h)[m])


def _joined(dim, behind_first):
    """What stands before the head and what stands behind it, joined otherwise."""

    def remove(W_Q, W_K, W_V, W_O, h, m):
        def without(W):
            width = W.shape[1] // h
            parts = [W[:, : m * width], W[:, (m + 1) * width :]]
            return torch.cat(parts[::-1] if behind_first else parts, dim=dim)

        return without(W_Q), without(W_K), without(W_V), without(W_O.T).T

    return remove


def _count_from_1(W_Q, W_K, W_V, W_O, h, m):
    """For m = 0 the slice begins below 0, and some columns come twice."""

    def without(W):
        width = W.shape[1] // h
        return torch.cat([W[:, : (m - 1) * width], W[:, m * width :]], dim=1)

    return without(W_Q), without(W_K), without(W_V), without(W_O.T).T


def _cases_of_matrices():
    for d_model, h, d_k, d_v, m in [(2, 2, 1, 1, 0), (3, 2, 1, 2, 1), (5, 3, 2, 4, 1)]:
        matrices = [torch.randn(d_model, h * d).mul(4).round() / 4 for d in (d_k, d_k, d_v)]
        yield *matrices, torch.randn(h * d_v, d_model).mul(4).round() / 4, h, m
    for d_model, h, d_k, d_v, m in [(6, 4, 3, 2, 0), (8, 4, 2, 2, 3), (7, 5, 1, 3, 2)]:
        matrices = [torch.randn(d_model, h * d) for d in (d_k, d_k, d_v)]
        yield *matrices, torch.randn(h * d_v, d_model), h, m


remove_head = Exercise(
    name="remove_head",
    chapter="03",
    section="Bringing the heads together",
    kind=WRITE,
    title="Take a head out",
    goal="Find the numbers of one head in packed matrices.",
    difficulty=3,
    importance=4,
    minutes=10,
    text="""\
A head does nothing useful. Setting its rows of $W^O$ to 0 would silence it, but it would go on
computing. Take it out: return the four matrices of an attention with one head fewer, whose result
is that of the old one with head `m` silenced. The heads that stay keep their order and their
numbers.

As in the chapter, the matrices are packed: by columns in $W^Q$, $W^K$ and $W^V$, by rows in $W^O$.
Keys and values may have different widths. There are at least two heads, counted from 0.""",
    hints=(
        "How many columns of `W_Q` belong to one head, and where do those of head m begin? The "
        "same for `W_V`, with a width of its own.",
        "What stays is what stands before the head and what stands behind it: "
        "`torch.cat([W[:, :start], W[:, end:]], dim=1)`. For which matrix are these rows?",
        "With `d_k = W_Q.shape[1] // num_heads` head m has the columns `m * d_k` to "
        "`(m + 1) * d_k`. `W_O` loses the rows `m * d_v` to `(m + 1) * d_v`.",
    ),
    stub='''\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    """The matrices of an attention without head m.

    W_Q, W_K: float tensors (d_model, h * d_k)
    W_V: float tensor (d_model, h * d_v)
    W_O: float tensor (h * d_v, d_model)
    num_heads: int, h, at least 2
    m: int, from 0 to h - 1
    Returns four tensors in the same order, for h - 1 heads
    """
    raise NotImplementedError
''',
    solution='''\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    """The matrices of an attention without head m.

    W_Q, W_K: float tensors (d_model, h * d_k)
    W_V: float tensor (d_model, h * d_v)
    W_O: float tensor (h * d_v, d_model)
    num_heads: int, h, at least 2
    m: int, from 0 to h - 1
    Returns four tensors in the same order, for h - 1 heads
    """

    def without(W):
        """W (rows, h * width) without the columns of head m."""
        heads = list(W.chunk(num_heads, dim=1))  # h times (rows, width)
        del heads[m]
        return torch.cat(heads, dim=1)  # (rows, (h - 1) * width)

    return without(W_Q), without(W_K), without(W_V), without(W_O.T).T  # (d_model, (h - 1) * d_v)
''',
    because="Heads do not see each other, so one can go and leave no trace in the others.",
    reference=_remove_head,
    cases=_cases_of_matrices,
    mistakes=(
        (
            "The head is silenced and still there: zeros stand where it was. Its columns and rows "
            "have to go.",
            _zeroed(0, 1, 2, 3),
        ),
        (
            "The head is silenced and still there: zeros stand where it was. Its columns and rows "
            "have to go.",
            _zeroed(3),
        ),
        (
            "The head is silenced and still there: zeros stand where it was. Its columns and rows "
            "have to go.",
            _zeroed(0, 1, 2),
        ),
        (
            "You keep head m and take all others out. It is the other way round.",
            _only,
        ),
        (
            "Another head is gone: you count from 1, and the first head is head 0.",
            lambda *a: _remove_head(*a[:-1], (a[-1] - 1) % a[-2]),
        ),
        (
            "Another head is gone: you count from 1, and the first head is head 0.",
            _count_from_1,
        ),
        (
            "The last head is gone, whichever head m is.",
            lambda *a: _remove_head(*a[:-1], a[-2] - 1),
        ),
        (
            "The first head is gone, whichever head m is.",
            lambda *a: _remove_head(*a[:-1], 0),
        ),
        (
            "W_O is multiplied by h / (h - 1), as if a mean were taken. Heads are added up: the "
            "others keep their numbers.",
            _with(W_O=lambda *a: _remove_head(*a)[3] * a[4] / (a[4] - 1)),
        ),
        (
            "The columns of a head stand side by side. You take every h-th column, as if the heads "
            "took turns.",
            _interleaved,
        ),
        (
            "W_O is as it was: its rows belong to the heads, and those of head m have to go.",
            _with(W_O=lambda *a: a[3]),
        ),
        (
            "W_O loses columns. Its columns are d_model; its *rows* belong to the heads.",
            _with(W_O=lambda *a: a[3][:, _left(a[3].shape[1], a[5], a[2].shape[1] // a[4])]),
        ),
        (
            "W_O loses columns. Its columns are d_model; its *rows* belong to the heads.",
            _with(
                W_O=lambda *a: torch.cat(
                    [a[3].chunk(a[4], dim=1)[i] for i in range(a[4]) if i != a[5]], dim=1
                )
            ),
        ),
        (
            "W_V and W_O are as they were. Head m has columns in W_V and rows in W_O, too.",
            _with(W_V=lambda *a: a[2], W_O=lambda *a: a[3]),
        ),
        (
            "What stands before the head is lost with it: join what is before and what is behind.",
            lambda *a: (
                *(W[:, (a[5] + 1) * (W.shape[1] // a[4]) :] for W in a[:3]),
                a[3][(a[5] + 1) * (len(a[3]) // a[4]) :],
            ),
        ),
        (
            "The heads that stay have changed their order: what was behind head m comes first.",
            _joined(dim=1, behind_first=True),
        ),
        (
            "Columns are joined side by side: `torch.cat(..., dim=1)`. Without it one table comes "
            "below the other, and these differ in width.",
            _joined(dim=0, behind_first=False),
        ),
        (
            "W_O comes out turned round: heads in its rows, (h - 1) * d_v of them.",
            _with(W_O=lambda *a: _remove_head(*a)[3].T),
        ),
        (
            "W_V and W_O are cut by d_k. Values have a width of their own: the columns of W_V "
            "divided by h.",
            _with(
                W_V=lambda *a: a[2][:, _left(a[2].shape[1], a[5], a[0].shape[1] // a[4])],
                W_O=lambda *a: a[3][_left(a[3].shape[0], a[5], a[0].shape[1] // a[4])],
            ),
        ),
        (
            "W_V is cut by d_k. Values have a width of their own: the columns of W_V divided by h.",
            _with(W_V=lambda *a: a[2][:, _left(a[2].shape[1], a[5], a[0].shape[1] // a[4])]),
        ),
        (
            "W_O is cut by d_k. Its rows are those of the values: d_v for each head.",
            _with(W_O=lambda *a: a[3][_left(a[3].shape[0], a[5], a[0].shape[1] // a[4])]),
        ),
        (
            "The width of a head is not d_model / h here: read it from the columns.",
            lambda *a: (
                tuple(W[:, _left(W.shape[1], a[5], max(1, a[0].shape[0] // a[4]))] for W in a[:3])
                + (a[3][_left(a[3].shape[0], a[5], max(1, a[0].shape[0] // a[4]))],)
            ),
        ),
        (
            "Queries and keys are as they were. Head m has columns there, too.",
            _with(W_Q=lambda *a: a[0], W_K=lambda *a: a[1]),
        ),
        (
            "W_Q, W_K and W_V lose rows. Rows are d_model; the *columns* belong to the heads.",
            lambda *a: (
                *(W[_left(len(W), a[5], W.shape[1] // a[4])] for W in a[:3]),
                _remove_head(*a)[3],
            ),
        ),
        (
            "Only the first column of the head is gone, and the first row of W_O: a head is d_k or "
            "d_v wide.",
            lambda *a: (
                *(
                    W[:, [i for i in range(W.shape[1]) if i != a[5] * (W.shape[1] // a[4])]]
                    for W in a[:3]
                ),
                a[3][[i for i in range(len(a[3])) if i != a[5] * (len(a[3]) // a[4])]],
            ),
        ),
        (
            "Column m is gone, and row m of W_O. Head m is wider than that and begins at m times "
            "its width.",
            lambda *a: (
                *(W[:, [i for i in range(W.shape[1]) if i != a[5]]] for W in a[:3]),
                a[3][[i for i in range(len(a[3])) if i != a[5]]],
            ),
        ),
        (
            "What stands behind the head is lost with it: join what is before and what is behind.",
            lambda *a: (
                *(W[:, : a[5] * (W.shape[1] // a[4])] for W in a[:3]),
                a[3][: a[5] * (len(a[3]) // a[4])],
            ),
        ),
    ),
    wrong={
        """\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    k, v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    Q, K, V, O = (W.clone() for W in (W_Q, W_K, W_V, W_O))
    O[m * v : (m + 1) * v] = 0
    return Q, K, V, O
""": "zeros stand where it was",
        """\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    k, v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    k, v = slice(m * k, (m + 1) * k), slice(m * v, (m + 1) * v)
    return W_Q[:, k], W_K[:, k], W_V[:, v], W_O[v]
""": "keep head m",
        """\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    k, v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    m = m - 1
    keep_k = torch.arange(W_Q.shape[1]) // k != m % num_heads
    keep_v = torch.arange(W_V.shape[1]) // v != m % num_heads
    return W_Q[:, keep_k], W_K[:, keep_k], W_V[:, keep_v], W_O[keep_v]
""": "count from 1",
        """\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    def without(W):
        width = W.shape[1] // num_heads
        return torch.cat([W[:, : (m - 1) * width], W[:, m * width :]], dim=1)

    return without(W_Q), without(W_K), without(W_V), without(W_O.T).T
""": "count from 1",
        """\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    k, v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    return W_Q[:, :-k], W_K[:, :-k], W_V[:, :-v], W_O[:-v]
""": "The last head is gone",
        """\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    k, v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    return W_Q[:, k:], W_K[:, k:], W_V[:, v:], W_O[v:]
""": "The first head is gone",
        """\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    def without(W):
        heads = [H for i, H in enumerate(W.chunk(num_heads, dim=1)) if i != m]
        return torch.cat(heads, dim=1)

    W_O = without(W_O.T).T * num_heads / (num_heads - 1)
    return without(W_Q), without(W_K), without(W_V), W_O
""": "Heads are added up",
        """\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    keep_k = torch.arange(W_Q.shape[1]) % num_heads != m
    keep_v = torch.arange(W_V.shape[1]) % num_heads != m
    return W_Q[:, keep_k], W_K[:, keep_k], W_V[:, keep_v], W_O[keep_v]
""": "took turns",
        """\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    k, v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    keep_k = torch.arange(W_Q.shape[1]) // k != m
    keep_v = torch.arange(W_V.shape[1]) // v != m
    return W_Q[:, keep_k], W_K[:, keep_k], W_V[:, keep_v], W_O
""": "W_O is as it was",
        """\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    k, v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    def without(W, width):
        return torch.cat([W[:, : m * width], W[:, (m + 1) * width :]], dim=1)

    return without(W_Q, k), without(W_K, k), without(W_V, v), without(W_O, v)
""": "W_O loses columns",
        """\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    k = W_Q.shape[1] // num_heads
    def without(W):
        return torch.cat([W[:, : m * k], W[:, (m + 1) * k :]], dim=1)

    return without(W_Q), without(W_K), without(W_V), without(W_O.T).T
""": "W_V and W_O are cut by d_k",
        """\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    k = W_Q.shape[0] // num_heads
    def without(W):
        return torch.cat([W[:, : m * k], W[:, (m + 1) * k :]], dim=1)

    return without(W_Q), without(W_K), without(W_V), without(W_O.T).T
""": "is not d_model / h here",
        """\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    k, v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    keep_v = torch.arange(W_V.shape[1]) // v != m
    return W_Q, W_K, W_V[:, keep_v], W_O[keep_v]
""": "as they were",
        """\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    k, v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    return W_Q[:, : m * k], W_K[:, : m * k], W_V[:, : m * v], W_O[: m * v]
""": "behind the head is lost",
        """\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    def without(W):
        return torch.cat([W[:, :m], W[:, m + 1 :]], dim=1)

    return without(W_Q), without(W_K), without(W_V), without(W_O.T).T
""": "Column m is gone",
        """\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    k, v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    keep_k = torch.arange(W_Q.shape[1]) // k != m
    keep_v = torch.arange(W_V.shape[1]) // v != m
    return W_Q[:, keep_k], W_K[:, keep_k], W_V[:, keep_v], W_O[keep_v].T
""": "turned round",
        """\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    def without(W):
        width = W.shape[1] // num_heads
        return torch.cat([W[:, : m * width], W[:, (m + 1) * width :]])

    return without(W_Q), without(W_K), without(W_V), without(W_O.T).T
""": "side by side",
        """\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    def without(W):
        width = W.shape[1] // num_heads
        return torch.cat([W[:, (m + 1) * width :], W[:, : m * width]], dim=1)

    return without(W_Q), without(W_K), without(W_V), without(W_O.T).T
""": "changed their order",
        """\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    k, v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    W_Q[:, m * k : (m + 1) * k] = 0
    return W_Q, W_K, W_V, W_O
""": "changes its argument `W_Q`",
    },
    right=(
        """\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    d_k, d_v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    keep_k = torch.arange(W_Q.shape[1]) // d_k != m
    keep_v = torch.arange(W_V.shape[1]) // d_v != m
    return W_Q[:, keep_k], W_K[:, keep_k], W_V[:, keep_v], W_O[keep_v]
""",
        """\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    k, v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_heads
    Q, K = (torch.cat([W[:, : m * k], W[:, (m + 1) * k :]], dim=1) for W in (W_Q, W_K))
    V = torch.cat([W_V[:, : m * v], W_V[:, (m + 1) * v :]], dim=1)
    return [Q, K, V, torch.vstack([W_O[: m * v], W_O[(m + 1) * v :]])]
""",
        """\
def remove_head(W_Q, W_K, W_V, W_O, num_heads, m):
    left = [i for i in range(num_heads) if i != m]
    cut = [W.unflatten(1, (num_heads, -1))[:, left].flatten(1) for W in (W_Q, W_K, W_V)]
    return *cut, W_O.unflatten(0, (num_heads, -1))[left].flatten(0, 1)
""",
    ),
)
