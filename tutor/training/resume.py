"""Trainings that may be killed at any moment: checkpoints, and going on from the last good one.

A folder of checkpoints holds:

run.json                          what is trained, with what
history.csv                       loss and target tokens of the steps up to the last checkpoint
step-00000500-HASH.safetensors    after so many steps: weights, states of the optimizers, random
                                  numbers, losses, seconds; HASH is the beginning of the file's own
                                  SHA-256. The last two are kept.

Schedule and order of the batches are functions of the step alone. So the same training, killed and
resumed on the same machine, ends with the same weights, bit for bit.
"""

import hashlib
import json
import os
import re
import warnings
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from tutor.training.checkpoint import HISTORY, brief, read_json, sync
from tutor.training.loop import History
from tutor.training.processes import from_first, gather, rank
from tutor.training.runs import to_csv

CHECKPOINT_FORMAT = 2
RUN = "run.json"
KEPT_CHECKPOINTS = 2
MAX_JSON = 1_000_000  # bytes


class Checkpoints:
    """The checkpoints of one training in `folder`; give `resume` and `on_step` to `train`.

    about: a dict of what is trained (recipe, configuration, data) that a resumed training must
    have in common with the one before; notes: what else to write down (JSON both). every: steps
    between two checkpoints. With several processes, each has its own Checkpoints, and the first
    one writes. A checkpoint that cannot be written is a warning, and the ones before it stay.
    Raises ValueError if the folder belongs to another training, OSError if it cannot be written.
    """

    def __init__(self, folder, model, about, notes=None, every=250):
        self.folder = Path(folder).expanduser()
        self.model = model
        self.every = every
        self.optimizers = ()
        if rank() == 0:
            about = json.loads(json.dumps(about | {"checkpoint_format": CHECKPOINT_FORMAT}))
            if (self.folder / RUN).exists():
                check_same(read_run(self.folder), about, self.folder)
            else:
                self.folder.mkdir(parents=True, exist_ok=True)
                values = {"about": about, "notes": notes}
                text = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
                write_safely(self.folder / RUN, text.encode())

    def resume(self, optimizers, schedules):
        """Put model, optimizers, schedules and random numbers where the last good checkpoint was.

        Returns the History up to there, an empty one if there is no checkpoint. Warns of a damaged
        checkpoint. Raises ValueError if all are damaged.
        """
        self.optimizers = optimizers
        which = from_first(self.last_good() if rank() == 0 else 0)
        if which < 0:
            if rank():
                torch.manual_seed(own_seed(torch.initial_seed(), 0))
            return History()
        path = checkpoints_in(self.folder)[which]
        try:
            return self.restore(load(path.read_bytes()), schedules)
        except (SafetensorError, RuntimeError, KeyError, ValueError, TypeError) as error:
            raise ValueError(
                f"{path} does not fit this training ({brief(error)}): delete it, and the "
                "checkpoint before it is used."
            ) from error

    def last_good(self):
        """The index in `checkpoints_in` of the last one that is whole, -1 if there is none."""
        paths = checkpoints_in(self.folder)
        for which in reversed(range(len(paths))):
            try:
                if digest(paths[which].read_bytes()) in paths[which].stem:
                    return which
                trouble = f"{paths[which]} is damaged or cut short"
            except OSError as error:
                trouble = f"{paths[which]} cannot be read ({error.strerror})"
            warnings.warn(f"{trouble}: the checkpoint before it is used.", stacklevel=4)
        if paths:
            raise ValueError(
                f"No checkpoint in {self.folder} can be read: delete the folder to begin anew."
            )
        return -1

    def restore(self, tensors, schedules):
        """Put everything where it was; returns the History up to there."""
        parts = {}  # "model", or "optimizer.0.17": what belongs to it, by name
        for name, tensor in tensors.items():
            owner = re.match(r"optimizer\.\d+\.\d+|\w+", name)[0]
            parts.setdefault(owner, {})[name.removeprefix(f"{owner}.")] = tensor
        self.model.load_state_dict(parts["model"])
        for number, optimizer in enumerate(self.optimizers):
            state = {
                int(owner.split(".")[2]): part
                for owner, part in parts.items()
                if owner.startswith(f"optimizer.{number}.")
            }
            optimizer.load_state_dict(optimizer.state_dict() | {"state": state})
        loss = list(map(float, parts["history"]["loss"].tolist()))
        for schedule in schedules:
            position = {"last_epoch": len(loss) - 1, "_step_count": len(loss) + 1}
            schedule.load_state_dict(schedule.state_dict() | position)
            schedule.step()
        # Each process goes on with its own random numbers; one that is new gets its own seed.
        torch.manual_seed(own_seed(torch.initial_seed(), len(loss)))
        if (state := tensors.get(f"cpu.{rank()}")) is not None:
            torch.set_rng_state(state)
        device = next(self.model.parameters()).device
        if device.type == "cuda" and (state := tensors.get(f"cuda.{rank()}")) is not None:
            torch.cuda.set_rng_state(state, device)
        return History(
            loss, parts["history"]["tokens"].tolist(), float(parts["history"]["seconds"])
        )

    def on_step(self, step, history):
        """Write a checkpoint after every so many steps; for `train`."""
        if (step + 1) % self.every == 0:
            self.save(history)

    def save(self, history):
        """Write a checkpoint of this moment, between two steps; then drop all but the last two."""
        history.settle()
        tensors = {f"model.{name}": t for name, t in self.model.state_dict().items()}
        for number, optimizer in enumerate(self.optimizers):
            for which, state in optimizer.state_dict()["state"].items():
                tensors |= {f"optimizer.{number}.{which}.{key}": t for key, t in state.items()}
        states = {"cpu": torch.get_rng_state()}  # dropout draws from them
        device = next(self.model.parameters()).device
        if device.type == "cuda":
            states["cuda"] = torch.cuda.get_rng_state(device)
        for kind, state in states.items():
            tensors |= {f"{kind}.{i}": each for i, each in enumerate(gather(state))}
        if rank():
            return
        tensors["history.loss"] = torch.tensor(history.loss, dtype=torch.float64)
        tensors["history.tokens"] = torch.tensor(history.tokens)
        tensors["history.seconds"] = torch.tensor(history.seconds, dtype=torch.float64)
        step = len(history.loss)
        data = save({name: t.detach().cpu().contiguous() for name, t in tensors.items()})
        path = self.folder / f"step-{step:08}-{digest(data)}.safetensors"
        try:
            write_safely(path, data)
            write_safely(self.folder / HISTORY, to_csv(history).encode())
        except OSError as error:
            warnings.warn(
                f"Cannot write the checkpoint of step {step} into {self.folder} "
                f"({error.strerror or error}): training goes on, and the checkpoints before it "
                "stay; make room before it ends.",
                stacklevel=2,
            )
            return
        # What stands at this step or later was found damaged, or gone past.
        before = [other for other in checkpoints_in(self.folder) if step_of(other) < step]
        for other in checkpoints_in(self.folder):
            if other != path and other not in before[1 - KEPT_CHECKPOINTS :]:
                other.unlink(missing_ok=True)

    def steps(self):
        """The steps of which there are checkpoints, whole or not, in order."""
        return steps_in(self.folder)


