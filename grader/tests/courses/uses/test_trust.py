"""A learner's module of an earlier stage never runs where the tests are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from grader.tests.courses.conftest import solution
from grader.tests.courses.uses.building import SPY, Grade, sources, wrote

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
        wrote(root, "s04", wrong)  # so that reference, mistakes and changes of the reference are run as well
        done = check("--json")
        failures = [failure for row in done.json["criteria"] for failure in row["failures"]]
        assert sources(done.json) == {"s02": "own", "s03": "own"} and not done.json["faults"]
        assert {(failure["diagnosis"] or {}).get("mistake") for failure in failures} >= {"itself-too"}
        assert not marker.exists()

    def test_what_is_imported_of_stages_is_gone_afterwards(self, check: Grade) -> None:
        check("--json")
        assert not [name for name in sys.modules if name.partition(".")[0] == "stages"]
