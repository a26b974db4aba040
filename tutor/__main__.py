"""The command line: `python -m tutor train | translate | complete | evaluate | export`."""

import argparse
import errno
import math
import os
import sys
import warnings

from tutor.commands import streams
from tutor.commands.common import EN_FR, say
from tutor.commands.language import run_complete
from tutor.commands.train import run_train
from tutor.commands.translate import run_translate
from tutor.decoding import ALPHA
from tutor.text.multi30k import PAIRS
from tutor.training.recipes import PRECISIONS

DESCRIPTION = """\
Train a small Transformer that translates English, translate with it, and measure how well it does.

examples:
  python -m tutor train --minutes 2 --out models/mine
  echo "A man is riding a horse." | python -m tutor translate --model models/mine
  python -m tutor evaluate --corpus multi30k --split test_2016_flickr --json

`python -m tutor COMMAND --help` explains a command. A GPU is used if there is
one; the environment variable TUTOR_DEVICE names another device.
"""
TRAIN = """\
Train a translator from nothing, or a language model, and write it into a model folder at the end.

The built-in corpus needs no files: a grammar generates captions of everyday scenes. Multi30k are
29,000 captions of photographs; they are downloaded once, or read from the folder that the
environment variable TUTOR_DATA names.

Reading the sentences, learning the tokenizer and a short measured start belong to the minutes; what
is left of them becomes a number of steps. The same steps, seed and machine give the same model.

With --task language a decoder alone learns to write texts on: the English side of a corpus, or the
one file of --data, a text a line. `python -m tutor complete` writes with it.

With --data the pairs of two text files, of any two languages, take the corpus's place: each line of
the one is the translation of the same line of the other. With --more such pairs belong to the
training besides: sentences of your own, or translations that a trained model wrote. The tokenizer
is learned from the corpus or from --data alone. With --start the training goes on from the weights
of a trained model, at half of the rates, and takes its sizes and its tokenizer.

Until the model is written, FOLDER.training beside it holds checkpoints. Killed at any moment, the
same command with --resume goes on from the last one and ends with the same model. Ctrl-C stops
after a step and writes the model so far.

Under torchrun several processes share each batch; the model is that of one process, but for
rounding and dropout.

examples:
  python -m tutor train
  python -m tutor train --corpus multi30k --pair en-de --minutes 20 --out models/german
  python -m tutor train --data mine.en mine.es --minutes 1 --out models/mine
  python -m tutor train --steps 500 --seed 3 --out models/short --resume
  python -m tutor train --task language --data texts.txt --minutes 5 --out models/writer
  torchrun --nproc-per-node 2 -m tutor train --steps 2000 --out models/shared
"""
TRANSLATE = """\
Translate standard input to standard output, one sentence a line, in UTF-8. Empty lines stay empty.
Lines that are unlike what the model was trained on are named on standard error.

examples:
  echo "A dog runs on the beach." | python -m tutor translate
  python -m tutor translate --beams 5 --model models/mine < english.txt > french.txt
  python -m tutor translate --beams 5 --model first --model second < english.txt > french.txt
"""
COMPLETE = """\
Write each line of standard input on with a language model: the line and its continuation, until the
text ends or has so many tokens more. An empty line begins a text from nothing.

examples:
  echo "A man is" | python -m tutor complete --model models/writer
  python -m tutor complete --model models/writer --temperature 0.8 --top-p 0.9 < beginnings.txt
"""
EXPORT_HELP = """\
Write a model for other programs, which need nothing of this package.

onnx: an encoder, one decoder step with its cache, the tokenizer, and a small JSON.
examples/translate_with_onnx.py translates with them, without PyTorch. Writing them needs the
packages onnx and onnxscript.

huggingface: a folder that AutoModelForSeq2SeqLM.from_pretrained opens, with the same logits.
examples/translate_with_huggingface.py translates with it. A language model becomes a Llama or a
relative, for AutoModelForCausalLM, if it has their parts, as those that `train` makes have.

examples:
  python -m tutor export --out exported
  python -m tutor export --to huggingface --model models/mine --out exported
"""
EVALUATE = """\
Translate sentences that training never saw and compare with the reference translations.

Prints BLEU in two flavours, which must never be compared with each other: cased text, and
lower-cased Moses tokens, as most papers on Multi30k have it (for a corpus, whose language is
known); also chrF and, for --data and the built-in corpus, the share of translations that equal
their reference exactly. Of a language model it prints the perplexity of such texts.

examples:
  python -m tutor evaluate --model models/mine
  python -m tutor evaluate --corpus multi30k --split test_2016_flickr --beams 5 --json
  python -m tutor evaluate --model models/mine --data test.en test.es
"""


