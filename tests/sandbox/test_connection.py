"""One test's connection: functions of the test's called back, exceptions, notes, and what is recorded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from grader.isolation import tiers
from grader.outcome import Outcome
from grader.protocol import codec
from grader.sandbox.connection import KEPT_BYTES, MissingName, RemoteModule, RequestLog
from grader.sandbox.exceptions import LearnerExit, WorkerFailed
from grader.sandbox.record import Name, Record
from tests.conftest import Learner, Start
from tests.sandbox.learners import MODULE, connection_of
from tests.sandbox.vectors import CONTRACT
from tests.support.patience import SLACK


@pytest.fixture(scope="module")
def process(tier: tiers.Tier, start: Start) -> Learner:
    return start(MODULE, tier, contract=CONTRACT)


class TestCallbacks:
    def test_a_function_of_the_test(self, remote: Any) -> None:
        calls: list[Any] = []

        def f(*args: Any, **kwargs: Any) -> int:
            calls.append((args, kwargs))
            return 5

        assert remote.apply(f, 1, [2], k="x") == 5 and calls == [((1, [2]), {"k": "x"})]

    def test_gradients(self, remote: Any) -> None:
        found = remote.gradient(lambda x: float((x**2).sum()), np.array([1.0, 3.0]))
        assert np.allclose(found, [2, 6])

    def test_ufuncs_and_methods(self, remote: Any) -> None:
        assert remote.apply(np.add, 1.0, 2.0) == 3.0 and remote.apply("abc".upper) == "ABC"

    def test_one_function_is_one_object(self, remote: Any) -> None:
        def f() -> None: ...

        assert remote.both(f, f) and remote.same(f) is f

    def test_nested(self, remote: Any) -> None:
        assert remote.apply(lambda x: remote.apply(lambda y: remote.same(y) + 1, x) + 1, 1) == 3

    def test_a_learners_function_called_by_the_tests_function(self, remote: Any) -> None:
        assert remote.apply(lambda f: f(3), remote.adder(1)) == 4
        assert remote.apply(lambda v: v.norm(), remote.Vector(3, 4)) == 5

    def test_nesting_without_end_is_cut(self, remote: Any) -> None:
        def again() -> Any:
            return remote.apply(again)

        with pytest.raises(WorkerFailed, match="nested more than"):
            remote.apply(again)

    def test_one_object_passed_twice_is_one(self, remote: Any) -> None:
        """Also where the test's call has arguments of its own, which must not be taken for them."""
        seen: list[bool] = []

        def f(a: Any, b: Any, c: Any) -> float:
            seen.append(a is b and c[0] is a)
            return float(a.sum())

        assert remote.call_with_one_object_twice(f) == 6.0 and seen == [True]

    def test_exceptions_pass_through_as_the_same_object(self, remote: Any) -> None:
        class Mine(Exception):
            pass

        mine = Mine("here")

        def f() -> None:
            raise mine

        with pytest.raises(Mine) as caught:
            remote.apply(f)
        assert caught.value is mine

    def test_exceptions_can_be_caught_by_the_learner(self, remote: Any) -> None:
        class Mine(ValueError):
            pass

        def own() -> None:
            raise Mine("derived")

        assert remote.catches(lambda: 1 // 0).startswith("zero")
        assert remote.catches(own) == "value derived"
        assert remote.catches(lambda: remote.raise_own("mine")) == "own mine"

    def test_a_failed_assertion_in_a_callback_reaches_the_test(self, remote: Any) -> None:
        def f() -> None:
            raise AssertionError("seen in the callback")

        with pytest.raises(AssertionError, match="seen in the callback"):
            remote.apply(f)

    def test_what_a_callback_cannot_return_is_the_tests_own_mistake(self, remote: Any) -> None:
        with pytest.raises(codec.WireError, match="no plain form"):
            remote.apply(lambda: object())
        assert remote.same(1) == 1


class TestExceptions:
    @pytest.mark.parametrize(
        "kind",
        [ValueError, TypeError, KeyError, IndexError, ZeroDivisionError, NotImplementedError, OSError, RuntimeError],
    )
    def test_builtin_ones(self, remote: Any, kind: type[Exception]) -> None:
        with pytest.raises(kind, match="no good 3") as caught:
            remote.raise_builtin(kind.__name__, "no good 3")
        assert type(caught.value) is kind and caught.value.args == ("no good 3",)

    @pytest.mark.parametrize("args", [("utf-8", b"x", 0, 1, "bad"), (2, "No such file")], ids=str)
    def test_those_with_arguments_of_their_own(self, remote: Any, args: tuple[Any, ...]) -> None:
        kind: type[Exception] = UnicodeDecodeError if len(args) == 5 else FileNotFoundError
        with pytest.raises(kind) as caught:
            remote.raise_builtin(kind.__name__, *args)
        assert str(caught.value) == str(kind(*args))

    def test_a_call_of_an_exceptions_class_is_a_call_like_any(self, remote: Any) -> None:
        made = remote.ShapeError("odd", 3)
        assert isinstance(made, remote.ShapeError) and isinstance(made, ValueError) and made.args == ("odd", 3)
        (record,) = connection_of(remote).records
        assert (record.kind, record.label, record.args) == ("call", "ShapeError", ("odd", 3))
        assert remote.catches(lambda: remote.raise_own("mine")) == "own mine"

    def test_a_class_of_the_tests_below_a_learners_is_its_own(self, remote: Any) -> None:
        own = type("Own", (remote.ShapeError,), {})
        assert isinstance(own("x"), remote.ShapeError) and not connection_of(remote).records

    def test_the_learners_own(self, remote: Any) -> None:
        with pytest.raises(remote.ShapeError, match="2 is not 3") as caught:
            remote.raise_own("2 is not 3")
        assert isinstance(caught.value, ValueError) and type(caught.value).__name__ == "ShapeError"
        with pytest.raises(ValueError, match="2 is not 3"):
            remote.raise_own("2 is not 3")
        with pytest.raises(remote.Odd, match="odd 3"):
            remote.raise_odd()

    def test_the_learners_own_frames(self, remote: Any) -> None:
        with pytest.raises(ValueError) as caught:
            remote.raise_own("x")
        lines = MODULE.splitlines()
        frames = caught.value.learner_frames  # type: ignore[attr-defined]
        assert [frame.function for frame in frames] == ["raise_own", "helper"]
        assert [lines[frame.line - 1].strip() for frame in frames] == ["helper(message)", "raise ShapeError(message)"]

    def test_those_of_numpy(self, remote: Any) -> None:
        with pytest.raises(np.linalg.LinAlgError, match="Singular"):
            remote.linalg()
        with pytest.raises(np.exceptions.AxisError):
            remote.axis()

    def test_a_wrong_call(self, remote: Any) -> None:
        with pytest.raises(TypeError, match="positional argument"):
            remote.add_one()

    @pytest.mark.parametrize("name", ["leave", "interrupt"])
    def test_leaving_is_not_returning(self, remote: Any, name: str) -> None:
        with pytest.raises(LearnerExit, match="instead of returning"):
            getattr(remote, name)()
        assert remote.same(1) == 1

    def test_what_the_test_cannot_send_is_its_own_mistake(self, remote: Any) -> None:
        with pytest.raises(codec.WireError, match="object"):
            remote.same(np.array([None]))
        assert remote.same(1) == 1


class TestNotes:
    def test_printed_output_and_warnings(self, remote: Any) -> None:
        with pytest.warns(RuntimeWarning, match="careful"):
            assert remote.shout("hello") == 5
        notes = connection_of(remote).notes
        line = next(n for n, text in enumerate(MODULE.splitlines(), 1) if "careful" in text)
        assert (notes.printed, notes.warnings) == ("hello\n", [("RuntimeWarning", "careful", line)])

    def test_numpys_warnings(self, remote: Any) -> None:
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            assert remote.divide(np.zeros(1)) == np.inf

    def test_a_flood_of_output_is_cut_and_said_so(self, remote: Any) -> None:
        remote.print_much()
        printed = connection_of(remote).notes.printed
        assert len(printed) <= 20_000 and "more characters were printed" in printed

    def test_the_time_of_calls(self, remote: Any) -> None:
        remote.same(1)
        assert 0 <= connection_of(remote).seconds < SLACK


class TestRecords:
    def test_what_is_kept_is_not_what_the_test_goes_on_with(self, remote: Any) -> None:
        x = np.zeros(2)
        result = remote.same([x, np.ones(1)])
        x[:] = 5
        result[1][:] = 5
        record = connection_of(remote).records[-1]
        assert record.args[0][0].tolist() == [0, 0] and record.result[1].tolist() == [1]

    def test_large_arguments_are_not_kept_twice(self, remote: Any) -> None:
        remote.both(np.zeros(1 << 20))
        assert not connection_of(remote).records[-1].replayable


SMALL = """
SIZE = [1, 2]

def double(x):
    return 2 * x

class Layer:
    pass

class ShapeError(ValueError):
    pass
"""


@pytest.fixture(scope="module")
def small_process(start: Start) -> Learner:
    return start(SMALL, "process", contract=CONTRACT)


@pytest.fixture
def learner(small_process: Learner) -> Iterator[Any]:
    yield small_process.open()
    small_process.done()


def test_a_function_is_called(learner: Any) -> None:
    assert learner.double(4) == 8


def test_it_is_shown_by_its_name_alone(learner: Any) -> None:
    assert repr(learner) == "<stages/s90_small/small.py>"


def test_a_value_is_copied(learner: Any) -> None:
    learner.SIZE.append(3)
    assert learner.SIZE == [1, 2]


def test_a_class_knows_its_instances(learner: Any) -> None:
    assert isinstance(learner.Layer(), learner.Layer)


def test_an_exception_class_is_below_the_builtin_that_it_extends(learner: Any) -> None:
    assert issubclass(learner.ShapeError, ValueError)


@pytest.mark.parametrize("name", ["nonsense", "_private"])
def test_a_name_that_is_missing_is_named(learner: Any, name: str) -> None:
    with pytest.raises(MissingName, match=f"small.py does not define {name}: was it renamed or deleted?") as caught:
        getattr(learner, name)
    assert caught.value.missing == name


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ((), "does not define dot_product: it defines dotproduct, which is spelt almost alike"),
        (("dotproduct",), "does not define dot_product: was it renamed or deleted?"),  # which is a function of its own
    ],
)
def test_a_name_that_is_spelt_almost_alike_is_named(start: Start, asked: tuple[str, ...], told: str) -> None:
    learner = start("def dotproduct(x, y):\n    return x * y\n\n\ndef other():\n    return 1\n").open()
    module = RemoteModule(learner._connection, "small.py", asked)
    with pytest.raises(MissingName, match=re.escape(told)):
        module.dot_product  # noqa: B018  # asking is the test


