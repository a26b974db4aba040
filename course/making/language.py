"""Compute results again: `python -m course.making.language translation` (or `in_context`)."""

import argparse
import json
import platform

import torch
from safetensors.torch import save_file

from course.making import translation
from tutor.models.language import LANGUAGE_FOLDER, in_context


def machine():
    return f"{platform.machine()}, one thread, torch {torch.__version__}"


def note(name, runs):
    command = f"python -m course.making.language {name}"
    return {"command": command, "machine": machine(), "runs": runs}


def in_context_results():
    runs = []
    for layers in in_context.LAYERS:
        for seed in in_context.IN_CONTEXT_SEEDS:
            model, found = in_context.run(layers, seed)
            runs.append(found)
            if seed == 0:
                weights = {key: W.half() for key, W in model.state_dict().items()}
                save_file(weights, LANGUAGE_FOLDER / f"in_context_{layers}.safetensors")
    return note("in_context", runs)


def translation_results():
    runs, gains = zip(*map(translation.compare, translation.TRANSLATION_SEEDS), strict=True)
    return note("translation", sum(runs, [])) | {"gains": gains}


RESULTS = {"translation": translation_results, "in_context": in_context_results}

parser = argparse.ArgumentParser(prog="python -m course.making.language", description=__doc__)
parser.add_argument("result", choices=RESULTS)
name = parser.parse_args().result
torch.set_num_threads(1)  # so that the same machine gives the same numbers
found = RESULTS[name]()
rows = found.pop("runs")
text = "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]"
text = json.dumps(found)[:-1] + ', "runs": ' + text + "}"
(LANGUAGE_FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")
print(f"saved {name}.json")
