"""Choose a tier, start a learner's process in it, and end it.

In each tier, what is started as root becomes an ordinary user, or gives up root's rights where a container lets it
become no other; and a supervisor ends all that is left. What else a tier does stands in its class.
"""

from __future__ import annotations

import hmac
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader import children
from grader.course.table import listed
from grader.errors import IsolationRefused
from grader.isolation import bundle, tier, users, zygote
from grader.isolation.bundle import ENVIRONMENT, OwnFolder
from grader.isolation.seccomp import filter_program
from grader.isolation.workers import WorkerProcess

__all__ = ["ENVIRONMENT", "FORKS", "TIERS", "Tier", "WorkerProcess", "choose", "program_for", "start", "why_missing"]

Tier = str  # the name of one
if TYPE_CHECKING:
    TIERS: tuple[str, ...]  # the names of all that are registered, the strongest first
TOKEN_BYTES = 32
TOKEN_SECONDS = 0.5  # for the token of somebody who has connected
TRIES = 2  # to have a worker forked, the second by a process that takes another's place
LOOK_SECONDS = 0.1  # between looks whether the process has ended
SCRATCH = "scratch"  # in a worker's folder
BACKLOG = 16  # connections of others that wait with the right one
FORKS = sys.platform == "linux"  # elsewhere a fork after NumPy's libraries have started is not safe


def __getattr__(name: str) -> Any:
    if name == "TIERS":
        return tuple(tier.registered())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def why_missing(name: str) -> str | None:
    """Return why a tier does not work on this machine; None where it works."""
    known = tier.registered().get(name)
    return "no tier of that name is installed here" if known is None else known.available()


def choose(wanted: str, least: str | None = None) -> tuple[str, str | None]:
    """Return the tier, the strongest that works for auto, and what it leaves open; IsolationRefused below the least."""
    known = tuple(tier.registered())
    for name in (wanted, least or "auto"):
        if name not in ("auto", *known):
            raise IsolationRefused(f"isolation {name!r} is unknown", f"Choose auto, {listed(known)}.")
    enough = known[: known.index(least) + 1] if least in known else known
    if wanted not in ("auto", *enough):
        message = f"isolation {wanted!r} was requested, but at least {least!r} is required"
        raise IsolationRefused(message, f"Leave out --isolation, or request {listed(enough)}.")
    missing: dict[str, str] = {}
    for name in enough if wanted == "auto" else (wanted,):
        if (reason := why_missing(name)) is None:
            return name, _note(name, missing)
        missing[name] = reason
    reasons = "; ".join(f"isolation {name!r} is unavailable: {reason}" for name, reason in missing.items())
    below = f"; at least {least!r} is required" if wanted == "auto" else ""
    raise IsolationRefused(reasons + below, "`grader doctor` shows what works here.")


def _note(name: str, missing: dict[str, str]) -> str | None:
    """Return what a verdict says of a tier: why it was taken where a stronger is missing, and what it leaves open."""
    found = list(dict.fromkeys(reason.rstrip(".") for reason in missing.values()))
    return "; ".join([*found, *filter(None, [tier.find(name).shortfall()])]) or None


def program_for(name: str) -> bytes:
    """Return the filter of system calls for a tier; empty where it has none, or libseccomp is missing."""
    return filter_program() if tier.find(name).filters_calls else b""


def start(name: str, hide: Path, fork: bool = FORKS, packages: Sequence[str] = ()) -> WorkerProcess:
    """Start a worker in a tier; hide is the course, not to be seen even where it lies in a folder that is shown.

    packages are those of the course that the learner's code may import. Raises CourseError where one is not installed,
    or would show what is to be hidden.
    """
    chosen = tier.find(name)
    if chosen.needs_fork and not fork:
        raise IsolationRefused(f"{name} needs a system that can fork")
    bundle.expect_apart(packages, hide)
    try:
        forked = _forked(chosen, hide, packages) if fork else None
        return forked or _started(chosen, hide, fork, packages)
    except OSError as error:
        raise IsolationRefused(f"a learner's process could not be started in tier {name!r}: {error}") from error


@dataclass
class LocalWorkerFactory:
    """Workers that this process starts itself; the clean process that forks them stays as long as this object does."""

    tier: str
    hide: Path
    fork: bool = FORKS
    packages: Sequence[str] = ()
    _zygote: zygote.Zygote | None = field(default=None, init=False)

    def prepare(self) -> None:
        """Start the clean process, so that it imports NumPy while this one does something else."""
        if self.fork and self._zygote is None:
            with suppress(OSError):  # the next start meets it again
                self._zygote = zygote.shared(tier.find(self.tier), self.hide, self.packages, _spawn)

    def start(self) -> WorkerProcess:
        """Return a new worker; IsolationRefused where none can be started."""
        started = start(self.tier, self.hide, self.fork, self.packages)
        self._zygote = started.zygote or self._zygote
        return started

    def beside(self) -> LocalWorkerFactory:
        """Return where workers come from that run beside those that were started."""
        return self

    def close(self) -> None:
        """Let go of the clean process, which ends if nobody else has it."""
        self._zygote = None


