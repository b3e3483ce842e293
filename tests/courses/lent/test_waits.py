"""A submission without an own module that passes, and to which nothing is lent: it waits, and has no zero."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import jsonschema
import pytest

from grader.classroom.publish import status
from grader.classroom.results import expect_graded, read
from grader.course.manifest import load_course
from grader.isolation.tiers import TIERS
from tests.courses.conftest import solution
from tests.courses.lent.channels import MARK, module
from tests.courses.uses.building import Grade, sources, wrote
from tests.support.places import HOUSE

pytestmark = pytest.mark.usefixtures("brief_search")
HOW = ("--isolation", "process")
WRONG = "def steps_from(graph, start):\n    return {}\n"
SCHEMA = json.loads((HOUSE / "report" / "verdict.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def handed(tmp_path: Path) -> Path:
    """A right module of s04, and nothing beside it."""
    path = tmp_path / "handed" / "ladders.py"
    path.parent.mkdir()
    path.write_text(solution("s04").read_text())
    return path


class TestACheck:
    def test_it_waits_and_says_what_to_do(self, grader: Grade, handed: Path) -> None:
        done = grader("check", "s04", "--submission", str(handed), *HOW, "--json")
        assert done.code == 3
        jsonschema.validate(done.json, SCHEMA)
        assert done.json["waits_for"] == ["s03"] and not done.json["passed"] and done.json["criteria"] == []
        assert done.json["problem"]["kind"] == "waits" and not done.json["faults"]
        assert "graphs.py (s03)" in done.json["problem"]["hint"] and "not marked" in done.json["problem"]["hint"]
        shown = grader("check", "s04", "--submission", str(handed), *HOW)
        assert shown.code == 3 and "waits for s03" in shown.out and "Submit graphs.py (s03)" in shown.out

    @pytest.mark.parametrize(
        ("when", "code"),
        [("passed", 3), ("always", 0), ("2020-01-01T00:00:00+01:00", 0), ("2999-12-31T12:00:00+01:00", 3)],
    )
    def test_when_references_are_lent_is_said_by_an_option(
        self, grader: Grade, handed: Path, when: str, code: int
    ) -> None:
        done = grader("check", "s04", "--submission", str(handed), "--lend", when, *HOW, "--json")
        assert done.code == code, done.err
        assert sources(done.json) == ({} if code else {"s02": "given", "s03": "reference"})
        if when.startswith("2999"):
            assert "from 2999-12-31 12:00" in done.json["problem"]["hint"]

    @pytest.mark.parametrize(
        ("when", "why"),
        [
            ("never", "does not say when"),
            ("deadline", "works only in class.toml"),
            ("2026-11-30", "has no UTC offset"),
            ("2026-11-30T23:59:00", "has no UTC offset"),
        ],
    )
    def test_another_word_or_a_time_without_an_offset_is_refused(
        self, grader: Grade, handed: Path, when: str, why: str
    ) -> None:
        done = grader("check", "s04", "--submission", str(handed), "--lend", when)
        assert done.code == 2 and f"--lend '{when}' {why}" in done.err
        assert "2026-11-30T23:59:00+01:00" in " ".join(done.err.split())

    def test_ones_own_files_need_no_such_option(self, grader: Grade) -> None:
        assert grader("check", "s04", "--lend", "always").code == 2

    def test_no_receipt_is_given(self, grader: Grade, handed: Path, tmp_path: Path) -> None:
        pytest.importorskip("cryptography")
        assert grader("keys", "new", str(tmp_path / "keys")).code == 0
        how = ("--receipt", str(tmp_path / "receipt"), "--signing-key", str(tmp_path / "keys" / "signing.key"))
        done = grader("check", "s04", "--submission", str(handed), *HOW, *how)
        assert done.code == 3 and "No receipt is written" in done.err and not (tmp_path / "receipt").exists()

    def test_what_is_handed_in_beside_it_serves_where_it_passes(self, grader: Grade, handed: Path) -> None:
        beside = handed.with_name("graphs.py")
        beside.write_text(solution("s03").read_text())
        done = grader("check", "s04", "--submission", str(handed.parent), *HOW, "--json")
        assert done.code == 0 and sources(done.json) == {"s02": "given", "s03": "own"}, done.err
        beside.write_text(WRONG)
        done = grader("check", "s04", "--submission", str(handed.parent), *HOW, "--json")
        assert done.code == 3 and done.json["waits_for"] == ["s03"]
        assert "its graphs.py (s03) does not pass" in done.json["problem"]["message"]
        assert f"`grader check s03 --submission {handed.parent}` shows why" in done.json["problem"]["hint"]

    def test_in_a_run_over_all_stages_it_alone_waits(self, grader: Grade, handed: Path) -> None:
        handed.with_name("counting.py").write_text(solution("s01").read_text())
        done = grader("check", "--all", "--submission", str(handed.parent), *HOW, "--json")
        assert done.code == 3
        found = {each["stage"]: (each["passed"], each["waits_for"]) for each in done.json["verdicts"]}
        assert found["s01"] == (True, []) and found["s04"] == (False, ["s03"])
        assert "waits for s03" in grader("check", "--all", "--submission", str(handed.parent), *HOW).out


def test_no_format_gives_it_marks(grader: Grade, handed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLASSROOM", "ASSIGNMENT", "OWNER", "COMMIT_URL", "RELEASE_URL"):
        monkeypatch.setenv(name, "https://example.org")
    monkeypatch.setenv("SUBMISSION_TAG", "submit/1")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "github"))
    names = ("json", "junit", "gradescope", "autograding", "classroom50", "problems")
    reports = ",".join(["github", *(f"{name}={tmp_path / name}" for name in names)])
    assert grader("check", "s04", "--submission", str(handed), *HOW, "--format", reports).code == 3
    text = {name: (tmp_path / name).read_text() for name in ("github", *names)}
    for name in ("github", "junit", "gradescope", "problems"):
        assert "waits for s03" in text[name] and "Submit graphs.py" in text[name], name
    result = json.loads(text["gradescope"])
    assert "score" not in result and "tests" not in result  # so that run_autograder leaves no zero
    assert 'errors="1"' in text["junit"] and 'skipped="0"' in text["junit"]
    marked = json.loads(base64.b64decode(text["autograding"]))
    assert (marked["max_score"], marked["tests"][0]["status"]) == (0, "error")
    room = json.loads(text["classroom50"])
    assert (room["score"], room["max-score"], room["tests"]) == (0, 0, [])


class TestWhatAWorkflowPublishes:
    def test_it_is_pending_and_no_failure(self, grader: Grade, root: Path, handed: Path, tmp_path: Path) -> None:
        file = tmp_path / "verdict.json"
        grader("check", "s04", "--submission", str(handed), *HOW, "--format", f"json={file}")
        stage = load_course(root).find("s04")
        found = read(tmp_path, stage, TIERS)
        assert found.waits_for == ("s03",) and status(found).state == "pending"
        assert "Waits for s03" in status(found).description
        expect_graded([found])

    @pytest.mark.parametrize("names", [[], ["s01"], ["s03", "x" * 50], "s03", None])
    def test_only_stages_that_it_builds_on_can_be_waited_for(
        self, grader: Grade, root: Path, handed: Path, tmp_path: Path, names: object
    ) -> None:
        document = grader("check", "s04", "--submission", str(handed), *HOW, "--json").json
        (tmp_path / "verdict.json").write_text(json.dumps(document | {"waits_for": names}))
        found = read(tmp_path, load_course(root).find("s04"), TIERS)
        assert found.waits_for == () and "no verdict that can be read" in found.why and status(found).state == "error"


def test_in_a_copy_for_self_study_all_is_lent_and_told(
    grader: Grade, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grader.classroom import release as releasing

    monkeypatch.setattr(releasing, "_own_files", list)
    course, target = load_course(root), tmp_path / "copy"
    stages = releasing.whole(course, [course.find("s04")])
    releasing.release(course, releasing.ReleaseOptions(stages, None), target)
    monkeypatch.chdir(target)
    wrote(target, "s04", module("message"))
    done = grader("check", "s04", "--submission", str(target), *HOW, "--json")
    assert done.code == 1 and sources(done.json)["s03"] == "reference" and MARK in done.out