class Parser(argparse.ArgumentParser):
    """An ArgumentParser whose complaint is one line."""

    def __init__(self, *args, **kwargs):
        layout = argparse.RawDescriptionHelpFormatter
        super().__init__(*args, formatter_class=layout, allow_abbrev=False, **kwargs)

    def error(self, message):
        say(f"{message} (try: {self.prog} --help)")
        sys.exit(2)


def make_parser():
    parser = Parser(prog="python -m tutor", description=DESCRIPTION)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(run, name, brief, description):
        child = commands.add_parser(name, help=brief, description=description)
        child.set_defaults(run=run)
        return child

    def add_corpus(child):
        child.add_argument(
            "--corpus", choices=("builtin", "multi30k"), default="builtin",
            help="which sentences (default: %(default)s)",
        )  # fmt: skip
        child.add_argument(
            "--pair", choices=PAIRS,
            help=f"languages, from and to; others with multi30k only (default: {EN_FR})",
        )  # fmt: skip
        child.add_argument(
            "--data", nargs="+", metavar=("SOURCE", "TARGET"),
            help="two text files of sentence pairs, a line each, in place of a corpus; one file "
            "for a language model",
        )  # fmt: skip

    def add_model(child):
        child.add_argument(
            "--model", metavar="FOLDER", help="a model folder (default: the model that ships)"
        )

    def add_search(child):
        child.add_argument(
            "--model", metavar="FOLDER", action="append",
            help="a model folder (default: the model that ships); given several times, the mean "
            "of their log-probabilities chooses",
        )  # fmt: skip
        child.add_argument(
            "--beams", type=number(int, 1, 100), default=1, metavar="B",
            help="how many translations to keep while searching (default: %(default)s, greedy)",
        )  # fmt: skip
        child.add_argument(
            "--alpha", type=number(float, 0, 10), default=ALPHA, metavar="A",
            help="strength of the length penalty of a search (default: %(default)s)",
        )  # fmt: skip

    child = command(run_train, "train", "train a translator or a language model", TRAIN)
    child.add_argument(
        "--task", choices=("translation", "language"), default="translation",
        help="what the model learns (default: %(default)s)",
    )  # fmt: skip
    add_corpus(child)
    budget = child.add_mutually_exclusive_group()
    budget.add_argument(
        "--minutes", type=number(float, 0.01, 10_000), metavar="M", default=2.0,
        help="how long to train (default: %(default)g)",
    )  # fmt: skip
    budget.add_argument(
        "--steps", type=number(int, 1, 10_000_000), metavar="S",
        help="how many batches to train on",
    )  # fmt: skip
    child.add_argument(
        "--out", metavar="FOLDER",
        help="the model folder (default: models/CORPUS-PAIR; with --data models/mine; of a "
        "language model models/language)",
    )  # fmt: skip
    child.add_argument(
        "--force", action="store_true", help="replace a model that the folder holds already"
    )
    child.add_argument(
        "--seed", type=number(int, 0, 2**32), default=0, metavar="N",
        help="for weights, order and dropout (default: %(default)s)",
    )  # fmt: skip

    taken = child.add_mutually_exclusive_group()
    taken.add_argument(
        "--start", metavar="FOLDER",
        help="go on from the weights of this model folder, with its sizes and tokenizer",
    )  # fmt: skip
    taken.add_argument(
        "--tokenizer", metavar="FOLDER",
        help="take the tokenizer of this model folder, in place of learning one",
    )  # fmt: skip
    child.add_argument(
        "--more", nargs=2, action="append", default=[], metavar=("SOURCE", "TARGET"),
        help="two text files with more sentence pairs, a line each; may be given several times",
    )  # fmt: skip
    child.add_argument(
        "--precision", choices=PRECISIONS,
        help="of products: highest is float32; bfloat16 rounds what is multiplied (default: on a "
        "GPU bfloat16, on a CPU the one that is faster here, measured first)",
    )  # fmt: skip
    child.add_argument(
        "--resume", action="store_true",
        help="go on where this training was stopped, with the same options; else begin",
    )  # fmt: skip
    child.add_argument(
        "--checkpoint-every", type=number(int, 1, 10_000_000), default=250, metavar="S",
        help="steps between two checkpoints (default: %(default)s)",
    )  # fmt: skip

    child = command(run_translate, "translate", "translate lines of text", TRANSLATE)
    add_search(child)

    child = command(run_complete, "complete", "write texts on", COMPLETE)
    child.add_argument(
        "--model", metavar="FOLDER", required=True, help="the folder of a language model"
    )
    child.add_argument(
        "--temperature", type=number(float, 0, 1000), metavar="T",
        help="0 writes the most probable token; above, tokens are drawn, below 1 more often the "
        "probable ones (default: 0, with --top-p 1)",
    )  # fmt: skip
    child.add_argument(
        "--top-p", type=number(float, 0.001, 1), metavar="P",
        help="draw from the fewest tokens that have this share of the probability together",
    )  # fmt: skip
    child.add_argument(
        "--tokens", type=number(int, 1, 100_000), default=50, metavar="N",
        help="how many tokens to write at most (default: %(default)s)",
    )  # fmt: skip
    child.add_argument(
        "--seed", type=number(int, 0, 2**32), metavar="N",
        help="of the drawing (default: another one each time)",
    )  # fmt: skip

    child = command(run_evaluate, "evaluate", "measure a translator or a language model", EVALUATE)
    add_corpus(child)
    child.add_argument(
        "--split", metavar="NAME",
        help="builtin: train, val or test (the default); multi30k: train, val or test_2016_flickr "
        "(the default)",
    )  # fmt: skip
    child.add_argument("--json", action="store_true", help="print one line of JSON")
    add_search(child)
    child = command(run_export, "export", "write a model for other programs", EXPORT_HELP)
    add_model(child)
    child.add_argument(
        "--to", choices=("onnx", "huggingface"), default="onnx",
        help="for which programs (default: %(default)s)",
    )  # fmt: skip
    child.add_argument("--out", metavar="FOLDER", required=True, help="where to write")

    return parser


