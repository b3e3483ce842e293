"""A stage that builds on earlier ones and has data, through all that is done with one."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from grader import __version__
from grader.classroom import release as releasing
from grader.classroom.release import release, whole
from grader.course.manifest import load_course
from grader.course.sealed.keys import new_key
from grader.judging import grading
from grader.judging.collecting import content
from grader.judging.grading import Options
from grader.progress.store import Store
from grader.submission import take
from grader.submission.earlier import used_modules
from grader.tests.courses.conftest import solution
from grader.tests.support.command import Done

pytestmark = pytest.mark.usefixtures("brief_search")

Grade = Callable[..., Done]
SPY = """
import sys
from pathlib import Path

if "pytest" in sys.modules or "grader.judging" in sys.modules:
    Path({marker!r}).write_text("ran where the tests are")
"""


def module(root: Path, stage: str) -> Path:
    (folder,) = (root / "stages").glob(f"{stage}_*")
    return next(folder.glob("*.py"))


def wrote(root: Path, stage: str, text: str | None = None, *, passed: bool = False) -> Path:
    """Write a learner's module, by default the solution, and record it as passed if it is said to be."""
    path = module(root, stage)
    path.write_text(solution(stage).read_text() if text is None else text)
    if passed:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        Store(root).record_pass(stage, digest, 1, __version__, datetime.now(UTC))
    return path


def sources(verdict: Any) -> dict[str, str]:
    return {use["stage"]: use["source"] for use in verdict["uses"]}


@pytest.fixture
def check(grader: Grade, root: Path) -> Grade:
    """Check s04, with the solution in its place."""
    wrote(root, "s04")
    Store(root).record_skip(["s01", "s02", "s03"])
    return lambda *more: grader("check", "s04", "--isolation", "process", *more)


class TestWhoseText:
    def test_what_has_not_passed_is_replaced(self, check: Grade, root: Path) -> None:
        wrote(root, "s03", "raise RuntimeError\n")
        done = check("--json")
        assert done.json["passed"] and sources(done.json) == {"s02": "given", "s03": "reference"}
        given = root / "stages" / "s04_ladders" / "given" / "s02_distance.py"
        assert done.json["uses"][0]["digest"] == hashlib.sha256(given.read_bytes()).hexdigest()

    def test_what_has_passed_is_the_learners_own_until_it_changes(self, check: Grade, root: Path) -> None:
        wrote(root, "s02", passed=True)
        own = wrote(root, "s03", passed=True)
        first = check("--json").json
        assert first["passed"] and sources(first) == {"s02": "own", "s03": "own"}
        own.write_text(own.read_text() + "# changed\n")
        second = check("--json").json
        assert sources(second) == {"s02": "own", "s03": "reference"}
        alone = hashlib.sha256(module(root, "s04").read_bytes()).hexdigest()
        assert len({first["submission"], second["submission"], alone}) == 3

    def test_the_screen_says_whose_it_is(self, check: Grade, root: Path) -> None:
        wrote(root, "s02", passed=True)
        said = "with your own s02, and with the reference of s03, since your own, as it is now, has not passed"
        assert said in " ".join(check().out.split())

    def test_a_run_over_all_stages_knows_what_passed_in_it(self, grader: Grade, root: Path, tmp_path: Path) -> None:
        archive = tmp_path / "all.zip"
        with zipfile.ZipFile(archive, "w") as made:
            for stage in ("s02", "s03", "s04"):
                text = solution(stage).read_text()
                text = text.replace("return steps\n", "return {}\n") if stage == "s03" else text
                made.writestr(str(module(root, stage).relative_to(root)), text)
        done = grader("check", "--all", "--submission", str(archive), "--isolation", "process", "--json")
        verdicts = {each["stage"]: each for each in done.json["verdicts"]}
        assert not verdicts["s03"]["passed"] and verdicts["s04"]["passed"], done.err
        assert sources(verdicts["s04"]) == {"s02": "own", "s03": "reference"}

    def test_of_one_file_nothing_else_is_taken(self, check: Grade, root: Path) -> None:
        wrote(root, "s02", passed=True)
        done = check("--submission", str(module(root, "s04")), "--json")
        assert done.json["passed"] and sources(done.json) == {"s02": "given", "s03": "reference"}


