"""The grader's end of a zygote: a clean process in a tier that forks a worker for each submission.

All who start workers with the same packages and view of the files share one. It ends when nobody refers to it any more.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.errors import IsolationRefused
from grader.isolation import bundle, users
from grader.isolation.bundle import OwnFolder
from grader.isolation.tier import Place, Tier
from grader.worker.main import LENGTH
from grader.worker.supervisor import ENDED, REFUSED, below
from grader.worker.zygote import ABLE, END, FORK, TEXT_BYTES

PROBED = "/tmp"  # where a probe mounts what a fork mounts on its scratch folder
PROBE_SECONDS = 20.0
BEGIN_SECONDS = 20.0
END_SECONDS = 5.0
KILLED = -9
Spawn = Callable[[list[str], Path, tuple[int, ...]], "subprocess.Popen[bytes]"]
_lock = threading.Lock()
_shared: weakref.WeakValueDictionary[tuple[object, ...], Zygote] = weakref.WeakValueDictionary()
_unable: dict[str, str | None] = {}  # by tier: why forks cannot be kept apart here; None where they can


@dataclass
class Fork:
    """A worker that a zygote forked: its supervisor's number, and how that ended."""

    reports: socket.socket
    returncode: int | None = field(default=None, init=False)
    _process: int | None = field(default=None, init=False)  # the descriptor of the supervisor, once it has begun

    def begin(self, seconds: float | None) -> bool:
        """Say whether the supervisor has begun, after that time; IsolationRefused where it cannot."""
        if self._process is None and self.returncode is None:
            if not select.select([self.reports], [], [], seconds)[0]:
                return False
            data, descriptors, _, _ = socket.recv_fds(self.reports, TEXT_BYTES, 1)
            if data[:1] == REFUSED:
                raise IsolationRefused(f"no worker can be forked: {data[1:].decode(errors='replace')}")
            if descriptors:
                self._process = descriptors[0]
            else:
                self.returncode = KILLED
                self.reports.close()
        return self._process is not None

    @property
    def pid(self) -> int:
        """The supervisor's number; 0 where it is not known."""
        with suppress(OSError, ValueError):
            if self.begin(BEGIN_SECONDS):
                lines = Path(f"/proc/self/fdinfo/{self._process}").read_text().splitlines()
                return max(0, int(next(line for line in lines if line.startswith("Pid:")).split()[1]))
        return 0

    def poll(self) -> int | None:
        """Return the exit code; None where it runs."""
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait until all that began with the worker has ended, and return the supervisor's exit code."""
        until = None if timeout is None else time.monotonic() + timeout
        if self.returncode is None and not self.begin(timeout) and self.returncode is None:
            raise subprocess.TimeoutExpired("worker", timeout or 0.0)
        if self.returncode is None:
            left = None if until is None else max(0.0, until - time.monotonic())
            if not select.select([self._process or 0], [], [], left)[0]:
                raise subprocess.TimeoutExpired("worker", timeout or 0.0)
            self.returncode = self._told()
            os.close(self._process or 0)
        return self.returncode

    def _told(self) -> int:
        self.reports.setblocking(False)
        with suppress(OSError, struct.error), self.reports:
            (code,) = ENDED.unpack(self.reports.recv(ENDED.size))
            return int(code)
        return KILLED

    def kill(self) -> None:
        """Kill the supervisor, and with it a namespace that it is the first process of."""
        with suppress(OSError, IsolationRefused):
            if self.returncode is None and self.begin(BEGIN_SECONDS) and self._process is not None:
                signal.pidfd_send_signal(self._process, signal.SIGKILL)


