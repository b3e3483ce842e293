"""The filter of system calls: each family that it refuses is refused, and what a learner's function needs is not."""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from grader.isolation import seccomp
from grader.isolation.seccomp import filter_program
from tests.support.alone import alone

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not filter_program(), reason="needs Linux with libseccomp.so.2"
)
FILTERED = """
import ctypes, errno, fcntl, mmap, os, resource, socket, sys, tempfile, threading
from grader.worker import kernel
from grader.isolation.seccomp import filter_program
libc = ctypes.CDLL(None, use_errno=True)
program = filter_program()
kernel.set_no_new_privileges()
def refused(name, *arguments):
    ctypes.set_errno(0)
    failed = getattr(libc, name)(*arguments) == -1
    return failed and ctypes.get_errno() == errno.EPERM
"""


def test_what_is_refused() -> None:
    found = alone(f"""{FILTERED}
scratch = tempfile.mkdtemp()
before = os.open(scratch, os.O_RDONLY)
kernel.filter_calls(program)
print({{
    "socket": tried(socket.socket), "unix": tried(socket.socket, socket.AF_UNIX), "udp": tried(socket.socket, 2, 2),
    "ptrace": refused("ptrace", 0, 0, 0, 0), "limits of others": tried(resource.prlimit, os.getppid(), 7, (99, 99)),
    "memory of others": refused("process_vm_readv", os.getppid(), 0, 0, 0, 0, 0),
    "unshare": refused("unshare", 0x10000000), "setns": refused("setns", before, 0),
    "mount": refused("mount", 0, 0, 0, 0, 0), "chroot": tried(os.chroot, "/"), "chmod": tried(os.chmod, scratch, 0o777),
    "utime": tried(os.utime, scratch), "xattr": tried(os.setxattr, scratch, "user.x", b"x"),
    "priority": tried(os.setpriority, 0, 0, 19), "affinity": tried(os.sched_setaffinity, 0, [0]),
    "memfd": tried(os.memfd_create, "x"), "sysv": refused("shmget", 1, 4096, 0o1600),
    "queue": refused("mq_open", b"/x", 0), "inotify": refused("inotify_init"),
    "namespace by clone": refused("syscall", {number("clone")}, ctypes.c_ulong(0x10000011), 0, 0, 0, 0),
    "keyring": refused("syscall", {number("keyctl")}, 0, 0, 0, 0, 0),
    "flock": tried(fcntl.flock, before, fcntl.LOCK_EX), "lock": tried(fcntl.lockf, before, fcntl.LOCK_SH),
    "open file lock": tried(fcntl.fcntl, before, 37, bytes(32)), "lease": tried(fcntl.fcntl, before, 1024, 0),
    "look for locks": tried(fcntl.fcntl, before, 5, bytes(32)), "notify": tried(fcntl.fcntl, before, 1026, 1),
    "signals for others": tried(fcntl.fcntl, before, 8, os.getppid()),
    "hint": tried(fcntl.fcntl, before, 1036, bytes(8)),
    "mounts": refused("syscall", 457, 0, 0, 0, 0), "list of mounts": refused("syscall", 458, 0, 0, 0, 0),
    "bpf": refused("syscall", {number("bpf")}, 0, 0, 0),
    "io_uring": refused("syscall", {number("io_uring_setup")}, 1, 0),
}})""")
    assert {name for name, outcome in found.items() if outcome not in (True, "PermissionError")} == set()


def test_what_is_not() -> None:
    found = alone(f"""{FILTERED}
kernel.filter_calls(program)
def forked():
    process = os.fork()
    if process == 0:
        os._exit(7)
    return os.waitpid(process, 0)[1] >> 8
def threaded():
    thread = threading.Thread(target=print)
    thread.start()
    thread.join()
    return 7
def written():
    with tempfile.TemporaryFile() as file:
        return file.write(b"1234567")
def limited():
    resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50))
    return 7
def mapped():
    return len(mmap.mmap(-1, 7))
def paired():
    ours, theirs = socket.socketpair()
    ours.send(b"1234567")
    return len(theirs.recv(9))
def duplicated():
    with tempfile.TemporaryFile() as file:
        os.set_blocking(file.fileno(), False)
        return fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 40) - 33
def computed():
    import numpy
    return int((numpy.ones((7, 500)) @ numpy.ones((500, 1)) / 500).sum())
import numpy
def started():
    import subprocess
    return subprocess.run(["/bin/sh", "-c", "exit 7"]).returncode
print([tried(each) for each in (forked, threaded, written, limited, mapped, paired, duplicated, computed, started)])
""")
    assert found == [7] * 9


def number(name: str) -> int:
    """Return the number of a system call on this machine."""
    return int(ctypes.CDLL(seccomp.LIBRARY).seccomp_syscall_resolve_name(name.encode()))


def test_every_name_is_one_that_a_kernel_has() -> None:
    """A name of another architecture is known as well, by a number below zero; only -1 is unknown."""
    unknown = {name for name, _, _ in seccomp.rules() if number(name) == -1}
    assert unknown <= set(seccomp.NEWER)
    assert [name for name in seccomp.REFUSED if seccomp.REFUSED.count(name) > 1] == []
    assert not [name for name in seccomp.REFUSED if not re.fullmatch(r"[a-z0-9_]+", name)]


def test_numbers_that_are_given_are_right_where_the_library_knows_them() -> None:
    known = {name: number(name) for name in seccomp.NEWER}
    assert {name: found for name, found in known.items() if found not in (-1, seccomp.NEWER[name])} == {}


LIBRARY = seccomp._library()


class Library:
    """Stands for libseccomp, of which one function fails."""

    def __init__(self, failing: str) -> None:
        self.real = LIBRARY
        self.failing = failing

    def __getattr__(self, name: str) -> Any:
        return (lambda *_: 0 if name == "seccomp_init" else -1) if name == self.failing else getattr(self.real, name)


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    filter_program.cache_clear()
    yield
    filter_program.cache_clear()


@pytest.mark.parametrize("failing", ["seccomp_init", "seccomp_export_bpf"])
def test_a_library_that_fails_gives_no_filter(failing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "_library", lambda: Library(failing))
    assert filter_program() == b""


def test_a_rule_that_fails_gives_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a filter would be taken for a whole one."""
    monkeypatch.setattr(seccomp, "_library", lambda: Library("seccomp_rule_add_array"))
    assert filter_program() == b""


def test_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "LIBRARY", "libnosuchthing.so.2")
    assert filter_program() == b""


def test_another_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert filter_program() == b""


def test_the_program_is_whole_instructions() -> None:
    assert len(filter_program()) % 8 == 0 and len(filter_program()) // 8 > 100