class TestWhatGoesWrong:
    def test_an_error_in_an_earlier_module_names_its_file(self, check: Grade, root: Path) -> None:
        own = solution("s03").read_text().replace("steps = {start: 0}", "steps = {start: 0 / 0}")
        wrote(root, "s03", own, passed=True)
        rows = {row["id"]: row for row in check("--json").json["criteria"]}
        assert rows["neighbours"]["status"] == "passed"
        failure = rows["fewest"]["failures"][0]
        line = own[: own.index("0 / 0")].count("\n") + 1
        assert f"raised in stages/s03_graphs/graphs.py, line {line})" in failure["message"]
        assert failure["where"].startswith("stages/s04_ladders/ladders.py:") and failure["help"] is None

    def test_one_that_fails_while_it_is_loaded_names_its_file(self, check: Grade, root: Path) -> None:
        wrote(root, "s03", "\n\nraise KeyError('s03')\n", passed=True)
        said = check("--json").json["problem"]["message"]
        assert said.startswith("stages/s04_ladders/ladders.py fails while it is loaded, raised in ")
        assert "stages/s03_graphs/graphs.py, line 3: KeyError" in said

    def test_a_name_that_is_not_there_is_told_with_those_that_are(self, check: Grade, root: Path) -> None:
        wrote(root, "s04", "from stages.s03_graphs.graphs import steps_to\n")
        said = check("--json").json["problem"]["message"]
        assert (
            "stages.s03_graphs.graphs (the reference of s03) does not define steps_to; it has deque, steps_from" in said
        )

    def test_a_stage_that_is_not_used_cannot_be_imported(self, check: Grade, root: Path) -> None:
        wrote(root, "s04", "from stages.s01_counting.counting import count\n")
        found = check("--json").json["problem"]
        assert found["message"].startswith("line 1: stages.s01_counting.counting.count is imported, but is unavailable")
        may = "stages.s02_distance.distance and stages.s03_graphs.graphs."
        assert (
            found["hint"]
            == f"A stage is one file: copy what you need into ladders.py. Of other stages it may import {may}"
        )

    def test_nor_by_a_way_around_the_text(self, check: Grade, root: Path) -> None:
        wrote(root, "s04", "import importlib\nimportlib.import_module('stages.s01_counting.counting')\n")
        said = check("--json").json["problem"]["message"]
        assert "of other stages there are stages.s02_distance.distance, stages.s03_graphs.graphs" in said


