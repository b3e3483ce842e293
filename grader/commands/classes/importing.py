"""`grader class import`: takes in verdicts that CI, Gradescope or another machine reached."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.commands.classes.class_options import Folder, PolicyFile, Rosters, Stages, course_and_policy
from grader.commands.classes.messages import SHOWN, some, tell_faults, tell_mixed
from grader.commands.options import Json, RequireIsolation
from grader.errors import UsageError
from grader.report.document import dumps
from grader.report.terminal.screen import say, write

if TYPE_CHECKING:
    from grader.classroom.collecting import Collected

EXPECTED = "Expected verdict.json files, results.json of Gradescope, or its export of submissions."


def take_in_verdicts(
    places: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Folders of verdicts, as CI leaves them, or an export of Gradescope."),
    ],
    out: Folder,
    stage: Stages = None,
    roster: Rosters = None,
    policy: PolicyFile = None,
    require_isolation: RequireIsolation = "landlock",
    public_key: Annotated[
        Path | None, typer.Option("--public-key", metavar="KEY", help="Take only verdicts with a genuine receipt.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be taken in; write nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Take in verdicts of CI, Gradescope and others.

    They count under the same class.toml as all others. Who is in the roster and has no verdict is `missing`, as after
    `grade`. A student who has a result for the same text keeps it. Exit codes: 0 all is taken in; 4 some files are
    refused, or the grader failed for some, who are named.
    """
    from grader.classroom.collecting import Collected, collect, found_in, is_vouched, receipts_in
    from grader.gradebook.class_run import RunOptions, locked, roster_of
    from grader.gradebook.roster import described
    from grader.gradebook.store import Gradebook
    from grader.isolation.tiers import TIERS

    course, rules = course_and_policy(out, policy)
    members = roster_of(RunOptions(out, roster=tuple(roster or ())), rules.zone)
    wanted = tuple(course.find(name) for name in stage) if stage else course.stages
    tiers = TIERS[: TIERS.index(require_isolation) + 1] if require_isolation in TIERS else TIERS
    read = [found_in(place, wanted, tiers, rules.zone) for place in places]
    found = [each for taken, _ in read for each in taken]
    refused = tuple(why for _, refusals in read for why in refusals)
    unproven: list[str] = []
    if public_key is not None:
        from grader.classroom.receipt import read_public_key

        receipts = receipts_in(places, read_public_key(public_key))
        unproven = [f"{each.student} {each.result.stage.id}" for each in found if not is_vouched(each, receipts)]
        found = [each for each in found if is_vouched(each, receipts)]
    if not found and not refused and not unproven:
        raise UsageError(f"no verdict is in {some([str(place) for place in places])}", EXPECTED)
    members = described(members, filter(None, (each.member for each in found)))
    done = Collected(refused=refused, lacking_receipts=tuple(unproven))
    if not dry_run and found:
        here = tuple(each for each in wanted if stage or any(one.result.stage.id == each.id for one in found))
        with locked(out), Gradebook.open(out, create=True) as book:
            book.decide_by(rules.passes(course.stages))
            kept = collect(book, rules, found, members, here, datetime.now(UTC))
            if not book.passes_kept():
                with book.changing():
                    book.keep_passes(rules.passes(course.stages))
        done = replace(kept, refused=refused, lacking_receipts=tuple(unproven))
    _tell(done, len(found), dry_run, as_json)
    if not dry_run and found:
        tell_mixed(out)
    raise typer.Exit(4 if refused or unproven or done.faults else 0)


def _tell(done: Collected, found: int, dry_run: bool, as_json: bool) -> None:
    if as_json:
        write(dumps({"schema": 1, "found": found, **asdict(done)}))
    else:
        told = f"{found} would be taken in" if dry_run else f"{done.new} taken in, {done.known} known before"
        unproven = f", {len(done.lacking_receipts)} without a receipt" if done.lacking_receipts else ""
        write(f"{told}, {done.missing} missing, {len(done.refused)} refused{unproven}")
    if done.strangers:
        say(f"The roster does not know {some(done.strangers)}: `grader class merge` joins a name to another.")
    if done.faults:
        tell_faults(done.faults, "no mark comes from that.")
    for why in done.refused[:SHOWN]:
        say(f"refused: {why}")
    for whose in done.lacking_receipts[:SHOWN]:
        say(f"without a receipt: {whose}")
