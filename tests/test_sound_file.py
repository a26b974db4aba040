"""The exercise `sound_file` is held to the library on 2,000 files, sound ones and damaged ones."""

import json
import math
import random
from collections import Counter

import pytest
from safetensors import SafetensorError
from safetensors.torch import load

from tutor.check.bank import find
from tutor.check.exercise import evaluate

EXERCISE = find("sound_file")
WIDTH = {"F32": 4, "F16": 2}


def entry(first, last, shape, dtype):
    return {"dtype": dtype, "shape": shape, "data_offsets": [first, last]}


class File:
    """A random file, sound until it is damaged."""

    def __init__(self, rng):
        self.rng, self.pairs, end = rng, [], 0  # pairs: (name, entry)
        for name in rng.sample(["a", "b", "W_Q", "", "é", "文", 'x"y', "a b"], rng.randint(0, 4)):
            shape = [rng.choice([0, 1, 2, 3, 5]) for _ in range(rng.randint(0, 3))]
            dtype = rng.choice([*WIDTH])
            last = end + math.prod(shape) * WIDTH[dtype]
            self.pairs.append((name, entry(end, last, shape, dtype)))
            end = last
        rng.shuffle(self.pairs)
        self.numbers, self.encoding, self.length, self.end = end, "utf-8", None, None
        self.metadata = rng.choice([None, {}, {"n": "1", "é": "{"}])
        self.text = lambda text: text + " " * rng.randint(0, 8)

    def one(self):
        return self.rng.choice(self.pairs)[1] if self.pairs else entry(0, 0, [], "F32")

    def data(self):
        pairs = list(self.pairs)
        if self.metadata is not None:
            pairs.insert(self.rng.randint(0, len(pairs)), ("__metadata__", self.metadata))
        plain, between = self.rng.random() < 0.5, self.rng.choice([", ", ",\n"])
        entries = (json.dumps({k: v}, ensure_ascii=plain)[1:-1] for k, v in pairs)
        header = self.text(f"{{{between.join(entries)}}}").encode(self.encoding, "replace")
        length = len(header) if self.length is None else self.length(len(header))
        data = length.to_bytes(8, "little") + header + self.rng.randbytes(max(self.numbers, 0))
        return data[: self.end and self.rng.randint(0, len(data))]


def another_offset(file):
    file.one()["data_offsets"][file.rng.randint(0, 1)] += file.rng.choice([-8, -4, -1, 1, 4, 8])


def another_shape(file):
    shape = file.one()["shape"]
    shape[:] = file.rng.choice([shape[1:], [*shape, 2], [*shape, 1], [*shape, 0], shape[::-1]])


def another_dtype(file):
    file.one()["dtype"] = file.rng.choice([*WIDTH])


def hole_or_overlap(file):
    at, many = file.rng.randint(0, max(file.numbers, 1)), file.rng.choice([-4, -2, 1, 2, 4])
    for _, each in file.pairs:
        if each["data_offsets"][0] >= at:
            each["data_offsets"] = [offset + many for offset in each["data_offsets"]]
    file.numbers += many


def same_bytes(file):
    file.one()["data_offsets"] = file.one()["data_offsets"][:]


def no_number(file):
    at = file.rng.randint(0, max(file.numbers, 0))
    at = file.rng.choice([at, *file.one()["data_offsets"]])
    file.pairs.append(("empty", entry(at, at, [3, 0], "F32")))


def more_or_fewer_bytes(file):
    file.numbers += file.rng.choice([-4, -1, 1, 4])


def one_name_twice(file):
    if file.pairs:
        name, each = file.rng.choice(file.pairs)
        wrong = entry(0, 4, [1], "F32")
        file.pairs.insert(
            file.rng.randint(0, len(file.pairs)), (name, file.rng.choice([each, wrong]))
        )


def another_length(file):
    file.length = file.rng.choice(
        [lambda n: n + 1, lambda n: n - 1, lambda n: 0, lambda n: n + 2**32, lambda n: 2**64 - 1]
    )


def cut(file):
    file.end = True


def another_encoding(file):
    file.encoding = file.rng.choice(["utf-16-le", "utf-16", "latin-1", "utf-8-sig"])


def no_json(file):
    def damaged(text):
        places = [i for i, letter in enumerate(text) if letter in '{}[]:"']
        at = file.rng.choice(places)
        return file.rng.choice([text[:at] + text[at + 1 :], text + "}", text + "\0", "x" + text])

    file.text = damaged


DAMAGES = [
    another_offset, another_shape, another_dtype, hole_or_overlap, same_bytes, no_number,
    more_or_fewer_bytes, one_name_twice, another_length, cut, another_encoding, no_json,
]  # fmt: skip


def is_loaded(data):
    try:
        load(data)
    except SafetensorError:
        return False
    return True


@pytest.mark.parametrize("code", [EXERCISE.solution, *EXERCISE.right], ids=["ours", "1", "2"])
def test_sound_files_are_those_that_the_library_loads(code):
    """But where a name stands twice: the format forbids it, and the library takes the last."""
    sound_file, rng, found = evaluate(EXERCISE, code), random.Random(0), Counter()
    for _ in range(2000):
        file, damages = File(rng), rng.sample(DAMAGES, rng.choice([0, 0, 1, 1, 1, 2]))
        for damage in damages:
            damage(file)
        data, names = file.data(), [name for name, _ in file.pairs]
        loaded, twice = is_loaded(data), len({*names}) < len(names)
        assert sound_file(data) is (loaded and not twice), (damages, data)
        found.update((what, loaded) for what in ["file", *damages, *["twice"] * twice])
    assert min(found["file", True], found["file", False]) > 500
    assert min(found["twice", True], found["twice", False], found[no_number, True]) > 20
    assert all(found[damage, False] > 20 for damage in DAMAGES if damage is not another_dtype), (
        found
    )
