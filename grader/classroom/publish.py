"""Results become a job's summary and a commit status for each stage, made of the course's own words and of numbers."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http.client import HTTPException
from typing import IO, Any, Literal
from urllib.parse import urlsplit

from grader import __version__
from grader.classroom.receipt import Receipt
from grader.classroom.results import Result
from grader.course.provenance import Provenance
from grader.errors import GraderFault, UsageError
from grader.report.escape import code_span, markdown
from grader.report.terminal.layout import MARKS
from grader.report.terminal.words import VALUES_RIGHT, lacking_words

TOKEN = "PUBLISH_TOKEN"  # nosec B105 # the environment's name for a token, not one
SECONDS = 30.0
MAX_DESCRIPTION = 140  # characters that GitHub takes
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class Commit:
    """Whose result it is: a repository (OWNER/NAME) and the full name of a commit in it."""

    repository: str
    revision: str


@dataclass(frozen=True)
class Status:
    """What is shown beside a commit: a stage's state in one word and in one sentence."""

    context: str
    state: Literal["success", "failure", "error", "pending"]
    description: str


def status(result: Result) -> Status:
    """Return the status of a stage; what was not graded is an error, never a failure, and what waits is pending."""
    context = f"grader/{result.stage.id}"
    if result.waits_for:
        names = " and ".join(result.waits_for)
        told = f"Waits for {names}: hand in a module that passes there, too. No marks lost."
        return Status(context, "pending", _short(told))
    if result.why:
        return Status(context, "error", _short(f"Not graded, no marks lost: {result.why}"))
    done = sum(row.status == "passed" for row in result.rows)
    apart = done and any(row.counts.robustness for row in result.rows)
    robust = f", {sum(row.robust for row in result.rows)} robust" if apart else ""
    text = f"{done} of {len(result.rows)} criteria pass{robust} (seed {result.seed})"
    return Status(context, "success" if result.passed else "failure", _short(text))


def summary(results: Sequence[Result], commit: Commit) -> str:
    """Return the results in Markdown."""
    parts = [f"## {code_span(f'{commit.repository}@{commit.revision[:12]}')}"]
    for result in results:
        parts += [f"### {markdown(f'{result.stage.id} · {result.stage.title}')}", *_stage(result)]
    return "\n\n".join(parts) + "\n"


def _stage(result: Result) -> list[str]:
    if result.why:
        return [f"**{'Waits' if result.waits_for else 'Not graded'}**: {markdown(result.why)}."]
    how = f"seed {result.seed} · isolation {result.isolation} · module {result.submission[:12]}"
    table = ["| | criterion | result | tests |", "| --- | --- | --- | --- |"]
    for row in result.rows:
        kind = VALUES_RIGHT if row.values_right else row.status
        lacking = lacking_words(row.counts.lacking) if row.values_right or row.status == "passed" else ""
        said = ", ".join(filter(None, [kind.replace("_", " "), lacking]))
        cells = (MARKS[kind][0], markdown(row.text), said, f"{row.passed} of {row.total}")
        table.append(f"| {' | '.join(cells)} |")
    return [markdown(how), "\n".join(table)]


def receipt(result: Result, commit: Commit, course: Provenance, now: datetime) -> Receipt:
    """Return the receipt of a stage that was graded, to be signed where no student's code has run.

    course is what this job's own checkout is; that the grading job had the same follows from its workflow.
    """
    if result.why:
        raise GraderFault(f"no receipt is given for {result.stage.id}: {result.why}")
    rows = zip(result.stage.criteria, result.rows, strict=True)
    return Receipt(
        __version__,
        result.stage.id,
        result.submission,
        result.seed,
        result.isolation,
        result.feedback,
        now.astimezone(UTC).isoformat(timespec="seconds"),
        result.passed,
        {criterion.id: row.status for criterion, row in rows},
        replace(course, python=result.python, numpy=result.numpy, student=commit.repository, revision=commit.revision),
        result.uses,
        sum(row.robust for row in result.rows),
    )


def post(statuses: Sequence[Status], commit: Commit, server: str, token: str, target: str | None = None) -> None:
    """Put statuses beside a commit; all are tried before GraderFault says which could not be put there.

    server is the address of GitHub's interface (https://api.github.com), target a page that each status links to.
    """
    parts = urlsplit(server)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise UsageError(
            f"{server!r} is not an address to publish to", "Expected https://…, as in https://api.github.com."
        )
    address = f"{server.rstrip('/')}/repos/{commit.repository}/statuses/{commit.revision}"
    failed = [f"{each.context}: {why}" for each in statuses if (why := _put(each, address, token, target))]
    if failed:
        hint = f"{TOKEN} needs the permission to write commit statuses in the student's repository."
        raise GraderFault(f"not published: {'; '.join(failed)}", hint)


def _put(status: Status, address: str, token: str, target: str | None) -> str | None:
    """Send one status; return why it could not be sent, without the answer's own words."""
    values = {"state": status.state, "context": status.context, "description": status.description}
    body = json.dumps(values | ({"target_url": target} if target else {})).encode()
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "User-Agent": "grader",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    try:
        opener = urllib.request.build_opener(_Straight)
        with opener.open(urllib.request.Request(address, body, headers, method="POST"), timeout=SECONDS):
            return None
    except urllib.error.HTTPError as error:
        error.close()
        return f"the server answers {error.code}"
    except (OSError, HTTPException, ValueError) as error:
        return type(error).__name__


class _Straight(urllib.request.HTTPRedirectHandler):
    """Goes nowhere else: a token is for the server that was named."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        return None


def _short(text: str) -> str:
    return text if len(text) <= MAX_DESCRIPTION else f"{text[: MAX_DESCRIPTION - 1]}…"
