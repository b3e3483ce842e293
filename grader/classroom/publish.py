"""Publishes results: a job's summary, a commit status for each stage, a CSV file; of one student or a whole class.

All of it is made of the course's own words and of numbers (`results.py`).
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any, Literal
from urllib.parse import urlsplit

from grader import __version__
from grader.classroom.ci_roster import Student
from grader.classroom.collecting import ABOUT, ImportedVerdict, submitted_in, table_of
from grader.classroom.receipt import Receipt
from grader.classroom.results import Malformed, StageResult, document, expect_graded, read, ungraded
from grader.course.provenance import Provenance
from grader.course.stage import Stage
from grader.course.table import together
from grader.criterion import Passes
from grader.errors import GraderFault, UsageError
from grader.gradebook.marks import Entry
from grader.gradebook.policy import Policy
from grader.report.escape import code_span, markdown
from grader.report.github import LIMIT
from grader.report.terminal.layout import MARKS
from grader.report.terminal.words import VALUES_RIGHT, lacking_words

TOKEN = "PUBLISH_TOKEN"  # nosec B105 # the environment's name for a token, not one
SECONDS = 30.0
MAX_DESCRIPTION = 140  # characters that GitHub takes
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
AT_ONCE = 60  # statuses; with more GitHub wants time between them (80 in a minute)
PAUSE = 0.8  # seconds
NAMED = 5
_CUT = (
    "_What follows is left out, since a job summary has at most 1 MB. The results of every student are in results.csv._"
)


@dataclass(frozen=True)
class Status:
    """What is shown beside a commit: a stage's state in one word and in one sentence."""

    context: str
    state: Literal["success", "failure", "error", "pending"]
    description: str


def status(result: StageResult) -> Status:
    """Return the status of a stage; what was not graded is an error, never a failure, and what waits is pending."""
    context = f"grader/{result.stage.id}"
    if result.waits_for:
        names = together(result.waits_for)
        told = f"Waits for {names}: hand in a module that passes there, too. No marks lost."
        return Status(context, "pending", _short(told))
    if result.is_missing:
        return Status(context, "failure", _short(f"Nothing to grade, no points: {result.why}"))
    if result.why:
        return Status(context, "error", _short(f"Not graded, no marks lost: {result.why}"))
    done = sum(each.status == "passed" for each in result.criteria)
    apart = done and any(each.counts.robustness for each in result.criteria)
    robust = f", {sum(each.robust for each in result.criteria)} robust" if apart else ""
    text = f"{done} of {len(result.criteria)} criteria pass{robust} (seed {result.seed})"
    return Status(context, "success" if result.passed else "failure", _short(text))


def summary(results: Sequence[StageResult], student: Student) -> str:
    """Return the results in Markdown."""
    parts = [f"## {code_span(f'{student.repository}@{student.revision[:12]}')}"]
    for result in results:
        parts += [f"### {markdown(f'{result.stage.id} · {result.stage.title}')}", *_stage(result)]
    return "\n\n".join(parts) + "\n"


def _stage(result: StageResult) -> list[str]:
    if result.why:
        said = {"waits": "Waits", "missing": "Nothing to grade"}.get(result.outcome, "Not graded")
        return [f"**{said}**: {markdown(result.why)}."]
    how = f"seed {result.seed} · isolation {result.isolation} · module {result.submission[:12]}"
    table = ["| | criterion | result | tests |", "| --- | --- | --- | --- |"]
    for criterion in result.criteria:
        kind = VALUES_RIGHT if criterion.values_right else criterion.status
        is_right = criterion.values_right or criterion.status == "passed"
        lacking = lacking_words(criterion.counts.lacking) if is_right else ""
        said = ", ".join(filter(None, [kind.replace("_", " "), lacking]))
        cells = (MARKS[kind][0], markdown(criterion.text), said, f"{criterion.passed} of {criterion.total}")
        table.append(f"| {' | '.join(cells)} |")
    return [markdown(how), "\n".join(table)]


def receipt(result: StageResult, student: Student, course: Provenance, now: datetime) -> Receipt:
    """Return the receipt of a stage that was graded, to be signed where no student's code has run.

    course is what this job's own checkout is; that the grading job had the same follows from its workflow.
    """
    if result.why:
        raise GraderFault(f"no receipt is given for {result.stage.id}: {result.why}")
    pairs = zip(result.stage.criteria, result.criteria, strict=True)
    whose = replace(course, student=student.repository, revision=student.revision)
    return Receipt(
        __version__,
        result.stage.id,
        result.submission,
        result.seed,
        result.isolation,
        result.feedback,
        now.astimezone(UTC).isoformat(timespec="seconds"),
        result.passed,
        {criterion.id: graded.status for criterion, graded in pairs},
        replace(whose, python=result.python, numpy=result.numpy),
        result.uses,
        sum(each.robust for each in result.criteria),
    )


def expect_address(server: str, example: str) -> None:
    """Raise UsageError unless a token may be sent to an address: over https, or to this machine."""
    parts = urlsplit(server)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise UsageError(f"{server!r} is not an address to publish to", f"Expected https://…, as in {example}.")


