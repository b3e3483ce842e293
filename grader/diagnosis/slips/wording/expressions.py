"""Clauses for changed names, numbers, calls, slices, comparisons and tuples."""

from __future__ import annotations

import ast
import re

from grader.diagnosis.slips.wording.clause import Clause
from grader.diagnosis.slips.wording.operations import operation
from grader.diagnosis.slips.wording.phrases import AXES, NOUNS, SYMBOLS, Vocabulary, called, constant_of


def expression(old: ast.AST, new: ast.AST, holder: ast.AST, say: Vocabulary) -> Clause | None:
    """Return the clause of an expression for which another stands; None for a change without words."""
    if isinstance(new, ast.UnaryOp) and new.operand is old:
        return _sign(old, new, say)
    match old:
        case ast.BinOp():
            return operation(old, new, say)
        case ast.Constant() | ast.UnaryOp(operand=ast.Constant(), op=ast.USub()):
            return _constant(old, new, holder, say)
        case ast.UnaryOp():
            what = say.phrase(old.operand)
            if isinstance(old.op, ast.USub):
                return Clause(f"the sign of {what or 'a term'} were the other way round", "Mind the minus sign.", 0)
            return Clause(
                f"a condition{f' on {what}' if what else ''} were the other way round", "Turn the condition round.", 1
            )
        case ast.Call():
            return _call(old, new, say)
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return _name(old, new, holder, say)
        case ast.Compare():
            return _comparison(old, new, say)
        case ast.BoolOp():
            return _condition(old, new, say)
        case ast.IfExp():
            return Clause(
                f"the case distinction{_on(say.phrase(old.test), ' on ')} were left out", "Treat both cases.", 1
            )
        case ast.Slice():
            return _slice(old, new, holder, say)
        case ast.Tuple() | ast.List():
            return _order(old, new, holder, say)
        case ast.comprehension():
            return Clause("the condition in the loop were left out", "Take only those for which it holds.", 1)
    return None


def _on(what: str | None, before: str) -> str:
    return f"{before}{what}" if what else ""


def _sign(old: ast.AST, new: ast.UnaryOp, say: Vocabulary) -> Clause | None:
    what = say.phrase(old)
    if isinstance(new.op, ast.Invert):
        name = what or "the mask"
        return Clause(f"{name} were inverted", f"True and False in {name} mean the opposite: use it as it is.", 0)
    if isinstance(new.op, ast.Not):
        return Clause(f"a condition{_on(what, ' on ')} were the other way round", "Turn the condition round.", 1)
    return Clause(f"the sign of {what or 'the result'} were the other way round", "Mind the minus sign.", 1)


def _constant(old: ast.AST, new: ast.AST, holder: ast.AST, say: Vocabulary) -> Clause | None:
    was, now = constant_of(old), constant_of(new)
    if isinstance(holder, ast.keyword) and holder.arg in ("axis", "axes"):
        if isinstance(now, int) and not isinstance(now, bool):
            return Clause(f"it went along the {_axis(now)} instead of the {_axis(was)}", f"Take the {_axis(was)}.", 0)
        return Clause(
            f"it went over the whole array at once instead of along the {_axis(was)}", f"Give `axis={was}`.", 0
        )
    if isinstance(holder, ast.keyword):
        return Clause(
            f"{holder.arg}={now!r} stood where {holder.arg}={was!r} belongs", f"Give `{holder.arg}={was!r}`.", 1
        )
    if isinstance(was, str):
        if isinstance(now, str) and now.rstrip("_") == was:
            return None
        return Clause(f"{now} were used where {was} belongs", f"Use {was} there.", 0)
    if now is None and not (isinstance(new, ast.Constant) and new.value is None):
        return None
    if isinstance(holder, ast.Subscript):
        if isinstance(holder.value, ast.Attribute) and holder.value.attr == "shape":
            what = say.phrase(holder.value.value)
            of = f" of {what}" if what else ""
            return Clause(
                f"the size of the {AXES.get(now, now)} axis{of} were taken instead of the {AXES.get(was, was)}",
                f"Take the size of the {AXES.get(was, was)} axis.",
                0,
            )  # type: ignore[call-overload]
        return Clause(
            f"index {now}{_on(say.phrase(holder.value), ' of ')} were used where index {was} belongs",
            f"Use index {was}.",
            1,
        )
    if isinstance(holder, ast.Call) and called(holder) in ("swapaxes", "moveaxis", "transpose", "expand_dims", "rollaxis"):
        of = _on(say.phrase(holder.args[0]), " of ")
        return Clause(f"axis {now}{of} were moved instead of axis {was}", f"Mind the axes: {was} belongs there.", 1)
    if isinstance(was, bool) or isinstance(now, bool):
        return Clause(f"{now} stood where {was} belongs", f"Use {was}.", 1)
    near = (
        isinstance(was, (int, float))
        and isinstance(now, (int, float))
        and (now in (0, was * 10, was / 10, was * 2, was / 2, -was) or abs(now - was) == 1)
    )
    return Clause(
        f"{_number(now)} stood where the formula has {_number(was)}", f"Use {_number(was)} there.", 1 if near else 2
    )


