"""The learner's process at work: it answers requests about the module's functions, classes and instances.

Untrusted: the learner's code shares this process and can change all of it. Nothing here decides a mark.
"""

from __future__ import annotations

import builtins
import io
import operator
import sys
import time
import tracemalloc
import types
import warnings
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from grader.protocol import codec
from grader.protocol.channel import Channel, ChannelClosed
from grader.worker.containers import PLAIN, Before, Extended
from grader.worker.draws import Draws
from grader.worker.exceptions import builtin_names, described, rebuilt
from grader.worker.loading import StandIn, changed_module, expect_none, set_loading
from grader.worker.state import StateSnapshot
from grader.worker.steps import Steps

OUTPUT_LIMIT = 16 << 10  # characters of printed output kept for one test


class Printed(io.TextIOBase):
    """A text stream that keeps what one test prints, up to a limit; it has what programs ask of standard output."""

    encoding = "utf-8"
    errors = "replace"
    line_buffering = True
    mode = "w"
    name = "<stdout>"

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.buffer = PrintedBytes(self)
        self.begin()

    def begin(self) -> None:
        """Be what another test prints into."""
        self.parts.clear()
        self.left = OUTPUT_LIMIT
        self.dropped = 0

    def write(self, text: str) -> int:
        if self.left > 0:
            self.parts.append(text[: self.left])
        self.dropped += max(0, len(text) - max(0, self.left))
        self.left -= len(text)
        return len(text)

    def writable(self) -> bool:
        return True

    def close(self) -> None:
        """It stays open: what is printed later is kept, too."""

    def reconfigure(self, **settings: object) -> None:
        """Whatever encoding is asked for, text is kept as it is."""

    def fileno(self) -> int:
        """Return the descriptor of the process's own standard output, of which nothing is kept."""
        return 1

    def take(self) -> str:
        """Return what was printed since the last call."""
        text = "".join(self.parts)
        if self.dropped:
            text += f"\n[{self.dropped} more characters were printed]"
        self.parts.clear()
        self.dropped = 0
        return text


class PrintedBytes(io.RawIOBase):
    """The same stream for bytes; what is no UTF-8 is shown as signs that stand for it."""

    mode = "wb"
    name = "<stdout>"

    def __init__(self, text: Printed) -> None:
        self.raw = self
        self._text = text

    def write(self, data: Any) -> int:
        self._text.write(bytes(data[: 4 * OUTPUT_LIMIT]).decode("utf-8", "replace"))
        return len(data)

    def fileno(self) -> int:
        return 1

    def writable(self) -> bool:
        return True

    def close(self) -> None:
        """It stays open, as the text does."""


