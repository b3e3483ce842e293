"""The README of a stage as a learner reads it, and its steps: parts that each end with what to write now.

A step is a section headed `### Step 4: cut and join`, with a sentence that names its functions and the command that
checks them, and the criteria as items of a checklist, `- [ ] merge puts together what cut has cut`. The part of the
page that belongs to it begins where the step before ends, at the first section of the page for the first. Below the
heading stands how long the step takes, `*About 25 minutes (an estimate).*`; the number stands nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader import __version__
from grader.course.formulas import in_words
from grader.course.stage import STAGES, Course, Criterion, Stage
from grader.course.table import near
from grader.errors import CourseError, UsageError
from grader.progress.workspace import Workspace

if TYPE_CHECKING:
    from grader.progress.last_check import LastCheck

# Patterns are compiled where they are first used: `grader status` needs few of them.
_HEADING = r"(#{1,6}) +(.+?) *#* *$"
_STEP = r"##(?<=^##)#{0,2} +Step +(\d+): *(.+?) *$"  # Python looks fast for what begins with a plain text
_MINUTES = r"(?m)^\*About (\d+) minutes \(an estimate\)\.\*$"
_TIMED = rf"(?m){_STEP}(?:\n+{_MINUTES.removeprefix('(?m)^')})?"
_ITEM = r"[-*] \[[ xX]\] +(.+?) *$"
_FENCE = r" {0,3}(`{3,}|~{3,})"
FORM = "### Step 1: what it is about"


@dataclass(frozen=True)
class ReadmeStep:
    """One step: its number, its title, the text that leads to it and tells it, and the ids of its criteria.

    task is the step's own section; unknown holds items of its checklist that are no criterion of the stage. minutes is
    how long it takes by the page's estimate, None where the page says nothing.
    """

    number: int
    title: str
    text: str
    task: str
    criteria: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    minutes: int | None = None


@dataclass(frozen=True)
class StepTime:
    """How long a step takes by the page's estimate: its number, its title, its minutes; None where it says nothing."""

    number: int
    title: str
    minutes: int | None


@dataclass(frozen=True)
class _Section:
    """A heading, its level, and all lines up to the next heading, its own included."""

    heading: str
    level: int
    text: str


def steps_of(stage: Stage, text: str) -> tuple[ReadmeStep, ...]:
    """Return the steps of a README in its order; none where it has none."""
    ids = {plain(each.text): each.id for each in stage.criteria}
    found: list[ReadmeStep] = []
    part: list[str] = []
    above = ""  # the heading of the chapter that the part stands in
    for section in _sections(text):
        if section.level == 1:
            part = []
            continue
        step = re.match(_STEP, section.heading)
        if section.level == 2 and step is None:
            above = section.heading
        elif not part and above:
            part.append(f"{above}\n\n")
        part.append(section.text)
        if step is not None:
            items = _items(section.text)
            criteria = tuple(ids[item] for item in items if item in ids)
            unknown = tuple(item for item in items if item not in ids)
            said = re.search(_MINUTES, section.text)
            minutes = int(said[1]) if said else None
            found.append(ReadmeStep(int(step[1]), step[2], "".join(part), section.text, criteria, unknown, minutes))
            part = []
    return tuple(found)


def times_of(stage: Stage) -> tuple[StepTime, ...]:
    """Return how long each step of a stage takes, without reading the rest of its page; none where there is no page.

    `grader status` reads 22 pages for it.
    """
    try:
        text = stage.readme_path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ()
    found = re.finditer(_TIMED, text)
    return tuple(StepTime(int(step[1]), step[2], int(step[3]) if step[3] else None) for step in found)


def with_minutes(text: str, minutes: Mapping[int, int]) -> str:
    """Return a README whose steps say how long they take; of other lines none is changed.

    >>> with_minutes("### Step 1: add up\\n\\nNow write `total`.\\n", {1: 25})
    '### Step 1: add up\\n\\n*About 25 minutes (an estimate).*\\n\\nNow write `total`.\\n'
    """

    def timed(step: re.Match[str]) -> str:
        heading = step[0].splitlines()[0]
        number = int(step[1])
        return f"{heading}\n\n*About {minutes[number]} minutes (an estimate).*" if number in minutes else step[0]

    return re.sub(_TIMED, timed, text)


