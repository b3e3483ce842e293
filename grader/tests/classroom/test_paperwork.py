"""The files around a learner's copy: what they say, and what they need."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader import __version__
from grader.classroom.paperwork import folder_paperwork, paperwork
from grader.course.manifest import load_course
from grader.course.stage import Course
from grader.errors import CourseError
from grader.tests.support.places import ROOT as HOME


@pytest.fixture(scope="module")
def course() -> Course:
    return load_course(HOME)


def made(course: Course, *names: str, home: Path = HOME, self_paced: bool = False) -> dict[str, str]:
    stages = tuple(course.find(name) for name in names)
    return {name: data.decode() for name, data in paperwork(course, stages, home, self_paced).items()}


def test_the_project_needs_what_the_grader_and_sealed_tests_need(course: Course) -> None:
    own = tomllib.loads((HOME / "pyproject.toml").read_text())["project"]
    found = tomllib.loads(made(course, "s01")["pyproject.toml"])
    project = found["project"]
    assert set(project["dependencies"]) == {*own["dependencies"], *own["optional-dependencies"]["class"]}
    assert [each for each in project["dependencies"] if each.startswith("cryptography")]
    assert project["optional-dependencies"] == own["optional-dependencies"]
    assert project["scripts"] == own["scripts"] and project["entry-points"] == own["entry-points"]
    assert project["requires-python"] == own["requires-python"] and "dependency-groups" not in found


def test_packages_are_as_old_as_the_author_s_and_not_compiled_at_each_run(course: Course, tmp_path: Path) -> None:
    own = tomllib.loads((HOME / "pyproject.toml").read_text())["tool"]["uv"]
    found = tomllib.loads(made(course, "s01")["pyproject.toml"])["tool"]
    assert found["uv"] == {"exclude-newer": own["exclude-newer"]}
    lines = (HOME / "pyproject.toml").read_text().splitlines(True)
    (tmp_path / "pyproject.toml").write_text("".join(line for line in lines if "exclude-newer" not in line))
    shutil.copy(HOME / "LICENSE", tmp_path)
    assert "uv" not in tomllib.loads(made(course, "s01", home=tmp_path)["pyproject.toml"])["tool"]


def test_a_course_that_cannot_open_sealed_tests_is_not_released(course: Course, tmp_path: Path) -> None:
    text = (HOME / "pyproject.toml").read_text()
    lines = [line for line in text.splitlines(True) if not line.startswith("class = ")]
    (tmp_path / "pyproject.toml").write_text("".join(lines))
    shutil.copy(HOME / "LICENSE", tmp_path)
    with pytest.raises(CourseError, match=r"pyproject\.toml has no extra 'class'"):
        made(course, "s01", home=tmp_path)


def test_a_missing_licence_is_named(course: Course, tmp_path: Path) -> None:
    shutil.copy(HOME / "pyproject.toml", tmp_path)
    with pytest.raises(CourseError, match="LICENSE cannot be read"):
        made(Course(tmp_path, course.stages), "s01", home=tmp_path)


@pytest.mark.parametrize(
    ("self_paced", "said", "unsaid"),
    [
        (False, "tests run when you submit", "the key to them lies beside them"),
        (True, "the key to them lies beside them", "your instructor has the key"),
    ],
)
def test_the_readme_says_who_has_the_key(course: Course, self_paced: bool, said: str, unsaid: str) -> None:
    readme = made(course, "s01", "s15", self_paced=self_paced)["README.md"]
    assert said in readme and unsaid not in readme
    assert "stages/s01_matrix_operations/README.md" in readme and "`attention.py`" in readme
    assert __version__ in readme and "$" not in readme and "s16" not in readme


def test_the_index_lists_what_is_released(course: Course) -> None:
    index = made(course, "s01", "s15")["stages/README.md"]
    assert "(s15_attention/README.md)" in index and "(s17_transformer_blocks/" not in index
    assert "## Conventions" in index


def test_a_course_without_an_index_has_none(course: Course, tmp_path: Path) -> None:
    assert "stages/README.md" not in made(Course(tmp_path, course.stages), "s01")


def test_no_cache_and_no_progress_is_ever_committed(course: Course) -> None:
    assert {"__pycache__/", ".venv/", ".grader/"} <= set(made(course, "s01")[".gitignore"].splitlines())


def test_a_copy_of_one_stage_speaks_of_no_other_but_in_its_lessons(course: Course) -> None:
    files = made(course, "s01")
    files["stages/README.md"] = "\n".join(  # the table of parts, and what the conventions point at, stay
        line for line in files["stages/README.md"].splitlines() if "as s15 does" not in line and "| s" not in line
    )
    assert not {name: text for name, text in files.items() if "s15" in text}
    assert f"grader start {course.stages[-1].id}" in made(course, *(stage.id for stage in course.stages))["README.md"]


@pytest.mark.parametrize("make", [paperwork, folder_paperwork])
def test_a_course_without_a_licence_names_none(course: Course, make: Callable[..., Any]) -> None:
    bare = replace(course, settings=replace(course.settings, license=""))
    found = tomllib.loads(make(bare, course.stages[:1], HOME, False)["pyproject.toml"].decode())
    assert "license" not in found["project"] and "license" not in found["tool"]["grader"]  # "" would be refused


def test_a_copy_keeps_that_all_tests_count(course: Course) -> None:
    strict = replace(course, settings=replace(course.settings, passes="all"))
    for found in (folder_paperwork(strict, strict.stages, HOME, self_paced=True), made(strict, "s01")):
        text = found["pyproject.toml"]
        project = tomllib.loads(text.decode() if isinstance(text, bytes) else text)
        assert project["tool"]["grader"]["passes"] == "all"


def test_students_get_a_workflow_of_public_checks(course: Course) -> None:
    workflows = [text for name, text in made(course, "s01").items() if name.startswith(".github/workflows/")]
    assert workflows and all("contents: read" in text and "secrets." not in text for text in workflows)


def test_a_learner_who_installed_the_grader_gets_a_project_that_asks_for_it(course: Course) -> None:
    found = folder_paperwork(course, course.stages, HOME, self_paced=True)
    project = tomllib.loads(found["pyproject.toml"].decode())
    assert project["project"]["dependencies"] == ["attention-grader"]
    assert project["project"]["name"] != "attention-grader" and project["tool"]["uv"] == {"package": False}
    own = tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert project["project"]["optional-dependencies"] == {name: [f"attention-grader[{name}]"] for name in own}
    assert project["tool"]["grader"] == {
        "title": course.settings.title, "license": "MIT", "packages": ["numpy"],
        "hidden": course.settings.hidden, "drawings": course.settings.drawings,
    }  # fmt: skip
    readme = found["README.md"].decode()
    assert "$" not in readme and "uvx --from attention-grader grader check" in readme
    assert all(f"stages/{stage.name}/README.md" in readme for stage in course.stages)
    assert not [name for name in found if name.startswith(".github")]
