"""A learner's exceptions made again: of the same class, with the same words, and only from bounded plain values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.diagnosis.replay import _builtin_class
from grader.protocol.codec import WireError
from grader.sandbox.exceptions import (
    MAX_ARGS,
    TEXT_LIMIT,
    LearnerExit,
    builtin_exception,
    construct,
    deeper,
    described,
    exception_from,
)


def form(**changes: Any) -> list[Any]:
    values: dict[str, Any] = {
        "names": ["ValueError"], "shown": "ValueError", "own": 0, "message": "x: 3", "args": ["x: 3"], "frames": [],
        "token": 0,
    }  # fmt: skip
    return list((values | changes).values())


def test_an_exception_is_of_the_same_class_and_words() -> None:
    error = exception_from(described(form()), None, "small.py")
    assert (type(error), str(error)) == (ValueError, "x: 3")


@pytest.mark.parametrize("change", [{"names": "ValueError"}, {"own": -1}, {"message": 3}, {"frames": None}])
def test_another_form_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(WireError):
        described(form(**change))


def test_a_form_of_another_length_is_refused() -> None:
    with pytest.raises(WireError):
        described(form()[:-1])


def test_what_is_too_long_is_cut() -> None:
    found = described(form(message="x" * 2 * TEXT_LIMIT, args=["x"] * (MAX_ARGS + 1)))
    assert (len(found.message), found.args) == (TEXT_LIMIT, None)


@pytest.mark.parametrize(("line", "shown"), [(7, 7), (-5, 0), (10**4000, 1 << 20)], ids=["own", "negative", "huge"])
def test_a_line_is_one_that_a_module_can_have(line: int, shown: int) -> None:
    assert described(form(frames=[[line, "f"]])).frames[0].line == shown


def test_a_number_of_a_class_is_bounded() -> None:
    with pytest.raises(WireError):
        described(form(own=1 << 62))


def test_a_text_of_bytes_is_never_read_at_places_that_its_arguments_name() -> None:
    error = construct(UnicodeEncodeError, ("utf8", "x", -(1 << 60), 1 - (1 << 60), "odd"), "told")
    assert isinstance(error, UnicodeEncodeError) and str(error) == "told"


def test_arguments_that_are_not_plain_are_left_out() -> None:
    assert described(form(args=[["x"]])).args is None


@pytest.mark.parametrize("name", ["SystemExit", "KeyboardInterrupt", "GeneratorExit"])
def test_who_leaves_is_told_so(name: str) -> None:
    assert isinstance(exception_from(described(form(names=[name])), None, "small.py"), LearnerExit)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["Own", "KeyError", "LookupError"], KeyError),
        (["LinAlgError", "ValueError"], np.linalg.LinAlgError),
        (["AxisError"], np.exceptions.AxisError),
        (["print", "BaseException", "ExceptionGroup", 3], Exception),
    ],
)
def test_the_class_is_the_most_derived_that_is_known_here(names: list[Any], expected: type[Exception]) -> None:
    assert builtin_exception(names) is expected


def test_a_class_with_arguments_of_its_own_is_still_recognised() -> None:
    error = construct(UnicodeDecodeError, None, "invalid start byte")
    assert isinstance(error, UnicodeDecodeError) and str(error) == "invalid start byte"
    assert _builtin_class(error) is UnicodeDecodeError


def test_the_line_in_an_earlier_stages_module_is_bounded_and_only_of_its_form() -> None:
    error = exception_from(described([*form(), [], ["b.py" * 100, 10**4000, "f"]]), None, "small.py")
    place = deeper(error)
    assert place is not None and (len(place.file), place.line) == (200, 1 << 20)
    for odd in ([], "b.py", ["b.py", "3", "f"], ["b.py", True, "f"], [1, 2, 3]):
        assert deeper(exception_from(described([*form(), [], odd]), None, "small.py")) is None
    with pytest.raises(WireError):
        described([*form(), [], [], []])