def _number(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _axis(value: object) -> str:
    return f"{AXES[value]} axis" if value in AXES else f"axis {value}"  # type: ignore[index]


def _name(old: ast.expr, new: ast.AST, holder: ast.AST, say: Vocabulary) -> Clause | None:
    is_function = isinstance(holder, ast.Call) and holder.func is old
    if isinstance(new, ast.Constant) and isinstance(new.value, (int, float)) and not isinstance(new.value, bool):
        was = say.phrase(old)
        return Clause(f"{was or 'a value'} were always {new.value}, whatever is given", f"Use {was or 'what is given'}.", 1)
    if is_function:
        was, now = _function(old), _function(new)
        if isinstance(old, ast.Attribute) and new is old.value:
            return Clause(f"{NOUNS.get(was, was)} were left out", f"Apply `{was}`.", 0)
        first, second = NOUNS.get(was, was), NOUNS.get(now, now)
        return (
            Clause(f"{second} were taken instead of {first}", f"Take {first}.", 0)
            if not first.startswith("_") and not second.startswith("_")
            else None
        )
    was, now = say.phrase(old), say.phrase(new)
    if isinstance(new, ast.Constant) and new.value is None:
        function = called(holder) if isinstance(holder, ast.Call) else ""
        into = function if function in say.functions else "what it is meant for"
        return Clause(f"{was or 'an argument'} did not reach {into}", f"Pass {was or 'it'} on.", 0)
    if called(new) == "swapaxes":
        return Clause(f"{was or 'the result'} were transposed", "Mind the order of its axes.", 1)
    if isinstance(old, ast.Attribute) and old.attr == "T" and new is old.value:
        return Clause(f"{now or 'an array'} were not transposed", f"Transpose {now or 'it'}.", 0)
    if isinstance(new, ast.BinOp) and new.left is old:
        power = constant_of(new.right)
        if isinstance(new.op, ast.Pow):
            done = "the square root of " if power == 0.5 else "the square of "
            return Clause(
                f"{done}{was or 'a number'} stood where {was or 'the number itself'} belongs",
                f"Use {was or 'it'} as it is.",
                1,
            )
        sign = "+" if isinstance(new.op, ast.Add) else "-"
        return Clause(f"{was} {sign} 1 stood where {was} belongs", f"Use {was}.", 2) if was else None
    if was and now:
        return Clause(f"{now} were used where {was} belongs", f"Use {was} there.", 0 if are_kin(was, now) else 1)
    if was or now:
        return Clause(
            f"another value were used where {was} belongs" if was else f"{now} were used where another value belongs",
            f"Use {was} there." if was else "Follow the formula.",
            2,
        )
    return None


def are_kin(one: str, other: str) -> bool:
    """Say whether two names are easily confused: letters both, or with a part in common, as grad_Q and grad_K."""
    if len(one) <= 2 and len(other) <= 2:
        return True
    parts = [set(re.findall(r"[A-Za-z]+|\d+", name)) for name in (one, other)]
    return bool(parts[0] & parts[1])


def _function(node: ast.AST) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))


