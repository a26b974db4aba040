"""A model as a folder: weights, configuration and tokenizer, written and read safely.

model.safetensors   the weights: names, shapes and numbers, nothing that could run
config.json         the fields of TransformerConfig and the version of this format
tokenizer.json      the format of the `tokenizers` library
card.md             optional: what the model is, in words
training.json       optional: how it was trained
"""

import json
import os
import tempfile
from dataclasses import MISSING, asdict, fields
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from tutor.text.tokenizer import Tokenizer
from tutor.transformer import Transformer, TransformerConfig

FORMAT_VERSION = 1
WEIGHTS, CONFIG, TOKENIZER, CARD, TRAINING = FILES = (
    "model.safetensors", "config.json", "tokenizer.json", "card.md", "training.json",
)  # fmt: skip
DTYPES = {torch.float32: "F32", torch.float16: "F16"}
LARGEST = 1_000_000  # no size in a config may pass it: a damaged one must not fill the memory


def save_model(folder, model, tokenizer, card=None, dtype=torch.float32, training=None):
    """Write a Transformer and its Tokenizer into `folder`, all or nothing.

    card: str, the text of card.md. dtype: torch.float32, or torch.float16 for half the size.
    training: a dict that goes into training.json. A model folder that is already there is replaced
    as a whole; if anything fails, it stays as it was.
    Raises ValueError for weights that are not finite, a tokenizer of another size, or a folder that
    holds anything else than a model; OSError where the folder cannot be written.
    """
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be torch.float32 or torch.float16, not {dtype!r}.")
    check_sizes_agree(model.config, tokenizer, "the tokenizer")
    tensors = {}
    for name, tensor in model.state_dict().items():
        tensors[name] = tensor.detach().to("cpu", dtype).contiguous()
        if not tensors[name].isfinite().all():
            raise ValueError(
                f"{name} holds numbers that are not finite in {dtype}, so nothing was saved: the "
                "training has diverged; try a lower learning rate."
            )
    folder = Path(folder).expanduser().resolve()
    with scratch_folder(folder) as scratch:
        new, old = Path(scratch, "new"), Path(scratch, "old")
        new.mkdir()  # not the scratch folder itself, which only its owner may read
        # Through bytes, because then a full disk is an OSError like everywhere else.
        (new / WEIGHTS).write_bytes(save(tensors, metadata={"format": "pt"}))
        write_json(new / CONFIG, {"format_version": FORMAT_VERSION, **asdict(model.config)})
        tokenizer.save(new / TOKENIZER)
        if card is not None:
            (new / CARD).write_text(card, encoding="utf-8", newline="\n")
        if training is not None:
            write_json(new / TRAINING, training)
        # No system can swap two full folders in one step everywhere; so two, and one back.
        if folder.exists():
            os.replace(folder, old)
        try:
            os.replace(new, folder)
        except BaseException:
            if old.exists():
                os.replace(old, folder)
            raise


def scratch_folder(folder):
    """A temporary folder beside `folder`, a context; raises unless a model may be saved there."""
    folder = Path(folder).expanduser().resolve()
    if folder.exists():
        if not folder.is_dir():
            raise ValueError(f"{folder} is a file: choose the name of a folder.")
        others = sorted({path.name for path in folder.iterdir()} - set(FILES))
        if others:
            raise ValueError(
                f"{folder} holds something that is not part of a model ({others[0]}): choose a "
                "new folder, because saving replaces the folder as a whole."
            )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(
            prefix=f".{folder.name}-", dir=folder.parent, ignore_cleanup_errors=True
        )
    except OSError as error:
        raise OSError(
            f"Cannot write into {folder.parent} ({error.strerror}): choose another folder."
        ) from error


