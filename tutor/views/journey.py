"""JourneyView: one sentence on its whole way through a translator (chapters 00, 05, 08, 10)."""

import math
import warnings

import torch
from matplotlib.patches import Rectangle
from traitlets import Dict, Int, Unicode, validate

from tutor.decoding import most_probable, write
from tutor.figures import COLOURS
from tutor.text.tokenizer import BOS, EOS, SPECIAL, UNK
from tutor.trace import check_scales, heads_of, scaled, sub_layers, trace
from tutor.views.base import READERS, Table, View, read_file, script

PARTS = ("_source", "_parts", "_words", "_map", "_next", "_layer", "_head", "_changes", "")
TOP = 12  # the most probable tokens that the page gets for each step


class JourneyView(View):
    """The forward pass that a translator made of one sentence: every number, from ids to logits.

    translator: has `model` (a Transformer), `tokenizer` and `encode`, as `tutor.Translator` has.
    text: one str. written: ids of the first tokens of the translation, chosen by the reader; the
    model goes on greedily. scales: a dict from place to factor, 0 switches off; see `tutor.trace`.
    step: which written token is looked at. place: the level that is looked at, "" (the whole
    model), a layer ("encoder.0"), a sub-layer ("decoder.2.cross") or a head of it
    ("decoder.2.cross.head.3").

    The attributes `text`, `written`, `scales`, `step` and `place` follow the reader's choice;
    `numbers(name)` are those of the run that is shown, and `begin` starts another.
    Raises ValueError, in one sentence, for what the model cannot run.
    """

    _esm = script(*(f"journey{part}.js" for part in PARTS))
    _css = View._css + read_file("journey.css")

    facts = Dict().tag(sync=True)  # of the run that is shown, see `begin`
    step = Int().tag(**READERS)
    place = Unicode().tag(**READERS)

    def __init__(self, translator, text, written=(), scales=None, step=0, place=""):
        self.translator = translator
        super().__init__(facts=self._run(text, written, scales or {}))
        self.step, self.place = step, place
        self.on_msg(lambda view, content, buffers: self.answer(content))

    @property
    def text(self):
        return self.facts["text"]

    @property
    def written(self):
        return self.facts["written"]

    @property
    def scales(self):
        return self.facts["scales"]

    @validate("step")
    def _known_step(self, proposal):
        count = len(self.facts["target"])
        if not -count <= proposal.value < count:
            raise ValueError(f"There is no step {proposal.value}: there are {count}.")
        return proposal.value % count

    @validate("place")
    def _known_place(self, proposal):
        place = proposal.value
        there = {""}
        for sub_layer in sub_layers(self.translator.model):
            there |= {sub_layer.rpartition(".")[0], sub_layer}
            there.update(heads_of(self.translator.model, sub_layer))
        if place not in there:
            raise ValueError(
                f'There is no place {place!r}: it is "", a layer as "encoder.0", a sub-layer as '
                '"encoder.0.self" or a head as "encoder.0.self.head.0".'
            )
        return place

    def begin(self, text, written=(), scales=None):
        """Run the model and show what it did. Returns the facts, a dict for the page:

        text, translation, message (what the reader should know), written, scales; source (S
        tokens), target (the T written ones), read (T, [BOS] first), source_ids, target_ids;
        config; lengths: sub-layer -> {"before", "adds", "after"}: the length of the vector at each
        position; heads: sub-layer -> of each head the length of its part at each position; top: for
        each step [token, id, logit] of the most probable ones ([PAD], [UNK] and
        [BOS], which are never written, left out); log_sum_exp: of all logits of each step.
        """
        facts = self._run(text, written, scales or {})
        with self.hold_sync():
            self.facts = facts
            self.step = min(self.step, len(facts["target"]) - 1)
        return facts

    def _run(self, text, written, scales):
        model, tokenizer = self.translator.model, self.translator.tokenizer
        if not isinstance(text, str) or not text.strip():
            raise ValueError("Write a sentence first.")
        scales = check_scales(model, scales)
        check_list_of_ids(written, EOS, model.config.vocab_size)  # the others are never written
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            [source] = self.translator.encode([text])
        messages = [str(warning.message) for warning in caught]
        shown = self.facts or {"source_ids": None}  # nothing yet
        draft = shown["target_ids"] if shown["source_ids"] == source else []
        target, self._numbers = write_and_trace(model, source, list(written), scales, draft)
        tokens = tokenizer.readable(source)
        strange = [token for token in tokens if token == SPECIAL[UNK] or "\ufffd" in token]
        if 2 * len(strange) > len(source) - 1:  # without [EOS]
            messages.append("The model never learned to read most of these characters.")
        if target[-1] != EOS:
            messages.append(
                f"The translation did not end by itself and was cut after {len(target)} tokens."
            )
        written_tokens = tokenizer.readable(target)
        return {
            "text": text,
            "translation": tokenizer.decode(target),
            "message": " ".join(messages),
            "written": target[: len(written)],
            "scales": scales,
            "source": tokens,
            "target": written_tokens,
            "read": [SPECIAL[BOS], *written_tokens[:-1]],
            "source_ids": source,
            "target_ids": target,
            "config": sizes_of(model),
            "lengths": self._lengths(),
            "heads": self._head_lengths(),
            **self._probabilities(),
        }

    def _lengths(self):
        """Of what each sub-layer adds to every position, and of the stream before and after."""
        return {
            place: {
                name: [round(x, 4) for x in self.numbers(f"{place}.{name}").norm(dim=-1).tolist()]
                for name in ("before", "adds", "after")
            }
            for place in sub_layers(self.translator.model)
        }

    def _head_lengths(self):
        """Of the part that each head adds to every position: sub-layer -> h lists."""
        return {
            place: [
                [round(x, 4) for x in row]
                for row in self.numbers(f"{place}.parts").norm(dim=-1).tolist()
            ]
            for place in sub_layers(self.translator.model)
            if not place.endswith("ff")
        }

    def _probabilities(self):
        Z = self.numbers("logits")  # (T, vocab_size)
        best, ids = Z[:, EOS:].topk(min(TOP, Z.shape[1] - EOS))  # (T, 12) each
        best, ids = best.tolist(), (ids + EOS).tolist()
        readable = self.translator.tokenizer.readable
        return {
            "top": [
                [[token, i, z] for token, i, z in zip(readable(row), row, logits, strict=True)]
                for row, logits in zip(ids, best, strict=True)
            ],
            "log_sum_exp": Z.double().logsumexp(-1).tolist(),
        }

    def numbers(self, name):
        """A tensor of the run that is shown, by its name (`tutor.trace.trace`): float32.

        "logits.3" is row 3 of "logits". Raises ValueError for a name that is not there.
        """
        if not isinstance(name, str):
            raise ValueError(f"The name of numbers is a text, not {name!r}.")
        what, _, row = name.rpartition(".")
        if what == "logits" and row.isdecimal() and int(row) < len(self._numbers["logits"]):
            X = self._numbers["logits"][int(row)]  # (vocab_size,)
        elif name in self._numbers:
            X = self._numbers[name]
        else:
            raise ValueError(f"There are no numbers called {name!r}.")
        return X.float().cpu()

    def answer(self, question):
        """Send what the page asks for, or say in one sentence why not.

        A question is {"ask": its name} with one of "begin": {text, written, scales}, "numbers": a
        list of names, "tokens": ids. The answer is {"answer": that name} with "facts", "shapes" and
        as many buffers of float32, "tokens" or "error".
        """
        answer, buffers = {"answer": question.get("ask")}, None
        try:
            if "begin" in question:
                answer["facts"] = self.begin(**question["begin"])
            elif "numbers" in question:
                found = [self.numbers(name) for name in question["numbers"]]
                answer["shapes"] = [list(X.shape) for X in found]
                buffers = [X.numpy().astype("<f4").tobytes() for X in found]
            elif "tokens" in question:
                ids = question["tokens"]
                check_list_of_ids(ids, 0, self.translator.model.config.vocab_size)
                answer["tokens"] = self.translator.tokenizer.readable(ids)
            else:
                raise ValueError("A question is begin, numbers or tokens.")
        except Exception as error:  # whatever it is, the reader should see it, and go on
            answer["error"] = str(error).partition("\n")[0] or type(error).__name__
        self.send(answer, buffers)

    def _packed(self, names=None):
        """The numbers of these names, or all, for a page: (name -> [start, *shape], their bytes).

        Of each float32 the lowest of its 4 bytes is rounded away: at most a 65,536th of it.
        """
        index, rows, parts, end = {}, {}, [], 0
        for name, X in self._numbers.items():
            if names is not None and name not in names:
                continue
            key = (X.data_ptr(), X.shape)  # "after" and the next "before" are one tensor
            if key not in rows:
                rows[key] = [end, *X.shape]
                bits = self.numbers(name).numpy().astype("<f4").ravel().view("<u4") + 0x80
                parts.append(bits.view("u1").reshape(-1, 4)[:, 1:].tobytes())
                end += X.numel()
            index[name] = rows[key]
        for t in range(len(self.facts["target"]) if "logits" in index else 0):
            start, _, size = index["logits"]
            index[f"logits.{t}"] = [start + t * size, size]
        return index, b"".join(parts)

    def saved_state(self):
        """The traits, and all numbers of the run: there is no kernel that could be asked."""
        index, buffer = self._packed()
        return super().saved_state() | {"index": index, "buffer": buffer}

    def opened_state(self):
        """The traits, and the numbers that the opened place draws: a model has the others."""
        sub_layer = self.place.partition(".head.")[0]
        names = [f"{sub_layer}.{name}" for name in ("Q", "K", "V", "E", "A", "Y", "hidden")]
        index, buffer = self._packed(names)
        return super().saved_state() | {"index": index, "buffer": buffer}

    def _shares(self, count):
        """The most probable next tokens at the step: pairs (token, probability)."""
        log_sum_exp = self.facts["log_sum_exp"][self.step]
        top = self.facts["top"][self.step][:count]
        return [(token, math.exp(logit - log_sum_exp)) for token, _, logit in top]

    def _where(self):
        return self.place or "the whole model"

    def _scaled(self):
        return ", ".join(f"{place} × {factor:g}" for place, factor in self.scales.items())

    def __repr__(self):
        facts = self.facts
        return (
            f"JourneyView({facts['text']!r}; {self._where()}, step {self.step}; "
            f"{len(facts['source'])} source and {len(facts['target'])} target tokens)"
        )

    def title(self):
        """The heading of the saved page."""
        return f"The journey of: {self.text}"

    def describe(self):
        """The picture in words."""
        shares = ", ".join(f"{token} {as_percent(share)}" for token, share in self._shares(3))
        changed = f" Scaled: {self._scaled()}." if self.scales else ""
        return (
            f"{self.text} → {self.facts['translation']}{changed} Shown: {self._where()}. At step "
            f"{self.step} the decoder reads {self.facts['read'][self.step]}; most probable next: "
            f"{shares}."
        )

    def table(self):
        """The most probable next tokens at the step, with probabilities to three decimals."""
        return Table(
            ["next token", "probability"],
            [[token, f"{share:.3f}"] for token, share in self._shares(TOP)],
        )

    def draw(self, figure):
        """Draw the level that is looked at, and the probabilities of the next token."""
        if self.place:
            self._draw_place(figure)
        else:
            figure.set_size_inches(10.5, 4.2)
            left, right = figure.subplots(1, 2, width_ratios=[8, 2])
            self._draw_model(left)
            self._draw_next(right)
        if self.scales:
            figure.suptitle(f"scaled: {self._scaled()}", fontsize=10)

    def _draw_place(self, figure):
        """A layer, a sub-layer or a head as maps, beside the next token."""
        S, T = len(self.facts["source"]), len(self.facts["target"])
        if self.place.endswith(("self", "cross")) or ".head." in self.place:
            draw = self._draw_heads
        else:
            draw = self._draw_lengths
        width = 0.3 * max(S, T) + 3
        figure.set_size_inches(width + 3.2, 0.3 * max(T, 12) + 2)
        left, right = figure.subplots(1, 2, width_ratios=[width, 3])
        image, what = draw(left)
        figure.colorbar(image, ax=left, label=what, shrink=0.7, pad=0.02, location="bottom")
        left.tick_params(labelsize=8, length=0)
        self._draw_next(right)

    def _draw_next(self, right):
        """The probabilities of the next token as bars."""
        tokens, shares = zip(*self._shares(8), strict=True)
        bars = right.barh(range(len(tokens)), shares, color=COLOURS[0])
        right.bar_label(bars, [as_percent(share) for share in shares], fontsize=8, padding=3)
        right.set_yticks(range(len(tokens)), tokens)
        right.set(xlim=(0, 1.2), xticks=(0, 0.5, 1), xlabel="probability")
        right.spines["bottom"].set_bounds(0, 1)
        right.set_title(f"next token, step {self.step}", fontsize=10)
        right.invert_yaxis()
        right.spines[["top", "right"]].set_visible(False)
        right.tick_params(labelsize=8, length=0)

    def _draw_model(self, ax):
        """The way from left to right: source, encoder, memory, decoder, with what each adds."""
        facts, layers = self.facts, self.facts["config"]["layers"]
        lengths = facts["lengths"]
        sides = (("encoder", 0, 0, COLOURS[0]), ("decoder", layers + 0.6, self.step, COLOURS[1]))
        at = {side: position for side, _, position, _ in sides}
        longest = max(lengths[p]["adds"][at[p.partition(".")[0]]] for p in lengths)
        ax.set(xlim=(-1.3, 2 * layers + 1), ylim=(3.3, -0.5))
        ax.set_axis_off()
        frame = {"fill": False, "edgecolor": "#808080"}
        for side, first, position, colour in sides:
            token = facts["source" if side == "encoder" else "read"][position]
            ax.text(first, -0.3, f"{side}: adds to the vector of {token}", fontsize=9)
            for layer in range(layers):
                kinds = [k for k in ("self", "cross", "ff") if f"{side}.{layer}.{k}" in lengths]
                ax.text(first + layer + 0.45, -0.05, f"layer {layer}", fontsize=8, ha="center")
                for i, kind in enumerate(kinds):
                    high = 3 / len(kinds)
                    x, y = first + layer, i * high + 0.05
                    adds = lengths[f"{side}.{layer}.{kind}"]["adds"][position]
                    ax.add_patch(Rectangle((x, y), 0.9, high - 0.1, **frame))
                    ax.text(x + 0.06, y + 0.3, f"{kind} {adds:.0f}", fontsize=8)
                    ax.add_patch(Rectangle((x + 0.06, y + 0.4), 0.78 * adds / longest, 0.14,
                                           facecolor=colour))  # fmt: skip
        ax.add_patch(Rectangle((layers + 0.1, 0.05), 0.3, 2.9, **frame))
        ax.text(layers + 0.25, 1.5, "memory", fontsize=9, rotation=90, ha="center", va="center")
        shown = facts["source"][:12]
        for s, token in enumerate(shown):
            ax.text(-0.15, 0.2 + 3 * s / 12, token, fontsize=8, ha="right",
                    weight="bold" if s == 0 else "normal")  # fmt: skip
        if len(facts["source"]) > len(shown):
            ax.text(-0.15, 0.2 + 3, "…", fontsize=8, ha="right")
        ax.text(0, 3.25, "Numbers and bars: how long the added vector is.", fontsize=8)

    def _draw_lengths(self, ax):
        """How long the vectors are that the sub-layers of the place add, position by position."""
        lengths, side = self.facts["lengths"], self.place.partition(".")[0]
        longest = max(max(each["adds"]) for each in lengths.values())
        here = [p for p in lengths if f"{p}.".startswith(f"{self.place}.")]
        tokens = self.facts["source" if side == "encoder" else "read"]
        rows = [lengths[place]["adds"] for place in here]
        image = ax.imshow(rows, vmin=0, vmax=longest, cmap="cividis", aspect="auto")
        ax.set_xticks(range(len(tokens)), tokens, rotation=90)
        ax.set_yticks(range(len(here)), [place.partition(".")[2] for place in here])
        ax.invert_yaxis()  # the way goes up
        if side == "decoder":
            mark_step(ax, self.step - 0.5, -0.5, 1, len(here))
        ax.set_title(self.place, fontsize=10)
        ax.set_xlabel("source token" if side == "encoder" else "token read")
        return image, "length of what is added"

    def _draw_heads(self, ax):
        """The weights of the heads of the place, side by side in one image."""
        place, _, head = self.place.partition(".head.")
        A = self.numbers(f"{place}.A")  # (h, T, S)
        A = A[int(head)][None] if head else A
        h, T, S = A.shape
        columns = self.facts[
            "read" if place.startswith("decoder") and "self" in place else "source"
        ]
        rows = self.facts["source" if place.startswith("encoder") else "read"]
        gaps = torch.nn.functional.pad(A, (0, 1), value=math.nan)  # (h, T, S + 1)
        mosaic = gaps.transpose(0, 1).flatten(1)[:, :-1]  # (T, h * (S + 1) - 1)
        image = ax.imshow(mosaic.numpy(), vmin=0, vmax=1, cmap="cividis", aspect="auto")
        ax.set_yticks(range(T), rows)
        if place.startswith("decoder"):
            mark_step(ax, -0.5, self.step - 0.5, mosaic.shape[1], 1)
        if head:
            ax.set_xticks(range(S), columns, rotation=90)
        else:
            ax.set_xticks([m * (S + 1) + (S - 1) / 2 for m in range(h)], range(h))
            ax.set_xlabel("head")
        ax.set_title(self.place, fontsize=10)
        return image, "weight"


