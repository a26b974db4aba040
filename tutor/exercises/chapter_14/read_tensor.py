"""The numbers of a tensor, out of the bytes of a file."""

import torch
from safetensors.torch import load, save

from tutor.check.exercise import WRITE, Exercise
from tutor.exercises.chapter_14.shared import DTYPES, files, header_and_start


def _with(base=None, last=True, dtype=None, shaped=True):
    """A reader that is right, or has one of these things wrong."""

    def read(data, name):
        header, start = header_and_start(data)
        entry = header[name]
        a, b = entry["data_offsets"]
        start = start if base is None else base
        part = bytearray(data[start + a : start + b] if last else data[start + a :])
        kind = dtype or DTYPES[entry["dtype"]]
        numbers = torch.frombuffer(part, dtype=kind)
        return numbers.reshape(entry["shape"]) if shaped else numbers  # the tensor's own shape

    return read


def _first(data, name):
    header, _ = header_and_start(data)
    return _with()(data, next(key for key in header if key != "__metadata__"))


def _offset_is_a_count(data, name):
    header, start = header_and_start(data)
    entry = header[name]
    numbers = torch.frombuffer(bytearray(data[start:]), dtype=DTYPES[entry["dtype"]])
    a, b = entry["data_offsets"]
    return numbers[a:b].reshape(entry["shape"])


def _end_from_first(data, name):
    header, start = header_and_start(data)
    first, last = header[name]["data_offsets"]
    part = bytearray(data[start + first : start + first + last])
    return torch.frombuffer(part, dtype=DTYPES[header[name]["dtype"]]).reshape(
        header[name]["shape"]
    )


def _transposed(X):
    return X.permute(tuple(reversed(range(X.dim()))))


def _turned(data, name):
    X = _with()(data, name)
    return _transposed(X.flatten().reshape(X.shape[::-1]))


def _two_sides(data, name):
    X, (header, _) = _with()(data, name), header_and_start(data)
    return X.reshape(-1, header[name]["shape"][-1])


def _keeps_the_dtype(answer):
    """What is read of a float16 tensor; its dtype in words."""
    return str(answer(save({"x": torch.tensor([0.5, 2.0]).half()}), "x").dtype)


def _cases_of_tensors():
    for data, names in files():
        for name in names[:4]:
            yield data, name