class TestTrust:
    def test_a_learners_file_never_runs_where_the_tests_are(
        self, check: Grade, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        marker = tmp_path / "marker"
        spy = SPY.format(marker=str(marker))
        for stage in ("s02", "s03"):
            wrote(root, stage, solution(stage).read_text() + spy, passed=True)
        monkeypatch.syspath_prepend(str(root))  # as where somebody starts `python -m grader` in the course's folder
        wrong = (
            solution("s04").read_text().replace("== 1", "<= 1").replace("return steps[end]", "return steps[end] + 1")
        )
        wrote(root, "s04", wrong)  # so that reference, mistakes and changes of the reference are run as well
        done = check("--json")
        failures = [failure for row in done.json["criteria"] for failure in row["failures"]]
        assert sources(done.json) == {"s02": "own", "s03": "own"} and not done.json["faults"]
        assert {(failure["diagnosis"] or {}).get("mistake") for failure in failures} >= {"itself-too"}
        assert not marker.exists()

    def test_what_is_imported_of_stages_is_gone_afterwards(self, check: Grade) -> None:
        check("--json")
        assert not [name for name in sys.modules if name.partition(".")[0] == "stages"]


@pytest.mark.full_matrix
def test_where_nothing_forks_it_is_the_same(root: Path) -> None:
    course = load_course(root)
    stage = course.find("s04")
    wrote(root, "s04")

    snapshot = replace(take(stage, None, root), uses=used_modules(stage))
    assert grading.grade(course, stage, snapshot, Options(3, "process", fork=False)).passed


class TestACopy:
    @pytest.fixture
    def copy(self, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], Path]:
        monkeypatch.setattr(releasing, "_own_files", list)

        def released(keyed: bool) -> Path:
            course = load_course(root)
            stages = whole(course, [course.find("s04")])
            assert [stage.id for stage in stages] == ["s01", "s02", "s03", "s04"]
            target = tmp_path / "copy"
            release(course, releasing.Plan(stages, new_key() if keyed else None), target)
            monkeypatch.chdir(target)
            Store(target).record_skip(["s01", "s02", "s03"])
            return target

        return released

    def test_references_data_and_what_is_given_are_the_sealed_ones(
        self, grader: Grade, copy: Callable[[bool], Path]
    ) -> None:
        root = copy(False)
        folder = root / "stages" / "s04_ladders"
        assert (folder / "data" / "words.txt").is_file() and (folder / "data" / "README.md").is_file()
        (folder / "data" / "words.txt").write_text("cat dog")
        (folder / "given" / "s02_distance.py").write_text("raise RuntimeError\n")
        wrote(root, "s04")
        done = grader("check", "s04", "--isolation", "process", "--json")
        assert done.json["passed"] and sources(done.json) == {"s02": "given", "s03": "reference"}, done.out

    def test_nothing_around_the_tests_runs_where_they_do(
        self, grader: Grade, copy: Callable[[bool], Path], tmp_path: Path
    ) -> None:
        root, marker = copy(False), tmp_path / "marker"
        for folder in ("", "s04_ladders/", "s04_ladders/tests/", "s03_graphs/"):
            (root / "stages" / f"{folder}__init__.py").write_text(SPY.format(marker=str(marker)))
        wrote(root, "s04", solution("s04").read_text().replace("== 1", "<= 1"))
        done = grader("check", "s04", "--isolation", "process", "--json")
        assert done.code == 1 and not done.json["faults"] and not marker.exists(), done.out

    def test_without_the_key_the_learners_own_serves_as_it_is(
        self, grader: Grade, copy: Callable[[bool], Path]
    ) -> None:
        root = copy(True)
        wrote(root, "s03")
        wrote(root, "s04")
        done = grader("check", "s04", "--isolation", "process", "--json")
        assert done.json["public_only"] and sources(done.json) == {"s02": "given", "s03": "own"}, done.out
        assert [row["status"] for row in done.json["criteria"]] == ["passed", "passed"]
        (root / "stages" / "s04_ladders" / "data" / "words.txt").write_text("cat dog")
        assert "data/words.txt differs from the released file" in grader("check", "s04", "--isolation", "process").err


class TestPlainPytest:
    def test_a_stage_folder_finds_what_it_builds_on_and_its_data(self, root: Path) -> None:
        wrote(root, "s04")
        wrote(root, "s03", solution("s03").read_text().replace("steps[node] + 1", "steps[node] + 2"))
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "stages/s04_ladders",
            "hidden/s04_ladders",
        ]
        ran = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)
        assert "1 failed, 5 passed" in ran.stdout, (
            ran.stdout
        )  # a public test meets the learner's own s03, no hidden one
        assert "test_a_ladder_through_the_list_of_words" in ran.stdout


def test_a_course_says_what_data_there_are(root: Path) -> None:
    stage = load_course(root).find("s04")
    assert set(content.test_files(stage).data) == {"words.txt"}
    test = root / "stages" / "s04_ladders" / "tests" / "test_ladders.py"
    test.write_text(test.read_text().replace("words.txt", "word.txt"))
    shutil.copy(solution("s04"), module(root, "s04"))
    course = load_course(root)
    stage = course.find("s04")

    snapshot = replace(take(stage, None, root), uses=used_modules(stage))
    verdict = grading.grade(course, stage, snapshot, Options(3, "process"))
    assert verdict.grader_fault
    assert "s04 has no data of the name 'word.txt': its data/ has words.txt" in verdict.criteria[1].failures[0].message
