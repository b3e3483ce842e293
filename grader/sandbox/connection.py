"""The trusted end of one test's connection to a learner's process: requests go out, values and exceptions come back."""

from __future__ import annotations

import math
import secrets
import time
import types
from collections.abc import Callable, Collection, Mapping
from itertools import islice
from typing import Any, NamedTuple, NoReturn

import numpy as np

from grader.course.stage import NO_CONTRACT, Contract
from grader.outcome import Outcome, Status
from grader.protocol import codec
from grader.protocol.channel import Channel, ChannelClosed, DeadlinePassed
from grader.sandbox.exceptions import WorkerFailed, described, exception_from
from grader.sandbox.limits import Endless, OverLimit, UsageLimits, Wait
from grader.sandbox.passed_on import NamingEncoder, PassedOn
from grader.sandbox.proxies import Handles, RemoteValue, move
from grader.sandbox.record import Name, Notes, Record, copied_value, line_of
from grader.sandbox.values import Extended, Unusable, refusal
from grader.submission.loops import Span

MAX_NESTING = 20
COPY_LIMIT = 4 << 20  # bytes of arguments, or of a result, above which a call is not kept for the diagnosis
TEXT_LIMIT = 4000  # characters of the message of an exception that a function of the test's raised
LONG_ID = 1 << 61  # ids from here on all take as many bytes
NEXT_TEST = b"".join(codec.Encoder().frame([LONG_ID, "test", 0, ""], [(), None]))  # begins another test in a process
KEEP = b"".join(codec.Encoder().frame([LONG_ID, "keep", 0, ""], [(), None]))  # a later question names the next answer


