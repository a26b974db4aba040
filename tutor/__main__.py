"""The command line: `python -m tutor train | translate | evaluate`."""

import argparse
import errno
import hashlib
import itertools
import json
import math
import os
import platform
import shutil
import sys
import time
import warnings
from dataclasses import asdict
from pathlib import Path

import tokenizers
import torch
from tqdm import tqdm

from tutor.decoding import ALPHA
from tutor.models import load_pretrained
from tutor.text import multi30k
from tutor.text.grammar import generate_pairs
from tutor.text.tokenizer import Tokenizer
from tutor.training import processes, recipes
from tutor.training.checkpoint import (
    TOKENIZER,
    TRAINING,
    check_tokenizer,
    read_json,
    save_model,
    scratch_folder,
)
from tutor.training.loop import train
from tutor.training.loss import translation_loss
from tutor.training.resume import MAX_JSON, RUN, Checkpoints, check_same, read_run
from tutor.training.runs import to_csv, training_folder
from tutor.transformer import Transformer, TransformerConfig, count_parameters
from tutor.translator import Translator

CHUNK = 256  # lines that `translate` reads before it writes
TEST_PAIRS = 1_000  # sentences of the built-in corpus that `evaluate` translates

DESCRIPTION = """\
Train a small Transformer that translates English, translate with it, and measure how well it does.

examples:
  python -m tutor train --minutes 2 --out models/mine
  echo "A man is riding a horse." | python -m tutor translate --model models/mine
  python -m tutor evaluate --corpus multi30k --split test_2016_flickr --json

`python -m tutor COMMAND --help` explains a command. A GPU is used if there is one.
"""
TRAIN = """\
Train a translator from nothing and write it into a model folder at the end.

The built-in corpus needs no files: a grammar generates captions of everyday scenes. Multi30k are
29,000 captions of photographs; they are downloaded once, or read from the folder that the
environment variable TUTOR_DATA names.

Minutes become a number of steps after a short measured start, which belongs to them. Learning the
tokenizer comes on top: a few seconds. The same steps, seed and machine give the same model.

Until the model is written, FOLDER.training beside it holds checkpoints. Killed at any moment, the
same command with --resume goes on from the last one and ends with the same model. Ctrl-C stops
after a step and writes the model so far.

Under torchrun several processes share each batch; the model is that of one process, but for
rounding and dropout.

examples:
  python -m tutor train
  python -m tutor train --corpus multi30k --pair en-de --minutes 20 --out models/german
  python -m tutor train --steps 500 --seed 3 --out models/short --resume
  torchrun --nproc-per-node 2 -m tutor train --steps 2000 --out models/shared
"""
TRANSLATE = """\
Translate standard input to standard output, one sentence a line, in UTF-8. Empty lines stay empty.

examples:
  echo "A dog runs on the beach." | python -m tutor translate
  python -m tutor translate --beams 5 --model models/mine < english.txt > french.txt
"""
EXPORT = """\
Write a model as ONNX: an encoder, one decoder step with its cache, the tokenizer, and a small JSON.
examples/translate_with_onnx.py translates with them, without PyTorch and without this package.
Needs the packages onnx and onnxscript.

examples:
  python -m tutor export --out exported
  python -m tutor export --model models/mine --out exported
"""
EVALUATE = """\
Translate sentences that training never saw and compare with the reference translations.

Prints BLEU in two flavours, which must never be compared with each other: cased text, and
lower-cased Moses tokens, as most papers on Multi30k have it; also chrF and, for the built-in
corpus, the share of translations that equal their reference exactly.

examples:
  python -m tutor evaluate --model models/mine
  python -m tutor evaluate --corpus multi30k --split test_2016_flickr --beams 5 --json
"""


class Parser(argparse.ArgumentParser):
    """An ArgumentParser whose complaint is one line."""

    def __init__(self, *args, **kwargs):
        layout = argparse.RawDescriptionHelpFormatter
        super().__init__(*args, formatter_class=layout, allow_abbrev=False, **kwargs)

    def error(self, message):
        say(f"{message} (try: {self.prog} --help)")
        sys.exit(2)


