"""Zygotes stay from test to test: an interpreter and NumPy are started once for all workers of a tier."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grader.isolation import zygote
from grader.isolation.tier import Tier
from grader.worker.supervisor import children_of

really_shared = zygote.shared
_kept: set[zygote.Zygote] = set()


def keep() -> None:
    """Keep each zygote that is started from now on."""
    setattr(zygote, "shared", _kept_one)  # noqa: B010  # a function of a module is no variable


def close() -> None:
    """End all that were kept."""
    _kept.clear()


def begin_anew() -> None:
    """Have later workers forked by zygotes that are started from now on."""
    close()
    zygote._shared.clear()  # one that somebody still has ends with them


def _kept_one(tier: Tier, hide: Path, packages: Sequence[str], spawn: zygote.Spawn) -> zygote.Zygote | None:
    found = really_shared(tier, hide, packages, spawn)
    if found is not None:
        _kept.add(found)
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
