"""Messages that several commands of `grader class` print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from grader import shell
from grader.course.table import together
from grader.report.terminal.layout import paragraph
from grader.report.terminal.screen import look, say, show, write
from grader.report.terminal.words import count

if TYPE_CHECKING:
    from pathlib import Path

    from grader.errors import Lacking
    from grader.gradebook.class_run import Tally
    from grader.gradebook.marks import Entry
    from grader.gradebook.policy import Policy

SHOWN = 10  # names in a message
REASONS = 3  # why the grader failed, the commonest first
_NUMBER = re.compile(r"0x[0-9a-f]+|-?[0-9][0-9.]*(?:e[+-]?[0-9]+)?")


def some(names: Sequence[str]) -> str:
    """Return the first names of many, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def tell(line: str) -> None:
    """Print a line to stdout: on a terminal broken below the beginning of its words, elsewhere whole."""
    view = look()
    words = view.clean(line).lstrip(" ")
    if view.height is None:
        write(view.clean(line))
    else:
        show(paragraph(words, view, indent=len(line) - len(line.lstrip(" ")), hanging=4))


def tell_faults(faults: Sequence[tuple[str, str]], effect: str, hint: str | None = None) -> None:
    """Say for whom the grader failed, what that means, and the commonest reasons; faults are students and reasons."""
    say(f"The grader failed for {some(list(dict.fromkeys(name for name, _ in faults)))}: {effect}", hint)
    alike: dict[str, list[tuple[str, str]]] = {}  # random inputs give one reason other numbers for each student
    for name, why in faults:
        alike.setdefault(_NUMBER.sub("N", why), []).append((name, why))
    reasons = sorted(alike.values(), key=len, reverse=True)
    for each in reasons[:REASONS]:
        example = f", here for {each[0][0]}" if len({why for _, why in each}) > 1 else ""
        say(look().clean(f"{some(list(dict.fromkeys(name for name, _ in each)))}: {each[0][1]}{example}"))
    if more := len(reasons[REASONS:]):
        say(f"and {count(more, 'more reason')}")


def tell_waiting(tally: Tally, hints: Sequence[str]) -> None:
    """Say who waits for which earlier stages, and what lets them be graded."""
    stages = sorted({each.stage for found in tally.waiting.values() for each in found})
    hint = look().clean(" ".join(["They have no mark, and no zero.", *hints]))
    say(f"{tally.stage} waits for {together(stages)} of {some(list(tally.waiting))}.", hint)


def reasons(tally: Tally, ran: Sequence[str], command: str, policy: Policy) -> Iterator[str]:
    """Yield what lets those be graded who wait: command, with the stages that did not run yet, or who lacks what."""
    stages = sorted({each.stage for found in tally.waiting.values() for each in found})
    if missed := [stage for stage in stages if stage not in ran]:
        named = " ".join(f"--stage {stage}" for stage in [*missed, *ran])
        yield f"`{command.format(named)}` grades the earlier modules too."
    for stage in stages:
        lacking = {name: each for name, found in tally.waiting.items() for each in found if each.stage == stage}
        if stage in ran:
            failing = [name for name, each in lacking.items() if each.is_failing]
            absent = [name for name in lacking if name not in failing]
            yield from [f"The {stage} of {some(failing)} was graded and does not pass."] if failing else []
            yield from [f"No {stage} was submitted by {some(absent)}."] if absent else []
        yield from _lent(stage, lacking, policy)


def _lent(stage: str, lacking: Mapping[str, Lacking], policy: Policy) -> Iterator[str]:
    """Yield from when the reference of a stage serves, or why it never does."""
    moments: dict[datetime | None, list[str]] = {}
    for name, each in lacking.items():
        moments.setdefault(each.since, []).append(name)
    for since, names in moments.items():
        if since is not None:
            yield f"From {since:%Y-%m-%d %H:%M %Z} on the reference of {stage} serves for {some(names)}."
        elif policy.of(stage).lend == "passed":
            yield f'`lend = "passed"` in class.toml lends the reference of {stage} to nobody.'
        else:
            yield (
                f"{stage} has no deadline in class.toml, so its reference is never lent: set one, or "
                f'`lend = "always"` in [stages.{stage}].'
            )


def tell_ignored(names: Sequence[str]) -> None:
    """Say which entries of a folder belong to no student."""
    from grader.submission.files import shown

    if names:
        belong = "it belongs" if len(names) == 1 else "they belong"
        say(f"Ignored, because {belong} to no student: {some([shown(each) for each in names])}.")


def tell_twice(entries: Iterable[Entry]) -> None:
    """Say which students have one number on a platform, so that they are one there: of two marks it keeps one."""
    named: dict[tuple[str, str], dict[str, None]] = {}
    for each in entries:
        for platform in ("Canvas", "Moodle", "Gradescope"):
            if number := getattr(each.member, f"{platform.lower()}_id", ""):
                named.setdefault((platform, number), {})[each.student] = None
    for (platform, number), students in named.items():
        if len(students) > 1:
            told = look().clean(f"{together(students)} are one student in {platform}, number {number}")
            say(f"warning: {told}.", "`grader class merge STUDENT INTO` joins two names of one person.")


def tell_mixed(out: Path) -> None:
    """Say which stages have marks of several versions of the course, of Python or of NumPy, and what evens them out."""
    from grader.gradebook.store import Gradebook

    with Gradebook.open(out) as book:
        mixed = book.mixed()
    for each in mixed:
        command = f"grader class regrade --stage {each.stage} --out {shell.quoted(str(out))}"
        say(f"{each.stage}: marks are of {each.words}.", f"`{command}` shows what one version of all changes.")
