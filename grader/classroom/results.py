"""Reads what a grading job left, in a job that does not trust it: names are the course's, the rest is held to a form.

A verdict is a file that a program wrote beside a student's code. Of it only statuses, counts, the seed, the isolation
and a digest are taken, each in its own form, so that nothing a student wrote can get any further.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NoReturn, get_args

from grader.course.provenance import VERSION
from grader.course.stage import FEEDBACK, Stage
from grader.course.table import together
from grader.criterion import Counts, KindCount, redecided
from grader.errors import GraderFault
from grader.outcome import KINDS, Status
from grader.report.stored import READ
from grader.submission.snapshot import Use, uses_in
from grader.verdict import SCHEMA

FILE = "verdict.json"
MAX_BYTES = 4 << 20
MAX_TESTS = 100_000
MAX_SEED = 2**63
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class GradedCriterion:
    """One criterion of a checklist, and how many of its tests pass, in all and by kind."""

    text: str
    status: Status
    passed: int
    total: int
    kinds: tuple[KindCount, ...] = ()

    @property
    def counts(self) -> Counts:
        """How many of its tests pass, and of which kinds they are."""
        return Counts(self.passed, self.total, self.kinds)

    @property
    def values_right(self) -> bool:
        """Whether it fails although its values are right."""
        return self.status == "failed" and self.counts.values_right

    @property
    def robust(self) -> bool:
        """Whether it passes with every test of refusals and of the dtype."""
        return self.status == "passed" and not self.counts.missing_robustness


@dataclass(frozen=True)
class StageResult:
    """How one stage was graded. Where why is not empty it was not, and gives no marks, not even none.

    waits_for holds the earlier stages that it waits for, where that is why. is_missing says that there is nothing to
    grade in what was handed in, which is a result: no points.
    """

    stage: Stage
    criteria: tuple[GradedCriterion, ...] = ()
    passed: bool = False
    seed: int = 0
    isolation: str = "none"
    submission: str = ""
    feedback: str = "full"
    why: str = ""
    python: str | None = None
    numpy: str | None = None
    uses: tuple[Use, ...] = ()
    waits_for: tuple[str, ...] = ()
    is_missing: bool = False
    course: str = ""

    @property
    def outcome(self) -> Literal["graded", "missing", "waits", "fault"]:
        """What a gradebook calls it."""
        if self.is_missing:
            return "missing"
        return "waits" if self.waits_for else "fault" if self.why else "graded"


class Malformed(Exception):
    """A document does not have the form of a verdict; it says where, without repeating what stands there."""


def read(folder: Path, stage: Stage, tiers: Sequence[str]) -> StageResult:
    """Return the result of a stage from the folder that its grading job left; tiers holds what isolation will do.

    Whatever is wrong with the file is told as why: it costs the student nothing.
    """
    try:
        return checked(document(folder / FILE), stage, tiers)
    except Malformed as malformed:
        return StageResult(stage, why=f"the grading job left no verdict that can be read: {malformed}")


def ungraded(results: Sequence[StageResult]) -> list[str]:
    """Return the stages that were not graded, each with why; what waits, and where nothing was handed in, is none."""
    return [f"{result.stage.id}: {result.why}" for result in results if result.outcome == "fault"]


def expect_graded(results: Sequence[StageResult]) -> None:
    """Raise GraderFault unless each stage was graded, or waits for an earlier one."""
    if lacking := ungraded(results):
        raise GraderFault(f"not graded: {'; '.join(lacking)}", "The log of the grading job says more.")


def document(path: Path) -> dict[str, Any]:
    """Return the object of a JSON file; raises Malformed."""
    name = path.name
    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_BYTES:
            raise Malformed(f"{name} is not a regular file of at most {MAX_BYTES >> 20} MB")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise Malformed(f"{name} cannot be read ({error.strerror})") from error
    return parsed(data, name)


def parsed(data: bytes, name: str) -> dict[str, Any]:
    """Return the object of a text in JSON, which name calls; raises Malformed."""
    try:
        values = json.loads(data, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"{name} is not JSON") from error
    if not isinstance(values, dict):
        raise Malformed(f"{name} is not a JSON object")
    return values


def _no_number(text: str) -> NoReturn:
    raise ValueError(text)


def checked(values: dict[str, Any], stage: Stage, tiers: Sequence[str]) -> StageResult:
    """Return what a verdict says, or raise Malformed; what it says as a whole has to follow from its criteria.

    In one of an earlier grader more criteria may pass now than it says.
    """
    schema = _whole(values, "schema", 100)
    _expect(schema in READ, "schema")
    _expect(values.get("stage") == stage.id, "stage")
    _expect(values.get("only") is None and values.get("locked") is False, "only, locked")
    _expect(isinstance(values.get("faults"), list), "faults")
    if values["faults"]:
        return StageResult(stage, why="the grader failed, which is not the student's fault")
    problem = values.get("problem")
    _expect(problem is None or isinstance(problem, dict), "problem")
    if problem is not None and problem.get("kind") == "waits":
        return _waiting(values, stage)
    if problem is not None and values.get("criteria") == []:
        return StageResult(stage, why="there is no module that can be accepted", is_missing=True)
    criteria = _criteria(values.get("criteria"), stage)
    if any(each.status == "grader_fault" for each in criteria):
        return StageResult(stage, why="the grader failed, which is not the student's fault")
    _expect(isinstance(values.get("passed"), bool), "passed")
    _expect(isinstance(values.get("public_only"), bool), "public_only")
    if values["public_only"]:
        return StageResult(stage, why="the hidden tests were not run: the key to them is missing")
    whole = problem is None and all(each.status == "passed" for each in criteria)
    _expect(values["passed"] == whole or (whole and schema < SCHEMA), "passed")
    isolation, digest = values.get("isolation"), values.get("submission")
    _expect(isolation in tiers, f"isolation, expected {' or '.join(tiers)}")
    _expect(isinstance(digest, str) and _DIGEST.fullmatch(digest) is not None, "submission")
    _expect(values.get("feedback") in FEEDBACK, "feedback")
    seed = _whole(values, "seed", MAX_SEED)
    python, numpy = _version(values, "python"), _version(values, "numpy")
    how = str(isolation), str(digest), str(values["feedback"])
    uses = uses_in(values.get("uses", []))
    _expect(uses is not None and all(use.stage in {each.id for each in stage.builds_on} for use in uses), "uses")
    course = values.get("course")
    found = StageResult(stage, criteria, whole, seed, *how, python=python, numpy=numpy, uses=uses or ())
    return replace(found, course=course) if isinstance(course, str) and VERSION.fullmatch(course) else found


def _waiting(values: dict[str, Any], stage: Stage) -> StageResult:
    """Return that a stage waits for some of those that it builds on, which alone may be named."""
    found, known = values.get("waits_for"), [each.id for each in stage.builds_on]
    named = found if isinstance(found, list) else []
    _expect(values.get("criteria") == [] and values.get("passed") is False, "criteria, passed")
    _expect(bool(named) and all(each in known for each in named), "waits_for")
    waits_for = tuple(name for name in known if name in named)
    return StageResult(stage, why=f"it waits for {together(waits_for)}", waits_for=waits_for)


def _version(values: dict[str, Any], name: str) -> str | None:
    made = values.get("provenance")
    found = made.get(name) if isinstance(made, dict) else None
    _expect(found is None or (isinstance(found, str) and VERSION.fullmatch(found) is not None), f"provenance, {name}")
    return found


def _criteria(found: Any, stage: Stage) -> tuple[GradedCriterion, ...]:
    """Return the criteria, which have to be those of the stage."""
    _expect(isinstance(found, list) and all(isinstance(each, dict) for each in found), "criteria")
    _expect([each.get("id") for each in found] == [criterion.id for criterion in stage.criteria], "criteria, their ids")
    criteria: list[GradedCriterion] = []
    for criterion, values in zip(stage.criteria, found, strict=True):
        status = values.get("status")
        _expect(status in get_args(Status), f"status of {criterion.id}")
        total = _whole(values, "tests_total", MAX_TESTS)
        passed = _whole(values, "tests_passed", total)
        graded = GradedCriterion(criterion.text, status, passed, total, _kinds(values, passed, total))
        _expect(status != "passed" or graded.counts.passes("mathematics"), f"counts of {criterion.id}")
        criteria.append(replace(graded, status=redecided(graded.status, graded.counts, stage.passes)))
    _expect(bool(criteria), "criteria")
    return tuple(criteria)


def _kinds(values: dict[str, Any], passed: int, total: int) -> tuple[KindCount, ...]:
    """Return how many tests of each kind pass, together no more than there are."""
    found = values.get("kinds")
    if not isinstance(found, dict) or not all(kind in KINDS and isinstance(each, dict) for kind, each in found.items()):
        raise Malformed("kinds")
    numbers = {kind: _whole(each, "tests_total", total) for kind, each in found.items()}
    kinds = tuple(
        KindCount(kind, _whole(found[kind], "tests_passed", numbers[kind]), numbers[kind])
        for kind in KINDS
        if kind in found
    )
    fits = sum(each.passed for each in kinds) <= passed and sum(each.missing for each in kinds) <= total - passed
    _expect(fits, "kinds")
    return kinds


def _whole(values: dict[str, Any], name: str, most: int) -> int:
    found = values.get(name)
    if type(found) is not int or not 0 <= found <= most:
        raise Malformed(name)
    return found


def _expect(holds: bool, name: str) -> None:
    if not holds:
        raise Malformed(name)
