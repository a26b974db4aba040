"""Figures of the chapters: heat maps and curves, each with a caption and the same in words."""

import html
import inspect
import io
import re
import textwrap
from collections import Counter

import matplotlib.pyplot as plt
import seaborn as sns
import torch
from IPython.display import HTML, Image, display
from matplotlib.colors import ListedColormap
from matplotlib.ticker import FixedLocator, NullFormatter

COLOURS = [plt.get_cmap("cividis")(x) for x in (0.0, 0.4, 0.65, 0.82)]
STYLES = ["-", "--", "-.", ":"]  # so that no line is told by its colour alone
SEEN, HIDDEN = "#f7ecb5", "#44546a"  # what a mask shows and hides, as in images/draw.py
DARK = ["#00224e", "#c44e00", "#0077bb", "#7a3e8f", "#4d4d4d"]  # for many lines in one figure
VARIES = {
    "training": "Drawn from a training run, which comes out a little different on another machine.",
    "chance": "Drawn from random choices, a few of which may turn out differently elsewhere.",
    "rounding": "Drawn from numbers so small that their last digits differ between machines.",
    "time": "Drawn from measured time, which differs from run to run.",
}


def show(figure, caption, alt, varies=None):
    """Display a matplotlib figure as PNG, with its caption and, folded, the same in words.

    caption: the conclusion, one sentence. alt: what it shows, for a reader who cannot see it.
    varies: one of `VARIES` if the figure depends on that, so that other pixels are no mistake. Then
    a line below the caption says so, and the tests compare `what_is_stable` instead of pixels.
    """
    if varies not in (None, *VARIES):
        raise ValueError(f"varies is {varies!r}; it can be {', '.join(VARIES)} or None.")
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=110, bbox_inches="tight", facecolor="white")
    metadata = {"varies": varies, "stable": what_is_stable(figure)} if varies else None
    plt.close(figure)
    display(Image(png.getvalue(), alt=alt, metadata=metadata))
    note = f"<p><small>{VARIES[varies]}</small></p>" if varies else ""
    display(
        HTML(
            f"<p><em>{html.escape(caption)}</em></p>{note}"
            f"<details><summary>The figure in words</summary>{html.escape(alt)}</details>"
        )
    )


def what_is_stable(figure):
    """What a figure shows whatever its numbers are: a dict from what to how many or which names.

    Its size in inches; of each of its axes the title, labels, scales, names in the legend, names of
    ticks that were set, and how many lines, images, patches and collections. Numbers within names
    become "#".
    """

    def names(texts):
        return [re.sub(r"\d[\d.,]*", "#", text.get_text()) for text in texts]

    found = {"inches": [round(float(side), 2) for side in figure.get_size_inches()]}
    for i, ax in enumerate(figure.axes):
        found[f"axes {i}"] = {
            "title": names([ax.title]),
            "labels": names([ax.xaxis.label, ax.yaxis.label]),
            "scales": [ax.get_xscale(), ax.get_yscale()],
            "legend": names(ax.get_legend().get_texts()) if ax.get_legend() else [],
            "ticks": [
                names(axis.get_ticklabels())
                for axis in (ax.xaxis, ax.yaxis)
                if isinstance(axis.get_major_locator(), FixedLocator)
            ],
            "drawn": [len(x) for x in (ax.lines, ax.images, ax.patches, ax.collections)],
        }
    return found


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
    label="weight",
):  # fmt: skip
    """Several matrices side by side: a dict from title to A (T, S). See `heat_map`."""
    T, S = len(queries), len(keys)
    if numbers is None:
        numbers = T * S <= 64
    side = 0.55 if numbers else 0.32
    width = max(2.6, side * S + 0.6)
    figure, axes = plt.subplots(
        1,
        len(matrices),
        squeeze=False,
        sharey=True,
        figsize=(width * len(matrices) + 1.4, side * T + 1.5),
        layout="constrained",
    )
    words = []
    for ax, (title, A) in zip(axes[0], matrices.items(), strict=True):
        A = torch.as_tensor(A).detach().float().cpu()
        if A.shape != (T, S):
            raise ValueError(
                f"The matrix has shape {tuple(A.shape)}, but there are {T} queries and {S} keys."
            )
        last = ax is axes[0][-1]
        sns.heatmap(
            A.numpy(), vmin=0, vmax=1, cmap="cividis", annot=numbers, fmt=".2f", square=True,
            cbar=last, cbar_kws={"label": label, "shrink": 0.8}, linewidths=0.5, ax=ax,
            xticklabels=keys, yticklabels=queries, annot_kws={"size": 9},
        )  # fmt: skip
        ax.set_title(title)
        ax.set_xlabel(ax_labels[1])
        ax.set_ylabel(ax_labels[0] if ax is axes[0][0] else "")
        ax.tick_params(axis="y", rotation=0)
        ax.tick_params(axis="x", rotation=45 if max(map(len, map(str, keys))) > 3 else 0)
        words.append(in_words(A, queries, keys, title, varies, label))
    show(figure, caption, " ".join(words), varies)


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


