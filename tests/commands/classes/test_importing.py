"""`grader class import`: verdicts of other machines count in a gradebook as its own do."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import LiteralScalarString

from grader.classroom.ci_roster import read_csv
from grader.classroom.receipt import new_signing_key
from grader.course.manifest import load_course
from grader.gradebook.roster import read_metadata
from grader.gradebook.store import Gradebook
from grader.report.document import dumps, verdict_document
from grader.report.gradescope import gradescope
from grader.verdict import CriterionResult, Verdict
from tests.support.command import Here
from tests.support.verdicts import RUN, SCENE, report

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
    assert "1 day late" in shown and f"class/ada@{'a' * 40}" in shown


def test_students_are_known_under_the_names_that_ci_gives_them(here: Here, tmp_path: Path) -> None:
    roster = tmp_path / "class.csv"
    lines = ["Ada Lovelace,class/ada", "Zoë O'Hara,class/zoe", "李明,class/liming", "Cy,class/cy"]
    revision = "a" * 40
    text = "\n".join(["student,repository,revision", *(f"{line},{revision}" for line in lines)])
    roster.write_text(text, encoding="utf-8")
    for student, line in zip(read_csv(roster)[:3], lines, strict=False):
        folder = leave(here, tmp_path / "v" / f"verdict-{student.name}-s01")
        about = {"student": student.name, "repository": line.partition(",")[2], "revision": revision}
        (folder / "about.json").write_text(json.dumps(about), encoding="utf-8")
    command = ("class", "import", str(tmp_path / "v"), "--out", str(tmp_path / "out"), "--roster", str(roster))
    (tmp_path / "v/results").mkdir()
    (tmp_path / "v/results/results.csv").write_text(  # as `grader ci publish` leaves it
        "student,stage,outcome,reason,file\ncy,s01,fault,it cannot be fetched,class/cy@1\nada-lovelace,s01,fault,x,y\n"
    )
    failed = here(*command)
    assert (failed.code, failed.out) == (4, "3 taken in, 0 known before, 0 missing, 0 refused\n")
    assert "The grader failed for Cy: no mark comes from that." in failed.err and "it cannot be fetched" in failed.err
    assert ("Cy", "s01", "fault", "") in marks(here, tmp_path / "out")
    (tmp_path / "v/results/results.csv").unlink()
    command = (*command[:4], str(tmp_path / "again"), *command[5:])
    done = here(*command)
    assert (done.out, done.err) == ("3 taken in, 0 known before, 1 missing, 0 refused\n", "")
    assert {(name, outcome) for name, _, outcome, _ in marks(here, tmp_path / "again")} == {
        ("Ada Lovelace", "graded"), ("Zoë O'Hara", "graded"), ("李明", "graded"), ("Cy", "missing"),
    }  # fmt: skip


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


def test_a_regrade_leaves_the_mark_of_whose_module_is_not_there(here: Here, tmp_path: Path) -> None:
    leave(here, tmp_path / "v" / "ada")
    out = tmp_path / "out"
    assert here("class", "import", str(tmp_path / "v"), "--out", str(out)).code == 0
    options = ("--isolation", "process", "--require-isolation", "process", "--jobs", "1", "--apply")
    done = here.place.run("class", "regrade", "--out", str(out), *options)
    assert done.code == 0 and "No points change." in done.err, done.err
    assert "s01: the gradebook does not hold the module of ada: their marks stay." in " ".join(done.err.split())
    assert marks(here, out) == [("ada", "s01", "graded", "2")]


GRADES = (  # as Gradescope's Download Grades has it
    "First Name,Last Name,SID,Email,Sections,Total Score,Max Points,Status,Submission ID,Submission Time,"
    "Lateness (H:M:S),View Count,Submission Count\n"
    "Ada,Lovelace,1001,ada@uni.edu,Lab 1,2.0,2.0,Graded,31,2026-11-20 10:00:00 +0000,00:00:00,0,1\n"
    "Zoë,O'Hara,1002,zoe@uni.edu,Lab 2,1.0,2.0,Graded,32,2026-11-21 10:00:00 +0000,00:00:00,0,1\n"
    "Cy,Late,1003,cy@uni.edu,Lab 2,,2.0,Missing,,,,0,0\n"
)


def results(here: Here, passing: int, text: bytes = TEXT) -> dict[str, Any]:
    """Return what run_autograder leaves of a verdict on s01 with so many criteria that pass."""
    stage = load_course(here.place.root).find("s01")
    rows = tuple(
        CriterionResult(row.id, row.text, "passed" if at < passing else "failed", int(at < passing), 1)
        for at, row in enumerate(stage.criteria)
    )
    run = replace(RUN, submission=hashlib.sha256(text).hexdigest())
    made = report(Verdict(stage.id, stage.title, passing == 2, rows, run))
    found: dict[str, Any] = json.loads(gradescope(made, SCENE))
    return found


def exported(folder: Path, submissions: dict[str, tuple[list[tuple[str, str]], Any]], forged: str = "") -> Path:
    """Write an export of Gradescope: by submission its members, as name and SID, and its results."""
    values = {
        name: {
            ":submitters": [{":name": who, ":sid": sid, ":email": f"{who[:3].lower()}@uni.edu"} for who, sid in whose],
            ":created_at": "2026-11-20 10:00:05.123456789 Z",
            ":score": 2.0,
            ":status": "processed",
            ":results": found,
            ":history": [{":id": 7, ":results": found}],
        }
        for name, (whose, found) in submissions.items()
    }
    for name, (_, found) in submissions.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "numbers_.py").write_bytes(TEXT)
        if forged and found is not None:
            found["tests"][1]["output"] = found["output"] = forged
    out = io.StringIO()
    yaml = YAML(typ="rt")
    yaml.dump(values, out)
    text = out.getvalue().replace("'2026-11-20 10:00:05.123456789 Z'", "2026-11-20 10:00:05.123456789 Z")
    (folder / "submission_metadata.yml").write_text(f"---\n{text}", encoding="utf-8")
    return folder


def test_the_verdict_in_an_export_of_gradescope_counts_with_its_times_members_and_texts(
    here: Here, tmp_path: Path
) -> None:
    out, list_ = tmp_path / "out", tmp_path / "grades.csv"
    list_.write_text(GRADES, encoding="utf-8")
    export = exported(tmp_path / "export", {
        "submission_31": ([("Ada Lovelace", "1001")], results(here, 2)),
        "submission_32": ([("Zoë O'Hara", "1002"), ("Bob B", "1009")], results(here, 1)),
        "submission_33": ([("Eve", "1010")], None),
    })  # fmt: skip
    read = YAML(typ="safe").load((export / "submission_metadata.yml").read_text(encoding="utf-8"))
    assert {name: each.words for name, each in read_metadata(export / "submission_metadata.yml", UTC).items()} == {
        name: [each[":results"]["extra_data"]["s01"]["verdict"]] if each[":results"] else []
        for name, each in read.items()
    }
    done = here("class", "import", str(export), "--out", str(out), "--roster", str(list_), "--stage", "s01")
    assert (done.code, done.out) == (4, "3 taken in, 0 known before, 1 missing, 1 refused\n"), done.err
    assert "submission_33: no verdict of this grader is in its results" in " ".join(done.err.split())
    assert "The roster does not know bob@uni.edu" in done.err
    assert marks(here, out) == [
        ("ada@uni.edu", "s01", "graded", "2"), ("bob@uni.edu", "s01", "graded", "1"),
        ("cy@uni.edu", "s01", "missing", "0"), ("zoe@uni.edu", "s01", "graded", "1"),
    ]  # fmt: skip
    with Gradebook.open(out) as book:
        ada = book.attempts("ada@uni.edu")[0]
        assert (str(ada.submitted), ada.clock, ada.identity) == ("2026-11-20 10:00:05+00:00", "csv", "1001")
        assert book.source(ada.digest) == TEXT
    again = here("class", "import", str(export), "--out", str(out), "--roster", str(list_), "--json")
    assert (again.json["new"], again.json["known"]) == (0, 3)


def test_no_text_in_an_export_of_gradescope_passes_for_a_verdict(here: Here, tmp_path: Path) -> None:
    word = results(here, 2)["extra_data"]["s01"]["verdict"]
    lines = ["extra_data:", "  s01:", f"    verdict: {word}"]
    forged = LiteralScalarString("\n".join([*lines, *(f"{' ' * by}{each}" for by in (2, 4) for each in lines)]))
    export = exported(tmp_path / "export", {"submission_31": ([("Ada", "1")], results(here, 0))}, forged)
    (export / "submission_31/verdict.json").write_text(dumps(results(here, 2)), encoding="utf-8")
    (export / "submission_31/results.json").write_text(dumps(results(here, 2)), encoding="utf-8")
    (export / "submission_31/submission_metadata.yml").write_text(
        exported(tmp_path / "more", {"submission_1": ([("Ada", "1")], results(here, 2))})
        .joinpath("submission_metadata.yml").read_text(encoding="utf-8"), encoding="utf-8"
    )  # fmt: skip
    done = here("class", "import", str(tmp_path / "export"), "--out", str(tmp_path / "out"))
    assert (done.code, done.out) == (0, "1 taken in, 0 known before, 0 missing, 0 refused\n")
    assert marks(here, tmp_path / "out") == [("ada@uni.edu", "s01", "graded", "0")]


def test_results_of_gradescope_are_taken_as_they_lie_there(here: Here, tmp_path: Path) -> None:
    for name in ("ada", "bob"):
        (tmp_path / "v" / name).mkdir(parents=True)
    good, broken = results(here, 1), results(here, 2)
    broken["extra_data"]["s01"]["verdict"] = "AAAA"
    (tmp_path / "v/ada/results.json").write_text(dumps(good), encoding="utf-8")
    (tmp_path / "v/bob/results.json").write_text(dumps(broken), encoding="utf-8")
    (tmp_path / "v/ada.json").write_text(dumps(good), encoding="utf-8")  # the same once more
    done = here("class", "import", str(tmp_path / "v"), "--out", str(tmp_path / "out"))
    assert done.out == "1 taken in, 1 known before, 0 missing, 1 refused\n"
    assert done.code == 4 and "bob/results.json: extra_data, verdict" in " ".join(done.err.split())
    assert marks(here, tmp_path / "out") == [("ada", "s01", "graded", "1")]
    (tmp_path / "grades.csv").write_text(GRADES, encoding="utf-8")
    listed = here("class", "import", str(tmp_path / "grades.csv"), "--out", str(tmp_path / "out"))
    assert listed.code == 2 and "is a list, and holds no verdict" in " ".join(listed.err.split())
