"""What a browser is answered: a body with headers that let it do as little as possible with it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from http import HTTPStatus

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
class Answer:
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


def page(text: str) -> Answer:
    """Return a page."""
    return Answer(body=text.encode("utf-8", "replace"), kind=HTML)


def document(values: object, status: HTTPStatus = HTTPStatus.OK) -> Answer:
    """Return a JSON document."""
    return Answer(status, json.dumps(values).encode("ascii"), JSON)


def refusal(status: HTTPStatus, said: str) -> Answer:
    """Return why there is no answer."""
    return Answer(status, f"{said}\n".encode())


def moved(where: str) -> Answer:
    """Send a browser to another page of this server."""
    return Answer(HTTPStatus.FOUND, more={"Location": where})
