"""Where the step of each row stands on a stage's page: what a row of the checklist links to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader.course.stage import Stage
from grader.progress.steps import steps_of
from grader.web.reading.markdown import step_names


@dataclass(frozen=True)
class StepLink:
    """A step of a README: its number, and the name of its heading on the page."""

    number: int
    anchor: str


def step_links(stage: Stage, text: str) -> dict[str, StepLink]:
    """Return the step of each row, by the row's id; rows that stand in no step of the README have none."""
    names = step_names(text)
    return {
        row: StepLink(step.number, names[step.number])
        for step in steps_of(stage, text)
        if step.number in names
        for row in step.rows
    }


class Steps:
    """Finds the steps of one stage after another, and reads a page again once it was saved."""

    def __init__(self) -> None:
        self._known: tuple[str, int] | None = None  # the stage, and when its page was saved
        self._links: Mapping[str, StepLink] = {}

    def of(self, stage: Stage) -> Mapping[str, StepLink]:
        """Return the steps of a stage's rows; none where its page cannot be read, which the page itself says."""
        try:
            known = (stage.id, stage.readme_path.stat().st_mtime_ns)
            if known != self._known:
                self._links = step_links(stage, stage.readme_path.read_text(encoding="utf-8"))
                self._known = known
        except (OSError, UnicodeDecodeError):
            self._known, self._links = None, {}
        return self._links
