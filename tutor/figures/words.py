"""Sentences and batches: words in rows, links between them, what a model wrote."""

from collections import Counter

import matplotlib.pyplot as plt
from matplotlib.colors import ListedColormap

from tutor.figures.page import COLOURS, HIDDEN, SEEN, despine, row_of_axes, show


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


def draws(found, caption, alt, shown=4, of=None, varies="chance"):
    """Chapters 09b, 18, 22: the first different ones of drawn sentences, how often each was drawn.

    found: a dict from the title of a column to {rule: texts}. of: how many were drawn by each rule
    for all columns together; without it, each column has its own.
    """
    block, longest = shown + 1.5, 54 if len(found) > 1 else 110
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
            head = (
                f"{len(texts)} of {of}" if of else f"{len(counts)} different ones of {len(texts)}"
            )
            ax.text(x + 0.03, y, f"{rule}: {head}", weight="bold", va="center", size=9)
            for j, (text, count) in enumerate(list(counts.items())[:shown], start=1):
                text = "".join(c if c.isprintable() and c != "�" else "·" for c in text)
                text = text if len(text) <= longest else text[:longest] + "…"
                if max(counts.values()) > 1:
                    ax.text(x + 0.075, y + j, f"{count} ×", ha="right", va="center", size=9)
                ax.text(x + 0.09, y + j, text.replace("$", r"\$"), va="center", size=9)
    show(figure, caption, alt, varies)


def links(above, below, pairs, caption, alt):
    """Two lines of words, and a line for each link (i, j) between word i above and j below."""
    wide = max(len(above), len(below))
    figure, ax = plt.subplots(figsize=(1.15 * wide, 1.7), layout="constrained")
    places = [[(i + 0.5) * wide / len(row) for i in range(len(row))] for row in (above, below)]
    for i, j in sorted(pairs):
        ax.plot([places[0][i], places[1][j]], [0.78, 0.22], color=COLOURS[0], linewidth=2)
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
    figure, axes = row_of_axes(len(panels), 4.4 * len(panels), 4, sharex=True, sharey=True)
    for ax, (title, batches) in zip(axes, panels.items(), strict=True):
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
        despine(ax=ax, left=True)
    widest = max(real.shape[1] for batches in panels.values() for real in batches)
    axes[0].set(ylabel="sentences, batch by batch", xlim=(0, widest + 1))
    axes[0].set_xticks(range(0, widest + 1, 5))
    axes[-1].legend(
        [plt.Rectangle((0, 0), 1, 1, facecolor=colours(i), edgecolor=HIDDEN) for i in (1, 0)],
        ["token", "padding"], loc="upper right",
    )  # fmt: skip
    show(figure, caption, alt)
