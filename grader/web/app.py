"""Answers to requests: which are answered at all, with which headers, and the page, file or action of each address.

Only pages that this server gave out itself are answered, under the name that it goes by. The address has a key in its
path, which only the learner is told: another user of the machine, another site in the same browser, and a name that was
made to point here (DNS rebinding) do not get past it. Headers let a browser do as little as possible with a body. Files
are found in tables made beforehand; no part of an address becomes a path.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from urllib.parse import unquote, urlsplit

from grader.course.stage import Course, Stage
from grader.errors import GraderError
from grader.explore.model import may_draw
from grader.progress.actions import Workspace, start
from grader.progress.readme_steps import next_step, plain
from grader.progress.standings import standings
from grader.report.terminal.overview import hint_words
from grader.web.live import Live, named, step_list, to_read
from grader.web.markdown import PageLocation, html_of, pictures, read_page, sections_of
from grader.web.report_page import STATIC, ReportPages
from grader.web.road import road

HTML, TEXT, JSON, EVENTS = (
    "text/html; charset=utf-8",
    "text/plain; charset=utf-8",
    "application/json",
    "text/event-stream",
)
KINDS = {
    ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".woff2": "font/woff2",
    ".svg": "image/svg+xml", ".png": "image/png", ".txt": TEXT,
}  # fmt: skip
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"  # a drawing opened by itself runs nothing
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(frozen=True)
class Response:
    """A whole answer."""

    status: HTTPStatus = HTTPStatus.OK
    body: bytes = b""
    kind: str = TEXT
    more: dict[str, str] = field(default_factory=dict)

    @property
    def headers(self) -> dict[str, str]:
        """All headers, with what this kind of body may do in a browser."""
        is_picture = self.kind.startswith("image/")
        policy = {"Content-Security-Policy": PICTURE_POLICY if is_picture else POLICY}
        kind = {"Content-Type": self.kind, "Cache-Control": "no-store", "Content-Length": str(len(self.body))}
        return {**ALWAYS, **policy, **kind, **self.more}


@dataclass(frozen=True)
class Stream:
    """Events without end, as the hub has them."""

    @property
    def headers(self) -> dict[str, str]:
        """All headers of the stream."""
        return {**ALWAYS, "Content-Security-Policy": POLICY, "Content-Type": EVENTS, "Cache-Control": "no-store"}


def page(text: str) -> Response:
    """Return a page."""
    return Response(body=text.encode("utf-8", "replace"), kind=HTML)


def document(values: object, status: HTTPStatus = HTTPStatus.OK) -> Response:
    """Return a JSON document."""
    return Response(status, json.dumps(values).encode("ascii"), JSON)


def refusal(status: HTTPStatus, said: str) -> Response:
    """Return why there is no answer."""
    return Response(status, f"{said}\n".encode())


def moved(where: str) -> Response:
    """Send a browser to another page of this server."""
    return Response(HTTPStatus.FOUND, more={"Location": where})


HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
KEY_BYTES = 16
MOST_TARGET = 2000  # characters of an address
MOST_BODY = 4096
METHODS = ("GET", "HEAD", "POST")
Headers = Mapping[str, Sequence[str]]  # values by name in lower case, as often as they were sent


class RefusedError(Exception):
    """Why a request is not answered: the status, and a sentence without anything that the request held."""

    def __init__(self, status: HTTPStatus, said: str) -> None:
        super().__init__(said)
        self.status = status
        self.said = said


@dataclass(frozen=True)
class AddressGuard:
    """Knows the port that the server listens on, and the key of its address."""

    port: int
    key: str = field(default_factory=lambda: secrets.token_urlsafe(KEY_BYTES))

    @property
    def base(self) -> str:
        """The path that every page lies below."""
        return f"/{self.key}/"

    @property
    def address(self) -> str:
        """What the learner opens."""
        return f"http://{HOST}:{self.port}{self.base}"

    def path(self, method: str, target: str, headers: Headers) -> str:
        """Return the path below the base, decoded; RefusedError for a request that gets no answer."""
        if method not in METHODS:
            raise RefusedError(HTTPStatus.METHOD_NOT_ALLOWED, "This method is not known here.")
        self._expect_host(headers)
        path = _plain_path(target)
        key, slash, rest = path.removeprefix("/").partition("/")
        if not hmac.compare_digest(key.encode(), self.key.encode()) or not slash:
            raise RefusedError(HTTPStatus.NOT_FOUND, "Open the whole address that `grader serve` printed.")
        if method == "POST":
            self._expect_own_page(headers)
        return rest

    def _expect_host(self, headers: Headers) -> None:
        hosts = headers.get("host", ())
        if len(hosts) != 1 or hosts[0].lower() not in {f"{name}:{self.port}" for name in NAMES}:
            raise RefusedError(HTTPStatus.MISDIRECTED_REQUEST, "This server answers to its own address only.")

    def _expect_own_page(self, headers: Headers) -> None:
        """Raise RefusedError unless one of this server's own pages asks: whatever acts needs that."""
        origins = headers.get("origin", ())
        own = {f"http://{name}:{self.port}" for name in NAMES}
        if (
            len(origins) != 1
            or origins[0].lower() not in own
            or origins[0].lower() != f"http://{headers['host'][0].lower()}"
        ):
            raise RefusedError(HTTPStatus.FORBIDDEN, "Only a page of this server may ask for that.")
        if any(site not in ("same-origin", "none") for site in headers.get("sec-fetch-site", ())):
            raise RefusedError(HTTPStatus.FORBIDDEN, "Only a page of this server may ask for that.")
        kinds = [kind.partition(";")[0].strip().lower() for kind in headers.get("content-type", ())]
        if kinds != [JSON]:
            raise RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Expected JSON.")


