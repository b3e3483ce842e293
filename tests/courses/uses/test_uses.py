"""A stage that builds on earlier ones and has data: whose text is used, and where."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from grader.course.manifest import load_course
from grader.judging import content, grading
from grader.judging.grading import Options
from grader.submission import take
from grader.submission.earlier import used_modules
from tests.courses.conftest import solution
from tests.courses.uses.building import Grade, module, sources, wrote

pytestmark = pytest.mark.usefixtures("brief_search")


class TestWhoseText:
    def test_what_has_not_passed_is_replaced(self, check: Grade, root: Path) -> None:
        wrote(root, "s03", "raise RuntimeError\n")
        done = check("--json")
        assert done.json["passed"] and sources(done.json) == {"s02": "given", "s03": "reference"}
        given = root / "stages" / "s04_ladders" / "given" / "s02_distance.py"
        assert done.json["uses"][0]["digest"] == hashlib.sha256(given.read_bytes()).hexdigest()

    def test_what_has_passed_is_the_learners_own_until_it_changes(self, check: Grade, root: Path) -> None:
        wrote(root, "s02", passed=True)
        own = wrote(root, "s03", passed=True)
        first = check("--json").json
        assert first["passed"] and sources(first) == {"s02": "own", "s03": "own"}
        own.write_text(own.read_text() + "# changed\n")
        second = check("--json").json
        assert sources(second) == {"s02": "own", "s03": "reference"}
        alone = hashlib.sha256(module(root, "s04").read_bytes()).hexdigest()
        assert len({first["submission"], second["submission"], alone}) == 3

    def test_the_screen_says_whose_it_is(self, check: Grade, root: Path) -> None:
        wrote(root, "s02", passed=True)
        said = "with your own s02, and with the reference of s03, since your own, as it is now, has not passed"
        assert said in " ".join(check().out.split())

    def test_a_run_over_all_stages_knows_what_passed_in_it(self, grader: Grade, root: Path, tmp_path: Path) -> None:
        archive = tmp_path / "all.zip"
        with zipfile.ZipFile(archive, "w") as made:
            for stage in ("s02", "s03", "s04"):
                text = solution(stage).read_text()
                text = text.replace("return steps\n", "return {}\n") if stage == "s03" else text
                made.writestr(str(module(root, stage).relative_to(root)), text)
        done = grader(
            "check", "--all", "--submission", str(archive), "--lend", "always", "--isolation", "process", "--json"
        )
        verdicts = {each["stage"]: each for each in done.json["verdicts"]}
        assert not verdicts["s03"]["passed"] and verdicts["s04"]["passed"], done.err
        assert sources(verdicts["s04"]) == {"s02": "own", "s03": "reference"}

    def test_of_one_file_nothing_else_is_taken(self, check: Grade, root: Path) -> None:
        wrote(root, "s02", passed=True)
        done = check("--submission", str(module(root, "s04")), "--lend", "always", "--json")
        assert done.json["passed"] and sources(done.json) == {"s02": "given", "s03": "reference"}


@pytest.mark.full_matrix
def test_where_nothing_forks_it_is_the_same(root: Path) -> None:
    course = load_course(root)
    stage = course.find("s04")
    wrote(root, "s04")

    snapshot = replace(take(stage, None, root), uses=used_modules(stage))
    assert grading.grade(course, stage, snapshot, Options(3, "process", fork=False)).passed


class TestPlainPytest:
    def test_a_stage_folder_finds_what_it_builds_on_and_its_data(self, root: Path) -> None:
        wrote(root, "s04")
        wrote(root, "s03", solution("s03").read_text().replace("steps[node] + 1", "steps[node] + 2"))
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "stages/s04_ladders",
            "hidden/s04_ladders",
        ]
        ran = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)
        assert "1 failed, 5 passed" in ran.stdout, (
            ran.stdout
        )  # a public test meets the learner's own s03, no hidden one
        assert "test_a_ladder_through_the_list_of_words" in ran.stdout


def test_a_course_says_what_data_there_are(root: Path) -> None:
    stage = load_course(root).find("s04")
    assert set(content.test_files(stage).data) == {"words.txt"}
    test = root / "stages" / "s04_ladders" / "tests" / "test_ladders.py"
    test.write_text(test.read_text().replace("words.txt", "word.txt"))
    shutil.copy(solution("s04"), module(root, "s04"))
    course = load_course(root)
    stage = course.find("s04")

    snapshot = replace(take(stage, None, root), uses=used_modules(stage))
    verdict = grading.grade(course, stage, snapshot, Options(3, "process"))
    assert verdict.grader_fault
    assert "s04 has no data of the name 'word.txt': its data/ has words.txt" in verdict.criteria[1].failures[0].message
