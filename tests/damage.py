"""Model folders damaged on purpose: each function here makes one that does it to a folder."""

import json

from safetensors.torch import load_file, save_file

WEIGHTS = "model.safetensors"


def write(name, data):
    return lambda folder: (folder / name).write_bytes(data)


def edit_json(name, change):
    def damage(folder):
        values = json.loads((folder / name).read_text(encoding="utf-8"))
        change(values)
        (folder / name).write_text(json.dumps(values), encoding="utf-8")

    return damage


def edit_config(**changes):
    return edit_json("config.json", lambda values: values.update(changes))


def edit_tensors(change):
    def damage(folder):
        tensors = load_file(folder / WEIGHTS)
        change(tensors)
        save_file(tensors, folder / WEIGHTS)

    return damage


def exchange(one, other):
    return edit_tensors(lambda t: t.update({one: t[other], other: t[one]}))


def edit_header(change):
    """Another length of the header of the weights, and so many bytes of it."""

    def damage(folder):
        data = (folder / WEIGHTS).read_bytes()
        length = change(int.from_bytes(data[:8], "little"))
        (folder / WEIGHTS).write_bytes(length.to_bytes(8, "little") + data[8:])

    return damage
