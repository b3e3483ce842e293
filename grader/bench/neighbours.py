"""Whether correct solutions pass while other submissions on the same machine hold all the processes that they may."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from grader.course.answers import hidden_folder
from grader.course.manifest import find_course_root, load_course
from grader.isolation import tiers
from grader.remote.exceptions import WorkerFailed
from grader.remote.module import RemoteModule
from grader.remote.processes.loading import Job
from grader.remote.processes.process import LearnerProcess

HOLD_SECONDS = 90  # then each process of a bomb ends by itself, whatever becomes of this one
COMMAND = "import sys; from grader.cli import main; sys.exit(main())"
MOST = 60  # processes of one bomb
BOMB = b"""
import os
import signal
import time

SECONDS, MOST = %d, %d


def filled():
    made = []
    try:
        while len(made) < MOST:
            made.append(os.fork())
            if made[-1] == 0:
                time.sleep(6)
                os._exit(0)
    except OSError:
        pass
    return made


def hold(ready):
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        made = filled()
        ready(len(made))
        time.sleep(5)
        for process in made:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        time.sleep(1)
"""


@dataclass(frozen=True)
class Beside:
    """What became of correct solutions beside bombs: how many passed, the rest's rows, and what the bombs held."""

    isolation: str
    honest: int
    passed: int
    held: tuple[int, ...]
    seconds: float
    others: tuple[str, ...]


def beside(tier: tiers.Tier, honest: int, bombs: int, at_once: int, stage: str = "s15") -> Beside:
    """Grade a stage's reference some times, a few at once, while bombs in the same tier hold their processes."""
    started = time.monotonic()
    course = load_course(find_course_root(Path(__file__)))
    solution = hidden_folder(next(each for each in course.stages if each.id == stage)) / "solution.py"
    arguments = ["check", stage, "--submission", str(solution), "--isolation", tier, "--json"]

    def grade(_: int) -> str:
        done = subprocess.run(
            [sys.executable, "-c", COMMAND, *arguments],
            cwd=course.root, capture_output=True, text=True, timeout=HOLD_SECONDS, check=False,
        )  # fmt: skip
        return _told(done.stdout, done.stderr)

    with ExitStack() as stack, ThreadPoolExecutor(at_once) as pool:
        held = tuple([stack.enter_context(_bomb(tier)) for _ in range(bombs)])
        told = list(pool.map(grade, range(honest)))
    failed = tuple(each for each in told if each != "passed")
    return Beside(tier, honest, len(told) - len(failed), held, time.monotonic() - started, failed)


def _told(out: str, err: str) -> str:
    """Return `passed`, or the rows that did not and why."""
    with suppress(ValueError):
        document = json.loads(out)
        if document["passed"]:
            return "passed"
        rows = [
            (row["id"], row["status"], row["failures"]) for row in document["criteria"] if row["status"] != "passed"
        ]
        return json.dumps([document["problem"], rows])[:1000]
    return err[-1000:] or "nothing was said"


@contextmanager
def _bomb(tier: tiers.Tier) -> Iterator[int]:
    """Start a submission that takes all the processes it may, again and again; give how many it had at first."""
    with tempfile.TemporaryDirectory() as hide:
        job = Job("bomb.py", BOMB % (HOLD_SECONDS, MOST), HOLD_SECONDS, HOLD_SECONDS, 512, Path(hide))
        process = LearnerProcess(job, tier, tiers.Own(tier, Path(hide)))
        made: list[int] = []
        ready = threading.Event()
        try:
            process.load()
            connection = process.open(time.monotonic() + HOLD_SECONDS)
            module = RemoteModule(connection, "bomb.py")
            calling = threading.Thread(target=_hold, args=(module, made, ready), daemon=True)
            calling.start()
            ready.wait(HOLD_SECONDS)
            yield made[0] if made else 0
        finally:
            process.kill()
        calling.join(HOLD_SECONDS)
        connection.channel.close()


def _hold(module: RemoteModule, made: list[int], ready: threading.Event) -> None:
    def told(number: int) -> None:
        made.append(number)
        ready.set()

    with suppress(WorkerFailed):
        module.hold(told)
    ready.set()


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what became of the honest runs in each tier as JSON; exit 1 where one did not pass."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--honest", type=int, default=20)
    parser.add_argument("--bombs", type=int, default=2)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--tier", choices=tiers.TIERS, action="append")
    given = parser.parse_args(arguments)
    found = [
        beside(tier, given.honest, given.bombs, given.at_once)
        for tier in given.tier or tiers.TIERS
        if tiers.why_missing(tier) is None
    ]
    sys.stdout.write(json.dumps([asdict(each) for each in found], indent=2) + "\n")
    raise SystemExit(any(each.passed < each.honest for each in found))


if __name__ == "__main__":
    main()
