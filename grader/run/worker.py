"""A learner's process from its start: confine itself, load the module once, then fork for each test.

Untrusted from the moment the learner's module runs. It is started with a path that holds the standard library, NumPy,
msgpack and this package's wire, channel and serve; the module arrives as text over the connection, so that no file of
the course is needed.
"""

from __future__ import annotations

import contextlib
import gc
import json
import linecache
import os
import signal
import socket
import struct
import sys
import time
import types
from typing import Any

CONTROL = struct.Struct("<cQ")  # b"F" fork for a test, b"K" kill it; its number
ENDED = struct.Struct("<Qi")  # a test's number and its process' wait status
NOBODY = 65534
PR_SET_CHILD_SUBREAPER = 36


def connect(spec: dict[str, Any]) -> socket.socket:
    """Return the connection to the grader: an inherited descriptor, or a loopback port that wants a token first."""
    if "fd" in spec:
        return socket.socket(fileno=spec["fd"])
    connection = socket.create_connection(("127.0.0.1", spec["port"]))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(bytes.fromhex(spec["token"]))
    return connection


def drop_privileges() -> None:
    """Stop being root, for good, where the grader was started as root and the interpreter stays readable."""
    if not hasattr(os, "getuid") or os.getuid() != 0:
        return
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def limit(limits: dict[str, int]) -> None:
    """Apply limits, named as in the resource module without prefix; memory counts on top of what is used now."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is None:
            continue
        if name == "AS":
            value += _address_space()
        hard = resource.getrlimit(kind)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        after = (
            bound + 1 if name == "CPU" and bound == value else bound
        )  # at the hard limit the kernel does not say why
        with contextlib.suppress(OSError, ValueError):  # macOS refuses some; the rest still holds
            resource.setrlimit(kind, (bound, after))


def _address_space() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 1 << 30


class OnlyAllowed:
    """An import hook that lets the standard library, NumPy and msgpack through, and nothing else."""

    allowed = sys.stdlib_module_names | {"numpy", "msgpack", "grader"}

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] not in self.allowed:
            raise ModuleNotFoundError(
                f"No module named {name!r}: only NumPy and the standard library are here", name=name
            )


def load(source: bytes, label: str) -> types.ModuleType:
    """Run the learner's module and return it; whatever it raises passes through."""
    module = types.ModuleType("learner_module")
    module.__file__ = label
    sys.modules["learner_module"] = module
    text = source.decode("utf-8-sig", "replace")
    linecache.cache[label] = (len(text), None, text.splitlines(True), label)
    exec(compile(source, label, "exec", dont_inherit=True), module.__dict__)
    return module


def fork_for_tests(control: socket.socket, server: Any) -> None:
    """Fork one process for each test that the grader announces; end those that it is done with."""
    from grader.run.channel import Channel, ChannelClosed

    running: dict[int, int] = {}
    _adopt_orphans()
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, CONTROL.size, 1)
        if len(message) != CONTROL.size:
            _end_all(running)
            return
        operation, number = CONTROL.unpack(message)
        if operation == b"F":
            process = _forked()
            if process == 0:
                control.close()
                os.setpgid(0, 0)
                with contextlib.suppress(ChannelClosed):
                    server.run(Channel(socket.socket(fileno=descriptors[0])))
                return
            os.close(descriptors[0])
            running[number] = process
        elif number in running:
            status = _end(running.pop(number))
            _end_orphans(set(running.values()))
            control.sendall(ENDED.pack(number, status))


def _forked() -> int:
    """Fork, and wait a while for room where the user's other processes take up what the system allows."""
    for _ in range(20):
        try:
            return os.fork()
        except BlockingIOError:
            time.sleep(0.1)
    return os.fork()


def _end(process: int) -> int:
    """Kill one test's process and its group; return how it ended."""
    done, status = os.waitpid(process, os.WNOHANG)
    with contextlib.suppress(OSError):
        os.killpg(process, signal.SIGKILL)
    if not done:
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)
        status = os.waitpid(process, 0)[1]
    return status


def _end_all(running: dict[int, int]) -> None:
    for process in running.values():
        with contextlib.suppress(OSError):
            _end(process)
    _end_orphans(set())


def _adopt_orphans() -> None:
    """Become the parent of whatever a test leaves behind, where the system has such a thing."""
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end_orphans(running: set[int]) -> None:
    """Kill the processes that a test started and left, also those that went into a session of their own."""
    for _ in range(100):  # one that forks meanwhile is met again
        try:
            with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:
                left = set(map(int, file.read().split())) - running
        except OSError:
            return
        if not left:
            return
        for process in left:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)


def main() -> None:
    """Be one learner's process, from the connection to the end of the last test."""
    spec = json.loads(sys.argv[1])
    control = connect(spec)
    sys.path[:] = [path for path in sys.path if path] + spec["path"]
    import numpy.linalg
    import numpy.random  # noqa: F401  (both before the limits and the drop: the interpreter may be unreadable afterwards)

    from grader.run import serve, wire
    from grader.run.channel import Channel, ChannelClosed

    channel = Channel(control)
    body, blob = channel.receive()
    decoder = wire.Decoder()
    label, source, limits = (decoder.decode(form) for form in decoder.message(body, blob))
    if spec["drop"]:
        drop_privileges()
    limit(limits)
    sys.meta_path.insert(0, OnlyAllowed())
    server = serve.Server(types.ModuleType("learner_module"), label)
    server.listen()
    try:
        server.module = load(source, label)
        server.objects[0] = server.module
        server.numbers = {id(server.module): 0}
        channel.send(wire.Encoder().frame(["loaded", server.names(), server.notes()], []))
    except BaseException as error:
        channel.send(wire.Encoder().frame(["failed", [], server.notes()], [server.describe(error)]))
        return
    gc.freeze()  # what is loaded now stays: the collector need not touch, and so copy, its pages after each fork
    with contextlib.suppress(ChannelClosed, OSError):
        if spec["fork"]:
            control.setblocking(True)
            fork_for_tests(control, server)
        else:
            server.run(channel)


if __name__ == "__main__":
    try:
        main()
    finally:
        os._exit(0)
