"""The files around a learner's copy: what they say, and what they need."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from ruamel.yaml import YAML

from grader import __version__
from grader.classroom.paperwork import paperwork
from grader.cli import Group
from grader.course.manifest import load_course
from grader.course.stage import Course
from grader.errors import CourseError
from grader.tests.support.places import ROOT as HOME

yaml = YAML(typ="safe")


@pytest.fixture(scope="module")
def course() -> Course:
    return load_course(HOME)


def made(course: Course, *names: str, home: Path = HOME, self_paced: bool = False) -> dict[str, str]:
    stages = tuple(course.find(name) for name in names)
    return {name: data.decode() for name, data in paperwork(course, stages, home, self_paced).items()}


def test_the_project_needs_the_grader_from_its_wheel_and_from_no_index(course: Course) -> None:
    own = tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = tomllib.loads(made(course, "s01")["pyproject.toml"])
    project, wheel = found["project"], found["tool"]["uv"]["sources"]["attention-grader"]
    assert project["dependencies"] == ["attention-grader"] and project["name"] != "attention-grader"
    assert wheel == {"path": f".grader/wheels/attention_grader-{__version__}-py3-none-any.whl"}
    extras = {name: [f"attention-grader[{name}]"] for name in own["optional-dependencies"]}
    assert project["optional-dependencies"] == extras
    assert found["tool"]["uv"]["package"] is False and "dependency-groups" not in found


def test_python_is_one_that_was_tested(course: Course) -> None:
    own = tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    project = tomllib.loads(made(course, "s01")["pyproject.toml"])["project"]
    versions = [each.rpartition(" ")[2] for each in own["classifiers"] if "Python :: 3." in each]
    tested = yaml.load((HOME / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))["jobs"]["check"]
    assert project["requires-python"] == own["requires-python"]
    assert versions == tested["strategy"]["matrix"]["python"]
    allowed = SpecifierSet(project["requires-python"])
    assert [f"3.{minor}" for minor in range(6, 40) if f"3.{minor}.1" in allowed] == versions


def test_a_course_on_another_subject_keeps_its_own_requirements(course: Course, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "sorting"\ndependencies = ["attention-grader[class]", "attention-grader-of-mine", "scipy"]\n'
    )
    stages = course.stages[:1]
    found = tomllib.loads(paperwork(Course(tmp_path, stages), stages, HOME, True)["pyproject.toml"].decode())["project"]
    assert found["name"] == "sorting"
    assert found["dependencies"] == ["attention-grader", "attention-grader-of-mine", "scipy"]


def test_packages_are_as_old_as_the_author_s_and_not_compiled_at_each_run(course: Course, tmp_path: Path) -> None:
    own = tomllib.loads((HOME / "pyproject.toml").read_text())["tool"]["uv"]
    found = tomllib.loads(made(course, "s01")["pyproject.toml"])["tool"]
    assert found["uv"]["exclude-newer"] == own["exclude-newer"]
    lines = (HOME / "pyproject.toml").read_text().splitlines(True)
    (tmp_path / "pyproject.toml").write_text("".join(line for line in lines if "exclude-newer" not in line))
    shutil.copy(HOME / "LICENSE", tmp_path)
    assert "exclude-newer" not in tomllib.loads(made(course, "s01", home=tmp_path)["pyproject.toml"])["tool"]["uv"]


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


@pytest.mark.parametrize("released", [True, False])
def test_assistants_are_asked_to_coach_with_commands_that_there_are(course: Course, released: bool) -> None:
    stages = (course.find("s15"), course.find("s16"))
    text = paperwork(course, stages, HOME, self_paced=True, released=released)["AGENTS.md"].decode()
    assert "coach, do not solve" in text and course.settings.title in text and "$" not in text
    assert "cd stages/s15_attention\n" in text and "grader hint s15 " in text
    commands = set(re.findall(r"grader ([a-z]+)", text))
    assert {"show", "check", "hint"} <= commands <= set(Group.entries)


def test_the_index_lists_what_is_released(course: Course) -> None:
    index = made(course, "s01", "s15")["stages/README.md"]
    assert "(s15_attention/README.md)" in index and "(s17_transformer_blocks/" not in index
    assert "## Conventions" in index


def test_a_course_without_an_index_has_none(course: Course, tmp_path: Path) -> None:
    assert "stages/README.md" not in made(Course(tmp_path, course.stages), "s01")


@pytest.mark.skipif(shutil.which("git") is None, reason="git decides what it ignores, and is not installed")
def test_no_cache_and_no_progress_is_ever_committed_but_the_wheel_is(course: Course, tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text(made(course, "s01")[".gitignore"])
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    wheel = ".grader/wheels/attention_grader-0.1.0-py3-none-any.whl"
    ignored = ["a/__pycache__/b.pyc", ".venv/c", ".grader/progress.json", ".grader/backups/d/e.py"]
    given = "\n".join([*ignored, wheel, f"{wheel}.sha256"])
    done = subprocess.run(
        ["git", "check-ignore", "--stdin"], input=given, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == ignored


def test_a_copy_of_one_stage_speaks_of_no_other_but_in_its_lessons(course: Course) -> None:
    files = {name: text for name, text in made(course, "s01").items() if name not in course.settings.pages}
    files["stages/README.md"] = "\n".join(  # the table of parts, and what the conventions point at, stay
        line for line in files["stages/README.md"].splitlines() if "as s15 does" not in line and "| s" not in line
    )
    assert not {name: text for name, text in files.items() if "s15" in text}
    assert f"grader start {course.stages[-1].id}" in made(course, *(stage.id for stage in course.stages))["README.md"]


def test_a_course_without_a_licence_names_none(course: Course) -> None:
    bare = replace(course, settings=replace(course.settings, license=""))
    found = tomllib.loads(paperwork(bare, course.stages[:1], HOME, False)["pyproject.toml"].decode())
    assert "license" not in found["project"] and "license" not in found["tool"]["grader"]  # "" would be refused


def test_a_copy_keeps_that_all_tests_count(course: Course) -> None:
    strict = replace(course, settings=replace(course.settings, passes="all"))
    for self_paced in (True, False):
        project = tomllib.loads(made(strict, "s01", self_paced=self_paced)["pyproject.toml"])
        assert project["tool"]["grader"]["passes"] == "all"


def test_students_get_a_workflow_of_public_checks(course: Course) -> None:
    workflows = [text for name, text in made(course, "s01").items() if name.startswith(".github/workflows/")]
    assert workflows and all("contents: read" in text and "secrets." not in text for text in workflows)


def test_a_learner_who_installed_the_grader_gets_the_same_and_how_to_bring_a_newer_one(course: Course) -> None:
    found = paperwork(course, course.stages, HOME, self_paced=True, released=False)
    released = paperwork(course, course.stages, HOME, self_paced=True)
    assert found["pyproject.toml"] == released["pyproject.toml"]
    assert tomllib.loads(found["pyproject.toml"].decode())["tool"]["grader"] == {
        "title": course.settings.title, "license": "MIT", "packages": ["numpy"],
        "hidden": course.settings.hidden, "drawings": course.settings.drawings,
    }  # fmt: skip
    readme = found["README.md"].decode()
    assert "$" not in readme and "grader update" in readme and "grader update" not in released["README.md"].decode()
    assert all(f"stages/{stage.name}/README.md" in readme for stage in course.stages)
    assert not [name for name in found if name.startswith(".github")]


def test_pages_of_the_course_go_along(course: Course) -> None:
    assert course.settings.pages and set(course.settings.pages) <= made(course, "s01").keys()


def test_a_page_that_is_missing_is_named_by_a_release(course: Course) -> None:
    with pytest.raises(CourseError, match=r"docs/none\.md cannot be read"):
        made(replace(course, settings=replace(course.settings, pages=("docs/none.md",))), "s01")
