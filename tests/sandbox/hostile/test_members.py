"""What an object of a learner's answers, and that no answer of it enters NumPy or a comparison, in each tier."""

from __future__ import annotations

import copy
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grader.isolation import tiers
from grader.sandbox.values import NotAsked, NotPlain, Unusable
from grader.testing import assert_equal, assert_shape
from tests.conftest import Learner, Start
from tests.sandbox.hostile.pretenders import CONTRACT, MODULE

USES: dict[str, Callable[[Any], Any]] = {
    "np.std": np.std, "np.mean": np.mean, "np.sum": np.sum, "np.asarray": np.asarray,
    "np.array in a list": lambda x: np.array([x]), "np.allclose": lambda x: np.allclose(x, 0.125),
    "np.isfinite": np.isfinite, "np.linalg.norm": np.linalg.norm,
    "np.array_equal": lambda x: np.array_equal(x, np.ones(2)), "np.float64": np.float64,
    "np.dot": lambda x: np.dot(np.ones(2), x), "np.testing": lambda x: np.testing.assert_allclose(x, 0.125),
    "np.add": lambda x: np.add(1.0, x), "np.add.reduce": np.add.reduce, "ndarray ==": lambda x: np.ones(2) == x,
    "ndarray -": lambda x: np.ones(2) - x, "ndarray < ": lambda x: np.ones(2) < x,
    "== ndarray": lambda x: x == np.ones(2), "+": lambda x: x + 1, "reflected +": lambda x: 1 + x,
    "-": lambda x: x - 1, "@": lambda x: x @ np.ones(2), "neg": operator.neg, "abs": abs, "==": lambda x: x == 0.125,
    "!=": lambda x: x != 0.125, "== itself": lambda x: x == x, "<": lambda x: x < 1, ">=": lambda x: x >= 1,
    "reflected <": lambda x: x > 1, "in": lambda x: 0.125 in x, "bool": bool, "not": operator.not_, "float": float,
    "int": int, "complex": complex, "round": round, "len": len, "index": lambda x: [1, 2, 3][x], "range": range,
    "list": list, "sum": sum, "sum of": lambda x: sum([x]), "max": max, "min of": lambda x: min(x, 1),
    "sorted": sorted, "sorted of": lambda x: sorted([x, 1]), "getitem": lambda x: x[0],
    "math.isclose": lambda x: math.isclose(x, 1), "pytest.approx": lambda x: x == pytest.approx(0.125),
    "approx ==": lambda x: pytest.approx(0.125) == x, "iadd": lambda x: x.__iadd__(1),
    "slice": lambda x: np.ones(4)[x], "next": next,
}  # fmt: skip


@pytest.fixture(scope="module")
def process(tier: tiers.Tier, start: Start) -> Learner:
    return start(MODULE, tier, contract=CONTRACT)


class TestNoObjectIsANumber:
    @pytest.mark.parametrize("use", USES.values(), ids=USES)
    def test_of_a_class_that_nobody_named(self, remote: Any, use: Callable[[Any], Any]) -> None:
        found = remote.told()
        with pytest.raises(
            TypeError, match=r"told returned an instance of Told, which .+ cannot use: expected an array, a number"
        ):
            use(found)

    @pytest.mark.parametrize("use", [np.std, np.asarray, lambda x: x + 1, lambda x: x == 1, float, len, list])
    def test_of_a_named_class(self, remote: Any, use: Callable[[Any], Any]) -> None:
        with pytest.raises(TypeError, match="an instance of Deep"):
            use(remote.Deep())

    @pytest.mark.parametrize("use", [np.std, len, lambda x: x == 1, lambda x: x + 1])
    def test_functions_and_classes(self, remote: Any, use: Callable[[Any], Any]) -> None:
        for found in (remote.told, remote.Layer, remote.Layer().forward, remote.batches()):
            with pytest.raises(NotPlain):
                use(found)

    def test_within_containers(self, remote: Any) -> None:
        found = remote.several()
        for use in (
            np.std,
            np.asarray,
            lambda x: np.allclose(x, 1),
            lambda x: x[1]["W"].std(),
            lambda x: x[0] + x[1]["W"],
        ):
            with pytest.raises(Unusable):
                use(found)
        with pytest.raises(AssertionError):
            assert_shape(found[0], (2, 2))
        with pytest.raises(AssertionError):
            assert_equal(found[1], {"W": 0.125})

    def test_it_can_be_held_and_passed_back(self, remote: Any) -> None:
        result, cache = remote.forward(np.arange(3.0))
        assert result.tolist() == [0, 2, 4] and cache is not None and {cache: 1}[cache] == 1 and cache in [cache]
        assert remote.backward(np.ones(3), cache).tolist() == [0, 1, 2]
        assert "Cache" in repr(cache) and "Cache" in f"{cache}"


