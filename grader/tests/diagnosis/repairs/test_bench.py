"""What a module does where its changed forms are tried costs the explanation alone: a lie, an end, a hang, a size."""

from __future__ import annotations

from typing import Any

import pytest

from grader.diagnosis.repairs.batch import TRY
from grader.diagnosis.repairs.bench import RemoteBench
from grader.sandbox.proxies import RemoteValue
from grader.tests.conftest import SmallCourse
from grader.tests.diagnosis.repairs.layers import LEARNERS, told


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import numpy as np", f"import numpy as np  # {'long ' * 20_000}"),
        ("centred = x -", f"unused = [{'x, ' * 1500}]; centred = x -"),
    ],
    ids=["a long module", "a long function"],
)
def test_what_is_out_of_all_proportion_is_not_tried_or_told(course: SmallCourse, old: str, new: str) -> None:
    source = LEARNERS.replace("centred * centred", "centred * centred * 2").replace(old, new)
    verdict = course.grade(source).verdict
    assert [row.status for row in verdict.criteria] == ["passed", "failed"]
    assert not told(verdict)


def test_a_name_that_is_out_of_all_proportion_is_not_told(course: SmallCourse) -> None:
    source = LEARNERS.replace("centred * centred", "centred * centred * x").replace("centred", "c" * 2000)
    assert all(len(text) <= 1000 for text in told(course.grade(source).verdict).get("spread", ()))


def test_a_module_that_tells_lies_about_its_values_costs_the_explanation_alone(course: SmallCourse) -> None:
    lies = """
    import marshal

    marshal.loads = lambda code: LIE
    LIE = "import numpy as np\\n_slips = []\\nclass Line: pass\\ndef spread(x): return 1.0\\n_slips_noted = %s"
"""
    for noted in (
        "[{'1': ['array', 0, 'V2000000000', [1]]}, {'spread': {'x': ['array', 1, '<f8', [2**40] * 19]}}]",
        "{}",
        "[{'1': 7}, {'spread': 7}]",
    ):
        source = LEARNERS.replace("np.sqrt(square.mean())", "square.mean()") + lies.replace("%s", noted)
        verdict = course.grade(source).verdict
        assert [row.status for row in verdict.criteria] == ["passed", "failed"]
        assert not told(verdict)


def test_a_change_that_ends_the_process_costs_that_change(course: SmallCourse) -> None:
    ends = "if (centred == np.exp(x)).all():\n            __import__('os')._exit(3)\n        square ="
    found = told(
        course.grade(LEARNERS.replace("centred = x - x.mean()", "centred = x").replace("square =", ends)).verdict
    )
    assert found == {"spread": {"spread answers as if the mean of x were not subtracted from x (line 22)."}}


def test_a_change_that_hangs_is_given_up(course: SmallCourse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.diagnosis.repairs.bench.CALL_SECONDS", 0.25)
    hanging = """
    def spread(x):
        left, total = len(x), 0.0
        while left > 0:
            left = left - 1
            total = total + (x[left] - x.mean()) ** 2
        return total / len(x)
"""
    verdict = course.grade(LEARNERS[: LEARNERS.index("    def spread")] + hanging).verdict
    assert [row.status for row in verdict.criteria] == ["passed", "failed"]


class Connection:
    """Stands for a connection: keeps what it was asked, and answers as a changed module does."""

    failure = None
    call_seconds = 1.0
    on_request = None

    def __init__(self) -> None:
        self.records: list[Any] = []
        self.asked: list[tuple[str, str, Any]] = []
        self.module: Any = object.__new__(RemoteValue)
        self.module.__dict__.update(_connection=None, _number=7, _kind="module", _shown="", _classes=())

    def request(self, kind: str, target: int, name: str, args: Any = (), label: str = "") -> Any:
        self.asked.append((kind, name, args))
        if kind == "load":
            return self.module
        return ([["told"]], 0.5) if name == TRY else 0.25


def bench() -> tuple[RemoteBench, Connection]:
    connection: Any = Connection()
    made = RemoteBench(lambda: connection, lambda each: None)
    made.load(b"module")
    return made, connection


def test_more_code_goes_over_with_what_is_tried_next() -> None:
    made, connection = bench()
    made.choose(())
    made.extend(b"changes")
    assert made.attempt([[1]], []) == [["told"]]
    assert [kind for kind, _, _ in connection.asked].count("load") == 1
    assert connection.asked[-1][2][-1] == [b"changes"]
    made.attempt([[2]], [])
    assert connection.asked[-1][2][-1] == []
    assert made.seconds == 0.25  # of which a module told each time how much it took


def test_more_code_runs_before_anything_else_is_asked() -> None:
    made, connection = bench()
    made.extend(b"changes")
    made.named("f")
    assert [kind for kind, _, _ in connection.asked] == ["load", "load", "getattr"]
    assert (made.loads, made.modules) == (2, 1)