def say(message):
    """One line on standard error, from the first process of several."""
    if not processes.is_first():
        return
    tqdm.write(f"tutor: {message}", file=sys.stderr)


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
            "--pair", choices=("en-fr", "en-de"), default="en-fr",
            help="languages, from and to; en-de with multi30k only (default: %(default)s)",
        )  # fmt: skip

    def add_model(child):
        child.add_argument(
            "--model", metavar="FOLDER", help="a model folder (default: the model that ships)"
        )

    def add_search(child):
        add_model(child)
        child.add_argument(
            "--beams", type=number(int, 1, 100), default=1, metavar="B",
            help="how many translations to keep while searching (default: %(default)s, greedy)",
        )  # fmt: skip
        child.add_argument(
            "--alpha", type=number(float, 0, 10), default=ALPHA, metavar="A",
            help="strength of the length penalty of a search (default: %(default)s)",
        )  # fmt: skip

    child = command(run_train, "train", "train a translator", TRAIN)
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
        "--out", metavar="FOLDER", help="the model folder (default: models/CORPUS-PAIR)"
    )
    child.add_argument(
        "--seed", type=number(int, 0, 2**32), default=0, metavar="N",
        help="for weights, order and dropout (default: %(default)s)",
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

    child = command(run_evaluate, "evaluate", "measure a translator", EVALUATE)
    add_corpus(child)
    child.add_argument(
        "--split", metavar="NAME",
        help="builtin: train, val or test (the default); multi30k: train, val or test_2016_flickr "
        "(the default)",
    )  # fmt: skip
    child.add_argument("--json", action="store_true", help="print one line of JSON")
    add_search(child)
    child = command(run_export, "export", "write a model as ONNX, to be run anywhere", EXPORT)
    add_model(child)
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


def load_pairs(corpus, split, pair, size):
    """(sources, targets) of a corpus; `size` is for the built-in one, which has no end."""
    if corpus == "multi30k":
        return multi30k.load_multi30k(split, pair)
    if pair != "en-fr":
        raise ValueError(f"The built-in corpus has no {pair}: add --corpus multi30k.")
    pairs = generate_pairs(split, size)
    return [pair.english for pair in pairs], [pair.french for pair in pairs]


def pick_device():
    return "cuda" if torch.cuda.is_available() else "cpu"


def run_train(args):
    folder = Path(args.out or f"models/{args.corpus}-{args.pair}")
    with scratch_folder(folder):
        pass  # better refused now than after the training
    with processes.joined():
        return train_into(folder, args)


def train_into(folder, args):
    """Train from nothing or go on; returns an exit code."""
    workspace, start = training_folder(folder), time.perf_counter()
    asked = {name: getattr(args, name) for name in ("corpus", "pair", "seed", "steps")}
    asked["minutes"] = args.minutes if args.steps is None else None
    before = find_training(folder, workspace, asked, args.resume)
    if before == "finished":
        say(f"{folder} is finished: there is nothing to resume")
        return 0
    processes.from_first(0)  # nobody writes before all have looked
    device = pick_device()
    if device != "cpu":  # there, lower precision costs more time than it saves: few shapes recur
        torch.set_float32_matmul_precision("high")

    sizes = dict(recipes.SIZES[args.corpus])
    vocab_size = sizes.pop("vocab_size")
    say("reading the sentences" + ("" if before else " and learning the tokenizer") + " ...")
    sources, targets = load_pairs(args.corpus, "train", args.pair, recipes.BUILTIN_PAIRS)
    if before:
        check_tokenizer(workspace / TOKENIZER)
        tokenizer = Tokenizer.load(workspace / TOKENIZER)
    else:
        tokenizer = Tokenizer.train(itertools.chain(sources, targets), vocab_size)
    budget = recipes.choose(args.corpus, args.minutes, args.steps)

    pairs = list(zip(tokenizer.encode(sources), tokenizer.encode(targets), strict=True))
    sizes |= dict(d_ff=budget.d_ff, dropout=budget.dropout, norm_first=True)
    torch.manual_seed(args.seed)
    model = Transformer(TransformerConfig(len(tokenizer), **sizes)).to(device)
    many = f", {processes.world_size()} processes" if processes.world_size() > 1 else ""
    say(f"{len(pairs):,} sentence pairs, {count_parameters(model):,} parameters, on {device}{many}")

    steps = before["recipe"]["steps"] if before else args.steps
    if steps is None:
        say("measuring the pace ...")
        recipe = recipes.recipe_for(10**6, budget, args.seed)
        pace = recipes.measure_pace(model, pairs, recipe, 60 * args.minutes, make_loss)
        left = 60 * args.minutes - (time.perf_counter() - start)
        steps = processes.from_first(max(recipes.START_STEPS, round(left / pace)))
        say(f"{pace:.3f} seconds a step: {steps:,} steps in {args.minutes:g} minutes")
    recipe = recipes.recipe_for(steps, budget, args.seed)
    about = {
        "asked": asked,
        "recipe": asdict(recipe),
        "config": asdict(model.config),
        "pairs": hashlib.sha256(json.dumps(pairs).encode()).hexdigest(),
    }
    notes = {"machine": describe_machine(device), "versions": versions()}
    if processes.is_first() and not before:
        workspace.mkdir(parents=True, exist_ok=True)
        tokenizer.save(workspace / TOKENIZER)
    checkpoints = Checkpoints(workspace, model, about, notes, args.checkpoint_every)
    with tqdm(total=steps, unit="step", desc="training", disable=not processes.is_first()) as bar:

        def resume(optimizers, schedules):
            history = checkpoints.resume(optimizers, schedules)
            bar.initial = bar.n = len(history.loss)
            return history

        def on_step(step, history):
            checkpoints.on_step(step, history)
            if isinstance(history.loss[-1], float):  # on a GPU not yet, and nobody waits for it
                bar.set_postfix(loss=f"{history.loss[-1]:.2f}", refresh=False)
            bar.update()

        history = train(model, pairs, recipe, on_step, resume, make_loss(model))

    done = len(history.loss)
    if done < steps:
        if not done:
            raise KeyboardInterrupt
        checkpoints.save(history)
    if processes.is_first():
        training = {
            **{name: asked[name] for name in ("corpus", "pair")},
            "sentence_pairs": len(pairs),
            "minutes": asked["minutes"],
            "steps": steps,
            "steps_done": done,
            "seconds": round(history.seconds, 1),
            "seconds_with_start": round(time.perf_counter() - start, 1),
            "recipe": asdict(recipe),
            "config": asdict(model.config),
            "parameters": count_parameters(model),
            "target_tokens": sum(history.tokens),
            "loss": mean_losses(history.loss),
            "processes": processes.world_size(),
            **notes,
        }
        save_model(
            folder, model, tokenizer, dtype=torch.float16, training=training,
            history=to_csv(history),
        )  # fmt: skip
        say(
            f"saved in {folder}: {done:,} steps in {history.seconds:.0f} s, "
            f"loss {training['loss'][0]} to {training['loss'][-1]}"
        )
        if done == steps:
            remove_folder(workspace)
    if done < steps:
        say(f"stopped after {done:,} of {steps:,} steps: --resume goes on")
        return 130
    return 0


def find_training(folder, workspace, asked, resume):
    """What an earlier training in `workspace` was about; None if there was none; "finished"."""
    if (workspace / RUN).is_file():
        if not resume:
            raise ValueError(
                f"{workspace} holds a training that has not ended: add --resume to go on with it, "
                "or delete that folder to begin anew."
            )
        before = read_run(workspace)
        check_same(before.get("asked", {}), asked, workspace)
        return before
    if resume and (folder / TRAINING).is_file():
        about = read_json(folder / TRAINING, MAX_JSON)
        about = about if isinstance(about, dict) else {}
        about |= {"seed": (about.get("recipe") or {}).get("seed")}
        about |= {} if asked["steps"] is not None else {"steps": None}
        if all(about.get(name) == value for name, value in asked.items()):
            return "finished"
    return None


def remove_folder(folder):
    """Remove a folder and all in it; killed meanwhile, it is gone under its own name."""
    gone = folder.with_name(f".{folder.name}.done")
    shutil.rmtree(gone, ignore_errors=True)
    os.replace(folder, gone)
    shutil.rmtree(gone, ignore_errors=True)


def make_loss(model):
    """The loss as this machine computes it best; see `tutor.training.processes`."""
    shared = processes.world_size() > 1 or pick_device() == "cuda"
    return processes.SharedLoss(model, translation_loss) if shared else translation_loss


def versions():
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "tokenizers": tokenizers.__version__,
    }


