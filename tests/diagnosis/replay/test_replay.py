"""What has to agree when a call is replayed: its result, its objects, its generators and what it changed in place."""

from __future__ import annotations

import types
from types import SimpleNamespace
from typing import Any

import numpy as np

from grader.course.stage import Tolerance
from grader.diagnosis.replay import Replay
from grader.sandbox.proxies import RemoteValue
from grader.sandbox.record import Record, copied_value
from tests.diagnosis.replay.replayed import FIRST_AXIS, X


def test_a_cache_of_the_learners_own_layout_is_not_compared(module: Any) -> None:
    found = module("""
        def forward(x, w):
            return x @ w, (w, "mine", x)

        def backward(grad, cache):
            w, _, x = cache
            return x.T @ grad, grad @ w.T
    """)
    x, w = np.arange(4.0).reshape(2, 2), np.array([[1.0, 2.0], [0.0, 1.0]])
    out, cache = found.remote.forward(x, w)
    found.remote.backward(out, cache)
    assert found.explained() == ["gradients-swapped"]


def test_a_wrong_result_beside_the_cache_is_compared(module: Any) -> None:
    found = module("def forward(x, w):\n    return x @ w + 1, None\n")
    found.remote.forward(X, np.ones((3, 1)))
    assert found.explained() == []


def test_instances(module: Any) -> None:
    found = module("""
        class Layer:
            def __init__(self, b):
                self.offset = b

            def forward(self, x):
                return x - self.offset
    """)
    assert found.remote.Layer(np.ones(3)).forward(X).shape == (2, 3)
    assert found.explained() == ["layer-subtracts"]


def test_an_object_that_was_changed_in_place_is_not_a_new_one(module: Any) -> None:
    found = module("""
        class Layer(Layer):
            def __iadd__(self, b):
                self.b += b
                return self
    """)
    before = layer = found.remote.Layer(1.0)
    layer += 2.0
    assert (before.b, layer.b) == (3.0, 3.0)
    assert found.explained() == ["layer-changes-itself"]


def test_random_generators_are_replayed_from_where_they_stood(module: Any) -> None:
    found = module("def draw(rng, n):\n    return rng.uniform(size=n)\n")
    rng = np.random.default_rng(3)
    rng.random(5)
    found.remote.draw(rng, 4)
    found.remote.draw(rng, 2)
    assert found.explained() == ["draws-from-the-uniform"]


def test_a_change_in_place_is_part_of_the_answer(module: Any) -> None:
    found = module("def check(x):\n    x += 1\n    return x\n")
    found.remote.check(np.ones(3))
    assert found.explained() == ["changes-its-argument"]


def test_an_object_that_is_unknown_here_agrees_with_nothing(module: Any) -> None:
    """A process can hand out a number that no request made, and a test passes it on."""
    found = module(FIRST_AXIS)
    unknown = RemoteValue(found.learner.connection, 77, "object", "Thing", ())
    record = Record("call", 1, "", "softmax", (unknown,), {}, given=(unknown,), result=1.0)
    assert not Replay(found.answers.reference, found.answers.stage, {}).agrees([record])


def test_where_classes_count_objects_of_another_class_of_the_checklist_are_others() -> None:
    """A list of as many layers, of which others are left out, is another answer; a class of one's own has any name."""

    class Pool: ...

    class Bend: ...

    module = types.ModuleType("small")
    module.net = lambda: [Bend(), Pool()]  # type: ignore[attr-defined]
    rows = (SimpleNamespace(functions=("net", "Pool")),)
    stage: Any = SimpleNamespace(tolerance=Tolerance(), criteria=rows, opaque=())
    nobody: Any = None
    for names, is_alike in (("Relu", "Pool"), True), (("Pool", "Relu"), False):
        result: Any = [RemoteValue(nobody, number, "object", name, ()) for number, name in enumerate(names, 2)]
        for by_class in (False, True):
            replay = Replay(module, stage, {})
            replay.objects[1], replay.by_class = module.net, by_class
            assert replay.agrees([Record("call", 1, "", "net", (), {}, result=result)]) == (is_alike or not by_class)


def test_where_a_function_with_a_cache_raised_what_it_has_to_give_is_compared_without_it() -> None:
    """Of the learner's there is no cache that another could stand for: a repair is held against such a record, too."""
    module = types.ModuleType("small")
    module.forward = lambda x: (x + 1, {"x": x})  # type: ignore[attr-defined]
    stage: Any = SimpleNamespace(tolerance=Tolerance(), criteria=(), opaque=("forward",))
    replay = Replay(module, stage, {})
    replay.objects[1] = module.forward
    right, wrong = ((X + add, None) for add in (1, 2))
    records = [Record("call", 1, "", "forward", (X,), {}, given=(X,), result=result) for result in (right, wrong)]
    assert [replay.agrees([each]) for each in records] == [True, False]


def test_an_array_that_can_only_be_read_cannot_be_changed_here_either() -> None:
    module = types.ModuleType("small")
    module.halve = lambda x: x.__itruediv__(2.0)  # type: ignore[attr-defined]
    stage: Any = SimpleNamespace(tolerance=Tolerance(), criteria=(), opaque=())
    replay = Replay(module, stage, {})
    replay.objects[1] = module.halve
    fixed = np.ones(3)
    fixed.flags.writeable = False
    error = ValueError("output array is read-only")
    assert replay.agrees([Record("call", 1, "", "halve", (fixed,), {}, given=(fixed,), error=error)])
    assert copied_value([fixed])[0].flags.writeable is False
