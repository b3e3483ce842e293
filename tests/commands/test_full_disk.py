"""On a full disk a command says so and leaves what was there; the same command then works once there is room again."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command import NUMBERS, Here
from tests.support.full_disk import full_disk, needs_limits

WRITING = (
    ("solution", "s01", "--output", "mine.py"),
    ("reset", "s01", "--yes"),
    ("course", "stub"),
    ("course", "new", "s03_more"),
    ("course", "new", "s03_more", "--requires", "s02"),
    ("report", "--output", "report.html"),
    ("keys", "new", "keys"),
)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not {"progress.json", "progress.lock", "__pycache__"} & set(path.parts)
    }


@needs_limits
@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_nothing_is_left_of_what_could_not_be_written(here: Here, words: tuple[str, ...]) -> None:
    here.place.passed("s01")
    here.place.numbers.write_text(NUMBERS)
    before = contents(here.place.root)
    with full_disk():
        refused = here(*words)
    said = " ".join(refused.err.split())
    assert refused.code in (2, 4) and "File too large" in said and "fault of the grader" not in said, refused.err
    assert contents(here.place.root) == before
    done = here(*words)
    assert done.code == 0 and contents(here.place.root) != before, done.err


@needs_limits
def test_a_notebook_that_did_not_fit_is_no_file_in_the_way(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """The notebook's text is given, since the small course has nothing to draw."""
    monkeypatch.setattr("grader.explore.notebook.notebook", lambda course, stage: '{"cells": []}')
    with full_disk(5):
        refused = here("notebook", "s01", "--output", "draw.ipynb")
    assert refused.code == 2 and "draw.ipynb cannot be written: File too large" in " ".join(refused.err.split())
    assert not list(here.place.root.glob("*.ipynb")) and not list(here.place.root.glob(".draw*"))
    done = here("notebook", "s01", "--output", "draw.ipynb")
    assert done.code == 0 and (here.place.root / "draw.ipynb").read_text() == '{"cells": []}', done.err
    again = here("notebook", "s01", "--output", "draw.ipynb")
    assert again.code == 2 and "draw.ipynb already exists; it was not replaced" in again.err


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 KB, full to the last page."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if shutil.which("mount") is None or os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only root mounts a disk")
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        (folder / "draw.ipynb").write_bytes(b"")
        (folder / "full").write_bytes(bytes(64 << 10))
        (folder / "draw.ipynb").unlink()
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_disk_that_is_full_in_earnest(here: Here, small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.explore.notebook.notebook", lambda course, stage: '{"cells": []}')
    place = str(small_disk / "draw.ipynb")
    refused = here("notebook", "s01", "--output", place)
    said = " ".join(refused.err.split())
    assert refused.code == 2 and "draw.ipynb cannot be written: No space left on device" in said
    assert os.listdir(small_disk) == ["full"]
    (small_disk / "full").unlink()
    assert here("notebook", "s01", "--output", place).code == 0


@needs_limits
def test_a_check_that_cannot_write_its_report_says_so(here: Here) -> None:
    here.place.numbers.write_text(NUMBERS)
    before = contents(here.place.root)
    with full_disk():
        done = here("check", "s01", "--isolation", "process", "--format", "json=verdict.json")
    assert done.code == 4 and "verdict.json cannot be written: File too large" in done.err, done.err
    assert contents(here.place.root) == before
