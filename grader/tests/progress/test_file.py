"""The progress file: what it lacks begins empty, what it cannot be is told with a remedy, and it is replaced whole."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.progress.file import VERSION, DamagedError, free, fresh, loaded, refused, stamp


def test_no_file_is_a_fresh_start(tmp_path: Path) -> None:
    assert loaded(tmp_path / "progress.json") == fresh()


def test_keys_that_are_missing_begin_empty_and_others_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "progress.json"
    file.write_text(json.dumps({"version": VERSION, "later": 1, "skipped": ["s01"]}), encoding="utf-8")
    assert loaded(file) == {**fresh(), "later": 1, "skipped": ["s01"]}


@pytest.mark.parametrize(
    ("text", "told"),
    [("{", "it is not JSON"), ("[]", "no version"), ('{"version": 2}', "newer"), ('{"version": 1, "last": 3}', "last")],
)
def test_a_file_of_no_use_is_damaged(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "progress.json").write_text(text, encoding="utf-8")
    with pytest.raises(DamagedError, match=told) as caught:
        loaded(tmp_path / "progress.json")
    assert "grader check --all" in caught.value.remedy


def test_a_name_that_is_free_is_found(tmp_path: Path) -> None:
    when = stamp(datetime(2026, 11, 21, 8, 38, 2, tzinfo=UTC))
    (tmp_path / f"x-{when}.py").touch()
    assert free(tmp_path, f"x-{when}", ".py").name == "x-20261121T083802Z-1.py"


def test_why_a_folder_takes_nothing_is_in_the_words_of_the_system(tmp_path: Path) -> None:
    assert refused(tmp_path) == "" and list(tmp_path.iterdir()) == []
    assert refused(tmp_path / "gone") == "No such file or directory"