def curves(
    lines, x_label, y_label, caption, alt,
    log_x=False, log_y=False, ax=None, varies=None, ticks=None, dark=False, shares=False,
):  # fmt: skip
    """Several curves in one figure: a dict from name to (x values, y values).

    With `ax`, draws into it and shows nothing. ticks: the x values that are named on the axis.
    varies: see `show`. dark: of darker colours, as are more than four lines. shares: the y axis
    goes from 0 to 1.
    """
    figure = None
    if ax is None:
        figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    for i, (name, (x, y)) in enumerate(lines.items()):
        colour = COLOURS[i] if len(lines) <= 4 and not dark else DARK[i % 5]
        ax.plot(
            x, y, label=name, color=colour, linestyle=[*STYLES, (0, (6, 1))][i % 5], linewidth=2
        )
    ax.set(xlabel=x_label, ylabel=y_label)
    if log_x:
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter("{x:g}")
    if ticks is not None:
        ax.xaxis.set_major_locator(FixedLocator(ticks))
    if log_y:
        ax.set_yscale("log")
    if shares:
        ax.set_ylim(0, 1.03)
    if len(lines) > 1:
        ax.legend(frameon=False)
    sns.despine(ax=ax)
    if figure is not None:
        show(figure, caption, alt, varies)


def loss_panels(panels, caption, alt, mean_of=10):
    """Runs side by side: a dict from a panel's title to {name: losses}; log scale, running means.

    mean_of: a point is the mean of so many steps, because the loss of single batches jumps.
    """
    figure, axes = plt.subplots(
        1, len(panels), squeeze=False, figsize=(9.6, 3.6), layout="constrained"
    )
    for ax, (title, runs) in zip(axes[0], panels.items(), strict=True):
        means = {
            name: torch.tensor(losses).unfold(0, mean_of, 1).mean(-1)
            for name, losses in runs.items()
        }
        lines = {name: (range(mean_of, mean_of + len(m)), m) for name, m in means.items()}
        curves(lines, "step", "", "", "", log_y=True, ax=ax)
        ax.set_title(title)
        ax.yaxis.set_major_formatter("{x:g}")
        low, high = ax.get_ylim()
        ax.yaxis.set_minor_formatter("{x:g}" if high < 10 * low else NullFormatter())
    axes[0][0].set_ylabel("loss, nats a token")
    show(figure, caption, alt, varies="training")


def sentences(sources, written, right, caption, alt):
    """What a model wrote at several steps: one row a step, one column a source sentence.

    written: a dict from step to one text for each source; right: the translations wanted. What is
    right is bold and ticked; what is much longer than the right text is cut.
    """
    figure = plt.figure(figsize=(9.8, 0.32 * (len(written) + 1.6)))
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, 1), ylim=(len(written) + 0.2, -1.1))
    ax.axis("off")
    ax.axhline(0, color="black", linewidth=1)
    ax.text(0.045, -0.5, "step", style="italic", va="center", size=9, ha="right")
    rows = {(step, row - 0.4): texts for row, (step, texts) in enumerate(written.items(), start=1)}
    for step, y in rows:
        ax.text(0.045, y, f"{step:,}", va="center", size=9, ha="right")
    longest = [max(map(len, pair)) + 6 for pair in zip(sources, right, strict=True)]
    x = 0.075
    for i, (source, wanted) in enumerate(zip(sources, right, strict=True)):
        ax.text(x, -0.5, source, style="italic", va="center", size=9)
        for (_, y), texts in rows.items():
            text, ok = texts[i], texts[i] == wanted
            if len(text) > len(wanted) + 4:
                text = text[: len(wanted) + 3] + "…"
            text = f"{text}  ✓" if ok else text or "(nothing)"
            weight = "bold" if ok else "normal"
            ax.text(x, y, text.replace("$", r"\$"), va="center", size=9, weight=weight)
        x += 0.92 * longest[i] / sum(longest)
    show(figure, caption, alt, varies="training")


