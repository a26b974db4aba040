"""Weights and booleans as grids: a row and a column for each word or place."""

import matplotlib.pyplot as plt
import torch

from tutor.figures.page import HIDDEN, ON_COLOUR, SEEN, despine, row_of_axes, show


def heat_map(
    A, queries, keys, caption, title="", ax_labels=("queries", "keys"), numbers=None, varies=None,
    label="weight",
):  # fmt: skip
    """One matrix of weights between 0 and 1 as a heat map, rows and columns named.

    A: (T, S); queries and keys: their T and S names. numbers: write the weights into the cells
    (None: if there are at most 64). varies: see `show`. label: what a number is, if not a weight.
    """
    heat_maps({title: A}, queries, keys, caption, ax_labels, numbers, varies, label)


def heat_maps(
    matrices, queries, keys, caption, ax_labels=("queries", "keys"), numbers=None, varies=None,
    label="weight", alt=None,
):  # fmt: skip
    """Several matrices side by side: a dict from title to A (T, S). See `heat_map`.

    alt: what the picture shows, where the largest weight of each row does not say it.
    """
    T, S = len(queries), len(keys)
    if numbers is None:
        numbers = T * S <= 64
    side = 0.55 if numbers else 0.32
    width = max(2.6, side * S + 0.6) * len(matrices) + 1.4
    figure, axes = row_of_axes(len(matrices), width, side * T + 1.5, sharey=True)
    import seaborn as sns  # see page.despine

    words = []
    for ax, (title, A) in zip(axes, matrices.items(), strict=True):
        A = torch.as_tensor(A).detach().float().cpu()
        if A.shape != (T, S):
            raise ValueError(
                f"The matrix has shape {tuple(A.shape)}, but there are {T} queries and {S} keys."
            )
        last = ax is axes[-1]
        sns.heatmap(
            A.numpy(), vmin=0, vmax=1, cmap="cividis", square=True,
            cbar=last, cbar_kws={"label": label, "shrink": 0.8}, linewidths=0.5, ax=ax,
            xticklabels=keys, yticklabels=queries,
        )  # fmt: skip
        if numbers:
            write_numbers(ax, A)
        ax.set_title(title)
        ax.set_xlabel(ax_labels[1])
        ax.set_ylabel(ax_labels[0] if ax is axes[0] else "")
        ax.tick_params(axis="y", rotation=0)
        ax.tick_params(axis="x", rotation=45 if max(map(len, map(str, keys))) > 3 else 0)
        words.append(in_words(A, queries, keys, title, varies, label))
    show(figure, caption, alt or " ".join(words), varies)


def write_numbers(ax, A):
    """The numbers A (T, S), between 0 and 1, into the cells of a heat map in cividis.

    Black from 0.47 on: there both black and white have a contrast of 4.5:1 to the cell.
    """
    for t, row in enumerate(A.tolist()):
        for s, number in enumerate(row):
            ax.text(s + 0.5, t + 0.5, f"{number:.2f}", color="black" if number >= 0.47 else "white",
                    size=9, ha="center", va="center", gid=ON_COLOUR)  # fmt: skip


def in_words(A, queries, keys, title="", varies=None, label="weight"):
    """A heat map as text: its size and, row by row, the largest weight, to one decimal.

    Where the weights vary from machine to machine, only what has more than half of a row.
    """
    rows = []
    for query, row in zip(queries, A, strict=True):
        # Rounded before the largest is chosen, so that ties fall the same way on every machine.
        top = (row * 20).round().argmax().item()
        if varies:
            most = keys[top] if row[top] > 0.5 else "no single one"
        else:
            most = f"{keys[top]} ({row[top].item():.1f})" if row.any() else "nothing"
        rows.append(f"{query} to {most}")
    name = f" «{title}»" if title else ""
    head = f"Heat map{name} of {len(queries)} rows and {len(keys)} columns."
    what = "More than half" if varies else f"Largest {label}"
    return f"{head} {what} in each row: {', '.join(rows)}."


def marks(reached, rows, columns, caption, alt, ax_labels):
    """Booleans (T, S) in the colours of the masks: True is yellow, False a cross on dark."""
    T, S = reached.shape
    figure, ax = plt.subplots(figsize=(0.42 * S + 1.2, 0.42 * T + 1.2), layout="constrained")
    for t in range(T):
        for s in range(S):
            colour = SEEN if reached[t, s] else HIDDEN
            ax.add_patch(plt.Rectangle((s, t), 1, 1, facecolor=colour, edgecolor=HIDDEN))
            if not reached[t, s]:
                ax.text(s + 0.5, t + 0.5, "×", color="white", ha="center", va="center", size=15)
    ax.set(xlim=(0, S), ylim=(T, 0), aspect="equal", ylabel=ax_labels[0], xlabel=ax_labels[1])
    ax.set_xticks([s + 0.5 for s in range(S)], columns, rotation=45, ha="right")
    ax.set_yticks([t + 0.5 for t in range(T)], rows)
    ax.tick_params(length=0)
    despine(ax=ax, left=True, bottom=True)
    show(figure, caption, alt)


def what_moves(panels, names, caption):
    """What moves when one thing changes: a dict from title to booleans (n, n).

    A row is a result, a column what was changed. True is yellow with a dot, False empty.
    """
    n = len(names)
    width, height = 0.36 * n * len(panels) + 1.6, 0.36 * n + 1.6
    figure, axes = row_of_axes(len(panels), width, height, sharey=True)
    said = []
    for ax, (title, moved) in zip(axes, panels.items(), strict=True):
        for row in range(n):
            for column in range(n):
                colour = SEEN if moved[row, column] else "white"
                ax.add_patch(plt.Rectangle((column, row), 1, 1, fc=colour, ec=HIDDEN))
                if moved[row, column]:
                    ax.plot(column + 0.5, row + 0.5, "o", color="black", markersize=6)
        ax.set(xlim=(0, n), ylim=(n, 0), aspect="equal", title=title, xlabel="what is changed")
        ax.set_xticks([i + 0.5 for i in range(n)], names, rotation=45, ha="right")
        ax.set_yticks([i + 0.5 for i in range(n)], names)
        ax.tick_params(length=0)
        moves = []
        for i, name in enumerate(names):
            rows = [names[row] for row in range(n) if moved[row, i]]
            moves.append(f"{name} moves {', '.join(rows) or 'nothing'}")
        said.append(f"{title}: {'; '.join(moves)}.")
    axes[0].set_ylabel("what moves (dots)")
    show(figure, caption, " ".join(said))


def position_tables(tables, caption, alt):
    """Tables of positions side by side: a dict from title to P (max_len, d_model)."""
    square = [P.shape[0] == P.shape[1] for P in tables.values()]  # as high as it is wide
    widths = [3.4 if is_square else 2.1 for is_square in square]
    options = {"sharey": True, "width_ratios": widths}
    figure, axes = row_of_axes(len(tables), sum(widths) + 0.2 * len(tables), 3.8, **options)
    for ax, (name, P), is_square in zip(axes, tables.items(), square, strict=True):
        ax.imshow(P, aspect="equal" if is_square else "auto", cmap="cividis", vmin=-1, vmax=1)
        ax.set(title=name, xlabel="place" if is_square else "column")
    axes[0].set_ylabel("place")
    show(figure, caption, alt)
