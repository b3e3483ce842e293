"""The screens around a check: where am I and what next, the table of stages, a hint, what the doctor found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

from grader.report.terminal.layout import INDENT, Look, fitting, heading, paragraph, row, side_by_side
from grader.report.terminal.words import (
    all_of,
    count,
    kind_of_criterion,
    lacking_words,
    left_words,
    note_choices,
    passing_words,
    reached_of,
    stages_words,
    tests_words,
)
from grader.shell import typed

if TYPE_CHECKING:
    from rich.text import Text

    from grader.course.stage import Course, Stage
    from grader.doctor.health import Finding
    from grader.outcome import Status
    from grader.progress.hints import Hint
    from grader.progress.last_check import CriterionCheck
    from grader.progress.readme_steps import ReadmeStep, StepTime
    from grader.progress.standings import Standing
    from grader.progress.state import Progress

    Times = Mapping[str, tuple[StepTime, ...]]  # of the steps of a stage, by its id

SCHEMA = 1
STATUS_SCHEMA = 2  # of `status --json`
STATES = {
    "passed": "passed",
    "changed": "changed since it passed",
    "public": "public tests pass",
    "skipped": "skipped",
    "open": "open",
}
STEPS = ("a question", "the idea", "almost the answer")  # of the three hints that a criterion has
ENDS: dict[Status, str] = {"crashed": "crashed", "timed_out": "timed out", "over_limit": "went over a limit"}
TOPIC = 23  # columns for the name of what was looked at
TO_DO = ("open", "locked")
LEVELS = {"ok": "passed", "warning": "warning", "broken": "failed"}


def home_lines(
    course: Course, standings: tuple[Standing, ...], last: str | None, times: Times, look: Look
) -> list[Text]:
    """Return where the learner is and the commands that lead on; times says how long the steps of stages take."""
    here = next((each for each in standings if each.is_current), None)
    if here is not None and last is None and all(each.state in ("open", "locked") for each in standings):
        return _greeting(course, here.stage, standings, times, look)
    lines = _title(course, standings, look)
    if here is None:
        lines += paragraph(
            look.command("Every stage is passed or skipped. `grader status` lists them."), look, indent=0
        )
        return lines
    stage = here.stage
    lines += paragraph(f"\nYou are at {stage.id} · {stage.title}.", look, "bold", indent=0)
    lines += paragraph(f"You write stages/{stage.name}/{stage.module}.\n", look, indent=0)
    commands = [
        ("grader next", "the step to work on: what it is about, and what to write", "the step to work on"),
        ("grader check", "grade what you have written", "grade it"),
        (f"grader hint {stage.id}", "one step further, each time you ask", "one step further"),
        ("grader status", "all stages", "all stages"),
    ]
    return lines + _commands(commands, look)


def _greeting(course: Course, stage: Stage, standings: tuple[Standing, ...], times: Times, look: Look) -> list[Text]:
    """Return the six lines that somebody reads first: where to begin, and with which commands."""
    hours = _hours([each.stage for each in standings], times)
    size = ", ".join(filter(None, [_count(len(standings)), hours and f"about {hours}"]))
    lines = paragraph(f"Welcome to {course.settings.title}: {size}.", look, indent=0)
    lines += paragraph(f"You are at {stage.id} · {stage.title}.", look, "bold", indent=0)
    lines += paragraph(f"You write stages/{stage.name}/{stage.module}.", look, indent=0)
    commands = [
        (f"grader show {stage.id}", "read it: the idea, and what to write", "read it"),
        ("grader check", "grade what you have written", "grade it"),
    ]
    if course.settings.demo is not None:
        commands += [("grader demo", "see a half-finished stage graded", "see one graded")]
    elif len(standings) > 1:
        commands += [("grader next", "the step to work on, at any time", "the step to do")]
    return lines + _commands(commands, look)


def _count(stages: int) -> str:
    return "1 stage" if stages == 1 else f"{stages} stages"


def _commands(commands: list[tuple[str, str, str]], look: Look) -> list[Text]:
    """Return commands below each other, each with what it does, in few words or none where there is no room for more.

    The command may be a long path.
    """
    typed = [look.command(command) for command, _, _ in commands]
    width = max(map(len, typed)) + 4
    room = look.detail - INDENT - width
    chosen = next((each for each in (1, 2) if max(len(command[each]) for command in commands) <= room), 0)
    told = [
        f"{text:<{width}}{command[chosen] if chosen else ''}" for text, command in zip(typed, commands, strict=True)
    ]
    return [line for text in told for line in paragraph(text, look)]


def status_lines(
    course: Course, standings: tuple[Standing, ...], times: Times, step: ReadmeStep | None, look: Look
) -> list[Text]:
    """Return the table of stages; times says how long their steps take, step is the one to work on.

    Where the screen is too low for all, those that passed or were skipped in a row are counted.
    """
    title, ahead = _title(course, standings, look), _ahead(course, standings, times, step, look)
    stages = [_stage_lines(each, times, look) for each in standings]
    if look.height is not None and len(title) + sum(map(len, stages)) + len(ahead) >= look.height:
        runs = groupby(zip(standings, stages, strict=True), lambda each: (each[0].state, each[0].is_current))
        stages = [_folded(list(run), look) if state in ("passed", "skipped") else [*chain(*(lines for _, lines in run))]
                  for (state, _), run in runs]  # fmt: skip
    return [*title, *chain(*stages), *ahead]


def _folded(run: list[tuple[Standing, list[Text]]], look: Look) -> list[Text]:
    """Return stages of one state on one line, if that is less."""
    first, last = run[0][0], run[-1][0]
    told = f"{_count(len(run))} {STATES[first.state]}"
    return row(first.state, f"{first.stage.id} to {last.stage.id}", told, look) if len(run) > 1 else run[0][1]


def _stage_lines(each: Standing, times: Times, look: Look) -> list[Text]:
    """Return the line of a stage, and below that of the current one its criteria."""
    kind = "current" if each.is_current else each.state
    status = "you are here" if each.is_current else STATES.get(each.state, f"waits for {', '.join(each.waits_for)}")
    status += _reached(each) + (f" · {len(each.seen)} seen" if each.seen else "")
    if each.state in TO_DO and (minutes := _minutes(each.stage, times)):
        status += f" · {_spent(minutes)}"
    lines = row(kind, f"{each.stage.id} · {each.stage.title}", status, look)
    return lines + (_criteria(each.stage, each.criteria, look) if each.is_current else [])


def _criteria(stage: Stage, criteria: Sequence[CriterionCheck], look: Look) -> list[Text]:
    """Return the criteria of a stage below its line: those that do not pass each on one, the others counted."""
    from rich.text import Text

    robust = [each for each in criteria if each.robust]
    left = [each for each in criteria if each.status in ("not_started", "blocked")]
    if len(left) == len(criteria):
        return []
    look = replace(look, width=look.width - INDENT)
    width = max(len(tests_words(each)) for each in criteria)
    lines: list[Text] = []
    for each in criteria:
        if each not in robust and each not in left:
            told = f"{tests_words(each):>{width}}  {stage.criterion(each.id).text}"
            lines += row(kind_of_criterion(each), told, fitting(told, note_choices(each), look), look)
    if robust:
        lines[:0] = row("passed", f"{'':{width}}  {passing_words(len(robust))}", "", look)
    if left:
        lines += row("not_started", f"{'':{width}}  {left_words(left)}", "", look)
    return [Text(" " * INDENT) + line for line in lines]


def _reached(standing: Standing) -> str:
    """Return how many criteria pass and are robust, where a check has found that and it says more than the state."""
    found = standing.reached
    if found is None or standing.state not in ("passed", "changed", "public", "open"):
        return ""
    if found.passed < found.criteria:
        return f" · {reached_of(found.passed, found.criteria, found.robust)}"
    return "" if found.robust == found.criteria else f" · {found.robust} of {count(found.criteria, 'criterion')} robust"


def _ahead(
    course: Course, standings: tuple[Standing, ...], times: Times, step: ReadmeStep | None, look: Look
) -> list[Text]:
    """Return the step to work on, what is left by the course's estimates, and the next milestone."""
    left = [each.stage for each in standings if each.state in TO_DO]
    here = next((each.stage for each in standings if each.is_current), None)
    said = []
    if here is not None and step is not None:
        time = f" (about {step.minutes} minutes)" if step.minutes else ""
        said.append(f"Step {step.number} of {len(times[here.id])}{time}: {step.title}; `grader next` shows it.")
    if hours := _hours(left, times):
        said.append(f"About {hours} {'is' if hours == '1 hour' else 'are'} left, an estimate.")
    stage = next((each for each in left if each.milestone), None)
    if stage is not None:
        shown = f": `grader explore {stage.id}` shows yours" if course.settings.drawings is not None else ""
        said.append(f"After {stage.id} {stage.milestone}{shown}.")
    return paragraph(look.command(" ".join(said)), look, "dim", indent=0) if said else []


