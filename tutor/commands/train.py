"""`python -m tutor train`: from nothing to a model folder, within a budget, or on after a stop."""

import hashlib
import itertools
import json
import math
import os
import platform
import re
import shutil
import sys
import time
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import tokenizers
import torch
from tqdm import tqdm

from tutor.commands import language
from tutor.commands.common import load_pairs, read_pairs, say, settle_pair
from tutor.devices import device
from tutor.language_model import LanguageModel, LanguageModelConfig
from tutor.text.normalize import as_sentence
from tutor.text.tokenizer import Tokenizer
from tutor.training import processes, recipes
from tutor.training.checkpoint import (
    HISTORY,
    TOKENIZER,
    TRAINING,
    WEIGHTS,
    load_model,
    load_tokenizer,
    read_json,
    read_words,
    save_language_model,
    save_model,
    scratch_folder,
    writing_into,
)
from tutor.training.loop import train
from tutor.training.loss import in_bfloat16, language_loss, translation_loss
from tutor.training.resume import MAX_JSON, RUN, Checkpoints, check_same, read_run
from tutor.training.runs import to_csv, training_folder
from tutor.transformer import Transformer, TransformerConfig, count_parameters

ANY_WORD = re.compile(r"\w+")
SENTENCES_SHARE = 0.9
SAME_LANGUAGE = 1 / 3  # of the words of a text: known from another text of its language
GIVEN = ("data", "start", "tokenizer", "more")  # files and folders
REPORTS = 10  # lines about a training's progress, where there is no terminal for a bar


def run_train(args):
    alone = args.task == "language"  # a decoder without an encoder
    if alone:
        language.refuse_what_pairs_need(args)
    else:
        settle_pair(args)
    if args.data:
        args.corpus = args.pair = None
    name = "mine" if args.data else f"{args.corpus}-{args.pair}"
    folder = Path(args.out or f"models/{'language' if alone else name}")
    with scratch_folder(folder):
        pass  # better refused now than after the training
    with processes.joined():
        return train_into(folder, args)


