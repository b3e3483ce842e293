"""`grader class similar`: compares a class, names copies of the course's own solutions, and lists similar pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.commands.classes.class_options import Submissions
from grader.commands.classes.messages import some, tell_ignored
from grader.commands.options import Json, stage_names
from grader.errors import GraderError, UsageError
from grader.progress.workspace import open_workspace
from grader.report.terminal.screen import say, write
from grader.report.terminal.words import count

if TYPE_CHECKING:
    from grader.course.stage import Stage
    from grader.similarity.compare import Comparison, SimilarPair, SubmittedModule, Text

NOTED = 10
MANY = 100  # take a while
WORD_FOR_WORD, DISGUISED = "nearly word for word", "with other names or layout"


Whose = Annotated[
    str, typer.Option("--stage", metavar="STAGE", help="Whose modules to compare.", autocompletion=stage_names)
]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write the pairs side by side as HTML (extra `class`).")
]
Least = Annotated[
    int, typer.Option("--least", min=1, max=100, metavar="PERCENT", help="The share from which a pair is listed.")
]
Archives = Annotated[
    list[Path] | None,
    typer.Option("--archive", metavar="DIR", help="Submissions, or a gradebook, of an earlier year; may be repeated."),
]
Roster = Annotated[
    list[Path] | None,
    typer.Option(
        "--roster",
        metavar="FILE",
        help="Who is in the class, as class.csv: pairs of one team are left out, sections told; may be repeated.",
    ),
]
Most = Annotated[int, typer.Option("--most", min=1, max=1000, metavar="N", help="List at most so many pairs.")]


def similar(
    submissions: Submissions,
    stage: Whose,
    out: Out = None,
    least: Least = 30,
    most: Most = 100,
    archive: Archives = None,
    roster: Roster = None,
    as_json: Json = False,
) -> None:
    """List copies of the solution, and alike submissions.

    Nothing is graded by it.

    Names, numbers, comments, layout and code that does nothing make no difference. In pairs, what the stub, the README
    and the course's own solutions hold does not count, nor does what more than a quarter of the class wrote, where
    copies count as one; of the rest the rarer counts more. A share is a reason to look, and no finding.
    """
    _expect_package()

    from grader.commands.publishing import expect_writable
    from grader.gradebook.roster import read_rosters
    from grader.gradebook.submissions import listing
    from grader.similarity.compare import archived, handed_in

    course = open_workspace(Path.cwd()).course
    target = course.find(stage)
    if out is not None:
        expect_writable(out)
    members = read_rosters(roster or (), UTC)
    listed = listing(submissions, UTC, members)
    found = handed_in(listed.arrivals, target, course.root, members)
    lacking = [each for each in found if each.why]
    if len(found) > MANY:
        say(f"Comparing {len(found)} submissions.")
    readable = [each for each in found if not each.why]
    if not readable:
        _note([], lacking, None)
        tell_ignored(listed.ignored)
    old = [each for folder in archive or () for each in archived(folder, target, course.root, UTC)]
    comparison = _compared(target, readable, submissions, least, most, [each for each in old if not each.why])
    if out is not None:
        _write(out, comparison, lacking, target, least)
    _list(comparison, lacking, target.id, least, as_json)
    _tell(comparison, least)
    _note(comparison.texts, lacking, out)
    tell_ignored(listed.ignored)


def _expect_package() -> None:
    if find_spec("grader.similarity") is None:
        raise UsageError(
            "class similar is not part of a learner's copy", "Use the author's copy, or an installed grader."
        )


def _write(out: Path, comparison: Comparison, lacking: list[SubmittedModule], stage: Stage, least: int) -> None:
    from grader.commands.publishing import put
    from grader.similarity.page import page

    put(out, page(comparison, lacking, f"{stage.id} · {stage.title}", least / 100))
    say(f"{out} shows the submissions side by side.")


def _note(texts: Sequence[Text], lacking: list[SubmittedModule], out: Path | None) -> None:
    """Say what was not compared, or not as usual."""
    from grader.similarity.page import shown

    notes = [(each.student, f"was not compared: {each.why}") for each in lacking]
    notes += [(each.name, note) for each in texts for note in each.notes]
    for name, note in notes[:NOTED]:
        say(f"{shown(name)} {shown(note)}.", style="yellow")
    if len(notes) > NOTED:
        say(f"and {len(notes) - NOTED} more notes{'' if out is None else f', which are in {out}'}", style="yellow")


def _compared(
    stage: Stage, found: list[SubmittedModule], folder: Path, least: int, most: int, old: list[SubmittedModule]
) -> Comparison:
    from grader.course.answers import stub_source
    from grader.similarity.compare import compared, examples, given, text

    expected = "Expected two or more, or one and the course's own solutions: a file, a folder or an archive each."
    if not found:
        raise UsageError(f"{folder} holds 0 submissions with {stage.module}", expected)
    stub = given(stub_source(stage), *examples(stage))
    texts = [replace(text(each.student, each.source, stub), team=each.team, sections=each.sections) for each in found]
    own = _own(stage, stub)
    earlier = [text(each.student, each.source, stub) for each in old]
    if len(found) == 1 and not own and not earlier:
        raise UsageError(f"{folder} holds 1 submission with {stage.module}", expected)
    return compared(texts, own, least / 100, most, earlier)


def _own(stage: Stage, stub: frozenset[int]) -> list[Text]:
    """Return the course's own solutions, each under its file's name; none where they are sealed and there is no key."""
    from grader.course.answers import ALTERNATIVES, alternative_sources, reference_source
    from grader.similarity.compare import text

    try:
        sources = {"solution.py": reference_source(stage)}
        sources |= {f"{ALTERNATIVES}{name}.py": source for name, source in alternative_sources(stage).items()}
    except GraderError as error:
        what = f"{error.message}: nobody was compared with the course's own solutions."
        say(what, "Name the file of the key in GRADER_KEY_FILE.", style="yellow")
        return []
    return [text(name, source.encode(), stub) for name, source in sources.items()]


def _list(comparison: Comparison, lacking: list[SubmittedModule], stage: str, least: int, as_json: bool) -> None:
    """Print the document, or a line for each copy of an own solution and for each pair."""
    from grader.similarity.page import shown

    if as_json:
        from grader.similarity.page import as_json as document

        write(document(comparison, lacking, stage, least / 100))
        return
    for pair in comparison.copies:
        write(f"{_shares(pair)}  {shown(pair.left.name)}  {pair.right.name}")
        write(f"    handed in the course's own solution, {WORD_FOR_WORD if pair.word_for_word else DISGUISED}")
    for pair in comparison.pairs:
        write(f"{_shares(pair)}  {shown(pair.left.name)}  {shown(pair.right.name)}")
        if pair.sections:
            write(f"    of two sections: {shown(pair.sections[0])} and {shown(pair.sections[1])}")


def _shares(pair: SimilarPair) -> str:
    return f"{int(100 * pair.of_left):>3} % {int(100 * pair.of_right):>3} %"


def _tell(comparison: Comparison, least: int) -> None:
    """Say how many there are, and what counts nothing."""
    from grader.similarity.page import shown

    submissions = count(len(comparison.texts), "submission")
    if copies := len(comparison.copies):
        are = "is" if copies == 1 else "are"
        same = sum(pair.word_for_word for pair in comparison.copies)
        how = WORD_FOR_WORD if same == copies else f"{same} {WORD_FOR_WORD}" if same else DISGUISED
        say(
            f"{copies} of {submissions} {are} the course's own solution, {how}. "
            "Pairs of such submissions are not listed.",
            style="yellow",
        )
    were = "was" if len(comparison.texts) == 1 else "were"
    many = f"{comparison.count} pair{'s share' if comparison.count != 1 else ' shares'}"
    cut = f"; the first {len(comparison.pairs)} are listed" if comparison.count > len(comparison.pairs) else ""
    say(
        f"{submissions} {were} compared; {many} {least} % or more{cut}.",
        "A share is a reason to look, and no finding." if comparison.pairs or comparison.copies else None,
    )
    if comparison.of_teams:
        say(f"Not listed: {count(comparison.of_teams, 'pair')} of one team.")
    if comparison.usual:
        say(
            f"More than three quarters of what {some(list(map(shown, comparison.usual)))} wrote does not count: "
            "the course's own solutions hold that, too, or more than a quarter of the class wrote it, as is usual of a "
            "short stage.",
            style="yellow",
        )
