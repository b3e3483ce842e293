"""The hints of a criterion, the remedy for what a check found in it, and last its function as the reference has it.

Three hints are the course's. Where the values are right, what is missing beside them comes before the last of the
three; after it comes what to write where a check found the fault.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from grader.course.answers import reference_source, stub_source
from grader.course.sealed import public_only
from grader.course.stage import Criterion, Stage
from grader.course.stub import excerpt_of
from grader.criterion import Kind
from grader.errors import CourseError, ProgressError, SealError, StageLocked, UsageError
from grader.progress.actions import Workspace, checked, last_checked
from grader.progress.last_check import CriterionCheck
from grader.progress.state import Progress

REMEDIES: Mapping[Kind, str] = {
    "edges": "The values are right but for an edge case{example}. Work this call out by hand, and find the first line "
    "of {name} that does not give what you expect.",
    "purity": "The values are right, but an argument is changed{example}. `x = x + 1` makes a new array, while "
    "`x += 1`, `x[...] = 1` and `x.sort()` change the one that the caller goes on using.",
    "refusals": "The values are right; what is missing is an error for bad input{example}. Compare what the docstring "
    "of {name} refuses with what your code checks before it computes.",
    "dtype": "The values are right; the dtype is not{example}. Follow the dtype through {name}, line by line: "
    "`np.zeros` and `np.empty` make float64 unless they get a dtype.",
}


def remedy_of(criterion: Criterion, about: CriterionCheck) -> str:
    """Return what to do about what a check found in a criterion; empty where nothing is known that fits."""
    lacking = [each.kind for each in about.kinds] if about.is_nearly_done else []
    kind = next((each for each in REMEDIES if each in lacking), None)
    if kind is None:
        return ""
    example = f": {about.example.rstrip('.')}" if about.example else ""
    return REMEDIES[kind].format(example=example, name=criterion.functions[0])


MARK = 16  # characters of a digest that tell one remedy from another


@dataclass(frozen=True)
class Hint:
    """One hint of a criterion: its text, which of how many it is, from 1, and what the last check found of it.

    number is 0 where the text is what to do about what the check found: is_fix says that it is what to write in place
    of the fault that was named, has_fix that this is there to be asked for. can_be_seen says whether the reference can
    be shown here after the last hint. unrecorded says why it is not recorded that the hint was shown, where that is so:
    it comes again next time.
    """

    criterion: Criterion
    text: str
    number: int
    total: int
    about: CriterionCheck | None = None
    can_be_seen: bool = True
    unrecorded: str = ""
    is_fix: bool = False
    has_fix: bool = False


def next_hint(workspace: Workspace, stage: Stage, criterion: str | None, fix: bool = False) -> Hint | None:
    """Return the next hint of a criterion, by default of the first that does not pass; None where all pass.

    What the last check found counts while the module is as it was then; else it is graded here, without recording. A
    function that stands in several criteria means the first of them that does not pass. A criterion that passes without
    all of its robustness gets a hint, with what is missing, where it is asked for.

    Where the values are right, what to do about the rest comes first, and the last of the course's hints follows: the
    first two lead to values. After the last hint, or with fix at once, comes the fix of the cause that the check named;
    UsageError where fix asks for one and no cause is named.
    """
    meant = stage.meant(criterion) if criterion is not None else stage.criteria
    if criterion is not None and len(meant) < 2:
        meant = (stage.asked(criterion),)
    asked = meant[0].id if criterion is not None else None
    known = last_checked(workspace, stage)
    if len(meant) > 1 or fix or (known is not None and asked is not None):
        known = checked(workspace, stage, asked)
    ids = [each.id for each in meant]
    lacking = () if known is None else known.open if criterion is None else (*known.open, *known.not_robust)
    about = next((each for each in lacking if each.id in ids), None)
    if about is None and criterion is None:
        return None
    chosen = meant[0] if about is None else stage.criterion(about.id)
    if fix and (about is None or not about.fix):
        message = f"the last check named no cause in {chosen.id} of {stage.id}, so that there is no fix to show"
        raise UsageError(message, f"`grader hint {stage.id} {chosen.id}` helps one step further.")
    progress, total, unrecorded = workspace.store.read(), len(chosen.hints), ""
    remedy = _untold(progress, stage, chosen, about)
    least = total if about is not None and about.is_nearly_done else 1
    place = 0
    has_fix = about is not None and bool(about.fix)
    is_fix = has_fix and (fix or (not remedy and _told(progress, stage, chosen) == total))
    if about is not None and is_fix:
        remedy = about.fix
    try:
        if remedy:
            workspace.store.record_remedy(stage.id, chosen.id, _mark(remedy))
        else:
            place = workspace.store.next_hint(stage.id, chosen.id, total, least)
    except ProgressError as error:  # a disk that is full keeps nobody from a hint
        place = min(max(_told(progress, stage, chosen), least - 1), total - 1)
        unrecorded = error.message
    text, number = (remedy, 0) if remedy else (chosen.hints[place], place + 1)
    return Hint(chosen, text, number, total, about, not public_only(stage), unrecorded, is_fix, has_fix)


def hints_left(workspace: Workspace, stage: Stage, criterion: Criterion) -> int:
    """Return how often a criterion's next hint has to be asked for until the last one has been shown."""
    progress = workspace.store.read()
    left = len(criterion.hints) - _told(progress, stage, criterion)
    if not left:
        return 0
    known = last_checked(workspace, stage)
    lacking = () if known is None else (*known.open, *known.not_robust)
    about = next((each for each in lacking if each.id == criterion.id), None)
    left = 1 if about is not None and about.is_nearly_done else left
    return left + bool(_untold(progress, stage, criterion, about))


