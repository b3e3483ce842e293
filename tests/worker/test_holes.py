"""What is left of a folder around holes in it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from grader.worker import kernel

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what the kernel of Linux has")


class TestAround:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        for path in ("a/b", "a/c/d", "e"):
            (tmp_path / path).mkdir(parents=True)
        (tmp_path / "a/file").touch()
        return tmp_path

    @pytest.mark.parametrize(
        ("holes", "left"),
        [
            ([], ["."]),
            (["x"], ["."]),
            (["e"], ["a"]),
            (["a/b"], ["a/c", "a/file", "e"]),
            (["a/b", "a/c/d"], ["a/file", "e"]),
            (["a", "e"], []),
            (["."], []),
            ([".."], []),
        ],
    )
    def test_holes(self, folder: Path, holes: list[str], left: list[str]) -> None:
        present = [os.path.normpath(folder / each) for each in holes if each != "x"]
        found = list(kernel.around(str(folder), [*present, "/elsewhere"] if "x" in holes else present))
        assert found == [os.path.normpath(folder / each) for each in left]

    def test_a_name_that_only_begins_alike_is_no_hole(self, folder: Path) -> None:
        assert list(kernel.around(str(folder / "e"), [str(folder / "e2"), str(folder / "")[:-2]])) == [
            str(folder / "e")
        ]

    def test_a_folder_with_a_hole_that_cannot_be_listed(self, folder: Path) -> None:
        assert list(kernel.around(str(folder / "absent"), [str(folder / "absent/x")])) == []

    @pytest.mark.parametrize(
        ("path", "folder", "whether"),
        [("/a/b", "/a", True), ("/a", "/a", True), ("/ab", "/a", False), ("/x", "/", True)],
    )
    def test_lies_in(self, path: str, folder: str, whether: bool) -> None:
        assert kernel.lies_in(path, folder) == whether