def own_seed(seed, step):
    """A seed for one process from one step on."""
    return int.from_bytes(hashlib.sha256(f"{seed} {step} {rank()}".encode()).digest()[:7], "little")


def checkpoints_in(folder):
    """The paths of the checkpoints in a folder, whole or not, in the order of their steps."""
    return sorted(Path(folder).glob("step-*-*.safetensors"), key=lambda path: (step_of(path), path))


def step_of(path):
    """The number of steps after which a checkpoint was written."""
    return int(path.name.split("-")[1])


def steps_in(folder):
    """The steps of which a folder has checkpoints, whole or not, in order."""
    return [step_of(path) for path in checkpoints_in(folder)]


def read_run(folder):
    """What is trained in a folder of checkpoints: the `about` of its run.json."""
    values = read_json(Path(folder) / RUN, MAX_JSON)
    about = values.get("about") if isinstance(values, dict) else None
    if not isinstance(about, dict):
        raise ValueError(f"{Path(folder) / RUN} does not say what is trained: delete {folder}.")
    return about


def check_same(before, now, folder, name=""):
    """Raise ValueError that names the first thing in which two dicts differ."""
    for key in sorted(before.keys() | now.keys()):
        old, new = before.get(key), now.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            check_same(old, new, folder, f"{name}{key}.")
        elif old != new:
            raise ValueError(
                f"{folder} holds another training, with {name}{key} {brief(repr(old))} instead of "
                f"{brief(repr(new))}: resume with the same options, or choose another folder."
            )


def digest(data):
    """The beginning of the SHA-256 of bytes: 16 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()[:16]


def write_safely(path, data):
    """Write a file so that there is the old one or the new one, at any moment."""
    new = path.with_name(".new")
    try:
        new.write_bytes(data)
        sync(new)
        os.replace(new, path)
        sync(path.parent)
    except OSError:
        new.unlink(missing_ok=True)
        raise
