"""What speaks for a learner's line whose values no right module has: the values that are made of them are right.

There are several ways to one value. Where ways part and meet again, nothing between is wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence

from grader.diagnosis.repairs.held.prints import Prints
from grader.diagnosis.repairs.relevance import Line
from grader.diagnosis.repairs.rights.aligned import print_of
from grader.diagnosis.repairs.written import Written

MOST_STEPS = 12  # from a line to what is made of it
WITH_VALUE = (ast.Assign, ast.AnnAssign, ast.Return)


def cleared(
    learners: Written, lines: Sequence[Line], doubted: Iterable[ast.stmt], right: Prints, asked: str
) -> frozenset[int]:
    """Return the ids of doubted statements of which all that is made of them comes out right.

    What is asked last is wrong: whatever sets that is not cleared, nor is what nothing is made of.
    """
    ran = [line for line in lines if learners.did_run(line.statement)]
    users: dict[str, list[Line]] = {}
    for line in ran:
        for token in line.uses:
            users.setdefault(token, []).append(line)
    waiting = {id(each) for each in doubted}
    wrong = {f"@{asked.rpartition('.')[2]}", f"{asked}()"}
    own = [line for line in ran if id(line.statement) in waiting and line.sets and wrong.isdisjoint(line.sets)]
    found: set[int] = {id(line.statement) for line in ran if is_right(learners, line.statement, right)} - waiting
    for _ in range(MOST_STEPS):
        more = {id(line.statement) for line in own if _leads_to(line, users, found)} - found
        if not more:
            break
        found |= more
    return frozenset(found & waiting)


def _leads_to(line: Line, users: Mapping[str, Sequence[Line]], fine: Collection[int]) -> bool:
    """Say whether all that uses what a line sets is right, and something does."""
    using = [each for token in line.sets for each in users.get(token, ()) if each.statement is not line.statement]
    return bool(using) and all(id(each.statement) in fine for each in using)


def is_right(learners: Written, statement: ast.stmt, right: Prints) -> bool:
    """Say whether a statement sets or returns a value that a right module has; whole numbers are soon alike."""
    known = print_of(learners, statement.value) if isinstance(statement, WITH_VALUE) and statement.value else None
    if known is None or known not in right:
        return False
    return known.shape != (-1,) and (bool(known.shape) or not known.size.is_integer())
