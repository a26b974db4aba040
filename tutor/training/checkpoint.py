"""A model as a folder: weights, configuration and tokenizer, written and read safely.

model.safetensors   the weights: names, shapes and numbers, nothing that could run
config.json         the fields of TransformerConfig, the version of this format, and the SHA-256 of
                    the weights (a folder of an earlier version may be without)
tokenizer.json      the format of the `tokenizers` library
words.txt           optional: words that are known, one a line, the most frequent first
card.md             optional: what the model is, in words
training.json       optional: how it was trained
history.csv         optional: loss and target tokens of every step of the training
"""

import errno
import hashlib
import json
import math
import os
import re
import tempfile
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path

import tokenizers
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from tokenizers.pre_tokenizers import ByteLevel

from tutor.language_model import LanguageModel, LanguageModelConfig
from tutor.text.tokenizer import SPECIAL, Tokenizer
from tutor.transformer import Transformer, TransformerConfig

FORMAT_VERSION = 1
WEIGHTS_HASH = "weights_sha256"  # in config.json
MANNER = ("sentences", "doubted_above", "words")  # how a Translator reads texts
WEIGHTS, CONFIG, TOKENIZER, WORD_LIST, CARD, TRAINING, HISTORY = FILES = (
    "model.safetensors", "config.json", "tokenizer.json", "words.txt", "card.md", "training.json",
    "history.csv",
)  # fmt: skip
NOT_A = {  # a field of the other kind of model, and what its folder holds then
    TransformerConfig: ("feed_forward", "a language model, not a translator"),
    LanguageModelConfig: ("d_v", "a translator, not a language model"),
}
DTYPES = {torch.float32: "F32", torch.float16: "F16"}
# What files of strangers may ask for at most: none may fill the memory before it is refused.
POSITIONS = 2**24  # numbers in the table of positions, max_len times d_model
MAX_CONFIG = 100_000  # bytes of a config.json
MAX_WORDS = 2_000_000  # bytes of a words.txt
MAX_TOKENIZER = 8_000_000  # bytes of a tokenizer.json
NO_ROOM = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", None)}


def save_model(
    folder, model, tokenizer, card=None, dtype=torch.float32, training=None, history=None,
    manner=None,
):  # fmt: skip
    """Write a Transformer and its Tokenizer into `folder`, all or nothing.

    card: str, the text of card.md. dtype: torch.float32, or torch.float16 for half the size.
    training: a dict that goes into training.json. history: str, the text of history.csv. manner: a
    dict of how texts are read, see `read_manner`. A model folder that is already there is replaced
    as a whole; if anything fails, it stays as it was.
    Raises ValueError for weights that are not finite, a tokenizer of another size, or a folder that
    holds anything else than a model; OSError where the folder cannot be written.
    """
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be torch.float32 or torch.float16, not {dtype!r}.")
    check_sizes_agree(model.config, tokenizer, "the tokenizer")
    tensors = finite_tensors(model, dtype)
    with replaced(folder) as new:
        about = write_weights(new / WEIGHTS, tensors)
        about |= {name: value for name, value in (manner or {}).items() if value}
        if words := about.pop("words", ()):
            write_words(new, words)
        write_json(new / CONFIG, about | asdict(model.config))
        tokenizer.save(new / TOKENIZER)
        if card is not None:
            (new / CARD).write_text(card, encoding="utf-8", newline="\n")
        write_record(new, training, history)


def write_record(folder, training, history):
    """Write how a model was trained into its folder, as far as it is known."""
    if training is not None:
        write_json(folder / TRAINING, training)
    if history is not None:
        (folder / HISTORY).write_text(history, encoding="utf-8", newline="\n")


def finite_tensors(model, dtype=None):
    """A model's weights by name, on the CPU and in `dtype`. Raises ValueError unless all finite."""
    tensors = {}
    for name, tensor in model.state_dict().items():
        tensors[name] = tensor.detach().to("cpu", dtype).contiguous()
        if not tensors[name].isfinite().all():
            why = (
                f"too large for {dtype}, so nothing was saved: save it in torch.float32."
                if tensor.isfinite().all()
                else "not finite, so nothing was saved: the training has diverged; try a lower "
                "learning rate."
            )
            raise ValueError(f"{name} holds numbers that are {why}")
    return tensors


def write_weights(path, tensors):
    """Write a safetensors file; returns what config.json says of it and of the format, a dict."""
    data = save(tensors, metadata={"format": "pt"})
    path.write_bytes(data)  # not save_file: so a full disk is an OSError like everywhere else
    return {"format_version": FORMAT_VERSION, WEIGHTS_HASH: hashlib.sha256(data).hexdigest()}


