"""The trusted end of one test's connection to a learner's process: requests go out, values and exceptions come back."""

from __future__ import annotations

import builtins
import time
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from grader.run import wire
from grader.run.channel import Channel, ChannelClosed, DeadlinePassed
from grader.run.outcome import Status
from grader.run.raised import LearnerExit, Unusable, WorkerFailed, builtin_exception, construct
from grader.run.record import Frame, Name, Notes, Record, apply_content, content_of, copied_value
from grader.run.remote import RemoteClass, RemoteValue

MAX_NESTING = 20
COPY_LIMIT = 4 << 20  # bytes of arguments, or of a result, above which a call is not kept for the diagnosis


class Connection:
    """The requests of one test. After a failure each further request fails alike, so that a test cannot swallow it."""

    def __init__(self, channel: Channel, names: dict[str, Name], call_seconds: float, ends_at: float) -> None:
        self.channel = channel
        self.names = names
        self.call_seconds = call_seconds
        self.ends_at = ends_at
        self.records: list[Record] = []
        self.failure: WorkerFailed | None = None
        self.ended = False
        self.changed: list[str] = []
        self._originals: dict[int, tuple[Any, Any]] = {}
        self.notes = Notes()
        self.seconds = 0.0
        self.proxies: dict[int, Any] = {}
        self.classes: dict[int, type[BaseException]] = {}
        self._callbacks: dict[int, Callable[..., Any]] = {}
        self._raised: dict[int, BaseException] = {}
        self._serial = 0
        self._nesting = 0

    def request(
        self, kind: str, target: int, name: str, args: tuple[Any, ...] = (), kwargs: Any = None, label: str = ""
    ) -> Any:
        """Have the learner's process do one thing; its result is returned, what it raises is raised, here."""
        if self.failure is not None:
            raise self.failure
        if self.ended:
            raise wire.WireError(f"{label or name} is of another test")
        kwargs = kwargs or {}
        encoder = wire.Encoder(self._wrap)
        self._serial += 1
        frame = encoder.frame(
            [self._serial, kind, target, name], [args, kwargs or None]
        )  # WireError: the test's own mistake
        small = encoder.size <= COPY_LIMIT
        kept, named = (copied_value(args), copied_value(kwargs)) if small else (args, kwargs)
        record = Record(kind, target, name, label or name, kept, named, small, args)
        self.records.append(record)
        deadline = min(time.monotonic() + self.call_seconds, self.ends_at)
        try:
            self.channel.send(frame, deadline)
            result = self._outcome(self._serial, encoder.shared, record, deadline)
        except DeadlinePassed:
            self._fail(record, "timed_out", f"{record.label} did not return within {self.call_seconds:g} s")
        except ChannelClosed:
            self._fail(record, "crashed", f"the process that ran {record.label} ended without an answer")
        except wire.WireError as error:
            self._fail(record, "crashed", f"the process that ran {record.label} sent no proper answer: {error}")
        if record.error is not None:  # raised out here: it may be a WireError of the test's own function
            raise record.error
        return result

    def end(self) -> None:
        """End the handles and undo changes in place: a constant of the test file must not pass them on."""
        self.ended = True
        for target, content in self._originals.values():
            apply_content(target, content)
        self._originals.clear()

    def _fail(self, record: Record, status: Status, message: str) -> NoReturn:
        record.failed = True
        self.failure = WorkerFailed(status, message)
        raise self.failure from None

    def _outcome(self, serial: int, sent: list[Any], record: Record, deadline: float) -> Any:
        while True:
            body, blob = self.channel.receive(deadline)
            decoder = wire.Decoder(self._unwrap, sent)
            fields = decoder.message(body, blob)
            if len(fields) == 5 and fields[1] == "callback":  # its values refer to each other only
                decoder.shared.clear()
                self._run_callback(fields, decoder, deadline)
                continue
            if len(fields) != 6 or fields[0] != serial or fields[1] not in ("ok", "error", "unsendable"):
                raise wire.WireError("an answer to another request")
            self._take_notes(fields[2], fields[3])
            result = decoder.decode(fields[4])
            self._replay(decoder.decode(fields[5]), sent, record)
            if fields[1] == "ok":
                record.replayable = record.replayable and blob.size <= COPY_LIMIT
                if record.replayable:
                    record.result, record.returned = copied_value(result), result
                return result
            if fields[1] == "unsendable":
                record.failed = True
                raise Unusable(f"{record.label} returned {str(result)[:500]}")
            record.error = self._exception(result, record)
            return None

    def _take_notes(self, notes: Any, seconds: Any) -> None:
        try:
            printed, warned = notes
            if not isinstance(printed, str) or not isinstance(seconds, float) or len(warned) > 20:
                raise ValueError
            found = [(str(name), str(text)[:500], int(line)) for name, text, line in warned]
        except (TypeError, ValueError, OverflowError):
            raise wire.WireError("notes of another form") from None
        self.seconds += max(0.0, min(seconds, 1e6))
        self.notes.printed = (self.notes.printed + printed)[:20_000]
        for name, text, line in found:
            if len(self.notes.warnings) < 50:
                self.notes.warnings.append((name, text, line))
            category = getattr(builtins, name, None)
            known = category if isinstance(category, type) and issubclass(category, Warning) else UserWarning
            warnings.warn_explicit(text, known, "learner", min(max(1, line), 1 << 20))

    def _replay(self, changes: Any, sent: list[Any], record: Record) -> None:
        """Repeat on the test's own arguments what the call changed in place."""
        if not isinstance(changes, list):
            raise wire.WireError("changes are a list")
        for change in changes:
            if not (
                isinstance(change, tuple) and len(change) == 2 and type(change[0]) is int and 0 <= change[0] < len(sent)
            ):
                raise wire.WireError("a change of nothing")
            target, content = sent[change[0]], change[1]
            try:
                if not isinstance(target, np.random.Generator):
                    self.changed.append(record.label)
                    record.changed = True
                    self._originals.setdefault(id(target), (target, content_of(target)))
                apply_content(target, content)
            except (TypeError, ValueError) as error:
                raise wire.WireError(f"a change that does not fit: {error}") from None

    def _run_callback(self, fields: list[Any], decoder: wire.Decoder, deadline: float) -> None:
        function = self._callbacks.get(fields[2]) if type(fields[2]) is int else None
        args, kwargs = decoder.decode(fields[3]), decoder.decode(fields[4])
        if function is None or not isinstance(args, tuple) or not isinstance(kwargs, dict):
            raise wire.WireError("a call of a function that was never passed")
        if self._nesting >= MAX_NESTING:
            raise wire.WireError(f"callbacks nested more than {MAX_NESTING} deep")
        self._nesting += 1
        try:
            reply = wire.Encoder(self._wrap).frame([0, "return"], [function(*args, **kwargs)])
        except WorkerFailed:
            raise
        except Exception as error:  # whatever the test's function raises goes to the learner's code, which may catch it
            token = len(self._raised) + 1
            self._raised[token] = error
            kinds = [cls.__name__ for cls in type(error).__mro__]
            own = next((number for number, cls in self.classes.items() if cls is type(error)), 0)
            reply = wire.Encoder().frame([0, "raise"], [kinds, str(error), token, own])
        finally:
            self._nesting -= 1
        self.channel.send(reply, deadline)

    def _wrap(self, value: object) -> list[Any] | None:
        if isinstance(value, RemoteValue):
            if value.__dict__["_connection"] is not self:
                raise wire.WireError(f"{value!r} is of another test")
            return [wire.HANDLE, value.__dict__["_number"]]
        if isinstance(value, type) and issubclass(value, BaseException):
            number = next((n for n, cls in self.classes.items() if cls is value), None)
            return None if number is None else [wire.HANDLE, number]
        if callable(value) and not isinstance(value, type):
            number = next((n for n, f in self._callbacks.items() if f is value), len(self._callbacks) + 1)
            self._callbacks[number] = value
            return [wire.CALLBACK, number]
        return None

    def _unwrap(self, tag: int, fields: list[Any], decode: Callable[[Any], Any]) -> Any:
        if tag == wire.CALLBACK:
            found = self._callbacks.get(fields[0]) if len(fields) == 1 and type(fields[0]) is int else None
            if found is None:
                raise wire.WireError("a function that was never passed")
            return found
        match fields:
            case [int(number), str(kind), str(shown), list(classes), list(names)] if all(
                type(c) is int for c in classes
            ):
                return self.proxy(number, kind, shown, tuple(classes), names)
        raise wire.WireError("a handle of another form")

    def proxy(
        self, number: int, kind: str, shown: str, classes: tuple[int, ...] = (), names: list[Any] | None = None
    ) -> Any:
        """Return what stands here for an object that stays there: the same proxy, or exception class, each time."""
        if kind == "exception":
            return self.exception_class(number, shown, names or [])
        if number not in self.proxies:
            cls = RemoteClass if kind == "class" else RemoteValue
            self.proxies[number] = cls(self, number, kind, shown[:200], classes)
        return self.proxies[number]

    def exception_class(self, number: int, shown: str, names: list[Any]) -> type[BaseException]:
        """Return a local class for a learner's exception class, below the builtin ones that it extends."""
        if number not in self.classes:
            base = builtin_exception(names)
            name = shown[:100] if shown.replace(".", "").isidentifier() else base.__name__
            self.classes[number] = type(name, (base,), {"__module__": "learner"})
        return self.classes[number]

    def _exception(self, description: Any, record: Record) -> BaseException:
        match description:
            case [list(names), str(shown), int(handle), str(message), args, list(frames), int(token)]:
                pass
            case _:
                raise wire.WireError("an exception of another form")
        if token in self._raised:
            return self._raised[token]
        own = [Frame(f[0], f[1][:200]) for f in frames if isinstance(f, list) and [type(p) for p in f] == [int, str]]
        if names and names[0] in ("SystemExit", "KeyboardInterrupt", "GeneratorExit"):
            called = "sys.exit()" if names[0] == "SystemExit" else names[0]
            error: BaseException = LearnerExit(f"{record.label} left with {called} instead of returning")
        else:
            cls = self.exception_class(handle, shown, names) if handle else builtin_exception(names)
            error = construct(cls, args if isinstance(args, list) else None, message)
        error.learner_frames = own  # type: ignore[attr-defined]
        error.learner_type = shown[:100]  # type: ignore[attr-defined]
        return error
