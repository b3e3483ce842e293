"""Workers for tests that are about something else: forks of one interpreter that has NumPy loaded.

A worker's start takes longer than most of what is graded in these tests. Each still is a process of its own, confined
as in the tier landlock where that works, whatever tier was asked for. Tests of what isolates get real ones, and with
--all-tiers all do.
"""

from __future__ import annotations

import functools
import json
import os
import select
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from grader import children
from grader.isolation import bundle, tiers, users
from grader.isolation.started import Started
from grader.isolation.tier import Place, find
from grader.tests.pace import zygote
from grader.tests.support.places import HOUSE

# rooms whose tests get real workers
REAL = ("attacked", "doctor", "isolation", "judging/processes", "protocol", "remote", "worker")
BUT_FOR = (  # about what is asked and marked, whoever answers
    "remote/transcripts",
    "judging/processes/test_second.py",
    "judging/processes/test_two_judges.py",
)
really_start = tiers.start


@dataclass
class Born:
    """A worker that the nursery forked; it is waited for as a subprocess is."""

    pid: int
    told: socket.socket
    returncode: int | None = field(default=None, init=False)

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            ready = select.select([self.told], [], [], timeout)[0]
            if not ready:
                raise subprocess.TimeoutExpired("worker", timeout or 0.0)
            data = self.told.recv(zygote.TOLD.size)
            self.returncode = zygote.TOLD.unpack(data)[0] if data else -9
            self.told.close()
        return self.returncode

    def kill(self) -> None:
        with suppress(OSError):
            os.kill(self.pid, 9)


class Nursery:
    """One interpreter for all workers of this process and its forks."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="grader-", ignore_cleanup_errors=True)
        self.built = bundle.build_bundle(Path(self._folder.name))
        self.built.parent.chmod(0o755)
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        folders = [str(self.built), *bundle.package_parents(("numpy",))]
        command = [*children.bare(), f"{self.built}/grader/zygote.py", str(theirs.fileno()), *folders]
        (self.built / "grader" / "zygote.py").write_bytes(Path(zygote.__file__).read_bytes())
        with theirs:
            self._process = subprocess.Popen(
                command, env=bundle.ENVIRONMENT, pass_fds=(theirs.fileno(),), start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip

    def start(self, hide: Path, packages: Sequence[str]) -> Started:
        """Return a new worker, confined as in the strongest tier that needs no program of its own."""
        tier = find("landlock" if _has_landlock() else "process")
        folder = tempfile.TemporaryDirectory(prefix="grader-", ignore_cleanup_errors=True)
        scratch = Path(folder.name) / "scratch"
        scratch.mkdir()
        scratch.parent.chmod(0o755)
        place = Place(self.built, hide, packages)
        confined = tier.confine(place, scratch, users.draw() if users.can_change() else 0)
        spec: dict[str, Any] = {**confined, "path": tier.path(place)}
        user = spec["user"] if spec["apart"] else 0
        tiers._hand_over(scratch, user)
        ours, theirs = socket.socketpair()
        told, tells = socket.socketpair()
        with theirs, tells:
            data = json.dumps({**spec, "folder": str(scratch)}).encode()
            socket.send_fds(self._requests, [data], [theirs.fileno(), tells.fileno()])
        pid = zygote.TOLD.unpack(told.recv(zygote.TOLD.size))[0]
        born = cast("subprocess.Popen[bytes]", Born(pid, told))
        return Started(born, ours, tier, folder, guarded=True, user=user)

    def close(self) -> None:
        """End the interpreter; workers that still run end with their own connections."""
        self._requests.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self._folder.cleanup()


def settle(test: Path, is_full: bool) -> None:
    """Have the workers of a test come from where it needs them from."""
    is_one, but_for = (any(test.is_relative_to(HOUSE / "tests" / room) for room in rooms) for rooms in (REAL, BUT_FOR))
    is_real = is_full or not tiers.FORKS or (is_one and not but_for)
    setattr(tiers, "start", really_start if is_real else start)  # noqa: B010  # a function of a module is no variable


@functools.cache
def _has_landlock() -> bool:
    return tiers.why_missing("landlock") is None


@functools.cache
def nursery() -> Nursery:
    """Return this process' own; it is made where the first worker is asked for."""
    return Nursery()


def close() -> None:
    """End this process' own, where there is one."""
    if nursery.cache_info().currsize:
        nursery().close()
        nursery.cache_clear()


def start(tier: tiers.Tier, hide: Path, fork: bool = tiers.FORKS, packages: Sequence[str] = ()) -> Started:
    """Start a worker as `tiers.start` does, and sooner."""
    if not fork or {*packages} - {"numpy"}:
        return really_start(tier, hide, fork, packages)
    bundle.expect_apart(packages, hide)
    return nursery().start(hide, packages)
