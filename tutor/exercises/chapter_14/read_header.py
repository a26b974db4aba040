"""The header of a safetensors file."""

import json

import torch
from safetensors.torch import save

from tutor.check.exercise import WRITE, Exercise
from tutor.exercises.chapter_14.shared import files, header_and_start


def _read_header(data):
    return header_and_start(data)


def _with(order="little", first=8, start=lambda length: 8 + length, width=8, text=None):
    """A reader that is right, or has one of these things wrong."""

    def read(data):
        length = int.from_bytes(data[:width], order)
        header = data[first : first + length]
        return json.loads(header.decode(text) if text else header), start(length)

    return read


def _length_of_four(data):
    length = int.from_bytes(data[:4], "little")
    return json.loads(data[4 : 4 + length]), 4 + length


def _cut(data):
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8:length]), 8 + length


def _to_the_braces(data):
    end = data.index(b"}}") + 2
    return json.loads(data[8:end]), end


def _start_by_braces(data):
    return header_and_start(data)[0], data.index(b"}}") + 2


def _cases_of_headers():
    for data, _ in files():
        yield (data,)
    # longer than two bytes can say
    yield (save({"x": torch.tensor([1.0])}, metadata={"n": "n" * 70_000}),)


def _without_notes(data):
    header, start = header_and_start(data)
    header.pop("__metadata__", None)
    return header, start


read_header = Exercise(
    name="read_header",
    chapter="14",
    section="What safetensors holds",
    kind=WRITE,
    title="Read a header by hand",
    goal="Read what a file of weights says about itself, with nothing but Python.",
    difficulty=2,
    importance=4,
    minutes=5,
    text="""\
The first 8 bytes of a safetensors file are a whole number, the smallest digits first ("little
endian"): the length of the header. The header follows, as JSON. Behind it the numbers begin. Return
the header as a dict, and the place of the file at which the numbers begin.""",
    hints=(
        "`data[:8]` are the first eight bytes.",
        '`int.from_bytes(data[:8], "little")` is the length of the header.',
        "The header stands in `data[8 : 8 + length]`, and `json.loads` reads bytes, too.",
    ),
    setup="import json\n",
    stub='''\
def read_header(data):
    """data: the bytes of a file. Returns the header, a dict, and where the numbers begin."""
    ...  # three lines: the length, the header, and both results
''',
    solution="""\
def read_header(data):
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    return header, 8 + length
""",
    because="Eight bytes and a JSON text: that is all there is before the numbers.",
    reference=_read_header,
    cases=_cases_of_headers,
    mistakes=(
        (
            "The numbers begin after the header *and* after the 8 bytes of its length.",
            _with(start=lambda length: length),
        ),
        (
            "The smallest digits stand first: read the eight bytes as little endian.",
            _with(order="big"),
        ),
        (
            "The header begins behind the eight bytes of its length, at byte 8.",
            _with(first=0),
        ),
        (
            "The length takes 8 bytes, not 4. The next four are zeros here, and no JSON.",
            _length_of_four,
        ),
        *(
            ("You read fewer than the 8 bytes of the length: longer headers are cut off.", read)
            for read in (_with(width=1), _with(width=2))
        ),
        *(
            (
                "You look for `}}`, which may stand elsewhere, too, and spaces may follow. Go by "
                "the length.",
                read,
            )
            for read in (_to_the_braces, _start_by_braces)
        ),
        (
            "You go one byte too far: the numbers begin right behind the header, at `8 + length`.",
            _with(start=lambda length: 9 + length),
        ),
        *(
            (
                "The header is UTF-8: decode it as such, or give its bytes to `json.loads`, which "
                "does so.",
                read,
            )
            for read in (_with(text="latin-1"), _with(text="ascii"))
        ),
        (
            "The last 8 bytes of the header are cut off: it ends at `8 + length`.",
            _cut,
        ),
        (
            "The two results are exchanged: the header first.",
            lambda data: header_and_start(data)[::-1],
        ),
        (
            "The note `__metadata__` is part of the header. Return the header as it is.",
            _without_notes,
        ),
    ),
    wrong={
        """\
def read_header(data):
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), length
""": "after the 8 bytes",
        """\
def read_header(data):
    length = int.from_bytes(data[:8], "big")
    return json.loads(data[8 : 8 + length]), 8 + length
""": "little endian",
        """\
def read_header(data):
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[:length]), 8 + length
""": "your answer raises",
        """\
def read_header(data):
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8:length]), 8 + length
""": "are cut off",
        """\
def read_header(data):
    length = int.from_bytes(data[:8], "little")
    return 8 + length, json.loads(data[8 : 8 + length])
""": "exchanged",
        """\
def read_header(data):
    length = int.from_bytes(data[:8], "little")
    return data[8 : 8 + length].decode(), 8 + length
""": "a text; a dict is wanted",
        """\
def read_header(data):
    length = data[0]
    return json.loads(data[8 : 8 + length]), 8 + length
""": "fewer than the 8 bytes",
        """\
def read_header(data):
    length = data[0] + 256 * data[1]
    return json.loads(data[8 : 8 + length]), 8 + length
""": "fewer than the 8 bytes",
        """\
def read_header(data):
    end = data.index(b"}}") + 2
    return json.loads(data[8:end]), end
""": "You look for `}}`",
        """\
def read_header(data):
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), 9 + length
""": "one byte too far",
        """\
def read_header(data):
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length].decode("latin-1")), 8 + length
""": "The header is UTF-8",
    },
    right=(
        """\
def read_header(data):
    import struct

    (length,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + length].decode("utf-8")), length + 8
""",
        """\
def read_header(data):
    length = sum(byte * 256**i for i, byte in enumerate(data[:8]))
    return json.loads(data[8:][:length]), 8 + length
""",
    ),
)