def draw_id() -> int:
    """Return a request's id; nobody can foresee it, so that no answer can be sent before its question."""
    return LONG_ID | secrets.randbits(61)


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
        bounds: codec.Bounds | None = None,
        contract: Contract = NO_CONTRACT,
    ) -> None:
        self.channel = channel
        self.names = names
        self.call_seconds = call_seconds
        self.ends_at = ends_at
        self.bounds = bounds or codec.Bounds()
        self.limits = limits or UsageLimits.of(call_seconds, self.bounds)
        self.contract = contract
        self.handles = Handles(self, self.limits, names, contract.members)
        self.records: list[Record] = []
        self.failure: WorkerFailed | None = None
        self.ended = False
        self.late = ""  # the call that did not return in its own time, if one ended the test
        self.late_function = ""  # to which it belongs: an item to the one that gave the iterator
        self.process: int | None = None  # the number of its process, until that is ended
        self.tests_before = 0  # that its process has seen
        self.changed: list[str] = []
        self.on_request: Callable[[str], None] | None = None  # is told of each request before it is made
        self.seconds_of: Callable[[str], float] | None = None  # how long a call of that may take, at most call_seconds
        self.draw: Callable[[], int] = getattr(channel, "draw", draw_id)  # the id of each request
        self.earlier: PassedOn | None = PassedOn() if getattr(channel, "is_planned", False) else None
        self.spans: tuple[Span, ...] = ()  # where a call was when its steps were used up
        self.notes = Notes()
        self.seconds = 0.0
        self._changes = WriteBack(self.bounds)
        self._raised: dict[int, BaseException] = {}
        self._deadlines: list[float] = []  # of the requests that wait while a function of the test's runs
        self._answered = False  # whether the test may hold anything of the learner's
        self._counts_steps = False

    def request(
        self, kind: str, target: int, name: str, args: tuple[Any, ...] = (), kwargs: Any = None, label: str = ""
    ) -> Any:
        """Have the learner's process do one thing; its result is returned, what it raises is raised, here."""
        if self.failure is not None:
            raise self.failure
        if self.ended:
            raise codec.WireError(f"{label or name} is of another test")
        if self.on_request is not None:
            self.on_request(label or name)
        kwargs = kwargs or {}
        wrap, earlier = self.handles.wrap, self.earlier
        encoder = codec.Encoder(wrap) if earlier is None else NamingEncoder(wrap, earlier)
        serial = self.draw()
        try:
            frame = encoder.frame([serial, kind, target, name], [args, kwargs or None])
        except codec.Unsendable as error:
            if not self._answered:  # the test's own mistake
                raise
            raise Unusable(f"{label or name} cannot be called with what came back before: {error}") from None
        size = encoder.size + encoder.unsent
        small = size <= COPY_LIMIT and self.limits.keep(len(frame[0]), size)
        kept, named = (copied_value(args), copied_value(kwargs)) if small else (args, kwargs)
        again = small and kind != "traced"  # what is measured is large, and its answer holds the figure
        record = Record(kind, target, name, label or name, kept, named, again, args, kwargs)
        self.records.append(record)
        result = self._exchange(serial, frame, encoder, record)
        if earlier is not None and record.replayable and not record.changed:
            copy = record.result if record.returned is result else copied_value(result)
            earlier.keep(len(self.records), result, copy, encoder.shared)
        return result

    def count_steps(self, before: int, label: str, seconds: float) -> None:
        """Have the steps of the call counted that has that label and comes after so many requests.

        The end of its budget ends the test, and so does a call that takes longer than seconds.
        """
        self.call_seconds = self.limits.seconds = seconds
        self.seconds_of = None

        def asked(name: str) -> None:
            if len(self.records) == before and name == label:
                self.on_request, self._counts_steps = None, True
                self.request("steps", 0, "", (STEPS,), label="steps")

        self.on_request = asked

    def bound_steps(self, most: int, seconds: float) -> None:
        """Have the lines counted that run in modules of earlier stages; the end of the budget ends this connection.

        A request may take so many seconds, and all together have no other end than the stage's.
        """
        self.call_seconds, self.limits.seconds = seconds, math.inf
        self.request("steps", 0, "earlier", (most,), label="steps")
        self._counts_steps = True

    def _exchange(self, serial: int, frame: list[Any], encoder: codec.Encoder, record: Record) -> Any:
        """Send a request and wait for its end; whatever goes wrong between ends the test."""
        started = time.monotonic()
        wait = Wait(record.label, started, self.call_seconds, self.seconds_of, self.limits.seconds, self.ends_at)
        self._deadlines.append(min([wait.until, *self._deadlines[-1:]]))
        until = self._deadlines[-1]
        try:
            self.limits.spend("requests")
            if record.is_item:
                self.limits.item(self._giver(record))
            if self.channel.pending():
                raise codec.WireError("unrequested data")
            self.channel.send(frame, until)
            result = self._outcome(serial, encoder.shared, record, self._most(frame, encoder.unsent), until)
        except DeadlinePassed:
            self.late = record.label if wait.is_its_own and until == wait.until else ""
            self.late_function = self._giver(record) if self.late else ""
            self._fail(record, "timed_out", wait.told())
        except ChannelClosed:
            self._fail(record, "crashed", f"the process that ran {record.label} ended without an answer")
        except codec.Refused as error:
            self._fail(record, *refusal(error, record.label))
        except codec.WireError as error:
            self._fail(record, "crashed", f"the process that ran {record.label} sent an invalid answer: {error}")
        except Endless as error:
            self.late_function = self._giver(record)
            self._fail(record, "timed_out", f"this test {error}")
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

    def _giver(self, record: Record) -> str:
        """Return the function that a request is made of: of an item, the one that gave its iterator."""
        iterator = self.handles.proxies.get(record.target) if record.is_item else None
        return (iterator.__dict__["_giver"] if iterator is not None else "") or record.label

    def _most(self, frame: list[Any], unsent: int) -> tuple[int, int]:
        """Return how large the body and the arrays of an answer may be: as a result, and all arguments changed."""
        arrays = unsent + sum(part.nbytes + codec.ALIGNMENT for part in frame[1:])
        return self.bounds.size + len(frame[0]), self.bounds.size + arrays

    def forget(self) -> None:
        """Let go of what was recorded, as if another test began."""
        self.records.clear()
        self.limits.renew()

    def end(self) -> None:
        """End the handles and undo changes in place: a constant of the test file must not pass them on."""
        if self.failure is None and not self.ended and self.channel.pending():
            self.failure = WorkerFailed("crashed", "the process sent unrequested data")
        self.ended = True
        if self.earlier is not None:
            self.earlier.forget()
        self._changes.undo()

    def _fail(self, record: Record, status: Status, message: str) -> NoReturn:
        record.failed = True
        self.failure = WorkerFailed(status, message)
        raise self.failure from None

    def _outcome(self, serial: int, sent: list[Any], record: Record, most: tuple[int, int], deadline: float) -> Any:
        while True:
            body, blob = self.channel.receive(deadline, most)
            began = time.thread_time()
            self.limits.frame(len(body), blob.size)
            decoder = codec.Decoder(self.handles.unwrap, sent, self.bounds, self.limits.until())
            fields = decoder.message(body, blob)
            if len(fields) == 5 and fields[1] == "callback":  # its values refer to each other only
                decoder.shared.clear()
                self._run_callback(fields, decoder, record, deadline)
                continue
            if self._counts_steps and len(fields) == 2 and fields[0] == "steps":
                self.spans = spans(fields[1])
                self._fail(record, "over_limit", f"the steps that may run were used up while {record.label} ran")
            if len(fields) != 6 or fields[0] != serial or fields[1] not in ("ok", "error", "unsendable"):
                raise codec.WireError("an answer to another request")
            record.seconds = self.notes.take(fields[2], fields[3], self.limits)
            self.seconds += record.seconds
            self._answered = True
            size = len(body)
            what = "returned" if fields[1] == "ok" else "raised an exception that holds"
            result = self._value(decoder, fields[4], record, what)
            self._replay(fields[5], decoder, sent, record)
            self.limits.read(began)
            return self._taken(fields[1], result, record, size, blob.size)

    def _value(self, decoder: codec.Decoder, form: Any, record: Record, what: str) -> Any:
        """Return a value that was sent; one that the stage does not take ends the test."""
        self.handles.giver = record.label
        try:
            return decoder.decode(form)
        except codec.Refused as error:
            self._fail(record, *refusal(error, record.label, what))

    def _taken(self, kind: str, result: Any, record: Record, body: int, blob: int) -> Any:
        """Return the result of a request that was answered, of so many bytes; what was raised goes into its record."""
        if kind == "ok":
            small = record.replayable and blob <= COPY_LIMIT
            record.replayable = small and self.limits.keep(2 * body, 2 * blob)  # the value and a copy of it
            if record.replayable:
                record.result, record.returned = copied_value(result), result
            expect_kind(self.contract, record, result)
            return result
        if kind == "unsendable":
            record.failed = True
            raise Unusable(
                f"{record.label} returned {result[:500] if type(result) is str else 'what has no plain form'}"
            )
        record.error = self._exception(result, record)
        return None

    def _replay(self, form: Any, decoder: codec.Decoder, sent: list[Any], record: Record) -> None:
        """Repeat on the test's own arguments what the call changed in place."""
        try:
            record.touched = self._changes.replay(form, decoder, sent)
            record.changed = bool(record.touched)
        except Unreachable:
            told = f"{record.label} set a random generator to a state that drawing from it does not lead to"
            self._fail(record, "failed", told)
        except codec.Refused as error:
            self._fail(record, *refusal(error, record.label, "left in an argument"))
        if record.changed:
            self.changed.append(record.label)

    def _exception(self, description: Any, record: Record) -> BaseException:
        found = described(description)
        if found.token in self._raised:
            return self._raised[found.token]
        own = self.handles.exception_class(found.own, found.shown, list(found.names)) if found.own else None
        return exception_from(found, own, record.label)

    def is_of_a_callback(self, error: BaseException) -> bool:
        """Say whether a function of the test's, called by the learner's code, raised this."""
        return any(error is raised for raised in self._raised.values())

    def _run_callback(self, fields: list[Any], decoder: codec.Decoder, record: Record, deadline: float) -> None:
        self.limits.spend("callbacks")
        function = self.handles.function(fields[2])
        began = time.thread_time()
        args, kwargs = (self._value(decoder, form, record, "passed on") for form in fields[3:])
        self.limits.read(began)
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


