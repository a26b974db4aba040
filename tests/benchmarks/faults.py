"""What training and loading survive: kills, malformed files, odd texts.

    python tests/benchmarks/faults.py [--quick] [--kills 20] [--malformed 2000] [--strings 10000]

Kills: a tiny training is killed by SIGKILL, half of the times at a random moment, half of the times
in the middle of a random operation on a file; resumed, it must end with the weights of the training
that nobody killed, bit for bit. Malformed: model folders, checkpoints and data files, mutated from
good ones. Each must be refused by one sentence or be harmless (it loads and translates: a bit of a
weight has changed), within 1 GB of memory. Strings: arbitrary Unicode, some very long, through
`translate`. Linux; 0 leaves a part out. The last line is one JSON object: kills, identical,
malformed, refused, crashed, strings, exceptions; and harmless, the malformed ones not refused.
"""

import argparse
import gzip
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import torch
import torch._dynamo  # an optimiser would import it; now no fork has to

import tutor.__main__  # noqa: F401  (now no fork has to)
from tutor import Transformer, TransformerConfig, Translator
from tutor.text import multi30k
from tutor.text.tokenizer import Tokenizer
from tutor.training import Recipe, runs, train
from tutor.training.checkpoint import WEIGHTS
from tutor.training.resume import Checkpoints, checkpoints_in, digest

TESTS = Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS))
GIGABYTE = 2**30
PAIRS = [([4, 5, 6], [7, 8]), ([9], [10, 4, 5, 6]), ([6, 6], [5]), ([8, 7, 5], [9, 9, 10])]


# ---- kills


def tiny_training(folder, kill_at="any:0", after=None):
    """Run or resume it; kill it `after` so many seconds. Returns (exit status, what it said).

    In a fork, because imports would take most of the time; this process has computed nothing yet.
    """
    log = folder.with_suffix(".log")
    child = os.fork()
    if not child:
        code = 1
        try:
            with log.open("w") as file:
                os.dup2(file.fileno(), 2)
            os.environ["KILL_AT"] = kill_at
            import tiny_training

            options = ["--steps", 60, "--checkpoint-every", 3, "--seed", 3, "--out", folder]
            code = tiny_training.main(list(map(str, ["train", *options, "--resume"])))
            print(f"operations: {len(tiny_training.operations)}", file=sys.stderr, flush=True)
        finally:
            os._exit(code)
    start = time.perf_counter()
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if after is not None and time.perf_counter() - start > after:
            os.kill(child, signal.SIGKILL)
            ended = os.waitpid(child, 0)
            break
        time.sleep(0.005)
    return os.waitstatus_to_exitcode(ended[1]), log.read_text()


def count_identical(kills, draw, scratch):
    """(trainings killed, those that ended with the same weights, those killed in an operation)."""
    start = time.perf_counter()
    code, said = tiny_training(scratch / "whole")
    if code:
        raise RuntimeError(said)
    seconds = time.perf_counter() - start
    operations = int(said.split("operations: ")[1])
    wanted = (scratch / "whole" / WEIGHTS).read_bytes()
    killed = identical = within = 0
    while killed < kills:
        folder = scratch / f"killed-{killed}"
        if killed % 2:
            code, said = tiny_training(folder, kill_at=f"any:{draw.randint(1, operations)}")
        else:
            code, said = tiny_training(folder, after=draw.uniform(0.2, 1) * seconds)
        if code != -signal.SIGKILL:
            if code:
                raise RuntimeError(said)
            seconds *= 0.8  # it was faster
            shutil.rmtree(folder, ignore_errors=True)
            continue
        within += killed % 2
        killed += 1
        code, said = tiny_training(folder)
        same = code == 0 and (folder / WEIGHTS).read_bytes() == wanted
        identical += same
        print(f"kill {killed}: {'identical' if same else said[-300:]}", file=sys.stderr)
    return killed, identical, within


# ---- malformed files


def make_model(draw, vocab_size=270, max_len=24):
    torch.manual_seed(draw.randrange(2**32))
    sizes = dict(d_model=12, num_heads=3, d_ff=8, num_layers=1, max_len=max_len)
    tokenizer = Tokenizer.train(["a red dog", "un chien rouge"], vocab_size)
    return Transformer(TransformerConfig(len(tokenizer), **sizes)), tokenizer


def make_good(folder):
    """A good model folder, a good folder of checkpoints, good data, a good history."""
    model, tokenizer = make_model(random.Random(0))
    Translator(model, tokenizer).save(folder / "model")
    train_checkpointed(folder / "run")
    lines = gzip.compress(b"Un chien court.\nDeux chats.\n", mtime=0)
    (folder / "data").mkdir()
    for language in ("en", "fr"):
        (folder / "data" / f"val.{language}.gz").write_bytes(lines)
    (folder / "history").mkdir()
    os.replace(folder / "run" / "history.csv", folder / "history" / "history.csv")


