"""Curves: losses, shares and costs over steps, sizes or lengths."""

import matplotlib.pyplot as plt
import torch
from matplotlib.ticker import FixedLocator, MultipleLocator, NullFormatter, NullLocator

from tutor.figures.page import COLOURS, STYLES, despine, row_of_axes, show


def curves(
    lines, x_label, y_label, caption, alt,
    log_x=False, log_y=False, ax=None, varies=None, ticks=None, shares=False, bottom=None,
    y_ticks=None,
):  # fmt: skip
    """Several curves in one figure: a dict from name to (x values, y values).

    With `ax`, draws into it and shows nothing. ticks, y_ticks: values named on the axes.
    varies: see `show`. shares: the y axis goes from 0 to 1. bottom: where the y axis begins.
    """
    figure = None
    if ax is None:
        figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    for i, (name, (x, y)) in enumerate(lines.items()):
        ax.plot(x, y, label=name, color=COLOURS[i % 5], linestyle=STYLES[i % 5], linewidth=2)
    ax.set(xlabel=x_label, ylabel=y_label)
    if log_x:
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_formatter("{x:g}")
    if ticks is not None:
        ax.xaxis.set_major_locator(FixedLocator(ticks))
    if log_y:
        ax.set_yscale("log")
    if y_ticks is not None:
        ax.yaxis.set_major_locator(FixedLocator(y_ticks))
        ax.yaxis.set_minor_locator(NullLocator())
        ax.yaxis.set_major_formatter("{x:g}")
    if shares:
        ax.set_ylim(0, 1.03)
    if bottom is not None:
        ax.set_ylim(bottom=bottom)
    if len(lines) > 1:
        beside = {"loc": "upper left", "bbox_to_anchor": (1, 1)} if len(lines) > 3 else {}
        ax.legend(frameon=False, **beside)
    despine(ax=ax)
    if figure is not None:
        show(figure, caption, alt, varies)


def prices(before, paid, least, caption, alt, varies=None):
    """Chapter 22: shares of right texts over divergences, a dot a training, beside the least.

    before: the share before. paid: a dict from name to (divergence, share). least(before, after):
    the smallest divergence, which best-of-n pays; squares mark it for n = 2, 4 and 8.
    """
    figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
    shares = [before + k * (0.99 - before) / 40 for k in range(41)]
    curves({"the least possible": ([least(before, share) for share in shares], shares)},
           "divergence from the reference, nats", "share right", "", "", ax=ax)  # fmt: skip
    points = {name: (*at, "o") for name, at in paid.items()}
    for n in (2, 4, 8):
        after = 1 - (1 - before) ** n
        points[f"best of {n}"] = least(before, after), after, "s"
    place = 0.36
    for name, (x, y, marker) in sorted(points.items(), key=lambda point: point[1][1]):
        place = max(place + 0.06, y - 0.1)  # so that no two names overlap
        ax.plot(x, y, marker, color="black")
        ax.annotate(name, (x, y), (3.4, place), fontsize=9, va="center",
                    arrowprops=dict(arrowstyle="-", linewidth=0.5))  # fmt: skip
    ax.set(ylim=(0.3, 1.07), xlim=(-0.2, 5))
    show(figure, caption, alt, varies)


def score_clouds(panels, labels, caption, alt, varies="chance"):
    """Chapter 10: scores of two systems, a dot a draw; a dict from title to two tensors (draws)."""
    figure, axes = row_of_axes(len(panels), 8.2, 4.2, sharex=True, sharey=True)
    everything = torch.cat([scores for both in panels.values() for scores in both])
    ends = [everything.min().item() - 0.3, everything.max().item() + 0.3]
    for ax, (title, (first, second)) in zip(axes, panels.items(), strict=True):
        ax.plot(ends, ends, color="black", linewidth=1, linestyle="--")
        ax.scatter(first, second, s=6, color=COLOURS[0], linewidths=0)
        ax.set(title=title, xlabel=labels[0], xlim=ends, ylim=ends, aspect="equal")
        ax.xaxis.set_major_locator(MultipleLocator(5))
        ax.yaxis.set_major_locator(MultipleLocator(5))
        despine(ax=ax)
    axes[0].set_ylabel(labels[1])
    show(figure, caption, alt, varies)


def two_shares(points, labels, caption, alt):
    """Two shares of each of several things, a dot each, and where both are equal, a dotted line.

    points: a dict from name to (x, y), tensors of shares; labels: of both axes.
    """
    figure, ax = plt.subplots(figsize=(5.2, 4.6), layout="constrained")
    ax.plot([0, 1], [0, 1], color="black", linestyle=":")
    for i, (name, (x, y)) in enumerate(points.items()):
        ax.plot(x, y, "os^D"[i], color=COLOURS[i], label=name)
    ax.set(xlabel=labels[0], ylabel=labels[1], xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ax.legend(frameon=False, loc="upper left")
    despine(ax=ax)
    show(figure, caption, alt)


def loss_panels(panels, caption, alt, mean_of=10):
    """Runs side by side: a dict from a panel's title to {name: losses}; log scale, running means.

    mean_of: a point is the mean of so many steps, because the loss of single batches jumps.
    """
    figure, axes = row_of_axes(len(panels), 9.6, 3.6)
    for ax, (title, runs) in zip(axes, panels.items(), strict=True):
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
    axes[0].set_ylabel("loss, nats a token")
    show(figure, caption, alt, varies="training")


def learning_curves(panels, every, chance, caption, alt):
    """Shares of right answers while models learn, one panel next to another.

    panels: a dict from title to {name: shares}, one share after each `every` steps. chance: the
    share that guessing gets, drawn as a thin line.
    """
    figure, axes = row_of_axes(len(panels), 1.2 + 3.6 * len(panels), 3.6, sharey=True)
    for ax, (title, lines) in zip(axes, panels.items(), strict=True):
        ax.axhline(chance, color=COLOURS[4], linewidth=1)
        steps = {
            name: (range(every, every * len(shares) + 1, every), shares)
            for name, shares in lines.items()
        }
        curves(steps, "steps", "right answers" if ax is axes[0] else "", "", "", ax=ax)
        ax.set(title=title, ylim=(0, 1.03))
        if len(lines) > 1:
            ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), frameon=False)
    show(figure, caption, alt)
