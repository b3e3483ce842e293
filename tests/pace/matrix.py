"""How much of the full matrix a run covers: by default each test in the strongest tier of its own that works here.

`--all-tiers` runs all of them, tests that are marked full_matrix, and more of what is drawn; `--seeds N` grades each
reference with so many seeds, and with both the known mistakes are graded as well: what the nightly run and every change
of the isolation ask for. `--changed-since COMMIT` runs those of the full matrix that are about what has changed.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from types import ModuleType
from typing import Any

import pytest

from grader.diagnosis import causes
from grader.isolation import tiers
from grader.judging import session
from tests.pace import changed

BRIEF = 0.1  # of the time in which a cause is looked for: enough for the search to begin, and to be attacked
NAMES = ("tier", "isolation")  # of parameters that hold a tier


def search_times(part: float) -> Iterator[tuple[ModuleType, str, float]]:
    """Yield where it stands how long a cause is looked for, with a part of that time in seconds."""
    for place, name in (
        (causes, "FULL"), (causes, "SHARE"), (session, "FAR_SECONDS"),
    ):  # fmt: skip
        yield place, name, part * getattr(place, name)


@functools.cache
def why_missing(tier: tiers.Tier) -> str | None:
    return tiers.why_missing(tier)


def tier_of(item: pytest.Item) -> str | None:
    """Return the tier that a test is run in, where it is one of its parameters."""
    return next((str(value) for name, value in parameters(item).items() if _is_tier(name, value)), None)


def _is_tier(name: str, value: object) -> bool:
    return name in NAMES and isinstance(value, str) and value in tiers.TIERS


def parameters(item: pytest.Item) -> dict[str, Any]:
    """Return a test's parameters by name."""
    callspec = getattr(item, "callspec", None)
    return {} if callspec is None else dict(callspec.params)


def _but_for_its_tier(item: pytest.Item) -> Hashable:
    """Return what a test has in common with the same test in the other tiers."""
    others = {name: value for name, value in parameters(item).items() if not _is_tier(name, value)}
    values = tuple(
        (name, value if isinstance(value, str | int | float) else id(value)) for name, value in others.items()
    )
    return item.path, getattr(item, "originalname", item.name), getattr(item, "cls", None), values


def strongest(names: Iterable[str]) -> str:
    """Return the strongest tier that works here; where none does, the strongest, for the reason to be told."""
    asked = [tier for tier in tiers.TIERS if tier in set(names)]
    return next((tier for tier in asked if why_missing(tier) is None), asked[0])


def sampled(
    items: list[pytest.Item], files: frozenset[str] = frozenset()
) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the tests to run by default, and the others: those of the full matrix, and those of the other tiers.

    Of a test that is marked some_of(n), each nth set of parameters is run, beginning with the first. Where one of the
    files that a test is about has changed, all of it is run: those of its room, and those that its mark names.
    """
    plain: list[pytest.Item] = []
    full: list[pytest.Item] = []
    seen: Counter[Hashable] = Counter()
    for item in items:
        is_left = False
        for name in ("full_matrix", "some_of"):
            if (mark := item.get_closest_marker(name)) is not None:
                is_left = is_left or _is_left(item, mark, seen, files)
        (full if is_left else plain).append(item)
    kept, left = one_tier_each(plain)
    return kept, [*full, *left]


def _is_left(item: pytest.Item, mark: pytest.Mark, seen: Counter[Hashable], files: frozenset[str]) -> bool:
    """Say whether a test's mark leaves it to the full matrix."""
    one_in, *about = (1, *mark.args) if mark.name == "full_matrix" else mark.args
    name = item.path, getattr(item, "originalname", item.name)
    seen[name] += mark.name == "some_of"
    is_extra = mark.name == "full_matrix" or (seen[name] - 1) % one_in != 0
    return is_extra and not (files and changed.concerned(item.path, about, files))


def one_tier_each(items: list[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the tests to run, each in one tier, and the others; a test marked every_tier is run in all."""
    groups: dict[Hashable, set[str]] = {}
    for item in items:
        if (tier := tier_of(item)) is not None:
            groups.setdefault(_but_for_its_tier(item), set()).add(tier)
    chosen = {key: strongest(names) for key, names in groups.items()}
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        tier = tier_of(item)
        is_run = tier is None or item.get_closest_marker("every_tier") or chosen[_but_for_its_tier(item)] == tier
        (kept if is_run else left).append(item)
    return kept, left
