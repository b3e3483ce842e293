"""What a learner's code prints is kept up to a limit, and the rest counted."""

from __future__ import annotations

import types
from typing import Any

import pytest

from grader.worker.server import OPERATIONS, OUTPUT_LIMIT, Printed, perform


def test_what_was_written_is_taken_once() -> None:
    printed = Printed()
    print("one", 2, file=printed)
    assert (printed.take(), printed.take()) == ("one 2\n", "")


def test_beyond_the_limit_characters_are_counted_only() -> None:
    printed = Printed()
    assert printed.write("x" * (OUTPUT_LIMIT - 1)) == OUTPUT_LIMIT - 1
    assert printed.write("abc") == 3
    assert printed.take() == "x" * (OUTPUT_LIMIT - 1) + "a\n[2 more characters were printed]"
    printed.write("more")
    assert printed.take() == "\n[4 more characters were printed]"


def test_it_is_no_terminal() -> None:
    assert not Printed().isatty()


def test_it_has_what_programs_ask_of_standard_output() -> None:
    printed = Printed()
    printed.reconfigure(encoding="latin-1", line_buffering=True)
    assert printed.buffer.write(b"caf\xc3\xa9 \xff\n") == 8
    printed.buffer.flush()
    printed.writelines(["a", "b"])
    printed.close()
    assert printed.take() == "café \ufffd\nab"
    assert (printed.fileno(), printed.writable(), printed.readable(), printed.closed) == (1, True, False, False)


def test_bytes_without_end_are_counted_too() -> None:
    printed = Printed()
    data = b"x" * (1 << 20)
    assert printed.buffer.write(data) == len(data)
    assert len(printed.take()) < OUTPUT_LIMIT + 100


@pytest.mark.parametrize(
    ("name", "target", "args", "result"),
    [
        ("len", [1, 2], (), 2),
        ("getitem", [1, 2], (1,), 2),
        ("contains", [1, 2], (2,), True),
        ("sub", 5, (3,), 2),
        ("rsub", 5, (3,), -2),
        ("rpow", 2, (3,), 9),
        ("and", 6, (3,), 2),
        ("ror", 4, (1,), 5),
        ("lt", 1, (2,), True),
        ("isub", 5, (3,), 2),
        ("iand", 6, (3,), 2),
    ],
)
def test_an_operator_by_its_name(name: str, target: Any, args: tuple[Any, ...], result: object) -> None:
    assert perform("op", target, name, args, {}) == result


def test_an_unknown_operator_is_refused() -> None:
    assert "eval" not in OPERATIONS
    with pytest.raises(KeyError):
        perform("op", 1, "eval", (), {})


def test_a_call_an_attribute_and_a_change_of_one() -> None:
    target = types.SimpleNamespace(add=lambda a, b=1: a + b)
    assert perform("call", target.add, "", (2,), {"b": 3}) == 5
    assert perform("call", target, "add", (2,), {}) == 3
    perform("setattr", target, "size", (4,), {})
    assert perform("getattr", target, "size", (), {}) == 4
