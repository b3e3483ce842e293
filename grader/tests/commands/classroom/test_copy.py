"""A learner's copy with and without the key: what passes, what is recorded, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.course.manifest import load_course
from grader.tests.commands.classroom.typed import Typed
from grader.tests.support.copies import NAME, SmallCopy
from grader.tests.support.good_stage import SOLUTION


class TestCopy:
    @pytest.fixture
    def copy(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallCopy:
        """A learner's copy whose module passes the public tests, opened as it would be."""
        made = SmallCopy(tmp_path)
        (made.root / "stages" / NAME / "small.py").write_text(SOLUTION)
        monkeypatch.setattr("grader.progress.workspace.find_course_root", lambda start: made.root)
        monkeypatch.setattr("grader.progress.workspace.load_course", lambda root: load_course(root, made.hidden))
        return made

    def test_without_the_key_public_tests_pass_and_that_is_said(self, grader: Typed, copy: SmallCopy) -> None:
        assert grader("check", "--isolation", "process") == 0
        assert "2 of 2 criteria (public tests only)" in grader.out
        assert "Only public tests were run. Hidden tests run when you submit." in grader.out
        assert "hidden tests run when you submit" in grader.err
        assert grader("status") == 0 and "public tests pass" in grader.out
        assert "0 of 1 stage" in grader.out

    def test_all_stages_are_told_the_same_way(self, grader: Typed, copy: SmallCopy) -> None:
        assert grader("check", "--all", "--isolation", "process") == 0
        assert "public tests pass" in grader.out and "0 of 1 stage" in grader.out

    def test_a_document_says_that_nothing_has_passed(self, grader: Typed, copy: SmallCopy) -> None:
        assert grader("check", "--isolation", "process", "--json") == 0
        document = json.loads(grader.out)
        assert (document["passed"], document["public_only"]) == (False, True)

    def test_the_key_is_named_by_option_or_environment(
        self, grader: Typed, copy: SmallCopy, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert grader("check", "s90", "--isolation", "process", "--key-file", copy.key_file) == 0
        assert "s90 has passed" in grader.err
        monkeypatch.setenv("GRADER_KEY_FILE", str(copy.key_file))
        assert grader("solution", "s90") == 0 and grader.out == SOLUTION

    @pytest.mark.parametrize("name", ["gradescope", "autograding", "classroom50"])
    def test_no_marks_are_given_without_the_key(
        self, grader: Typed, copy: SmallCopy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        from grader.tests.support.verdicts import CLASSROOM50

        for variable, value in CLASSROOM50.items():
            monkeypatch.setenv(variable, value)
        assert grader("check", "s90", "--isolation", "process", "--format", f"{name}={tmp_path / 'report'}") == 4
        assert "a format that gives marks needs the hidden tests of s90, which are sealed" in grader.err
        assert not copy.course().root.joinpath(".grader", "progress.json").exists()

    @pytest.mark.parametrize("arguments", [("s90",), ("--all",)])
    def test_nothing_that_was_handed_in_is_graded_without_the_key(
        self, grader: Typed, copy: SmallCopy, arguments: tuple[str, ...]
    ) -> None:
        assert grader("check", *arguments, "--isolation", "process", "--submission", copy.root) == 4
        assert "what somebody handed in needs the hidden tests" in grader.err

    def test_no_receipt_is_given_without_the_key(self, grader: Typed, copy: SmallCopy, keys: Path) -> None:
        signing = "--receipt", copy.root / "receipt.json", "--signing-key", keys / "signing.key"
        assert grader("check", "s90", "--isolation", "process", *signing) == 4
        assert "a receipt needs the hidden tests" in grader.err and not (copy.root / "receipt.json").exists()

    def test_the_demonstration_is_not_part_of_a_copy(self, grader: Typed, copy: SmallCopy) -> None:
        assert grader("demo") == 2 and "a learner's copy has none" in grader.err
