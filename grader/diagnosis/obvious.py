"""What one answer shows by itself: a refusal that is missing, a changed argument, another dtype, no value at all."""

from __future__ import annotations

import ast
import inspect
import re
import types
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from grader.course.stage import Stage
from grader.diagnosis.another_type import another_type, same
from grader.diagnosis.refused import REFUSED, refused
from grader.diagnosis.replay import Replay, raised_by_hand
from grader.diagnosis.trees import walk
from grader.outcome import Diagnosis
from grader.sandbox.record import Name, Record
from grader.submission.source import plain_text

MISSING = "refusal-missing"
NOTHING = "nothing-returned"
OBVIOUS = REFUSED | {MISSING, "argument-changed", "refusal-by-accident", "another-dtype", "another-container", NOTHING}
NO_CHECK = (NameError, EOFError, ImportError, NotImplementedError, RecursionError)  # whatever the arguments are
LONGEST = 200  # characters of a docstring's sentence, and of what the reference says


@dataclass(frozen=True)
class _Seen:
    """One request, what the learner's module made of it, and what the reference makes of it."""

    record: Record
    local: Any
    error: Exception | None
    changed: bool


def obvious(
    stage: Stage,
    module: types.ModuleType,
    records: list[Record],
    names: dict[str, Name],
    row: str,
    learner: bytes = b"",
    text: str = "",
) -> Diagnosis | None:
    """Return what the first answer that differs from the reference's shows by itself; None where it shows nothing.

    text is the reference's: what it refuses at the end of a loop is no check of the arguments.
    """
    replay = Replay(module, stage, names, True, learner)
    by_accident: _Seen | None = None  # or the answer that differs, where there is one
    for record in records:
        outcome = replay.perform(record)
        if outcome is None:
            break
        local, error, changed, agrees = outcome
        seen = _Seen(record, local, error, changed)
        if not agrees and error is not None and isinstance(record.error, type(error)):
            by_accident = by_accident or seen  # the test took it for the refusal, and failed at another call
        elif not agrees:
            by_accident = seen
            break
    if by_accident is None or (by_accident.error is not None and _is_outcome(by_accident, text)):
        return None
    return _shown(by_accident, stage, module, row, learner)


def _is_outcome(seen: _Seen, text: str) -> bool:
    """Say whether a call is refused behind a loop that found nothing, and was not by the learner's: an effect."""
    last = seen.error.__traceback__ if seen.error is not None else None
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or seen.record.error is not None or not text:
        return False
    return last.tb_lineno in behind_loops(text)


@lru_cache(2)  # of the stage that is graded again and again
def behind_loops(text: str) -> frozenset[int]:
    """Return the lines in which a function of a right module raises behind a loop."""
    found: set[int] = set()
    for each in walk(ast.parse(text)):
        for before, statement in pairwise(each.body) if isinstance(each, ast.FunctionDef) else ():
            if isinstance(statement, ast.Raise) and isinstance(before, (ast.For, ast.While)):
                found.add(statement.lineno)
    return frozenset(found)


def _shown(seen: _Seen, stage: Stage, module: types.ModuleType, row: str, learner: bytes) -> Diagnosis | None:
    record, label = seen.record, seen.record.label
    gave_nothing = record.error is None and not record.failed and record.kind == "call" and record.result is None
    if gave_nothing and _has_to_give(seen, module) and (seen.error is None or not _returns(label, learner)):
        return _nothing_returned(label, row, learner)
    if seen.error is not None:
        return _not_refused(seen, module, row, learner) if raised_by_hand(seen.error) else None
    if record.error is not None or record.failed:
        return None
    if record.changed and not seen.changed and same(record.result, seen.local, stage):
        text = f"The answer of {label} is right, and an argument came back changed."
        return Diagnosis("argument-changed", row, text, CHANGED)
    return another_type(label, record.result, seen.local, stage, row)


def _has_to_give(seen: _Seen, module: types.ModuleType) -> bool:
    """Say whether the right function gives a value: here, or, where it refuses this call, by its annotation."""
    if seen.error is None:
        return seen.local is not None
    target: Any = module
    for part in seen.record.label.split("."):
        target = getattr(target, part, None)
    return getattr(target, "__annotations__", {}).get("return", "None") not in (None, "None")


def _returns(label: str, learner: bytes) -> bool:
    """Say whether a function of a learner's returns a value anywhere."""
    return any(
        isinstance(each, ast.Return) and not (each.value is None or getattr(each.value, "value", each) is None)
        for definition in _definitions(plain_text(learner) or "", label)
        for each in ast.walk(definition)
    )


def _nothing_returned(label: str, row: str, learner: bytes) -> Diagnosis:
    does = _returns(label, learner)
    text = "one way through it ends without a `return`" if does else "it has no `return` with a value"
    return Diagnosis(
        NOTHING, row, f"{label} gave None: {text}.", "Let every way through it end with `return` and the result."
    )


def _definitions(text: str, label: str) -> list[ast.stmt]:
    """Return what defines a function, or a method as Class.method, in a text; the last definition is what counts."""
    try:
        body: list[ast.stmt] = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found: list[ast.stmt] = []
    for name in label.split("."):
        found = [each for each in body if getattr(each, "name", None) == name][-1:]
        body = [inner for each in found for inner in getattr(each, "body", ())]
    return found


CHANGED = (
    "Work on a copy: `x = x + 1` makes a new array, while `x += 1`, `x[...] = 1`, `x.sort()` and `out=x` change "
    "the one that the caller goes on using."
)


def _not_refused(seen: _Seen, module: types.ModuleType, row: str, learner: bytes) -> Diagnosis | None:
    record, error = seen.record, seen.error
    if isinstance(record.error, NO_CHECK):  # it ends before one can say what it checks: that line is what is wrong
        return None
    wanted = type(error).__name__
    said, promise = str(error)[:LONGEST], _promise(module, record.label, wanted)
    reason = f" ({said})" if said else ""
    if (other := refused(record, wanted, reason, learner)) is not None:
        return Diagnosis(other.kind, row, other.text, other.fix)
    fix = (
        f"Check that first. The docstring asks for {wanted} {promise}" if promise else f"Check it, and raise {wanted}."
    )
    if record.error is None:
        text = f"{record.label} accepts a call that it has to refuse with {wanted}{reason}."
        return Diagnosis(MISSING, row, text, fix)
    found = getattr(record.error, "learner_type", type(record.error).__name__)
    text = f"{record.label} does not check its arguments. This call has to be refused with {wanted}{reason}"
    text += "." if found == wanted else f"; it ends in {found} by accident."
    return Diagnosis("refusal-by-accident", row, text, fix)


def _promise(module: types.ModuleType, label: str, kind: str) -> str:
    """Return what a docstring says under Raises about a kind of exception: "K and Q differ in d_k"."""
    target: Any = module
    owner: Any = None
    for part in label.split("."):
        owner, target = target, getattr(target, part, None)
    for each in (target, getattr(target, "__init__", None), owner):
        text = inspect.getdoc(each) if each is not None and not isinstance(each, types.ModuleType) else None
        form = rf"(?:^ +{kind}: |Raises {kind} (?=when|if|where|unless|for))(.+?)(?=\n\s*\n|\n {{4}}\w+: |\Z)"
        found = re.search(form, text or "", re.S | re.M)
        if found:
            said = " ".join(found[1].split())
            said = said if said.startswith(("when ", "if ", "where ", "unless ", "for ")) else f"when {said}"
            return said if len(said) <= LONGEST else f"{said[:LONGEST]}…"
    return ""
