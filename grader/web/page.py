"""The pages: what is known, put into templates. Whatever a template prints is escaped."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from grader.report.document import plain_text
from grader.report.escape import commands
from grader.report.terminal.layout import MARKS, printable
from grader.web.certificate import NAME, SIGNED, UNSIGNED
from grader.web.extra import environment
from grader.web.pictures import Picture
from grader.web.road import Road, words_of

HOME = Path(__file__).parent
STATIC = HOME / "static"
MOST_TEXT = 4000  # of one message


class Pages:
    """Fills the templates. Raises UsageError without Jinja2."""

    def __init__(self, name: str | None = None) -> None:
        self._templates = environment(HOME / "templates", _plain)
        self._templates.filters |= {"cut": cut, "date": date, "time": time, "sign": sign}
        self._templates.filters |= {"standing": words_of, "commands": partial(commands, name=name)}

    def report(
        self, found: Road, certificate: Mapping[str, Any], pictures: Sequence[Picture] = (), no_pictures: str = ""
    ) -> str:
        """Return the report as one file that needs nothing else; certificate is a document of certificate.py."""
        body, key = certificate[NAME], certificate["key"]
        return self._templates.get_template("report.html").render(
            road=found,
            student=body["student"],
            style=_markup((STATIC / "style.css").read_text(encoding="utf-8")),
            pictures=pictures,
            no_pictures=no_pictures,
            certificate=body,
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


def cut(text: str, most: int = MOST_TEXT) -> str:
    """Return text no longer than that, and a sign where it was cut."""
    return text if len(text) <= most else f"{text[:most]}…"


def date(when: datetime) -> str:
    """Return the day of a time, where the reader is."""
    return when.astimezone().strftime("%Y-%m-%d")


def time(when: datetime) -> str:
    """Return a time to the minute, where the reader is."""
    return when.astimezone().strftime("%Y-%m-%d %H:%M")


def sign(kind: str) -> str:
    """Return the mark of a kind of row or stage."""
    return MARKS[kind][0]


def _plain(value: Any) -> Any:
    """Return what a template prints as it can be shown; what is markup already is the template's own."""
    return printable(plain_text(value) or "") if type(value) is str else value


def _markup(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)  # nosec B704 # our own style sheet, JSON without a sign of HTML, or what reading/ escaped