class Unreachable(Exception):
    """A random generator was set to a state that drawing from it does not lead to."""


class WriteBack:
    """Repeats on a test's own arguments what a learner's call did to its copies, and can undo all of it."""

    def __init__(self, bounds: codec.Bounds) -> None:
        self._bounds = bounds
        self._originals: dict[int, tuple[Any, Any]] = {}

    def replay(self, form: Any, decoder: codec.Decoder, sent: list[Any]) -> tuple[Any, ...]:
        """Repeat the changes of one call and return what changed but generators; Unreachable or WireError."""
        if form == [codec.LIST]:
            return ()
        decoder.bounds = _as_large_as(sent, self._bounds)
        _count_keys(form, decoder, sent)
        changes = decoder.decode(form)
        if type(changes) is not list:
            raise codec.WireError("changes are a list")
        changed: list[Any] = []
        for change in changes:
            target, content = change_of(change, sent)
            if isinstance(target, np.random.Generator):
                if not move(target, content):
                    raise Unreachable
                continue
            changed.append(target)
            self._apply(target, content, decoder)
        if changed:
            _check_graph(sent, decoder.most)
        return tuple(changed)

    def _apply(self, target: Any, content: Any, decoder: codec.Decoder) -> None:
        original = self._originals.get(id(target)) or (target, content_of(target))
        try:
            apply_content(target, content, decoder)
        except (TypeError, ValueError) as error:
            if isinstance(error, codec.WireError):
                raise
            raise codec.WireError(f"a change that does not fit: {error}") from None
        self._originals[id(target)] = original

    def undo(self) -> None:
        """Make the test's arguments what they were: a constant of the test file must not pass changes on."""
        for target, content in self._originals.values():
            apply_content(target, content, codec.Decoder())
        self._originals.clear()


