"""The reference beside a learner's own module: what is read of each function, and which times count."""

from __future__ import annotations

import json
import textwrap
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar, Self

import jsonschema
import pytest

from grader.course.stage import Course, Limits, Stage
from grader.progress.comparison import (
    RUN_SECONDS,
    SECONDS,
    Piece,
    SolutionComparison,
    Timing,
    hurried,
    measured,
    paired,
    pieces,
    timings,
)
from grader.report.document import dumps, solution_document
from grader.report.terminal.beside import comparison_lines, method_words, summary, time_words
from grader.report.terminal.layout import Look
from grader.submission import Snapshot

OWN = '''
import numpy as np


def product(A, B):
    """Return the product."""
    out = np.zeros((len(A), len(B[0])))
    # row by row
    for i in range(len(A)):
        for j in range(len(B[0])):
            out[i, j] = sum([A[i, k] * B[k, j] for k in range(len(B))])
    return out


def alike(x):
    # a comment of one's own
    return (x + 1)


class Layer:
    """A layer."""

    def forward(self, x):
        return x.dot(self.W)


def mine():
    pass
'''
REFERENCE = '''
import numpy
from numpy import linalg as la, einsum


def product(A, B):
    """Return the product,
    in two lines.
    """
    return einsum("ij,jk->ik", A, B)


def alike(x):
    """Return the next number."""
    return x + 1


class Layer:
    def forward(self, x):
        return x @ self.W + numpy.linalg.norm(x) * la.det(x)


def helper():
    """Nothing but words."""
'''
TIMING = Timing(2e-4, 5e-5, 4.0, 12, 3)


def both() -> SolutionComparison:
    pairs = paired(pieces(OWN), pieces(REFERENCE))
    pairs = tuple(replace(pair, timing=TIMING) if pair.name in ("product", "alike") else pair for pair in pairs)
    return SolutionComparison("s90", "Small", "stages/s90_small/small.py", pairs)


def text_of(found: SolutionComparison, width: int, ascii: bool = False) -> str:
    return "\n".join(line.plain for line in comparison_lines(found, Look(width, ascii)))


def test_functions_are_paired_by_name_in_the_reference_s_order() -> None:
    found = [(pair.name, bool(pair.own), bool(pair.reference), pair.same) for pair in both().pairs]
    assert found == [
        ("product", True, True, False),
        ("alike", True, True, True),
        ("Layer.forward", True, True, False),
        ("helper", False, True, False),
        ("mine", True, False, False),
    ]


def test_a_function_is_read_without_its_docstring() -> None:
    own, reference = pieces(OWN)["product"], pieces(REFERENCE)["product"]
    assert (own.lines, own.loops, own.comprehensions, own.tools) == (6, 2, 1, ("np.zeros",))
    assert (reference.lines, reference.loops, reference.tools) == (2, 0, ("np.einsum",))
    assert reference.text == 'def product(A, B):\n    return einsum("ij,jk->ik", A, B)'
    assert "# row by row" in own.text
    assert pieces(OWN)["Layer.forward"].tools == (".dot",)
    assert pieces(REFERENCE)["Layer.forward"].tools == ("@", "np.linalg.norm", "np.linalg.det")
    assert pieces(REFERENCE)["helper"].text == "def helper():"


@pytest.mark.parametrize(
    "text", ["", "x = 1", "def f(): pass", "async def f():\n    '''d'''", "@a\ndef f(x): return x"]
)
def test_any_text_that_is_python_can_be_read(text: str) -> None:
    assert all(isinstance(piece, Piece) for piece in pieces(text).values())


def test_what_differs_in_method_is_said_in_a_few_words() -> None:
    assert method_words(pieces(OWN)["product"], pieces(REFERENCE)["product"]) == (
        "yours: 6 lines · 2 loops · 1 comprehension · np.zeros",
        "reference: 2 lines · no loop · no comprehension · np.einsum",
    )


@pytest.mark.parametrize(
    ("ratio", "told"),
    [
        (4.0, "yours takes 4 times as long: 200 µs and 50 µs a call (medians, 12 calls of the tests)"),
        (0.25, "the reference takes 4 times as long: 200 µs"),
        (1.3, "about as fast as each other: "),
        (0.7, "about as fast as each other: "),
    ],
)
def test_a_time_is_told_as_a_ratio(ratio: float, told: str) -> None:
    assert time_words(replace(TIMING, ratio=ratio)).startswith(told)


def test_a_wide_terminal_has_both_texts_side_by_side() -> None:
    lines = text_of(both(), 110).splitlines()
    assert any(line.split("│")[0].strip() == "def product(A, B):" == line.split("│")[-1].strip() for line in lines)
    assert max(map(len, lines)) <= 110
    assert "alike · as in the reference" in lines and "mine · only in yours" in lines
    assert not any("comment of one's own" in line for line in lines)


