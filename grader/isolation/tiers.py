"""Isolation tiers: which one is taken, and how a learner's process is started and ended in it.

bubblewrap  own user (or a dropped root), process, network, IPC and host namespaces; the interpreter, NumPy and msgpack
            read-only; no file of the course; a small scratch folder in memory; an empty environment.
landlock    a separate process whose reach the kernel bounds: the same files, a scratch folder, no network, no program,
            no process but its own.
process     a separate process with resource limits and an empty environment; the file system stays readable.

In each, what is started as root becomes an ordinary user, or gives up root's rights where a container lets it become
no other; and a supervisor ends all that is left.
"""

from __future__ import annotations

import hmac
import json
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
from typing import Any

from grader import children
from grader.course.table import listed
from grader.errors import CourseError, IsolationRefused
from grader.isolation import bubblewrap, bundle, landlock, users
from grader.isolation.bundle import ENVIRONMENT
from grader.isolation.seccomp import filter_program
from grader.isolation.started import Started, Tier
from grader.worker import kernel
from grader.worker.confine import NOBODY

__all__ = ["ENVIRONMENT", "FORKS", "TIERS", "Started", "Tier", "choose", "program_for", "start", "why_missing"]

TIERS: tuple[Tier, ...] = ("bubblewrap", "landlock", "process")  # the strongest first
TOKEN_BYTES = 32
TOKEN_SECONDS = 0.5  # for the token of somebody who has connected
LOOK_SECONDS = 0.1  # between looks whether the process has ended
BACKLOG = 16  # connections of others that wait with the right one
FORKS = sys.platform == "linux"  # elsewhere a fork after NumPy's libraries have started is not safe


def why_missing(tier: Tier) -> str | None:
    """Return why a tier does not work on this machine; None where it works."""
    if tier == "process":
        return None
    if not users.is_counted():
        return users.UNCOUNTED
    return bubblewrap.why_missing() if tier == "bubblewrap" else landlock.why_missing()


def choose(wanted: str, least: str | None = None) -> tuple[Tier, str | None]:
    """Return the tier, the strongest that works for auto, and what it leaves open; IsolationRefused below the least."""
    for name in (wanted, least or "auto"):
        if name not in ("auto", *TIERS):
            raise IsolationRefused(f"isolation {name!r} is unknown", f"Choose auto, {listed(TIERS)}.")
    enough = TIERS[: [*TIERS].index(least) + 1] if least in TIERS else TIERS
    if wanted not in ("auto", *enough):
        message = f"isolation {wanted!r} was requested, but at least {least!r} is required"
        raise IsolationRefused(message, f"Leave out --isolation, or request {listed(enough)}.")
    missing: dict[Tier, str] = {}
    for tier in enough if wanted == "auto" else (each for each in enough if each == wanted):
        if (reason := why_missing(tier)) is None:
            return tier, _note(tier, missing)
        missing[tier] = reason
    reasons = "; ".join(f"isolation {tier!r} is unavailable: {reason}" for tier, reason in missing.items())
    below = f"; at least {least!r} is required" if wanted == "auto" else ""
    raise IsolationRefused(reasons + below, "`grader doctor` shows what works here.")


def _note(tier: Tier, missing: dict[Tier, str]) -> str | None:
    """Return what a verdict says of a tier that is not the strongest: why it was taken, and what it leaves open."""
    found = list(dict.fromkeys(reason.rstrip(".") for reason in missing.values()))
    if tier == "process" and (left_open := users.shortfall()):
        found.append(left_open)
    if tier == "landlock" and (left_open := landlock.shortfall(bool(filter_program()))):
        found.append(left_open)
    if tier == "bubblewrap" and (told := landlock.told_within_namespaces()):
        found.append(told)
    return "; ".join(found) or None


def program_for(tier: Tier) -> bytes:
    """Return the filter of system calls for a tier; empty where it has none, or libseccomp is missing."""
    return b"" if tier == "process" else filter_program()


