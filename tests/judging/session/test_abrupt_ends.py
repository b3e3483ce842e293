"""What leaves, crashes, hangs or takes too much ends its own test, and no other."""

from __future__ import annotations

import pytest

from grader.judging import grading
from tests.conftest import SmallCourse
from tests.judging.session.doubling import HIDDEN, MANIFEST, PUBLIC, SOLUTION, changed

pytestmark = pytest.mark.usefixtures("brief_search")


class TestLearners:
    @pytest.mark.parametrize(
        ("body", "status", "said"),
        [
            ("import sys; sys.exit(0)", "failed", "left with sys.exit()"),
            ("import os; os._exit(0)", "crashed", "ended with exit code 0"),
            ("import os; os.kill(os.getpid(), 11)", "crashed", "segmentation fault"),
            ("while True: pass", "timed_out", "did not return within 1 s"),
            ("return np.zeros(1 << 40)", "over_limit", "takes 8388608 MB, more than the 256 MB"),
            ("return np.array([object()])", "failed", "dtype object"),
            ("return np.ma.masked_array(2 * x)", "failed", "MaskedArray"),
        ],
        ids=["sys.exit", "os._exit", "signal", "hang", "memory", "object array", "masked array"],
    )
    def test_what_ends_badly_ends_alone(self, course: SmallCourse, body: str, status: str, said: str) -> None:
        graded = course.grade(changed("out[...] = 1", body.replace("2 * x", "out")))
        assert (graded.outcomes["test_fill"].status, graded.row("fill")) == (status, status)
        assert said in graded.outcomes["test_fill"].message
        assert graded.row("double") == graded.row("quadruple") == "passed" and not graded.verdict.grader_fault

    def test_a_function_that_hangs_costs_its_row_one_wait_and_the_next_row_nothing(self, course: SmallCourse) -> None:
        source = changed("return double(double(x))", "return 4 * x").replace("return 2 * x", "while True: pass")
        graded = course.grade(source)
        assert "skipped: " in graded.outcomes["test_random"].message and graded.row("double") == "timed_out"
        assert graded.outcomes["test_quadruple"].status == graded.outcomes["test_fill"].status == "passed"
        assert not graded.verdict.grader_fault

    @pytest.mark.full_matrix
    def test_a_row_that_hangs_in_another_s_function_waits_for_it(self, course: SmallCourse) -> None:
        graded = course.grade(changed("return 2 * x", "while True: pass"))
        rows = {row.id: (row.status, row.waits_for) for row in graded.verdict.criteria}
        assert (rows["double"], rows["quadruple"]) == (("timed_out", ()), ("blocked", ("double",)))

    @pytest.mark.full_matrix
    def test_it_waits_a_tenth_where_the_function_took_the_whole_time_before(
        self, small_course: SmallCourse, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("grader.judging.outcomes.LEAST_AGAIN", 0.1)
        manifest = MANIFEST.replace("call_seconds = 1\n", "call_seconds = 3\n")
        small_course.write(manifest=manifest, solution=SOLUTION, public=PUBLIC, hidden=HIDDEN)
        graded = small_course.grade(changed("return 2 * x", "while True: pass"))
        told = [outcome.message for outcome in graded.outcomes.values() if outcome.status == "timed_out"]
        assert "double did not return within 3 s" in told
        assert "quadruple did not return within 0.3 s, after 3 s in an earlier test" in told

    @pytest.mark.full_matrix
    def test_a_stage_that_takes_too_long_is_cut(
        self, small_course: SmallCourse, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(grading, "LOAD", small_course.root / "nothing tells")
        manifest = MANIFEST.replace("stage_seconds = 30", "stage_seconds = 4")  # a busy machine takes one to begin
        manifest = manifest.replace("call_seconds = 1\n", "call_seconds = 4\n")
        marker = small_course.root / "a_late_test_ran"
        hidden = HIDDEN.replace("out = np.zeros(2)", f"open({str(marker)!r}, 'w').close(); out = np.zeros(2)")
        small_course.write(manifest=manifest, solution=SOLUTION, public=PUBLIC, hidden=hidden)
        graded = small_course.grade(changed("return 2 * x", "import time; time.sleep(60)"))
        assert not marker.exists()
        assert {outcome.status for outcome in graded.outcomes.values()} == {"timed_out"} and len(graded.outcomes) == 6
        assert "was used up before this test" in graded.outcomes["test_fill"].message
        cut = "the time that the whole stage may take was used up while "
        assert any(outcome.message.startswith(cut) for outcome in graded.outcomes.values())
        assert not graded.verdict.grader_fault

    @pytest.mark.parametrize(("load", "statuses"), [("0.1 0 0 1/9 9", {"timed_out"}), ("99 0 0 1/9 9", {"passed"})])
    def test_on_a_crowded_machine_the_stage_has_more_time(
        self, load: str, statuses: set[str], small_course: SmallCourse, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(grading, "LOAD", small_course.root / "load")
        grading.LOAD.write_text(load)
        monkeypatch.setattr(grading, "MOST_PATIENCE", 3000.0)
        monkeypatch.setattr(grading, "SPARE", 3000.0)
        manifest = MANIFEST.replace("stage_seconds = 30", "stage_seconds = 0.01").replace(
            "call_seconds = 1", "call_seconds = 0.01"
        )
        small_course.write(manifest=manifest, solution=SOLUTION, public=PUBLIC, hidden=HIDDEN)
        assert {outcome.status for outcome in small_course.grade(SOLUTION).outcomes.values()} == statuses
