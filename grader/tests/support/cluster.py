"""A Dask cluster of one worker on loopback, as its own commands start it."""

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


@contextmanager
def cluster(folder: Path, threads: int | None = None) -> Iterator[str]:
    """Start a scheduler and a worker in a folder, which gets their logs, and give the address."""
    folder.mkdir(parents=True, exist_ok=True)
    note = folder / f"scheduler-{os.getpid()}.json"
    common = ("--scheduler-file", str(note), "--no-dashboard", "--host", "127.0.0.1")
    most = str(threads or os.cpu_count() or 1)
    with ExitStack() as stack:
        stack.enter_context(_dask(folder, "scheduler", *common, "--port", "0"))
        _wait(note)
        stack.enter_context(_dask(folder, "worker", *common, "--nworkers", "1", "--nthreads", most))
        address = str(json.loads(note.read_text(encoding="utf-8"))["address"])
        import distributed

        connect: Any = distributed.Client  # it has no types
        with connect(address) as client:
            client.wait_for_workers(1, timeout=START_SECONDS)
        yield address


@contextmanager
def _dask(folder: Path, role: str, *options: str) -> Iterator[None]:
    with (folder / f"{role}.log").open("ab") as log:
        process = subprocess.Popen([sys.executable, "-m", "dask", role, *options], cwd=folder, stdout=log, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            process.wait()


def _wait(note: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while not note.is_file():
        if time.monotonic() > end:
            raise RuntimeError(f"no scheduler started within {START_SECONDS:g} s; {note.parent} has its log")
        time.sleep(0.1)
