"""Clauses for changed calls: not made, made with other arguments, or with fewer."""

from __future__ import annotations

import ast

from grader.diagnosis.slips.wording.clause import Clause, following
from grader.diagnosis.slips.wording.nouns import NOUNS, axis_named, lacking
from grader.diagnosis.slips.wording.phrases import Vocabulary, called, constant_of, pair_of

BOUNDS = {
    "where": "a case distinction were left out",
    "maximum": "the lower bound were left out",
    "minimum": "the upper bound were left out",
}


def call(old: ast.Call, new: ast.AST, say: Vocabulary) -> Clause | None:
    """Return the clause of a call for which something else stands; None for a change without words."""
    name = called(old)
    if name == "swapaxes" and (other := _other_axes(old, new, say)):
        return other
    noun = name if name in say.functions else NOUNS.get(name, f"`{name}`" if name in say.words else "")
    if not isinstance(new, ast.Call):
        return _not_made(old, new, name, noun, say)
    if new.func is not old.func:
        return _made_otherwise(old, new, name, noun, say)
    if new.keywords != old.keywords:
        return _keyword(old, new, noun, say)
    if name == "range":
        return _range(old, new)
    if len(new.args) < len(old.args):
        what = say.phrase(old.args[-1])
        said = f"{what or 'the last argument'} did not reach {noun or 'a function'}"
        return Clause(said, f"Pass {what or 'it'} on.", 0 if what else 1)
    if len(new.args) > len(old.args) or name == "arange":
        return _more_arguments(new, name)
    if name == "where":
        of = following("of the condition on", say.names(old.args[0]))
        return Clause(f"the two cases{of} were swapped", "Swap the two cases.", 0)
    names = pair_of([say.phrase(a) for a, b in zip(old.args, new.args, strict=False) if a is not b])
    return Clause(f"{names or 'two arguments'} were swapped{following('in', noun)}", "Swap them back.", 0)


def _other_axes(old: ast.Call, new: ast.AST, say: Vocabulary) -> Clause | None:
    """Return the clause of a transpose that swaps other axes than the last two."""
    array = old.args[0] if len(old.args) == 3 else getattr(old.func, "value", None)
    what = say.phrase(array) or "an array"
    if isinstance(new, ast.Attribute):
        said = f"`.T` reversed all axes of {what} instead of swapping its last two"
        return Clause(said, "Use np.swapaxes(…, -1, -2).", 0)
    places = [constant_of(each) for each in new.args[-2:]] if isinstance(new, ast.Call) else []
    if places in ([0, 1], [1, 2]):
        said = f"axes {places[0]} and {places[1]} of {what} were swapped instead of the last two"
        return Clause(said, "Count from the end: axes -1 and -2.", 0)
    return None


def _not_made(old: ast.Call, new: ast.AST, name: str, noun: str, say: Vocabulary) -> Clause | None:
    what = say.phrase(new)
    layer = getattr(getattr(old.func, "value", None), "attr", "")
    if name in ("forward", "backward") and layer in say.words:
        return Clause(
            f"{layer} were left out{f', and {what} went on as it is' if what else ''}", f"Call {layer}.{name}.", 0
        )
    if name in BOUNDS and new in old.args:
        kept = f", and only {what} were kept" if what else ""
        return Clause(BOUNDS[name] + kept, "Treat both cases." if name == "where" else "Keep that bound.", 1)
    if name in say.functions:
        return Clause(f"{name} were not applied{following('to', what)}", f"Call {name} there.", 0)
    if name in ("swapaxes", "transpose"):
        return Clause(f"{what or 'an array'} were not transposed", f"Swap the axes of {what or 'it'}.", 0)
    if name in ("copy", "array", "asarray", "astype"):
        said = f"{what or 'an array'} were neither copied nor converted"
        return Clause(said, "Make a copy of the right dtype.", 2)
    if name == "sqrt":
        return Clause(f"the square root of {what or 'a value'} were not taken", "Take the square root.", 0)
    verb = "Call" if noun.startswith("`") else "Take"
    return Clause(lacking(name, noun, what), f"{verb} {noun}.", 1) if noun else None


