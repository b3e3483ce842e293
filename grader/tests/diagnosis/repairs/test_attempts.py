"""In which order changes are tried: of suspect lines first, of functions whose rows fail before those that pass."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from grader.diagnosis.repairs.attempts import FIRST, REACHED, Candidates, Row
from grader.diagnosis.repairs.kinds.missing import ALIGNED, LIKEWISE, QUICK, TERMS
from grader.diagnosis.repairs.relevance import SUSPECT
from grader.tests.diagnosis.repairs.made import written

TEXT = (
    "def helper(x):\n    return x * 2\n\n\ndef other(x):\n    return x\n\n\ndef f(x):\n    return helper(other(x)) + 1"
)


def order(*suspects: str, text: str = TEXT) -> list[tuple[str, int, range]]:
    """Return which changes are asked for, one after the other: of which function, of which level, how far off."""
    source = written(text, "f(1.0)")
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
    found = order("helper")
    quick = found.index(("helper", QUICK, REACHED))
    assert max(found.index(("helper", level, FIRST)) for level in (QUICK, 0, ALIGNED, TERMS)) < quick


def test_quick_changes_of_the_function_that_is_asked_come_before_slow_ones_of_suspect_lines() -> None:
    """Where right modules go about it in another way, the lines that go wrong are not among the suspects."""
    found = order("helper")
    assert (
        found.index(("helper", QUICK, FIRST)) < found.index(("f", QUICK, REACHED)) < found.index(("helper", 0, FIRST))
    )


def test_what_is_done_elsewhere_is_looked_for_in_suspect_lines_too() -> None:
    found = order("f")
    assert found.index(("f", LIKEWISE, FIRST)) < found.index(("f", LIKEWISE, REACHED)) < found.index(("f", 0, FIRST))


def test_terms_are_missing_in_the_innermost_function_first() -> None:
    found = order("f", "helper")
    terms = [found.index((name, TERMS, FIRST)) for name in ("helper", "f")]
    assert found.index(("f", 0, FIRST)) < found.index(("helper", 0, FIRST)) < terms[0] < terms[1]
    assert terms[1] < found.index(("helper", QUICK, REACHED))


def test_in_a_function_that_loops_quick_changes_come_before_terms() -> None:
    """What goes wrong in a later round of a loop is right in the first, so that other lines are suspects as well."""
    looping = TEXT.replace("return x * 2", "for _ in range(2):\n        x = x * 2\n    return x")
    found = order("helper", text=looping)
    quick = found.index(("helper", QUICK, REACHED))
    assert found.index(("helper", ALIGNED, FIRST)) < quick < found.index(("helper", TERMS, FIRST))


def test_nothing_is_asked_for_twice() -> None:
    found = order("f", "helper")
    assert len(found) == len(set(found))


CALLING = """
def helper(x):
    return x + 1

def of_others(x):
    return helper(x)

def own(x):
    return of_others(x) + near(x)

def near(x):
    return x * 2
"""


def functions(own: set[str], passing: set[str]) -> list[str]:
    """Return the functions in the order in which their changes are made."""
    asked: list[str] = []
    text = written(CALLING, "own(1.0)")
    row = Row("row", [], [], frozenset(), frozenset(own), ends_at=1.0, passing=frozenset(passing))
    forms: Any = SimpleNamespace(made=lambda written, name, *_: asked.append(name))
    trial: Any = SimpleNamespace(right=[SimpleNamespace(label="own")])
    assert not list(Candidates(forms, row, lambda: 0.0).of(text, trial, {}))
    return list(dict.fromkeys(asked))


def test_what_passes_and_what_it_alone_calls_come_last() -> None:
    assert set(functions({"own"}, {"of_others"})[:2]) == {"own", "near"}


def test_of_functions_that_fail_each_has_its_turn() -> None:
    assert set(functions({"own"}, set())) == {"own", "near", "of_others", "helper"}


def test_where_nobody_knows_whose_row_it_is_all_are_asked_alike() -> None:
    assert set(functions(set(), {"of_others"})) == {"own", "near", "of_others", "helper"}