def body_length(headers: Headers) -> int:
    """Return how many bytes a request's body has; RefusedError for none, too many, or a body of unknown length."""
    lengths = headers.get("content-length", ())
    if headers.get("transfer-encoding") or len(lengths) != 1 or not lengths[0].isascii() or not lengths[0].isdigit():
        raise RefusedError(HTTPStatus.LENGTH_REQUIRED, "The length of the request is missing.")
    if len(lengths[0]) > len(str(MOST_BODY)) or int(lengths[0]) > MOST_BODY:
        raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The request is too large.")
    return int(lengths[0])


def _plain_path(target: str) -> str:
    """Return the path of an address, decoded once; RefusedError where it is none, or goes anywhere but down."""
    if not target.startswith("/") or target.startswith("//") or len(target) > MOST_TARGET:
        raise RefusedError(HTTPStatus.BAD_REQUEST, "This is no address of this server.")
    try:
        path = unquote(urlsplit(target).path, errors="strict")
    except ValueError as error:
        raise RefusedError(HTTPStatus.BAD_REQUEST, "This is no address of this server.") from error
    if not path.isprintable() or "\\" in path or "%" in path or any(part in (".", "..") for part in path.split("/")):
        raise RefusedError(HTTPStatus.BAD_REQUEST, "This is no address of this server.")
    return path


BESIDE = {"conventions": "stages/README.md", "beyond": "stages/beyond.md"}  # pages beside the stages, by address
ACTIONS = ("open", "check", "hint", "explore", "sentence", "start")
MOST_SENTENCE = 400  # characters
NOT_FOUND = refusal(HTTPStatus.NOT_FOUND, "There is no such page.")


