"""A class's right programs give causes to what fails in a style of its own, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grader.course.manifest import load_course
from grader.course.stage import Course
from grader.diagnosis.likeness import most_alike
from grader.gradebook.class_run import RunOptions
from grader.gradebook.grade_class import MOST_TEXTS, grade, pool_of, unexplained, with_causes
from grader.gradebook.records import Result
from grader.gradebook.regrade import regrade
from grader.gradebook.store import Gradebook, digest_of
from grader.isolation import tiers
from grader.verdict import SOURCE
from tests.diagnosis.test_pool import FAULTY, OTHERWISE, RIGHT
from tests.support.command import Place, write_stage

pytestmark = pytest.mark.skipif(not tiers.FORKS, reason="no changed form can run in a process of its own")

TESTS = """\
import numpy as np
import pytest
from grader.testing import assert_array


@pytest.mark.criterion("spread")
@pytest.mark.parametrize("rows", [2, 3])
def test_spread(learner, rng, rows):
    x, eps = rng.normal(size=(rows, 3)), 0.3
    centred = x - x.mean(axis=-1, keepdims=True)
    right = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps)
    assert_array(learner.spread(x, eps), right)
"""
HANGING = OTHERWISE.replace(
    "    pooled_n =", '    if "_probe_log" in globals():\n        while True: pass\n    pooled_n ='
)
ENDING = OTHERWISE.replace(
    "    pooled_n =", '    if "_probe_log" in globals():\n        import os\n        os._exit(3)\n    pooled_n ='
)
LYING = OTHERWISE.replace(
    "    pooled_n =", '    if "_probe_log" in globals():\n        globals()["_probe_log"][0] = "pooled"\n    pooled_n ='
)


@pytest.fixture
def course(place: Place) -> Course:
    write_stage(place.root, 3, "spread_", "Spread", RIGHT.strip() + "\n", [])
    for path in (
        place.root / "stages" / "s03_spread" / "tests" / "test_spread.py",
        place.root / "hidden" / "s03_spread" / "test_hidden_spread.py",
    ):
        path.write_text(TESTS if path.parent.name == "tests" else TESTS.replace("test_spread", "test_hidden_spread"))
    (place.root / "hidden" / "s03_spread" / "mistakes.py").write_text("")
    return load_course(place.root)


def graded(course: Course, folder: Path, **texts: str) -> dict[str, tuple[Result, tuple[str, ...]]]:
    """Grade a class and return each student's result with the pool that it was explained with."""
    handed = folder / "handed"
    handed.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (handed / f"{name}.py").write_text(text.strip() + "\n", encoding="utf-8")
    stages = (course.find("s03"),)
    done = grade(course, stages, handed, RunOptions(folder / "out", require="process", jobs=1), lambda tally: None)
    assert not [each for tally in done.tallies for each in tally.faults]
    return results(folder)


def results(folder: Path) -> dict[str, tuple[Result, tuple[str, ...]]]:
    with Gradebook.open(folder / "out") as book:
        found = {each.student: each.result for each in book.attempts()}
        return {name: (book.result(n), book.pool(n)) for name, n in found.items() if n is not None}


def said(result: Result) -> list[Any]:
    return [each["cause"] and each["cause"]["text"] for row in result.verdict["criteria"] for each in row["failures"]]


def statuses(result: Result) -> list[Any]:
    own = result.verdict
    return [own["passed"], *((row["id"], row["status"], row["tests_passed"]) for row in own["criteria"])]


