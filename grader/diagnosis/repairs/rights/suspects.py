"""Where a learner's values first leave those of right modules: statements that make a wrong value of right ones.

Most slips stand there, so their changes are tried before those of other lines.
Source: Jones and Harrold 2005 on the localisation of faults; here by values rather than by lines that ran.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from grader.diagnosis.repairs.held.prints import Prints
from grader.diagnosis.repairs.kinds.values import is_called
from grader.diagnosis.repairs.relevance import Line, head_of, statements_of
from grader.diagnosis.repairs.rights.aligned import print_of
from grader.diagnosis.repairs.rights.cleared import cleared, is_right
from grader.diagnosis.repairs.written import Written
from grader.diagnosis.trees import walk

MADE = (ast.BinOp, ast.Call, ast.UnaryOp, ast.Subscript, ast.Compare, ast.IfExp, ast.BoolOp)


def suspects(
    learners: Written,
    rights: Sequence[Written],
    functions: Sequence[str],
    lines: Sequence[Line],
    asked: str,
    draws: bool = False,
) -> frozenset[int]:
    """Return the ids of the statements in which a value of the learner's is wrong and all that it is made of is right.

    Those that set what it is made of are suspect, too. A value is wrong that no right module has in the same test, if
    not all that is made of it is right; nothing is suspect where no right module was noted. asked is what is wrong;
    draws says that this is made of draws, which else tell nothing: right modules draw others.
    """
    if not rights:
        return frozenset()
    known = [each.seen.prints.values() for each in rights]
    known += [names.values() for each in rights for names in each.seen.held.values()]
    right = Prints(one for each in known for one in each)
    kept = Prints(
        one for each in rights for held in each.seen.held.values() for path, one in held.items() if len(path) > 1
    )
    wrong: dict[str, list[ast.stmt]] = {}
    for name in functions:
        statements = list(statements_of(learners.definitions[name].body))
        unlike = [each for each in statements if not is_right(learners, each, right)]
        wrong[name] = [
            each for each in unlike if any(_goes_wrong(learners, head, right, draws) for head in head_of(each))
        ]
        wrong[name] += [each for each in statements if _keeps_another(learners, each, kept, right)]
        wrong[name] += [each for each in statements if _stores_another(learners, each, name, right)]
    fine = cleared(learners, lines, [each for own in wrong.values() for each in own], right, asked)
    found: set[int] = set()
    for name, own in wrong.items():
        left = [each for each in own if id(each) not in fine]
        used = {node.id for each in left for head in head_of(each) for node in walk(head) if isinstance(node, ast.Name)}
        setting = [each for each in statements_of(learners.definitions[name].body) if _sets(each) & used]
        found |= {id(each) for each in (*left, *setting)}
    return frozenset(found)


def _sets(statement: ast.stmt) -> set[str]:
    """Return the names that one assignment sets: what is right by itself may not be what belongs in one of them."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", statement)]
    return {each.id for each in targets if isinstance(each, ast.Name)}


def _keeps_another(learners: Written, statement: ast.stmt, kept: Prints, right: Prints) -> bool:
    """Say whether a line keeps a value as an attribute that right modules have, and none keeps as one."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Attribute):
        return False
    known = print_of(learners, statement.value)
    return known is not None and known in right and known not in kept


def _stores_another(learners: Written, statement: ast.stmt, function: str, right: Prints) -> bool:
    """Say whether a line of right values sets a part of an array, or one of several names, that ends as a wrong one."""
    if not isinstance(statement, (ast.Assign, ast.AugAssign)) or not (names := _changed_by(statement)):
        return False
    parts = [print_of(learners, each) for each in walk(statement)]
    held = learners.seen.held.get(function, {})
    ends_wrong = any(held[(name,)] not in right for name in names if (name,) in held)
    return ends_wrong and all(each in right for each in parts if each is not None)


def _changed_by(statement: ast.Assign | ast.AugAssign) -> list[str]:
    """Return the names whose value a line changes by a part, or takes from several that a call returns."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Call):
        return [each.id for each in target.elts if isinstance(each, ast.Name)]
    is_whole = isinstance(statement, ast.Assign) and isinstance(target, ast.Name)
    while isinstance(target, ast.Subscript):
        target = target.value
    return [target.id] if isinstance(target, ast.Name) and not is_whole else []


def _goes_wrong(learners: Written, head: ast.AST, right: Prints, draws: bool) -> bool:
    """Say whether an expression has a part that is wrong, or raises, of which each part is right."""
    calls = [] if draws else [node for node in walk(head) if _is_drawn(learners, node)]
    drawn = {id(each) for node in calls for each in walk(node)}  # with factors of their own
    for node in walk(head):
        if id(node) in drawn:
            continue
        known = print_of(learners, node) if isinstance(node, MADE) else None
        if known in right if known is not None else not _raises(learners, node):
            continue
        below = (print_of(learners, each) for each in walk(node)[1:])
        if all(each in right for each in below if each is not None):
            return True
    return False


def _raises(learners: Written, node: ast.AST) -> bool:
    """Say whether an expression never got its value, although all that it is made of has one."""
    if not isinstance(node, (ast.BinOp, ast.Call, ast.Subscript)) or _has_value(learners, node):
        return False
    parts = [each for each in walk(node)[1:] if id(each) in learners.numbers and not is_called(each, node)]
    return bool(parts) and all(_has_value(learners, each) for each in parts)


def _has_value(learners: Written, node: ast.AST) -> bool:
    return learners.numbers.get(id(node), -1) in learners.seen.expressions


def _is_drawn(learners: Written, node: ast.AST) -> bool:
    """Say whether a generator draws a value."""
    owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    return owner is not None and type(learners.value_of(owner)).__name__.endswith("Generator")
