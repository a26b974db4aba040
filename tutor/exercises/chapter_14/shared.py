"""Files to read, for several exercises."""

import json

import torch
from safetensors.torch import save

DTYPES = {"F32": torch.float32, "F16": torch.float16}


def files():
    """Bytes of safetensors files, small ones first, each with the names of its tensors."""
    for tensors, notes in [
        ({"x": torch.tensor([1.0, 2.0])}, None),
        ({"x": torch.randn(2, 3)}, {"format": "pt"}),
        ({"b": torch.randn(3), "W": torch.randn(2, 4).half()}, None),
        ({"é": torch.randn(1), "a": torch.randn(2, 1, 3), "c": torch.tensor(5.0)}, {"n": "é"}),
        ({f"layer.{i}": torch.randn(4, i + 1).half() for i in range(9)}, None),
    ]:
        yield save(tensors, metadata=notes), list(tensors)


def header_and_start(data):
    """What `read_header` is to return."""
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), 8 + length
