"""Workers from the nursery are what workers are: processes of their own, confined, that draw for themselves."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from grader.isolation import tiers
from grader.remote.module import RemoteModule
from grader.remote.processes.loading import Job
from grader.remote.processes.process import LearnerProcess
from grader.tests.pace import nursery
from grader.tests.support.places import HOUSE, ROOT

SOURCE = b"""
import os
import numpy as np


def draw():
    return float(np.random.rand())


def own():
    return os.getpid()


def read(path):
    return open(path).read()


def leave():
    os._exit(3)
"""
pytestmark = pytest.mark.skipif(not tiers.FORKS, reason="workers are forks")


@pytest.fixture(autouse=True)
def from_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have workers come from the nursery, in the full matrix as well."""
    monkeypatch.setattr(tiers, "start", nursery.start)


@contextmanager
def learner(folder: Path) -> Iterator[tuple[LearnerProcess, RemoteModule]]:
    """Load the module in a worker that was asked for as usual."""
    job = Job("small.py", SOURCE, 10, 60, 512, folder)
    process = LearnerProcess(job, "process", tiers.Own("process", folder))
    try:
        process.load()
        connection = process.open(time.monotonic() + 60)
        yield process, RemoteModule(connection, job.label)
        process.done(connection)
    finally:
        process.kill()


def test_each_is_a_process_of_its_own_that_draws_for_itself(tmp_path: Path) -> None:
    found = []
    for _ in range(2):
        with learner(tmp_path) as (_, module):
            found.append((module.own(), module.draw()))
    assert len({*found, (os.getpid(), None)}) == 3 and found[0][1] != found[1][1]


def test_it_is_confined(tmp_path: Path) -> None:
    if tiers.why_missing("landlock"):
        pytest.skip("the kernel has no Landlock")
    with learner(tmp_path) as (process, module):
        assert any(guard.startswith("Landlock") for guard in process.guards)
        with pytest.raises(PermissionError):
            module.read(str(ROOT / "pyproject.toml"))


def test_its_end_is_known_and_leaves_nothing(tmp_path: Path) -> None:
    started = nursery.start("process", tmp_path)
    folder = Path(started.folder.name)
    assert started.running() and folder.is_dir()
    started.kill()
    assert not started.running() and not folder.exists()


def test_one_that_leaves_costs_its_own_test(tmp_path: Path) -> None:
    with learner(tmp_path) as (_, module), pytest.raises(BaseException, match="ended without an answer"):
        module.leave()
    with learner(tmp_path) as (_, module):
        assert module.draw() < 1


def test_tests_of_workers_get_real_ones_and_so_do_all_in_the_full_matrix() -> None:
    about = {"report/test_a.py": False, "judging/test_a.py": False, "test_a.py": False, "isolation/test_a.py": True}
    try:
        for name, is_real in (*about.items(), ("judging/processes/test_a.py", True)):
            nursery.settle(HOUSE / "tests" / name, False)
            assert (tiers.start is nursery.really_start) == is_real, name
            nursery.settle(HOUSE / "tests" / name, True)
            assert tiers.start is nursery.really_start
    finally:
        nursery.settle(Path(__file__), False)


def test_it_takes_its_folder_along(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = nursery.Nursery()
    assert list(tmp_path.iterdir())
    made.close()
    assert not list(tmp_path.iterdir())
