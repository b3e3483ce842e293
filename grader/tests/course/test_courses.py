"""A course as its stages, and the folder that it is found in."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course import root
from grader.course.manifest import load_course
from grader.course.root import find_course_root
from grader.course.stage import Course
from grader.errors import CourseError, NoCourse
from grader.tests.course.manifests import Write, other


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
        monkeypatch.setattr(root, "HOUSE", course.root / "grader")
        assert find_course_root(tmp_path_factory.mktemp("elsewhere")) == course.root

    def test_without_any_course_the_error_names_what_makes_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(root, "HOUSE", tmp_path / "grader")
        with pytest.raises(NoCourse, match="this folder does not hold a course: `grader init my-course` makes one"):
            find_course_root(tmp_path)

    def test_folders_right_below_that_hold_a_course_are_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(root, "HOUSE", tmp_path / "grader")
        for name in ("my course", "other"):
            (tmp_path / name / "stages" / "s01").mkdir(parents=True)
            (tmp_path / name / "stages" / "s01" / "stage.toml").touch()
        (tmp_path / "empty" / "stages").mkdir(parents=True)
        with pytest.raises(NoCourse, match="but my course or other does") as caught:
            find_course_root(tmp_path)
        assert caught.value.hint == "Go into it: `cd 'my course'` or `cd other`."
