"""What is said of names that are not defined: true on the line, and nothing where several may be meant."""

from __future__ import annotations

import builtins
import textwrap

import numpy as np
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
    ("quit()", "quit is there only where somebody types at Python's prompt. A function ends with `return`."),
    ("return copyright", "copyright is there only where somebody types at Python's prompt."),
    ("first_a = first_b = 1; return first_c", ""),
]


@pytest.mark.parametrize(("lines", "said"), CASES)
def test_a_name_is_explained_by_what_is_there(lines: str, said: str) -> None:
    source = "def scaled_up(x):\n    return x\n\n\ndef measure(v):\n    length = 3\n" + textwrap.indent(lines, "    ")
    own = {name: value for name, value in vars(builtins).items() if name not in ("quit", "exit", "copyright")}
    with pytest.raises(NameError) as caught:
        exec(source + "\n\nmeasure([])", {"__builtins__": own})  # the lines above
    last = source.count("\n") + 1
    told = helped(str(caught.value), Place(source, last))
    assert told.startswith(said) and bool(told) == bool(said)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("return np.diagnal(v)", "NumPy has no np.diagnal. Is np.diagonal meant?"),
        ("return np.linalg.solv_(v, v)", "NumPy has no np.linalg.solv_. Is np.linalg.solve meant?"),
        ("return np.ones(2).transpos()", "An array has no .transpos. Is .transpose meant?"),
        ("return np.nothing_like_it(v)", ""),
        (
            "return measure(v)",
            "measure calls itself without end: it needs a case that it answers without another call.",
        ),
        (
            "return other(v)",
            "Functions call each other here without end: one of them needs a case in which it calls none.",
        ),
    ],
)
def test_what_a_library_lacks_and_calls_without_end_are_told(line: str, said: str) -> None:
    source = f"def other(v):\n    return measure(v)\n\n\ndef measure(v):\n    {line}\n"
    with pytest.raises((AttributeError, RecursionError)) as caught:
        exec(source + "\n\nmeasure([])", {"np": np})  # the lines above
    assert helped(str(caught.value), Place(source, source.count("\n"))) == said


@pytest.mark.parametrize(
    ("lines", "is_deep"),
    [
        ("if v == 0:\n    return 0\nreturn measure(v - 1)", True),
        ("return 0 if v == 0 else measure(v - 1)", True),
        ("return v == 0 or measure(v - 1)", True),
        ("if measure(v):\n    return 0\nreturn 1", False),
        ("if v:\n    return measure(v)\nelse:\n    return measure(v - 1)", False),
        ("x = v\nreturn measure(x)", False),
    ],
)
def test_a_recursion_with_an_end_is_deep_and_not_endless(lines: str, is_deep: bool) -> None:
    source = "def measure(v):\n" + textwrap.indent(lines, "    ")
    told = helped("maximum recursion depth exceeded", Place(source, source.count("\n") + 1))
    assert ("without end" in told, "too often" in told) == (not is_deep, is_deep)


def test_nobody_answers_input() -> None:
    assert "nobody does here" in helped("EOF when reading a line", Place("def f():\n    return input()", 2))


def test_names_of_no_library_are_not_searched() -> None:
    assert helped("module 'grader.outcome' has no attribute 'Outcom'", Place("x = 1", 1)) == ""
