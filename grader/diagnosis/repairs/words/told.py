"""What a repair says: the slip is the way back, from what belongs in a line to what stands there."""

from __future__ import annotations

import ast
from dataclasses import replace

from grader.course.changes import replaced
from grader.diagnosis.repairs.words.blocks import block
from grader.diagnosis.repairs.words.differing import is_small, places
from grader.diagnosis.repairs.words.likewise import likewise
from grader.diagnosis.repairs.words.limits import always, limits, mirrored, one_case, rounds
from grader.diagnosis.repairs.words.moved import made_of, moved, narrowed, quoted, taking_part
from grader.diagnosis.repairs.words.setting import entry_of, named_entry, setting
from grader.diagnosis.repairs.words.steps import assignment, line, order
from grader.diagnosis.slips.schema import Change
from grader.diagnosis.slips.wording.clause import Clause
from grader.diagnosis.slips.wording.expressions import expression
from grader.diagnosis.slips.wording.nouns import NOUNS, axis_named
from grader.diagnosis.slips.wording.phrases import Vocabulary, called, constant_of
from grader.diagnosis.slips.wording.sentences import statement, targets
from grader.diagnosis.trees import walk

LEAVES = (ast.Name, ast.Attribute, ast.Subscript)
MOST_NODES = 10  # of what is told of as a whole


def told(change: Change, say: Vocabulary) -> Clause | None:
    """Return what stands in the learner's line, where the change is what would put it right; None without words."""
    if change.kind == "missing":
        return line(change, say)
    if isinstance(change.new, list):
        return likewise(change, say) or setting(change, say) or order(change, say)
    if change.kind == "default" and isinstance(change.new, ast.Assign) and isinstance(change.new.value, ast.IfExp):
        name, belongs = ast.unparse(change.old), ast.unparse(change.new.value.body)
        return Clause(f"the default of {name} were another than {belongs}", f"Give {name} the default {belongs}.", 0)
    if change.kind == "shifted":
        name = ast.unparse(change.old)
        largest = f"the largest entry of {name} were not subtracted before the exponential, which overflows"
        return Clause(largest, f"Subtract the largest of {name} first: quotients of exponentials stay the same.", 0)
    if change.kind in ("accumulates", "overwrites"):
        return assignment(change, say)
    if change.kind == "thrown_away" and isinstance(change.old, ast.Expr):
        return _thrown_away(change.old.value, say)
    if isinstance(change.old, ast.stmt):
        return _statement(change, say)
    if not isinstance(change.new, ast.AST):
        return None
    if change.kind == "aligned":
        return _aligned(change, say)
    if (clause := rounds(change)) is not None:
        return clause
    if _holds(change.old, change.new) and not _holds(change.new, change.old):
        return _extra(change.old, change.new, say)
    if (special := block(change) or likewise(change, say) or limits(change, say) or _special(change, say)) is not None:
        return special
    if change.old is getattr(change.statement, "value", None):  # made anew as the lines that are like it
        old, new, holder = narrowed(change.old, change.new, change.holder)
        if old is not change.old:
            return told(replace(change, old=old, new=new, holder=holder), say) or quoted(change.old, change.new)
    said = expression(change.new, change.old, change.holder, say)
    if said is not None and " taken instead of " in said.said:
        said = replace(said, said=said.said + named_entry(change))
    if said is None or "another value" in said.said:
        said = quoted(change.old, change.new) or said
    return said or quoted(*narrowed(change.old, change.new, change.holder)[:2])  # of a long one, its part


def _thrown_away(value: ast.expr, say: Vocabulary) -> Clause | None:
    """Return the clause of a line that computes something and keeps nothing."""
    if name := called(value):
        return Clause(f"the result of {name} were not used", f"`{name}` returns what it makes: keep that.", 0)
    what = say.phrase(getattr(value, "left", None))
    return Clause(f"the new value of {what} were not kept", f"Write `{what} = …`.", 0) if what else None