@contextmanager
def replaced(folder, files=FILES):
    """A new, empty folder, a context, that takes the place of `folder` at its end, or of nothing.

    files: the names that `folder` may hold before. If anything fails, it stays as it was.
    """
    folder = Path(folder).expanduser().resolve()
    with writing_into(folder), scratch_folder(folder, files) as scratch:
        new, old = Path(scratch, "new"), Path(scratch, "old")
        new.mkdir()  # not the scratch folder itself, which only its owner may read
        yield new
        for path in (*new.iterdir(), new):
            sync(path)
        # No system can swap two full folders in one step everywhere; so two, and one back.
        if folder.exists():
            os.replace(folder, old)
        try:
            os.replace(new, folder)
        except BaseException:
            if old.exists():
                os.replace(old, folder)
            raise


def scratch_folder(folder, files=FILES):
    """A temporary folder beside `folder`, a context; raises unless a model may be saved there.

    files: the names that `folder` may hold, since it is going to be replaced.
    """
    folder = Path(folder).expanduser().resolve()
    if folder.exists():
        if not folder.is_dir():
            raise ValueError(f"{folder} is a file: choose the name of a folder.")
        others = sorted({path.name for path in folder.iterdir()} - set(files))
        if others:
            raise ValueError(
                f"{folder} holds something that is not part of a model ({others[0]}): choose a "
                "new folder, because saving replaces the folder as a whole."
            )
    with writing_into(folder.parent):
        folder.parent.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(
            prefix=f".{folder.name}-", dir=folder.parent, ignore_cleanup_errors=True
        )


@contextmanager
def writing_into(folder):
    """A context in which the system's errors become OSErrors that name a folder and a way out."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # it is such a sentence already
            raise
        room = "free room, or " if error.errno in NO_ROOM else ""
        raise OSError(
            f"Cannot write into {folder} ({error.strerror}): {room}choose another folder."
        ) from error


def load_model(folder):
    """Read what `save_model` wrote. Returns (model, tokenizer), the model on the CPU in float32.

    Sizes are checked before memory is taken for the model. Raises FileNotFoundError for what
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
    tokenizer = load_tokenizer(folder / TOKENIZER)
    check_sizes_agree(config, tokenizer, folder / TOKENIZER)
    path = folder / WEIGHTS
    tensors = read_weights(path, config)
    with torch.random.fork_rng(devices=[]):  # the caller's random numbers stay untouched
        model = Transformer(config).to("cpu", torch.float32)
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        trouble = brief(str(error).partition("\n")[2])
        raise ValueError(
            f"{path} and its {CONFIG} do not belong together ({trouble}): save or download both "
            "again."
        ) from None
    check_hash(folder)
    return model.eval(), tokenizer


def save_language_model(folder, model, tokenizer=None, training=None, history=None):
    """Write a LanguageModel, and its Tokenizer if there is one, into `folder`: as `save_model`.

    The weights keep their dtype.
    """
    if tokenizer is not None:
        check_sizes_agree(model.config, tokenizer, "the tokenizer")
    tensors = finite_tensors(model)
    with replaced(folder) as new:
        write_json(new / CONFIG, write_weights(new / WEIGHTS, tensors) | asdict(model.config))
        if tokenizer is not None:
            tokenizer.save(new / TOKENIZER)
        write_record(new, training, history)


def is_language_model(folder):
    """Whether a folder holds a LanguageModel, if it holds any model."""
    path = Path(folder).expanduser() / CONFIG
    values = read_json(path, MAX_CONFIG) if path.is_file() else None
    return isinstance(values, dict) and NOT_A[TransformerConfig][0] in values


def load_language_model(folder):
    """Read what `save_language_model` wrote: (model, tokenizer or None), in eval mode on the CPU.

    Raises FileNotFoundError for what is missing and ValueError for what is damaged or does not
    belong together.
    """
    folder = Path(folder).expanduser()
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no model folder {folder}.")
    for name in (CONFIG, WEIGHTS):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder} holds no {name}: save the language model again.")
    config, path = read_config(folder / CONFIG, LanguageModelConfig), folder / WEIGHTS
    with open_tensors(path) as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    asked = {}
    if config.num_layers <= len(tensors):  # else even their names could fill the memory
        with torch.device("meta"):
            asked = {k: tensor.shape for k, tensor in LanguageModel(config).state_dict().items()}
    if shapes != asked or len({tensor.dtype for tensor in tensors.values()}) > 1:
        raise ValueError(
            f"{path} and its {CONFIG} do not belong together (other names, shapes or dtypes): save "
            "or download both again."
        )
    with torch.random.fork_rng(devices=[]):  # the caller's random numbers stay untouched
        model = LanguageModel(config).to(tensors["embedding.weight"].dtype)
    check_finite(tensors, path)
    model.load_state_dict(tensors)
    check_hash(folder)
    tokenizer = None
    if (folder / TOKENIZER).is_file():
        tokenizer = load_tokenizer(folder / TOKENIZER)
        check_sizes_agree(config, tokenizer, folder / TOKENIZER)
    return model.eval(), tokenizer


