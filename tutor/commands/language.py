"""Language models on the command line: their texts, `complete`, and how well they predict."""

import json
import math
import sys
from functools import partial

import torch

from tutor.attention import PAD
from tutor.commands.common import EN_FR, load_pairs, need_input, need_output, read_lines, say
from tutor.decoding import chooser, most_probable
from tutor.devices import device
from tutor.language_model import write_on
from tutor.text.batches import bucket
from tutor.text.normalize import normalize
from tutor.text.tokenizer import BOS
from tutor.training.checkpoint import load_language_model
from tutor.training.loss import language_loss

# The parts of a Llama, so that other programs open the model (`tutor.exchange.llama`).
LLAMA_PARTS = dict(
    max_len=256, positions="rope", norm="rms", feed_forward="swiglu", bias=False,
    scale_embedding=False,
)  # fmt: skip


def refuse_what_pairs_need(args):
    """Raise ValueError for options that a language model has no use for."""
    if args.data and len(args.data) > 1:
        raise ValueError("A language model reads one file, a text a line: --data FILE.")
    for name, instead in (
        ("pair", "it learns the English side of a corpus"),
        ("more", "put all texts into the one file of --data"),
    ):
        if getattr(args, name, None):
            raise ValueError(f"--{name} is for translators, not for a language model: {instead}.")


def load_texts(args, split, size):
    """The texts of --data, normalized and without blank lines, or English ones of a corpus."""
    if not args.data:
        return load_pairs(args.corpus, split, EN_FR, size)[0]
    [path] = args.data
    with open(path, "rb") as file:
        texts = [text for text in map(normalize, read_lines(file, path)) if text]
    if not texts:
        raise ValueError(f"{path} holds no text: write one a line into it.")
    return texts


def load_language(folder):
    """The LanguageModel, in float32, and the Tokenizer of a folder, which must have one."""
    model, tokenizer = load_language_model(folder)
    if tokenizer is None:
        raise ValueError(f"{folder} holds no tokenizer, so that its model cannot read texts.")
    return model.float(), tokenizer


def encode_texts(model, tokenizer, texts):
    """Each text's ids as the target of a pair without a source, in pieces that the model reads."""
    longest = model.config.max_len - 1  # and [BOS]
    return [
        ([], ids[start : start + longest])
        for ids in tokenizer.encode(texts)
        for start in range(0, len(ids), longest)
    ]


def run_complete(args):
    need_input()
    need_output()
    model, tokenizer = load_language(args.model)
    model.to(device())
    if args.seed is not None:
        torch.manual_seed(args.seed)
    temperature = args.temperature
    if temperature is None:
        temperature = 1.0 if args.top_p else 0.0
    greedily = partial(most_probable, k=1)
    choose = chooser(temperature, top_p=args.top_p) if temperature else greedily
    if sys.stdin.isatty():
        say("type a beginning and press Enter; end with Ctrl-D (Windows: Ctrl-Z, Enter)")
    for number, line in enumerate(read_lines(sys.stdin.buffer), 1):
        ids = tokenizer.encode(text) if (text := normalize(line)) else []
        room = model.config.max_len - len(ids)
        if room < 1:
            raise ValueError(
                f"Line {number} has {len(ids)} tokens, but the model reads {len(ids) + room - 1} "
                "at most: shorten it."
            )
        begun = torch.tensor([[BOS, *ids]], device=device())  # (1, T)
        [written] = write_on(model, begun, choose, min(args.tokens, room))
        # A model may write a line end; a line must stay a line.
        print(" ".join(tokenizer.decode(ids + written).splitlines()), flush=True)


@torch.inference_mode()
def evaluate_language(args, split, size):
    """Print how well a language model predicts texts that it has not seen."""
    refuse_what_pairs_need(args)
    if len(args.model) > 1 or args.beams > 1:
        raise ValueError("A language model is evaluated alone and searches nothing: one --model.")
    model, tokenizer = load_language(args.model[0])
    model.to(device())
    texts, nats, tokens = load_texts(args, split, size), 0.0, 0
    for batch in bucket(encode_texts(model, tokenizer, texts), max_tokens=4096):
        count = int((batch.target_out != PAD).sum())
        nats += count * float(language_loss(model, batch.to(device())))
        tokens += count
    result = {"data": args.data} if args.data else {"corpus": args.corpus, "split": split}
    result |= {
        "texts": len(texts),
        "tokens": tokens,
        "perplexity": round(math.exp(nats / tokens), 3),
        "bits_per_byte": round(nats / math.log(2) / sum(len(t.encode()) + 1 for t in texts), 4),
    }
    if args.json:
        print(json.dumps(result))
        return
    print(f"{len(texts):,} texts, {tokens:,} tokens, each text's [EOS] among them")
    print(f"perplexity     {result['perplexity']:8.2f}   a token")
    print(f"bits per byte  {result['bits_per_byte']:8.3f}   for any tokenizer, line ends included")
