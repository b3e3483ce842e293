"""The edits that are tried in a learner's lines, by what they change. Begin with `base.py`.

An edit is added in one file: a generator with `@edit(id, node types, rank=…)` that yields `site.make(new, says, fix)`.
A name that it writes of its own, such as `keepdims`, stands there in quotation marks: no other name passes that neither
the learner nor the README or the stub states. What it says names no formula of what to write; the fix does.

Functions that are mistaken for one another, such as `mean` and `median`, need no generator: they are a group of
`CONFUSED_FUNCTIONS` in `names.py`.
"""

from grader.diagnosis.edits import (
    calls,
    constants,
    containers,
    names,
    numerics,
    operators,
    rounds,
    shapes,
    slices,
    statements,
    terms,
)
from grader.diagnosis.edits.base import Context, Edit, Site, edits_at

MODULES = (calls, constants, containers, names, numerics, operators, rounds, shapes, slices, statements, terms)

__all__ = ["MODULES", "Context", "Edit", "Site", "edits_at"]
