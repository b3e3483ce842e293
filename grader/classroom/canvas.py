"""Marks into Canvas by its API: scores of an assignment are read, and only those that differ are written.

Source: Canvas LMS REST API, "Submissions": GET and PUT of courses/:course_id/assignments/:assignment_id/submissions
below /api/v1 (…/:user_id, submission[posted_grade], comment[text_comment]), answers in pages, of which the header
Link names the next; "Assignments" for points_possible. The token goes to the server that was named and nowhere else.
"""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any

from grader.classroom.publish import SECONDS, NoRedirect, expect_address
from grader.errors import GraderFault
from grader.gradebook.exports import comment
from grader.gradebook.marks import Entry

TOKEN = "CANVAS_TOKEN"  # nosec B105 # the environment's name for a token, not one
PER_PAGE = 100
MOST_PAGES = 1000
MAX_BYTES = 32 << 20
_NEXT = re.compile(r'<([^>]+)>;\s*rel="next"')


@dataclass(frozen=True)
class Score:
    """A score as it is in Canvas, and whose: the number of the user, of the SIS, and the login."""

    user: str
    sis_id: str
    login: str
    score: float | None


@dataclass(frozen=True)
class ScoreChange:
    """A score that differs from the mark in the gradebook, and what the student reads beside it, if anything."""

    student: str
    user: str
    before: float | None
    after: float
    comment: str = ""


@dataclass(frozen=True)
class PushPlan:
    """What would be written, how many scores are as they should be, and whom Canvas does not know."""

    changes: tuple[ScoreChange, ...]
    same: int
    unknown: tuple[str, ...]
    without_points: tuple[str, ...]


def expect_server(address: str) -> None:
    """Raise UsageError for an address to which the token may not be sent."""
    expect_address(address, "https://canvas.example.edu")


class CanvasAssignment:
    """One assignment of a course in Canvas."""

    def __init__(self, server: str, course: str, number: str, token: str) -> None:
        expect_server(server)
        self._server, self._token = server.rstrip("/"), token
        self._place = f"{self._server}/api/v1/courses/{course}/assignments/{number}"

    def points_possible(self) -> float | None:
        """Return the most points of the assignment; None where Canvas says none."""
        found = self._json(self._place)[0]
        points = found.get("points_possible") if isinstance(found, dict) else None
        return float(points) if isinstance(points, (int, float)) else None

    def scores(self) -> tuple[Score, ...]:
        """Return the scores of all who are in the course."""
        address: str | None = f"{self._place}/submissions?include[]=user&per_page={PER_PAGE}"
        found: list[Score] = []
        for _ in range(MOST_PAGES):
            if address is None:
                break
            values, address = self._json(address)
            found += _scores(values)
        return tuple(found)

    def put(self, change: ScoreChange) -> None:
        """Write one score; GraderFault where Canvas does not take it."""
        fields = {"submission[posted_grade]": f"{change.after:g}"}
        fields |= {"comment[text_comment]": change.comment} if change.comment else {}
        body = urllib.parse.urlencode(fields).encode()
        address = f"{self._place}/submissions/{change.user}"
        answer, _ = self._json(address, body, "PUT")
        kept = answer.get("score") if isinstance(answer, dict) else None
        if not isinstance(kept, (int, float)) or abs(kept - change.after) > 0.005:
            raise GraderFault(f"Canvas keeps {kept!r} for {change.student}, and not {change.after:g}")

    def _json(self, address: str, body: bytes | None = None, method: str = "GET") -> tuple[Any, str | None]:
        """Return what Canvas answers, and the address of the next page of it."""
        if not address.startswith(f"{self._server}/"):
            raise GraderFault("Canvas names a next page on another server", "The token is not sent there.")
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json", "User-Agent": "grader"}
        request = urllib.request.Request(address, body, headers, method=method)
        try:
            with urllib.request.build_opener(NoRedirect).open(request, timeout=SECONDS) as answer:
                values = json.loads(answer.read(MAX_BYTES))
                following = _NEXT.search(answer.headers.get("Link") or "")
        except urllib.error.HTTPError as error:
            error.close()
            hint = f"{TOKEN} has to be valid, and may edit grades in this course." if error.code in (401, 403) else None
            raise GraderFault(f"Canvas answers {error.code}", hint or "Mind --course and --assignment.") from error
        except (OSError, HTTPException, ValueError) as error:
            raise GraderFault(f"Canvas cannot be asked: {type(error).__name__}", "Mind --server.") from error
        return values, following[1] if following else None


def _scores(values: Any) -> Iterator[Score]:
    for each in values if isinstance(values, list) else ():
        user = each.get("user") or {}
        score = each.get("score")
        yield Score(
            str(each.get("user_id") or ""),
            str(user.get("sis_user_id") or ""),
            str(user.get("login_id") or ""),
            float(score) if isinstance(score, (int, float)) else None,
        )


def planned(entries: Iterable[Entry], scores: Iterable[Score], with_comments: bool = False) -> PushPlan:
    """Return which scores differ from the marks; a student is found by Canvas's number, the SIS's, or the login."""
    known: dict[tuple[str, str], Score] = {}
    for each in scores:
        for kind, value in (("canvas", each.user), ("sis", each.sis_id), ("login", each.login)):
            if value:
                known[kind, value.casefold()] = each
    changes: list[ScoreChange] = []
    unknown: list[str] = []
    without: list[str] = []
    same = 0
    for entry in entries:
        found = _found(entry, known)
        if found is None:
            unknown.append(entry.student)
        elif entry.points is None:
            without.append(entry.student)
        elif found.score is not None and abs(found.score - entry.points) < 0.005:
            same += 1
        else:
            words = comment(entry) if with_comments else ""
            changes.append(ScoreChange(entry.student, found.user, found.score, round(entry.points, 2), words))
    return PushPlan(tuple(changes), same, tuple(unknown), tuple(without))


def _found(entry: Entry, known: Mapping[tuple[str, str], Score]) -> Score | None:
    member = entry.member
    if member is None:
        return known.get(("canvas", entry.identity.casefold()))
    names = (("canvas", member.canvas_id), ("sis", member.sis_id), ("login", member.sis_login or member.login))
    return next((known[kind, value.casefold()] for kind, value in names if (kind, value.casefold()) in known), None)
