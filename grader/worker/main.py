"""A learner's process from its start: confine itself, load the module once, then fork for each test.

Untrusted from the moment the learner's module runs. It is started with a path that holds the standard library, NumPy,
msgpack and the rooms `protocol` and `worker`, or forked from a process that was (`zygote.py`). Its settings and the
module, as text, arrive over the connection, so that no file of the course is needed. What it answers before that
moment, the guards that are up, is beyond the learner's reach.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import socket
import struct
import sys
import time
import types
from typing import Any

LENGTH = struct.Struct("<I")  # of the settings, as JSON: the first that comes over the connection
CONTROL = struct.Struct("<cQ")  # b"F" fork for a test, b"K" kill it; its number
TOLD = struct.Struct("<cQi")  # b"S" started, b"N" no room to start it, b"E" ended; its number and wait status
WAIT_SECONDS = 0.5  # for room that a process which has just ended gives back


def connect(given: dict[str, Any]) -> socket.socket:
    """Return the connection to the grader: an inherited descriptor, or a loopback port that wants a token first.

    The token is all that comes on standard input: what stands among the arguments, every user of the machine can read.
    """
    if "fd" in given:
        return socket.socket(fileno=given["fd"])
    connection = socket.create_connection(("127.0.0.1", given["port"]))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(sys.stdin.buffer.read())
    return connection


def settings(connection: socket.socket) -> dict[str, Any]:
    """Return what a worker has to know of its tier before it can be told anything."""
    (length,) = LENGTH.unpack(_exactly(connection, LENGTH.size))
    found: dict[str, Any] = json.loads(_exactly(connection, length))
    return found


def _exactly(connection: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length:
        more = connection.recv(length - len(data))
        if not more:
            os._exit(0)  # the grader is gone
        data += more
    return data


def fork_for_tests(control: socket.socket, server: Any, children: Any, alone: bool) -> None:
    """Fork one process for each test that the grader announces; end those that it is done with."""
    from grader.protocol.channel import Channel, ChannelClosed
    from grader.worker import kernel
    from grader.worker.confine import no_more_processes

    running: dict[int, int] = {}
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, CONTROL.size, 1)
        if len(message) != CONTROL.size:
            children.end()
            return
        operation, number = CONTROL.unpack(message)
        if operation == b"F":
            process = _forked()
            if process is None:
                os.close(descriptors[0])
                control.sendall(TOLD.pack(b"N", number, 0))
                continue
            if process == 0:
                control.close()
                children.close()
                os.setpgid(0, 0)
                kernel.end_with_parent()
                kernel.scope_signals()
                if alone:
                    no_more_processes()
                with contextlib.suppress(ChannelClosed):
                    server.run(Channel(socket.socket(fileno=descriptors[0])))
                return
            os.close(descriptors[0])
            running[number] = process
            control.sendall(TOLD.pack(b"S", number, 0))
        elif number in running:
            status = _end(running.pop(number))
            if not children.end(set(running.values())):
                return  # then the supervisor ends them all, and the grader begins anew
            control.sendall(TOLD.pack(b"E", number, status))


def _forked() -> int | None:
    """Fork; return None where there is no room after a moment, since other processes take up what is allowed."""
    until = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < until:
        try:
            return os.fork()
        except BlockingIOError:
            time.sleep(0.05)
    return None


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


def main() -> None:
    """Be one learner's process, from the connection to the end of the last test; as a zygote, fork many."""
    gc.disable()  # what is imported stays; looking through it for garbage takes a twentieth of the start
    given = json.loads(sys.argv.pop(1))  # a module that reads its arguments finds none
    control = connect(given)
    sys.path[:] = [path for path in sys.path if path] + given["path"]
    if not given["forks"]:
        work(control, settings(control))
        return
    from grader.worker import zygote

    zygote.begin(control, given["probed"], given["and_user"])
    _import_all()
    connection, reports = zygote.serve(control)
    zygote.settle(connection, reports)
    spec = settings(connection)
    zygote.separate(spec)
    zygote.report_begun(reports)
    work(connection, spec, reports)


