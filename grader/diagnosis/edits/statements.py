"""Lines that are too many, missing, in another order, or inside or outside of a loop where they do not belong."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grader.course.mutants import replaced
from grader.diagnosis.edits.base import (
    LIKELY,
    RARE,
    SURE,
    UNUSUAL,
    USUAL,
    Load,
    Made,
    Site,
    edit,
    is_equal,
    number,
    written,
)
from grader.diagnosis.module_text import BODIES, called, loaded, parameters, root_name, stored
from grader.diagnosis.trees import walk

LOOPS = (ast.For, ast.While)
LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)
CHANGING = ("remove", "pop", "append", "insert", "extend", "clear", "add", "discard")
GIVING_NONE = (*CHANGING, "sort", "reverse", "update", "append")
MAKING = ("int", "float", "str", "sorted", "list", "set", "tuple", "round", "abs", "reversed")
IN_PLACE = ("sort", "fill", "resize", "partition", "itemset", "put", "setflags")
SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.AnnAssign)


def body_of(site: Site, statement: ast.stmt) -> list[ast.stmt]:
    """Return the list of statements that holds one."""
    holder = site.parent_of(statement)
    for name in BODIES:
        body = getattr(holder, name, None)
        if isinstance(body, list) and any(each is statement for each in body):
            return body
    return [statement]


def place_of(body: Sequence[ast.stmt], statement: ast.stmt) -> int:
    """Return where a statement stands in a list."""
    return next(place for place, each in enumerate(body) if each is statement)


def first_line(node: ast.stmt) -> str:
    """Return the first line of a statement."""
    return ast.unparse(node).split("\n")[0]


@edit("line-superfluous", ast.Assign, ast.AugAssign, ast.Expr, rank=USUAL)
def line_superfluous(site: Site) -> Iterator[Made]:
    """Yield a function without a line that sets again, adds or calls."""
    node = site.node
    if isinstance(node, ast.Assign):
        names = {
            each.id
            for target in node.targets
            for each in walk(target)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        if not names <= loaded(node.value) | set(parameters(site.definition)) and not _is_set_before(site, names):
            return
    yield site.make([ast.Pass()], "the line `{line}` is too much", "Leave it out.")


def _is_set_before(site: Site, names: set[str]) -> bool:
    first = site.context.first_lines(site.function)
    return all(first.get(name, 1 << 30) < site.node.lineno for name in names)


@edit("repeated-indices", ast.AugAssign, ast.Assign, rank=LIKELY)
def repeated_indices(site: Site) -> Iterator[Made]:
    """Yield `np.add.at` where entries are added to by an array of indices, which counts each index once."""
    node = site.node
    target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
    names = {ast.Add: "add", ast.Sub: "subtract"}
    name = names.get(type(node.op)) if isinstance(node, ast.AugAssign) else "add"
    if name is None or not isinstance(target, ast.Subscript):
        return
    parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    held = [site.value(each) for each in parts]
    if any(each is not None and each.shape and each.dtype == "i" for each in held):
        array = ast.Attribute(ast.Attribute(ast.Name("np", Load), name, Load), "at", Load)
        inner = replaced(target.slice, ctx=Load) if isinstance(target.slice, ast.Tuple) else target.slice
        put = ast.Expr(ast.Call(array, [replaced(target.value, ctx=Load), inner, node.value], []))
        says = f"`{{line}}` counts an index once, however often it stands in `{site.show(target.slice)}`"
        yield site.make([put], says, f"Write `np.{name}.at(…)`, which adds up what comes several times.")


@edit("block-superfluous", ast.If, rank=USUAL)
def block_superfluous(site: Site) -> Iterator[Made]:
    """Yield a function without a condition: what it guards always, or never."""
    node = site.node
    if any(isinstance(each, ast.Raise) for each in node.body):
        return
    rank = UNUSUAL
    is_first = isinstance(node.test, ast.Compare) and isinstance(node.test.ops[0], ast.NotIn)  # keeps what is there
    says = f"what `if {site.show(node.test)}` does is too much"
    yield site.make(list(node.orelse) or [ast.Pass()], says, "Leave it out.", rank=rank)
    if not any(isinstance(each, LEAVING) for each in node.body):
        says = f"the lines under `if {site.show(node.test)}` are needed in every case"
        yield site.make(list(node.body), says, "Leave the condition out.", rank=LIKELY if is_first else rank)


@edit("lines-swapped", *SIMPLE, ast.For, ast.If, rank=USUAL)
def lines_swapped(site: Site) -> Iterator[Made]:
    """Yield two neighbouring lines in the other order, where one sets what the other uses."""
    node = site.node
    body = body_of(site, node)
    place = place_of(body, node)
    for other in body[place + 1 : place + 3]:
        if isinstance(other, LEAVING) or not _depend(node, other):
            return
        says = f"`{first_line(node)}` comes too early: it belongs behind `{first_line(other)}`"
        if other is body[place + 1]:
            yield site.make([other], says, "Swap the two lines.", also=((other, [node]),))
        else:
            yield site.make([ast.Pass()], says, "Move it.", also=((other, [other, node]),), rank=UNUSUAL)


def _depend(first: ast.stmt, second: ast.stmt) -> bool:
    ours, theirs = names_changed(first), names_changed(second)
    return bool(ours & loaded(second)) or bool(theirs & loaded(first)) or bool(ours & theirs)


def names_changed(node: ast.stmt) -> set[str]:
    """Return the names whose value a statement sets or changes in place."""
    found = stored(node)
    for each in walk(node):
        if isinstance(getattr(each, "ctx", None), ast.Store):
            found.add(root_name(each))
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
            found.add(root_name(each.func))
    return found - {"", "np", "math"}


@edit("line-inside-loop", ast.For, ast.While, rank=USUAL)
def line_inside_loop(site: Site) -> Iterator[Made]:
    """Yield a loop of which the first line comes before it, or the last one behind it."""
    node = site.node
    if len(node.body) > 1:
        first, last = node.body[0], node.body[-1]
        if isinstance(first, ast.Assign):
            shorter = replaced(node, body=node.body[1:])
            says = f"`{first_line(first)}` begins anew in each round"
            yield site.make([first, shorter], says, "Move it before the loop.", rank=LIKELY, at=first)
        shorter = replaced(node, body=node.body[:-1])
        says = f"`{first_line(last)}` runs in each round, and has to run once, behind the loop"
        rank = LIKELY if isinstance(last, ast.Return) else USUAL
        yield site.make([shorter, last], says, "Indent it less.", rank=rank, at=last)
    for each in node.body:
        inner = each.body if isinstance(each, (ast.If, *LOOPS)) else []
        if len(inner) > 1 or (len(inner) == 1 and isinstance(inner[-1], ast.Return)):
            last = inner[-1]
            rest = inner[:-1] or [ast.Pass()]
            says = f"`{first_line(last)}` runs too often: it stands one level too deep"
            yield site.make([replaced(each, body=rest), last], says, "Indent it less.", old=each, at=last)
        orelse = getattr(each, "orelse", [])
        if orelse and isinstance(each, ast.If) and isinstance(orelse[-1], ast.Return):
            after = body_of(site, node)[place_of(body_of(site, node), node) + 1 :]
            if not after or isinstance(after[0], ast.Return):
                says = f"`{first_line(orelse[-1])}` ends the loop in its first round"
                behind = [] if after else [orelse[-1]]
                body = [replaced(e, orelse=orelse[:-1]) if e is each else e for e in node.body]
                new = [replaced(node, body=body), *behind]
                yield site.make(new, says, "Move it behind the loop.", rank=LIKELY, at=orelse[-1])


@edit("line-outside-loop", ast.For, ast.While, rank=USUAL)
def line_outside_loop(site: Site) -> Iterator[Made]:
    """Yield a loop that takes in the line before it, or the lines behind it."""
    node = site.node
    body = body_of(site, node)
    place = place_of(body, node)
    if place and isinstance(body[place - 1], SIMPLE):
        before = body[place - 1]
        says = f"`{first_line(before)}` runs once, and has to run in each round"
        yield site.make(
            [ast.Pass()],
            says,
            "Move it into the loop.",
            old=before,
            also=((node, [replaced(node, body=[before, *node.body])]),),
        )
        yield site.make(
            [ast.Pass()],
            says,
            "Move it into the loop.",
            old=before,
            also=((node, [replaced(node, body=[*node.body, before])]),),
            rank=RARE,
        )
    for other in body[place + 1 : place + 2]:
        if isinstance(other, (*SIMPLE, ast.If)):
            says = f"`{first_line(other)}` runs once, behind the loop, and has to run in each round"
            yield site.make(
                [replaced(node, body=[*node.body, other])], says, "Indent it.", also=((other, [ast.Pass()]),), at=other
            )
            inner = node.body[-1]
            if isinstance(inner, (ast.If, *LOOPS)):
                longer = replaced(inner, body=[*inner.body, other])
                yield site.make(
                    [replaced(node, body=[*node.body[:-1], longer])],
                    says,
                    "Indent it.",
                    also=((other, [ast.Pass()]),),
                    at=other,
                    rank=UNUSUAL,
                )


@edit("value-not-renewed", ast.For, ast.While, rank=USUAL)
def value_not_renewed(site: Site) -> Iterator[Made]:
    """Yield a loop that computes anew what stands before it, after what that is made of has changed."""
    node = site.node
    changed, read = names_changed(node), loaded(node)
    for before in body_of(site, node)[: place_of(body_of(site, node), node)]:
        if not isinstance(before, ast.Assign) or not isinstance(before.value, (ast.Call, ast.BinOp)):
            continue
        made = loaded(before.value) & changed
        if not made or stored(before) & changed or not stored(before) & read:
            continue
        last = max((place for place, each in enumerate(node.body) if made & names_changed(each)), default=-1)
        body = [*node.body[: last + 1], before, *node.body[last + 1 :]]
        says = f"`{first_line(before)}` runs once, and has to run again in each round"
        fix = "Do it again in the loop, where what it is made of is new."
        yield site.make([replaced(node, body=body)], says, fix, at=before, adds=True)


@edit("part-not-returned", ast.Return, rank=USUAL)
def part_not_returned(site: Site) -> Iterator[Made]:
    """Yield what a function computed and never used, beside what it returns."""
    value = site.node.value
    parts = list(value.elts) if isinstance(value, ast.Tuple) else [value] if isinstance(value, ast.expr) else []
    for name in [each for each in site.unread if each not in parameters(site.definition)] if parts else ():
        for place in range(len(parts), -1, -1):
            new = ast.Tuple([*parts[:place], ast.Name(name, Load), *parts[place:]], Load)
            yield site.make(new, f"`{name}` is computed and not returned", old=value, adds=True)


@edit("return-missing", ast.FunctionDef, rank=LIKELY)
def return_missing(site: Site) -> Iterator[Made]:
    """Yield a function that returns what it computed."""
    definition = site.definition
    last = definition.body[-1]
    if isinstance(last, (ast.Return, ast.Raise)):
        return
    names = [name for name in site.context.trace.held.get(site.function, {}) if name not in ("self", "cls")]
    targets = [
        name
        for each in walk(last)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        for name in (each.id,)
    ]
    for name in dict.fromkeys([*targets, *reversed(names)]):
        says = "the function ends without a `return`"
        yield site.make(
            [last, ast.Return(ast.Name(name, Load))], says, f"Return `{name}`.", old=last, adds=True, at=_end_of(last)
        )
    for value in (number(-1), number(0), ast.Constant(True), ast.Constant(False), ast.List([], Load)):
        says = "the function may end without a `return`"
        new = [last, ast.Return(value)]
        yield site.make(
            new, says, f"Return `{ast.unparse(value)}` there.", old=last, adds=True, rank=USUAL, at=_end_of(last)
        )
    if isinstance(last, ast.Expr):
        yield site.make([ast.Return(last.value)], "`{old}` computes the result and does not return it", old=last)


def _end_of(statement: ast.stmt) -> ast.stmt:
    """Return the last statement within one."""
    body = getattr(statement, "orelse", None) or getattr(statement, "body", None)
    return _end_of(body[-1]) if body else statement


@edit("leaving-confused", ast.Break, ast.Continue, ast.Return, rank=USUAL)
def leaving_confused(site: Site) -> Iterator[Made]:
    """Yield `continue` for `break`, and neither."""
    node = site.node
    inside = False
    around = site.parent_of(node)
    while around is not None and not inside:
        inside, around = isinstance(around, LOOPS), site.parent_of(around)
    if not inside:
        return
    for other in (ast.Continue(), ast.Break(), ast.Pass()):
        if type(other) is not type(node):
            word = {ast.Continue: "`continue`", ast.Break: "`break`"}.get(type(other), "nothing")
            says = f"`{first_line(node)}` leaves too early, and {word} is needed here"
            yield site.make([other], says, f"Write {word}.", rank=UNUSUAL if isinstance(node, ast.Return) else USUAL)


@edit("start-wrong", ast.Assign, rank=USUAL)
def start_wrong(site: Site) -> Iterator[Made]:
    """Yield another first value of a name that a loop goes on with: the first entry, 0, infinity, an empty list."""
    node = site.node
    if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
        return
    name = node.targets[0].id
    later = [
        each
        for each in walk(site.definition)
        if isinstance(each, LOOPS) and each.lineno > node.lineno and name in names_changed(each)
    ]
    if not later:
        return
    value = site.value(node.value)
    forms: list[ast.expr] = []
    if isinstance(node.value, ast.Constant) or (value is not None and value.kind == "number"):
        infinite = ast.Call(ast.Name("float", Load), [ast.Constant("inf")], [])
        forms += [number(0), number(1), infinite, ast.UnaryOp(ast.USub(), infinite)]
        for other, sample in site.names.items():
            if sample.kind in ("sequence", "array"):
                forms.append(ast.Subscript(ast.Name(other, Load), number(0), Load))
    elif ast.unparse(node.value) in ("[]", "''", "{}", "set()"):
        forms += [number(0), ast.Constant(""), ast.List([], Load)]
    elif value is not None and value.kind == "array" and value.is_real:
        forms += [ast.BinOp(node.value, ast.Mult(), number(0.0))]
    for form in forms:
        yield site.make(form, f"`{name}` begins with `{{old}}`, and has to begin with `{{new}}`", old=node.value)


@edit("copy-missing", ast.Name, ast.Subscript, ast.Attribute, rank=UNUSUAL)
def copy_missing(site: Site) -> Iterator[Made]:
    """Yield a copy of what a name stands for, or of what is kept in a list, an attribute or another name."""
    value = site.value()
    if value is None or value.kind not in ("array", "sequence", "dict"):
        return
    parent = site.parent
    is_kept = isinstance(parent, ast.Assign) or (
        isinstance(parent, ast.Call) and getattr(parent.func, "attr", "") in ("append", "insert")
    )
    if is_kept or isinstance(parent, (ast.Dict, ast.Return, ast.List, ast.Tuple)):
        new = ast.Call(ast.Attribute(site.node, "copy", Load), [], [])
        says = "`{line}` keeps the same object under two names, and it is changed later"
        yield site.make(new, says, "Keep a copy: `{new}`.", adds=True, rank=USUAL if is_kept else UNUSUAL)


@edit("changed-in-place", ast.AugAssign, rank=LIKELY)
def changed_in_place(site: Site) -> Iterator[Made]:
    """Yield a new array where an argument's own entries are changed."""
    node = site.node
    value = site.names.get(getattr(node.target, "id", ""))
    is_array = value is not None and value.kind == "array"
    if is_array and node.target.id in parameters(site.definition):
        new = ast.Assign([node.target], ast.BinOp(replaced(node.target, ctx=Load), node.op, node.value))
        yield site.make([new], f"`{{line}}` changes the caller's own array `{node.target.id}`", adds=True)