def _as_large_as(sent: list[Any], bounds: codec.Bounds) -> codec.Bounds:
    """Return bounds within which whatever was sent fits, a dict as its keys and values in turn."""
    sizes = [max(one.shape, default=0) if isinstance(one, np.ndarray) else _length(one) for one in sent]
    arrays = sum(one.nbytes for one in sent if isinstance(one, np.ndarray))
    return codec.Bounds(bounds.size + arrays, max(bounds.rows, len(sent), *sizes))


def _length(value: Any) -> int:
    return 2 * len(value) if isinstance(value, (list, dict, set)) else 0


def _count_keys(form: Any, decoder: codec.Decoder, sent: list[Any]) -> None:
    """Count what is to become keys of a dict or members of a set: in a change it is but a tuple."""
    for change in form[1:] if type(form) is list else ():
        match change:
            case [codec.TUPLE, int(index), [codec.TUPLE, *content]] if 0 <= index < len(sent):
                if isinstance(sent[index], dict):
                    decoder.keys.add(content[::2])
                elif isinstance(sent[index], set):
                    decoder.keys.add(content)


def _check_graph(roots: list[Any], most: int) -> None:
    """Raise Refused where what was sent now contains itself, is deeper or unfolds further than an answer may."""
    known: dict[int, tuple[int, int]] = {}  # values and depth of each container that was walked to its end

    def walk(value: Any, depth: int) -> tuple[int, int]:
        if not isinstance(value, (list, tuple, dict, set, frozenset)):
            return 1, 0
        if id(value) not in known and depth <= codec.MAX_DEPTH:
            parts = [walk(part, depth + 1) for part in (value.values() if isinstance(value, dict) else value)]
            known[id(value)] = 1 + sum(values for values, _ in parts), 1 + max((below for _, below in parts), default=0)
        values, height = known.get(id(value), (0, 0))
        if not values or depth + height > codec.MAX_DEPTH + 1:
            raise codec.Refused(f"a value that contains itself or is nested more than {codec.MAX_DEPTH} deep")
        if values > most:
            raise codec.TooLarge(f"a value that unfolds to more than {most} values")
        return values, height

    for root in roots:
        walk(root, 0)


