"""What is counted: by students, by what counts for them, and by all of their attempts where that is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from grader.gradebook import figures
from grader.gradebook.figures import Figures, GradedAttempt, StuckStudent, stuck
from tests.gradebook.made import TEXT, entry, failure, sheet, verdict


def test_pass_rates_count_whoever_handed_in_nothing_and_leave_faults_out() -> None:
    found = Figures()
    found.add(sheet(verdict()))
    found.add(sheet(verdict(quadruple=False), student="bob", points=1.0))
    found.add(sheet(verdict(), student="cy", outcome="missing", points=0.0))
    found.add(sheet(verdict(), student="dee", outcome="fault"))
    (stage,) = found.stages.values()
    assert (stage.passed, stage.students, stage.outcomes["missing"], stage.outcomes["fault"]) == (1, 3, 1, 1)
    assert stage.share == pytest.approx(1 / 3)
    assert {row.id: (row.passed, row.of) for row in stage.criteria.values()} == {"double": (2, 2), "quadruple": (1, 2)}
    assert [row.share for row in stage.criteria.values()] == [1.0, 0.5]


def test_a_mistake_counts_once_for_a_student_and_also_where_a_later_attempt_is_right() -> None:
    found = Figures()
    found.add(sheet(verdict(double=False), verdict(double=False), verdict()))
    found.add(sheet(verdict(double=False), student="bob"))
    assert [(each.criterion, each.text, each.students) for each in found.commonest(5)] == [("double", TEXT, 2)]


def test_the_same_edit_on_another_line_is_the_same_mistake() -> None:
    found = Figures()
    for line in (3, 45):
        told = {"id": f"name-confused-{line}", "text": f"f, line {line}: `x` stands where `y` is needed.", "fix": None}
        failed = verdict(double=False)
        failed["criteria"][0]["failures"] = [failure(cause=told)]
        found.add(sheet(failed, student=f"student {line}"))
    assert [(each.text, each.students) for each in found.commonest(5)] == [("f: `x` stands where `y` is needed.", 2)]


def test_calls_that_were_not_refused_differ_in_what_is_wrong_with_them_and_not_in_numbers() -> None:
    found = Figures()
    for shapes, why in (("(2, 3) and (2,)", "shapes"), ("(3, 1, 4) and (-5,)", "shapes"), ("0", "an empty axis")):
        told = {"id": "refusal-missing", "text": f"f accepts a call ({why}: {shapes}).", "fix": "Check it."}
        failed = verdict(double=False)
        failed["criteria"][0]["failures"] = [failure(cause=told)]
        found.add(sheet(failed, student=shapes))
    assert [(each.text, each.students) for each in found.commonest(5)] == [
        ("f accepts a call (shapes: (2, 3) and (2,)).", 2), ("f accepts a call (an empty axis: 0).", 1),
    ]  # fmt: skip


def test_made_up_mistakes_do_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "MOST_MISTAKES", 2)
    found = Figures()
    for name in "abc":
        failed = verdict(double=False)
        failed["criteria"][0]["failures"] = [failure(cause={"id": name, "text": name * 9999, "fix": name})]
        found.add(sheet(failed, student=name))
    assert [len(each.text) for each in found.commonest(5)] == [figures.MOST_TEXT] * 2


@pytest.mark.parametrize(
    ("verdicts", "rows"),
    [
        ([verdict(double=False)], None),
        ([verdict(double=False)] * 2, ("double",)),
        ([verdict(double=False), verdict(quadruple=False)], None),
        ([verdict(double=False), verdict(quadruple=False)] * 2, ()),
        ([verdict(double=False)] * 4 + [verdict()], None),
        ([], None),
    ],
    ids=["one attempt", "a row that never passes", "other rows", "many attempts", "passed at last", "no attempt"],
)
def test_who_is_stuck(verdicts: list[dict[str, object]], rows: tuple[str, ...] | None) -> None:
    counts = verdicts[-1] if verdicts else verdict(double=False)
    tries = sheet(*verdicts).tries["s01"] if verdicts else ()
    found = stuck(entry(counts), tries)
    assert (None if found is None else found.criteria) == rows


def test_points_fall_into_tenths_and_a_full_mark_stands_alone() -> None:
    found = Figures()
    for place, points in enumerate((0.0, 0.2, 1.99, 2.0, 3.0)):
        found.add(sheet(verdict(), student=str(place), points=points))
    assert found.stages["s01"].bins == [1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2]


def test_times_are_of_every_attempt() -> None:
    found = Figures()
    found.add(sheet(*[verdict()] * 21))
    assert found.stages["s01"].times == (10.5, 19.5, 20.5)
    assert figures.StageFigures("s02").times is None


def test_rows_are_counted_of_those_whose_module_ran() -> None:
    found = Figures()
    found.add(sheet(verdict()))
    problem = {"kind": "import", "message": "torch is imported, which is not available", "line": 1, "hint": None}
    found.add(sheet(verdict(double=False, quadruple=False, problem=problem), student="bob", points=0.0))
    assert {row.id: (row.passed, row.of) for row in found.stages["s01"].criteria.values()} == {
        "double": (1, 1), "quadruple": (1, 1),
    }  # fmt: skip


def test_causes_of_zeros_are_counted_whatever_the_line() -> None:
    found = Figures()
    for name, line in (("ada", 3), ("bob", 45)):
        told = {"kind": "import", "message": f"torch is imported (line {line})", "line": line, "hint": None}
        found.add(sheet(verdict(False, False, problem=told), student=name, points=0.0))
    gone = {"kind": "missing", "message": "cy: nothing was handed in", "line": None, "hint": None}
    found.add(sheet(verdict(False, False, criteria=[], problem=gone), student="cy", outcome="missing", points=0.0))
    assert [(each.kind, each.cause, each.students) for each in found.nothing_earned(5)] == [
        ("imports what is not there", "torch is imported", ["ada", "bob"]), ("nothing handed in", "", ["cy"]),
    ]  # fmt: skip
    assert [line.reason for line in found.lines] == [
        "s01: imports what is not there: torch is imported", "s01: imports what is not there: torch is imported",
        "s01: nothing handed in",
    ]  # fmt: skip


def test_causes_of_zeros_are_one_whatever_their_numbers_and_each_student_reads_their_own() -> None:
    found = Figures()
    for name, size in (("ada", "2,000,000"), ("bob", "3,000,000")):
        told = {"kind": "rejected", "message": f"it has {size} bytes", "line": None, "hint": None}
        found.add(sheet(verdict(criteria=[], problem=told), student=name, outcome="rejected", points=0.0))
    told = {"kind": "rejected", "message": "it is saved as UTF-16", "line": None, "hint": None}
    found.add(sheet(verdict(criteria=[], problem=told), student="cy", outcome="rejected", points=0.0))
    assert [(each.cause, each.students) for each in found.nothing_earned(5)] == [
        ("it has # bytes", ["ada", "bob"]), ("it is saved as UTF-16", ["cy"]),
    ]  # fmt: skip
    assert found.lines[0].reason == "s01: cannot be accepted: it has 2,000,000 bytes"


def test_a_cause_that_names_the_student_is_one_for_all() -> None:
    found = Figures()
    for name in ("ada", "bob"):
        message = f"{name}: hw.py has the functions of x.py under another name"
        told = {"kind": "missing", "message": message, "line": None}
        found.add(sheet(verdict(criteria=[], problem=told), student=name, outcome="missing", points=0.0))
    assert [(each.cause, each.students) for each in found.nothing_earned(5)] == [
        ("hw.py has the functions of x.py under another name", ["ada", "bob"])
    ]


def test_each_student_has_what_lacks_beside_the_points() -> None:
    found = Figures()
    found.add(sheet(verdict()))
    found.add(sheet(verdict(double=False), student="bob", points=1.0))
    found.add(sheet(verdict(), student="cy", outcome="fault"))
    assert [line.reason for line in found.lines] == ["", f"s01: double: {TEXT}", "s01: the grader failed"]


def test_one_slip_that_several_rows_show_counts_once() -> None:
    found = Figures()
    found.add(sheet(verdict(double=False, quadruple=False)))
    assert [(each.criterion, each.students) for each in found.commonest(5)] == [("double", 1)]


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("`-1` is needed (in line {} too).", "`-1` is needed."),
        ("`-1` is needed (in line {} and 9 too).", "`-1` is needed."),
        ("It was still in the loop of line {} after a while.", "It was still in the loop after a while."),
        ("The name is used in line {}.", "The name is used."),
    ],
)
def test_a_mistake_is_one_whatever_the_lines_that_it_names(told: str, kept: str) -> None:
    found = Figures()
    for name, line in (("ada", 3), ("bob", 45)):
        cause = {"id": "x", "criterion": "double", "line": line, "text": told.format(line), "fix": ""}
        wrong = verdict(double=False)
        wrong["criteria"][0]["failures"] = [failure(cause=cause)]
        found.add(sheet(wrong, student=name))
    assert [(each.text, each.students) for each in found.commonest(5)] == [(kept, 2)]


def test_a_mistake_names_each_criterion_that_it_hits_and_counts_once() -> None:
    found = Figures()
    failed = verdict(double=False, quadruple=False)
    found.add(sheet(failed))
    (made,) = found.commonest(5)
    assert (made.criterion, made.hits, made.students) == ("double", {"double", "quadruple"}, 1)


@pytest.mark.parametrize(("attempts", "is_stuck"), [(1, False), (2, True), (5, True)])
@pytest.mark.parametrize("outcome", ["graded", "rejected"])
def test_who_hands_in_again_and_again_what_does_not_run_is_stuck(
    attempts: int, is_stuck: bool, outcome: Literal["graded", "rejected"]
) -> None:
    broken = verdict(double=False, quadruple=False, problem={"kind": "syntax", "message": "invalid", "hint": None})
    tries = (GradedAttempt(broken, 0.5),) * (attempts if outcome == "graded" else 0)
    found = stuck(replace(entry(broken, outcome=outcome), attempts=attempts), tries)
    assert found == (StuckStudent("ada", "s01", attempts, (), ran=False) if is_stuck else None)


def test_a_matrix_holds_the_state_of_each_criterion_and_how_it_came_out() -> None:
    found = Figures()
    syntax = verdict(double=False, quadruple=False, problem={"kind": "syntax", "message": "invalid", "hint": None})
    edges = verdict(double=False)
    edges["criteria"][0]["values_right"] = True
    found.add(sheet(syntax, student="al", points=0.0))
    found.add(sheet(edges, student="bob", points=1.0), "bob.html")
    found.add(sheet(verdict(), student="cy", outcome="missing", points=0.0))
    found.add(sheet(verdict(), student="dee"))
    lines = sorted(found.stages["s01"].matrix, key=lambda line: line.order)
    assert [(line.student, line.outcome, line.signs, line.page) for line in lines] == [
        ("dee", "passed", "✓✓", ""), ("bob", "1 of 2", "◐✓", "bob.html"), ("al", "Python cannot read it", "", ""),
        ("cy", "nothing handed in", "", ""),
    ]  # fmt: skip
