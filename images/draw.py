"""Draw the diagrams of the course as SVG: python images/draw.py

Each function below returns one picture. They have a white ground of their own, so that they can be
read on a light and on a dark page, and a title and description for those who cannot see them.
"""

import math
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


def two_rounds():
    p = Picture(
        900, 330, "Two rounds of attention answer a question about a caption",
        "The caption white horse and black bicycle, and the question horse. After round one each noun "
        "of the caption also holds the colour before it. In round two the question finds its twin, "
        "the other horse, and takes the colour white from it.",
    )  # fmt: skip
    words = ["white", "horse", "and", "black", "bicycle", "horse"]
    places = [140 + k * 122 + (30 if k == 5 else 0) for k in range(6)]
    for row, name in enumerate(("what goes in", "after round 1", "after round 2")):
        y = 30 + row * 105
        p.text(20, y + 26, name, size=14, anchor="start", italic=True)
        for k, word in enumerate(words):
            heard = {(1, 1): "white", (1, 4): "black", (2, 1): "white", (2, 4): "black"}
            heard[2, 5] = "white"
            more = heard.get((row, k))
            text = f"{word}\n+ {more}" if more else word
            p.box(places[k], y, 100, 52, text, YELLOW if more else BLUE if k < 5 else GREY)
            if row:
                p.arrow((places[k] + 50, y - 53), (places[k] + 50, y - 2))
    for k in (0, 3):  # round 1: from the colour to the noun behind it
        p.arrow((places[k] + 60, 83), (places[k + 1] + 30, 133))
    p.arrow((places[1] + 70, 188), (places[5] + 20, 238))  # round 2: from the twin
    p.text(places[1] + 60, 108, "the word before", size=12, anchor="start", italic=True)
    p.text(places[5] + 50, 308, "question", size=12, italic=True)
    p.text(564, 205, "the twin", size=12, anchor="start", italic=True)
    return p.svg()


def clock_hands():
    p = Picture(
        900, 400, "Positions as clock hands",
        "Seven words, and under each of them three clocks. The hand of the first row turns by one "
        "radian, 57 degrees, a word; that of the second row by a tenth of it, that of the third row "
        "by a hundredth. All hands start at twelve; no two words show the same three hands.",
    )  # fmt: skip
    for pos, word in enumerate("A man is riding a white horse".split()):
        x = 190 + pos * 108
        p.text(x, 28, word, bold=True)
        p.text(x, 52, str(pos), size=13)
        for pair in range(3):
            y, angle = 112 + pair * 108, pos / 10**pair
            right, up = math.sin(angle), math.cos(angle)
            p.parts.append(
                f'<circle cx="{x}" cy="{y}" r="42" fill="{(BLUE, YELLOW, GREY)[pair]}" '
                f'stroke="{LINE}"/>'
            )
            p.arrow((x, y), (round(x + 36 * right, 2), round(y - 36 * up, 2)))
    for pair, (name, period) in enumerate((("pair 0", 6.3), ("pair 1", 63), ("pair 2", 628))):
        y = 112 + pair * 108
        p.text(20, y - 12, name, anchor="start", bold=True)
        p.text(20, y + 12, f"round in {period} words", size=12, anchor="start")
    return p.svg()


def encoder_layer():
    p = Picture(
        900, 400, "One encoder layer, post-norm, with shapes",
        "X of shape N, S, d_model goes through multi-head attention and dropout, is added to itself, "
        "and passes a LayerNorm. The result goes through the feed-forward network and dropout, is "
        "added to itself, and passes a second LayerNorm. The shape at the end is that at the start.",
    )  # fmt: skip

    def sub_layer(y, title, boxes, inner):
        p.text(100, y - 84, title, bold=True, anchor="start")
        p.box(30, y - 26, 96, 52, "X\n(N, S, d_model)", GREY, size=12)
        p.arrow((126, y), (166, y))
        p.arrow((146, y), (146, y - 56), (610, y - 56), (610, y - 20))
        p.text(380, y - 67, "residual", size=12, italic=True)
        x = 168
        for k, (text, width) in enumerate(boxes):
            p.box(x, y - 30, width, 60, text, BLUE, size=13)
            p.arrow((x + width, y), (590 if k else x + width + 46, y))
            x += width + 48
        p.text(370, y + 48, inner, size=12)
        p.box(592, y - 18, 36, 36, "+", WHITE, size=20)
        p.arrow((628, y), (656, y))
        p.box(658, y - 30, 100, 60, "LayerNorm", YELLOW, size=13)
        p.arrow((758, y), (786, y))
        p.box(788, y - 26, 96, 52, "X\n(N, S, d_model)", GREY, size=12)

    sub_layer(
        110, "1  Words listen to each other", [("multi-head attention", 260), ("dropout", 80)],
        "Q, K: (N, h, S, d_k)   V: (N, h, S, d_v)   weights A: (N, h, S, S)",
    )  # fmt: skip
    sub_layer(
        300, "2  Each word works on what it heard", [("linear, ReLU, linear", 260), ("dropout", 80)],
        "(N, S, d_model)  →  (N, S, d_ff)  →  (N, S, d_model)",
    )  # fmt: skip
    p.arrow((836, 136), (836, 190), (78, 190), (78, 272))
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


PICTURES = {
    draw.__name__: draw
    for draw in (
        course_map,
        architecture,
        attention,
        slicing,
        two_rounds,
        clock_hands,
        encoder_layer,
        norms,
        masks,
        shift,
    )
}


def main():
    for name, draw in PICTURES.items():
        (HERE / f"{name}.svg").write_text(draw(), encoding="utf-8", newline="\n")
        print(f"images/{name}.svg")


if __name__ == "__main__":
    main()