def learning_curves(panels, every, chance, caption, alt):
    """Shares of right answers while models learn, one panel next to another.

    panels: a dict from title to {name: shares}, one share after each `every` steps. chance: the
    share that guessing gets, drawn as a thin line.
    """
    size = (1.2 + 3.6 * len(panels), 3.6)
    figure, axes = plt.subplots(
        1, len(panels), squeeze=False, sharey=True, figsize=size, layout="constrained"
    )
    for ax, (title, lines) in zip(axes[0], panels.items(), strict=True):
        ax.axhline(chance, color="#767676", linewidth=1)
        steps = {
            name: (range(every, every * len(shares) + 1, every), shares)
            for name, shares in lines.items()
        }
        curves(
            steps, "steps", "right answers" if ax is axes[0][0] else "", "", "", ax=ax, dark=True
        )
        ax.set(title=title, ylim=(0, 1.03))
        if len(lines) > 1:
            ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), frameon=False)
    show(figure, caption, alt, varies="training")


def word_scores(panels, words, wanted, caption, varies=None):
    """Chapter 01: what a model answers for each word, as dots, and the right answers, as rings.

    panels: a dict from title to the scores (vocab_size); wanted: 1 for yes and -1 for no.
    """
    figure, axes = plt.subplots(
        1, len(panels), squeeze=False, sharey=True, figsize=(4.6 * len(panels), 3.2),
        layout="constrained",
    )  # fmt: skip
    places = range(len(words))
    for ax, (title, scores) in zip(axes[0], panels.items(), strict=True):
        ax.axhline(0, color="#b0b0b0", linewidth=1, zorder=0)
        ax.vlines(places, 0, scores, color=COLOURS[1], linewidth=2, zorder=1)
        ax.scatter(places, scores, color=COLOURS[0], s=45, label="score")
        ax.scatter(
            places, wanted, s=130, facecolors="none", edgecolors="black", label="right answer"
        )
        ax.set_xticks(places, words, rotation=45)
        ax.set(title=title, ylim=(-1.5, 1.5), yticks=(-1, 0, 1), yticklabels=("no", "0", "yes"))
        sns.despine(ax=ax)
    axes[0][-1].legend(frameon=False, loc="lower left", bbox_to_anchor=(1, 0.4))
    yes = {
        title: [word for word, score in zip(words, scores, strict=True) if score > 0]
        for title, scores in [("Right", wanted), *panels.items()]
    }
    said = [f"{title}: {', '.join(above) or 'none'}." for title, above in yes.items()]
    show(figure, caption, f"Scores of {len(words)} words. Above zero are: {' '.join(said)}", varies)


def rows_as_points(panels, words, marks, caption, alt, varies=None):
    """Chapter 01: tables of two columns, each row a point in the plane, joined to the origin.

    panels: a dict from title to a table (vocab_size, 2); marks: matplotlib's marker for each word.
    """
    figure, axes = plt.subplots(1, len(panels), figsize=(4.8 * len(panels), 4.2))
    for ax, (title, rows) in zip(axes, panels.items(), strict=True):
        middle = rows.mean(dim=0)
        for i, (x, y) in enumerate(rows.tolist()):
            ax.plot([0, x], [0, y], color="#b0b0b0", linewidth=1, zorder=1)
            ax.scatter(x, y, marker=marks[i], color=COLOURS[0], s=45, zorder=2)
            crowd = sum((row - rows[i]).norm() < 0.1 * rows.norm(dim=1).max() for row in rows[:i])
            side = -1 if x < middle[0] else 1
            ax.annotate(words[i], (x, y), (9 * side, -13 * int(crowd)), va="center",
                        textcoords="offset points", ha="right" if side < 0 else "left")  # fmt: skip
        ax.set(title=title, xlabel="column 0", ylabel="column 1", aspect="equal")
        ax.margins(0.3)
        sns.despine(ax=ax)
    figure.set_layout_engine("constrained")
    show(figure, caption, alt, varies)


