"""The record of a copy, and what it says of a file that is not as it was released."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.course.sealed.copy import RECORD, Record, digest, expect_released, public_files, read_record, record_text
from grader.errors import CourseError
from grader.tests.support.copies import NAME, SmallCopy

TESTS = f"stages/{NAME}/tests/test_small.py"


@pytest.fixture
def copy(tmp_path: Path) -> SmallCopy:
    return SmallCopy(tmp_path)


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    record = Record("0.1.0", "ab12", True, {"grader/cli.py": "cd"})
    (tmp_path / RECORD).write_text(record_text(record))
    assert read_record(tmp_path) == record


CUT = record_text(Record("1", "2", True, {}))[:-40]


@pytest.mark.parametrize("text", [None, "", "[]", "{}", '{"schema": 0}', CUT, "[" * 100_000], ids=range(7))
def test_a_record_that_cannot_be_read_is_an_error(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / RECORD).write_text(text)
    with pytest.raises(CourseError, match="cannot be read"):
        read_record(tmp_path)


@pytest.mark.parametrize(
    "changed",
    [
        {"course": 1},
        {"course": "0.1\n"},
        {"key": None},
        {"self_paced": "no"},
        {"files": [["a", "b"]]},
        {"files": {"a": 1}},
    ],
)
def test_a_record_with_a_value_of_another_type_is_an_error(tmp_path: Path, changed: dict[str, object]) -> None:
    whole = json.loads(record_text(Record("0.1.0", "ab12", True, {})))
    (tmp_path / RECORD).write_text(json.dumps(whole | changed))
    with pytest.raises(CourseError, match="cannot be read: expected the record of a release"):
        read_record(tmp_path)


@pytest.mark.parametrize(
    "path",
    ["../mine", "/etc/mine", "a/../../b", "a//b", "./a", "", "a\0b", "..\\mine", "C:mine", ".git/config", ".Grader/a"],
)
def test_a_record_that_names_what_no_course_has_is_an_error(tmp_path: Path, path: str) -> None:
    (tmp_path / RECORD).write_text(record_text(Record("0.1.0", "ab12", True, {".github/a.yml": "0", path: "0"})))
    with pytest.raises(CourseError, match="expected files of the course, by their paths in its folder"):
        read_record(tmp_path)


def test_a_record_of_a_newer_grader_says_so(tmp_path: Path) -> None:
    (tmp_path / RECORD).write_text('{"schema": 2}')
    with pytest.raises(CourseError, match="was written by a newer grader: it has the schema 2, and this one reads 1"):
        read_record(tmp_path)


def test_line_ends_of_a_checkout_change_no_digest() -> None:
    assert digest(b"a\r\nb\r\n") == digest(b"a\nb\n") != digest(b"a\nb")


def test_manifest_and_public_tests_are_what_a_check_goes_by(copy: SmallCopy) -> None:
    found = public_files(copy.stage(), read_record(copy.hidden))
    assert set(found) == {TESTS, f"stages/{NAME}/stage.toml"}


def test_released_tests_are_returned(copy: SmallCopy) -> None:
    assert expect_released(copy.stage(), public_files(copy.stage(), read_record(copy.hidden))) == (copy.root / TESTS,)


@pytest.mark.parametrize("name", [TESTS, f"stages/{NAME}/stage.toml"])
@pytest.mark.parametrize("change", ["changed", "removed"])
def test_a_file_that_is_not_as_released_is_named(copy: SmallCopy, name: str, change: str) -> None:
    stage = copy.stage()
    wanted = public_files(stage, read_record(copy.hidden))
    if change == "changed":
        (copy.root / name).write_text((copy.root / name).read_text() + "\n# mine\n")
    else:
        (copy.root / name).unlink()
    with pytest.raises(CourseError, match=name) as caught:
        expect_released(stage, wanted)
    assert "released file back" in str(caught.value.hint)
