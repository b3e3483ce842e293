"""A learner's file that looks everywhere finds no test, no reference and no expected value."""

from __future__ import annotations

import json
from typing import Any

import pytest

from grader.isolation import bundle, tiers
from tests.conftest import Graded, SmallCourse
from tests.isolation.spy import SECRET, SPY

MANIFEST = """
    schema = 1
    id = "s90"
    title = "Small things"
    module = "small.py"
    requires = []

    [limits]
    stage_seconds = 60
    call_seconds = 40
    memory_mb = 1024

    [[criteria]]
    id = "look"
    text = "look around"
    functions = ["look"]
    needs = []
    hints = ["a", "b", "c"]
"""

SOLUTION = f'''
    def look(x):
        return "{SECRET["reference"]}"
'''

MISTAKES = f'''
    @mistake(criterion="look", replaces="look", text="{SECRET["mistake"]}", fix="x")
    def looks_away(x):
        return None
'''

HIDDEN = f'''
    EXPECTED = float("{SECRET["expected"]}")


    @pytest.mark.criterion("look")
    def test_look(learner):
        """{SECRET["test"]}"""
        expected = np.full(3, EXPECTED)
        assert len(learner.look(np.ones(3))) >= expected.size
'''


@pytest.fixture(scope="module")
def spied(tier: tiers.Tier, small_course: SmallCourse) -> dict[str, Any]:
    """What the spy says in each tier."""
    small_course.write(manifest=MANIFEST, solution=SOLUTION, hidden=HIDDEN, mistakes=MISTAKES)
    (small_course.stage_folder / "tests" / "test_small.py").unlink(missing_ok=True)
    places = [str(path) for folder in (small_course.root, small_course.hidden) for path in folder.rglob("*.*")]
    assert len(places) > 3
    budget = "1" if tier == "process" else "30"  # what is not guarded need not be walked
    spy = SPY.replace("PLACES", repr(places)).replace("BUDGET", budget)
    graded: Graded = small_course.grade(spy, isolation=tier)
    outcome = graded.outcomes["test_look"]
    printed = next((note for note in outcome.notes if note.startswith("printed: ")), None)
    assert printed is not None, outcome
    said: dict[str, Any] = json.loads(printed.removeprefix("printed: ").splitlines()[0])
    return said


def test_the_spy_knows_what_to_look_for(small_course: SmallCourse) -> None:
    """The secrets do stand in the course's files, in the form that is searched for."""
    small_course.write(manifest=MANIFEST, solution=SOLUTION, hidden=HIDDEN, mistakes=MISTAKES)
    text = "".join(path.read_text() for path in small_course.hidden.glob("*.py"))
    assert all(secret in text for secret in SECRET.values())


def test_the_spy_finds_what_is_there(tier: tiers.Tier, small_course: SmallCourse) -> None:
    """It is no use if it is blind: a secret within its own process is found."""
    small_course.write(manifest=MANIFEST, solution=SOLUTION, hidden=HIDDEN, mistakes=MISTAKES)
    (small_course.stage_folder / "tests" / "test_small.py").unlink(missing_ok=True)
    planted = SPY.replace("files(start + BUDGET)", "pass").replace(
        "start = time.monotonic()", 'start = time.monotonic(); planted = "%s%s" % HALVES["test"]', 1
    )
    graded = small_course.grade(planted, isolation=tier)
    said = json.loads(graded.outcomes["test_look"].notes[0].removeprefix("printed: ").splitlines()[0])
    assert "test" in [name for name, _ in said["memory"]]


def test_memory_frames_modules_and_processes_hold_no_secret(spied: dict[str, Any]) -> None:
    assert spied["memory"] == []
    assert spied["read"][2] > 10_000  # objects that it walked over


def test_no_module_of_the_grader_but_the_workers(spied: dict[str, Any]) -> None:
    allowed = {"grader", "grader.protocol", "grader.worker"}
    allowed |= {f"grader.{part.parent.name}.{part.stem}" for part in bundle.parts()}
    assert set(spied["modules"]) <= allowed


def test_files_hold_no_secret(spied: dict[str, Any], tier: tiers.Tier) -> None:
    if tier == "process":
        pytest.skip("tier process does not guard the file system: the learner's own machine is the learner's to read")
    assert spied["read"][0] > 500  # files that it met
    assert spied["files"] == []
