"""What the filter of system calls refuses is refused in every form in which the kernel takes it."""

from __future__ import annotations

import platform
import sys

import pytest

from grader.isolation.seccomp import filter_program
from tests.support.alone import alone

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not filter_program(), reason="needs Linux with libseccomp.so.2"
)
FILTERED = """
import ctypes, errno, fcntl, os, signal, socket, struct, tempfile
from grader.isolation.seccomp import filter_program
from grader.worker import kernel
library = ctypes.CDLL("libseccomp.so.2")
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *arguments):
    ctypes.set_errno(0)
    values = [each if isinstance(each, bytes) else ctypes.c_long(each) for each in arguments]
    value = libc.syscall(ctypes.c_long(number), *values)
    return errno.errorcode[ctypes.get_errno()] if value == -1 else value
def named(name, *arguments):
    return call(library.seccomp_syscall_resolve_name(name.encode()), *arguments)
def ended(function, *arguments):
    child = os.fork()
    if child == 0:
        function(*arguments)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "went on"
ours, theirs = socket.socketpair()
scratch = tempfile.mkdtemp()
file = os.open(os.path.join(scratch, "file"), os.O_RDWR | os.O_CREAT)
self = struct.pack("i", os.getpid())
program = filter_program()
kernel.set_no_new_privileges()
"""
REQUESTS = {
    "FIOSETOWN": 0x8901, "SIOCSPGRP": 0x8902, "FIOASYNC": 0x5452, "TIOCSTI": 0x5412, "TIOCLINUX": 0x541C,
    "SIOCGIFNAME": 0x8910, "SIOCGIFCONF": 0x8912, "SIOCGIFHWADDR": 0x8927,
    "FS_IOC_SETFLAGS": 0x40086602, "FS_IOC32_SETFLAGS": 0x40046602, "FS_IOC_FSSETXATTR": 0x401C5820,
    "FS_IOC_ENABLE_VERITY": 0x40806685, "FS_IOC_ADD_ENCRYPTION_KEY": 0xC0506617,
}  # fmt: skip
UPPER = (0, 0xFFFFFFFF << 32, 1 << 32, 1 << 63)  # of the 64 bits that are passed, of which the kernel takes 32


@pytest.mark.parametrize("request_name", REQUESTS)
def test_a_request_is_refused_whatever_stands_in_the_bits_that_the_kernel_ignores(request_name: str) -> None:
    requests = [bits | REQUESTS[request_name] for bits in UPPER]
    requests = [each - (1 << 64) if each >> 63 else each for each in requests]
    found = alone(f"""{FILTERED}
kernel.filter_calls(program)
print([named("ioctl", place, each, bytes(256)) for place in (ours.fileno(), file) for each in {requests}])
""")
    assert found == ["EPERM"] * 2 * len(UPPER)


def test_signals_cannot_be_asked_for_by_any_way() -> None:
    found = alone(f"""{FILTERED}
kernel.filter_calls(program)
pipe = ours.fileno()
print({{
    "F_SETOWN": tried(fcntl.fcntl, pipe, 8, os.getpid()), "F_SETSIG": tried(fcntl.fcntl, pipe, 10, 10),
    "F_SETOWN_EX": tried(fcntl.fcntl, pipe, 15, struct.pack("ii", 1, os.getpid())),
    "F_SETFL": tried(fcntl.fcntl, pipe, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK),
    "F_SETFL in 64 bits": named("fcntl", pipe, fcntl.F_SETFL | 1 << 40, os.O_ASYNC | 1 << 41),
    "F_SETOWN in 64 bits": named("fcntl", pipe, 8 | 1 << 40, os.getpid()),
}})
""")
    assert {name for name, outcome in found.items() if outcome not in ("PermissionError", "EPERM")} == set()


def test_the_disks_of_all_are_not_written_out_at_a_submissions_word() -> None:
    """What saves its work and asks that it be on the disk goes on, as if it were: its files end with the run."""
    found = alone(f"""{FILTERED}
os.write(file, b"x")
kernel.filter_calls(program)
refused = [named("sync"), named("syncfs", file)]
print([refused, tried(os.fsync, file), tried(os.fdatasync, file), named("sync_file_range", file, 0, 0, 7),
       tried(os.sync), tried(os.open, scratch + "/file", os.O_WRONLY | os.O_DSYNC),
       tried(os.open, scratch + "/file", os.O_WRONLY | os.O_SYNC), tried(os.pwritev, file, [b"y"], 0, os.RWF_DSYNC),
       tried(os.pwritev, file, [b"y"], 0, os.RWF_SYNC), tried(os.pwritev, file, [b"yz"], 0),
       call(437, -100, b"x", 0, 0)])
""")
    assert found == [["EPERM", "EPERM"], None, None, 0, None, *["PermissionError"] * 4, 2, "ENOSYS"]


