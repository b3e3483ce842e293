"""`grader class grade` and `grader class regrade`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Set
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from grader import shell
from grader.commands.classes.class_options import (
    Accept,
    Cluster,
    Folder,
    Jobs,
    PolicyFile,
    Proceed,
    Rosters,
    Stages,
    Submissions,
    kept_stages,
    named_stages,
)
from grader.commands.classes.intake import show_intake, tell_alarms, tell_doubts
from grader.commands.classes.marks import write_table
from grader.commands.classes.messages import reasons, some, tell, tell_faults, tell_ignored, tell_mixed, tell_waiting
from grader.commands.options import Isolation, Json, KeyFile, RequireIsolation
from grader.errors import SystematicFault, UsageError
from grader.report.terminal.screen import counting, say, write
from grader.report.terminal.words import count

if TYPE_CHECKING:
    from pathlib import Path

    from grader.gradebook.class_run import OnProgress, Tally
    from grader.gradebook.grade_class import RunOutcome
    from grader.gradebook.intake import Alarm, Intake
    from grader.gradebook.marks import MarkChange

GRADED, SYSTEMATIC, FAULTS = 0, 3, 4


def grade(
    submissions: Submissions,
    out: Folder,
    stage: Stages = None,
    policy: PolicyFile = None,
    jobs: Jobs = None,
    cluster: Cluster = None,
    isolation: Isolation = "auto",
    require_isolation: RequireIsolation = "landlock",
    key_file: KeyFile = None,
    roster: Rosters = None,
    accept: Accept = False,
    proceed: Proceed = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what `intake` shows; grade nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Grade what a class handed in.

    Says first what is in doubt, as `intake` does, and stops where one reason would cost more than a tenth of the class
    its marks. Marks go into DIR/gradebook.sqlite. What has a result is not graded again, so a run that was stopped goes
    on where it was. What waits for an earlier stage is tried again by every run. Exit codes: 0 all is graded or waits,
    whatever the marks, and nothing systematic is wrong; 3 one reason concerns more than a tenth of the class; 4 the
    grader failed for some; 130 stopped.
    """
    from grader.gradebook.class_run import RunOptions
    from grader.gradebook.grade_class import grade as grade_all

    course, stages = named_stages(stage, key_file)
    options = RunOptions(out, policy, tuple(roster or ()), isolation, require_isolation, jobs, cluster)
    if dry_run:
        show_intake(course, stages, submissions, options, accept, as_json)
    alarms: list[Alarm] = []

    def arrived(intake: Intake) -> None:
        alarms.extend(intake.alarms)
        tell_doubts(intake)
        if intake.alarms:
            tell_alarms(intake.alarms)
            say("Goes on, because of --proceed." if proceed else "With --proceed it is graded as it is.")

    try:
        with shown_progress() as told:
            done = grade_all(
                course, stages, submissions, options, told, accept=accept, proceed=proceed, arrived=arrived
            )
    except SystematicFault as fault:
        if not alarms:  # it showed while modules were imported
            say(f"One reason concerns more than a tenth of the class: {fault.message}.", fault.hint)
            say("What was graded is kept. With --proceed the rest is graded as it is.")
        raise typer.Exit(fault.exit_code) from fault
    if as_json:
        write_table(out, "json")
    command = f"grader class grade {shell.quoted(str(submissions))} {{}} --out {shell.quoted(str(out))}"
    _tell(done, as_json, [each.id for each in stages], command, out)
    if later := [each for each in done.systematic if each not in alarms]:
        tell_alarms(later)
    tell_ignored(done.ignored)
    if any(each.lacking for each in done.tallies):
        say(f"`grader class export --format json --out {out}` says why there was nothing to grade.")
    if done.strangers:
        named = some(list(done.strangers))
        say(f"warning: class.toml extends deadlines of {named}, who handed in nothing under that name.")
    if done.outdated:
        named = " ".join(f"--stage {each.id}" for each in stages)
        shown = f"`grader class regrade {named} --out {out}` shows them."
        say(f"{count(done.outdated, 'mark')} would differ with the class.toml of now. {shown}")
    tell_mixed(out)
    if any(each.faults for each in done.tallies):
        raise typer.Exit(FAULTS)
    raise typer.Exit(SYSTEMATIC if done.systematic else GRADED)


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
    student: Annotated[
        list[str] | None, typer.Option("--student", metavar="STUDENT", help="Only this student; may be repeated.")
    ] = None,
) -> None:
    """Grade again, and show whose marks change.

    Without --stage, all stages that the gradebook has results of. The course and class.toml are those of now. Each
    change is shown with its size and its reason, and nothing is changed without --apply; points that were given by hand
    stay. Exit codes: 0 done; 4 the grader failed for some, whose marks stay; 130 stopped.
    """
    from grader.gradebook.class_run import RunOptions
    from grader.gradebook.regrade import regrade as regrade_all

    if not reason.strip():
        raise UsageError("--reason is empty", "Say why the marks change.")
    course, stages = kept_stages(stage, out, key_file)
    options = RunOptions(out, policy, (), isolation, require_isolation, jobs, cluster)
    with shown_progress() as told:
        why = reason if apply else None
        tallies, changes = regrade_all(course, stages, options, told, why, tuple(student or ()))
    failing = {(name, tally.stage) for tally in tallies for name, _ in tally.faults}
    _tell_differences(changes, apply, failing)
    whose = f" by {some(student)}" if student else ""
    for tally in tallies:
        if not tally.total:
            say(f"{tally.stage}: nothing to grade again; the gradebook holds no submission of it{whose}.")
        if tally.waiting:
            tell_waiting(tally, ["The marks that they have stay as they are."])
        if tally.without_text:
            named = some(list(dict.fromkeys(tally.without_text)))
            hint = "`grader class import` keeps a module that lies beside its verdict."
            say(f"{tally.stage}: the gradebook does not hold the module of {named}: their marks stay.", hint)
    if failed := [fault for tally in tallies for fault in tally.faults]:
        tell_faults(failed, "their marks stay as they are.")
        raise typer.Exit(FAULTS)