def read_weights(path, config):
    """The tensors of a safetensors file by name, if they are finite and as many as `config` asks.

    Their names and shapes are left to `load_state_dict`; but it needs a model first, and a model
    of any size may be asked for.
    """
    with open_tensors(path) as file:
        slices = {name: file.get_slice(name) for name in file.keys()}
        found = sum(math.prod(each.get_shape()) for each in slices.values())
        if found != (asked := count_weights(config)):
            raise ValueError(
                f"{path} and its {CONFIG} do not belong together ({found:,} weights, but the sizes "
                f"ask for {brief(asked)}): save or download both again."
            )
        for name, each in slices.items():
            if each.get_dtype() not in DTYPES.values():
                raise ValueError(
                    f"{path} holds {brief(name)} as {each.get_dtype()}: only float32 (F32) and "
                    "float16 (F16) are read."
                )
        tensors = {name: file.get_tensor(name) for name in slices}
    check_finite(tensors, path)
    return tensors


def check_finite(tensors, path):
    """Raise ValueError unless all of a file's tensors are finite."""
    for name, tensor in tensors.items():
        if not tensor.isfinite().all():
            raise ValueError(
                f"{path} holds numbers in {brief(name)} that are not finite: save or download it "
                "again."
            )


def check_hash(folder):
    """Raise ValueError unless a folder's weights are those that its config.json was written with.

    No other check sees two tensors of one shape exchanged.
    """
    wanted = read_json(folder / CONFIG, MAX_CONFIG).get(WEIGHTS_HASH)
    if wanted not in (None, hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()):
        raise ValueError(
            f"{folder / WEIGHTS} is not the file that {CONFIG} was written with (its SHA-256 is "
            "another): save or download both again."
        )


def count_weights(config):
    """How many numbers the weights of a Transformer are, counted without making it."""
    d, h, d_ff = config.d_model, config.num_heads, config.d_ff
    attention = 2 * d * h * ((config.d_k or d // h) + (config.d_v or d // h))
    feed_forward, norm = 2 * d * d_ff + d_ff + d, 2 * d
    layer = 3 * attention + 2 * feed_forward + 5 * norm  # of the encoder and of the decoder
    table = config.max_len * d if config.positions == "learned" else 0
    last = 2 * norm if config.norm_first else 0
    return config.vocab_size * d + table + config.num_layers * layer + last


@contextmanager
def open_tensors(path):
    """An open safetensors file, a context. Raises ValueError for a damaged one."""
    try:
        with safe_open(path, framework="pt") as file:
            yield file
    except SafetensorError as error:
        raise ValueError(
            f"{path} is damaged or cut short ({brief(error)}): save or download it again."
        ) from None


def brief(thing):
    """The text of something foreign, on one line and not too long, for a message."""
    text = " ".join(str(thing).split())
    return text if len(text) <= 200 else f"{text[:200]} ..."


def read_json(path, most):
    """What a JSON file of at most `most` bytes holds. Raises ValueError for any other file."""
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"{path} has more than {most:,} bytes: it is not a file that tutor wrote.")
    try:
        return json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{path} is not a JSON file ({brief(error)}): save or download it again."
        ) from None


def load_tokenizer(path):
    """The Tokenizer in a tokenizer.json, if it is of the kind that `Tokenizer.save` writes.

    The `tokenizers` library builds whatever such a file asks for: other kinds of model, regular
    expressions, rules that make a text longer. So all but the vocabulary and the merges must be
    what this package itself asks for. Raises ValueError.
    """
    values = read_json(path, MAX_TOKENIZER)
    model = values.get("model") if isinstance(values, dict) else None
    if not isinstance(model, dict):
        raise ValueError(f"{path} is not a tokenizer file: save or download it again.")
    vocab, merges, frame = model.pop("vocab", None), model.pop("merges", None), tokenizer_frame()
    if other := sorted(k for k in values.keys() | frame.keys() if values.get(k) != frame.get(k)):
        raise ValueError(
            f"{path} is of another kind: its {brief(repr(other[0]))} is not what tutor's "
            "tokenizers have."
        )
    return make_tokenizer(vocab, merges, path)


