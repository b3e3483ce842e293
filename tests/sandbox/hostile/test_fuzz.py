"""A worker that answers with anything: only known exceptions leave a connection, and explaining never raises."""

from __future__ import annotations

import operator
import socket
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.course.answers import Mistake
from grader.course.stage import Stage
from grader.diagnosis.answers import Answers
from grader.diagnosis.explanation import explained
from grader.protocol import codec
from grader.sandbox.connection import Connection, RemoteModule
from grader.sandbox.exceptions import LearnerExit, WorkerFailed
from grader.sandbox.limits import UsageLimits
from grader.sandbox.process import load_problem, names_of
from grader.sandbox.proxies import RemoteValue
from grader.sandbox.record import Name
from grader.sandbox.values import Unusable

FUZZ = settings(max_examples=settings().max_examples * 5 // 2, deadline=None, suppress_health_check=list(HealthCheck))
NAMES = {
    "f": Name("function", 1), "Layer": Name("class", 2), "Error": Name("exception", 3, ("ValueError",)),
    "shape": Name("value", 0),
}  # fmt: skip
REFERENCE = """
import numpy as np
shape = (2, 3)
class Error(ValueError): ...
class Layer:
    def __init__(self, x=None): self.x = x
    def __add__(self, other): return self
def f(*args): return np.zeros(2)
"""
STAGE = Stage("s90", Path(), "Small", "small.py", (), ())
WRONG = Mistake("ones", "row", "f", "text", "fix", "def f(*args): return np.ones(2)")
BLOB = np.arange(64, dtype=np.uint8)

scalars = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(max_size=8)
    | st.binary(max_size=20) | st.sampled_from(["\ud800", "x" * 5000, "__class__", "f", "ValueError"])
)  # fmt: skip
numbers = st.sampled_from([0, 1, 2, 3, 4, 9, -1, 1 << 16, 1 << 25, 1 << 40, (1 << 63) - 1])
bigs = st.sampled_from([b"", b"\1", b"\xff" * 1700, b"\1" * 1701, b"\1" * 3000]).map(lambda data: [codec.BIGINT, data])
names = st.sampled_from(
    ["ValueError", "SystemExit", "KeyError", "UnicodeEncodeError", "AxisError", "OSError", "\ud800"]
)
kinds = st.sampled_from(["object", "function", "class", "exception", "value", ""])
handles = st.builds(
    lambda number, kind, shown, classes, names: [codec.HANDLE, number, kind, shown, classes, names],
    numbers, kinds, st.sampled_from(["f", "Layer", "a.b", "\n\x1b[2J", "\ud800", ""]),
    st.lists(numbers, max_size=3), st.lists(names | numbers, max_size=2),
)  # fmt: skip
arrays = st.builds(
    lambda dtype, shape, offset: [codec.ARRAY, dtype, shape, False, offset, True],
    st.sampled_from(["float64", "int8", "bool", "U1", "longdouble", "O"]), st.lists(numbers, max_size=3),
    st.sampled_from([0, 64]),
)  # fmt: skip
references = st.integers(0, 12).map(lambda index: [codec.REFERENCE, index])
forms = st.recursive(
    scalars | bigs | handles | arrays | references,
    lambda inner: st.builds(
        lambda tag, parts: [tag, *parts], st.sampled_from(range(19)) | st.sampled_from([0, 1, 2, 3, 4]),
        st.lists(inner, max_size=5),
    ),
    max_leaves=12,
)  # fmt: skip
frames = st.lists(
    st.builds(lambda line, name: [codec.LIST, line, name], numbers | bigs, st.text(max_size=4)), max_size=3
)
errors = st.builds(
    lambda names, own, message, args, frames, token:
    [codec.LIST, [codec.LIST, *names], "Odd", own, message, args, [codec.LIST, *frames], token],
    st.lists(names, max_size=2), numbers | bigs, st.text(max_size=9),
    st.none() | st.lists(scalars | bigs, max_size=5).map(lambda args: [codec.LIST, *args]), frames, numbers,
)  # fmt: skip
changes = st.lists(
    st.builds(lambda index, content: [codec.TUPLE, index, content], st.integers(0, 5), forms), max_size=3
)
warned = st.tuples(st.sampled_from(["UserWarning", "Odd", "1"]), st.text(max_size=4), numbers)
notes = st.tuples(st.text(max_size=5), st.lists(warned, max_size=2))
honest = handles | arrays | st.lists(scalars | handles | references, max_size=4).map(lambda all: [codec.LIST, *all])
answers = st.one_of(
    st.tuples(st.just("ok"), st.just(("", [])), st.just(0.0), honest, st.just([codec.LIST])),
    st.tuples(st.just("ok"), notes, st.floats(), forms, st.builds(lambda all: [codec.LIST, *all], changes)),
    st.tuples(st.just("error"), notes, st.floats(), errors | forms, st.just([codec.LIST])),
    st.tuples(st.just("unsendable"), notes, st.floats(), forms, st.just([codec.LIST])),
    st.tuples(st.just("callback"), st.integers(0, 2), forms, st.just([codec.DICT])),
    st.tuples(st.just("callback"), st.just(1), st.lists(forms, max_size=2).map(lambda args: [codec.TUPLE, *args]),
              st.just([codec.DICT])),
)  # fmt: skip


