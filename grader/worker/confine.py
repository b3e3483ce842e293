"""Confine the worker before the learner's module is loaded: it gives up its user, its means and its reach."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from importlib.machinery import PathFinder
from typing import Any

from grader.worker import kernel
from grader.worker.kernel import Unconfined

NOBODY = 65534
OTHERS = "OTHERS"  # among the limits: processes that the kernel counts with the run's own, unless it counts apart
ALONE = "ALONE"  # among the limits: 1 where a test starts no process and no thread
STEPS = "STEPS"  # among the limits: how many lines may run while the module is loaded; 0 where none is counted
COUNTED_APART = "a count of its own"


def confine(spec: dict[str, Any], limits: dict[str, int], program: bytes) -> list[str]:
    """Put up the guards of a tier and return their names; Unconfined where one that the tier promises fails.

    The rules of Landlock are made first, while folders of a closed home can still be opened, and put up last.
    """
    if "unconfined" in spec:
        raise Unconfined(spec["unconfined"])
    rules = _rules(spec["landlock"], spec["must"])
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "wb", buffering=0) as file:
        file.write(b"1000")  # where memory runs out, the learner's processes are the first to go
    if spec["user"]:
        become(spec["user"], spec["reach"])
        if spec["name_spaces"]:
            kernel.enter_user_name_space_for_good()  # a second wall: this user is counted apart without it
    guards = [] if not hasattr(os, "getuid") or os.getuid() == 0 else ["an ordinary user"]
    others = limits.pop(OTHERS, 0)
    if spec["apart"]:
        guards.append(COUNTED_APART)
    elif "NPROC" in limits:
        limits["NPROC"] += others
    limit(limits)
    if sys.platform != "linux":
        return guards
    kernel.set_open(False)
    kernel.end_with_parent()
    kernel.set_no_new_privileges()
    if rules is None:
        kernel.scope_signals()
    else:
        kernel.restrict(rules)
        guards.append(f"Landlock {kernel.landlock_abi()}")
    if program:
        kernel.filter_calls(program)
        guards.append("seccomp")
    return guards


def _rules(plan: dict[str, list[str]] | None, must: bool) -> int | None:
    """Return the rules of a plan, where there is one that has to be kept, or that can be."""
    if plan is None or (kernel.landlock_abi() < kernel.LEAST_ABI and not must):
        return None
    with contextlib.suppress(FileNotFoundError):
        if (threads := len(os.listdir("/proc/self/task"))) != 1:
            raise Unconfined(f"{threads} threads run before the learner's module; Landlock would confine one")
    return kernel.rules_for(plan)


def become(user: int, reach: Sequence[str]) -> None:
    """Stop being root, for good; packages in the folders that are named can still be imported from a closed home."""
    for folder in reach:
        _keep_in_reach(folder)
    try:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    except OSError as error:
        raise Unconfined(f"root cannot become an ordinary user here: {error}") from None


def _keep_in_reach(folder: str) -> None:
    """Find the modules of a folder through an open descriptor from now on: its name will lead nowhere."""
    opened = f"/proc/self/fd/{os.open(folder, kernel.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)}"
    packages = [getattr(module, "__path__", None) for module in list(sys.modules.values())]
    for paths in (sys.path, *(each for each in packages if isinstance(each, list))):
        paths[:] = [opened + each[len(folder) :] if kernel.lies_in(each, folder) else each for each in paths]
    PathFinder.find_spec("no module of that name")  # the folders are listed now: Landlock may forbid it later


def limit(limits: dict[str, int]) -> None:
    """Apply limits, named as in the resource module without prefix; memory counts on top of what is used now."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is None:
            continue
        if name == "AS":
            value += _address_space()
        hard = resource.getrlimit(kind)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # at the hard limit the kernel does not say why
        after = bound + 1 if name == "CPU" and bound == value else bound
        with contextlib.suppress(OSError, ValueError):  # macOS refuses some; the rest still holds
            resource.setrlimit(kind, (bound, after))


def no_more_processes() -> None:
    """Start no process and no thread from here on; what runs already is not touched."""
    limit({"NPROC": 0})


def _address_space() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 1 << 30