def kept_tokens(rows, caption, alt, varies=None):
    """Chapter 08: bars of the most probable next tokens, cut or not.

    rows: a list of rows of panels, each a dict from title to (tokens, shares, keep). Tokens that
    `keep` marks False have a cross, and their bars are hatched.
    """
    wide = max(map(len, rows))
    figure, axes = plt.subplots(
        len(rows), wide, squeeze=False, figsize=(3.3 * wide, 2.5 * len(rows)), layout="constrained"
    )
    for row, panels in zip(axes, rows, strict=True):
        for ax, (title, (tokens, shares, keep)) in zip(row, panels.items(), strict=True):
            for i, (share, stays) in enumerate(zip(shares, keep, strict=True)):
                ax.barh(
                    i, share, height=0.7, hatch=None if stays else "///", edgecolor=COLOURS[0],
                    color=COLOURS[0] if stays else "white",
                )  # fmt: skip
            names = [t if stays else f"× {t}" for t, stays in zip(tokens, keep, strict=True)]
            ax.set(title=title, xlim=(0, 1), yticks=range(len(tokens)), yticklabels=names)
            ax.invert_yaxis()
            sns.despine(ax=ax)
    for ax in axes[-1]:
        ax.set_xlabel("probability of the next token")
    show(figure, caption, alt, varies)


def intervals(found, caption, alt, label="BLEU above greedy decoding", number="{:+.1f}", pad=0.1):
    """Dots with intervals; found: a dict from name to (value, low, high).

    The value is written behind the line's end, in the format `number`, after `pad` units.
    """
    figure, ax = plt.subplots(figsize=(6.4, 0.42 * len(found) + 1.1), layout="constrained")
    for i, (value, low, high) in enumerate(found.values()):
        ax.plot([low, high], [i, i], color=COLOURS[1], linewidth=3)
        ax.plot(value, i, "o", color=COLOURS[0], markersize=8)
        ax.text(high + pad, i, number.format(value), va="center", fontsize=9)
    ax.axvline(0, color="black", linestyle=":")
    ax.set(yticks=range(len(found)), yticklabels=list(found), xlabel=label)
    ax.invert_yaxis()
    sns.despine(ax=ax)
    show(figure, caption, alt)


def next_tokens(panels, caption, alt, varies=None):
    """Bars of the most probable next tokens, side by side: a dict from title to {token: p}."""
    row = {title: ([*p], [*p.values()], [True] * len(p)) for title, p in panels.items()}
    kept_tokens([row], caption, alt, varies)


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
    sns.despine(ax=ax, left=True, bottom=True)
    show(figure, caption, alt)


def links(above, below, pairs, caption, alt):
    """Two lines of words, and a line for each link (i, j) between word i above and j below."""
    wide = max(len(above), len(below))
    figure, ax = plt.subplots(figsize=(1.15 * wide, 1.7), layout="constrained")
    places = [[(i + 0.5) * wide / len(row) for i in range(len(row))] for row in (above, below)]
    for i, j in sorted(pairs):
        ax.plot([places[0][i], places[1][j]], [0.78, 0.22], color=COLOURS[1], linewidth=2)
    for row, y, xs in zip((above, below), (0.9, 0.1), places, strict=True):
        for word, x in zip(row, xs, strict=True):
            ax.text(x, y, word, ha="center", va="center", size=13)
    ax.set(xlim=(0, wide), ylim=(0, 1))
    ax.axis("off")
    show(figure, caption, alt)


