"""Exceptions that a request may end with: the learner's, made again from plain values, and the connection's."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from grader.run.outcome import Status


class WorkerFailed(Exception):
    """The learner's process did not answer a request as it should; the test cannot go on."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status


class Unusable(AssertionError):
    """The learner's function returned something that is no plain value."""


class LearnerExit(Exception):
    """The learner's code called sys.exit, or raised KeyboardInterrupt or GeneratorExit."""


def builtin_exception(names: list[Any]) -> type[Exception]:
    """Return the most derived builtin (or NumPy) exception among names that a test may see raised."""
    for name in names:
        found = getattr(builtins, name, None) if isinstance(name, str) else None
        if found is None and name in ("AxisError", "LinAlgError"):
            found = np.exceptions.AxisError if name == "AxisError" else np.linalg.LinAlgError
        if isinstance(found, type) and issubclass(found, Exception):
            return found
    return Exception


def construct(cls: type[BaseException], args: list[Any] | None, message: str) -> BaseException:
    try:
        error = cls(*args) if args is not None else cls(message)
        if str(error) != message and args is not None and cls.__str__ is not KeyError.__str__:
            error = cls(message)
    except Exception:  # a class with arguments of its own, such as UnicodeDecodeError
        body = {"__str__": lambda self: message, "__module__": cls.__module__}
        speaking: type[BaseException] = type(cls.__name__, (cls,), body)
        error = speaking.__new__(speaking)
        error.args = (message,)
    return error