def mean_losses(losses, points=20):
    """The mean loss of each twentieth of the training."""
    width = math.ceil(len(losses) / points)
    parts = [losses[i : i + width] for i in range(0, len(losses), width)]
    return [round(sum(part) / len(part), 3) for part in parts]


def describe_machine(device):
    """System, processor, threads: what the time of a training depends on."""
    processor = platform.processor()
    if Path("/proc/cpuinfo").is_file():  # Linux says more there
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                processor = line.split(":", 1)[1].strip()
                break
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor,
        "threads": torch.get_num_threads(),
        "gpu": torch.cuda.get_device_name() if device == "cuda" else None,
    }


def load_translator(folder):
    translator = load_pretrained() if folder is None else Translator.load(folder)
    translator.model.to(pick_device())
    return translator


def read_lines(stream):
    """The lines of a binary stream as str, without their ends."""
    for count, line in enumerate(stream, 1):
        try:
            text = line.decode("utf-8-sig" if count == 1 else "utf-8")  # Windows may send a BOM
        except UnicodeDecodeError:
            raise ValueError(f"Line {count} of the input is not UTF-8: convert it.") from None
        yield text.rstrip("\r\n")


def run_export(args):
    from tutor.exchange.onnx import export  # takes long to import

    export(load_translator(args.model), args.out)
    say(f"written: {args.out}")


