"""The command line with a tiny model, to be killed: a program that tests start.

The environment variable KILL_AT, "replace:3", names an operation that changes files and which call
of it, counted from 1, this process does not survive: it does a half and gets a SIGKILL from itself.
"any:3" counts all of them. "replace:model.training" names what is operated on instead. At its end
it says how many operations there were.
"""

import os
import pathlib
import shutil
import signal
import sys

from tutor.__main__ import main
from tutor.training import recipes

recipes.BUILTIN_PAIRS = 300
recipes.SIZES["builtin"] = dict(vocab_size=300, num_layers=1, d_model=16, num_heads=2)
recipes.BUDGETS["builtin"] = [recipes.BUDGETS["builtin"][0]._replace(max_tokens=128, d_ff=16)]

name, _, number = os.environ.get("KILL_AT", "any:0").partition(":")
operations = []


def watched(operation, half):
    """`operation`, which at the chosen time does its `half` and dies."""

    def do(*args, **kwargs):
        operations.append(operation.__name__)
        count = len(operations) if name == "any" else operations.count(name)
        which = (str(count), os.path.basename(str(args[0])))
        if name in ("any", operation.__name__) and number in which:
            half(*args)
            os.kill(os.getpid(), signal.SIGKILL)
        return operation(*args, **kwargs)

    return do


write = pathlib.Path.write_bytes
pathlib.Path.write_bytes = watched(write, lambda path, data: write(path, data[: len(data) // 2]))
os.replace = watched(os.replace, lambda *_: None)
os.fsync = watched(os.fsync, lambda *_: None)
remove, unlink = shutil.rmtree, pathlib.Path.unlink


def remove_one(folder, **_):
    for path in sorted(pathlib.Path(folder).glob("*"))[:1]:
        remove(path) if path.is_dir() else unlink(path)


shutil.rmtree = watched(remove, remove_one)
pathlib.Path.unlink = watched(unlink, lambda *_, **_2: None)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
    code = main()
    print(f"operations: {len(operations)}", file=sys.stderr)
    sys.exit(code)
