"""Bars, dots and intervals: one number, or a few, for each name."""

import matplotlib.pyplot as plt
import torch

from tutor.figures.page import COLOURS, despine, row_of_axes, show


def word_scores(panels, words, wanted, caption, varies=None):
    """Chapter 01: what a model answers for each word, as dots, and the right answers, as rings.

    panels: a dict from title to the scores (vocab_size); wanted: 1 for yes and -1 for no.
    """
    figure, axes = row_of_axes(len(panels), 4.6 * len(panels), 3.2, sharey=True)
    places = range(len(words))
    for ax, (title, scores) in zip(axes, panels.items(), strict=True):
        ax.axhline(0, color=COLOURS[4], linewidth=1, zorder=0)
        ax.vlines(places, 0, scores, color=COLOURS[0], linewidth=2, zorder=1)
        ax.scatter(places, scores, color=COLOURS[0], s=45, label="score")
        ax.scatter(
            places, wanted, s=130, facecolors="none", edgecolors="black", label="right answer"
        )
        ax.set_xticks(places, words, rotation=45)
        ax.set(title=title, ylim=(-1.5, 1.5), yticks=(-1, 0, 1), yticklabels=("−1", "0", "1"))
        despine(ax=ax)
    axes[-1].legend(frameon=False, loc="lower left", bbox_to_anchor=(1, 0.4))
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
            ax.plot([0, x], [0, y], color=COLOURS[4], linewidth=1, zorder=1)
            ax.scatter(x, y, marker=marks[i], color=COLOURS[0], s=45, zorder=2)
            crowd = sum((row - rows[i]).norm() < 0.1 * rows.norm(dim=1).max() for row in rows[:i])
            side = -1 if x < middle[0] else 1
            ax.annotate(words[i], (x, y), (9 * side, -13 * int(crowd)), va="center",
                        textcoords="offset points", ha="right" if side < 0 else "left")  # fmt: skip
        ax.set(title=title, xlabel="column 0", ylabel="column 1", aspect="equal")
        ax.margins(0.3)
        despine(ax=ax)
    figure.set_layout_engine("constrained")
    show(figure, caption, alt, varies)


def kept_tokens(steps, rules, caption, alt, varies=None):
    """Chapter 09b: bars of the likeliest next tokens, cut or not; a row a step, a column a rule.

    steps: a dict from name to (tokens, shares), the largest first; so many bars as tokens. rules: a
    dict from name to a function of the shares of all tokens, True where one stays. Tokens that do
    not stay have a cross, and their bars are hatched.
    """
    wide, tall = len(rules), len(steps)
    figure, axes = plt.subplots(
        tall, wide, squeeze=False, figsize=(3.3 * wide, 2.5 * tall), layout="constrained"
    )
    figure.get_layout_engine().set(hspace=0.1)  # a title stands nearer to its own panel
    for row, (step, (tokens, shares)) in zip(axes, steps.items(), strict=True):
        for ax, (rule, keep) in zip(row, rules.items(), strict=True):
            kept = keep(shares)[: len(tokens)].tolist()
            for i, (share, stays) in enumerate(zip(shares.tolist(), kept, strict=False)):
                ax.barh(
                    i, share, height=0.7, hatch=None if stays else "///", edgecolor=COLOURS[0],
                    color=COLOURS[0] if stays else "white",
                )  # fmt: skip
            names = [t if stays else f"× {t}" for t, stays in zip(tokens, kept, strict=True)]
            ax.set(title=f"{step}: {rule}", xlim=(0, 1), yticks=range(len(tokens)))
            ax.set_yticklabels(names)
            ax.invert_yaxis()
            despine(ax=ax)
    for ax in axes[-1]:
        ax.set_xlabel("probability of the next token")
    show(figure, caption, alt, varies)


def intervals(
    found, caption, alt, label="BLEU above greedy search", number="{:+.1f}", *, limits=None,
    varies=None,
):  # fmt: skip
    """Dots with intervals; found: a dict from name to (value, low, high).

    The value is written behind the line's end, in the format `number`, and in front of it if all of
    the line lies below 0. limits: of the x axis; without them it holds 0, which is marked.
    varies: see `show`.
    """
    figure, ax = plt.subplots(figsize=(6.4, 0.42 * len(found) + 1.1), layout="constrained")
    for i, (value, low, high) in enumerate(found.values()):
        ax.plot([low, high], [i, i], color=COLOURS[0], linewidth=3)
        ax.plot(value, i, "o", color=COLOURS[0], markersize=8)
        left = high < 0 and limits is None  # so that the line at 0 crosses no number
        written = number.format(value).replace("-", "−")  # a minus, as on the axis
        ax.annotate(written, (low if left else high, i), (-6 if left else 6, 0),
                    textcoords="offset points", ha="right" if left else "left", va="center",
                    fontsize=9)  # fmt: skip
    if limits is None:
        ax.axvline(0, color="black", linestyle=":")
        ax.margins(x=0.13)  # room for the numbers
    ax.set(yticks=range(len(found)), yticklabels=list(found), xlabel=label, xlim=limits,
           ylim=(len(found) - 0.5, -0.5))  # fmt: skip
    despine(ax=ax)
    show(figure, caption, alt, varies)


