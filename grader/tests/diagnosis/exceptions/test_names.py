"""What is said of names that are not defined: true on the line, and nothing where several may be meant."""

from __future__ import annotations

import textwrap

import pytest

from grader.diagnosis.exceptions.help import helped
from grader.diagnosis.exceptions.place import Place

CASES = [
    ("return math.sqrt(v)", "math was not imported: `import math` belongs at the top of the file."),
    ("return np.sum(v)", "np was not imported: `import numpy as np` belongs at the top of the file."),
    ("return length_ * 2", "Nothing is called length_ here. Is length meant?"),
    ("return scale_up(v)", "Nothing is called scale_up here. Is scaled_up meant?"),
    ("return V * 2", "Nothing is called V here. Is v meant?"),
    ("return lenn(v)", "Nothing is called lenn here. Is len meant?"),
    ("total += v", "total has no value yet that could be changed here: set it before, such as before the loop."),
    ("for i in v:\n    row = i\nreturn row", "row has no value yet: no line that sets it ran before this one"),
    ("return string", ""),  # also the name of a module, and no module is used here
    ("return something", ""),
    ("first_a = first_b = 1; return first_c", ""),
]


@pytest.mark.parametrize(("lines", "said"), CASES)
def test_a_name_is_explained_by_what_is_there(lines: str, said: str) -> None:
    source = "def scaled_up(x):\n    return x\n\n\ndef measure(v):\n    length = 3\n" + textwrap.indent(lines, "    ")
    with pytest.raises(NameError) as caught:
        exec(source + "\n\nmeasure([])", {})  # the lines above
    last = source.count("\n") + 1
    told = helped(str(caught.value), Place(source, last))
    assert told.startswith(said) and bool(told) == bool(said)
