"""`grader release`, `key` and `receipt`, and what is told of them."""

from __future__ import annotations

import errno
import itertools
import json
import os
import sys
import zipfile
from pathlib import Path

import pytest

from grader import cli
from grader.course.manifest import load_course
from grader.course.sealed import read_record
from grader.setup.wheel import wheel_path
from tests.support.copies import NAME, SmallCopy
from tests.support.good_stage import SOLUTION, write_stage
from tests.support.places import HOUSE

MODULES = [SOLUTION, SOLUTION.replace("x.sum(axis=1)", "x.mean(axis=1)")]


@pytest.fixture
def grader(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Typed:
    monkeypatch.delenv("GRADER_KEY_FILE", raising=False)
    return Typed(capsys, monkeypatch)


@pytest.fixture
def keys(tmp_path: Path, grader: Typed) -> Path:
    assert grader("keys", "new", tmp_path / "keys") == 0
    return tmp_path / "keys"


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The author's small course, its reference handed in as right.py and a wrong module as wrong.py."""
    write_stage(tmp_path / "stages", tmp_path / "hidden", NAME)
    opened = load_course(tmp_path, tmp_path / "hidden")
    for module in ("progress.workspace", "commands.classroom"):
        monkeypatch.setattr(f"grader.{module}.find_course_root", lambda start: tmp_path)
        monkeypatch.setattr(f"grader.{module}.load_course", lambda root: opened)
    for name, text in zip(("right.py", "wrong.py"), MODULES, strict=True):
        (tmp_path / name).write_text(text)
    return tmp_path


class Typed:
    """What a command printed, and how it ended."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch
        self.out = self.err = ""
        self.lines: list[str] = []

    def __call__(self, *arguments: object) -> int:
        self._monkeypatch.setattr(sys, "argv", ["grader", *map(str, arguments)])
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        self.out, self.err = self._capsys.readouterr()
        self.lines = self.err.splitlines()
        self.err = " ".join(self.err.split())
        return int(ended.value.code or 0)


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
        from tests.support.verdicts import CLASSROOM50

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


class TestKeys:
    def test_three_files_are_made_and_named(self, grader: Typed, tmp_path: Path) -> None:
        assert grader("keys", "new", tmp_path / "a" / "keys") == 0
        names = ["tests.key", "signing.key", "signing.pub"]
        assert [Path(line).name for line in grader.out.splitlines()] == names
        assert "Keep tests.key and signing.key secret" in grader.err

    @pytest.mark.parametrize("fits", [0, 1, 2])
    def test_a_full_disk_is_named_and_keeps_no_part_of_the_keys(
        self, grader: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fits: int
    ) -> None:
        tries, fsync = itertools.count(), os.fsync

        def full(descriptor: int) -> None:
            if next(tries) == fits:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            fsync(descriptor)

        monkeypatch.setattr("os.fsync", full)
        assert grader("keys", "new", tmp_path / "keys") == 2
        assert "cannot be written: No space left on device hint: " in grader.err
        assert list((tmp_path / "keys").iterdir()) == []

    @pytest.mark.skipif(sys.platform == "win32", reason="no modes there")
    def test_only_the_public_one_can_be_read_by_others(self, keys: Path) -> None:
        modes = {path.name: path.stat().st_mode & 0o777 for path in keys.iterdir()}
        assert modes == {"tests.key": 0o600, "signing.key": 0o600, "signing.pub": 0o644}

    def test_existing_keys_are_kept(self, grader: Typed, keys: Path) -> None:
        before = {path.name: path.read_bytes() for path in keys.iterdir()}
        assert grader("keys", "new", keys) == 2 and "already exists" in grader.err
        (keys / "tests.key").unlink()
        assert grader("keys", "new", keys) == 2
        del before["tests.key"]
        assert {path.name: path.read_bytes() for path in keys.iterdir()} == before

    def test_a_folder_that_cannot_be_made_is_named(self, grader: Typed, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        assert grader("keys", "new", tmp_path / "file" / "keys") == 2 and "cannot be made" in grader.err


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
        monkeypatch.setattr("grader.commands.classroom.load_course", lambda root: both)
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
        for module in ("classroom", "course"):
            monkeypatch.setattr(f"grader.commands.{module}.in_copy", lambda start: True)
        assert grader(*command) == 2 and "this is a learner's copy" in grader.err