@edit("branch-separate", ast.If, rank=UNUSUAL)
def branch_separate(site: Site) -> Iterator[Made]:
    """Yield an `if` that follows another as `elif`, and an `elif` as an `if` of its own."""
    node = site.node
    body = body_of(site, node)
    place = place_of(body, node)
    following = body[place + 1] if place + 1 < len(body) else None
    if isinstance(following, ast.If) and not node.orelse:
        says = f"`if {ast.unparse(following.test)}` also runs where `if {ast.unparse(node.test)}` did"
        yield site.make(
            [replaced(node, orelse=[following])], says, "Write `elif`.", also=((following, [ast.Pass()]),), rank=USUAL
        )
    if isinstance(following, SIMPLE) and not node.orelse:
        says = f"`{first_line(following)}` also runs where `{site.show(node.test)}` holds"
        new = [replaced(node, orelse=[following])]
        yield site.make(new, says, "Put it below `else:`.", also=((following, [ast.Pass()]),), at=following, rank=USUAL)
    if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        says = f"`elif {ast.unparse(node.orelse[0].test)}` is not looked at where `{ast.unparse(node.test)}` holds"
        yield site.make([replaced(node, orelse=[]), node.orelse[0]], says, "Write `if`.", rank=USUAL)


@edit("line-likewise", ast.AugAssign, rank=USUAL)
def counterpart_missing(site: Site) -> Iterator[Made]:
    """Yield a line more that moves the other name of a loop's condition, which stays what it is: the right end."""
    node = site.node
    loop = site.loops[0] if site.loops else None
    if not isinstance(loop, ast.While) or not isinstance(node.op, (ast.Add, ast.Sub)):
        return
    for name in sorted(loaded(loop.test) - stored(loop) - {getattr(node.target, "id", "")}):
        for operator in (ast.Sub(), ast.Add()):
            line = ast.AugAssign(ast.Name(name, ast.Store()), operator, node.value)
            sign = "-" if isinstance(operator, ast.Sub) else "+"
            says = f"`{name}` stays what it is in the loop, beside `{{line}}`"
            yield site.make([node, line], says, f"Add `{name} {sign}= {ast.unparse(node.value)}`.", adds=True)


