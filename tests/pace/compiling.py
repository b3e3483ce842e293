"""Each worker compiles a share of the modules before it collects: in a fresh clone each would compile all of them."""

from __future__ import annotations

import importlib.util
import py_compile
from contextlib import suppress
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

from tests.support.places import HOUSE, TESTS


def compile_share(config: pytest.Config, worker: str, workers: int) -> None:
    """Compile what falls to a worker of that name, 'gw0' being the first; what is compiled already stays."""
    place = int(worker.removeprefix("gw")) % workers
    for path in sorted([*HOUSE.rglob("*.py"), *TESTS.rglob("*.py")])[place::workers]:
        if path.is_relative_to(TESTS):
            rewritten(path, config)
        elif not compiled(path).exists():
            with suppress(OSError):  # where nothing can be written, each worker compiles for itself
                py_compile.compile(str(path), quiet=2)  # one that cannot be compiled is told of where it is imported


def compiled(path: Path) -> Path:
    return Path(importlib.util.cache_from_source(str(path)))


def rewritten(path: Path, config: pytest.Config) -> None:
    """Leave a module of tests as pytest would, once it is asked for: with assertions that tell their values."""
    kept = rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}"
    if kept.exists() or not rewrite.try_makedirs(kept.parent):
        return
    try:
        source_hash, code = rewrite._rewrite_test(path, config)
    except SyntaxError:  # it is told of where the module is collected
        return
    rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source_hash, kept)
