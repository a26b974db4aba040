"""Draw the diagrams of the course as SVG: python images/draw.py

Each function below returns one picture. They have a white ground of their own, so that they can be
read on a light and on a dark page, and a title and description for those who cannot see them.
"""

from html import escape
from pathlib import Path

HERE = Path(__file__).parent
BLUE, YELLOW, GREY, WHITE = "#dbe4f3", "#f7ecb5", "#eeeeee", "#ffffff"
INK, LINE = "#1a1a1a", "#44546a"


class Picture:
    """A canvas that collects SVG elements."""

    def __init__(self, width, height, title, description):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" aria-labelledby="title desc" '
            f'font-family="Helvetica, Arial, sans-serif" font-size="15">',
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="desc">{escape(description)}</desc>',
            '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="{LINE}"/>'
            "</marker></defs>",
            f'<rect width="{width}" height="{height}" rx="10" fill="{WHITE}"/>',
        ]

    def box(self, x, y, width, height, text="", fill=BLUE, dashed=False, size=15):
        dash = ' stroke-dasharray="6 4"' if dashed else ""
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}" '
            f'stroke="{LINE}"{dash}/>'
        )
        lines = text.split("\n") if text else []
        top = y + height / 2 - (len(lines) - 1) * size * 0.6
        for i, line in enumerate(lines):
            self.text(x + width / 2, top + i * size * 1.2, line, size=size)

    def text(self, x, y, words, size=15, anchor="middle", bold=False, italic=False):
        style = ' font-weight="bold"' if bold else ""
        style += ' font-style="italic"' if italic else ""
        self.parts.append(
            f'<text x="{x}" y="{y}" dy="0.35em" text-anchor="{anchor}" font-size="{size}" '
            f'fill="{INK}"{style}>{escape(words)}</text>'
        )

    def arrow(self, *points):
        path = " ".join(f"{x},{y}" for x, y in points)
        self.parts.append(
            f'<polyline points="{path}" fill="none" stroke="{LINE}" stroke-width="1.8" '
            'marker-end="url(#tip)"/>'
        )

    def grid(self, x, y, rows, columns, cell, fill, label=None, gap_every=0):
        """A matrix of squares; `fill(row, column)` gives each colour, `label` its text."""
        for row in range(rows):
            for column in range(columns):
                left = x + column * cell + (column // gap_every * 10 if gap_every else 0)
                self.parts.append(
                    f'<rect x="{left}" y="{y + row * cell}" width="{cell}" height="{cell}" '
                    f'fill="{fill(row, column)}" stroke="{LINE}"/>'
                )
                if label:
                    words = label(row, column)
                    self.text(left + cell / 2, y + (row + 0.5) * cell, words, size=cell * 0.42)

    def svg(self):
        return "\n".join([*self.parts, "</svg>"]) + "\n"


def course_map():
    p = Picture(
        900, 360, "Map of the course",
        "Five columns of chapters, read from top to bottom and from left to right; an arrow leads "
        "from each chapter to the next. Attention: 01 embedding table, 02 single head, 03 many "
        "heads. The model: 04 encoder, 05 decoder. A translator: 06 text to batches, 07 training, "
        "08 decoding. Looking inside: 09 reading attention, 10 heads off, 11 nn.Transformer, 12 "
        "museum of bugs. Out into the world: 13 what it costs, 14 shipping.",
    )  # fmt: skip
    groups = [
        ("Attention", ["01 Embedding table", "02 Single head", "03 Many heads"]),
        ("The model", ["04 Encoder", "05 Decoder"]),
        ("A translator", ["06 Text to batches", "07 Training", "08 Decoding"]),
        ("Looking inside", ["09 Reading attention", "10 Heads off", "11 nn.Transformer",
                            "12 Museum of bugs"]),
        ("Out into the world", ["13 What it costs", "14 Shipping"]),
    ]  # fmt: skip
    step, width, height = 176, 152, 44
    for i, (name, chapters) in enumerate(groups):
        x = 22 + i * step
        p.text(x + width / 2, 40, name, size=16, bold=True)
        for k, chapter in enumerate(chapters):
            y = 70 + k * 70
            p.box(x, y, width, height, chapter, BLUE, size=13)
            if k:
                p.arrow((x + width / 2, y - 26), (x + width / 2, y - 2))
        if i + 1 < len(groups):  # from the last of a column to the first of the next
            bottom, side = y + height / 2, x + width + (step - width) / 2
            p.arrow((x + width, bottom), (side, bottom), (side, 92), (x + step - 3, 92))
    return p.svg()


def attention():
    p = Picture(
        900, 330, "Single-head attention",
        "The input X goes through three matrices and becomes queries Q, keys K and values V. Q times "
        "K transposed gives the scores E; divided by the square root of d_k, masked and put through "
        "the softmax they become the weights A; A times V is the result Y.",
    )  # fmt: skip
    p.box(20, 130, 80, 60, "X\n(T, d_model)", GREY, size=12)
    for y, name, shape in ((30, "Q", "(T, d_k)"), (130, "K", "(S, d_k)"), (230, "V", "(S, d_v)")):
        p.arrow((100, 160), (150, y + 30))
        p.box(152, y, 76, 60, f"W^{name}", YELLOW)
        p.arrow((228, y + 30), (264, y + 30))
        p.box(266, y, 84, 60, f"{name}\n{shape}", BLUE, size=13)
    p.box(400, 70, 110, 70, "E = Q Kᵀ\n(T, S)", BLUE)
    p.arrow((350, 60), (398, 95))
    p.arrow((350, 160), (398, 118))
    p.box(545, 70, 130, 70, "÷ √d_k, mask,\nsoftmax of rows", YELLOW)
    p.arrow((510, 105), (543, 105))
    p.box(710, 70, 60, 70, "A\n(T, S)", BLUE)
    p.arrow((675, 105), (708, 105))
    p.box(790, 200, 90, 70, "Y = A V\n(T, d_v)", BLUE)
    p.arrow((770, 105), (835, 105), (835, 198))
    p.arrow((350, 260), (788, 240))
    return p.svg()


def slicing():
    p = Picture(
        900, 380, "Slicing vertically: six columns become three heads",
        "A matrix of two rows and six columns, entries 00 to 05 and 10 to 15. slice_vertically with "
        "width two cuts its columns into three slices of two rows and two columns: 00 01 10 11, then "
        "02 03 12 13, then 04 05 14 15. unslice_vertically puts them side by side again.",
    )  # fmt: skip
    fills = [BLUE, YELLOW, GREY]

    def colour(row, column):
        return fills[column // 2]

    p.text(150, 40, "X @ W_Q   (T, h · d_k)", bold=True)
    p.grid(50, 70, 2, 6, 46, colour, lambda r, c: f"{r}{c}")
    p.text(150, 185, "one row a word, all heads side by side", size=13, italic=True)
    p.arrow((350, 116), (520, 116))
    p.text(435, 96, "slice_vertically(·, 2)", size=14)
    p.text(720, 40, "three heads   (h, T, d_k)", bold=True)
    for head in range(3):
        x = 545 + head * 118
        p.grid(x, 70, 2, 2, 46, lambda r, c, h=head: fills[h],
               lambda r, c, h=head: f"{r}{2 * h + c}")  # fmt: skip
        p.text(x + 46, 180, f"head {head}", size=13)
    p.arrow((720, 205), (720, 240))
    p.box(545, 243, 328, 44, "each head attends by itself", WHITE)
    p.arrow((543, 265), (350, 300))
    p.text(440, 258, "unslice_vertically(·)", size=14)
    p.grid(50, 265, 2, 6, 40, colour)
    p.text(170, 360, "side by side again, then @ W_O", size=13, italic=True)
    return p.svg()


def norms():
    p = Picture(
        760, 310, "Post-norm and pre-norm",
        "Post-norm: X goes through the work of the sub-layer, dropout, is added to X, then LayerNorm. Pre-norm: X "
        "goes through LayerNorm, the sub-layer, dropout, and is added to X; the way around is free.",
    )  # fmt: skip

    def chain(y, title, boxes):
        p.text(30, y - 76, title, bold=True, anchor="start")
        p.text(42, y, "X")
        x, plus = 100, None
        p.arrow((55, y), (98, y))
        for name in boxes:
            if name == "+":
                p.box(x, y - 18, 36, 36, "+", WHITE, size=20)
                plus, width = x + 18, 36
            else:
                p.box(x, y - 24, 128, 48, name, YELLOW if name == "LayerNorm" else BLUE)
                width = 128
            end = x + width
            p.arrow((end, y), (end + 40, y))
            x = end + 42
        p.arrow((70, y), (70, y - 42), (plus, y - 42), (plus, y - 20))
        p.text((70 + plus) / 2, y - 52, "residual", size=12, italic=True)

    chain(100, "Post-norm (the paper): LayerNorm(X + dropout(work(X)))",
          ["work", "dropout", "+", "LayerNorm"])  # fmt: skip
    chain(260, "Pre-norm: X + dropout(work(LayerNorm(X)))",
          ["LayerNorm", "work", "dropout", "+"])  # fmt: skip
    return p.svg()


def masks():
    p = Picture(
        900, 330, "Three masks for a target of four places, the last of them padding",
        "Three tables of four queries by four keys; a cross marks what may not be attended to. Causal: "
        "all keys after the query. Padding: the last key, for every query. Joined: both.",
    )  # fmt: skip

    def causal(row, column):
        return column > row

    def padding(row, column):
        return column == 3

    def both(row, column):
        return causal(row, column) or padding(row, column)

    tables = [
        ("causal_mask(4)", causal),
        ("padding_mask(ids)", padding),
        ("causal | padding", both),
    ]
    for i, (name, mask) in enumerate(tables):
        x = 90 + i * 285
        p.text(x + 80, 35, name, bold=True)
        p.grid(x, 80, 4, 4, 42, lambda r, c, m=mask: LINE if m(r, c) else YELLOW)
        for row in range(4):
            for column in range(4):
                if mask(row, column):
                    left, top = x + column * 42 + 12, 80 + row * 42 + 12
                    p.parts.append(
                        f'<path d="M{left} {top} l18 18 m0 -18 l-18 18" stroke="#ffffff" '
                        'stroke-width="3"/>'
                    )
        for k, word in enumerate(("BOS", "un", "chat", "PAD")):
            p.text(x - 8, 80 + (k + 0.5) * 42, word, size=13, anchor="end")
            p.text(x + (k + 0.5) * 42, 68, word, size=12)
        if i < 2:
            p.text(x + 215, 164, "|" if i == 0 else "=", size=30)
    p.text(
        450, 285, "cross on dark: True, may not be attended to  ·  yellow: False, may be", size=14
    )
    return p.svg()


def shift():
    p = Picture(
        900, 300, "The target, shifted by one",
        "Source: a cat sleeps EOS. Decoder input: BOS un chat dort. To predict: un chat dort EOS. Each "
        "input token stands above the token that must follow it.",
    )  # fmt: skip
    rows = [
        ("source", ["A", "cat", "sleeps", ".", "[EOS]"], GREY),
        ("target_in", ["[BOS]", "Un", "chat", "dort", "."], BLUE),
        ("target_out", ["Un", "chat", "dort", ".", "[EOS]"], YELLOW),
    ]
    for row, (name, words, fill) in enumerate(rows):
        y = 40 + row * 90
        p.text(150, y + 22, name, anchor="end", bold=True)
        for k, word in enumerate(words):
            p.box(180 + k * 135, y, 110, 44, word, fill)
            if row == 1:
                p.arrow((235 + k * 135, y + 44), (235 + k * 135, y + 88))
    return p.svg()


def architecture():
    p = Picture(
        900, 640, "The Transformer",
        "Left: source ids, embedding plus positions, then a stack of encoder layers, each self-attention "
        "and feed-forward; its output is the memory. Right: target ids, the same embedding plus "
        "positions, then a stack of decoder layers, each masked self-attention, cross-attention to the "
        "memory, and feed-forward; then logits by the same embedding table.",
    )  # fmt: skip
    left, right, width = 90, 540, 250
    p.text(left + 125, 615, "source ids   (N, S)")
    p.text(right + 125, 615, "target ids so far   (N, T)")
    for x in (left, right):
        p.arrow((x + 125, 600), (x + 125, 577))
        p.box(x, 527, width, 48, "embedding · √d_model", YELLOW)
        p.arrow((x + 125, 527), (x + 125, 507))
        p.box(x, 459, width, 46, "+ positions, dropout", GREY)
        p.arrow((x + 125, 459), (x + 125, 426))
    p.text(450, 551, "one table", size=13, italic=True)
    p.arrow((415, 551), (342, 551))
    p.arrow((485, 551), (538, 551))
    p.box(left - 25, 258, width + 50, 166, "", WHITE, dashed=True)
    p.text(left - 35, 340, "L ×", size=18, anchor="end")
    p.box(left, 358, width, 48, "self-attention")
    p.arrow((left + 125, 358), (left + 125, 332))
    p.box(left, 282, width, 48, "feed-forward")
    p.text(left + 235, 206, "memory   (N, S, d_model)", size=14)
    p.box(right - 25, 172, width + 50, 252, "", WHITE, dashed=True)
    p.arrow((left + 125, 258), (left + 125, 222), (left + 350, 222), (left + 350, 302),
            (right - 2, 302))  # fmt: skip
    p.text(right + width + 37, 298, "× L", size=18, anchor="start")
    p.box(right, 358, width, 48, "masked self-attention")
    p.arrow((right + 125, 358), (right + 125, 330))
    p.box(right, 278, width, 50, "cross-attention\nkeys and values from memory", size=14)
    p.arrow((right + 125, 278), (right + 125, 248))
    p.box(right, 198, width, 48, "feed-forward")
    p.arrow((right + 125, 172), (right + 125, 132))
    p.box(right, 84, width, 46, "logits: · embeddingᵀ", YELLOW)
    p.arrow((right + 125, 84), (right + 125, 56))
    p.text(right + 125, 40, "next token   (N, T, vocabulary)")
    p.text(left + 125, 150, "encoder", size=20, bold=True)
    p.text(right - 60, 110, "decoder", size=20, bold=True)
    return p.svg()


def reach():
    p = Picture(
        900, 450, "What each position of a decoder can reach",
        "Eight rows, the places of the target BOS un cheval noir point EOS PAD PAD. Each row reaches "
        "the real source tokens a black horse point EOS, and of the target the places up to its own "
        "that are not padding. Crosses mark what is hidden: padding and the future.",
    )  # fmt: skip
    source = ["a", "black", "horse", ".", "[EOS]", "[PAD]", "[PAD]", "[PAD]", "[PAD]"]
    target = ["[BOS]", "un", "cheval", "noir", ".", "[EOS]", "[PAD]", "[PAD]"]
    cell, top = 40, 92
    parts = [
        (102, "the source, through the memory", source, lambda r, c: source[c] == "[PAD]"),
        (512, "the target so far", target, lambda r, c: c > r or target[c] == "[PAD]"),
    ]
    for x, name, words, hidden in parts:
        p.text(x + cell * len(words) / 2, 30, name, bold=True)
        p.grid(x, top, 8, len(words), cell, lambda r, c, m=hidden: LINE if m(r, c) else YELLOW)
        for c, word in enumerate(words):
            p.text(x + (c + 0.5) * cell, 76, word, size=12)
            for r in range(8):
                if hidden(r, c):
                    left, y = x + c * cell + 12, top + r * cell + 12
                    p.parts.append(
                        f'<path d="M{left} {y} l16 16 m0 -16 l-16 16" stroke="#ffffff" '
                        'stroke-width="3"/>'
                    )
    for r, word in enumerate(target):
        p.text(94, top + (r + 0.5) * cell, word, size=13, anchor="end")
    p.text(450, 432, "yellow: False, may be reached  ·  cross on dark: True, may not be", size=14)
    return p.svg()


def questions():
    p = Picture(
        900, 210, "Eight questions in one pass",
        "Upper row, what is read: BOS un homme monte un cheval blanc point. Lower row, what is asked: "
        "un homme monte un cheval blanc point EOS. An arrow leads from each token that is read to the "
        "one that must follow it, which stands in the upper row one place to the right.",
    )  # fmt: skip
    words = "[BOS] un homme monte un cheval blanc . [EOS]".split()
    for row, (name, fill) in enumerate((("read", BLUE), ("asked", YELLOW))):
        y = 40 + row * 90
        p.text(78, y + 22, name, anchor="end", bold=True)
        for t in range(8):
            x = 92 + t * 99
            p.box(x, y, 86, 44, words[t + row], fill)
            if row == 0:
                p.arrow((x + 43, y + 44), (x + 43, y + 88))
    p.text(484, 194, "place 0 to place 7, from left to right", size=13, italic=True)
    return p.svg()


def cross_attention():
    p = Picture(
        900, 300, "Cross-attention: the target asks, the source is asked",
        "X of the target, T rows, makes the queries Q. The memory of the source, S rows, makes the "
        "keys K and the values V. The weights A are a rectangle of T rows and S columns; A times V "
        "has T rows again.",
    )  # fmt: skip
    p.box(20, 50, 130, 70, "X, target\n(T, d_model)", BLUE, size=14)
    p.box(20, 190, 130, 70, "memory, source\n(S, d_model)", GREY, size=14)
    for x, y, name, ground in ((250, 55, "Q   (T, d_k)", BLUE), (250, 165, "K   (S, d_k)", GREY),
                               (250, 235, "V   (S, d_v)", GREY)):  # fmt: skip
        p.box(x, y, 130, 50, name, ground, size=14)
    p.arrow((150, 85), (248, 80))
    p.text(198, 66, "W_Q", size=13)
    p.arrow((150, 215), (248, 191))
    p.text(198, 186, "W_K", size=13)
    p.arrow((150, 235), (248, 258))
    p.text(198, 264, "W_V", size=13)
    p.arrow((380, 80), (478, 108))
    p.arrow((380, 190), (478, 150))
    p.box(480, 85, 180, 90, "A   (T, S)\na row a target token,\na column a source token", YELLOW,
          size=13)  # fmt: skip
    p.arrow((660, 130), (738, 130))
    p.arrow((380, 260), (690, 260), (738, 155))
    p.box(740, 95, 140, 70, "Y = A V\n(T, d_v)", BLUE, size=14)
    return p.svg()


def decoder_layer():
    p = Picture(
        900, 500, "A decoder layer with shapes",
        "X, N by T by d_model, goes through three sub-layers in turn: masked self-attention with the "
        "mask of the target, cross-attention that reads the memory with its mask, and feed-forward. "
        "Around each of them a residual connection and a LayerNorm. The shape stays the same.",
    )  # fmt: skip
    steps = [
        (365, "masked self-attention", "what is written so far?"),
        (235, "cross-attention", "what does the source say?"),
        (105, "feed-forward", "what follows from both?"),
    ]
    p.text(450, 482, "X   (N, T, d_model)")
    p.arrow((450, 468), (450, 417))
    for y, name, question in steps:
        p.box(330, y, 240, 50, name, BLUE)
        p.arrow((450, y + 66), (590, y + 66), (590, y - 34), (572, y - 34))
        p.box(330, y - 50, 240, 32, "+  and LayerNorm", YELLOW, size=14)
        p.arrow((450, y), (450, y - 16))
        p.text(620, y + 25, question, size=14, anchor="start", italic=True)
    p.arrow((450, 315), (450, 287))
    p.arrow((450, 185), (450, 157))
    p.arrow((450, 55), (450, 32))
    p.text(450, 18, "(N, T, d_model)")
    p.box(60, 365, 200, 50, "mask\n(N, 1, T, T)", GREY, size=13)
    p.arrow((260, 390), (328, 390))
    p.box(60, 200, 200, 50, "memory\n(N, S, d_model)", GREY, size=13)
    p.arrow((260, 232), (328, 250))
    p.box(60, 265, 200, 50, "memory_mask\n(N, 1, 1, S)", GREY, size=13)
    p.arrow((260, 283), (328, 268))
    p.text(602, 431, "residual connection, goes around", size=12, anchor="start", italic=True)
    return p.svg()


PICTURES = {
    draw.__name__: draw
    for draw in (
        course_map,
        architecture,
        attention,
        slicing,
        norms,
        masks,
        shift,
        questions,
        reach,
        cross_attention,
        decoder_layer,
    )  # fmt: skip
}


def main():
    for name, draw in PICTURES.items():
        (HERE / f"{name}.svg").write_text(draw(), encoding="utf-8", newline="\n")
        print(f"images/{name}.svg")


if __name__ == "__main__":
    main()
