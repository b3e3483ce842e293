"""`grader class grade` and `grader class regrade`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.commands.classes.marks import write_table
from grader.commands.options import Isolation, Json, KeyFile, RequireIsolation, stage_names
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.course.stage import Course, Stage
    from grader.gradebook.regrade import Difference
    from grader.gradebook.setting import Tally, Told

GRADED, FAULTS = 0, 4
SHOWN = 10  # names in a message
Stages = Annotated[
    list[str] | None,
    typer.Option("--stage", metavar="STAGE", help="A stage; may be repeated.", autocompletion=stage_names),
]
Folder = Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder of the gradebook.")]
PolicyFile = Annotated[
    Path | None,
    typer.Option("--policy", metavar="FILE", help="Points and deadlines; by default DIR/class.toml, if it exists."),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", metavar="N", min=1, max=256, help="Gradings that compute at once; by default one a core."),
]
Cluster = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS", help="Grade on a Dask cluster (extra `cluster`), as tcp://HOST:PORT."),
]


def grade(
    submissions: Annotated[
        Path, typer.Argument(metavar="SUBMISSIONS", help="A folder with an entry for each student, or a CSV list.")
    ],
    out: Folder,
    stage: Stages = None,
    policy: PolicyFile = None,
    jobs: Jobs = None,
    cluster: Cluster = None,
    isolation: Isolation = "auto",
    require_isolation: RequireIsolation = "landlock",
    key_file: KeyFile = None,
    as_json: Json = False,
) -> None:
    """Grade what a class handed in.

    Marks go into DIR/gradebook.sqlite. What has a result is not graded again, so a run that was stopped goes on where
    it was. Exit codes: 0 all is graded, whatever the marks; 4 the grader failed for some; 130 stopped.
    """
    from grader.gradebook.session import Wishes
    from grader.gradebook.whole import grade as grade_all
    from grader.report.terminal.words import count

    course, stages = _course(stage, key_file)
    wishes = Wishes(out, policy, isolation, require_isolation, jobs, cluster)
    with _progress() as told:
        done = grade_all(course, stages, submissions, wishes, told)
    if as_json:
        write_table(out, "json")
    _tell(done.tallies, as_json)
    if any(each.lacking for each in done.tallies):
        _say(f"`grader class export --format json --out {out}` says why there was nothing to grade.")
    if done.strangers:
        named = _some(list(done.strangers))
        _say(f"warning: class.toml extends deadlines of {named}, who handed in nothing under that name.")
    if done.outdated:
        named = " ".join(f"--stage {each.id}" for each in stages)
        shown = f"`grader class regrade {named} --out {out}` shows them."
        _say(f"{count(done.outdated, 'mark')} would differ with the class.toml of now. {shown}")
    raise typer.Exit(FAULTS if any(each.faults for each in done.tallies) else GRADED)


def regrade(
    out: Folder,
    stage: Stages = None,
    policy: PolicyFile = None,
    jobs: Jobs = None,
    cluster: Cluster = None,
    isolation: Isolation = "auto",
    require_isolation: RequireIsolation = "landlock",
    key_file: KeyFile = None,
    apply: Annotated[bool, typer.Option("--apply", help="Change the marks; without it nothing changes.")] = False,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; the history keeps it.")] = "regraded",
) -> None:
    """Grade again, and show whose marks change.

    The course and class.toml are those of now. Each change is shown with its size and its reason, and nothing is
    changed without --apply; points that were given by hand stay. Exit codes: 0 done; 4 the grader failed for some,
    whose marks stay; 130 stopped.
    """
    from grader.gradebook.session import Wishes
    from grader.gradebook.whole import regrade as regrade_all

    if not reason.strip():
        raise UsageError("--reason is empty", "Say why the marks change.")
    course, stages = _course(stage, key_file)
    wishes = Wishes(out, policy, isolation, require_isolation, jobs, cluster)
    with _progress() as told:
        done = regrade_all(course, stages, wishes, told, reason if apply else None)
    _tell_differences(done.differences, apply)
    if failed := [name for tally in done.tallies for name in tally.faults]:
        _say(f"The grader failed for {_some(failed)}: their marks stay as they are.")
        raise typer.Exit(FAULTS)


def _tell_differences(found: tuple[Difference, ...], applied: bool) -> None:
    from grader.report.terminal.screen import look, write
    from grader.report.terminal.words import count

    arrow = look().clean("→")
    for each in found:
        before = f"{each.before.points:g}" if each.before else "none"
        kept = f" (given by hand: {each.override:g}, which stays)" if each.override is not None else ""
        change = each.after.points - (each.before.points if each.before else 0.0)
        line = f"{each.student} {each.stage}: {before} {arrow} {each.after.points:g} of {each.after.out_of:g}"
        line += f" ({change:+g}){kept}: {each.why}"
        write(look().clean(line))
    if not found:
        _say("No mark changes.")
    elif applied:
        _say(f"Changed {count(len(found), 'mark')}; the history keeps what they were.")
    else:
        _say(
            f"{count(len(found), 'mark')} would change. Nothing is changed yet.",
            "The same command with --apply changes them.",
        )


def _course(names: list[str] | None, key_file: Path | None) -> tuple[Course, tuple[Stage, ...]]:
    """Return the course and the stages that were named, each once, in the order of the course."""
    from grader.progress.actions import open_workspace

    course = open_workspace(Path.cwd(), key_file).course
    if not names:
        raise UsageError("no stage is named", f"Name one or several, as in --stage {course.stages[0].id}.")
    ids = {course.find(name).id for name in names}
    return course, tuple(stage for stage in course.stages if stage.id in ids)


@contextmanager
def _progress() -> Iterator[Told]:
    """Show how far a run is; where it is stopped, say what is kept."""
    import sys
    import time

    from grader.report.terminal.screen import counting

    started: dict[str, float] = {}
    last: list[Tally] = []
    try:
        with counting() as count:

            def told(tally: Tally) -> None:
                begun = started.setdefault(tally.stage, time.monotonic())
                last[:] = [tally]
                count(tally.done, tally.total, tally.words(time.monotonic() - begun, not sys.stderr.isatty()))

            yield told
    except KeyboardInterrupt:
        kept = f"{last[0].stage}: {last[0].done} of {last[0].total} have a result. " if last else ""
        _say(f"Stopped. {kept}The same command goes on from here.")
        raise


def _tell(tallies: tuple[Tally, ...], quietly: bool) -> None:
    from grader.report.terminal.screen import write

    for tally in tallies:
        line = f"{tally.stage}: {tally.summary}"
        if quietly:
            _say(line)
        else:
            write(line)
        if tally.lacking:
            _say(f"{tally.stage}: nothing to grade from {_some(tally.lacking)}.")
        if tally.faults:
            _say(
                f"The grader failed for {_some(tally.faults)}: no mark comes from that.",
                "The same command tries again; `grader class history` tells more.",
            )


def _some(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _say(message: str, hint: str | None = None) -> None:
    from grader.report.terminal.screen import say

    say(message, hint)
