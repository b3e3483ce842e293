"""Saves are noticed however an editor makes them, and where the system tells nothing."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.watching import saves
from grader.watching.board import Event, FileSaved
from tests.support.patience import SLACK

MOUNTS = (
    "/dev/sda1 / ext4 rw 0 0\nhost:/home /home nfs4 rw 0 0\ntmpfs /home/fast tmpfs rw 0 0\nx /my\\040disk 9p rw 0 0\n"
)
Begin = Callable[[], "queue.Queue[Event]"]


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "module.py"
    path.write_text("one", encoding="utf-8")
    return path


@pytest.fixture
def begin(module: Path) -> Iterator[Begin]:
    """Begin to watch the module; returns where its saves arrive."""
    begun: list[saves.Saves] = []

    def start() -> queue.Queue[Event]:
        found: queue.Queue[Event] = queue.Queue()
        begun.append(saves.Saves(found.put))
        begun[-1].watch(module)
        time.sleep(0.1)  # the first look is at the file as it is now; a save before that is not one
        return found

    yield start
    for each in begun:
        each.close()


def replaced(path: Path, text: str) -> None:
    fresh = path.with_name("fresh")
    fresh.write_text(text, encoding="utf-8")
    os.replace(fresh, path)


def test_each_way_to_save_is_noticed(module: Path, begin: Begin) -> None:
    found = begin()
    ways: list[Callable[[], object]] = [
        lambda: module.write_text("in place", encoding="utf-8"),
        lambda: replaced(module, "atomically"),
        lambda: (module.rename(module.with_name("module.py~")), module.write_text("by renaming", encoding="utf-8")),
        module.unlink,
    ]
    for way in ways:
        way()
        assert found.get(timeout=SLACK) == FileSaved(module)


def test_files_beside_the_module_are_watched_too_also_new_ones(module: Path) -> None:
    folder = module.parent / "tests"
    folder.mkdir()
    found: queue.Queue[Event] = queue.Queue()
    watching = saves.Saves(found.put)
    try:
        watching.watch(module, lambda: tuple(sorted(folder.glob("*.py"))))
        time.sleep(0.1)
        for name in ("new.py", "new.py"):
            (folder / name).write_text(f"{time.monotonic()}", encoding="utf-8")
            assert found.get(timeout=SLACK) == FileSaved(folder / name)
        replaced(module, "two")
        assert found.get(timeout=SLACK) == FileSaved(module)
        (folder / "new.py").unlink()
        assert found.get(timeout=SLACK) == FileSaved(folder / "new.py")
    finally:
        watching.close()


def test_a_folder_that_is_not_there_is_left_out(module: Path) -> None:
    found: queue.Queue[Event] = queue.Queue()
    watching = saves.Saves(found.put)
    try:
        watching.watch(module, lambda: (module.parent / "gone" / "test_a.py",))
        time.sleep(0.1)
        replaced(module, "two")
        assert found.get(timeout=SLACK) == FileSaved(module)
    finally:
        watching.close()


def test_where_notifications_fail_the_file_is_looked_at(
    module: Path, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> Iterator[set[object]]:
        raise OSError("no watch is left")

    monkeypatch.setattr("watchfiles.watch", fail)
    found = begin()
    replaced(module, "two")
    assert found.get(timeout=SLACK) == FileSaved(module)


def test_where_nothing_is_notified_the_file_is_looked_at_from_then_on(
    module: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks: Iterator[set[object]] = iter([set(), set()])

    def silent(*_: object, **__: object) -> Iterator[set[object]]:
        for tick in ticks:
            replaced(module, f"{time.monotonic()}")
            yield tick

    monkeypatch.setattr("watchfiles.watch", silent)
    stop, found = threading.Event(), []

    def post(event: Event) -> None:
        found.append(event)
        if len(found) == 2:
            stop.set()
        else:
            replaced(module, "again")

    saves.follow(module, post, stop)
    assert len(found) == 2
    assert next(ticks, None) is not None  # it did not wait for a second tick


def test_a_file_that_changes_in_pieces_is_waited_for(module: Path) -> None:
    pieces = iter(["one", "one two", "one two three"])

    class Stop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            if (piece := next(pieces, None)) is not None:
                module.write_text(piece, encoding="utf-8")
            return super().wait(timeout)

    found = saves.settled(module, Stop())
    assert found == saves.fingerprint(module) and found is not None and found[1] == len("one two three")


def test_a_file_that_is_gone_is_waited_for_only_so_long(module: Path) -> None:
    module.unlink()
    clock = iter(range(100))
    assert saves.settled(module, threading.Event(), lambda: float(next(clock))) is None


@pytest.mark.parametrize(
    ("folder", "silent"),
    [("/home/anna", True), ("/home/fast/x", False), ("/srv", False), ("/my disk/course", True), ("/my", False)],
)
def test_a_file_system_that_tells_nothing_is_known_by_its_kind(folder: str, silent: bool) -> None:
    assert saves.is_silent(Path(folder), MOUNTS) is silent


def test_without_a_list_of_file_systems_notifications_are_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saves, "MOUNTS", tmp_path / "none")
    assert not saves.is_silent(tmp_path)
