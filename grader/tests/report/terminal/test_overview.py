"""The screens around a check: what is left, by the course's estimates, and the next milestone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grader.course.manifest import load_course
from grader.progress.actions import Standing
from grader.progress.state import Progress
from grader.report.terminal.layout import Look
from grader.report.terminal.overview import home_lines, status_document, status_lines
from grader.tests.support.places import ROOT

COURSE = load_course(ROOT)
LOOK = Look(80)


def standings(*states: str, **more: Any) -> tuple[Standing, ...]:
    """Return how the course's first stages stand; each takes two hours, and the third has a milestone."""
    found = []
    for stage, state in zip(COURSE.stages, states, strict=False):
        milestone = "you can fly" if stage.id == "s03" else ""
        made = replace(stage, **{"hours": 2.0, "milestone": milestone, **more})
        found.append(Standing(made, state, False, ()))  # type: ignore[arg-type]
    first = next((place for place, each in enumerate(found) if each.state == "open"), None)
    return tuple(replace(each, is_current=place == first) for place, each in enumerate(found))


def status(*states: str, **more: Any) -> list[str]:
    return [line.plain for line in status_lines(COURSE, standings(*states, **more), LOOK)]


def test_hours_are_shown_of_what_is_left() -> None:
    lines = status("passed", "skipped", "open", "locked")
    assert [line.endswith("2 h") for line in lines[1:5]] == [False, False, True, True]
    assert lines[5].startswith("About 4 hours are left. After s03 you can fly: ")


def test_a_milestone_that_is_reached_is_not_told_again() -> None:
    assert status("passed", "passed", "passed", "open")[5:] == ["About 2 hours are left."]


def test_without_estimates_and_milestones_nothing_is_said() -> None:
    lines = status("open", "locked", "locked", hours=0.0, milestone="")
    assert len(lines) == 4 and not any(" h" in line[-3:] for line in lines)


def test_the_document_has_both() -> None:
    found = status_document(standings("passed", "open", "locked"), Progress(), "0.1.0")["stages"]
    assert [(each["hours"], each["milestone"]) for each in found] == [(2.0, None), (2.0, None), (2.0, "you can fly")]


def test_a_fresh_folder_is_greeted_in_six_lines() -> None:
    lines = [line.plain for line in home_lines(COURSE, standings("open", "locked"), None, LOOK)]
    assert lines[0] == f"Welcome to {COURSE.settings.title}: 2 stages, about 4 hours."
    assert len(lines) == 6
    later = [line.plain for line in home_lines(COURSE, standings("passed", "open"), None, LOOK)]
    assert not any("Welcome" in line for line in later)


def test_a_long_path_in_place_of_grader_leaves_six_lines_of_80_columns() -> None:
    look = Look(80, grader="'/home/somebody/a folder/.venv/bin/grader'")
    lines = [line.plain for line in home_lines(COURSE, standings("open", "locked"), None, look)]
    assert len(lines) == 6 and max(map(len, lines)) <= 80
    assert lines[3].endswith(" show s01    read it")
    longest = Look(80, grader=f"/home/{'x' * 50}/grader")
    assert len(home_lines(COURSE, standings("open", "locked"), None, longest)) == 6


def test_every_stage_has_an_estimate_and_what_has_a_milestone_can_be_explored() -> None:
    from drawings.plans import PLANS

    assert all(stage.hours for stage in COURSE.stages)
    with_one = {stage.id for stage in COURSE.stages if stage.milestone}
    assert "s12" in with_one and with_one <= set(PLANS)
