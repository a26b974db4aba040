"""BeamView: the tree of a beam search, step by step (chapter 09)."""

import math
from typing import NamedTuple

import torch
from traitlets import Bool, Dict, Int, Unicode

from tutor.decoding import ALPHA, beam_search
from tutor.figures.page import INK, LINE_COLOUR
from tutor.views.base import READERS, Table, View, as_written, asked, script


class Candidate(NamedTuple):
    """A node of the tree: a hypothesis after one more token.

    parent: index of the candidate of the step before that it goes on from (at the first step, 0).
    token: the piece written; log_prob: its log-probability; total: that of all tokens so far;
    score: what candidates are ranked by. state: "live", "finished" (it ends here), or "pruned" (it
    was proposed and not kept).
    """

    parent: int
    token: str
    log_prob: float
    total: float
    score: float
    state: str = "live"


class BeamView(View):
    """The tree of a search: which beams lived, which were pruned, which sentence won.

    `BeamView.search` searches, and has a box for the reader's own sentence; `BeamView.of` draws the
    history that `tutor.decoding.beam_search` keeps.
    steps: a list of lists of `Candidate`, the best first. A candidate that nothing goes on from
    was pruned, unless it is finished or the search ends there. The finished one with the best score
    won.
    source: the sentence that was translated. step: the last that is shown at first (None: all).
    """

    _esm = script("beam")

    facts = Dict().tag(sync=True)
    step = Int().tag(**READERS)
    settings = Dict().tag(sync=True)  # of the search: beams, alpha
    can_ask = Bool(False).tag(sync=True)
    message = Unicode().tag(sync=True)
    answers = Int(0).tag(sync=True)  # how many there were, so that the page hears of each

    def __init__(self, steps, source="", step=None):
        steps = [[Candidate(*candidate) for candidate in candidates] for candidates in steps]
        if not steps or not all(steps):
            raise ValueError("There is nothing to show: every step needs a candidate.")
        for i, candidates in enumerate(steps):
            for candidate in candidates:
                if not 0 <= candidate.parent < (len(steps[i - 1]) if i else 1):
                    raise ValueError(
                        f"At step {i} the token {candidate.token!r} goes on from candidate "
                        f"{candidate.parent}, which is not there."
                    )
        if step is None:
            step = len(steps) - 1
        elif not -len(steps) <= step < len(steps):
            raise ValueError(f"There is no step {step}: there are {len(steps)}.")
        self.steps, self.run = steps, None
        super().__init__(facts=_facts(steps, source), step=step % len(steps))
        self.on_msg(lambda view, content, buffers: self.ask(content["sentence"]))

    @classmethod
    def search(cls, translator, text, beams=5, alpha=ALPHA):
        """The view of a search for the translation of `text`; readers may search for their own.

        It opens where the first beam is lost.

        translator: has `model` (a Transformer), `tokenizer` and `encode`, as `tutor.Translator`
        has. beams, alpha: as in `tutor.decoding.beam_search`.
        """

        def run(text):
            history = []
            source_ids = torch.tensor([translator.encode_typed(text)])  # (1, S)
            beam_search(translator.model, source_ids, beams, alpha, history=history)
            return _tree(history, translator.tokenizer.readable, alpha)

        view = cls(run(text), text)
        view.run, view.settings = run, {"beams": beams, "alpha": alpha}
        view.can_ask = True
        view.step = view._first_loss()
        return view

    def _first_loss(self):
        """The first step at which a beam of the step before is no longer there, or the last."""
        for i in range(1, len(self.steps)):
            lead = {c.parent for c in self.steps[i] if c.state != "pruned"}
            if any(c.state == "live" and j not in lead for j, c in enumerate(self.steps[i - 1])):
                return i
        return len(self.steps) - 1

    def ask(self, text):
        """Search for the translation of `text` and show how, or say in the view why not."""
        steps, message = asked(self.run, text)
        with self.hold_sync():  # the page hears of all at once
            if steps:
                self.steps, self.facts, self.step = steps, _facts(steps, text), len(steps) - 1
            self.message = message
            self.answers += 1

    @classmethod
    def of(cls, history, readable, alpha, source="", sentence=0, step=None):
        """The view of one sentence of a `beam_search(..., alpha=alpha, history=history)`.

        readable: a function from a list of ids to their tokens, such as
        `translator.tokenizer.readable`.
        """
        return cls(_tree(history, readable, alpha, sentence), source, step)

    def path(self, step, index):
        """(step, index) of the candidates from the first step to this one."""
        path = []
        for i in range(step, -1, -1):
            path.append((i, index))
            index = self.steps[i][index].parent
        return path[::-1]

    def fates(self):
        """What has become of each candidate at the step that is shown: a list for every step.

        "live" leads to a candidate of that step or to a finished one; "finished", "best" (the
        search is over, and it won), "pruned".
        """
        fates = [[c.state for c in candidates] for candidates in self.steps[: self.step + 1]]
        for i in range(self.step - 1, -1, -1):
            lead = {
                c.parent
                for c, fate in zip(self.steps[i + 1], fates[i + 1], strict=True)
                if fate != "pruned"
            }
            fates[i] = [
                "pruned" if fate == "live" and j not in lead else fate
                for j, fate in enumerate(fates[i])
            ]
        if self.step == len(self.steps) - 1 and self.facts["winner"]:
            step, index = self.facts["winner"]
            fates[step][index] = "best"
        return fates

    def __repr__(self):
        widest = max(map(len, self.steps))
        return f"BeamView({len(self.steps)} steps, at most {widest} new candidates a step)"

    def title(self):
        """The heading of the saved page."""
        return f"Beam search: {self.facts['source']}".rstrip(": ")

    def describe(self):
        """The picture in words."""
        winner = self.facts["winner"]
        won = "Nothing was finished."
        if winner:
            won = f"It wrote {' '.join(self.steps[i][j].token for i, j in self.path(*winner))}."
        return (
            f"Tree of a beam search over {len(self.steps)} steps, shown to step {self.step}. {won} "
            f"At the last step: {', '.join(c.token for c in self.steps[self.step])}."
        )

    def table(self):
        """Every candidate up to the step that is shown, with its scores and its fate."""
        return Table(
            ["step", "place", "goes on from", "token", "log p", "total", "score", "fate"],
            [
                [str(i), str(j), str(c.parent) if i else "", c.token]
                + [as_written(x) for x in (c.log_prob, c.total, c.score)]
                + [fate]
                for i, fates in enumerate(self.fates())
                for j, (c, fate) in enumerate(zip(self.steps[i], fates, strict=True))
            ],
        )

    def draw(self, figure):
        """Draw the tree, a column for every step and the best on top, as wide as its tokens."""
        fates, tall = self.fates(), 0.55  # of a row; all in inches
        marked = [
            [FATE_STYLES[fate]["mark"] + c.token for fate, c in zip(*column, strict=True)]
            for column in zip(fates, self.steps, strict=False)
        ]
        wide = [max(0.62, 0.075 * max(map(len, texts)) + 0.28) for texts in marked]
        gap = 0.35  # between columns; links cross in it, and so over no box
        x = [sum(wide[:i]) + wide[i] / 2 + gap * i for i in range(len(wide))]
        rows, width = max(map(len, fates)), sum(wide) + gap * (len(wide) - 1)
        figure.set_size_inches(width + 0.4, tall * rows + 1)
        ax = figure.add_subplot()
        ax.set(xlim=(0, width), ylim=(rows - 0.5, -0.5))
        won = []
        if self.step == len(self.steps) - 1 and self.facts["winner"]:
            won = self.path(*self.facts["winner"])
        for i, texts in enumerate(marked):
            for j, text in enumerate(texts):
                candidate, line = self.steps[i][j], FATE_STYLES[fates[i][j]]["line"]
                if i:
                    style = FATE_STYLES["best"]["line"] if (i, j) in won else line
                    gap_ends = x[i - 1] + wide[i - 1] / 2, x[i] - wide[i] / 2
                    ends = [candidate.parent, candidate.parent, j, j]
                    ax.plot([x[i - 1], *gap_ends, x[i]], ends, **style)
                box = {"boxstyle": "round,pad=0.25", "facecolor": "white", **line}
                box["edgecolor"] = box.pop("color")
                ax.text(
                    x[i], j, f"{text}\n{as_written(candidate.score)}", bbox=box, fontsize=10,
                    ha="center", va="center", linespacing=1.3,
                )  # fmt: skip
        ax.set_xticks(x, range(len(x)), fontsize=10)
        ax.set_yticks([])
        ax.tick_params(length=0)
        ax.xaxis.tick_top()
        ax.xaxis.set_label_position("top")
        ax.set_xlabel("step", fontsize=10)
        ax.spines[:].set_visible(False)
        legend = ", ".join(f"{s['mark']}{fate}" for fate, s in FATE_STYLES.items() if s["mark"])
        words = f"In a box: the token, and the score of the sentence so far.\n{legend}"
        figure.supxlabel(words, fontsize=10, x=0.02, ha="left")


