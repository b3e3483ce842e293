"""Conditions that decide wrongly: one that is true where false gives the right answer, or the other way round.

Which condition is needed instead may be one of many. That the one there decides wrongly is seen by turning it once
round in each wrong call. Source: Xuan et al. 2017, Nopol: angelic values of conditions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.diagnosis.budget import Budget
from grader.diagnosis.checks import Check
from grader.diagnosis.edits import Edit
from grader.diagnosis.edits.base import RARE
from grader.diagnosis.instrument import FLIP
from grader.diagnosis.search import Search
from grader.diagnosis.trees import walk

MOST_TIMES = 6  # that a condition is turned round in a call, one after the other
MOST_CONDITIONS = 12
MOST_CALLS = 8
MOST_SHOWN = 60  # characters of a call
SEVERAL = 2  # different right answers, where each says little
ORDER = ("", "", "the second time", "the third time", "the fourth time", "the fifth time", "the sixth time")


@dataclass(frozen=True, eq=False)
class Blamed:
    """A condition of a function, what is said of it, and what to do."""

    node: ast.expr
    function: str
    says: str
    fix: str


def blamed(search: Search, label: str, failing: Sequence[Check], budget: Budget) -> Blamed | None:
    """Return the condition of a function that decides wrongly in all its failing calls; None where several may."""
    plain = [each for each in failing if each.is_plain]
    answers = {repr(each.right.result) for each in plain if type(each.right.result) is not bool}
    is_little = any(each.says_little for each in plain)
    if len(plain) < len(failing) or len(failing) > MOST_CALLS or len(answers) < (SEVERAL if is_little else 1):
        return None
    if any(each.right.result is None or isinstance(each.right.result, bool) for each in plain):
        return None
    left = list(_conditions(search.module.functions[label]))[:MOST_CONDITIONS]
    found: dict[int, tuple[Check, int]] = {}  # by the id of a condition: the shortest call, and how often it ran before
    for check in sorted(failing, key=lambda each: each.size):
        edits = [_turned(label, each, time) for each in left for time in range(1, MOST_TIMES + 1)]
        right = search.tried(check, edits) if edits else []
        budget.take(len(edits), check.work)
        times = {
            id(edit.changes[0][0]): (check, number % MOST_TIMES + 1)
            for number, edit in enumerate(edits)
            if right[number]
        }
        left = [each for each in left if id(each) in times]
        found = {id(each): found.get(id(each), times[id(each)]) for each in left}
    return _said(search, label, left[0], *found[id(left[0])]) if len(left) == 1 else None


def _said(search: Search, label: str, node: ast.expr, check: Check, time: int) -> Blamed | None:
    trace = search.trace(check)
    samples = trace.samples.get(id(node), []) if trace is not None else []
    if len(samples) < time:
        return None
    given = ", ".join(repr(each) for each in check.last.args)
    call = f"{label}({given})"
    if len(call) > MOST_SHOWN:
        call = f"{call[:MOST_SHOWN]}…)"
    sample = samples[time - 1]
    is_true = bool(sample.value) if sample.shape == () else bool(sample.shape[0])
    now, wanted = ("true", "false") if is_true else ("false", "true")
    when = f", {ORDER[time]}" if ORDER[time] else ""
    says = f"`{search.module.shown(node)}` is {now} where it has to be {wanted}: in {call}{when}"
    return Blamed(node, label, says, f"Change the condition, so that it is {wanted} there.")


def _turned(function: str, node: ast.expr, time: int) -> Edit:
    turned = ast.Call(ast.Name(FLIP, ast.Load()), [ast.Constant(time), node], [])
    statement = ast.Pass(lineno=node.lineno)
    return Edit("condition-wrong", function, ((node, turned),), RARE, "", "", statement)


def _conditions(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """Yield the conditions of a function: tests, and outermost comparisons elsewhere."""
    inside: set[int] = set()
    for each in walk(function):
        tests = [each.test] if isinstance(each, (ast.If, ast.While, ast.IfExp)) else []
        tests += each.ifs if isinstance(each, ast.comprehension) else []
        if isinstance(each, (ast.Compare, ast.BoolOp)) and id(each) not in inside:
            tests.append(each)
        for test in tests:
            if id(test) not in inside:
                yield test
            inside |= {id(part) for part in walk(test)}
