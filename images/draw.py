"""Draw the diagrams of the course as SVG: python images/draw.py

Each function below draws one picture. It has a ground of its own, white or dark as is the page
around it, and a title and description for those who cannot see it.
"""

import functools
import itertools
import math
from html import escape
from pathlib import Path

from tutor.figures import page
from tutor.figures.page import HIDDEN  # the fill of what a mask hides; what it shows is yellow

HERE = Path(__file__).parent
BLUE, YELLOW, GREY, WHITE = "#dbe4f3", page.SEEN, "#eeeeee", page.PAPER_COLOUR
INK, LINE = "#1a1a1a", page.LINE_COLOUR
# What becomes of the colours on a dark page.
DARK_STROKE = {INK: page.DARK_INK, LINE: page.DARK_LINE}
DARK_FILL = {BLUE: "#27364f", YELLOW: page.DARK_FILL[YELLOW], GREY: "#333333"}
DARK_FILL |= {WHITE: page.DARK_PAPER, **DARK_STROKE}
DARK = "".join(
    [
        *(f'[fill="{old}"]{{fill:{new}}}' for old, new in DARK_FILL.items()),
        *(f'[stroke="{old}"]{{stroke:{new}}}' for old, new in DARK_STROKE.items()),
        f'rect[fill="{HIDDEN}"]{{fill:{page.DARK_FILL[HIDDEN]}}}',
    ]
)


