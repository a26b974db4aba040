"""Translate standard input, a sentence a line: python translate_with_onnx.py FOLDER < english.txt

FOLDER: what `python -m tutor export` wrote. Needs onnxruntime, tokenizers and numpy, no PyTorch.
"""

import json
import sys
from pathlib import Path
from unicodedata import normalize

import numpy as np
from onnxruntime import InferenceSession
from tokenizers import Tokenizer

folder = Path(sys.argv[1]) if sys.argv[1:] else sys.exit("usage: translate_with_onnx.py FOLDER")
about = json.loads((folder / "translator.json").read_text(encoding="utf-8"))
tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
tokenizer.encode_special_tokens = True  # "[EOS]" typed by a reader is text like any other
encoder, step = (InferenceSession(folder / f"{x}.onnx") for x in ("encoder", "decoder_step"))


def translate(text):
    source = tokenizer.encode(about["prefix"] + text).ids[: about["max_len"] - 1] + [about["eos"]]
    feed = {"source_ids": np.array([source], np.int64)}  # (N, S), here one sentence
    feed["memory_K"], feed["memory_V"] = encoder.run(["memory_K", "memory_V"], feed)
    for name, width in (("past_K", about["d_k"]), ("past_V", about["d_v"])):  # nothing yet: t = 0
        feed[name] = np.zeros((about["num_layers"], 1, about["num_heads"], 0, width), np.float32)
    ids, limit = [about["bos"]], min(len(source) + about["extra"], about["max_len"])
    while ids[-1] != about["eos"] and len(ids) <= limit:
        feed["ids"] = np.array([ids[-1:]], np.int64)  # (N, 1)
        logits, feed["past_K"], feed["past_V"] = step.run(["logits", "K", "V"], feed)
        logits[:, about["never_written"]] = -np.inf  # (N, vocab_size)
        ids.append(int(logits.argmax()))  # greedy
    return tokenizer.decode(ids).removeprefix(about["prefix"])  # leaves [BOS] and [EOS] out


sys.stdin.reconfigure(encoding="utf-8-sig")
sys.stdout.reconfigure(encoding="utf-8", newline="\n")
for line in sys.stdin:
    print(translate(line) if (line := " ".join(normalize("NFC", line).split())) else "", flush=True)
