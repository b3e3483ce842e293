"""The table [tool.grader]: what it says, its defaults, and a line for each mistake in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course.manifest import load_course
from grader.course.root import read_settings
from grader.course.settings import Demo, Settings
from grader.errors import CourseError
from grader.tests.course.manifests import HEAD, SPLIT, Write
from grader.tests.support.places import ROOT

PAGES = ("pages/first.md", "more.md")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("hidden", "answers", "pictures", "demo"):
        (tmp_path / folder).mkdir()
    for folder in ("secret/answers", "stages/answers"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "linked").symlink_to("hidden")
    for place in ("demo", "stages"):
        (tmp_path / place / "half.py").touch()
    return tmp_path


def read(root: Path, table: str) -> Settings:
    (root / "pyproject.toml").write_text(table, encoding="utf-8")
    return read_settings(root)


def mistakes(root: Path, table: str) -> str:
    with pytest.raises(CourseError) as caught:
        read(root, table)
    return caught.value.message


def test_the_table_alone_is_enough(root: Path) -> None:
    assert read(root, "[tool.grader]\n") == Settings(title=root.name)


def test_every_key_is_read(root: Path) -> None:
    table = """
    [tool.grader]
    title = "Words"
    license = "MIT"
    packages = ["numpy", "pandas"]
    hidden = "answers"
    drawings = "pictures"
    pages = ["pages/first.md", "more.md"]
    demo = { stage = "s02", file = "demo/half.py" }
    passes = "all"
    """
    demo = Demo("s02", "demo/half.py")
    own = Settings("Words", "MIT", ("numpy", "pandas"), "answers", "pictures", demo, "all", PAGES)
    assert read(root, table) == own


def test_this_course_says_where_its_things_lie() -> None:
    own = read_settings(ROOT)
    assert (own.packages, own.hidden, own.drawings) == (("numpy",), "hidden", "drawings") and own.demo is not None
    assert own.passes == "mathematics"
    assert {stage.passes for stage in load_course(ROOT).stages} == {"mathematics"}


@pytest.mark.parametrize("text", [None, "", "[tool.ruff]\n", "tool = 3\n", "[tool]\ngrader = 3\n"])
def test_a_course_without_the_table_is_told_what_to_write(root: Path, text: str | None) -> None:
    if text is not None:
        (root / "pyproject.toml").write_text(text, encoding="utf-8")
    with pytest.raises(CourseError, match=r"pyproject\.toml: no table \[tool\.grader\]") as caught:
        read_settings(root)
    assert "Write the line [tool.grader]" in str(caught.value.hint)


def test_a_file_that_is_no_toml_is_named(root: Path) -> None:
    assert mistakes(root, "[tool.grader\n").startswith("pyproject.toml: line 1")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('titles = "x"', "titles: is not a key of this table; did you mean 'title'?"),
        ('passes = "most"', "passes: 'most' is not mathematics or all"),
        ("passes = true", "passes: True is not a text"),
        ("title = 3", "title: 3 is not a text"),
        ('title = " "', "title: ' ' is not a line of text"),
        ('packages = "numpy"', "packages: 'numpy' is not a list"),
        ('packages = ["numpy.linalg"]', "packages[0]: 'numpy.linalg' is not the name of a package"),
        ('hidden = "nowhere"', "hidden: there is no folder 'nowhere' in the course"),
        ('hidden = "../hidden"', "hidden: '../hidden' is not a folder of the course"),
        ('hidden = "json"', "hidden: 'json' ends in a name that is taken: json"),
        ("drawings = true", "drawings: True is not a text"),
        ('drawings = "nowhere"', "drawings: there is no folder 'nowhere' in the course"),
        ('pages = ["more.md", "../x.md"]', "pages[1]: '../x.md' is not a Markdown file of the course"),
        ('demo = { stage = "s01" }', "demo.file: is missing; expected a text"),
        ('demo = { stage = "1", file = "demo/half.py" }', "demo.stage: '1' is not the id of a stage"),
        ('demo = { stage = "s01", file = "demo/none.py" }', "demo.file: there is no file 'demo/none.py' in the course"),
        ('demo = { stage = "s01", file = "../half.py" }', "demo.file: '../half.py' is not a Python file of the course"),
        ('packages = ["numpy", "os"]', "packages[1]: 'os' is a part of Python, which every stage may import"),
        ('packages = ["grader"]', "packages[0]: 'grader' is a part of the grader or of the course, and no package"),
        ('packages = ["hidden"]', "packages[0]: 'hidden' is a part of the grader or of the course, and no package"),
        ('hidden = "secret/answers"\npackages = ["secret"]', "packages[0]: 'secret' is a part of"),
        ('packages = ["__main__"]', "packages[0]: '__main__' is a part of"),
        ('drawings = "hidden"', "drawings: 'hidden' holds or is a part of 'hidden', and learners get it"),
        ('drawings = "secret"\nhidden = "secret/answers"', "drawings: 'secret' holds or is a part of 'secret/answers'"),
        ('drawings = "linked"', "drawings: 'linked' holds or is a part of 'hidden', and learners get it"),
        ('hidden = "stages/answers"', "hidden: 'stages/answers' is a part of what learners get"),
        (
            'demo = { stage = "s01", file = "stages/half.py" }',
            "demo.file: 'stages/half.py' is a part of what learners get",
        ),
    ],
)
def test_a_wrong_key_is_named_with_what_was_expected(root: Path, line: str, expected: str) -> None:
    assert mistakes(root, f"[tool.grader]\n{line}\n").startswith(f"pyproject.toml: tool.grader.{expected}")


def test_a_missing_folder_of_answers_is_named(root: Path) -> None:
    (root / "hidden").rmdir()
    assert "there is no folder 'hidden'" in mistakes(root, "[tool.grader]\n")


def test_several_mistakes_are_told_at_once(root: Path) -> None:
    assert len(mistakes(root, "[tool.grader]\ntitle = 1\nhidden = 2\nmore = 3\n").splitlines()) == 3


def test_stages_know_where_their_answers_lie_and_what_may_be_imported(write: Write, tmp_path: Path) -> None:
    write(HEAD + SPLIT)
    (tmp_path / "secret" / "answers").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.grader]\nhidden = "secret/answers"\npackages = ["pandas"]\n')
    (stage,) = load_course(tmp_path).stages
    assert stage.hidden_root == tmp_path / "secret" / "answers" and stage.packages == ("pandas",)
    assert (stage.hidden_place, stage.hidden_package) == (f"secret/answers/{stage.name}", f"answers.{stage.name}")
