"""The filter of system calls for a learner's process, made by libseccomp where the system has it.

What is refused answers EPERM: sockets, other processes, namespaces and mounts, the kernel's rarely used corners, and
what would change files or leave memory behind that no other limit bounds. Of calls that are many in one, as ioctl and
fcntl, only what a learner's function needs is left. Forks, threads and files are left to limits.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

LIBRARY = "libseccomp.so.2"
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
OPTIMISE, BINARY_TREE = 8, 2
NOT_EQUAL, MASKED_EQUAL = 1, 7
NAME_SPACES = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
DATAGRAMS = (2, 3)  # kinds of sockets: what they send can be addressed to anyone; a raw pair is one of datagrams
UNIX = 1
WITHIN_32_BITS = 0xFFFFFFFF  # of an argument of 64: for an int of C the kernel ignores the others
REQUESTS = (
    "TCGETS TIOCGWINSZ FIONREAD FIONBIO FIONCLEX FIOCLEX"  # of ioctl; others change files, tell of networks, signal
)
MORE_REQUESTS = {"TCGETS2": 0x802C542A, "FICLONE": 0x40049409}  # that no module names, as on x86 and ARM
COMMANDS = {  # of fcntl; by others two that open the same file could talk, have signals sent, or fill memory
    "F_DUPFD": 0, "F_GETFD": 1, "F_SETFD": 2, "F_GETFL": 3, "F_SETFL": 4, "F_DUPFD_QUERY": 1027,
    "F_DUPFD_CLOEXEC": 1030, "F_GETPIPE_SZ": 1032,
}  # fmt: skip
WRITTEN_OUT = "fsync fdatasync sync_file_range sync_file_range2 msync"  # of files that end with their run
NEWER = {  # than many a libseccomp, whose kernel has them all the same; such numbers are the same on every architecture
    "process_madvise": 440, "mount_setattr": 442, "quotactl_fd": 443, "process_mrelease": 448, "cachestat": 451,
    "fchmodat2": 452, "statmount": 457, "listmount": 458, "setxattrat": 463, "removexattrat": 466,
    "open_tree_attr": 467, "file_setattr": 469, "listns": 470,
}  # fmt: skip

FAMILIES = {
    "sockets; the worker's own already exists, and a pair of streams sends to nobody else": (
        "socket connect bind listen accept accept4 sendmmsg recvmmsg"
    ),
    "other processes": (
        "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_getfd kcmp setpriority "
        "ioprio_set sched_setaffinity sched_setscheduler sched_setparam sched_setattr migrate_pages move_pages "
        "perf_event_open"
    ),
    "namespaces, mounts and roots": (
        "unshare setns statmount listmount listns "
        "mount umount umount2 pivot_root chroot mount_setattr move_mount open_tree open_tree_attr fsopen "
        "fsconfig fsmount fspick swapon swapoff quotactl quotactl_fd"
    ),
    "the kernel itself": (
        "bpf userfaultfd io_uring_setup io_uring_enter io_uring_register keyctl add_key request_key init_module "
        "finit_module delete_module kexec_load kexec_file_load reboot syslog acct settimeofday clock_settime "
        "clock_adjtime adjtimex stime sethostname setdomainname iopl ioperm modify_ldt vhangup nfsservctl "
        "lookup_dcookie uselib personality"
    ),
    "files past their names, and what Landlock does not watch": (
        "open_by_handle_at name_to_handle_at fanotify_init fanotify_mark inotify_init inotify_init1 inotify_add_watch "
        "chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat chown32 fchown32 lchown32 utime utimes utimensat "
        "utimensat_time64 futimesat setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr "
        "removexattrat mknod mknodat file_setattr"
    ),
    "locks and pages in memory of files that all can open": "flock cachestat",
    "disks that all use": "sync syncfs",
    "memory that outlives its process, or that no limit counts": (
        "shmget shmat shmctl semget semop semctl semtimedop msgget msgsnd msgrcv msgctl mq_open mq_unlink "
        "memfd_create memfd_secret"
    ),
}
REFUSED = [name for names in FAMILIES.values() for name in names.split()]


class _Argument(ctypes.Structure):
    _fields_ = (
        ("number", ctypes.c_uint),
        ("comparison", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


Condition = tuple[int, int, int, int]  # an argument's number, the comparison, and what with


@functools.cache
def filter_program() -> bytes:
    """Return the filter as the kernel takes it; empty where the system has no libseccomp."""
    library = _library()
    if library is None:
        return b""
    made = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(ALLOW)))
    if not made:
        return b""
    try:
        library.seccomp_attr_set(made, OPTIMISE, ctypes.c_uint32(BINARY_TREE))  # older ones compare one by one
        if not all(_added(library, made, *rule) for rule in rules()):  # half a filter would be taken for a whole one
            return b""
        with tempfile.TemporaryFile() as file:
            if library.seccomp_export_bpf(made, file.fileno()) != 0:
                return b""
            file.seek(0)
            return file.read()
    finally:
        library.seccomp_release(made)


def rules() -> Iterator[tuple[str, tuple[Condition, ...], int]]:
    """Yield the name of each system call that is refused, when, and with which error."""
    import termios  # of POSIX alone

    for name in REFUSED:
        yield name, (), errno.EPERM
    for flag in NAME_SPACES:
        yield "clone", ((0, MASKED_EQUAL, flag, flag),), errno.EPERM
    yield "clone3", (), errno.ENOSYS  # its flags lie in memory, where no filter looks; libc falls back to clone
    for mask, value in all_but([*(getattr(termios, name) for name in REQUESTS.split()), *MORE_REQUESTS.values()]):
        yield "ioctl", ((1, MASKED_EQUAL, mask, value),), errno.EPERM
    for name in ("fcntl", "fcntl64"):
        for mask, value in all_but(COMMANDS.values()):
            yield name, ((1, MASKED_EQUAL, mask, value),), errno.EPERM
        setting = (1, MASKED_EQUAL, WITHIN_32_BITS, COMMANDS["F_SETFL"])
        yield name, (setting, (2, MASKED_EQUAL, os.O_ASYNC, os.O_ASYNC)), errno.EPERM
    yield "prlimit64", ((0, NOT_EQUAL, 0, 0),), errno.EPERM  # another process' limits
    yield "socketpair", ((0, NOT_EQUAL, UNIX, 0),), errno.EPERM
    for kind in DATAGRAMS:
        yield "socketpair", ((1, MASKED_EQUAL, 0xF, kind),), errno.EPERM
    yield from _disks()


def _disks() -> Iterator[tuple[str, tuple[Condition, ...], int]]:
    """Yield what would have a disk written out: an order for one's own files is obeyed in name only, by error 0."""
    for name in WRITTEN_OUT.split():
        yield name, (), 0
    yield "open", ((1, MASKED_EQUAL, os.O_DSYNC, os.O_DSYNC),), errno.EPERM
    yield "openat", ((2, MASKED_EQUAL, os.O_DSYNC, os.O_DSYNC),), errno.EPERM
    yield "openat2", (), errno.ENOSYS  # as clone3; neither libc nor Python opens files so
    for flag in (os.RWF_DSYNC, os.RWF_SYNC):
        yield "pwritev2", ((5, MASKED_EQUAL, flag, flag),), errno.EPERM


