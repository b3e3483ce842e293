"""Which known mistake explains a wrong answer: named when it is the only one, silent otherwise."""

from __future__ import annotations

import textwrap
import types
from typing import Any

import numpy as np
import pytest

from grader.course.answers import load_mistakes
from grader.course.stage import Tolerance
from grader.diagnosis.diagnostician import Diagnostician
from grader.diagnosis.replay import Replay, same_array
from grader.remote.proxies import RemoteValue
from grader.remote.record import Record
from grader.tests.conftest import Learner, SmallCourse, Start

MANIFEST = """
    schema = 1
    id = "s90"
    title = "Small things"
    module = "small.py"
    requires = []
    opaque = ["forward"]

    [[criteria]]
    id = "softmax"
    text = "softmax sums to one"
    functions = ["softmax"]
    needs = []
    hints = ["a", "b", "c"]

    [[criteria]]
    id = "backward"
    text = "backward gives gradients"
    functions = ["forward", "backward"]
    needs = []
    hints = ["a", "b", "c"]

    [[criteria]]
    id = "layer"
    text = "Layer adds"
    functions = ["Layer", "draw", "check", "first"]
    needs = []
    hints = ["a", "b", "c"]
"""

SOLUTION = """
    import numpy as np


    def softmax(x):
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)


    def forward(x, w):
        return x @ w, {"x": x, "w": w}


    def backward(grad, cache):
        return grad @ cache["w"].T, cache["x"].T @ grad


    def draw(rng, n):
        return rng.normal(size=n)


    def check(x):
        if x.ndim != 2:
            raise ValueError("two axes")
        return x


    def first(x):
        return x[0]


    class Layer:
        def __init__(self, b):
            self.b = b

        def forward(self, x):
            return x + self.b

        def __add__(self, b):
            return Layer(self.b + b)
"""

MISTAKES = """
    import numpy as np


    @mistake(criterion="softmax", replaces="softmax", text="wrong axis", fix="use the last")
    def softmax_along_the_first_axis(x):
        e = np.exp(x - x.max(axis=0, keepdims=True))
        return e / e.sum(axis=0, keepdims=True)


    @mistake(criterion="softmax", replaces="softmax", text="not divided", fix="divide")
    def softmax_without_division(x):
        return np.exp(x - x.max(axis=-1, keepdims=True))


    @mistake(criterion="softmax", replaces="softmax", text="twice", fix="once")
    def softmax_of_softmax(x):
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        return np.exp(e / e.sum(axis=-1, keepdims=True))


    @mistake(criterion="softmax", replaces="softmax", text="by the rows", fix="add up")
    def softmax_by_the_number_of_rows(x):
        return np.full(x.shape, 1 / len(x))


    @mistake(criterion="backward", replaces="backward", text="swapped", fix="swap back")
    def gradients_swapped(grad, cache):
        return cache["x"].T @ grad, grad @ cache["w"].T


    @mistake(criterion="layer", replaces="Layer.forward", text="subtracts", fix="add")
    def layer_subtracts(self, x):
        return x - self.b


    @mistake(criterion="layer", replaces="Layer.__iadd__", text="changes itself", fix="leave it out")
    def layer_changes_itself(self, b):
        self.b = self.b + b
        return self


    @mistake(criterion="layer", replaces="draw", text="uniform", fix="normal")
    def draws_from_the_uniform(rng, n):
        return rng.random(n)


    @mistake(criterion="layer", replaces="first", text="refuses", fix="give it")
    def refuses_everything(x):
        raise IndexError("empty")


    @mistake(criterion="layer", replaces="first", text="the eighth", fix="the first")
    def takes_the_eighth(x):
        return x[7]


    @mistake(criterion="layer", replaces="check", text="no check", fix="check")
    def lets_everything_through(x):
        return x


    @mistake(criterion="layer", replaces="check", text="in place", fix="copy")
    def changes_its_argument(x):
        x += 1
        return x
"""


@pytest.fixture(scope="module")
def answers(small_course: SmallCourse) -> Diagnostician:
    small_course.write(manifest=MANIFEST, solution=SOLUTION, mistakes=MISTAKES)
    stage = small_course.stage
    return Diagnostician(stage, (small_course.hidden / "solution.py").read_text(), load_mistakes(stage))


class Module:
    """A learner's module: the solution with some definitions replaced, and what explains the calls made to it."""

    def __init__(self, learner: Learner, answers: Diagnostician) -> None:
        self.learner = learner
        self.remote: Any = learner.open()
        answers._left = 60.0  # the machine that runs the tests may be slow
        self.answers = answers

    def explained(self) -> list[str] | None:
        connection = self.learner.connection
        self.learner.done()  # as a session does: what is left is the record
        explained = self.answers.explain(connection.records, connection.names)
        return None if explained is None else [found.mistake for found in explained]