def content_of(target: Any) -> Any:
    """Return what apply_content needs to make an array, list, set or dict what it is now."""
    if isinstance(target, np.ndarray):
        return target.astype(target.dtype.newbyteorder("="))
    return tuple(part for item in target.items() for part in item) if isinstance(target, dict) else tuple(target)


def change_of(form: Any, sent: list[Any]) -> tuple[Any, Any]:
    """Return which of the objects that were sent changed, and its new content; WireError for another form."""
    if type(form) is tuple and len(form) == 2 and type(form[0]) is int and 0 <= form[0] < len(sent):
        return sent[form[0]], form[1]
    raise codec.WireError("a change of nothing")


def apply_content(target: Any, content: Any, decoder: codec.Decoder) -> None:
    """Make an array, list, set or dict what content says; TypeError or ValueError where that does not fit."""
    if isinstance(target, np.ndarray):
        if (
            type(content) is not np.ndarray
            or content.shape != target.shape
            or content.dtype != target.dtype.newbyteorder("=")
        ):
            raise ValueError("an array keeps its shape and dtype")
        target[...] = content
        return
    if type(content) is not tuple:  # anything else may be an object that is asked for its items without end
        raise ValueError("the content of a container is a tuple")
    if isinstance(target, list):
        target[:] = content
    elif isinstance(target, set):
        fresh = decoder.set_of(content)
        target.clear()
        target.update(fresh)
    elif isinstance(target, dict):
        if len(content) % 2:
            raise ValueError("a key without a value")
        table = decoder.table_of(content[::2], content[1::2])
        target.clear()
        target.update(table)


STEPS = 200_000  # lines of the learner's module, and beginnings of its functions
MOST_SPANS = 32


def spans(form: Any) -> tuple[Span, ...]:
    """Return the spans that a process sent, the likeliest first; WireError for another form."""
    if type(form) is not list or len(form) > MOST_SPANS:
        raise codec.WireError("steps of another form")
    return tuple(map(_span, form))


def _span(form: Any) -> Span:
    match form:
        case [int(first), bool(is_expression), int(low), int(high)]:
            return Span(line_of(first), is_expression, line_of(low), line_of(high))
    raise codec.WireError("steps of another form")


NUMERIC_KINDS = "biufc"  # bool, integers, floating and complex; text, dates, objects and records are no numbers


def expect_kind(contract: Contract, record: Record, value: Any) -> None:
    """Expect a request's result to be of its kind; raises Unusable, and notes in the record that it failed."""
    if wrong := fault(contract, record.kind, record.label, value):
        record.failed = True
        raise Unusable(wrong)


def fault(contract: Contract, kind: str, label: str, value: Any) -> str:
    """Return how what a request gave differs from its kind in the contract; nothing where it does not.

    >>> fault(Contract({}, {"params": "dict of arrays"}), "getattr", "Layer.params", [1, 2])
    'params of Layer: expected a dict of arrays, got a list'
    """
    owner, _, name = label.rpartition(".")
    expected = contract.values.get(name) if kind in ("call", "getattr") else None
    if expected is None or (kind == "getattr" and _is_function(value)):  # a method that is about to be called
        return ""
    place = f"{name} of {owner}" if owner else name
    if expected == "array":
        return "" if _is_array(value) else f"{place}: expected an array, got {_named(value)}"
    if not isinstance(value, dict):
        return f"{place}: expected a dict of arrays, got {_named(value)}"
    wrong = next((key for key, item in value.items() if not _is_array(item)), None)
    if wrong is None:
        return ""
    return f"{place}: expected a dict of arrays, got {_named(value[wrong])} for {str(wrong)[:100]!r}"


def _is_array(value: Any) -> bool:
    if type(value) is np.ndarray or isinstance(value, np.generic):
        return value.dtype.kind in NUMERIC_KINDS
    return isinstance(value, (bool, int, float, complex))


def _named(value: Any) -> str:
    if isinstance(value, RemoteValue):
        return f"an instance of {value.__dict__['_shown']}" if value.__dict__["_kind"] == "object" else repr(value)
    if value is None:
        return "None"
    if type(value) is np.ndarray:
        return f"an array of dtype {value.dtype}"
    name = str(value.__dict__["_shown"]) if isinstance(value, Extended) else type(value).__name__
    return f"{'an' if name[:1] in 'aeiou' else 'a'} {name}"