def token_rows(panels, caption, alt):
    """Rectangles of tokens below each other: a dict from title to N rows of T names.

    In the colours of the masks: a token is yellow, an empty name is padding, a cross on dark.
    """
    heights = [len(rows) for rows in panels.values()]
    wide = max(len(rows[0]) for rows in panels.values())
    figure, axes = plt.subplots(
        len(panels), 1, squeeze=False, height_ratios=heights,
        figsize=(0.92 * wide, 0.36 * sum(heights) + 0.4 * len(heights)), layout="constrained",
    )  # fmt: skip
    for ax, (title, rows) in zip(axes[:, 0], panels.items(), strict=True):
        for n, row in enumerate(rows):
            for t, token in enumerate(row):
                colour = SEEN if token else HIDDEN
                ax.add_patch(plt.Rectangle((t, n), 1, 1, facecolor=colour, edgecolor=HIDDEN))
                ax.text(t + 0.5, n + 0.5, token or "×", ha="center", va="center", size=10,
                        color="black" if token else "white")  # fmt: skip
        ax.set(xlim=(0, wide), ylim=(len(rows), 0))
        ax.set_title(title, loc="left", size=11)
        ax.axis("off")
    show(figure, caption, alt)


def rectangles(panels, caption, alt):
    """Padded batches without their tokens: a dict from title to booleans (N, T), True where real.

    Each panel puts its list of batches below each other and counts the places that are padding.
    """
    colours = ListedColormap([HIDDEN, SEEN])
    figure, axes = plt.subplots(
        1, len(panels), squeeze=False, sharex=True, sharey=True, layout="constrained",
        figsize=(4.4 * len(panels), 4),
    )  # fmt: skip
    for ax, (title, batches) in zip(axes[0], panels.items(), strict=True):
        top = 0
        for real in batches:
            N, T = real.shape
            place = (0, T, top + N, top)
            ax.imshow(real, cmap=colours, vmin=0, vmax=1, aspect="auto", extent=place)
            ax.add_patch(plt.Rectangle((0, top), T, N, fill=False, edgecolor=HIDDEN))
            top += N + 1
        padding = sum((~real).sum().item() for real in batches)
        ax.set_title(f"{title}: {padding} places of padding")
        ax.set(xlabel="token", ylim=(top, -1), yticks=[])
        sns.despine(ax=ax, left=True)
    widest = max(real.shape[1] for batches in panels.values() for real in batches)
    axes[0, 0].set(ylabel="sentences, batch by batch", xlim=(0, widest + 1))
    axes[0, 0].set_xticks(range(0, widest + 1, 5))
    axes[0, -1].legend(
        [plt.Rectangle((0, 0), 1, 1, facecolor=colours(i), edgecolor=HIDDEN) for i in (1, 0)],
        ["token", "padding"], loc="upper right",
    )  # fmt: skip
    show(figure, caption, alt)


def head_rates(columns, lines, caption, alt, named=()):
    """Chapter 09: alignment error rates, each head a mark, and baselines as lines, named outside.

    columns: a dict from name to {step: rates}, of any shape; lines: a dict from name to rate.
    named: marks to name, a dict from (column, step) to {index of the head: name}.
    """
    figure, ax = plt.subplots(figsize=(7.4, 4.2), layout="constrained")
    steps = list(next(iter(columns.values())))
    for k, (step, marker) in enumerate(zip(steps, "o^", strict=True)):
        for x, (column, rates) in enumerate(columns.items()):
            y = rates[step].flatten()
            places = x + 0.4 * k - 0.2 + torch.linspace(-0.12, 0.12, len(y))
            ax.plot(places, y, marker, color=COLOURS[2 * k],
                    label=None if x else f"{step} step")  # fmt: skip
            for m, name in dict(named).get((column, step), {}).items():
                ax.annotate(name, (places[m], y[m]), (0, -12), textcoords="offset points",
                            ha="center", va="center", fontsize=9)  # fmt: skip
    right, below = len(columns) - 0.5, -1.0
    for name, y in sorted(lines.items(), key=lambda line: line[1]):
        below = max(y, below + 0.06)  # so that names do not overlap
        ax.axhline(y, color="0.55", linewidth=1, zorder=0)
        ax.plot([right, right + 0.08], [y, below], color="0.55", linewidth=1, clip_on=False)
        ax.text(right + 0.1, below, name, va="center", fontsize=10)
    ax.set(xlim=(-0.5, right), ylim=(0, 1), ylabel="alignment error rate (test)")
    ax.set_xticks(range(len(columns)), columns)
    ax.tick_params(axis="x", length=0)
    ax.legend(frameon=False, loc="lower left", ncols=2, bbox_to_anchor=(0, 1))
    sns.despine(ax=ax)
    show(figure, caption, alt)


