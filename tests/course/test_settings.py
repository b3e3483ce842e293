"""The root of a course, and what it says of itself as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course import settings
from grader.course.manifest import load_course
from grader.course.settings import Demo, Settings, find_course_root, read_settings
from grader.course.stage import Course
from grader.errors import CourseError, NoCourse
from tests.course.manifests import HEAD, SPLIT, Write, other
from tests.support.places import ROOT

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


class TestCourse:
    def test_stages_come_in_the_order_of_their_numbers(self, write: Write, tmp_path: Path) -> None:
        for stage_id in ("s100", "s02", "s15"):
            write(other(stage_id), f"{stage_id}_topic")
        assert [stage.id for stage in load_course(tmp_path).stages] == ["s02", "s15", "s100"]

    def test_a_folder_without_stages_is_no_course(self, tmp_path: Path) -> None:
        with pytest.raises(CourseError, match=r"has no stages: expected stages/<stage>/stage\.toml"):
            load_course(tmp_path)

    def test_the_mistakes_of_all_manifests_are_told_at_once(self, write: Write, tmp_path: Path) -> None:
        write(other("s01") + "a = 1", "s01_a")
        write(other("s02", '["s20"]'), "s02_b")
        write("schema = 2", "s03_c")
        with pytest.raises(CourseError) as caught:
            load_course(tmp_path)
        assert str(caught.value).splitlines() == [
            "stages/s01_a/stage.toml: criteria[0].a: is not a key of this table",
            "stages/s03_c/stage.toml: schema: 2 is not 1, the schema that this grader reads",
            "stages/s02_b/stage.toml: requires[0]: 's20' is not a stage of this course, which has s01, s02, s03",
        ]

    def test_requiring_a_stage_whose_manifest_is_broken_is_no_second_mistake(
        self, write: Write, tmp_path: Path
    ) -> None:
        write("schema = 2", "s01_a")
        write(other("s02", '["s01"]'), "s02_b")
        with pytest.raises(CourseError) as caught:
            load_course(tmp_path)
        assert len(str(caught.value).splitlines()) == 1

    @pytest.mark.parametrize(
        ("uses", "said"),
        [
            ('["s09"]', "'s09' is not a stage of this course, which has s01, s02, s03, s04"),
            ('["s03"]', "'s03' is not an earlier stage; a stage uses only stages before it"),
            ('["s02"]', "'s02' is not an earlier stage; a stage uses only stages before it"),
            ('["s01"]', "'s01' does not say 'lends = true', and there is no stages/s02_b/given/s01_a.py in its place"),
        ],
    )
    def test_what_cannot_be_used_is_named(self, write: Write, tmp_path: Path, uses: str, said: str) -> None:
        for name in ("s01_a", "s02_b", "s03_c", "s04_d-e"):
            write(other(name[:3]).replace("requires", f"uses = {uses if name == 's02_b' else '[]'}\nrequires"), name)
        with pytest.raises(CourseError) as caught:
            load_course(tmp_path)
        assert str(caught.value) == f"stages/s02_b/stage.toml: uses[0]: {said}"

    def test_a_folder_that_python_cannot_import_is_named(self, write: Write, tmp_path: Path) -> None:
        write(other("s01").replace("requires", "lends = true\nrequires"), "s01_a-b")
        write(other("s02").replace("requires", 'uses = ["s01"]\nrequires'), "s02_b")
        with pytest.raises(
            CourseError, match=r"uses\[0\]: 's01' cannot be imported: its folder's name, 's01_a-b', is no"
        ):
            load_course(tmp_path)

    def test_what_is_given_in_place_of_a_module_will_do(self, write: Write, tmp_path: Path) -> None:
        write(other("s01"), "s01_a")
        folder = write(other("s02").replace("requires", 'uses = ["s01"]\nrequires'), "s02_b")
        (folder / "given").mkdir()
        (folder / "given" / "s01_a.py").write_text("x = 1\n")
        assert [each.id for each in load_course(tmp_path).stages[1].builds_on] == ["s01"]

    def test_using_a_stage_whose_manifest_is_broken_is_no_second_mistake(self, write: Write, tmp_path: Path) -> None:
        write("schema = 2", "s01_a")
        write(other("s02").replace("requires", 'uses = ["s01"]\nrequires'), "s02_b")
        with pytest.raises(CourseError) as caught:
            load_course(tmp_path)
        assert len(str(caught.value).splitlines()) == 1

    def test_two_stages_with_one_id_are_named(self, write: Write, tmp_path: Path) -> None:
        write(other("s01"), "s01_a")
        write(other("s01"), "s01_b")
        with pytest.raises(CourseError, match=r"s01_b/stage.toml: id: 's01' is already the id of stages/s01_a"):
            load_course(tmp_path)

    def test_stages_that_wait_for_each_other_are_named(self, write: Write, tmp_path: Path) -> None:
        write(other("s01", '["s03"]'), "s01_a")
        write(other("s02", '["s01"]'), "s02_b")
        write(other("s03", '["s02"]'), "s03_c")
        with pytest.raises(CourseError) as caught:
            load_course(tmp_path)
        (line,) = str(caught.value).splitlines()
        expected = "stages/s01_a/stage.toml: requires: stages wait for each other in a circle: s01 -> s03 -> s02 -> s01"
        assert line == expected

    def test_every_circle_is_named(self, write: Write, tmp_path: Path) -> None:
        write(other("s01", '["s01"]'), "s01_a")
        write(other("s02", '["s03"]'), "s02_b")
        write(other("s03", '["s02"]'), "s03_c")
        with pytest.raises(CourseError) as caught:
            load_course(tmp_path)
        assert len(str(caught.value).splitlines()) == 2


class TestCourseRoot:
    def test_the_root_is_the_nearest_folder_upwards_that_has_stages(self, course: Course) -> None:
        assert find_course_root(course.root / "stages" / "s15_attention") == course.root
        assert find_course_root(course.root) == course.root

    def test_a_file_will_do_as_the_start(self, course: Course) -> None:
        assert find_course_root(course.root / "stages" / "s15_attention" / "stage.toml") == course.root

    def test_elsewhere_the_root_is_where_the_grader_lies(
        self, course: Course, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(settings, "HOUSE", course.root / "grader")
        assert find_course_root(tmp_path_factory.mktemp("elsewhere")) == course.root

    def test_without_any_course_the_error_names_what_makes_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(settings, "HOUSE", tmp_path / "grader")
        with pytest.raises(NoCourse, match="this folder does not hold a course: `grader init my-course` makes one"):
            find_course_root(tmp_path)

    def test_folders_right_below_that_hold_a_course_are_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(settings, "HOUSE", tmp_path / "grader")
        for name in ("my course", "other"):
            (tmp_path / name / "stages" / "s01").mkdir(parents=True)
            (tmp_path / name / "stages" / "s01" / "stage.toml").touch()
        (tmp_path / "empty" / "stages").mkdir(parents=True)
        with pytest.raises(NoCourse, match="but my course or other does") as caught:
            find_course_root(tmp_path)
        assert caught.value.hint == "Go into it: `cd 'my course'` or `cd other`."