def _hours(stages: list[Stage], times: Times) -> str:
    """Return how long stages take together, in whole hours, as the sum of estimates is no better known than that."""
    minutes = sum(_minutes(stage, times) for stage in stages)
    return count(max(1, round(minutes / 60)), "hour") if minutes else ""


def _minutes(stage: Stage, times: Times) -> int:
    """Return how long a stage takes: the sum of its steps, 0 where they say nothing."""
    return sum(step.minutes or 0 for step in times.get(stage.id, ()))


def _spent(minutes: int) -> str:
    """Return a stage's time to half an hour."""
    return f"{max(1, round(minutes / 30)) / 2:g} h"


def status_document(
    standings: tuple[Standing, ...], times: Times, step: ReadmeStep | None, progress: Progress, course: str
) -> dict[str, Any]:
    """Return the table of stages as values that JSON has; minutes are estimates, null where the course has none."""
    here = next((each.stage.id for each in standings if each.is_current), None)
    stages = [
        {
            "id": each.stage.id,
            "title": each.stage.title,
            "state": each.state,
            "waits_for": list(each.waits_for) if each.state == "locked" else [],
            "minutes": _minutes(each.stage, times) or None,
            "steps": [asdict(time) for time in times.get(each.stage.id, ())],
            "milestone": each.stage.milestone or None,
            "counts": None if each.reached is None else asdict(each.reached),
            "seen": list(each.seen),
            "passed_at": progress.passed[each.stage.id].when if each.stage.id in progress.passed else None,
        }
        for each in standings
    ]
    return {
        "schema": STATUS_SCHEMA,
        "course": course,
        "current": here,
        "step": None if step is None else step.number,
        "stages": stages,
        "notice": progress.notice,
    }


