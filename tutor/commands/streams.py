"""The standard streams of a program, any of which may be absent, closed or full.

A service has none, pythonw has none, and `2>&-` closes one.
"""

import io
import os
import sys


class Voice(io.FileIO):
    """Standard error that drops what it cannot write: work matters more than its report."""

    def write(self, data):
        try:
            return super().write(data)
        except OSError:  # full, or its reader has gone
            return len(data)


def prepare():
    """Make a closed standard input or output None, and standard error one that never fails."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(getattr(sys, name), "closed", True):
            setattr(sys, name, None)
        try:
            os.fstat(number)
        except OSError:  # else a file that is opened later would get what libraries print
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, number)
            if null != number:
                os.close(null)
    if sys.stderr is None or sys.stderr is sys.__stderr__:
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(Voice(2, "w", closefd=False)),
            encoding=getattr(sys.stderr, "encoding", "utf-8"),
            errors="backslashreplace",
            line_buffering=True,
        )
