"""Processor time of a command and everything that it starts, from Linux's `perf stat -e task-clock`.

`resource.getrusage` misses processes that a killed PID namespace had: a third of a sandboxed check. perf counts them.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

from grader.errors import GraderError

EVENT = "task-clock"  # milliseconds of processor time, in user and kernel mode
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
END_S = 30.0
LEFT_OUT = ("PYTHONDONTWRITEBYTECODE", "PYTEST_ADDOPTS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")


Measured = TypeVar("Measured")


class BenchmarkError(GraderError):
    """A benchmark cannot be run, or what it runs does not do what it is measured for."""


@dataclass(frozen=True)
class Run:
    """One run of a command: its processor time and elapsed time in seconds, exit code and standard output."""

    cpu_s: float
    elapsed_s: float
    exit_code: int
    output: str


def environment() -> dict[str, str]:
    """Return the environment without what changes how fast pytest and imports are; perf then writes decimal points."""
    kept = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
    return {**kept, "LC_ALL": "C.UTF-8"}


def run(
    command: Sequence[str], folder: Path, *, expected: Sequence[int] | None = (0,), most_s: float | None = None
) -> Run:
    """Run a command in a folder and return what it used.

    Args:
        expected: exit codes that are right; None accepts all.
        most_s: elapsed seconds after which `timeout` ends the command's process group.

    Raises:
        BenchmarkError: perf is missing or may not count, or the command ends with another exit code.
    """
    limit = ["timeout", "--kill-after=5", f"{most_s:g}"] if most_s is not None else []
    with tempfile.TemporaryDirectory(prefix="grader-benchmark-") as name:
        counts = Path(name) / "counts"
        started = time.perf_counter()
        done = subprocess.run(
            [*_perf(counts), "--", *limit, *command],
            cwd=folder, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            check=False,
        )  # fmt: skip
        elapsed = time.perf_counter() - started
        if expected is not None and done.returncode not in expected:
            ends = f"{' '.join(command)[:300]} ended with {done.returncode}, expected {expected}"
            raise BenchmarkError(f"{ends}:\n{(done.stdout + done.stderr)[-2000:]}")
        return Run(_seconds(counts), elapsed, done.returncode, done.stdout)


class Counted:
    """A running command whose processor time is counted only within `counting`; its output is read line by line."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process = process
        self._counts = folder / "counts"
        self._control = os.open(folder / "control", os.O_RDWR)
        self._reply = os.open(folder / "reply", os.O_RDWR)

    @property
    def lines(self) -> IO[str]:
        """The command's standard output."""
        assert self._process.stdout is not None
        return self._process.stdout

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count the processor time of the process tree."""
        self._tell("enable")
        yield
        self._tell("disable")

    def _tell(self, word: str) -> None:
        os.write(self._control, f"{word}\n".encode())
        os.read(self._reply, 16)  # perf has done it

    def end(self, word: str) -> float:
        """Have the command end by a line that it reads, and return the seconds that were counted."""
        assert self._process.stdin is not None
        self._process.stdin.write(word)
        self._process.stdin.close()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired as error:
            raise BenchmarkError(f"the command did not end within {END_S:g} s of {word!r}") from error
        os.close(self._control)
        os.close(self._reply)
        return _seconds(self._counts)


@contextmanager
def counted(command: Sequence[str], folder: Path) -> Iterator[Counted]:
    """Start a command in a folder, counting nothing yet; it has ended when the block has."""
    with tempfile.TemporaryDirectory(prefix="grader-benchmark-") as name:
        own = Path(name)
        os.mkfifo(own / "control")
        os.mkfifo(own / "reply")
        control = ("--delay=-1", f"--control=fifo:{own / 'control'},{own / 'reply'}")
        with subprocess.Popen(
            [*_perf(own / "counts"), *control, "--", *command],
            cwd=folder, env={**environment(), "COLUMNS": "200"}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, start_new_session=True,
        ) as process:  # fmt: skip
            try:
                yield Counted(process, own)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)


def _perf(counts: Path) -> list[str]:
    """Return the start of a command that writes its counts to a file; BenchmarkError where perf is missing."""
    found = shutil.which("perf")
    if found is None:
        raise BenchmarkError(
            "perf is not installed; processor time of a whole process tree cannot be measured without it",
            "Install it: `apt-get install linux-perf` on Debian, `linux-tools-generic` on Ubuntu, `perf` elsewhere.",
        )
    return [found, "stat", "--field-separator=,", f"--output={counts}", f"--event={EVENT}"]


def _seconds(counts: Path) -> float:
    """Return the seconds in a file that perf wrote; BenchmarkError where the kernel let it count nothing."""
    text = counts.read_text(encoding="utf-8", errors="replace") if counts.is_file() else ""
    for line in text.splitlines():
        fields = line.split(",")
        if len(fields) > 2 and fields[2].startswith(EVENT):
            try:
                return float(fields[0]) / 1e3
            except ValueError:
                break  # <not counted>, <not supported>
    level = PARANOID.read_text().strip() if PARANOID.is_file() else "unknown"
    raise BenchmarkError(
        f"perf counted no processor time: {text.strip()[:300] or 'it wrote nothing'}",
        f"kernel.perf_event_paranoid is {level}; `sysctl kernel.perf_event_paranoid=2` lets every user count.",
    )


def alternated(runs: int, measures: Mapping[str, Callable[[], Measured]]) -> dict[str, list[Measured]]:
    """Return by name what each measure gives, run in turn (A B C A B C …)."""
    found: dict[str, list[Measured]] = {name: [] for name in measures}
    for _ in range(runs):
        for name, measure in measures.items():
            found[name].append(measure())
    return found
