"""Confinement by the kernel: Landlock, filters of system calls, and what others may do to the process.

A worker runs it, so that it needs the standard library only. Landlock has no function in libc: its three system calls
are made by number, which is the same on every architecture.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import stat
import struct
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

LEAST_ABI = 4  # of Landlock: the first that knows TCP
SCOPING_ABI = 6  # the first that knows signals and abstract sockets
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
PR_SET_CHILD_SUBREAPER = 36
SECCOMP_MODE_FILTER = 2
NEW_MOUNTS, NEW_HOST, NEW_IPC, NEW_USER = 0x00020000, 0x04000000, 0x08000000, 0x10000000
NEW_PROCESSES, NEW_NETWORK = 0x20000000, 0x40000000
READ_ONLY, NO_SUID, NO_DEVICES, NO_PROGRAMS, ALL_BELOW, PRIVATE = 1, 2, 4, 8, 0x4000, 0x40000  # of mounts
TERMINALS = "/dev/pts"  # through which two processes that see the same ones could talk
MOST_NAME_SPACES = "/proc/sys/user/max_user_namespaces"
CAPABILITY_VERSION = 0x20080522
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
RULESET_VERSION = 1
PATH_BENEATH = 1
O_PATH = getattr(os, "O_PATH", 0)

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = (1 << bit for bit in range(4))
REMOVE, MAKE_DIR, MAKE_FILE = 1 << 4 | 1 << 5, 1 << 7, 1 << 8
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
ALL_OF_FILES = (1 << 16) - 1
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV  # the only rights that a rule for a file may name
MAY: dict[str, int] = {  # nothing may execute: a learner's function needs no other program
    "around": READ_FILE | READ_DIR,
    "read": READ_FILE | READ_DIR,
    "use": READ_FILE | WRITE_FILE,
    "write": READ_FILE | READ_DIR | WRITE_FILE | MAKE_DIR | MAKE_FILE | REMOVE | REFER | TRUNCATE,
}
BIND_AND_CONNECT = 0b11
ABSTRACT_SOCKETS, SIGNALS = 0b01, 0b10


class Unconfined(Exception):
    """A guard that the tier promises cannot be put up; it says which, and why."""


class Unavailable(Unconfined):
    """Namespaces that this system does not give; nothing has changed."""


def landlock_abi() -> int:
    """Return the version of Landlock that the kernel speaks; 0 where it has none."""
    if sys.platform != "linux":
        return 0
    return max(0, _syscall(CREATE_RULESET, None, 0, RULESET_VERSION))


def rules_for(plan: dict[str, list[str]]) -> int:
    """Return the descriptor of Landlock's rules: what a plan names may be read, used or written, and nothing else.

    What stands under "around" has the holes that stand under "holes".
    """
    abi = landlock_abi()
    handled = ALL_OF_FILES if abi > LEAST_ABI else ALL_OF_FILES & ~IOCTL_DEV
    size = 24 if abi >= SCOPING_ABI else 16  # a kernel that knows less refuses what it does not know
    rules = _syscall(
        CREATE_RULESET, struct.pack("=QQQ", handled, BIND_AND_CONNECT, ABSTRACT_SOCKETS | SIGNALS)[:size], size, 0
    )
    if rules < 0:
        raise Unconfined(f"Landlock makes no rules here: {_said()}")
    for kind, rights in MAY.items():
        for folder in plan[kind]:
            for path in around(folder, plan["holes"] if kind == "around" else ()):
                _allow(rules, path, rights & handled)
    return rules


def around(folder: str, holes: Sequence[str]) -> Iterator[str]:
    """Yield the fewest paths that cover a folder but for its holes: a rule of Landlock allows, it cannot forbid."""
    if any(lies_in(folder, hole) for hole in holes):
        return
    if not any(lies_in(hole, folder) for hole in holes):
        yield folder
        return
    with suppress(OSError):
        for name in sorted(os.listdir(folder)):
            yield from around(os.path.join(folder, name), holes)


def lies_in(path: str, folder: str) -> bool:
    """Say whether a path is a folder or below it, by their names."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, O_PATH | os.O_CLOEXEC)
    except OSError:  # what is not there, or out of reach, needs no rule
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= OF_FILES
        if _syscall(ADD_RULE, rules, PATH_BENEATH, struct.pack("=Qi", rights, place), 0) < 0:
            raise Unconfined(f"Landlock takes no rule for {path}: {_said()}")
    finally:
        os.close(place)


def restrict(rules: int) -> None:
    """Put up the rules behind a descriptor, for good, and close it; needs set_no_new_privileges first."""
    try:
        if _syscall(RESTRICT_SELF, rules, 0) < 0:
            raise Unconfined(f"Landlock cannot be put up: {_said()}")
    finally:
        os.close(rules)


def scope_signals() -> None:
    """Let a process signal and trace none but itself and what it starts, where Landlock has that."""
    if landlock_abi() < SCOPING_ABI:
        return
    rules = _syscall(CREATE_RULESET, struct.pack("=QQQ", 0, 0, SIGNALS), 24, 0)
    if rules >= 0:
        with suppress(Unconfined):  # a second wall within the one that the tier promises
            restrict(rules)


def filter_calls(program: bytes) -> None:
    """Load a filter of system calls, for good; needs set_no_new_privileges first."""
    kept = ctypes.create_string_buffer(program, len(program))
    described = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, ctypes.addressof(kept)))
    _set("the filter of system calls", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(described))