class App:
    """Answers requests that the guard let through."""

    def __init__(self, workspace: Workspace, live: Live, guard: AddressGuard, pages: ReportPages) -> None:
        self._workspace = workspace
        self._live = live
        self._guard = guard
        self._pages = pages

    def answer(self, method: str, path: str, body: bytes = b"") -> Response | Stream:
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

    def _page(self, path: str, first: str, rest: str) -> Response:
        if path in ("road", "road-part"):
            template = "road.html" if path == "road" else "road-part.html"
            return self._filled(template, "road", road=road(self._workspace, datetime.now(UTC)))
        if first == "drawn" and (drawn := self._live.pictures.get(rest)) is not None:
            return Response(body=drawn, kind=KINDS[".svg"])
        if path in self._beside:
            return self._page_beside(path)
        if first == "stages" and (stage := self._stage(rest)) is not None:
            return self._chapter(stage)
        if first == "pictures":
            name, _, picture = rest.partition("/")
            stage = self._stage(name)
            found = pictures(read_page(stage.readme_path, name), stage.folder) if stage is not None else {}
            return self._file(found, picture)
        return NOT_FOUND

    def _chapter(self, stage: Stage) -> Response:
        path = f"stages/{stage.name}/README.md"
        ids = {plain(each.text): each.id for each in stage.criteria}
        place = self._place(path, {f"stages/{stage.name}": f"{self._guard.base}pictures/{stage.id}"})
        page_text = read_page(stage.readme_path, path)
        parts = sections_of(page_text, replace(place, criterion=lambda said: ids.get(plain(said))))
        around = self._course.stages
        at = around.index(stage)
        near = (around[at - 1] if at else None, around[at + 1] if at + 1 < len(around) else None)
        steps, step = step_list(stage, page_text), next_step(self._workspace, stage)
        anchor = next((each.anchor for each in steps if step is not None and each.number == step.number), None)
        opened = to_read([part.names for part in parts], steps, anchor)
        text = [
            (self._pages.markup(part.heading), self._pages.markup(part.body), is_open)
            for part, is_open in zip(parts, opened, strict=True)
        ]
        explores = may_draw(self._course, stage.id)
        known = {"stage": stage, "text": text, "near": near, "explores": explores, "steps": steps}
        return self._filled("stage.html", stage.id, **known, most=MOST_SENTENCE)

    def _page_beside(self, name: str) -> Response:
        path = self._beside[name]
        text = html_of(read_page(self._course.root / path, path), self._place(path, {}))
        return self._filled("beside.html", name, text=self._pages.markup(text))

    @property
    def _beside(self) -> dict[str, str]:
        """The pages beside the stages that this course has, by their address."""
        return {name: path for name, path in BESIDE.items() if (self._course.root / path).is_file()}

    def _filled(self, template: str, here: str, **values: object) -> Response:
        found = standings(self._workspace, self._workspace.store.read())
        common = {"base": self._guard.base, "title": self._course.settings.title, "here": here, "standings": found}
        return page(self._pages.fill(template, **common, beside=self._beside, **values))

    def _place(self, path: str, folders: Mapping[str, str]) -> PageLocation:
        """Return where a page lies: what of the course is served, and the address of pictures by their folder."""
        base = self._guard.base
        served = {f"stages/{stage.name}/README.md": f"{base}stages/{stage.id}" for stage in self._course.stages}
        served |= {page: f"{base}{name}" for name, page in self._beside.items()}

        def picture(target: str) -> str | None:
            found = next((folder for folder in folders if target.startswith(f"{folder}/")), None)
            return None if found is None else folders[found] + target.removeprefix(found)

        return PageLocation(path, served.get, picture)

    def _act(self, name: str, body: bytes) -> Response:
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
            said = self._live.ask(lambda: self._done(name, stage, named(values, "row"), named(values, "words")))
        except GraderError as error:
            return document({"said": f"{error.message}. {error.hint or ''}".strip()}, HTTPStatus.SERVICE_UNAVAILABLE)
        return document({"said": said})

    def _done(self, name: str, stage: Stage, criterion: str, words: str) -> str:
        """Do what was asked for, in the thread of the session."""
        session = self._live.session
        if name == "start":
            started = start(self._workspace, stage)
            session.open(stage)
            skipped = f" Skipped: {', '.join(started.skipped)}." if started.skipped else ""
            return f"You are at {stage.id} · {stage.title}.{skipped}"
        if session.board.stage.id != stage.id:
            session.open(stage)
            if name in ("open", "check"):
                return ""
        if name == "check":
            session.check()
        elif name == "explore":
            return session.explore()
        elif name == "sentence":
            typed = " ".join(words.split())
            if len(typed) > MOST_SENTENCE or not typed.isprintable():
                return f"A sentence has at most {MOST_SENTENCE} characters, and no signs that cannot be seen."
            return session.read(typed)
        elif name == "hint":
            found = session.hint(criterion or None)
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

    def _file(self, known: Mapping[str, Path], name: str) -> Response:
        path = known.get(name)
        if path is None:
            return NOT_FOUND
        try:
            return Response(body=path.read_bytes(), kind=KINDS[path.suffix.lower()])
        except OSError:
            return NOT_FOUND
