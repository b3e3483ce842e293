"""A temporary folder outlives the forks of the process that made it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader.isolation.folder import OwnFolder


def test_it_is_removed_when_it_is_forgotten() -> None:
    folder = OwnFolder()
    path = Path(folder.name)
    (path / "inner").mkdir()
    del folder
    assert not path.exists()


def test_it_is_removed_once() -> None:
    folder = OwnFolder()
    for _ in range(2):
        folder.cleanup()
    assert not Path(folder.name).exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs forks")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_that_forgets_it_leaves_it() -> None:
    folder = OwnFolder()
    path = Path(folder.name)
    child = os.fork()
    if child == 0:
        try:
            folder.cleanup()
            del folder
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert path.exists()
    folder.cleanup()
    assert not path.exists()
