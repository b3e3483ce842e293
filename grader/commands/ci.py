"""`grader ci roster`, `pull`, `grade` and `publish`: what each job does on GitHub's runners."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.atomic import write_atomically
from grader.commands.classes.class_options import PolicyFile
from grader.commands.options import FeedbackLevel, Lend
from grader.errors import GraderError, GraderFault, UsageError
from grader.progress.workspace import open_workspace
from grader.report.terminal.screen import complain, say, write

if TYPE_CHECKING:
    from grader.classroom.publish import StudentResults
    from grader.course.stage import Stage

app = typer.Typer(
    help="For instructors: the jobs that grade on GitHub (docs/ci.md).",
    no_args_is_help=True,
    rich_markup_mode=None,
)
MAX_STAGES = 50
Verdicts = Annotated[
    Path, typer.Argument(metavar="DIR", help="Holds verdict-STAGE; of a class, verdict-STUDENT-STAGE.")
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
Students = Annotated[str, typer.Option("--students", metavar="JSON", help="A class, as `grader ci roster` prints it.")]
Batch = Annotated[int, typer.Option("--batch", metavar="N", min=1, max=100, help="Students of a job.")]
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
    batch: Batch = 20,
    known: Annotated[
        str, typer.Option("--known", metavar="CSV", help="results.csv of earlier runs: what has a verdict is left out.")
    ] = "",
) -> None:
    """Check who is graded, and print it as outputs of a step.

    These are students (JSON), batches (the numbers of the jobs that grade, in JSON) and group (a short digest). A
    student without a revision has handed in nothing, and needs no job.

    Give one of --file, --students, and --repository with --revision; an empty one counts as not given. Names are made
    of small letters, digits, - and _. Nothing is printed if any entry has another form or stands there twice.
    """
    from grader.classroom import ci_roster as reading

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
    left = reading.unknown(found, names, Path(known)) if known else found
    jobs = [*range(1, len(reading.batches(left, batch)) + 1)]
    write(f"students={reading.document(left)}\nbatches={json.dumps(jobs)}\ngroup={reading.group(left, names)}")
    say(f"{len(left)} to grade: {', '.join(each.name for each in left[:10])}{', …' if len(left) > 10 else ''}")
    if len(left) < len(found):
        say(f"{len(found) - len(left)} have a verdict on the same commit already.")


@app.command()
def pull(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The bare repository to create; of a class, their folder.")
    ],
    repository: Annotated[str, typer.Argument(metavar="[OWNER/NAME]", help="The student's repository.")] = "",
    revision: Annotated[str, typer.Argument(metavar="[REVISION]", help="The full name of a commit.")] = "",
    students: Students = "",
    server: Annotated[
        str, typer.Option("--server", envvar="GITHUB_SERVER_URL", metavar="URL", help="The address of the git server.")
    ] = "https://github.com",
) -> None:
    """Fetch commits as data: nothing of them runs.

    It is one commit, or those of a class.

    Nothing is checked out either. Of a class, a commit that cannot be fetched is told and costs the others nothing.

    PULL_TOKEN in the environment, if set, needs to read the repositories' contents and nothing else.
    """
    from grader.classroom import ci_roster
    from grader.classroom import pull as pulling

    _expect_one_or_class(students, repository, revision)
    token = _secret(pulling.TOKEN)
    if not students:
        pulling.pull(pulling.wanted(server, repository, revision), folder, token)
        say(f"{repository}@{revision[:12]} is in {folder}.", f"Grade it with --submission {folder}@{revision}.")
        return
    folder.mkdir(parents=True, exist_ok=True)
    whose = [each for each in ci_roster.read_json(students) if each.revision]
    failed = 0
    for each in whose:
        what = pulling.wanted(server, each.repository, each.revision)
        try:
            pulling.pull(what, folder / f"{each.name}.git", token)
        except GraderFault as fault:
            failed += 1
            say(f"{each.name}: {fault.message}", fault.hint)
    say(f"Fetched {len(whose) - failed} of {len(whose)} commits.")


@app.command()
def grade(
    submissions: Annotated[Path, typer.Argument(metavar="DIR", help="Holds what `grader ci pull` fetched of a class.")],
    folder: Annotated[Path, typer.Argument(metavar="VERDICTS", help="Takes verdict-STUDENT-STAGE of each.")],
    stages: Stages,
    students: Students,
    number: Annotated[int, typer.Option("--number", metavar="K", min=1, help="Which batch of the class.")] = 1,
    batch: Batch = 20,
    least: Least = "bubblewrap",
    feedback: FeedbackLevel = "full",
    lend: Lend = "passed",
) -> None:
    """Grade one batch of a class.

    Each student and stage is graded as `grader check --submission` does.

    Exit code 4 if the grader failed for some; all others are graded.
    """
    from grader.classroom import ci_roster
    from grader.classroom.collecting import grade_one

    found = ci_roster.batches(ci_roster.read_json(students), batch)
    if number > len(found):
        raise UsageError(f"there is no batch {number}", f"Expected 1 to {len(found)}.")
    failed = []
    for each in found[number - 1]:
        repository = submissions / f"{each.name}.git"
        if not repository.is_dir():
            say(f"{each.name}: the commit was not fetched.")
            continue
        for _, stage in _stages(stages):
            target = folder / f"verdict-{each.name}-{stage.id}"
            if not grade_one(each, stage, repository, target, _check(least, feedback, lend)):
                failed.append(f"{each.name} {stage.id}")
    if failed:
        raise GraderFault(f"not graded: {', '.join(failed)}", "The lines above say why.")


def _check(least: str, feedback: str, lend: str) -> Callable[[str, Path, str], int]:
    """Return what grades one submission as the command `check` does, and returns its exit code."""
    from grader.commands.checking import check

    def run(stage: str, submission: Path, formats: str) -> int:
        try:
            check(stage, submission=submission, formats=formats, require_isolation=least, feedback=feedback, lend=lend)
        except typer.Exit as ended:
            return ended.exit_code
        except GraderError as error:
            complain(error)
            return error.exit_code
        return 0

    return run


@app.command()
def publish(
    folder: Verdicts,
    stages: Stages,
    repository: Annotated[str, typer.Argument(metavar="[OWNER/NAME]", help="The student's repository.")] = "",
    revision: Annotated[str, typer.Argument(metavar="[REVISION]", help="The full name of a commit.")] = "",
    students: Students = "",
    least: Least = "bubblewrap",
    results: Results = None,
    receipts: Receipts = None,
    signing_key: SigningKey = None,
    policy: PolicyFile = None,
) -> None:
    """Write the job's summary, and a status for each stage.

    The statuses stand on the student's commit.

    With --students those of a whole class. Verdicts come from untrusted jobs, so all names are taken from the course
    and the roster. PUBLISH_TOKEN in the environment, if set, needs the right to write commit statuses and no other.
    What waits for an earlier stage is pending. --results is what `grader class export` writes, under class.toml. Exit
    code 4 if a stage was not graded.
    """
    from grader.classroom import ci_roster
    from grader.classroom import publish as publishing
    from grader.classroom.results import read

    _expect_one_or_class(students, repository, revision)
    if (receipts is None) != (signing_key is None):
        raise UsageError("--receipts and --signing-key need each other", "`grader keys new DIR` makes keys.")
    whose = ci_roster.read_json(students) if students else ci_roster.one(repository, revision)
    tiers, asked = _at_least(least), [stage for _, stage in _stages(stages)]
    if students:
        found = publishing.gather(folder, whose, asked, tiers)
    else:
        alone = tuple(read(folder / f"verdict-{stage.id}", stage, tiers) for stage in asked)
        found = (publishing.StudentResults(whose[0], alone),)
    if receipts is not None and signing_key is not None:
        _sign(found, receipts, signing_key, by_student=bool(students))
    if results is not None:
        _put(results, _results(found, folder, policy))
    _tell(found)
    publishing.expect_all_graded(found)


def _sign(found: tuple[StudentResults, ...], folder: Path, key_file: Path, by_student: bool) -> None:
    """Write the receipt of each stage that was graded; those of a class into a folder for each student."""
    from grader.classroom.publish import receipt
    from grader.classroom.receipt import read_signing_key, signed
    from grader.course.provenance import provenance_of

    key = read_signing_key(key_file)
    course = provenance_of(open_workspace(Path.cwd()).course)
    now = datetime.now(UTC)
    for each in found:
        place = folder / each.student.name if by_student else folder
        for result in (result for result in each.results if not result.why):
            text = signed(receipt(result, each.student, course, now), key)
            _put(place / f"{result.stage.id}.receipt.json", text)


def _results(found: tuple[StudentResults, ...], folder: Path, policy: Path | None) -> str:
    """Return the table of a class, as its gradebook would have it."""
    from grader.classroom.publish import in_gradebook
    from grader.gradebook.class_run import RunOptions, policy_of
    from grader.gradebook.exports import as_csv

    course = open_workspace(Path.cwd()).course
    rules = policy_of(course, RunOptions(Path(), policy))
    return as_csv(in_gradebook(found, folder, rules, rules.passes(course.stages), datetime.now(UTC)))


def _expect_one_or_class(students: str, repository: str, revision: str) -> None:
    if bool(students) == bool(repository or revision):
        raise UsageError("this needs OWNER/NAME and REVISION, or --students, and not both", "Name whose work it is.")


def _put(path: Path, text: str) -> None:
    """Write a file and the folders that it lies in."""
    write_atomically(path, text, GraderFault, follow=False, parents=True)


def _tell(found: tuple[StudentResults, ...]) -> None:
    """Put results everywhere; the summary first, since it cannot be refused by anyone."""
    from grader.classroom.publish import TOKEN, class_summary, post_all, status
    from grader.commands.publishing import SUMMARY

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
