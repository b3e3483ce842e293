"""A Dask cluster on loopback, as its own commands start it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

START_SECONDS = 120.0


class Workers:
    """A scheduler of this machine, and its workers, which no nanny starts anew; a folder gets their logs."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._stack, self._folder = stack, folder
        self._note = folder / f"scheduler-{os.getpid()}.json"
        folder.mkdir(parents=True, exist_ok=True)
        self._start("scheduler", "--port", "0")
        _wait(self._note)
        self.address = str(json.loads(self._note.read_text(encoding="utf-8"))["address"])
        self.processes: list[subprocess.Popen[bytes]] = []

    def add(self, number: int, threads: int = 1) -> None:
        """Start workers, and wait until the scheduler knows them."""
        import distributed

        self.processes += [self._start("worker", "--no-nanny", "--nthreads", str(threads)) for _ in range(number)]
        alive = sum(process.poll() is None for process in self.processes)
        connect: Any = distributed.Client  # it has no types
        with connect(self.address, set_as_default=False) as client:
            client.wait_for_workers(alive, timeout=START_SECONDS)

    def kill(self, number: int) -> None:
        """Kill the first workers."""
        for process in self.processes[:number]:
            process.kill()
            process.wait(START_SECONDS)

    def _start(self, role: str, *options: str) -> subprocess.Popen[bytes]:
        common = ("--scheduler-file", str(self._note), "--no-dashboard", "--host", "127.0.0.1")
        return self._stack.enter_context(_dask(self._folder, role, *common, *options))


@contextmanager
def cluster(folder: Path, threads: int | None = None) -> Iterator[str]:
    """Start a scheduler and a worker, and give the address."""
    with ExitStack() as stack:
        workers = Workers(stack, folder)
        workers.add(1, threads or os.cpu_count() or 1)
        yield workers.address


@contextmanager
def _dask(folder: Path, role: str, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / f"{role}.log").open("ab") as log:
        process = subprocess.Popen([sys.executable, "-m", "dask", role, *options], cwd=folder, stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def _wait(note: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while not note.is_file():
        if time.monotonic() > end:
            raise RuntimeError(f"no scheduler started within {START_SECONDS:g} s; {note.parent} has its log")
        time.sleep(0.1)
