"""Nothing of a test stays: its processes, its files, and what holds them end with it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from grader.isolation import tiers
from tests.conftest import Learner
from tests.sandbox.hostile.breaking import HANG_SECONDS, SOURCE, failure
from tests.support.places import ROOT


def alive(process: int) -> bool:
    """Say whether a process runs; one that has ended and waits to be collected does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def below(process: int) -> set[int]:
    """Return the processes that stem from one, as far as their parents still run."""
    found = {process}
    while True:
        parents = {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
        more = {child for child, parent in parents.items() if parent in found} - found
        if not more:
            return found
        found |= more


def in_name_space_of(process: int) -> set[int]:
    """Return the processes in the namespace of one; none where it is this process' own."""
    spaces = {}
    for path in Path("/proc").glob("[0-9]*/ns/pid"):
        with suppress(OSError):
            spaces[int(path.parts[2])] = os.readlink(path)
    own = spaces.get(process)
    return set() if own == spaces[os.getpid()] else {each for each, space in spaces.items() if space == own}


def gone(processes: set[int], seconds: float = 30) -> bool:
    end = time.monotonic() + seconds
    while any(map(alive, processes)) and time.monotonic() < end:
        time.sleep(0.02)
    return not any(map(alive, processes))


def grown(process: int, number: int, seconds: float = 30) -> set[int]:
    """Return the processes that stem from one, once there are so many."""
    end = time.monotonic() + seconds
    while len(found := below(process)) < number and time.monotonic() < end:
        time.sleep(0.02)
    assert len(found) >= number, found
    return found


needs_proc = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are counted in /proc")


@needs_proc
class TestNothingIsLeft:
    def test_after_a_test(self, worker: Callable[..., Learner]) -> None:
        learner = worker(SOURCE)
        root = learner.started.process.pid
        loaded = below(root)
        remote: Any = learner.open()
        remote.fine(1)
        before = grown(root, len(loaded) + 1)
        remote.leave_a_child()
        left = below(root) - before
        assert left
        learner.done()
        assert gone(left)

    def test_after_the_run(self, worker: Callable[..., Learner]) -> None:
        learner = worker(SOURCE)
        remote: Any = learner.open()
        remote.leave_a_child()
        remote.threads()
        running = below(learner.started.process.pid)
        folder = learner.started.folder
        scratch = None if folder is None else Path(folder.name)  # in bubblewrap it is in the memory of a namespace
        assert len(running) >= 3 and (scratch is None or scratch.exists())
        learner.process.kill()
        assert gone(running) and (scratch is None or not scratch.exists())

    def test_of_a_daemon(self, worker: Callable[..., Learner], tier: tiers.Tier) -> None:
        learner = worker(SOURCE)
        remote: Any = learner.open()
        remote.leave_a_daemon()
        running = below(learner.started.process.pid)
        learner.done()
        learner.process.kill()
        assert gone(running)

    def test_of_what_stopped_itself_or_is_deaf(self, worker: Callable[..., Learner]) -> None:
        learner = worker(SOURCE)
        remote: Any = learner.open()
        remote.stop_everything_that_is_left()
        running = below(learner.started.process.pid)
        assert len(running) >= 6  # supervisor, worker, two tests, and the two
        learner.process.kill()
        assert gone(running)

    @pytest.mark.full_matrix
    def test_of_a_bomb(self, worker: Callable[..., Learner], tier: tiers.Tier) -> None:
        learner = worker(SOURCE, call_seconds=HANG_SECONDS)
        root = learner.started.process.pid
        failure(learner, lambda remote: remote.fork_for_ever(), HANG_SECONDS)
        together = in_name_space_of(root)
        learner.process.kill()
        assert not below(root) - {root} and not any(map(alive, together))

    def test_when_the_grader_is_killed(self, tier: tiers.Tier, tmp_path: Path) -> None:
        code = textwrap.dedent(f"""
            import time
            from pathlib import Path
            from grader.isolation import tiers
            from grader.sandbox.process import Job
            from grader.sandbox.process import LearnerProcess
            process = LearnerProcess(
                Job("x.py", b"import time\\ndef f():\\n    while True: pass", 60, 60, 512, Path({str(tmp_path)!r})),
                {tier!r}, tiers.LocalWorkerFactory({tier!r}, Path({str(tmp_path)!r})),
            )
            process.load()
            from grader.sandbox.connection import RemoteModule
            connection = process.open(time.monotonic() + 60)
            print(process._started.process.pid, process._started.zygote.process.pid, flush=True)
            RemoteModule(connection, "x.py").f()
        """)
        grader = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert grader.stdout is not None
        running = set().union(*(below(int(each)) for each in grader.stdout.readline().split()))
        time.sleep(0.2)
        running |= {other for each in running for other in below(each)}
        grader.kill()
        grader.wait()
        grader.stdout.close()
        assert len(running) >= 3 and gone(running)

    def test_many_tests_in_one_run(self, worker: Callable[..., Learner], is_full: bool) -> None:
        """The end of each test is told by the worker, and nobody has to read it for the next to begin."""
        learner = worker(SOURCE)
        for _ in range(300 if is_full else 60):
            learner.open()
        remote: Any = learner.open()
        assert remote.fine(1) == 2
        assert len(below(learner.started.process.pid)) <= 7
