"""The header of a safetensors file."""

import json

from tutor.check.exercise import WRITE, Exercise
from tutor.exercises.chapter_14.shared import files, header_and_start


def _read_header(data):
    return header_and_start(data)


def _with(order="little", first=8, start=lambda length: 8 + length):
    """A reader that is right, or has one of these things wrong."""

    def read(data):
        length = int.from_bytes(data[:8], order)
        return json.loads(data[first : first + length]), start(length)

    return read


def _length_of_four(data):
    length = int.from_bytes(data[:4], "little")
    return json.loads(data[4 : 4 + length]), 4 + length


def _cut(data):
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8:length]), 8 + length


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
    cases=lambda: [(data,) for data, _ in files()],
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
""": "JSONDecodeError",
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