def hint_lines(stage: Stage, hint: Hint, look: Look) -> list[Text]:
    """Return what the last check found of a criterion, a hint, and how to get the next one."""
    criterion_id = hint.criterion.id
    lines = paragraph(hint_title(stage, hint), look, "bold", 0) + hint_told(stage, hint, look)
    more = f"one step further: {look.command(f'grader hint {stage.id} {criterion_id}')}"
    if hint.is_fix or (hint.number == hint.total and not hint.has_fix):
        more = f"the idea behind it: {look.command(f'grader show {stage.id} {criterion_id}')}"
    elif hint.number == hint.total:
        more = f"fix it: {look.command(f'grader hint {stage.id} {criterion_id}')} --fix"
    return [*lines, *side_by_side([more], look)]


def hint_title(stage: Stage, hint: Hint) -> str:
    """Return of which criterion a hint is, and which of how many."""
    if hint.is_fix:
        return f"{stage.id} · {hint.criterion.text} · what to write"
    if not hint.number:
        return f"{stage.id} · {hint.criterion.text} · what the last check found"
    step = f"hint {hint.number} of {hint.total}" + (f", {STEPS[hint.number - 1]}" if hint.total == len(STEPS) else "")
    return f"{stage.id} · {hint.criterion.text} · {step}"


def after_last(stage: Stage, hint: Hint) -> str:
    """Return what a learner can do whom the last hint has not helped; nothing before the last one."""
    if hint.number < hint.total or hint.has_fix:
        return ""
    if not hint.can_be_seen:
        return "This is the last hint. If it does not help, ask your instructor: the solution is sealed in this copy."
    return f"this is the last hint; the function itself: `grader solution {stage.id} {hint.criterion.id} --give-up`"


def hint_words(stage: Stage, hint: Hint) -> str:
    """Return a hint in one paragraph, for a page that shows what the check found beside it."""
    head = f"Hint {hint.number} of {hint.total}" if hint.number else "What to do"
    last = after_last(stage, hint)
    return typed(f"{head}: {hint.text}" + (f" {last[0].upper()}{last[1:]}" if last else ""))


def hint_told(stage: Stage, hint: Hint, look: Look) -> list[Text]:
    """Return what the last check found of a criterion, the hint itself and, after the last one, what is left to do."""
    about = about_criterion(hint.about)
    if hint.about is not None and hint.about.mistake:
        about = look.prose(about)
    told = paragraph(f"The last check: {about}", look, "yellow") if about else []
    told += paragraph(look.prose(hint.text), look)
    if not (last := look.command(after_last(stage, hint))):
        return told
    return told + (side_by_side([last.replace("`", "")], look) if hint.can_be_seen else paragraph(last, look, "dim"))


def about_criterion(found: CriterionCheck | None) -> str:
    """Say in a sentence what a check found wrong in a criterion; nothing where none was made, or nothing was begun."""
    if found is None or found.status in ("not_started", "grader_fault"):
        return ""
    if found.status == "blocked":
        return f"This criterion waits for {all_of(found.waits_for)}." if found.waits_for else ""
    if found.status == "passed" and found.robust:
        return ""
    if found.mistake:
        return found.mistake
    if found.status in ENDS:
        return f"A test {ENDS[found.status]}."
    counts = lacking_words(found.kinds) or f"{found.tests_passed} of {count(found.tests_total, 'test')} pass"
    return f"{counts[0].upper()}{counts[1:]}."


def finding_lines(finding: Finding, look: Look) -> list[Text]:
    """Return one finding of the doctor, with what to do about it."""
    from rich.text import Text

    mark, style = look.mark(LEVELS[finding.level])
    label = Text.assemble((mark, style), f" {finding.topic:<{TOPIC}}")
    lines = paragraph(finding.what, look, indent=label.cell_len)
    lines[0] = label + lines[0][label.cell_len :]
    return lines + (
        paragraph(look.command(finding.remedy), look, "yellow", indent=label.cell_len) if finding.remedy else []
    )


def _title(course: Course, standings: tuple[Standing, ...], look: Look) -> list[Text]:
    states = [each.state for each in standings]
    return heading(course.settings.title, stages_words(states), look.bar(states.count("passed"), len(states)), look)
