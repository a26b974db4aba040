"""AttentionView: the attention of one translation, under the pointer (chapters 00 and 11)."""

import numpy as np
import torch
from matplotlib.patches import Rectangle
from traitlets import Bool, Bytes, Dict, Int, Unicode, observe, validate

from tutor.figures import in_words
from tutor.record import DOUBT
from tutor.views.base import READERS, Table, View, asked, script

KIND_TITLES = {
    "encoder": "encoder attention",
    "decoder": "decoder attention",
    "cross": "cross attention",
    "length": "cross attention by length",
}


class AttentionView(View):
    """The attention matrices of one translation: a head as a map, all heads as small maps.

    recording: a `tutor.record.Recording`; an empty list of layers leaves a kind out.
    run: a function from a text to a Recording, such as `load_pretrained().record`. With it the
        view has a box for the reader's own sentence. What it raises is shown as a sentence.
    alignment: the true links, pairs (source index, target index), drawn as outlines (cross).
    kind, layer, head: what is shown first; kind "length" is "cross" with each weight times the
        length of its value, as shares of a row. Negative numbers count from the end, and head=None
        is the mean of the layer's heads. The attributes of these names follow the reader's choice.

    A row is a step of the model: it reads one token and writes the next. Rows are named by the
    token written or, where the reader prefers, by the token read; links move along.
    Raises ValueError if the matrices do not fit the tokens.
    """

    _esm = script("attention")

    facts = Dict().tag(sync=True)  # text, tokens, shapes, links
    weights = Bytes().tag(sync=True)  # float32, kind by kind: (L, h, T, S)
    kind = Unicode().tag(**READERS)
    layer = Int().tag(**READERS)
    head = Int(None, allow_none=True).tag(**READERS)
    can_ask = Bool(False).tag(sync=True)
    message = Unicode().tag(sync=True)
    answers = Int(0).tag(sync=True)  # how many there were, so that the page hears of each

    def __init__(self, recording, run=None, alignment=None, kind="cross", layer=-1, head=0):
        facts, weights = _pack(recording, alignment or ())
        self.recording, self.run = recording, run
        super().__init__(
            facts=facts, weights=weights, kind=kind, layer=layer, head=head,
            can_ask=run is not None, message=" ".join(_doubts(recording)),
        )  # fmt: skip
        self.on_msg(lambda view, content, buffers: self.ask(content["sentence"]))

    def _shape(self, kind):
        """[L, h, T, S] of a kind."""
        if kind not in self.facts["shapes"]:
            there = ", ".join(self.facts["shapes"])
            raise ValueError(f"There is no {kind!r} attention here, only: {there}.")
        return self.facts["shapes"][kind]

    @validate("kind")
    def _known_kind(self, proposal):
        self._shape(proposal.value)
        return proposal.value

    @validate("layer", "head")
    def _known_index(self, proposal):
        count = self._shape(self.kind)[0 if proposal.trait.name == "layer" else 1]
        index = proposal.value
        if index is not None and not -count <= index < count:
            raise ValueError(f"There is no {proposal.trait.name} {index}: there are {count}.")
        return index if index is None else index % count

    @observe("kind")
    def _keep_within(self, change):
        layers, heads, _, _ = self._shape(self.kind)
        self.layer = min(self.layer, layers - 1)
        self.head = self.head if self.head is None else min(self.head, heads - 1)

    def ask(self, text):
        """Run the model on `text` and show what it did, or say in the view why not."""

        def run(text):
            recording = self.run(text)
            return recording, *_pack(recording, ())

        found, message = asked(run, text)
        with self.hold_sync():  # the page hears of all at once
            if found:
                self.recording, self.facts, self.weights = found
                message = " ".join([message, *_doubts(self.recording)]).strip()
            self.message = message
            self.answers += 1

    @property
    def A(self):
        """The matrix that is shown: (T, S)."""
        heads = torch.as_tensor(self.recording.attention[self.kind][self.layer])  # (h, T, S)
        return heads.mean(dim=0) if self.head is None else heads[self.head]

    def _names(self):
        """The names of its T rows and S columns."""
        facts = self.facts
        rows = facts["source"] if self.kind == "encoder" else facts["target"]
        return rows, facts["read"] if self.kind == "decoder" else facts["source"]

    def _which(self):
        head = "mean of the heads" if self.head is None else f"head {self.head}"
        return f"{KIND_TITLES[self.kind]}, layer {self.layer}, {head}"

    def __repr__(self):
        L, h, T, S = self._shape(self.kind)
        return f"AttentionView({self._which()}; {L} layers of {h} heads, {T} x {S} tokens)"

    def title(self):
        """The heading of the saved page."""
        return f"Attention: {self.facts['text']}"

    def describe(self):
        """The picture in words."""
        words = in_words(self.A, *self._names(), title=self._which())
        return f"{self.facts['text']} → {self.facts['translation']} {words}"

    def table(self):
        """The matrix that is shown: a row for each row, weights to two decimals."""
        rows, columns = self._names()
        return Table(
            ["", *columns],
            [
                [name, *(f"{weight:.2f}" for weight in row)]
                for name, row in zip(rows, self.A, strict=True)
            ],
        )

    def draw(self, figure):
        """Draw the head that is shown, and all heads of its kind beside it."""
        rows, columns = self._names()
        L, h, T, S = self._shape(self.kind)
        side = 0.26 if max(T, S) < 40 else 0.16
        figure.set_dpi(110 if max(T, S) < 40 else 90)
        thumb = min(0.7, 5 / h)
        width, height = thumb * h, thumb * L * T / S  # of all heads
        figure.set_size_inches(side * S + width + 2.6, max(side * T + 1.5, height + 0.8))
        left, right = figure.subplots(1, 2, width_ratios=[side * S + 0.4, width])
        style = {"vmin": 0, "vmax": 1, "cmap": "cividis", "interpolation": "nearest"}
        image = left.imshow(self.A.float().cpu().numpy(), **style)
        left.set_xticks(range(S), columns, rotation=90)
        left.set_yticks(range(T), rows)
        left.tick_params(labelsize=9 if side > 0.2 else 7, length=0)
        left.set_title(self._which(), fontsize=10)
        left.set_ylabel("source token" if self.kind == "encoder" else "token written")
        left.set_xlabel("token read" if self.kind == "decoder" else "source token")
        for s, t in self.facts["links"] if self.kind in ("cross", "length") else ():
            left.add_patch(Rectangle((s - 0.4, t - 0.4), 0.8, 0.8, fill=False, color="white", lw=2))
            left.add_patch(Rectangle((s - 0.4, t - 0.4), 0.8, 0.8, fill=False, color="black", lw=1))
        what = "share of the length" if self.kind == "length" else "weight"
        figure.colorbar(image, ax=left, label=what, shrink=0.7, pad=0.02)
        # All heads are one image: a mosaic with gaps, many times faster than many axes.
        gap = max(1, S // 8)
        mosaic = np.full((L * (T + gap), h * (S + gap)), np.nan)
        for layer, heads in enumerate(self.recording.attention[self.kind]):
            for m, A in enumerate(heads):
                y, x = layer * (T + gap), m * (S + gap)
                mosaic[y : y + T, x : x + S] = torch.as_tensor(A).detach().cpu().numpy()
        right.imshow(mosaic, **style)
        left.set_anchor("N")
        right.set_anchor("N")
        right.set_xticks(np.arange(h) * (S + gap) + (S - 1) / 2, range(h))
        right.set_yticks(np.arange(L) * (T + gap) + (T - 1) / 2, range(L))
        right.tick_params(labelsize=9, length=0)
        right.set(xlabel="head", ylabel="layer")
        right.set_title("all heads", fontsize=10)
        right.spines[:].set_visible(False)
        style = {"fill": False, "color": "black", "lw": 2.5, "clip_on": False}
        for m in range(h) if self.head is None else [self.head]:
            corner = (m * (S + gap) - 0.5, self.layer * (T + gap) - 0.5)
            right.add_patch(Rectangle(corner, S, T, **style))


def _doubts(recording):
    """A list of sentences that the reader should know before they believe the translation."""
    tokens = [token for token in recording.source if token not in ("[EOS]", "[PAD]")]
    unknown = [token for token in tokens if token == "[UNK]" or "\ufffd" in token]
    if not unknown or 3 * len(unknown) < len(tokens):
        return [DOUBT] if recording.doubted else []
    return [
        f"{len(unknown)} of its {len(tokens)} tokens are unknown characters: the model has hardly "
        "seen such text, and its translation means nothing."
    ]


def _pack(recording, alignment):
    """Facts and numbers of a recording, for the page; ValueError if they do not fit together."""
    source, target = list(recording.source), list(recording.target)
    sizes = {
        "encoder": (len(source), len(source)),
        "decoder": (len(target), len(target)),
        "cross": (len(target), len(source)),
        "length": (len(target), len(source)),
    }
    shapes, weights = {}, []
    for kind, (T, S) in sizes.items():
        layers = [torch.as_tensor(A) for A in recording.attention.get(kind, ())]
        for A in layers:
            if A.shape != (len(layers[0]), T, S):
                raise ValueError(
                    f"The {kind} attention has shape {tuple(A.shape)}; for {len(source)} source "
                    f"and {len(target)} target tokens it must be (heads, {T}, {S})."
                )
            weights.append(A.detach().cpu().float().numpy().tobytes())
        if layers:
            shapes[kind] = [len(layers), *layers[0].shape]
    if not shapes:
        raise ValueError("The recording holds no attention matrix.")
    links = sorted([int(s), int(t)] for s, t in alignment)
    for s, t in links:
        if not (0 <= s < len(source) and 0 <= t < len(target)):
            raise ValueError(
                f"The link ({s}, {t}) leads nowhere: there are {len(source)} source and "
                f"{len(target)} target tokens."
            )
    facts = {
        "text": recording.text,
        "translation": recording.translation,
        "source": source,
        "target": target,
        "read": recording.inputs,
        "shapes": shapes,
        "links": links,
    }
    return facts, b"".join(weights)
