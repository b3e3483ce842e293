"""A course on another subject, without NumPy: four stages of texts and graphs, through all that is done with one."""

from __future__ import annotations

import json
import shutil
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.authoring import verify as verifying
from grader.authoring.verify import VerifyOptions, verify
from grader.classroom import release as releasing
from grader.classroom.release import release
from grader.course.manifest import load_course
from grader.course.mutants import mutants
from grader.judging import content
from grader.judging.pytest_suite import Suite
from tests.courses.conftest import WORDS, solution
from tests.support.command import Done
from tests.support.places import HOUSE

IDS = ("s01", "s02", "s03", "s04")


@pytest.mark.some_of(3, "grader/authoring", "grader/judging")
@pytest.mark.parametrize("stage", IDS)
def test_its_stages_prove_themselves(monkeypatch: pytest.MonkeyPatch, stage: str, is_full: bool) -> None:
    """By default the mistakes of the one that builds on others, and a few mutants of the first."""
    every = 9 if is_full else 40  # all of them take a minute
    monkeypatch.setattr(verifying, "mutants", lambda source: mutants(source)[::every])
    has_mistakes, has_mutants, others = is_full or stage == "s04", stage == "s01", None if is_full else 1
    plan = VerifyOptions(
        1, has_mistakes, has_mutants, "process", workers=0, alternatives=others, stub=is_full or has_mutants
    )
    course = load_course(WORDS)
    (found,) = verify(course, (course.find(stage),), plan)
    assert found.shortfalls == ()
    assert (found.reference.good, found.alternatives.good) == (1, 3 if is_full else 1)
    assert (found.mistakes.good, found.named.good) == ((6, 6) if has_mistakes else (0, 0))
    assert (found.mutation is not None) == has_mutants


class TestCheck:
    def test_the_reference_passes_and_opens_the_next_stage(self, grader: Callable[..., Done], root: Path) -> None:
        shutil.copy(solution("s01"), root / "stages" / "s01_counting" / "counting.py")
        done = grader("check", "--isolation", "process", "--json")
        assert done.code == 0 and done.json["passed"] and done.json["unlocked"] == ["s02"]
        shown = grader("status").out
        assert shown.startswith("Words and graphs ") and "1 of 4 stages" in shown

    def test_numpy_is_not_there(self, grader: Callable[..., Done], root: Path) -> None:
        wrong = root / "counting.py"
        wrong.write_text("import numpy as np\n" + solution("s01").read_text())
        done = grader("check", "s01", "--submission", str(wrong), "--isolation", "process", "--json")
        assert done.code == 1 and "line 1: numpy is imported" in done.json["problem"]["message"]
        assert "A stage uses the standard library only" in done.json["problem"]["hint"]

    def test_sorting_is_forbidden_where_the_stage_says_so(self, grader: Callable[..., Done], root: Path) -> None:
        wrong = root / "counting.py"
        wrong.write_text(solution("s01").read_text().replace("ranking = []\n", "ranking = sorted([])\n"))
        done = grader("check", "s01", "--submission", str(wrong), "--isolation", "process", "--json")
        rows = {row["id"]: row for row in done.json["criteria"]}
        assert done.code == 1 and (rows["count"]["status"], rows["rank"]["status"]) == ("passed", "failed")
        assert "sorted is not allowed in this stage. This stage is about counting and ranking" in json.dumps(done.json)


class TestAroundIt:
    def test_the_first_screen_names_its_own_stages(self, grader: Callable[..., Done]) -> None:
        done = grader()
        assert "Words and graphs" in done.out and "You are at s01 · Counting words." in done.out
        assert "grader next" in done.out and "demo" not in done.out

    def test_hints_start_and_reset_work(self, grader: Callable[..., Done], root: Path) -> None:
        assert "What is a word" in grader("hint", "s01", "count").out
        assert grader("start", "s03").code == 0
        module = root / "stages" / "s03_graphs" / "graphs.py"
        module.write_text("x = 1\n")
        assert grader("reset", "s03", "--yes").code == 0 and "NotImplementedError" in module.read_text()
        assert grader("show", "s03").code == 0 and grader("course", "stub", "--check").code == 0

    def test_there_is_nothing_to_draw_and_no_demonstration(self, grader: Callable[..., Done]) -> None:
        done = grader("explore", "s01")
        assert done.code == 2 and "s01 has nothing to draw or explore" in done.err and "no drawings" in done.err
        assert grader("demo").code == 2

    def test_a_new_stage_needs_no_numpy_either(self, grader: Callable[..., Done], root: Path) -> None:
        assert grader("course", "new", "s05_topic", "--requires", "s04").code == 0
        files = [path for path in root.rglob("*.py") if "s05_topic" in str(path)]
        assert files and not [path for path in files if "numpy" in path.read_text()]


def test_a_learners_copy_of_it_is_sealed_and_works(
    grader: Callable[..., Done], root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = [
        HOUSE / name for name in ("__init__.py", "cli.py", "judging/pytest.ini")
    ]  # all of it is test_released_copy's
    monkeypatch.setattr(releasing, "_own_files", lambda: few)
    copy, course = tmp_path / "copy", load_course(root)
    files = release(course, releasing.ReleaseOptions(course.stages, None), copy)
    assert {"hidden/s01_counting.sealed", "hidden/release.json", "hidden/tests.key"} <= set(files)
    assert not [name for name in files if name.endswith(("solution.py", "oracles.py", "mistakes.py"))]
    project = tomllib.loads((copy / "pyproject.toml").read_text())
    assert (project["project"]["name"], project["project"]["license"]) == ("words-and-graphs", "CC0-1.0")
    assert project["tool"]["grader"] == {
        "title": "Words and graphs", "license": "CC0-1.0", "packages": [], "hidden": "hidden"
    }  # fmt: skip
    assert (copy / "README.md").read_text().startswith("# Words and graphs\n")
    shutil.copy(solution("s01"), copy / "stages" / "s01_counting" / "counting.py")
    monkeypatch.chdir(copy)
    done = grader("check", "s01", "--isolation", "process", "--json")
    assert done.code == 0 and done.json["passed"] and not done.json["public_only"], done.err
    assert "learner's copy" in grader("course", "verify").err


def test_two_courses_in_one_process_keep_their_hidden_modules_apart(root: Path) -> None:
    suites = []
    for place in (WORDS, root):
        stage = load_course(place).find("s01")
        suites.append(Suite(stage, content.test_files(stage)))
    for place, suite in zip((WORDS, root, WORDS), (*suites, suites[0]), strict=True):
        assert not suite.faults
        with suite.in_place():
            file = sys.modules["hidden.s01_counting.oracles"].__file__
            assert Path(str(file)).is_relative_to(place)
    assert "hidden.s01_counting.oracles" not in sys.modules
    for suite in suites:
        suite.close()
