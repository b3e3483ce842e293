"""What takes long to make and stays as it is: made once for all workers of a run."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from filelock import FileLock

from tests.support.places import TESTS


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder of that name that make has filled: here or, at the same time, in another worker of this run.

    Nothing may be written to it afterwards. Where make fails, the next who asks tries again.
    """
    base = factory.getbasetemp()
    shared = (base.parent if base.name.startswith("popen-") else base) / f"shared-{name}"
    done = shared.with_name(f"{shared.name}.done")
    with FileLock(shared.with_name(f"{shared.name}.lock")):
        if not done.exists():
            shutil.rmtree(shared, ignore_errors=True)  # what one that failed has left
            shared.mkdir()
            make(shared)
            done.touch()
    return shared


COMPILED = TESTS / "worker" / "__pycache__"  # is there when all that tests import has been compiled, or nearly all


@contextmanager
def compiled_once(lock: Path, compiled: Path = COMPILED) -> Iterator[None]:
    """Collect tests in the block: in a fresh clone, where nothing is compiled, after the worker that does so first."""
    with FileLock(lock) as held:
        if compiled.exists():
            held.release()
        yield
