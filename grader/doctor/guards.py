"""Probe what isolation prevents on this machine: a probe in the learner's place tries it, started by a tier.

Each attempt has an end that this side watches over, so that what gets through has really arrived.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from grader.sandbox.process import LearnerProcess

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


SECONDS = 10.0
LATE = 0.05  # seconds in which a packet that was sent earlier may still arrive
MEMORY_MB = 512
MANY = 200  # processes
LINUX = sys.platform == "linux"
POSIX = hasattr(os, "fork")
VARIABLE = "GRADER_PROBE"


@dataclass(frozen=True)
class Guard:
    """One thing that a learner's code is not to do: whether it was held back, and whether that is promised."""

    name: str
    holds: bool
    promised: bool


@dataclass(frozen=True)
class Scene:
    """What the probe is set upon: files that anybody may read or write, sockets that listen, and the probe itself."""

    process: LearnerProcess
    course: Path
    elsewhere: Path
    tcp: socket.socket
    udp: socket.socket
    abstract: socket.socket | None

    def stopped(self, *attempt: Any) -> bool:
        """Have the probe try something, in a process of its own; say whether that failed."""
        from grader.sandbox.connection import RemoteModule
        from grader.sandbox.exceptions import WorkerFailed

        connection = self.process.open(time.monotonic() + SECONDS)
        module: Any = RemoteModule(connection, "probe.py")
        try:
            return bool(module.attempt(*attempt) != "")
        except WorkerFailed:
            return True
        finally:
            self.process.done(connection)


def try_out(tier: str) -> tuple[Guard, ...]:
    """Start a probe in a tier and return what came of each attempt; GraderError or LoadFailed where none starts."""
    from grader.isolation.tier import find

    promised = find(tier).guards()
    with ExitStack() as stack:
        scene = stack.enter_context(_scene(tier))
        return tuple(Guard(name, trial(scene), name in promised) for name, trial in _trials())


@contextmanager
def _scene(tier: str) -> Iterator[Scene]:
    from grader.isolation import tiers as sandbox
    from grader.sandbox.process import Job, LearnerProcess

    with tempfile.TemporaryDirectory(prefix="grader-probe-") as folder, ExitStack() as stack:
        course, elsewhere = Path(folder, "course"), Path(folder, "elsewhere")
        for path in (Path(folder), course, elsewhere):
            path.mkdir(exist_ok=True)
            path.chmod(0o777)
            (path / "secret").write_text("x")
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        udp.settimeout(SECONDS)
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX)) if LINUX else None
        if abstract is not None:
            abstract.bind(b"\0grader-" + secrets.token_hex(8).encode())
            abstract.listen()
        os.environ[VARIABLE] = "x"
        stack.callback(os.environ.pop, VARIABLE, None)
        job = Job("probe.py", PROBE, SECONDS, SECONDS, MEMORY_MB, course)
        process = LearnerProcess(job, tier, sandbox.LocalWorkerFactory(tier, course))
        stack.callback(process.kill)
        process.load()
        yield Scene(process, course, elsewhere, tcp, udp, abstract)


def _trials() -> Iterator[tuple[str, Callable[[Scene], bool]]]:
    """Yield the name of each guard, and what tries it."""
    from grader.isolation import users

    in_name_alone = users.is_root() and users.is_counted()
    yield "the course cannot be read", lambda scene: scene.stopped("read", str(scene.course / "secret"))
    yield "no other file can be read", lambda scene: scene.stopped("read", str(scene.elsewhere / "secret"))
    yield "nothing is written but scratch", lambda scene: scene.stopped("write", str(scene.elsewhere))
    yield "no TCP", lambda scene: scene.stopped("tcp", scene.tcp.getsockname()[1])
    yield "no UDP", _no_udp
    yield "an empty environment", lambda scene: scene.stopped("environment", VARIABLE)
    if POSIX:
        yield "no rights of root", lambda scene: scene.stopped("be_root", in_name_alone)
        yield "no signal to the grader", _no_signal
        yield "few processes", lambda scene: scene.stopped("many_processes", MANY)
        yield "processes of its own", _own_processes
    if LINUX:
        yield "little memory", lambda scene: scene.stopped("much_memory", 4 * MEMORY_MB << 20)
        yield "no abstract socket", _no_abstract_socket
        yield "no look into the grader", lambda scene: scene.stopped("look_into", os.getpid())
        yield "no namespace of its own", lambda scene: scene.stopped("name_space")
        yield "no survivor", _no_survivor


def _own_processes(scene: Scene) -> bool:
    """Have a second run take all the processes that it may; say whether the first can still start one."""
    from grader.isolation import tiers as sandbox
    from grader.sandbox.connection import RemoteModule
    from grader.sandbox.process import LearnerProcess

    own = scene.process
    neighbour = LearnerProcess(own.job, own.tier, sandbox.LocalWorkerFactory(own.tier, own.job.hide))
    try:
        neighbour.load()
        connection = neighbour.open(time.monotonic() + SECONDS)
        module: Any = RemoteModule(connection, "probe.py")
        took_all = module.attempt("many_processes", MANY) != ""
        held_back = scene.stopped("read", os.devnull)
        neighbour.done(connection)
        return took_all and not held_back
    finally:
        neighbour.kill()


def _no_udp(scene: Scene) -> bool:
    if scene.stopped("udp", scene.udp.getsockname()[1]):
        return True
    own = secrets.token_bytes(8)  # what was sent before this has arrived when this has, or is only just late
    with suppress(OSError):  # in a network of its own, sending works and nothing arrives
        scene.udp.sendto(own, scene.udp.getsockname())
        if scene.udp.recv(len(own)) != own:
            return False
        scene.udp.settimeout(LATE)
        return not scene.udp.recv(1)
    return True


def _no_abstract_socket(scene: Scene) -> bool:
    return scene.abstract is None or scene.stopped("abstract", scene.abstract.getsockname()[1:])


def _no_signal(scene: Scene) -> bool:
    started = ""
    with suppress(OSError):
        started = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    return scene.stopped("signal", os.getpid(), started)


def _no_survivor(scene: Scene) -> bool:
    """Have the probe leave a daemon, end everything, and look for it; so this is the last thing to try."""
    from grader.isolation import tiers
    from grader.sandbox.connection import RemoteModule
    from grader.worker.supervisor import below

    connection = scene.process.open(time.monotonic() + SECONDS)
    module: Any = RemoteModule(connection, "probe.py")
    module.attempt("leave_a_daemon")
    running = below(cast(tiers.WorkerProcess, scene.process._started).process.pid)
    scene.process.kill()
    connection.channel.close()
    until = time.monotonic() + 2
    while (left := [each for each in running if _runs(each)]) and time.monotonic() < until:
        time.sleep(0.01)
    return bool(running) and not left


def _runs(process: int) -> bool:
    """Say whether a process has not ended; one that only waits for its parent to take note has."""
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    return False
