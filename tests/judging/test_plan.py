"""What a suite's tests ask, learnt from its reference: whole, in order, and nothing ahead of its answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from grader.course.manifest import load_course
from grader.course.stage import Course
from grader.isolation import tiers
from grader.judging import plugin
from grader.judging.grading import Grader, Options
from grader.judging.plan import _Held, _Provider, _served, is_plannable
from grader.judging.pytest_suite import Suite, name_of
from grader.judging.running import Attempt, is_plain, run_phases
from grader.protocol import codec
from grader.protocol.channel import Channel
from grader.sandbox.connection import KEEP, NEXT_TEST
from grader.sandbox.record import Record
from grader.sandbox.recorded import Batch, Plan, PlannedTest, Step, digest_of_all
from grader.submission import take
from grader.worker.server import Server, perform
from tests.conftest import SmallCourse
from tests.support import good_stage

pytestmark = pytest.mark.skipif(not tiers.FORKS, reason="a plan is made where judges are forked")
COURSE = Path(__file__).resolve().parents[2]
STAGES = ["s01", "s03", "s05", "s09", "s10", "s13", "s15", "s22"]


@pytest.fixture(scope="module")
def course() -> Course:
    return load_course(COURSE)


@pytest.fixture(scope="module", params=[pytest.param(each, marks=pytest.mark.some_of(8)) for each in STAGES])
def planned(course: Course, request: pytest.FixtureRequest) -> Iterator[tuple[Suite, Plan]]:
    """A stage's suite, and its plan for a seed."""
    stage = course.find(request.param)
    with Grader(course, stage, warm=True) as grader:
        suite, options = grader._loaded(), Options(5, "process")
        assert grader._plan(options, "process") is None
        plan = grader._plan(options, "process")
        assert plan is not None
        yield suite, plan


def test_most_tests_are_planned(planned: tuple[Suite, Plan]) -> None:
    suite, plan = planned
    able = [name_of(item) for item in suite.items if is_plannable(suite, item)]
    assert set(plan) <= set(able) and len(plan) > 0.6 * len(suite.items)
    assert all(each.passing == {digest_of_all(step.digest for step in each.steps)} for each in plan.values())


class Far:
    """Stands for the channel to a learner's process, which is the reference here; it looks at what is sent, and when.

    sent has (test, step) of each question that was sent; answered counts those that were answered. free says how many
    of a test's questions hold nothing of an answer.
    """

    def __init__(self, channel: Channel, free: list[int]) -> None:
        self._channel = channel
        self._free = free
        self._waiting: list[bytes] = []
        self.sent: list[tuple[int, int]] = []
        self.answered = 0

    def send(self, buffers: list[Any], deadline: float | None = None) -> None:
        data = b"".join(buffers)
        while data:
            _, body, blob = codec.HEADER.unpack(data[: codec.HEADER.size])
            frame, data = data[: codec.HEADER.size + body + blob], data[codec.HEADER.size + body + blob :]
            if frame == KEEP:  # it asks nothing
                self._waiting.append(frame)
                continue
            test, step = self.sent[-1] if self.sent else (0, -1)
            if frame == NEXT_TEST:
                self.sent.append((test + 1, -1))
                self._waiting.append(frame)
                continue
            if step == -1 and self.sent:
                self.sent.pop()
            self.sent.append((test, step + 1))
            if step + 1 >= self._free[test]:
                assert self.answered == len(self.sent) - 1, "a question holds what was not answered yet"
            self._waiting.append(frame)

    def receive(self, deadline: float | None, most: tuple[int, int]) -> Any:
        while self._waiting and self._waiting[0] in (KEEP, NEXT_TEST):
            self._channel.send([self._waiting.pop(0)])
        self._channel.send([self._waiting.pop(0)])
        self.answered += 1
        return self._channel.receive(deadline, most)

    def pending(self) -> bool:
        return False


def test_no_question_is_sent_before_the_answers_that_it_may_hold(planned: tuple[Suite, Plan]) -> None:
    suite, plan = planned
    tests = [each.steps for each in plan.values()]
    with suite.in_place(), _served(suite.stage) as (channel, _):
        far = Far(channel, [each.free for each in plan.values()])
        near: Any = SimpleNamespace(channel=far, bounds=codec.Bounds(), call_seconds=20, ends_at=1e12)
        answers = Batch(near, list(plan.values())).asked()
    alike = [each.digest == digest_of_all(s.digest for s in steps) for each, steps in zip(answers, tests, strict=True)]
    assert sum(alike) > 0.9 * len(tests)  # some functions draw without a seed
    assert {test for test, _ in far.sent} == set(range(len(tests))) and far.sent == sorted(far.sent)


