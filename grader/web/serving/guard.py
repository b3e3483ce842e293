"""Which requests are answered: those of a page that this server gave out itself, to the name that it goes by.

The address has a key in its path, which only the learner is told: another user of the machine, another site in the
same browser, and a name that was made to point here (DNS rebinding) do not get past it.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import unquote, urlsplit

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
KEY_BYTES = 16
MOST_TARGET = 2000  # characters of an address
MOST_BODY = 4096
METHODS = ("GET", "HEAD", "POST")
JSON = "application/json"
Headers = Mapping[str, Sequence[str]]  # values by name in lower case, as often as they were sent


class RefusedError(Exception):
    """Why a request is not answered: the status, and a sentence without anything that the request held."""

    def __init__(self, status: HTTPStatus, said: str) -> None:
        super().__init__(said)
        self.status = status
        self.said = said


@dataclass(frozen=True)
class Guard:
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
