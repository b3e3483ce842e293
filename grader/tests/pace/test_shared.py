"""What workers of a run share is made once, whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.tests.pace.shared import made_once


class Factory:
    """Stands in for pytest's own, in the worker of a run."""

    def __init__(self, base: Path) -> None:
        self.base = base

    def getbasetemp(self) -> Path:
        self.base.mkdir(exist_ok=True)
        return self.base


def test_workers_of_a_run_have_one(tmp_path: Path) -> None:
    made: list[Path] = []
    found = [made_once(Factory(tmp_path / f"popen-gw{k}"), "thing", made.append) for k in (0, 1)]  # type: ignore[arg-type]
    assert found == made * 2 and made[0].is_dir() and made[0].parent == tmp_path


def test_without_workers_it_lies_with_what_else_the_run_makes(tmp_path: Path) -> None:
    found = made_once(Factory(tmp_path / "pytest-3"), "thing", lambda folder: None)  # type: ignore[arg-type]
    assert found.parent == tmp_path / "pytest-3"


def test_where_making_it_fails_the_next_makes_it_from_the_beginning(tmp_path: Path) -> None:
    def fails(folder: Path) -> None:
        (folder / "half").touch()
        raise OSError("no space")

    def makes(folder: Path) -> None:
        (folder / "whole").touch()

    with pytest.raises(OSError, match="no space"):
        made_once(Factory(tmp_path / "popen-gw0"), "thing", fails)  # type: ignore[arg-type]
    found = made_once(Factory(tmp_path / "popen-gw1"), "thing", makes)  # type: ignore[arg-type]
    assert [each.name for each in found.iterdir()] == ["whole"]
