"""The trusted end of one test's connection to a learner's process: requests go out, values and exceptions come back."""

from __future__ import annotations

import secrets
import time
from typing import Any, NoReturn

import numpy as np

from grader.outcome import Status
from grader.protocol import codec
from grader.protocol.channel import Channel, ChannelClosed, DeadlinePassed
from grader.remote.exceptions import Unusable, WorkerFailed, described, exception_from
from grader.remote.generators import move
from grader.remote.handles import Handles
from grader.remote.limits import CALLS_OF_TIME, OverLimit, UsageLimits
from grader.remote.record import Name, Notes, Record, apply_content, change_of, content_of, copied_value

MAX_NESTING = 20
COPY_LIMIT = 4 << 20  # bytes of arguments, or of a result, above which a call is not kept for the diagnosis
TEXT_LIMIT = 4000  # characters of the message of an exception that a function of the test's raised
ID_BITS = 62  # a request's id is drawn, so that no answer can be sent before its question


class Connection:
    """The requests of one test. After a failure each further request fails alike, so that a test cannot swallow it.

    A learner's process can send what it likes: what is malformed, unasked for or too much ends the test. Functions of
    the test's get copies of what the learner hands them; what they change in it in place is not sent back.
    """

    def __init__(
        self,
        channel: Channel,
        names: dict[str, Name],
        call_seconds: float,
        ends_at: float,
        limits: UsageLimits | None = None,
    ) -> None:
        self.channel = channel
        self.names = names
        self.call_seconds = call_seconds
        self.ends_at = ends_at
        self.limits = limits or UsageLimits(CALLS_OF_TIME * call_seconds)
        self.handles = Handles(self, self.limits)
        self.records: list[Record] = []
        self.failure: WorkerFailed | None = None
        self.ended = False
        self.changed: list[str] = []
        self.notes = Notes()
        self.seconds = 0.0
        self._originals: dict[int, tuple[Any, Any]] = {}
        self._raised: dict[int, BaseException] = {}
        self._deadlines: list[float] = []  # of the requests that wait while a function of the test's runs
        self._answered = False  # whether the test may hold anything of the learner's

    def request(
        self, kind: str, target: int, name: str, args: tuple[Any, ...] = (), kwargs: Any = None, label: str = ""
    ) -> Any:
        """Have the learner's process do one thing; its result is returned, what it raises is raised, here."""
        if self.failure is not None:
            raise self.failure
        if self.ended:
            raise codec.WireError(f"{label or name} is of another test")
        kwargs = kwargs or {}
        encoder = codec.Encoder(self.handles.wrap)
        serial = secrets.randbits(ID_BITS)
        try:
            frame = encoder.frame([serial, kind, target, name], [args, kwargs or None])
        except codec.Unsendable as error:
            if not self._answered:  # the test's own mistake
                raise
            raise Unusable(f"{label or name} cannot be called with what came back before: {error}") from None
        small = encoder.size <= COPY_LIMIT and self.limits.keep(len(frame[0]), encoder.size)
        kept, named = (copied_value(args), copied_value(kwargs)) if small else (args, kwargs)
        record = Record(kind, target, name, label or name, kept, named, small, args)
        self.records.append(record)
        return self._exchange(serial, frame, encoder.shared, record)

    def _exchange(self, serial: int, frame: list[Any], sent: list[Any], record: Record) -> Any:
        """Send a request and wait for its end; whatever goes wrong between ends the test."""
        started = time.monotonic()
        bounds = (started + self.call_seconds, self.ends_at, started + self.limits.seconds, *self._deadlines[-1:])
        self._deadlines.append(min(bounds))
        try:
            self.limits.request()
            if self.channel.pending():
                raise codec.WireError("something that was not asked for")
            self.channel.send(frame, min(bounds))
            result = self._outcome(serial, sent, record, min(bounds))
        except DeadlinePassed:
            self._fail(record, "timed_out", self._late(record, bounds))
        except ChannelClosed:
            self._fail(record, "crashed", f"the process that ran {record.label} ended without an answer")
        except codec.WireError as error:
            self._fail(record, "crashed", f"the process that ran {record.label} sent no proper answer: {error}")
        except OverLimit as error:
            self._fail(record, "over_limit", f"this test {error} (last: {record.label})")
        except MemoryError:
            self._fail(record, "over_limit", f"what {record.label} sent is more than there is memory for")
        finally:
            self._deadlines.pop()
            if not self._deadlines:
                self.limits.seconds -= time.monotonic() - started
        if record.error is not None:  # raised out here: it may be a WireError of the test's own function
            raise record.error
        return result

    def _late(self, record: Record, bounds: tuple[float, ...]) -> str:
        if min(bounds) == self.ends_at:
            return f"the time that the whole stage may take was used up while {record.label} ran"
        if min(bounds) == bounds[2]:
            return f"the calls of this test took more than {CALLS_OF_TIME * self.call_seconds:g} s together"
        return f"{record.label} did not return within {self.call_seconds:g} s"

    def end(self) -> None:
        """End the handles and undo changes in place: a constant of the test file must not pass them on."""
        if self.failure is None and not self.ended and self.channel.pending():
            self.failure = WorkerFailed("crashed", "the process sent something that was not asked for")
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
            self.limits.frame(len(body), blob.size)
            decoder = codec.Decoder(self.handles.unwrap, sent)
            fields = decoder.message(body, blob)
            if len(fields) == 5 and fields[1] == "callback":  # its values refer to each other only
                decoder.shared.clear()
                self._run_callback(fields, decoder, deadline)
                continue
            if len(fields) != 6 or fields[0] != serial or fields[1] not in ("ok", "error", "unsendable"):
                raise codec.WireError("an answer to another request")
            self.seconds += self.notes.take(fields[2], fields[3], self.limits)
            self._answered = True
            size = len(body)
            result = decoder.decode(fields[4])
            self._replay(decoder.decode(fields[5]), sent, record)
            if fields[1] == "ok":
                small = record.replayable and blob.size <= COPY_LIMIT
                record.replayable = small and self.limits.keep(size, blob.size)
                if record.replayable:
                    record.result, record.returned = copied_value(result), result
                return result
            if fields[1] == "unsendable":
                record.failed = True
                raise Unusable(f"{record.label} returned {str(result)[:500]}")
            record.error = self._exception(result, record)
            return None

    def _replay(self, changes: Any, sent: list[Any], record: Record) -> None:
        """Repeat on the test's own arguments what the call changed in place."""
        if type(changes) is not list:
            raise codec.WireError("changes are a list")
        for change in changes:
            target, content = change_of(change, sent)
            if isinstance(target, np.random.Generator):
                if not move(target, content):
                    told = f"{record.label} set a random generator to a state that drawing from it does not lead to"
                    self._fail(record, "failed", told)
                continue
            self.changed.append(record.label)
            record.changed = True
            original = self._originals.get(id(target)) or (target, content_of(target))
            try:
                apply_content(target, content)
            except (TypeError, ValueError) as error:
                raise codec.WireError(f"a change that does not fit: {error}") from None
            self._originals[id(target)] = original

    def _exception(self, description: Any, record: Record) -> BaseException:
        found = described(description)
        if found.token in self._raised:
            return self._raised[found.token]
        own = self.handles.exception_class(found.own, found.shown, list(found.names)) if found.own else None
        return exception_from(found, own, record.label)

    def is_of_a_callback(self, error: BaseException) -> bool:
        """Say whether a function of the test's, called by the learner's code, raised this."""
        return any(error is raised for raised in self._raised.values())

    def _run_callback(self, fields: list[Any], decoder: codec.Decoder, deadline: float) -> None:
        self.limits.callback()
        function = self.handles.function(fields[2])
        args, kwargs = decoder.decode(fields[3]), decoder.decode(fields[4])
        if not isinstance(args, tuple) or not isinstance(kwargs, dict):
            raise codec.WireError("a call of another form")
        if len(self._deadlines) > MAX_NESTING:
            raise codec.WireError(f"callbacks nested more than {MAX_NESTING} deep")
        self._answered = self._answered or bool(args or kwargs)
        try:
            reply = codec.Encoder(self.handles.wrap).frame([0, "return"], [function(*args, **kwargs)])
        except WorkerFailed:
            raise
        except codec.Unsendable as error:
            used = Unusable(f"a function of the test's was given what it cannot return: {error}")
            reply = self._raising(used if self._answered else error)
        except Exception as error:  # whatever the test's function raises goes to the learner's code, which may catch it
            reply = self._raising(error)
        self.channel.send(reply, deadline)

    def _raising(self, error: Exception) -> list[Any]:
        """Return the frame that has an exception of the test's function raised over there, and keep it."""
        token = len(self._raised) + 1
        self._raised[token] = error.with_traceback(None)  # its frames would keep all that the learner passed in
        error.__cause__ = error.__context__ = None
        kinds = [cls.__name__ for cls in type(error).__mro__]
        try:
            message = str(error)[:TEXT_LIMIT]
        except WorkerFailed:
            raise
        except Exception:  # it may hold an object of the learner's
            message = ""
        return codec.Encoder().frame([0, "raise"], [kinds, message, token, self.handles.class_number(type(error))])