@edit("value-likewise", ast.Assign, rank=USUAL)
def value_likewise(site: Site) -> Iterator[Made]:
    """Yield the value that a line would have if it were made as its likes are: keys as queries and values."""
    node = site.node
    target = node.targets[0]
    if not isinstance(target, ast.Name) or not isinstance(node.value, ast.expr):
        return
    known = loaded(site.definition) | set(parameters(site.definition)) | stored(site.definition)
    known |= {each.attr for each in walk(site.definition) if isinstance(each, ast.Attribute)}
    for other in walk(site.definition):
        if isinstance(other, ast.Assign) and other is not node and isinstance(other.targets[0], ast.Name):
            for old, new in _kin({other.targets[0].id}, {target.id})[:1]:
                changed = _renamed(other.value, old, new, known)
                says = f"`{{line}}` is not made as `{first_line(other)}` is"
                for each in (changed, _second(changed, known)):
                    is_part = any(is_equal(part, node.value) for part in walk(each))  # the rest was left out
                    if is_part or type(each) is type(node.value):
                        yield site.make(each, says, old=node.value, rank=LIKELY if is_part else USUAL)


def _second(node: ast.expr, known: set[str]) -> ast.expr:
    """Return an expression with beta2 for beta1, and the like."""
    ones = {each.id for each in walk(node) if isinstance(each, ast.Name) and each.id[-1:] == "1"}
    swapped = {name: f"{name[:-1]}2" for name in ones if f"{name[:-1]}2" in known}
    made: ast.expr = Renamed(swapped).visit(copy.deepcopy(node))
    return made


