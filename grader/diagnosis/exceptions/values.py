"""Sentences about types, None, and what a call is given and gives."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from grader.diagnosis.exceptions.place import Place, called
from grader.diagnosis.exceptions.sizes import Sentence

IN_PLACE = ("append", "extend", "insert", "sort", "reverse", "clear", "update", "add", "fill", "shuffle", "setdefault")
GIVE_NONE = frozenset(IN_PLACE) - {"setdefault"}
ARRAYS = ("zeros", "ones", "empty", "full")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def _cast(found: re.Match[str], place: Place) -> str:
    target = next((node.target for node in place.nodes if isinstance(node, ast.AugAssign)), None)
    name = ast.unparse(target) if target is not None else "The array that takes the result"
    text = f"{name} holds {found[2]} and keeps that dtype in place, where {found[1]} values do not fit."
    if isinstance(target, ast.Name):
        new = f"{name} = {name} {_sign(place)} …"
        text += f" Make it an array of {found[1]} first, as .astype does, or make a new array: {new}"
    return text


def _sign(place: Place) -> str:
    statement = next(node for node in place.nodes if isinstance(node, ast.AugAssign))
    return ast.unparse(ast.BinOp(ast.Name("a"), statement.op, ast.Name("b")))[2:-2]


def _truth(found: re.Match[str], place: Place) -> str:
    text = "Several values are not one True or False, which is needed here: .all() or .any() makes one of a comparison."
    if place.has(ast.BoolOp) or any(isinstance(node, ast.Compare) and len(node.ops) > 1 for node in place.nodes):
        text += " Element by element, & stands for `and`, | for `or`, each comparison in parentheses."
    elif any(isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) for node in place.nodes):
        text += " Element by element, ~ stands for `not`."
    elif place.has(ast.If, ast.IfExp):
        text += " np.where chooses element by element."
    return text


def _empty_truth(found: re.Match[str], place: Place) -> str:
    return "An array without entries is neither True nor False: compare its .size with 0."


def _ragged(found: re.Match[str], place: Place) -> str:
    return "The rows differ in shape, so they make no array: make them equally long first, or keep them in a list."


def _sequence(found: re.Match[str], place: Place) -> str:
    return "One element of an array holds one number, and was given several: is an axis left to sum or to index?"


def _one_number(found: re.Match[str], place: Place) -> str:
    return "A single number is needed here, and the array holds more axes or entries: sum it, average it, or index it."


def _whole(found: re.Match[str], place: Place) -> str:
    if any(isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div) for node in place.nodes):
        return "/ gives a float even where it divides evenly; // gives an int."
    return "A whole number is needed here; a float is none even where it is whole, as the result of / always is."


def _index_kind(found: re.Match[str], place: Place) -> str:
    divides = any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) for node in place.nodes)
    more = ": / gives a float even where it divides evenly, // gives an int" if divides else ""
    return f"An index is a whole number, a slice, or an array of whole numbers or of True and False{more}."


def _none(found: re.Match[str], place: Place) -> str:
    """Something is None: what, and where it came from, if that can be read."""
    suspects = list(_suspects(found.string, place))
    none = [each for each in suspects if place.seen.get(ast.unparse(each), ()) is None]
    if len(set(map(ast.unparse, none))) != 1:
        calls = [text for each in suspects if (text := _gives_none(each, place))]
        return calls[0] if len(calls) == 1 and not none else ""
    name = ast.unparse(none[0])
    value = _assigned_to(name, place)
    around = _around(place)
    if (
        value is None
        and around is not None
        and name in [each.arg for each in ast.walk(around.args) if isinstance(each, ast.arg)]
    ):
        return f"{name} is None here: that was passed, or nothing was."
    source = _gives_none(value, place) if value is not None else ""
    return f"{name} is None here{f': {source}' if source else '.'}"


def _suspects(message: str, place: Place) -> Iterator[ast.expr]:
    """Yield the expressions on the line of which one has to be None for such a message."""
    for node in place.nodes:
        match node:
            case ast.Subscript(value) if "subscriptable" in message or "support" in message:
                yield value
            case ast.Attribute(value, attr) if f"attribute '{attr}'" in message:
                yield value
            case ast.Assign(_, value) | ast.For(_, value) if "iterable" in message:
                yield value
            case ast.Call(_, [value, *_]) if any(each in message for each in ("len()", "iterable", "0-dimensional")):
                yield value
            case ast.BinOp(left, _, right) | ast.AugAssign(left, _, right) if message.startswith("unsupported"):
                yield from (left, right)


def _assigned_to(name: str, place: Place) -> ast.expr | None:
    """Return the value that the function around the line assigns to a name, where it does so once."""
    found = [
        node.value
        for node in ast.walk(_around(place) or place.tree)
        if isinstance(node, ast.Assign) and any(ast.unparse(target) == name for target in node.targets)
    ]
    return found[0] if len(found) == 1 else None


def _around(place: Place) -> Function | None:
    """Return the innermost function around the line."""
    found = [each for each in _functions(place) if each.lineno <= place.line <= (each.end_lineno or 0)]
    return max(found, key=lambda each: each.lineno, default=None)


def _functions(place: Place) -> list[Function]:
    return [node for node in ast.walk(place.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def _gives_none(value: ast.expr, place: Place) -> str:
    """Return why a call gives None; empty where it may give something."""
    name = called(value)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and name in GIVE_NONE:
        return f".{name}() changes {ast.unparse(value.func.value)} itself and returns None."
    own = [each for each in place.tree.body if isinstance(each, ast.FunctionDef) and each.name == name]
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and len(own) == 1 and not _returns(own[0]):
        return f"{name} has no return with a value (line {own[0].lineno})."
    return ""


def _returns(function: Function) -> bool:
    """Say whether a function may give a value other than None; one within it returns to itself."""
    queue: list[ast.AST] = list(function.body)
    while queue:
        node = queue.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)) or (isinstance(node, ast.Return) and node.value is not None):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            queue += ast.iter_child_nodes(node)
    return bool(function.decorator_list)


def _unpacked(found: re.Match[str], place: Place) -> str:
    wanted, got = found[1], found[2] if found.re.groups > 1 else None
    names = "1 name stands" if wanted == "1" else f"{wanted} names stand"
    for node in place.nodes:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Tuple | ast.List):
            continue
        value = node.value
        if isinstance(value, ast.Attribute) and value.attr == "shape" and place.shape(value.value) is not None:
            count = len(place.shape(value.value) or ())
            axes = f"{count} {'axis' if count == 1 else 'axes'}"
            return f"{ast.unparse(value.value)} has {axes}, and {names} on the left."
        if len(node.targets[0].elts) == int(wanted) and isinstance(value, ast.Call):
            many = f"{got} {'value' if got == '1' else 'values'}" if got else "more values"
            return f"{ast.unparse(value.func)} gives {many}, and {names} on the left."
    return ""


def _arguments(found: re.Match[str], place: Place) -> str:
    """A call of a function of the module with too few, too many or unknown arguments: how it is defined."""
    name = found[1].rpartition(".")[2]
    own = [each for each in _functions(place) if each.name == name]
    if len(own) != 1:
        return ""
    (function,) = own
    text = f"{name} is defined as {name}({ast.unparse(function.args)}) in line {function.lineno}."
    if "." in found[1] and "<locals>" not in found[1]:
        first = function.args.args[0].arg if function.args.args else ""
        if first != "self" and not function.decorator_list:
            return f"{text} A method gets its object as the first argument, which is called self."
        text += " Called on an object, that object is self."
    return text


def _shape_argument(found: re.Match[str], place: Place) -> str:
    for node in place.nodes:
        if isinstance(node, ast.Call) and called(node) in ARRAYS and len(node.args) > 1:
            sizes = ", ".join(map(ast.unparse, node.args))
            if not isinstance(node.args[0], ast.Tuple | ast.List):
                return f"The shape is one argument, a tuple: {ast.unparse(node.func)}(({sizes}))."
    return ""


def _list(found: re.Match[str], place: Place) -> str:
    return f"A {found[1]} has no .{found[2]}: np.asarray makes an array of it."


def _arithmetic(found: re.Match[str], place: Place) -> str:
    kind = next((kind for kind in found.groups() if kind in ("list", "tuple")), None)
    return f"A {kind} does not compute element by element: np.asarray makes an array of it, which does." if kind else ""


def _callable(found: re.Match[str], place: Place) -> str:
    return "Round brackets call a function; square ones index an array."


def _boolean_minus(found: re.Match[str], place: Place) -> str:
    return "True and False have no minus: .astype(float) or .astype(int) makes numbers of them, ~ turns them around."


def _no_room(found: re.Match[str], place: Place) -> str:
    text = "A test may start only so many processes and threads, and none in a stage that measures memory."
    return f"{text} Compute it in the process that the function is called in."


NONE = r"'?NoneType'?"
ATTRIBUTES = "shape|T|ndim|dtype|sum|mean|max|min|reshape|transpose|astype|size|std|var|dot|swapaxes|argmax"
SENTENCES: tuple[tuple[re.Pattern[str], Sentence], ...] = (
    (re.compile(r"^Cannot cast ufunc '\w+' output from dtype\('(\w+)'\) to dtype\('(\w+)'\)"), _cast),
    (re.compile(r"^The truth value of an array with more than one element is ambiguous"), _truth),
    (re.compile(r"^The truth value of an empty array is ambiguous"), _empty_truth),
    (re.compile(r"^setting an array element with a sequence\. .*inhomogeneous"), _ragged),
    (re.compile(r"^setting an array element with a sequence"), _sequence),
    (re.compile(r"^only (?:length-1|0-dimensional) arrays can be converted to Python scalars"), _one_number),
    (re.compile(r"^'(?:numpy\.)?float\d*' object cannot be interpreted as an integer"), _whole),
    (re.compile(r"^only integers, slices .* are valid indices|^list indices must be integers or slices"), _index_kind),
    (re.compile(rf"^{NONE} object (?:is not subscriptable|is not iterable|has no attribute|does not support)"), _none),
    (re.compile(r"^too many indices for array: array is 0-dimensional"), _none),
    (re.compile(rf"^cannot unpack non-iterable {NONE}|^object of type {NONE} has no len|^unsupported .*{NONE}"), _none),
    (re.compile(r"^not enough values to unpack \(expected (\d+), got (\d+)\)"), _unpacked),
    (re.compile(r"^too many values to unpack \(expected (\d+)"), _unpacked),
    (re.compile(r"^([\w.<>]+)\(\) missing \d+ required (?:positional|keyword-only) argument"), _arguments),
    (re.compile(r"^([\w.<>]+)\(\) takes .* positional arguments? but \d+ (?:was|were) given"), _arguments),
    (re.compile(r"^([\w.<>]+)\(\) got an unexpected keyword argument"), _arguments),
    (re.compile(r"^Cannot interpret '.*' as a data type"), _shape_argument),
    (re.compile(rf"^'(list|tuple)' object has no attribute '({ATTRIBUTES})'"), _list),
    (
        re.compile(r"^unsupported operand type\(s\) for (.+): '(list|tuple|int|float)' and '(list|tuple|int|float)'"),
        _arithmetic,
    ),
    (re.compile(r"^'numpy\.ndarray' object is not callable"), _callable),
    (re.compile(r"^can't start new thread|^\[Errno \d+\] Resource temporarily unavailable$"), _no_room),
    (re.compile(r"^(?:The )?numpy boolean (?:subtract|negative), the `-` operator"), _boolean_minus),
)
