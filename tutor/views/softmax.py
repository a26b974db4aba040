"""SoftmaxView: why scores are divided by the square root of d_k (chapter 02)."""

import math

import torch
from traitlets import Bytes, Dict, Float, Int

from tutor.figures import COLOURS
from tutor.views.base import READERS, Table, View, as_written, script, to_lists


class SoftmaxView(View):
    """Weights and entropy of one query while d_k and the division change.

    Q: (T, d) and K: (S, d), such as `torch.randn`; d_k = 1, 2, 4, ... d of their columns are used.
    The first query is shown, and the mean entropy of all. keys: S names. d_k: the width that is
    shown first, a power of two (None: d). power: scores are divided by d_k ** power; 0 leaves them,
    0.5 is the paper's.
    """

    _esm = script("softmax")

    facts = Dict().tag(sync=True)
    products = Bytes().tag(sync=True)  # float32, (widths, T, S)
    step = Int(0, min=0).tag(**READERS)  # index of d_k among the widths
    power = Float(0.0, min=0.0, max=1.0).tag(**READERS)

    def __init__(self, Q, K, keys=None, d_k=None, power=0.0):
        Q, K = (torch.as_tensor(X).float().cpu() for X in (Q, K))
        if Q.dim() != 2 or K.dim() != 2 or Q.shape[1] != K.shape[1]:
            raise ValueError(
                f"Q {tuple(Q.shape)} and K {tuple(K.shape)} must be (T, d) and (S, d)."
            )
        self.widths = [2**i for i in range(Q.shape[1].bit_length())]
        if d_k is not None and d_k not in self.widths:
            raise ValueError(f"d_k must be one of {self.widths}, not {d_k}.")
        self.E = torch.stack([Q[:, :w] @ K[:, :w].T for w in self.widths])  # (widths, T, S)
        keys = [f"key {s}" for s in range(len(K))] if keys is None else list(keys)
        if len(keys) != len(K):
            raise ValueError(f"There are {len(K)} keys, but {len(keys)} names.")
        super().__init__(
            facts={"widths": self.widths, "keys": keys, "num_queries": len(Q)},
            products=self.E.numpy().tobytes(),
            step=self.widths.index(self.widths[-1] if d_k is None else d_k),
            power=power,
        )

    @property
    def d_k(self):
        """The width that is shown."""
        return self.widths[self.step]

    def A(self, d_k=None, power=None):
        """The weights of all queries, (T, S), for what is shown or for another d_k and power."""
        d_k, power = self.d_k if d_k is None else d_k, self.power if power is None else power
        return (self.E[self.widths.index(d_k)] / d_k**power).softmax(dim=-1)

    def __repr__(self):
        S = len(self.facts["keys"])
        return f"SoftmaxView({S} keys, d_k = {self.d_k}, scores divided by d_k ** {self.power:g})"

    def title(self):
        """The heading of the saved page."""
        return "Softmax, and why scores are divided"

    def describe(self):
        """The picture in words."""
        A = self.A()
        return (
            f"Bar chart of the weights of {len(self.facts['keys'])} keys at d_k = {self.d_k}, "
            f"scores divided by d_k to the power of {self.power:g}: the largest is "
            f"{A[0].max():.1f}. Mean entropy of {len(A)} queries: "
            + ", ".join(f"{_entropy(self.A(w)).mean():.1f} bits at d_k = {w}" for w in self.widths)
            + "."
        )

    def table(self):
        """Score, divided score and weight of every key, for the first query."""
        rows = zip(
            self.facts["keys"], to_lists(self.E[self.step, 0]), to_lists(self.A()[0]), strict=True
        )
        return Table(
            ["key", "q · k", "divided", "weight"],
            [
                [key, as_written(e), as_written(e / self.d_k**self.power), f"{a:.3f}"]
                for key, e, a in rows
            ],
        )

    def draw(self, figure):
        """Draw the weights of the first query, and the mean entropy at every width."""
        keys, colours = self.facts["keys"], COLOURS[:2]
        figure.set_size_inches(9, max(0.3 * max(len(keys), len(self.widths)) + 1, 2.4))
        left, right = figure.subplots(1, 2)
        bars = left.barh(keys, to_lists(self.A()[0]), color=colours[0])
        left.bar_label(bars, fmt="%.2f", fontsize=8, padding=3)
        left.set(xlim=(0, 1.12), xlabel="weight")
        left.set_title(f"one query, d_k = {self.d_k}, divided by d_k^{self.power:g}", fontsize=10)
        bits = [_entropy(self.A(w)).mean().item() for w in self.widths]
        here = [colours[w == self.d_k] for w in self.widths]
        names = [f"▸ {w}" if w == self.d_k else str(w) for w in self.widths]
        bars = right.barh(names, bits, color=here, edgecolor="black")
        right.bar_label(bars, fmt="%.2f", fontsize=8, padding=3)
        right.set(xlim=(0, 1.12 * math.log2(len(keys))), xlabel="bits", ylabel="d_k")
        right.set_title(f"mean entropy of {len(self.E[0])} queries", fontsize=10)
        for ax in (left, right):
            ax.invert_yaxis()
            ax.tick_params(labelsize=9)
            ax.spines[["top", "right"]].set_visible(False)


def _entropy(A):
    """Entropy of each row of weights, in bits: (T, S) -> (T,)."""
    return -torch.special.xlogy(A, A).sum(dim=-1) / math.log(2)