@edit("lines-likewise", ast.Assign, rank=USUAL)
def lines_likewise(site: Site) -> Iterator[Made]:
    """Yield several lines made as one is, each with the names of its own: one bias for each gate."""
    model, target = site.node, site.node.targets[0]
    if not isinstance(target, ast.Name) or not isinstance(model.value, (ast.Call, ast.BinOp)):
        return
    known = loaded(site.definition) | set(parameters(site.definition)) | stored(site.definition)
    found: list[tuple[ast.AST, Any]] = []
    for other in body_of(site, model):
        if isinstance(other, ast.Assign) and other is not model and isinstance(other.targets[0], ast.Name):
            for old, new in _kin({target.id}, {other.targets[0].id})[:1] or [(target.id, other.targets[0].id)]:
                changed = _suffixed(model.value, old, new, known)
                if ast.dump(changed) != ast.dump(other.value) and _shape(changed) == _shape(other.value):
                    found.append((other.value, changed))
    if len(found) > 1:
        shown = " and ".join(f"`{site.show(old)}`" for old, _ in found[:2])
        says = f"{shown} are not made as `{first_line(model)}` is, each with the names of its own"
        yield site.make(found[0][1], says, old=found[0][0], also=found[1:])


def _shape(node: ast.AST) -> list[type[ast.AST]]:
    return [type(each) for each in walk(node)]


