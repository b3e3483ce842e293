"""Pictures of what a learner's own code does, as `grader explore` draws them, for a page that holds them itself."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec

from grader.course.stage import Stage
from grader.errors import GraderError
from grader.explore.example import example
from grader.explore.model import Exploration, Plan
from grader.explore.plans import plans
from grader.explore.session import explore
from grader.progress.actions import Workspace, is_stub
from grader.progress.building import equipped
from grader.submission import take

MOST_BYTES = 3 << 20  # of one picture


@dataclass(frozen=True)
class Picture:
    """One picture: the stage, what is drawn in words, and the picture itself as the address of an image.

    source is empty where there is none, and told says why.
    """

    stage: Stage
    said: str
    source: str
    told: str = ""


def can_draw() -> bool:
    """Say whether pictures can be drawn here."""
    return find_spec("matplotlib") is not None


def drawn(workspace: Workspace, isolation: str, begin: Callable[[Stage], None]) -> Iterator[Picture]:
    """Yield a picture of each stage that draws one and whose module was begun; begin is called before each.

    The module runs in the sandbox, as for `grader explore`.
    """
    known = plans(workspace.course)
    for stage in workspace.course.stages:
        if stage.id not in known or is_stub(stage):
            continue
        begin(stage)
        try:
            found = _explored(workspace, stage, known[stage.id], isolation)
        except GraderError as error:
            yield Picture(stage, "", "", error.message)
            continue
        if (picture := _picture(stage, found)) is not None:
            yield picture


def _explored(workspace: Workspace, stage: Stage, plan: Plan, isolation: str) -> Exploration:
    made = example(plan.prompt or None, None, None) if plan.prompt or plan.of_sentence else None
    course = workspace.course
    snapshot = equipped(course, workspace.store, stage, take(stage, None, course.root), None, {})
    return explore(course, stage, snapshot, made, 0, isolation)


def _picture(stage: Stage, found: Exploration) -> Picture | None:
    """Return what was drawn; None where nothing is written yet that draws anything."""
    from grader.explore.picture.files import drawn as painted

    if not found.maps and not found.drawings:
        return None
    titles = dict.fromkeys(each.title for each in (*found.maps, *found.drawings))
    said = f"{stage.id} {stage.title}: {', '.join(titles)}"
    data = painted(found, "svg")
    kind = "svg+xml"
    if len(data) > MOST_BYTES:
        data, kind = painted(found, "png"), "png"
    if len(data) > MOST_BYTES:
        return Picture(stage, said, "", f"`grader explore {stage.id} --png FILE` draws it: it is too large for a page.")
    return Picture(stage, said, f"data:image/{kind};base64,{base64.b64encode(data).decode()}")
