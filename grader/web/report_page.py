"""A report of a learner's road: as one page that needs nothing else, and as JSON of a published shape.

`report.schema.json` is that shape. The page holds pictures of what the learner's own code does, as `grader explore`
draws them. Whatever a template prints is escaped. A page is written whole or not at all, and never over another file.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from grader import __version__
from grader.atomic import write_atomically
from grader.course.stage import Stage
from grader.errors import GraderError, UsageError
from grader.explore.example import example
from grader.explore.model import WRONG, Exploration, Plan, plans
from grader.explore.session import explore
from grader.progress.actions import Workspace, is_stub
from grader.progress.workspace import equipped
from grader.report.document import Document, plain_text
from grader.report.templates import environment
from grader.report.terminal.layout import MARKS
from grader.submission import take
from grader.web.certificate import NAME, SIGNED, UNSIGNED
from grader.web.road import Road, RoadCriterion, RoadStage, words_of

MOST_BYTES = 3 << 20  # of one picture
FEW_MAPS = 2  # on a certificate: without a mask and with one


@dataclass(frozen=True)
class Picture:
    """One picture: the stage, what is drawn in words, and the picture itself as the address of an image.

    source is empty where there is none, and told says why. weights is the address of the weights alone, of words that
    attend to each other, if the stage has some and none of them are wrong.
    """

    stage: Stage
    said: str
    source: str
    told: str = ""
    weights: str = ""


def can_draw() -> bool:
    """Say whether pictures can be drawn here."""
    return find_spec("matplotlib") is not None


def drawn(workspace: Workspace, isolation: str, begin: Callable[[Stage], None]) -> Iterator[Picture]:
    """Yield a picture of each stage that draws one and whose module was begun; begin is called before each.

    The module runs in the sandbox, as for `grader explore`.
    """
    known = plans(workspace.course)
    for stage in workspace.course.stages:
        if stage.id not in known or is_stub(stage):
            continue
        begin(stage)
        try:
            found = _explored(workspace, stage, known[stage.id], isolation)
        except GraderError as error:
            yield Picture(stage, "", "", error.message)
            continue
        if (picture := _picture(stage, found)) is not None:
            yield picture


def _explored(workspace: Workspace, stage: Stage, plan: Plan, isolation: str) -> Exploration:
    made = example(plan.prompt or None, None, None) if plan.prompt or plan.of_sentence else None
    course = workspace.course
    snapshot = equipped(course, workspace.store, stage, take(stage, None, course.root), None, {})
    return explore(course, stage, snapshot, made, 0, isolation)


def _picture(stage: Stage, found: Exploration) -> Picture | None:
    """Return what was drawn; None where nothing is written yet that draws anything."""
    from grader.explore.picture import drawn as painted

    if not found.maps and not found.drawings:
        return None
    shown = (*found.maps, *found.drawings)
    titles = dict.fromkeys(f"{each.title} ({WRONG})" if found.is_wrong(each) else each.title for each in shown)
    said = f"{stage.id} {stage.title}: {', '.join(titles)}"
    alone = replace(found, maps=found.maps[:FEW_MAPS], drawings=())
    right = bool(alone.maps) and not any(map(found.is_wrong, alone.maps))
    weights = _address(painted(alone, "svg", headed=False), "svg+xml") if right else ""
    data = painted(found, "svg")
    kind = "svg+xml"
    if len(data) > MOST_BYTES:
        data, kind = painted(found, "png"), "png"
    if len(data) > MOST_BYTES:
        return Picture(stage, said, "", f"`grader explore {stage.id} --png FILE` draws it: it is too large for a page.")
    return Picture(stage, said, _address(data, kind), weights=weights)


def _address(data: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


SCHEMA = 2


def report_document(
    found: Road, certificate: Mapping[str, Any], pictures: Sequence[Picture], file: str | None
) -> Document:
    """Return all that a report says as values that JSON has; file is where the page was written."""
    return {
        "schema": SCHEMA,
        "course": __version__,
        "title": found.title,
        "made": found.made.isoformat(timespec="seconds"),
        "passed": found.passed,
        "current": found.current.stage.id if found.current is not None else None,
        "stages": [_stage(stop) for stop in found.stops],
        "pictures": [each.stage.id for each in pictures if each.source],
        "certificate": dict(certificate),
        "file": plain_text(file),
    }


def _stage(stop: RoadStage) -> Document:
    work = stop.work
    return {
        "id": stop.stage.id,
        "title": stop.stage.title,
        "state": stop.state,
        "begun": stop.is_begun,
        "passed_at": stop.passed_at.isoformat(timespec="seconds") if stop.passed_at else None,
        "first_check": work.first or None,
        "last_check": work.last or None,
        "attempts": work.attempts,
        "attempts_until_passed": work.until or None,
        "seconds": work.seconds,
        "hints": stop.hints,
        "seen": list(stop.seen),
        "criteria": len(stop.stage.criteria),
        "criteria_passed": stop.passed if stop.criteria else None,
        "criteria_robust": stop.robust,
        "rows": [_criterion(each) for each in stop.criteria],
        "note": stop.note or None,
    }


def _criterion(each: RoadCriterion) -> Document:
    return {
        "id": each.id,
        "text": each.text,
        "functions": list(each.functions),
        "status": each.status,
        "robust": each.robust,
        "said": plain_text(each.said or (each.words if each.lacks else "")) or None,
    }


HOME = Path(__file__).parent
STATIC = HOME / "static"


class ReportPages:
    """Fills the templates. Raises UsageError without Jinja2."""

    def __init__(self, name: str | None = None) -> None:
        self._templates = environment(HOME / "templates", "web", name)
        self._templates.filters |= {"date": date, "time": time, "sign": sign, "standing": words_of, "zip": zip}

    def report(
        self, found: Road, certificate: Mapping[str, Any], pictures: Sequence[Picture] = (), no_pictures: str = ""
    ) -> str:
        """Return the report as one file that needs nothing else; certificate is a document of certificate.py."""
        body, key = certificate[NAME], certificate["key"]
        passed = {each["stage"] for each in body["stages"]}
        drawn = next((each for each in pictures if each.weights and each.stage.id in passed), None)
        return self._templates.get_template("report.html").render(
            road=found,
            student=body["student"],
            style=_markup((STATIC / "style.css").read_text(encoding="utf-8")),
            pictures=pictures,
            no_pictures=no_pictures,
            certificate=body,
            drawn=drawn,
            key=key,
            signature=certificate["signature"],
            said=SIGNED.format(key) if key else UNSIGNED,
            data=_markup(in_script(certificate)),
        )

    def fill(self, template: str, **values: Any) -> str:
        """Return a template with these values."""
        return self._templates.get_template(template).render(**values)

    def markup(self, html: str) -> Any:
        """Return HTML that was made and escaped elsewhere as what a template prints as it is."""
        return _markup(html)


def in_script(document: object) -> str:
    """Return a document as JSON that may stand within an element of script: no text in it ends that."""
    text = json.dumps(document, ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def date(when: datetime) -> str:
    """Return the day of a time, where the reader is."""
    return when.astimezone().strftime("%Y-%m-%d")


def time(when: datetime) -> str:
    """Return a time to the minute, where the reader is."""
    return when.astimezone().strftime("%Y-%m-%d %H:%M")


def sign(kind: str) -> str:
    """Return the mark of a kind of criterion or stage."""
    return MARKS[kind][0]


def _markup(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)  # nosec B704 # our own style sheet, JSON without a sign of HTML, or what markdown.py escaped


OURS = b'<meta name="generator" content="grader report">'
HEAD_BYTES = 4096
ENDINGS = (".html", ".htm")


def expect_free(path: Path) -> None:
    """Raise UsageError unless a report can be put there; an earlier report is replaced, nothing else is."""
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(f"{path} does not end in .html", "Expected the name of a page, as in --output report.html.")
    if not path.parent.is_dir():
        raise UsageError(f"{path.parent} is not a folder", "Name a file in a folder that exists.")
    if not os.path.lexists(path):
        return
    if path.is_symlink() or not path.is_file():
        raise UsageError(f"{path} is not a regular file; it was not replaced", "Name another file with --output.")
    try:
        with path.open("rb") as file:
            ours = OURS in file.read(HEAD_BYTES)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", "Name another file with --output.") from error
    if not ours:
        what = f"{path} already exists and is not a report; it was not replaced"
        raise UsageError(what, "Name another file with --output.")


def write(path: Path, text: str) -> None:
    """Write a report in one step; UsageError where the disk does not take it, and an earlier one stays as it was."""
    expect_free(path)
    hint = "Put that right, or name another file with --output. An earlier report stays as it was."
    write_atomically(path, text, hint=hint, follow=False)