@pytest.fixture
def module(start: Start, answers: Diagnostician) -> Any:
    def make(replacement: str = "") -> Module:
        source = textwrap.dedent(SOLUTION) + textwrap.dedent(replacement)
        answers.learner = source.encode()
        return Module(start(source), answers)

    return make


X = np.array([[1.0, 2.0, 4.0], [0.0, 3.0, 1.0]])
FIRST_AXIS = """
    def softmax(x):
        return np.exp(x) / np.exp(x).sum(0)
"""


def test_a_mistake_written_in_another_way_is_named(module: Any) -> None:
    found = module(FIRST_AXIS)
    found.remote.softmax(X)
    assert found.explained() == ["softmax-along-the-first-axis"]


def test_every_call_of_the_test_has_to_agree(module: Any) -> None:
    found = module("def softmax(x):\n    return np.exp(x) / np.exp(x).sum(0) + (x.shape[0] == 3)\n")
    found.remote.softmax(X)
    found.remote.softmax(np.ones((3, 2)))
    assert found.explained() == []


def test_an_answer_that_nothing_explains_stays_unexplained(module: Any) -> None:
    found = module("def softmax(x):\n    return x * 3\n")
    found.remote.softmax(X)
    assert found.explained() == []


def test_two_that_explain_it_alike_are_both_returned(module: Any) -> None:
    """It is for the verdict to narrow them by the row's other tests, or to stay silent."""
    equal = np.array([[3.0], [3.0]])  # of two equal rows each gets a half, by either mistake
    found = module(FIRST_AXIS)
    found.remote.softmax(equal)
    assert found.explained() == ["softmax-along-the-first-axis", "softmax-by-the-number-of-rows"]
    found = module(FIRST_AXIS)
    found.remote.softmax(X)
    assert found.explained() == ["softmax-along-the-first-axis"]


def test_silent_where_the_reference_gives_the_same_answers(module: Any) -> None:
    """As when the test looked at something else: a right answer is explained by no mistake."""
    found = module()
    found.remote.softmax(np.array([[3.0]]))  # 1, which softmax without division gives too
    assert found.explained() is None