def paired_bars(panels, x_label, caption, alt):
    """Panels with two bars for each name: a dict from title to {legend: {name: share}}."""
    names = list(next(iter(next(iter(panels.values())).values())))
    figure, axes = plt.subplots(
        1, len(panels), squeeze=False, sharex=True, sharey=True, layout="constrained",
        figsize=(1.2 + 3.4 * len(panels), 0.5 * len(names) + 1.5),
    )  # fmt: skip
    for ax, (title, bars) in zip(axes[0], panels.items(), strict=True):
        for k, (label, shares) in enumerate(bars.items()):
            places = [i + 0.4 * k - 0.2 for i in range(len(names))]
            ax.barh(places, list(shares.values()), 0.38, label=label, edgecolor="white",
                    color=COLOURS[2 * k], hatch="///" if k else "")  # fmt: skip
        ax.set(title=title, xlabel=x_label)
        sns.despine(ax=ax)
    axes[0][0].set_yticks(range(len(names)), names)
    axes[0][0].invert_yaxis()
    figure.legend(*axes[0][0].get_legend_handles_labels(), frameon=False, ncols=2,
                  loc="outside lower center")  # fmt: skip
    show(figure, caption, alt)


def position_tables(tables, caption, alt):
    """Tables of positions side by side: a dict from title to P (max_len, d_model)."""
    figure, axes = plt.subplots(
        1, len(tables), squeeze=False, figsize=(2.3 * len(tables), 3.8), sharey=True,
        layout="constrained",
    )  # fmt: skip
    for ax, (name, P) in zip(axes[0], tables.items(), strict=True):
        ax.imshow(P, aspect="auto", cmap="cividis", vmin=-1, vmax=1)
        ax.set(title=name, xlabel="column")
    axes[0, 0].set_ylabel("place")
    show(figure, caption, alt)


def what_moves(panels, names, caption):
    """What moves when one thing changes: a dict from title to booleans (n, n).

    A row is a result, a column what was changed. True is yellow with a dot, False grey.
    """
    n = len(names)
    figure, axes = plt.subplots(
        1, len(panels), squeeze=False, sharey=True, layout="constrained",
        figsize=(0.36 * n * len(panels) + 1.6, 0.36 * n + 1.6),
    )  # fmt: skip
    said = []
    for ax, (title, moved) in zip(axes[0], panels.items(), strict=True):
        for row in range(n):
            for column in range(n):
                colour = SEEN if moved[row, column] else "#eeeeee"
                ax.add_patch(plt.Rectangle((column, row), 1, 1, fc=colour, ec=HIDDEN))
                if moved[row, column]:
                    ax.plot(column + 0.5, row + 0.5, "o", color="#1a1a1a", markersize=6)
        ax.set(xlim=(0, n), ylim=(n, 0), aspect="equal", title=title, xlabel="what is changed")
        ax.set_xticks([i + 0.5 for i in range(n)], names, rotation=45, ha="right")
        ax.set_yticks([i + 0.5 for i in range(n)], names)
        ax.tick_params(length=0)
        moves = []
        for i, name in enumerate(names):
            rows = [names[row] for row in range(n) if moved[row, i]]
            moves.append(f"{name} moves {', '.join(rows) or 'nothing'}")
        said.append(f"{title}: {'; '.join(moves)}.")
    axes[0, 0].set_ylabel("what moves (dots)")
    show(figure, caption, " ".join(said))