def run_translate(args):
    translator = load_translator(args.model)
    by_hand = sys.stdin.isatty()
    if by_hand:
        say("type a sentence and press Enter; end with Ctrl-D (Windows: Ctrl-Z, Enter)")
    lines = read_lines(sys.stdin.buffer)
    with tqdm(unit="line", desc="translated", disable=by_hand) as bar:
        while chunk := list(itertools.islice(lines, 1 if by_hand else CHUNK)):
            for text in translator.translate(chunk, args.beams, args.alpha):
                # A model may write a line end; a line must stay a line.
                print(text.replace("\r", " ").replace("\n", " "))
            sys.stdout.flush()
            bar.update(len(chunk))


def run_evaluate(args):
    from tutor.evaluation import scoring  # takes long to import, and no other command needs it

    translator = load_translator(args.model)
    split = args.split or {"builtin": "test", "multi30k": "test_2016_flickr"}[args.corpus]
    sources, references = load_pairs(args.corpus, split, args.pair, TEST_PAIRS)
    start, hypotheses = time.perf_counter(), []
    with tqdm(total=len(sources), unit="sentence", desc="translating") as bar:
        for i in range(0, len(sources), CHUNK):
            hypotheses += translator.translate(sources[i : i + CHUNK], args.beams, args.alpha)
            bar.update(len(hypotheses) - i)
    seconds = time.perf_counter() - start
    scores = {
        "bleu": scoring.bleu(hypotheses, references),
        "moses_bleu": scoring.moses_bleu(hypotheses, references, args.pair.split("-")[1]),
        "chrf": scoring.chrf(hypotheses, references),
    }
    result = {"corpus": args.corpus, "split": split, "pair": args.pair, "beams": args.beams}
    result |= {"alpha": args.alpha} if args.beams > 1 else {}
    result |= {"sentences": len(sources), "seconds": round(seconds, 2)}
    for name, score in scores.items():
        result[name] = {"score": round(score.value, 2), "signature": score.signature}
    if args.corpus == "builtin":
        result["exact_match"] = round(scoring.exact_match(hypotheses, references), 4)
    if args.json:
        print(json.dumps(result))
        return
    print(f"{args.corpus} {split} {args.pair}: {len(sources)} sentences in {seconds:.1f} s")
    titles = ("BLEU, cased", "BLEU, lower-cased Moses tokens", "chrF")
    for title, score in zip(titles, scores.values(), strict=True):
        print(f"{title:32}{score.value:6.2f}   {score.signature}")
    if args.corpus == "builtin":
        print(f"{'exact match':32}{100 * result['exact_match']:6.2f}   percent of the sentences")


def main(argv=None):
    """Run one command; returns the exit code: 0, 1 (reader gone), 2 (wrong use), 130 (Ctrl-C)."""
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    warnings.showwarning = lambda message, *_: say(message)
    args = make_parser().parse_args(argv)
    try:
        code = args.run(args)
        sys.stdout.flush()
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