def test_a_mistake_in_a_function_that_did_not_run_is_not_tried(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []
    repeats = Diagnostician._repeats

    def noted(self: Diagnostician, mistake: Any, *given: Any) -> bool:
        tried.append(mistake.replaces)
        return repeats(self, mistake, *given)

    monkeypatch.setattr(Diagnostician, "_repeats", noted)
    found = module("class Layer:\n    def __init__(self, b):\n        self.b = b + 1\n")
    assert found.remote.Layer(2.0).b == 3.0
    assert found.explained() == []
    assert tried == ["Layer.__iadd__"]  # the reference has none, so that nothing tells whether it would run


def test_silent_without_calls(module: Any) -> None:
    assert module(FIRST_AXIS).explained() is None


def test_silent_where_the_worker_failed(module: Any) -> None:
    found = module("def softmax(x):\n    import os\n    os._exit(1)\n")
    with pytest.raises(Exception, match="ended without an answer"):
        found.remote.softmax(X)
    assert found.explained() is None


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


def test_an_exception_that_is_missing(module: Any) -> None:
    found = module("def check(x):\n    return x\n")
    found.remote.check(np.ones(3))
    assert found.explained() == ["lets-everything-through"]


def test_an_exception_of_the_same_kind_agrees(module: Any) -> None:
    found = module("class Mine(ValueError):\n    pass\ndef check(x):\n    raise Mine\n")
    with pytest.raises(ValueError):
        found.remote.check(np.ones(3))
    assert found.explained() is None


def test_an_exception_in_its_own_words_agrees_with_another_such(module: Any) -> None:
    found = module("def first(x):\n    raise IndexError('nothing there')\n")
    with pytest.raises(IndexError):
        found.remote.first(np.ones(3))
    assert found.explained() == ["refuses-everything"]


def test_an_exception_of_numpys_agrees_where_the_message_does(module: Any) -> None:
    found = module("def first(x):\n    place = 7\n    return x[place]\n")
    with pytest.raises(IndexError):
        found.remote.first(np.ones(3))
    assert found.explained() == ["takes-the-eighth"]
    found = module("def first(x):\n    return x[9]\n")
    with pytest.raises(IndexError):
        found.remote.first(np.ones(3))
    assert found.explained() == []


def test_an_exception_that_any_slip_may_end_in_is_told_apart_by_its_numbers(module: Any) -> None:
    found = module("""
        def first(x):
            return x[7]

        def softmax(x):
            return range(1.0 * len(x))
    """)
    for name in ("first", "softmax"):
        with pytest.raises((IndexError, TypeError)):
            getattr(found.remote, name)(np.ones(3))
    own = types.ModuleType("own")
    exec("def first(x):\n    return x[7]\n\ndef softmax(x):\n    return range(1.0 * len(x))\n", own.__dict__)
    with_numbers, without = found.learner.connection.records
    replay = Replay(own, found.answers.stage, found.learner.connection.names)
    assert replay.agrees([with_numbers]) and replay.agrees([without])
    replay.by_details = True
    assert replay.agrees([with_numbers]) and not replay.agrees([without])


def test_a_change_in_place_is_part_of_the_answer(module: Any) -> None:
    found = module("def check(x):\n    x += 1\n    return x\n")
    found.remote.check(np.ones(3))
    assert found.explained() == ["changes-its-argument"]


@pytest.mark.parametrize(
    "answer",
    [
        "[Layer(1), Layer(2)]", "Layer(1)", "[[1], [2, 3]]", "None", "'text'", "{1: 2}", "10 ** 4000",
        "(x for x in ())", "np.float32",
        "[Layer, {'a': Layer(1)}]", "np.array(['a'])", "float('nan')", "1 + 2j", "[]", "range(3)",
        "{(1, 2)}", "np.random.default_rng(1)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("call", ["softmax", "check", "forward"])
def test_no_answer_stops_the_diagnosis(strange: Learner, answers: Diagnostician, answer: str, call: str) -> None:
    """Whatever a learner returns is compared with arrays, tuples and numbers of ours."""
    found = Module.__new__(Module)
    found.learner, found.answers = strange, answers
    remote: Any = strange.open()
    remote.say(answer)
    connection = strange.connection
    connection.records.clear()
    getattr(remote, call)(*((X, np.ones((3, 1))) if call == "forward" else (X,)))
    if call == "check":
        found.answers.explain(connection.records, connection.names)  # while the process still answers
    assert isinstance(found.explained(), list | None)


def test_an_object_that_is_unknown_here_agrees_with_nothing(module: Any) -> None:
    """A process can hand out a number that no request made, and a test passes it on."""
    found = module(FIRST_AXIS)
    unknown = RemoteValue(found.learner.connection, 77, "object", "Thing", ())
    record = Record("call", 1, "", "softmax", (unknown,), {}, given=(unknown,), result=1.0)
    assert not Replay(found.answers.reference, found.answers.stage, {}).agrees([record])
    assert found.answers.explain([record], {}) == ()


def test_an_exception_that_was_returned_is_no_number(module: Any) -> None:
    found = module("""
        def softmax(x):
            return ValueError("no")
    """)
    found.remote.softmax(X)
    (record,) = found.learner.connection.records
    assert not Replay(found.answers.reference, found.answers.stage, {}).agrees([record])
    assert not found.explained()


@pytest.fixture(scope="module")
def strange(start: Start) -> Learner:
    return start(
        textwrap.dedent(SOLUTION)
        + textwrap.dedent("""
        said = []

        def say(text):
            said.append(text)

        def softmax(*args):
            return eval(said[-1])

        check = forward = softmax
        """)
    )


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (np.ones(2), np.ones(2), True),
        (np.ones(2), np.ones(3), False),
        (np.ones(2), np.ones(2, int), False),
        (np.ones(2), np.ones(2) + 1e-12, True),
        (np.ones(2), np.ones(2) + 1e-4, False),
        (np.ones(2, "f4"), np.ones(2) + 1e-6, True),
        (np.array([np.nan, 1]), np.array([np.nan, 1]), True),
        (np.array([np.nan, 1]), np.array([1, np.nan]), False),
        (np.array([np.inf]), np.array([-np.inf]), False),
        (np.array([1e300, 1]), np.array([1e300, 1]), True),
        (1.0, np.float64(1.0), True),
        (np.array([True]), np.array([True]), True),
        (np.array([None]), np.array([None]), False),
        ([[1], [2, 3]], np.ones(2), False),
        (np.empty(0), np.empty(0), True),
    ],
    ids=str,
)
def test_the_same_array(a: object, b: object, same: bool) -> None:
    assert same_array(a, b, Tolerance(), exact=False) is same


def test_exactly_the_same_array_has_its_dtype_too() -> None:
    assert same_array(np.ones(2), np.ones(2), Tolerance(), exact=True)
    assert not same_array(np.ones(2), np.ones(2, "f4"), Tolerance(), exact=True)


def test_the_time_for_it_is_bounded(answers: Diagnostician, module: Any) -> None:
    found = module(FIRST_AXIS)
    found.remote.softmax(X)
    found.answers._left = 0.0
    assert found.explained() is None