def all_but(allowed: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield masks, and values under them, that all numbers of 32 bits have but a few; the fewest that do.

    >>> [(hex(mask), value) for mask, value in all_but([0, 2])][-2:]
    [('0xffffffff', 1), ('0xffffffff', 3)]
    """
    kept = sorted(set(allowed))
    beginnings = {0}  # of the numbers to keep, one bit longer in each round
    for bit in reversed(range(32)):
        mask = WITHIN_32_BITS & ~((1 << bit) - 1)
        longer = {number & mask for number in kept}
        yield from (
            (mask, each) for start in sorted(beginnings) for each in (start, start | 1 << bit) if each not in longer
        )
        beginnings = longer


def _added(library: Any, made: ctypes.c_void_p, name: str, conditions: tuple[Condition, ...], error: int) -> bool:
    """Add a rule; say whether it will hold."""
    number = library.seccomp_syscall_resolve_name(name.encode())
    if number == -1 and (number := NEWER.get(name, -1)) == -1:  # of another architecture
        return True
    array = (_Argument * len(conditions))(*(_Argument(*each) for each in conditions))
    action = ctypes.c_uint32(ERRNO | error)
    return bool(library.seccomp_rule_add_array(made, action, number, len(conditions), array) == 0)


def _library() -> Any:
    if sys.platform != "linux":
        return None
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError:
        return None
    library.seccomp_init.restype = ctypes.c_void_p
    return library
