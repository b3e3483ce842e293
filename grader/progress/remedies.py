"""What to do about what a check found in a row where the values are right, and something beside them is not.

Where the values are wrong there is no remedy: then the course's own hints lead on.
"""

from __future__ import annotations

from collections.abc import Mapping

from grader.course.stage import Criterion
from grader.outcome import Kind
from grader.progress.last_check import RowCheck

REMEDIES: Mapping[Kind, str] = {
    "edges": "The values are right but for an edge case{example}. Work this call out by hand, and find the first line "
    "of {name} that does not give what you expect.",
    "purity": "The values are right, but an argument is changed{example}. `x = x + 1` makes a new array, while "
    "`x += 1`, `x[...] = 1` and `x.sort()` change the one that the caller goes on using.",
    "refusals": "The values are right; what is missing is an error for bad input{example}. Compare what the docstring "
    "of {name} refuses with what your code checks before it computes.",
    "dtype": "The values are right; the dtype is not{example}. Follow the dtype through {name}, line by line: "
    "`np.zeros` and `np.empty` make float64 unless they get a dtype.",
}


def remedy_of(row: Criterion, about: RowCheck) -> str:
    """Return what to do about what a check found in a row; empty where nothing is known that fits."""
    lacking = [each.kind for each in about.kinds] if about.is_nearly_done else []
    kind = next((each for each in REMEDIES if each in lacking), None)
    if kind is None:
        return ""
    example = f": {about.example.rstrip('.')}" if about.example else ""
    return REMEDIES[kind].format(example=example, name=row.functions[0])
