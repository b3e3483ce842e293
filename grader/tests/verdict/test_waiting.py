"""Which row waits for another: only one of which no test has failed by itself."""

from __future__ import annotations

from dataclasses import replace

from grader.course.stage import Criterion
from grader.outcome import Outcome, Status
from grader.tests.verdict.decided import HINTS, LEADS, RUN, STAGE, row
from grader.verdict import CriterionResult, decide


def attention(
    *outcomes: Outcome, reaches: dict[str, frozenset[str]] | None = None, scores: Status = "failed"
) -> CriterionResult:
    """The row that needs scores, where scores are as said; outcomes are those of its own tests."""
    others = [("public::scores", "scores", False), ("hidden::scores", "scores", True)]
    others += [("hidden::weights", "weights", True)]
    statuses: dict[str, Status] = {"scores": scores, "weights": "passed"}
    fixed = [Outcome(test, name, hidden, statuses[name], kind="values") for test, name, hidden in others]
    expected = [*others, *((each.test, each.criterion, each.hidden) for each in outcomes)]
    return row(decide(STAGE, expected, [*fixed, *outcomes], RUN, reaches=reaches or LEADS), "attention")


def failed(*called: str, number: int = 1, status: Status = "failed") -> Outcome:
    return Outcome(f"hidden::{number}", "attention", True, status, called=called)


def test_a_row_whose_function_never_leads_to_what_it_needs_shows_its_failure() -> None:
    found = attention(failed("attention"), reaches={"attention": frozenset({"weights"})})
    assert (found.status, found.waits_for, len(found.failures)) == ("failed", (), 1)


def test_one_that_leads_there_waits() -> None:
    found = attention(failed("attention"))
    assert (found.status, found.waits_for) == ("blocked", ("scores",))


def test_one_whose_test_calls_it_waits() -> None:
    found = attention(failed("scores", "attention"), reaches={"weights": frozenset({"scores"})})
    assert (found.status, found.waits_for) == ("blocked", ("scores",))


def test_one_test_that_failed_by_itself_is_enough_and_is_told_first() -> None:
    tests = failed("attention"), failed("Attention.forward", number=2), failed("attention", number=3)
    found = attention(*tests)
    assert found.status == "failed" and found.waits_for == ()
    assert [failure.test for failure in found.failures] == ["hidden::2", "hidden::1", "hidden::3"]


def test_an_object_that_was_made_stands_for_none_of_its_methods() -> None:
    leads = {"Attention": frozenset({"scores"})}
    assert attention(failed("Attention"), reaches=leads).status == "failed"
    assert attention(failed("Attention", "Attention.forward"), reaches=leads).waits_for == ("scores",)


def test_beside_a_function_that_was_called_in_vain_it_is_shown_as_well() -> None:
    vain = Outcome("hidden::2", "attention", True, "blocked", waits_on="scores")
    by_itself = attention(failed("Attention.forward"), vain, scores="not_started")
    assert by_itself.status == "failed" and by_itself.failures[0].test == "hidden::1"
    assert attention(vain, scores="not_started").waits_for == ("scores",)


def test_a_method_that_no_row_names_belongs_to_the_row_of_its_class() -> None:
    rows = (
        Criterion("forward", "goes forward", ("Layer",), (), HINTS),
        Criterion("backward", "goes back", ("Layer.backward", "Layer"), ("forward",), HINTS),
    )
    stage = replace(STAGE, criteria=rows)
    expected = [("hidden::forward", "forward", True), ("hidden::backward", "backward", True)]
    called = "Layer", "Layer.forward", "Layer.backward"
    outcomes = [Outcome(*expected[0], "failed"), Outcome(*expected[1], "failed", called=called)]
    assert row(decide(stage, expected, outcomes, RUN), "backward").waits_for == ("Layer",)
    outcomes[1] = replace(outcomes[1], called=("Layer", "Layer.backward"))
    assert row(decide(stage, expected, outcomes, RUN), "backward").status == "failed"
