"""Exceptions across the pipe: a learner's as plain values, a test's own as the learner's code meets it."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

import numpy as np

from grader.protocol import codec

TEXT_LIMIT = 4000  # characters of one exception's message
LONGEST_NUMBER = 8 * (codec.MAX_INTEGER - 1)  # bits
MAX_FRAMES = 20
MAX_SEEN = 60  # arrays of one frame whose shapes are told


def described(
    error: BaseException,
    label: str,
    module: str,
    number: Callable[[object], int],
    lent: Mapping[str, str] | None = None,
) -> list[Any]:
    """Return an exception as plain values: builtin names, name, class handle, message, args, frames, token, shapes.

    lent holds the modules of earlier stages, each with what its file is called: where it was raised in one of them, the
    last line there follows as file, line, function.
    """
    earlier = lent or {}
    try:
        message = str(error)[:TEXT_LIMIT]
    except BaseException as inner:
        message = f"<its message could not be made: {type(inner).__name__}>"
    frames, deeper, last = _frames(error, label, set(earlier.values()))
    args = list(error.args) if all(map(_is_short, error.args)) else None
    own = type(error).__module__ in {module, *earlier}
    handle = number(type(error)) if own else 0
    token = getattr(error, "_callback_token", 0)
    return [
        builtin_names(type(error)),
        type(error).__qualname__,
        handle,
        message,
        args,
        frames[-MAX_FRAMES:],
        token,
        _seen(last) if last is not None else [],
        *deeper,
    ]


def _frames(error: BaseException, label: str, files: set[str]) -> tuple[list[Any], list[Any], FrameType | None]:
    """Return the learner's lines, the last line in an earlier module that came after them, and the last own frame."""
    frames: list[Any] = []
    deeper: list[Any] = []
    last = None
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == label:
            last = trace.tb_frame
            frames.append([trace.tb_lineno, getattr(code, "co_qualname", code.co_name)])
            deeper = []
        elif code.co_filename in files:
            deeper = [[code.co_filename, trace.tb_lineno, getattr(code, "co_qualname", code.co_name)]]
        trace = trace.tb_next
    return frames, deeper, last


def _seen(frame: FrameType) -> list[Any]:
    """Return [name, shape] of each array that a function had at hand, and [name, None] of what was None."""
    found: list[Any] = []
    try:
        for name, value in list(frame.f_locals.items())[:MAX_SEEN]:
            table = value if type(value) is dict else vars(value) if name == "self" else {}
            form = "{}[{!r}]" if type(value) is dict else "{}.{}"
            held = [(form.format(name, key), each) for key, each in list(table.items())[:MAX_SEEN] if type(key) is str]
            for place, each in [(name, value), *held]:
                if each is None or type(each) is np.ndarray:
                    found.append([place[:200], None if each is None else list(each.shape)])
    except Exception:  # a learner's objects may do anything
        return []
    return found[:MAX_SEEN]


def _is_short(value: Any) -> bool:
    """Say whether an exception's argument is plain, and a text or a number of moderate length."""
    if type(value) is str:
        return len(value) < TEXT_LIMIT
    return type(value) in (float, bool, type(None)) or (type(value) is int and value.bit_length() < LONGEST_NUMBER)


def builtin_names(cls: type) -> list[str]:
    """Return the names, most derived first, of the builtin and NumPy exceptions that a class extends."""
    known = (c.__name__ for c in cls.__mro__ if c.__module__ == "builtins" or c.__module__.split(".")[0] == "numpy")
    return [name for name in known if name != "object"]


def rebuilt(own: type | None, names: list[str], message: str, token: int) -> BaseException:
    """Return the exception of a test's function, as the learner's code meets it: its own class where it raised it."""
    cls = own or next((c for c in (getattr(builtins, n, None) for n in names) if isinstance(c, type)), Exception)
    try:
        error = cls(message)
    except TypeError:
        error = Exception(message)
    error._callback_token = token
    return error  # type: ignore[no-any-return]
