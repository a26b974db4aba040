"""Trainings that may be killed at any moment: checkpoints, and going on from the last good one.

A folder of checkpoints holds:

run.json              what is trained, with what
history.csv           loss and target tokens of the steps up to the last checkpoint
step-00000500/        after so many steps; the last two are kept
  state.safetensors   weights, states of the optimisers, random numbers, losses
  state.json          steps, seconds, SHA-256 of the file above and of what is trained

Schedule and order of the batches are functions of the step alone. So the same training, killed and
resumed on the same machine, ends with the same weights, bit for bit.
"""

import hashlib
import json
import math
import os
import re
import shutil
import warnings
from pathlib import Path

import torch
from safetensors.torch import save

from tutor.training.checkpoint import HISTORY, brief, open_tensors, read_json, sync, write_json
from tutor.training.loop import History
from tutor.training.optimizers import Muon
from tutor.training.processes import from_first, gather, rank
from tutor.training.runs import to_csv

FORMAT_VERSION = 1
RUN, TENSORS, STATE = "run.json", "state.safetensors", "state.json"
KEPT = 2  # checkpoints
KEYS = {Muon: ("average",), torch.optim.AdamW: ("exp_avg", "exp_avg_sq", "step")}
DTYPES = {torch.float32: "F32", torch.float64: "F64", torch.int64: "I64"}
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
        about = json.loads(json.dumps(about))  # as it will be read: tuples are lists
        self.digest = digest(json.dumps(about, sort_keys=True).encode())
        if rank() == 0:
            if (self.folder / RUN).exists():
                check_same(read_run(self.folder), about, self.folder)
            else:
                self.folder.mkdir(parents=True, exist_ok=True)
                write_safely(self.folder / RUN, to_bytes({"about": about, "notes": notes}))

    def resume(self, optimizers, schedules):
        """Put model, optimisers, schedules and random numbers where the last good checkpoint was.

        Returns the History up to there, an empty one if there is no checkpoint. Warns of a damaged
        checkpoint. Raises ValueError if all are damaged.
        """
        self.optimizers = optimizers
        step = from_first(self.last_good() if rank() == 0 else 0)
        if not step:
            if rank():
                torch.manual_seed(own_seed(torch.initial_seed(), 0))
            return History()
        tensors, about = self.read(step)
        with torch.no_grad():
            for name, tensor in self.model.state_dict().items():
                tensor.copy_(tensors[f"model.{name}"])
        for name, state, p in self.slots():
            key = name.partition(".")[0]
            state[p][key] = tensors[name].to(p.device)
        for schedule in schedules:
            position = {"last_epoch": step, "_step_count": step + 1}
            schedule.load_state_dict(schedule.state_dict() | position)
            for group, factor in zip(
                schedule.optimizer.param_groups, schedule.lr_lambdas, strict=True
            ):
                group["lr"] = group["initial_lr"] * factor(step)
        self.restore_random(tensors, step)
        loss, tokens = tensors["history.loss"], tensors["history.tokens"]
        return History(loss.tolist(), tokens.tolist(), about["seconds"])

    def on_step(self, step, history):
        """Write a checkpoint after every so many steps; for `train`."""
        if (step + 1) % self.every == 0:
            self.save(history)

    def save(self, history):
        """Write a checkpoint of this moment, between two steps; then drop all but the last two."""
        history.settle()
        tensors = {f"model.{name}": t for name, t in self.model.state_dict().items()}
        tensors |= {name: state[p][name.partition(".")[0]] for name, state, p in self.slots()}
        for kind, state in self.random_states().items():
            tensors |= {f"{kind}.{i}": each for i, each in enumerate(gather(state))}
        if rank():
            return
        tensors["history.loss"] = torch.tensor(history.loss, dtype=torch.float64)
        tensors["history.tokens"] = torch.tensor(history.tokens)
        step = len(history.loss)
        data = save({name: t.detach().cpu().contiguous() for name, t in tensors.items()})
        about = {
            "format_version": FORMAT_VERSION,
            "step": step,
            "seconds": history.seconds,
            "run": self.digest,
            "sha256": digest(data),
        }
        try:
            self.write(step, data, about)
            write_safely(self.folder / HISTORY, to_csv(history).encode())
        except OSError as error:
            shutil.rmtree(self.folder / ".new", ignore_errors=True)
            warnings.warn(
                f"Cannot write the checkpoint of step {step} into {self.folder} "
                f"({error.strerror or error}): training goes on, and the checkpoints before it "
                "stay; make room before it ends.",
                stacklevel=2,
            )

    def write(self, step, data, about):
        """All or nothing: written beside, brought to the disk, then renamed."""
        new, final = self.folder / ".new", self.folder / f"step-{step:08}"
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        (new / TENSORS).write_bytes(data)
        write_json(new / STATE, about)
        for path in (new / TENSORS, new / STATE, new):
            sync(path)
        if final.exists():  # written before, and found damaged or gone past
            shutil.rmtree(final)
        os.replace(new, final)
        sync(self.folder)
        # Later ones are of a training that was resumed from an earlier one: damaged.
        keep = [number for number in self.steps() if number <= step][-KEPT:]
        for number in self.steps():
            if number not in keep:
                shutil.rmtree(self.folder / f"step-{number:08}", ignore_errors=True)

    def steps(self):
        """The steps of which there are checkpoints, whole or not, in order."""
        return steps_in(self.folder)

    def last_good(self):
        """The step of the last checkpoint that can be read, 0 if there is none at all."""
        for step in reversed(self.steps()):
            try:
                self.read(step)
                return step
            except (ValueError, OSError) as error:
                said = brief(error).rstrip(".")
                warnings.warn(f"{said}: the checkpoint before it is used.", stacklevel=4)
        if self.steps():
            raise ValueError(
                f"No checkpoint in {self.folder} can be read: delete the folder to begin anew."
            )
        return 0

    def read(self, step):
        """(tensors, state.json) of a checkpoint, checked. Raises ValueError or OSError."""
        folder = self.folder / f"step-{step:08}"
        about = read_json(folder / STATE, MAX_JSON)
        if not isinstance(about, dict) or about.get("format_version") != FORMAT_VERSION:
            raise ValueError(f"{folder} has another format.")
        if about.get("run") != self.digest:
            raise ValueError(f"{folder} is a checkpoint of another training.")
        seconds = about.get("seconds")
        if about.get("step") != step or type(seconds) is not float or not math.isfinite(seconds):
            raise ValueError(f"{folder} says wrong things of itself in {STATE}.")
        with (folder / TENSORS).open("rb") as file:
            checksum = hashlib.sha256()
            while part := file.read(2**20):  # a file that is too long must not fill the memory
                checksum.update(part)
        if checksum.hexdigest() != about.get("sha256"):
            raise ValueError(f"{folder} is damaged or cut short.")
        wanted = {f"model.{name}": t for name, t in self.model.state_dict().items()}
        wanted |= {name: p for name, _, p in self.slots()}
        wanted["history.loss"] = torch.empty(step, dtype=torch.float64, device="meta")
        wanted["history.tokens"] = torch.empty(step, dtype=torch.int64, device="meta")
        with open_tensors(folder / TENSORS) as file:
            names = {name for name in file.keys() if not re.fullmatch(r"(cpu|cuda)\.\d+", name)}
            if names != wanted.keys():
                name = brief(min(names ^ wanted.keys()))
                raise ValueError(f"{folder} does not hold the tensors of this training ({name}).")
            for name, like in wanted.items():
                found = file.get_slice(name)
                if name.startswith("step."):  # AdamW counts in a number of its own
                    right = found.get_shape() == [] and found.get_dtype() in ("F32", "F64")
                else:
                    right = found.get_shape() == list(like.shape)
                    right = right and found.get_dtype() == DTYPES[like.dtype]
                if not right:
                    raise ValueError(f"{folder} has another shape or dtype of {name}.")
            return {name: file.get_tensor(name) for name in file.keys()}, about

    def slots(self):
        """(name in a checkpoint, state of the optimiser, parameter) of all that optimisers keep."""
        names = {p: name for name, p in self.model.named_parameters()}
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                for p in group["params"]:
                    for key in KEYS[type(optimizer)]:
                        yield f"{key}.{names[p]}", optimizer.state, p

    def random_states(self):
        """Of the generators that dropout draws from: {"cpu": ...}, on a GPU "cuda" too."""
        states = {"cpu": torch.get_rng_state()}
        device = next(self.model.parameters()).device
        if device.type == "cuda":
            states["cuda"] = torch.cuda.get_rng_state(device)
        return states

    def restore_random(self, tensors, step):
        """Each process goes on with its own; one that is new gets a seed of its own."""
        torch.manual_seed(own_seed(torch.initial_seed(), step))
        for kind in self.random_states():
            state = tensors.get(f"{kind}.{rank()}")
            if state is None:
                continue
            try:
                if kind == "cpu":
                    torch.set_rng_state(state)
                else:
                    torch.cuda.set_rng_state(state, next(self.model.parameters()).device)
            except (RuntimeError, TypeError):
                raise ValueError(
                    f"Checkpoint {step} in {self.folder} holds random numbers of another kind: "
                    "delete the checkpoint."
                ) from None


def own_seed(seed, step):
    """A seed for one process from one step on."""
    return int.from_bytes(hashlib.sha256(f"{seed} {step} {rank()}".encode()).digest()[:7], "little")


def steps_in(folder):
    """The steps of which a folder has checkpoints, whole or not, in order."""
    found = [re.fullmatch(r"step-(\d{8,})", path.name) for path in Path(folder).glob("step-*")]
    return sorted(int(match[1]) for match in found if match)


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
    return hashlib.sha256(data).hexdigest()


def to_bytes(values):
    return (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode()


def write_safely(path, data):
    """Write a file so that there is the old one or the new one, at any moment."""
    new = path.with_name(f".{path.name}.new")
    try:
        new.write_bytes(data)
        sync(new)
        os.replace(new, path)
    except OSError:
        new.unlink(missing_ok=True)
        raise
