"""The hints of a row: the three that the course has for it, and last what to write where a check found the fault.

Where the values are right, what is missing beside them comes before the last of the three.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from grader.course.sealed import public_only
from grader.course.stage import Criterion, Stage
from grader.errors import ProgressError, UsageError
from grader.progress.actions import Workspace
from grader.progress.last_check import RowCheck
from grader.progress.lessons import checked, last_checked
from grader.progress.remedies import remedy_of
from grader.progress.state import Progress

MARK = 16  # characters of a digest that tell one remedy from another


@dataclass(frozen=True)
class Hint:
    """One hint of a row: its text, which of how many it is, from 1, and what the last check found of the row.

    number is 0 where the text is what to do about what the check found: is_fix says that it is what to write in place
    of the fault that was named, has_fix that this is there to be asked for. can_be_seen says whether the reference can
    be shown here after the last hint. unrecorded says why it is not recorded that the hint was shown, where that is so:
    it comes again next time.
    """

    criterion: Criterion
    text: str
    number: int
    total: int
    about: RowCheck | None = None
    can_be_seen: bool = True
    unrecorded: str = ""
    is_fix: bool = False
    has_fix: bool = False


def next_hint(workspace: Workspace, stage: Stage, criterion: str | None, fix: bool = False) -> Hint | None:
    """Return the next hint of a row, by default of the first that does not pass; None where all pass.

    What the last check found counts while the module is as it was then; else it is graded here, without recording. A
    function that stands in several rows means the first of them that does not pass. A row that passes without all of
    its robustness gets a hint, with what is missing, where it is asked for.

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
    ids = [row.id for row in meant]
    lacking = () if known is None else known.open if criterion is None else (*known.open, *known.not_robust)
    about = next((row for row in lacking if row.id in ids), None)
    if about is None and criterion is None:
        return None
    row = meant[0] if about is None else stage.criterion(about.id)
    if fix and (about is None or not about.fix):
        message = f"the last check named no cause in {row.id} of {stage.id}, so that there is no fix to show"
        raise UsageError(message, f"`grader hint {stage.id} {row.id}` helps one step further.")
    progress, total, unrecorded = workspace.store.read(), len(row.hints), ""
    remedy = _untold(progress, stage, row, about)
    least = total if about is not None and about.is_nearly_done else 1
    place = 0
    has_fix = about is not None and bool(about.fix)
    is_fix = has_fix and (fix or (not remedy and _told(progress, stage, row) == total))
    if about is not None and is_fix:
        remedy = about.fix
    try:
        if remedy:
            workspace.store.record_remedy(stage.id, row.id, _mark(remedy))
        else:
            place = workspace.store.next_hint(stage.id, row.id, total, least)
    except ProgressError as error:  # a disk that is full keeps nobody from a hint
        place = min(max(_told(progress, stage, row), least - 1), total - 1)
        unrecorded = error.message
    text, number = (remedy, 0) if remedy else (row.hints[place], place + 1)
    return Hint(row, text, number, total, about, not public_only(stage), unrecorded, is_fix, has_fix)


def hints_left(workspace: Workspace, stage: Stage, row: Criterion) -> int:
    """Return how often a row's next hint has to be asked for until the last one has been shown."""
    progress = workspace.store.read()
    left = len(row.hints) - _told(progress, stage, row)
    if not left:
        return 0
    known = last_checked(workspace, stage)
    lacking = () if known is None else (*known.open, *known.not_robust)
    about = next((each for each in lacking if each.id == row.id), None)
    left = 1 if about is not None and about.is_nearly_done else left
    return left + bool(_untold(progress, stage, row, about))


def _told(progress: Progress, stage: Stage, row: Criterion) -> int:
    return min(progress.hints.get(f"{stage.id}/{row.id}", 0), len(row.hints))


def _untold(progress: Progress, stage: Stage, row: Criterion, about: RowCheck | None) -> str:
    """Return the remedy of what the last check found, unless that, or the fix after it, was told last."""
    if about is None or not (text := remedy_of(row, about)):
        return ""
    told = progress.remedies.get(f"{stage.id}/{row.id}")
    return "" if told in (_mark(text), _mark(about.fix)) else text


def _mark(remedy: str) -> str:
    return hashlib.sha256(remedy.encode()).hexdigest()[:MARK]
