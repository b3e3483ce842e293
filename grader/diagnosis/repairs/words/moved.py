"""What is said of a line by its own text: operations in another order, an entry of a list, a line unlike its likes."""

from __future__ import annotations

import ast
import re

from grader.diagnosis.repairs.kinds.confused import BUILT_IN
from grader.diagnosis.repairs.words.nested import is_nested
from grader.diagnosis.slips.schema import Change
from grader.diagnosis.slips.wording.clause import Clause
from grader.diagnosis.slips.wording.nouns import LIBRARIES, NOUNS
from grader.diagnosis.slips.wording.phrases import Vocabulary, called, constant_of
from grader.diagnosis.slips.wording.sentences import targets
from grader.diagnosis.trees import walk

MOST_QUOTED = 90  # characters
MOST_MADE = 40  # characters
MOST_NAMES = 2  # that are told of one value


def narrowed(old: ast.AST, new: ast.AST, holder: ast.AST) -> tuple[ast.AST, ast.AST, ast.AST]:
    """Return the smallest part in which two expressions differ, as it is in both, and what holds it."""
    while type(old) is type(new):
        pairs = list(zip(_children(old), _children(new), strict=False))
        other = [(a, b) for a, b in pairs if ast.dump(a) != ast.dump(b)]
        if len(other) != 1 or not all(isinstance(each, ast.expr) for each in other[0]):
            break
        if len(_children(old)) != len(_children(new)) or _plain(old) != _plain(new):
            break
        holder, (old, new) = old, other[0]
    return old, new, holder


def _exchanged(old: ast.AST, right: ast.AST) -> Clause | None:
    """Return the clause of two names in each other's places; None where the formulas differ otherwise."""
    if isinstance(old, ast.BinOp) and isinstance(right, ast.BinOp) and old.left is right.right:
        return None  # the two sides are, with all their names
    names = [[each for each in walk(node) if isinstance(each, ast.Name)] for node in (old, right)]
    pairs = [(a.id, b.id) for a, b in zip(*names, strict=False) if a.id != b.id]
    if (
        not isinstance(old, ast.BinOp)
        or len(names[0]) != len(names[1])
        or len(pairs) != 2
        or pairs[0] != pairs[1][::-1]
    ):
        return None
    one, other = pairs[0]
    is_same = re.sub(rf"\b({one}|{other})\b", "", ast.unparse(old)) == re.sub(
        rf"\b({one}|{other})\b", "", ast.unparse(right)
    )
    said = f"{one} and {other} were in each other's places"
    return Clause(said, "Swap them back.", 0) if is_same and len(said) <= MOST_QUOTED else None


def _length(old: ast.Slice, right: ast.Slice) -> Clause | None:
    """Return the clause of a slice of which the end is its length; None where another bound is another."""
    end = right.upper
    if end is not None and old.upper is not None and old.step is not None and old.step is right.step:
        was, belongs = ast.unparse(old), ast.unparse(right)
        said = f"the slice `{was}` ended too early, where a step stands between two entries"
        return Clause(said, f"Count the steps: `{belongs}`.", 0) if len(belongs) <= MOST_QUOTED else None
    if old.upper is None or not isinstance(end, ast.BinOp) or end.left is not old.lower or end.right is not old.upper:
        return None
    was, belongs = ast.unparse(old.upper), ast.unparse(end)
    return Clause(
        f"a slice ended at {was} where it ends at {belongs}", f"Count its end from its start: `{belongs}`.", 0
    )


def _children(node: ast.AST) -> list[ast.AST]:
    return list(ast.iter_child_nodes(node))


def _plain(node: ast.AST) -> list[object]:
    """Return what an expression holds beside other expressions: a name, a number."""
    return [value for _, value in ast.iter_fields(node) if not isinstance(value, (ast.AST, list))]


