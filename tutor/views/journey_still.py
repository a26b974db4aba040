"""The still picture of a JourneyView: its levels, in the colours and words of the live view."""

from textwrap import fill

from matplotlib.patches import Rectangle

from tutor.figures import COLOURS

SUB_LAYERS = {"self": "self-attention", "cross": "cross-attention", "ff": "feed-forward"}
SHORT_NAMES = {"self": "self", "cross": "cross", "ff": "feed-fwd"}
SOURCE, TARGET = COLOURS[:2]  # what comes from the source, and what from the translation
FRAME = {"fill": False, "edgecolor": "#808080"}
ROOM = 10  # tokens that the map has place for
MAX_COLUMNS = 24  # of weights side by side that can be named


def in_words(place):
    """A place as the live view says it: "decoder layer 2, cross-attention, head 3"."""
    side, layer, *rest = place.split(".")
    kind = [SUB_LAYERS[rest[0]]] if rest else []
    return ", ".join([f"{side} layer {layer}", *kind, *(f"head {m}" for m in rest[2:])])


def as_share(share):
    """A probability with two decimals."""
    return f"{share:.2f}" if share >= 0.005 else "< 0.01"


def draw_journey(view, figure):
    """Draw the place of a view, and beside it the probabilities of the next token."""
    if view.bars:
        figure.set_size_inches(4.2, 3.8)
        written = fill(f"→ {' '.join(pieces_of(view))}", 56)
        figure.set_figheight(3.8 + 0.17 * written.count("\n"))
        figure.suptitle(f"{fill(view.text, 56)}\n{written}", fontsize=10)
        return draw_next(view, figure.subplots())
    if not view.place:
        draw, width, height = draw_map, 1.2 + 1.15 * view.facts["config"]["layers"], 5.4
    elif view.place.endswith(("self", "cross")) or ".head." in view.place:
        draw, width, height = draw_weights, *size_of_weights(view)
    else:
        tokens = view.facts[rows_of(view.place)]
        draw, width, height = draw_lengths, 0.3 * len(tokens) + 2, 3.4
    figure.set_size_inches(width + 2.1, height)
    left, right = figure.subfigures(1, 2, width_ratios=[width, 2.1])
    draw(view, left)
    draw_next(view, right.subplots())
    if view.scales:
        figure.suptitle(f"scaled: {view._scaled()}", fontsize=10)


def pieces_of(view):
    """The written tokens, the one that is looked at marked as its bar is."""
    return [
        f"▸ {piece}" if t == view.step else piece for t, piece in enumerate(view.facts["target"])
    ]


def draw_next(view, ax):
    """The probabilities of the next token as bars; the one that is written is marked."""
    tokens, shares = zip(*view._shares(8), strict=True)
    bars = ax.barh(range(len(tokens)), shares, color=TARGET)
    ax.bar_label(bars, [as_share(share) for share in shares], fontsize=10, padding=3)
    written = view.facts["target"][view.step]
    names = [f"▸ {token}" if token == written else token for token in tokens]
    ax.set_yticks(range(len(tokens)), names)
    ax.set(xlim=(0, 1.5), xticks=(0, 0.5, 1), xlabel="probability")
    ax.spines["bottom"].set_bounds(0, 1)
    ax.set_title(f"Next token:\n{view._at()}", fontsize=10)
    ax.invert_yaxis()
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=10, length=0)


# ---- the whole model


def draw_map(view, figure):
    """The way from the source through the encoder, and on through the decoder; units are inches."""
    layers = view.facts["config"]["layers"]
    ax = figure.subplots()
    ax.set(xlim=(-1.05, 1.15 * layers), ylim=(5.25, -0.2))
    ax.set_axis_off()
    draw_side(view, ax, "encoder", 0)
    ax.add_patch(Rectangle((0, 1.92), 1.15 * layers - 0.1, 0.25, **FRAME))
    middle = 0.575 * layers - 0.05
    ax.text(middle, 2.05, "memory ↓", fontsize=10, ha="center", va="center")
    draw_side(view, ax, "decoder", 2.4)
    lines = (
        "Numbers and bars: length of the vector that is added.",
        "Squares: of the part of each head; stronger colour = longer.",
        "Blue: from the source. Orange: the decoder's own.",
    )
    for i, line in enumerate(lines):
        ax.text(-1.05, 4.83 + 0.19 * i, line, fontsize=10)


