"""Modules that answer now so, now otherwise, leave something behind, hang or end: nothing is gained by any of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.isolation import tiers
from grader.judging.recall import inquiry
from grader.judging.recall.inquiry import Inquiry
from grader.tests.judging.recall.conftest import Keep
from grader.tests.judging.recall.keeping import ALL, ALWAYS, RIGHT, Kept, plain

pytestmark = [
    pytest.mark.skipif(not tiers.FORKS, reason="needs forks"),
    pytest.mark.usefixtures("brief_search"),
    pytest.mark.full_matrix("grader/watching", "grader/remote", "grader/worker"),
]
FLAKY = RIGHT.replace(
    "    def double(x):",
    """
    def count():
        try:
            calls = int(open("calls").read()) + 1
        except OSError:
            calls = 1
        open("calls", "w").write(str(calls))
        return calls

    def double(x):""",
)


def test_drawing_as_one_likes_is_no_reason_to_run_everything(keep: Keep) -> None:
    kept = keep()
    drawing = RIGHT.replace(
        "return 2 * x", "return 2 * x + (1e-13 * np.random.default_rng().random() if np.ndim(x) else 0)"
    )
    for _ in range(4):
        assert kept.grade(drawing).verdict.passed
    assert kept.ran == sorted([*ALWAYS, "test_drawn"])


def test_a_module_that_answers_now_so_now_otherwise_has_all_tests_run(kept: Kept) -> None:
    """The first answers of a worker are others, and right as well: the second test passes, and is known for others."""
    flaky = FLAKY.replace("return 2 * x", "return 2 * x + 0.0 * count() if count() < 5 else 2 * x")
    assert kept.grade(flaky).verdict.passed
    assert kept.ran == ALL


def test_of_one_that_leaves_something_behind_all_tests_are_run_that_lead_there(kept: Kept) -> None:
    leaving = RIGHT.replace("return 2 * x", "double.calls = getattr(double, 'calls', 0) + 1\n        return 2 * x")
    found = kept.grade(leaving)
    assert found.verdict.passed and set(kept.ran) == set(ALL) - {"test_one_half", "test_nothing"}


@pytest.mark.parametrize("then", ["(state + 1) % 5", "int(np.ndim(x) == 0 and x != 1)"])
def test_what_one_test_leaves_and_a_later_one_takes_away_is_seen_between_them(
    kept: Kept, forgetful: Kept, then: str
) -> None:
    given = f"global state\n        s, state = state, {then}\n        return 2 * x if s or not np.ndim(x) else 0 * x"
    turning = RIGHT.replace("    def double(x):", "    state = 0\n\n    def double(x):").replace("return 2 * x", given)
    expected = plain(forgetful.grade(turning))
    assert expected[1]["test_drawn"][0] == "failed"
    assert plain(kept.grade(turning)) == expected


def test_what_depends_on_what_was_left_fails_as_ever(kept: Kept) -> None:
    later = RIGHT.replace(
        "return 2 * x",
        "double.n = getattr(double, 'n', 0) + 1\n        return 2 * x if double.n < 2 else x",
    )
    assert [kept.grade(later).outcomes[name].status for name in ("test_one", "test_twice")] == ["passed", "failed"]


def test_one_that_hangs_is_waited_for_no_longer_than_ever(kept: Kept) -> None:
    hanging = RIGHT.replace("return x / 2", "import time; time.sleep(60)")
    found = kept.grade(hanging)
    assert (found.row("double"), found.row("half")) == ("passed", "timed_out")
    assert found.outcomes["test_nothing"].status in ("passed", "timed_out")


def test_a_judge_that_dies_of_it_costs_nothing(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.setattr(Inquiry, "mark", lambda *_: os._exit(1))
    found = kept.grade(RIGHT)
    assert found.verdict.passed and kept.ran == ALL


def test_a_module_that_lost_the_class_of_a_name_is_asked_anew(kept: Kept) -> None:
    found = kept.grade(RIGHT.replace("    def double(x):\n        return 2 * x", "    double = 2 .__mul__"))
    assert found.row("double") in ("passed", "failed")
    assert "test_one" in kept.ran


PEEKS = RIGHT.replace(
    "    def double(x):",
    """
    import gc

    def double(x):
        for each in gc.get_objects():
            if type(each).__name__ == "Channel" and (each._end > each._start or each.pending()):
                return None""",
)


def test_questions_are_sent_ahead(kept: Kept) -> None:
    """The next may hold the answer to the last; so nothing that is recorded rests on what is answered here."""
    assert kept.grade(PEEKS).verdict.passed
    assert "test_twice" in kept.ran  # it saw the second question


def test_questions_take_a_small_part_of_the_stages_time(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inquiry, "PART", 0.0)
    monkeypatch.setattr(inquiry, "TESTS_AT_ONCE", 2)
    assert kept.grade(RIGHT.replace("import", "LIMIT = 1\n    import")).verdict.passed
    assert {*ALWAYS} < {*kept.ran} < {*ALL}  # those of one process were asked, and then the time was over


def test_who_takes_longer_than_a_call_may_is_not_known_for_the_answer(
    keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = keep()
    assert kept.grade(RIGHT).verdict.passed
    stage = kept.grader.stage
    kept.grader.stage = replace(stage, limits=replace(stage.limits, call_seconds=0.2))
    found = kept.grade(RIGHT.replace("return x / 2", "import time; time.sleep(0.35); return x / 2"))
    assert found.row("half") == "timed_out"
