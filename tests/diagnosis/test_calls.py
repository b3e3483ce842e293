"""How an argument is shown in the call that is told of a failure."""

from __future__ import annotations

import pytest

from grader.diagnosis.calls import short


def double(x: float) -> float:
    return 2 * x


@pytest.mark.parametrize(("value", "shown"), [(double, "<double>"), (lambda x: x, "<a lambda>"), (len, "<len>")])
def test_functions_are_shown_by_name(value: object, shown: str) -> None:
    assert short(value, ()) == shown