def _suffixed(node: Any, old: str, new: str, known: set[str]) -> Any:
    """Return an expression with names that end as one does made to end as another."""
    swapped = {
        each.id: each.id.removesuffix(old) + new
        for each in walk(node)
        if isinstance(each, ast.Name) and each.id.endswith(old) and each.id.removesuffix(old) + new in known
    }
    return Renamed(swapped).visit(copy.deepcopy(node))


class Renamed(ast.NodeTransformer):
    """Gives names other names."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self._names.get(node.id, node.id), node.ctx)


def _kin(ours: set[str], others: set[str]) -> list[tuple[str, str]]:
    """Return the parts by which names differ that are alike otherwise: (mean, var) of running_mean and running_var."""
    found: dict[tuple[str, str], None] = {}
    for one in sorted(ours):
        for other in sorted(others):
            start = 0
            while start < min(len(one), len(other)) and one[start] == other[start]:
                start += 1
            end = 0
            while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
                end += 1
            old, new = one[start : len(one) - end], other[start : len(other) - end]
            if old and new and start + end >= min(len(old), len(new)):
                found[old, new] = None
    return list(found)


def _renamed(node: Any, old: str, new: str, known: set[str]) -> Any:
    fields: dict[str, Any] = {}
    for name, value in ast.iter_fields(node):
        if isinstance(value, str) and name in ("id", "attr") and old in value:
            other = value.replace(old, new, 1)
            fields[name] = other if other in known else value
        elif isinstance(value, str) and name == "value" and old in value:
            fields[name] = value.replace(old, new, 1)
        elif isinstance(value, list):
            fields[name] = [_renamed(each, old, new, known) if isinstance(each, ast.AST) else each for each in value]
        elif isinstance(value, ast.AST):
            fields[name] = _renamed(value, old, new, known)
    return replaced(node, **fields) if fields else node


@edit("changed-while-iterated", ast.For, rank=SURE)
def changed_while_iterated(site: Site) -> Iterator[Made]:
    """Yield a loop over a copy of what its body changes."""
    node = site.node
    name = getattr(node.iter, "id", "")
    calls = (each for line in node.body for each in walk(line) if isinstance(each, ast.Call))
    is_changed = any(getattr(each.func, "attr", "") in CHANGING and root_name(each.func) == name for each in calls)
    gone = (each for line in node.body for each in walk(line) if isinstance(each, ast.Delete))
    if name and (is_changed or any(root_name(target) == name for each in gone for target in each.targets)):
        new = ast.Call(ast.Name("list", Load), [node.iter], [])
        says = f"the loop goes over `{name}` while it changes `{name}`, so that it passes over entries"
        yield site.make(new, says, "Go over a copy: `{new}`.", old=node.iter, adds=True)


@edit("result-dropped", ast.Expr, rank=SURE)
def own_result_dropped(site: Site) -> Iterator[Made]:
    """Yield what is done with the result of a function of one's own that is called and not used."""
    call = site.node.value
    own = site.module.functions.get(getattr(call.func, "id", "")) if isinstance(call, ast.Call) else None
    if own is None or not any(isinstance(each, ast.Return) and each.value is not None for each in walk(own)):
        return
    says = "`{old}` gives a result back, and nothing is done with it"
    for name in sorted(stored(site.definition) - set(site.loop_names)):
        held, target = ast.Name(name, Load), ast.Name(name, ast.Store())
        yield site.make([ast.AugAssign(target, ast.Add(), call)], says, "Write `{new}`.")
        for put in ("append", "add"):
            yield site.make([ast.Expr(ast.Call(ast.Attribute(held, put, Load), [call], []))], says, "Write `{new}`.")
        yield site.make([ast.Assign([target], call)], says, "Write `{new}`.")
    yield site.make([ast.Return(call)], says, "Write `return` before it.")


