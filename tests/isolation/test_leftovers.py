"""What a run leaves where everybody may write goes with it; nothing of anybody else's does."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.isolation import leftovers, tiers
from tests.conftest import Learner, Start

pytestmark = pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="needs root")
USER = 0x7000_0007  # nobody's here


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that everybody may write to; on a busy machine, too, there is time enough to walk it."""
    monkeypatch.setattr(leftovers, "SECONDS", 60.0)
    path = tmp_path / "place"
    path.mkdir()
    path.chmod(0o1777)
    yield path


def made(path: Path, user: int = USER, text: str | None = "x") -> Path:
    if text is None:
        path.mkdir()
    else:
        path.write_text(text)
    os.chown(path, user, user)
    return path


def remove(place: Path, since: int = 0) -> list[str]:
    """Have what the user left removed; return what is there afterwards."""
    leftovers.remove(USER, since, (str(place),))
    return sorted(str(path.relative_to(place)) for path in place.rglob("*"))


def test_files_and_folders_of_the_user_go(place: Path) -> None:
    made(place / "file")
    made(place / "folder", text=None)
    made(place / "folder" / "inner", text=None)
    made(place / "folder" / "inner" / "file")
    assert remove(place) == []


def test_what_others_have_stays(place: Path) -> None:
    made(place / "other", user=0)
    made(place / "folder", text=None)
    made(place / "folder" / "of_another", user=0)
    made(place / "folder" / "own")
    assert remove(place) == ["folder", "folder/of_another", "other"]


def test_what_was_there_before_the_run_stays(place: Path) -> None:
    made(place / "before")
    time.sleep(0.05)
    assert remove(place, time.time_ns()) == ["before"]


def test_no_link_is_followed(place: Path, tmp_path: Path) -> None:
    outside = made(tmp_path / "outside", text=None)
    made(outside / "kept")
    for name in ("link", "link_to_file"):
        (place / name).symlink_to(outside if name == "link" else outside / "kept")
        os.lchown(place / name, USER, USER)
    (place / "link_of_root").symlink_to(outside)
    assert remove(place) == ["link_of_root"]
    assert (outside / "kept").exists()


def test_a_folder_of_others_that_everybody_may_write_to_is_searched(place: Path) -> None:
    (place / "open").mkdir()
    (place / "open").chmod(0o777)
    made(place / "open" / "file")
    assert remove(place) == ["open"]


def test_depth_costs_nothing(place: Path) -> None:
    before = os.getcwd()
    try:
        os.chdir(place)
        for _ in range(1500):
            os.mkdir("d")
            os.chown("d", USER, USER)
            os.chdir("d")
    finally:
        os.chdir(before)
    assert remove(place) == []


def test_a_walk_that_takes_too_long_ends(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(place / "file")
    monkeypatch.setattr(leftovers, "SECONDS", 0.0)
    assert remove(place) == ["file"]


LEAVES = """
import ctypes
import os


def leave(name):
    left = []
    for folder in ("/tmp", "/var/tmp", "/dev/shm"):
        if os.path.isdir(folder):
            os.mkdir(f"{folder}/{name}")
            with open(f"{folder}/{name}/file", "w") as file:
                file.write("x")
            left.append(f"{folder}/{name}")
    return left


def share():
    return ctypes.CDLL(None).shmget(0, 4096, 0o1600)
"""


@pytest.fixture
def run(start: Start) -> Iterator[Callable[[], Learner]]:
    yield lambda: start(LEAVES, "process")


class TestRun:
    def test_files_of_a_run_end_with_it(self, run: Callable[[], Learner], tmp_path: Path) -> None:
        learner = run()
        remote: Any = learner.open()
        left = [Path(each) for each in remote.leave(f"left-by-a-test-{os.getpid()}")]
        assert left and all(path.exists() for path in left)
        learner.done()
        learner.process.kill()
        assert not [path for path in left if path.exists()]

    def test_system_v_memory_of_a_run_ends_with_it(self, run: Callable[[], Learner]) -> None:
        learner = run()
        remote: Any = learner.open()
        number = remote.share()
        table = leftovers.SYSTEM_V / "shm"
        if number < 0 or not table.exists():
            pytest.skip("no System V memory here")
        user = str(learner.started.user)
        assert user in table.read_text().split()
        learner.done()
        learner.process.kill()
        assert user not in table.read_text().split()


def test_tiers_that_leave_nothing_are_not_searched(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[int] = []
    monkeypatch.setattr(leftovers, "remove", lambda user, since: called.append(user))
    for tier in tiers.TIERS:
        if tiers.why_missing(tier) is None:
            learner = start("", tier)
            learner.process.kill()
    assert len(called) == 1
