"""`grader ci pull` and `grader ci publish`: what the jobs before and after a grading job do, on GitHub's runners."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.errors import GraderFault, UsageError

if TYPE_CHECKING:
    from grader.classroom.publish import Commit
    from grader.classroom.results import Result
    from grader.course.stage import Stage

app = typer.Typer(
    help="For instructors: the jobs that grade on GitHub (docs/ci.md).",
    no_args_is_help=True,
    rich_markup_mode=None,
)
MAX_STAGES = 50
Repository = Annotated[str, typer.Argument(metavar="OWNER/NAME", help="The student's repository.")]
Revision = Annotated[str, typer.Argument(metavar="REVISION", help="The full name of a commit.")]


@app.command()
def pull(
    repository: Repository,
    revision: Revision,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The bare repository to create.")],
    server: Annotated[
        str, typer.Option("--server", envvar="GITHUB_SERVER_URL", metavar="URL", help="The address of the git server.")
    ] = "https://github.com",
) -> None:
    """Fetch one commit as data: nothing is checked out, and nothing of it runs.

    PULL_TOKEN in the environment, if set, needs to read the repository's contents and nothing else.
    """
    from grader.classroom import pull as pulling
    from grader.report.terminal.screen import say

    pulling.pull(pulling.wanted(server, repository, revision), folder, _secret(pulling.TOKEN))
    say(f"{repository}@{revision[:12]} is in {folder}.", f"Grade it with --submission {folder}@{revision}.")


@app.command()
def publish(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Holds a folder verdict-STAGE for each stage.")],
    repository: Repository,
    revision: Revision,
    stages: Annotated[str, typer.Option("--stages", metavar="JSON", help='The stages, as in ["STAGE", "STAGE"].')],
    least: Annotated[
        str, typer.Option("--require-isolation", metavar="TIER", help="Reject verdicts from weaker isolation.")
    ] = "bubblewrap",
    receipts: Annotated[
        Path | None,
        typer.Option("--receipts", metavar="DIR", help="Write a signed receipt for each stage into this folder."),
    ] = None,
    signing_key: Annotated[
        Path | None, typer.Option("--signing-key", metavar="KEY", help="Signs receipts; `grader keys new` makes it.")
    ] = None,
) -> None:
    """Write verdicts into the job's summary, and publish a status for each stage on the student's commit.

    Verdicts come from an untrusted job, so all names are taken from the course. PUBLISH_TOKEN in the environment, if
    set, needs the right to write commit statuses and no other. Exit code 4 if a stage was not graded.
    """
    from grader.classroom import results
    from grader.classroom.publish import Commit
    from grader.classroom.pull import expect_repository, expect_revision

    expect_repository(repository)
    expect_revision(revision)
    if (receipts is None) != (signing_key is None):
        raise UsageError("--receipts and --signing-key need each other", "`grader keys new DIR` makes keys.")
    tiers = _at_least(least)
    found = [results.read(folder / f"verdict-{name}", stage, tiers) for name, stage in _stages(stages)]
    if receipts is not None and signing_key is not None:
        _sign(found, Commit(repository, revision), receipts, signing_key)
    _tell(found, Commit(repository, revision))
    results.expect_graded(found)


def _sign(found: list[Result], commit: Commit, folder: Path, key_file: Path) -> None:
    """Write the receipt of each stage that was graded."""
    from grader.classroom.publish import receipt
    from grader.classroom.receipt import signed
    from grader.classroom.signing import read_signing_key
    from grader.course.provenance import provenance_of
    from grader.progress.actions import open_workspace

    key = read_signing_key(key_file)
    course = provenance_of(open_workspace(Path.cwd()).course)
    now = datetime.now(UTC)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for result in found:
            if not result.why:
                path = folder / f"{result.stage.id}.receipt.json"
                path.write_text(signed(receipt(result, commit, course, now), key), encoding="utf-8", newline="\n")
    except OSError as error:
        raise GraderFault(f"{folder} cannot be written to: {error.strerror}") from error


def _tell(found: list[Result], commit: Commit) -> None:
    """Put results everywhere; the summary first, since it cannot be refused by anyone."""
    from grader.classroom.publish import TOKEN, post, status, summary
    from grader.report.github import SUMMARY
    from grader.report.terminal.screen import say

    if path := os.environ.get(SUMMARY):
        try:
            with Path(path).open("a", encoding="utf-8", newline="\n") as file:
                file.write(summary(found, commit))
        except OSError as error:
            raise GraderFault(f"{path}, which {SUMMARY} names, cannot be written: {error.strerror}") from error
    statuses = [status(result) for result in found]
    for each in statuses:
        say(f"{each.context}: {each.state}. {each.description}")
    if (token := _secret(TOKEN)) is None:
        say(f"{TOKEN} is not set: no status is published.")
        return
    post(statuses, commit, os.environ.get("GITHUB_API_URL") or "https://api.github.com", token)


def _secret(name: str) -> str | None:
    """Return a secret of the environment; whoever pastes one into a form may end it with a line's end."""
    return os.environ.get(name, "").strip() or None


def _at_least(tier: str) -> tuple[str, ...]:
    """Return a tier and those that are stronger."""
    from grader.isolation.tiers import TIERS

    if tier not in TIERS:
        raise UsageError(f"{tier!r} is not an isolation tier", f"Choose {', '.join(TIERS)}.")
    return tuple(TIERS[: TIERS.index(tier) + 1])


def _stages(text: str) -> list[tuple[str, Stage]]:
    """Return the stages of a list in JSON, with the names that they are given there; raises UsageError."""
    from grader.progress.actions import open_workspace

    try:
        names = json.loads(text)
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise UsageError(f"{text!r} is not a list of stages", 'Expected JSON, as in ["STAGE", "STAGE"].')
    if len(names) > MAX_STAGES:
        raise UsageError(f"{len(names)} stages are too many", f"Expected at most {MAX_STAGES}.")
    course = open_workspace(Path.cwd()).course
    found = [(name, course.find(name)) for name in names]
    for name, stage in found:
        if name != stage.id:
            raise UsageError(f"{name!r} is not the id of a stage", f"Write {stage.id}.")
    if len(set(names)) < len(names):
        raise UsageError(f"{text!r} names a stage twice", "Name each once.")
    return found
