"""`grader class similar`: compare a class, list the pairs that share unusually much, and write them side by side."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.commands.classes.telling import some, tell_ignored
from grader.commands.options import stage_names
from grader.errors import GraderError, UsageError

if TYPE_CHECKING:
    from grader.course.stage import Stage
    from grader.similarity.compare import Comparison, Text
    from grader.similarity.gather import HandedIn

NOTED = 10
MANY = 100  # take a while


Submissions = Annotated[
    Path, typer.Argument(metavar="SUBMISSIONS", help="A folder with an entry for each student, or a CSV list.")
]
Whose = Annotated[
    str, typer.Option("--stage", metavar="STAGE", help="Whose modules to compare.", autocompletion=stage_names)
]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write the pairs side by side as HTML (extra `class`).")
]
Least = Annotated[
    int, typer.Option("--least", min=1, max=100, metavar="PERCENT", help="The share from which a pair is listed.")
]
Most = Annotated[int, typer.Option("--most", min=1, max=1000, metavar="N", help="List at most so many pairs.")]


def similar(submissions: Submissions, stage: Whose, out: Out = None, least: Least = 30, most: Most = 100) -> None:
    """List the pairs of submissions that share unusually much. Nothing is graded by it.

    Names, numbers, comments and layout make no difference. What the stub, the README and the course's own solutions
    hold does not count, nor does what more than a quarter of the class wrote, where copies count as one; of the rest
    the rarer counts more. A share is a reason to look, and no finding.
    """
    if find_spec("grader.similarity") is None:
        raise UsageError("a learner's copy compares no submissions", "Use the author's copy, or an installed grader.")
    from datetime import UTC

    from grader.commands.publishing import expect_writable, put
    from grader.gradebook.intake.listing import listing
    from grader.progress.actions import open_workspace
    from grader.report.terminal.screen import say
    from grader.similarity.gather import handed_in
    from grader.similarity.page import page

    course = open_workspace(Path.cwd()).course
    target = course.find(stage)
    if out is not None:
        expect_writable(out)
    listed = listing(submissions, UTC)
    found = handed_in(listed.arrivals, target, course.root)
    lacking = [each for each in found if each.why]
    if len(found) > MANY:
        say(f"Comparing {len(found)} submissions.")
    readable = [each for each in found if not each.why]
    if len(readable) < 2:
        _note([], lacking, None)
        tell_ignored(listed.ignored)
    comparison = _compared(target, readable, submissions, least, most)
    if out is not None:
        put(out, page(comparison, lacking, f"{target.id} · {target.title}", least / 100))
    _tell(comparison, least)
    _note(comparison.texts, lacking, out)
    tell_ignored(listed.ignored)
    if out is not None:
        say(f"The pairs stand side by side in {out}.")


def _note(texts: Sequence[Text], lacking: list[HandedIn], out: Path | None) -> None:
    """Say what was not compared, or not as usual."""
    from grader.report.terminal.screen import say
    from grader.similarity.page import shown

    notes = [(each.student, f"was not compared: {each.why}") for each in lacking]
    notes += [(each.name, each.tokens.note) for each in texts if each.tokens.note]
    for name, note in notes[:NOTED]:
        say(f"{shown(name)} {shown(note)}.", style="yellow")
    if len(notes) > NOTED:
        say(f"and {len(notes) - NOTED} more notes{'' if out is None else f', which are in {out}'}", style="yellow")


def _compared(stage: Stage, found: list[HandedIn], folder: Path, least: int, most: int) -> Comparison:
    from grader.course.answers import stub_source
    from grader.similarity.compare import compared, given, text
    from grader.similarity.gather import examples

    if len(found) < 2:
        what = f"{folder} holds {len(found)} submission{'s' if len(found) != 1 else ''} with {stage.module}"
        raise UsageError(what, "Expected two or more: a file, a folder or an archive for each student.")
    stub = given(stub_source(stage), *examples(stage))
    texts = [text(each.student, each.source, stub) for each in found]
    return compared(texts, _own(stage, stub), least / 100, most)


def _own(stage: Stage, stub: frozenset[int]) -> list[Text]:
    """Return the course's own solutions, which show what is usual; none where they are sealed and there is no key."""
    from grader.course.answers import alternative_sources, reference_source
    from grader.similarity.compare import text

    try:
        sources = [reference_source(stage), *alternative_sources(stage).values()]
    except GraderError:
        return []
    return [text("", source.encode(), stub) for source in sources]


def _tell(comparison: Comparison, least: int) -> None:
    """Print a line for each pair."""
    from grader.report.terminal.screen import say, write
    from grader.similarity.page import shown

    for pair in comparison.pairs:
        shares = f"{int(100 * pair.of_left):>3} % {int(100 * pair.of_right):>3} %"
        write(f"{shares}  {shown(pair.left.name)}  {shown(pair.right.name)}")
    many = f"{comparison.count} pair{'s share' if comparison.count != 1 else ' shares'}"
    cut = f"; the first {len(comparison.pairs)} are listed" if comparison.count > len(comparison.pairs) else ""
    say(
        f"{len(comparison.texts)} submissions were compared; {many} {least} % or more{cut}.",
        "A share is a reason to look, and no finding." if comparison.pairs else None,
    )
    if comparison.usual:
        say(
            f"More than three quarters of what {some(list(map(shown, comparison.usual)))} wrote does not count: "
            "the course's own solutions hold that, too, or more than a quarter of the class wrote it, as is usual of a "
            "short stage.",
            style="yellow",
        )
