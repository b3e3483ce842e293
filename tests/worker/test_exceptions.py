"""A learner's exception as plain values, and a test's own as the learner's code meets it."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.worker.exceptions import MAX_FRAMES, TEXT_LIMIT, builtin_names, described, rebuilt

OWN = """
class ShapeError(ValueError):
    pass

class Odd(Exception):
    def __str__(self):
        raise RuntimeError

def fail(depth, error):
    if depth:
        fail(depth - 1, error)
    raise error
"""


def raised(error: str, depth: int = 0) -> tuple[list[Any], list[object]]:
    """Return how an exception of a module is described, and what was given a number for it."""
    names: dict[str, Any] = {"__name__": "learner_module"}
    exec(compile(OWN, "small.py", "exec"), names)
    numbered: list[object] = []

    def number(value: object) -> int:
        numbered.append(value)
        return 9

    try:
        names["fail"](depth, eval(error, names))
    except Exception as found:
        return described(found, "small.py", "learner_module", number), numbered
    raise AssertionError


def test_a_builtin_exception_has_names_message_arguments_and_frames() -> None:
    assert raised("ValueError('no', 2)")[0] == [
        ["ValueError", "Exception", "BaseException"], "ValueError", 0, "('no', 2)", ["no", 2], [[12, "fail"]], 0, [],
    ]  # fmt: skip


def test_a_class_of_the_learners_own_has_a_handle() -> None:
    (names, name, handle, *_), numbered = raised("ShapeError('x')")
    assert (names[0], name, handle) == ("ValueError", "ShapeError", 9)
    assert [getattr(each, "__name__", "") for each in numbered] == ["ShapeError"]


def test_messages_and_frames_are_bounded_and_a_broken_message_is_told() -> None:
    long = raised("ValueError('x' * 100_000)", depth=60)[0]
    assert len(long[3]) == TEXT_LIMIT and long[4] is None and len(long[5]) == MAX_FRAMES
    assert raised("Odd()")[0][3] == "<its message could not be made: RuntimeError>"


def test_exceptions_of_numpy_are_named_too() -> None:
    assert builtin_names(np.linalg.LinAlgError)[:2] == ["LinAlgError", "ValueError"]


def test_an_exception_of_a_test_is_rebuilt_as_its_own_class_or_the_nearest_builtin() -> None:
    class LocalWorkerFactory(KeyError):
        pass

    own, nearest, unknown = (
        rebuilt(cls, names, "text", 5)
        for cls, names in ((LocalWorkerFactory, []), (None, ["Mine", "LookupError", "Exception"]), (None, ["Mine"]))
    )
    assert [type(each) for each in (own, nearest, unknown)] == [LocalWorkerFactory, LookupError, Exception]
    assert getattr(own, "_callback_token", 0) == 5


def test_a_class_that_takes_no_message_becomes_a_plain_exception() -> None:
    assert type(rebuilt(None, ["UnicodeDecodeError"], "text", 1)) is Exception


def test_a_line_of_an_earlier_stages_module_follows_where_it_was_raised_there() -> None:
    def caught(body: str) -> list[Any]:
        lent: dict[str, Any] = {"__name__": "stages.s01_a.b"}
        exec(compile("class Own(ValueError): pass\ndef fail():\n    raise Own('no')\n", "b.py", "exec"), lent)
        names: dict[str, Any] = {"__name__": "learner_module", **lent}
        exec(compile(f"def go():\n    {body}\n", "small.py", "exec"), names)
        try:
            names["go"]()
        except Exception as found:
            return described(found, "small.py", "learner_module", lambda value: 9, {"stages.s01_a.b": "b.py"})
        raise AssertionError

    inside = caught("fail()")
    assert inside[5] == [[2, "go"]] and inside[8:] == [["b.py", 3, "fail"]] and inside[2] == 9
    assert caught("raise Own('no')")[8:] == []