class Scripted:
    """A channel whose other end answers each frame with the next of some answers, under the right id."""

    def __init__(self, script: list[Any]) -> None:
        self.script = script
        self.serials: list[int] = []

    def pending(self) -> bool:
        return False

    def send(self, frame: list[Any], deadline: float) -> None:
        serial = codec.Decoder().message(frame[0][codec.HEADER.size :])[0]
        self.serials += [serial] if serial else []

    def receive(self, deadline: float, most: tuple[int, int]) -> tuple[memoryview, Any]:
        kind, *rest = self.script.pop(0) if self.script else ("ok", ("", []), 0.0, 1, [codec.LIST])
        message = [0, kind, *rest] if kind == "callback" else [self.serials[-1], kind, *rest]
        return memoryview(msgpack.packb(message, unicode_errors="surrogatepass")), BLOB.copy()


def uses(learner: Any) -> list[Callable[[], object]]:
    """Return what a test may do with a module and with what came back."""
    found: list[Any] = []
    state: dict[str, Any] = {"a": [1]}

    def note(value: object) -> None:
        found.append(value)

    def use() -> object:
        last: Any = found[-1] if found else None
        if type(last) is RemoteValue:
            return [operator.add(last, 1), operator.neg(last), last.x, last(1)]
        return None

    return [
        lambda: note(learner.f(np.zeros(2), [1], state, {1}, lambda *args: args)),
        lambda: note(learner.f(*found, key=state)),
        use,
        lambda: note(learner.Error("x")),
        lambda: note(learner.Layer(learner.shape)),
        lambda: learner.f(learner.Error, learner.Layer),
    ]


@FUZZ
@given(st.lists(answers, min_size=1, max_size=8))
def test_any_answers_leave_a_connection_as_a_known_kind_of_exception(script: list[Any]) -> None:
    channel: Any = Scripted(list(script))
    limits = UsageLimits(60, requests=40, callbacks=9)
    connection = Connection(channel, NAMES, 20, time.monotonic() + 60, limits)
    with warnings.catch_warnings(action="ignore"):
        for action in uses(RemoteModule(connection, "small.py")):
            try:
                action()
            except (WorkerFailed, Unusable, LearnerExit):
                pass
            except Exception as error:
                known = hasattr(error, "learner_frames") or connection.is_of_a_callback(error)
                local = isinstance(error, TypeError) and "not callable" in str(error)  # what came back is used
                assert known or local, repr(error)
    connection.end()
    diagnostician = Answers(STAGE, REFERENCE, (WRONG,), b"raise ValueError")
    assert explained(diagnostician, connection, None, True).failure == ""
    connection.records = [record for record in connection.records if record.replayable and not record.failed]
    assert explained(diagnostician, connection, None, True).failure == ""
    assert all(0 <= line <= 1 << 20 for _, _, line in connection.notes.warnings)


@FUZZ
@given(st.lists(st.tuples(st.text(max_size=3), kinds, numbers, st.lists(st.text(max_size=3) | numbers, max_size=2))))
def test_any_table_of_names_is_one_or_is_refused(table: list[Any]) -> None:
    try:
        names = names_of([list(row) for row in table])
    except codec.WireError:
        return
    kinds = [(name.number, name.kind) for name in names.values() if name.number]
    assert len(set(kinds)) == len({number for number, _ in kinds})


@FUZZ
@given(errors | forms)
def test_any_description_of_what_stops_the_module_is_told_or_refused(form: Any) -> None:
    try:
        problem = load_problem(codec.Decoder(bounds=codec.Bounds()).decode(form), "small.py")
    except codec.WireError:
        return
    assert problem.line is None or 0 <= problem.line <= 1 << 20


def test_explaining_fails_alone() -> None:
    class Broken(Answers):
        @property
        def reference(self) -> Any:
            raise RecursionError("deep")

    ours, theirs = socket.socketpair()
    with ours, theirs:
        connection: Any = Connection(Scripted([]), NAMES, 20, time.monotonic() + 60)  # type: ignore[arg-type]
        assert RemoteModule(connection, "small.py").f(1) == 1
        told = explained(Broken(STAGE, REFERENCE, ()), connection, None, True)
    assert (told.call, told.failure) == ("", "RecursionError: deep")


@pytest.mark.parametrize("second", ["class", "function"])
def test_a_number_of_a_name_cannot_be_handed_out_as_something_else(second: str) -> None:
    form = [codec.HANDLE, 1, second, "f", [], []]
    connection = Connection(Scripted([("ok", ("", []), 0.0, form, [codec.LIST])]), NAMES, 20, time.monotonic() + 60)  # type: ignore[arg-type]
    learner: Any = RemoteModule(connection, "small.py")
    if second == "class":
        with pytest.raises(WorkerFailed, match="of another kind") as caught:
            learner.Layer()
        assert caught.value.status == "crashed"
    else:
        assert learner.Layer() is learner.f
