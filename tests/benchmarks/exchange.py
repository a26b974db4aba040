"""The model that ships, in Hugging Face's library: are logits and translations the same?

    python tests/benchmarks/exchange.py [--quick]

It is exported, opened by `transformers` and compared: logits on 100 padded batches of captions,
once in float32 and once in float64; greedy translations of 1,000 captions, with and without cache
(--quick: 10 batches, 100 captions). Captions come from the built-in corpus. Then the folder is read
back and compared bit by bit; what must be refused, test_huggingface.py has.
The last line is one JSON object: hf_logits_difference and hf_logits_difference_fp64 (the largest,
absolute), hf_logits_size (the largest logit, for comparison), hf_translations_equal and
hf_translations_equal_without_cache (of `sentences`), hf_roundtrip (all bits equal), seconds.
"""

import argparse
import json
import logging
import tempfile
import time
from pathlib import Path

import torch
import transformers

from tutor import load_pretrained
from tutor.attention import PAD
from tutor.exchange import huggingface
from tutor.text.batches import pad
from tutor.text.grammar import generate_pairs
from tutor.text.tokenizer import BOS, EOS

N = 10  # sentences a batch


def batches(translator, many):
    """source_ids (N, S) and target_ids (N, T) of captions, padded."""
    pairs = generate_pairs("test", many * N)
    sources = translator.tokenizer.encode([p.english for p in pairs])
    targets = translator.tokenizer.encode([p.french for p in pairs])
    for i in range(0, len(pairs), N):
        source_ids = pad([[*ids, EOS] for ids in sources[i : i + N]])
        yield source_ids, pad([[BOS, *ids] for ids in targets[i : i + N]])


@torch.no_grad()
def differences(translator, folder, dtype, many):
    """The largest difference of two logits of real tokens, and the largest logit."""
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=dtype).eval()
    ours, worst, size = translator.model.to(dtype), 0.0, 0.0
    for source_ids, target_ids in batches(translator, many):
        mine = ours(source_ids, target_ids)
        found = model(
            input_ids=source_ids, attention_mask=source_ids != PAD, decoder_input_ids=target_ids
        ).logits
        real = target_ids != PAD
        worst = max(worst, (mine - found)[real].abs().max().item())
        size = max(size, mine[real].abs().max().item())
    translator.model.float()
    return worst, size


def translations_equal(translator, folder, many, use_cache):
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    texts = sorted((p.english for p in generate_pairs("test", many)), key=len)
    mine, found = translator.translate(texts), []
    for i in range(0, many, 50):
        batch = tokenizer(texts[i : i + 50], return_tensors="pt", padding=True)
        ids = model.generate(**batch, use_cache=use_cache)
        found += tokenizer.batch_decode(ids, skip_special_tokens=True)
    return sum(a == b for a, b in zip(mine, found, strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    start, many = time.perf_counter(), 100 if quick else 1000
    translator = load_pretrained()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "out")
        huggingface.export(translator, folder)
        before = translator.model.state_dict()
        again = huggingface.load(folder).model.state_dict()
        bits = all(torch.equal(again[name], tensor) for name, tensor in before.items())
        single, size = differences(translator, folder, torch.float32, many // N)
        double, _ = differences(translator, folder, torch.float64, many // N)
        cached, plain = (translations_equal(translator, folder, many, c) for c in (True, False))
    result = {
        "hf_logits_difference": single, "hf_logits_difference_fp64": double,
        "hf_logits_size": round(size, 1), "hf_translations_equal": cached,
        "hf_translations_equal_without_cache": plain, "sentences": many, "hf_roundtrip": bits,
        "seconds": round(time.perf_counter() - start),
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
    }  # fmt: skip
    print(json.dumps(result))


if __name__ == "__main__":
    main()
