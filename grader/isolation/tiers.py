"""Which tier is taken, and how a learner's process is started in it, and ended.

In each tier, what is started as root becomes an ordinary user, or gives up root's rights where a container lets it
become no other; and a supervisor ends all that is left. What else a tier does stands in its class.
"""

from __future__ import annotations

import hmac
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader import children
from grader.course.table import listed
from grader.errors import CourseError, IsolationRefused
from grader.isolation import bundle, tier, users
from grader.isolation.bundle import ENVIRONMENT
from grader.isolation.seccomp import filter_program
from grader.isolation.started import Started

__all__ = ["ENVIRONMENT", "FORKS", "TIERS", "Started", "Tier", "choose", "program_for", "start", "why_missing"]

Tier = str  # the name of one
if TYPE_CHECKING:
    TIERS: tuple[str, ...]  # the names of all that are registered, the strongest first
TOKEN_BYTES = 32
TOKEN_SECONDS = 0.5  # for the token of somebody who has connected
LOOK_SECONDS = 0.1  # between looks whether the process has ended
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


def start(name: str, hide: Path, fork: bool = FORKS, packages: Sequence[str] = ()) -> Started:
    """Start a worker in a tier; hide is the course, not to be seen even where it lies in a folder that is shown.

    packages are those of the course that the learner's code may import. Raises CourseError where one is not installed,
    or would show what is to be hidden.
    """
    bundle.expect_apart(packages, hide)
    folder = tempfile.TemporaryDirectory(prefix="grader-", ignore_cleanup_errors=True)
    try:
        return _start(name, hide, fork, folder, packages)
    except (CourseError, IsolationRefused):
        folder.cleanup()
        raise
    except OSError as error:
        folder.cleanup()
        raise IsolationRefused(f"a learner's process could not be started in tier {name!r}: {error}") from error


@dataclass
class Own:
    """Workers that this process starts itself; one can be started ahead, so that it is there when it is asked for."""

    tier: str
    hide: Path
    fork: bool = FORKS
    _ahead: Started | None = None
    packages: Sequence[str] = ()

    def prepare(self) -> None:
        """Start the next worker now."""
        if self._ahead is None:
            self._ahead = start(self.tier, self.hide, self.fork, self.packages)

    def start(self) -> Started:
        """Return the worker that was started ahead, if it still runs, or a new one."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead.running():
            return ahead
        if ahead is not None:
            ahead.kill()
        return start(self.tier, self.hide, self.fork, self.packages)

    def close(self) -> None:
        """End the worker that nobody asked for."""
        if self._ahead is not None:
            self._ahead.kill()
            self._ahead = None


def _start(
    name: str, hide: Path, fork: bool, folder: tempfile.TemporaryDirectory[str], packages: Sequence[str]
) -> Started:
    chosen = tier.find(name)
    if chosen.needs_fork and not fork:
        raise IsolationRefused(f"{name} needs a system that can fork")
    place = tier.Place(bundle.build_bundle(Path(folder.name)), hide, packages)
    scratch = place.bundle.parent / "scratch"
    scratch.mkdir()
    scratch.parent.chmod(0o755)
    spec = {**chosen.confine(place, scratch, users.draw() if users.can_change() else 0), "path": chosen.path(place)}
    user = spec["user"] if spec["apart"] else 0
    _hand_over(scratch, user)
    if not fork:
        return _started_over_tcp(chosen, place, {**spec, "guard": ""}, scratch, folder)
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            process = _spawn(chosen.command(place, {**spec, "fd": theirs.fileno()}), scratch, (theirs.fileno(),))
        except OSError:
            ours.close()
            raise
    return Started(process, ours, chosen, folder, guarded=True, user=user)


def _hand_over(scratch: Path, user: int) -> None:
    """Give the scratch folder to the run's own user alone, or to everyone where it has none."""
    if user:
        os.chown(scratch, user, user)
    scratch.chmod(0o700 if user else 0o777)


def _started_over_tcp(
    chosen: tier.Tier,
    place: tier.Place,
    spec: dict[str, Any],
    scratch: Path,
    folder: tempfile.TemporaryDirectory[str],
) -> Started:
    with socket.create_server(("127.0.0.1", 0), backlog=BACKLOG) as listener:
        token = os.urandom(TOKEN_BYTES)
        command = chosen.command(place, {**spec, "port": listener.getsockname()[1]})
        process = _spawn(command, scratch, (), token)
        return Started(process, accepted(listener, token, process), chosen, folder)


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