def moved(old: ast.AST, right: ast.AST, say: Vocabulary) -> Clause | None:
    """Return the clause of what stands in another place, or is missing as a whole: the learner's own text says it."""
    if isinstance(old, ast.Name) and isinstance(right, ast.Name) and {old.id, right.id} <= set(BUILT_IN):
        return quoted(old, right)
    if is_nested(old, right):
        return quoted(old, right)
    if isinstance(old, ast.Dict) and isinstance(right, ast.Dict):
        pairs = zip(old.keys, old.values, right.values, strict=False)
        keys = [str(constant_of(key)) for key, ours, theirs in pairs if ours is not theirs]
        said = f"the values of {' and '.join(keys)} were in each other's places"
        return Clause(said, "Swap them back.", 0) if keys else None
    if isinstance(old, ast.Slice) and isinstance(right, ast.Slice):
        return _length(old, right)
    if isinstance(old, ast.List) and isinstance(right, ast.List) and len(old.elts) != len(right.elts):
        return _entry(old, right)
    if isinstance(old, ast.Subscript) and isinstance(right, ast.Subscript) and old.value is right.value:
        is_entry = isinstance(old.slice, ast.Slice) and not isinstance(right.slice, ast.Slice)
        is_other = constant_of(old.slice) is not None and constant_of(right.slice) is not None
        return quoted(old, right) if is_entry or is_other or isinstance(right.slice, ast.Tuple) else None
    if (clause := _exchanged(old, right)) is not None:
        return clause
    both = isinstance(old, (ast.BinOp, ast.Call)) and isinstance(right, (ast.BinOp, ast.Call))
    if (inside := _inside(old, right, say)) is not None:
        return inside
    if both and len(leaves(old)) > 2 and leaves(old) == leaves(right) and _order_of(old) == _order_of(right):
        return _bracketed(old, right) or quoted(old, right)
    if isinstance(old, ast.UnaryOp) and isinstance(right, ast.BinOp):
        return _bracketed(old, right)
    if isinstance(right, ast.BinOp) and right.left is old and isinstance(right.right, ast.BinOp):
        return _term(right, right.right, say.term(old) or "what stands there")
    return None


def _bracketed(old: ast.AST, right: ast.AST) -> Clause | None:
    """Return the clause of brackets that are missing; None where other ones are there."""
    stood, belongs = ast.unparse(old), ast.unparse(right)
    known = {ast.unparse(each) for each in walk(old) if isinstance(each, ast.expr)}
    inner = [
        ast.unparse(each) for each in walk(right) if isinstance(each, (ast.BinOp, ast.UnaryOp)) and each is not right
    ]
    group = min((each for each in inner if each not in known and f"({each})" in belongs), key=len, default=None)
    if group is None or belongs.replace(f"({group})", group, 1) != stood or len(belongs) > MOST_QUOTED:
        return None
    return Clause(f"the brackets around `{group}` were missing", f"Write `{belongs}`.", 1)


def _term(right: ast.BinOp, term: ast.BinOp, what: str) -> Clause | None:
    """Return the clause of a term, made of others, that is missing beside a value."""
    text = ast.unparse(ast.fix_missing_locations(term))
    if len(text) > MOST_QUOTED:
        return None
    match right.op:
        case ast.Add():
            return Clause(f"{text} were not added to {what}", f"Add {text}.", 1)
        case ast.Sub():
            return Clause(f"{text} were not subtracted from {what}", f"Subtract {text}.", 1)
        case ast.Mult() if isinstance(term.op, ast.Mult) or isinstance(term.left, ast.Constant):
            return Clause(f"the factor {text} were left out of {what}", "Multiply by it.", 1)
    return None


def _inside(old: ast.AST, right: ast.AST, say: Vocabulary) -> Clause | None:
    """Return the clause of a term that stands behind a function and belongs inside of it; None for another change."""
    if not isinstance(old, ast.BinOp) or not isinstance(right, ast.Call) or not right.args:
        return None
    call = next((each for each in (old.left, old.right) if getattr(each, "func", None) is right.func), None)
    inner = right.args[0]
    if not isinstance(call, ast.Call) or not isinstance(inner, ast.BinOp) or type(inner.op) is not type(old.op):
        return None
    other = old.right if call is old.left else old.left
    name, what = ast.unparse(right.func).removeprefix("np."), say.term(other) or ast.unparse(other)
    if max(len(name), len(what)) > MOST_QUOTED:
        return None
    done = {ast.Add: "added", ast.Sub: "subtracted", ast.Mult: "multiplied"}.get(type(old.op), "used")
    return Clause(f"{what} were {done} outside of {name}, where it belongs inside", f"Put it inside of {name}.", 0)