def _call(old: ast.Call, new: ast.AST, say: Vocabulary) -> Clause | None:
    name = called(old)
    if name == "swapaxes" and (other := _other_axes(old, new, say)):
        return other
    noun = name if name in say.functions else NOUNS.get(name, f"`{name}`" if name in say.words else "")
    if not isinstance(new, ast.Call):
        return _not_called(old, new, name, noun, say)
    if new.func is not old.func:
        if name == "range":
            return Clause("the loop ran backwards", "Start at the beginning.", 1)
        return _called_without(old, new, noun, say)
    gone = [keyword for keyword in old.keywords if keyword not in new.keywords]
    if gone:
        return _without_keyword(gone[0], new, noun, say)
    more = [keyword for keyword in new.keywords if keyword not in old.keywords]
    if more:
        value = constant_of(more[0].value)
        if more[0].arg == "axis":
            return Clause(
                f"{noun or 'it'} went along the {_axis(value)} instead of over everything",
                "Take it over the whole array.",
                1,
            )
        return Clause(f"{more[0].arg}={value} were given to {noun or 'a function'}", f"Leave {more[0].arg} out.", 1)
    if name == "range":
        return _range(old, new)
    if len(new.args) < len(old.args):
        what = say.phrase(old.args[-1])
        return Clause(
            f"{what or 'the last argument'} did not reach {noun or 'a function'}",
            f"Pass {what or 'it'} on.",
            0 if what else 1,
        )
    if len(new.args) > len(old.args) or name == "arange":
        return _more_arguments(old, new, name)
    if name == "where":
        what = say.phrase(old.args[0])
        return Clause(
            f"the condition {f'on {what} ' if what else ''}were read the wrong way round, so that its two cases are swapped",
            "Swap the two cases.",
            0,
        )
    pair = [say.phrase(a) for a, b in zip(old.args, new.args, strict=False) if a is not b]
    names = f"{pair[0]} and {pair[1]}" if len(pair) == 2 and all(pair) else "two arguments"
    return Clause(f"{names} were swapped{_on(noun, ' in ')}", "Swap them back.", 0)


def _other_axes(old: ast.Call, new: ast.AST, say: Vocabulary) -> Clause | None:
    """Return the clause of a transpose that swaps other axes than the last two."""
    array = old.args[0] if len(old.args) == 3 else getattr(old.func, "value", None)
    what = say.phrase(array) or "an array"
    if isinstance(new, ast.Attribute):
        return Clause(f"`.T` turned over all axes of {what}, where only the last two belong swapped", "Use np.swapaxes(…, -1, -2).", 0)
    if isinstance(new, ast.Call) and [constant_of(each) for each in new.args[-2:]] in ([0, 1], [1, 2]):
        pair = " and ".join(str(constant_of(each)) for each in new.args[-2:])
        return Clause(f"axes {pair} of {what} were swapped, counted from the front, instead of the last two", "Count from the end: axes -1 and -2.", 0)
    return None


def _more_arguments(old: ast.Call, new: ast.Call, name: str) -> Clause | None:
    if name == "arange":
        return Clause("it were counted from 1 instead of 0", "Start at 0.", 0)
    if name in ("tril", "triu"):
        side = "below" if (constant_of(new.args[-1]) == -1) else "above"
        return Clause(f"the triangle began one diagonal {side} the main one", "Begin at the main diagonal.", 0)
    return None


def _called_without(old: ast.Call, new: ast.Call, noun: str, say: Vocabulary) -> Clause | None:
    if new in old.args or (isinstance(old.func, ast.Attribute) and new is old.func.value):
        return Clause(f"{noun or 'a step'} were left out", "Do that step, too.", 0)
    return None


def _not_called(old: ast.Call, new: ast.AST, name: str, noun: str, say: Vocabulary) -> Clause | None:
    what = say.phrase(new)
    if name in ("where", "maximum", "minimum") and new in old.args:
        kept = f": only {what} is left" if what else ""
        said = {
            "where": "a case distinction were left out",
            "maximum": "the lower bound were left out",
            "minimum": "the upper bound were left out",
        }[name]
        return Clause(said + kept, "Treat both cases." if name == "where" else "Keep that bound.", 1)
    if name in say.functions:
        return Clause(f"{name} were not applied" + _on(what, " to "), f"Call {name} there.", 0)
    if name == "swapaxes" or name == "transpose":
        return Clause(f"{what or 'an array'} were not transposed", f"Swap the axes of {what or 'it'}.", 0)
    if name in ("copy", "array", "asarray", "astype"):
        return Clause(f"{what or 'an array'} were not copied or converted", "Make a copy of the right dtype.", 2)
    if name == "sqrt":
        return Clause(f"the square root of {what or 'a value'} were not taken", "Take the square root.", 0)
    if noun:
        return Clause(
            f"{noun}{_on(what, ' of ')} were not taken",
            f"Take {noun}." if not noun.startswith("`") else f"Call {noun}.",
            1,
        )
    return None


def _without_keyword(gone: ast.keyword, new: ast.Call, noun: str, say: Vocabulary) -> Clause | None:
    value = constant_of(gone.value)
    if gone.arg == "axis" and not any(k.arg == "axis" for k in new.keywords):
        return Clause(
            f"{noun or 'it'} went over the whole array at once instead of along the {_axis(value)}"
            if value is not None
            else f"{noun or 'it'} went over the whole array at once",
            "Give the axis.",
            0,
        )
    if gone.arg == "keepdims":
        return Clause(
            f"keepdims were left out of {noun or 'a reduction'}",
            "Give `keepdims=True`, so that the result broadcasts.",
            1,
        )
    if gone.arg == "ddof":
        return Clause("ddof were left out: the divisor is n", f"Give `ddof={say.phrase(gone.value) or value}`.", 0)
    return Clause(f"{gone.arg} did not reach {noun or 'a function'}", f"Pass {gone.arg} on.", 0)