def test_a_pair_of_sockets_sends_to_nobody_else() -> None:
    """A datagram can be addressed whatever its socket is connected to: a pair of such sockets reaches services."""
    found = alone(f"""{FILTERED}
service = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
service.bind(os.path.join(scratch, "log"))
service.setblocking(False)
kernel.filter_calls(program)
def sent(kind, how):
    one, other = socket.socketpair(socket.AF_UNIX, kind)
    if how == "sendto":
        one.sendto(b"x", os.path.join(scratch, "log"))
    else:
        one.sendmsg([b"x"], [], 0, os.path.join(scratch, "log"))
tried_all = [tried(sent, kind, how) for kind in (1, 2, 3, 5, 2 | 0x800, 2 | 0x80000) for how in ("sendto", "sendmsg")]
print([tried_all, tried(service.recv, 9), tried(socket.socketpair, 16, 3), tried(socket.socketpair, 30, 5)])
""")
    assert (
        found[0][2:6] + found[0][8:] == ["PermissionError"] * 8
    )  # datagrams; a stream's address is ignored or refused
    assert found[1:] == ["BlockingIOError", "PermissionError", "PermissionError"]


def test_limits_of_another_process_are_neither_read_nor_set() -> None:
    found = alone(f"""{FILTERED}
import resource
kernel.filter_calls(program)
print([tried(resource.prlimit, os.getppid(), 7), tried(resource.prlimit, os.getppid(), 7, (9, 9)),
       len(resource.prlimit(0, 7)), named("prlimit64", 1 << 40 | os.getppid(), 7, 0, bytes(16))])
""")
    assert found == ["PermissionError", "PermissionError", 2, "EPERM"]


def test_what_every_file_has_in_memory_is_not_told() -> None:
    found = alone(f"""{FILTERED}
kernel.filter_calls(program)
print([call(451, file, bytes(16), bytes(48), 0)])
""")
    assert found == ["EPERM"]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of x86-64")
def test_the_other_numbers_of_the_same_calls_are_no_way_around() -> None:
    """A process that calls by numbers of x32, or of 32-bit x86, is ended."""
    found = alone(f"""{FILTERED}
import mmap
kernel.filter_calls(program)
def by_x32(number, *arguments):
    os._exit(0 if call(0x40000000 | number, *arguments) != "ENOSYS" else 1)
def by_32_bits():
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes([0xB8, 36, 0, 0, 0, 0xCD, 0x80, 0xC3]))  # mov eax, 36 (sync); int 0x80; ret
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
print([ended(by_x32, 514, ours.fileno(), 0x8901, self), ended(by_x32, 16, ours.fileno(), 0x8901, self),
       ended(by_x32, 162), ended(by_32_bits)])
""")
    assert found == ["SIGSYS"] * 4


def test_io_uring_takes_no_calls_in_another_ones_place() -> None:
    found = alone(f"""{FILTERED}
kernel.filter_calls(program)
print([call(number, 1, bytes(120), 0, 0, 0, 0) for number in (425, 426, 427)])
""")
    assert found == ["EPERM"] * 3


def test_what_an_honest_function_asks_of_its_files_is_not_refused() -> None:
    found = alone(f"""{FILTERED}
import array, termios
kernel.filter_calls(program)
waiting = array.array("i", [0])
theirs.send(b"1234567")
fcntl.ioctl(ours, termios.FIONREAD, waiting)
fcntl.ioctl(ours, 0x5421, struct.pack("i", 1))  # FIONBIO
os.set_blocking(ours.fileno(), True)
fcntl.ioctl(file, 0x5451)  # FIOCLEX
print([waiting[0], os.isatty(file), len(socket.socketpair()), tried(os.get_terminal_size, file)])
""")
    assert found == [7, False, 2, "OSError"]