def _made_otherwise(old: ast.Call, new: ast.Call, name: str, noun: str, say: Vocabulary) -> Clause | None:
    if called(new) == "reversed":
        return Clause("the loop ran backwards", "Start at the beginning.", 1)
    if new in old.args or (isinstance(old.func, ast.Attribute) and new is old.func.value):
        if name in say.functions:
            return Clause(f"{name} were not applied{following('to', say.phrase(new))}", f"Call {name} there.", 0)
        return Clause(f"{noun or 'a step'} were left out", "Do that step, too.", 0)
    return None


def _keyword(old: ast.Call, new: ast.Call, noun: str, say: Vocabulary) -> Clause | None:
    gone = next((each for each in old.keywords if each not in new.keywords), None)
    more = next((each for each in new.keywords if each not in old.keywords), None)
    if more is not None:
        value = constant_of(more.value)
        if more.arg == "axis":
            said = f"{noun or 'a result'} were taken along {axis_named(value)} instead of over all entries"
            return Clause(said, "Take it over the whole array.", 1)
        return Clause(f"{noun or 'a result'} were taken with {more.arg}={value}", f"Leave {more.arg} out.", 1)
    return _without_keyword(gone, new, noun, say) if gone is not None else None


def _without_keyword(gone: ast.keyword, new: ast.Call, noun: str, say: Vocabulary) -> Clause:
    value = constant_of(gone.value)
    if gone.arg == "axis":
        along = f" instead of along {axis_named(value)}" if value is not None else ""
        done = f"{noun} were taken over" if noun in NOUNS.values() else "it worked on"
        return Clause(f"{done} the whole array at once{along}", "Give the axis.", 0)
    if gone.arg == "keepdims":
        fix = "Give `keepdims=True`, so that the result broadcasts."
        return Clause(f"keepdims were left out of {noun or 'a reduction'}", fix, 1)
    if gone.arg == "ddof":
        given = say.phrase(gone.value) or value
        return Clause(f"ddof were left out of {noun or 'a variance'}", f"Give `ddof={given}`.", 0)
    return Clause(f"{gone.arg} did not reach {noun or 'a function'}", f"Pass {gone.arg} on.", 0)


def _range(old: ast.Call, new: ast.Call) -> Clause:
    if len(new.args) > len(old.args):
        first = ast.unparse(new.args[0])
        said = "left out its first round" if first == "1" else f"began at {first}, where it begins at 0"
        return Clause(f"the loop {said}", "Start at 0.", 1)
    if len(new.args) < len(old.args):
        return Clause("the loop had a first round too many", f"Start at {ast.unparse(old.args[0])}.", 1)
    pair = next(((a, b) for a, b in zip(old.args, new.args, strict=True) if a is not b), (None, None))
    whole = next((each for each in pair if isinstance(each, ast.BinOp) and constant_of(each.right) == 1), None)
    if isinstance(whole, ast.BinOp) and whole.left in pair:
        fewer = isinstance(whole.op, ast.Sub) == (whole is pair[1])
        return Clause(f"the loop made one round too {'few' if fewer else 'many'}", "Look at where the loop ends.", 1)
    return Clause("the loop had other bounds", "Look at where the loop begins and ends.", 2)


def _more_arguments(new: ast.Call, name: str) -> Clause | None:
    if name == "arange":
        return Clause("the count began at 1 instead of 0", "Start at 0.", 0)
    if name in ("tril", "triu"):
        side = "below" if constant_of(new.args[-1]) == -1 else "above"
        said = f"the edge of the triangle lay one diagonal {side} the main diagonal"
        return Clause(said, "Take the main diagonal as its edge.", 0)
    return None
