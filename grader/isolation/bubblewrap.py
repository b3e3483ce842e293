"""The tier bubblewrap: namespaces of its own, in which nothing but the interpreter and two packages can be seen."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.isolation import bundle, landlock, users
from grader.isolation.tier import PROCESSES_APART, REACH, Place, Tier, worker_command
from grader.worker import kernel
from grader.worker.confine import NOBODY
from grader.worker.supervisor import SCRATCH_BYTES

SCRATCH = "/tmp"
BUNDLE = "/grader"
SHOWN = ("/usr", "/lib", "/lib64", "/lib32", "/bin")
LEAST_FOR_NO_USERNS = (0, 8)  # bwrap's version that can forbid further user namespaces
INSTALL = "bwrap is not installed: apt-get install bubblewrap (or your system's package of that name)"


class Bubblewrap(Tier):
    """Shows a process nothing but the interpreter and its packages, in namespaces of its own."""

    name = "bubblewrap"
    strength = 30
    ends_at_once = True
    shares_start = True
    name_spaces = True
    leaves_files = False
    promises = {  # noqa: RUF012  # a table
        "files of the course, tests and other submissions": "not in its file system",
        "writing": "scratch in memory, 64 MB",
        "network": "none: a namespace of its own",
        "two runs at once": (
            "processes are counted apart (started as root that can become another user, or since Linux 5.14); "
            "no locks of shared files and no report of which of their pages are in memory, with libseccomp"
        ),
        "other processes": "invisible",
        "other programs": (
            "cannot be started where the kernel has Landlock; else those of `/usr`, in the same namespaces"
        ),
        "system calls that nothing needs, namespaces of its own among them": "refused where libseccomp is installed",
        "for whom": "grading of other people's code",
    }

    def available(self) -> str | None:
        return users.UNCOUNTED if not users.is_counted() else why_missing()

    def shortfall(self) -> str | None:
        return landlock.told_within_namespaces()

    def guards(self) -> frozenset[str]:
        counted = kernel.counts_by_name_space() and users.is_counted()
        return super().guards() | REACH | {"no namespace of its own"} | ({PROCESSES_APART} if counted else set())

    def command(self, place: Place, given: Mapping[str, Any], forks: bool = False) -> list[str]:
        shown = enclosure(place.bundle, place.hide, place.packages, forks)
        return [*shown, "--", *worker_command(BUNDLE, given)]

    def covered(self, hide: Path) -> str:
        shown = [*SHOWN, os.path.realpath(sys.base_prefix)]
        return str(hide) if any(hide.is_relative_to(top) for top in shown) else ""

    def path(self, place: Place) -> list[str]:
        return [BUNDLE]

    def confine(self, place: Place, scratch: Path, user: int) -> dict[str, Any]:
        spec = super().confine(place, scratch, user)
        apart = spec["apart"] or (not user and kernel.counts_by_name_space())
        spec |= {"apart": apart, "try_apart": False, "reach": [], "guard": SCRATCH, "name_spaces": True}
        return {**spec, "landlock": landlock.within_namespaces(SCRATCH)}


def why_missing() -> str | None:
    """Return why the tier does not work on this machine, found by running a process in it; None where it works."""
    if sys.platform != "linux":
        return "bubblewrap runs on Linux only"
    if shutil.which("bwrap") is None:
        return INSTALL
    command = [*_namespaces(), "--ro-bind", "/", "/", "--proc", "/proc", "--", shutil.which("true") or "true"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        return f"bwrap could not be run: {error}"
    if done.returncode == 0:
        return None
    said = done.stderr.strip().splitlines()[-1:] or [f"exit {done.returncode}"]
    return f"bwrap failed: {said[0][:200]}. {setting_in_the_way()}"


def setting_in_the_way(root: str = "/") -> str:
    """Return the system setting that most likely forbids namespaces here; root is where the system's files lie."""
    for path, forbids, what in (
        (
            "proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "set kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        ("proc/sys/kernel/unprivileged_userns_clone", "0", "set kernel.unprivileged_userns_clone=1"),
        ("proc/sys/user/max_user_namespaces", "0", "raise user.max_user_namespaces"),
    ):
        if _text(root + path).strip() == forbids:
            return f"User namespaces are restricted here: {what}, or install an AppArmor profile for bwrap."
    if re.search(r"^Seccomp:\s*2$", _text(f"{root}proc/self/status"), re.MULTILINE):
        return (
            "A seccomp filter is on here, as in a container, and may forbid namespaces "
            "(Docker: --security-opt seccomp=unconfined --security-opt apparmor=unconfined)."
        )
    return "In a container, its seccomp profile may forbid namespaces (Docker: --security-opt seccomp=unconfined)."


def _text(path: str) -> str:
    with contextlib.suppress(OSError):
        return Path(path).read_text()
    return ""


@functools.cache
def _can_forbid_userns() -> bool:
    """Say whether this bwrap can forbid that further user namespaces are made inside."""
    try:
        said = subprocess.run([_bwrap(), "--version"], capture_output=True, text=True, timeout=10, check=False).stdout
    except (OSError, subprocess.SubprocessError):
        return False
    return tuple(map(int, re.findall(r"\d+", said)[:2])) >= LEAST_FOR_NO_USERNS


def _bwrap() -> str:
    return shutil.which("bwrap") or "bwrap"


def _namespaces(forks: bool = False) -> list[str]:
    """Return what begins the command; forks says that what it runs makes namespaces within, and runs no learner's code.

    Such a process ends with its channel, whichever thread of the grader started it.
    """
    command = [_bwrap(), *([] if forks else ["--die-with-parent"]), "--new-session"]
    command += ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    if users.can_change():  # no user namespace: as real root the worker can become another, so that limits hold
        kept = ["CAP_SETUID", "CAP_SETGID", *(["CAP_SYS_ADMIN"] if forks else [])]
        return [*command, "--cap-drop", "ALL", *(word for name in kept for word in ("--cap-add", name))]
    forbid = ["--disable-userns"] if _can_forbid_userns() and not forks else []
    if users.is_root():  # in name alone; bwrap leaves root what it has
        command += ["--cap-drop", "ALL"]
    return [*command, "--unshare-user", *forbid, "--uid", str(NOBODY), "--gid", str(NOBODY)]


def enclosure(built: Path, hide: Path, packages: Sequence[str] = (), forks: bool = False) -> list[str]:
    """Return the command before which any other runs enclosed; hide is covered where it lies in what is shown."""
    command = [*_namespaces(forks), "--clearenv"]
    for name, value in bundle.ENVIRONMENT.items():
        command += ["--setenv", name, value]
    shown: list[str] = []
    for top in SHOWN:
        if os.path.islink(top):
            command += ["--symlink", os.readlink(top), top]
        elif os.path.isdir(top):
            command += ["--ro-bind", top, top]
            shown.append(top)
    command += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    # before the interpreter, which may lie below it
    command += ["--perms", "1777", "--size", str(SCRATCH_BYTES), "--tmpfs", SCRATCH]
    base = os.path.realpath(sys.base_prefix)
    if not any(Path(base).is_relative_to(top) for top in shown):
        # bwrap would copy the mode of a home that is closed to others, which shuts nobody out.
        for parent in reversed(Path(base).parents[:-1]):
            command += ["--perms", "0755", "--dir", str(parent)] if str(parent) != SCRATCH else []
        command += ["--ro-bind", base, base]
        shown.append(base)
    for hidden in (*bundle.site_folders(base), str(hide)):
        if os.path.isdir(hidden) and any(Path(hidden).is_relative_to(top) for top in shown):
            command += ["--tmpfs", hidden, "--remount-ro", hidden]
    command += [*_packages(built, packages), "--proc", "/proc", "--dev", "/dev", "--chdir", SCRATCH]
    return [*command, "--remount-ro", "/dev", "--remount-ro", "/"]  # file systems in memory, too, and without a bound


def _packages(built: Path, packages: Sequence[str]) -> list[str]:
    command = ["--ro-bind", str(built), BUNDLE]
    for folder in bundle.package_folders(packages):
        place = built / folder.name
        place.mkdir() if folder.is_dir() else place.touch()  # a place to mount on, since the bundle is read-only inside
        command += ["--ro-bind", str(folder), f"{BUNDLE}/{folder.name}"]
    return command
