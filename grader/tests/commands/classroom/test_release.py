"""`grader release`: where the key is, and what is refused."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from grader.course.sealed import read_record
from grader.setup.wheel import wheel_path
from grader.tests.commands.classroom.typed import Typed
from grader.tests.support.copies import NAME
from grader.tests.support.places import HOUSE


class TestRelease:
    def test_a_release_says_where_the_key_is(
        self, grader: Typed, course: Path, keys: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Of the grader itself a few files are released: all of it is test_released_copy's."""
        monkeypatch.setattr("grader.classroom.release._own_files", lambda: [HOUSE / "__init__.py", HOUSE / "cli.py"])
        copy = course / "copy"
        assert grader("release", copy, "--key-file", keys / "tests.key", "--stages", "s90") == 0, grader.err
        assert not grader.out and (copy / "stages" / NAME / "small.py").is_file()
        assert "no hidden text is left" in grader.err and "Keep " in grader.err
        assert (copy / "hidden" / f"{NAME}.sealed").is_file() and not list(copy.rglob("tests.key"))
        assert "Each reference passed its own tests." in grader.err and read_record(copy / "hidden").proven
        with zipfile.ZipFile(copy / wheel_path("attention-grader")) as wheel:
            assert {name for name in wheel.namelist() if ".dist-info/" not in name} == {
                "grader/__init__.py", "grader/cli.py"
            }  # fmt: skip

    @pytest.mark.parametrize(
        ("right", "wrong", "told"),
        [
            ("return x.sum(axis=1)", "return x.mean(axis=1)", "criterion total, test test_hidden.py::"),
            ("import numpy as np", "import numpy as np\n\nraise RuntimeError", "its tests: "),
        ],
        ids=["wrong", "broken"],
    )
    def test_a_stage_whose_reference_does_not_pass_is_not_released(
        self, grader: Typed, course: Path, monkeypatch: pytest.MonkeyPatch, right: str, wrong: str, told: str
    ) -> None:
        monkeypatch.setattr("grader.classroom.release._own_files", lambda: [HOUSE / "__init__.py", HOUSE / "cli.py"])
        solution = course / "hidden" / NAME / "solution.py"
        text = solution.read_text(encoding="utf-8")
        assert right in text
        solution.write_text(text.replace(right, wrong), encoding="utf-8")
        copy = course / "copy"
        assert grader("release", copy, "--self-paced") == 4, grader.err
        said = " ".join(grader.err.split())
        assert grader.err.startswith("error: ") and any(x.startswith("- the reference of s90") for x in grader.lines)
        assert f"the reference of s90 does not pass {told}" in said, said
        assert "Nothing was written." in said and "--unproven releases it" in said and not copy.exists()
        assert grader("release", copy, "--self-paced", "--unproven") == 0, grader.err
        assert "warning: the stages are unproven" in grader.err and "Each reference passed" not in grader.err
        assert not read_record(copy / "hidden").proven

    @pytest.mark.parametrize("options", [(), ("--self-paced", "--key-file", "tests.key")])
    def test_who_has_the_key_must_be_said(self, grader: Typed, tmp_path: Path, options: tuple[str, ...]) -> None:
        assert grader("release", tmp_path / "copy", *options) == 2
        assert "--key-file KEY, or --self-paced" in grader.err and not (tmp_path / "copy").exists()

    def test_a_key_that_is_none_is_refused(self, grader: Typed, tmp_path: Path) -> None:
        assert grader("release", tmp_path / "copy", "--key-file", tmp_path / "none") == 4
        assert "cannot be read" in grader.err

    def test_an_unknown_stage_is_a_usage_error(self, grader: Typed, tmp_path: Path) -> None:
        assert grader("release", tmp_path / "copy", "--self-paced", "--stages", "s01,s99") == 2

    @pytest.mark.parametrize("command", [("release", "copy", "--self-paced"), ("course", "stub")])
    def test_a_learners_copy_is_none_to_release_or_to_author_from(
        self, grader: Typed, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
    ) -> None:
        monkeypatch.setattr("grader.course.sealed.in_copy", lambda start: True)
        assert grader(*command) == 2 and "this is a learner's copy" in grader.err
