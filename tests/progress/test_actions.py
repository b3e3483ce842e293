"""A row alone is one of the stage where somebody is; what is neither stage nor row stays an error."""

from __future__ import annotations

import pytest

from grader.errors import UnknownStage
from grader.progress.actions import stage_and_criterion
from grader.progress.workspace import open_workspace
from tests.support.command import Place


def test_a_name_that_is_no_stage_may_be_a_row_of_where_one_is(place: Place) -> None:
    workspace = open_workspace(place.root)
    first, second = workspace.course.stages
    assert stage_and_criterion(workspace, "quadruple", None) == (first, "quadruple")
    assert stage_and_criterion(workspace, "s02", "total") == (second, "total")
    assert stage_and_criterion(workspace, None, None) == (first, None)
    place.passed("s01")
    assert stage_and_criterion(workspace, "total()", None) == (second, "total()")


@pytest.mark.parametrize(("stage", "row"), [("total", None), ("quadruple", "double")])
def test_what_is_neither_is_an_error(place: Place, stage: str, row: str | None) -> None:
    with pytest.raises(UnknownStage):
        stage_and_criterion(open_workspace(place.root), stage, row)


@pytest.mark.parametrize("name", ["quad", "qadruple"])
def test_a_part_of_a_rows_id_or_a_slip_in_it_is_answered_with_the_rows_of_where_one_is(place: Place, name: str) -> None:
    workspace = open_workspace(place.root)
    with pytest.raises(UnknownStage, match=f"'{name}' is not a stage of this course") as caught:
        stage_and_criterion(workspace, name, None)
    assert caught.value.hint == "Of the criteria of s01, did you mean quadruple? The stages are s01, s02."
    for stage, row in (("quad", "double"), ("", None), ("tot", None)):  # the last is a part of a row of s02
        with pytest.raises(UnknownStage) as other:
            stage_and_criterion(workspace, stage, row)
        assert "criteria" not in str(other.value.hint)


def test_within_a_folder_of_a_stage_that_stage_is_meant(place: Place) -> None:
    workspace = open_workspace(place.sums.parent / "tests")
    second = workspace.course.stages[1]
    assert stage_and_criterion(workspace, None, None) == (second, None)
    assert stage_and_criterion(workspace, "total", None) == (second, "total")
    assert stage_and_criterion(open_workspace(place.sums.parents[1]), None, None) == (workspace.course.stages[0], None)


def test_a_check_within_a_folder_of_a_stage_grades_that_stage(place: Place) -> None:
    done = place.run("check", folder=place.sums.parent)
    assert done.code == 3 and done.err.startswith("error: s02 is locked")
    assert "`grader check s01` grades the stage where you are" in " ".join(done.err.split())


def test_a_link_that_leads_out_of_the_course_is_no_stage(
    place: Place, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    link = place.root / "stages" / "mine"
    link.symlink_to(elsewhere, target_is_directory=True)
    assert open_workspace(link).within is None