def train_checkpointed(folder):
    torch.manual_seed(0)
    sizes = dict(d_model=8, num_heads=2, d_ff=8, num_layers=1, max_len=16)
    model = Transformer(TransformerConfig(11, **sizes))
    recipe = Recipe(steps=4, warmup=1)
    checkpoints = Checkpoints(folder, model, {"recipe": asdict(recipe)}, every=3)
    train(model, PAIRS, recipe, checkpoints.on_step, checkpoints.resume)


ABSURD = [
    None, True, -1, 0, 1, 7, 10**6, 10**9, 10**18, 10**30, -(10**30), 0.5, 1e308, float("nan"),
    float("inf"), "", "x", "12", "\ud800", "x" * 10**5, [], {}, [[]], {"a": 1}, [1] * 10**5,
    {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 10**4},
    {"type": "Split", "pattern": {"Regex": "(a*)*b"}, "behavior": "Isolated", "invert": False},
]  # fmt: skip


def places(values):
    """All (container, key) of a JSON value."""
    for key, value in list(enumerate(values) if isinstance(values, list) else values.items()):
        yield values, key
        if isinstance(value, (dict, list)):
            yield from places(value)


def mutate_json(data, draw):
    """One place of a JSON text left out, renamed, or with something absurd in it."""
    values = json.loads(data)
    container, key = draw.choice(list(places(values)))
    change = draw.randrange(4)
    if change == 0:
        del container[key]
    elif change == 1 and isinstance(container, dict):
        container[draw.choice(["colour", key * 2, "x" * 1000])] = container.pop(key)
    else:
        container[key] = draw.choice(ABSURD)
    return json.dumps(values).encode("utf-8", "surrogatepass")


def mutate_bytes(data, draw):
    """Cut, made longer, replaced, or a few bytes of it."""
    at, width = draw.randrange(len(data)), draw.choice((1, 1, 8, 100))
    return draw.choice([
        data[:at],
        data + draw.randbytes(draw.randint(1, 10_000)),
        draw.randbytes(draw.randint(0, 1000)),
        draw.choice((b"", b"[" * 10**6, b"{" * 10**6, b"0" * 10**6, bytes(9 * 10**6))),
        data[:at] + draw.randbytes(width) + data[at + width :],
    ])  # fmt: skip


def mutate_tensors(data, draw):
    """Change the length of a safetensors header, a value in it, or the numbers."""
    length = int.from_bytes(data[:8], "little")
    header, numbers = data[8 : 8 + length], data[8 + length :]
    change = draw.randrange(4)
    if change == 0:
        length = draw.choice((0, 1, length + 1, length - 1, 10**7, 10**8, 2**40, 2**63, 2**64 - 1))
    elif change == 1:  # numbers that are not finite
        numbers = numbers[:-4] + draw.choice((b"\x00\x00\xc0\x7f", b"\x00\x00\x80\xff"))
    elif change == 2:
        return mutate_bytes(data, draw)
    else:
        header = mutate_json(header, draw)
        header += b" " * (-len(header) % 8)
        length = len(header)
    return length.to_bytes(8, "little") + header + numbers


def mutate_gzip(data, draw):
    if draw.random() < 0.2:
        return gzip.compress(bytes(draw.randint(1, 200) * 10**6), 1)  # a bomb, up to 200 MB
    if draw.random() < 0.3:
        return gzip.compress(mutate_bytes(gzip.decompress(data), draw))
    return mutate_bytes(data, draw)


MUTATIONS = {".safetensors": mutate_tensors, ".json": mutate_json, ".gz": mutate_gzip}


def damage(folder, draw):
    """Mutate one file of a good folder, or do without it; returns its path."""
    path = draw.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
    if draw.random() < 0.03:
        path.unlink()
    else:
        by_kind = MUTATIONS.get(path.suffix, mutate_bytes)
        mutate = mutate_bytes if draw.random() < 0.3 else by_kind
        path.write_bytes(mutate(path.read_bytes(), draw))
    return path


def use_model(folder):
    assert isinstance(Translator.load(folder).translate(["A red dog."])[0], str)


def use_checkpoints(folder):
    """With the right hash in their names, as an attacker would write them."""
    for path in checkpoints_in(folder):
        name = f"{path.name[:14]}{digest(path.read_bytes())}.safetensors"
        path.rename(path.with_name(name))
    train_checkpointed(folder)


def use_data(folder):
    """The checksum is made to fit, so that what comes after it is tried."""
    multi30k.SHA256 = multi30k.SHA256 | {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()
    }
    multi30k.load_multi30k("val", folder=folder)


USES = {"model": use_model, "run": use_checkpoints, "data": use_data, "history": runs.read}
SHARES = ("model",) * 5 + ("run",) * 3 + ("data", "history")


