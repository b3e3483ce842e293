"""How long one small remote call takes, and how fast a large array goes to a learner's process and comes back."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from grader.isolation import tiers
from grader.remote.limits import UsageLimits
from grader.remote.module import RemoteModule
from grader.remote.processes.loading import Job
from grader.remote.processes.process import LearnerProcess

CALL_GOAL = 100e-6  # seconds
RATE_GOAL = 0.5e9  # bytes a second
ARRAY_BYTES = 64 << 20
MODULE = b"""
import numpy as np
large = np.ones(%d)

def double(x):
    return 2 * x

def size(x):
    return x.size

def give():
    return large

def same(x):
    return x
"""


@dataclass(frozen=True)
class Speed:
    """Medians: seconds of a small call and of a new test's process, bytes a second of one array each way."""

    isolation: str
    call_s: float
    open_s: float
    send_bytes_s: float
    receive_bytes_s: float
    call_goal_s: float = CALL_GOAL
    rate_goal_bytes_s: float = RATE_GOAL

    @property
    def met(self) -> bool:
        return self.call_s <= CALL_GOAL and min(self.send_bytes_s, self.receive_bytes_s) >= RATE_GOAL


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a table or JSON, and return 0 where both goals are met."""
    parser = argparse.ArgumentParser(prog="python -m grader.bench.wire", description=__doc__)
    parser.add_argument("--runs", type=int, default=7, help="repetitions of each measurement (7)")
    parser.add_argument("--calls", type=int, default=1000, help="small calls in a repetition (1000)")
    parser.add_argument("--isolation", default="auto")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    found = measure(tiers.choose(options.isolation)[0], options.runs, options.calls)
    print(json.dumps(asdict(found)) if options.json else table(found))
    return 0 if found.met else 1


def measure(tier: tiers.Tier, runs: int, calls: int) -> Speed:
    """Start one learner's process in a tier and time what tests do with it."""
    with tempfile.TemporaryDirectory() as hide:
        job = Job("bench.py", MODULE % (ARRAY_BYTES // 8), 60, 600, 1024, Path(hide))
        process = LearnerProcess(job, tier, tiers.Own(tier, job.hide))
        try:
            process.load()
            return _speed(process, runs, calls)
        finally:
            process.kill()


def _speed(process: LearnerProcess, runs: int, calls: int) -> Speed:
    connection = process.open(time.monotonic() + 600)
    connection.limits = UsageLimits(600, requests=1 << 40, received=1 << 60)  # a test gets by with less
    remote: Any = RemoteModule(connection, "bench.py")
    small, large = np.arange(4.0).reshape(2, 2), np.ones(ARRAY_BYTES // 8)

    def many() -> None:
        for _ in range(calls):
            remote.double(small)
        connection.records.clear()  # a test makes tens of calls, not thousands

    call = _median(many, runs) / calls
    send, receive = _median(lambda: remote.size(large), runs), _median(remote.give, runs)
    process.done(connection)
    return Speed(process.tier, call, _median(lambda: _open(process), runs), ARRAY_BYTES / send, ARRAY_BYTES / receive)


def _open(process: LearnerProcess) -> None:
    connection = process.open(time.monotonic() + 60)
    remote: Any = RemoteModule(connection, "bench.py")
    remote.double(1.0)
    process.done(connection)


def _median(action: Callable[[], object], runs: int) -> float:
    action()
    seconds = []
    for _ in range(runs):
        started = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def table(found: Speed) -> str:
    """Return the figures as a few lines of text."""
    goal = f"goal: at least {RATE_GOAL / 1e9:.1f} GB/s"
    return (
        f"isolation {found.isolation}, medians\n"
        f"  one small call           {found.call_s * 1e6:8.0f} µs      goal: at most {CALL_GOAL * 1e6:.0f} µs\n"
        f"  a new test's first call  {found.open_s * 1e3:8.2f} ms\n"
        f"  64 MB to the learner     {found.send_bytes_s / 1e9:8.2f} GB/s    {goal}\n"
        f"  64 MB from the learner   {found.receive_bytes_s / 1e9:8.2f} GB/s    {goal}"
    )


if __name__ == "__main__":
    sys.exit(main())