def _tell_differences(found: tuple[MarkChange, ...], applied: bool, failing: Set[tuple[str, str]]) -> None:
    """Say what changes; failing are the marks that stay because the grader failed, of which another line tells."""
    found = tuple(each for each in found if (each.student, each.stage) not in failing)
    worth = [each for each in found if each.changes_points]
    rest = [each for each in found if not each.changes_points]
    for each in worth:
        before = f"{each.before.points:g}" if each.before else "none"
        change = each.after.points - (each.before.points if each.before else 0.0)
        kept = f" (given by hand: {each.override:g}, which stays)" if each.override is not None else ""
        points = f"{before} → {each.after.points:g} of {each.after.out_of:g} ({change:+g})"
        tell(f"{each.student} {each.stage}: {points}{kept}: {each.why}")
    for each in rest:
        points = f"{each.after.points:g} of {each.after.out_of:g}, the points stay"
        tell(f"{each.student} {each.stage}: {points}: {each.why}")
    others = " of the others" if failing else ""
    if not worth:
        say(f"No points{others} change.")
    elif applied:
        say(f"Changed the points of {count(len(worth), 'mark')}; the history keeps what they were.")
    else:
        say(f"The points of {count(len(worth), 'mark')} would change. Nothing is changed yet.")
    if rest:
        say(f"Of {count(len(rest), 'mark')} with the same points, something else {'changed' if applied else 'would'}.")
    if found and not applied:
        say("The same command with --apply changes them.")


@contextmanager
def shown_progress() -> Iterator[OnProgress]:
    """Show how far a run is, once it grades; where it is stopped, say what is kept."""
    started: dict[str, float] = {}
    last: list[Tally] = []
    ticks: list[Callable[[int, int, str], None]] = []
    try:
        with ExitStack() as bar:

            def told(tally: Tally) -> None:
                begun = started.setdefault(tally.stage, time.monotonic())
                last[:] = [tally]
                if not ticks:  # what is said of what arrived comes before it, on lines of its own
                    ticks.append(bar.enter_context(counting()))
                ticks[0](tally.done, tally.total, tally.words(time.monotonic() - begun, not sys.stderr.isatty()))

            yield told
    except KeyboardInterrupt:
        kept = f"{last[0].stage}: {last[0].done} of {last[0].total} have a result. " if last else ""
        say(f"{kept}The same command goes on from here.")
        raise


def _tell(done: RunOutcome, quietly: bool, ran: list[str], command: str, out: Path) -> None:
    for tally in done.tallies:
        line = f"{tally.stage}: {tally.summary}"
        if quietly:
            say(line)
        else:
            write(line)
        if tally.lacking:
            say(f"{tally.stage}: nothing to grade from {some(tally.lacking)}.")
        if tally.waiting:
            tell_waiting(tally, [*reasons(tally, ran, command, done.policy)])
        if tally.unreached:
            hint = "Look whether its tests ask for what the stage does not say, before marks go out."
            say(f"{tally.stage}: none of those whose module ran passes {some(tally.unreached)}.", hint)
        if tally.faults:
            again = f"The same command tries again; `grader class history --out {shell.quoted(str(out))}` keeps why."
            tell_faults(tally.faults, "no mark comes from that.", again)
