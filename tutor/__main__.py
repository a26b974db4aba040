"""The command line: `python -m tutor train | translate | complete | evaluate | export`."""

import argparse
import errno
import math
import os
import sys
import warnings
from pathlib import Path

from tutor.commands import streams
from tutor.commands.common import EN_FR, say
from tutor.commands.language import run_complete
from tutor.commands.train import run_train
from tutor.commands.translate import run_translate
from tutor.decoding import ALPHA
from tutor.text.multi30k import PAIRS
from tutor.training.recipes import PRECISIONS

HELP = Path(__file__).parent / "commands" / "help"  # a text for each command


class Parser(argparse.ArgumentParser):
    """An ArgumentParser whose complaint is one line."""

    def __init__(self, *args, **kwargs):
        layout = argparse.RawDescriptionHelpFormatter
        super().__init__(*args, formatter_class=layout, allow_abbrev=False, **kwargs)

    def error(self, message):
        say(f"{message} (try: {self.prog} --help)")
        sys.exit(2)


def make_parser():
    def text(name):
        return (HELP / f"{name}.txt").read_text(encoding="utf-8")

    parser = Parser(prog="python -m tutor", description=text("tutor"))
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(run, name, brief):
        child = commands.add_parser(name, help=brief, description=text(name))
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

    child = command(run_train, "train", "train a translator or a language model")
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

    child = command(run_translate, "translate", "translate lines of text")
    add_search(child)

    child = command(run_complete, "complete", "write texts on")
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

    child = command(run_evaluate, "evaluate", "measure a translator or a language model")
    add_corpus(child)
    child.add_argument(
        "--split", metavar="NAME",
        help="builtin: train, val or test (the default); multi30k: train, val or test_2016_flickr "
        "(the default)",
    )  # fmt: skip
    child.add_argument("--json", action="store_true", help="print one line of JSON")
    add_search(child)
    child = command(run_export, "export", "write a model for other programs")
    child.add_argument(
        "--model", metavar="FOLDER", help="a model folder (default: the model that ships)"
    )
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
    from tutor.commands.language import load_language
    from tutor.exchange import huggingface, llama, onnx
    from tutor.training.checkpoint import is_language_model, load_language_model

    if args.model and is_language_model(args.model):
        if args.to == "onnx":
            onnx.export_language_model(*load_language(args.model), args.out)
        else:
            model, tokenizer = load_language_model(args.model)
            llama.export(model, args.out, tokenizer)
    elif args.to == "onnx":
        onnx.export(load_translator(args.model), args.out)
    else:
        huggingface.export(load_translator(args.model), args.out, card=load_card(args.model))
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
