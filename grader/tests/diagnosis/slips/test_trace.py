"""The lines of one source that run, and what its names hold at the end."""

from __future__ import annotations

import sys

from grader.diagnosis.slips.trace import Trace

CODE = compile("def f(x):\n    y = 2 * x\n    if y > 9:\n        y = 0\n    return y\n", "<traced>", "exec")


def test_it_notes_lines_and_names_of_one_source() -> None:
    names: dict[str, object] = {}
    exec(CODE, names)
    trace, before = Trace("<traced>"), sys.gettrace()
    with trace.running():
        names["f"](3)  # type: ignore[operator]
    assert sys.gettrace() is before
    assert trace.lines == {1, 2, 3, 5} and trace.values[1] == {"x": 3, "y": 6}


def test_it_notes_nothing_of_others() -> None:
    names: dict[str, object] = {}
    exec(CODE, names)
    trace = Trace("<another>")
    with trace.running():
        names["f"](3)  # type: ignore[operator]
    assert not trace.lines and not trace.values