def grouped_intervals(found, label, caption, alt, number="{:.0f}"):
    """Dots with intervals, one row a name, one colour and marker a setting.

    found: a dict from a setting to {name: (value, low, high)}; all have the same names. The value
    is written behind the line's end, in the format `number`.
    """
    names = list(next(iter(found.values())))
    height = (0.3 * len(found) + 0.15) * len(names) + 1.3
    figure, ax = plt.subplots(figsize=(6.8, height), layout="constrained")
    for i, (setting, rows) in enumerate(found.items()):
        shift = 0.26 * (i - (len(found) - 1) / 2)
        for row, (value, low, high) in enumerate(rows.values()):
            ax.plot([low, high], [row + shift] * 2, color=COLOURS[i], linewidth=3)
            ax.plot(value, row + shift, "os^"[i], color=COLOURS[i], markersize=7,
                    label=None if row else setting)  # fmt: skip
            written = number.format(value).replace("-", "−")
            ax.annotate(written, (high, row + shift), (6, 0), va="center",
                        textcoords="offset points", fontsize=9)  # fmt: skip
    ax.axvline(0, color="black", linestyle=":")
    ax.margins(x=0.13)  # room for the numbers
    ax.set(yticks=range(len(names)), yticklabels=names, xlabel=label,
           ylim=(len(names) - 0.5, -0.5))  # fmt: skip
    for row in range(1, len(names)):
        ax.axhline(row - 0.5, color=COLOURS[4], linewidth=0.6, zorder=0)
    figure.legend(ncols=len(found), loc="outside upper center", frameon=False)
    despine(ax=ax)
    show(figure, caption, alt)


def head_rates(columns, lines, chosen, steps, caption, alt):
    """Chapter 11b: alignment error rates, each head a mark, and baselines as lines, named outside.

    columns: a dict from name to rates (2, L, h), of both `steps`; lines: a dict from name to rate.
    chosen: a dict from name to the index of the ringed reading, counted through (2, L, h).
    """
    figure, ax = plt.subplots(figsize=(7.4, 4.2), layout="constrained")
    names = []
    ring = dict(marker="o", markersize=11, markerfacecolor="none", color="black", linestyle="")
    for x, (column, rates) in enumerate(columns.items()):
        num_heads, places = rates.shape[-1], []
        for k, y in enumerate(rates.flatten(1)):
            places += (x + 0.4 * k - 0.2 + torch.linspace(-0.12, 0.12, len(y))).tolist()
            ax.plot(places[-len(y) :], y, "o^"[k], color=COLOURS[k],
                    label=None if x else f"{steps[k]} step")  # fmt: skip
        ax.plot(places[chosen[column]], rates.flatten()[chosen[column]], **ring)
        head = divmod(chosen[column] % (rates.numel() // 2), num_heads)
        names.append(f"{column}\nbest: {head}")
    ax.plot([], [], label="best on validation", **ring)
    right, below = len(columns) - 0.5, -1.0
    for name, y in sorted(lines.items(), key=lambda line: line[1]):
        below = max(y, below + 0.06)  # so that names do not overlap
        ax.axhline(y, color=COLOURS[4], linewidth=1, zorder=0)
        ax.plot([right, right + 0.08], [y, below], color=COLOURS[4], linewidth=1, clip_on=False)
        ax.text(right + 0.1, below, name, va="center", fontsize=10)
    ax.set(xlim=(-0.5, right), ylim=(0, 1), ylabel="alignment error rate (test)")
    ax.set_xticks(range(len(columns)), names)
    ax.tick_params(axis="x", length=0)
    ax.legend(frameon=False, loc="lower left", ncols=3, bbox_to_anchor=(0, 1))
    despine(ax=ax)
    show(figure, caption, alt)


def paired_bars(
    panels, x_label, caption, alt, varies=None, panel_width=3.4, row_height=0.5
):  # fmt: skip
    """Panels with two bars for each name: a dict from title to {legend: {name: share}}."""
    names = list(next(iter(next(iter(panels.values())).values())))
    width, height = 1.2 + panel_width * len(panels), row_height * len(names) + 1.5
    figure, axes = row_of_axes(len(panels), width, height, sharex=True, sharey=True)
    for ax, (title, bars) in zip(axes, panels.items(), strict=True):
        for k, (label, shares) in enumerate(bars.items()):
            places = [i + 0.4 * k - 0.2 for i in range(len(names))]
            ax.barh(places, list(shares.values()), 0.38, label=label, edgecolor="white",
                    color=COLOURS[k], hatch="///" if k else "")  # fmt: skip
        ax.set(title=title, xlabel=x_label)
        despine(ax=ax)
    axes[0].set_yticks(range(len(names)), names)
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), frameon=False, ncols=2,
                  loc="outside lower center")  # fmt: skip
    show(figure, caption, alt, varies)


def head_costs(costs, marked, caption):
    """Chapter 12: a bar a head; costs: a dict from (kind, layer, head) to sentences lost of 100.

    marked: a dict from a name to the head whose bar is hatched and named.
    """
    names = {head: name for name, head in marked.items()}
    figure, ax = plt.subplots(figsize=(7.4, 2.9), layout="constrained")
    for i, (head, cost) in enumerate(costs.items()):
        bar = dict(color=COLOURS[0])
        if head in names:
            bar = dict(color=COLOURS[1], edgecolor="black", hatch="///")
            ax.text(i, max(cost, 0) + 0.3, names[head], ha="center", va="bottom", fontsize=9)
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
            ax.axvline(kinds.index(kind) - 0.5, color=COLOURS[4], linewidth=1, zorder=0)
    despine(ax=ax)
    most = sorted(costs, key=costs.get, reverse=True)[:3]
    said = ", ".join(f"{head} {costs[head]:.0f}" for head in most)
    named = ", ".join(f"{name} {costs[head]:.0f}" for name, head in marked.items())
    show(figure, caption, f"Bars for {len(costs)} heads, sentences lost of 100. Highest: {said}. "
         f"Hatched: {named}.")  # fmt: skip