@edit("result-dropped", ast.Expr, rank=SURE)
def conversion_dropped(site: Site) -> Iterator[Made]:
    """Yield what holds a value set to another form of it, which is made and not kept."""
    call = site.node.value
    if not isinstance(call, ast.Call) or getattr(call.func, "id", "") not in MAKING or not call.args:
        return
    held = call.args[0]
    if isinstance(held, (ast.Name, ast.Subscript)):
        says = f"`{{old}}` makes a new value and leaves `{site.show(held)}` as it is"
        fix = f"Write `{ast.unparse(held)} = {ast.unparse(call)}`."
        yield site.make([ast.Assign([replaced(held, ctx=ast.Store())], call)], says, fix)


@edit("result-dropped", ast.Expr, rank=SURE)
def sorted_in_place(site: Site) -> Iterator[Made]:
    """Yield a name set to a sorted list, where what it holds cannot be sorted in place."""
    call = site.node.value
    held = getattr(getattr(call, "func", None), "value", None)
    if isinstance(held, ast.Name) and called(call) == "sort" and site.is_raised("AttributeError"):
        new = ast.Call(ast.Name("sorted", Load), [held, *call.args], call.keywords)
        says = f"what `{held.id}` holds has no method `sort`"
        fix = f"Write `{held.id} = {ast.unparse(new)}`."
        yield site.make([ast.Assign([ast.Name(held.id, ast.Store())], new)], says, fix)


