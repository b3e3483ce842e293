"""Lines in which a value first goes wrong are changed before others, those of the innermost functions in every way."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from grader.diagnosis.repairs.attempts import FIRST, REACHED, Candidates, Row
from grader.diagnosis.repairs.kinds.missing import ALIGNED, QUICK, TERMS
from grader.diagnosis.repairs.relevance import SUSPECT
from grader.tests.diagnosis.repairs.made import written

TEXT = (
    "def helper(x):\n    return x * 2\n\n\ndef other(x):\n    return x\n\n\ndef f(x):\n    return helper(other(x)) + 1"
)


def order(*suspects: str) -> list[tuple[str, int, range]]:
    """Return which changes are asked for, one after the other: of which function, of which level, how far off."""
    source = written(TEXT, "f(1.0)")
    depths = {id(each.body[0]): SUSPECT if name in suspects else 0 for name, each in source.definitions.items()}
    asked: list[tuple[str, int, range]] = []

    def made(_: object, name: str, level: int, depths: object, ring: range) -> list[object]:
        asked.append((name, level, ring))
        return []

    forms: Any = SimpleNamespace(made=made)
    trial: Any = SimpleNamespace(right=[SimpleNamespace(label="f")])
    row = Row("row", [], [], frozenset(), frozenset({"f"}), ends_at=1.0)
    assert not list(Candidates(forms, row, lambda: 0.0).of(source, trial, depths))
    return asked


def test_suspect_lines_come_before_quick_changes_of_others() -> None:
    found = order("f")
    quick = found.index(("f", QUICK, REACHED))
    assert max(found.index(("f", level, FIRST)) for level in (QUICK, 0, ALIGNED, TERMS)) < quick


def test_terms_are_missing_in_the_innermost_function_first() -> None:
    found = order("f", "helper")
    terms = [found.index((name, TERMS, FIRST)) for name in ("helper", "f")]
    assert found.index(("f", 0, FIRST)) < found.index(("helper", 0, FIRST)) < terms[0] < terms[1]
    assert terms[1] < found.index(("f", QUICK, REACHED))


def test_nothing_is_asked_for_twice() -> None:
    found = order("f", "helper")
    assert len(found) == len(set(found))