def draw_side(view, ax, side, top):
    """The encoder or the decoder, the tokens that it reads to the left of it."""
    facts, scales = view.facts, view.scales
    position = 0 if side == "encoder" else view.step
    tokens = facts["source"] if side == "encoder" else facts["read"][: view.step + 1]
    ax.text(0, top, f"{side.capitalize()}: what it adds to {tokens[position]}", fontsize=10)
    ax.text(-1.05, top, "Source" if side == "encoder" else "Read so far", fontsize=10)
    first = 0 if side == "encoder" else max(0, len(tokens) - ROOM)
    for y, (s, token) in enumerate(list(enumerate(tokens))[first:][:ROOM]):
        cut = "…" if y == 0 < first or (y == ROOM - 1 and s + 1 < len(tokens)) else token
        weight = "bold" if s == position else "normal"
        ax.text(-1.05, top + 0.25 + 0.17 * y, cut, fontsize=10, weight=weight)
    here = [place for place in facts["lengths"] if place.startswith(side)]
    at = {place: view.step if place.startswith("decoder") else 0 for place in facts["lengths"]}
    longest = max(each["adds"][at[place]] for place, each in facts["lengths"].items())
    strongest = max(part[at[place]] for place, each in facts["heads"].items() for part in each)
    for place in here:
        _, layer, kind = place.split(".")
        kinds = [k for k in SHORT_NAMES if f"{side}.{layer}.{k}" in facts["lengths"]]
        x, y = 1.15 * int(layer), top + 0.3 + 0.66 * kinds.index(kind)
        colour = SOURCE if side == "encoder" or kind == "cross" else TARGET
        adds, factor = facts["lengths"][place]["adds"][position], scales.get(place, 1)
        if kind == kinds[0]:
            ax.text(x + 0.5, top + 0.2, f"layer {layer}", fontsize=9, ha="center")
        ax.add_patch(Rectangle((x, y), 1.05, 0.6, **FRAME))
        ax.text(x + 0.06, y + 0.19, SHORT_NAMES[kind], fontsize=9.5)
        number = f"{adds:.{int(adds < 100)}f}" if factor else "off"
        ax.text(x + 1.0, y + 0.19, number, fontsize=9.5, ha="right")
        ax.add_patch(Rectangle((x + 0.06, y + 0.25), 0.93 * adds / longest, 0.1, facecolor=colour))
        for m, part in enumerate(facts["heads"].get(place, ())):
            wide = 0.93 / len(facts["heads"][place])
            corner = (x + 0.06 + m * wide, y + 0.41)
            share, off = part[position] / strongest, not factor * scales.get(f"{place}.head.{m}", 1)
            ax.add_patch(Rectangle(corner, 0.85 * wide, 0.13, facecolor=colour, alpha=share))
            style = FRAME | ({"hatch": "xxxx"} if off else {})
            ax.add_patch(Rectangle(corner, 0.85 * wide, 0.13, **style))


# ---- a layer, a sub-layer, a head


def rows_of(place):
    """Which tokens ask: the name of their list."""
    return "source" if place.startswith("encoder") else "read"


def columns_of(place):
    """Which tokens are looked at: the name of their list."""
    return "read" if place.startswith("decoder") and "self" in place else "source"


AXIS_LABELS = {"source": "source token", "read": "token read"}


def draw_lengths(view, figure):
    """How long the vectors are that the sub-layers of the place add, position by position."""
    lengths, tokens = view.facts["lengths"], view.facts[rows_of(view.place)]
    here = [p for p in lengths if f"{p}.".startswith(f"{view.place}.")]
    longest = max(max(each["adds"]) for each in lengths.values())
    ax = figure.subplots()
    rows = [lengths[place]["adds"] for place in here]
    image = ax.imshow(rows, vmin=0, vmax=longest, cmap="cividis", aspect="auto")
    ax.set_xticks(range(len(tokens)), tokens, rotation=90)
    ax.set_yticks(range(len(here)), [SUB_LAYERS[place.split(".")[2]] for place in here])
    ax.invert_yaxis()  # the way goes up
    if rows_of(view.place) == "read":
        mark_step(ax, view.step - 0.5, -0.5, 1, len(here))
    ax.tick_params(labelsize=10, length=0)
    ax.set_title(in_words(view.place), fontsize=10)
    ax.set_xlabel(AXIS_LABELS[rows_of(view.place)])
    bar = {"shrink": 0.7, "pad": 0.02, "location": "bottom"}
    figure.colorbar(image, ax=ax, label="length of what is added", **bar)


def maps_of(view):
    """Numbers of the heads that are shown, the weights (h, T, S), and how many stand in a row."""
    place, _, head = view.place.partition(".head.")
    A = view.numbers(f"{place}.A")  # (h, T, S)
    heads = [int(head)] if head else list(range(len(A)))
    return heads, A, min(len(heads), max(1, MAX_COLUMNS // A.shape[2]))


def size_of_weights(view):
    """Width and height in inches that give every weight a square of a legible size."""
    heads, A, across = maps_of(view)
    _, T, S = A.shape
    return 0.22 * S * across + 1.4, 0.22 * T * -(-len(heads) // across) + 2.2


def draw_weights(view, figure):
    """The weights of the heads of the place: a map for each, columns and rows named."""
    heads, A, across = maps_of(view)
    place = view.place
    rows, columns = view.facts[rows_of(place)], view.facts[columns_of(place)]
    down = -(-len(heads) // across)
    axes = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for ax in axes.flat[len(heads) :]:
        ax.set_axis_off()
    for m, ax in zip(heads, axes.flat, strict=False):
        image = ax.imshow(A[m].numpy(), vmin=0, vmax=1, cmap="cividis", aspect="auto")
        ax.set_xticks(range(len(columns)), columns, rotation=90)
        ax.set_yticks(range(len(rows)), rows)
        ax.tick_params(labelsize=9, length=0)
        if rows is view.facts["read"]:
            mark_step(ax, -0.5, view.step - 0.5, len(columns), 1)
        if len(heads) > 1:
            ax.set_title(f"head {m}", fontsize=10)
    figure.suptitle(in_words(place), fontsize=10)
    figure.supxlabel(AXIS_LABELS[columns_of(place)], fontsize=10)
    figure.supylabel(AXIS_LABELS[rows_of(place)], fontsize=10)
    figure.colorbar(image, ax=axes, label="weight", shrink=0.7, pad=0.02, aspect=30)


def mark_step(ax, x, y, width, height):
    """An outline round the row or column of the step, legible on every colour."""
    for colour, lw in (("white", 3), ("black", 1.2)):
        ax.add_patch(Rectangle((x, y), width, height, fill=False, color=colour, lw=lw))
