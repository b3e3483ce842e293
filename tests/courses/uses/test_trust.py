"""A learner's module of an earlier stage never runs where the tests are."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from grader.course.manifest import load_course
from grader.judging.grading import Grader, Options
from grader.submission import take
from grader.submission.earlier import used_modules
from tests.courses.conftest import solution
from tests.courses.uses.building import SPY, Grade, module, sources, wrote

pytestmark = pytest.mark.usefixtures("brief_search")


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
        path = wrote(root, "s04", wrong)  # so that reference, mistakes and changes of the reference are run as well
        for folder in (root / "stages", path.parent, path.parent / "tests"):
            (folder / "__init__.py").write_text(spy)  # as an editor makes them
        done = check("--json")
        failures = [failure for row in done.json["criteria"] for failure in row["failures"]]
        assert sources(done.json) == {"s02": "own", "s03": "own"} and not done.json["faults"]
        assert {(failure["cause"] or {}).get("id") for failure in failures} >= {"itself-too"}
        assert not marker.exists()

    def test_a_grader_that_is_kept_for_a_class_runs_references_only(
        self, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        marker = tmp_path / "marker"
        module(root, "s03").write_text(SPY.format(marker=str(marker)) + "raise NotImplementedError\n")
        monkeypatch.syspath_prepend(str(root))  # as an editable install of the course does
        course = load_course(root)
        stage = course.find("s04")
        snapshots = []
        for name, text in (("wrong", "return steps[end] + 1"), ("right", "return steps[end]")):
            path = tmp_path / f"{name}.py"
            path.write_text(solution("s04").read_text().replace("return steps[end]", text))
            snapshots.append(replace(take(stage, path, root), uses=used_modules(stage)))
        with Grader(course, stage, warm=True) as grader:
            wrong, right = (grader.grade(each, Options(3, "process")) for each in snapshots)
        assert not wrong.faults and not wrong.passed and right.passed
        assert not marker.exists()

    def test_what_is_imported_of_stages_is_gone_afterwards(self, check: Grade) -> None:
        before = {name for name in sys.modules if name.partition(".")[0] == "stages"}
        check("--json")
        assert {name for name in sys.modules if name.partition(".")[0] == "stages"} == before
