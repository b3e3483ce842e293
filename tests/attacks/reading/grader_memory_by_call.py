"""Read the grader's memory with process_vm_readv, which needs no file."""

import ctypes

ATTACK = "process_vm_readv of the grader"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "PermissionError|FileNotFoundError|ProcessLookupError|NotADirectoryError"


class Piece(ctypes.Structure):
    _fields_ = (("start", ctypes.c_void_p), ("size", ctypes.c_size_t))


def double(x):
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(100)
    here, there = Piece(ctypes.addressof(buffer), 100), Piece(int("@ADDRESS@"), 100)
    if libc.process_vm_readv(int("@PID@"), ctypes.byref(here), 1, ctypes.byref(there), 1, 0) < 0:
        raise OSError(ctypes.get_errno(), "process_vm_readv")
    raise RuntimeError(buffer.raw)
