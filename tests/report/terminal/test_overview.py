"""The screens around a check: what is left, by the course's estimates, and the next milestone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grader.course.manifest import load_course
from grader.progress.hints import Hint
from grader.progress.last_check import CriterionCheck
from grader.progress.readme_steps import ReadmeStep, StepTime
from grader.progress.standings import Standing
from grader.progress.state import Progress
from grader.report.terminal.layout import Look
from grader.report.terminal.overview import hint_lines, home_lines, status_document, status_lines
from tests.support.places import ROOT

COURSE = load_course(ROOT)
LOOK = Look(80)


TIMES = {stage.id: (StepTime(1, "add", 90), StepTime(2, "halve", 30)) for stage in COURSE.stages}  # two hours each
STEP = ReadmeStep(2, "halve", "", "", (), minutes=30)


def standings(*states: str, **more: Any) -> tuple[Standing, ...]:
    """Return how the course's first stages stand, the third of which has a milestone."""
    found = []
    for stage, state in zip(COURSE.stages, states, strict=False):
        milestone = "you can fly" if stage.id == "s03" else ""
        made = replace(stage, **{"milestone": milestone, **more})
        found.append(Standing(made, state, False, ()))  # type: ignore[arg-type]
    first = next((place for place, each in enumerate(found) if each.state == "open"), None)
    return tuple(replace(each, is_current=place == first) for place, each in enumerate(found))


def status(
    *states: str, times: Mapping[str, tuple[StepTime, ...]] = TIMES, step: ReadmeStep | None = None, **more: Any
) -> list[str]:
    return [line.plain for line in status_lines(COURSE, standings(*states, **more), times, step, LOOK)]


def test_hours_are_shown_of_what_is_left() -> None:
    lines = status("passed", "skipped", "open", "locked")
    assert [line.endswith("2 h") for line in lines[1:5]] == [False, False, True, True]
    assert lines[5].startswith("About 4 hours are left, an estimate. After s03 you can fly:")


def test_a_milestone_that_is_reached_is_not_told_again() -> None:
    assert status("passed", "passed", "passed", "open")[5:] == ["About 2 hours are left, an estimate."]


def test_stages_that_are_done_are_counted_where_the_screen_is_too_low_for_all() -> None:
    states = standings(*("passed",) * 3, *("skipped",) * 5, "passed", "open", "locked", "locked")
    low = [line.plain for line in status_lines(COURSE, states, TIMES, None, replace(LOOK, height=14))]
    assert [(line.split()[1], line.rstrip().rpartition("  ")[2]) for line in low[1:4]] == [
        ("s01", "3 stages passed"), ("s04", "5 stages skipped"), ("s09", "passed"),
    ]  # fmt: skip
    assert low[1].split()[1:4] == ["s01", "to", "s03"] and low[4].startswith("→ s10")
    high = [line.plain for line in status_lines(COURSE, states, TIMES, None, replace(LOOK, height=15))]
    assert len(high) == 14 and high[:1] == low[:1]


def test_the_step_to_work_on_is_shown_with_its_minutes() -> None:
    said = "Step 2 of 2 (about 30 minutes): halve; `grader next` shows it."
    assert " ".join(status("passed", "open", step=STEP)[3:]).startswith(said)
    untimed = replace(STEP, minutes=None)
    assert status("passed", "open", step=untimed)[3].startswith("Step 2 of 2: halve; `grader next` shows it.")


def test_a_stage_is_shown_to_half_an_hour() -> None:
    times = {**TIMES, "s01": (StepTime(1, "add", 70), StepTime(2, "halve", None)), "s02": (StepTime(1, "add", 5),)}
    lines = status("open", "locked", times=times)
    assert lines[1].endswith(" · 1 h") and lines[2].endswith(" · 0.5 h")
    assert lines[3].startswith("About 1 hour is left, an estimate.")


def test_without_estimates_and_milestones_nothing_is_said() -> None:
    lines = status("open", "locked", "locked", times={}, milestone="")
    assert len(lines) == 4 and not any(" h" in line[-3:] for line in lines)


def test_the_document_has_both() -> None:
    document = status_document(standings("passed", "open", "locked"), TIMES, STEP, Progress(), "0.1.0")
    assert document["step"] == 2
    found = document["stages"]
    assert [(each["minutes"], each["milestone"]) for each in found] == [(120, None), (120, None), (120, "you can fly")]
    assert found[0]["steps"][1] == {"number": 2, "title": "halve", "minutes": 30}
    without = status_document(standings("open"), {}, None, Progress(), "0.1.0")
    assert (without["step"], without["stages"][0]["minutes"], without["stages"][0]["steps"]) == (None, None, [])


def test_a_fresh_folder_is_greeted_in_six_lines() -> None:
    lines = [line.plain for line in home_lines(COURSE, standings("open", "locked"), None, TIMES, LOOK)]
    assert lines[0] == f"Welcome to {COURSE.settings.title}: 2 stages, about 4 hours."
    assert len(lines) == 6
    later = [line.plain for line in home_lines(COURSE, standings("passed", "open"), None, TIMES, LOOK)]
    assert not any("Welcome" in line for line in later)


def test_a_long_path_in_place_of_grader_leaves_six_lines_of_80_columns() -> None:
    look = Look(80, grader="'/home/somebody/a folder/.venv/bin/grader'")
    lines = [line.plain for line in home_lines(COURSE, standings("open", "locked"), None, TIMES, look)]
    assert len(lines) == 6 and max(map(len, lines)) <= 80
    assert lines[3].endswith(" show s01    read it")
    longest = Look(80, grader=f"/home/{'x' * 50}/grader")
    assert len(home_lines(COURSE, standings("open", "locked"), None, TIMES, longest)) == 6


def test_what_has_a_milestone_can_be_explored() -> None:
    from drawings.plans import PLANS

    with_one = {stage.id for stage in COURSE.stages if stage.milestone}
    assert "s12" in with_one and with_one <= set(PLANS)


def test_after_the_last_hint_each_command_begins_as_the_grader_was_started() -> None:
    stage = COURSE.stages[0]
    hint = Hint(stage.criteria[0], "Sum.", 3, 3)
    told = " ".join(line.plain for line in hint_lines(stage, hint, replace(LOOK, grader="uv run grader")))
    assert "uv run grader solution s01 dot-product --give-up" in told and "uv run grader show s01 dot-product" in told


def test_the_criteria_of_the_stage_that_is_worked_on_stand_below_it_as_check_shows_them() -> None:
    stage = COURSE.find("s01")
    first, second, third, *rest = (row.id for row in stage.criteria)
    found = (
        CriterionCheck(first, "passed", 5, 5), CriterionCheck(second, "passed", 3, 4, lacking={"refusals": (0, 1)}),
        CriterionCheck(third, "failed", 2, 4), *(CriterionCheck(each, "not_started") for each in rest),
    )  # fmt: skip
    first_, *others = standings("open", "locked")
    here = (replace(first_, criteria=found), *others)
    lines = [line.plain for line in status_lines(COURSE, here, TIMES, None, LOOK)]
    assert [line[:30] for line in lines[1:6]] == [
        "→ s01 · Matrix operations     ",
        "    ✓      1 criterion passes",
        f"    ✓ 3/4  {stage.criterion(second).text}"[:30],
        " " * 30,
        f"    ✗ 2/4  {stage.criterion(third).text}"[:30],
    ]
    assert lines[4].endswith("1 of 1 refusals missing") and lines[6] == f"    ○      {len(rest)} criteria not started"
    assert lines[7].startswith("· s02") and max(map(len, lines)) <= 80