def _range(old: ast.Call, new: ast.Call) -> Clause | None:
    if len(new.args) != len(old.args):
        return Clause("the loop left out its first round", "Start at 0.", 1)
    changed = next((b for a, b in zip(old.args, new.args, strict=True) if a is not b), None)
    if isinstance(changed, ast.BinOp) and constant_of(changed.right) == 1:
        fewer = isinstance(changed.op, ast.Sub)
        return Clause(f"the loop made one round too {'few' if fewer else 'many'}", "Look at where the loop ends.", 1)
    return Clause("the loop had other bounds", "Look at where the loop begins and ends.", 2)


def _comparison(old: ast.Compare, new: ast.AST, say: Vocabulary) -> Clause | None:
    if not isinstance(new, ast.Compare) or len(new.ops) != len(old.ops):
        return None
    pairs = zip(old.ops, new.ops, old.comparators, strict=True)
    was, now, right = next(((a, b, r) for a, b, r in pairs if a is not b), (None, None, None))
    if was is None or now is None:
        return None
    what = " and ".join(dict.fromkeys(filter(None, (say.phrase(old.left), say.phrase(right)))))
    compared = f" between {what}" if " and " in what else f" of {what}" if what else ""
    return Clause(
        f"`{SYMBOLS[type(now)]}` stood where `{SYMBOLS[type(was)]}` belongs in the comparison{compared}",
        f"Use `{SYMBOLS[type(was)]}`.",
        0,
    )


def _condition(old: ast.BoolOp, new: ast.AST, say: Vocabulary) -> Clause | None:
    if isinstance(new, ast.BoolOp) and type(new.op) is not type(old.op):
        now, was = ("or", "and") if isinstance(new.op, ast.Or) else ("and", "or")
        return Clause(f"`{now}` stood where `{was}` belongs in a condition", f"Use `{was}`.", 1)
    kept = new.values if isinstance(new, ast.BoolOp) else [new]
    gone = next((value for value in old.values if value not in kept), None)
    return Clause(f"a condition{_on(_names(gone, say), ' on ')} were left out", "Every condition counts.", 1)


def _names(node: ast.AST | None, say: Vocabulary) -> str | None:
    found = [say.phrase(each) for each in ast.walk(node) if isinstance(each, ast.Name)] if node else []
    known = list(dict.fromkeys(name for name in found if name and " " not in name and name not in ("np", "len")))
    return " and ".join(known[:2]) or None


def _slice(old: ast.Slice, new: ast.AST, holder: ast.AST, say: Vocabulary) -> Clause | None:
    if not isinstance(new, ast.Slice):
        return None
    what = say.phrase(holder.value) if isinstance(holder, ast.Subscript) else None
    part = f"a slice of {what}" if what else "a slice"
    for bound, verb in (("lower", "began"), ("upper", "ended"), ("step", "stepped")):
        was, now = getattr(old, bound), getattr(new, bound)
        if was is now:
            continue
        if now is None:
            said = {"lower": "began at the first entry", "upper": "ran to the last entry", "step": "took every entry"}[
                bound
            ]
            return Clause(f"{part} {said}", "Look at its bounds.", 1)
        off = "one entry later" if isinstance(now, ast.BinOp) and isinstance(now.op, ast.Add) else "one entry earlier"
        return Clause(f"{part} {verb} {off}", "Look at its bounds.", 1)
    return None


def _order(old: ast.Tuple | ast.List, new: ast.AST, holder: ast.AST, say: Vocabulary) -> Clause | None:
    if not isinstance(new, type(old)) or not isinstance(new, (ast.Tuple, ast.List)):
        return None
    pair = [say.phrase(a) for a, b in zip(old.elts, new.elts, strict=False) if a is not b]
    names = f"{pair[0]} and {pair[1]}" if len(pair) == 2 and all(pair) else ""
    if isinstance(holder, ast.Return):
        return Clause(
            f"the results {names + ' ' if names else ''}came in the other order",
            "Return them in the order of the docstring.",
            0,
        )
    return Clause(f"{names or 'two entries'} stood in the other order", "Swap them.", 1)