def try_case(number, good, scratch):
    """'refused', 'harmless: ...' or 'crashed: ...', for the malformed folder of this number."""
    draw = random.Random(number)
    kind = draw.choice(SHARES)
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(good / kind, scratch)
    path = damage(scratch, draw)
    try:
        USES[kind](scratch)
    except (ValueError, OSError) as error:
        text = str(error)
        if "\n" in text or not 20 <= len(text) <= 1000:
            return f"crashed: {kind} {path.name} says no sentence: {text[:200]!r}"
        return "refused"
    except BaseException as error:  # also the panics of a library
        return f"crashed: {kind} {path.name} {type(error).__name__}: {str(error)[:200]!r}"
    return f"harmless: {kind} {path.name}"


def malformed_worker(first, last, good):
    """A line for each case; memory beyond 1 GB more than at the start is refused to it."""
    with tempfile.TemporaryDirectory() as scratch:
        warnings.simplefilter("ignore")
        for kind, use in USES.items():  # so that all is imported and set up, and good is good
            shutil.copytree(good / kind, Path(scratch, kind))
            use(Path(scratch, kind))
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + GIGABYTE
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        for number in range(first, last):
            print(number, try_case(number, good, Path(scratch, "case")), flush=True)


def count_malformed(cases, seed, scratch):
    """A Counter of what happened; a worker that dies is started again after the case."""
    make_good(scratch)
    results, number, last = Counter(), seed, seed + cases
    while number < last:
        command = [sys.executable, __file__, "--worker", number, last, scratch]
        worker = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
        for line in worker.stdout:
            result = line.partition(" ")[2].strip()
            results[result.partition(":")[0]] += 1
            if result.startswith("crashed"):
                print(f"case {number}: {result}", file=sys.stderr)
            number += 1
        if worker.wait() and number < last:
            print(f"case {number}: the process died ({worker.returncode})", file=sys.stderr)
            results["crashed"] += 1
            number += 1
    return results


# ---- strings


def any_text(draw):
    """Arbitrary Unicode (all but lone surrogates, which are no characters)."""
    length = round(10 ** draw.uniform(0, 2)) if draw.random() < 0.99 else draw.randint(10**4, 10**6)
    ranges = draw.choice([
        [(0, 0x7F)], [(0, 0xD7FF), (0xE000, 0x10FFFF)], [(0, 0x2FF), (0x300, 0x36F)],
        [(0x590, 0x6FF)], [(0x1F000, 0x1FAFF), (0x200D, 0x200D), (0xFE0F, 0xFE0F)],
        [(0x2000, 0x206F)], [(0x4E00, 0x9FFF)], [(0xE0000, 0x10FFFF)], [(9, 13), (32, 32)],
    ])  # fmt: skip
    unit = "".join(chr(draw.randint(*draw.choice(ranges))) for _ in range(min(length, 1000)))
    return (unit * (length // len(unit) + 1))[:length]


def count_exceptions(strings, draw):
    """(texts with which `translate` raised something, texts that were cut with a warning)."""
    model, tokenizer = make_model(draw, max_len=32)
    translator = Translator(model, tokenizer)
    exceptions = cut = 0
    for start in range(0, strings, 100):
        texts = [any_text(draw) for _ in range(min(100, strings - start))]
        longer = sum(len(tokenizer.encode(t)) > 31 for t in texts if t.strip())
        try:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                written = translator.translate(texts)
            assert len(written) == len(texts) and all(isinstance(text, str) for text in written)
            message = f"{longer} of {len(texts)} texts have more than the 31 tokens"
            assert not longer or any(message in str(each.message) for each in said), message
            cut += longer
        except Exception as error:
            print(f"texts {start} on: {type(error).__name__}: {error}", file=sys.stderr)
            exceptions += 1
    return exceptions, cut


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="2 kills, 100 malformed, 500 strings")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--malformed", type=int, default=2000)
    parser.add_argument("--strings", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        first, last, good = args.worker
        return malformed_worker(int(first), int(last), Path(good))
    if args.quick:
        args.kills, args.malformed, args.strings = 2, 100, 500
    draw = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        killed = identical = within = 0
        if args.kills:
            killed, identical, within = count_identical(args.kills, draw, scratch)
        (scratch / "good").mkdir()
        seen = Counter()
        if args.malformed:
            seen = count_malformed(args.malformed, 10**6 * args.seed, scratch / "good")
    exceptions, cut = count_exceptions(args.strings, draw)

    print(f"{'kills':34}{killed:8}   {within} of them within an operation on a file")
    print(f"{'  resumed to identical weights':34}{identical:8}")
    print(f"{'malformed folders and files':34}{args.malformed:8}")
    for name in ("refused", "harmless", "crashed"):
        print(f"{'  ' + name:34}{seen[name]:8}")
    print(f"{'strings':34}{args.strings:8}   {cut} of them cut with a warning")
    print(f"{'  batches of 100 with an exception':34}{exceptions:8}")
    result = {
        "kills": killed, "identical": identical, "malformed": args.malformed,
        "refused": seen["refused"], "crashed": seen["crashed"], "strings": args.strings,
        "exceptions": exceptions, "harmless": seen["harmless"],
    }  # fmt: skip
    print(json.dumps(result))


if __name__ == "__main__":
    main()
