"""A call that is too much, or arguments of a call that are missing, too many, swapped or others."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.course.mutants import replaced
from grader.course.table import together
from grader.diagnosis.edits.base import (
    LIKELY,
    UNUSUAL,
    USUAL,
    Load,
    Made,
    Site,
    edit,
    is_equal,
    moved,
    number,
    number_in,
    written,
)
from grader.diagnosis.edits.constants import defaults
from grader.diagnosis.module_text import called, parameters
from grader.diagnosis.trees import walk

REDUCTIONS = (
    *("sum", "mean", "max", "min", "std", "var", "argmax", "argmin", "any", "all", "prod", "cumsum", "argsort", "sort"),
    "median",
)
KEEPING = ("sum", "mean", "max", "min", "std", "var", "any", "all", "prod", "norm", "median")
EITHER_WAY = {
    "max",
    "min",
    "maximum",
    "minimum",
    "swapaxes",
    "logical_and",
    "logical_or",
    "allclose",
    "result_type",
    "zip",
}
LIBRARIES = ("np", "math", "numpy")


def is_library(node: ast.AST) -> bool:
    """Say whether an expression is a module: np, np.random, math."""
    return (isinstance(node, ast.Name) and node.id in LIBRARIES) or (
        isinstance(node, ast.Attribute) and is_library(node.value)
    )


@edit("call-superfluous", ast.Call, rank=USUAL)
def call_superfluous(site: Site) -> Iterator[Made]:
    """Yield what a function is taken of, without the function."""
    node = site.node
    name = called(node)
    if f"{name}.__init__" in site.module.functions:  # an object of one's own is no step that is too much
        return
    if (
        isinstance(node.func, ast.Attribute)
        and not is_library(node.func.value)
        and not isinstance(site.parent, ast.Expr)
    ):
        yield site.make(node.func.value, f"`.{name}` is too much in `{{old}}`")
    elif node.args and not isinstance(node.args[0], (ast.Starred, ast.GeneratorExp, ast.Constant)):
        yield site.make(node.args[0], f"`{name}` is too much in `{{old}}`")
        if len(node.args) > 1 and not isinstance(node.args[1], ast.Constant):
            yield site.make(node.args[1], f"`{name}` is too much in `{{old}}`", rank=UNUSUAL)


@edit("arguments-swapped", ast.Call, rank=LIKELY)
def arguments_swapped(site: Site) -> Iterator[Made]:
    """Yield a call with two neighbouring arguments swapped."""
    node = site.node
    if called(node) in EITHER_WAY:
        return
    for place in range(len(node.args) - 1):
        pair = node.args[place : place + 2]
        if any(isinstance(each, ast.Starred) for each in pair) or ast.dump(pair[0]) == ast.dump(pair[1]):
            continue
        args = [*node.args[:place], pair[1], pair[0], *node.args[place + 2 :]]
        says = f"the arguments `{site.show(pair[0])}` and `{site.show(pair[1])}` are swapped in `{{old}}`"
        yield site.make(replaced(node, args=args), says)


@edit("argument-missing", ast.Call, rank=LIKELY)
def argument_missing(site: Site) -> Iterator[Made]:
    """Yield a call that hands on what has the name of an argument that takes its default."""
    node, name = site.node, called(site.node)
    own = [each for each in site.module.functions if each.removesuffix(".__init__").rpartition(".")[2] == name]
    if len(own) != 1 or any(isinstance(each, ast.Starred) for each in node.args):
        return
    definition = site.module.functions[own[0]]
    given = {*parameters(definition)[: len(node.args)], *(each.arg for each in node.keywords)}
    for argument in [each for each in defaults(definition) if each not in given and None not in given]:
        for operand, _ in site.operands:
            if getattr(operand, "id", getattr(operand, "attr", "")).lstrip("_") == argument:
                new = replaced(node, keywords=[*node.keywords, ast.keyword(argument, operand)])
                says = f"`{name}` gets no `{argument}` and takes its default"
                yield site.make(new, says, f"Pass it on: `{argument}={ast.unparse(operand)}`.", adds=True)


def words(axis: ast.expr) -> str:
    """Return an axis as it is told."""
    return f"`{axis.id}`" if isinstance(axis, ast.Name) else f"axis {ast.unparse(axis)}"


@edit("axis-missing", ast.Call, rank=LIKELY)
def axis_missing(site: Site) -> Iterator[Made]:
    """Yield a reduction along an axis where it runs over all of the array."""
    node = site.node
    name = called(node)
    if name not in REDUCTIONS or any(each.arg == "axis" for each in node.keywords):
        return
    is_method = isinstance(node.func, ast.Attribute) and not is_library(node.func.value)
    array = node.func.value if is_method else node.args[0] if node.args else None
    if isinstance(node.func, ast.Name) or array is None or len(node.args) > (0 if is_method else 1):
        return
    sample = site.value(array)
    axes = range(len(sample.shape)) if sample is not None and len(sample.shape) > 1 else ()
    keeps = any(each.arg == "keepdims" for each in node.keywords)
    given = [ast.Name(each, Load) for each in parameters(site.definition) if "axis" in each]
    forms = [*given, *(number(each - len(axes) if each == len(axes) - 1 else each) for each in axes)]
    for axis in forms if axes else ():
        more = [*node.keywords, ast.keyword("axis", axis)]
        says = f"`{name}` runs over all of `{site.show(array)}`, and is needed along {words(axis)}"
        yield site.make(replaced(node, keywords=more), says, adds=True)
        if not keeps and name in KEEPING:
            kept = [*more, ast.keyword("keepdims", ast.Constant(True))]
            yield site.make(replaced(node, keywords=kept), says, adds=True)


@edit("axis-missing", ast.Call, ast.Tuple, rank=LIKELY)
def joined_along_the_first(site: Site) -> Iterator[Made]:
    """Yield arrays that are joined along another axis than the first, which np.stack and np.concatenate take."""
    whole = [each for each in (getattr(site.node, "elts", None) or [site.node]) if _is_joined(each)]
    if not whole or (isinstance(site.node, ast.Tuple) and len(whole) == 1):
        return
    names = together(dict.fromkeys(f"`{called(each)}`" for each in whole))
    for axis in (1, -1):
        with_axis = [ast.keyword("axis", number(axis))]
        says = f"{names} without `axis` joins along the first axis, and {words(number(axis))} is needed"
        if isinstance(site.node, ast.Tuple):
            inner = [replaced(each, keywords=with_axis) if each in whole else each for each in site.node.elts]
            yield site.make(replaced(site.node, elts=inner), says, adds=True)
        else:
            yield site.make(replaced(site.node, keywords=with_axis), says, adds=True)


def _is_joined(node: ast.AST) -> bool:
    """Say whether a call joins arrays and names no axis."""
    is_join = isinstance(node, ast.Call) and called(node) in ("stack", "concatenate") and len(node.args) == 1
    return is_join and isinstance(node, ast.Call) and not node.keywords


@edit("keepdims-missing", ast.Call, rank=LIKELY)
def keepdims_missing(site: Site) -> Iterator[Made]:
    """Yield a reduction that keeps its axis."""
    node = site.node
    given = {each.arg for each in node.keywords}
    if called(node) in KEEPING and "keepdims" not in given and ("axis" in given or len(node.args) > 1):
        new = replaced(node, keywords=[*node.keywords, ast.keyword("keepdims", ast.Constant(True))])
        yield site.make(new, "`{old}` drops the axis, and `keepdims=True` is needed", adds=True)


@edit("ddof-missing", ast.Call, rank=USUAL)
def ddof_missing(site: Site) -> Iterator[Made]:
    """Yield the variance of a sample for that of all values."""
    node = site.node
    if called(node) in ("var", "std") and not any(each.arg == "ddof" for each in node.keywords):
        new = replaced(node, keywords=[*node.keywords, ast.keyword("ddof", ast.Constant(1))])
        yield site.make(new, "`{old}` divides by the number of values, and one less is needed", adds=True)


@edit("range-wrong", ast.Call, rank=LIKELY)
def range_wrong(site: Site) -> Iterator[Made]:
    """Yield a range that begins or ends elsewhere, or runs backwards."""
    node = site.node
    if called(node) not in ("range", "arange") or not node.args or len(node.args) > 3 or node.keywords:
        return
    end = node.args[0] if len(node.args) == 1 else node.args[1]
    place = 0 if len(node.args) == 1 else 1
    start = number(0) if len(node.args) == 1 else node.args[0]
    for step, word in ((1, "early"), (-1, "late")):
        args = list(node.args)
        args[place] = moved(end, step)
        yield site.make(replaced(node, args=args), f"`{{old}}` ends one too {word}")
    if isinstance(end, ast.BinOp) and isinstance(end.op, ast.Add) and number_in(end.right) == 1:
        inner = end.left
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub):  # as for windows that overlap
            says = f"`- {site.show(inner.right)} + 1` is too much in `{{old}}`"
            yield site.make(replaced(node, args=[*node.args[:place], inner.left, *node.args[place + 1 :]]), says)
    rest = node.args[2:]
    for step, word in ((1, "early"), (-1, "late")):
        if step > 0 or len(node.args) > 1:
            first = number(1) if len(node.args) == 1 else moved(start, step)
            yield site.make(replaced(node, args=[first, end, *rest]), f"`{{old}}` begins one too {word}")
    if len(node.args) == 1:
        one = replaced(node, args=[number(1), moved(end, 1)])
        yield site.make(one, "`{old}` counts from 0, and has to count from 1")
    elif len(node.args) == 2:
        yield site.make(replaced(node, args=[end]), "`{old}` has to begin at 0", rank=USUAL)
    if called(node) == "range" and len(node.args) == 1 and isinstance(site.parent, ast.For):
        for each in walk(site.parent) if site.context.error == "IndexError" else ():
            if isinstance(each, ast.Subscript) and is_equal(each.slice, site.parent.target):
                new = written("range(min(END, len(HELD)))", END=end, HELD=each.value)
                says = f"`{{old}}` goes on behind the end of `{site.show(each.value)}`"
                yield site.make(new, says, adds=True)
    if called(node) == "range":
        new = ast.Call(ast.Name("reversed", Load), [node], [])
        yield site.make(new, "`{old}` runs forwards, and has to run backwards", rank=USUAL)
    if len(node.args) == 3:
        yield site.make(replaced(node, args=node.args[:2]), "the step of `{old}` is too much", rank=USUAL)


@edit("draw-missing", ast.Call, rank=LIKELY)
def draw_missing(site: Site) -> Iterator[Made]:
    """Yield a random order where things keep the order of their numbers, and a generator is given and not used."""
    node = site.node
    rngs = [name for name in site.unread if (held := site.names.get(name)) is not None and held.name == "Generator"]
    if called(node) in ("arange", "range") and rngs and len(node.args) == 1:
        new = ast.Call(ast.Attribute(ast.Name(rngs[0], Load), "permutation", Load), node.args, [])
        yield site.make(new, f"`{{old}}` is always in the same order: `{rngs[0]}` is never used")


@edit("order-reversed", ast.Call, rank=USUAL)
def order_reversed(site: Site) -> Iterator[Made]:
    """Yield what is iterated over or sorted the other way round."""
    node = site.node
    name = called(node)
    if name == "reversed" and node.args:
        yield site.make(node.args[0], "`{old}` runs backwards, and has to run forwards", rank=LIKELY)
    if name == "sorted" or (name == "sort" and not is_library(getattr(node.func, "value", node))):
        given = {each.arg: each for each in node.keywords}
        if "reverse" not in given:
            more = [*node.keywords, ast.keyword("reverse", ast.Constant(True))]
            yield site.make(
                replaced(node, keywords=more), "`{old}` sorts upwards, and has to sort downwards", adds=True
            )
    if name in ("argsort", "sort", "sorted", "cumsum", "cumprod") and not isinstance(site.parent, ast.Expr):
        turned = ast.Subscript(node, ast.Slice(None, None, number(-1)), Load)
        yield site.make(turned, "`{old}` is in the wrong order: it has to be reversed", adds=True)


@edit("order-for-places", ast.Call, rank=LIKELY)
def order_for_places(site: Site) -> Iterator[Made]:
    """Yield the place of each entry among the sorted ones, for the order in which argsort lists them."""
    node = site.node
    if called(node) != "argsort" or not is_library(getattr(node.func, "value", node)) or len(node.args) != 1:
        return
    says = "`{old}` lists the places of the entries in sorted order; that of each among the sorted ones is needed"
    if called(site.parent) != "argsort":
        yield site.make(replaced(node, args=[node]), says, "Sort that order once more: `{new}`.")
    places = written("np.unique(ARRAY, return_inverse=True)[1]", ARRAY=node.args[0])
    yield site.make(places, f"{says}, and equal ones share it", "Write `{new}`.")


@edit("key-missing", ast.Call, rank=USUAL)
def key_missing(site: Site) -> Iterator[Made]:
    """Yield sorted, max or min by an entry of each element, or by a dict's values."""
    node = site.node
    if called(node) not in ("sorted", "max", "min", "sort") or is_library(getattr(node.func, "value", node)):
        return
    given = {each.arg for each in node.keywords}
    others = [each for each in node.keywords if each.arg != "key"]
    item = ast.arguments([], [ast.arg("item")], None, [], [], None, [])
    name = ast.Name("item", Load)
    forms: list[ast.expr] = [ast.Subscript(name, number(place), Load) for place in (0, 1, -1)]
    forms += [
        ast.Call(ast.Name("len", Load), [name], []),
        ast.UnaryOp(ast.USub(), ast.Subscript(name, number(1), Load)),
    ]
    for table, sample in site.names.items():
        if sample.kind == "dict":
            entry = ast.Subscript(ast.Name(table, Load), name, Load)
            forms += [entry, ast.Tuple([ast.UnaryOp(ast.USub(), entry), name], Load)]
    for form in forms:
        key = ast.keyword("key", ast.Lambda(item, form))
        says = (
            "`{old}` compares the elements themselves"
            if "key" not in given
            else "the key in `{old}` orders the elements otherwise than needed"
        )
        yield site.make(replaced(node, keywords=[*others, key]), says, adds="key" not in given)
        if "reverse" in given:
            says = "`{old}` turns all of its order round, and only a part of it has to be"
            yield site.make(replaced(node, keywords=[key]), says, rank=USUAL)


