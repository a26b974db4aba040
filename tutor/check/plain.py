"""What an answer gives, as plain data: numbers, texts, tensors, and lists and dicts of them.

`plainly` takes a result apart without running a line of the answer's: an object may lie about its
length, its class or what it equals. `pack` makes bytes of it for another process, JSON and
safetensors; `unpack` reads them, whoever wrote them, and can build nothing else.
"""

import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import torch
from safetensors.torch import load, save

LARGE = 2**26  # bytes that a result may have on its way
TREE = 2**22  # bytes of it that are no tensors
NUMBER_TYPES = {kind for kind in np.sctypeDict.values() if issubclass(kind, np.number | np.bool_)}


class Unreadable(Exception):
    """Bytes that `pack` did not write, or a result that it cannot write."""


def stranger(name):
    """What is no plain data: of all that it was, only the name of its kind is left."""
    return type(name if name.isprintable() else "strange object", (), {})()


def plainly(value):
    """A result as plain data; an object of any other class becomes a stranger."""
    kind = type(value)  # `isinstance` asks the object
    if value is None or exactly(kind, bool, int, float, str, bytes, *NUMBER_TYPES):
        return value
    if exactly(kind, Fraction, Decimal):
        try:
            return float(value)
        except (ArithmeticError, ValueError):
            return float("nan")
    if issubclass(kind, torch.Tensor):
        return plain_tensor(value)
    if issubclass(kind, np.ndarray):
        array = np.asarray(value)
        return (
            array if array.dtype.type in NUMBER_TYPES else stranger("array of other than numbers")
        )
    for base in (int, float):
        if issubclass(kind, base):
            return base.__pos__(value)
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, list):
        return [plainly(item) for item in list.__iter__(value)]
    if issubclass(kind, tuple):
        return tuple(plainly(item) for item in tuple.__iter__(value))
    if kind is set:
        return {plainly(item) for item in value}
    if kind is dict:
        return {plainly(key): plainly(item) for key, item in value.items()}
    return stranger(type.__dict__["__name__"].__get__(kind))


def exactly(kind, *kinds):
    """Whether a class is one of these; `in` would ask the class's own class what it equals."""
    return any(kind is other for other in kinds)


def plain_tensor(value):
    """An ordinary tensor on the CPU, without its graph."""
    try:
        with torch._C.DisableTorchFunctionSubclass():
            bare = torch.Tensor.detach(value)
            bare = bare if type(bare) is torch.Tensor else bare.as_subclass(torch.Tensor)
        if bare.layout != torch.strided:
            return stranger("sparse tensor (`.to_dense()` makes an ordinary one)")
        if bare.is_quantized or bare.is_nested or bare.is_meta or computed_elsewhere(bare):
            return stranger("tensor of a special kind")
        return bare.cpu().resolve_conj().resolve_neg()
    except Exception:
        return stranger("tensor of a special kind")


def computed_elsewhere(tensor):
    """Whether a tensor is but the face of another object, as in `vmap`."""
    keys = torch._C._dispatch_keys(tensor)
    return keys.has(torch._C.DispatchKey.Python) or "FuncTorch" in str(keys)


def pack(value):
    """The bytes of plain data. Raises Unreadable if they are too many."""
    tensors = {}
    try:
        tree = json.dumps(tree_of(value, tensors))
        if len(tree) > TREE:
            raise Unreadable
        return tree.encode() + b"\n" + save(tensors)
    except Exception:
        raise Unreadable from None


def tree_of(value, tensors):
    """Plain data as JSON knows it; tensors go into the dict `tensors`, by number."""
    kind = type(value)
    if value is None or exactly(kind, bool, float, str):
        return value
    if kind is int:
        return {"int": hex(value)}  # JSON's own are limited
    if kind is bytes:
        return {"bytes": value.hex()}
    if kind is list:
        return [tree_of(item, tensors) for item in value]
    if exactly(kind, tuple, set):
        return {kind.__name__: [tree_of(item, tensors) for item in value]}
    if kind is dict:
        return {"dict": [[tree_of(item, tensors) for item in pair] for pair in value.items()]}
    if kind is torch.Tensor or issubclass(kind, np.ndarray | np.generic):
        sort = "tensor" if kind is torch.Tensor else kind.__name__
        tensor = value if kind is torch.Tensor else torch.from_numpy(np.array(value))
        if sum(t.nbytes for t in (tensor, *tensors.values())) > LARGE:
            raise Unreadable
        tensors[str(len(tensors))] = tensor.clone(memory_format=torch.contiguous_format)
        return {sort if sort in ("tensor", "ndarray") else "generic": str(len(tensors) - 1)}
    return {"stranger": kind.__name__[:80]}


def unpack(data):
    """The plain data that these bytes mean. Raises Unreadable if they mean nothing."""
    try:
        tree, tensors = data[: TREE + 1].split(b"\n", 1)[0], data[data.index(b"\n") + 1 :]
        return grown(json.loads(tree), load(tensors))
    except Exception:
        raise Unreadable from None


def grown(tree, tensors):
    """The plain data of a tree that `tree_of` made."""
    if isinstance(tree, list):
        return [grown(item, tensors) for item in tree]
    if not isinstance(tree, dict):
        return tree
    ((sort, inside),) = tree.items()
    makers = {
        "int": lambda: int(inside, 16),
        "bytes": lambda: bytes.fromhex(inside),
        "tuple": lambda: tuple(grown(inside, tensors)),
        "set": lambda: set(grown(inside, tensors)),
        "dict": lambda: {grown(key, tensors): grown(item, tensors) for key, item in inside},
        "tensor": lambda: tensors[inside],
        "ndarray": lambda: tensors[inside].numpy(),
        "generic": lambda: tensors[inside].numpy()[()],
        "stranger": lambda: stranger(str(inside)),
    }
    return makers[sort]()
