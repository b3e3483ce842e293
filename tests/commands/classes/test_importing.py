"""`grader class import`: verdicts of other machines count in a gradebook as its own do."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.receipt import new_signing_key
from grader.course.manifest import load_course
from grader.gradebook.store import Gradebook
from grader.report.document import dumps, verdict_document
from grader.verdict import CriterionResult, Verdict
from tests.support.command import Here
from tests.support.verdicts import RUN

TEXT = b"def double(x):\n    return 2 * x\n"


def leave(here: Here, folder: Path, passing: int = 2, **more: Any) -> Path:
    """Leave a verdict on s01 with so many rows that pass."""
    stage = load_course(here.place.root).find("s01")
    rows = tuple(
        CriterionResult(row.id, row.text, "passed" if at < passing else "failed", int(at < passing), 1)
        for at, row in enumerate(stage.criteria)
    )
    found = verdict_document(Verdict(stage.id, stage.title, passing == 2, rows, RUN)) | {"isolation": "bubblewrap"}
    folder.mkdir(parents=True)
    (folder / "verdict.json").write_text(dumps(found | more), encoding="utf-8")
    return folder


def marks(here: Here, out: Path) -> list[tuple[str, str, str, str]]:
    lines = csv.DictReader(here("class", "export", "--out", str(out)).out.splitlines())
    return [(each["student"], each["stage"], each["outcome"], each["points"]) for each in lines]


def test_verdicts_of_ci_count_under_class_toml_and_who_is_absent_is_missing(here: Here, tmp_path: Path) -> None:
    out, left = tmp_path / "out", tmp_path / "verdicts"
    out.mkdir()
    (out / "class.toml").write_text("[stages.s01]\npoints = 10\ndeadline = 2026-11-20T12:00:00Z\n", encoding="utf-8")
    (out / "class.csv").write_text("student,email\nada,ada@uni.edu\nbob,\ncy,\n", encoding="utf-8")
    ada = leave(here, left / "verdict-x-s01-12345678")
    about = {"student": "ADA@uni.edu", "repository": "class/ada", "revision": "a" * 40,
             "submitted": "2026-11-20T13:00:00+00:00"}  # fmt: skip
    (ada / "about.json").write_text(json.dumps(about), encoding="utf-8")
    leave(here, left / "verdict-bob-s01-12345678", passing=1)
    done = here("class", "import", str(left), "--out", str(out))
    assert done.code == 0 and done.out.startswith("2 taken in, 0 known before, 1 missing, 0 refused")
    assert marks(here, out) == [
        ("ada", "s01", "graded", "0"),
        ("bob", "s01", "graded", "5"),
        ("cy", "s01", "missing", "0"),
    ]
    again = here("class", "import", str(left), "--out", str(out), "--json")
    assert (again.json["new"], again.json["known"], again.json["missing"]) == (0, 2, 0)
    shown = here("class", "show", "ada", "--out", str(out)).out
    assert "1 days late" in shown and f"class/ada@{'a' * 40}" in shown


def test_a_text_with_the_right_digest_is_kept_and_another_is_not(here: Here, tmp_path: Path) -> None:
    digest = hashlib.sha256(TEXT).hexdigest()
    for name in ("ada", "bob"):
        (leave(here, tmp_path / "v" / name, submission=digest) / "numbers_.py").write_bytes(
            TEXT if name == "ada" else b"x"
        )
    assert here("class", "import", str(tmp_path / "v"), "--out", str(tmp_path / "out")).code == 0
    with Gradebook.open(tmp_path / "out") as book:
        assert book.source(digest) == TEXT
        assert [each.digest for each in book.attempts()] == [digest, digest]


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"isolation": "none"}, "isolation"),
        ({"stage": "s77"}, "stage"),
        ({"passed": False}, "passed"),
        ({"criteria": []}, "criteria"),
        ({"seed": "x"}, "seed"),
    ],
)
def test_what_has_not_the_form_of_a_verdict_is_refused_by_name(
    more: dict[str, Any], what: str, here: Here, tmp_path: Path
) -> None:
    leave(here, tmp_path / "v" / "ada", **more)
    leave(here, tmp_path / "v" / "bob")
    done = here("class", "import", str(tmp_path / "v"), "--out", str(tmp_path / "out"))
    assert done.code == 4 and "1 taken in" in done.out and what in done.err
    assert [each[0] for each in marks(here, tmp_path / "out")] == ["bob"]


def test_only_what_a_receipt_vouches_for_is_taken_where_a_key_is_named(here: Here, tmp_path: Path) -> None:
    pytest.importorskip("cryptography", reason="the extra class is not installed")
    private, public = new_signing_key()
    (tmp_path / "key").write_bytes(private)
    (tmp_path / "pub").write_bytes(public)
    mine = leave(here, tmp_path / "v" / "verdict-s01")
    (mine / "about.json").write_text('{"student": "ada"}', encoding="utf-8")
    signing = ("--receipts", str(tmp_path / "v" / "receipts"), "--signing-key", str(tmp_path / "key"))
    assert (
        here("ci", "publish", "--stages", '["s01"]', *signing, "--", str(tmp_path / "v"), "class/ada", "a" * 40).code
        == 0
    )
    leave(here, tmp_path / "v" / "eve", passing=1)
    done = here(
        "class", "import", str(tmp_path / "v"), "--out", str(tmp_path / "out"), "--public-key", str(tmp_path / "pub")
    )
    assert done.code == 4 and "1 taken in" in done.out and "without a receipt: eve s01" in done.err


def test_a_dry_run_writes_nothing_and_an_empty_folder_is_told(here: Here, tmp_path: Path) -> None:
    leave(here, tmp_path / "v" / "ada")
    done = here("class", "import", str(tmp_path / "v"), "--out", str(tmp_path / "out"), "--dry-run")
    assert done.code == 0 and "1 would be taken in" in done.out and not (tmp_path / "out").exists()
    (tmp_path / "empty").mkdir()
    assert here("class", "import", str(tmp_path / "empty"), "--out", str(tmp_path / "out")).code == 2
