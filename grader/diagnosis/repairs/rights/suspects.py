"""Where a learner's values first leave those of right modules: statements that make a wrong value of right ones.

Most slips stand there, so their changes are tried before those of other lines.
Source: Jones and Harrold 2005 on the localisation of faults; here by values rather than by lines that ran.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from grader.diagnosis.repairs.held.prints import Prints
from grader.diagnosis.repairs.relevance import head_of, statements_of
from grader.diagnosis.repairs.rights.aligned import print_of
from grader.diagnosis.repairs.written import Written
from grader.diagnosis.trees import walk

MADE = (ast.BinOp, ast.Call, ast.UnaryOp, ast.Subscript, ast.Compare, ast.IfExp, ast.BoolOp)


def suspects(learners: Written, rights: Sequence[Written], functions: Sequence[str]) -> frozenset[int]:
    """Return the ids of the statements in which a value of the learner's is wrong and all that it is made of is right.

    Those that set what it is made of are suspect, too. A value is wrong that no right module has in the same test;
    nothing is suspect where no right module was noted.
    """
    if not rights:
        return frozenset()
    known = [each.seen.prints.values() for each in rights]
    known += [names.values() for each in rights for names in each.seen.held.values()]
    right = Prints(one for each in known for one in each)
    kept = Prints(
        one for each in rights for held in each.seen.held.values() for path, one in held.items() if len(path) > 1
    )
    found: set[int] = set()
    for name in functions:
        statements = list(statements_of(learners.definitions[name].body))
        wrong = [each for each in statements if any(_goes_wrong(learners, head, right) for head in head_of(each))]
        wrong += [each for each in statements if _keeps_another(learners, each, kept)]
        used = {
            node.id for each in wrong for head in head_of(each) for node in walk(head) if isinstance(node, ast.Name)
        }
        found |= {id(each) for each in wrong} | {id(each) for each in statements if _sets(each) & used}
    return frozenset(found)


def _sets(statement: ast.stmt) -> set[str]:
    """Return the names that one assignment sets: what is right by itself may not be what belongs in one of them."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", statement)]
    return {each.id for each in targets if isinstance(each, ast.Name)}


def _keeps_another(learners: Written, statement: ast.stmt, kept: Prints) -> bool:
    """Say whether a line keeps a value as an attribute that no right module keeps as one."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Attribute):
        return False
    known = print_of(learners, statement.value)
    return known is not None and known not in kept


def _goes_wrong(learners: Written, head: ast.AST, right: Prints) -> bool:
    """Say whether an expression has a part that is wrong, of which each part is right."""
    for node in walk(head):
        known = print_of(learners, node) if isinstance(node, MADE) else None
        if known is None or known in right:
            continue
        below = (print_of(learners, each) for each in walk(node)[1:])
        if all(each in right for each in below if each is not None):
            return True
    return False
