"""What is said of numbers that are drawn in another way than they should."""

from __future__ import annotations

import ast

from grader.diagnosis.repairs.kinds.draws import SIZES
from grader.diagnosis.slips.schema import Change
from grader.diagnosis.slips.wording.clause import Clause
from grader.diagnosis.slips.wording.phrases import Vocabulary, called, constant_of
from grader.diagnosis.slips.wording.sentences import targets

HOW = {
    "normal": "from a normal distribution",
    "standard_normal": "from a normal distribution",
    "randn": "from a normal distribution",
    "uniform": "uniformly",
    "random": "uniformly from 0 to 1",
    "rand": "uniformly from 0 to 1",
}
MOST_QUOTED = 60  # characters


def draws(change: Change, say: Vocabulary) -> Clause | None:
    """Return the clause of a draw for which another belongs, or zeros; None where the change is another."""
    old, right = change.old, change.new
    if not isinstance(old, ast.Call) or not isinstance(right, ast.Call) or called(old) not in SIZES:
        return None
    what = _target(change, say) or "numbers"
    if called(right) == "zeros":
        return Clause(f"{what} were drawn at random where zeros belong", "Start from zeros there.", 0)
    keeps = any(each.arg == "replace" and constant_of(each.value) is False for each in right.keywords)
    if keeps or called(right) == "permutation":
        said = "numbers were drawn with replacement, some of them several times, where each is drawn once"
        belongs = "Draw without replacement, as with `permutation`."
        return Clause(said, belongs, 0)
    if called(old) == called(right) == "normal" and len(right.args) == 3:
        spread = ast.unparse(right.args[1])
        if len(spread) <= MOST_QUOTED:
            said = f"{spread} were the mean of {what}, where it is their standard deviation"
            return Clause(said, f"Give the mean first: `normal(0.0, {spread}, …)`.", 0)
    one, other = HOW.get(called(old), ""), HOW.get(called(right), "")
    if not one or not other or one == other:
        return None
    return Clause(f"{what} were drawn {one} where they are to be drawn {other}", f"Draw them {other}.", 0)


def _target(change: Change, say: Vocabulary) -> str | None:
    """Return what a draw is kept as: a name, or an entry as it stands there; None where it is a part of more."""
    node = change.statement
    if change.holder is not node or not isinstance(node, ast.Assign):
        return None
    text = ast.unparse(node.targets[0])
    if isinstance(node.targets[0], ast.Subscript):
        return f"`{text}`" if len(text) <= MOST_QUOTED else None
    return targets(node, say)