def test_garbage_is_collected_while_a_module_is_loaded_and_called(start: Start) -> None:
    source = "import gc\n\nLOADED = gc.isenabled()\n\n\ndef collected():\n    return [LOADED, gc.isenabled()]\n"
    assert start(source).open().collected() == [True, True]


def connection(held: int = 1) -> Any:
    record = Record("call", 1, "", "f", (), {})
    return SimpleNamespace(records=[record], names={"f": Name("function", 1)}, limits=SimpleNamespace(held=held))


def outcome(name: str, status: Any) -> Outcome:
    return Outcome(name, "row", False, status)


def test_tests_that_failed_and_passed_are_kept() -> None:
    log = RequestLog()
    log.keep(outcome("wrong", "failed"), connection())
    log.keep(outcome("gone", "crashed"), connection())
    log.keep(outcome("fine", "passed"), connection())
    assert [each.outcome.test for each in log.failed] == ["wrong"]
    assert [each.outcome.test for each in log.passed] == ["fine"]


def test_what_is_too_large_is_no_evidence() -> None:
    log = RequestLog()
    log.keep(outcome("large", "passed"), connection(KEPT_BYTES + 1))
    log.keep(outcome("small", "passed"), connection())
    assert [each.outcome.test for each in log.passed] == ["small"]
