"""What a learner's process does for one test: answers requests about the module's functions, classes and instances.

Untrusted: the learner's code shares this process and can change all of it. Nothing here decides a mark.
"""

from __future__ import annotations

import builtins
import operator
import os
import sys
import time
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from grader.protocol import codec
from grader.protocol.channel import Channel, ChannelClosed

OUTPUT_LIMIT = 16 << 10  # characters of printed output kept for one test
TEXT_LIMIT = 4000  # characters of one exception's message
LONGEST_NUMBER = 8 * (codec.MAX_INTEGER - 1)  # bits
MAX_FRAMES = 20
FEW_BYTES = 1 << 13

OPERATIONS: dict[str, Callable[..., Any]] = {
    "len": len, "iter": iter, "next": next, "bool": bool, "float": float, "int": int, "complex": complex,
    "repr": repr, "str": str, "abs": abs, "neg": operator.neg, "pos": operator.pos, "invert": operator.invert,
    "getitem": operator.getitem, "setitem": operator.setitem, "delitem": operator.delitem,
    "contains": operator.contains,
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor"):
    _function = getattr(operator, _name)
    OPERATIONS[_name.strip("_")] = _function
    OPERATIONS["r" + _name.strip("_")] = lambda a, b, _f=_function: _f(b, a)


class Printed:
    """A text stream that keeps what one test prints, up to a limit."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.left = OUTPUT_LIMIT
        self.dropped = 0

    def write(self, text: str) -> int:
        if self.left > 0:
            self.parts.append(text[: self.left])
        self.dropped += max(0, len(text) - max(0, self.left))
        self.left -= len(text)
        return len(text)

    def flush(self) -> None:
        """Nothing is buffered."""

    def isatty(self) -> bool:
        return False

    def take(self) -> str:
        """Return what was printed since the last call."""
        text = "".join(self.parts)
        if self.dropped:
            text += f"\n[{self.dropped} more characters were printed]"
        self.parts.clear()
        self.dropped = 0
        return text


class Callback:
    """A function of the test's: calling it asks the grader to run it there."""

    def __init__(self, server: Server, number: int) -> None:
        self._server = server
        self._number = number

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._server.call_back(self._number, args, kwargs)


class CallbackRaised(Exception):
    """Carries the number of an exception that the test's own function raised."""


class Server:
    """Holds the handles of one test and answers its requests, one at a time."""

    def __init__(self, module: types.ModuleType, label: str) -> None:
        self.module = module
        self.label = label
        self.channel: Channel
        self.objects: dict[int, Any] = {0: module}
        self.numbers: dict[int, int] = {id(module): 0}
        self.callbacks: dict[int, Callback] = {}
        self.printed = Printed()
        self.warned: list[list[Any]] = []

    def listen(self) -> None:
        """Take over the standard streams and the display of warnings."""
        sys.stdout = sys.stderr = self.printed
        warnings.simplefilter("always")
        warnings.showwarning = self._note_warning

    def _note_warning(self, message: Any, category: type, filename: str, lineno: int, *rest: Any, **more: Any) -> None:
        if len(self.warned) < 20:
            builtin = next(
                (c.__name__ for c in category.__mro__ if getattr(builtins, c.__name__, None) is c), "Warning"
            )
            self.warned.append([builtin, str(message)[:500], int(lineno) if filename == self.label else 0])

    def notes(self) -> list[Any]:
        """Return [printed text, warnings] since the last call."""
        taken, self.warned = self.warned, []
        return [self.printed.take(), taken]

    def names(self) -> list[list[Any]]:
        """Return [name, kind, handle number, builtin bases] of each public name of the module."""
        table = []
        for name, value in list(vars(self.module).items()):
            if not name.startswith("_") and not isinstance(value, types.ModuleType) and isinstance(name, str):
                kind = _kind(value)
                number = self.number(value) if kind != "value" else 0
                bases = _builtin_names(value) if kind == "exception" else []
                table.append([name[:200], kind, number, bases])
        return table[:2000]

    def number(self, value: Any) -> int:
        """Return the handle number of an object, the same each time."""
        known = self.numbers.get(id(value))
        if known is None:
            known = len(self.objects)
            self.objects[known] = value
            self.numbers[id(value)] = known
        return known

    def wrap(self, value: Any) -> list[Any] | None:
        """Return the form of an object that stays here; None where it travels as a plain value or not at all."""
        if isinstance(value, Callback):
            return [codec.CALLBACK, value._number]
        if isinstance(value, np.ndarray):
            return None
        own = getattr(type(value), "__module__", None) == self.module.__name__
        if isinstance(value, (dict, tuple, str, int, float)) and not own:
            return None
        kind = _kind(value)
        classes = [self.number(c) for c in type(value).__mro__ if c.__module__ == self.module.__name__]
        names = _builtin_names(value) if kind == "exception" else []
        shown = (
            value.__qualname__
            if isinstance(value, (type, types.FunctionType, types.MethodType))
            else type(value).__name__
        )
        return [
            codec.HANDLE,
            self.number(value),
            "object" if kind == "value" else kind,
            str(shown)[:200],
            classes,
            names,
        ]

    def unwrap(self, tag: int, fields: list[Any], decode: Callable[[Any], Any]) -> Any:
        """Return the object or callback that a form from the grader names."""
        if tag == codec.CALLBACK:
            return self.callbacks.setdefault(fields[0], Callback(self, fields[0]))
        return self.objects[fields[0]]

    def run(self, channel: Channel) -> None:
        """Serve one test until the grader closes the connection."""
        self.channel = channel
        while True:
            self._answer(*channel.receive())

    def _answer(self, body: memoryview, blob: np.ndarray[Any, Any]) -> None:
        decoder = codec.Decoder(self.unwrap)
        fields = decoder.message(body, blob)
        number, kind, target, name = fields[:4]
        args, kwargs = decoder.decode(fields[4]), decoder.decode(fields[5]) or {}
        before = _Before(decoder.shared, blob)
        start = time.perf_counter()
        try:
            result: Any = self._perform(kind, self.objects[target], name, args, kwargs)
            reply = "ok"
        except ChannelClosed:
            raise
        except BaseException as error:
            result, reply = self.describe(error), "error"
        spent = time.perf_counter() - start
        self._reply(number, reply, spent, result, decoder.shared, before)

    def _reply(self, number: int, reply: str, spent: float, result: Any, shared: list[Any], before: _Before) -> None:
        changes = before.changes()
        encoder = codec.Encoder(self.wrap, shared)
        try:
            frame = encoder.frame([number, reply, self.notes(), spent], [result, changes])
        except (codec.Unsendable, MemoryError, RecursionError) as error:
            frame = codec.Encoder().frame(
                [number, "unsendable", self.notes(), spent], [str(error) or type(error).__name__, []]
            )
        except BaseException as error:
            frame = codec.Encoder(self.wrap).frame([number, "error", self.notes(), spent], [self.describe(error), []])
        self.channel.send(frame)

    @staticmethod
    def _perform(kind: str, target: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if kind == "call":
            return (getattr(target, name) if name else target)(*args, **kwargs)
        if kind == "getattr":
            return getattr(target, name)
        if kind == "setattr":
            return setattr(target, name, args[0])
        return OPERATIONS[name](target, *args)

    def call_back(self, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Ask the grader to run one of the test's functions; meanwhile its requests are answered."""
        self.channel.send(codec.Encoder(self.wrap).frame([0, "callback", number], [args, kwargs]))
        while True:
            body, blob = self.channel.receive()
            decoder = codec.Decoder(self.unwrap)
            fields = decoder.message(body, blob)
            if fields[1] == "return":
                return decoder.decode(fields[2])
            if fields[1] == "raise":
                names, message, token, number = (decoder.decode(form) for form in fields[2:6])
                raise _rebuilt(self.objects.get(number) if number else None, names, message, token)
            self._answer(body, blob)

    def describe(self, error: BaseException) -> list[Any]:
        """Return an exception as plain values: builtin names, own name, class handle, message, args, frames, token."""
        try:
            message = str(error)[:TEXT_LIMIT]
        except BaseException as inner:
            message = f"<its message could not be made: {type(inner).__name__}>"
        frames = []
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            if code.co_filename == self.label:
                frames.append([trace.tb_lineno, getattr(code, "co_qualname", code.co_name)])
            trace = trace.tb_next
        args = list(error.args) if all(map(_is_short, error.args)) else None
        own = type(error).__module__ == self.module.__name__
        handle = self.number(type(error)) if own else 0
        token = getattr(error, "_callback_token", 0)
        return [
            _builtin_names(type(error)),
            type(error).__qualname__,
            handle,
            message,
            args,
            frames[-MAX_FRAMES:],
            token,
        ]


class _Before:
    """Remembers a call's mutable arguments, so that what the call changed in place can be told."""

    def __init__(self, shared: list[Any], blob: np.ndarray[Any, Any]) -> None:
        self.shared = list(shared)
        self.blob = blob
        self.bytes = blob.copy()
        self.held = [self._hold(value) for value in self.shared]

    @staticmethod
    def _hold(value: Any) -> Any:
        if isinstance(value, np.random.Generator):
            return codec.generator_state(value)
        if isinstance(value, dict):
            return [part for item in value.items() for part in item]
        return list(value) if isinstance(value, (list, set)) else None

    def changes(self) -> list[Any]:
        """Return (argument's number, its new content) of each one that changed."""
        found: list[Any] = []
        same = _equal_bytes(self.blob, self.bytes)
        for index, (value, held) in enumerate(zip(self.shared, self.held, strict=True)):
            if isinstance(value, np.ndarray):
                if not same and self._bytes_differ(value):
                    found.append((index, value.copy(order="K")))
            elif isinstance(value, np.random.Generator):
                if (state := codec.generator_state(value)) != held:
                    found.append((index, state))
            else:
                now = self._hold(value)
                if len(now) != len(held) or any(a is not b for a, b in zip(now, held, strict=True)):
                    found.append((index, tuple(now)))
        return found

    def _bytes_differ(self, value: np.ndarray[Any, Any]) -> bool:
        start = value.__array_interface__["data"][0] - self.blob.__array_interface__["data"][0]
        part = slice(start, start + value.nbytes)
        return not _equal_bytes(self.blob[part], self.bytes[part])


def _equal_bytes(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """Compare a few bytes at once, many eight at a time in pieces that stay in the cache."""
    if a.size <= FEW_BYTES:
        return a.tobytes() == b.tobytes()
    whole = a.size // 8 * 8
    words, others = a[:whole].view(np.uint64), b[:whole].view(np.uint64)
    step = 1 << 15
    pieces = range(0, words.size, step)
    return bool((a[whole:] == b[whole:]).all()) and all(
        (words[i : i + step] == others[i : i + step]).all() for i in pieces
    )


def _kind(value: Any) -> str:
    if isinstance(value, type):
        return "exception" if issubclass(value, BaseException) else "class"
    return (
        "function"
        if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType, Callback))
        else "value"
    )


def _is_short(value: Any) -> bool:
    """Say whether an exception's argument is plain, and a text or a number of moderate length."""
    if type(value) is str:
        return len(value) < TEXT_LIMIT
    return type(value) in (float, bool, type(None)) or (type(value) is int and value.bit_length() < LONGEST_NUMBER)


def _builtin_names(cls: type) -> list[str]:
    """Return the names, most derived first, of the builtin and NumPy exceptions that a class extends."""
    known = (c.__name__ for c in cls.__mro__ if c.__module__ == "builtins" or c.__module__.split(".")[0] == "numpy")
    return [name for name in known if name != "object"]


def _rebuilt(own: type | None, names: list[str], message: str, token: int) -> BaseException:
    """Return the exception of a test's function, as the learner's code meets it: its own class where it raised it."""
    cls = own or next((c for c in (getattr(builtins, n, None) for n in names) if isinstance(c, type)), Exception)
    try:
        error = cls(message)
    except TypeError:
        error = Exception(message)
    error._callback_token = token
    return error  # type: ignore[no-any-return]


def end(status: int = 0) -> None:
    """Leave at once: no handler that the learner's code registered runs."""
    os._exit(status)
