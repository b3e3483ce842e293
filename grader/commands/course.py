"""`grader course …`: what the authors of stages need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader import __version__
from grader.atomic import write_atomically
from grader.commands.options import AnyStage, Isolation, Json, stage_names
from grader.course.manifest import load_course
from grader.course.sealed import in_copy
from grader.course.settings import find_course_root
from grader.errors import UsageError
from grader.progress.store import backup
from grader.report.document import dumps
from grader.report.terminal import screen, verification
from grader.report.terminal.screen import say, write

if TYPE_CHECKING:
    from grader.authoring.naming import Naming
    from grader.authoring.verify import StageProof
    from grader.course.stage import Course, Stage

app = typer.Typer(help="For authors: make stages, and prove their tests.", no_args_is_help=True, rich_markup_mode=None)
MOST_SEEDS = 1000
MOST_JOBS = 256
MOST_NAMED = 1000
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", metavar="N", min=1, max=MOST_JOBS, help="Processes that grade; by default one a core."),
]
NamedMutants = Annotated[
    int,
    typer.Option(
        "--naming",
        metavar="N",
        min=0,
        max=MOST_NAMED,
        help="Grade N mutants of a second solution in three ways, 3 N gradings at most; count the named.",
    ),
]


@app.callback()
def course() -> None:
    """For authors: make stages, and prove their tests."""
    if in_copy(Path.cwd()):
        raise UsageError("this is a learner's copy of the course, without what authors need", "Use the author's copy.")


@app.command()
def verify(
    stages: Annotated[
        list[str] | None,
        typer.Argument(metavar="[STAGE]...", help="By default every stage.", autocompletion=stage_names),
    ] = None,
    mutants: Annotated[
        bool, typer.Option("--mutants", help="Grade small wrong changes to the reference solution as well.")
    ] = False,
    seeds: Annotated[
        int, typer.Option("--seeds", metavar="N", min=1, max=MOST_SEEDS, help="Seeds that correct solutions must pass.")
    ] = 3,
    since: Annotated[
        str | None, typer.Option("--since", metavar="COMMIT", help="Only stages that differ from a commit of git.")
    ] = None,
    jobs: Jobs = None,
    naming: NamedMutants = 0,
    isolation: Isolation = "auto",
    as_json: Json = False,
) -> None:
    """Prove that tests pass what is right, and name what is wrong.

    The reference and the alternative solutions pass, the stub has not begun, each known mistake fails its criterion and
    is named, the files agree with each other. Exit code 1 if anything falls short.
    """
    from grader.authoring.naming import measured
    from grader.authoring.verify import VerifyOptions
    from grader.authoring.verify import verify as prove

    found = load_course(find_course_root(Path.cwd()))
    chosen = _chosen(found, stages, since)
    plan = VerifyOptions(seeds, mutants=mutants, isolation=isolation, workers=jobs)
    with screen.counting() as count:
        proofs = prove(found, chosen, plan, count)
        named_so = measured(found, chosen, naming, count, isolation, jobs) if naming else []
    _tell(proofs, named_so, seeds, as_json)
    raise typer.Exit(1 if any(each.shortfalls for each in proofs) else 0)


def _chosen(course: Course, names: list[str] | None, since: str | None) -> Sequence[Stage]:
    """Return the stages that are named, or that differ from a commit; all where neither is said."""
    from grader.authoring.verify import is_none, touched

    if names and since:
        raise UsageError("--since selects the stages, and some are named too", "Leave one of them out.")
    if since:
        if is_none(since):
            say("--since is all zeros, as on the first push of a branch: every stage is proven.")
        return touched(course, since)
    return tuple(dict.fromkeys(map(course.find, names))) if names else course.stages


def _tell(proofs: list[StageProof], found: list[Naming], seeds: int, as_json: bool) -> None:
    if as_json:
        document = verification.proof_document(proofs, seeds, __version__)
        screen.write(dumps(document | ({"naming": [*map(verification.naming_document, found)]} if found else {})))
    else:
        screen.show(verification.proof_lines(proofs, screen.look()) if proofs else [])
        screen.show(verification.naming_lines(found, screen.look()) if found else [])
        screen.say(verification.summary(proofs))


@app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A number and a topic: s26_normalizing_flows.")],
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="By default the topic.")] = None,
    requires: Annotated[
        list[str] | None,
        typer.Option("--requires", metavar="STAGE", help="A stage that comes before; may be repeated."),
    ] = None,
) -> None:
    """Make a stage around one example criterion."""
    from grader.authoring.new import new_stage

    found = load_course(find_course_root(Path.cwd()))
    files = new_stage(found, name, title, tuple(requires or ()))
    write("\n".join(file.relative_to(found.root).as_posix() for file in files))
    number = name.partition("_")[0]
    say(
        "Replace the example criterion in each, and add the stage to stages/README.md.",
        f"`grader course stub {number}` makes the stub, `grader course verify {number} --mutants` proves the tests.",
    )


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or an empty folder.")],
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="By default the folder's name.")] = None,
) -> None:
    """Make a new course: settings, an example stage, CI."""
    from grader.authoring.new import new_course

    files = new_course(folder, title)
    write("\n".join(file.relative_to(folder).as_posix() for file in files))
    say(
        f"A course of one stage lies in {folder}. Change to that folder; [tool.grader] in pyproject.toml describes it.",
        "`grader course verify --mutants` proves the stage, `grader course new s02_topic` adds one.",
    )


@app.command()
def stub(
    stage: AnyStage = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 if a file is not up to date.")] = False,
) -> None:
    """Make the stubs of stages from their solutions.

    Without STAGE it makes every one. It also writes how long the steps of the READMEs take.
    """
    from grader.authoring.claims import timed_readme
    from grader.course.answers import stub_source

    found = load_course(find_course_root(Path.cwd()))
    stages = found.stages if stage is None else (found.find(stage),)
    wanted = [(each.module_path, stub_source(each)) for each in stages]
    wanted += [(each.readme_path, timed_readme(each)) for each in stages if each.readme_path.exists()]
    stale = list(_stale(wanted))
    for path, text in stale:
        place = path.relative_to(found.root).as_posix()
        if check:
            say(f"{place} differs from what the solution makes of it", "`grader course stub` writes it.")
        else:
            is_old = path.suffix == ".py" and path.exists()  # of a README, other lines stay as they are
            kept = backup(found.root, path, datetime.now(UTC)).relative_to(found.root) if is_old else None
            write_atomically(path, text)
            write(f"wrote {place}" + (f"; the old file is kept in {kept.as_posix()}" if kept else ""))
    raise typer.Exit(1 if check and stale else 0)


def _stale(wanted: Iterable[tuple[Path, str]]) -> Iterable[tuple[Path, str]]:
    for path, text in wanted:
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            yield path, text
