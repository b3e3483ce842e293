"""Faults that one answer shows by itself: a refusal that is missing, a changed argument, another dtype, no value."""

from __future__ import annotations

import ast
import inspect
import re
import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from grader.course.stage import Stage
from grader.diagnosis.exceptions.place import Place
from grader.diagnosis.replay import Replay, is_lazy, raised_by_hand, returned_exception, same_array
from grader.diagnosis.trees import walk
from grader.outcome import Diagnosis
from grader.sandbox.proxies import RemoteValue
from grader.sandbox.record import Frame, Name, Record
from grader.submission.source import plain_text

MISSING = "refusal-missing"
BY_ACCIDENT = "refusal-by-accident"
NOTHING = "nothing-returned"
NOT_RUN = "call-not-run"
REFUSED = frozenset(("refusal-returned", "refusal-by-assert", "refusal-with-another", "refusal-of-no-exception"))
OBVIOUS = REFUSED | {MISSING, "argument-changed", BY_ACCIDENT, "another-dtype", "another-container", NOTHING, NOT_RUN}
OF_FORM = ("another-dtype", "another-container")  # what is told of right values
NO_CHECK = (NameError, EOFError, ImportError, NotImplementedError, RecursionError)  # whatever the arguments are
LONGEST_SENTENCE = 200  # characters of a docstring's sentence, and of what the reference says
CHANGED = (
    "Work on a copy: `x = x + 1` makes a new array, while `x += 1`, `x[...] = 1`, `x.sort()` and `out=x` change "
    "the one that the caller goes on using."
)
WIDE = (
    "Something in it is float64: np.sqrt(d) of a whole number, np.zeros(shape) and np.random give float64, and float32 "
    "times float64 is float64. A plain Python number, such as d ** 0.5, leaves float32 as it is."
)
NO_EXCEPTION = "exceptions must derive from BaseException"
LONGEST = 60  # characters of what is raised, as it is written


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
    raising: frozenset[tuple[str, str, int]] = frozenset(),
) -> Diagnosis | None:
    """Return what the first answer that differs from the reference's shows by itself; None where it shows nothing.

    text is the reference's: what it refuses at the end of a loop is no check of the arguments. raising are the places
    in which calls end that nobody has to refuse: what ends there too says nothing of how arguments are checked.
    """
    replay = Replay(module, stage, names, True, learner)
    by_accident: _Seen | None = None  # or the answer that differs, where there is one
    left = iter(records)
    for record in left:
        outcome = replay.perform(record) if record.replayable else None  # an answer that is too large is not kept
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
    if by_accident.error is not None and ended_at(by_accident.record) in raising:
        return None
    shown = _shown(by_accident, stage, module, row, learner)
    is_of_form = shown is not None and shown.mistake in OF_FORM
    return None if is_of_form and any(_is_wrong(replay, record, stage) for record in left) else shown


def ended_at(record: Record) -> tuple[str, str, int] | None:
    """Return the function that was asked, the kind of exception, and the learner's line in which it ended."""
    frames: list[Frame] = getattr(record.error, "learner_frames", [])
    found = getattr(record.error, "learner_type", type(record.error).__name__)
    return (record.label, found, frames[-1].line) if frames else None


def _is_wrong(replay: Replay, record: Record, stage: Stage) -> bool:
    """Say whether a call behind that of which the form differs has another value: there the test may have ended."""
    outcome = replay.perform(record)
    if outcome is None:
        return False
    local, error, _, agrees = outcome
    is_raised = record.error is not None and error is None
    return not agrees and (is_raised or (error is None and not same(record.result, local, stage)))


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
    if (not_run := _not_run(seen, row, learner)) is not None:
        return not_run
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


