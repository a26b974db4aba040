"""MaskView: what a mask does to the weights (chapters 02 and 06)."""

import torch
from matplotlib.colors import ListedColormap
from traitlets import Dict, List

from tutor.attention import check_mask
from tutor.figures import HIDDEN, ON_COLOUR, SEEN, in_words
from tutor.views.base import READERS, Table, View, as_written, script, to_lists


class MaskView(View):
    """Scores, mask and weights side by side; a click on a cell hides it or shows it again.

    E: scores (T, S), already divided by sqrt(d_k). rows, columns: their T and S names; a column
    named "[PAD]" is padding. mask: boolean, broadcastable to (T, S), True = may not be attended to,
    or "causal". What the reader makes of it stands in `view.M`, and the weights in `view.A`.
    """

    _esm = script("mask")

    facts = Dict().tag(sync=True)
    mask = List().tag(**READERS)  # T lists of S booleans

    def __init__(self, E, rows=None, columns=None, mask=None):
        self.E = torch.as_tensor(E).cpu()
        if self.E.dim() != 2:
            raise ValueError(f"The scores must have shape (T, S), not {tuple(self.E.shape)}.")
        if not self.E.isfinite().all():
            raise ValueError("The scores must be finite; what is hidden goes into the mask.")
        T, S = self.E.shape
        rows = [str(t) for t in range(T)] if rows is None else list(rows)
        columns = (rows if T == S else range(S)) if columns is None else columns
        columns = [str(name) for name in columns]
        if (len(rows), len(columns)) != (T, S):
            raise ValueError(
                f"The scores have {T} rows and {S} columns, but there are {len(rows)} and "
                f"{len(columns)} names."
            )
        if mask is None:
            mask = torch.zeros(T, S, dtype=torch.bool)
        elif isinstance(mask, str) and mask == "causal":
            mask = torch.ones(T, S, dtype=torch.bool).triu(1)
        check_mask(mask, (T, S))
        facts = {"E": to_lists(self.E), "rows": rows, "columns": columns}
        super().__init__(facts=facts, mask=to_lists(mask.expand(T, S)))

    @property
    def M(self):
        """The mask as it stands: boolean, (T, S)."""
        return torch.tensor(self.mask)

    @property
    def A(self):
        """The weights as they stand: (T, S). A row with nothing to attend to is zeros."""
        E = self.E.masked_fill(self.M, torch.finfo(self.E.dtype).min)
        return E.softmax(dim=-1).masked_fill(self.M, 0.0)

    def __repr__(self):
        T, S = self.E.shape
        return f"MaskView({T} x {S} scores, {int(self.M.sum())} hidden)"

    def title(self):
        """The heading of the saved page."""
        return "Scores, mask and weights"

    def describe(self):
        """The picture in words."""
        rows, columns = self.facts["rows"], self.facts["columns"]
        hidden = [
            f"{row} may not look at {', '.join(c for c, m in zip(columns, line, strict=True) if m)}"
            for row, line in zip(rows, self.mask, strict=True)
            if any(line)
        ]
        words = in_words(self.A, rows, columns, title="weights")
        return f"Scores, mask and weights. {'; '.join(hidden) or 'Nothing is hidden'}. {words}"

    def table(self):
        """Every cell: its score, whether it is hidden, its weight."""
        return Table(
            ["row", "column", "score", "mask", "weight"],
            [
                [row, column, as_written(e), "hidden" if m else "seen", f"{a:.2f}"]
                for row, *line in zip(
                    self.facts["rows"], self.facts["E"], self.mask, to_lists(self.A), strict=True
                )
                for column, e, m, a in zip(self.facts["columns"], *line, strict=True)
            ],
        )

    def draw(self, figure):
        """Draw the three matrices side by side."""
        T, S = self.E.shape
        figure.set_size_inches(3 * (0.5 * S + 0.4) + 1.4, 0.5 * T + 1.2)
        axes = figure.subplots(1, 3, sharey=True)
        panels = (
            ("scores E", torch.zeros(T, S), ListedColormap(["white"]), self.E, as_written),
            (
                "mask",
                self.M,
                ListedColormap([SEEN, HIDDEN]),
                self.M,
                lambda hidden: "✕" if hidden else "·",
            ),
            ("weights A", self.A, "cividis", self.A, lambda weight: f"{weight:.2f}"),
        )
        for ax, (title, shades, colours, values, wording) in zip(axes, panels, strict=True):
            image = ax.imshow(shades.float().numpy(), vmin=0, vmax=1, cmap=colours)
            for t, row in enumerate(to_lists(values)):
                for s, value in enumerate(row):
                    on_scale = colours == "cividis"
                    dark = (on_scale and value < 0.47) or value is True
                    ax.text(
                        s, t, wording(value), ha="center", va="center", fontsize=9,
                        color="white" if dark else "black", gid=ON_COLOUR if on_scale else None,
                    )  # fmt: skip
            ax.set_title(title, fontsize=10)
            ax.set_xticks(range(S), self.facts["columns"], rotation=45)
            ax.set_yticks(range(T), self.facts["rows"])
            ax.tick_params(labelsize=9, length=0)
        figure.colorbar(image, ax=axes, label="weight", shrink=0.7, pad=0.02)
