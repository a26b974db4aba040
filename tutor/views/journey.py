"""JourneyView: one sentence on its whole way through a translator (chapters 00, 06, 09, 12)."""

import math
import warnings

import torch
from traitlets import Bool, Bytes, Dict, Int, Unicode, validate

from tutor.decoding import most_probable, write
from tutor.record import DOUBT
from tutor.text.normalize import normalize
from tutor.text.tokenizer import BOS, EOS, SPECIAL, UNK
from tutor.trace import check_scales, heads_of, scaled, sub_layers, trace
from tutor.views.base import READERS, Table, View, read_file, script
from tutor.views.journey_still import as_share, draw_journey, in_words

TOP = 12  # the most probable tokens that the page gets for each step


class JourneyView(View):
    """The forward pass that a translator made of one sentence: every number, from ids to logits.

    translator: has `model` (a Transformer), `tokenizer` and `encode`, as `tutor.Translator` has.
    text: one str. written: ids of the first tokens of the translation, chosen by the reader; the
    model goes on greedily. scales: a dict from place to factor, 0 switches off; see `tutor.trace`.
    step: which written token is looked at, from 0 (the view says "token 1"). place: the level that
    is looked at, "" (the whole model), a layer ("encoder.0"), a sub-layer ("decoder.2.cross") or a
    head of it ("decoder.2.cross.head.3"). bars: show the bars of the next token alone.

    The attributes `text`, `written`, `scales`, `step`, `place` and `walk` follow what the reader
    does; `numbers(name)` are those of the run that is shown, and `begin` starts another.
    Raises ValueError, in one sentence, for what the model cannot run.
    """

    _esm = script("journey")
    _css = View._css + read_file("journey.css")

    facts = Dict().tag(sync=True)  # of the run that is shown, see `begin`
    step = Int().tag(**READERS)
    place = Unicode().tag(**READERS)
    walk = Int().tag(**READERS)  # the step of the walk through the view, from 1; 0 is none
    bars = Bool().tag(sync=True)
    # What is drawn first, as `_packed` gives it: no view waits for a kernel at work elsewhere.
    _index = Dict().tag(sync=True)
    _buffer = Bytes().tag(sync=True)

    def __init__(self, translator, text, written=(), scales=None, step=0, place="", bars=False):
        self.translator = translator
        super().__init__(facts=self._run(text, written, scales or {}), bars=bars)
        self.step, self.place = step, place
        self._index, self._buffer = self._drawn_first()
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
            self._index, self._buffer = self._drawn_first()
        return facts

    def _run(self, text, written, scales):
        model, tokenizer = self.translator.model, self.translator.tokenizer
        if not isinstance(text, str) or not normalize(text):
            raise ValueError("Write a sentence first.")
        scales = check_scales(model, scales)
        check_list_of_ids(written, EOS, model.config.vocab_size)  # the others are never written
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            source = self.translator.encode_typed(text)
        messages = [str(warning.message) for warning in caught]
        shown = self.facts or {"source_ids": None}  # nothing yet
        draft = shown["target_ids"] if shown["source_ids"] == source else []
        target, self._numbers = write_and_trace(model, source, list(written), scales, draft)
        tokens = tokenizer.readable(source)
        strange = [token for token in tokens if token == SPECIAL[UNK] or "\ufffd" in token]
        if 2 * len(strange) > len(source) - 1:  # without [EOS]
            messages.append("The model never learned to read most of these characters.")
        elif not len(written) and not scales and self._is_doubted(text, source, target):
            messages.append(DOUBT)
        if target[-1] != EOS:
            messages.append(
                f"The translation did not end by itself and was cut after {len(target)} tokens."
            )
        written_tokens = tokenizer.readable(target)
        return {
            "text": text,
            "translation": self.translator.decode(text, target),
            "message": " ".join(messages),
            "written": target[: len(written)],
            "scales": scales,
            "source": tokens,
            "target": written_tokens,
            "read": [SPECIAL[BOS], *written_tokens[:-1]],
            "source_ids": source,
            "target_ids": target,
            "config": sizes_of(model),
            "lengths": {
                place: {
                    name: self._norms(f"{place}.{name}") for name in ("before", "adds", "after")
                }
                for place in sub_layers(model)
            },
            "heads": {
                place: self._norms(f"{place}.parts")  # h lists
                for place in sub_layers(model)
                if not place.endswith("ff")
            },
            **self._probabilities(),
        }

    def _is_doubted(self, text, source, target):
        log_p = self._numbers["logits"][:, EOS:].log_softmax(dim=-1)  # (T, never the first three)
        total = log_p[range(len(target)), [i - EOS for i in target]].sum().item()
        strange = self.translator.strangeness(text, len(source), len(target), total)
        return self.translator.doubts(strange)

    def _norms(self, name):
        """The lengths of the vectors that are called so, to four decimals, as lists."""
        return self.numbers(name).norm(dim=-1).double().round(decimals=4).tolist()

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
        """The traits, and the numbers that are drawn first: a model has the others."""
        index, buffer = self._drawn_first()
        return super().saved_state() | {"index": index, "buffer": buffer}

    def _drawn_first(self):
        last = f"decoder.{self.facts['config']['layers'] - 1}"
        side, layer, *kind = (self.place or last).split(".")
        kind = kind[0] if kind else "self" if side == "encoder" else "cross"
        sub_layer = f"{side}.{layer}.{kind}"  # that the page draws open
        names = [f"{sub_layer}.{name}" for name in ("Q", "K", "V", "E", "A", "Y", "hidden")]
        names += [f"{place}.A" for place in self.facts["heads"]]
        return self._packed([f"{last}.cross.A"] if self.bars else names)

    def _shares(self, count):
        """The most probable next tokens at the step: pairs (token, probability)."""
        log_sum_exp = self.facts["log_sum_exp"][self.step]
        top = self.facts["top"][self.step][:count]
        return [(token, math.exp(logit - log_sum_exp)) for token, _, logit in top]

    def _where(self):
        if self.bars:
            return "the next token"
        return in_words(self.place) if self.place else "the whole model"

    def _scaled(self):
        return "; ".join(f"{in_words(place)} × {x:g}" for place, x in self.scales.items())

    def _at(self):
        return f"token {self.step + 1} of {len(self.facts['target'])}"

    def __repr__(self):
        facts = self.facts
        return f"JourneyView({facts['text']!r}; {self._where()}, {self._at()})"

    def title(self):
        """The heading of the saved page."""
        return f"The journey of: {self.text}"

    def describe(self):
        """The picture in words."""
        facts = self.facts
        shares = ", ".join(f"{token} {as_share(share)}" for token, share in self._shares(3))
        changed = f" Scaled: {self._scaled()}." if self.scales else ""
        return (
            f"{facts['text']} → {facts['translation']}{changed} Shown: {self._where()}. At "
            f"{self._at()} the decoder reads {facts['read'][self.step]} and writes "
            f"{facts['target'][self.step]}; most probable: {shares}."
        )

    def table(self):
        """The most probable next tokens at the step, with probabilities to three decimals."""
        return Table(
            ["next token", "probability"],
            [[token, f"{share:.3f}"] for token, share in self._shares(TOP)],
        )

    def draw(self, figure):
        """Draw the level that is looked at, and the probabilities of the next token."""
        draw_journey(self, figure)


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