def as_percent(share):
    """A share as a whole number of percent."""
    return f"{share:.0%}" if share >= 0.005 else "< 1%"


def mark_step(ax, x, y, width, height):
    """An outline round the row or column of the step, legible on every colour."""
    for colour, lw in (("white", 3), ("black", 1.2)):
        ax.add_patch(Rectangle((x, y), width, height, fill=False, color=colour, lw=lw))


def check_list_of_ids(ids, first, end):
    """Raise ValueError unless `ids` is a list of whole numbers from `first` to below `end`."""
    whole = isinstance(ids, list | tuple) and all(type(i) is int for i in ids)
    if not whole or not all(first <= i < end for i in ids):
        raise ValueError(f"Ids must be a list of whole numbers from {first} to {end - 1}.")


def sizes_of(model):
    """The sizes of a model that a page wants to know."""
    config, attention = model.config, next(iter(sub_layers(model).values())).attention
    return {
        "layers": config.num_layers,
        "heads": config.num_heads,
        "d_model": config.d_model,
        "d_k": attention.d_k,
        "d_v": attention.d_v,
        "d_ff": config.d_ff,
        "vocab_size": config.vocab_size,
        "norm_first": config.norm_first,
    }


def write_and_trace(model, source, written, scales, draft):
    """The ids of a translation that begins with `written`, and the trace of its forward pass.

    draft: ids of an earlier translation of `source`, or none. Where the model would write it again,
    as after most changes of one head, the one pass that is needed anyway shows it.
    """
    if EOS in written:
        written = written[: written.index(EOS) + 1]
    target = written + draft[len(written) :]
    if draft and EOS in target:
        numbers = trace(model, source, [BOS, *target[:-1]], scales)
        best = numbers["logits"][len(written) :, EOS:].argmax(-1) + EOS  # the greedy choices
        if best.tolist() == target[len(written) :]:
            return target, numbers
    target = write_on(model, source, written, scales)
    return target, trace(model, source, [BOS, *target[:-1]], scales)


def write_on(model, source, written, scales):
    """The ids of the greedy translation that begins with `written`, [EOS] included."""
    left = iter(written)

    def choose(Z):
        share, best = most_probable(Z, 1)  # (1, 1) each
        return share, best.fill_(next(left, best.item()))

    source_ids = torch.tensor([source], device=next(model.parameters()).device)  # (1, S)
    with scaled(model, scales):
        [found] = write(model, source_ids, choose)
    return found.ids + [EOS] * found.finished
