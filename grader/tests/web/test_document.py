"""The report as JSON: of the published shape, from the first day on."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import jsonschema

from grader.progress.last_check import remember
from grader.progress.workspace import open_workspace
from grader.submission import take
from grader.tests.support.command import NUMBERS, WRONG, Place
from grader.tests.support.places import HOUSE
from grader.tests.watching.fakes import verdict
from grader.tests.web.test_certificate import KEY, MADE
from grader.web.certificate import document
from grader.web.document import report_document
from grader.web.pictures import Picture
from grader.web.road import road

SCHEMA = json.loads((HOUSE / "web" / "report.schema.json").read_text(encoding="utf-8"))
NOW = datetime(2026, 11, 21, 8, 38, 2, tzinfo=UTC)


def test_it_has_the_published_shape_with_much_and_with_nothing_to_tell(place: Place) -> None:
    workspace = open_workspace(place.root)
    empty = report_document(road(workspace, NOW), document(MADE, KEY), [], None)
    jsonschema.validate(empty, SCHEMA)
    assert (empty["passed"], empty["current"], empty["file"]) == (0, "s01", None)
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    stage = workspace.course.stages[0]
    workspace.store.record_pass("s01", take(stage, None, place.root).digest, 7, "0.1.0", NOW)
    pictures = [Picture(stage, "a", "data:,"), Picture(workspace.course.stages[1], "", "", "why")]
    full = report_document(road(workspace, NOW), document(MADE, KEY), pictures, "report.html")
    jsonschema.validate(full, SCHEMA)
    assert (full["passed"], full["pictures"], full["file"]) == (1, ["s01"], "report.html")
    assert full["stages"][0]["passed_at"] == "2026-11-21T08:38:02+00:00"
    assert full["stages"][0]["attempts_until_passed"] == 1


def test_what_the_last_check_found_stands_in_it(place: Place) -> None:
    from dataclasses import replace

    from grader import __version__

    workspace = open_workspace(place.root)
    place.numbers.write_text(WRONG, encoding="utf-8")
    stage = workspace.course.stages[0]
    found = verdict(stage, "failed", "blocked")
    digest = take(stage, None, place.root).digest
    remember(
        workspace.store.folder,
        stage,
        replace(found, run=replace(found.run, submission=digest, course=__version__, only=None)),
    )
    made = report_document(road(workspace, NOW), document(MADE, KEY), [], None)
    jsonschema.validate(made, SCHEMA)
    assert [(row["status"], row["said"]) for row in made["stages"][0]["rows"]] == [
        ("failed", "This is the square."), ("blocked", None),
    ]  # fmt: skip
