"""The tier landlock: the kernel refuses what a worker may not read, write, run, connect to or signal.

It hides nothing: that a file is there, its size and its times can still be seen by whoever knows its name.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader.isolation import bundle, seccomp, users
from grader.isolation.tier import REACH, Place, Tier
from grader.worker import kernel
from grader.worker.kernel import LEAST_ABI, SCOPING_ABI

DEVICES = ["/dev/null", "/dev/zero", "/dev/full"]
RANDOM = ["/dev/urandom", "/dev/random"]
OWN = Path(__file__).resolve().parents[1]
FEW = 100  # libraries; where a folder holds more, one rule for it costs less than one for each
Plan = dict[str, list[str]]  # what may be read around holes, read, used as a device, and written


class Landlock(Tier):
    """Bounds a process by rules of the kernel, where namespaces are unavailable."""

    name = "landlock"
    strength = 20
    leaves_files = False
    shares_start = True
    promises = {  # noqa: RUF012  # a table
        "files of the course, tests and other submissions": (
            "the kernel refuses to open them; by its exact name, that a file exists, its size and its times can be seen"
        ),
        "writing": "a scratch folder, 64 MB",
        "network": "no TCP; with libseccomp no other socket either, and a pair of sockets reaches nobody else",
        "two runs at once": (
            "the same; an ordinary user's processes are counted apart only where that user may make a namespace"
        ),
        "other processes": (
            "cannot be inspected; no signals where the kernel has Landlock's ABI 6, or the grader is started as root"
        ),
        "other programs": "cannot be started",
        "system calls that nothing needs, namespaces of its own among them": "the same",
        "for whom": "the same, where namespaces are unavailable",
    }

    def available(self) -> str | None:
        return users.UNCOUNTED if not users.is_counted() else why_missing()

    def covered(self, hide: Path) -> str:
        return ""

    def shortfall(self) -> str | None:
        return shortfall(bool(seccomp.filter_program()))

    def guards(self) -> frozenset[str]:
        return super().guards() | REACH

    def confine(self, place: Place, scratch: Path, user: int) -> dict[str, Any]:
        rules = plan(place.bundle, scratch, place.hide, place.packages)
        return {**super().confine(place, scratch, user), "landlock": rules, "must": True}


def why_missing() -> str | None:
    """Return why the tier does not work on this machine; None where it works."""
    if sys.platform != "linux":
        return "Landlock is a part of Linux only"
    abi = kernel.landlock_abi()
    if abi == 0:
        return (
            "the kernel has no Landlock (it needs Linux 6.7, and landlock in the boot option lsm=), "
            "or a container's seccomp profile forbids it"
        )
    if abi < LEAST_ABI:
        return f"the kernel's Landlock is at ABI {abi}, which knows no network; it needs ABI {LEAST_ABI} (Linux 6.7)"
    return None


def shortfall(filtered: bool) -> str | None:
    """Return what the tier leaves open on this machine; None where nothing is."""
    found = []
    if not filtered:
        found.append("without libseccomp it can open sockets other than TCP, and change the modes of its user's files")
    if (abi := kernel.landlock_abi()) < SCOPING_ABI and not users.can_change():
        found.append(f"with Landlock's ABI {abi} it can signal its user's processes")
    return "; ".join(found) or None


def plan(built: Path, scratch: Path, hide: Path, packages: Sequence[str] = ()) -> Plan:
    """Return what a worker may reach: interpreter, libraries, two packages, its own modules and its scratch folder."""
    base = os.path.realpath(sys.base_prefix)
    return {
        "around": [bundle.standard_library(), *_libraries(base)],
        "holes": [*bundle.site_folders(base), str(hide.resolve()), str(OWN)],
        "read": [
            str(built),
            *map(str, bundle.package_folders(packages)),
            *RANDOM,
        ],  # NumPy often lies in one of the holes
        "use": DEVICES,
        "write": [str(scratch)],
    }


def within_namespaces(scratch: str) -> Plan:
    """Return the plan for a worker in bubblewrap: all that it sees but /proc, which names folders of the host."""
    return {"around": ["/"], "holes": ["/proc"], "read": [], "use": DEVICES, "write": [scratch]}


def told_within_namespaces() -> str | None:
    """Return what a worker in bubblewrap can learn where the kernel cannot keep it from /proc; None where it can."""
    if kernel.landlock_abi() >= LEAST_ABI:
        return None
    return f"without Landlock's ABI {LEAST_ABI} it can read names of this system's folders in /proc"


def _libraries(base: str) -> list[str]:
    """Return where the dynamic linker finds what modules of the standard library need when they are imported later."""
    found = ["/etc/ld.so.cache", "/lib64", "/usr/lib64"]
    for folder in (f"{base}/lib", "/lib", "/usr/lib", "/usr/local/lib"):
        if triplet := sysconfig.get_config_var("MULTIARCH"):
            found.append(f"{folder}/{triplet}")
        if os.path.isdir(folder):
            single = [f"{folder}/{name}" for name in os.listdir(folder) if ".so" in name]
            found += single if len(single) <= FEW else [folder]
    return list(dict.fromkeys(os.path.realpath(each) for each in found if os.path.exists(each)))
