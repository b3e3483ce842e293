"""What the commands of `grader class` say in the same words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.gradebook.setting import Tally

SHOWN = 10  # names in a message
REASONS = 3  # why the grader failed, the commonest first


def some(names: Sequence[str]) -> str:
    """Return the first names of many, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def tell_faults(faults: Sequence[tuple[str, str]], effect: str, hint: str | None = None) -> None:
    """Say for whom the grader failed, what that means, and the commonest reasons; faults are students and reasons."""
    from grader.report.terminal.screen import look, say

    say(f"The grader failed for {some(list(dict.fromkeys(name for name, _ in faults)))}: {effect}", hint)
    reasons = Counter(why for _, why in faults)
    for why, _ in reasons.most_common(REASONS):
        names = list(dict.fromkeys(name for name, each in faults if each == why))
        say(look().clean(f"{some(names)}: {why}"))
    if len(reasons) > REASONS:
        say(f"and {len(reasons) - REASONS} more reasons")


def tell_waiting(tally: Tally, hint: str | None = None) -> None:
    """Say who waits for which earlier stages, and what lets them be graded."""
    from grader.report.terminal.screen import say

    stages = sorted({stage for each in tally.waiting.values() for stage in each})
    named = " ".join(f"--stage {stage}" for stage in stages)
    usual = (
        f"They have no mark, and no zero. `grader class grade SUBMISSIONS {named} --stage {tally.stage}` grades the "
        "earlier modules too; `lend` in class.toml says when a reference serves instead."
    )
    say(f"{tally.stage} waits for {' and '.join(stages)} of {some(list(tally.waiting))}.", hint or usual)


def tell_ignored(names: Sequence[str]) -> None:
    """Say which entries of a folder belong to no student."""
    from grader.report.terminal.screen import say
    from grader.submission.names import shown

    if names:
        belong = "it belongs" if len(names) == 1 else "they belong"
        say(f"Ignored, because {belong} to no student: {some([shown(each) for each in names])}.")