def _told(progress: Progress, stage: Stage, criterion: Criterion) -> int:
    return min(progress.hints.get(f"{stage.id}/{criterion.id}", 0), len(criterion.hints))


def _untold(progress: Progress, stage: Stage, criterion: Criterion, about: CriterionCheck | None) -> str:
    """Return the remedy of what the last check found, unless that, or the fix after it, was told last."""
    if about is None or not (text := remedy_of(criterion, about)):
        return ""
    told = progress.remedies.get(f"{stage.id}/{criterion.id}")
    return "" if told in (_mark(text), _mark(about.fix)) else text


def _mark(remedy: str) -> str:
    return hashlib.sha256(remedy.encode()).hexdigest()[:MARK]


@dataclass(frozen=True)
class Seen:
    """What was shown of a criterion: functions of the reference, the private helpers that these need, and their text.

    when is the time of the first showing; None where the stage had passed, so that nothing is recorded.
    """

    criterion: Criterion
    functions: tuple[str, ...]
    helpers: tuple[str, ...]
    text: str
    when: str | None


def is_new(workspace: Workspace, stage: Stage, criterion: Criterion) -> bool:
    """Say whether showing a criterion would be recorded now.

    Raises SealError where the reference is sealed and its key is somewhere else, StageLocked before the last hint.
    """
    if public_only(stage):
        message = f"the solution of {stage.id} is sealed in this copy of the course, and the key to it is not here"
        remedy = f"Ask your instructor about {criterion.id}; `grader show {stage.id} {criterion.id}` explains the step."
        raise SealError(message, remedy)
    progress = workspace.store.read()
    if stage.id in progress.passed or criterion.id in progress.seen_of(stage):
        return False
    if left := hints_left(workspace, stage, criterion):
        message = f"{criterion.id} is shown after its last hint, and {left} hint{' is' if left == 1 else 's are'} left"
        raise StageLocked(message, f"`grader hint {stage.id} {criterion.id}` shows the next one.")
    return True


def shown(workspace: Workspace, stage: Stage, criterion: Criterion, now: datetime) -> Seen:
    """Return the function of a criterion as the reference has it, and record that; the stage can still be passed.

    It is recorded first: what cannot be recorded, a ProgressError, is not shown. Raises what is_new raises, too.
    """
    new = is_new(workspace, stage, criterion)
    functions = subjects(stage, criterion)
    others = {name for other in stage.criteria for name in other.functions} - {*criterion.functions}
    found = excerpt_of(reference_source(stage), stub_source(stage), functions, others)
    if not found.text.strip():
        raise CourseError(f"the reference of {stage.id} has no {functions[0]}", "Its author has to add it.")
    progress = workspace.store.record_seen(stage.id, criterion.id, now) if new else workspace.store.read()
    return Seen(criterion, functions, found.helpers, found.text, progress.seen.get(f"{stage.id}/{criterion.id}"))


def subjects(stage: Stage, criterion: Criterion) -> tuple[str, ...]:
    """Return the functions and methods that a criterion is about; a class belongs to the first criterion that names it.

    Later criteria that name it as well build on it.
    """
    used = {name for other in stage.criteria[: stage.criteria.index(criterion)] for name in other.functions}
    classes = {name for name in used if name[:1].isupper() and "." not in name}
    return tuple(name for name in criterion.functions if name not in classes) or criterion.functions
