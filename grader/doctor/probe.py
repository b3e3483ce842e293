"""What the probe runs in the learner's place: one function for each thing that is tried."""

from __future__ import annotations

PROBE = b"""
import ctypes
import os
import socket
import struct
import time

import numpy as np


def read(path):
    with open(path, "rb") as file:
        return file.read(1)


def write(folder):
    with open(os.path.join(folder, "probe"), "wb") as file:
        file.write(b"x")


def tcp(port):
    socket.create_connection(("127.0.0.1", port), timeout=2).close()


def udp(port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.sendto(b"x", ("127.0.0.1", port))


def abstract(name):
    with socket.socket(socket.AF_UNIX) as out:
        out.connect(b"\\0" + name)


def signal(process, started):
    try:
        with open("/proc/%d/stat" % process) as file:
            found = file.read().rpartition(")")[2].split()[19]
    except OSError:
        found = started
    if found != started:  # another one, that has the same number in this namespace
        raise ProcessLookupError
    os.kill(process, 0)


def look_into(process):
    open("/proc/%d/mem" % process, "rb").close()


def name_space():
    if ctypes.CDLL(None).unshare(0x10000000) != 0:
        raise PermissionError


def many_processes(number):
    for _ in range(number):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)


def much_memory(size):
    np.ones(size, np.uint8)


def environment(name):
    return os.environ[name]


def be_root(in_name_alone):
    if os.getuid() != 0 or (in_name_alone and not capabilities()):
        raise PermissionError


def capabilities():
    header = struct.pack("=Ii", 0x20080522, 0)
    kept = ctypes.create_string_buffer(24)
    if ctypes.CDLL(None).capget(header, kept) != 0:
        return True
    return any(kept.raw)


def leave_a_daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(60)
        os._exit(0)
    time.sleep(0.1)


def attempt(name, *arguments):
    try:
        globals()[name](*arguments)
    except BaseException as error:
        return type(error).__name__
    return ""
"""
