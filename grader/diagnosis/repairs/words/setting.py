"""What is said of what a line sets: the names of its results, a place of an array, a name that is never set again."""

from __future__ import annotations

import ast

from grader.diagnosis.repairs.words.blocks import begins_later
from grader.diagnosis.repairs.words.moved import quoted
from grader.diagnosis.repairs.words.steps import held
from grader.diagnosis.slips.schema import Change
from grader.diagnosis.slips.wording.clause import Clause
from grader.diagnosis.slips.wording.phrases import Vocabulary, called, constant_of
from grader.diagnosis.slips.wording.sentences import targets
from grader.diagnosis.trees import substituted, walk

MOST_QUOTED = 90  # characters


def setting(change: Change, say: Vocabulary) -> Clause | None:
    """Return the clause of a line that has to set something else, or is missing; None for other changes."""
    body = change.new if isinstance(change.new, list) else []
    old = change.statement
    new = next((each for each in body if not any(each is other for other in held(change))), None)
    if change.kind == "kept" and isinstance(new, ast.Assign):
        name, value, beside = (ast.unparse(each) for each in (new.targets[0], new.value, old))
        if max(map(len, (name, value, beside))) > MOST_QUOTED:
            return None
        said = f"{name} kept its first value, where it has to be set again beside `{beside}`"
        return Clause(said, f"Write `{name} = {value}` there.", 1)
    if change.kind == "masked" and isinstance(new, ast.Assign):
        return _masked(new.targets[0])
    if change.kind == "added":
        return _added(old)
    if not isinstance(new, (ast.Assign, ast.AugAssign)) or not isinstance(old, (ast.Assign, ast.AugAssign)):
        return None
    if change.kind == "copied":
        table, what = ast.unparse(old.value), targets(old, say) or "it"
        if len(table) > MOST_QUOTED:
            return None
        said = f"{table} itself were changed in place, where a copy belongs"
        return Clause(said, f"Copy {table} with its arrays, or make {what} anew, before anything changes.", 1)
    if change.kind == "viewed" and isinstance(old, ast.Assign) and isinstance(old.targets[0], ast.Tuple):
        return _viewed(old.targets[0])
    stood, belongs = _set(old), _set(new)
    if max(len(stood), len(belongs)) > MOST_QUOTED:
        return None
    if change.kind == "unpacked":
        said = f"the results of {called(old.value) or 'a call'} were taken apart as `{stood}`, not as `{belongs}`"
        return Clause(said, "Their order is that of the `return`: write the names in the same order.", 1)
    parts = _target(old), _target(new)
    if change.kind == "elsewhere" and begins_later(*parts):
        said = f"`{stood}` were set, the corner where the array begins, where `{belongs}` belongs"
        return Clause(said, f"Set `{belongs}`: the border lies on all sides.", 1)
    if change.kind == "elsewhere":
        return Clause(f"`{stood}` were set, where `{belongs}` belongs", f"Set `{belongs}`.", 1)
    return None


def _added(old: ast.stmt) -> Clause | None:
    """Return the clause of entries that are set once, however often their index comes."""
    target = _target(old) if isinstance(old, (ast.Assign, ast.AugAssign)) else None
    if not isinstance(target, ast.Subscript):
        return None
    array, ids = ast.unparse(target.value), ast.unparse(target.slice)
    if max(len(array), len(ids)) > MOST_QUOTED:
        return None
    said = f"of an index that stands several times in {ids} only the last counted, where all of them add up in {array}"
    return Clause(said, f"Add with np.add.at({array}, {ids}, …): it takes an index as often as it comes.", 0)


def _target(node: ast.Assign | ast.AugAssign) -> ast.expr:
    return node.targets[0] if isinstance(node, ast.Assign) else node.target


def _masked(part: ast.expr) -> Clause | None:
    """Return the clause of an array of which a mask leaves nothing out."""
    if not isinstance(part, ast.Subscript) or not isinstance(part.slice, ast.UnaryOp):
        return None
    name, mask = ast.unparse(part.value), ast.unparse(part.slice.operand)
    if max(len(name), len(mask)) > MOST_QUOTED:
        return None
    said = f"{name} were not set to 0 where the mask {mask} is False"
    return Clause(said, f"Set `{ast.unparse(part)} = 0`.", 1)


def named_entry(change: Change) -> str:
    """Return under which key of a table a value stands that is another, as " for bias"; else nothing."""
    tables = [each for each in walk(change.statement) if isinstance(each, ast.Dict)]
    pairs = (pair for each in tables for pair in zip(each.keys, each.values, strict=True))
    key = next((key for key, value in pairs if value is change.old or value is change.holder), None)
    name = key.value if isinstance(key, ast.Constant) else None
    return f" for {name}" if isinstance(name, str) and name.isidentifier() and len(name) <= MOST_QUOTED else ""


def _viewed(parts: ast.Tuple) -> Clause | None:
    """Return the clause of two parts of an array that are swapped as views."""
    one, other = map(ast.unparse, parts.elts)
    if max(map(len, (one, other))) > MOST_QUOTED:
        return None
    said = (
        f"`{one}` and `{other}` were swapped as views, so that the same numbers stand in both and the others are lost"
    )
    return Clause(said, "Copy one of them first, or swap both at once with a list of their indices.", 0)


def _set(node: ast.Assign | ast.AugAssign) -> str:
    """Return what a line sets, as a text."""
    target = _target(node)
    return ", ".join(map(ast.unparse, target.elts)) if isinstance(target, ast.Tuple) else ast.unparse(target)


def entry_of(change: Change) -> Clause | None:
    """Return the clause of a number among several indices: without the others it says nothing."""
    if constant_of(change.old) is None or not isinstance(change.new, ast.AST) or constant_of(change.new) is None:
        return None
    parts = (each for each in walk(change.statement) if isinstance(each, ast.Subscript))
    part = next((each for each in parts if each.slice is change.holder), None)
    return None if part is None else quoted(part, substituted(part, change.old, change.new))