class TestMembers:
    def test_what_is_listed_is_answered(self, remote: Any) -> None:
        layer = remote.Deep()
        assert layer.bias == 1 and layer.forward(np.full(2, 3.0)).tolist() == [3, 3] and remote.Layer.bias == 1
        layer.params = {"W": np.zeros(2)}
        assert layer.forward(np.full(2, 3.0)).tolist() == [0, 0] and isinstance(layer * 2, remote.Layer)

    @pytest.mark.parametrize("use", [lambda x: x.std(), lambda x: x.kind, lambda x: setattr(x, "kind", "told"), np.std])
    def test_what_is_not_listed_is_not(self, remote: Any, use: Callable[[Any], Any]) -> None:
        with pytest.raises(Unusable):
            use(remote.Layer())
        with pytest.raises(NotAsked, match=r"Layer\.std: this stage does not list 'std'"):
            remote.Layer().std()
        assert not hasattr(remote.Layer, "std")

    def test_a_class_that_nobody_named_has_no_members(self, remote: Any) -> None:
        for found, name in ((remote.other(), "params"), (remote.Layer().weights, "value"), (remote.told(), "std")):
            with pytest.raises(
                NotAsked, match=f"an instance of [A-Z][a-z]+: this stage does not use its attribute '{name}'"
            ):
                getattr(found, name)

    def test_generators_and_iterators_are_iterated_over(self, remote: Any) -> None:
        assert [each.sum() for each in remote.batches()] == [2, 0] and list(remote.lazily()) == [1, 2]
        assert next(remote.lazily()) == 1 and max(remote.lazily()) == 2 and 2.0 in remote.lazily()
        with pytest.raises(NotAsked):
            remote.batches().std()


class TestContainers:
    def test_a_list_of_its_own_class_is_a_list(self, remote: Any) -> None:
        found = remote.rows()
        assert np.std(found) == 1 and np.mean(found) == 2 and not hasattr(found, "shape")
        with pytest.raises(AttributeError, match=r"a Rows is taken as the plain list .* has no 'std'"):
            found.std()

    @pytest.mark.parametrize("kind", ["plain", "table", "ordered", "default", "scalars"])
    def test_dicts_of_arrays(self, remote: Any, kind: str) -> None:
        found = remote.Layer(kind).params
        assert np.std(found["W"]) == 0 and dict(found.items())["W"].sum() in (1, 2)
        assert type(copy.copy(found)) is dict

    @pytest.mark.parametrize(
        ("kind", "got"),
        [
            ("told", "an instance of Told for 'W'"), ("object", "an instance of Told"), ("list", "a list"),
            ("text", "an array of dtype <U3 for 'W'"),
        ],
    )  # fmt: skip
    def test_no_dict_of_arrays(self, remote: Any, kind: str, got: str) -> None:
        with pytest.raises(Unusable, match=f"^params of Layer: expected a dict of arrays, got {got}$"):
            _ = remote.Layer(kind).params
