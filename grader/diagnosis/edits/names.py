"""One name, attribute, key or function where another is needed."""

from __future__ import annotations

import ast
import builtins
import difflib
from collections.abc import Iterator

from grader.course.mutants import replaced
from grader.diagnosis.edits.base import BUILT_IN, EXTREMES, LIKELY, UNUSUAL, USED_FOR, USUAL, Load, Made, Site, edit
from grader.diagnosis.module_text import called, parameters, root_name
from grader.diagnosis.trees import walk

CONFUSED_FUNCTIONS: dict[str, tuple[str, ...]] = {}
for _group in (
    ("sum", "mean"), ("max", "min"), ("maximum", "minimum"), ("argmax", "argmin"), ("zeros", "ones"),
    ("zeros_like", "ones_like"), ("triu", "tril"), ("sin", "cos", "tan"), ("any", "all"), ("floor", "ceil", "round"),
    ("cumsum", "cumprod"), ("exp", "exp2", "expm1"), ("log", "log2", "log10", "log1p"), ("logical_and", "logical_or"),
    ("var", "std"), ("append", "extend", "add"), ("keys", "items", "values"), ("sqrt", "square"), ("abs", "square"),
    ("mean", "median"), ("sum", "prod"), ("percentile", "quantile"), ("nanpercentile", "nanquantile"),
    ("row", "column"), ("tanh", "sin", "arctan"), ("outer", "inner", "dot"), ("uniform", "normal"), ("sum", "max"),
    ("vstack", "hstack"), ("stack", "concatenate"), ("repeat", "tile"), ("sort", "argsort"), ("upper", "lower"),
    ("split", "splitlines"), ("sinh", "tanh", "cosh"), ("multiply", "matmul"), ("add", "subtract"),
    ("argsort", "argmax"), ("startswith", "endswith"), ("index", "find"), ("lstrip", "rstrip", "strip"),
    ("isalpha", "isalnum", "isdigit"), ("sum", "len"), ("max", "sum"), ("int", "float", "len"),
    ("union", "intersection"),
    ("pop", "popleft"), ("sort", "sorted"), ("find", "rfind"), ("count", "index"), ("argmax", "max"), ("argmin", "min"),
):  # fmt: skip
    for _one in _group:
        CONFUSED_FUNCTIONS[_one] = tuple(
            dict.fromkeys((*CONFUSED_FUNCTIONS.get(_one, ()), *(n for n in _group if n != _one)))
        )
NOT_NUMPYS = {"sorted", "len", "int", "float"}  # built-in functions
MOST_KEYS = 12
BY_KIND = {"str": "text", "list": "list", "dict": "dict", "set": "set"}
METHODS = {word: [name for name in dir(getattr(builtins, kind)) if name[0] != "_"] for kind, word in BY_KIND.items()}


@edit("name-confused", ast.Name, rank=USUAL)
def name_confused(site: Site) -> Iterator[Made]:
    """Yield `K` for `V`: another name of the same sort."""
    node = site.node
    if not isinstance(node.ctx, ast.Load) or site.is_callee or node.id in ("self", "cls"):
        return
    value = site.value() or site.names.get(node.id)
    if value is None:
        return
    known = {name for each in walk(site.statement) if isinstance(each, ast.Name) for name in (each.id,)}
    for name, other in site.names.items():
        is_mixed = value.is_numeric and other.is_numeric and not value.is_alike(other)  # a loop's entry for the whole
        if is_mixed:
            yield site.make(ast.Name(name, Load), USED_FOR, rank=UNUSUAL)
        is_key = isinstance(site.parent, ast.Compare) and isinstance(site.parent.ops[0], (ast.In, ast.NotIn))
        if name == node.id or not (value.is_alike(other) or is_key) or value.is_same(other):
            continue
        is_near = name in site.unread or name not in known or value.shape == other.shape
        yield site.make(ast.Name(name, Load), USED_FOR, rank=LIKELY if is_near and not is_key else USUAL)


@edit("name-confused", ast.BinOp, rank=USUAL)
def formula_for_name(site: Site) -> Iterator[Made]:
    """Yield what is at hand for what is computed: of numbers divided by, of arrays that an own function is given."""
    value, parent = site.number, site.parent
    is_divisor = isinstance(getattr(parent, "op", None), ast.Div) and parent.right is site.node
    is_given = isinstance(parent, ast.Call) and root_name(parent.func) not in ("np", "numpy", "math")
    if value is not None and not value.shape and is_divisor:
        names = (each for each in site.alike(value) if isinstance(each, ast.Name))
        yield from (site.make(each, USED_FOR) for each in names)
    elif value is not None and value.shape and is_given and any(each is site.node for each in parent.args):
        for each, sample in site.operands:
            if sample.is_real and sample.shape == value.shape and not sample.is_same(value):
                yield site.make(each, USED_FOR)