def test_side_by_side_a_long_line_is_broken_between_words_and_indented() -> None:
    left = [line.split("│")[0].rstrip() for line in text_of(both(), 100).splitlines() if "│" in line]
    assert "                out[i, j] = sum([A[i, k] * B[k, j]" in left
    assert "                    for k in range(len(B))])" in left


@pytest.mark.parametrize("width", [24, 80, 99, 100, 250])
@pytest.mark.parametrize("ascii", [False, True])
def test_it_fits_a_terminal_and_reads_in_ascii(width: int, ascii: bool) -> None:
    text = text_of(both(), width, ascii)
    assert max(map(len, text.splitlines()[:-1])) <= width  # the last is a command, which is not broken
    assert not ascii or text.isascii()
    assert ("│" in text or "|" in text) is (width >= 100)


def test_the_summary_counts() -> None:
    assert summary(both()) == (
        "3 functions in both modules, 1 written alike. "
        "Of the others, as measured, yours is slower in 1, faster in 0, about as fast in 0."
    )
    alone = SolutionComparison("s90", "Small", "x.py", paired({}, pieces(REFERENCE)), "it does not exist")
    assert summary(alone) == "4 functions of the reference."
    assert "Your own module is left out: it does not exist" in text_of(alone, 100)


def test_the_document_has_the_published_shape() -> None:
    schema: dict[str, Any] = json.loads(
        resources.files("grader.report").joinpath("schemas/solution.schema.json").read_text("utf-8")
    )
    jsonschema.Draft202012Validator.check_schema(schema)
    document = json.loads(dumps(solution_document(both())))
    jsonschema.Draft202012Validator(schema).validate(document)
    assert document["functions"][0]["time"] == {"own": 2e-4, "reference": 5e-5, "ratio": 4.0, "calls": 12, "rounds": 3}
    assert document["functions"][3]["own"] is None
    jsonschema.Draft202012Validator(schema).validate(
        json.loads(dumps(solution_document(replace(both(), problem="gone", unmeasured="none"))))
    )


def test_times_are_ratios_of_totals_and_the_median_of_the_rounds() -> None:
    def run(*seconds: float) -> dict[str, list[tuple[str, float]]]:
        return {"a": [("f", each) for each in seconds]}

    rounds = [(run(0.3, 0.1), run(0.1, 0.1)), (run(0.9, 0.1), run(0.1, 0.1)), (run(0.1, 0.1), run(0.1, 0.1))]
    assert timings(rounds) == {"f": Timing(pytest.approx(0.2), 0.1, pytest.approx(2.0), 2, 3)}  # type: ignore[arg-type]


class SlowGrader:
    """Grades nothing, and takes as long as the stage's tests may."""

    clock = 0.0
    runs: ClassVar[list[float]] = []

    def __init__(self, course: Course, stage: Stage) -> None:
        self.stage = stage

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None: ...

    def grade(self, snapshot: object, options: object, on_test: object) -> None:
        SlowGrader.clock += self.stage.limits.stage_seconds
        SlowGrader.runs.append(self.stage.limits.stage_seconds)


@pytest.mark.parametrize(("seconds", "runs"), [(60.0, 2), (5.0, 4), (1.0, 6)])
def test_measuring_ends_in_time_however_long_the_tests_may_take(
    monkeypatch: pytest.MonkeyPatch, seconds: float, runs: int
) -> None:
    monkeypatch.setattr("grader.judging.grading.Grader", SlowGrader)
    monkeypatch.setattr(SlowGrader, "clock", 0.0)
    monkeypatch.setattr(SlowGrader, "runs", [])
    stage = Stage("s91", Path("s91_x"), "X", "x.py", (), (), Limits(stage_seconds=seconds, call_seconds=seconds))
    snapshot = Snapshot("x.py", b"", "", Path("x.py"), "x")
    found = measured(Course(Path(), (stage,)), stage, (snapshot, snapshot), clock=lambda: SlowGrader.clock)
    assert found == {} and len(SlowGrader.runs) == runs and SlowGrader.clock <= SECONDS


def test_a_call_may_take_no_longer_than_its_run() -> None:
    stage = Stage("s91", Path("s91_x"), "X", "x.py", (), (), Limits(stage_seconds=90, call_seconds=30))
    assert hurried(stage).limits == Limits(stage_seconds=RUN_SECONDS, call_seconds=RUN_SECONDS)


def test_tests_in_which_both_were_not_called_alike_do_not_count() -> None:
    own = {"a": [("f", 0.1)], "b": [("g", 0.1)], "c": [("h", 0.0)]}
    reference = {"a": [("f", 0.1), ("f", 0.1)], "c": [("h", 0.0)], "d": [("g", 0.1)]}
    assert set(found := timings([(own, reference)])) == {"h"}
    assert found["h"].ratio == 1.0


def test_indented_text_of_a_method_begins_at_the_margin() -> None:
    assert pieces(OWN)["Layer.forward"].text == textwrap.dedent("""\
        def forward(self, x):
            return x.dot(self.W)""")
