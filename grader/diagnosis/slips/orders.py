"""What belongs elsewhere in a learner's lines: before a loop or behind it, under a condition, once for all rounds."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.course.changes import replaced
from grader.diagnosis.slips.statements import BODIES, SIMPLE, Kind, leaves
from grader.diagnosis.slips.wording.phrases import constant_of
from grader.diagnosis.trees import walk

KEPT = "_slips_kept_"  # how a name begins that holds what another stood for before a loop


def repaired_orders(holder: ast.AST) -> Iterator[tuple[Kind, str, int, list[ast.stmt]]]:
    """Yield what belongs before or behind a loop of a learner's, and stands in it.

    And a step that belongs under a condition that stands beside it, or out of one; what each round of a loop changes.
    """
    for name in BODIES:
        held = getattr(holder, name, None)
        body: list[ast.stmt] = held if isinstance(held, list) else []
        for kind, place, changed in (*_conditions(body), *counted_once(body)):
            yield kind, name, place, changed
        for place, loop in enumerate(body):
            if not isinstance(loop, (ast.For, ast.While)) or len(loop.body) < 2:
                continue
            if isinstance(loop.body[0], ast.Assign):
                yield (
                    "hoisted",
                    name,
                    place,
                    [*body[:place], loop.body[0], _with(loop, loop.body[1:]), *body[place + 1 :]],
                )
            for other in (each for each in loop.body[:-2] if isinstance(each, ast.Expr)):
                later = _with(loop, [*(each for each in loop.body if each is not other), other])
                yield "late", name, place, [*body[:place], later, *body[place + 1 :]]


def counted_once(body: list[ast.stmt]) -> Iterator[tuple[Kind, int, list[ast.stmt]]]:
    """Yield a body in which a count that every round of a loop raises is raised once, before the loop."""
    for place, loop in enumerate(body):
        if not isinstance(loop, (ast.For, ast.While)) or len(loop.body) < 2:
            continue
        for line in loop.body:
            is_raised = isinstance(line, ast.AugAssign) and isinstance(line.target, ast.Name)
            if is_raised and constant_of(getattr(line, "value", None)) is not None:
                shorter = replaced(loop, body=[each for each in loop.body if each is not line])
                yield "counted", place, [*body[:place], line, shorter, *body[place + 1 :]]


def _another(name: str, line: ast.stmt) -> ast.expr:
    """Return what a name stands for, or another of its kind where a line may change it in place."""
    load = ast.Name(name, ast.Load())
    return ast.BinOp(load, ast.Mult(), ast.Constant(1)) if isinstance(line, ast.AugAssign) else load


def returned_within(body: list[ast.stmt]) -> Iterator[tuple[Kind, int, list[ast.stmt]]]:
    """Yield a body with the return behind a loop that ends the loop's first round."""
    for place, loop in enumerate(body):
        if isinstance(loop, (ast.For, ast.While)) and len(loop.body) > 1 and isinstance(loop.body[-1], ast.Return):
            shorter = _with(loop, loop.body[:-1])
            yield "return_after", place, [*body[:place], shorter, loop.body[-1], *body[place + 1 :]]


def restarted(body: list[ast.stmt]) -> Iterator[tuple[Kind, int, list[ast.stmt]]]:
    """Yield a body in which each round of a loop begins with what a name stood for before the loop."""
    for place, loop in enumerate(body):
        if not isinstance(loop, (ast.For, ast.While)):
            continue
        for line in loop.body:
            target = line.targets[0] if isinstance(line, ast.Assign) else getattr(line, "target", None)
            if not isinstance(line, (ast.Assign, ast.AugAssign)) or not isinstance(target, ast.Name):
                continue
            reads = {each.id for each in walk(line) if isinstance(each, ast.Name) and each is not target}
            if (isinstance(line, ast.Assign) and target.id not in reads) or isinstance(line.value, ast.Constant):
                continue
            if isinstance(loop, ast.While) and target.id in {getattr(each, "id", "") for each in walk(loop.test)}:
                continue  # it would never end
            kept = f"{KEPT}{target.id}"
            keep = ast.Assign([ast.Name(kept, ast.Store())], _another(target.id, line))
            begin = ast.Assign([ast.Name(target.id, ast.Store())], _another(kept, line))
            again = replaced(loop, body=[begin, *loop.body])
            yield "restarted", place, [*body[:place], keep, again, *body[place + 1 :]]


def _conditions(body: list[ast.stmt]) -> Iterator[tuple[Kind, int, list[ast.stmt]]]:
    """Yield a body with a step moved into the condition behind or before it, or with the last step moved out of one."""
    for place, branch in enumerate(body):
        if not isinstance(branch, ast.If) or branch.orelse or leaves(branch):
            continue
        if place and isinstance(body[place - 1], SIMPLE):
            inside = replaced(branch, body=[body[place - 1], *branch.body])
            yield "guarded", place - 1, [*body[: place - 1], inside, *body[place + 1 :]]
        if place + 1 < len(body) and isinstance(body[place + 1], SIMPLE):
            inside = replaced(branch, body=[*branch.body, body[place + 1]])
            yield "guarded", place + 1, [*body[:place], inside, *body[place + 2 :]]
        if len(branch.body) > 1 and isinstance(branch.body[-1], SIMPLE):
            shorter = replaced(branch, body=branch.body[:-1])
            yield "freed", place, [*body[:place], shorter, branch.body[-1], *body[place + 1 :]]


def _with(loop: ast.For | ast.While, body: list[ast.stmt]) -> ast.stmt:
    result: ast.stmt = replaced(loop, body=body)
    return result