def train_into(folder, args):
    """Train from nothing or go on; returns an exit code."""
    workspace, start = training_folder(folder), time.perf_counter()
    asked = {name: getattr(args, name) for name in ("corpus", "pair", "seed", "steps", "precision")}
    asked["minutes"] = args.minutes if args.steps is None else None
    asked |= {name: getattr(args, name) or None for name in GIVEN}
    alone = args.task == "language"  # a decoder without an encoder
    asked["task"] = args.task if alone else None
    before = find_training(folder, workspace, asked, args.resume)
    if before == "finished" or (before and not args.force and ended(folder, workspace, asked)):
        processes.from_first(0)  # nobody removes anything before all have looked
        if processes.is_first():
            remove_folder(workspace)
        say(f"{folder} is finished: there is nothing to resume")
        return 0
    if not args.force:
        spare_finished_model(folder, resuming=before is not None)
    processes.from_first(0)  # nobody writes before all have looked
    on = device()

    corpus = args.corpus or "builtin"  # whose sizes suit what a reader writes, too
    sizes = dict(recipes.SIZES[corpus])
    vocab_size = sizes.pop("vocab_size")
    load = language.load_language if alone else load_model
    learned = load(args.start) if args.start else None
    learns = not (before or args.start or args.tokenizer)
    say("reading the sentences" + (" and learning the tokenizer" if learns else "") + " ...")
    if alone:
        sources, targets = language.load_texts(args, "train", recipes.BUILTIN_PAIRS), []
    elif args.data:
        sources, targets = read_pairs(*args.data)
    else:
        sources, targets = load_pairs(args.corpus, "train", args.pair, recipes.BUILTIN_PAIRS)
    more = [read_pairs(*files) for files in args.more]
    for files, sides in zip(args.more, more, strict=True):
        for path, lines, known in zip(files, sides, (sources, targets), strict=True):
            warn_of_another_language(path, lines, known)
    if learns:
        tokenizer = Tokenizer.train(itertools.chain(sources, targets), vocab_size)
    elif learned:
        tokenizer = learned[1]
    else:
        kept = workspace if before else Path(args.tokenizer)
        tokenizer = load_tokenizer(kept / TOKENIZER)
    sentences = are_sentences(sources)
    budget = recipes.choose(corpus, args.minutes, args.steps)
    for sides in more:
        sources, targets = sources + sides[0], targets + sides[1]

    sizes |= dict(d_ff=budget.d_ff, dropout=budget.dropout, norm_first=True)
    torch.manual_seed(args.seed)
    if learned:
        model = learned[0]
    elif alone:
        model = LanguageModel(LanguageModelConfig(len(tokenizer), **sizes, **language.LLAMA_PARTS))
    else:
        model = Transformer(TransformerConfig(len(tokenizer), **sizes))
    model.to(on)
    if alone:
        pairs, unit = language.encode_texts(model, tokenizer, sources), "texts"
    else:
        pairs = list(zip(tokenizer.encode(sources), tokenizer.encode(targets), strict=True))
        unit = "sentence pairs"
    many = f", {processes.world_size()} processes" if processes.world_size() > 1 else ""
    say(f"{len(pairs):,} {unit}, {count_parameters(model):,} parameters, on {on}{many}")

    steps, precision = plan(args, before, model, pairs, budget, start)
    recipe = recipes.recipe_for(steps, budget, args.seed, again=bool(args.start))
    if alone:
        recipe = replace(recipe, smoothing=0.0)  # whose loss is what evaluation measures
    about = {
        "asked": asked,
        "recipe": asdict(recipe),
        "config": asdict(model.config),
        "precision": precision,
        "pairs": hashlib.sha256(json.dumps(pairs).encode()).hexdigest(),
    }
    notes = {"machine": describe_machine(on), "versions": versions()}
    with writing_into(workspace):
        if processes.is_first() and not before:
            workspace.mkdir(parents=True, exist_ok=True)
            tokenizer.save(workspace / TOKENIZER)
        checkpoints = Checkpoints(workspace, model, about, notes, args.checkpoint_every)
    terminal = sys.stderr.isatty()
    hidden = not (processes.is_first() and terminal)
    with tqdm(total=steps, unit="step", desc="training", disable=hidden) as bar:

        def resume(optimizers, schedules):
            history = checkpoints.resume(optimizers, schedules)
            bar.initial = bar.n = len(history.loss)
            return history

        def on_step(step, history):
            checkpoints.on_step(step, history)
            if isinstance(history.loss[-1], float):  # on a GPU not yet, and nobody waits for it
                bar.set_postfix(loss=f"{history.loss[-1]:.2f}", refresh=False)
            bar.update()
            if not terminal and (step + 1) % math.ceil(steps / REPORTS) == 0:
                say(f"step {step + 1:,} of {steps:,}, {history.seconds:.0f} s")

        try:
            history = train(model, pairs, recipe, on_step, resume, make_loss(model, precision))
        except KeyboardInterrupt:
            if processes.is_first() and not checkpoints.steps():  # nothing to go on with
                remove_folder(workspace)
            raise

    done = len(history.loss)
    if done < steps:
        checkpoints.save(history)
    if processes.is_first():
        training = {
            **{name: asked[name] for name in ("task", "corpus", "pair", *GIVEN)},
            unit.replace(" ", "_"): len(pairs),
            "minutes": asked["minutes"],
            "steps": steps,
            "steps_done": done,
            "seconds": round(history.seconds, 1),
            "seconds_with_start": round(time.perf_counter() - start, 1),
            "recipe": asdict(recipe),
            "config": asdict(model.config),
            "precision": precision,
            "parameters": count_parameters(model),
            "target_tokens": sum(history.tokens),
            "loss": mean_losses(history.loss),
            "processes": processes.world_size(),
            **notes,
        }
        try:
            record = {"training": training, "history": to_csv(history)}
            if alone:
                save_language_model(folder, model, tokenizer, **record)
            else:
                words = read_words(args.start) if args.start else ()
                manner = {"sentences": sentences, "words": words}
                save_model(folder, model, tokenizer, dtype=torch.float16, manner=manner, **record)
        except OSError as error:
            kept = checkpoints.steps()
            then = f"goes on after step {kept[-1]:,}" if kept else "begins anew"
            raise OSError(f"{error} The same command with --resume {then}.") from error
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