def post(statuses: Sequence[Status], student: Student, server: str, token: str, target: str | None = None) -> None:
    """Put statuses beside a student's commit; all are tried before GraderFault says which could not be put there.

    server is the address of GitHub's interface (https://api.github.com), target a page that each status links to.
    """
    expect_address(server, "https://api.github.com")
    address = f"{server.rstrip('/')}/repos/{student.repository}/statuses/{student.revision}"
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
        opener = urllib.request.build_opener(NoRedirect)
        with opener.open(urllib.request.Request(address, body, headers, method="POST"), timeout=SECONDS):
            return None
    except urllib.error.HTTPError as error:
        error.close()
        return f"the server answers {error.code}"
    except (OSError, HTTPException, ValueError) as error:
        return type(error).__name__


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Goes nowhere else: a token is for the server that was named."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        return None


def _short(text: str) -> str:
    return text if len(text) <= MAX_DESCRIPTION else f"{text[: MAX_DESCRIPTION - 1]}…"


@dataclass(frozen=True)
class StudentResults:
    """A student and what came of each stage."""

    student: Student
    results: tuple[StageResult, ...]


def gather(
    folder: Path, students: Iterable[Student], stages: Sequence[Stage], tiers: Sequence[str]
) -> tuple[StudentResults, ...]:
    """Return the results of a class from the folders that its grading jobs left: verdict-STUDENT-STAGE."""
    return tuple(
        StudentResults(
            student,
            tuple(
                read(folder / f"verdict-{student.name}-{stage.id}", stage, tiers)
                if student.revision
                else StageResult(stage, why="nothing was handed in", is_missing=True)
                for stage in stages
            ),
        )
        for student in students
    )


def in_gradebook(
    graded: Iterable[StudentResults], folder: Path, policy: Policy, passes: Mapping[str, Passes], now: datetime
) -> tuple[Entry, ...]:
    """Return the marks of a class, as a gradebook has them; folder is where the grading jobs left what they found."""
    found = [
        ImportedVerdict(
            each.student.name,
            result,
            submitted=_submitted(folder / f"verdict-{each.student.name}-{result.stage.id}", policy),
            label=f"{each.student.repository}@{each.student.revision}" if each.student.revision else "",
        )
        for each in graded
        for result in each.results
    ]
    return table_of(found, policy, passes, now)


def _submitted(folder: Path, policy: Policy) -> datetime | None:
    try:
        return submitted_in(document(folder / ABOUT), policy.zone)
    except Malformed:
        return None


def class_summary(graded: Sequence[StudentResults], limit: int = LIMIT) -> str:
    """Return the results in Markdown: for several students a table, and below it as much of each as fits in limit."""
    if len(graded) == 1:
        return summary(graded[0].results, graded[0].student)
    parts = [f"## {len(graded)} students", _table(graded)]
    room = limit - sum(len(part.encode()) + 2 for part in parts) - len(_CUT) - 2
    for each in graded:
        details = summary(each.results, each.student)
        text = f"<details><summary>{markdown(each.student.name)}</summary>\n\n{details}\n</details>"
        room -= len(text.encode()) + 2
        if room < 0:
            parts.append(_CUT)
            break
        parts.append(text)
    return "\n\n".join(parts) + "\n"


def post_all(
    graded: Sequence[StudentResults], server: str, token: str, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Put the statuses of every student beside their commits; all are tried before GraderFault says which failed."""
    count = sum(len(each.results) for each in graded)
    failed: list[str] = []
    hint: str | None = None
    for place, each in enumerate(graded):
        if place and count > AT_ONCE:
            sleep(PAUSE * len(each.results))
        if not each.student.revision:  # there is no commit that a status could stand beside
            continue
        try:
            post([status(result) for result in each.results], each.student, server, token)
        except GraderFault as fault:
            failed.append(fault.message if len(graded) == 1 else f"{each.student.name}, {fault.message}")
            hint = fault.hint
    if failed:
        raise GraderFault(_some(failed), hint)


def expect_all_graded(graded: Sequence[StudentResults]) -> None:
    """Raise GraderFault unless each stage of each student was graded, or waits for an earlier one."""
    if len(graded) == 1:
        return expect_graded(graded[0].results)
    lacking = [f"{each.student.name}, {why}" for each in graded for why in ungraded(each.results)]
    if lacking:
        raise GraderFault(f"not graded: {_some(lacking)}", "The log of the grading job says more.")


def _table(graded: Sequence[StudentResults]) -> str:
    stages = [result.stage.id for result in graded[0].results]
    lines = [f"| student | commit | {' | '.join(stages)} |", f"| --- | --- |{' --- |' * len(stages)}"]
    for each in graded:
        commit = code_span(f"{each.student.repository}@{each.student.revision[:12]}")
        cells = (markdown(each.student.name), commit, *map(_cell, each.results))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(result: StageResult) -> str:
    if result.why:
        return "waits" if result.waits_for else "not graded"
    mark = MARKS["passed" if result.passed else "failed"][0]
    return f"{mark} {_passing(result)} of {len(result.criteria)}"


def _passing(result: StageResult) -> int:
    return sum(each.status == "passed" for each in result.criteria)


def _some(texts: Sequence[str]) -> str:
    more = [f"and {len(texts) - NAMED} more"] if len(texts) > NAMED else []
    return "; ".join([*texts[:NAMED], *more])
