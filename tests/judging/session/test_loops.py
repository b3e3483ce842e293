"""A call that does not return in time is explained by the loop that it was still in after a number of steps."""

from __future__ import annotations

import textwrap

import pytest

from grader.verdict import Failure
from tests.conftest import Graded, SmallCourse
from tests.judging.session.doubling import MANIFEST, SOLUTION

WHILE = """
x = 2 * x
while x.size > 0:
    y = x + 1
return x
"""
HELPER = """
def once():
    total = 0
    for each in range(50):
        total = total + each
    return total
while True:
    once()
"""
GROWING = """
found = [1]
for each in found:
    found.append(each)
    x = x + 0
return 2 * x
"""
SLOW = """
total = 0
for each in range(10 ** 9):
    total += each
return 2 * x
"""
CONSUMED = """
def naturals():
    n = 0
    while True:
        yield n
        n += 1
total = 0
for each in naturals():
    total += each
return 2 * x
"""
SUMMED = """
def naturals():
    n = 0
    while True:
        yield n
        n += 1
return x + sum(naturals())
"""
EXPRESSION = """
import itertools
return x * sum(
    each for each in itertools.count()
)
"""
OUTER = """
rounds = 0
while rounds >= 0:
    rounds += 1
    for i in range(3):
        for j in range(5):
            x = x + 0
return 2 * x
"""
INNER = """
for i in range(3):
    j = 0
    while j < 5:
        x = x + 0
return 2 * x
"""
AFTER = """
for i in range(30000):
    x = x + 0
while i < 10 ** 9:
    x = x + 0
return 2 * x
"""
SWALLOWED = """
while True:
    try:
        return {}[len(x)]
    except Exception:
        continue
"""
BARE = """
while True:
    try:
        return {}[len(x)]
    except:
        pass
"""


def module(body: str, solution: str = SOLUTION) -> str:
    """Return the course's solution with this body of `double`."""
    return textwrap.dedent(solution).replace("    return 2 * x\n", textwrap.indent(body.strip("\n"), "    ") + "\n", 1)


def causes(graded: Graded) -> list[Failure]:
    """Return the failures that have a cause."""
    return [each for row in graded.verdict.criteria for each in row.failures if each.diagnosis]


@pytest.mark.some_of(3, "grader/submission/source.py")
@pytest.mark.parametrize(
    ("body", "line"),
    [
        (WHILE, "while x.size > 0:"),
        (HELPER, "while True:"),
        (GROWING, "for each in found:"),
        (SLOW, "for each in range(10 ** 9):"),
        (CONSUMED, "for each in naturals():"),
        (SUMMED, "while True:"),
        (EXPRESSION, "each for each in itertools.count()"),
        (OUTER, "while rounds >= 0:"),
        (INNER, "while j < 5:"),
        (AFTER, "while i < 10 ** 9:"),
        (SWALLOWED, "while True:"),
        (BARE, "while True:"),
        ("while True: x = x + 0", "while True: x = x + 0"),
    ],
    ids=lambda each: each.strip().splitlines()[-1],
)
def test_the_loop_is_named(course: SmallCourse, body: str, line: str) -> None:
    source = module(body)
    graded = course.grade(source)
    (failure,) = causes(graded)
    assert failure.status == "timed_out" and "did not return within 1 s" in failure.message
    assert failure.where is not None and source.splitlines()[failure.where.line - 1].strip() == line
    assert failure.diagnosis is not None and f"line {failure.where.line}" in failure.diagnosis.text
    assert (failure.diagnosis.mistake, failure.diagnosis.declared) == ("long-loop", False)
    row = next(row for row in graded.verdict.criteria if row.id == "double")
    assert row.status == "timed_out" and row.failures[0] == failure
    assert graded.row("fill") == "passed"


