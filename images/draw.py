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


def lookup():
    p = Picture(
        910, 330, "A lookup",
        "Left, a table of 8 rows and 9 columns, one row for each of the words a, man, is, riding, "
        "horse, bicycle, white, black. Right, three rows for a white horse, the ids 0, 6 and 4: "
        "arrows lead from rows 0, 6 and 4 of the table to them, and the numbers are the same.",
    )  # fmt: skip
    words = "a man is riding horse bicycle white black".split()
    W = """
        0.12 -0.76 1.34 0.58 -1.21 0.44 -0.09 0.72 -0.33
        -0.45 1.05 0.39 -0.97 0.18 -1.56 0.87 0.23 -0.12
        1.23 -0.64 0.07 0.92 -0.31 0.51 -1.22 0.84 -0.77
        -0.19 0.34 0.88 -1.03 1.15 -0.42 0.65 -0.91 0.00
        0.48 -1.14 0.26 0.71 -0.53 1.38 -0.66 0.97 -0.28
        0.16 0.62 -0.85 1.04 -0.11 -0.76 0.89 -1.34 0.43
        -0.58 1.11 0.30 -0.69 0.93 -0.37 -1.05 0.57 0.22
        0.35 -0.99 0.79 0.18 -0.82 1.20 -0.48 0.61 -0.13""".split()
    ids, side, left, right = [0, 6, 4], 36, 100, 566

    def row(i, x, y, fill):
        for column in range(9):
            p.box(x + column * side, y, side, 30, W[9 * i + column], fill, size=11)

    for i, word in enumerate(words):
        p.text(left - 10, 75 + 32 * i, f"{i} {word}", anchor="end")
        row(i, left, 60 + 32 * i, BLUE if i in ids else WHITE)
    for t, i in enumerate(ids):
        y = 110 + 60 * t
        row(i, right, y, BLUE)
        p.text(right - 10, y + 15, f"{i} {words[i]}", anchor="end")
        p.arrow((left + 9 * side, 75 + 32 * i), (right - 76, y + 15))
    p.text(left + 4.5 * side, 36, "the table W   (vocab_size, d_model) = (8, 9)", bold=True)
    p.text(right + 4.5 * side, 80, "the sentence X   (T, d_model) = (3, 9)", bold=True)
    return p.svg()


def one_row():
    p = Picture(
        900, 270, "One row for two meanings",
        "Above, the words a man is riding a white horse; its French is monte. Below, the "
        "words a man is riding a bicycle; its French is fait du. From riding in both "
        "sentences an arrow leads to the same row 3 of the table.",
    )  # fmt: skip
    row = "-0.19 0.34 0.88 -1.03 1.15 -0.42 0.65 -0.91 0.00".split()
    for y, sentence, french in (
        (24, "a man is riding a white horse", "monte"),
        (204, "a man is riding a bicycle", "fait (du)"),
    ):
        for t, word in enumerate(sentence.split()):
            p.box(20 + 92 * t, y, 84, 42, word, YELLOW if word == "riding" else GREY)
        p.text(700, y + 13, "French for riding:", anchor="start", size=13)
        p.text(700, y + 33, french, anchor="start", bold=True, italic=True, size=17)
    for column, number in enumerate(row):
        p.box(122 + 44 * column, 114, 44, 42, number, BLUE, size=13)
    p.text(112, 135, "row 3", anchor="end", bold=True)
    p.arrow((338, 66), (338, 112))
    p.arrow((338, 204), (338, 158))
    return p.svg()


PICTURES = {
    draw.__name__: draw
    for draw in (course_map, architecture, attention, slicing, norms, masks, shift, lookup, one_row)
}


def main():
    for name, draw in PICTURES.items():
        (HERE / f"{name}.svg").write_text(draw(), encoding="utf-8", newline="\n")
        print(f"images/{name}.svg")


if __name__ == "__main__":
    main()