def set_no_new_privileges() -> None:
    """Let no program that is started from here gain rights by its file."""
    _set("no_new_privs", PR_SET_NO_NEW_PRIVS, 1)


def adopt_orphans() -> None:
    """Become the parent of whatever a process below leaves behind."""
    _set("the adoption of orphans", PR_SET_CHILD_SUBREAPER, 1)


def end_with_parent() -> None:
    """End when the parent ends; a change of user undoes this, so that it comes after."""
    _set("the end with the parent", PR_SET_PDEATHSIG, 9)


def count_apart() -> bool:
    """Enter a user namespace of one's own, where one can be had: limits on processes count in it alone.

    The user stays the same, and no capability is kept. A child tries it first, since a namespace that takes no user
    cannot be left.
    """
    if not (counts_by_name_space() and managed(_enter_user_name_space)):
        return False
    _enter_user_name_space()
    return True


def managed(attempt: Callable[[], None]) -> bool:
    """Say whether a child of this process manages what this process cannot do to itself, and take back."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads: the child goes back to none of them
        child = os.fork()
    if child == 0:
        code = 1
        try:
            attempt()
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def counts_by_name_space() -> bool:
    """Say whether the kernel counts a user's processes in each user namespace apart."""
    return sys.platform == "linux" and [int(each) for each in re.findall(r"\d+", os.uname().release)[:2]] >= [5, 14]


def _enter_user_name_space() -> None:
    _unshare(NEW_USER)
    give_up_capabilities()


def enter_user_name_space_for_good() -> None:
    """Enter a user namespace of one's own, in which nobody can make another, where this system has one to give.

    The user stays the same, and no capability is kept.
    """
    set_open(True)  # else the files of this process in /proc are root's
    with suppress(Unavailable):
        _unshare(NEW_USER)
        _forbid_user_name_spaces()
        give_up_capabilities()


def enter_name_spaces(scratch: str, size: int, files: int, and_user: bool) -> None:
    """Go on as the first process of fresh mount, process, IPC, network and host namespaces; the caller's process ends.

    scratch becomes a new folder in memory of at most a size and a number of files, and /proc shows the new processes
    alone. With and_user all of it belongs to a fresh user namespace, which takes no capability to enter; without, it
    takes CAP_SYS_ADMIN. Raises Unconfined, in the caller's process or in the new one, where a part cannot be had.
    """
    if and_user:
        set_open(True)
    _unshare(NEW_MOUNTS | NEW_PROCESSES | NEW_IPC | NEW_NETWORK | NEW_HOST | (NEW_USER if and_user else 0))
    if os.fork():
        os._exit(0)
    _mount(b"none", b"/", b"", ALL_BELOW | PRIVATE, b"")  # what is mounted here is mounted nowhere else
    options = f"mode=1777,size={size},nr_inodes={files}".encode()
    _mount(b"tmpfs", scratch.encode(), b"tmpfs", NO_SUID | NO_DEVICES, options)
    if os.path.isdir(TERMINALS):
        _mount(b"tmpfs", TERMINALS.encode(), b"tmpfs", READ_ONLY | NO_SUID | NO_DEVICES | NO_PROGRAMS, b"size=4k")
    _mount(b"proc", b"/proc", b"proc", NO_SUID | NO_DEVICES | NO_PROGRAMS, b"")
    if and_user:
        _forbid_user_name_spaces()


def _forbid_user_name_spaces() -> None:
    with _unconfined_without("a limit on user namespaces"), open(MOST_NAME_SPACES, "w") as file:
        file.write("0")


def _unshare(flags: int) -> None:
    user, group = os.getuid(), os.getgid()
    if _libc().unshare(flags) != 0:
        raise Unavailable(f"no fresh namespaces: {_said()}")
    if flags & NEW_USER:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with _unconfined_without("a user in a fresh namespace"), open(f"/proc/self/{name}", "w") as file:
                file.write(text)


def _mount(source: bytes, place: bytes, kind: bytes, flags: int, options: bytes) -> None:
    if _libc().mount(source, place, kind, ctypes.c_ulong(flags), options) != 0:
        raise Unconfined(f"{kind.decode() or 'private mounts'} cannot be mounted: {_said()}")


@contextmanager
def _unconfined_without(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unconfined(f"{what} cannot be had: {error}") from None


def give_up_capabilities() -> None:
    """Keep no right of root's; with set_no_new_privileges no program that is started brings one back."""
    if sys.platform == "linux" and _libc().capset(struct.pack("=Ii", CAPABILITY_VERSION, 0), bytes(24)) != 0:
        raise Unconfined(f"capabilities cannot be given up: {_said()}")


def set_open(whether: bool) -> None:
    """Let processes of the same user trace this one and read its memory and environment, or not."""
    _set("who may look into the process", PR_SET_DUMPABLE, int(whether))


def _set(what: str, option: int, *values: int) -> None:
    if sys.platform == "linux":
        words = [ctypes.c_ulong(each) for each in (*values, 0, 0, 0)[:4]]
        if _libc().prctl(option, *words) != 0:
            raise Unconfined(f"{what} cannot be set: {_said()}")


def _syscall(number: int, *arguments: int | bytes | None) -> int:
    values = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return int(_libc().syscall(ctypes.c_long(number), *values))


@functools.cache
def _libc() -> Any:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library


def _said() -> str:
    return os.strerror(ctypes.get_errno())
