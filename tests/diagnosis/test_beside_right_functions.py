"""A fault is looked for where it is: not in functions that answer rightly, however often they are asked beside it."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from grader.course.answers import Mistake
from grader.diagnosis.causes import Explainer
from grader.diagnosis.checks import Checks
from grader.diagnosis.edited import Edited
from grader.diagnosis.edits.base import Edit
from grader.diagnosis.known_mistakes import KnownMistakes, Match
from grader.diagnosis.module_text import parsed
from grader.diagnosis.runner import LocalRunner
from tests.conftest import SmallCourse
from tests.diagnosis.engine import STAGE, Call, ended, module_of
from tests.support.small_course import manifest


def told(small_course: SmallCourse, rows: dict[str, list[str]], solution: str, public: str, *change: str) -> set[str]:
    """Return the functions and lines of the causes in a solution with a change."""
    old, new = change
    assert solution.count(old) == 1
    small_course.write(manifest=manifest(rows), solution=solution, public=public)
    verdict = small_course.grade(solution.replace(old, new), seed=1).verdict
    found = [each.diagnosis for row in verdict.criteria for each in row.failures if each.diagnosis is not None]
    return {f"{each.mistake.rpartition('-')[0]} {each.function}" for each in found}


WALK = """
    import numpy as np


    def down(x, slope, rate):
        return x - rate * slope


    def walk(f, slope, x0, step, rounds, rate):
        x, history = np.array(x0), [f(x0)]
        for _ in range(rounds):
            x = step(x, slope(x), rate)
            history.append(f(x))
        return x, history
"""
WALKED = """
    def square(x):
        return float((x**2).sum())


    @pytest.mark.criterion("down")
    def test_down(learner, rng):
        assert np.abs(plain_array(learner.down(np.ones(2), np.ones(2), 0.25)) - 0.75).max() < 1e-9


    @pytest.mark.criterion("walk")
    @pytest.mark.parametrize("rounds", [2, 3, 4])
    def test_walk(learner, rng, rounds):
        x0 = rng.standard_normal(3)
        x, history = learner.walk(square, lambda x: 2 * x, x0, learner.down, rounds, rate=0.25)
        wanted = [square(x0 / 2**each) for each in range(rounds + 1)]
        assert np.abs(np.array(history) - wanted).max() < 1e-9
"""


def test_a_call_that_is_given_a_function_of_the_learner_s_is_tried(small_course: SmallCourse) -> None:
    rows = {"down": ["down"], "walk": ["walk"]}
    assert told(small_course, rows, WALK, WALKED, "append(f(x))", "append(f(x0))") == {"name-confused walk"}


DROP = """
    import numpy as np


    class Drop:
        def __init__(self, rate):
            self.rate = rate

        def forward(self, x, rng):
            if self.rate == 0:
                return x
            return np.where(rng.random(x.shape) < self.rate, 0.0, x)


    class Block:
        def __init__(self, rate):
            self.drop = Drop(rate)

        def forward(self, x, rng):
            return np.tanh(x + self.drop.forward(x, rng))
"""
DROPPED = """
    @pytest.mark.criterion("drop")
    def test_drop(learner, rng):
        kept = plain_array(learner.Drop(0.5).forward(np.ones(1000), np.random.default_rng(3)))
        assert 400 < kept.sum() < 600 and set(kept) == {0.0, 1.0}


    @pytest.mark.criterion("block")
    @pytest.mark.parametrize("size", [3, 4, 5])
    def test_block(learner, rng, size):
        x, block = rng.standard_normal((2, size)), learner.Block(0.5)
        kept = plain_array(block.drop.forward(x, np.random.default_rng(size)))
        found = plain_array(block.forward(x, np.random.default_rng(size)))
        assert np.abs(found - np.tanh(x + kept)).max() < 1e-9


    @pytest.mark.criterion("block")
    @pytest.mark.parametrize("size", [3, 4, 5])
    def test_nothing_dropped(learner, rng, size):
        x = rng.standard_normal((2, size))
        whole = plain_array(learner.Block(0.0).forward(x, np.random.default_rng(size)))
        assert np.abs(whole - np.tanh(2 * x)).max() < 1e-9