class Zygote:
    """A clean process, as long as somebody refers to it: who starts workers, or a worker that it forked."""

    def __init__(self, tier: Tier, place: Place, spawn: Spawn, folder: OwnFolder) -> None:
        self.place = place
        self.has_forked = False
        self._tier = tier
        self._owner = os.getpid()
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._is_probed = tier.name_spaces and tier.name not in _unable
        given = {
            "forks": True, "fd": theirs.fileno(), "path": tier.path(place), "and_user": not users.can_change(),
            "probed": PROBED if self._is_probed else None,
        }  # fmt: skip
        with theirs:
            try:
                self.process = spawn(tier.command(place, given, forks=True), Path(folder.name), (theirs.fileno(),))
            except OSError:
                self._channel.close()
                raise
        weakref.finalize(self, _end, self._channel, self.process, folder, self._owner)

    def why_unable(self) -> str | None:
        """Return why its forks cannot be kept apart as the tier promises; None where they can. Found out once."""
        if self._is_probed:
            self._is_probed = False
            self._channel.settimeout(PROBE_SECONDS)
            try:
                told = self._channel.recv(TEXT_BYTES)
            except OSError as error:
                told = str(error).encode()
            self._channel.settimeout(None)
            _unable[self._tier.name] = None if told == ABLE else told.decode(errors="replace") or "it ended"
        return _unable.get(self._tier.name)

    def is_own(self) -> bool:
        """Say whether this process started it, and is no fork of the one that did."""
        return os.getpid() == self._owner

    def abandon(self) -> None:
        """Kill the process, which is gone or does not answer; the next who asks for a worker gets another."""
        with _lock:
            for key in [key for key, each in _shared.items() if each is self]:
                del _shared[key]
        if self.is_own():
            for each in below(self.process.pid):
                with suppress(OSError):
                    os.kill(each, signal.SIGKILL)
            self.process.kill()

    def running(self) -> bool:
        """Say whether the process has its end of the channel, and its modules are still in the temporary folder."""
        poll = select.poll()
        poll.register(self._channel, 0)
        return not poll.poll(0) and (self.place.bundle / "grader/worker/main.py").exists()

    def fork(self, spec: dict[str, Any]) -> tuple[Fork, socket.socket]:
        """Return a new worker, which has its settings, and the connection to it; OSError where the zygote is gone."""
        connection, theirs = socket.socketpair()
        reports, tells = socket.socketpair()
        try:
            with theirs, tells:
                socket.send_fds(self._channel, [FORK], [theirs.fileno(), tells.fileno()])
            connection.sendall(framed(spec))
            forked = Fork(reports)
            if self.has_forked and not forked.begin(BEGIN_SECONDS):  # the first waits for NumPy, beside its caller
                raise OSError("the process that forks workers ended")
        except BaseException:
            connection.close()
            reports.close()
            raise
        self.has_forked = True
        return forked, connection


def _end(channel: socket.socket, process: subprocess.Popen[bytes], folder: OwnFolder, owner: int) -> None:
    """End a zygote, which waits for its forks, and remove its modules; in a fork of the grader, leave both."""
    with channel:
        if os.getpid() != owner:
            return
        with suppress(OSError):
            channel.send(END)
    with suppress(subprocess.TimeoutExpired):
        process.wait(END_SECONDS)
    process.kill()
    process.wait()
    folder.cleanup()


def shared(tier: Tier, hide: Path, packages: Sequence[str], spawn: Spawn) -> Zygote | None:
    """Return the zygote for a tier and packages; None where each worker needs a start of its own."""
    if not (tier.shares_start and is_possible()) or _unable.get(tier.name) is not None:
        return None
    key = (tier.name, tier.covered(hide), tuple(packages))
    with _lock:
        found = _shared.get(key)
        if found is None or not (found.is_own() and found.running()):
            found = _shared[key] = _started(tier, hide, packages, spawn)
    return found


def _started(tier: Tier, hide: Path, packages: Sequence[str], spawn: Spawn) -> Zygote:
    folder = OwnFolder()
    try:
        Path(folder.name).chmod(0o755)
        return Zygote(tier, Place(bundle.build_bundle(Path(folder.name)), hide, packages), spawn, folder)
    except BaseException:
        folder.cleanup()
        raise


def why_alone(tier: Tier) -> str | None:
    """Return why each submission gets a start of its own in a tier here, if that has been found out."""
    return _unable.get(tier.name)


def is_possible() -> bool:
    """Say whether the kernel hands out descriptors of processes, by which forks of another process are waited for."""
    if sys.platform != "linux":
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:
        return False
    return True


def framed(spec: dict[str, Any]) -> bytes:
    """Return a worker's settings as it reads them."""
    data = json.dumps(spec).encode()
    return LENGTH.pack(len(data)) + data
