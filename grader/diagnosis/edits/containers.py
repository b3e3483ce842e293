"""Edits of lists, dicts, sets and texts: an item never added, added wrongly, or not there yet."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.course.mutants import replaced
from grader.diagnosis.edits.base import LIKELY, SURE, UNUSUAL, USUAL, Load, Made, Site, edit, number, number_in, written
from grader.diagnosis.edits.statements import CHANGING, body_of, place_of
from grader.diagnosis.module_text import called, loaded, root_name, stored
from grader.diagnosis.trees import walk
from grader.diagnosis.values import Sample

NEW = {"set": "add", "list": "append"}  # by what makes an empty container: what puts something in
ITERATORS = ("reversed", "map", "filter", "zip", "enumerate")
CONSUMING = (
    *("list", "tuple", "set", "dict", "sorted", "sum", "max", "min", "any", "all", "join", "extend", "next"),
    *("Counter", "update", "fromkeys", "deque", *ITERATORS),
)
COUNTING = {"isalnum": "letters and digits", "isalpha": "letters", "isdigit": "digits"}
MOST_DIVISORS = 6
FEW = 4  # entries, and fewer, show no order that one more belongs in
ANSWERS = ("[]", "None", "0", "''", "True", "False", "{}")


def constants(*texts: str) -> list[ast.expr]:
    """Return constants and empty containers as they are written."""
    return [ast.parse(text, mode="eval").body for text in texts]


@edit("never-filled", ast.If, rank=SURE)
def never_filled(site: Site) -> Iterator[Made]:
    """Yield a line that puts an entry into what is looked through and stays empty."""
    test = site.node.test
    if not (isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.NotIn) and len(test.ops) == 1):
        return
    held = test.comparators[0]
    if not isinstance(held, ast.Name):
        return
    makers = []
    for each in walk(site.definition):
        if isinstance(each, ast.Assign) and any(getattr(target, "id", "") == held.id for target in each.targets):
            makers.append("list" if isinstance(each.value, ast.List) and not each.value.elts else called(each.value))
        is_call = isinstance(each, ast.Call) and getattr(each.func, "attr", "") in (*CHANGING, "update")
        is_set = isinstance(each, ast.AugAssign) or isinstance(getattr(each, "ctx", None), ast.Store)
        changed = getattr(each, "target", getattr(each, "func", each))
        if (is_call or is_set) and not isinstance(each, ast.Name) and root_name(changed) == held.id:
            return
    if len(makers) == 1 and makers[0] in NEW:
        put = ast.Expr(ast.Call(ast.Attribute(held, NEW[makers[0]], Load), [test.left], []))
        says = f"nothing is ever put into `{held.id}`"
        new = [replaced(site.node, body=[*site.node.body, put])]
        yield site.make(new, says, f"Add `{ast.unparse(put)}` below it.", adds=True)


@edit("entries-shared", ast.Call, ast.BinOp, rank=SURE)
def entries_shared(site: Site) -> Iterator[Made]:
    """Yield a list of its own for each entry, where one list stands in all of them."""
    node = site.node
    says = "`{old}` puts one and the same list into all entries"
    match node:
        case ast.Call(args=[keys, ast.List() | ast.Dict() | ast.Set() as made]) if called(node) == "fromkeys":
            yield site.make(written("{each: MADE for each in KEYS}", MADE=made, KEYS=keys), says)
        case ast.BinOp(ast.List([ast.List() | ast.Dict() | ast.ListComp() as made]), ast.Mult(), times):
            yield site.make(written("[MADE for _ in range(TIMES)]", MADE=made, TIMES=times), says)


@edit("entry-of-nothing", ast.Subscript, rank=LIKELY)
def entry_of_nothing(site: Site) -> Iterator[Made]:
    """Yield another value where there is no entry yet."""
    node = site.node
    if site.is_raised("IndexError") and isinstance(node.ctx, ast.Load) and site.was_empty(node.value):
        says = f"`{{old}}` does not exist where `{site.show(node.value)}` is empty"
        for other in constants("0", "''", "None"):
            new = written("ENTRY if HELD else OTHER", ENTRY=node, HELD=node.value, OTHER=other)
            yield site.make(new, says, f"Take `{ast.unparse(other)}` there.", adds=True)


@edit("case-missing", ast.If, ast.While, rank=LIKELY)
def empty_in_condition(site: Site) -> Iterator[Made]:
    """Yield a condition that looks first whether there is an entry."""
    test = site.node.test
    for each in walk(test):
        if isinstance(each, ast.Subscript) and site.is_raised("IndexError") and site.was_empty(each.value):
            says = f"`{site.show(each)}` does not exist where `{site.show(each.value)}` is empty"
            for form in ("not HELD or TEST", "HELD and TEST"):
                yield site.make(written(form, HELD=each.value, TEST=test), says, "Write `{new}`.", old=test, adds=True)


@edit("case-missing", ast.If, ast.Assign, ast.Return, ast.Expr, ast.While, rank=USUAL)
def empty_before(site: Site) -> Iterator[Made]:
    """Yield an answer of its own for what is empty, before the line that raises."""
    if not site.is_raised("IndexError", "ValueError", "ZeroDivisionError", "StopIteration"):
        return
    names = dict.fromkeys(each.id for each in walk(site.node) if isinstance(each, ast.Name))
    for name in names:
        sample = site.names.get(name)
        if sample is not None and ((sample.kind == "text" and sample.value == "") or sample.shape[:1] == (0,)):
            for answer in constants(*ANSWERS):
                test = ast.UnaryOp(ast.Not(), ast.Name(name, Load))
                says = f"an empty `{name}` needs a case of its own"
                fix = f"Return `{ast.unparse(answer)}` for it first."
                yield site.make([ast.If(test, [ast.Return(answer)], []), site.node], says, fix, adds=True)


@edit("default-missing", ast.AugAssign, ast.Subscript, rank=LIKELY)
def default_missing(site: Site) -> Iterator[Made]:
    """Yield a first value for a key that is not in a dict yet."""
    node = site.node
    if not site.is_raised("KeyError"):
        return
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
        table, key = node.target.value, node.target.slice
        says = f"`{site.show(node.target)}` does not exist yet where its key is new"
        for first in constants("0", "[]", "''"):
            before = written("TABLE.get(KEY, FIRST)", TABLE=table, KEY=key, FIRST=first)
            new = ast.Assign([node.target], ast.BinOp(before, node.op, node.value))
            yield site.make([new], says, "Write `{new}`.", adds=True)
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        says = "`{old}` does not exist yet where its key is new"
        for default in _defaults_beside(site):
            made = written("TABLE.get(KEY, DEFAULT)", TABLE=node.value, KEY=node.slice, DEFAULT=default)
            yield site.make(made, says, adds=True)
        for form in ("TABLE.setdefault(KEY, [])", "TABLE.get(KEY, 0)", "TABLE.get(KEY, [])", "TABLE.get(KEY)"):
            yield site.make(written(form, TABLE=node.value, KEY=node.slice), says, adds=True)


def _defaults_beside(site: Site) -> Iterator[ast.expr]:
    """Yield what other functions of the module take where a dict has no entry, as far as its names are at hand."""
    seen = set[str]()
    for each in walk(site.module.tree):
        if isinstance(each, ast.Call) and called(each) == "get" and len(each.args) == 2:
            default = each.args[1]
            if ast.dump(default) not in seen and loaded(default) <= {*site.names, *site.module.functions, "np"}:
                seen.add(ast.dump(default))
                yield default


@edit("default-missing", ast.Call, rank=LIKELY)
def default_of_get(site: Site) -> Iterator[Made]:
    """Yield a default for `.get`, which gives None where the key is new."""
    node, table = site.node, getattr(site.node.func, "value", None)
    held = site.value(table) if table is not None else None
    if called(node) == "get" and len(node.args) in (1, 2) and held is not None and held.kind == "dict":
        says = "`{old}` gives None where the key is new"
        if len(node.args) == 2:
            says = f"`{{old}}` gives `{site.show(node.args[1])}` where the key is new, and another value is needed"
        for first in constants("0", "[]", "''", "{}", "1"):
            new = replaced(node, args=[node.args[0], first])
            yield site.make(new, says, "Write `{new}`.", adds=len(node.args) == 1)


@edit("order-lost", ast.Call, rank=USUAL)
def order_lost(site: Site) -> Iterator[Made]:
    """Yield what is different among entries, in the order in which they come."""
    node = site.node
    inner = node.args[0] if node.args and called(node) in ("list", "sorted", "set") else None
    source = inner.args[0] if isinstance(inner, ast.Call) and called(inner) == "set" and inner.args else None
    if source is None and called(node) == "set" and node.args:
        source = node.args[0]
    if source is not None and not node.keywords:
        says = f"`{{old}}` does not keep the order of `{site.show(source)}`"
        yield site.make(written("list(dict.fromkeys(HELD))", HELD=source), says)


@edit("counted-for-collected", ast.Assign, ast.AugAssign, rank=USUAL)
def counted_for_collected(site: Site) -> Iterator[Made]:
    """Yield a list of the entries of a key where they are counted."""
    node = site.node
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    value = site.value(node.value)
    is_number = number_in(node.value) is not None or (value is not None and value.is_numeric)
    if not is_number or not isinstance(target, ast.Subscript) or _kind(site.value(target.value)) != "dict":
        return
    for name in site.loop_names:
        put = written("TABLE.setdefault(KEY, []).append(ENTRY)", TABLE=target.value, KEY=target.slice,
                      ENTRY=ast.Name(name, Load))  # fmt: skip
        says = f"`{{line}}` keeps a number for each key, and the list of each `{name}` is needed"
        if site.names.get(name) is not None and not site.names[name].is_numeric:
            yield site.make([ast.Expr(put)], says, "Write `{new}`.", adds=True)


def _kind(value: Sample | None) -> str:
    return "" if value is None else value.kind


@edit("first-entry-lost", ast.List, rank=USUAL)
def first_entry_lost(site: Site) -> Iterator[Made]:
    """Yield a list that begins with the entry at hand, where an empty one is kept."""
    if site.node.elts or not isinstance(site.parent, ast.Assign) or not site.is_in_loop:
        return
    for name in site.loop_names:
        says = f"`{{line}}` leaves out the first `{name}`"
        yield site.make(ast.List([ast.Name(name, Load)], Load), says, adds=True)


@edit("element-for-list", ast.Assign, rank=USUAL)
def element_kept(site: Site) -> Iterator[Made]:
    """Yield a list of one entry where the entry itself is kept for a key."""
    node, value = site.node, site.value(site.node.value)
    is_list = isinstance(node.value, (ast.List, ast.ListComp))
    if isinstance(node.targets[0], ast.Subscript) and site.is_in_loop and value is not None and not is_list:
        says = "`{old}` is one entry, and a list of such is needed"
        yield site.make(ast.List([node.value], Load), says, old=node.value, adds=True)


@edit("element-for-list", ast.Name, ast.Call, ast.Subscript, ast.BinOp, rank=USUAL)
def element_for_list(site: Site) -> Iterator[Made]:
    """Yield a list of one entry where a list is joined to another."""
    parent = site.parent
    is_added = isinstance(parent, (ast.BinOp, ast.AugAssign)) and isinstance(parent.op, ast.Add)
    if not is_added or isinstance(getattr(site.node, "ctx", Load), ast.Store):
        return
    other = getattr(parent, "target", None) or (parent.right if parent.left is site.node else parent.left)
    held = site.value(other) or site.names.get(getattr(other, "id", ""))
    is_list = held is not None and held.kind == "sequence"
    is_kept = isinstance(parent, ast.AugAssign) and isinstance(other, ast.Subscript)
    if is_list or is_kept or site.is_raised("TypeError"):
        says = "`{old}` is one entry, and a list is joined to a list"
        yield site.make(ast.List([site.node], Load), says, adds=True, rank=LIKELY if is_list else USUAL)


@edit("list-for-element", ast.List, ast.Tuple, rank=UNUSUAL)
def list_for_element(site: Site) -> Iterator[Made]:
    """Yield an entry where a list of it alone stands."""
    if len(site.node.elts) == 1 and isinstance(site.node.ctx, ast.Load):
        rank = LIKELY if site.context.error == "TypeError" else UNUSUAL
        yield site.make(site.node.elts[0], "`{old}` is a list, and its one entry is needed", rank=rank)


@edit("iterator-kept", ast.Call, rank=SURE)
def iterator_kept(site: Site) -> Iterator[Made]:
    """Yield the list of what can be gone through once alone."""
    is_consumed = isinstance(site.parent, (ast.For, ast.comprehension, ast.Starred)) or called(site.parent) in CONSUMING
    if called(site.node) in ITERATORS and isinstance(site.node.func, ast.Name) and not is_consumed:
        says = "`{old}` is no list: it can be gone through once, and equals nothing else"
        yield site.make(ast.Call(ast.Name("list", Load), [site.node], []), says, adds=True)


@edit("end-confused", ast.Call, rank=USUAL)
def end_confused(site: Site) -> Iterator[Made]:
    """Yield what puts an entry at the other end of a list."""
    node = site.node
    target = getattr(node.func, "value", None)
    if target is None:
        return
    if called(node) == "append" and len(node.args) == 1:
        says = "`{old}` puts it at the end, and it belongs in front"
        yield site.make(written("HELD.insert(0, ENTRY)", HELD=target, ENTRY=node.args[0]), says)
    elif called(node) == "insert" and len(node.args) == 2:
        says = "`{old}` does not put it at the end, where it belongs"
        yield site.make(written("HELD.append(ENTRY)", HELD=target, ENTRY=node.args[1]), says)
    elif called(node) == "pop" and not node.args:
        yield site.make(replaced(node, args=[number(0)]), "`{old}` takes the last entry, and the first one is needed")


@edit("case-missing", ast.Call, rank=LIKELY)
def single_value(site: Site) -> Iterator[Made]:
    """Yield a list of what is no list, where a function calls itself for each entry."""
    node = site.node
    if site.context.error == "TypeError" and getattr(node.func, "id", "") == site.function and len(node.args) == 1:
        new = written("CALL if isinstance(ENTRY, list) else [ENTRY]", CALL=node, ENTRY=node.args[0])
        says = f"`{{old}}` is called for a `{site.show(node.args[0])}` that is no list as well"
        yield site.make(new, says, "Write `{new}`.", adds=True)


@edit("branch-missing", ast.AugAssign, rank=LIKELY)
def not_found(site: Site) -> Iterator[Made]:
    """Yield an entry kept as it is, where it is looked up in what does not hold it."""
    for each in walk(site.node.value):
        match each:
            case ast.Call(func=ast.Attribute(value=table, attr="index"), args=[entry]) if site.is_raised("ValueError"):
                other = replaced(site.node, value=entry)
                new = ast.If(ast.Compare(entry, [ast.In()], [table]), [site.node], [other])
                says = f"`{site.show(each)}` fails for what is not in `{site.show(table)}`"
                fix = f"Keep `{site.show(entry)}` as it is there."
                yield site.make([new], says, fix, adds=True)


@edit("index-not-wrapped", ast.BinOp, ast.Name, ast.UnaryOp, rank=USUAL)
def index_not_wrapped(site: Site) -> Iterator[Made]:
    """Yield an index that begins again at 0 behind the last entry."""
    parent, held = site.parent, None
    if isinstance(parent, ast.Subscript) and parent.slice is site.node:
        held = parent.value
    if held is not None and getattr(site.value(held), "kind", "sequence") in ("sequence", "text"):
        new = written("PLACE % len(HELD)", PLACE=site.node, HELD=held)
        says = f"`{{old}}` may lie behind the end of `{site.show(held)}`"
        yield site.make(new, says, adds=True, rank=LIKELY if site.is_raised("IndexError") else UNUSUAL)


@edit("remainder-missing", ast.BinOp, rank=UNUSUAL)
def remainder_missing(site: Site) -> Iterator[Made]:
    """Yield the remainder of a sum by a number that is stated."""
    value = site.value()
    if (
        value is None
        or value.kind != "number"
        or value.dtype != "i"
        or not isinstance(site.node.op, (ast.Add, ast.Sub))
    ):
        return
    numbers = [each for each in sorted(site.context.constants) if each > 2 and float(each).is_integer()]
    for each in numbers[:MOST_DIVISORS]:
        new = ast.BinOp(site.node, ast.Mod(), number(int(each)))
        yield site.make(new, f"`{{old}}` may leave the range below {int(each)}", adds=True)


@edit("membership-missing", ast.Compare, rank=LIKELY)
def membership_missing(site: Site) -> Iterator[Made]:
    """Yield a comparison with all entries where one entry is compared."""
    node = site.node
    if len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        return
    operator = ast.In() if isinstance(node.ops[0], ast.Eq) else ast.NotIn()
    for one, other in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
        held = site.value(other.value) if isinstance(other, ast.Subscript) else None
        if held is not None and held.kind == "sequence" and not isinstance(other.slice, ast.Slice):
            says = f"`{{old}}` compares with one entry of `{site.show(other.value)}`, and all of them count"
            yield site.make(ast.Compare(one, [operator], [other.value]), says)


@edit("filter-missing", ast.Name, ast.Call, rank=UNUSUAL)
def filter_missing(site: Site) -> Iterator[Made]:
    """Yield the letters and digits of a text alone."""
    value = site.value()
    is_whole = isinstance(site.parent, (ast.For, ast.Assign, ast.comprehension))
    if value is None or value.kind != "text" or not is_whole:
        return
    for test, word in COUNTING.items():
        new = written(f"''.join(each for each in TEXT if each.{test}())", TEXT=site.node)
        yield site.make(new, f"all of `{{old}}` is used, and only its {word} count", adds=True)


@edit("filter-missing", ast.comprehension, rank=UNUSUAL)
def condition_missing(site: Site) -> Iterator[Made]:
    """Yield a comprehension over a text that leaves out what is no letter and no digit."""
    value, target = site.value(site.node.iter), site.node.target
    if value is not None and value.kind == "text" and isinstance(target, ast.Name):
        for test, word in COUNTING.items():
            test_of = ast.Call(ast.Attribute(ast.Name(target.id, Load), test, Load), [], [])
            says = f"all of `{site.show(site.node.iter)}` is used, and only its {word} count"
            new = replaced(site.node, ifs=[*site.node.ifs, test_of])
            yield site.make(new, says, f"Add `if {ast.unparse(test_of)}`.", adds=True)


@edit("conversion-missing", ast.Name, ast.Call, ast.Subscript, ast.ListComp, rank=USUAL)
def conversion_missing(site: Site) -> Iterator[Made]:
    """Yield what all entries are made into: numbers, texts without spaces, the first of each pair, one text."""
    value = site.value()
    is_value = isinstance(site.parent, (ast.Assign, ast.Return, ast.keyword, ast.For, ast.Subscript, ast.Call))
    if called(site.node) in ("int", "float") and site.is_raised("ValueError") and site.node.args:
        new = written("NUMBER if TEXT.isdigit() else TEXT", NUMBER=site.node, TEXT=site.node.args[0])
        yield site.make(new, "`{old}` fails for a text that is no number", "Write `{new}`.", adds=True)
    if value is None or not is_value:
        return
    if value.kind == "text" and isinstance(site.parent, (ast.Assign, ast.Return)):
        new = written("int(TEXT) if TEXT.isdigit() else TEXT", TEXT=site.node)
        yield site.make(new, "`{old}` stays a text, also where it is a number", "Write `{new}`.", adds=True)
    elif value.kind == "sequence" and value.dtype == "str":
        for form, says in (
            ("[int(each) for each in HELD]", "the entries of `{old}` are texts, and numbers are needed"),
            ("[each.strip() for each in HELD]", "the entries of `{old}` may have spaces around them"),
            ("[each.lower() for each in HELD]", "the entries of `{old}` may have capitals"),
            ("''.join(HELD)", "`{old}` is a list, and one text is needed"),
            ("list(dict.fromkeys(HELD))", "`{old}` may hold a value twice"),
        ):
            is_made = isinstance(site.node, ast.ListComp) and "each." in form  # there its element is changed
            if not is_made:
                yield site.make(written(form, HELD=site.node), says, adds=True)
    elif value.kind == "sequence" and value.dtype in ("tuple", "list"):
        for place in (0, 1):
            new = written("[each[PLACE] for each in HELD]", HELD=site.node, PLACE=number(place))
            yield site.make(
                new, f"the entries of `{{old}}` are pairs, and only entry {place} of each is needed", adds=True
            )


@edit("previous-not-kept", ast.Assign, rank=UNUSUAL)
def previous_not_kept(site: Site) -> Iterator[Made]:
    """Yield a line that keeps the old value of a name in another one, before the name gets a new one."""
    target = site.node.targets[0]
    if not site.is_in_loop or not isinstance(target, ast.Name) or target.id in site.loop_names:
        return
    body = body_of(site, site.node)
    place = place_of(body, site.node)
    before = {name for each in body[:place] for name in stored(each)}
    for name in sorted(stored(site.definition) - {target.id, *site.loop_names} - before):
        line = ast.Assign([ast.Name(name, ast.Store())], ast.Name(target.id, Load))
        says = f"`{{line}}` replaces `{target.id}`, whose old value `{name}` has to keep"
        yield site.make([line, site.node], says, f"Add `{name} = {target.id}` before it.", adds=True)


@edit("branch-missing", ast.If, rank=USUAL)
def branch_missing(site: Site) -> Iterator[Made]:
    """Yield an `else` that keeps an entry as it is, where only those of a condition are kept."""
    node = site.node
    if node.orelse or not site.is_in_loop:
        return
    kept = node.body[-1]
    for name in site.loop_names:
        entry = ast.Name(name, Load)
        match kept:
            case ast.AugAssign():
                other = replaced(kept, value=entry)
            case ast.Expr(ast.Call(func=ast.Attribute(attr="append" | "add")) as call):
                other = ast.Expr(replaced(call, args=[entry]))
            case ast.Assign(targets=[ast.Subscript()], value=ast.Call(args=[held])):
                other = replaced(kept, value=held)
            case _:
                return
        says = f"where `{site.show(node.test)}` does not hold, nothing is kept of `{name}`"
        yield site.make([replaced(node, orelse=[other])], says, "Add an `else` that keeps it as it is.", adds=True)


@edit("entry-missing", ast.List, rank=USUAL)
def entry_missing(site: Site) -> Iterator[Made]:
    """Yield a list of what is made by calls with one entry more, of those that stand in it several times: a layer."""
    elts = site.node.elts
    if len(elts) <= FEW or not all(isinstance(each, ast.Call) for each in elts):
        return
    texts = [ast.unparse(each) for each in elts]
    for text in dict.fromkeys(each for each in texts if texts.count(each) > 1):
        for place in range(1, len(elts) + 1):
            if text not in texts[place - 1 : place + 1]:
                entry = elts[texts.index(text)]
                new = replaced(site.node, elts=[*elts[:place], entry, *elts[place:]])
                says = f"`{text}` is missing behind `{site.show(elts[place - 1])}`"
                yield site.make(new, says, f"Put `{text}` there.", adds=True, at=elts[place - 1])
