"""Locked stages: what comes first, what such a stage builds on, and the ways to work on it all the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from grader.course.stage import Stage
from grader.errors import StageLocked
from grader.progress.grading import no_run
from grader.progress.state import Progress, current, state_of, waits_for

if TYPE_CHECKING:
    from grader.progress.workspace import GradingRequest, Workspace
    from grader.verdict import Verdict

_NEEDED = re.compile(r"^\*\*You need\*\* (?P<text>.+?)(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)
_LONGEST = 480  # characters of a README that fit on one screen beside the ways


def locked_by(workspace: Workspace, stage: Stage, progress: Progress) -> tuple[Stage, ...]:
    """Return the stages that come before a locked one; none where it is not locked."""
    if state_of(stage, progress, None) != "locked":
        return ()
    return tuple(workspace.course.find(each) for each in waits_for(stage, progress))


def locked_error(workspace: Workspace, stage: Stage, progress: Progress) -> StageLocked:
    """Return the error that names what comes first, what the stage builds on, and how to work on it all the same."""
    first = locked_by(workspace, stage, progress)
    names = _named(first)
    verb = "comes" if len(first) == 1 else "come"
    here = current(workspace.course, progress)
    ways = [
        f"`grader start {stage.id}` begins here; earlier stages are recorded as skipped.",
        f"`grader check {stage.id} --anyway` grades it as it is; nothing is recorded.",
    ]
    if here is not None:  # what comes first may be locked as well
        ways.insert(0, f"`grader check {here.id}` grades the stage where you are.")
    hint = "\n".join([builds_on(stage), *(f"- {way}" for way in ways)])
    return StageLocked(f"{stage.id} is locked: {names} {verb} first", hint)


def builds_on(stage: Stage) -> str:
    """Return what a stage builds on, in a few sentences: what its README asks for, and the code that it imports."""
    try:
        found = _NEEDED.search(stage.readme_path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    needed = " ".join(found["text"].split()) if found is not None else ""
    asks = f"To work on {stage.id} you need {_first_sentences(needed)}\n" if needed else ""
    used = [each for each in stage.builds_on if each.id in stage.uses]
    if not used:
        return f"{asks}Its module imports no earlier stage."
    return f"{asks}Its module may import {_named(used)}: your own once that has passed."


def _named(stages: Sequence[Stage]) -> str:
    return " and ".join(f"{each.id} ({each.title})" for each in stages)


def _first_sentences(text: str) -> str:
    """Return as many whole sentences as fit on a screen; at least one."""
    if text.endswith(":"):  # a formula or a list follows
        text = text[: text.rfind(". ") + 1] or f"{text[:-1]}."
    while len(text) > _LONGEST and ". " in text[:-1]:
        text = text[: text.rstrip(".").rfind(". ") + 1]
    return text


def locked_verdict(stage: Stage, request: GradingRequest, why: StageLocked) -> Verdict:
    """Return the verdict of a stage that was not graded because others come first."""
    from grader.submission.parsing import Problem
    from grader.verdict import Verdict

    problem = Problem("locked", why.message, None, why.hint)
    return Verdict(stage.id, stage.title, False, (), no_run(stage, request), problem, locked=True)
