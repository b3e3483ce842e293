"""What a test can do with objects of a learner's module in another process, through a real worker in each tier."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.isolation import tiers
from grader.protocol import codec
from tests.conftest import Learner, Start
from tests.sandbox.learners import MODULE
from tests.sandbox.vectors import CONTRACT


@pytest.fixture(scope="module")
def process(tier: tiers.Tier, start: Start) -> Learner:
    return start(MODULE, tier, contract=CONTRACT)


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
        w = v
        w += 1  # there is no __iadd__: a new object
        assert (w.x, v.x) == (10, 9)
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

    def test_handles_are_useless_in_the_next_test(self, process: Learner) -> None:
        old = process.open()
        v = old.Vector(1, 2)
        new = process.open()
        with pytest.raises(codec.WireError, match="of another test"):
            new.same(v)
        with pytest.raises(codec.WireError, match="of another test"):
            _ = v.x
        assert new.Vector(5, 6).x == 5
        process.done()
