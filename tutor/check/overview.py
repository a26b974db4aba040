"""All exercises of the course and how far a learner is, as text and as a picture."""

import html
import textwrap

from tutor.check.progress import clean, news, records, whereabouts

UNTOUCHED, TRIED, SOLVED_STATE, UNHELPED = "untouched", "tried", "solved", "solved without a hint"
STATE_SIGNS = {UNTOUCHED: "·", TRIED: "~", SOLVED_STATE: "✓", UNHELPED: "★"}
# Grey, blue and orange, which colour-blind readers can tell; each has its sign besides.
CELL_COLOURS = {
    UNTOUCHED: ("none", ""),
    TRIED: ("#8a8a8a", '<path d="M-4 0H4" stroke="#000" stroke-width="2.5"/>'),
    SOLVED_STATE: ("#0072b2", '<path d="M-4 0L-1 3.5L4.5 -4" stroke="#fff" stroke-width="2.2"/>'),
    UNHELPED: ("#e69f00", '<path d="M0 -5.5L1.5 -1.6L5.5 -1.6L2.3 .9L3.4 4.9L0 2.5L-3.4 4.9L-2.3 .9'
            'L-5.5 -1.6L-1.5 -1.6Z" fill="#000"/>'),
}  # fmt: skip
STEP, LEFT, RIGHT = 20, 34, 58  # of the map, in pixels: from cell to cell, before and behind a row


def state(record):
    if record["solved_at_try"]:
        return SOLVED_STATE if record["solved_with_hints"] else UNHELPED
    return TRIED if record["tries"] or record["hints"] else UNTOUCHED


class Overview:
    """How far a learner is: `print` it, or let a notebook draw it as a map of the course."""

    def __init__(self, chapters):
        """chapters: {"02": (names of the exercises on its page, names of those in its notebook)}"""
        found, nothing = records(), clean(None)
        self.chapters = {
            chapter: [{name: found.get(name, nothing) for name in names} for names in both]
            for chapter, both in chapters.items()
        }
        self.news = news()

    def __repr__(self):
        said = [self.summary()]
        said.append("   ".join(f"{sign} {words}" for words, sign in STATE_SIGNS.items()))
        for chapter, (page, notebook) in self.chapters.items():
            both = page | notebook
            said.append(f"{chapter}  {tally(both)}")
            if all(state(record) == UNTOUCHED for record in both.values()):
                continue
            for place, some_of in (("page", page), ("exercise notebook", notebook)):
                names = [f"{STATE_SIGNS[state(r)]}\u00a0{name}" for name, r in some_of.items()]
                if names:
                    line = f"{place}: {'  '.join(names)}"
                    said.append(textwrap.fill(line, 88, initial_indent=" " * 4,
                                              subsequent_indent=" " * 8))  # fmt: skip
        return "\n".join([*said, *self.news, whereabouts()]).replace("\u00a0", " ")

    def summary(self):
        everything = {}
        for both in self.chapters.values():
            everything |= both[0] | both[1]
        return f"The course: {tally(everything)}."

    def _repr_html_(self):
        words = html.escape(repr(self))
        notes = "".join(f"<p>{html.escape(said)}</p>" for said in (*self.news, whereabouts()))
        return (
            f"<div><p>{self.summary()}</p>{self.picture()}{notes}"
            f"<details><summary>The map in words</summary><pre>{words}</pre></details></div>"
        )

    def picture(self):
        """The map as SVG: a row a chapter, a cell an exercise, round if it is on the page."""
        widest = max(len(page) + len(notebook) for page, notebook in self.chapters.values())
        width = max(LEFT + STEP * widest + RIGHT, 370)
        parts, y = [], 0
        for chapter, (page, notebook) in self.chapters.items():
            y += STEP + 2
            parts.append(text(4, y, chapter))
            both = page | notebook
            for i, (name, record) in enumerate(both.items()):
                x, how = LEFT + STEP * (i + 0.5), state(record)
                parts.append(cell(x, y, how, name in page, f"{name}: {how}"))
            solved = sum(record["solved_at_try"] > 0 for record in both.values())
            parts.append(text(LEFT + STEP * len(both) + 6, y, f"{solved} of {len(both)}"))
        y += 14
        legend = [(how, False, how) for how in STATE_SIGNS]
        legend += [
            (UNTOUCHED, True, "on the chapter's page"),
            (UNTOUCHED, False, "in the exercise notebook"),
        ]
        for i, (how, on_page, words) in enumerate(legend):
            x, down = 14 + 180 * (i % 2), y + 22 * (i // 2 + 1)
            parts += [cell(x, down, how, on_page, words), text(x + 16, down, words)]
        height = y + 22 * (len(legend) // 2) + 14
        alt = html.escape(f"Map of the course. {self.summary()} The same in words is below.")
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" style="max-width: 100%; height: auto" role="img" aria-label="{alt}" '
            f'font-size="13" fill="none">{"".join(parts)}</svg>'
        )


def text(x, y, words):
    return f'<text x="{x}" y="{y}" dy="0.35em" fill="currentColor">{html.escape(words)}</text>'


def cell(x, y, how, round_, title):
    """One exercise, or one sign of the legend."""
    colour, sign = CELL_COLOURS[how]
    return (
        f'<g transform="translate({x} {y})"><title>{html.escape(title)}</title>'
        f'<rect x="-8" y="-8" width="16" height="16" rx="{8 if round_ else 2}" fill="{colour}" '
        f'stroke="currentColor"/>{sign}</g>'
    )


def tally(found):
    """Some records in words: how many are solved, with how many tries and hints."""
    states = [state(record) for record in found.values()]
    said = [f"{states.count(SOLVED_STATE) + states.count(UNHELPED)} of {len(states)} solved"]
    if UNHELPED in states:
        said[0] += f" ({states.count(UNHELPED)} without a hint)"
    if TRIED in states:
        said.append(f"{states.count(TRIED)} more tried")
    for key, one, many in (("tries", "try", "tries"), ("hints", "hint", "hints")):
        number = sum(record[key] for record in found.values())
        if number:
            said.append(f"{number} {one if number == 1 else many}")
    return ", ".join(said)
