"""Where reports go: whole files or none, refused before grading begins, and nothing of an earlier run is left."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from grader.commands.publishing import ReportWriter, located, put
from grader.errors import GraderFault, UsageError
from grader.report import github
from grader.report.formats import parsed
from tests.support.streams import Full
from tests.support.verdicts import CLASSROOM50, LABEL, NOW, PASSED, VERDICT, report


def press(text: str, environment: Mapping[str, str] | None = None) -> ReportWriter:
    return ReportWriter(parsed(text), environment or {})


def refused(what: ReportWriter) -> UsageError:
    with pytest.raises(UsageError) as caught:
        what.prepare()
    return caught.value


def test_every_file_is_written_whole(tmp_path: Path) -> None:
    names = ("json", "junit", "gradescope", "autograding", "classroom50", "github")
    files = {name: tmp_path / name for name in names}
    made = press(",".join(f"{name}={path}" for name, path in files.items()), CLASSROOM50)
    made.prepare()
    made.publish(report(VERDICT), tmp_path, NOW)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    assert json.loads(files["json"].read_text("utf-8"))["stage"] == "s15"
    assert files["github"].read_text("utf-8").startswith("## s15")
    assert all(path.read_text("utf-8").endswith("\n") for path in files.values())
    if sys.platform != "win32":
        assert {stat.S_IMODE(path.stat().st_mode) for path in files.values()} == {0o644}


@pytest.mark.skipif(sys.platform == "win32", reason="no modes there")
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_a_file_is_readable_as_far_as_the_umask_allows(tmp_path: Path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        put(tmp_path / "receipt.json", "{}")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "receipt.json").stat().st_mode) == mode


def test_a_full_stdout_is_named_and_costs_no_other_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(GraderFault) as caught:
        press(f"json,junit={tmp_path / 'j.xml'}").publish(report(VERDICT), tmp_path, NOW)
    assert caught.value.message == "stdout cannot be written to: No space left on device"
    assert (tmp_path / "j.xml").is_file()
    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(GraderFault, match="stdout cannot be written to"):
        press(f"github={tmp_path / 'summary.md'}").publish(report(VERDICT), tmp_path, NOW)
    assert (tmp_path / "summary.md").is_file()


def test_what_an_earlier_run_left_is_gone_before_grading_begins(tmp_path: Path) -> None:
    file = tmp_path / "j.xml"
    file.write_text("all green", encoding="utf-8")
    press(f"junit={file}").prepare()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("where", ["no/folder/j.xml", "file.txt/j.xml", "folder"])
def test_a_file_that_cannot_be_written_is_refused(tmp_path: Path, where: str) -> None:
    (tmp_path / "file.txt").write_text("kept", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    assert str(tmp_path / where) in refused(press(f"junit={tmp_path / where}")).message
    assert (tmp_path / "file.txt").read_text(encoding="utf-8") == "kept"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_links_and_devices_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("kept", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "link", tmp_path / "pipe", Path("/dev/null"), Path("/dev/stdout")):
        assert "not a regular file" in refused(press(f"junit={path}")).message
    assert (tmp_path / "kept").read_text(encoding="utf-8") == "kept"


def test_one_file_takes_one_report(tmp_path: Path) -> None:
    path = tmp_path / "x"
    assert "twice" in refused(press(f"junit={path},json={tmp_path / 'y' / '..' / 'x'}")).message


def test_classroom50_is_refused_outside_of_its_runner(tmp_path: Path) -> None:
    assert "CLASSROOM" in refused(press(f"classroom50={tmp_path / 'r'}")).message


@pytest.mark.parametrize("environment", [{}, {"GITHUB_STEP_SUMMARY": ""}])
def test_a_summary_needs_the_runner_s_file(environment: dict[str, str]) -> None:
    assert refused(press("github", environment)).hint == "Outside of GitHub Actions name a file: github=FILE."


def test_a_summary_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    error = refused(press("github", {"GITHUB_STEP_SUMMARY": str(tmp_path)}))
    assert "GITHUB_STEP_SUMMARY" in error.message


def test_the_summary_is_added_to_what_the_step_has_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "summary.md"
    file.write_text("before\n", encoding="utf-8")
    made = press("github", {"GITHUB_STEP_SUMMARY": str(file)})
    made.prepare()
    made.publish(report(VERDICT), tmp_path, NOW)
    assert file.read_text(encoding="utf-8").startswith("before\n## s15")
    assert capsys.readouterr().out.startswith("::error title=s15 split-heads::")


def test_a_summary_fills_only_what_is_left_of_the_step_s_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(github, "LIMIT", 600)
    file = tmp_path / "summary.md"
    file.write_text("x" * 300, encoding="utf-8")
    press("github", {"GITHUB_STEP_SUMMARY": str(file)}).publish(report(VERDICT), tmp_path, NOW)
    assert 300 < file.stat().st_size <= 600
    assert "The rest is left out" in file.read_text(encoding="utf-8")


def test_annotations_leave_stdout_to_a_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = press(f"github={tmp_path / 's'},json")
    assert (made.takes_stdout, press("github").takes_stdout) == (True, False)
    made.publish(report(VERDICT), tmp_path, NOW)
    captured = capsys.readouterr()
    assert json.loads(captured.out)["stage"] == "s15"
    assert captured.err.startswith("::error ")


def test_a_report_that_cannot_be_written_is_a_fault_and_the_others_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def full(source: Path, target: Path) -> None:
        if target.name == "a":
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(GraderFault, match="a cannot be written: No space left on device"):
        press(f"junit={tmp_path / 'a'},json={tmp_path / 'b'}").publish(report(PASSED), tmp_path, NOW)
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_a_graded_file_is_found_in_the_repository_that_is_checked_out(tmp_path: Path) -> None:
    course = tmp_path / "repository" / "course"
    (course / LABEL).parent.mkdir(parents=True)
    (course / LABEL).touch()
    here = {"GITHUB_WORKSPACE": str(tmp_path / "repository")}
    assert located(LABEL, course, here) == f"course/{LABEL}"
    assert located(str(course / LABEL), course, here) == f"course/{LABEL}"
    assert located(LABEL, course, {}) == LABEL
    assert located(LABEL, course, {"GITHUB_WORKSPACE": str(tmp_path / "elsewhere")}) is None
    assert located("repo@abc:attention.py", course, here) is None