def draws(found, caption, alt, shown=4):
    """Chapter 08: the first different ones of drawn sentences, and how often each was drawn.

    found: a dict from the title of a column to {rule: texts}.
    """
    block, longest = shown + 1.5, 54
    rules = max(map(len, found.values()))
    figure = plt.figure(figsize=(9.8, 0.24 * (rules * block + 1)))
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, len(found)), ylim=(rules * block, -1))
    ax.axis("off")
    ax.axhline(0, color="black", linewidth=1)
    for x, (title, texts_of) in enumerate(found.items()):
        ax.text(x + 0.03, -0.5, title, style="italic", va="center", size=9)
        for i, (rule, texts) in enumerate(texts_of.items()):
            counts, y = Counter(texts), i * block + 0.8
            head = f"{rule}: {len(counts)} different ones of {len(texts)}"
            ax.text(x + 0.03, y, head, weight="bold", va="center", size=9)
            for j, (text, count) in enumerate(list(counts.items())[:shown], start=1):
                text = "".join(c if c.isprintable() and c != "�" else "·" for c in text)
                text = text if len(text) <= longest else text[:longest] + "…"
                ax.text(x + 0.075, y + j, f"{count} ×", ha="right", va="center", size=9)
                ax.text(x + 0.09, y + j, text.replace("$", r"\$"), va="center", size=9)
    show(figure, caption, alt, varies="chance")


def listing(title, *functions):
    """The code of functions of the package, folded until the reader opens it."""
    code = "\n".join(textwrap.dedent(inspect.getsource(function)) for function in functions)
    display(
        HTML(
            f"<details><summary>{html.escape(title)}</summary>"
            f"<pre>{html.escape(code)}</pre></details>"
        )
    )


def curve_pair(panels, x_label, caption, alt, varies=None):
    """Chapter 13: curves side by side on logarithmic axes; a dict from y label to lines.

    Both y axes span as many powers of ten. Thin lines show what grows like T and like T².
    """
    figure, axes = plt.subplots(1, len(panels), figsize=(9, 3.6), layout="constrained")
    values = [[y for _, ys in lines.values() for y in ys] for lines in panels.values()]
    span = 1.8 * max(max(v) / min(v) for v in values)
    for ax, (label, lines), v in zip(axes, panels.items(), values, strict=True):
        curves(lines, x_label, label, "", "", log_x=True, log_y=True, ax=ax)
        middle = (max(v) * min(v)) ** 0.5
        bottom = middle / span**0.5
        ax.set_ylim(bottom, middle * span**0.5)
        xs = next(iter(lines.values()))[0]
        for power, name in ((1, "$T$"), (2, "$T^2$")):
            ys = [1.15 * bottom * (x / xs[0]) ** power for x in xs]
            ax.plot(xs, ys, color="0.55", linewidth=0.8)
            ax.annotate(name, (xs[-1], ys[-1]), (3, 0), textcoords="offset points", color="0.35")
    show(figure, caption, alt, varies)


def curves_with_marks(lines, marks, name, x_label, y_label, caption, alt):
    """Chapter 13: curves on a logarithmic x axis, and dots: a dict from x to y under one name."""
    figure, ax = plt.subplots(figsize=(8.2, 3.6), layout="constrained")
    curves(lines, x_label, y_label, "", "", ax=ax, dark=True)
    ax.plot(list(marks), list(marks.values()), "o", color="black", label=name)
    ax.set_xscale("log")
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    show(figure, caption, alt)


def stacked_shares(rows, parts, x_label, caption):
    """Chapter 13: one stacked bar a row; a dict from name to amounts, which are turned into shares.

    parts: the names of the amounts.
    """
    figure, ax = plt.subplots(figsize=(7.5, 0.45 * len(rows) + 1), layout="constrained")
    shares = {name: [x / sum(amounts) for x in amounts] for name, amounts in rows.items()}
    left = [0.0] * len(rows)
    for i, part in enumerate(parts):
        widths = [row[i] for row in shares.values()]
        bars = ax.barh(
            range(len(rows)), widths, left=left, label=part, color=COLOURS[i],
            hatch=["", "//", ".."][i], edgecolor="white",
        )  # fmt: skip
        ground = dict(fc="white", ec="none", pad=1)
        for x, bar, width in zip(left, bars, widths, strict=True):
            if width > 0.04:  # as wide as the label
                y = bar.get_y() + bar.get_height() / 2
                ax.text(x + width / 2, y, f"{width:.0%}", ha="center", va="center", bbox=ground)
        left = [x + w for x, w in zip(left, widths, strict=True)]
    ax.set(yticks=range(len(rows)), yticklabels=list(rows), xlabel=x_label, xlim=(0, 1))
    ax.invert_yaxis()
    figure.legend(ncols=len(parts), loc="outside lower center", frameon=False)
    sns.despine(ax=ax)
    words = "; ".join(
        f"{name}: " + ", ".join(f"{share:.0%}" for share in row) for name, row in shares.items()
    )
    show(figure, caption, f"Stacked bars of {', '.join(parts)}. {words}.")


