"""The gradients of one batch and a short training, written to a file; a program for torchrun.

torchrun --nproc-per-node 2 tests/shared_gradients.py FOLDER STEPS
"""

import sys
from dataclasses import asdict
from pathlib import Path

import torch
from pytorch_twins import PAIRS, tiny
from safetensors.torch import save_file

from tutor.text.batches import make_batch
from tutor.training import Recipe, processes, train, translation_loss
from tutor.training.resume import Checkpoints

BATCHES = [PAIRS, PAIRS[:3], PAIRS[:1]]  # the last has a sentence for one process only


def gradients(model, loss_of):
    found = {}
    for number, pairs in enumerate(BATCHES):
        model.zero_grad()
        loss = loss_of(model, make_batch(pairs), 0.1)
        loss.backward()
        found[f"{number}.loss"] = loss.detach()
        found |= {f"{number}.{name}": p.grad.clone() for name, p in model.named_parameters()}
    return found


def main(folder, steps):
    torch.set_default_dtype(torch.float64)  # so that sums in another order agree to 12 digits
    with processes.joined():
        model = tiny(0, dropout=0.0)
        loss_of = processes.share(model, translation_loss)
        found = gradients(model, loss_of)
        model.zero_grad()
        recipe = Recipe(steps=6, max_tokens=16, warmup=2)
        checkpoints = Checkpoints(folder / "run", model, {"recipe": asdict(recipe)}, every=2)

        def on_step(step, history):
            checkpoints.on_step(step, history)
            if step + 1 == steps:
                raise SystemExit

        try:
            history = train(model, PAIRS, recipe, on_step, checkpoints.resume, loss_of)
            found |= {f"trained.{name}": t for name, t in model.state_dict().items()}
            found["losses"] = torch.tensor(history.loss)
        except SystemExit:
            pass
        save_file(found, folder / f"{processes.world_size()}.{processes.rank()}.safetensors")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
