"""Zygotes stay from test to test: an interpreter and NumPy are started once for all workers of a tier."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grader.isolation import zygote
from grader.isolation.tier import Tier
from grader.worker.supervisor import children_of

really_lease = zygote.lease
_kept: dict[int, zygote.Lease] = {}


def keep() -> None:
    """Keep each zygote that is started from now on."""
    setattr(zygote, "lease", _kept_lease)  # noqa: B010  # a function of a module is no variable


def close() -> None:
    """End all that were kept."""
    while _kept:
        _kept.popitem()[1].give_back()


def begin_anew() -> None:
    """Have later workers forked by zygotes that are started from now on."""
    close()
    zygote._shared.clear()  # who still has a lease of one ends it


def _kept_lease(tier: Tier, hide: Path, packages: Sequence[str], spawn: zygote.Spawn) -> zygote.Lease | None:
    found = really_lease(tier, hide, packages, spawn)
    if found is not None and id(found.zygote) not in _kept:
        _kept[id(found.zygote)] = found.another()
    return found


def clean_processes() -> set[int]:
    """Return the zygotes of this process with what encloses them, and nothing that they forked."""
    return {each for found in zygote._shared.values() for each in chain(found)}


def chain(found: zygote.Zygote) -> list[int]:
    """Return the processes from the one that this process started to the zygote."""
    numbers = [found.process.pid]
    while b"main.py" not in Path(f"/proc/{numbers[-1]}/cmdline").read_bytes().split(b"\0--\0")[0]:
        numbers += sorted(children_of(numbers[-1]))[:1]
    return numbers
