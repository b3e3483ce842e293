"""A run for GitHub Actions, for GitHub Classroom's autograding reporter, and for Classroom 50.

Actions: the job's summary as Markdown, and annotations on the learner's own lines. Limits:
https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands (a summary of a step has at most 1 MB;
more than 10 errors of a step are not shown).

The autograding reporter takes one JSON object, in base64, on one line: what github.com/education/
autograding-grading-reporter reads (src/main.js, notify-classroom.js). No schema is published, so
schemas/autograding.schema.json says it in JSON Schema. The reporter prints names and messages into the log as they are,
so workflow commands are spelt out here. A run without marks has max_score 0, which it does not post.

Classroom 50 takes result.json (classroom50/result/v1): github.com/foundation50/classroom50,
schemas/result-v1.schema.json and wiki/Advanced-Autograding.md; schemas/classroom50.schema.json has the rules. Its
runner names who is graded in the environment and corrects owner, mode and submission time afterwards. A run without
marks has 0 of 0 points and no tests, as that runner's own errors have.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from grader.errors import UsageError
from grader.outcome import Where
from grader.report.document import dumps
from grader.report.escape import code_span, command_data, command_property, markdown, one_line, preformatted
from grader.report.formats import Format
from grader.report.graded import (
    ERRORS,
    CheckReport,
    ReportContext,
    details,
    place,
    points,
    problem,
    said,
    title,
    unmarked,
)
from grader.report.terminal.checklist import QUIET
from grader.report.terminal.layout import MARKS
from grader.report.terminal.words import kind_of_criterion, reached_words, status_words
from grader.verdict import CriterionResult, Verdict

Level = Literal["error", "warning"]
LIMIT = 1 << 20
ANNOTATIONS = 10
MESSAGE = 1000  # characters of one annotation
_CUT = "\n\n_The rest is left out: a job summary has at most 1 MB._\n"


def summary(report: CheckReport, context: ReportContext, limit: int = LIMIT) -> str:
    """Return the summary in Markdown, with all that fits into limit bytes."""
    return within(_blocks(report), limit)


def within(blocks: Iterator[str], limit: int) -> str:
    """Return the first blocks, as many as fit whole into limit bytes, and a note where some are left out."""
    text = ""
    for block in blocks:
        longer = f"{text}{block}\n\n"
        if len(longer.encode()) + len(_CUT) > limit:
            return f"{text.rstrip()}{_CUT}" if len(text.encode()) + len(_CUT) <= limit else ""
        text = longer
    return text


def annotation_lines(report: CheckReport, context: ReportContext) -> list[str]:
    """Return workflow commands, one a line, at most ANNOTATIONS.

    First comes what gives no marks, then problems, criteria that fail and, as warnings, criteria that lack robustness.
    """
    found: list[str] = []
    if (why := unmarked(report)) is not None:
        found.append(_command(None, "grader", why))
    for verdict in report.verdicts:
        if verdict.problem is not None and verdict.criteria:
            where = Where(verdict.run.label, verdict.problem.line or 1)
            found.append(_command(_located(where, context), title(verdict), problem(verdict)))
        wrong = [each for each in verdict.criteria if each.status not in QUIET]
        found += [_criterion_command(each, verdict, context) for each in wrong]
    for verdict in report.verdicts:
        bare = [each for each in verdict.criteria if each.lacks_robustness]
        found += [_criterion_command(each, verdict, context, "warning") for each in bare]
    return found[:ANNOTATIONS]


def _blocks(report: CheckReport) -> Iterator[str]:
    if (why := unmarked(report)) is not None:
        yield "## Not graded"
        yield preformatted(why)
    for verdict in report.verdicts:
        if verdict.criteria:
            yield from _stage(verdict)


def _stage(verdict: Verdict) -> Iterator[str]:
    run = verdict.run
    yield f"## {markdown(title(verdict))}"
    took = "" if run.withheld else f"{run.duration_s:.1f} s"
    how = " · ".join(filter(None, (f"seed {run.seed}", f"isolation {run.isolation}", took, run.provenance.words)))
    yield f"**{reached_words(verdict)}** · {markdown(how)} · {code_span(run.label)}"
    if verdict.problem is not None:
        yield preformatted(problem(verdict))
    rows = [
        f"| {MARKS[kind_of_criterion(result)][0]} | {markdown(result.text)} | {markdown(status_words(result))} |"
        for result in verdict.criteria
    ]
    yield "\n".join(["| | criterion | result |", "| --- | --- | --- |", *rows])
    for result in verdict.criteria:
        told = details(result, verdict)
        if "\n" in told:  # more than the status, which the table has
            yield f"### {markdown(result.text)}"
            yield preformatted(told)


def _criterion_command(
    result: CriterionResult, verdict: Verdict, context: ReportContext, level: Level = "error"
) -> str:
    """Return an annotation that says what the criterion's report says first, on the line that it names."""
    lines = said(result, verdict)
    where = place(result, verdict)
    at = _located(where, context)
    if where is not None and at is None:
        lines.append(f"{where.file}:{where.line}")
    return _command(at, f"{verdict.stage} {result.id}", "\n".join(lines), level)