def _is_function(value: Any) -> bool:
    return isinstance(value, RemoteValue) and value.__dict__["_kind"] == "function"


ALIKE = 0.8  # of the letters of two names stand in both, in the same order
MOST_LETTERS = 80
MOST_NAMES = 200


class RemoteModule(types.SimpleNamespace):
    """The `learner` of a test: its attributes are the public names of the learner's module.

    asked holds the names that the stage asks for: none of them is a misspelt form of another.
    """

    def __init__(self, connection: Connection, title: str, asked: Collection[str] = ()) -> None:
        super().__init__()
        self.__dict__.update(_connection=connection, _title=title, _asked=asked, _looked={})

    def __repr__(self) -> str:
        """Name the module: pytest shows it where a plain assertion fails."""
        return f"<{self.__dict__['_title']}>"

    def __getattr__(self, name: str) -> Any:
        connection: Connection = self.__dict__["_connection"]
        found = self.__dict__["_looked"][name] = connection.names.get(name)
        if found is None:
            raise MissingName(self.__dict__["_title"], name, self._alike(name, connection))
        if found.kind == "value":
            return connection.request("getattr", 0, name, label=name)
        return connection.handles.named(name, found)

    def _alike(self, name: str, connection: Connection) -> str | None:
        """Return a name of the module that is spelt almost alike, and that nothing else asks for."""
        import difflib  # only a mistake needs it

        asked = self.__dict__["_asked"]
        found = (each for each in connection.names if each not in asked and len(each) <= MOST_LETTERS)
        return next(iter(difflib.get_close_matches(name, islice(found, MOST_NAMES), 1, ALIKE)), None)


def looked_up(module: RemoteModule) -> dict[str, Name | None]:
    """Return the names that a test asked for, and what the module has under them."""
    return dict(module.__dict__["_looked"])


class MissingName(AttributeError):
    """The learner's module does not define what the course asks for; alike is what it may have instead."""

    def __init__(self, title: str, name: str, alike: str | None = None) -> None:
        why = "was it renamed or deleted?" if alike is None else f"it defines {alike}, which is spelt almost alike"
        super().__init__(f"{title} does not define {name}: {why}")
        self.missing = name


KEPT_BYTES = 128 << 20  # of what tests sent and were given; past that they are no evidence


class Ended(NamedTuple):
    """A test that ended: its outcome, what it asked and was answered, and the names of the module that it asked."""

    outcome: Outcome
    records: list[Record]
    names: dict[str, Name]


class Passed(NamedTuple):
    """A test that passed: the functions that it calls, how much it gives them, and its requests, once needed.

    is_usual says that the reference answers alike, to the byte.
    """

    outcome: Outcome
    calls: frozenset[str]
    size: int
    ended: Callable[[], Ended | None]
    is_usual: bool = False


class RequestLog:
    """What can be held against an explanation of a run's failures, within bounds."""

    def __init__(self) -> None:
        self.passed: list[Ended | Passed] = []
        self.failed: list[Ended] = []
        self._left = KEPT_BYTES

    def keep(self, outcome: Outcome, connection: Connection) -> None:
        """Remember one test that failed or passed; one that ran again counts once."""
        self.passed = [each for each in self.passed if each.outcome.test != outcome.test]
        self.failed = [each for each in self.failed if each.outcome.test != outcome.test]
        if outcome.status in ("passed", "failed") and connection.limits.held <= self._left:
            self._left -= connection.limits.held
            test = Ended(outcome, connection.records, connection.names)
            (self.passed if outcome.status == "passed" else self.failed).append(test)

    def sort(self, order: Mapping[str, int]) -> None:
        """Put the tests into their order by name: in which they ran has no part in what explains them."""
        self.passed.sort(key=lambda each: order[each.outcome.test])
        self.failed.sort(key=lambda each: order[each.outcome.test])
