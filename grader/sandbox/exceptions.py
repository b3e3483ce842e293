"""Exceptions that a request may end with: the learner's, made again from plain values, and the connection's."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.outcome import Status
from grader.protocol import codec
from grader.sandbox.record import MAX_NUMBER, Frame, line_of

MAX_NAMES, MAX_ARGS, MAX_FRAMES = 20, 20, 20
MAX_SEEN, MAX_AXES = 60, 64
TEXT_LIMIT = 4000  # characters of a message
LEARNERS = "learner"  # the module of classes that stand for a learner's, and have no other of their own here
LEAVING = ("SystemExit", "KeyboardInterrupt", "GeneratorExit")


class WorkerFailed(Exception):
    """The learner's process did not answer a request as it should; the test cannot go on."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status


class LearnerExit(Exception):
    """The learner's code called sys.exit, or raised KeyboardInterrupt or GeneratorExit."""


@dataclass(frozen=True)
class Deeper:
    """A line of a module of an earlier stage, in which an exception was raised."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"raised in {self.file}, line {self.line}"


@dataclass(frozen=True)
class Described:
    """A learner's exception as it came over the wire: nothing in it but bounded text, numbers and frames.

    names are the builtin classes it extends, own is the handle of its class, or 0; args is None where they are not all
    plain; token is the number of an exception that a function of the test's raised, or 0; seen holds the shapes of the
    arrays that the last of the frames had at hand, and None of what was None; deeper is where in a module of an earlier
    stage it was raised.
    """

    names: tuple[str, ...]
    shown: str
    own: int
    message: str
    args: tuple[Any, ...] | None
    frames: tuple[Frame, ...]
    token: int
    seen: dict[str, tuple[int, ...] | None] = field(default_factory=dict)
    deeper: Deeper | None = None


def described(form: Any) -> Described:
    """Return what a worker tells of an exception; WireError for another form."""
    match form:
        case [list(names), str(shown), int(own), str(message), args, list(frames), int(token), *seen] if (
            0 <= own < MAX_NUMBER and len(seen) <= 2
        ):
            pass
        case _:
            raise codec.WireError("an exception of another form")
    given = args if type(args) is list and len(args) <= MAX_ARGS else []
    plain = all(type(a) in (str, int, float, bool, type(None)) for a in given)
    pairs = [frame for frame in frames if isinstance(frame, list) and [type(part) for part in frame] == [int, str]]
    lines = [Frame(line_of(number), function[:200]) for number, function in pairs]
    return Described(
        tuple(name for name in names[:MAX_NAMES] if type(name) is str),
        shown[:100],
        own,
        message[:TEXT_LIMIT],
        tuple(given) if type(args) is list and given == args and plain else None,
        tuple(lines[-MAX_FRAMES:]),
        token,
        _shapes(seen[0]) if seen else {},
        deeper_of(seen[1]) if len(seen) > 1 else None,
    )


def deeper_of(form: Any) -> Deeper | None:
    """Return the place in a module of an earlier stage that a worker tells; None where it tells none."""
    match form:
        case [str(file), int(line), str(function)] if type(line) is int:
            return Deeper(file[:200], line_of(line), function[:200])
    return None


def _shapes(form: Any) -> dict[str, tuple[int, ...] | None]:
    """Return what a function had at hand, as far as it has the form of names and shapes."""
    found: dict[str, tuple[int, ...] | None] = {}
    for pair in form[:MAX_SEEN] if type(form) is list else []:
        match pair:
            case [str(name), None]:
                found[name[:200]] = None
            case [str(name), list(sizes)] if len(sizes) <= MAX_AXES and all(
                type(size) is int and 0 <= size < MAX_NUMBER for size in sizes
            ):
                found[name[:200]] = tuple(sizes)
    return found


def deeper(error: BaseException | None) -> Deeper | None:
    found: Deeper | None = getattr(error, "learner_deeper", None)
    return found


def exception_from(found: Described, cls: type[BaseException] | None, label: str) -> BaseException:
    """Return a local exception for a learner's, of its own class where it has one here."""
    if found.names and found.names[0] in LEAVING:
        called = "sys.exit()" if found.names[0] == "SystemExit" else found.names[0]
        error: BaseException = LearnerExit(f"{label} left with {called} instead of returning")
    else:
        error = construct(cls or builtin_exception(list(found.names)), found.args, found.message)
    error.learner_frames = list(found.frames)  # type: ignore[attr-defined]
    error.learner_type = found.shown  # type: ignore[attr-defined]
    error.learner_seen = found.seen  # type: ignore[attr-defined]
    error.learner_deeper = found.deeper  # type: ignore[attr-defined]
    return error


def builtin_exception(names: list[Any]) -> type[Exception]:
    """Return the most derived builtin (or NumPy) exception among names that a test may see raised."""
    for name in names:
        found = getattr(builtins, name, None) if isinstance(name, str) else None
        if found is None and name in ("AxisError", "LinAlgError"):
            found = np.exceptions.AxisError if name == "AxisError" else np.linalg.LinAlgError
        if isinstance(found, type) and issubclass(found, Exception) and not issubclass(found, BaseExceptionGroup):
            return found
    return Exception


def construct(cls: type[BaseException], args: tuple[Any, ...] | None, message: str) -> BaseException:
    if issubclass(cls, UnicodeError):  # its text reads the object at any place that its arguments name
        args = None
    make: Callable[..., BaseException] = getattr(cls, "_made_here", cls)  # a learner's own is not asked again
    try:
        error = make(*args) if args is not None else make(message)
        if str(error) != message and args is not None and cls.__str__ is not KeyError.__str__:
            error = make(message)
    except Exception:  # a class with arguments of its own, such as UnicodeDecodeError
        body = {"__str__": lambda self: message, "__module__": LEARNERS}
        speaking: type[BaseException] = type(cls.__name__, (cls,), body)
        error = speaking.__new__(speaking)
        error.args = (message,)
    return error
