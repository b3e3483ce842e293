"""A small stage that lacks nothing, as texts by file: tests of the course's own tools write it, whole or changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from grader.course.stub import stub_of

MANIFEST = """\
schema = 1
id = "{id}"
title = "Sums"
module = "small.py"
requires = []

[limits]
stage_seconds = 60
call_seconds = 10
memory_mb = 512

[forbidden]
names = ["numpy.linalg"]
reason = "This stage is about sums."

[[criteria]]
id = "total"
text = "total adds up each row"
functions = ["total"]
needs = []
hints = ["a nudge", "the formula", "nearly the code"]

[[criteria]]
id = "half"
text = "half halves the total"
functions = ["half"]
needs = ["total"]
hints = ["a nudge", "the formula", "nearly the code"]
"""

SOLUTION = '''\
"""Sums of rows."""

import numpy as np


def total(x):
    """Return the sum of each row.

    Example:
        >>> total(np.array([[1.0, 2.0]]))
        array([3.])
    """
    return x.sum(axis=1)


def half(x):
    """Return half of the sum of each row.

    Example:
        >>> half(np.array([[1.0, 2.0]]))
        array([1.5])
    """
    return total(x) / 2
'''

README = """\
# Sums

`total(x)` and `half(x)`:

```python
>>> total(np.array([[1.0, 2.0]])).tolist()
[3.0]
```

## Sums

### Step 1: both sums

*About 10 minutes (an estimate).*

Now write `total` and `half`, then run `grader check {id}`:

- [ ] total adds up each row
- [ ] half halves the total
"""

PUBLIC = '''\
"""Public tests."""

import numpy as np
import pytest

from grader.testing import assert_array


@pytest.mark.criterion("total")
@pytest.mark.values
def test_total_of_two_rows(learner):
    assert_array(learner.total(np.array([[1.0, 2.0], [3.0, 4.0]])), [3.0, 7.0])


@pytest.mark.criterion("half")
@pytest.mark.values
def test_half_of_two(learner):
    assert_array(learner.half(np.array([[0.5, 1.5]])), [1.0])
'''

HIDDEN = '''\
"""Hidden tests."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_shape


@pytest.mark.criterion("total")
@pytest.mark.values
def test_total_of_any_rows(learner, rng):
    x = rng.standard_normal((4, 3))
    assert_array(learner.total(x), [sum(row) for row in x.tolist()])


@pytest.mark.criterion("half")
@pytest.mark.values
def test_half_of_any_rows(learner, rng):
    x = rng.standard_normal((2, 5))
    assert_array(learner.half(x), [sum(row) / 2 for row in x.tolist()])
'''

# Only this hidden test tells 2 / total, and the mean of two columns, from half: of what comes back it sees the shape.
WEAKENED = HIDDEN.replace(
    "assert_array(learner.half(x), [sum(row) / 2 for row in x.tolist()])", "assert_shape(learner.half(x), (2,))"
)

MISTAKES = '''\
"""Wrong answers."""

import numpy as np

from grader.mistakes import mistake


@mistake(criterion="total", replaces="total", text="Columns are added up.", fix="Sum along the last axis.")
def sum_of_columns(x):
    return x.sum(axis=0)


@mistake(criterion="total", replaces="total", text="This is the mean.", fix="Leave the division out.")
def mean_of_rows(x):
    return x.mean(axis=1)


@mistake(criterion="total", replaces="total", text="Everything is added up.", fix="Give one number a row.")
def sum_of_all(x):
    return x.sum()


@mistake(criterion="half", replaces="half", text="The total is divided by its terms.", fix="Divide by two.")
def mean_of_terms(x):
    return x.mean(axis=1)


@mistake(criterion="half", replaces="half", text="The total is doubled.", fix="Divide instead.")
def twice(x):
    return total(x) * 2


@mistake(criterion="half", replaces="half", text="The total is not halved.", fix="Divide it by two.")
def whole(x):
    return total(x)
'''

# The same as patches of the solution.
PATCHES = """\
[total.total.sum-of-columns]
text = "Columns are added up."
fix = "Sum along the last axis."
find = "axis=1"
replace = "axis=0"

[total.total.mean-of-rows]
text = "This is the mean."
fix = "Leave the division out."
find = "sum"
replace = "mean"

[total.total.sum-of-all]
text = "Everything is added up."
fix = "Give one number a row."
find = "axis=1"
replace = ""

[half.half.mean-of-terms]
text = "The total is divided by its terms."
fix = "Divide by two."
find = "/ 2"
replace = "/ x.shape[1]"

[half.half.twice]
text = "The total is doubled."
fix = "Divide instead."
find = "/ 2"
replace = "* 2"

[half.half.whole]
text = "The total is not halved."
fix = "Divide it by two."
find = " / 2"
replace = ""
"""

# Two that no test tells apart, and nothing else.
AMBIGUOUS = (
    MISTAKES[: MISTAKES.index("@mistake")]
    + MISTAKES[MISTAKES.rindex("@mistake") :]
    + """

@mistake(criterion="half", replaces="half", text="The sum is not halved.", fix="Divide it by two.")
def unhalved(x):
    return x.sum(axis=1)
"""
)

LOOPS = '''\
"""With loops."""

import numpy as np


def total(x):
    result = np.zeros(len(x))
    for row, values in enumerate(x):
        for value in values:
            result[row] += value
    return result


def half(x):
    return np.array([value / 2 for value in total(x)])
'''

FILES: Mapping[str, str] = {
    "stage/stage.toml": MANIFEST,
    "stage/README.md": README,
    "stage/small.py": stub_of(SOLUTION),
    "stage/tests/test_small.py": PUBLIC,
    "hidden/solution.py": SOLUTION,
    "hidden/test_hidden.py": HIDDEN,
    "hidden/mistakes.py": MISTAKES,
    "hidden/alternatives/__init__.py": "",
    "hidden/alternatives/loops.py": LOOPS,
    "hidden/alternatives/einsum.py": (
        'import numpy as np\n\n\ndef total(x):\n    return np.einsum("rc->r", x)\n\n\n'
        'def half(x):\n    return np.einsum("rc->r", 0.5 * x)\n'
    ),
    "hidden/alternatives/products.py": (
        "import numpy as np\n\n\ndef total(x):\n    return x @ np.ones(x.shape[1])\n\n\n"
        "def half(x):\n    return x @ np.full(x.shape[1], 0.5)\n"
    ),
}


def write_stage(stages: Path, hidden: Path, name: str, changes: Mapping[str, str | None] | None = None) -> None:
    """Write the stage below stages and hidden under a name such as s90_small; None among the changes leaves one out."""
    for file, text in {**FILES, **(changes or {})}.items():
        folder, _, rest = file.partition("/")
        path = (stages if folder == "stage" else hidden) / name / rest
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.unlink(missing_ok=True)
        else:
            path.write_text(text.replace("{id}", name.partition("_")[0]), encoding="utf-8")
