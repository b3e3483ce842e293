"""What a test can do with a learner's module in another process, through a real worker in each tier."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from grader.isolation import tiers
from grader.protocol import codec
from grader.remote.connection import Connection
from grader.remote.exceptions import LearnerExit, Unusable, WorkerFailed
from grader.remote.module import MissingName, RemoteModule
from grader.tests.conftest import Learner, Start

MODULE = """
import collections
import warnings
import numpy as np

constant = np.arange(3.0)
tanh = np.tanh
state = {"calls": 0}


def same(value):
    return value


def both(first, second=None):
    return first is second


def describe(value):
    return [type(value).__name__, str(getattr(value, "dtype", "")), list(getattr(value, "shape", ()))]


def count():
    state["calls"] += 1
    return state["calls"]


class ShapeError(ValueError):
    pass


class Odd(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)
        self.a = a

    def __str__(self):
        return "odd %s" % self.a


def raise_builtin(name, *args):
    import builtins
    raise getattr(builtins, name)(*args)


def raise_own(message):
    helper(message)


def helper(message):
    raise ShapeError(message)


def raise_odd():
    raise Odd(3, [1])


def linalg():
    return np.linalg.inv(np.zeros((2, 2)))


def axis():
    return np.zeros(3).sum(axis=7)


def catches(f):
    try:
        return f()
    except ShapeError as error:
        return "own " + str(error)
    except ZeroDivisionError as error:
        return "zero " + str(error)
    except ValueError as error:
        return "value " + str(error)


class Vector:
    size = 2

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def norm(self, order=2):
        return (abs(self.x) ** order + abs(self.y) ** order) ** (1 / order)

    def __add__(self, other):
        x, y = (other.x, other.y) if isinstance(other, Vector) else (other, other)
        return Vector(self.x + x, self.y + y)

    __radd__ = __add__

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __abs__(self):
        return self.norm()

    def __eq__(self, other):
        return isinstance(other, Vector) and (self.x, self.y) == (other.x, other.y)

    def __hash__(self):
        return 1

    def __lt__(self, other):
        return self.norm() < other.norm()

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return (self.x, self.y)[i]

    def __setitem__(self, i, value):
        setattr(self, "xy"[i], value)

    def __delitem__(self, i):
        raise IndexError("kept")

    def __contains__(self, value):
        return value in (self.x, self.y)

    def __iter__(self):
        return iter((self.x, self.y))

    def __bool__(self):
        return bool(self.x or self.y)

    def __float__(self):
        return float(self.norm())

    def __int__(self):
        return int(self.norm())

    def __str__(self):
        return "<%s, %s>" % (self.x, self.y)

    def __call__(self, k):
        return self * k

    @property
    def broken(self):
        raise RuntimeError("a property that fails")

    @classmethod
    def zero(cls):
        return cls(0, 0)


class Long(Vector):
    pass


def is_vector(value):
    return type(value).__name__, isinstance(value, Vector)


Pair = collections.namedtuple("Pair", "left right")


def pair():
    return Pair(1, np.ones(2))


def ordered():
    return collections.OrderedDict(a=1)


def naturals(n):
    for i in range(n):
        yield i
    return


def broken_generator():
    yield 1
    raise ValueError("after the first")


def adder(n):
    return lambda x: x + n


def apply(f, *args, **kwargs):
    return f(*args, **kwargs)


def gradient(f, x):
    h = 1e-6
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(x.size)])


def call_with_one_object_twice(f):
    x = np.arange(4.0)
    return f(x, x, [x])


def swallow(f):
    try:
        f()
    except Exception as error:
        return type(error).__name__
    return "nothing"


def draw(rng, n):
    return rng.random(n)


def make_rng(seed):
    return np.random.default_rng(seed)


def add_one(x):
    x += 1


def change(items, table, group):
    items.append(np.zeros(2))
    items[0] = "new"
    table["b"] = [1]
    del table["a"]
    group.add(9)


def fill(out, value=1):
    out[...] = value
    return out


def reorder(items):
    items.sort()


def inner(items):
    items[0][0] = 7


def shout(text):
    print(text)
    warnings.warn("careful", RuntimeWarning)
    return len(text)


def print_much():
    for _ in range(100):
        print("x" * 10_000)


def divide(x):
    return 1 / x


def leave(code=0):
    import sys
    sys.exit(code)


def interrupt():
    raise KeyboardInterrupt


def scribble():
    x = []
    x.append(x)
    return x