def number(kind, least, most):
    """A checked type for argparse: from `least` to `most`."""

    def convert(text):
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            name = "whole number" if kind is int else "number"
            raise argparse.ArgumentTypeError(f"{text!r} is not a {name} from {least} to {most:,}")
        return value

    return convert


def run_evaluate(args):
    from tutor.commands import evaluate  # its scores take long to import

    evaluate.run_evaluate(args)


def run_export(args):
    from tutor.commands.common import load_card, load_translator
    from tutor.training.checkpoint import is_language_model, load_language_model

    if args.model and is_language_model(args.model):
        from tutor.exchange import llama

        if args.to != "huggingface":
            raise ValueError("A language model is not written as ONNX: add --to huggingface.")
        model, tokenizer = load_language_model(args.model)
        llama.export(model, args.out, tokenizer)
        say(f"written: {args.out}")
        return
    translator = load_translator(args.model)
    if args.to == "huggingface":
        from tutor.exchange import huggingface

        huggingface.export(translator, args.out, card=load_card(args.model))
    else:
        from tutor.exchange import onnx  # takes long to import

        onnx.export(translator, args.out)
    say(f"written: {args.out}")


def main(argv=None):
    """Run one command; returns the exit code: 0, 1 (reader gone), 2 (wrong use), 130 (Ctrl-C)."""
    streams.prepare()
    if sys.stdout is not None:
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    warnings.showwarning = lambda message, *_: say(message)
    args = make_parser().parse_args(argv)
    try:
        code = args.run(args)
        print(end="", flush=True)
    except KeyboardInterrupt:
        say("stopped" + (": no model was saved" if args.command == "train" else ""))
        return 130
    except (ValueError, OSError, ImportError) as error:
        # The reader of our output has gone, which Windows reports as EINVAL.
        gone = sys.platform == "win32" and getattr(error, "errno", None) == errno.EINVAL
        if gone or isinstance(error, BrokenPipeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        say(" ".join(str(error).split()))
        return 2
    return code or 0


if __name__ == "__main__":
    sys.exit(main())
