"""A small stage whose tests write down that they ran, and a grader for it that is kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.judging.grading import Grader, Options
from grader.judging.recall.memory import Memories, Memory
from grader.outcome import Outcome
from grader.submission import take
from grader.tests.support import good_stage
from grader.tests.support.small_course import Graded, SmallCourse

MANIFEST = good_stage.MANIFEST.format(id="s90").replace("total", "double")
MANIFEST = MANIFEST.replace('names = ["numpy.linalg"]', "names = []")  # one module of these tests looks at itself
RIGHT = """
    import numpy as np

    def double(x):
        return 2 * x

    def half(x):
        if x is None:
            raise ValueError("nothing has no half")
        return x / 2
"""
HIDDEN = """
    from pathlib import Path

    pytestmark = pytest.mark.values
    RUN = Path("{run}")

    @pytest.fixture(autouse=True)
    def noted(request):
        with RUN.open("a") as run:
            run.write(request.node.name + "\\n")

    @pytest.mark.criterion("double")
    class TestDouble:
        def test_one(self, learner):
            assert learner.double(1) == 2

        def test_drawn(self, learner, rng):
            x = rng.standard_normal(4)
            assert_array(learner.double(x), 2 * x)

        def test_twice(self, learner):
            assert learner.double(learner.double(3)) == 12

    @pytest.mark.criterion("half")
    class TestHalf:
        def test_one_half(self, learner):
            assert learner.half(1) == 0.5

        def test_of_double(self, learner):
            assert learner.half(learner.double(7)) == 7

        def test_nothing(self, learner):
            with pytest.raises(ValueError):
                learner.half(None)

        @pytest.mark.speed
        def test_takes_no_time(self, learner):
            assert learner.half(2) == 1
"""
PUBLIC = """
    import time

    @pytest.mark.values
    @pytest.mark.criterion("double")
    def test_two(learner):
        from pathlib import Path
        with Path("{run}").open("a") as run:
            run.write("test_two\\n")
        assert learner.double(1) == 2
"""
ALWAYS = ["test_takes_no_time", "test_two"]  # one is about speed, and a clock is at hand in the file of the other
ALL = sorted([*ALWAYS, "test_drawn", "test_nothing", "test_of_double", "test_one", "test_one_half", "test_twice"])

WRONG = [
    ("return 2 * x", "return 3 * x"),
    ("return 2 * x", "return 2 * x if x is 1 else 3 * x"),
    ("return 2 * x", "raise NotImplementedError"),
    ("return x / 2", "return x"),
    ("return x / 2", "return double(x)"),
    ("raise ValueError", "raise TypeError"),
    ("return x / 2", "import os; os._exit(0)"),
    ("def half(x)", "def halve(x)"),
    ("def half(x)", "half = 0.5\n    def halve(x)"),
    ("return 2 * x", "x += x\n        return x"),
]


@dataclass
class Kept:
    """A grader that is kept, and which tests it ran last."""

    course: SmallCourse
    grader: Grader
    trace: Path

    def grade(self, source: str, seed: int = 1, **options: Any) -> Graded:
        self.trace.write_text("", encoding="utf-8")
        path = self.trace.with_suffix(".py")
        self.course._put(path, source)
        found: dict[str, Outcome] = {}
        snapshot = take(self.course.stage, path, self.course.root)

        def note(outcome: Outcome) -> None:
            assert outcome.test not in found or found[outcome.test].status != outcome.status  # told once, or otherwise
            found[outcome.test] = outcome

        verdict = self.grader.grade(snapshot, Options(seed, "process", **options), note)
        return Graded(verdict, {name.rpartition("::")[2]: outcome for name, outcome in found.items()})

    @property
    def memory(self) -> Memory | None:
        """What its grader remembers of the last seed."""
        return None if self.grader._memories is None else self.grader._memories.memory

    def remember(self, memory: Memory) -> None:
        """Let its grader remember this, and nothing else."""
        self.grader._memories = Memories()
        self.grader._memories.begin(memory)

    @property
    def ran(self) -> list[str]:
        return sorted(self.trace.read_text(encoding="utf-8").split())


def plain(graded: Graded) -> Any:
    rows = [(row.id, row.status, row.tests_passed, row.tests_total) for row in graded.verdict.criteria]
    return rows, {name: (each.status, each.message) for name, each in graded.outcomes.items()}