def _located(where: Where | None, context: ReportContext) -> tuple[str, int] | None:
    """Return file and line in the repository, if the file lies there."""
    path = context.locate(where.file) if where is not None else None
    return None if path is None or where is None else (path, where.line)


def _command(at: tuple[str, int] | None, name: str, message: str, level: Level = "error") -> str:
    if len(message) > MESSAGE:
        message = f"{message[:MESSAGE]}…"
    properties = [f"file={command_property(at[0])}", f"line={at[1]}"] if at is not None else []
    return f"::{level} {','.join([*properties, f'title={command_property(name)}'])}::{command_data(message)}"


VERSION = 1


def autograding(report: CheckReport, context: ReportContext) -> str:
    """Return the object in base64; it is the value of a step's output named result."""
    text = json.dumps(autograding_document(report), allow_nan=False)
    return base64.b64encode(text.encode("ascii")).decode("ascii")


def autograding_document(report: CheckReport) -> dict[str, Any]:
    """Return the object as the reporter reads it."""
    if (why := unmarked(report)) is not None:
        test = {"name": "grader", "status": "error", "message": why, "score": 0, "filename": None, "line_no": None}
        return {"version": VERSION, "status": "error", "max_score": 0, "tests": [test]}
    tests = [_autograding_test(result, verdict) for verdict in report.verdicts for result in verdict.criteria]
    passed = sum(map(points, report.verdicts)) == len(tests) and all(verdict.passed for verdict in report.verdicts)
    return {"version": VERSION, "status": "pass" if passed else "fail", "max_score": len(tests), "tests": tests}


def _autograding_test(result: CriterionResult, verdict: Verdict) -> dict[str, Any]:
    passed = result.status == "passed"
    where = None if passed else place(result, verdict)
    return {
        "name": one_line(f"{verdict.stage} · {result.text}"),
        "status": "pass" if passed else "error" if result.status in ERRORS else "fail",
        "message": details(result, verdict) or None,
        "score": int(passed),
        "filename": None if where is None else one_line(where.file),
        "line_no": None if where is None else where.line,
    }


SCHEMA = "classroom50/result/v1"
_TAG = "submit/"


def expect_runner(environment: Mapping[str, str]) -> None:
    """Raise UsageError unless the environment has all that a result of Classroom 50 names."""
    names = ("CLASSROOM", "ASSIGNMENT", "SUBMISSION_TAG", "COMMIT_URL", "RELEASE_URL")
    lacking = [name for name in names if not environment.get(name)]
    lacking += [] if _owner(environment) else ["OWNER"]
    tag = environment.get("SUBMISSION_TAG", "")
    if lacking:
        lack = f"the environment has no {', '.join(lacking)}, which Classroom 50's runner sets"
    elif not tag.startswith(_TAG):
        lack = f"SUBMISSION_TAG is {tag!r}; expected a name that begins with {_TAG}"
    else:
        return
    raise UsageError(f"classroom50 cannot be written: {lack}", "Use it in an autograder of Classroom 50.")


def classroom50(report: CheckReport, context: ReportContext) -> str:
    """Return the document."""
    known, when = context.environment, context.now.strftime("%Y-%m-%dT%H:%M:%SZ")
    marked = () if unmarked(report) is not None else report.verdicts
    tests = [_classroom50_test(result, verdict) for verdict in marked for result in verdict.criteria]
    return dumps({
        "schema": SCHEMA,
        "classroom": known["CLASSROOM"],
        "assignment": known["ASSIGNMENT"],
        "assignment_type": known.get("ASSIGNMENT_TYPE") or "individual",
        "owner": _owner(known),
        "submission": known["SUBMISSION_TAG"],
        "commit": known["COMMIT_URL"],
        "release": known["RELEASE_URL"],
        "review": known.get("REVIEW_URL") or known["COMMIT_URL"],
        "datetime": when,
        "graded_at": when,
        "score": sum(map(points, marked)),
        "max-score": len(tests),
        "tests": tests,
    })  # fmt: skip


def _owner(environment: Mapping[str, str]) -> str:
    return environment.get("OWNER") or environment.get("USERNAME") or ""


def _classroom50_test(result: CriterionResult, verdict: Verdict) -> dict[str, Any]:
    passed = result.status == "passed"
    return {
        "test-name": one_line(f"{verdict.stage} · {result.text}"),
        "passed": passed,
        "score": int(passed),
        "max-score": 1,
        "status": result.status,
        "output": details(result, verdict),
    }


GITHUB = Format("github", summary)
AUTOGRADING = Format("autograding", autograding, gives_marks=True)
CLASSROOM50 = Format("classroom50", classroom50, expect_runner, gives_marks=True)