"""


def test_a_function_that_draws_in_another_order_is_not_thought_to_be_broken(small_course: SmallCourse) -> None:
    otherwise = DROP.replace("rng.random(x.shape)", "rng.random(x.shape[::-1]).T")
    rows = {"drop": ["Drop", "Drop.forward"], "block": ["Block", "Block.forward"]}
    small_course.write(manifest=manifest(rows, top='[members]\nBlock = ["drop"]\n'), solution=DROP, public=DROPPED)
    verdict = small_course.grade(otherwise.replace("x + self", "x - self"), seed=1).verdict
    found = [each.diagnosis for row in verdict.criteria for each in row.failures]
    assert {each.function for each in found if each is not None} == {"Block.forward"}


class Wrong:
    """Stands for a wrong call, after those of other functions."""

    def __init__(self, label: str, *labels: str, kind: str = "call", is_refusal: bool = False) -> None:
        self.label, self.labels, self.criterion, self.order = label, [label, *labels], "row", (1, label, 1)
        self.last, self.is_refusal, self.records = SimpleNamespace(kind=kind), is_refusal, ()


def check(*given: Any, **named: Any) -> Any:
    return Wrong(*given, **named)


def test_a_function_that_takes_what_it_has_to_refuse_is_not_wrong_where_it_answers() -> None:
    passed: Any = [SimpleNamespace(calls=("inner", "outer"))]
    maker: Any = None
    refusal, wrong = check("inner", is_refusal=True), check("outer")
    assert Checks(maker, [refusal, wrong], [], passed).trusted() == {"inner"}


@pytest.mark.parametrize(("others", "is_told"), [([], True), (["explained"], True), (["denying"], False)])
def test_a_known_mistake_is_denied_by_the_wrong_calls_of_its_own_class(others: list[str], is_told: bool) -> None:
    inner, outer = check("Part.forward"), [check("Whole.forward") for _ in others]
    match = Match((Mistake("one", "row", "Whole.__init__", "", "", ""),), frozenset((inner,)))
    known: Any = SimpleNamespace(match=lambda *_: match, also=lambda *_: outer if others == ["explained"] else [])
    checks: Any = SimpleNamespace(failing=[inner, *outer], mended=set())
    assert (Explainer._matched(known, [inner], checks, frozenset()) is match) == is_told


LOOPS = """
def total(x):
    found = 0.0
    for each in x:
        found += float(each)
    return found


def largest(x):
    return np.max(np.abs(x))
"""
CALLS = """
def total(x):
    return float(np.sum(x))


def largest(x):
    found = 0.0
    for each in x:
        found = max(found, abs(each))
    return found
"""


def test_of_each_function_the_right_modules_that_are_most_alike_come_first() -> None:
    runner = LocalRunner("learner")
    found = Edited(
        STAGE, parsed(LOOPS.split("def largest")[0] + CALLS[CALLS.index("def largest") :]), (CALLS, LOOPS), runner
    )
    for label, text in (("total", LOOPS), ("largest", CALLS), ("total", LOOPS)):
        search = found.begun(label)
        assert search is not None and search.rights[0].text == text


def test_a_second_search_leaves_no_form_of_the_module_that_the_first_does_not_know_of() -> None:
    right = f"import numpy as np\n{CALLS}"
    edited = Edited(STAGE, parsed(right.replace("np.sum(x)", "np.prod(x)")), (right,), LocalRunner("learner"))
    first, second = edited.afresh("total"), edited.afresh("total")
    assert first is not None and second is not None
    name = next(each for each in ast.walk(first.module.tree) if isinstance(each, ast.Attribute) and each.attr == "prod")
    calls: list[Call] = [("total", (np.array([1.5, 2.0, 4.0]),))]
    test = ended(module_of(first.module.text), "test", calls, "failed")
    (check,) = Checks.of(STAGE, [test], [], [module_of(right)], b"").failing
    put = Edit("name-confused", "total", ((name, ast.Attribute(name.value, "sum", ast.Load())),), 0, "", "", ast.Pass())
    mended = first.after(put)
    assert mended.is_right(check) and not second.is_right(check)
    assert mended.is_right(check)


CHOSEN = """
import numpy as np


def f(x, kind):
    return np.sin(x) if kind else np.cos(x)
"""


def test_two_known_mistakes_of_one_line_are_no_pair() -> None:
    sources = [f"def f(x, kind):\n    return np.{each}(x)\n" for each in ("sin", "cos")]
    sine, cosine = (Mistake(f"always-{n}", "row", "f", f"{n}.", "Mend it.", each) for n, each in enumerate(sources))
    learners = CHOSEN.replace("np.sin(x) if kind else np.cos(x)", "{True: np.cos, False: np.sin}[kind](x)")
    calls: list[Call] = [("f", (0.5 * n + np.ones(3), n % 2 == 0)) for n in range(5)]
    test = ended(module_of(learners), "test", calls, "failed")
    failing = Checks.of(STAGE, [test], [], [module_of(CHOSEN)], learners.encode()).failing
    known = KnownMistakes(STAGE, CHOSEN, (sine, cosine), learners.encode(), {})
    (match,) = [each for each in known.matches(failing, Checks(None)) if each.mistakes == (cosine,)]  # type: ignore[arg-type]
    assert len(match.checks) == 3 and known.pair(match, failing) is None