FATE_STYLES = {
    "live": {"mark": "", "line": {"color": INK, "linewidth": 1}},
    "finished": {"mark": "■ ", "line": {"color": INK, "linewidth": 1}},
    "best": {"mark": "★ ", "line": {"color": INK, "linewidth": 2.5}},
    "pruned": {"mark": "✕ ", "line": {"color": LINE_COLOUR, "linewidth": 1.2, "linestyle": "--"}},
}


def _tree(history, readable, alpha, sentence=0):
    """The candidates of each step of one sentence's search, for BeamView: a list of lists."""
    steps = []
    before = {0: (0, 0, 0.0, False)}  # beam -> step, index, total, ended of its candidate
    for rows, pool, parents in history:
        if sentence not in rows.tolist():
            break  # it was done
        n = rows.tolist().index(sentence)
        beams = zip(
            parents[n].tolist(),
            readable(pool.ids[n, :, -1].tolist()),
            pool.total[n].tolist(),
            pool.score(alpha)[n].tolist(),
            pool.ended[n].tolist(),
            strict=True,
        )
        candidates, after = [], {}
        for beam, (parent, token, total, score, ended) in enumerate(beams):
            if total == -math.inf:
                continue  # at the first step there are fewer proposals than beams
            _, index, total_before, was_ended = before[parent]
            if was_ended:  # it stays in the pool; in the tree it stands where it ended
                after[beam] = before[parent]
                continue
            after[beam] = (len(steps), len(candidates), total, ended)
            state = "finished" if ended else "live"
            candidates.append(Candidate(index, token, total - total_before, total, score, state))
        for then, index, _, was_ended in before.values():
            if was_ended and all((then, index) != kept[:2] for kept in after.values()):
                # A finished one that better ones have pushed out.
                steps[then][index] = steps[then][index]._replace(state="pruned")
        if candidates:
            steps.append(candidates)
        before = after
    return steps


def _facts(steps, source):
    """What the page knows of a search; "winner" is the finished candidate with the best score."""
    finished = [
        (candidate.score, [i, j])
        for i, candidates in enumerate(steps)
        for j, candidate in enumerate(candidates)
        if candidate.state == "finished"
    ]
    return {
        "source": source,
        "steps": [[candidate._asdict() for candidate in candidates] for candidates in steps],
        "winner": max(finished)[1] if finished else None,
    }