@edit("text-appended", ast.Expr, rank=SURE)
def text_appended(site: Site) -> Iterator[Made]:
    """Yield a text that something is added to, where it is taken for a list."""
    call = site.node.value
    target = getattr(getattr(call, "func", None), "value", None)
    if (
        isinstance(target, ast.Name)
        and site.is_raised("AttributeError")
        and called(call) in ("append", "add", "extend")
    ):
        new = ast.AugAssign(ast.Name(target.id, ast.Store()), ast.Add(), call.args[0])
        says = f"`{target.id}` is a text, to which nothing is appended in place"
        yield site.make([new], says, f"Write `{target.id} += {ast.unparse(call.args[0])}`.")


@edit("argument-overwritten", ast.Assign, rank=SURE)
def argument_overwritten(site: Site) -> Iterator[Made]:
    """Yield an argument as it is given, or brought into range, where a number or an empty list replaces it."""
    name = getattr(site.node.targets[0], "id", "")
    is_empty = ast.unparse(site.node.value) in ("[]", "{}", "()")
    reads = [each for each in walk(site.definition) if isinstance(each, ast.Name) and each.id == name]
    reads = [each for each in reads if isinstance(each.ctx, ast.Load) and each.lineno <= site.node.lineno]
    is_constant = isinstance(site.node.value, ast.Constant) or is_empty
    if name not in parameters(site.definition) or not is_constant or reads or site.statement is not site.node:
        return
    says = f"`{{line}}` replaces the argument `{name}`, so that what is given does not count"
    yield site.make([ast.Pass()], says, "Leave it out.")
    for other, sample in site.names.items():
        if sample.kind in ("sequence", "text") and other != name:
            for form in ("NAME % len(HELD)", "min(NAME, len(HELD))"):
                value = written(form, NAME=ast.Name(name, Load), HELD=ast.Name(other, Load))
                yield site.make([replaced(site.node, value=value)], says, "Write `{new}`.")


@edit("result-dropped", ast.Expr, rank=SURE)
def result_dropped(site: Site) -> Iterator[Made]:
    """Yield a name set to what a method gives back that changes nothing by itself."""
    call = site.node.value
    target = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
    if not isinstance(target, ast.Name) or target.id in ("np", "self"):
        return
    value = site.value(target)
    if value is not None and (value.kind == "text" or (value.kind == "array" and called(call) not in IN_PLACE)):
        new = [ast.Assign([ast.Name(target.id, ast.Store())], call)]
        says = f"`{{old}}` gives a new value back and leaves `{target.id}` as it is"
        yield site.make(new, says, f"Write `{target.id} = {ast.unparse(call)}`.")


@edit("result-of-nothing", ast.Assign, rank=SURE)
def result_of_nothing(site: Site) -> Iterator[Made]:
    """Yield a method called by itself that changes its object and gives None back."""
    call, value = site.node.value, site.value(site.node.value)
    is_method = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and called(call) in GIVING_NONE
    if is_method and value is not None and value.kind == "none":
        says = f"`.{called(call)}(…)` changes its object and gives None back, which `{{line}}` keeps"
        if isinstance(call.func.value, ast.Call):  # what it sorts has no name
            inner = [call.func.value, *call.args]
            new = ast.Call(ast.Name("sorted", Load), inner, call.keywords)
            yield site.make(new, says, "Write `{new}`.", old=call)
        else:
            yield site.make([ast.Expr(call)], says, "Write the call alone: `{new}`.")