@edit("name-undefined", ast.Name, rank=LIKELY)
def name_undefined(site: Site) -> Iterator[Made]:
    """Yield an argument that is never read, or another name, for one that has no value."""
    node = site.node
    is_raising = site.statement is site.context.raising and site.context.error in ("NameError", "UnboundLocalError")
    if not isinstance(node.ctx, ast.Load) or not is_raising or node.id in site.names or node.id in BUILT_IN:
        return
    if site.value() is not None or node.id in site.module.functions:
        return
    says = "`{old}` has no value here; `{new}` is the name of what is meant"
    for name in dict.fromkeys([*site.unread, *parameters(site.definition), *site.names]):
        yield site.make(ast.Name(name, Load), says, rank=LIKELY if name in site.unread else USUAL)
    for operand, _ in site.operands:
        if isinstance(operand, ast.Attribute):
            yield site.make(operand, says, rank=LIKELY if operand.attr == node.id else UNUSUAL)


@edit("name-undefined", ast.AugAssign, rank=LIKELY)
def target_undefined(site: Site) -> Iterator[Made]:
    """Yield another name that is added to, for one that has no value."""
    target = site.node.target
    is_raising = site.statement is site.context.raising and site.context.error in ("NameError", "UnboundLocalError")
    if is_raising and isinstance(target, ast.Name) and target.id not in site.names:
        says = f"`{target.id}` has no value here; `{{name}}` is the name of what is meant"
        for name in site.names:
            new = replaced(site.node, target=ast.Name(name, ast.Store()))
            yield site.make([new], says.replace("{name}", name))


@edit("key-confused", ast.Subscript, rank=USUAL)
def key_confused(site: Site) -> Iterator[Made]:
    """Yield `cache["z"]` for `cache["a"]`."""
    node = site.node
    key = getattr(node.slice, "value", None)
    if not isinstance(key, str) or not isinstance(node.ctx, ast.Load):
        return
    table = site.value(node.value)
    own = table.parts.get(key) if table is not None else None
    for name, other in list(table.parts.items())[:MOST_KEYS] if table is not None else ():
        if name != key and (own is None or (own.is_alike(other) and not own.is_same(other))):
            yield site.make(replaced(node, slice=ast.Constant(name)), USED_FOR, rank=LIKELY)
    for alike in site.alike(site.value()):
        if isinstance(alike, ast.Name):
            yield site.make(alike, USED_FOR, rank=UNUSUAL)


@edit("attribute-misspelled", ast.Attribute, rank=LIKELY)
def attribute_misspelled(site: Site) -> Iterator[Made]:
    """Yield a method of Python's whose name is much like one that does not exist."""
    value = site.value(site.node.value)
    kind = BY_KIND.get(value.name if value is not None else "")
    if kind is not None and site.is_raised("AttributeError") and site.node.attr not in METHODS[kind]:
        for other in difflib.get_close_matches(site.node.attr, METHODS[kind], 3):
            new = replaced(site.node, attr=other)
            yield site.make(new, f"a {kind} has no method `{site.node.attr}`", f"Write `.{other}`.")


@edit("function-confused", ast.Name, ast.Attribute, rank=LIKELY)
def function_confused(site: Site) -> Iterator[Made]:
    """Yield `np.sum` for `np.mean`, and another function of the module that takes as many arguments."""
    if not site.is_callee:
        return
    node, says = site.node, "`{old}` is called where `{new}` is needed"
    if isinstance(node, ast.Attribute):
        for other in CONFUSED_FUNCTIONS.get(node.attr, ()):
            if node.attr in EXTREMES and site.is_raised("ValueError"):
                continue  # of nothing: what has a sum then has no largest entry
            if other not in NOT_NUMPYS:
                yield site.make(replaced(node, attr=other), says)
        own = [name.rpartition(".") for name in site.module.functions if "." in name]
        if root_name(node) == "self":
            for _, _, name in own:
                if name != node.attr and not name.startswith("__"):
                    yield site.make(replaced(node, attr=name), says, rank=UNUSUAL)
        return
    for other in CONFUSED_FUNCTIONS.get(node.id, ()):
        if other in BUILT_IN:
            yield site.make(ast.Name(other, Load), says)
    mine = site.module.functions.get(node.id)
    for name, function in site.module.functions.items() if mine is not None else ():
        takes_as_many = mine is not None and len(function.args.args) == len(mine.args.args)
        if takes_as_many and "." not in name and name not in (node.id, site.function):
            yield site.make(ast.Name(name, Load), says, rank=USUAL)


@edit("call-missing-on-name", ast.Name, ast.Attribute, rank=USUAL)
def uncalled(site: Site) -> Iterator[Made]:
    """Yield the call of a function or method that is named and not called."""
    value = site.value()
    if (
        value is not None
        and value.kind == "function"
        and not site.is_callee
        and called(site.parent) not in ("map", "sorted")
    ) and isinstance(site.node.ctx, ast.Load):
        yield site.make(ast.Call(site.node, [], []), "`{old}` is named and not called", adds=True)
