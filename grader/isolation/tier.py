"""Tiers of isolation: how a learner's process is started and confined, what that promises, and which there are.

A tier is one class in one file. Three come with the grader. An installed package adds one by an entry point:

    [project.entry-points."grader.tiers"]
    container = "my_package.container:Container"
"""

from __future__ import annotations

import functools
import json
import os
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from grader import children
from grader.errors import IsolationRefused
from grader.isolation import bundle, users
from grader.worker.confine import NOBODY

GROUP = "grader.tiers"  # of entry points
NAME = re.compile("[a-z]{1,20}")
BUILT_IN = (
    "grader.isolation.bubblewrap:Bubblewrap",
    "grader.isolation.landlock:Landlock",
    "grader.isolation.process:Process",
)
ROWS = (  # what each tier says something about, as in SECURITY.md
    "files of the course, tests and other submissions", "writing", "network", "two runs at once", "other processes",
    "other programs", "system calls that nothing needs, namespaces of its own among them", "for whom",
)  # fmt: skip
IN_EVERY_TIER = frozenset({"an empty environment", "little memory", "no look into the grader", "no survivor"})
WHERE_COUNTED = frozenset({"no rights of root", "few processes"})  # where the kernel limits the user's processes
REACH = frozenset({
    "the course cannot be read", "no other file can be read", "nothing is written but scratch", "no TCP", "no UDP",
    "no signal to the grader", "no abstract socket",
})  # fmt: skip
PROCESSES_APART = "processes of its own"


@dataclass(frozen=True)
class Place:
    """What a worker is started with: its modules, the course that it must not see, and the packages that it may use."""

    bundle: Path
    hide: Path
    packages: Sequence[str] = ()


class Tier(ABC):
    """One way to keep a learner's code apart; a subclass says what it promises, and adds its guards."""

    name: ClassVar[str]
    strength: ClassVar[int]  # `auto` takes the strongest that works; `process`, which always does, has 10
    needs_fork: ClassVar[bool] = True
    filters_calls: ClassVar[bool] = True  # refuses system calls that nothing needs
    shares_start: ClassVar[bool] = (
        False  # a clean process may be forked for each submission, confined as confine() says
    )
    name_spaces: ClassVar[bool] = False  # such a fork enters namespaces of its own
    leaves_files: ClassVar[bool] = True  # a run may write outside of its scratch folder
    ends_at_once: ClassVar[bool] = False  # all that a run started ends with its first process
    promises: ClassVar[Mapping[str, str]]  # what holds and what is left open, for each of ROWS

    @abstractmethod
    def available(self) -> str | None:
        """Return why the tier does not work on this machine; None where it works."""

    def shortfall(self) -> str | None:
        """Return what the tier leaves open on this machine of what it promises elsewhere; None where nothing is."""
        return None

    def guards(self) -> frozenset[str]:
        """Return the names of what `grader doctor` tries in vain here, as the tier promises."""
        counted = WHERE_COUNTED if users.is_counted() else frozenset()
        return IN_EVERY_TIER | counted | ({PROCESSES_APART} if users.can_change() else frozenset())

    def command(self, place: Place, given: Mapping[str, Any], forks: bool = False) -> list[str]:
        """Return the command that starts a worker's process, or with forks one that is forked for each submission.

        given is what the process reads from its arguments: where its modules are, and its connection.
        """
        return worker_command(str(place.bundle), given)

    def covered(self, hide: Path) -> str:
        """Return what of a course shows in the command: processes that fork workers are shared by those alike in it."""
        return str(hide)

    def path(self, place: Place) -> list[str]:
        """Return where a worker finds its modules and packages."""
        return [str(place.bundle), *bundle.package_parents(place.packages)]

    def confine(self, place: Place, scratch: Path, user: int) -> dict[str, Any]:
        """Return the guards that the worker puts up before it loads a module: see `grader.worker.confine.confine`.

        user is the one that the run has alone, where the grader is root; 0 where it stays the grader's own.
        """
        apart = user not in (0, NOBODY)
        return {
            "user": user, "apart": apart, "try_apart": not user, "landlock": None, "must": False, "name_spaces": False,
            "reach": bundle.closed_folders(place.packages) if user else [], "guard": str(scratch),
        }  # fmt: skip


def worker_command(built: str, given: Mapping[str, Any]) -> list[str]:
    """Return the command that runs a worker from the bundle in a folder."""
    return [*children.bare(), f"{built}/grader/worker/main.py", json.dumps(given)]


@functools.cache
def registered() -> Mapping[str, Tier]:
    """Return all tiers by name, the strongest first; IsolationRefused if the name of a package's tier is not valid."""
    found = {each.name: each for each in map(_load, BUILT_IN)}
    for each in _of_other_packages():
        if each.name in found or not NAME.fullmatch(each.name):
            expected = "expected a new name of at most 20 lower-case letters"
            raise IsolationRefused(f"the isolation tier {each.name!r} of {type(each).__module__}: {expected}")
        found[each.name] = each
    return {each.name: each for each in sorted(found.values(), key=lambda each: -each.strength)}


def find(name: str) -> Tier:
    """Return the tier of a name; KeyError where there is none."""
    return registered()[name]


def _load(place: str) -> Tier:
    import importlib

    module, _, name = place.partition(":")
    made: Tier = getattr(importlib.import_module(module), name)()
    return made


def _of_other_packages() -> Iterator[Tier]:
    if not any(map(_names_a_tier, sys.path)):  # `importlib.metadata` takes a tenth of a second
        return
    from importlib import metadata

    for point in metadata.entry_points(group=GROUP):
        yield point.load()()


def _names_a_tier(folder: str) -> bool:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith((".dist-info", ".egg-info")):
                with suppress(OSError):
                    if f"[{GROUP}]" in Path(entry.path, "entry_points.txt").read_text("utf-8", "replace"):
                        return True
    return False