class Canvas:
    """A canvas that collects SVG elements."""

    def __init__(self, width, height, title, description):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" aria-labelledby="title desc" '
            f'font-family="Helvetica, Arial, sans-serif" font-size="15">',
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="desc">{escape(description)}</desc>',
            f"<style>@media(prefers-color-scheme:dark){{{DARK}}}</style>",
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

    def cell(self, x, y, width, height, fill):
        """A box with sharp corners, as in a matrix."""
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}" '
            f'stroke="{LINE}"/>'
        )

    def frame(self, x, y, width, height):
        """A thick frame around what is there."""
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="none" '
            f'stroke="{INK}" stroke-width="3"/>'
        )

    def circle(self, x, y, radius, fill):
        self.parts.append(f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{fill}" stroke="{LINE}"/>')

    def ellipse(self, x, y, along, across, degrees, fill):
        """An ellipse with these half axes, turned clockwise."""
        self.parts.append(
            f'<ellipse cx="{x}" cy="{y}" rx="{along}" ry="{across}" fill="{fill}" '
            f'stroke="{LINE}" transform="rotate({degrees} {x} {y})"/>'
        )

    def line(self, start, end, width, colour=LINE):
        (x1, y1), (x2, y2) = start, end
        self.parts.append(
            f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" '
            f'stroke-width="{width}"/>'
        )

    def cross_out(self, x, y, width, height):
        """Two thick lines from corner to corner: this part is gone."""
        for start, end in ((y, y + height), (y + height, y)):
            self.line((x, start), (x + width, end), 3, INK)

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
                self.cell(left, y + row * cell, cell, cell, fill(row, column))
                if label:
                    words = label(row, column)
                    self.text(left + cell / 2, y + (row + 0.5) * cell, words, size=cell * 0.42)

    def cross(self, x, y, size):
        """What a mask hides has a white cross; its upper left corner is at (x, y)."""
        self.parts.append(
            f'<path d="M{x} {y} l{size} {size} m0 -{size} l-{size} {size}" stroke="#ffffff" '
            'stroke-width="3"/>'
        )

    def svg(self):
        return "\n".join([*self.parts, "</svg>"]) + "\n"


PICTURES = {}  # name -> what gives it as SVG


def picture(width, height, title, parts=None):
    """The function below draws a picture of this size; its docstring describes it to the reader.

    parts: {name: words}, for a picture of each part, called `function_name`, in which that part is
    lit. `{lit}` in the title and the description stands for its words.
    """

    def drawn(draw, part, lit):
        description = " ".join(draw.__doc__.split())
        canvas = Canvas(width, height, title.format(lit=lit), description.format(lit=lit))
        draw(canvas, part) if parts else draw(canvas)
        return canvas.svg()

    def register(draw):
        for part, lit in (parts or {"": ""}).items():
            name = f"{draw.__name__}_{part}" if part else draw.__name__
            PICTURES[name] = functools.partial(drawn, draw, part, lit)

    return register


@picture(900, 622, "Map of the course")
def course_map(p):
    """The core is a row of eight chapters in yellow, joined by arrows: 01 embedding table, 02
    single head, 03 many heads, 03b positions, 04 encoder, 06 decoder, 06b it translates, 08
    training. From its end, arrows lead to three branches, each a column. Use it: 07 text to
    batches, 08b does it learn, 09 decoding, 09b sampling, 10 is it better, 16 what it costs, 16b
    how large, 17 shipping. Look inside: 05 what each part is for, 05b how deep, 11 reading
    attention, 11b choosing a head, 12 heads off, 13 a decision, 13b which vector, 14
    nn.Transformer, 15 museum of bugs. Today's models: 18 a language model, 19 learning from
    context, 20 since 2017, 20b Muon, 21 longer and smaller, 21b fewer bits, 22 rewarded, 22b GRPO.
    """
    core = ("01 Embed-\nding table", "02 Single\nhead", "03 Many\nheads", "03b\nPositions",
            "04\nEncoder", "06\nDecoder", "06b It\ntranslates", "08\nTraining")  # fmt: skip
    branches = {
        "Use it": ("07 Text to batches", "08b Does it really learn?", "09 Decoding",
                   "09b Sampling", "10 Is it better?", "16 What it costs",
                   "16b How large should it be?", "17 Shipping"),
        "Look inside": ("05 What each part is for", "05b How deep can it be?",
                        "11 Reading attention", "11b Choosing a head", "12 Heads off",
                        "13 A decision", "13b Which vector?", "14 nn.Transformer",
                        "15 Museum of bugs"),
        "Today's models": ("18 A language model", "19 Learning from context", "20 Since 2017",
                           "20b Muon", "21 Longer and smaller",
                           "21b Fewer bits, fewer vectors", "22 Rewarded", "22b GRPO"),
    }  # fmt: skip
    p.text(450, 30, "The core", size=16, bold=True)
    for k, chapter in enumerate(core):
        x = 8 + k * 112
        p.box(x, 52, 92, 44, chapter, YELLOW, size=13)
        if k:
            p.arrow((x - 20, 74), (x - 2, 74))
    for i, (name, chapters) in enumerate(branches.items()):
        middle = 155 + i * 295
        p.arrow((838, 96), (838, 124), (middle, 124), (middle, 152))
        p.text(middle, 170, name, size=16, bold=True)
        for k, chapter in enumerate(chapters):
            p.box(middle - 110, 186 + k * 48, 220, 38, chapter, BLUE, size=14)


SENTENCE = ("a", "man", "is", "riding", "a", "white", "horse")


@picture(900, 250, "A mean and a choice")
def mean_and_choice(p):
    """Twice the seven words of a sentence in a row, and below them the word riding with a line to
    each. On the left all seven lines are equally thick: a mean. On the right the line to horse is
    thick and the others are thin: a choice.
    """
    for left, title, widths in (
        (20, "a mean: equal shares of all words", [4] * 7),
        (465, "a choice: most from one word", [1.2] * 6 + [15]),
    ):
        p.text(left + 207, 30, title, bold=True)
        for k, (word, width) in enumerate(zip(SENTENCE, widths, strict=True)):
            x = left + k * 60
            p.line((left + 207, 192), (x + 27, 106), width)
            p.box(x, 66, 55, 40, word, GREY, size=14)
        p.box(left + 157, 190, 100, 42, "riding", YELLOW)


@picture(900, 304, "Single-head attention")
def attention(p):
    """The input X goes through three matrices and becomes queries Q, keys K and values V. Q and K
    give the scores E, divided by the root of d_k; the softmax of each row gives the weights A; A
    times V is the result Y.
    """
    p.box(14, 130, 92, 60, "X\n(T, d_model)", GREY, size=13)
    for y, name, shape in ((30, "Q", "(T, d_k)"), (130, "K", "(T, d_k)"), (230, "V", "(T, d_v)")):
        p.arrow((106, 160), (150, y + 30))
        p.box(152, y, 76, 60, f"W_{name}", YELLOW)
        p.arrow((228, y + 30), (264, y + 30))
        p.box(266, y, 84, 60, f"{name}\n{shape}", BLUE, size=14)
    p.box(394, 70, 136, 70, "E = Q Kᵀ / √d_k\n(T, T)", BLUE, size=14)
    p.arrow((350, 60), (392, 95))
    p.arrow((350, 160), (392, 118))
    p.box(565, 70, 110, 70, "softmax\nof each row", YELLOW, size=14)
    p.arrow((530, 105), (563, 105))
    p.box(710, 70, 74, 70, "weights A\n(T, T)", BLUE, size=13)
    p.arrow((675, 105), (708, 105))
    p.box(780, 225, 104, 70, "Y = A V\n(T, d_v)", BLUE)
    p.arrow((784, 105), (832, 105), (832, 223))
    p.arrow((350, 260), (778, 260))


@picture(900, 470, "One row of attention: riding")
def attention_row(p):
    """The query of riding is [2, 0]. Its dot products with the keys of the seven words are 0, -2,
    0, 0, 0, 0 and 4. Their exponentials sum to 59.7. Divided by that sum they are the weights: 0.91
    for horse, 0.02 or less for every other word. The weighted values add up to [1.84, 0.02].
    """
    query = (2, 0)
    keys = ((0, 0), (-1, 0), (0, 0), (0, 0), (0, 0), (0, 0), (2, 2))
    values = ((0, 0), (0, 0), (0, 0), (1, 1), (0, 0), (0, 0), (2, 0))
    scores = [sum(a * b for a, b in zip(query, key, strict=True)) for key in keys]
    total = sum(math.exp(score) for score in scores)
    weights = [math.exp(score) / total for score in scores]
    result = [sum(w * v[k] for w, v in zip(weights, values, strict=True)) for k in (0, 1)]

    def pair(numbers):
        return f"[{numbers[0]}, {numbers[1]}]".replace("-", "−")

    for y, name in (
        (80, "key"),
        (160, "score = query · key"),
        (225, "e to the score"),
        (305, "weight = share of 59.7"),
        (385, "value"),
    ):
        p.text(198, y, name, anchor="end", size=14, italic=True)
    p.text(198, 120, "query of riding [2, 0]", anchor="end", bold=True, size=14)
    for k, word in enumerate(SENTENCE):
        x = 208 + k * 98
        p.text(x + 44, 32, word, bold=True)
        p.box(x, 60, 88, 40, pair(keys[k]), BLUE)
        p.arrow((x + 44, 100), (x + 44, 138))
        p.box(x, 140, 88, 40, f"{scores[k]}".replace("-", "−"), WHITE)
        p.arrow((x + 44, 180), (x + 44, 208))
        p.text(x + 44, 225, f"{math.exp(scores[k]):.3g}")
        height = 66 * weights[k]
        p.parts.append(f'<line x1="{x}" y1="326" x2="{x + 88}" y2="326" stroke="{LINE}"/>')
        p.line((x + 21, 326), (x + 21, f"{326 - height:.1f}"), 26)
        p.text(x + 64, 306, f"{weights[k]:.2f}")
        p.box(x, 365, 88, 40, pair(values[k]), BLUE)
    p.text(198, 440, "weights × values, summed", anchor="end", size=14, italic=True)
    p.box(208, 420, 676, 40, f"result of riding: [{result[0]:.2f}, {result[1]:.2f}]", YELLOW)


@picture(900, 330, "One head mixes, two heads keep apart")
def two_heads(p):
    """The words man, follows, horse, twice. Left, one head: man and horse flow with weight one half
    each into a single result for follows, of shape (1, d_v), where both are mixed. Right, two
    heads: head 0 takes man, head 1 takes horse, and their results stand side by side, of shape (1,
    2 d_v).
    """
    for x, title in ((40, "one head: one mean"), (490, "two heads, side by side")):
        p.text(x + 185, 32, title, bold=True)
        for k, word in enumerate(("man", "follows", "horse")):
            p.box(x + k * 130, 230, 110, 46, word, WHITE)
    p.box(145, 90, 160, 52, "½ man + ½ horse", GREY)
    p.text(225, 74, "result of follows   (1, d_v)", size=13)
    p.arrow((95, 229), (185, 144))
    p.arrow((355, 229), (265, 144))
    p.text(122, 180, "½", size=16)
    p.text(328, 180, "½", size=16)
    p.text(225, 303, "horse follows man gives the same", size=13, italic=True)
    p.box(555, 90, 120, 52, "man", BLUE)
    p.box(675, 90, 120, 52, "horse", YELLOW)
    p.text(675, 74, "result of follows   (1, 2 · d_v)", size=13)
    p.arrow((545, 229), (605, 144))
    p.arrow((805, 229), (745, 144))
    p.text(530, 186, "head 0", size=13)
    p.text(820, 186, "head 1", size=13)
    p.text(675, 303, "horse follows man gives horse | man", size=13, italic=True)


@picture(900, 470, "Slicing vertically: eight columns become two heads")
def slicing(p):
    """A matrix of three rows and eight columns, entries 10 times the row plus the column. unflatten
    brackets each row into two pieces of four: (T=3, h=2, width=4). transpose brings the heads to
    the front: (h=2, T=3, width=4). Entry 21, marked, stands in row 2, column 1; then in word 2,
    head 0, column 1; then in head 0, row 2, column 1. unslice_vertically goes the same way back.
    """
    cell = 36

    def block(x, y, rows, first):
        """Four columns from `first` on, for some of its rows."""
        p.grid(x, y, len(rows), 4, cell, lambda r, c: YELLOW if first else BLUE,
               lambda r, c: str(10 * rows[r] + first + c))  # fmt: skip
        if 2 in rows and not first:  # entry 21
            p.frame(x + cell + 2, y + rows.index(2) * cell + 2, cell - 4, cell - 4)

    p.text(30, 36, "numbered   (T=3, h · width=8)", bold=True, anchor="start")
    block(30, 60, [0, 1, 2], 0)
    block(30 + 4 * cell, 60, [0, 1, 2], 4)
    p.text(30, 190, "one row for each word", size=13, italic=True, anchor="start")
    p.arrow((335, 114), (470, 114))
    p.text(402, 95, ".unflatten", size=14)
    p.text(490, 36, "(T=3, h=2, width=4)", bold=True, anchor="start")
    for word in range(3):
        y = 60 + word * 47
        p.text(490, y + cell / 2, f"word {word}", size=13, anchor="start")
        block(550, y, [word], 0)
        block(550 + 4 * cell + 14, y, [word], 4)
    p.arrow((700, 205), (700, 268))
    p.text(715, 237, ".transpose", size=14, anchor="start")
    p.text(490, 292, "(h=2, T=3, width=4)", bold=True, anchor="start")
    for head in range(2):
        x = 550 + head * (4 * cell + 14)
        block(x, 315, [0, 1, 2], 4 * head)
        p.text(x + 2 * cell, 440, f"head {head}", size=13)
    p.arrow((530, 370), (200, 370), (200, 210))
    p.text(365, 350, "unslice_vertically: the same steps back", size=14)


@picture(900, 350, "Multi-head attention with its shapes")
def many_heads(p):
    """X_Q times W_Q gives (N, T, h d_k), sliced into Q (N, h, T, d_k). X_KV times W_K and W_V,
    sliced, gives K (N, h, S, d_k) and V (N, h, S, d_v). Q and K give the weights A (N, h, T, S), A
    times V gives Y (N, h, T, d_v), unsliced to (N, T, h d_v), and times W_O the result (N, T,
    d_model). What has a part for each head is drawn as a pile of cards.
    """

    def cards(x, y, width, height, text):
        """One card for each head, in the colours of heads 0 and 1."""
        p.box(x + 9, y - 9, width, height, fill=YELLOW)
        p.box(x, y, width, height, text, BLUE, size=13)

    p.box(20, 40, 120, 56, "X_Q\n(N, T, d_model)", GREY, size=13)
    p.box(20, 190, 120, 56, "X_KV\n(N, S, d_model)", GREY, size=13)
    rows = ((40, "W_Q", "Q", "(N, h, T, d_k)"), (140, "W_K", "K", "(N, h, S, d_k)"),
            (240, "W_V", "V", "(N, h, S, d_v)"))  # fmt: skip
    for y, matrix, name, shape in rows:
        p.box(195, y, 110, 56, f"@ {matrix},\nslice", WHITE, size=13)
        p.arrow((305, y + 28), (338, y + 28))
        cards(340, y, 120, 56, f"{name}\n{shape}")
    p.arrow((140, 68), (193, 68))
    p.arrow((140, 212), (193, 172))
    p.arrow((140, 224), (193, 264))
    cards(515, 85, 130, 66, "A\n(N, h, T, S)")
    p.arrow((469, 68), (513, 106))
    p.arrow((469, 168), (513, 130))
    p.text(585, 58, "Q Kᵀ, scale, mask, softmax", size=13, italic=True)
    cards(515, 215, 130, 66, "Y = A @ V\n(N, h, T, d_v)")
    p.arrow((580, 151), (580, 204))
    p.arrow((469, 268), (513, 255))
    p.box(700, 220, 110, 56, "unslice,\n@ W_O", WHITE, size=13)
    p.arrow((654, 248), (698, 248))
    p.box(690, 90, 130, 56, "result\n(N, T, d_model)", GREY, size=13)
    p.arrow((755, 220), (755, 148))
    words = "a card for each head; batch and heads stand in front: N · h attentions at once"
    p.text(450, 325, words, size=13, italic=True)


@picture(900, 330, "Two rounds of attention answer a question about a caption")
def two_rounds(p):
    """The caption white horse and black bicycle, and the question horse. After layer 0 each noun
    of the caption also holds the colour before it. In layer 1 the question finds its twin, the
    other horse, and takes the colour white from it.
    """
    words = ["white", "horse", "and", "black", "bicycle", "horse"]
    places = [140 + k * 122 + (30 if k == 5 else 0) for k in range(6)]
    for row, name in enumerate(("what goes in", "after layer 0", "after layer 1")):
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
    for k in (0, 3):  # layer 0: from the colour to the noun behind it
        p.arrow((places[k] + 60, 83), (places[k + 1] + 30, 133))
    p.arrow((places[1] + 70, 188), (places[5] + 20, 238))  # layer 1: from the twin
    p.text(places[1] + 60, 108, "the word before", size=12, anchor="start", italic=True)
    p.text(places[5] + 50, 308, "question", size=12, italic=True)
    p.text(584, 205, "the twin", size=12, anchor="start", italic=True)


@picture(900, 450, "Positions as clock hands, for d_model = 8")
def clock_hands(p):
    """Seven places of a text, 0, 1, 2, 3, 6, 60 and 600, and under each of them four clocks, one
    for each pair of columns. The hand of the first row turns by one radian, 57 degrees, a word;
    that of each further row by a tenth of the one above. All hands start at twelve; no two places
    show the same four hands.
    """
    for column, (pos, word) in enumerate(
        {0: "A", 1: "man", 2: "is", 3: "riding", 6: "horse", 60: "...", 600: "..."}.items()
    ):
        x = 190 + column * 108
        p.text(x, 28, word, bold=True)
        p.text(x, 52, str(pos), size=13)
        if word == "horse":
            p.text(x - 54, 28, "...", bold=True)
        for pair in range(4):
            y, angle = 108 + pair * 96, pos / 10**pair
            right, up = math.sin(angle), math.cos(angle)
            p.circle(x, y, 40, (BLUE, YELLOW, GREY, WHITE)[pair])
            p.arrow((x, y), (round(x + 34 * right, 2), round(y - 34 * up, 2)))
    p.text(20, 28, "d_model = 8", anchor="start", italic=True)
    p.text(20, 52, "place", size=13, anchor="start", italic=True)
    for pair, period in enumerate((6.3, 63, 628, 6283)):
        y = 108 + pair * 96
        p.text(20, y - 12, f"pair {pair}", anchor="start", bold=True)
        p.text(20, y + 12, f"round in {period} words", size=12, anchor="start")


LAYER_PARTS = {
    "positions": "the positions, before the layer",
    "residual": "the ways around the work, and the two sums",
    "feed_forward": "the feed-forward network",
    "norm": "the two LayerNorms",
}


@picture(900, 122, "Where a part of the encoder sits: {lit}", LAYER_PARTS)
def layer(p, part):
    """The way of the words through the encoder: embedding, then the positions are added, then in
    each layer attention, a sum with what came in, a LayerNorm, feed-forward, a sum, a LayerNorm.
    Lit are {lit}.
    """
    boxes = (
        (14, 96, "embedding", ""), (146, 96, "+ positions", "positions"),
        (290, 92, "attention", ""), (420, 30, "+", "residual"), (488, 88, "LayerNorm", "norm"),
        (614, 104, "feed-forward", "feed_forward"), (742, 30, "+", "residual"),
        (800, 84, "LayerNorm", "norm"),
    )  # fmt: skip
    y = 74
    p.box(266, 12, 628, 104, "", WHITE, dashed=True)
    p.text(282, 26, "a layer", size=12, anchor="start", italic=True)
    for (x, width, _, _), (after, *_) in itertools.pairwise(boxes):
        p.arrow((x + width, y), (after - 2, y))
    for start, end in ((278, 435), (598, 757)):
        if part == "residual":
            p.parts.append(
                f'<polyline points="{start},{y} {start},38 {end},38 {end},56" fill="none" '
                f'stroke="{LINE}" stroke-width="4"/>'
            )
        p.arrow((start, y), (start, 38), (end, 38), (end, y - 17))
    for x, width, words, lit in boxes:
        p.box(x, y - 16, width, 32, words, YELLOW if lit == part else GREY, size=13)


@picture(900, 440, "One encoder layer, post-norm, with shapes")
def encoder_layer(p):
    """X of shape N, S, d_model goes through multi-head attention and dropout, is added to itself,
    and passes a LayerNorm. The result goes through the feed-forward network and dropout, is added
    to itself, and passes a second LayerNorm. The shape at the end is that at the start.
    """

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
        for k, line in enumerate(inner):
            p.text(298, y + 48 + 18 * k, line, size=12)
        p.box(592, y - 18, 36, 36, "+", WHITE, size=20)
        p.arrow((628, y), (656, y))
        p.box(658, y - 30, 100, 60, "LayerNorm", YELLOW, size=13)
        p.arrow((758, y), (786, y))
        p.box(788, y - 26, 96, 52, "X\n(N, S, d_model)", GREY, size=12)

    sub_layer(
        110, "1  Words listen to each other", [("multi-head attention", 260), ("dropout", 80)],
        ("Q, K: (N, h, S, d_k)", "V: (N, h, S, d_v)", "weights A: (N, h, S, S)"),
    )  # fmt: skip
    sub_layer(
        350, "2  Each word works on what it heard",
        [("linear, ReLU, linear", 260), ("dropout", 80)],
        ("(N, S, d_model) → (N, S, d_ff) → (N, S, d_model)",),
    )  # fmt: skip
    p.arrow((836, 136), (836, 224), (78, 224), (78, 322))


@picture(760, 310, "Post-norm and pre-norm")
def norms(p):
    """Post-norm: X goes through the work of the sub-layer, dropout, is added to X, then LayerNorm.
    Pre-norm: X goes through LayerNorm, the sub-layer, dropout, and is added to X; the way around is
    free.
    """

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


@picture(900, 330, "One sentence on its way to a batch")
def text_to_batch(p):
    """Four rows. The text: A man is riding a unicorn. Below it its pieces: A, man, is, riding, a,
    un, ic, or, n, full stop. Below them one id for each piece. Below these the row of a rectangle:
    the ids, EOS, and two places of padding; beneath it two rows of other sentences.
    """
    pieces = ["_A", "_man", "_is", "_riding", "_a", "_un", "ic", "or", "n", "."]
    ids = [335, 494, 284, 725, 264, 304, 339, 290, 81, 17]
    left, cell = 150, 54
    rows = [(68, 40, "pieces"), (138, 40, "ids"), (208, 32, "batch")]
    for y, height, name in [(12, 36, "text"), *rows]:
        p.text(130, y + height / 2, name, anchor="end", bold=True)
    p.box(left, 12, cell * 10, 36, "A man is riding a unicorn.", GREY)
    for k, (piece, number) in enumerate(zip(pieces, ids, strict=True)):
        x = left + k * cell
        p.box(x, 68, cell - 4, 40, piece, BLUE, size=13)
        p.box(x, 138, cell - 4, 40, str(number), YELLOW, size=14)
        p.arrow((x + 25, 108), (x + 25, 136))
    p.arrow((left + 5 * cell, 48), (left + 5 * cell, 66))
    p.arrow((left + 5 * cell, 178), (left + 5 * cell, 206))
    for row, length in enumerate((11, 13, 8)):
        for c in range(13):
            x, y = left + c * cell, 208 + row * 32
            fill = YELLOW if c < length else HIDDEN
            p.cell(x, y, cell, 32, fill)
            if row == 0 and c < 11:
                p.text(x + cell / 2, y + 16, str([*ids, 3][c]), size=14)
            elif c >= length:
                p.cross(x + 20, y + 9, 14)
    p.text(130, 272, "other sentences", anchor="end", size=13, italic=True)
    p.text(left, 320, "ids of this page's tokenizer; one row a sentence, ended with EOS (3); "
           "a cross is padding", size=13, anchor="start", italic=True)  # fmt: skip


@picture(900, 375, "How the letters of training grow together")
def merges(p):
    """Seven rows. At the top the eight letters of training. Each row below makes one merge: i n,
    then in g, then r a, then ra in, then t rain, then train ing. The last row is one piece.
    """
    rows = [
        ("letters", "t r a i n i n g", ()),
        ("i + n", "t r a in in g", (3, 4)),
        ("in + g", "t r a in ing", (4,)),
        ("r + a", "t ra in ing", (1,)),
        ("ra + in", "t rain ing", (1,)),
        ("t + rain", "train ing", (0,)),
        ("train + ing", "training", (0,)),
    ]
    for row, (name, pieces, new) in enumerate(rows):
        y, x = 18 + row * 50, 270
        p.text(240, y + 18, name, anchor="end", bold=row > 0)
        for k, piece in enumerate(pieces.split()):
            width = 58 * len(piece)
            p.box(x, y, width - 8, 36, piece, YELLOW if k in new else BLUE)
            x += width


@picture(900, 716, "The Transformer")
def architecture(p):
    """Left: source ids, embedding plus positions, then a stack of encoder layers, each
    self-attention and feed-forward; its output is the memory. Right: target ids, the same embedding
    plus positions, then a stack of decoder layers, each masked self-attention, cross-attention to
    the memory, and feed-forward; then logits by the same embedding table. Around each sub-layer
    goes a residual connection, and its sum passes a LayerNorm.
    """
    left, right, width, low = 100, 545, 220, 450
    p.text(left + 110, 698, "source ids   (N, S)")
    p.text(right + 110, 698, "target ids, each row sees those so far   (N, T)")
    for x in (left, right):
        p.arrow((x + 110, 684), (x + 110, 660))
        p.box(x, 612, width, 46, "embedding · √d_model", YELLOW)
        p.arrow((x + 110, 612), (x + 110, 592))
        p.box(x, 546, width, 44, "+ positions, dropout", GREY)
    p.text(432, 635, "one table", size=13, italic=True)
    p.arrow((398, 635), (322, 635))
    p.arrow((467, 635), (543, 635))

    def stack(x, names, side):
        top = low - 120 * (len(names) - 1) - 60
        p.box(x - 27, top, width + 54, 530 - top, "", WHITE, dashed=True)
        for k, name in enumerate(names):
            y = low - 120 * k
            p.box(x, y, width, 44, name, BLUE, size=13 if "\n" in name else 14)
            p.arrow((x + 110, y), (x + 110, y - 13))
            p.box(x, y - 43, width, 28, "+  and LayerNorm", YELLOW, size=14)
            edge, outside = (x, x - 15) if side < 0 else (x + width, x + width + 15)
            p.arrow(
                (x + 110, y + 61), (outside, y + 61), (outside, y - 29), (edge + 2 * side, y - 29)
            )
            p.arrow((x + 110, y + (77 if k else 96)), (x + 110, y + 46))

    stack(left, ("self-attention", "feed-forward"), -1)
    stack(
        right,
        ("masked self-attention", "cross-attention\nkeys and values from memory", "feed-forward"),
        1,
    )
    p.text(left - 37, 400, "L ×", size=18, anchor="end")
    p.text(right + width + 37, 340, "× L", size=18, anchor="start")
    p.arrow((left + 110, 287), (left + 110, 238), (432, 238), (432, 352), (right - 2, 352))
    p.text(left + 122, 222, "memory   (N, S, d_model)", size=14, anchor="start")
    p.arrow((right + 110, 167), (right + 110, 120))
    p.box(right, 72, width, 46, "logits = Y · embeddingᵀ", YELLOW)
    p.arrow((right + 110, 72), (right + 110, 48))
    p.text(right + 110, 32, "next token   (N, T, vocabulary)")
    p.arrow((right + width, 635), (866, 635), (866, 95), (right + width + 2, 95))
    p.text(860, 86, "same table", size=13, anchor="end", italic=True)
    p.text(left - 27, 256, "encoder", size=20, bold=True, anchor="start")
    p.text(right + 125, 134, "decoder", size=20, bold=True, anchor="start")
    p.text(24, 32, "a line around a box: residual connection", size=13, anchor="start", italic=True)


LOOP_PARTS = {
    "": "the model and the optimizer, which are chosen",
    "step": "gradients, optimizer and new weights, which are the step",
}


@picture(900, 330, "The training loop", LOOP_PARTS)
def training_loop(p, part):
    """A circle of five boxes. A batch goes into the model, which gives logits; with the answers of
    the batch they give the loss, one number; backward gives a gradient for every weight; the
    optimizer moves the weights of the model, and the next batch comes. Lit: {lit}.
    """
    step = part == "step"
    told = GREY if step else BLUE
    p.box(30, 50, 150, 64, "batch\nsource, target_in", GREY, size=14)
    p.arrow((180, 82), (248, 82))
    p.box(250, 50, 150, 64, "model\nits weights", YELLOW, size=14)
    p.arrow((400, 82), (468, 82))
    p.box(470, 50, 170, 64, "logits\n(N, T, vocab_size)", told, size=14)
    p.arrow((640, 82), (708, 82))
    p.box(710, 50, 160, 64, "loss\none number", told, size=14)
    p.arrow((105, 50), (105, 22), (790, 22), (790, 48))
    p.text(555, 36, "target_out: the answers", size=13, italic=True)
    p.arrow((790, 114), (790, 218))
    p.text(778, 166, "loss.backward()", size=13, anchor="end", italic=True)
    p.box(700, 220, 180, 64, "gradients\none for every weight", YELLOW if step else BLUE, size=14)
    p.arrow((700, 252), (432, 252))
    p.box(220, 220, 210, 64, "optimizer\na small step against them", YELLOW, size=14)
    p.arrow((325, 220), (325, 116))
    p.text(337, 168, "new weights", size=13, anchor="start", italic=True)
    p.text(325, 306, "then the next batch", size=13, italic=True)


@picture(900, 260, "Two losses")
def two_losses(p):
    """Two rows that meet in one model. Above, the training pairs give the training loss, from
    which an arrow leads back into the model: gradients and a step. Below, the validation pairs
    give the validation loss, from which no arrow leads back: a person reads it and decides
    whether to go on.
    """
    p.box(30, 56, 200, 64, "training pairs\nthe model learns them", BLUE, size=14)
    p.box(30, 160, 200, 64, "validation pairs\nnever learned", YELLOW, size=14)
    p.box(320, 56, 130, 168, "model", GREY)
    p.box(540, 56, 150, 64, "training loss", BLUE, size=14)
    p.box(540, 160, 150, 64, "validation loss", YELLOW, size=14)
    for y in (88, 192):
        p.arrow((230, y), (318, y))
        p.arrow((450, y), (538, y))
    p.arrow((615, 56), (615, 28), (385, 28), (385, 54))
    p.text(500, 15, "gradients and a step", size=13, italic=True)
    p.arrow((690, 192), (748, 192))
    p.text(756, 192, "go on, or stop?", size=14, anchor="start")


@picture(900, 190, "A smoothed target")
def smoothed_target(p):
    """Two rows of four numbers, for the tokens un, homme, monte and cheval. The plain target has 1
    at homme and 0 at the others. The target that is smoothed by 0.1 has 0.925 at homme and 0.025
    at each of the others.
    """
    rows = {"plain target": ("0", "1", "0", "0"),
            "smoothed, ε = 0.1": ("0.025", "0.925", "0.025", "0.025")}  # fmt: skip
    for k, token in enumerate(("un", "homme", "monte", "cheval")):
        p.text(375 + 110 * k, 28, token)
    for i, (name, numbers) in enumerate(rows.items()):
        y = 50 + 66 * i
        p.text(300, y + 22, name, anchor="end")
        for k, number in enumerate(numbers):
            p.box(320 + 110 * k, y, 110, 44, number, YELLOW if k == 1 else WHITE if not i else BLUE)


@picture(910, 330, "A lookup")
def lookup(p):
    """Left, a table of 8 rows and 9 columns, one row for each of the words a, man, is, riding,
    horse, bicycle, white, black. Right, three rows for a white horse, the ids 0, 6 and 4: arrows
    lead from rows 0, 6 and 4 of the table to them, and the numbers are the same.
    """
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


@picture(900, 300, "A lookup as a product")
def one_hot(p):
    """Three matrices: H of 3 rows and 8 columns, times W of 8 rows and 9 columns, is HW of 3 rows
    and 9 columns. Row white of H has its 1 in column 6. It is yellow, and so are row 6 of W and row
    white of HW.
    """
    words = "a man is riding horse bicycle white black".split()
    ids, cell, middle = [0, 6, 4], 26, 164
    for x, name, rows, columns in (
        (70, "H  (3, 8)", ids, 8),
        (385, "W  (8, 9)", range(8), 9),
        (658, "H W  (3, 9)", ids, 9),
    ):
        y = middle - len(rows) * cell / 2
        p.text(x + columns * cell / 2, y - 20, name, bold=True)
        for row, i in enumerate(rows):
            fill = YELLOW if words[i] == "white" else BLUE
            for column in range(columns):
                number = str(int(column == i)) if x == 70 else ""
                p.box(x + column * cell, y + row * cell, cell, cell, number, fill, size=12)
            if x < 658:
                p.text(x - 8, y + (row + 0.5) * cell, f"{i} {words[i]}", anchor="end")
    for column in range(8):
        p.text(70 + (column + 0.5) * cell, middle + 1.5 * cell + 14, str(column), size=12)
    p.text(294, middle, "×", size=24)
    p.text(639, middle, "=", size=24)


@picture(900, 270, "One row for two meanings")
def one_row(p):
    """Above, the words a man is riding a white horse; its French is monte. Below, the words a man
    is riding a bicycle; its French is fait du. From riding in both sentences an arrow leads to the
    same row 3 of the table.
    """
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


def toy_nodes():
    """The toy of chapter 09: name -> parent, place, height, word and probability of a beginning."""
    return {
        "bos": (None, 0, 250, "[BOS]", "1"),
        "un": ("bos", 1, 130, "un", "0.5"),
        "une": ("bos", 1, 330, "une", "0.4"),
        "empty": ("bos", 1, 440, "[EOS]", "0.1"),
        "un box": ("un", 2, 80, "box", "0.20"),
        "un boîte": ("un", 2, 140, "boîte", "0.175"),
        "un carton": ("un", 2, 200, "carton", "0.125"),
        "une boîte": ("une", 2, 300, "boîte", "0.36"),
        "une caisse": ("une", 2, 400, "caisse", "0.04"),
        "un box rouge": ("un box", 3, 60, "rouge", "0.12"),
        "un box end": ("un box", 3, 120, "[EOS]", "0.08"),
        "une boîte rouge": ("une boîte", 3, 240, "rouge", "0.18"),
        "une boîte end": ("une boîte", 3, 310, "[EOS]", "0.162"),
        "une boîte ouverte": ("une boîte", 3, 370, "ouverte", "0.018"),
    }


def toy_tree(p, nodes, state, thick, columns):
    """Boxes and lines of a tree; `state` gives kept, ended, dropped or plain; `thick` a path."""
    for place, title in enumerate(columns):
        p.text(85 + place * 178, 28, title, size=13, bold=True)

    def at(name):
        return 85 + nodes[name][1] * 178, nodes[name][2] + 16

    for name, (parent, *_) in nodes.items():
        if parent:
            (x, y), (left, top) = at(name), at(parent)
            wide = 4 if name in thick else 1.4
            dash = ' stroke-dasharray="5 4"' if state.get(name) == "dropped" else ""
            p.parts.append(
                f'<path d="M{left + 56} {top} L{x - 56} {y}" stroke="{LINE}" fill="none" '
                f'stroke-width="{wide}"{dash}/>'
            )
    fills = {"kept": BLUE, "ended": YELLOW, "dropped": GREY, "greedy": YELLOW}
    for name, (_, _, _, word, share) in nodes.items():
        x, y = at(name)
        kind = state.get(name, "plain")
        p.box(x - 56, y - 20, 112, 40, "", fills.get(kind, WHITE), dashed=kind == "dropped")
        if kind == "ended":
            p.box(x - 52, y - 16, 104, 32, "", fills[kind])
        p.text(x, y - 7, ("× " if kind == "dropped" else "") + word, size=14, bold=kind != "plain")
        p.text(x, y + 10, share, size=12)


COMPARE_PARTS = {
    "whole": "all of it",
    "draws": "captions drawn again, and an interval, here of one BLEU",
    "pairs": "the same draws for both systems, and the gain",
}


@picture(900, 216, "From captions to a gain: {lit}", COMPARE_PARTS)
def compare(p, part):
    """Two systems translate the same captions. Each translation becomes a row of counts. The sums
    of the counts give a BLEU for each system, and the difference of both is the gain. Captions are
    drawn again and again, for both systems the same ones, which gives an interval. Lit: {lit}.
    """
    fills = {name: YELLOW if name == part else GREY for name in COMPARE_PARTS}
    either = YELLOW if part in ("draws", "pairs") else GREY
    p.box(16, 78, 108, 60, "the same\ncaptions", BLUE, size=14)
    for y, name in ((24, "system A"), (142, "system B")):
        middle = y + 25
        p.arrow((124, 108), (144, 108), (144, middle), (166, middle))
        p.box(168, y, 110, 50, name, BLUE, size=14)
        p.arrow((278, middle), (308, middle))
        p.box(310, y, 150, 50, "counts, one row\na caption", GREY, size=13)
        p.arrow((460, middle), (508, middle))
        p.text(484, middle - 12, "sum", size=12, italic=True)
        p.box(510, y, 88, 50, f"BLEU {name[-1]}", GREY, size=14)
        p.arrow((598, middle), (650, middle), (650, 108), (676, 108))
    p.box(310, 92, 150, 32, "draw captions again", either, size=13)
    p.arrow((385, 92), (385, 76))
    p.arrow((385, 124), (385, 140))
    p.box(678, 83, 80, 50, "gain", fills["pairs"], size=14)
    p.arrow((758, 108), (782, 108))
    p.box(784, 83, 104, 50, "", either)
    if part == "draws":  # one system's interval comes first, and holds no 0
        p.text(836, 72, "here of BLEU A", size=13, italic=True)
    else:
        p.parts.append(
            f'<path d="M800 90 v36" stroke="{LINE}" stroke-width="1.8" stroke-dasharray="3 3"/>'
        )
        p.text(800, 144, "0", size=13)
    p.parts.append(
        f'<path d="M822 108 h50" stroke="{LINE}" stroke-width="4"/>'
        f'<circle cx="846" cy="108" r="6" fill="{LINE}"/>'
    )
    p.text(846, 144, "interval", size=13)


@picture(900, 250, "One draw of the paired bootstrap")
def drawn_pairs(p):
    """Left six captions, each with what system A and system B made of it. Right one draw of six
    captions with repetition, 3, 1, 6, 6, 2, 4: a caption that is drawn twice counts twice for both
    systems, and caption 5 counts for neither. From this draw come BLEU A, BLEU B and one
    difference.
    """
    p.text(150, 26, "the captions that we have", bold=True)
    p.text(520, 26, "one draw, with repetition", bold=True)
    for k in range(6):
        y = 48 + 32 * k
        p.box(60, y, 44, 28, str(k + 1), WHITE, size=14)
        p.box(112, y, 58, 28, f"A {k + 1}", BLUE, size=13)
        p.box(178, y, 58, 28, f"B {k + 1}", YELLOW, size=13)
    for k, i in enumerate((3, 1, 6, 6, 2, 4)):
        y = 48 + 32 * k
        p.box(430, y, 44, 28, str(i), WHITE, size=14)
        p.box(482, y, 58, 28, f"A {i}", BLUE, size=13)
        p.box(548, y, 58, 28, f"B {i}", YELLOW, size=13)
    p.arrow((260, 142), (406, 142))
    p.text(333, 126, "draw 6 of 6", size=13, italic=True)
    p.arrow((624, 142), (668, 142))
    p.box(670, 112, 200, 60, "BLEU B - BLEU A:\none difference a draw", GREY, size=14)


DECODING_PARTS = {
    "whole": "all of it",
    "beams": "beam search, one of three ways to choose",
    "cache": "the KV cache inside the model",
    "sampling": "sampling, one of three ways to choose",
}


@picture(900, 196, "The loop that writes a text: {lit}", DECODING_PARTS)
def decoding(p, part):
    """The text so far goes into the model, which keeps keys and values in the KV cache. It gives
    the probabilities of the next token. From these a token is chosen by greedy decoding, by beam
    search or by sampling, and appended to the text. Lit: {lit}.
    """
    lit = {name: YELLOW if name == part else GREY for name in DECODING_PARTS}
    p.box(20, 48, 140, 52, "the text so far:\n[BOS] une boîte", BLUE, size=13)
    p.arrow((160, 74), (208, 74))
    p.box(210, 48, 120, 52, "the model", BLUE, size=14)
    p.arrow((250, 100), (250, 126))
    p.arrow((290, 128), (290, 102))
    p.box(210, 128, 120, 30, "KV cache", lit["cache"], size=13)
    p.arrow((330, 74), (378, 74))
    p.box(380, 48, 160, 52, "probabilities of\nthe next token", BLUE, size=13)
    for y, name, words in (
        (14, "greedy", "greedy: the most probable token"),
        (58, "beams", "beam search: the B best beginnings"),
        (102, "sampling", "sampling: draw a token"),
    ):
        p.arrow((540, 74), (560, 74), (560, y + 16), (588, y + 16))
        p.box(590, y, 270, 32, words, lit.get(name, GREY), size=13)
        p.parts.append(
            f'<polyline points="860,{y + 16} 880,{y + 16} 880,180" fill="none" stroke="{LINE}" '
            'stroke-width="1.8"/>'
        )
    p.arrow((880, 180), (90, 180), (90, 102))
    p.text(470, 168, "append it, and ask again until [EOS]", size=13, italic=True)


@picture(900, 480, "The toy's sentences as a tree")
def greedy_tree(p):
    """After BOS come un with 0.5, une with 0.4 and EOS with 0.1. After un: box, the beginning has
    0.20, boîte 0.175, carton 0.125. After une: boîte 0.36, caisse 0.04. Greedy decoding goes un,
    box 0.20, rouge 0.12, EOS 0.096. The branch une boîte is more probable from the second word on,
    and is never visited.
    """
    nodes = toy_nodes()
    nodes["un box rouge end"] = ("un box rouge", 4, 50, "[EOS]", "0.096")
    nodes["un box rouge vif"] = ("un box rouge", 4, 110, "vif", "0.024")
    path = ("un", "un box", "un box rouge", "un box rouge end")
    columns = ["start", "step 0 writes", "step 1 writes", "step 2 writes", "step 3 writes"]
    toy_tree(p, nodes, dict.fromkeys(("bos", *path), "greedy"), path, columns)
    p.text(620, 455, "yellow, thick: what greedy decoding writes", size=14)


@picture(900, 540, "Beam search on the toy with two beams")
def beam_tree(p):
    """Step 0 keeps un 0.5 and une 0.4 and drops EOS 0.1. Step 1 keeps une boîte 0.36 and un box
    0.20 and drops the others. Step 2 keeps une boîte rouge 0.18 and une boîte EOS 0.162; un box
    rouge 0.12 falls out. Step 3 adds une boîte rouge EOS 0.144 and une boîte rouge vif 0.036, which
    is dropped. The best finished beam is une boîte EOS with 0.162.
    """
    nodes = toy_nodes()
    nodes["red end"] = ("une boîte rouge", 4, 210, "[EOS]", "0.144")
    nodes["red vif"] = ("une boîte rouge", 4, 270, "vif", "0.036")
    kept = ("bos", "un", "une", "une boîte", "un box", "une boîte rouge")
    state = dict.fromkeys(nodes, "dropped") | dict.fromkeys(kept, "kept")
    state |= dict.fromkeys(("une boîte end", "red end"), "ended")
    columns = ["start", "step 0 writes", "step 1 writes", "step 2 writes", "step 3 writes"]
    toy_tree(p, nodes, state, ("une", "une boîte", "une boîte end"), columns)
    p.text(450, 496, "blue: kept and live  ·  yellow, double frame: kept and finished  ·  "
           "dashed, ×: fell out of the pool", size=14)  # fmt: skip
    p.text(450, 520, "thick: the winner", size=14)


@picture(900, 400, "Keys and values without and with a cache")
def cache_grows(p):
    """Steps 0 to 3 of writing: BOS, un, homme, monte. Without a cache step t computes rows 0 to t,
    in all 1 + 2 + 3 + 4 = 10 rows. With a cache each step computes one new row and finds the
    earlier ones kept, in all 4 rows.
    """
    words = ["[BOS]", "un", "homme", "monte"]
    for x, title in (
        (40, "without a cache: 10 rows computed"),
        (490, "with a cache: 4 rows computed"),
    ):
        p.text(x + 185, 28, title, bold=True)
        for t in range(4):
            left = x + t * 96
            p.text(left + 40, 62, f"step {t}", size=13)
            for row in range(t + 1):
                new = row == t or x == 40
                p.box(left, 80 + row * 62, 80, 48, "", YELLOW if new else BLUE, dashed=not new)
                p.text(left + 40, 96 + row * 62, words[row], size=13, bold=new)
                p.text(left + 40, 115 + row * 62, "computed" if new else "kept", size=12)
    p.text(450, 350, "one box: a row of keys and values, in each layer", size=14)
    p.text(450, 375, "yellow: computed at this step  ·  blue, dashed: found in the cache", size=14)


@picture(900, 250, "The cache follows the beams")
def beams_follow(p):
    """Before: row 0 of the cache holds BOS, une, boîte, row 1 holds BOS, un, box. Both new beams go
    on from row 0, so index_select with the parents 0, 0 copies it into both rows. After: both rows
    hold BOS, une, boîte, and the next step appends rouge to one, EOS to the other.
    """
    before = (["[BOS]", "une", "boîte"], ["[BOS]", "un", "box"])
    after = (["[BOS]", "une", "boîte", "rouge"], ["[BOS]", "une", "boîte", "[EOS]"])
    p.text(183, 30, "the cache before", bold=True)
    p.text(664, 30, "the cache after", bold=True)
    for row in range(2):
        y = 60 + row * 70
        p.text(62, y + 22, f"row {row}", anchor="end", size=13)
        for t, word in enumerate(before[row]):
            p.box(72 + t * 78, y, 72, 44, word, GREY if row else BLUE, size=14)
        p.text(512, y + 22, f"row {row}", anchor="end", size=13)
        for t, word in enumerate(after[row]):
            fill = YELLOW if t == 3 else BLUE
            p.box(522 + t * 78 + (10 if t == 3 else 0), y, 72, 44, word, fill, t == 3, size=14)
        p.arrow((310, 82), (400, 82), (400, y + 22), (456, y + 22))
    p.text(382, 60, "parents = [0, 0]", size=13, italic=True)
    p.text(450, 200, "blue: a row that is copied  ·  grey: a row that nobody goes on from",
           size=14)  # fmt: skip
    p.text(450, 224, "yellow, dashed: what the next step appends", size=14)


@picture(900, 360, "Two beams, one list of keys, and a mask")
def beams_share(p):
    """Keys of two beams at four places: BOS and BOS, un and une, boîte and box, rouge and EOS. Beam
    0, which ends in rouge, may look at the first BOS, une, boîte and rouge. Beam 1, which ends in
    EOS, may look at the first BOS, une, boîte and EOS. All else is hidden.
    """
    words = ["[BOS]", "[BOS]", "un", "une", "boîte", "box", "rouge", "[EOS]"]
    sees = {"rouge": (0, 3, 4, 6), "[EOS]": (0, 3, 4, 7)}
    left, cell = 150, 86
    for i, word in enumerate(words):
        x = left + i * cell + (i // 2) * 10
        p.box(x, 80, cell - 6, 40, word, WHITE)
        if i % 2 == 0:
            p.text(x + cell - 3, 28, f"place {i // 2}", size=13, bold=True)
        p.text(x + cell / 2 - 3, 60, f"beam {i % 2}", size=12)
    p.text(140, 100, "keys", anchor="end", bold=True)
    for row, (word, seen) in enumerate(sees.items()):
        y = 190 + row * 56
        p.text(140, y + 22, f"{word} asks", anchor="end", size=14, bold=True)
        for i in range(8):
            x = left + i * cell + (i // 2) * 10
            p.box(x, y, cell - 6, 44, "", YELLOW if i in seen else HIDDEN)
            if i not in seen:
                middle, top = x + cell / 2 - 12, y + 13
                p.cross(middle, top, 18)
    p.text(450, 160, "the mask, one row for each beam", size=14, italic=True)
    p.text(450, 330, "cross on dark: hidden, another beam's past  ·  yellow: the beam's own past",
           size=14)  # fmt: skip


@picture(900, 450, "What each position of a decoder can reach")
def reach(p):
    """Eight rows, the places of the target BOS un cheval noir point EOS PAD PAD. Each row reaches
    the real source tokens a black horse point EOS, and of the target the places up to its own that
    are not padding. Crosses mark what is hidden: padding and the future.
    """
    source = ["a", "black", "horse", ".", "[EOS]", "[PAD]", "[PAD]", "[PAD]", "[PAD]"]
    target = ["[BOS]", "un", "cheval", "noir", ".", "[EOS]", "[PAD]", "[PAD]"]
    cell, top = 40, 92
    parts = [
        (102, "the source, through the memory", source, lambda r, c: source[c] == "[PAD]"),
        (512, "the target so far", target, lambda r, c: c > r or target[c] == "[PAD]"),
    ]
    for x, name, words, hidden in parts:
        p.text(x + cell * len(words) / 2, 30, name, bold=True)
        p.grid(x, top, 8, len(words), cell, lambda r, c, m=hidden: HIDDEN if m(r, c) else YELLOW)
        for c, word in enumerate(words):
            p.text(x + (c + 0.5) * cell, 76, word, size=12)
            for r in range(8):
                if hidden(r, c):
                    left, y = x + c * cell + 12, top + r * cell + 12
                    p.cross(left, y, 16)
    for r, word in enumerate(target):
        p.text(94, top + (r + 0.5) * cell, word, size=13, anchor="end")
    p.text(450, 432, "yellow: False, may be reached  ·  cross on dark: True, may not be", size=14)


@picture(900, 190, "Eight questions in one pass")
def questions(p):
    """Eight places, numbered 0 to 7. Upper row, what is read: BOS un homme monte un cheval blanc
    point. Lower row, what is asked: un homme monte un cheval blanc point EOS. An arrow leads from
    each token that is read to the one that must follow it, which stands in the upper row one place
    to the right.
    """
    words = "[BOS] un homme monte un cheval blanc . [EOS]".split()
    for row, (name, fill) in enumerate((("read", BLUE), ("asked", YELLOW))):
        y = 40 + row * 90
        p.text(78, y + 22, name, anchor="end", bold=True)
        for t in range(8):
            x = 92 + t * 99
            p.box(x, y, 86, 44, words[t + row], fill)
            if row == 0:
                p.arrow((x + 43, y + 44), (x + 43, y + 88))
    p.text(78, 20, "place", anchor="end", italic=True)
    for t in range(8):
        p.text(135 + t * 99, 20, str(t), italic=True)


@picture(900, 290, "One pass for each token that is written")
def writing(p):
    """The encoder reads a man is riding a white horse and gives the memory. The text so far,
    BOS un homme, and the memory go into the decoder, which gives three rows of logits. Rows 0 and 1
    answer what is written already; row 2, which is lit, says monte. This token is appended, and
    the loop goes on until EOS.
    """
    p.box(20, 24, 250, 44, "a man is riding a white horse .", GREY, size=14)
    p.arrow((270, 46), (318, 46))
    p.box(320, 24, 120, 44, "encoder", GREY)
    p.arrow((380, 68), (380, 128))
    p.text(392, 98, "memory, the same in each round", size=13, anchor="start", italic=True)
    p.text(145, 112, "the text so far", size=13, italic=True)
    for t, word in enumerate(("[BOS]", "un", "homme")):
        p.box(20 + t * 85, 130, 80, 44, word, BLUE, size=14)
    p.arrow((270, 152), (318, 152))
    p.box(320, 130, 120, 44, "decoder", BLUE)
    for t, said in enumerate(("row 0: after [BOS]", "row 1: after un", "row 2: after homme")):
        y = 116 + t * 38
        p.arrow((440, 152), (462, 152), (462, y + 16), (488, y + 16))
        p.box(490, y, 170, 32, said, YELLOW if t == 2 else GREY, dashed=t < 2, size=13)
    p.arrow((660, 208), (718, 208))
    p.box(720, 186, 160, 44, "most probable:\nmonte", YELLOW, size=14)
    p.arrow((800, 230), (800, 258), (260, 258), (260, 176))
    p.text(530, 274, "append it, and ask again until [EOS]", size=13, italic=True)
    p.text(670, 151, "answered already", size=13, anchor="start", italic=True)


READING_PARTS = {
    "map": "the maps of cross-attention",
    "rate": "the way from a map of words to an error rate",
    "choice": "the head that is chosen",
}


@picture(900, 130, "From a map to a head: {lit}", READING_PARTS)
def reading(p, part):
    """From left to right: the encoder reads English; each head of the decoder's cross-attention has
    a map of tokens, T rows and S columns, while French is written; it becomes a map of words, T'
    rows and S' columns; the map becomes links; the links and the true ones make an error rate;
    validation chooses one head, and test reports its rate. Lit: {lit}.
    """
    boxes = (
        ("encoder\nof English", ""), ("cross-\nattention", "map"), ("map of\ntokens", "map"),
        ("map of\nwords", "rate"), ("links", "rate"), ("error rate", "rate"),
        ("one head", "choice"),
    )  # fmt: skip
    below = ("", "L layers, h heads", "(T, S)", "(T\u2032, S\u2032)", "(English, French)",
             "and the true links", "chosen, reported")  # fmt: skip
    for i, ((words, lit), note) in enumerate(zip(boxes, below, strict=True)):
        x = 14 + i * 128
        if i:
            p.arrow((x - 24, 54), (x - 2, 54))
        p.box(x, 28, 104, 52, words, YELLOW if lit == part else GREY, size=14)
        p.text(x + 52, 102, note, size=12, italic=True)


@picture(900, 246, "Choose on one split, report on another")
def choose_and_report(p):
    """Two small tables with the error rates of the same four heads. On validation the lowest is
    0.19, at layer 1, head 0, which is lit; an arrow leads to the same place on test, where 0.25 is
    lit and reported. The lowest rate on test, 0.20 at layer 1, head 1, is not used.
    """
    tables = (
        (110, "validation chooses", (0.31, 0.24, 0.19, 0.22)),
        (520, "test reports", (0.30, 0.23, 0.25, 0.20)),
    )
    for left, name, rates in tables:
        p.text(left + 90, 22, name, bold=True)
        for i, rate in enumerate(rates):
            x, y = left + i % 2 * 90, 70 + i // 2 * 62
            p.box(x, y, 86, 58, f"{rate:.2f}", YELLOW if i == 2 else GREY)
        for head in range(2):
            p.text(left + head * 90 + 43, 54, f"head {head}", size=13)
        for layer in range(2):
            p.text(left - 10, 99 + layer * 62, f"layer {layer}", anchor="end", size=13)
    p.arrow((153, 190), (153, 220), (545, 220), (545, 194))
    p.text(349, 204, "the lowest rate names a head: (1, 0)", size=13, italic=True)
    p.arrow((585, 190), (585, 220), (728, 220))
    p.text(736, 220, "reported: 0.25", anchor="start", bold=True)
    p.text(718, 161, "lower, but may not choose", anchor="start", size=13, italic=True)


@picture(900, 262, "The two steps of a word")
def read_and_write(p):
    """Nine steps of a decoder, from left to right. Step 0 reads BOS and writes Un, step 1 reads Un
    and writes homme, and so on over chev, auche, un, cheval and marron to the end. Cheval is marked
    twice: step 5, which writes it, is its output step; step 6, which reads it, is its input step.
    """
    tokens = ["[BOS]", "Un", "homme", "chev", "auche", "un", "cheval", "marron", ".", "[EOS]"]
    left, step, width, height = 86, 89, 76, 38
    for y, name in ((61, "step"), (103, "reads"), (183, "writes")):
        p.text(76, y, name, anchor="end", bold=True)
    for t, (read, written) in enumerate(zip(tokens, tokens[1:], strict=False)):
        x = left + t * step
        p.text(x + width / 2, 61, str(t))
        for y, token in ((84, read), (164, written)):
            p.box(x, y, width, height, token, YELLOW if token == "cheval" else BLUE)
        p.arrow((x + width / 2, 122), (x + width / 2, 162))
    for t, name, anchor, shift in (
        (5, "its output step", "end", 22),
        (6, "its input step", "start", -22),
    ):
        middle = left + t * step + width / 2
        p.text(middle + shift, 24, name, bold=True, anchor=anchor)
        p.arrow((middle, 34), (middle, 50))
    p.text(left, 236, "each step gives one row of the map; both marked rows belong to cheval",
           anchor="start", italic=True)  # fmt: skip


@picture(900, 330, "Change one thing: what may move?")
def may_move(p):
    """Three panels, each with what goes in on the left and what comes out on the right. Padding:
    the last input, PAD, is changed; all results of words stay, and its own does not matter. A
    decoder: the second input, man, is changed; the first result stays, and its own and the later
    ones move. A batch: the second sentence is changed; the result of the first stays, that of the
    second moves.
    """
    panels = [
        ("padding", ["a", "man", "rides", "[PAD]"], {3}, set()),
        ("a decoder", ["a", "man", "rides", "horses"], {1}, {1, 2, 3}),
        ("a batch", ["a man", "a horse"], {1}, {1}),
    ]
    for i, (title, words, changed, moved) in enumerate(panels):
        x, tall = 20 + i * 296, 44 if len(words) == 4 else 100
        p.text(x + 134, 28, title, bold=True)
        for t, word in enumerate(words):
            y = 66 + t * (tall + 12)
            p.box(x, y, 92, tall, word + (" *" if t in changed else ""), BLUE)
            p.arrow((x + 92, y + tall / 2), (x + 150, y + tall / 2))
            say, ground = ("moves", YELLOW) if t in moved else ("stays", GREY)
            if word == "[PAD]":
                say, ground = "no matter", WHITE
            p.box(x + 150, y, 108, tall, say, ground)
    p.text(450, 308, "* changed  ·  grey: must not move  ·  yellow: must move", size=14)


@picture(900, 300, "Cross-attention: the target asks, the source is asked")
def cross_attention(p):
    """X of the target, T rows, makes the queries Q. The memory of the source, S rows, makes the
    keys K and the values V. The weights A are a rectangle of T rows and S columns; A times V has T
    rows again.
    """
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
    p.box(480, 85, 180, 90, "A = softmax(Q Kᵀ / √d_k)\n(T, S): a row a target token,\n"
          "a column a source token", YELLOW, size=13)  # fmt: skip
    p.arrow((660, 130), (738, 130))
    p.arrow((380, 260), (690, 260), (738, 155))
    p.box(740, 95, 140, 70, "Y = A V\n(T, d_v)", BLUE, size=14)


@picture(900, 500, "A decoder layer with shapes")
def decoder_layer(p):
    """X, N by T by d_model, goes through three sub-layers in turn: masked self-attention with the
    mask of the target, cross-attention that reads the memory with its mask, and feed-forward.
    Around each of them a residual connection and a LayerNorm. The shape stays the same.
    """
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


@picture(900, 220, "What a language model does")
def next_word(p):
    """A circle. The text, A fox is swimming in a, goes into the language model. It gives each
    possible next word a probability: river much, lake less, street hardly any. One word is drawn,
    and goes back to the end of the text.
    """
    p.box(20, 60, 250, 50, "A fox is swimming in a", GREY)
    p.arrow((270, 85), (318, 85))
    p.box(320, 55, 160, 60, "language model")
    p.arrow((480, 85), (528, 85))
    for y, word, width in ((40, "river", 110), (85, "lake", 70), (130, "street", 6)):
        p.text(590, y, word, anchor="end")
        p.box(602, y - 14, width, 28, "", YELLOW)
    p.text(620, 166, "probabilities of the next word", size=13)
    p.arrow((730, 85), (768, 85))
    p.box(770, 60, 110, 50, "draw one", WHITE)
    p.arrow((825, 110), (825, 196), (145, 196), (145, 112))
    p.text(400, 184, "and append it", size=13, italic=True)


@picture(900, 230, "A prompt, and what follows")
def prompt(p):
    """Two texts in a row each. First some examples, m 13, c 4, k 9, and a new case, m; what follows
    is 13. Second an English sentence and an equals sign; what follows is French. The prompt is read
    at once, which is called prefill; what follows is written token by token, which is called
    decode.
    """
    left, middle, wide = 130, 560, 420
    for y, name, given, follows in (
        (34, "examples", "m 13    c 4    k 9    m", "13"),
        (94, "translation", "A dog is sleeping .  =", "Un chien dort ."),
    ):
        p.text(20, y + 22, name, anchor="start", bold=True)
        p.box(left, y, wide, 44, given, GREY)
        p.arrow((left + wide, y + 22), (middle + 18, y + 22))
        p.box(middle + 20, y, 290, 44, follows, YELLOW)
    for x, width, words in ((left, wide, "the prompt: read at once (prefill)"),
                            (middle + 20, 290, "written token by token (decode)")):  # fmt: skip
        p.parts.append(
            f'<path d="M{x} 152 v10 h{width} v-10" fill="none" stroke="{LINE}" stroke-width="1.8"/>'
        )
        p.text(x + width / 2, 184, words, italic=True)


@picture(900, 336, "A previous-token head and an induction head")
def induction(p):
    """Three rows of the tokens m, 13, c, 4, m. From the lowest to the middle row each token looks
    one place back: layer 0, the previous-token head. A vertical arrow, the residual, keeps the
    token itself. The place of 13 now notes that m stood before it. From the middle to the upper row
    the last m looks at the place that has noted m, and copies 13: layer 1, the induction head.
    """
    tokens = ("m", "13", "c", "4", "m")
    at = [240 + 132 * t for t in range(5)]
    for t, (x, token) in enumerate(zip(at, tokens, strict=True)):
        p.box(x, 270, 100, 44, token, GREY)
        before = f"before me: {tokens[t - 1]}" if t else "before me: –"
        p.box(x, 140, 100, 54, f"{token}\n{before}", YELLOW if t == 1 else BLUE, size=13)
        p.arrow((x + 50, 270), (x + 50, 196))
        if t:
            p.arrow((at[t - 1] + 78, 270), (x + 16, 196))
    p.text(at[0] + 42, 233, "residual", size=13, anchor="end", italic=True)
    p.box(at[4], 20, 100, 44, "13", YELLOW)
    p.arrow((at[1] + 50, 140), (at[1] + 50, 42), (at[4] - 2, 42))
    words = "who has my token, m, before it? copy it"
    p.text((at[1] + at[4]) / 2 + 40, 26, words, size=13, italic=True)
    p.arrow((at[4] + 50, 140), (at[4] + 50, 66))
    p.text(20, 292, "tokens", anchor="start", bold=True)
    p.text(20, 228, "layer 0:", anchor="start", size=14, bold=True)
    p.text(20, 246, "previous-token head", anchor="start", size=13)
    p.text(20, 92, "layer 1:", anchor="start", size=14, bold=True)
    p.text(20, 110, "induction head", anchor="start", size=13)


@picture(900, 372, "From the decoder to a language model")
def decoder_alone(p):
    """On the left a decoder layer: the target goes through masked self-attention, then
    cross-attention, which reads the memory of the source, then feed-forward. Cross-attention and
    the memory are crossed out. On the right what is left, a language model's layer: one stream of
    tokens goes through masked self-attention and feed-forward.
    """
    p.text(335, 24, "decoder layer", bold=True)
    p.text(720, 24, "language model's layer", bold=True)
    for x, names in ((220, ("masked self-attention", "cross-attention", "feed-forward")),
                     (605, ("masked self-attention", "", "feed-forward"))):  # fmt: skip
        below = 328
        for y, name in zip((260, 160, 60), names, strict=True):
            if name:
                p.arrow((x + 115, below), (x + 115, y + 52))
                p.box(x, y, 230, 50, name, GREY if name == "cross-attention" else BLUE)
                below = y
        p.text(x + 115, 344, ("target, so far" if x == 220 else "the text, so far"))
        p.text(x + 115, 362, "(N, T, d_model)", size=13)
    p.box(20, 160, 150, 50, "", GREY)
    p.text(95, 128, "memory, source", size=13)
    p.text(95, 146, "(N, S, d_model)", size=13)
    p.arrow((170, 185), (218, 185))
    p.cross_out(224, 167, 36, 36)  # on both sides of the name, so that it can be read
    p.cross_out(410, 167, 36, 36)
    p.cross_out(20, 160, 150, 50)
    p.arrow((480, 185), (575, 185))
    p.text(527, 166, "no source", size=13, italic=True)


@picture(900, 332, "Packing: documents laid end to end")
def packed_rows(p):
    """Above, three captions in three rows of a batch, filled up with padding: a quarter of the
    places is empty. Below, the same captions behind one another in one row, and under each token
    its answer, which is the next token or EOS at the end, the number of the document and the
    position; positions begin anew with each document.
    """
    documents = (["[BOS]", "A", "fox", "runs"], ["[BOS]", "It", "rains"], ["[BOS]", "Go"])
    cell = 82
    p.text(20, 22, "a row each", anchor="start", bold=True)
    for n, words in enumerate(documents):
        for t in range(4):
            word = words[t] if t < len(words) else ""
            fill = (YELLOW, BLUE, GREY)[n] if word else WHITE
            p.box(140 + t * cell, 10 + n * 36, cell, 32, word or "[PAD]", fill, not word, 14)
    p.text(20, 166, "packed", anchor="start", bold=True)
    x = 140
    for n, words in enumerate(documents):
        for t, word in enumerate(words):
            p.box(x, 150, cell, 32, word, (YELLOW, BLUE, GREY)[n], size=14)
            below = ([*words[1:], "[EOS]"][t], n + 1, t)
            for k, value in enumerate(below):
                p.text(x + cell / 2, 208 + 32 * k, str(value), size=14)
            x += cell
    for k, name in enumerate(("answer", "document", "position")):
        p.text(20, 208 + 32 * k, name, anchor="start", size=14)
    p.text(450, 310, "a token sees what stands before it in its own document", size=14, italic=True)


@picture(900, 275, "What must leave together")
def what_leaves(p):
    """Five boxes that travel in one folder, each with what happens without it. Weights: nothing
    runs. Configuration: a wrong number of heads still fits. Tokenizer: every id is another piece.
    Decoding settings: it does not know when to stop. Card: nobody knows what it cannot do.
    """
    parts = [
        ("weights", "names, shapes,\nnumbers", "nothing runs"),
        ("configuration", "heads, layers,\nnorm, positions", "a wrong number of\nheads still fits"),
        ("tokenizer", "pieces and\ntheir ids", "ids mean\nother pieces"),
        ("decoding settings", "ids of begin and\nend, limits", "it cannot\nstop"),
        ("card", "data, quality,\nlimits", "nobody knows\nwhat it cannot do"),
    ]
    p.box(12, 50, 876, 130, "", WHITE, dashed=True)
    p.text(450, 26, "one folder", bold=True)
    for i, (name, holds, without) in enumerate(parts):
        x = 24 + i * 172
        p.box(x, 64, 160, 102, "", YELLOW if i == 0 else BLUE)
        p.text(x + 80, 86, name, size=14, bold=True)
        for k, line in enumerate(holds.split("\n")):
            p.text(x + 80, 118 + k * 22, line, size=14)
        p.arrow((x + 80, 182), (x + 80, 222))
        p.text(x + 88, 202, "without it", size=13, anchor="start")
        for k, line in enumerate(without.split("\n")):
            p.text(x + 80, 240 + k * 20, line, size=14, italic=True)


@picture(900, 270, "A safetensors file")
def safetensors_file(p):
    """Three parts, one after another. Eight bytes hold n, the length of the header. The header, n
    bytes of JSON, gives each tensor a name, a dtype, a shape and two offsets. Then come the
    numbers, one tensor after another. The offsets 0 and 18,432 point to where the first tensor
    begins and ends, counted from the end of the header.
    """
    p.box(20, 110, 110, 60, "n", YELLOW)
    p.box(130, 110, 360, 60, '{"… .W_K": {…, "data_offsets": [0, 18432]}, …}', BLUE, size=13)
    for x, width, words in ((490, 150, "numbers of\n… .W_K"), (640, 150, "numbers of\n… .W_O")):
        p.box(x, 110, width, 60, words, GREY, size=14)
    p.box(790, 110, 90, 60, "…", GREY)
    p.text(75, 88, "8 bytes", bold=True)
    p.text(140, 88, "header: n bytes of JSON", anchor="start", bold=True)
    p.text(760, 88, "numbers", bold=True)
    p.arrow((364, 128), (364, 44), (496, 44), (496, 107))
    p.text(506, 60, "0 bytes after the header", size=14, anchor="start")
    p.arrow((399, 152), (399, 210), (645, 210), (645, 173))
    p.text(655, 200, "18,432 bytes after the header", size=14, anchor="start")
    for x, words in ((20, "byte 0"), (130, "8"), (490, "8 + n")):
        p.text(x + 2, 188, words, size=13, anchor="start")
    p.text(450, 250, "names, shapes, numbers: there is no place for a call", size=14, italic=True)


@picture(900, 300, "Two shards and their index")
def shards(p):
    """An index, a JSON file, has a line for each tensor with the name of the shard that holds it:
    embedding.weight and one W_Q in shard 1, another W_Q and the last norm in shard 2. An arrow
    leads to each shard. A shard is a whole safetensors file: length, header, numbers.
    """
    p.text(195, 26, "model.safetensors.index.json", size=14, bold=True)
    lines = (
        ("embedding.weight", 1),
        ("encoder … .W_Q", 1),
        ("decoder … .W_Q", 2),
        ("decoder.norm", 2),
    )
    for i, (name, shard) in enumerate(lines):
        y = 48 + i * 56
        p.box(20, y, 230, 44, name, BLUE, size=14)
        p.box(250, y, 120, 44, f"shard {shard}", YELLOW if shard == 1 else GREY, size=14)
        p.arrow((370, y + 22), (448, 92 if shard == 1 else 212))
    for shard, y in ((1, 62), (2, 182)):
        name = f"model-0000{shard}-of-00002.safetensors"
        p.text(450, y - 14, name, size=14, anchor="start", bold=True)
        p.box(450, y, 60, 60, "n", YELLOW if shard == 1 else GREY)
        p.box(510, y, 150, 60, "header", BLUE)
        for k in range(2):
            name, _ = lines[2 * shard - 2 + k]
            p.box(660 + k * 110, y, 110, 60, name.replace(".", "\n."), WHITE, size=13)
    words = "each shard is a safetensors file of its own; each tensor is in one of them"
    p.text(450, 284, words, size=14, italic=True)


@picture(900, 330, "Two graphs and a loop")
def two_graphs(p):
    """Text goes through the tokenizer to source ids; encoder.onnx runs once and returns keys and
    values of the source. decoder_step.onnx runs once a token: it takes these, the source ids, the
    newest id and the keys and values so far, and returns logits and the longer keys and values. The
    host's loop chooses the next id and stops at EOS or at the limit. The tokenizer turns the ids
    into text. The graphs are files; tokenizer and loop are the host's.
    """
    p.box(20, 60, 120, 60, "tokenizer", GREY)
    p.text(80, 30, "English text")
    p.arrow((80, 40), (80, 58))
    p.arrow((140, 90), (208, 90))
    p.text(174, 74, "ids", size=13)
    p.box(210, 50, 180, 80, "encoder.onnx\nonce a sentence", YELLOW)
    p.arrow((390, 90), (518, 90))
    p.text(454, 54, "keys, values", size=13)
    p.text(454, 72, "of the source", size=13)
    p.arrow((160, 90), (160, 36), (540, 36), (540, 48))
    p.text(340, 20, "ids: which ones are padding", size=13)
    p.box(520, 50, 200, 80, "decoder_step.onnx\nonce a token", YELLOW)
    p.arrow((720, 70), (790, 70), (790, 20), (620, 20), (620, 48))
    p.text(800, 36, "keys, values:", size=13, anchor="start")
    p.text(800, 54, "one longer", size=13, anchor="start")
    p.arrow((680, 130), (680, 198))
    p.text(692, 164, "logits", size=13, anchor="start")
    p.box(520, 200, 200, 60, "loop: choose an id", GREY)
    p.arrow((560, 200), (560, 132))
    p.text(548, 164, "newest id", size=13, anchor="end")
    p.arrow((520, 230), (392, 230))
    p.text(456, 204, "at [EOS]", size=13)
    p.text(456, 218, "or the limit", size=13)
    p.box(210, 200, 180, 60, "tokenizer", GREY)
    p.arrow((210, 230), (142, 230))
    p.text(130, 230, "French text", anchor="end")
    p.text(450, 302, "yellow: files of operations and weights  ·  grey: the host's own program, in "
           "any language", size=14)  # fmt: skip


@picture(900, 330, "What is inside nn.Transformer, and what is not")
def nn_box(p):
    """A dashed frame, nn.Transformer, holds two boxes: an encoder of layers and a norm, and a
    decoder of layers and a norm; the memory goes from the first to the second. Outside the frame
    stand, on each side, ids, the embedding and the positions, and after the decoder the logits and
    the loop, from which the next id goes back to the target ids; and below, the masks: all of these
    are yours.
    """
    p.box(260, 50, 380, 200, dashed=True, fill=WHITE)
    p.text(450, 30, "nn.Transformer", bold=True)
    p.box(290, 160, 320, 62, "encoder: layers, then a norm")
    p.box(290, 72, 320, 62, "decoder: layers, then a norm")
    p.arrow((450, 160), (450, 136))
    p.text(462, 148, "memory", size=13, anchor="start")
    for y, ids in ((191, "source ids"), (103, "target ids")):
        p.text(20, y, ids, size=13, anchor="start")
        p.arrow((92, y), (110, y))
        p.box(112, y - 24, 118, 48, "embedding\n+ positions", YELLOW, size=13)
        p.arrow((230, y), (288, y))
    p.arrow((610, 103), (668, 103))
    p.box(670, 79, 90, 48, "logits", YELLOW, size=13)
    p.arrow((760, 103), (782, 103))
    p.box(784, 79, 96, 48, "loop", YELLOW, size=13)
    p.arrow((832, 79), (832, 12), (52, 12), (52, 92))
    p.text(822, 28, "next id", size=13, anchor="end")
    p.box(290, 275, 320, 36, "masks: future, padding", YELLOW, size=13)
    p.arrow((450, 275), (450, 252))
    p.text(775, 191, "yellow: left to you", size=13, italic=True)


@picture(900, 430, "The 96 rows of in_proj_weight, by projection and head")
def in_proj_rows(p):
    """On the left in_proj_weight, (96, 32): twelve bands of eight rows, from the top Q of heads 0
    to 3, then K of heads 0 to 3, then V of heads 0 to 3. The three bands of head 1 have a thick
    frame: rows 8 to 15, 40 to 47 and 72 to 79. On the right the matrices of chapter 03, each (32,
    32), with a head in eight columns; head 1 is columns 8 to 15 of each. What is a row on the left
    is a column on the right.
    """
    band, colours = 28, {"Q": BLUE, "K": YELLOW, "V": GREY}
    p.text(190, 30, "PyTorch: in_proj_weight   (96, 32)", bold=True)
    p.text(660, 30, "chapter 03: W_Q, W_K, W_V   (32, 32) each", bold=True)

    for third, (name, colour) in enumerate(colours.items()):
        top = 56 + third * (4 * band + 8)
        for head in range(4):
            y, first = top + head * band, 32 * third + 8 * head
            p.cell(110, y, 160, band, colour)
            p.text(190, y + band / 2, f"{name}, head {head}", size=14)
            p.text(98, y + band / 2, f"rows {first} to {first + 7}", size=12, anchor="end")
            p.cell(520 + head * 70, top, 70, 4 * band, colour)
            p.text(555 + head * 70, top + 2 * band, f"head {head}", size=13)
        p.frame(112, top + band + 2, 156, band - 4)
        p.frame(592, top + 2, 66, 4 * band - 4)
        p.text(500, top + 2 * band, f"W_{name}", bold=True, anchor="end")
        p.arrow((280, top + 2 * band), (440, top + 2 * band))
        p.text(360, top + 2 * band - 14, "turned: .T", size=13)


@picture(930, 310, "The encoder layer in PyTorch's names, in both orders")
def nn_encoder_layer(p):
    """norm_first=False: self_attn, with in_proj_weight and out_proj, then plus, then norm1; then
    linear1, ReLU and linear2, then plus, then norm2. norm_first=True: norm1, self_attn, plus, then
    norm2, linear1, ReLU, linear2, plus. An arrow leads from the input of each sub-layer around it
    to its plus.
    """
    parts = {
        "attend": (170, BLUE, "self_attn\nin_proj_weight, out_proj"),
        "feed": (170, BLUE, "linear1, ReLU, linear2"),
        "norm1": (80, YELLOW, "norm1"),
        "norm2": (80, YELLOW, "norm2"),
        "+": (36, WHITE, "+"),
    }

    def chain(y, title, names):
        p.text(30, y - 80, title, bold=True, anchor="start")
        p.text(38, y, "X")
        x = start = 52
        for name in names:
            width, colour, text = parts[name]
            p.arrow((x, y), (x + 36, y))
            x += 38
            height, size = (36, 20) if name == "+" else (56, 13)
            p.box(x, y - height / 2, width, height, text, colour, size=size)
            if name == "+":
                p.arrow((start + 14, y), (start + 14, y - 48), (x + 18, y - 48), (x + 18, y - 20))
                p.text((start + x) / 2 + 16, y - 58, "residual", size=12, italic=True)
            x += width
            if name == names[2]:  # the first sub-layer ends here
                start = x
        p.arrow((x, y), (x + 36, y))
        p.text(x + 50, y, "X")

    chain(110, "norm_first=False: work, add, normalise",
          ["attend", "+", "norm1", "feed", "+", "norm2"])  # fmt: skip
    chain(260, "norm_first=True: normalise, work, add",
          ["norm1", "attend", "+", "norm2", "feed", "+"])  # fmt: skip


@picture(900, 220, "The memory of a training")
def training_memory(p):
    """Five boxes. Weights take 4 bytes a parameter, gradients 4, AdamW's two running means 4 each:
    16 bytes a parameter in all, whatever the batch. The fifth box, what the forward pass keeps for
    the backward pass, grows with the batch and the length of its sentences.
    """
    names = ("weights", "gradients", "running mean\nof gradients", "running mean\nof their squares")
    for i, name in enumerate(names):
        p.box(25 + i * 135, 60, 130, 84, name, (YELLOW, BLUE, GREY, GREY)[i], size=14)
        p.text(90 + i * 135, 164, "4 bytes", size=13)
    p.text(292, 36, "16 bytes a parameter", bold=True)
    p.text(292, 194, "the same for every batch", size=14, italic=True)
    p.box(600, 60, 275, 84, "kept for the backward pass", BLUE,
          dashed=True, size=14)  # fmt: skip
    p.text(737, 36, "results of the forward pass", bold=True)
    p.text(737, 194, "grows with the batch and the length", size=14, italic=True)


@picture(900, 330, "A softmax in instalments")
def instalments(p):
    """Four keys in two blocks. First block: scores 0 and log 2, values 1 and 2; the largest score
    is log 2, the exponentials are one half and 1, their sum 1.5, the weighted values 2.5. Second
    block: scores log 4 and 0, values 3 and 4; the largest is now log 4, so both sums are halved to
    0.75 and 1.25, then 1.25 and 4 are added: 2 and 5.25. The result is 2.625.
    """
    for left, name, scores, values, shares in (
        (30, "block 1", ("0", "log 2"), ("1", "2"), ("1/2", "1")),
        (470, "block 2", ("log 4", "0"), ("3", "4"), ("1", "1/4")),
    ):
        p.text(left + 200, 26, name, bold=True)
        for row, (label, items, fill) in enumerate(
            (
                ("score", scores, GREY),
                ("value", values, GREY),
                ("exp(score −\nlargest so far)", shares, YELLOW),
            )
        ):
            y = 46 + row * 42
            lines = label.split("\n")
            for k, line in enumerate(lines):
                p.text(left + 100, y + 26 - 9 * len(lines) + 18 * k, line, size=14, anchor="end")
            for k, item in enumerate(items):
                p.box(left + 115 + k * 125, y, 115, 34, item, fill)
    words = "largest: log 2\nsum: 1/2 + 1 = 1.5\nvalues: 1/2 · 1 + 1 · 2 = 2.5"
    p.box(30, 206, 265, 104, words, BLUE, size=14)
    p.arrow((295, 258), (408, 258))
    p.text(351, 236, "shrink by", size=13, italic=True)
    p.text(351, 280, "2/4 = 1/2", size=14, bold=True)
    p.box(410, 206, 300, 104,
          "largest: log 4\nsum: 0.75 + 1 + 1/4 = 2\nvalues: 1.25 + 1 · 3 + 1/4 · 4 = 5.25", BLUE,
          size=14)  # fmt: skip
    p.arrow((710, 258), (758, 258))
    p.box(760, 220, 115, 76, "5.25 / 2\n= 2.625", YELLOW)


@picture(900, 250, "Activation checkpointing")
def checkpointing(p):
    """Two rows of three layers. Above, everything is kept: what goes into each layer, and all
    results inside it. Below, with checkpoints, only what goes into each layer is kept. The backward
    pass comes from the right and computes the results inside one layer again before it needs them.
    """
    for y, words, kept in ((66, "all is kept", 3), (176, "checkpoints", 0)):
        p.text(100, y, words, bold=True)
        for i in range(3):
            left = 210 + i * 220
            p.box(left, y - 22, 44, 44, "X", YELLOW)
            p.arrow((left + 44, y), (left + 64, y))
            again = not kept and i == 2
            inside = "results inside" if kept else "computed again" if again else "forgotten"
            p.box(left + 66, y - 28, 120, 56, inside, (GREY, YELLOW)[bool(kept or again)],
                  dashed=not kept, size=13)  # fmt: skip
            p.arrow((left + 186, y), (left + 218, y))
    for i in range(3):
        p.text(336 + i * 220, 18, f"layer {i + 1}", size=14)
    p.arrow((860, 228), (640, 228))
    p.text(600, 228, "the backward pass comes to layer 3 first", size=13, anchor="end", italic=True)


@picture(900, 300, "One budget, three models")
def one_budget(p):
    """Three rectangles with one area: their width is the number of parameters, their height the
    number of tokens. The first is narrow and high: a small model that reads much. The second is a
    square, with 20 tokens a parameter. The third is wide and low: a large model that reads little.
    """
    names = ("half the parameters,\ntwice the tokens", "20 tokens\na parameter",
             "twice the parameters,\nhalf the tokens")  # fmt: skip
    for x, width, fill, name in zip(
        (150, 420, 740), (50, 100, 200), (BLUE, YELLOW, BLUE), names, strict=True
    ):
        height = 10_000 / width
        p.cell(x - width / 2, 240 - height, width, height, fill)
        for k, line in enumerate(name.split("\n")):
            p.text(x, 258 + 18 * k, line, size=14)
    p.text(98, 140, "tokens D", size=14, anchor="end", italic=True)
    p.text(740, 170, "parameters Θ", size=14, italic=True)
    p.text(580, 50, "three rectangles, one area: C = 6 Θ D operations", bold=True)


@picture(900, 250, "Three products for one")
def three_products(p):
    """One row a product. In the forward pass X times W gives the result. In the backward pass the
    gradient of the result times W transposed gives the gradient of X, and X transposed times the
    gradient of the result gives the gradient of W. Each takes 2 operations a weight and token.
    """
    for row, (words, factors, result, fill) in enumerate((
        ("forward", ("X", "W"), "result", YELLOW),
        ("backward", ("gradient of result", "Wᵀ"), "gradient of X", BLUE),
        ("", ("Xᵀ", "gradient of result"), "gradient of W", BLUE),
    )):  # fmt: skip
        y = 30 + 72 * row
        p.text(36, y + 25, words, anchor="start", bold=True)
        p.box(150, y, 150, 50, factors[0], GREY, size=14)
        p.text(318, y + 25, "@", size=18)
        p.box(336, y, 150, 50, factors[1], GREY, size=14)
        p.arrow((486, y + 25), (538, y + 25))
        p.box(540, y, 140, 50, result, fill, size=14)
        p.text(700, y + 25, "2 a weight and token", size=14, anchor="start")


@picture(900, 300, "A head switched off")
def head_off(p):
    """The results of head 0, head 1 and head 2 stand side by side, each of shape (T, d_v), and W_O
    has a block of d_v rows for each. The result is a sum of one term a head. The columns of head 1
    are crossed out, and so is its term in the sum.
    """
    fills = (BLUE, GREY, YELLOW)
    p.text(170, 34, "Y, the heads side by side", bold=True)
    for m in range(3):
        p.grid(40 + 92 * m, 100, 3, 3, 28, lambda r, c, m=m: fills[m])
        p.text(82 + 92 * m, 78, f"head {m}", size=13)
    p.cross_out(132, 100, 84, 84)
    p.text(172, 210, "(T, h · d_v)", size=13)
    p.text(343, 142, "@", size=20)
    p.text(448, 34, "W_O", bold=True)
    for m in range(3):
        p.grid(395, 57 + 70 * m, 3, 5, 21, lambda r, c, m=m: fills[m])
    p.text(448, 282, "(h · d_v, d_model)", size=13)
    p.text(548, 142, "=", size=20)
    p.text(735, 34, "a sum of three terms", bold=True)
    for m in range(3):
        p.box(592, 62 + 70 * m, 286, 52, f"head {m} @ its rows of W_O", fills[m])
        if m:
            p.text(573, 88 + 70 * m, "+", size=20)
    for x in (598, 836):  # on both sides of the words, so that they can be read
        p.cross_out(x, 140, 36, 36)
    p.text(735, 282, "(T, d_model)", size=13)


STAND_INS_PARTS = {
    "": "Five things can fill it. Telling nothing of any sentence: zeros, the mean of its results. "
    "This sentence, by another map: even weights, another sentence's map. Another sentence: that "
    "sentence's result.",
    "hole": "An arrow points into it from a question mark.",
}


@picture(900, 372, "What stands in for a head", STAND_INS_PARTS)
def stand_ins(p, part):
    """A decoder layer of three parts, with cross-attention lit. It opens into four heads, whose
    results are added behind W_O. Head 1 is a dashed hole. {lit}
    """
    p.text(95, 34, "decoder layer", bold=True)
    for y, name, fill in ((70, "feed-forward", BLUE), (156, "cross-attention", YELLOW),
                          (242, "self-attention", BLUE)):  # fmt: skip
        p.box(25, y, 140, 54, name, fill)
        if y > 70:
            p.arrow((95, y), (95, y - 30))
    p.arrow((165, 183), (208, 183))
    p.text(330, 34, "its heads", bold=True)
    for m, y in enumerate((58, 132, 206, 280)):
        p.box(215, y, 230, 50, "head 1: ?" if m == 1 else f"head {m}:  Y = A @ V",
              WHITE if m == 1 else YELLOW, dashed=m == 1)  # fmt: skip
    p.text(330, 352, "each Y (T, d_v) @ its rows of W_O, added up", size=13)
    p.text(690, 34, "what stands in for head 1", bold=True)
    if part == "hole":
        p.box(545, 132, 300, 50, "?", WHITE, dashed=True)
        p.arrow((545, 157), (449, 157))
        return
    rows = (
        ("zeros:  Y = 0", BLUE), ("its mean:  Y = the mean of many Y", BLUE),
        ("even weights:  A = 1 / S", GREY), ("another's map:  A of another sentence", GREY),
        ("another's result:  Y of another sentence", YELLOW),
    )  # fmt: skip
    for (words, fill), y in zip(rows, (72, 115, 187, 230, 302), strict=True):
        p.box(545, y, 300, 38, words, fill, size=14)
    for y, words in ((62, "tells nothing of any sentence"), (177, "this sentence, by another map"),
                     (292, "another sentence")):  # fmt: skip
        p.text(695, y, words, size=13, italic=True)
    p.line((520, 72), (520, 340), 1.8)
    p.arrow((520, 157), (449, 157))


@picture(900, 520, "Activation patching")
def patching(p):
    """Two runs of an encoder, one above the other, drawn as three rows of boxes, one box a token,
    with bars for the layers between two rows. The clean run reads a man is riding a horse, the
    corrupted run a man is riding a bicycle. The vector of horse that layer 1 reads is copied into
    the corrupted run. What the decoder then reads and writes is the question.
    """
    tops, x, step = (12, 288), 222, 76
    for top, name, thing, writes in zip(
        tops, ("clean", "corrupted"), ("horse", "bicycle"), ("writes: … monte", "writes: … ?"),
        strict=True,
    ):  # fmt: skip
        p.text(62, top + 110, name, bold=True)
        for row, label in enumerate(("decoder reads", "layer 1 reads", "layer 0 reads")):
            y = top + 88 * row
            p.text(x - 22, y + 22, label, size=13, anchor="end", italic=True)
            for k, word in enumerate(("a", "man", "is", "riding", "a", thing)):
                copied = row == 1 and k == 5
                fill = YELLOW if copied else BLUE if name == "clean" else GREY
                after = name == "corrupted" and row == 0  # what the patch has made of it
                p.box(x + step * k, y, 70, 44, "horse" if copied else "?" if after else word, fill,
                      size=14)  # fmt: skip
            if row:
                between = "layer 0" if row == 2 else "layers 1 to 3"
                p.box(x, y - 33, 5 * step + 70, 22, between, WHITE, size=13)
        p.arrow((674, top + 22), (708, top + 22))
        p.text(712, top + 22, writes, size=13, anchor="start")
    p.arrow((672, tops[0] + 110), (683, tops[0] + 110), (683, tops[1] + 110), (672, tops[1] + 110))
    p.text(x, 266, "this one vector is copied; what comes after it computes on", size=13,
           anchor="start", italic=True)  # fmt: skip
    p.text(712, tops[1] + 46, "(alone it wrote: fait)", size=13, anchor="start", italic=True)


DECISION_PARTS = {"": "nothing", "when": "the levels", "who": "the heads", "read": "two vectors"}


@picture(900, 372, "Three questions about one word", DECISION_PARTS)
def decision(p, part):
    """Left the encoder: a man is riding a horse, or a bicycle, goes in, and one vector a token
    comes out, among them those of riding and of the object; each decoder layer reads all of them.
    Right the decoder after Un homme: four layers, one above the other, between five levels, and on
    top the word, monte or fait. In each layer four heads of self-attention, four of cross-attention
    and the feed-forward. Three questions: at which level is the word there, which heads add it, and
    which vector of the encoder was read for it?
    """
    fills = {name: YELLOW if name == part else BLUE for name in DECISION_PARTS}
    p.box(14, 150, 462, 56, "", WHITE, dashed=True)
    for k, word in enumerate(("a", "man", "is", "riding", "a", "horse /\nbicycle")):
        x = 20 + 76 * k
        p.box(x, 310, 70, 44, word, GREY, size=13)
        p.arrow((x + 35, 310), (x + 35, 276))
        p.arrow((x + 35, 236), (x + 35, 202))
        p.box(x, 156, 70, 44, "riding" if k == 3 else "object" if k == 5 else "", size=13,
              fill=fills["read"] if k in (3, 5) else WHITE)  # fmt: skip
    p.box(20, 238, 450, 36, "encoder", WHITE)
    p.text(245, 100, "3  Which vector was read?", size=14, bold=True)
    p.text(245, 122, "activation patching", size=13, italic=True)
    p.line((510, 109), (510, 271), 1.8)  # each layer reads every vector
    p.line((476, 178), (510, 178), 1.8)
    p.box(548, 310, 180, 44, "Un homme", GREY)
    p.box(548, 14, 180, 44, "monte or fait?", WHITE)
    for layer in range(5):
        y = 256 - 54 * layer
        p.arrow((638, y + 54 if layer else 310), (638, y + 32 if layer < 4 else 60))
        p.box(564, y + 34, 60, 18, f"level {layer}", fills["when"], size=11)
        if layer == 4:  # what the last layer returns
            break
        p.box(548, y, 180, 30, "", WHITE)
        p.arrow((510, y + 15), (546, y + 15))
        for k in range(9):  # heads of self-attention and of cross-attention, and the feed-forward
            p.box(553 + 17 * k + 6 * (k // 4), y + 5, 23 if k == 8 else 14, 20,
                  "ff" if k == 8 else "", fills["who"], size=11)  # fmt: skip
    p.text(744, 82, "1  At which level?", size=14, anchor="start", bold=True)
    p.text(744, 104, "logit lens", size=13, anchor="start", italic=True)
    p.text(744, 190, "2  Which heads?", size=14, anchor="start", bold=True)
    p.text(744, 212, "direct logit", size=13, anchor="start", italic=True)
    p.text(744, 230, "attribution", size=13, anchor="start", italic=True)
    parts = ("four of self-attention,", "four of cross-attention,", "and ff, feed-forward")
    for k, words in enumerate(parts):
        p.text(744, 260 + 17 * k, words, size=12, anchor="start")


@picture(900, 300, "A layer in 2017 and today")
def then_and_now(p):
    """Two rows of boxes. 2017: before the first layer, positions are added to the embedding;
    attention with one key head for each query head, plus, LayerNorm; feed-forward with ReLU and
    biases, plus, LayerNorm. Today: RMSNorm, attention with turned queries and keys and shared key
    heads, plus; RMSNorm, SwiGLU without biases, plus. The residual line runs past the norms.
    """
    rows = (
        ("2017", ("attention\nh key heads", "LayerNorm", "W, ReLU, W\nbiases", "LayerNorm")),
        ("today", ("RMSNorm", "attention\nturned, shared\nkey heads", "RMSNorm",
                   "SwiGLU\nno biases")),
    )  # fmt: skip
    for row, (name, parts) in enumerate(rows):
        y, x = 52 + row * 140, 228
        p.text(16, y + 36, name, anchor="start", bold=True)
        if row == 0:  # once, before the first layer
            p.box(82, y + 6, 104, 60, "positions\nadded once", WHITE, dashed=True, size=14)
        p.arrow((186, y + 36), (x, y + 36))
        for part in parts:
            fill = GREY if "Norm" in part else BLUE if "attention" in part else YELLOW
            p.box(x, y, 118, 72, part, fill, size=14)
            x += 118
            if fill != GREY:  # what goes around it is added to its result
                back = x - 118 - 13 - (0 if row == 0 else 144)
                p.circle(x + 34, y + 36, 12, WHITE)
                p.text(x + 34, y + 36, "+")
                p.arrow((x, y + 36), (x + 22, y + 36))
                p.arrow((back, y + 36), (back, y - 22), (x + 34, y - 22), (x + 34, y + 23))
                x += 46
            p.arrow((x, y + 36), (x + 26, y + 36))
            x += 26


@picture(900, 300, "Queries and keys that turn with their place")
def turned_pairs(p):
    """Three pairs of clocks. In each the query, a thick hand, stands two places after the key, a
    thin one: places 3 and 1, 5 and 3, 9 and 7. Both hands point right at place 0 and are turned by
    40 degrees a place, so the angle between them is the same 80 degrees each time.
    """
    for k, (key, query) in enumerate(((1, 3), (3, 5), (7, 9))):
        cx, cy = 170 + k * 280, 140
        p.circle(cx, cy, 96, BLUE)
        for place, name, width in ((key, "key", 1.8), (query, "query", 4)):
            angle = math.radians(40 * place)
            x, y = cx + 84 * math.cos(angle), cy - 84 * math.sin(angle)
            p.line((cx, cy), (f"{x:.2f}", f"{y:.2f}"), width)
            p.text(round(cx + 58 * math.cos(angle + 0.32), 1),
                   round(cy - 58 * math.sin(angle + 0.32), 1), name, size=12)  # fmt: skip
        p.text(cx, 22, f"key at {key}, query at {query}", bold=True)
        p.text(cx, 262, "80° between them", size=14)
    words = "one pair of columns: place 0 points right, and each place turns it by 40° more, "
    p.text(450, 288, words + "anticlockwise", size=13, italic=True)


@picture(900, 236, "From gradients to an even step")
def even_step(p):
    """A row of boxes: the gradients G of one step after another; U, their mean and the newest;
    U divided by the root of the sum of its squares; five rounds; the step. Below each stands what
    it makes of a circle: a long thin ellipse for the gradient and for U, a small thin one after
    the division, and nearly a circle after the rounds and in the step.
    """
    parts = (("gradients\nG, G, G, ...", GREY, 62, 4), ("mean and\nnewest: U", BLUE, 62, 4),
             ("divide by\nits norm", BLUE, 32, 4), ("five\nrounds", YELLOW, 32, 30),
             ("step\nη · even(U)", GREY, 32, 30))  # fmt: skip
    for k, (name, fill, along, across) in enumerate(parts):
        x = 24 + 180 * k
        p.box(x, 30, 132, 56, name, fill, size=14)
        if k < 4:
            p.arrow((x + 132, 58), (x + 178, 58))
        p.ellipse(x + 66, 160, along, across, -30, fill)
    p.text(450, 222, "what each matrix makes of a circle", size=13, italic=True)


@picture(900, 210, "A feed-forward layer with a gate")
def gate(p):
    """X goes two ways: through the matrix gate and then SiLU, and through the matrix up. The two
    results, d_ff numbers each, are multiplied number by number, and the matrix down brings the
    product back to d_model numbers.
    """
    p.box(30, 78, 110, 54, "X\n(T, d_model)", GREY, size=14)
    p.arrow((140, 95), (208, 57))
    p.arrow((140, 115), (208, 153))
    p.box(210, 30, 110, 54, "gate", BLUE)
    p.arrow((320, 57), (398, 57))
    p.text(359, 40, "(T, d_ff)", size=13)
    p.box(400, 30, 110, 54, "SiLU", YELLOW)
    p.box(210, 126, 110, 54, "up", BLUE)
    p.arrow((510, 57), (555, 94))
    p.arrow((320, 153), (552, 114))
    p.text(350, 130, "(T, d_ff)", size=13)
    p.circle(570, 105, 16, WHITE)
    p.text(570, 105, "×", size=20)
    p.arrow((586, 105), (658, 105))
    p.text(622, 84, "(T, d_ff)", size=13)
    p.box(660, 78, 100, 54, "down", BLUE)
    p.arrow((760, 105), (788, 105))
    p.text(840, 105, "(T, d_model)", size=14)
    p.text(455, 104, "by how much", size=13, italic=True)
    p.text(420, 176, "what is multiplied", size=13, italic=True)


@picture(900, 270, "Key-value heads for four query heads")
def shared_keys(p):
    """Three drawings of four query heads. Multi-head: each has a key-value head of its own, four in
    the cache. Grouped: query heads 0 and 1 share the first key-value head, 2 and 3 the second, two
    in the cache. Multi-query: all four share one.
    """
    for k, (title, kv) in enumerate(
        (("multi-head", 4), ("grouped queries", 2), ("multi-query", 1))
    ):
        left = 40 + k * 290
        p.text(left + 118, 24, title, bold=True)
        for head in range(4):
            p.box(left + head * 62, 50, 50, 46, f"Q{head}", BLUE, size=14)
        for head in range(kv):
            width = 62 * 4 // kv - 12
            x = left + head * (62 * 4 // kv)
            p.box(x, 160, width, 46, f"K{head} V{head}", YELLOW, size=13 if kv < 4 else 11)
        for head in range(4):
            mine = head * kv // 4
            to = left + mine * (62 * 4 // kv) + (62 * 4 // kv - 12) / 2
            p.arrow(
                (left + head * 62 + 25, 96), (to + (head - (mine + 0.5) * 4 / kv + 0.5) * 14, 158)
            )
        p.text(left + 118, 232, f"{kv} in the cache" if kv > 1 else "1 in the cache", size=14)
    p.text(450, 258, "yellow: what a cache keeps of each token", size=13, italic=True)


@picture(900, 270, "Two hands, trained on 32 places, read at place 255")
def slowed_hands(p):
    """Five dials. Pair 3 of eight: in a training of 32 places its hand goes from 0 to 56 degrees;
    at place 255 it stands at 462 degrees, more than a round further; slowed eight times, at 58
    degrees, where it nearly was in training. Pair 0: two neighbours are 57 degrees apart; slowed, 7
    degrees.
    """
    dials = (
        ("pair 3, in training", (0, 56), "0° to 56°"),
        ("at place 255", (102,), "462°: a round, and 102°"),
        ("at place 255, slowed", (58,), "58°"),
        ("pair 0, neighbours", (0, 57), "57° apart"),
        ("neighbours, slowed", (0, 7), "7° apart"),
    )
    for k, (title, hands, below) in enumerate(dials):
        cx, cy = 90 + k * 180, 128
        p.circle(cx, cy, 70, BLUE if k < 3 else YELLOW)
        for degrees in hands:
            angle = math.radians(degrees)
            x, y = cx + 62 * math.cos(angle), cy - 62 * math.sin(angle)
            p.line((cx, cy), (f"{x:.2f}", f"{y:.2f}"), 3)
        p.text(cx, 32, title, size=14, bold=True)
        p.text(cx, 224, below, size=14)
    words = "a slow hand comes back to where it was; a fast one hardly tells neighbours apart"
    p.text(450, 256, words, size=13, italic=True)


@picture(900, 250, "Further than the training")
def further(p):
    """Three strips of 256 tokens; the last one looks back. As trained: the last 32 tokens, in
    yellow, lie at distances that the training showed; all others, in grey, at new ones. Slowed
    down: all are yellow, because 256 places turn as far as 32 did. Window: the last 16 are yellow,
    and all others are hidden.
    """
    rows = (
        ("as trained", "distances that no training showed", GREY, 616, 88),
        ("slowed down", "far distances look like those of the training", YELLOW, 0, 704),
        ("window", "hidden: nothing new, and nothing found again", HIDDEN, 660, 44),
    )
    for k, (name, words, fill, start, width) in enumerate(rows):
        y = 50 + 64 * k
        p.text(120, y + 17, name, anchor="end", size=14, bold=True)
        if start:
            p.cell(130, y, start, 34, fill)
        if fill == HIDDEN:
            for x in range(150, 130 + start - 20, 80):
                p.cross(x, y + 8, 18)
        p.cell(130 + start, y, width, 34, YELLOW)
        p.text(482, y + 47, words, size=13, italic=True)
        p.arrow((832, y - 2), (832, y - 14), (700, y - 14))
    p.text(790, 22, "place 255 looks back", size=13)
    p.text(130, 22, "place 0", size=13, anchor="start")


@picture(900, 250, "Less of each token")
def kept_less(p):
    """Yellow: what a cache keeps of a token in a layer with four heads. Left: a key and a value for
    each head. Middle, fewer bits: the same eight boxes are a quarter as high, each with a scale.
    Right, fewer vectors: one latent and one turned key for all heads.
    """
    for left, height, step, title in ((30, 72, 84, "all of it"), (330, 18, 30, "fewer bits")):
        p.text(left + 118, 24, title, bold=True)
        for k, row in enumerate("KV"):
            for head in range(4):
                x, y, width = left + head * 62, 50 + k * step, 50 if step > 30 else 38
                p.cell(x, y, width, height, YELLOW)
                p.text(x + width / 2, y + height / 2, f"{row}{head}", size=13)
                if step == 30:
                    p.cell(x + 40, y, 10, height, BLUE)
    p.text(448, 116, "blue: the scale of a row", size=13, italic=True)
    p.text(748, 24, "fewer vectors", bold=True)
    p.cell(668, 50, 90, 72, YELLOW)
    p.text(713, 86, "a latent", size=14)
    p.cell(770, 50, 26, 72, YELLOW)
    p.text(800, 86, "a turned key", size=13, anchor="start")
    p.text(748, 146, "each head computes its own", size=13, italic=True)
    p.text(748, 164, "keys and values from the latent", size=13, italic=True)
    p.text(
        450,
        236,
        "yellow: what is kept of a token, in a layer of four heads (not to scale)",
        size=13,
        italic=True,
    )


@picture(900, 250, "Latent attention: what is kept, and what is computed from it")
def latent(p):
    """Left X, one vector a token. Through W_C it becomes the latent C and one turned key, in
    yellow, which are kept. From C, W_K and W_V compute keys and values for every head. Below:
    queries may go through W_K transposed instead, and meet C itself.
    """
    p.box(20, 70, 110, 56, "X\n(S, d_model)", GREY, size=14)
    p.arrow((130, 98), (170, 98), (170, 47), (208, 47))
    p.arrow((170, 98), (170, 107), (208, 107))
    p.text(152, 86, "W_C", size=13)
    p.text(285, 13, "kept", bold=True)
    p.box(210, 26, 150, 42, "one turned key", YELLOW, size=14)
    p.box(210, 86, 150, 42, "C (S, latent)", YELLOW, size=14)
    p.arrow((360, 36), (810, 36), (810, 68))
    p.arrow((360, 100), (468, 79))
    p.arrow((360, 114), (468, 135))
    p.text(412, 75, "W_K", size=13)
    p.text(408, 140, "W_V", size=13)
    p.box(470, 56, 190, 42, "keys of all heads", BLUE, size=14)
    p.box(470, 114, 190, 42, "values of all heads", BLUE, size=14)
    p.arrow((660, 77), (738, 90))
    p.arrow((660, 135), (738, 104))
    p.box(740, 70, 140, 50, "attention", BLUE, size=14)
    p.box(470, 178, 190, 42, "queries of all heads", BLUE, size=14)
    p.arrow((470, 199), (285, 199), (285, 130))
    p.text(378, 186, "W_Kᵀ", size=13)
    p.arrow((660, 199), (810, 199), (810, 122))
    words = "absorbed: the queries go to the latents, and no key is ever computed"
    p.text(450, 240, words, size=13, italic=True)


@picture(900, 230, "A low-rank update")
def low_rank(p):
    """A large square matrix W, frozen, plus a scale times the product of a tall thin matrix B that
    begins with zeros, and a wide thin matrix A that begins with random numbers: together the
    matrix that is used. Only B and A are trained.
    """
    p.box(40, 30, 160, 160, "W\n(rows, columns)", GREY, dashed=True, size=14)
    p.text(120, 212, "frozen", size=13, italic=True)
    p.text(240, 110, "+ scale ·", size=15)
    p.box(280, 30, 44, 160, "B", YELLOW)
    p.text(302, 212, "(rows, rank), from zeros", size=13, italic=True)
    p.text(350, 110, "·", size=24)
    p.box(376, 88, 160, 44, "A", YELLOW)
    p.text(456, 152, "(rank, columns), from random numbers", size=13, italic=True)
    p.text(612, 110, "=", size=22)
    p.box(660, 30, 160, 160, "what stands in\nthe place of W", BLUE, size=14)
    p.text(740, 212, "merged: one matrix again", size=13, italic=True)


@picture(900, 236, "What is bought, and what is paid")
def reward_and_price(p):
    """A policy writes texts, and a judge gives each a reward; their mean is what is bought. Below
    stands the reference, a frozen copy of where the policy began; the divergence of the policy from
    it is what is paid, at the price beta. The training raises the first less the second.
    """
    p.box(30, 40, 120, 56, "policy", BLUE)
    p.arrow((150, 68), (218, 68))
    p.text(184, 50, "writes", size=13, italic=True)
    p.box(220, 40, 110, 56, "texts", GREY)
    p.arrow((330, 68), (388, 68))
    p.box(390, 40, 110, 56, "judge", YELLOW)
    p.arrow((500, 68), (558, 68))
    p.box(560, 40, 150, 56, "mean reward", GREY, size=14)
    p.text(635, 114, "bought", size=13, italic=True)
    p.box(30, 150, 120, 56, "reference\n(frozen)", BLUE, dashed=True, size=14)
    p.arrow((110, 96), (110, 123), (475, 123), (475, 158), (558, 158))
    p.arrow((150, 186), (558, 186))
    p.text(330, 106, "log π(x)", size=13)
    p.text(330, 202, "log π_ref(x)", size=13)
    p.box(560, 144, 150, 56, "β · divergence", GREY, size=14)
    p.text(635, 218, "paid", size=13, italic=True)
    p.arrow((710, 68), (826, 68), (826, 96))
    p.arrow((710, 172), (826, 172), (826, 152))
    p.text(770, 52, "plus", size=13, italic=True)
    p.text(770, 190, "minus", size=13, italic=True)
    p.box(776, 98, 100, 52, "goal", YELLOW)


@picture(900, 236, "A policy and its reward")
def rewarded(p):
    """A policy writes texts, a judge gives each a reward, and from the rewards of a group come
    advantages, which make a step of the policy. Below stands the reference, a frozen copy of the
    policy; the divergence from it is taken from each reward, at the price beta.
    """
    p.box(30, 40, 120, 56, "policy", BLUE)
    p.arrow((150, 68), (218, 68))
    p.text(184, 50, "writes", size=13, italic=True)
    p.box(220, 40, 150, 56, "a group of\ntexts", GREY, size=14)
    p.arrow((370, 68), (438, 68))
    p.box(440, 40, 110, 56, "judge", YELLOW)
    p.arrow((550, 68), (608, 68))
    p.box(610, 40, 110, 56, "rewards", GREY)
    p.arrow((720, 68), (768, 68))
    p.box(770, 40, 110, 56, "advantages", GREY, size=14)
    p.arrow((825, 40), (825, 18), (90, 18), (90, 38))
    p.text(457, 30, "a step towards what was better than the others", size=13, italic=True)
    p.box(30, 160, 120, 56, "reference\n(frozen)", BLUE, dashed=True, size=14)
    p.arrow((295, 96), (295, 188), (152, 188))
    p.arrow((150, 204), (665, 204), (665, 98))
    p.text(480, 188, "minus β · log π(x) / π_ref(x), the price of moving away", size=13)


def main():
    for name, draw in PICTURES.items():
        (HERE / f"{name}.svg").write_text(draw(), encoding="utf-8", newline="\n")
        print(f"images/{name}.svg")


if __name__ == "__main__":
    main()
