"""`grader report`: what it writes and prints, what it leaves alone, and what it takes to have it signed."""

from __future__ import annotations

import json
import webbrowser
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from grader.classroom.receipt import new_signing_key
from grader.progress import workspace
from grader.web import report_page as report
from grader.web.certificate import held
from tests.support.command import NUMBERS, Here
from tests.support.places import HOUSE
from tests.test_flow import loaded
from tests.watching.fakes import verdict

SCHEMA = json.loads((HOUSE / "web" / "report.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def keys(tmp_path: Path) -> tuple[Path, Path]:
    """A private key and its public one."""
    pytest.importorskip("cryptography")
    paths = tmp_path / "signing.key", tmp_path / "signing.pub"
    for path, data in zip(paths, new_signing_key(), strict=True):
        path.write_bytes(data)
    return paths


@pytest.fixture
def passes(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """A learner who has begun one stage; grading it finds that it passes."""
    here.place.numbers.write_text(NUMBERS, encoding="utf-8")

    def graded(workspace: Any, stage: Any, *_: Any) -> Any:
        made = verdict(stage, *["passed"] * len(stage.criteria))
        return replace(made, run=replace(made.run, only=None, isolation="bubblewrap"))

    monkeypatch.setattr("grader.web.certificate.graded", graded)
    assert workspace.graded is not graded


def taking(opened: list[str]) -> Callable[[str], bool]:
    """Return a browser that notes what it is to open."""

    def browser(address: str) -> bool:
        opened.append(address)
        return True

    return browser


def test_it_loads_neither_jinja_nor_numpy_before_it_is_asked_for() -> None:
    assert not {"jinja2", "numpy", "markdown_it", "pytest"} & loaded("grader.commands.report")


def test_a_page_is_written_where_somebody_is(here: Here) -> None:
    done = here("report")
    assert (done.code, done.out) == (0, "") and "Wrote report.html." in done.err
    page = (here.place.root / "report.html").read_text(encoding="utf-8")
    assert "Nothing has been begun yet" in page and "This certificate is not signed" not in page
    assert here("report").code == 0  # the earlier one is replaced


def test_a_page_goes_where_it_is_wanted_and_is_nobody_elses(here: Here, tmp_path: Path) -> None:
    assert here("report", "--output", str(tmp_path / "mine.html"), "--student", "Ada L").code == 0
    assert "Ada L" in (tmp_path / "mine.html").read_text(encoding="utf-8")
    (tmp_path / "other.html").write_text("mine", encoding="utf-8")
    done = here("report", "-o", str(tmp_path / "other.html"))
    assert done.code == 2 and "already exists and is not a report" in " ".join(done.err.split())
    assert here("report", "-o", str(tmp_path / "page.pdf")).code == 2


def test_json_prints_a_document_and_writes_no_page(here: Here, tmp_path: Path) -> None:
    done = here("report", "--json", "--no-pictures")
    jsonschema.validate(done.json, SCHEMA)
    assert done.json["file"] is None and not (here.place.root / "report.html").exists()
    both = here("report", "--json", "--output", str(tmp_path / "a.html"))
    assert both.json["file"] == str(tmp_path / "a.html") and (tmp_path / "a.html").exists()


def test_a_page_can_be_opened(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", taking(opened))
    assert here("report", "--open").code == 0
    assert opened == [(here.place.root / "report.html").resolve().as_uri()]
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    assert "No browser was found" in here("report", "--open").err
    done = here("report", "--open", "--json")
    assert done.code == 2 and "Name a file with --output" in done.err


def test_without_matplotlib_the_page_says_what_pictures_need(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "find_spec", lambda name: None)
    assert here("report").code == 0
    assert "Pictures need matplotlib" in (here.place.root / "report.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("passes")
def test_a_signed_report_is_genuine_and_a_changed_one_is_not(here: Here, keys: tuple[Path, Path]) -> None:
    private, public = keys
    assert here("report", "--signing-key", str(private), "--student", "Ada L").code == 0
    page = here.place.root / "report.html"
    whole = page.read_bytes()
    data = held(whole)
    assert data is not None and json.loads(data)["certificate"]["source"] == "graded"
    done = here(
        "verify", str(page), "--public-key", str(public), "--stage", "s01", "--submission", str(here.place.root)
    )
    assert done.code == 0, done.err
    assert done.out.startswith("valid: 1 stage of Small numbers passed, signed 20") and "student Ada L" in done.out
    page.write_bytes(whole.replace(b'"student": "Ada L"', b'"student": "Eve L"'))
    done = here("verify", str(page), "--public-key", str(public))
    assert (done.code, done.out) == (1, "") and "not valid: signature" in done.err


@pytest.mark.usefixtures("passes")
def test_what_was_handed_in_is_held_against_the_certificate(here: Here, keys: tuple[Path, Path]) -> None:
    private, public = keys
    here("report", "--signing-key", str(private))
    here.place.numbers.write_text(NUMBERS + "\n", encoding="utf-8")
    checked = ("verify", str(here.place.root / "report.html"), "--public-key", str(public))
    done = here(*checked, "--submission", str(here.place.root))
    assert done.code == 1 and "module: of s01 is" in done.err
    done = here(*checked, "--stage", "s02")
    assert done.code == 1 and "stages: are s01, expected s02" in done.err


def test_a_key_that_is_none_is_refused_before_anything_is_graded(here: Here, tmp_path: Path) -> None:
    (tmp_path / "no.key").write_text("no key", encoding="utf-8")
    done = here("report", "--signing-key", str(tmp_path / "no.key"))
    assert (
        done.code == 2
        and "holds no private" in " ".join(done.err.split())
        and not (here.place.root / "report.html").exists()
    )


def test_a_record_is_not_signed_and_what_fails_is_accounted_for(
    here: Here, keys: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    here.place.numbers.write_text(NUMBERS, encoding="utf-8")
    here.place.passed("s01", "s02")
    monkeypatch.setattr(
        "grader.web.certificate.graded", lambda workspace, stage, *_: verdict(stage, "failed", "blocked")
    )
    done = here("report", "--signing-key", str(keys[0]), "--json", "--no-pictures")
    assert done.json["certificate"]["certificate"]["stages"] == []
    assert "Not certified: s01: 0 of 2 criteria pass." in done.err
