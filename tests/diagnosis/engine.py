"""A learner's functions and a right module beside them, in this process: what the tests of the engine run on."""

from __future__ import annotations

import textwrap
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from grader.course.answers import Mistake
from grader.course.stage import Criterion, Stage
from grader.diagnosis.causes import Explainer
from grader.diagnosis.checks import evidence_of
from grader.diagnosis.edited import Cause
from grader.diagnosis.pool import Pool
from grader.diagnosis.runner import LocalRunner
from grader.outcome import Kind, Outcome
from grader.sandbox.connection import Ended, Passed
from grader.sandbox.record import Name, Record, copied_value
from tests.diagnosis.reader import complaints

Call = tuple[str, tuple[Any, ...]]
STAGE = Stage("s90", Path("s90"), "Small", "small.py", (), (Criterion("row", "it works", (), (), ("a", "b", "c")),))


def module_of(text: str, name: str = "reference") -> types.ModuleType:
    """Return a text as a module."""
    module = types.ModuleType(name)
    exec(compile(textwrap.dedent(text), f"<{name}>", "exec"), vars(module))
    return module


def ended(module: types.ModuleType, test: str, calls: Sequence[Call], status: Any, kind: Kind = "values") -> Ended:
    """Return a test that made calls of a module's functions, as it is recorded."""
    names = {name: Name("function", 1 + place) for place, name in enumerate(sorted({name for name, _ in calls}))}
    records = []
    for name, args in calls:
        given = copied_value(args)
        record = Record("call", names[name].number, "", name, given, {}, True, given)
        try:
            with np.errstate(all="ignore"):
                record.result = record.returned = getattr(module, name)(*copied_value(args))
        except Exception as error:
            record.error = error
        records.append(record)
    return Ended(Outcome(test, "row", False, status, kind=kind), records, names)


def passed_by(module: types.ModuleType, test: str, calls: Sequence[Call]) -> Passed:
    """Return a test that passed, as it is evidence."""
    each = ended(module, test, calls, "passed")
    made = evidence_of(each)
    assert made is not None
    return made


def causes(*given: Any, **named: Any) -> list[Cause]:
    """Return the causes of tests, given as to explained."""
    return explained(*given, **named)[0]


def explained(
    right: str,
    learners: str,
    failing: Sequence[Sequence[Call]],
    passing: Sequence[Sequence[Call]] = (),
    mistakes: tuple[Mistake, ...] = (),
    stub: str = "",
    pool: Pool | None = None,
    others: Sequence[str] = (),
) -> tuple[list[Cause], list[Outcome]]:
    """Return the causes of tests that fail, each a list of calls, and all outcomes with what each is told.

    others are right modules beside the first.
    """
    text = textwrap.dedent(learners).lstrip("\n")
    module = module_of(text)
    rights = {textwrap.dedent(each): module_of(each, f"right_{number}") for number, each in enumerate((right, *others))}
    explainer = Explainer(
        STAGE, text.encode(), textwrap.dedent(right), mistakes, rights,
        LocalRunner("learner"), textwrap.dedent(stub), pool=pool,
    )  # fmt: skip
    failed = [ended(module, f"failing {number}", calls, "failed") for number, calls in enumerate(failing)]
    passed = [passed_by(module, f"passing {number}", calls) for number, calls in enumerate(passing)]
    outcomes = [*(each.outcome for each in failed), *(each.outcome for each in passed)]
    told = explainer.explained(outcomes, failed, passed)
    assert not explainer.problems
    edits = [each.checks for each in explainer.causes if not each.declared]
    assert sum(map(len, edits)) == len(frozenset().union(*edits)), "two edits explain one call"
    for each in explainer.causes:
        assert not complaints(each.text, each.fix, text, stub, is_known=each.declared)
    return explainer.causes, told
