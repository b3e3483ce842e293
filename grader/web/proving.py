"""Modules graded anew, for a certificate that somebody signs: what a record says is not enough for that."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from grader.course.provenance import made_here
from grader.course.sealed import public_only
from grader.errors import SubmissionError, UsageError
from grader.progress.actions import GradingRequest, Workspace, is_stub
from grader.progress.grading import graded
from grader.submission import take
from grader.verdict import Verdict
from grader.web.certificate import Entry

if TYPE_CHECKING:
    from grader.progress.actions import OnTest

Ticking = Callable[[str], AbstractContextManager["OnTest | None"]]


@dataclass(frozen=True)
class Proof:
    """The modules that pass, and in words why others that were begun are not among them."""

    entries: tuple[Entry, ...]
    left_out: tuple[str, ...]


def proven(workspace: Workspace, request: GradingRequest, ticking: Ticking, clock: Callable[[], datetime]) -> Proof:
    """Grade every module that was begun, and return those that pass; UsageError where hidden tests are sealed.

    Nothing is recorded. A module that builds on others is graded with those that have passed just now.
    """
    entries: list[Entry] = []
    left_out: list[str] = []
    progress = workspace.store.read()
    for stage in workspace.course.stages:
        if is_stub(stage):
            continue
        if public_only(stage):
            message = f"the hidden tests of {stage.id} are sealed, so nobody without their key can vouch for it"
            raise UsageError(message, "Give the key in GRADER_KEY_FILE, or leave out --signing-key.")
        try:
            snapshot = take(stage, None, workspace.course.root)
        except SubmissionError as error:
            left_out.append(f"{stage.id}: {error.message}")
            continue
        with ticking(stage.id) as tick:
            verdict = graded(workspace, stage, snapshot, request, tick)
        if verdict.passed and not verdict.grader_fault:
            entries.append(replace(_entry(verdict, snapshot.digest, clock()), seen=progress.seen_of(stage)))
            request = replace(request, passed={**request.passed, stage.id: snapshot.digest})
        else:
            left_out.append(f"{stage.id}: {_why(verdict)}")
    return Proof(tuple(entries), tuple(left_out))


def _entry(verdict: Verdict, module: str, now: datetime) -> Entry:
    run, made = verdict.run, made_here()
    when = now.astimezone(UTC).isoformat(timespec="seconds")
    versions = (made.python or "", made.numpy or "")
    rows = len(verdict.criteria)
    robust = sum(row.robust for row in verdict.criteria)
    how = run.seed, run.isolation, run.course, *versions, when
    return Entry(verdict.stage, verdict.title, module, rows, *how, uses=run.uses, robust=robust)


def _why(verdict: Verdict) -> str:
    if verdict.grader_fault:
        return "the grader failed, which says nothing of the module"
    passed = sum(row.status == "passed" for row in verdict.criteria)
    return f"{passed} of {len(verdict.criteria)} criteria pass"
