"""The error tree: exit codes, and what each error carries."""

from __future__ import annotations

import pickle

import pytest

from grader import errors
from grader.errors import installs
from grader.setup.wheel import own_project
from tests.support.places import ROOT


@pytest.mark.parametrize(
    ("error", "exit_code"),
    [
        (errors.GraderError, 4),
        (errors.UsageError, 2),
        (errors.UnknownStage, 2),
        (errors.StageLocked, 3),
        (errors.CourseError, 4),
        (errors.SubmissionError, 5),
        (errors.ProgressError, 4),
        (errors.IsolationRefused, 4),
        (errors.GraderFault, 4),
    ],
)
def test_each_error_has_the_exit_code_of_its_kind(error: type[errors.GraderError], exit_code: int) -> None:
    assert error.exit_code == exit_code
    assert issubclass(error, errors.GraderError)


def test_an_error_reads_as_its_message_and_carries_its_hint() -> None:
    error = errors.SubmissionError("a.py is a link", "Give the file itself.")
    assert str(error) == "a.py is a link"
    assert error.hint == "Give the file itself."


def test_an_error_needs_no_hint() -> None:
    assert errors.GraderError("it broke").hint is None


def test_an_unknown_stage_is_a_usage_error() -> None:
    assert issubclass(errors.UnknownStage, errors.UsageError)


def test_an_error_crosses_a_process_boundary_with_its_hint() -> None:
    copy = pickle.loads(pickle.dumps(errors.StageLocked("s15 is locked", "Pass s01 first.")))
    assert (type(copy), str(copy), copy.hint) == (errors.StageLocked, "s15 is locked", "Pass s01 first.")


def test_the_project_is_synced_or_the_packages_are_installed() -> None:
    said = installs("web", "jinja2", "markdown-it-py")
    assert "`uv sync --extra web`" in said and "pip install jinja2 markdown-it-py." in said
    assert own_project(ROOT)["project"]["name"] not in said