def _forked(chosen: tier.Tier, hide: Path, packages: Sequence[str]) -> WorkerProcess | None:
    """Return a worker that a clean process forked; None where each needs a start of its own."""
    for _ in range(TRIES):
        found = zygote.shared(chosen, hide, packages, _spawn)
        if found is None:
            return None
        try:
            if found.why_unable() is None:
                return _fork_of(chosen, found, hide)
        except OSError:  # the next one takes its place
            found.abandon()
    return None


def _fork_of(chosen: tier.Tier, found: zygote.Zygote, hide: Path) -> WorkerProcess:
    folder = None if chosen.name_spaces else OwnFolder()
    try:
        spec = _confined(chosen, replace(found.place, hide=hide), None if folder is None else Path(folder.name))
        process, connection = found.fork(spec)
    except BaseException:
        if folder is not None:
            folder.cleanup()
        raise
    user = spec["user"] if spec["apart"] else 0
    return WorkerProcess(process, connection, chosen, folder, guarded=True, user=user, zygote=found)


def _confined(chosen: tier.Tier, place: tier.Place, folder: Path | None) -> dict[str, Any]:
    """Return the settings of a worker, whose scratch folder is in a folder, or in memory.

    It belongs to the run's own user alone, or to everyone where the run has none.
    """
    user = users.draw() if users.can_change() else 0
    if folder is None:
        return chosen.confine(place, Path(os.devnull), user)
    scratch = folder / SCRATCH
    scratch.mkdir()
    folder.chmod(0o755)
    spec = chosen.confine(place, scratch, user)
    if user and spec["apart"]:
        os.chown(scratch, user, user)
        scratch.chmod(0o700)
    else:
        scratch.chmod(0o777)
    return spec


def _started(chosen: tier.Tier, hide: Path, fork: bool, packages: Sequence[str]) -> WorkerProcess:
    """Return a worker that is an interpreter of its own."""
    folder = OwnFolder()
    try:
        place = tier.Place(bundle.build_bundle(Path(folder.name)), hide, packages)
        spec = {**_confined(chosen, place, Path(folder.name)), "name_spaces": False}
        given = {"forks": False, "path": chosen.path(place)}
        scratch = Path(folder.name) / SCRATCH
        if fork:
            connection, theirs = socket.socketpair()
            with theirs:
                command = chosen.command(place, {**given, "fd": theirs.fileno()})
                process = _spawn(command, scratch, (theirs.fileno(),))
        else:
            process, connection = _over_tcp(chosen, place, given, scratch)
            spec["guard"] = ""
        connection.sendall(zygote.framed(spec))
    except BaseException:
        folder.cleanup()
        raise
    user = spec["user"] if spec["apart"] else 0
    return WorkerProcess(process, connection, chosen, folder, guarded=fork, user=user)


def _over_tcp(
    chosen: tier.Tier, place: tier.Place, given: dict[str, Any], scratch: Path
) -> tuple[subprocess.Popen[bytes], socket.socket]:
    with socket.create_server(("127.0.0.1", 0), backlog=BACKLOG) as listener:
        token = os.urandom(TOKEN_BYTES)
        process = _spawn(chosen.command(place, {**given, "port": listener.getsockname()[1]}), scratch, (), token)
        connection = accepted(listener, token, process)
        connection.settimeout(None)
        return process, connection


def accepted(
    listener: socket.socket, token: bytes, process: subprocess.Popen[bytes], seconds: float = 20
) -> socket.socket:
    """Return the connection of a process that was started: the first one that sends the token.

    Whoever else connects is turned away. Raises OSError where the process ends, or has not connected by then.
    """
    ends_at = time.monotonic() + seconds
    listener.settimeout(LOOK_SECONDS)
    while True:
        with suppress(OSError):  # nobody yet, or somebody who says nothing
            connection, _ = listener.accept()
            connection.settimeout(TOKEN_SECONDS)
            if _is_sent(connection, token):
                return connection
            connection.close()
        code = process.poll()
        if code is None and time.monotonic() < ends_at:
            continue
        process.kill()
        process.wait()
        raise OSError(f"it ended with exit code {code}" if code is not None else f"it did not connect in {seconds:g} s")


def _is_sent(connection: socket.socket, token: bytes) -> bool:
    try:
        sent = connection.recv(len(token), socket.MSG_WAITALL)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError:
        return False
    return hmac.compare_digest(sent, token)


def _spawn(
    command: list[str], folder: Path, descriptors: tuple[int, ...], secret: bytes = b""
) -> subprocess.Popen[bytes]:
    environment = dict(ENVIRONMENT)
    if sys.platform == "win32":  # sockets and the C runtime need these
        environment |= {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP", "PATH") if name in os.environ}
    return children.start(
        command, secret=secret, cwd=folder, env=environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        pass_fds=descriptors, start_new_session=True, close_fds=True,
    )  # fmt: skip
