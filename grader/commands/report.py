"""`grader report`: a learner's own page, and the certificate on it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.commands.learning import open_here
from grader.commands.options import Isolation, Json, RequireIsolation, SigningKey, Student
from grader.errors import UsageError, installs
from grader.report.document import dumps
from grader.report.terminal import screen
from grader.report.terminal.screen import say
from grader.shell import here, portable

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from grader.course.provenance import Provenance
    from grader.course.stage import Stage
    from grader.progress.actions import GradingRequest, Workspace
    from grader.web.certificate import Certificate
    from grader.web.report_page import Picture
    from grader.web.road import Road

OUTPUT = Path("report.html")
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Where the page goes; by default report_page.html, here."),
]
Open = Annotated[bool, typer.Option("--open", help="Open the page in your browser.")]
Pictures = Annotated[
    bool,
    typer.Option("--pictures/--no-pictures", help="Run your code on examples, and draw what it gives (extra `plot`)."),
]


def report(
    output: Output = None,
    open_it: Open = False,
    report: Pictures = True,
    student: Student = None,
    signing_key: SigningKey = None,
    isolation: Isolation = "auto",
    require_isolation: RequireIsolation = "auto",
    as_json: Json = False,
) -> None:
    """Write a page of your road, with a certificate (extra `web`).

    It is one file that needs no network and runs no script, to read, to print or to hand on. Nothing is graded, unless
    a certificate is signed: with --signing-key every module that was begun is graded anew, and what passes is signed.
    With --json a document is printed, and the page is written only where --output names a file.
    """
    from grader.progress.actions import GradingRequest
    from grader.web.report_page import ReportPages, report_document, write
    from grader.web.road import road

    target = _target(output, open_it, as_json)
    pages = ReportPages(portable(here())) if target is not None else None
    key = _key(signing_key)
    workspace = open_here()
    request = GradingRequest(None, None, None, isolation, require_isolation, student)
    found = road(workspace, datetime.now(UTC))
    certificate = _certificate(workspace, found, request, key)
    drawn, told = _drawn(workspace, isolation, report)
    if pages is not None and target is not None:
        write(target, pages.report(found, certificate, drawn, told))
    if as_json:
        screen.write(dumps(report_document(found, certificate, drawn, str(target) if target else None)))
    if target is not None:
        _tell(target, open_it)


def _target(output: Path | None, open_it: bool, as_json: bool) -> Path | None:
    """Return where the page goes, which replaces nothing; None where only a document is asked for."""
    from grader.web.report_page import expect_free

    target = output or (None if as_json else OUTPUT)
    if open_it and target is None:
        raise UsageError("--open shows a page, and --json alone writes none", "Name a file with --output.")
    if target is not None:
        expect_free(target)
    return target


def _key(path: Path | None) -> Ed25519PrivateKey | None:
    from grader.classroom.receipt import read_signing_key

    return read_signing_key(path) if path is not None else None


def _certificate(
    workspace: Workspace, found: Road, request: GradingRequest, key: Ed25519PrivateKey | None
) -> dict[str, object]:
    """Return the certificate as a document: of what is recorded or, where it is signed, of what is graded now."""
    from grader.course.provenance import provenance_of
    from grader.web.certificate import document, recorded

    made = replace(provenance_of(workspace.course), student=request.student)
    if key is None:
        return document(recorded(found, workspace.store.read(), made, request.student))
    return document(_graded(workspace, found, request, made), key)


def _graded(workspace: Workspace, found: Road, request: GradingRequest, made: Provenance) -> Certificate:
    from grader.web.certificate import Certificate, proven

    proof = proven(workspace, request, screen.ticking, lambda: datetime.now(UTC))
    for why in proof.left_out:
        screen.say(f"Not certified: {why}.", style="yellow")
    when = found.made.isoformat(timespec="seconds")
    return Certificate(found.title, "graded", when, made, proof.entries, request.student)


def _drawn(workspace: Workspace, isolation: str, wanted: bool) -> tuple[list[Picture], str]:
    """Return the pictures, and why there are none where they were wanted and cannot be drawn."""
    from grader.web import report_page

    if not wanted:
        return [], ""
    if not report_page.can_draw():
        return [], f"Pictures need matplotlib. {installs('plot', 'matplotlib')}"

    def begin(stage: Stage) -> None:
        screen.say(f"Drawing {stage.id}.")

    return list(report_page.drawn(workspace, isolation, begin)), ""


def _tell(page: Path, open_it: bool) -> None:
    """Say where a page was written, or open it in the browser; say so where none is found."""
    import webbrowser

    say(f"Wrote {page}.", None if open_it else "--open shows it in your browser.")
    if open_it and not webbrowser.open(page.resolve().as_uri()):
        say("No browser was found to open it with.", f"Open {page} yourself.", "yellow")