def _not_run(seen: _Seen, row: str, learner: bytes) -> Diagnosis | None:
    """Return why a call ran no line of its function, and gave an object that would; None where that is right."""
    label, given = seen.record.label, seen.record.result
    if not (isinstance(given, RemoteValue) and (seen.error is not None or is_lazy(given, seen.local))):
        return None
    for definition in _definitions(plain_text(learner) or "", label):
        if isinstance(definition, ast.AsyncFunctionDef):
            text = f"{label} gave a coroutine: a function that begins with `async def` does not run when it is called."
            return Diagnosis(
                NOT_RUN, row, text, "Write `def` in place of `async def`.", False, label, definition.lineno
            )
        if found := [each for each in _own_nodes(definition) if isinstance(each, ast.Yield | ast.YieldFrom)]:
            text = f"{label} gave a generator: a function with `yield` in it does not run when it is called."
            fix = "Collect the result, and hand it back by one `return` at the end."
            return Diagnosis(NOT_RUN, row, text, fix, False, label, found[0].lineno)
    return None


def _own_nodes(definition: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of a function, without those of functions within it."""
    queue: list[ast.AST] = list(ast.iter_child_nodes(definition))
    for node in queue:
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            queue += ast.iter_child_nodes(node)


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


def _not_refused(seen: _Seen, module: types.ModuleType, row: str, learner: bytes) -> Diagnosis | None:
    record, error = seen.record, seen.error
    if isinstance(record.error, NO_CHECK):  # it ends before one can say what it checks: that line is what is wrong
        return None
    wanted = type(error).__name__
    said, promise = str(error)[:LONGEST_SENTENCE], _promise(module, record.label, wanted)
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
    ends = f"the {found} that it ends in comes about" if found == wanted else f"it ends in {found}"
    text = f"{record.label} does not refuse this call, as it has to with {wanted}{reason}; {ends} by accident."
    return Diagnosis(BY_ACCIDENT, row, text, fix)


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
            return said if len(said) <= LONGEST_SENTENCE else f"{said[:LONGEST_SENTENCE]}…"
    return ""


def same(recorded: Any, local: Any, stage: Stage) -> bool:
    """Say whether two answers hold the same values, within the tolerance of a stage."""
    if isinstance(recorded, (list, tuple)) and isinstance(local, (list, tuple)):
        return len(recorded) == len(local) and all(same(a, b, stage) for a, b in zip(recorded, local, strict=True))
    if type(recorded) is type(local) is dict:
        return recorded.keys() == local.keys() and all(same(recorded[key], local[key], stage) for key in recorded)
    if isinstance(recorded, (np.ndarray, np.generic, float)):
        return same_array(recorded, local, stage.tolerance, False)
    if isinstance(recorded, (bool, int, str, bytes)):
        return type(recorded) is type(local) and bool(recorded == local)
    return recorded is None and local is None


def another_type(label: str, recorded: Any, local: Any, stage: Stage, row: str) -> Diagnosis | None:
    """Return what is told of an answer whose values are right, and whose dtype or container is not."""
    if _is_wrapped(recorded, local) and same(recorded.item(), np.asarray(local).item(), stage):
        text = (
            f"The value of {label} is right; it is in an array of shape {recorded.shape}, where a number is asked for."
        )
        return Diagnosis("another-container", row, text, "Return the number itself, without an axis around it.")
    if isinstance(recorded, np.ndarray) and isinstance(local, (np.ndarray, np.generic)):
        return _another_dtype(label, recorded, np.asarray(local), row)
    if {type(recorded), type(local)} == {list, tuple} and same(recorded, local, stage):
        return _another_container(label, type(recorded).__name__, type(local).__name__, row)
    pairs = list(_pairs(recorded, local))
    told = [_another_dtype(label, *pair, row) for pair in pairs if _are_unlike(*pair)]
    is_right = all(same(*pair, stage) for pair in pairs if not _are_unlike(*pair))
    return told[0] if is_right and told and None not in told else None


def _is_wrapped(one: Any, other: Any) -> bool:
    """Say whether one is a number in an array with axes, and the other is a number."""
    is_number = isinstance(other, (int, float, np.number)) or (isinstance(other, np.ndarray) and not other.ndim)
    return isinstance(one, np.ndarray) and one.size == 1 and one.ndim > 0 and is_number


def _are_unlike(one: Any, other: Any) -> bool:
    """Say whether two values are arrays of different dtypes."""
    return isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and one.dtype != other.dtype


def _another_container(label: str, mine: str, theirs: str, row: str) -> Diagnosis:
    text = f"What is in the answer of {label} is right; it is a {mine}, where a {theirs} is asked for."
    return Diagnosis("another-container", row, text, f"Return it as a {theirs}: `{theirs}(…)`.")


def _pairs(one: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the values of two tables or tuples of one form that stand in the same places."""
    if type(one) is type(other) is tuple and len(one) == len(other):
        for pair in zip(one, other, strict=True):
            yield from _pairs(*pair)
    elif type(one) is type(other) is dict and one.keys() == other.keys():
        for key in one:
            yield from _pairs(one[key], other[key])
    else:
        yield one, other


def _another_dtype(label: str, mine: np.ndarray[Any, Any], theirs: np.ndarray[Any, Any], row: str) -> Diagnosis | None:
    if (
        mine.dtype == theirs.dtype
        or mine.shape != theirs.shape
        or not {mine.dtype.kind, theirs.dtype.kind} <= set("biuf")
    ):
        return None
    coarse = 1e-3 if "float16" in (str(mine.dtype), str(theirs.dtype)) else 1e-4
    with np.errstate(all="ignore"):
        if not np.allclose(mine.astype(float), theirs.astype(float), rtol=coarse, atol=coarse, equal_nan=True):
            return None
    text = f"The values of {label} are right; they are {mine.dtype}, where {theirs.dtype} is asked for."
    wide = mine.dtype == np.float64 and theirs.dtype == np.float32
    return Diagnosis(
        "another-dtype", row, text, WIDE if wide else f"Make the result {theirs.dtype}, as the docstring says."
    )


@dataclass(frozen=True)
class Refused:
    """What was done instead, and how it is written; kind is one of REFUSED."""

    kind: str
    text: str
    fix: str


def refused(record: Record, wanted: str, reason: str, learner: bytes) -> Refused | None:
    """Say how the learner's lines refused a call that has to end in the exception wanted; None where they did not.

    reason is what the reference says, in parentheses behind a space, or nothing.
    """
    label = record.label
    if record.error is None:
        found = returned_exception(record.result)
        article = "an" if found[:1] in "AEIOU" else "a"
        text = f"{label} returns {article} {found} as its result; {wanted} has to be raised{reason}."
        return Refused("refusal-returned", text, "Write `raise` in place of `return`.") if found else None
    found = getattr(record.error, "learner_type", type(record.error).__name__)
    frames: list[Frame] = getattr(record.error, "learner_frames", [])
    if not frames or found == wanted:
        return None
    place = Place(plain_text(learner) or "", frames[-1].line)
    if place.has(ast.Assert) and found == "AssertionError":
        text = f"{label} refuses this call by `assert`, which raises AssertionError; {wanted} is asked for{reason}."
        return Refused("refusal-by-assert", text, f"Write `if …: raise {wanted}(…)` in place of the `assert`.")
    raised = next((node.exc for node in place.nodes if isinstance(node, ast.Raise)), None)
    if raised is None:
        return None
    if NO_EXCEPTION in str(record.error):
        written = ast.unparse(raised)
        inner = written if isinstance(raised, ast.Constant | ast.JoinedStr) and len(written) <= LONGEST else "…"
        text = f"`raise` takes an exception, and is given something else. This call has to be refused{reason}."
        return Refused("refusal-of-no-exception", text, f"Write `raise {wanted}({inner})`.")
    text = f"{label} refuses this call with {found}; {wanted} is asked for{reason}."
    return Refused("refusal-with-another", text, f"Raise {wanted} there.")