@pytest.mark.some_of(2, "grader/submission/source.py")
@pytest.mark.parametrize(
    "body",
    [
        "a = np.ones((1200, 1200))\nfor each in range(10 ** 6):\n    a = a @ a / 1200\nreturn x",
        "def paths(n):\n    return paths(n - 1) + paths(n - 1) if n else 1\nfor each in range(9):\n    paths(60)",
        "for each in list(range(10 ** 12)):\n    x = x + 0\nreturn x",
    ],
    ids=["matmul", "recursion", "memory"],
)
def test_where_no_loop_takes_the_steps_none_is_named(
    course: SmallCourse, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "paths" not in body:  # which uses its steps up
        monkeypatch.setattr("grader.judging.session.FAR_SECONDS", 1.0)
    graded = course.grade(module(body))
    assert graded.row("double") in ("timed_out", "over_limit") and not causes(graded)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("import time\ntime.sleep(60)", "`time.sleep(60)`"),
        ("from time import sleep as nap\nfor each in range(5):\n    nap(60)", "`nap(60)`"),
        ("def inner():\n    import time as t\n    t.sleep(60)\ninner()", "`t.sleep(60)`"),
    ],
)
@pytest.mark.some_of(2, "grader/submission/loops.py")
def test_what_waits_is_named(course: SmallCourse, body: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.judging.session.FAR_SECONDS", 1.0)
    source = module(body)
    (failure,) = causes(course.grade(source))
    assert failure.diagnosis is not None and failure.diagnosis.mistake == "sleeps" and said in failure.diagnosis.text
    assert said.strip("`") in source.splitlines()[failure.diagnosis.line - 1]


def test_the_words_are_the_same_each_time(course: SmallCourse) -> None:
    told = [causes(course.grade(module(CONSUMED))) for _ in range(2)]
    assert told[0] == told[1] != []


def test_what_hangs_elsewhere_in_the_test_is_not_what_is_counted(course: SmallCourse) -> None:
    """A call before the one that hangs may be long: its steps are not counted."""
    body = "while x.shape == (2, 3):\n    x = x * 1\nfor each in range(150000):\n    y = each\nreturn 2 * x"
    hidden = """
        @pytest.mark.criterion("double")
        def test_late(learner):
            learner.double(np.ones(3))
            learner.double(np.ones((2, 3)))

        @pytest.mark.criterion("fill")
        @pytest.mark.changes_arguments
        def test_fill(learner):
            learner.fill(np.zeros(2))

        @pytest.mark.criterion("quadruple")
        def test_quadruple(learner):
            learner.quadruple(np.ones(2))
    """
    public = '@pytest.mark.criterion("fill")\ndef test_nothing(learner):\n    pass\n'
    course.write(manifest=MANIFEST, solution=SOLUTION, public=public, hidden=hidden)
    (failure,) = causes(course.grade(module(body)))
    assert failure.diagnosis is not None and "while x.shape == (2, 3)" in failure.diagnosis.text


def test_one_function_is_called_once_more_however_many_tests_hang_in_it(course: SmallCourse) -> None:
    begun = course.root.parent / "begun"
    test = f"""
        @pytest.mark.criterion("ROW")
        @pytest.mark.changes_arguments
        def test_ROW(learner):
            with open({str(begun)!r}, "a") as file:
                file.write("x")
            learner.double(np.ones(2))
    """
    public = test.replace("test_ROW", "test_public").replace("ROW", "fill")
    hidden = "\n".join(textwrap.dedent(test).replace("ROW", row) for row in ("double", "quadruple", "fill"))
    course.write(manifest=MANIFEST, solution=SOLUTION, public=public, hidden=hidden)
    graded = course.grade(module(WHILE))
    late = [each for each in graded.outcomes.values() if "did not return" in each.message]
    (failure,) = causes(graded)
    assert failure.test.endswith("test_double")  # the test of its own row, though another came first
    assert len(late) == 3 and len(begun.read_text()) == len(late) + 1


@pytest.mark.full_matrix
def test_where_nothing_forks(course: SmallCourse) -> None:
    (failure,) = causes(course.grade(module(CONSUMED), fork=False))
    assert failure.diagnosis is not None and "for each in naturals()" in failure.diagnosis.text


def test_a_loop_that_calls_a_function_of_the_test(course: SmallCourse) -> None:
    hidden = """
        @pytest.mark.criterion("double")
        def test_late(learner):
            assert learner.double(lambda x: x * x - 2) == 2

        @pytest.mark.criterion("fill")
        @pytest.mark.changes_arguments
        def test_fill(learner):
            learner.fill(np.zeros(2))

        @pytest.mark.criterion("quadruple")
        def test_quadruple(learner):
            learner.quadruple(1)
    """
    body = "low, high = 0.0, 2.0\nwhile high - low > 0:\n    mid = (low + high) / 2\n"
    body += "    if x(mid) > 0:\n        high = mid\n    else:\n        low = mid\nreturn 2"
    public = '@pytest.mark.criterion("fill")\ndef test_nothing(learner):\n    pass\n'
    course.write(manifest=MANIFEST, solution=SOLUTION, public=public, hidden=hidden)
    (failure,) = causes(course.grade(module(body)))
    assert failure.diagnosis is not None and "while high - low > 0" in failure.diagnosis.text


def test_a_loop_of_one_line_of_which_python_reports_none(course: SmallCourse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.sandbox.process.LOAD_SECONDS", 1.0)
    problem = course.grade(f"{textwrap.dedent(SOLUTION)}\nwhile True: pass\n").verdict.problem
    assert problem is not None and problem.line == len(textwrap.dedent(SOLUTION).splitlines()) + 2
    assert "`while True`" in problem.message


def test_while_the_module_is_loaded(course: SmallCourse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.sandbox.process.LOAD_SECONDS", 1.0)
    graded = course.grade(f"{textwrap.dedent(SOLUTION)}\nn = 1\nwhile n > 0:\n    n += 1\n")
    problem = graded.verdict.problem
    assert problem is not None and problem.line == len(textwrap.dedent(SOLUTION).splitlines()) + 3
    assert "did not finish loading: it was still in the loop of line" in problem.message
    assert problem.message.endswith("after 200,000 steps: `while n > 0`") and problem.hint