def test_a_question_that_holds_nothing_of_an_answer_stays_what_it_is_when_all_answers_change(
    planned: tuple[Suite, Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each number is another one here, by less than a test can notice: what was made of one differs as well."""
    suite, plan = planned
    monkeypatch.setattr(Server, "_perform", staticmethod(lambda *request: changed(perform(*request))))
    same = other = 0
    with suite.in_place(), _served(suite.stage) as (channel, names):
        provider = _Provider(suite, 5, channel, names)
        suite.config.stash[plugin.PROVIDER] = provider
        for item in [item for item in suite.items if name_of(item) in plan]:
            provider._made = None
            assert is_plain(item)
            run_phases(item, None, Attempt(item))
            assert provider._made is not None
            recording, connection, _ = provider._made
            connection.end()
            channel.send([NEXT_TEST])
            known = plan[name_of(item)]
            asked = [step.sent for step in recording.steps]
            for at, (now, step) in enumerate(zip(asked, known.steps, strict=False)):
                if at < known.free:
                    assert now == step.sent, (name_of(item), at)
                    same += at > 0
                else:
                    other += now != step.sent
    assert same > 0 or all(each.free == 1 for each in plan.values())


class Watching(_Held):
    """Keeps what each planned test asked, and how many of its questions may be sent ahead."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[list[Step], list[Record], int]] = []

    def free(self, steps: Sequence[Step], records: Sequence[Record]) -> int:
        found = super().free(steps, records)
        self.seen.append((list(steps), list(records), found))
        return found


def test_no_question_that_is_sent_ahead_holds_an_array_that_was_answered_before(planned: tuple[Suite, Plan]) -> None:
    """An oracle or an example may hold an answer that the test never asked for: that shows by its values alone."""
    suite, plan = planned
    watching, looked = Watching(), 0
    with suite.in_place(), _served(suite.stage) as (channel, names):
        provider = _Provider(suite, 5, channel, names)
        provider._held = watching
        suite.config.stash[plugin.PROVIDER] = provider
        for item in [item for item in suite.items if name_of(item) in plan]:
            provider.planned(item, None)
    asked: list[Any] = []
    answered: list[Any] = []
    for steps, records, free in watching.seen:
        for at, record in enumerate(records):
            own = list(telling(steps[at].given() if steps else [record.args, record.kwargs]))
            if at < free:
                early = [each for each in own if is_among(each, answered) and not is_among(each, asked)]
                assert not early, (record.label, early[0])
                looked += len(own)
            asked += own
            answered += telling(record.result)
    assert looked > 0


def telling(value: Any) -> Iterator[Any]:
    """Yield the arrays in a value that hold some number with a fraction."""
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from telling(each)
    elif isinstance(value, dict):
        yield from telling(list(value.values()))
    elif isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size > 1 and np.isfinite(value).all():
        yield from [value] * bool((value * 8 % 1 != 0).any())


def is_among(value: Any, others: list[Any]) -> bool:
    return any(each.shape == value.shape and np.allclose(each, value, rtol=1e-11, atol=0) for each in others)


def changed(value: Any) -> Any:
    """Return an answer with each of its numbers a little larger."""
    if isinstance(value, (float, np.floating)) or (isinstance(value, np.ndarray) and value.dtype.kind in "fc"):
        return value * (1 + 1e-12)
    if type(value) in (list, tuple):
        return type(value)(map(changed, value))
    if type(value) is dict:
        return {key: changed(each) for key, each in value.items()}
    return value


def test_only_answers_that_passed_with_the_same_names_pass() -> None:
    test = PlannedTest((), {"double": None})
    test.learn(b"right")
    assert test.is_passed_by(b"right", {}) and not test.is_passed_by(b"other", {})
    assert not test.is_passed_by(b"right", {"double": object()})  # type: ignore[dict-item]
    test.learn(b"other")
    assert test.is_passed_by(b"other", {})


@pytest.mark.full_matrix
@pytest.mark.parametrize("name", ["s03", "s15"])
def test_a_plan_changes_no_verdict(course: Course, name: str) -> None:
    """The alternatives and some known mistakes of a stage, with the plan of a seed and without: causes as well."""
    from grader.course.answers import alternative_sources, load_mistakes, reference_source

    stage = course.find(name)
    source = reference_source(stage)
    texts = [source, *alternative_sources(stage).values()]
    texts += [f"{source}\n\n{each.source}" for each in load_mistakes(stage)[::12]]
    names = list(dict.fromkeys(each for row in stage.criteria for each in row.functions if "." not in each))
    for begun in (1, len(names) // 2, len(names) - 1):
        unwritten = (f"def {each}(*given, **named):\n    raise NotImplementedError" for each in names[begun:])
        texts.append("\n\n".join([source, *unwritten]))
    with Grader(course, stage, warm=True) as planned, Grader(course, stage) as live:
        for text in [source, source, *texts]:
            path = stage.folder.parent.parent.parent / "handed_in.py"
            found = []
            for grader in (planned, live):
                snapshot = take(stage, _written(path, text), course.root)
                verdict = grader.grade(snapshot, Options(11, "process"))
                found.append([(row.id, row.status, row.failures) for row in verdict.criteria])
            assert found[0] == found[1]


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


CLOCKED = """
    import time as clock
    from time import perf_counter

    def now():
        return perf_counter()

    @pytest.fixture
    def started():
        return now()

    class Watch:
        def read(self):
            return clock.monotonic()

    @pytest.mark.criterion("total")
    def test_through_a_function(learner):
        assert now() < now()

    @pytest.mark.criterion("total")
    def test_through_a_fixture(learner, started):
        pass

    @pytest.mark.criterion("total")
    def test_through_a_class(learner):
        assert Watch().read()

    @pytest.mark.criterion("total")
    @pytest.mark.live
    def test_marked(learner):
        pass

    @pytest.mark.criterion("total")
    @pytest.mark.speed
    def test_of_speed(learner):
        pass

    @pytest.mark.criterion("half")
    def test_plain(learner):
        assert len("time") == 4
"""


def test_what_measures_is_not_planned(small_course: SmallCourse) -> None:
    """Only the test itself counts, with what it calls and takes: not what else stands in its file."""
    small_course.write(
        manifest=good_stage.MANIFEST.format(id="s90"), solution=good_stage.SOLUTION, hidden=CLOCKED, public=""
    )
    with Grader(small_course.course, small_course.stage) as grader:
        suite = grader._loaded()
        assert [item.name for item in suite.items if is_plannable(suite, item)] == ["test_plain"]


def test_a_question_about_an_object_that_is_not_there_costs_no_other_its_answer(course: Course) -> None:
    """Asked ahead, it may be about what a constructor was to give that raised."""
    absent = object()

    def asked(number: int, target: int, name: str, given: object = None) -> list[Any]:
        wrapping = codec.Encoder(lambda value: [codec.HANDLE, 999] if value is absent else None)
        channel.send(wrapping.frame([number, "getattr", target, name], [(given,), None]))
        return codec.Decoder().message(*channel.receive())

    with _served(course.find("s01")) as (channel, _):
        assert asked(1, 999, "size")[:2] == [1, "error"]
        assert asked(2, 0, "__name__", absent)[:2] == [2, "error"]
        assert asked(3, 0, "__name__")[:2] == [3, "ok"]


DEPENDENT = """
    @pytest.mark.criterion("total")
    def test_total_of_halves(learner):
        assert learner.total(learner.half(3.0)) == 3.0

    @pytest.mark.criterion("half")
    def test_half(learner):
        assert learner.half(1.0) == 0.5
"""
PUBLIC = """
    @pytest.mark.criterion("total")
    def test_total(learner):
        assert learner.total(0.0) == 0.0

    @pytest.mark.criterion("half")
    def test_half_of_two(learner):
        assert learner.half(2.0) == 1.0
"""


def _handed_in(course: SmallCourse, half: str) -> Path:
    """Write a stage with dependent questions, and a module whose `half` returns this."""
    source = "def half(x):\n    return {}\n\n\ndef total(x):\n    return 2 * x\n"
    manifest = good_stage.MANIFEST.format(id="s90")
    course.write(manifest=manifest, solution=source.format("x / 2"), hidden=DEPENDENT, public=PUBLIC)
    return _written(course.root.parent / "handed_in.py", source.format(half))


@pytest.mark.parametrize("half, strayed", [("x / 2", 0), ("x / 4", 1), ("[][0]", 0)], ids=["right", "wrong", "raises"])
def test_a_test_that_ends_with_an_exception_asks_no_more(small_course: SmallCourse, half: str, strayed: int) -> None:
    path = _handed_in(small_course, half)
    with Grader(small_course.course, small_course.stage, warm=True) as grader:
        assert grader.plan(Options(3, "process"))
        verdict = grader.grade(take(small_course.stage, path, small_course.root), Options(3, "process"))
        assert len(grader.strayed) == strayed
        assert {row.status for row in verdict.criteria} == {"passed" if half == "x / 2" else "failed"}


@pytest.mark.parametrize("recurs", [False, True])
def test_a_seed_that_recurs_is_planned_before_its_first_grading(small_course: SmallCourse, recurs: bool) -> None:
    path = _handed_in(small_course, "x / 4")
    with Grader(small_course.course, small_course.stage, warm=True) as grader:
        grader.grade(take(small_course.stage, path, small_course.root), Options(3, "process", recurs=recurs))
        assert len(grader.strayed) == recurs  # without a plan nothing strays from it


SHARED = """
    import numpy as np

    pytestmark = pytest.mark.values
    NUMBERS = np.array([3.0, 1.0, 2.0])

    @pytest.mark.criterion("total")
    def test_the_total(learner):
        assert learner.total(NUMBERS) == 6.0

    @pytest.mark.criterion("half")
    def test_the_half(learner):
        assert learner.half(NUMBERS) == 3.0

    @pytest.mark.criterion("half")
    def test_the_half_once_more(learner):
        assert learner.half(NUMBERS) == 3.0
"""
RIGHT = """
    def total(x):
        return sum(x)

    def half(x):
        return sum(x) / 2
"""
CHANGING = """
    def total(x):
        x *= 2
        return sum(x) / 2

    def half(x):
        x *= 2
        return sum(x) / 4
"""


def test_a_constant_of_the_test_file_stays_what_it_is_where_planned_calls_change_it(small_course: SmallCourse) -> None:
    """Else the reference fails the tests that come after, and what is the learner's fault is the grader's."""
    manifest = good_stage.MANIFEST.format(id="s90")
    small_course.write(manifest=manifest, solution=RIGHT, hidden=SHARED, public=SHARED)
    path = small_course.root.parent / "handed_in.py"
    small_course._put(path, CHANGING)
    with Grader(small_course.course, small_course.stage, warm=True) as grader:
        assert grader.plan(Options(3, "process"))
        verdict = grader.grade(take(small_course.stage, path, small_course.root), Options(3, "process"))
    assert {(row.status, row.tests_passed) for row in verdict.criteria} == {("failed", 0)}


DRAWING = """
    @pytest.mark.criterion("total")
    def test_beside_a_generator_of_its_own(learner, rng):
        learner.half(rng.spawn(1)[0])
        assert abs(learner.total([rng.normal()])) >= 0.0

    @pytest.mark.criterion("half")
    def test_with_what_is_drawn_afterwards(learner, rng):
        learner.half(rng)
        assert abs(learner.total([rng.normal()])) >= 0.0
"""
SUMMED = """
    @pytest.mark.criterion("total")
    def test_total(learner):
        assert learner.total([1.0, 2.0]) == 3.0
"""
DRAWS = "def half(rng):\n    return rng.normal(size={})\n\n\ndef total(x):\n    return sum(x)\n"


def test_what_is_drawn_from_a_generator_that_a_module_has_drawn_from_waits_for_its_answer(
    small_course: SmallCourse,
) -> None:
    manifest = good_stage.MANIFEST.format(id="s90")
    small_course.write(manifest=manifest, solution=DRAWS.format(3), hidden=DRAWING, public=SUMMED)
    with Grader(small_course.course, small_course.stage, warm=True) as grader:
        plan = grader.plan(Options(3, "process"))
        assert plan is not None and sorted((each.free, len(each.steps)) for each in plan.values()) == [
            (1, 1),
            (1, 2),
            (2, 2),
        ]
        for size, strayed in (("3", 0), ("5", 1)):
            path = _written(small_course.root.parent / "handed_in.py", DRAWS.format(size))
            verdict = grader.grade(take(small_course.stage, path, small_course.root), Options(3, "process"))
            assert verdict.passed and len(grader.strayed) == strayed