def _aligned(change: Change, say: Vocabulary) -> Clause | None:
    """Return the clause of what stands where a right module has something else: each of the places told by itself."""
    found = places(change)
    if found is not None and len(found) == 1 and not is_small(found[0]):
        one = found[0]
        assert isinstance(one.new, ast.expr)
        if isinstance(one.holder, ast.Tuple) and (clause := entry_of(one)) is not None:
            return clause
        is_call = isinstance(one.new, ast.Call) and isinstance(one.old, LEAVES)
        is_short = isinstance(one.new, LEAVES) or (is_call and len(walk(one.new)) <= MOST_NODES)
        if is_short:
            return taking_part(one, say) or quoted(one.old, one.new)
        return taking_part(one, say) or taking_part(change, say) or made_of(one, say)
    clauses = [told(replace(each, kind=""), say) for each in found or ()]
    known = [each for each in clauses if each is not None]
    if known and len(known) == len(clauses) and not any("another value" in each.said for each in known):
        said = ", and as if ".join(dict.fromkeys(each.said for each in known))
        return Clause(said, " ".join(dict.fromkeys(each.fix for each in known)), max(each.rank for each in known))
    return taking_part(change, say) or made_of(change, say)


def _special(change: Change, say: Vocabulary) -> Clause | None:
    """Return the clause of a change that no slip of a right module has the like of."""
    right, old = change.new, change.old
    if isinstance(change.holder, ast.keyword) and isinstance(right, ast.Name) and constant_of(old) is not None:
        said = f"{right.id} were ignored, and {constant_of(old)} always taken"
        return Clause(said, f"Use {right.id} as it is given.", 0)
    if isinstance(right, ast.UnaryOp) and getattr(right.operand, "attr", "") == "inf":
        was = constant_of(old)
        fix = f"Use -np.inf: next to large numbers {was} is not low."
        return Clause(f"{was} stood where minus infinity belongs", fix, 0)
    if isinstance(right, ast.Call) and called(right) == "len" and isinstance(old, ast.Constant):
        return quoted(old, right)
    if isinstance(right, ast.Name) and isinstance(old, ast.Subscript):
        return quoted(old, right)
    if isinstance(change.holder, ast.Subscript) and change.holder.slice is old and isinstance(right, ast.Tuple):
        return quoted(change.holder, replaced(change.holder, slice=right))
    if isinstance(change.holder, ast.Tuple) and (clause := entry_of(change)) is not None:
        return clause
    if isinstance(change.holder, ast.BinOp) and isinstance(change.holder.op, ast.Pow) and change.holder.right is old:
        return quoted(change.holder, replaced(change.holder, right=right))
    if isinstance(right, ast.AST) and (clause := moved(old, right, say)) is not None:
        return clause
    if not isinstance(right, ast.Call):
        return None
    if called(right) == "sum" and called(old) == "mean" and isinstance(getattr(right.func, "value", None), ast.BinOp):
        return quoted(old, right)  # of what is summed a factor is missing as well
    if called(right) == "zeros_like" and isinstance(old, ast.Subscript) and right.args == [old]:
        said = (
            f"{targets(change.statement, say) or 'a value'} began with `{ast.unparse(old)}`, where it begins with zeros"
        )
        return Clause(said, "Begin with zeros of its shape.", 0)
    if called(right) == "copy" and _holds(right, old):
        what = say.phrase(old) or "an array"
        return Clause(f"{what} were not copied", f"Copy {what}: what stands there is a view.", 0)
    return _layer(right, old, say) or _along(right, old, say)


def _layer(right: ast.Call, learners: ast.AST, say: Vocabulary) -> Clause | None:
    """Return the clause of a layer that was left out; None where the change is another."""
    function = right.func
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Attribute):
        return None
    if learners not in right.args:
        return None
    layer, what = function.value.attr, say.phrase(learners)
    said = f"{layer}{'.backward' if function.attr == 'backward' else ''} were left out"
    return Clause(f"{said}, and {what} went on as it is" if what else said, f"Call {layer}.{function.attr}.", 0)


def _along(right: ast.Call, learners: ast.AST, say: Vocabulary) -> Clause | None:
    """Return the clause of a reduction over all entries, or of a sum that is missing, along an axis."""
    axis = next((each.value for each in right.keywords if each.arg == "axis"), None)
    noun = NOUNS.get(called(right))
    if axis is None or noun is None:
        return None
    name = axis_named(constant_of(axis))
    if getattr(right.func, "value", None) is learners:
        what = say.phrase(learners) or say.term(learners)
        return Clause(f"{noun}{f' of {what}' if what else ''} along {name} were not taken", f"Take {noun}.", 0)
    if isinstance(learners, ast.Subscript) and getattr(right.func, "value", None) is learners.value:
        what = say.phrase(learners.value)
        of = f" of {what}" if what else ""
        return Clause(f"one entry{of} were taken where {noun}{of} along {name} belongs", f"Take {noun}.", 0)
    same = isinstance(learners, ast.Call) and called(learners) == called(right)
    if not isinstance(learners, ast.Call) or not same or any(each.arg == "axis" for each in learners.keywords):
        return None
    if len(learners.args) != len(right.args):
        return None
    said = f"{noun} were taken over the whole array at once instead of along {name}"
    kept = any(each.arg == "keepdims" for each in right.keywords)
    return Clause(said, f"Take it along {name}{', and keep the axis with `keepdims=True`' if kept else ''}.", 0)


