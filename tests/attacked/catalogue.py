"""The attack catalogue: what each file below attacks/ says of itself, read from its syntax tree and never run."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.places import ROOT

FOLDER = ROOT / "tests" / "attacks"
PAGE = ROOT / "docs" / "attacks.md"
OUTCOMES = {"failed", "crashed", "timed_out", "over_limit", "blocked", "not_started", "not loaded", "refused"}
TIERS = ("bubblewrap", "landlock", "process")
HEADER = {
    "ATTACK",
    "OUTCOME",
    "TIERS",
    "ROW",
    "SAYS",
    "SUCCEEDS_IN",
    "NEEDS",
    "FEEDBACK",
    "FILES",
    "LINKS",
    "STAGE",
    "PACKED",
    "ALONE",
}
GROUPS = {
    "runner": "The run of the tests",
    "values": "Values that fool a comparison",
    "reading": "Reading tests, answers, marks and other people's data",
    "writing": "Writing where others read",
    "network": "The network and other services",
    "processes": "Signals, processes and limits",
    "protocol": "The connection to the grader",
    "files": "Files beside the module",
    "submissions": "What is handed in",
}
PASSIVE = ("runner", "values", "reading", "writing", "network")
INTRODUCTION = """\
# The attack catalogue

Each row is a golden submission in `tests/attacks/`, whose first line says what it tries.
`tests/attacked/test_attacks.py` grades each for real in every tier that claims to stop it, and sees that the
attacked criterion is not passed, that the outcome is the declared one, that nothing hidden stands in the verdict, that
no process and no change is left behind, and that the grader grades an honest submission afterwards. Where an attack
succeeds in a tier that does not claim to stop it, that is tested as well: it shows that the attack is a real one.

*Not loaded*: the module is not run, or fails while it is loaded. *Refused*: the submission is not taken at all. Where
several outcomes stand in a row, they depend on which of two guards is the first.

Made by `python -m tests.attacked.catalogue`; do not edit.
"""


class Broken(Exception):
    """A file of the catalogue says of itself what it may not, or too little."""


@dataclass(frozen=True)
class Attack:
    """One golden submission: what it tries, the outcomes that it may get, and the tiers that claim to stop it.

    row is the criterion that it is after, says a pattern of what the learner is told, succeeds_in tiers that do not
    claim to stop it, in which it is seen to work; files and links are handed in beside the module, packed as an archive
    of that kind. stage is the small course's own, or one of this course. alone says that the module as a whole counts.
    """

    name: str
    title: str
    told: str
    source: str
    outcome: tuple[str, ...]
    tiers: tuple[str, ...]
    row: str = "double"
    says: str = ""
    succeeds_in: tuple[str, ...] = ()
    needs: str = ""
    feedback: str = "full"
    stage: str = "s90"
    packed: str = ""
    alone: bool = False
    files: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)

    @property
    def group(self) -> str:
        return self.name.partition("/")[0]

    @property
    def is_passive(self) -> bool:
        """Whether it only tries something within a call, so that it can share a learner's process with others."""
        plain = (
            self.row in ("double", "visit")
            and self.feedback == "full"
            and self.stage == "s90"
            and not self.files
            and not self.links
        )
        plain = plain and not self.alone
        return plain and self.group in PASSIVE and not {"not loaded", "refused"} & set(self.outcome)


def attacks() -> list[Attack]:
    """Return the whole catalogue, in the order of the page."""
    found = [read(path) for path in sorted(FOLDER.rglob("*.py"))]
    return sorted(found, key=lambda attack: (list(GROUPS).index(attack.group), attack.name))


def read(path: Path) -> Attack:
    """Return what a file says about itself; Broken where that will not do."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    header = dict(_literals(tree))
    name = path.relative_to(FOLDER).with_suffix("").as_posix() if path.is_relative_to(FOLDER) else f"files/{path.stem}"
    told = ast.get_docstring(tree) or ""
    if not told or not {"ATTACK", "OUTCOME", "TIERS"} <= header.keys():
        raise Broken(f"{name}: a docstring, ATTACK, OUTCOME and TIERS are needed")
    outcome = header["OUTCOME"]
    attack = Attack(
        name,
        header["ATTACK"],
        told,
        source,
        (outcome,) if isinstance(outcome, str) else tuple(outcome),
        tuple(header["TIERS"]),
        **{key.lower(): value for key, value in header.items() if key not in ("ATTACK", "OUTCOME", "TIERS")},
    )
    _check(attack)
    return attack


def _literals(tree: ast.Module) -> Iterator[tuple[str, Any]]:
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in HEADER:
                yield name, ast.literal_eval(value)


def _check(attack: Attack) -> None:
    for what, given, known in (
        ("OUTCOME", attack.outcome, OUTCOMES),
        ("TIERS", attack.tiers, TIERS),
        ("SUCCEEDS_IN", attack.succeeds_in, set(TIERS) - set(attack.tiers)),
        ("the folder", (attack.group,), GROUPS),
    ):
        if wrong := [each for each in given if each not in known]:
            raise Broken(f"{attack.name}: {what} has {wrong[0]!r}; expected one of {', '.join(sorted(known))}")
    if not attack.outcome or not attack.tiers:
        raise Broken(f"{attack.name}: OUTCOME and TIERS are empty")


def page() -> str:
    """Return the table of the documentation."""
    catalogue = attacks()
    lines = [INTRODUCTION, f"{len(catalogue)} attacks.", ""]
    for group, title in GROUPS.items():
        lines += [f"## {title}", "", "| attack | outcome | stopped in | succeeds in |", "|---|---|---|---|"]
        for attack in catalogue:
            if attack.group == group:
                link = f"[{_cell(attack.title)}](../tests/attacks/{attack.name}.py)"
                stopped = "every tier" if set(attack.tiers) == set(TIERS) else ", ".join(attack.tiers)
                outcome = " or ".join(each.replace("_", " ") for each in attack.outcome)
                lines.append(f"| {link} | {outcome} | {stopped} | {', '.join(attack.succeeds_in) or '–'} |")
        lines.append("")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("__", "\\_\\_").replace("*", "\\*").replace("<", "\\<")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")
