"""Values on their way to a learner's function and back: copied, changed in place, drawn, or refused."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from grader.course.stage import Contract
from grader.isolation import tiers
from grader.protocol import codec
from grader.sandbox.exceptions import WorkerFailed
from grader.sandbox.values import Unusable
from tests.conftest import Learner, Start
from tests.sandbox.learners import MODULE, connection_of

CONTRACT = Contract({"Pair": frozenset({"left"})})


@pytest.fixture(scope="module")
def process(tier: tiers.Tier, start: Start) -> Learner:
    return start(MODULE, tier, result_mb=64, result_rows=8 << 20, contract=CONTRACT)


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

    def test_a_result_past_the_bounds_is_told_by_its_shape(self, remote: Any) -> None:
        with pytest.raises(WorkerFailed, match=r"an array of shape \(8388608, 2\): 128 MB of arrays") as caught:
            remote.zeros((8 << 20, 2))
        assert caught.value.status == "over_limit"

    def test_rows_past_the_bounds_are_told(self, remote: Any) -> None:
        with pytest.raises(WorkerFailed, match=r"zeros returned an array of shape \(33554432, 0\); this stage takes"):
            remote.zeros((1 << 25, 0))

    def test_a_change_may_be_as_large_as_what_was_sent(self, start: Start, tier: tiers.Tier) -> None:
        process = start(MODULE, tier, result_mb=1, result_rows=100)
        learner, x = process.open(), np.zeros(1 << 20)
        learner.fill(x)
        assert (x == 1).all()
        process.done()
        process.process.kill()

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

    def test_a_value_that_contains_itself_is_refused(self, remote: Any) -> None:
        with pytest.raises(WorkerFailed, match="scribble returned a value that contains itself") as caught:
            remote.scribble()
        assert caught.value.status == "failed"

    def test_module_attributes_that_are_values(self, remote: Any) -> None:
        assert remote.constant.tolist() == [0, 1, 2] and remote.tanh(0.0) == 0.0

    def test_named_tuples_and_ordered_dicts(self, remote: Any) -> None:
        pair = remote.pair()
        assert (pair.left, pair[1].tolist(), len(pair)) == (1, [1, 1], 2)
        assert remote.ordered() == {"a": 1}

    def test_each_test_starts_from_the_module_as_it_was_loaded(self, process: Learner) -> None:
        assert process.open().count() == 1
        assert process.open().count() == 1


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