def _holds(whole: ast.AST, part: ast.AST) -> bool:
    return whole is not part and any(part is each for each in walk(whole))


def _statement(change: Change, say: Vocabulary) -> Clause | None:
    if change.kind == "mirrored" and isinstance(change.old, ast.If) and isinstance(change.new, ast.If):
        return mirrored(change.old, change.new.orelse[0])
    if isinstance(change.new, ast.Pass):
        what = targets(change.statement, say)
        return Clause(f"{what or 'a value'} were changed by a step too many", "Leave that step out.", 2)
    if isinstance(change.new, ast.stmt) and isinstance(change.old, ast.stmt):
        if isinstance(change.new, ast.If) and isinstance(change.new.test, ast.Constant):
            return always(change.old, bool(change.new.test.value))
        return statement(change.new, change.old, say)
    return None


def _extra(whole: ast.AST, kept: ast.AST, say: Vocabulary) -> Clause | None:
    """Return the clause of an operation too many; kept is what belongs in the place of the whole."""
    what = say.phrase(kept)
    own = f"{what} itself" if what else "the value itself"
    match whole:
        case ast.BinOp():
            return _operation(whole, kept, what, say) or quoted(whole, kept)
        case ast.Call():
            name = called(whole)
            if name in ("copy", "array", "asarray", "astype"):
                return None
            bound = next((constant_of(each) for each in whole.args if each is not kept), None)
            if name in ("maximum", "minimum") and isinstance(bound, (int, float)):
                side = "below" if name == "maximum" else "above"
                cut = f"{what or 'the result'} were cut off {side} {bound:g}"
                return Clause(cut, f"Leave `{name}` out there.", 0)
            noun = name if name in say.functions else NOUNS.get(name)
            if noun is None:  # of one argument, its own text says it: `set(tokens)` stood where `tokens` belongs
                return quoted(whole, kept) if whole.args == [kept] else None
            done = f"{noun}{f' of {what}' if what else ''} were taken where {own} belongs"
            if noun == name:
                done = f"{name} were applied{f' to {what}' if what else ''} where {own} belongs"
            return Clause(done, f"Use {own}.", 1)
        case ast.Attribute(attr="T"):
            return Clause(f"{what or 'an array'} were transposed", f"Use {what or 'it'} as it is.", 0)
        case ast.UnaryOp():
            return Clause(f"the sign of {what or 'a term'} were the other way round", "Mind the minus sign.", 0)
        case ast.IfExp():
            return one_case(whole, kept)
        case ast.Subscript(slice=ast.Slice() | ast.Tuple()) if whole.value is kept:
            if any(isinstance(each, ast.Slice) and constant_of(each.step) == -1 for each in walk(whole.slice)):
                return Clause(f"{what or 'an array'} were reversed", "Keep its order.", 0)
            return Clause(f"only a part of {what or 'an array'} were used", f"Use all of {what or 'it'}.", 1)
    return None


def _operation(whole: ast.BinOp, kept: ast.AST, what: str | None, say: Vocabulary) -> Clause | None:
    if kept is not whole.left and kept is not whole.right:
        return None
    other = whole.right if kept is whole.left else whole.left
    said, of = say.term(other) or "a term", what or "a value"
    match whole.op:
        case ast.Add():
            done = f"{said} were added to {of}, where {of} alone belongs"
        case ast.Sub() if kept is whole.left:
            done = f"{said} were subtracted from {of}, where {of} alone belongs"
        case ast.Mult():
            done = f"{of} were multiplied by {said}, where {of} alone belongs"
        case ast.Div() if kept is whole.left:
            done = f"{of} were divided by {said}, where {of} alone belongs"
        case ast.Pow() if kept is whole.left:
            power = constant_of(whole.right)
            raised = {2: "squared", 0.5: "rooted"}.get(power if isinstance(power, (int, float)) else 0)
            done = f"{of} were {raised or f'raised to the power {said}'}, where {of} itself belongs"
        case ast.MatMult():
            done = f"{of} were multiplied by the matrix {said}, where {of} alone belongs"
        case _:
            return None
    return Clause(done, f"Use {of} alone." if what else "Leave that out.", 0 if say.phrase(other) else 1)
