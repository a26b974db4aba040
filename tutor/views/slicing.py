"""SlicingView: how columns are cut into heads and put together again (chapter 03)."""

import torch
from matplotlib.patches import Rectangle
from traitlets import Bool, Dict, Int

from tutor.views.base import READERS, Table, View, as_written, script, to_lists

SLICING_STEPS = ("multiply", "cut", "stack", "swap back", "join")


class SlicingView(View):
    """The product X W_Q whose columns are cut into heads and joined again, step by step.

    X: (T, d_model); W_Q: (d_model, h * d_k); small, so that it can be read. words: T names of the
    rows. step: the one that is shown first, 0 (multiply) to 4 (join).
    Raises ValueError if the shapes do not fit.
    """

    _esm = script("slicing")

    facts = Dict().tag(sync=True)
    step = Int(0, min=0, max=len(SLICING_STEPS) - 1).tag(**READERS)
    mistake = Bool(False).tag(**READERS)  # a view() instead of cutting and stacking

    def __init__(self, X, W_Q, num_heads, words=None, step=0):
        X, W_Q = torch.as_tensor(X), torch.as_tensor(W_Q)
        if X.dim() != 2 or W_Q.dim() != 2 or X.shape[1] != W_Q.shape[0]:
            raise ValueError(
                f"X {tuple(X.shape)} and W_Q {tuple(W_Q.shape)} cannot be multiplied: "
                "X must be (T, d_model) and W_Q (d_model, h * d_k)."
            )
        if W_Q.shape[1] % num_heads:
            raise ValueError(f"{W_Q.shape[1]} columns cannot be cut into {num_heads} heads.")
        words = [str(t) for t in range(len(X))] if words is None else list(words)
        if len(words) != len(X):
            raise ValueError(f"X has {len(X)} rows, but there are {len(words)} words.")
        self.Q = X @ W_Q  # (T, h * d_k)
        facts = {"X": to_lists(X), "W": to_lists(W_Q), "Q": to_lists(self.Q), "words": words}
        super().__init__(facts={**facts, "num_heads": num_heads}, step=step)

    def __repr__(self):
        T, columns = self.Q.shape
        h = self.facts["num_heads"]
        return f"SlicingView(X W_Q: {T} x {columns}, cut into {h} heads of width {columns // h})"

    def title(self):
        """The heading of the saved page."""
        return "Cutting into heads, and joining again"

    def describe(self):
        """The picture in words."""
        h = self.facts["num_heads"]
        slices = self.Q.chunk(h, dim=1)  # h times (T, d_k)
        rows = [
            f"head {m}: "
            + ", ".join(
                f"{word} [{' '.join(map(as_written, row))}]"
                for word, row in zip(self.facts["words"], to_lists(Y), strict=True)
            )
            for m, Y in enumerate(slices)
        ]
        T, columns = self.Q.shape
        return (
            f"The product Q = X W_Q, {T} rows and {columns} columns, is cut into {h} slices of "
            f"{columns // h} columns, one a head. {'; '.join(rows)}."
        )

    def table(self):
        """Every entry of Q: its value, its head, its place among the slices (h, T, d_k)."""
        width = self.Q.shape[1] // self.facts["num_heads"]
        return Table(
            ["Q", "value", "head", "slices"],
            [
                [f"[{t}, {c}]", as_written(q), str(c // width), f"[{c // width}, {t}, {c % width}]"]
                for t, row in enumerate(to_lists(self.Q))
                for c, q in enumerate(row)
            ],
        )

    def draw(self, figure):
        """Draw X, W_Q, their product, and its slices one below the other."""
        X, W, Q, words, h = self.facts.values()
        T, width = len(X), len(Q[0]) // h
        ax = figure.add_subplot()
        x = 2.0
        _boxes(ax, X, x, 0, f"X {len(X), len(X[0])}", rows=words)
        x = x + len(X[0]) + 1
        ax.text(x - 0.5, 0.5, "@", ha="center", va="center")
        _boxes(ax, W, x, 0, f"W_Q {len(W), len(W[0])}", width=width)
        x = x + len(W[0]) + 1
        ax.text(x - 0.5, 0.5, "=", ha="center", va="center")
        _boxes(ax, Q, x, 0, f"Q {len(Q), len(Q[0])}", width=width)
        x = x + len(Q[0]) + 3
        for m in range(h):
            part = [row[m * width : (m + 1) * width] for row in Q]
            _boxes(ax, part, x, m * (T + 1.4), f"head {m}", rows=words, head=m)
        ax.set(xlim=(0, x + width + 0.5), ylim=(max(h * (T + 1.4), len(W)), -1.5), aspect="equal")
        ax.axis("off")
        figure.set_size_inches(0.42 * (x + width + 1), 0.42 * (max(h * (T + 1.4), len(W)) + 1.2))


def _boxes(ax, matrix, x, y, title, rows=(), width=None, head=0):
    """Draw a small matrix as boxes, its upper left corner at (x, y); a head has its shade."""
    ax.text(x, y - (0.6 if width else 0.3), title, fontsize=10)
    longest = max(len(as_written(number)) for row in matrix for number in row)
    size = min(9, 45 / longest)  # in points: a box is 0.42 inches wide
    for t, row in enumerate(matrix):
        for c, number in enumerate(row):
            m = head if width is None else c // width
            shade = (0, 0, 0, 0.1 * (m % 4))  # of ink, so that it suits a dark page too
            ax.add_patch(Rectangle((x + c, y + t), 1, 1, facecolor=shade, edgecolor="0.4"))
            if width and not t and not c % width:
                ax.text(x + c, y - 0.05, f"head {m}", fontsize=7, va="bottom")
            ax.text(
                x + c + 0.5, y + t + 0.5, as_written(number), ha="center", va="center",
                fontsize=size,
            )  # fmt: skip
    for t, name in enumerate(rows):
        ax.text(x - 0.2, y + t + 0.5, name, ha="right", va="center", fontsize=9)
