"""`grader check --receipt` and `grader verify`: what a receipt vouches for, and what it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course.manifest import load_course
from grader.tests.commands.classroom.typed import Typed
from grader.tests.support.copies import NAME
from grader.tests.support.good_stage import write_stage


class TestReceipts:
    @pytest.fixture
    def receipt(self, course: Path, keys: Path, grader: Typed) -> Path:
        assert self.check(grader, course, keys) == 0
        return course / "receipt.json"

    @staticmethod
    def check(grader: Typed, course: Path, keys: Path, module: str = "right.py", *more: str) -> int:
        signing = "--receipt", course / "receipt.json", "--signing-key", keys / "signing.key"
        return grader("check", "s90", "--submission", course / module, "--isolation", "process", *signing, *more)

    @staticmethod
    def verify(grader: Typed, receipt: Path, keys: Path, *more: object) -> int:
        return grader("verify", receipt, "--public-key", keys / "signing.pub", *more)

    def test_a_receipt_is_valid(self, grader: Typed, receipt: Path, keys: Path, course: Path) -> None:
        assert self.verify(grader, receipt, keys, "--submission", course / "right.py", "--stage", "s90") == 0
        assert grader.out.startswith("valid: s90 passed, 2 of 2 criteria · 2 robust\n")
        assert "isolation process" in grader.out

    def test_a_receipt_of_what_does_not_pass_is_valid_and_says_so(
        self, grader: Typed, course: Path, keys: Path
    ) -> None:
        assert self.check(grader, course, keys, "wrong.py", "--feedback", "verdict") == 1
        assert self.verify(grader, course / "receipt.json", keys) == 0
        assert "s90 did not pass, 0 of 2 criteria" in grader.out and "feedback verdict" in grader.out

    def test_other_files_than_were_graded_are_noticed(
        self, grader: Typed, receipt: Path, keys: Path, course: Path
    ) -> None:
        assert self.verify(grader, receipt, keys, "--submission", course / "wrong.py") == 1
        assert "not valid: submission: is " in grader.err and not grader.out

    def test_a_receipt_of_another_stage_is_noticed(
        self, grader: Typed, receipt: Path, keys: Path, course: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        manifest = (course / "stages" / NAME / "stage.toml").read_text().replace('"s90"', '"s91"')
        write_stage(course / "stages", course / "hidden", "s91_more", {"stage/stage.toml": manifest})
        both = load_course(course, course / "hidden")
        monkeypatch.setattr("grader.course.manifest.load_course", lambda root: both)
        assert self.verify(grader, receipt, keys, "--stage", "s91") == 1
        assert "not valid: stage: is s90, expected s91" in grader.err

    def test_a_changed_receipt_is_not_valid(self, grader: Typed, course: Path, keys: Path) -> None:
        self.check(grader, course, keys, "wrong.py")
        path = course / "receipt.json"
        path.write_text(path.read_text().replace('"passed": false', '"passed": true'))
        assert self.verify(grader, path, keys) == 1 and "not valid: signature: does not fit" in grader.err

    def test_what_is_no_receipt_and_what_is_not_there(self, grader: Typed, tmp_path: Path, keys: Path) -> None:
        (tmp_path / "text").write_text("{}")
        assert self.verify(grader, tmp_path / "text", keys) == 1 and "not valid: receipt" in grader.err
        assert self.verify(grader, tmp_path / "none", keys) == 2 and "cannot be read" in grader.err

    def test_a_key_that_is_none_is_a_usage_error(self, grader: Typed, receipt: Path, keys: Path) -> None:
        assert grader("verify", receipt, "--public-key", keys / "tests.key") == 2
        assert "holds no public Ed25519 key" in grader.err

    def test_a_receipt_and_its_key_are_given_together(self, grader: Typed, course: Path, keys: Path) -> None:
        assert grader("check", "s90", "--receipt", course / "receipt.json") == 2
        assert "--receipt needs --signing-key" in grader.err
        assert grader("check", "s90", "--signing-key", keys / "signing.key") == 2
        assert "--signing-key needs --receipt" in grader.err

    @pytest.mark.parametrize("part", [("s90", "--only", "total"), ("--all",)])
    def test_a_receipt_is_for_one_whole_stage(
        self, grader: Typed, course: Path, keys: Path, part: tuple[str, ...]
    ) -> None:
        signing = "--receipt", course / "receipt.json", "--signing-key", keys / "signing.key"
        assert grader("check", *part, *signing) == 2 and "one whole stage" in grader.err

    def test_a_run_that_fails_leaves_no_receipt_of_an_earlier_one(
        self, grader: Typed, receipt: Path, keys: Path, course: Path
    ) -> None:
        assert receipt.exists()
        (course / "hidden" / NAME / "test_hidden.py").write_text("import nowhere_at_all\n")
        assert self.check(grader, course, keys) == 4 and not receipt.exists()

    def test_a_receipt_replaces_no_folder(self, grader: Typed, course: Path, keys: Path) -> None:
        (course / "receipt.json").mkdir()
        assert self.check(grader, course, keys) == 2 and "is not a regular file" in grader.err