def _import_all() -> None:
    """Import what a worker needs before the limits and the drop: the interpreter may be unreadable afterwards."""
    import numpy.linalg
    import numpy.random  # noqa: F401

    from grader.worker import confine, draws, loading, server, supervisor  # noqa: F401


def work(control: socket.socket, spec: dict[str, Any], reports: socket.socket | None = None) -> None:
    """Put up the guards, load a module and serve its tests."""
    children = _guarded(control, spec["guard"], reports) if spec["guard"] else None
    from grader.worker import kernel

    if spec["try_apart"]:
        spec["apart"] = kernel.count_apart()
    if not spec["user"]:  # the user stays: where it is root that can become no other, it is root in name alone
        kernel.give_up_capabilities()
    _import_all()

    from grader.protocol import codec
    from grader.protocol.channel import Channel
    from grader.worker.confine import ALONE, STEPS, confine, no_more_processes
    from grader.worker.kernel import Unconfined
    from grader.worker.loading import OnlyAllowed, ProvidedModules
    from grader.worker.server import Server

    channel = Channel(control)
    body, blob = channel.receive()
    decoder = codec.Decoder()
    label, source, limits, program, packages, lent = (decoder.decode(form) for form in decoder.message(body, blob))
    alone, steps = bool(limits.pop(ALONE, 0)), limits.pop(STEPS, 0)
    try:
        channel.send(codec.Encoder().frame(["confined", confine(spec, limits, program)], []))
    except Unconfined as error:
        channel.send(codec.Encoder().frame(["unconfined", str(error)], []))
        return
    gc.enable()
    sys.meta_path.insert(0, OnlyAllowed(packages, [label, *(file for _, file, _ in lent)]))
    if lent:
        sys.meta_path.insert(0, ProvidedModules(lent))
    server = Server(types.ModuleType("learner_module"), label, {name: file for name, file, _ in lent})
    if alone and children is None:
        no_more_processes()
    if _loaded(server, channel, source, steps):
        if alone and children is not None:
            children.end()  # what the module started while it was loaded
        _serve(control, server, channel, children, alone)


def _serve(control: socket.socket, server: Any, channel: Any, children: Any, alone: bool) -> None:
    """Serve tests until the grader goes: each in a process of its own, where the system can fork."""
    from grader.protocol.channel import ChannelClosed

    server.loaded()
    gc.freeze()  # what is loaded now stays: the collector need not touch, and so copy, its pages after each fork
    with contextlib.suppress(ChannelClosed, OSError):
        if children is not None:
            fork_for_tests(control, server, children, alone)
        else:
            server.run(channel)


def _loaded(server: Any, channel: Any, source: bytes, steps: int) -> bool:
    """Load the learner's module into its server, tell the grader what came of it, and say whether it is there."""
    from grader.protocol import codec
    from grader.worker.draws import begin_process
    from grader.worker.loading import load

    server.listen()
    if steps:
        from grader.worker.steps import Steps

        Steps(frozenset((server.label,)), steps, channel).begin()
    begin_process()
    try:
        server.module = load(source, server.label)
        server.objects[0] = server.module
        server.numbers = {id(server.module): 0}
        channel.send(codec.Encoder().frame(["loaded", server.names(), server.notes()], []))
    except BaseException as error:
        channel.send(codec.Encoder().frame(["failed", [], server.notes()], [server.describe(error)]))
        return False
    return True


def _guarded(control: socket.socket, scratch: str, reports: socket.socket | None) -> Any:
    """Go on below a supervisor, as the parent of what the tests leave behind; return what knows this one's children."""
    from grader.worker import kernel
    from grader.worker.supervisor import Children, supervise

    supervise(control, scratch, reports)
    kernel.adopt_orphans()
    return Children()


if __name__ == "__main__":
    try:
        main()
    finally:
        os._exit(0)