def zeros(n):
    return np.zeros(n)


def f_order():
    return np.asfortranarray(np.arange(6.0).reshape(2, 3))


def read_only():
    return np.broadcast_to(np.arange(2.0), (3, 2))
"""


@pytest.fixture(scope="module")
def process(tier: tiers.Tier, start: Start) -> Learner:
    return start(MODULE, tier)


@pytest.fixture
def remote(process: Learner) -> Iterator[Any]:
    """The remote module of one test."""
    yield process.open()
    process.done()


def connection_of(remote: RemoteModule) -> Connection:
    found: Connection = remote.__dict__["_connection"]
    return found


class TestValues:
    @pytest.mark.parametrize("name", [*codec.DTYPES, "U5", "S4"])
    def test_arrays_of_every_dtype(self, remote: Any, name: str) -> None:
        value = (np.arange(6) % 2).astype(name).reshape(2, 3)
        found = remote.same(value)
        assert type(found) is np.ndarray and found.dtype == value.dtype and np.array_equal(found, value)
        assert remote.describe(value) == ["ndarray", str(value.dtype), [2, 3]]

    @pytest.mark.parametrize(
        "value",
        [
            np.array(3.5), np.empty((0, 3)), np.asfortranarray(np.arange(6.0).reshape(2, 3)),
            np.arange(20.0).reshape(4, 5)[::2, ::-1],
            np.arange(20.0).reshape(4, 5).T, np.arange(3, dtype=">f8"), np.broadcast_to(1.0, (2, 2)),
        ],
        ids=["0-d", "empty", "fortran", "not contiguous", "transposed", "big-endian", "read-only"],
    )  # fmt: skip
    def test_arrays_of_every_layout(self, remote: Any, value: np.ndarray[Any, Any]) -> None:
        found = remote.same(value)
        assert found.shape == value.shape and np.array_equal(found, value)

    def test_layout_of_what_comes_back(self, remote: Any) -> None:
        assert remote.f_order().flags.f_contiguous and np.array_equal(remote.f_order(), np.arange(6.0).reshape(2, 3))
        assert not remote.read_only().flags.writeable

    def test_64_mb(self, remote: Any) -> None:
        value = np.arange(8 << 20, dtype=np.float64)
        found = remote.same(value)
        assert found is value  # the same object came back, and nothing was copied for it
        assert remote.zeros(8 << 20).nbytes == 64 << 20

    @pytest.mark.parametrize(
        "value",
        [
            None, True, 3, 2**70, -1.5, math.inf, 2 - 3j, "ü", b"\0", ..., NotImplemented, slice(1, 2), range(4),
            float, np.float32,
            np.dtype("int8"), [], (), {}, {1, 2}, frozenset({3}), [1, (2.5, {"a": [None, "x"]}), {3: {"b": ()}}],
        ],
        ids=repr,
    )  # fmt: skip
    def test_plain_values(self, remote: Any, value: object) -> None:
        found = remote.same(value)
        assert type(found) is type(value) and found == value

    def test_numpy_scalars(self, remote: Any) -> None:
        found = remote.same(np.float32(0.1))
        assert type(found) is np.float32 and found == np.float32(0.1)
        assert math.isnan(remote.same(math.nan)) and remote.same(np.str_("")) == ""

    def test_arrays_within_containers(self, remote: Any) -> None:
        found = remote.same((np.arange(2), {"w": [np.eye(2)]}))
        assert found[0].tolist() == [0, 1] and found[1]["w"][0].tolist() == [[1, 0], [0, 1]]

    def test_identity(self, remote: Any) -> None:
        x = np.arange(3)
        assert remote.same(x) is x and remote.both(x, x) and remote.both(x, second=x) and not remote.both(x, x.copy())

    def test_cycles(self, remote: Any) -> None:
        found = remote.scribble()
        assert found[0] is found

    def test_module_attributes_that_are_values(self, remote: Any) -> None:
        assert remote.constant.tolist() == [0, 1, 2] and remote.tanh(0.0) == 0.0

    def test_named_tuples_and_ordered_dicts(self, remote: Any) -> None:
        pair = remote.pair()
        assert (pair.left, pair[1].tolist(), len(pair)) == (1, [1, 1], 2)
        assert remote.ordered() == {"a": 1}

    def test_each_test_starts_from_the_module_as_it_was_loaded(self, process: Learner) -> None:
        assert process.open().count() == 1
        assert process.open().count() == 1


class TestInstances:
    def test_attributes(self, remote: Any) -> None:
        v = remote.Vector(3, y=4)
        assert (v.x, v.y, v.size, remote.Vector.size) == (3, 4, 2, 2)
        v.x = np.arange(2)
        assert v.x.tolist() == [0, 1]
        with pytest.raises(AttributeError, match="has no attribute 'z'"):
            _ = v.z
        with pytest.raises(RuntimeError, match="a property that fails"):
            _ = v.broken

    def test_methods(self, remote: Any) -> None:
        assert remote.Vector(3, 4).norm() == 5 and remote.Vector(3, 4).norm(order=1) == 7
        assert remote.Vector.zero().x == 0 and remote.Vector.norm(remote.Vector(3, 4)) == 5

    def test_operators(self, remote: Any) -> None:
        v = remote.Vector(3, 4)
        assert [(v + v).x, (v + 1).y, (1 + v).x, (v * 2).y, v @ v, (-v).x, abs(v), v(3).x] == [6, 5, 4, 8, 25, -3, 5, 9]
        assert [len(v), v[1], 4 in v, 9 in v, list(v), bool(v), float(v), int(v), str(v)] == [
            2,
            4,
            True,
            False,
            [3, 4],
            True,
            5,
            5,
            "<3, 4>",
        ]
        assert v == remote.Vector(3, 4) and v != remote.Vector(3, 5) and v < v * 2
        v[0] = 9
        assert v.x == 9 and sum(v) == 13
        with pytest.raises(IndexError, match="kept"):
            del v[0]

    def test_an_array_on_the_left_gives_what_it_gives_in_one_process(self, remote: Any) -> None:
        assert (np.arange(2.0) + remote.Vector(1, 2)).tolist() == [1, 3]  # a Vector is a sequence to NumPy

    def test_isinstance(self, remote: Any) -> None:
        v, long = remote.Vector(1, 2), remote.Long(1, 2)
        assert isinstance(v, remote.Vector) and isinstance(long, remote.Vector) and isinstance(long, remote.Long)
        assert not isinstance(v, remote.Long) and not isinstance(3, remote.Vector)

    def test_instances_as_arguments_are_the_learners_own(self, remote: Any) -> None:
        v = remote.Vector(1, 2)
        assert remote.same(v) is v and remote.both(v, v) and remote.is_vector(v) == ("Vector", True)
        assert remote.same([v, {"v": v}])[1]["v"] is v

    def test_names_that_begin_with_an_underscore_are_not_reached(self, remote: Any) -> None:
        v = remote.Vector(1, 2)
        for name in ("__globals__", "__class__x", "_hidden"):
            with pytest.raises(AttributeError):
                getattr(v, name)
        with pytest.raises(AttributeError):
            v._hidden = 1

    def test_closures(self, remote: Any) -> None:
        assert remote.adder(3)(4) == 7 and remote.apply(remote.adder(1), 1) == 2

    def test_generators(self, remote: Any) -> None:
        assert list(remote.naturals(4)) == [0, 1, 2, 3]
        made = remote.naturals(1)
        assert iter(made) is made and next(made) == 0
        with pytest.raises(StopIteration):
            next(made)
        broken = remote.broken_generator()
        assert next(broken) == 1
        with pytest.raises(ValueError, match="after the first"):
            next(broken)

    def test_a_name_that_is_missing(self, remote: Any) -> None:
        with pytest.raises(MissingName, match="does not define nonsense"):
            _ = remote.nonsense

    def test_handles_are_useless_in_the_next_test(self, process: Learner) -> None:
        old = process.open()
        v = old.Vector(1, 2)
        new = process.open()
        with pytest.raises(codec.WireError, match="of another test"):
            new.same(v)
        with pytest.raises(codec.WireError, match="of another test"):
            _ = v.x
        assert new.Vector(5, 6).x == 5


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


class TestRandomGenerators:
    @pytest.mark.parametrize("name", codec.BIT_GENERATORS)
    def test_draws_are_those_of_one_process(self, remote: Any, name: str) -> None:
        make = getattr(np.random, name)
        ours, twin = np.random.Generator(make(3)), np.random.Generator(make(3))
        assert np.array_equal(remote.draw(ours, 5), twin.random(5))
        assert np.array_equal(ours.random(5), twin.random(5))  # it has moved on, as in one process
        assert np.array_equal(remote.draw(ours, 2), twin.random(2))

    def test_one_made_by_the_learner(self, remote: Any) -> None:
        assert np.array_equal(remote.make_rng(7).random(3), np.random.default_rng(7).random(3))

    def test_a_draw_is_no_change_of_an_argument(self, remote: Any) -> None:
        remote.draw(np.random.default_rng(1), 2)
        assert connection_of(remote).changed == []


class TestChangesInPlace:
    def test_arrays(self, remote: Any) -> None:
        x = np.arange(4.0).reshape(2, 2)
        assert remote.fill(x, 8.0) is x and x.tolist() == [[8, 8], [8, 8]]
        assert connection_of(remote).changed == ["fill"]

    @pytest.mark.parametrize("cut", [np.s_[::2], np.s_[:, 1:], np.s_[::-1], np.s_[1, 1:]], ids=str)
    def test_views_change_what_they_look_at(self, remote: Any, cut: Any) -> None:
        x, twin = np.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(3, 4)
        remote.add_one(x[cut])
        twin[cut] += 1
        assert np.array_equal(x, twin)

    @pytest.mark.parametrize("dtype", [">f8", "<i4", "float32", "complex64"])
    def test_other_dtypes(self, remote: Any, dtype: str) -> None:
        x = np.arange(3).astype(dtype)
        remote.add_one(x)
        assert x.tolist() == [1, 2, 3] and x.dtype == np.dtype(dtype)

    def test_fortran_order(self, remote: Any) -> None:
        x = np.asfortranarray(np.arange(6.0).reshape(2, 3))
        remote.add_one(x)
        assert np.array_equal(x, np.arange(6.0).reshape(2, 3) + 1)

    def test_a_read_only_array_cannot_be_changed(self, remote: Any) -> None:
        with pytest.raises(ValueError, match="read-only"):
            remote.add_one(np.broadcast_to(1.0, (2, 2)))

    def test_containers(self, remote: Any) -> None:
        items: list[Any] = [1, 2]
        table: dict[str, Any] = {"a": 1, "c": 2}
        group = {1}
        remote.change(items, table, group)
        assert items[:2] == ["new", 2] and items[2].tolist() == [0, 0]
        assert (table, list(table), group) == ({"c": 2, "b": [1]}, ["c", "b"], {1, 9})
        items = [3, 1, 2]
        remote.reorder(items)
        assert items == [1, 2, 3]

    def test_an_array_inside_of_a_list(self, remote: Any) -> None:
        x = np.zeros(2)
        items = [x]
        remote.inner(items)
        assert items[0] is x and x.tolist() == [7, 0]

    def test_an_argument_by_keyword(self, remote: Any) -> None:
        x = np.zeros(2)
        remote.fill(out=x, value=3)
        assert x.tolist() == [3, 3]

    def test_what_is_not_changed_is_not_named(self, remote: Any) -> None:
        remote.same(np.arange(3))
        remote.same([1, {"a": math.nan}])
        assert connection_of(remote).changed == []


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
        assert 0 <= connection_of(remote).seconds < 5


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


class TestUnusable:
    @pytest.mark.parametrize(
        ("body", "said"),
        [
            ("np.array([1, None])", "dtype object"),
            ("np.ma.masked_array([1], [True])", "MaskedArray"),
            ("np.zeros(2).view(type('Mine', (np.ndarray,), {}))", "plain numpy.ndarray"),
            ("np.array(['2020'], 'datetime64')", "datetime64"),
            ("np.broadcast_to(1.0, (100_000, 12_500))", "MB in one call"),
            ("__import__('functools').reduce(lambda v, _: [v], range(200), [])", "deep"),
            ("'x' * (9 << 20)", "MB outside of arrays"),
        ],
        ids=lambda text: text[:20],
    )
    def test_what_has_no_plain_form_fails_with_its_name(self, unusable: dict[str, Any], body: str, said: str) -> None:
        with pytest.raises(Unusable, match=said):
            unusable["evaluate"](body)
        assert unusable["evaluate"]("1 + 1") == 2


@pytest.fixture
def unusable(tier: tiers.Tier, evaluator: Learner) -> Iterator[dict[str, Any]]:
    yield {"evaluate": evaluator.open().evaluate}
    evaluator.done()


@pytest.fixture(scope="module")
def evaluator(tier: tiers.Tier, start: Start) -> Learner:
    return start("import numpy as np\ndef evaluate(text): return eval(text)\n", tier)