def _sections(text: str) -> Iterator[_Section]:
    """Yield what stands below each heading; a line of code that begins with # is none."""
    heading, level, lines, fence = "", 1, [], ""
    for line in text.splitlines(keepends=True):
        if (mark := re.match(_FENCE, line)) is not None and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        found = None if fence else re.match(_HEADING, line)
        if found is None:
            lines.append(line)
            continue
        yield _Section(heading, level, "".join(lines))
        heading, level, lines = line.rstrip(), len(found[1]), [line]
    yield _Section(heading, level, "".join(lines))


def _items(text: str) -> list[str]:
    return [plain(found[1]) for line in text.splitlines() if (found := re.match(_ITEM, line)) is not None]


def plain(text: str) -> str:
    """Return a criterion's text as it is compared: without the marks of code, with one kind of minus."""
    return " ".join(text.replace("`", "").replace("\N{MINUS SIGN}", "-").split())


def asked(stage: Stage, steps: tuple[ReadmeStep, ...], name: str) -> tuple[ReadmeStep, ...]:
    """Return the steps that somebody means: the one of a number, or those of a criterion, a function or a method.

    Raises UsageError, with what there is, where nothing is meant; a README without steps has none for any criterion.
    """
    if not steps and stage.asked(name):
        return ()
    if name.isdigit():
        found = tuple(step for step in steps if step.number == int(name))
    else:
        meant = {each.id for each in stage.meant(name)}
        found = tuple(step for step in steps if meant & set(step.criteria))
    if not found:
        names = {known: known for each in stage.criteria for known in (each.id, *each.functions)}
        alike = [] if name.isdigit() else near(name, names)
        near_one = f"Did you mean {alike[0]}? " if alike else ""
        raise UsageError(f"{name!r} is not a step, criterion or function of {stage.id}", f"{near_one}{_listing(steps)}")
    return found


def _listing(steps: tuple[ReadmeStep, ...]) -> str:
    lines = [f"{step.number:>4}  {', '.join(step.criteria)}" for step in steps]
    return "\n".join(["The steps and their criteria:", *lines])


def shown(stage: Stage, steps: tuple[ReadmeStep, ...], step: ReadmeStep, name: str = "") -> str:
    """Return one step as a page of its own: where it is, its part of the README, and how to go on.

    The hint that it offers is for the criterion that name means, a criterion or a function, and by default for the
    step's first.
    """
    time = f", about {step.minutes} minutes" if step.minutes else ""
    head = f"# {stage.id} · {stage.title}: step {step.number} of {len(steps)}{time}\n\n"
    last = step is steps[-1]
    on = "This is the last step" if last else f"The next step: `grader show {stage.id} {step.number + 1}`"
    meant = [each.id for each in stage.meant(name) if each.id in step.criteria] if name else []
    criterion = next(iter([*meant, *step.criteria]), None)
    help_ = f". Stuck? `grader hint {stage.id} {criterion}`.\n" if criterion is not None else ".\n"
    return f"{head}{step.text.rstrip()}\n\n{on}{help_}"