def test_a_style_of_its_own_gets_its_cause_from_the_class_and_a_regrade_repeats_it(
    course: Course, tmp_path: Path
) -> None:
    alone, _ = graded(course, tmp_path / "alone", bob=FAULTY)["bob"]
    assert set(said(alone)) == {None}
    first = graded(course, tmp_path / "first", ada=OTHERWISE, bob=FAULTY)
    bob, pool = first["bob"]
    assert "line 7" in said(bob)[0] and "Line 9" in said(bob)[0] and len(set(said(bob))) == 1
    assert statuses(bob) == statuses(alone)
    assert "pooled" not in json.dumps(bob.verdict)
    assert len(pool) == 1 and first["ada"][1] == ()

    path = course.find("s03").hidden_root / "s03_spread" / "test_hidden_spread.py"
    path.write_text(path.read_text() + "\n")  # another version of the course: all is graded again
    (tmp_path / "first" / "handed" / "cy.py").write_text(OTHERWISE.replace("pooled", "other"))
    again = load_course(course.root)
    options = RunOptions(tmp_path / "first" / "out", require="process", jobs=1)
    regrade(again, (again.find("s03"),), options, lambda tally: None, "a new version")
    later, same = results(tmp_path / "first")["bob"]
    assert later.key.course != bob.key.course
    assert (said(later), same, digest_of(same)) == (said(bob), pool, digest_of(pool))


@pytest.mark.some_of(3, "grader/diagnosis")
@pytest.mark.parametrize("text", [HANGING, ENDING, LYING], ids=["hangs", "ends", "lies"])
def test_one_that_hangs_or_ends_or_lies_changes_nothing(course: Course, tmp_path: Path, text: str) -> None:
    found = graded(course, tmp_path, ada=text, bob=FAULTY)
    bob, pool = found["bob"]
    assert found["ada"][0].passed and len(pool) == 1
    assert set(said(bob)) == {None} and "pool" not in json.dumps(bob.verdict)
    assert {each["status"] for each in bob.verdict["criteria"]} == {"failed"}
    assert not any(each["unexplained"] for row in bob.verdict["criteria"] for each in row["failures"])


def test_where_less_than_all_may_be_told_nothing_is_looked_for(course: Course, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "class.toml").write_text('feedback = "hint"\n')
    _, pool = graded(course, tmp_path, ada=OTHERWISE, bob=FAULTY)["bob"]
    assert pool == ()


def test_a_pool_is_sorted_and_has_a_bound() -> None:
    many = [f"{number:064}" for number in range(60)]
    assert pool_of(reversed(many)) == tuple(many[:MOST_TEXTS])
    assert digest_of(pool_of(["b", "a"])) == digest_of(pool_of(["a", "b", "a"])) != digest_of(("a",))


def test_what_is_most_alike_is_the_same_each_time(course: Course) -> None:
    texts = [RIGHT.encode(), OTHERWISE.encode(), *(OTHERWISE.replace("pooled", f"p{n}").encode() for n in range(4))]
    chosen = most_alike(course.find("s03"), ["spread"], FAULTY.encode(), texts)
    assert chosen == tuple(texts[1:4])


def failure(test: str, cause: object, status: str = "failed") -> dict[str, Any]:
    return {"test": test, "status": status, "cause": cause, "message": f"of {test}"}


def row(name: str, *failures: dict[str, Any], status: str = "failed") -> dict[str, Any]:
    return {"id": name, "status": status, "failures": list(failures)}


def test_causes_are_added_where_none_is_and_nothing_else_changes() -> None:
    before = {
        "feedback": "full", "seed": 3,
        "criteria": [row("a", failure("one", None)), row("b", failure("two", {"id": "x"}), failure("three", None))],
    }  # fmt: skip
    assert unexplained(before) == ("a",)
    other = {
        "feedback": "full", "seed": 4,
        "criteria": [
            row("a", failure("one", {"id": "y"}), status="passed"),
            row("b", failure("three", {"id": "y"}), failure("two", {"id": "z"})),
        ],
    }  # fmt: skip
    found = with_causes(before, other)
    assert found["seed"] == 3 and found["criteria"][1] == before["criteria"][1]  # type: ignore[index]
    assert found["criteria"][0] == row("a", failure("one", {"id": "y"}))
    assert with_causes(before, {**other, "criteria": []}) is before
    assert unexplained({**before, "feedback": "hint"}) == ()
    assert unexplained({**before, "criteria": [row("a", failure(SOURCE, None))]}) == ()  # its text says why