def plan(args, before, model, pairs, budget, start):
    """How many steps, in which precision: as before or as asked, else as a measured start says."""
    if before:
        steps, precision = before["recipe"]["steps"], before.get("precision", "highest")
    else:
        steps, precision = args.steps, args.precision
    if device().type != "cpu":
        precision = precision or "bfloat16"
    elif steps is not None and not recipes.worth_measuring(steps):
        precision = precision or "highest"
    if precision not in (None, *recipes.PRECISIONS):
        raise ValueError(
            f"This training began in {precision!r} precision, which this version of tutor has no "
            "more: delete its folder and begin anew."
        )
    if steps is None or not precision:
        say("measuring the pace ...")
        seconds = 60 * args.minutes if steps is None else 0
        measured = model, pairs, recipes.recipe_for(10**6, budget, args.seed), seconds
        if precision:
            pace = recipes.measure_pace(*measured, partial(make_loss, precision=precision))
        else:
            precision, pace = recipes.fastest_precision(*measured, make_loss)
    if steps is None:
        left = 60 * args.minutes - (time.perf_counter() - start)
        steps = processes.from_first(max(recipes.START_STEPS, round(left / pace)))
        rest = f"{max(left, 0):.0f} seconds are left of {args.minutes:g} minutes"
        least = ", the least" if steps == recipes.START_STEPS else ""
        say(f"{rest}, {pace:.3f} a step: {steps:,} steps{least}")
    return steps, precision


def warn_of_another_language(path, lines, known):
    """Say so where few words of the lines stand in the sentences that are known of their side."""
    words = ANY_WORD.findall("\n".join(lines).lower())
    familiar = {*ANY_WORD.findall("\n".join(known).lower())}
    share = sum(word in familiar for word in words) / max(len(words), 1)
    if share < SAME_LANGUAGE:
        say(f"{path}: {share:.0%} of its words stand in the other pairs: is it the same language?")


def are_sentences(texts):
    """Whether nine of ten texts begin and end as a written sentence does."""
    return sum(as_sentence(text) == text for text in texts) >= SENTENCES_SHARE * len(texts)


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
    return "finished" if resume and describes(folder, asked) else None


def describes(folder, asked):
    """Whether the model in `folder` came of a training with these options."""
    if not (folder / TRAINING).is_file():
        return False
    about = read_json(folder / TRAINING, MAX_JSON)
    about = about if isinstance(about, dict) else {}
    about |= {"seed": (about.get("recipe") or {}).get("seed")}
    about |= {name: None for name in ("steps", "precision") if asked[name] is None}
    return all(about.get(name) == value for name, value in asked.items())


def ended(folder, workspace, asked):
    """Whether the training in `workspace` has saved its model and was killed in tidying up."""
    if not describes(folder, asked):
        return False
    about = read_json(folder / TRAINING, MAX_JSON)
    paths = folder / HISTORY, workspace / HISTORY
    whole, begun = (path.read_bytes() if path.is_file() else b"" for path in paths)
    return about.get("steps_done") == about.get("steps") and whole.startswith(begun)


def spare_finished_model(folder, resuming):
    """Refuse to replace a model; one that a training left unfinished may be replaced by its end."""
    if not (folder / WEIGHTS).is_file():
        return
    about = read_json(folder / TRAINING, MAX_JSON) if (folder / TRAINING).is_file() else {}
    if resuming and isinstance(about, dict) and about.get("steps_done", 0) < about.get("steps", 0):
        return
    raise ValueError(
        f"{folder} holds a model already: choose another folder with --out, or add --force to "
        "replace the model when the training ends."
    )


def remove_folder(folder):
    """Remove a folder and all in it; killed meanwhile, it is gone under its own name."""
    gone = folder.with_name(f".{folder.name}.done")
    shutil.rmtree(gone, ignore_errors=True)
    if (folder / RUN).is_file():  # else it is not ours, or has gone already
        os.replace(folder, gone)
    shutil.rmtree(gone, ignore_errors=True)


def make_loss(model, precision):
    """The loss in this precision, computed by all processes together."""
    loss = language_loss if isinstance(model, LanguageModel) else translation_loss
    return processes.share(model, in_bfloat16(loss) if precision == "bfloat16" else loss)


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


def describe_machine(on):
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
        "gpu": torch.cuda.get_device_name(on) if on.type == "cuda" else None,
    }