def faults(stage: Stage, steps: tuple[ReadmeStep, ...]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the steps of a README, and how to mend it; nothing where all is well."""
    if not steps:
        yield "the README has no steps", f"end each part with a section `{FORM}` (docs/course.md)"
        return
    if [step.number for step in steps] != list(range(1, len(steps) + 1)):
        numbers = ", ".join(str(step.number) for step in steps)
        yield f"the steps of the README are numbered {numbers}", "number them 1, 2, 3 in the page's order"
    placed = [criterion for step in steps for criterion in step.criteria]
    for each in stage.criteria:
        if (times := placed.count(each.id)) != 1:
            said = "no step" if times == 0 else f"{times} steps"
            yield f"criterion {each.id} belongs to {said} of the README", f"write `- [ ] {each.text}` in one step"
    order = [other.id for other in stage.criteria if other.id in placed]
    if sorted(placed) == sorted(order) and placed != order:
        wrong = next(place for place, (here, there) in enumerate(zip(placed, order, strict=True)) if here != there)
        yield (
            f"criterion {placed[wrong]} stands in the README where {order[wrong]} is due",
            "give page and manifest one order",
        )
    for step in steps:
        yield from _task_faults(stage, steps, step)


def _task_faults(stage: Stage, steps: tuple[ReadmeStep, ...], step: ReadmeStep) -> Iterator[tuple[str, str]]:
    for item in step.unknown:
        yield f"step {step.number} of the README has an item that is no criterion: {item}", "copy the criterion's text"
    if not step.criteria and not step.unknown:
        yield f"step {step.number} of the README has no criterion", "end it with `- [ ]` and the text of a criterion"
    if f"`grader check {stage.id}`" not in " ".join(step.task.split()):
        yield f"step {step.number} of the README does not say how to check it", f"write `grader check {stage.id}`"
    earlier = {
        name
        for other in steps
        if other.number < step.number
        for each in other.criteria
        for name in _functions(stage, each)
    }
    code = " ".join(re.findall(r"`([^`]+)`", step.task))
    for criterion in (stage.criterion(each) for each in step.criteria):
        names = _functions(stage, criterion.id)
        new = [name for name in names if name not in earlier]
        if missing := [name for name in new if not _is_named(name, code)]:
            yield (
                f"step {step.number} of the README does not name {missing[0]}",
                "name what is to be written, in backticks",
            )
        elif not any(_is_named(name, code) for name in names):
            yield (
                f"step {step.number} of the README names no function of criterion {criterion.id}",
                "name one, in backticks",
            )


def _functions(stage: Stage, criterion_id: str) -> tuple[str, ...]:
    """Return what a learner writes for a criterion: its functions, without special methods and plain attributes."""
    criterion: Criterion = stage.criterion(criterion_id)
    return tuple(name for name in criterion.functions if "__" not in name)


def _is_named(name: str, code: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name.rpartition('.')[2])}(?!\w)", code) is not None


_PICTURE_OR_CODE = (
    r"(?ms)^(?P<fence>`{3,}|~{3,}).*?(?:^(?P=fence)|\Z)|(?P<ticks>`+)[^`\n]*(?P=ticks)"
    r"|!\[(?P<markdown>[^]]*)\]\([^)\n]*\)"
    r"""|(?:<picture>\s*(?:<source\b[^>]*>\s*)*)?<img\b[^>]*?\balt="(?P<html>[^"]*)"[^>]*>(?:\s*</picture>)?"""
)


def readme(stage: Stage) -> str:
    """Return a stage's README for a terminal: with what each picture shows in its place, and formulas in plain text."""
    return _page(stage.readme_path)


def other_page(course: Course, name: str) -> str:
    """Return a page beside the stages, or that of a folder there; empty where a stage is meant, or nothing."""
    known = {stage.name for stage in course.stages}
    if not name.isidentifier() or name in known:
        return ""
    paths = (course.root / STAGES / name / "README.md", course.root / STAGES / f"{name}.md")
    return next((_page(path) for path in paths if path.is_file()), "")


def _page(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        shown = path.as_posix().rpartition(f"/{STAGES}/")[2]
        raise CourseError(f"{STAGES}/{shown} cannot be read: {error}") from error
    return re.sub(_PICTURE_OR_CODE, _told, in_words(text))


def part(stage: Stage, name: str) -> str:
    """Return the step of a README that a number, a criterion or a function means, as a page; UsageError where none is.

    A README that is not divided into steps is returned whole for any of its criteria.
    """
    text = readme(stage)
    steps = steps_of(stage, text)
    return "\n".join(shown(stage, steps, step, name) for step in asked(stage, steps, name)) or text


def _told(found: re.Match[str]) -> str:
    """Return a picture as one line of text, and code as it is."""
    told = found["markdown"] if found["markdown"] is not None else found["html"]
    return found[0] if told is None else f"Picture: {' '.join(told.split())}"


def next_criterion(workspace: Workspace, stage: Stage) -> Criterion | None:
    """Return the criterion to work on, as the last check left it, of whatever text: the first one before any check.

    None where every criterion passed.
    """
    found = last_seen(workspace, stage)
    if found is None:
        return None if stage.id in workspace.store.read().passed else stage.criteria[0]
    return stage.criterion(found.open[0].id) if found.open else None


def next_step(workspace: Workspace, stage: Stage) -> ReadmeStep | None:
    """Return the step of the criterion to work on; None where all passed, or where the page has no such step."""
    criterion = next_criterion(workspace, stage)
    if criterion is None or not stage.readme_path.is_file():
        return None
    return next((step for step in steps_of(stage, readme(stage)) if criterion.id in step.criteria), None)


def last_seen(workspace: Workspace, stage: Stage) -> LastCheck | None:
    """Return what the last check of a stage found, of whatever text."""
    if not workspace.store.folder.is_dir():  # nothing was ever recorded
        return None
    from grader.progress.last_check import recall

    return recall(workspace.store.folder, stage, None, __version__)
