"""Another entry, other bounds, another order of what is cut out or iterated over."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from grader.course.mutants import replaced
from grader.course.table import together
from grader.diagnosis.edits.base import (
    LIKELY,
    SURE,
    UNUSUAL,
    USUAL,
    Load,
    Made,
    Site,
    edit,
    moved,
    number,
    number_in,
)
from grader.diagnosis.module_text import called

MOST_NAMES = 8
JOINING = ("stack", "concatenate", "array", "asarray", "vstack")


def _is_whole(site: Site) -> bool:
    """Say whether an index leaves nothing out, and only adds axes."""
    value, of = site.value(), site.value(site.node.value)
    return (
        value is not None
        and of is not None
        and value.kind == of.kind == "array"
        and math.prod(value.shape) == math.prod(of.shape)
    )


@edit("entry-wrong", ast.Subscript, rank=LIKELY)
def entry_wrong(site: Site) -> Iterator[Made]:
    """Yield the entry before or behind, the first, the last, or all of what an entry is taken of."""
    node = site.node
    own = number_in(node.slice)
    if own is not None and isinstance(own, int) and not _is_shape(node):
        for other in (0, -1, 1, own + 1, own - 1, -own - 1, -own):
            if other != own:
                yield site.make(
                    replaced(node, slice=number(other)), f"entry {own} is used where entry {other} is needed"
                )
    if isinstance(node.ctx, ast.Load) and not isinstance(site.parent, ast.Compare) and not _is_whole(site):
        yield site.make(node.value, "all of `{new}` is needed, and `{old}` is a part of it", rank=USUAL)


@edit("index-for-entry", ast.Subscript, rank=USUAL)
def index_for_entry(site: Site) -> Iterator[Made]:
    """Yield the place of an entry where the entry is returned or kept."""
    node = site.node
    is_kept = isinstance(site.parent, ast.Return) or called(site.parent) in ("append", "add")
    if is_kept and isinstance(node.slice, ast.Name) and isinstance(node.ctx, ast.Load):
        yield site.make(node.slice, "the entry `{old}` is given where its place `{new}` is needed")


@edit("entry-for-index", ast.Name, rank=USUAL)
def entry_for_index(site: Site) -> Iterator[Made]:
    """Yield the entry at a place where the place is returned or kept."""
    value, node = site.value(), site.node
    is_kept = isinstance(site.parent, (ast.Return, ast.Compare)) or called(site.parent) in ("append", "add")
    if value is None or value.kind != "number" or value.dtype != "i" or not is_kept:
        return
    for name, sample in list(site.names.items())[:MOST_NAMES]:
        if sample.kind in ("sequence", "text") and node.id in site.loop_names:
            new = ast.Subscript(ast.Name(name, Load), node, Load)
            yield site.make(new, f"the place `{{old}}` is used where the entry of `{name}` is needed", adds=True)


@edit("border-of-nothing", ast.Subscript, rank=SURE)
def border_of_nothing(site: Site) -> Iterator[Made]:
    """Yield what is left without a border of a width that may be 0: `x[p:-p]` is empty then."""
    node, array = site.node, site.value(site.node.value)
    parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    bounds = [_before_end(each) for each in parts]
    widths = [site.value(each) for each in bounds if each is not None]
    if array is None or not any(each is not None and each.value == 0 for each in widths):
        return
    ellipses = [isinstance(each, ast.Constant) and each.value is Ellipsis for each in parts]
    made = list(parts)
    for place, bound in enumerate(bounds):
        if bound is not None:
            axis = place - len(parts) if any(ellipses[:place]) else place
            size = ast.Subscript(ast.Attribute(node.value, "shape", Load), number(axis), Load)
            made[place] = replaced(parts[place], upper=ast.BinOp(size, ast.Sub(), bound))
    inner: ast.expr = ast.Tuple(made, Load) if isinstance(node.slice, ast.Tuple) else made[0]
    shown = next(site.show(each) for each in bounds if each is not None)
    says = f"`{{old}}` is empty where `{shown}` is 0"
    yield site.make(
        replaced(node, slice=inner), says, f"Count the end from the front: the size less `{shown}`.", adds=True
    )


def _before_end(node: ast.AST) -> ast.expr | None:
    """Return how far before the end a slice ends, where that is no number that is written out."""
    upper = node.upper if isinstance(node, ast.Slice) else None
    is_counted = isinstance(upper, ast.UnaryOp) and isinstance(upper.op, ast.USub) and number_in(upper) is None
    return upper.operand if is_counted and isinstance(upper, ast.UnaryOp) else None


def _is_shape(node: ast.Subscript) -> bool:
    return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"


@edit("index-wrong", ast.Subscript, rank=USUAL)
def index_wrong(site: Site) -> Iterator[Made]:
    """Yield other names as an index, its parts in another order, one part less or more."""
    node = site.node
    key = node.slice
    if isinstance(key, ast.Tuple) and 1 < len(key.elts) < 5:
        for place in range(len(key.elts) - 1):
            elts = list(key.elts)
            elts[place], elts[place + 1] = elts[place + 1], elts[place]
            if ast.dump(elts[place]) != ast.dump(elts[place + 1]):
                new = replaced(node, slice=replaced(key, elts=elts))
                yield site.make(new, "the indices of `{old}` are in the wrong order", rank=LIKELY)
        for place in range(len(key.elts)):
            elts = [*key.elts[:place], *key.elts[place + 1 :]]
            inner: ast.expr = elts[0] if len(elts) == 1 else replaced(key, elts=elts)
            yield site.make(
                replaced(node, slice=inner),
                f"the index `{ast.unparse(key.elts[place])}` is too much in `{{old}}`",
                rank=UNUSUAL,
            )
        for place, part in enumerate(key.elts):
            if not isinstance(part, ast.Slice) and isinstance(node.ctx, ast.Load):
                elts = [*key.elts[:place], ast.Slice(), *key.elts[place + 1 :]]
                yield site.make(
                    replaced(node, slice=replaced(key, elts=elts)),
                    "`{old}` takes one entry of an axis of which all are needed",
                    rank=UNUSUAL,
                )
    elif not isinstance(key, (ast.Slice, ast.Constant)):
        second = ast.Tuple([ast.Slice(), key], Load)
        yield site.make(replaced(node, slice=second), "`{old}` takes rows where columns are needed", rank=USUAL)


@edit("rows-for-entries", ast.Subscript, rank=LIKELY)
def rows_for_entries(site: Site) -> Iterator[Made]:
    """Yield an entry of each row where a list of columns takes whole rows, or the same columns of all rows."""
    node, table = site.node, site.value(site.node.value)
    is_second = isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2
    first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and is_second else None
    is_of_all = isinstance(first, ast.Slice) and first.lower is first.upper is first.step is None
    key = node.slice.elts[1] if isinstance(node.slice, ast.Tuple) and is_of_all else node.slice
    columns = site.value(key) if isinstance(key, ast.expr) else None
    if table is None or columns is None or len(table.shape) != 2 or columns.shape != table.shape[:1]:
        return
    if table.kind != "array" or columns.kind != "array" or columns.is_real:
        return
    size = ast.Call(ast.Name("len", Load), [key], [])
    rows = ast.Call(ast.Attribute(ast.Name("np", Load), "arange", Load), [size], [])
    says = "`{old}` takes the columns of all rows" if is_of_all else "`{old}` takes whole rows"
    new = replaced(node, slice=ast.Tuple([rows, key], Load))
    yield site.make(new, f"{says}, and one entry of each row is needed", adds=True)


@edit("bounds-wrong", ast.Slice, rank=USUAL)
def bounds_wrong(site: Site) -> Iterator[Made]:
    """Yield a slice without one of its bounds, with one that is moved by 1, or that is another name."""
    node = site.node
    says = "the bounds of `{line}` are wrong: `{old}`"
    for bound, word in (("lower", "begins"), ("upper", "ends"), ("step", "")):
        value = getattr(node, bound)
        if value is not None:
            said = (
                f"`{site.show(value)}` is too much in the bounds `{{old}}`"
                if word
                else "the step of `{old}` is too much"
            )
            yield site.make(replaced(node, **{bound: None}), said, rank=LIKELY if bound == "step" else USUAL)
        if word and value is not None:
            for step, late in ((1, "early"), (-1, "late")):
                new = replaced(node, **{bound: moved(value, step)})
                yield site.make(new, f"`{{old}}` {word} one too {late}", rank=LIKELY)
            yield site.make(replaced(node, **{bound: ast.UnaryOp(ast.USub(), value)}), says, rank=UNUSUAL)
    if node.lower is not None and node.upper is not None and number_in(node.lower) is None and node.step is None:
        shown = site.show(node.upper)
        says = f"`{{old}}` ends at `{shown}`, wherever it begins, and has to end `{shown}` behind that"
        new = replaced(node, upper=ast.BinOp(node.lower, ast.Add(), node.upper))
        yield site.make(new, says, adds=True, rank=LIKELY)
    if node.lower is None and node.step is None:
        yield site.make(replaced(node, lower=number(1)), "`{old}` begins one too early", rank=USUAL, adds=True)
    if node.upper is None and node.step is None:
        yield site.make(replaced(node, upper=number(-1)), "`{old}` ends one too late", rank=USUAL, adds=True)
        for name, sample in list(site.names.items())[:MOST_NAMES]:
            if sample.kind == "number" and sample.dtype == "i":
                yield site.make(
                    replaced(node, upper=ast.Name(name, Load)),
                    f"`{{old}}` has to end at `{name}`",
                    rank=UNUSUAL,
                    adds=True,
                )
    if node.upper is None and isinstance(node.lower, ast.UnaryOp):
        first = ast.Slice(None, node.lower.operand, node.step)
        yield site.make(first, "`{old}` takes the last entries, and the first ones are needed", rank=LIKELY)
    if node.lower is not None and node.upper is None:
        yield site.make(
            ast.Slice(None, node.lower, node.step),
            "`{old}` takes what comes after, and what comes before is needed",
            rank=USUAL,
        )
    if node.upper is not None and node.lower is None:
        yield site.make(
            ast.Slice(node.upper, None, node.step),
            "`{old}` takes what comes before, and what comes after is needed",
            rank=USUAL,
        )
        if number_in(node.upper) is None:
            behind = ast.Slice(ast.UnaryOp(ast.USub(), node.upper), None, node.step)
            yield site.make(behind, "`{old}` takes the first entries, and the last ones are needed", rank=USUAL)


@edit("order-reversed", ast.Name, ast.Attribute, ast.Call, ast.Subscript, rank=UNUSUAL)
def reversed_order(site: Site) -> Iterator[Made]:
    """Yield a loop that runs backwards, or leaves out the first or the last entry; or a list joined the other way."""
    value = site.value()
    if value is not None and value.kind == "sequence" and called(site.parent) in JOINING:
        turned = ast.Subscript(site.node, ast.Slice(None, None, number(-1)), Load)
        yield site.make(turned, "`{old}` is in the wrong order: it has to be reversed", adds=True, rank=LIKELY)
    is_loop = isinstance(site.parent, (ast.For, ast.comprehension)) and site.parent.iter is site.node
    if not is_loop or value is None or value.kind not in ("array", "sequence", "text"):
        return
    for part, says in (
        (ast.Slice(None, None, number(-1)), "`{old}` is in the wrong order: it has to be reversed"),
        (ast.Slice(number(1)), "the loop over `{old}` has to begin at the second entry"),
        (ast.Slice(None, number(-1)), "the loop over `{old}` has to end before the last entry"),
    ):
        rank = USUAL if part.step is not None else UNUSUAL
        yield site.make(ast.Subscript(site.node, part, Load), says, adds=True, rank=rank)


@edit("condition-missing", ast.comprehension, rank=USUAL)
def condition_superfluous(site: Site) -> Iterator[Made]:
    """Yield a comprehension without its condition."""
    if site.node.ifs:
        shown = together(map(site.show, site.node.ifs))
        yield site.make(replaced(site.node, ifs=[]), f"the condition `{shown}` leaves out what is needed")
