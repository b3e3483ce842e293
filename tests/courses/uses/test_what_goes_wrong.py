"""An error that comes from an earlier stage's module names that module's file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.courses.conftest import solution
from tests.courses.uses.building import Grade, wrote

pytestmark = pytest.mark.usefixtures("brief_search")


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