def start(tier: Tier, hide: Path, fork: bool = FORKS, packages: Sequence[str] = ()) -> Started:
    """Start a worker in a tier; hide is the course, not to be seen even where it lies in a folder that is shown.

    packages are those of the course that the learner's code may import. Raises CourseError where one is not installed,
    or would show what is to be hidden.
    """
    bundle.expect_apart(packages, hide)
    folder = tempfile.TemporaryDirectory(prefix="grader-", ignore_cleanup_errors=True)
    try:
        return _start(tier, hide, fork, folder, packages)
    except (CourseError, IsolationRefused):
        folder.cleanup()
        raise
    except OSError as error:
        folder.cleanup()
        raise IsolationRefused(f"a learner's process could not be started in tier {tier!r}: {error}") from error


@dataclass
class Own:
    """Workers that this process starts itself; one can be started ahead, so that it is there when it is asked for."""

    tier: Tier
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
    tier: Tier, hide: Path, fork: bool, folder: tempfile.TemporaryDirectory[str], packages: Sequence[str]
) -> Started:
    if tier != "process" and not fork:
        raise IsolationRefused(f"{tier} needs a system that can fork")
    built = bundle.build_bundle(Path(folder.name))
    scratch = built.parent / "scratch"
    scratch.mkdir()
    built.parent.chmod(0o755)
    spec = _spec(tier, built, scratch, hide, fork, packages)
    _hand_over(scratch, spec["user"] if spec["apart"] else 0)
    if not fork:
        return _started_over_tcp(spec, built, scratch, folder)
    ours, theirs = socket.socketpair()
    spec["fd"] = theirs.fileno()
    command = _command(spec, str(built))
    if tier == "bubblewrap":
        command = [*bubblewrap.enclosure(built, hide, packages), "--", *_command(spec, bubblewrap.BUNDLE)]
    with theirs:
        try:
            process = _spawn(command, scratch, (theirs.fileno(),))
        except OSError:
            ours.close()
            raise
    return Started(process, ours, tier, folder, guarded=True, user=spec["user"] if spec["apart"] else 0)


def _spec(tier: Tier, built: Path, scratch: Path, hide: Path, fork: bool, packages: Sequence[str]) -> dict[str, Any]:
    """Return what a worker has to know of its tier before it can be told anything."""
    user = users.draw() if users.can_change() else 0
    apart = user not in (0, NOBODY)
    spec: dict[str, Any] = {"user": user, "apart": apart, "try_apart": not user, "landlock": None, "must": False}
    spec["guard"] = str(scratch) if fork else ""
    if tier == "bubblewrap":
        inside = landlock.within_namespaces(bubblewrap.SCRATCH)
        spec |= {"apart": apart or (not user and kernel.counts_by_name_space()), "try_apart": False}
        return {**spec, "path": [bubblewrap.BUNDLE], "reach": [], "guard": bubblewrap.SCRATCH, "landlock": inside}
    if tier == "landlock":
        spec |= {"landlock": landlock.plan(built, scratch, hide, packages), "must": True}
    reach = bundle.closed_folders(packages) if user else []
    return {**spec, "path": [str(built), *bundle.package_parents(packages)], "reach": reach}


def _hand_over(scratch: Path, user: int) -> None:
    """Give the scratch folder to the run's own user alone, or to everyone where it has none."""
    if user:
        os.chown(scratch, user, user)
    scratch.chmod(0o700 if user else 0o777)


def _command(spec: dict[str, Any], built: str) -> list[str]:
    return [*children.bare(), f"{built}/grader/worker/main.py", json.dumps(spec)]


def _started_over_tcp(
    spec: dict[str, Any], built: Path, scratch: Path, folder: tempfile.TemporaryDirectory[str]
) -> Started:
    with socket.create_server(("127.0.0.1", 0), backlog=BACKLOG) as listener:
        token = os.urandom(TOKEN_BYTES)
        spec |= {"port": listener.getsockname()[1]}
        process = _spawn(_command(spec, str(built)), scratch, (), token)
        return Started(process, accepted(listener, token, process), "process", folder)


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
