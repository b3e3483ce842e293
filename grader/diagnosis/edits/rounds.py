"""A value that a loop carries on from round to round and does not bring up to date, and a round that is too many."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.course.mutants import replaced
from grader.diagnosis.edits.base import USUAL, Load, Made, Site, edit, moved
from grader.diagnosis.edits.statements import SIMPLE, body_of, first_line, names_changed, place_of
from grader.diagnosis.module_text import called, loaded, stored
from grader.diagnosis.trees import walk

OTHER_WAY = {ast.Add: ast.Sub, ast.Sub: ast.Add}


@edit("update-missing", ast.Assign, ast.AugAssign, rank=USUAL)
def update_missing(site: Site) -> Iterator[Made]:
    """Yield a line more where a running value is put right on one side of a change alone: a residual."""
    node = site.node
    name, back = _running(node)
    if not name or back is None or not site.is_in_loop:
        return
    body = body_of(site, node)
    place = place_of(body, node)
    if any(name in names_changed(each) for each in body if each is not node):
        return
    made_of = loaded(node) - {name}
    for other in [each for each in body[place + 1 :] if names_changed(each) & made_of][-1:]:
        says = f"`{name}` is not brought up to date after `{first_line(other)}`"
        yield site.make([other, back], says, f"Add `{first_line(back)}` behind it.", old=other, adds=True)
    for other in [each for each in body[:place] if names_changed(each) & made_of][:1]:
        says = f"`{name}` still holds what belongs to the value that `{first_line(other)}` replaces"
        yield site.make([back, other], says, f"Put `{first_line(back)}` before it.", old=other, adds=True)


def _running(node: ast.stmt) -> tuple[str, ast.stmt | None]:
    """Return the name that a line adds to or subtracts from, and the line that takes it back."""
    match node:
        case ast.AugAssign(target=ast.Name(id=name), op=ast.Add() | ast.Sub()):
            return name, replaced(node, op=OTHER_WAY[type(node.op)]())
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(left=ast.Name(id=own), op=ast.Add() | ast.Sub())):
            back = replaced(node.value, op=OTHER_WAY[type(node.value.op)]())  # type: ignore[attr-defined]
            return (name, replaced(node, value=back)) if own == name else ("", None)
    return "", None


@edit("round-too-many", ast.For, rank=USUAL)
def round_too_many(site: Site) -> Iterator[Made]:
    """Yield a loop of which the last round only does its first lines: n + 1 losses, and n steps."""
    node = site.node
    call = node.iter
    if called(call) != "range" or len(call.args) > 2 or not isinstance(call.args[-1], ast.BinOp):
        return
    shorter = replaced(node, iter=replaced(call, args=[*call.args[:-1], moved(call.args[-1], -1)]))
    for place in range(1, len(node.body)):
        first, last = node.body[:place], node.body[place]
        if not isinstance(first[-1], SIMPLE) or stored(node.target) & loaded(first[-1]):
            return
        says = f"`{first_line(last)}` runs in the last round, too, and that is once too often"
        fix = "End the loop a round earlier, and do what stands before that line once more behind the loop."
        yield site.make([shorter, *first], says, fix, at=last)


@edit("name-not-renewed", ast.For, rank=USUAL)
def name_not_renewed(site: Site) -> Iterator[Made]:
    """Yield a name that is set before a loop and never in it, set beside another one: the epoch of the best loss."""
    loop, first = site.node, site.context.first_lines(site.function)
    if not isinstance(loop.target, ast.Name) or site.is_in_loop:
        return
    read = {each.id for each in walk(site.definition) if isinstance(each, ast.Name) and each.lineno >= loop.lineno}
    kept = [name for name, line in first.items() if 0 < line < loop.lineno and name in read - names_changed(loop)]
    kept = [name for name in kept if name in site.names and site.names[name].kind == "number"]
    guarded = [each for line in walk(loop) if isinstance(line, ast.If) for each in line.body]
    for beside in (each for each in guarded if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)):
        for name in kept:
            line = ast.Assign([ast.Name(name, ast.Store())], ast.Name(loop.target.id, Load))
            says = f"`{name}` keeps its first value in the loop, and has to change beside `{first_line(beside)}`"
            yield site.make([beside, line], says, f"Add `{name} = {loop.target.id}`.", old=beside, adds=True)
