"""`grader ci roster`, `pull` and `publish`: what the jobs before and after a grading job do, on GitHub's runners."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.atomic import write_atomically
from grader.errors import GraderFault, UsageError

if TYPE_CHECKING:
    from grader.classroom.publish import StudentResults
    from grader.course.stage import Stage

app = typer.Typer(
    help="For instructors: the jobs that grade on GitHub (docs/ci.md).",
    no_args_is_help=True,
    rich_markup_mode=None,
)
MAX_STAGES = 50
Repository = Annotated[str, typer.Argument(metavar="OWNER/NAME", help="The student's repository.")]
Revision = Annotated[str, typer.Argument(metavar="REVISION", help="The full name of a commit.")]
Verdicts = Annotated[
    Path, typer.Argument(metavar="DIR", help="Holds verdict-STAGE; of a class, verdict-STUDENT-STAGE-GROUP.")
]
Least = Annotated[
    str, typer.Option("--require-isolation", metavar="TIER", help="Reject verdicts from weaker isolation.")
]
Results = Annotated[
    Path | None, typer.Option("--results", metavar="FILE", help="Write the results of a class to this CSV file.")
]
Receipts = Annotated[
    Path | None,
    typer.Option("--receipts", metavar="DIR", help="Write a signed receipt for each stage into this folder."),
]
SigningKey = Annotated[
    Path | None, typer.Option("--signing-key", metavar="KEY", help="Signs receipts; `grader keys new` makes it.")
]
Stages = Annotated[str, typer.Option("--stages", metavar="JSON", help='The stages, as in ["STAGE", "STAGE"].')]


@app.command()
def roster(
    stages: Stages,
    file: Annotated[
        str, typer.Option("--file", metavar="CSV", help="A file with the columns student, repository and revision.")
    ] = "",
    students: Annotated[
        str, typer.Option("--students", metavar="JSON", help="The same as a list of objects in JSON.")
    ] = "",
    repository: Annotated[str, typer.Option("--repository", metavar="OWNER/NAME", help="One student's.")] = "",
    revision: Annotated[str, typer.Option("--revision", metavar="REVISION", help="The full name of a commit.")] = "",
) -> None:
    """Check who is graded, and print it as outputs of a step.

    These are students (JSON) and group (a short digest).

    Give one of --file, --students, and --repository with --revision; an empty one counts as not given. Names are made
    of small letters, digits, - and _. Nothing is printed if any entry has another form or stands there twice.
    """
    from grader.classroom import roster as reading
    from grader.report.terminal.screen import say, write

    given = [file, students, repository or revision]
    if sum(map(bool, given)) != 1:
        raise UsageError(
            "a grading needs one of --file, --students, and --repository with --revision",
            f"{sum(map(bool, given))} are given.",
        )
    if file:
        found = reading.read_csv(Path(file))
    else:
        found = reading.read_json(students) if students else reading.one(repository, revision)
    names = [stage.id for _, stage in _stages(stages)]
    reading.expect_room(found, names)
    write(f"students={reading.document(found)}\ngroup={reading.group(found, names)}")
    say(f"{len(found)} to grade: {', '.join(each.name for each in found[:10])}{', …' if len(found) > 10 else ''}")


@app.command()
def pull(
    repository: Repository,
    revision: Revision,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The bare repository to create.")],
    server: Annotated[
        str, typer.Option("--server", envvar="GITHUB_SERVER_URL", metavar="URL", help="The address of the git server.")
    ] = "https://github.com",
) -> None:
    """Fetch one commit as data: nothing of it runs.

    Nothing is checked out either.

    PULL_TOKEN in the environment, if set, needs to read the repository's contents and nothing else.
    """
    from grader.classroom import pull as pulling
    from grader.report.terminal.screen import say

    pulling.pull(pulling.wanted(server, repository, revision), folder, _secret(pulling.TOKEN))
    say(f"{repository}@{revision[:12]} is in {folder}.", f"Grade it with --submission {folder}@{revision}.")


@app.command()
def publish(
    folder: Verdicts,
    stages: Stages,
    repository: Annotated[str, typer.Argument(metavar="[OWNER/NAME]", help="The student's repository.")] = "",
    revision: Annotated[str, typer.Argument(metavar="[REVISION]", help="The full name of a commit.")] = "",
    students: Annotated[
        str, typer.Option("--students", metavar="JSON", help="A class, as `grader ci roster` prints it.")
    ] = "",
    least: Least = "bubblewrap",
    results: Results = None,
    receipts: Receipts = None,
    signing_key: SigningKey = None,
) -> None:
    """Write the job's summary, and a status for each stage.

    The statuses stand on the student's commit.

    With --students those of a whole class. Verdicts come from untrusted jobs, so all names are taken from the course
    and the roster. PUBLISH_TOKEN in the environment, if set, needs the right to write commit statuses and no other.
    What waits for an earlier stage is pending. Exit code 4 if a stage was not graded.
    """
    from grader.classroom import publish as publishing
    from grader.classroom import roster
    from grader.classroom.results import read

    if bool(students) == bool(repository or revision):
        raise UsageError("publish needs OWNER/NAME and REVISION, or --students, and not both", "Name whose work it is.")
    if (receipts is None) != (signing_key is None):
        raise UsageError("--receipts and --signing-key need each other", "`grader keys new DIR` makes keys.")
    whose = roster.read_json(students) if students else roster.one(repository, revision)
    tiers, asked = _at_least(least), [stage for _, stage in _stages(stages)]
    if students:
        group = roster.group(whose, [stage.id for stage in asked])
        found = publishing.gather(folder, whose, asked, tiers, group)
    else:
        alone = tuple(read(folder / f"verdict-{stage.id}", stage, tiers) for stage in asked)
        found = (publishing.StudentResults(whose[0], alone),)
    if receipts is not None and signing_key is not None:
        _sign(found, receipts, signing_key, by_student=bool(students))
    if results is not None:
        _put(results, publishing.results_csv(found))
    _tell(found)
    publishing.expect_all_graded(found)


def _sign(found: tuple[StudentResults, ...], folder: Path, key_file: Path, by_student: bool) -> None:
    """Write the receipt of each stage that was graded; those of a class into a folder for each student."""
    from grader.classroom.publish import receipt
    from grader.classroom.receipt import read_signing_key, signed
    from grader.course.provenance import provenance_of
    from grader.progress.workspace import open_workspace

    key = read_signing_key(key_file)
    course = provenance_of(open_workspace(Path.cwd()).course)
    now = datetime.now(UTC)
    for each in found:
        place = folder / each.student.name if by_student else folder
        for result in (result for result in each.results if not result.why):
            text = signed(receipt(result, each.student, course, now), key)
            _put(place / f"{result.stage.id}.receipt.json", text)


def _put(path: Path, text: str) -> None:
    """Write a file and the folders that it lies in."""
    write_atomically(path, text, GraderFault, follow=False, parents=True)


def _tell(found: tuple[StudentResults, ...]) -> None:
    """Put results everywhere; the summary first, since it cannot be refused by anyone."""
    from grader.classroom.publish import TOKEN, class_summary, post_all, status
    from grader.commands.publishing import SUMMARY
    from grader.report.terminal.screen import say

    if path := os.environ.get(SUMMARY):
        try:
            with Path(path).open("a", encoding="utf-8", newline="\n") as file:
                file.write(class_summary(found))
        except OSError as error:
            raise GraderFault(f"{path}, which {SUMMARY} names, cannot be written: {error.strerror}") from error
    for each in found:
        whose = f"{each.student.name}, " if len(found) > 1 else ""
        for told in map(status, each.results):
            say(f"{whose}{told.context}: {told.state}. {told.description}")
    if (token := _secret(TOKEN)) is None:
        say(f"{TOKEN} is not set: no status is published.")
        return
    post_all(found, os.environ.get("GITHUB_API_URL") or "https://api.github.com", token)


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
    from grader.progress.workspace import open_workspace

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
