"""Which methods of a class a row has not started, and which it waits for."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from grader.course.stage import Criterion, Stage
from grader.judging.outcomes import Assessor, _notes
from grader.outcome import Outcome
from grader.sandbox.connection import Connection
from grader.sandbox.process import Job
from grader.sandbox.record import Frame, Notes


def row(name: str, *functions: str) -> Criterion:
    return Criterion(name, name, functions, (), ("a", "b", "c"))


ROWS = (row("softmax", "Layer.softmax", "Layer"), row("forward", "Layer.forward", "Layer"), row("alone", "Layer.other"))
STAGE = Stage("s90", Path("s90_small"), "Small", "small.py", (), ROWS)


@pytest.mark.parametrize(
    ("criterion", "missing", "status"),
    [
        ("softmax", "Layer.softmax", "not_started"),
        ("forward", "Layer.forward", "not_started"),
        ("forward", "Layer.softmax", "blocked"),  # another row is about it
        ("forward", "Layer.helper", "not_started"),  # no other row is
        ("forward", "Layer.__init__", "not_started"),  # every row of a class needs it
        ("alone", "Layer.__init__", "blocked"),
        ("alone", "Layer.other", "not_started"),
        ("alone", "helper", "blocked"),
    ],
)
def test_a_method_that_is_not_written(criterion: str, missing: str, status: str) -> None:
    judge = Assessor(STAGE, Job("small.py", b"", 1, 1, 64, Path()), None)
    found = judge._not_written(Outcome("test", criterion, False, "failed"), [Frame(3, missing)])
    assert (found.status, found.message) == (status, f"{missing} is not written yet")


def test_a_warning_that_comes_again_hides_no_other() -> None:
    notes = Notes(warnings=[("RuntimeWarning", "overflow", 3)] * 5 + [("UserWarning", "careful", 4)])
    connection = cast(Connection, SimpleNamespace(notes=notes))
    assert _notes(connection) == ("RuntimeWarning: overflow (line 3)", "UserWarning: careful (line 4)")