def make_tokenizer(vocab, merges, path):
    """The Tokenizer with the vocabulary and the merges that a file holds. Raises ValueError."""
    trouble = f"{path} is not a tokenizer file:"
    if not isinstance(vocab, dict) or not isinstance(merges, list):
        raise ValueError(f"{trouble} it lacks a vocabulary or merges.")
    numbers = vocab.values()
    if not all(type(i) is int for i in numbers) or sorted(numbers) != list(range(len(vocab))):
        raise ValueError(f"{trouble} its ids are not 0, 1, 2 and so on.")
    if missing := [token for token in (*SPECIAL, *ByteLevel.alphabet()) if token not in vocab]:
        raise ValueError(f"{trouble} it has no token {missing[0]!r}.")
    if [vocab[token] for token in SPECIAL] != list(range(len(SPECIAL))):
        raise ValueError(f"{path} is of another kind: its ids do not begin with {SPECIAL}.")
    frame = tokenizer_frame()
    frame["model"] |= {"vocab": vocab, "merges": merges}
    try:
        return Tokenizer(tokenizers.Tokenizer.from_str(json.dumps(frame)))
    except Exception as error:  # the library raises bare Exception
        raise ValueError(f"{trouble} {brief(error)}.") from None


def tokenizer_frame():
    """What a tokenizer.json of this package holds, without vocabulary and merges: a dict."""
    values = json.loads(Tokenizer.train([], len(SPECIAL) + 256).model.to_str())
    del values["model"]["vocab"], values["model"]["merges"]
    return values


def read_config(path, kind=TransformerConfig):
    """The config of a `kind` in a config.json. Raises ValueError that names the wrong field."""
    values = read_json(path, MAX_CONFIG)
    if not isinstance(values, dict):
        raise ValueError(f"{path} must hold one JSON object with the fields of {kind.__name__}.")
    for name in (*MANNER, WEIGHTS_HASH):
        values.pop(name, None)
    version = values.pop("format_version", None)
    if version is None and "model_type" in values:
        raise ValueError(
            f"{path.parent} holds a model for transformers: read a translator of ours with "
            "tutor.exchange.huggingface.load, and a Llama with tutor.exchange.llama.load."
        )
    if version != FORMAT_VERSION:
        raise ValueError(
            f"{path} has format_version {brief(repr(version))}, but this version of tutor reads "
            f"{FORMAT_VERSION}: update tutor or save the model again."
        )
    known = {field.name for field in fields(kind)}
    mark, found = NOT_A[kind]
    if mark in values.keys() - known:
        raise ValueError(f"{path.parent} holds {found}: name another folder.")
    if unknown := sorted(values.keys() - known):
        name = brief(repr(unknown[0]))
        raise ValueError(f"{path} has an unknown field {name}: remove it or update tutor.")
    if missing := sorted(known - values.keys()):
        raise ValueError(f"{path} lacks the field {missing[0]!r}: save the model again.")
    try:
        config = kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} describes no model: {brief(error)}") from None
    table = config.positions in ("learned", "sinusoidal")
    if table and config.max_len * config.d_model > POSITIONS:
        raise ValueError(
            f"{path} asks for {brief(config.max_len)} positions of width {brief(config.d_model)}, "
            f"but {POSITIONS:,} numbers is the most."
        )
    return config


def read_manner(folder):
    """How the Translator of a model folder reads texts: its arguments of these names, a dict."""
    values = read_json(Path(folder).expanduser() / CONFIG, MAX_CONFIG)
    above = values.get("doubted_above")
    if above is not None and (isinstance(above, bool) or not isinstance(above, int | float)):
        raise ValueError(
            f"{folder}/{CONFIG} has doubted_above {brief(repr(above))}: it must be a number."
        )
    words = read_words(folder)
    return {"sentences": values.get("sentences") is True, "doubted_above": above, "words": words}


def write_words(folder, words):
    """Write words, the most frequent first, into a model folder's words.txt."""
    text = "".join(f"{word}\n" for word in words)
    Path(folder, WORD_LIST).write_text(text, encoding="utf-8", newline="\n")


def read_words(folder):
    """The words of a model folder's words.txt, a list of str; empty where there is none."""
    path = Path(folder).expanduser() / WORD_LIST
    if not path.is_file():
        return []
    if path.stat().st_size > MAX_WORDS:
        raise ValueError(f"{path} has more than {MAX_WORDS:,} bytes: it is no list of words.")
    words = path.read_bytes().decode("ascii", "replace").splitlines()
    if odd := [word for word in words if not re.fullmatch("[a-z]+", word)]:
        raise ValueError(f"{path} holds {brief(repr(odd[0]))}: each line must be a word of a to z.")
    return words


def check_sizes_agree(config, tokenizer, where):
    """Raise unless the tokenizer has as many ids as the embedding table has rows."""
    if len(tokenizer) != config.vocab_size:
        raise ValueError(
            f"The model has an embedding table of {config.vocab_size} rows, but {where} has "
            f"{len(tokenizer)} ids: put the model and the tokenizer it was trained with together."
        )


def write_json(path, values):
    text = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")


def sync(path):
    """Have the system bring a file, or the list of files in a folder, to the disk at once."""
    if os.name == "nt" and path.is_dir():
        return  # Windows opens no folders
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