@edit("entry-reset", ast.Assign, rank=USUAL)
def entry_reset(site: Site) -> Iterator[Made]:
    """Yield an entry of a dict that a loop sets anew in each round, kept or added to."""
    node, target = site.node, site.node.targets[0]
    table = site.value(target.value) if isinstance(target, ast.Subscript) else None
    if table is None or table.kind != "dict" or not site.is_in_loop:
        return
    shown = site.show(target)
    if isinstance(node.value, (ast.List, ast.Dict, ast.Set)) or getattr(node.value, "value", None) in (0, ""):
        keep = ast.Call(ast.Attribute(target.value, "setdefault", Load), [target.slice, node.value], [])
        says = f"`{{old}}` begins `{shown}` anew each time that its key comes"
        yield site.make([ast.Expr(keep)], says, "Do it only where the key is new.", rank=LIKELY, adds=True)
    else:
        before = ast.Call(ast.Attribute(target.value, "get", Load), [target.slice, number(0)], [])
        new = ast.Assign([target], ast.BinOp(before, ast.Add(), node.value))
        says = f"each round replaces `{shown}`, which has to accumulate"
        yield site.make([new], says, "Add to what is there: `{new}`.", adds=True)


@edit("defined-again", ast.FunctionDef, rank=SURE)
def defined_again(site: Site) -> Iterator[Made]:
    """Yield a function of which an earlier definition counts, as it would without the last one."""
    first, *rest = site.definition.body
    for each in site.module.replaced_by(site.function):
        if parameters(each) == parameters(site.definition):
            says = f"this definition of `{each.name}` replaces the one in line {each.lineno}"
            nothing = [(line, [ast.Pass()]) for line in rest]
            yield site.make(each.body, says, "Delete this one.", old=first, also=nothing, at=site.definition)


@edit("case-missing", ast.FunctionDef, rank=USUAL)
def case_missing(site: Site) -> Iterator[Made]:
    """Yield a function that first brings a number into range, or looks at what is empty by itself."""
    first, held = site.definition.body[0], site.context.trace.held.get(site.function, {})
    given = [(name, held[name]) for name in parameters(site.definition) if name in held]
    for name, sample in given:
        size = ast.Call(ast.Name("len", Load), [ast.Name(name, Load)], [])
        for other, value in given if sample.kind == "sequence" and sample.shape != (0,) else ():
            if value.kind == "number" and value.dtype == "i" and abs(value.value or 0) > sample.shape[0]:
                load, store = ast.Name(other, Load), ast.Name(other, ast.Store())
                says = f"`{other}` may be larger than `len({name})`"
                wrapped = ast.Assign([store], ast.BinOp(load, ast.Mod(), size))
                cut = ast.Assign([store], ast.Call(ast.Name("min", Load), [load, size], []))
                for line in dict.fromkeys((first, site.definition.body[-1])):
                    yield site.make([wrapped, line], says, "Write `{new}` first.", old=line, adds=True)
                    yield site.make([cut, line], says, "Write `{new}` first.", old=line, adds=True)
        if sample.kind in ("sequence", "dict", "array") and 0 in sample.shape:
            for answer in (ast.List([], Load), ast.Constant(None), number(0), ast.Constant("")):
                test = ast.UnaryOp(ast.Not(), ast.Name(name, Load))
                says = f"an empty `{name}` needs a case of its own"
                fix = f"Return `{ast.unparse(answer)}` for it first."
                yield site.make([ast.If(test, [ast.Return(answer)], []), first], says, fix, old=first, adds=True)


@edit("default-shared", ast.FunctionDef, rank=SURE)
def default_shared(site: Site) -> Iterator[Made]:
    """Yield an argument whose default is a new list or dict in each call."""
    arguments, first = site.definition.args, site.definition.body[0]
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    for name, value in zip(reversed(names), reversed(arguments.defaults), strict=False):
        if isinstance(value, (ast.List, ast.Dict)) and "." not in site.function:
            kept = ast.Attribute(ast.Name(site.function, Load), "__defaults__", Load)
            same = ast.Compare(ast.Name(name, Load), [ast.Is()], [ast.Name("each", Load)])
            inner = ast.comprehension(ast.Name("each", ast.Store()), kept, [], 0)
            test = ast.Call(ast.Name("any", Load), [ast.GeneratorExp(same, [inner])], [])
            anew = ast.If(test, [ast.Assign([ast.Name(name, ast.Store())], value)], [])
            says = f"`{name}={ast.unparse(value)}` is made once, so that every call goes on with the same one"
            fix = f"Write `{name}=None`, and begin with `{ast.unparse(value)}` where it is None."
            yield site.make([anew, first], says, fix, old=first, adds=True, at=value)
