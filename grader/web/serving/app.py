"""What each address is answered. Files are found in tables made beforehand; no part of an address becomes a path."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property
from http import HTTPStatus
from pathlib import Path

from grader.course.stage import Course, Stage
from grader.errors import GraderError
from grader.explore.plans import may_draw
from grader.progress.actions import Workspace
from grader.progress.standings import standings
from grader.report.terminal.overview import hint_words
from grader.web.page import STATIC, Pages
from grader.web.reading.markdown import Place, html_of, pictures, read_page
from grader.web.road import road
from grader.web.serving.answers import KINDS, Answer, Stream, document, moved, page, refusal
from grader.web.serving.guard import Guard
from grader.web.serving.live import Live, named

CONVENTIONS = "stages/README.md"
ACTIONS = ("open", "check", "hint", "explore")
NOT_FOUND = refusal(HTTPStatus.NOT_FOUND, "There is no such page.")


class App:
    """Answers requests that the guard let through."""

    def __init__(self, workspace: Workspace, live: Live, guard: Guard, pages: Pages) -> None:
        self._workspace = workspace
        self._live = live
        self._guard = guard
        self._pages = pages

    def answer(self, method: str, path: str, body: bytes = b"") -> Answer | Stream:
        """Return the answer to a request for a path below the base."""
        first, _, rest = path.partition("/")
        if method == "POST":
            return self._act(rest, body) if first == "do" else NOT_FOUND
        if path == "":
            return moved(f"{self._guard.base}road")
        if path == "events":
            return Stream()
        if first == "static":
            return self._file(self._static, rest)
        try:
            return self._page(path, first, rest)
        except GraderError as error:
            return refusal(HTTPStatus.INTERNAL_SERVER_ERROR, error.message)

    def _page(self, path: str, first: str, rest: str) -> Answer:
        if path in ("road", "road-part"):
            template = "road.html" if path == "road" else "road-part.html"
            return self._filled(template, "road", road=road(self._workspace, datetime.now(UTC)))
        if path == "conventions":
            return self._conventions()
        if first == "stages" and (stage := self._stage(rest)) is not None:
            return self._chapter(stage)
        if first == "pictures":
            name, _, picture = rest.partition("/")
            stage = self._stage(name)
            found = pictures(read_page(stage.readme_path, name), stage.folder) if stage is not None else {}
            return self._file(found, picture)
        return NOT_FOUND

    def _chapter(self, stage: Stage) -> Answer:
        path = f"stages/{stage.name}/README.md"
        place = self._place(path, {f"stages/{stage.name}": f"{self._guard.base}pictures/{stage.id}"})
        text = html_of(read_page(stage.readme_path, path), place)
        around = self._course.stages
        at = around.index(stage)
        near = (around[at - 1] if at else None, around[at + 1] if at + 1 < len(around) else None)
        text, explores = self._pages.markup(text), may_draw(self._course, stage.id)
        return self._filled("stage.html", stage.id, stage=stage, text=text, near=near, explores=explores)

    def _conventions(self) -> Answer:
        file = self._course.root / CONVENTIONS
        if not file.is_file():
            return NOT_FOUND
        text = html_of(read_page(file, CONVENTIONS), self._place(CONVENTIONS, {}))
        return self._filled("conventions.html", "conventions", text=self._pages.markup(text))

    def _filled(self, template: str, here: str, **values: object) -> Answer:
        found = standings(self._workspace, self._workspace.store.read())
        title, conventions = self._course.settings.title, (self._course.root / CONVENTIONS).is_file()
        common = {"base": self._guard.base, "title": title, "here": here, "standings": found}
        return page(self._pages.fill(template, **common, conventions=conventions, **values))

    def _place(self, path: str, folders: Mapping[str, str]) -> Place:
        """Return where a page lies: what of the course is served, and the address of pictures by their folder."""
        base = self._guard.base
        served = {f"stages/{stage.name}/README.md": f"{base}stages/{stage.id}" for stage in self._course.stages}
        served[CONVENTIONS] = f"{base}conventions"

        def picture(target: str) -> str | None:
            found = next((folder for folder in folders if target.startswith(f"{folder}/")), None)
            return None if found is None else folders[found] + target.removeprefix(found)

        return Place(path, served.get, picture)

    def _act(self, name: str, body: bytes) -> Answer:
        try:
            values = json.loads(body)
        except (ValueError, RecursionError):
            return refusal(HTTPStatus.BAD_REQUEST, "Expected JSON.")
        if name not in ACTIONS:
            return NOT_FOUND
        stage = self._stage(named(values, "stage"))
        if stage is None:
            return refusal(HTTPStatus.BAD_REQUEST, "Expected the id of a stage.")
        try:
            said = self._live.ask(lambda: self._done(name, stage, named(values, "row")))
        except GraderError as error:
            return document({"said": f"{error.message}. {error.hint or ''}".strip()}, HTTPStatus.SERVICE_UNAVAILABLE)
        return document({"said": said})

    def _done(self, name: str, stage: Stage, row: str) -> str:
        """Do what was asked for, in the thread of the session."""
        session = self._live.session
        if session.board.stage.id != stage.id:
            session.open(stage)
            if name in ("open", "check"):
                return ""
        if name == "check":
            session.check()
        elif name == "explore":
            return session.explore()
        elif name == "hint":
            found = session.hint(row or None)
            return found if isinstance(found, str) else hint_words(stage, found)
        return ""

    def _stage(self, name: str) -> Stage | None:
        return next((stage for stage in self._course.stages if stage.id == name), None)

    @property
    def _course(self) -> Course:
        return self._workspace.course

    @cached_property
    def _static(self) -> dict[str, Path]:
        files = (path for path in STATIC.rglob("*") if path.suffix in KINDS and path.is_file())
        return {path.relative_to(STATIC).as_posix(): path for path in files}

    def _file(self, known: Mapping[str, Path], name: str) -> Answer:
        path = known.get(name)
        if path is None:
            return NOT_FOUND
        try:
            return Answer(body=path.read_bytes(), kind=KINDS[path.suffix.lower()])
        except OSError:
            return NOT_FOUND