OPERATIONS: dict[str, Callable[..., Any]] = {
    "len": len, "iter": iter, "next": next, "bool": bool, "float": float, "int": int, "complex": complex,
    "repr": repr, "str": str, "abs": abs, "neg": operator.neg, "pos": operator.pos, "invert": operator.invert,
    "getitem": operator.getitem, "setitem": operator.setitem, "delitem": operator.delitem,
    "contains": operator.contains,
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
IN_PLACE = frozenset(
    ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul", "iand", "ior", "ixor")
)
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor"):
    _function = getattr(operator, _name)
    OPERATIONS[_name.strip("_")] = _function
    OPERATIONS["r" + _name.strip("_")] = lambda a, b, _f=_function: _f(b, a)
    OPERATIONS["i" + _name.strip("_")] = getattr(operator, "i" + _name.strip("_"))  # a += b, by __iadd__ or __add__


def perform(kind: str, target: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Do what a request asks of its target, and return what comes of it."""
    if kind == "call":
        return (getattr(target, name) if name else target)(*args, **kwargs)
    if kind == "traced":
        return traced(target, *args, **kwargs)
    if kind == "getattr":
        return getattr(target, name)
    if kind == "setattr":
        return setattr(target, name, args[0])
    return OPERATIONS[name](target, *args)


def traced(function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, int]:
    """Return what a call returns, and how many bytes more than before it held at most, its result among them.

    The figure explains and proves nothing: the code that is measured can stop tracemalloc, or reset its peak. Of a
    generator it says what making it took.
    """
    is_new = not tracemalloc.is_tracing()
    if is_new:
        tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        result = function(*args, **kwargs)
        return result, max(0, tracemalloc.get_traced_memory()[1] - before)
    finally:
        if is_new:
            tracemalloc.stop()


NAMED = 1 << 40  # the numbers of what the module itself names begin here


class Callback:
    """A function of the test's: calling it asks the grader to run it there."""

    def __init__(self, server: Server, number: int) -> None:
        self._server = server
        self._number = number

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._server.call_back(self._number, args, kwargs)


class Server:
    """Holds the handles of one test and answers its requests, one at a time."""

    def __init__(self, module: types.ModuleType, label: str, lent: Mapping[str, str] | None = None) -> None:
        self.module = module
        self.label = label
        self.lent = dict(lent or {})  # the names of modules of earlier stages, and what their files are called
        self.channel: Channel
        self.objects: dict[int, Any] = {0: module}
        self._next = 1
        self.numbers: dict[int, int] = {id(module): 0}
        self.callbacks: dict[int, Callback] = {}
        self.extended = Extended()
        self.asked: set[type] = set()  # the classes that the test itself made objects of
        self.printed = Printed()
        self.warned: list[list[Any]] = []
        self.steps: Steps | None = None  # where they are counted
        self._place = 0  # of the question in its test
        self._is_kept = False  # whether the answer to it is
        self._answers: dict[int, tuple[bytes, bytes]] = {}  # those of which later questions name a part, by place
        self._before: tuple[StateSnapshot, dict[int, Any], dict[int, int], int] | None = None

    def loaded(self) -> None:
        """Remember what the module has made of the process, before any test; from here on stand-ins refuse."""
        set_loading(False)
        modules = [sys.modules[name] for name in self.lent if name in sys.modules]
        self._before = StateSnapshot([self.module, *modules]), dict(self.objects), dict(self.numbers), self._next

    def begin_test(self) -> None:
        """Forget the handles of the test before, its prints and its warnings."""
        Draws().use()
        self.asked.clear()
        self.callbacks.clear()
        self.extended = Extended()
        self._place, self._answers = 0, {}
        self.printed.begin()
        self.warned.clear()
        if self._before is not None:
            self.objects, self.numbers, self._next = *map(dict, self._before[1:3]), self._before[3]

    def has_changed(self) -> bool:
        """Say whether the tests so far have left anything behind in this process."""
        return self._before is None or not self._before[0].holds()

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
                number = self.number(value, name) if kind != "value" else 0
                bases = builtin_names(value) if kind == "exception" else []
                table.append([name[:200], kind, number, bases])
        return table[:2000]

    def become(self, code: bytes) -> list[list[Any]]:
        """Take a changed form of the module in its place, before anything else is asked; return its table of names."""
        self.module = changed_module(code, self.module, self.module)
        self.objects, self.numbers, self._next = {0: self.module}, {id(self.module): 0}, 1
        names = self.names()
        self.loaded()
        return names

    def number(self, value: Any, name: str = "") -> int:
        """Return the handle number of an object, the same each time; one with a name has it from that name alone."""
        known = self.numbers.get(id(value))
        if known is None:
            known = NAMED | zlib.crc32(name.encode("utf-8", "replace")) if name else self._next
            while known in self.objects:
                known += 1
            self._next = self._next if name else known + 1
            self.objects[known] = value
            self.numbers[id(value)] = known
        return known

    def wrap(self, value: Any) -> list[Any] | None:
        """Return the form of an object that stays here; None where it travels as a plain value or not at all."""
        if isinstance(value, Callback):
            return [codec.CALLBACK, value._number]
        if isinstance(value, np.ndarray):
            return None
        expect_none(value)
        own = self._is_own(type(value))
        is_container = isinstance(value, PLAIN)
        if (is_container or isinstance(value, (str, int, float))) and not own:
            return None
        kind = _kind(value)
        classes = [self.number(c) for c in type(value).__mro__ if self._is_own(c)]
        bases = value.__mro__ if kind == "class" else type(value).__mro__
        names = builtin_names(value) if kind == "exception" else [c.__name__ for c in bases if self._is_own(c)]
        shown = (
            value.__qualname__
            if isinstance(value, (type, types.FunctionType, types.MethodType))
            else type(value).__name__
        )
        by_content = is_container and self.asked.isdisjoint(type(value).__mro__)
        if by_content:
            self.extended.sent(self.number(value), value)
        return [
            codec.EXTENDS if by_content else codec.HANDLE,
            self.number(value),
            ("iterator" if hasattr(type(value), "__next__") else "object") if kind == "value" else kind,
            str(shown)[:200],
            classes,
            names,
        ]

    def _is_own(self, cls: type) -> bool:
        """Say whether a class is the learner's, of this module or of one that it builds on."""
        name = getattr(cls, "__module__", None)
        return isinstance(name, str) and (name == self.module.__name__ or name in self.lent)

    def unwrap(self, tag: int, fields: list[Any], decoder: codec.Decoder) -> Any:
        """Return the object or callback that a form from the grader names."""
        if tag == codec.CALLBACK:
            return self.callbacks.setdefault(fields[0], Callback(self, fields[0]))
        if tag == codec.EXTENDS:
            number, place, content = fields
            return self.extended.back(number, self.objects[number], content, decoder.shared, place)
        if tag == codec.EARLIER:
            return self._earlier(fields, decoder)
        return self.objects[fields[0]]

    def _earlier(self, fields: list[Any], decoder: codec.Decoder) -> Any:
        """Return a part of the answer to an earlier question, as the test would pass it back."""
        at, *path = fields
        kept = codec.Decoder(lambda tag, of, _: self.objects[of[0]] if tag == codec.HANDLE else None)
        body, blob = self._answers[at]
        (form,) = kept.message(body, np.frombuffer(bytearray(blob), np.uint8))
        value = kept.decode(form)
        for key in path:
            value = value[key]
        decoder.shared += codec.shared_in(value)
        return value

    def run(self, channel: Channel) -> None:
        """Serve tests until the grader closes the connection."""
        self.channel = channel
        if self._before is not None:
            self._before[0].begin()
        while True:
            self._answer(*channel.receive())

    def _answer(self, body: memoryview, blob: np.ndarray[Any, Any]) -> None:
        decoder = codec.Decoder(self.unwrap)
        fields = decoder.message(body, blob)
        number, kind, target, name = fields[:4]
        if kind == "test":  # which has no answer
            self.begin_test()
            return
        if kind == "keep":  # nor has this
            self._is_kept = True
            return
        self._place += 1
        try:
            args, kwargs = decoder.decode(fields[4]), decoder.decode(fields[5]) or {}
            asked = self.objects[target]
        except (LookupError, TypeError, codec.WireError) as error:  # asked ahead about what no earlier call gave
            self._reply(number, "error", 0.0, self.describe(error), [], Before([]))
            return
        before = Before(decoder.shared)
        start = time.perf_counter()
        try:
            if isinstance(asked, type):
                self.asked.add(asked)
            if kind == "load":
                result: Any = changed_module(args[0], asked, self.module)
            elif kind == "become":
                result = self.become(args[0])
            elif kind == "steps":
                files = self.lent.values() if name == "earlier" else (self.label,)
                self.steps, result = Steps(frozenset(files), args[0], self.channel), None
                self.steps.begin()
            elif kind == "changed":
                result = self.has_changed()
            else:
                result = self._perform(kind, asked, name, args, kwargs)
            reply = "ok"
        except ChannelClosed:
            raise
        except BaseException as error:
            result, reply = self.describe(error), "error"
        spent = time.perf_counter() - start
        self._reply(number, reply, spent, result, decoder.shared, before)

    def _reply(self, number: int, reply: str, spent: float, result: Any, shared: list[Any], before: Before) -> None:
        is_kept, self._is_kept = self._is_kept, False
        changes = before.changes()
        self.extended.begin()
        encoder = codec.Encoder(self.wrap, shared)
        try:
            frame = encoder.frame([number, reply, self.notes(), spent], [result, changes])
            if is_kept:
                head, *arrays = codec.Encoder(self.wrap).frame([], [result])
                self._answers[self._place] = head[codec.HEADER.size :], b"".join([each.tobytes() for each in arrays])
        except (codec.Unsendable, MemoryError, RecursionError) as error:
            frame = codec.Encoder().frame(
                [number, "unsendable", self.notes(), spent], [str(error) or type(error).__name__, []]
            )
        except BaseException as error:
            frame = codec.Encoder(self.wrap).frame([number, "error", self.notes(), spent], [self.describe(error), []])
        self.channel.hold(frame)

    _perform = staticmethod(perform)

    def call_back(self, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Ask the grader to run one of the test's functions; meanwhile its requests are answered."""
        if self.steps is not None:
            self.steps.called_back()
        self.extended.begin()
        self.channel.send(codec.Encoder(self.wrap).frame([0, "callback", number], [args, kwargs]))
        while True:
            body, blob = self.channel.receive()
            decoder = codec.Decoder(self.unwrap)
            fields = decoder.message(body, blob)
            if fields[1] == "return":
                return decoder.decode(fields[2])
            if fields[1] == "raise":
                names, message, token, number = (decoder.decode(form) for form in fields[2:6])
                raise rebuilt(self.objects.get(number) if number else None, names, message, token)
            self._answer(body, blob)

    def describe(self, error: BaseException) -> list[Any]:
        """Return an exception as plain values."""
        return described(error, self.label, self.module.__name__, self.number, self.lent)


def _kind(value: Any) -> str:
    if isinstance(value, type):
        return "exception" if issubclass(value, BaseException) else "class"
    return (
        "function"
        if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType, Callback, StandIn))
        else "value"
    )