read_tensor = Exercise(
    name="read_tensor",
    chapter="14",
    section="What safetensors holds",
    kind=WRITE,
    title="Read a tensor by hand",
    goal="Turn the bytes of a file into a tensor.",
    difficulty=3,
    importance=3,
    minutes=8,
    text="""\
Return one tensor of a safetensors file, without `load` of its library. The header has an entry for
each name: its `dtype`, its `shape` and its `data_offsets`. The offsets are two places, counted in
bytes from where the numbers begin. `torch.frombuffer(bytearray(part), dtype=...)` makes numbers of
bytes.""",
    hints=(
        "`read_header` gives the entry, and the place from which the offsets are counted.",
        "The bytes of the tensor stand in `data[start + first : start + last]`.",
        'The numbers come in one row; `.reshape(entry["shape"])` puts them into their rectangle.',
    ),
    setup="""\
import json

DTYPES = {"F32": torch.float32, "F16": torch.float16}


def read_header(data):
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    return header, 8 + length
""",
    stub='''\
def read_tensor(data, name):
    """data: the bytes of a file; name: of one of its tensors. Returns that tensor."""
    header, start = read_header(data)
    entry = header[name]
    first, last = entry["data_offsets"]  # in bytes, from `start`
    return ...  # three lines: cut `part`, torch.frombuffer(bytearray(part), dtype=...), the shape
''',
    solution="""\
def read_tensor(data, name):
    header, start = read_header(data)
    entry = header[name]
    first, last = entry["data_offsets"]
    part = bytearray(data[start + first : start + last])
    numbers = torch.frombuffer(part, dtype=DTYPES[entry["dtype"]])
    return numbers.reshape(entry["shape"])
""",
    because="A name, a dtype, a shape and two places: a file of weights needs no more.",
    reference=_with(),
    cases=_cases_of_tensors,
    forbidden=(load,),
    mistakes=(
        (
            "The offsets are counted from where the numbers begin: add `start` to both.",
            _with(base=0),
        ),
        (
            "The offsets are counted from where the numbers begin, behind the header: add `start`, "
            "not 8.",
            _with(base=8),
        ),
        (
            "Your numbers begin 8 bytes too early: the eight bytes of the length count, too.",
            lambda data, name: _with(base=header_and_start(data)[1] - 8)(data, name),
        ),
        (
            "The second offset is a place as well, counted from `start`. You add the first to it.",
            _end_from_first,
        ),
        (
            "You read on to the end of the file. The tensor ends at its second offset.",
            _with(last=False),
        ),
        (
            "You read on to the end of the file. The tensor ends at its second offset.",
            _with(last=False, shaped=False),
        ),
        (
            "The numbers are right, but in one row: give them the shape of the entry.",
            _with(shaped=False),
        ),
        (
            "Not every tensor holds float32 numbers: take the `dtype` of the entry.",
            _with(dtype=torch.float32),
        ),
        (
            "Not every tensor holds float16 numbers: take the `dtype` of the entry.",
            _with(dtype=torch.float16),
        ),
        ("That is always the first tensor of the file; another one is asked for.", _first),
        ("The offsets count bytes, not numbers: cut the bytes first.", _offset_is_a_count),
        ("The numbers stand row by row. You fill the columns first.", _turned),
        (
            "You transpose the tensor: return it in the shape of the entry.",
            lambda data, name: _transposed(_with()(data, name)),
        ),
        (
            "You make two dimensions of every tensor. A shape may have one, three or none: take "
            "all of it.",
            _two_sides,
        ),
    ),
    properties=(
        (
            "The numbers are right, but a float16 tensor comes out in another dtype: return it in "
            "the dtype of its entry.",
            _keeps_the_dtype,
        ),
    ),
    wrong={
        """\
def read_tensor(data, name):
    header, start = read_header(data)
    entry = header[name]
    first, last = entry["data_offsets"]
    part = bytearray(data[start + first : start + last])
    return torch.frombuffer(part, dtype=DTYPES[entry["dtype"]])
""": "in one row",
        """\
def read_tensor(data, name):
    header, start = read_header(data)
    entry = header[name]
    first, last = entry["data_offsets"]
    part = bytearray(data[first:last])
    return torch.frombuffer(part, dtype=DTYPES[entry["dtype"]]).reshape(entry["shape"])
""": "add `start` to both",
        """\
def read_tensor(data, name):
    header, start = read_header(data)
    entry = header[name]
    part = bytearray(data[start + entry["data_offsets"][0] :])
    return torch.frombuffer(part, dtype=DTYPES[entry["dtype"]])
""": "to the end of the file",
        """\
def read_tensor(data, name):
    header, start = read_header(data)
    entry = header[name]
    first, last = entry["data_offsets"]
    part = bytearray(data[start + first : start + last])
    return torch.frombuffer(part, dtype=torch.float32).reshape(entry["shape"])
""": "not every tensor holds float32",
        """\
def read_tensor(data, name):
    from safetensors.torch import load

    return load(data)[name]
""": "calls `load`",
        """\
def read_tensor(data, name):
    header, start = read_header(data)
    entry = header[name]
    first, last = entry["data_offsets"]
    part = bytearray(data[8 + first : 8 + last])
    return torch.frombuffer(part, dtype=DTYPES[entry["dtype"]]).reshape(entry["shape"])
""": "add `start`, not 8",
        """\
def read_tensor(data, name):
    header, start = read_header(data)
    entry = header[name]
    first, last = entry["data_offsets"]
    part = bytearray(data[start + first : start + last])
    return torch.frombuffer(part, dtype=DTYPES[entry["dtype"]]).reshape(entry["shape"]).float()
""": "in another dtype",
        """\
def read_tensor(data, name):
    header, start = read_header(data)
    entry = header[name]
    first, last = entry["data_offsets"]
    part = bytearray(data[start + first : start + last])
    numbers = torch.frombuffer(part, dtype=DTYPES[entry["dtype"]])
    return numbers.reshape(-1, entry["shape"][-1])
""": "two dimensions of every tensor",
        """\
def read_tensor(data, name):
    header, start = read_header(data)
    entry = header[name]
    first, last = entry["data_offsets"]
    part = bytearray(data[start + first : last])
    return torch.frombuffer(part, dtype=DTYPES[entry["dtype"]]).reshape(entry["shape"])
""": "your answer raises",
        """\
def read_tensor(data, name):
    header, start = read_header(data)
    entry = header[name]
    first, last = entry["data_offsets"]
    part = bytearray(data[start + first : start + first + last])
    return torch.frombuffer(part, dtype=DTYPES[entry["dtype"]]).reshape(entry["shape"])
""": "a place as well",
    },
    right=(
        """\
def read_tensor(data, name):
    header, start = read_header(data)
    entry = header[name]
    first, last = entry["data_offsets"]
    numbers = torch.frombuffer(bytearray(data), dtype=torch.uint8)[start + first : start + last]
    return numbers.clone().view(DTYPES[entry["dtype"]]).view(entry["shape"])
""",
        """\
def read_tensor(data, name):
    import numpy as np

    header, start = read_header(data)
    entry = header[name]
    count = math.prod(entry["shape"])
    kind = {"F32": "<f4", "F16": "<f2"}[entry["dtype"]]
    numbers = np.frombuffer(data, kind, count, start + entry["data_offsets"][0])
    return torch.from_numpy(numbers.reshape(entry["shape"]).copy())
""",
    ),
)