@edit("element-converted", ast.Name, ast.Subscript, ast.Call, ast.BinOp, rank=UNUSUAL)
def converted(site: Site) -> Iterator[Made]:
    """Yield a value converted: to a number, a text, a list, lower case."""
    value = site.value()
    if value is None:
        return
    if value.kind == "text":
        for method in ("lower", "strip", "upper", "split"):
            if called(site.node) != method:
                new = ast.Call(ast.Attribute(site.node, method, Load), [], [])
                yield site.make(new, f"`.{method}()` of `{{old}}` is needed", adds=True)
    is_of_arrays = any(each.kind == "array" for each in site.names.values())
    forms = {
        "number": ("int", "abs") if is_of_arrays else ("int", "str", "float", "round", "abs", "chr"),
        "text": ("int", "float", "len"),
        "sequence": ("len", "sorted", "set", "sum", "max", "list", "tuple"),
        "dict": ("len",),
    }
    if value.kind == "number" and isinstance(site.parent, (ast.For, ast.comprehension)):
        new = ast.Call(ast.Name("range", Load), [site.node], [])
        yield site.make(new, "`{old}` is a number, and a loop needs what it can go over", adds=True, rank=LIKELY)
    for name in forms.get(value.kind, ()):
        if called(site.node) != name and called(site.parent) != name:
            is_usual = name == "set" and called(site.parent) in ("sorted", "len", "list", "sum")
            is_usual = is_usual or (name == "sorted" and isinstance(site.parent, (ast.Return, ast.For)))
            new = ast.Call(ast.Name(name, Load), [site.node], [])
            says = "`{old}` may hold a value twice" if name == "set" else f"`{name}` of `{{old}}` is needed"
            yield site.make(new, says, adds=True, rank=USUAL if is_usual else UNUSUAL)
    if value.kind == "dict" and isinstance(site.parent, ast.Return):
        items = ast.Call(ast.Attribute(site.node, "items", Load), [], [])
        new = ast.Call(ast.Name("dict", Load), [ast.Call(ast.Name("sorted", Load), [items], [])], [])
        yield site.make(new, "the keys of `{old}` are not in order", adds=True)