def load_model(folder):
    """Read what `save_model` wrote. Returns (model, tokenizer), the model on the CPU in float32.

    Everything is checked before memory is taken for the weights. Raises FileNotFoundError for what
    is missing and ValueError for what is damaged or does not belong together.
    """
    folder = Path(folder).expanduser()
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no model folder {folder}.")
    for name in (CONFIG, WEIGHTS, TOKENIZER):
        if not (folder / name).is_file():
            raise FileNotFoundError(
                f"{folder} holds no {name}, so it is not a model folder: save the model again."
            )
    config = read_config(folder / CONFIG)
    tokenizer = Tokenizer.load(folder / TOKENIZER)
    check_sizes_agree(config, tokenizer, folder / TOKENIZER)
    path = folder / WEIGHTS
    try:
        with safe_open(path, framework="pt") as file:
            check_header(file, config, path)
            with torch.random.fork_rng(devices=[]):  # the caller's random numbers stay untouched
                model = Transformer(config).to("cpu", torch.float32)
            # A copy, so that nothing points into the file and it can be replaced.
            model.load_state_dict({name: file.get_tensor(name) for name in file.keys()})
    except SafetensorError as error:
        raise ValueError(
            f"{path} is damaged or cut short ({error}): save or download it again."
        ) from None
    return model.eval(), tokenizer


def read_config(path):
    """The TransformerConfig in a config.json. Raises ValueError that names the wrong field."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a JSON file ({error}): save the model again.") from None
    if not isinstance(values, dict):
        raise ValueError(f"{path} must hold one JSON object with the fields of TransformerConfig.")
    version = values.pop("format_version", None)
    if version != FORMAT_VERSION:
        raise ValueError(
            f"{path} has format_version {version!r}, but this version of tutor reads "
            f"{FORMAT_VERSION}: update tutor or save the model again."
        )
    known = {field.name: field.default for field in fields(TransformerConfig)}
    if unknown := sorted(values.keys() - known.keys()):
        raise ValueError(f"{path} has an unknown field {unknown[0]!r}: remove it or update tutor.")
    if missing := sorted(known.keys() - values.keys()):
        raise ValueError(f"{path} lacks the field {missing[0]!r}: save the model again.")
    for name, value in values.items():
        default = known[name]
        kind = int if default in (None, MISSING) else type(default)
        right = type(value) is kind or (kind is float and type(value) is int)
        if not right and not (default is None and value is None):
            raise ValueError(f"{path} has {name} = {value!r}, which is no {kind.__name__}.")
        if kind is int and value is not None and value > LARGEST:
            raise ValueError(f"{path} has {name} = {value}, but {LARGEST} is the most.")
    try:
        return TransformerConfig(**values)
    except ValueError as error:
        raise ValueError(f"{path} describes no model: {error}") from None


def check_sizes_agree(config, tokenizer, where):
    """Raise unless the tokenizer has as many ids as the embedding table has rows."""
    if len(tokenizer) != config.vocab_size:
        raise ValueError(
            f"The model has an embedding table of {config.vocab_size} rows, but {where} has "
            f"{len(tokenizer)} ids: put the model and the tokenizer it was trained with together."
        )


def check_header(file, config, path):
    """Raise unless an open safetensors file holds the tensors that `config` asks for."""
    names = set(file.keys())
    trouble = f"{path} and its {CONFIG} do not belong together"
    if config.num_layers > len(names):  # before so many layers are built
        raise ValueError(f"{trouble}: {config.num_layers} layers, but {len(names)} tensors.")
    with torch.device("meta"):  # shapes only, no memory
        wanted = {name: list(t.shape) for name, t in Transformer(config).state_dict().items()}
    if missing := sorted(wanted.keys() - names):
        raise ValueError(f"{trouble}: the tensor {missing[0]} is missing.")
    if unknown := sorted(names - wanted.keys()):
        raise ValueError(f"{trouble}: the tensor {unknown[0]} has no place in the model.")
    for name, shape in wanted.items():
        found = file.get_slice(name)
        if found.get_shape() != shape:
            raise ValueError(f"{trouble}: {name} is {found.get_shape()} instead of {shape}.")
        if found.get_dtype() not in DTYPES.values():
            raise ValueError(
                f"{path} holds {name} as {found.get_dtype()}: only float32 (F32) and float16 (F16) "
                "are read."
            )


def write_json(path, values):
    text = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")
