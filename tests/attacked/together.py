"""Many passive attacks in one learner's process: each is a row of its own, and its tests run in forks of their own."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from grader.report.document import dumps, verdict_document
from grader.submission import take
from tests.attacked.catalogue import Attack
from tests.attacked.course import MANIFEST, ROW, TOGETHER, TOGETHER_HIDDEN, TOGETHER_MODULE, TOGETHER_PUBLIC
from tests.attacked.result import Result
from tests.attacked.world import World
from tests.conftest import SmallCourse


@dataclass(frozen=True)
class Together:
    """What became of all of them, the row of each by name, and what they left behind."""

    result: Result
    rows: dict[str, str]
    left: list[str]


def grade_together(world: World, attacks: list[Attack], tier: str) -> Together:
    """Grade attacks as the rows of one stage; each one's function is called as its own submission's would be."""
    root = Path(tempfile.mkdtemp(prefix="together-", dir=world.root))
    course = SmallCourse(root)
    names = [f"attack_{number}" for number in range(len(attacks))]
    rows = "".join(ROW.format(f"a{n}").replace(f'["a{n}"]', f'["{name}"]') for n, name in enumerate(names))
    cases = TOGETHER.replace("@ROWS@", repr([attack.row for attack in attacks]))
    course.write(
        manifest=MANIFEST.format(rows=rows).replace("stage_seconds = 15", "stage_seconds = 60"),
        solution=_reference(attacks),
        public=cases + TOGETHER_PUBLIC,
        hidden=cases + TOGETHER_HIDDEN.format(token=world.token),
    )
    for folder in (root, *(path for path in root.rglob("*") if path.is_dir())):
        folder.chmod(0o755)
    handed_in = root / "handed_in.py"
    handed_in.write_text(_module(world, attacks), encoding="utf-8")
    stage = course.stage
    with world.grading(), world.grader(course.course, stage) as grader:  # by one judge: what is right once passes once
        verdict = grader.grade(take(stage, handed_in, course.root), world.options(tier))
    result = Result(verdict, dumps(verdict_document(verdict)), verdict.run.duration_s)
    left = [*world.survivors(), *world.visits(), *sorted(world.changes())]
    if world.secret_in_memory() != f"{world.token}-memory".encode():
        left.append("the grader's memory was written")
    return Together(result, {attack.name: f"a{number}" for number, attack in enumerate(attacks)}, left)


def _reference(attacks: list[Attack]) -> str:
    bodies = {"double": "(x):\n    return 2 * x\n", "visit": "(f, x):\n    return f(x) + 1\n"}
    return "\n\n".join(f"def attack_{number}{bodies[attack.row]}" for number, attack in enumerate(attacks))


def _module(world: World, attacks: list[Attack]) -> str:
    lines = [
        f"def attack_{number}(*arguments):\n"
        f"    return load({world.placed(attack.source)!r}, {attack.row!r}, arguments)\n\n\n"
        for number, attack in enumerate(attacks)
    ]
    return TOGETHER_MODULE + "".join(lines)