def magnitudes(lines, regions, caption):
    """Chapter 13: how many numbers there are of each size, on a logarithmic scale.

    lines: a dict from name to a tensor; zeros are left out. regions: a dict from the power of two
    at which a region ends (None: nowhere) to its name, in order.
    """
    figure, ax = plt.subplots(figsize=(7.5, 3.2), layout="constrained")
    low, high = -40, 22
    for i, (name, values) in enumerate(lines.items()):
        ax.hist(
            values[values != 0].abs().log2().clamp(low, high).numpy(), range(low, high + 1),
            histtype="step", linewidth=2, linestyle=STYLES[i], color=DARK[i], label=name,
        )  # fmt: skip
    start = low
    for end, name in regions.items():
        if end is not None:
            ax.axvline(end, color="#767676", linestyle=":")
        middle = (start + (high if end is None else end)) / 2
        ax.text(middle, 1.02, name, transform=ax.get_xaxis_transform(), ha="center", fontsize=9)
        start = end
    ax.set(xlabel="log2 of the absolute value", ylabel="how many", yscale="log", xlim=(low, high))
    figure.legend(ncols=len(lines), loc="outside lower center", frameon=False)
    sns.despine(ax=ax)
    ends = ", ".join(f"up to {end}: {name}" for end, name in regions.items() if end is not None)
    alt = (
        f"Histograms of {' and of '.join(lines)}, over the logarithm of their size. Dotted lines "
        f"mark what a format makes of them ({ends}). Both have one shape; the second lies further "
        "to the right."
    )
    show(figure, caption, alt, varies="rounding")


def head_costs(costs, marked, caption):
    """Chapter 10: a bar a head; costs: a dict from (kind, layer, head) to sentences lost of 100.

    marked: a dict from a name to the head whose bar is hatched and named.
    """
    names = {head: name for name, head in marked.items()}
    figure, ax = plt.subplots(figsize=(7.4, 2.9), layout="constrained")
    for i, (head, cost) in enumerate(costs.items()):
        bar = dict(color=COLOURS[1])
        if head in names:
            bar = dict(color=COLOURS[3], edgecolor="black", hatch="///")
            ax.text(i, max(cost, 0) + 0.4, names[head], ha="center", fontsize=9)
        ax.bar(i, cost, **bar)
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set_xticks(range(len(costs)), [f"{layer}, {m}" for _, layer, m in costs], rotation=90)
    ax.set(ylabel="sentences lost of 100", xlabel="layer, head")
    kinds = [kind for kind, _, _ in costs]
    for kind in dict.fromkeys(kinds):
        middle = kinds.index(kind) + (kinds.count(kind) - 1) / 2
        ax.text(middle, 1.02, kind, transform=ax.get_xaxis_transform(), ha="center",
                style="italic")  # fmt: skip
        if kinds.index(kind):
            ax.axvline(kinds.index(kind) - 0.5, color="#b0b0b0", linewidth=1, zorder=0)
    sns.despine(ax=ax)
    most = sorted(costs, key=costs.get, reverse=True)[:3]
    said = ", ".join(f"{head} {costs[head]:.0f}" for head in most)
    named = ", ".join(f"{name} {costs[head]:.0f}" for name, head in marked.items())
    show(figure, caption, f"Bars for {len(costs)} heads, sentences lost of 100. Highest: {said}. "
         f"Hatched: {named}.")  # fmt: skip
