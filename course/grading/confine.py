"""A fence around a process in which students' code is graded.

What an answer tries by Python's own means is refused, and it is told so. That is no wall: code that
knows the interpreter or PyTorch from the inside gets past an audit hook. On Linux the system itself
guards files, the network and other processes (Landlock), whatever the code knows. Reading is left
to the hook. So whoever does not know who hands in grades in a container.
"""

import contextlib
import ctypes
import os
import struct
import sys

MEMORY_BYTES = 2 * 2**30  # beyond what the process has at the start
FILE_BYTES = 100 * 2**20

PROGRAMS = (
    *("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn"),
    *("os.spawn", "os.startfile", "pty.spawn", "os.kill", "os.killpg"),
)
NETWORK = ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg")
PATH_EVENTS = (  # events whose arguments begin with one or two paths
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate"),
    *("os.chmod", "os.chown", "os.chflags", "os.utime", "os.setxattr", "os.removexattr"),
    "sqlite3.connect",
)
INSIDE = (  # no answer needs them, and a notebook's kernel does
    *("_thread.start_new_thread", "_thread.start_joinable_thread"),
    *("gc.get_objects", "gc.get_referrers", "gc.get_referents"),
    *("sys.settrace", "sys.setprofile", "sys.monitoring.register_callback"),
)
REFUSED = {
    **dict.fromkeys(PROGRAMS, "start or end programs"),
    **dict.fromkeys(NETWORK, "use the network"),
}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # system calls of Landlock
SET_NO_NEW_PRIVILEGES = 38  # of prctl


def confine(folders, closed=(), alone=True, own=(), memory=MEMORY_BYTES):
    """Put up the fence; nothing in this process takes it down.

    folders: those whose files may be written.
    closed: files and folders that may not even be read, unless they are in `folders`.
    alone: nothing but an answer runs here, not a notebook's kernel with threads of its own.
    own: code that may watch calls although that is refused, if no answer stands behind it.
    """
    limit_resources(memory)
    guard_files(folders)
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    sys.dont_write_bytecode = True
    real, decode, frame = os.path.realpath, os.fsdecode, sys._getframe
    folders, closed = [real(f) for f in folders], [real(f) for f in closed]
    refused = REFUSED | (dict.fromkeys(INSIDE, "look into the machine") if alone else {})
    own = set(own)

    def within(path, places):
        path = real(decode(path))
        return any(path == place or path.startswith(place + os.sep) for place in places)

    def watched_by_us():
        here, ours = frame(2), False
        while here:
            ours = ours or here.f_code in own
            if here.f_code.co_filename.startswith("<answer"):
                return False
            here = here.f_back
        return ours

    def look(event, arguments):
        if event == "open":
            path, mode, flags = arguments
            if isinstance(path, int) or path == os.devnull:
                return
            writes = any(c in (mode or "") for c in "wax+") or (flags or 0) & WRITES
            if not within(path, folders) and (writes or within(path, closed)):
                refuse(f"{'write' if writes else 'read'} {decode(path)}")
        elif event in PATH_EVENTS:
            paths = [p for p in arguments[:2] if isinstance(p, str | bytes | os.PathLike)]
            if not all(within(p, folders) for p in paths):
                refuse("change files outside its own folder")
        elif event in refused or alone and event.startswith("ctypes."):
            if not (event.startswith("sys.") and watched_by_us()):
                refuse(refused.get(event, "look into the machine"))

    sys.addaudithook(look)


def refuse(what):
    raise PermissionError(f"While it is graded, an answer may not {what}.")


def limit_resources(memory):
    """Limits that the system keeps; Windows has none of them.

    Not of processes: they are counted for the whole user, and tokenizers has threads of its own.
    """
    try:
        import resource
    except ImportError:
        return
    limits = {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": FILE_BYTES}
    with contextlib.suppress(OSError), open("/proc/self/statm") as pages:  # Linux
        limits["RLIMIT_AS"] = int(pages.read().split()[0]) * resource.getpagesize() + memory
    for name, most in limits.items():
        with contextlib.suppress(OSError, ValueError):  # a lower limit is there already
            resource.setrlimit(getattr(resource, name), (most, most))


def landlock_version():
    """The version of Landlock (landlock(7)) in this system, 0 if it has none."""
    if sys.platform != "linux":
        return 0
    return max(0, ctypes.CDLL(None).syscall(CREATE_RULESET, None, 0, 1))


def guard_files(folders):
    """Let Linux refuse to change files elsewhere, to open connections and to signal others.

    Does nothing without Landlock. (The package `landlock` 1.0 guards files alone.)
    """
    version = landlock_version()
    if not version:
        return
    libc = ctypes.CDLL(None)
    of_files = 1 << 1 | (1 << 14 if version >= 3 else 0)  # write, truncate
    changes = of_files | sum(1 << bit for bit in range(4, 14 if version >= 2 else 13))
    network, scopes = (3 if version >= 4 else 0), (3 if version >= 6 else 0)
    wanted = struct.pack("QQQ", changes, network, scopes)[
        : 8 * (1 + (version >= 4) + (version >= 6))
    ]
    rules = libc.syscall(CREATE_RULESET, wanted, len(wanted), 0)
    for path, allowed in [*((folder, changes) for folder in folders), (os.devnull, of_files)]:
        place = os.open(path, os.O_PATH)
        libc.syscall(ADD_RULE, rules, 1, struct.pack("=Qi", allowed, place), 0)
        os.close(place)
    libc.prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.syscall(RESTRICT_SELF, rules, 0)
    os.close(rules)


def leave_checks_to_the_judge():
    """Make `check.NAME(...)` and its methods harmless in this process: the judge calls them."""
    from tutor import check

    def later(*answers, **options):
        print("This is checked where the exercise is graded.")

    def check_of(name):
        if name.startswith("_"):
            raise AttributeError(name)
        return later

    later.hint = later.tick = later.points = later
    check.__getattr__, check.progress = check_of, later