def leaves(node: ast.AST) -> list[str]:
    """Return the names, numbers and operators of an expression, sorted."""
    kept = (ast.Name, ast.Constant, ast.Attribute, ast.operator)
    return sorted(
        getattr(each, "id", None) or getattr(each, "attr", None) or str(getattr(each, "value", type(each).__name__))
        for each in walk(node)
        if isinstance(each, kept)
    )


def _order_of(node: ast.AST) -> list[str]:
    """Return the names and numbers of an expression from left to right."""
    return re.findall(r"\w+", ast.unparse(node))


def quoted(old: ast.AST, right: ast.AST) -> Clause | None:
    """Return the clause of two short texts of a learner's own names."""
    stood, belongs = ast.unparse(old), ast.unparse(right)
    if max(len(stood), len(belongs)) > MOST_QUOTED:
        return None
    return Clause(f"`{stood}` stood where `{belongs}` belongs", f"Write `{belongs}`.", 1)


def _entry(old: ast.List, right: ast.List) -> Clause | None:
    """Return the clause of an entry of a list that is missing, or one too many."""
    texts, others = ([ast.unparse(each) for each in node.elts] for node in (old, right))
    longer = max(texts, others, key=len)
    place = next(
        (n for n, (a, b) in enumerate(zip(texts, others, strict=False)) if a != b), min(len(texts), len(others))
    )
    after = f" behind {longer[place - 1]}" if place else ""
    if len(after) > MOST_QUOTED:
        return None
    if len(texts) < len(others):
        return Clause(f"{longer[place]} were left out{after}", "Put it in.", 0)
    return Clause(f"{longer[place]}{after} were one too many", "Leave it out.", 0)


def taking_part(change: Change, say: Vocabulary) -> Clause | None:
    """Return the clause of names that took no part in a value where they belong, or that have no part in it."""
    if not isinstance(change.new, ast.AST):
        return None
    ours, theirs = (_known(each, say) for each in (change.old, change.new))
    what = targets(change.statement, say) or "the result"
    missing, extra = [each for each in theirs if each not in ours], [each for each in ours if each not in theirs]
    common = len(theirs) - len(missing)
    if not (missing or extra) or max(len(missing), len(extra)) > MOST_NAMES or common < len(missing) + len(extra):
        return None
    if missing and extra:
        said = f"{_listed(extra)} stood in {what}, where {_listed(missing)} belongs"
        return Clause(said, f"Use {_listed(missing)} there.", 1)
    if missing:
        return Clause(f"{_listed(missing)} took no part in {what}", f"Look at what {what} is made of.", 1)
    return Clause(f"{_listed(extra)} took part in {what}", f"Make {what} without it.", 1)


def made_of(change: Change, say: Vocabulary) -> Clause | None:
    """Return the clause of a name in the place of what is made of one or two others: not how it is made of them."""
    if not isinstance(change.old, (ast.Name, ast.Attribute, ast.Subscript)) or not isinstance(change.new, ast.expr):
        return None
    stood = ast.unparse(change.old)
    names = [each.id for each in walk(change.new) if isinstance(each, ast.Name) and each.id not in LIBRARIES]
    named = list(dict.fromkeys(each for each in names if each not in say.functions))
    ours = {each.id for each in walk(change.old) if isinstance(each, ast.Name)}
    if not 0 < len(named) <= MOST_NAMES or ours & set(named) or max(map(len, (stood, *named))) > MOST_MADE:
        return None
    said = f"`{stood}` stood where a value made of {_listed(named)} belongs"
    return Clause(said, f"Look at how that value is made of {_listed(named)}.", 1)


def _known(node: ast.AST, say: Vocabulary) -> list[str]:
    """Return the names that stand in an expression, and what its functions are called."""
    found: dict[str, None] = {}
    for each in walk(node):
        noun = NOUNS.get(called(each)) if isinstance(each, ast.Call) else None
        name = say.phrase(each) if isinstance(each, (ast.Name, ast.Attribute)) else noun
        if name and " " not in name and name not in (*LIBRARIES, "self"):
            found[name] = None
        elif noun:
            found[noun] = None
    return list(found)


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
