"""Isolation tiers: how a learner's process is started, what it can see, and which guards are on.

bubblewrap  own user (or a dropped root), process, network, IPC and host name spaces; the interpreter, NumPy and msgpack
            read-only; no file of the course; a small scratch folder in memory; an empty environment.
process     a separate process with resource limits and an empty environment; the file system stays readable.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from grader.errors import IsolationRefused
from grader.run.worker import NOBODY

Tier = Literal["bubblewrap", "process"]
TIERS: tuple[Tier, ...] = ("bubblewrap", "process")
PARTS = ("wire", "channel", "serve", "worker")
ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}
SCRATCH_BYTES = 64 << 20
LEAVE_SECONDS = 0.5
FORKS = sys.platform == "linux"  # elsewhere a fork after NumPy's libraries have started is not safe


@dataclass
class Started:
    """A learner's process that has just been started: the connection to it, and how to end it."""

    process: subprocess.Popen[bytes]
    connection: socket.socket
    tier: Tier
    folder: tempfile.TemporaryDirectory[str]

    def kill(self) -> None:
        """End the process and all it started, and remove its scratch folder."""
        self.connection.close()
        if self.tier == "process":  # it ends what its tests started; a name space does that by itself
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(LEAVE_SECONDS)
        if hasattr(os, "killpg"):
            with contextlib.suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            self.process.kill()
        self.process.wait()
        with contextlib.suppress(OSError):
            self.folder.cleanup()


def why_missing(tier: Tier) -> str | None:
    """Return why a tier does not work on this machine, found by running a process in it; None where it works."""
    if tier == "process":
        return None
    if sys.platform != "linux":
        return "bubblewrap runs on Linux only"
    if shutil.which("bwrap") is None:
        return "bwrap is not installed: apt-get install bubblewrap (or your system's package of that name)"
    command = [*_namespaces(), "--ro-bind", "/", "/", "--proc", "/proc", "--", shutil.which("true") or "true"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        return f"bwrap could not be run: {error}"
    if done.returncode == 0:
        return None
    said = done.stderr.strip().splitlines()[-1:] or [f"exit {done.returncode}"]
    return f"bwrap failed: {said[0][:200]}. {_setting_in_the_way()}"


def _setting_in_the_way() -> str:
    """Return the system setting that most likely forbids namespaces here."""
    for path, forbids, what in (
        (
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "set kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        ("/proc/sys/kernel/unprivileged_userns_clone", "0", "set kernel.unprivileged_userns_clone=1"),
        ("/proc/sys/user/max_user_namespaces", "0", "raise user.max_user_namespaces"),
    ):
        with contextlib.suppress(OSError):
            if Path(path).read_text().strip() == forbids:
                return f"User namespaces are restricted here: {what}, or install an AppArmor profile for bwrap."
    return "In a container, its seccomp profile may forbid namespaces (Docker: --security-opt seccomp=unconfined)."


def choose(wanted: str) -> tuple[Tier, str | None]:
    """Return the tier and, where auto settled for less, why; IsolationRefused where the wanted one is missing."""
    if wanted == "auto":
        reason = why_missing("bubblewrap")
        return ("process", reason) if reason else ("bubblewrap", None)
    for tier in TIERS:
        if tier == wanted:
            if reason := why_missing(tier):
                raise IsolationRefused(
                    f"isolation {tier!r} is not available: {reason}", "`grader doctor` shows what works here."
                )
            return tier, None
    raise IsolationRefused(f"isolation {wanted!r} is unknown", f"Choose auto, {' or '.join(TIERS)}.")


def start(tier: Tier, hide: Path, fork: bool = FORKS) -> Started:
    """Start a worker in a tier; hide is the course, not to be seen even where it lies in a folder that is shown."""
    folder = tempfile.TemporaryDirectory(prefix="grader-", ignore_cleanup_errors=True)
    try:
        return _start(tier, hide, fork, folder)
    except IsolationRefused:
        folder.cleanup()
        raise
    except OSError as error:
        folder.cleanup()
        raise IsolationRefused(f"a learner's process could not be started in tier {tier!r}: {error}") from error


def _start(tier: Tier, hide: Path, fork: bool, folder: tempfile.TemporaryDirectory[str]) -> Started:
    kit = _build_kit(Path(folder.name))
    scratch = kit.parent / "scratch"
    scratch.mkdir()
    scratch.chmod(0o777)
    kit.parent.chmod(0o755)
    spec: dict[str, Any] = {"fork": fork, "drop": _can_drop(tier), "path": [str(kit), *_package_parents()]}
    if fork:
        ours, theirs = socket.socketpair()
        spec["fd"] = theirs.fileno()
        if tier == "bubblewrap":
            spec["path"] = ["/grader"]
        command = [*_interpreter(), str(kit / "grader/run/worker.py"), json.dumps(spec)]
        if tier == "bubblewrap":
            command = [*_bubblewrap(kit, hide), "--", *_interpreter(), "/grader/grader/run/worker.py", json.dumps(spec)]
        with theirs:
            try:
                process = _spawn(command, scratch, (theirs.fileno(),))
            except OSError:
                ours.close()
                raise
        return Started(process, ours, tier, folder)
    if tier == "bubblewrap":
        raise IsolationRefused("bubblewrap needs a system that can fork")
    with socket.create_server(("127.0.0.1", 0), backlog=1) as listener:
        token = os.urandom(32)
        spec |= {"port": listener.getsockname()[1], "token": token.hex()}
        process = _spawn([*_interpreter(), str(kit / "grader/run/worker.py"), json.dumps(spec)], scratch, ())
        return Started(process, _accept(listener, token, process), tier, folder)


def _accept(listener: socket.socket, token: bytes, process: subprocess.Popen[bytes]) -> socket.socket:
    """Return the worker's connection: the first one that sends the token."""
    listener.settimeout(20)
    try:
        while True:
            connection, _ = listener.accept()
            connection.settimeout(5)
            if connection.recv(len(token), socket.MSG_WAITALL) == token:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return connection
            connection.close()
    except OSError:
        process.kill()
        process.wait()
        raise


def _spawn(command: list[str], folder: Path, descriptors: tuple[int, ...]) -> subprocess.Popen[bytes]:
    environment = dict(ENVIRONMENT)
    if sys.platform == "win32":  # sockets and the C runtime need these
        environment |= {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP", "PATH") if name in os.environ}
    return subprocess.Popen(
        command, cwd=folder, env=environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        pass_fds=descriptors, start_new_session=True, close_fds=True,
    )  # fmt: skip


def _interpreter() -> list[str]:
    base = getattr(sys, "_base_executable", sys.executable) or sys.executable
    return [os.path.realpath(base), "-I", "-S", "-X", "utf8"]


def _build_kit(folder: Path) -> Path:
    """Copy the four modules that a worker runs, with their bytecode, into a package of their own."""
    here = Path(__file__).parent
    target = folder / "kit" / "grader" / "run"
    (target / "__pycache__").mkdir(parents=True)
    for package in (target, target.parent):
        (package / "__init__.py").touch()
    for part in PARTS:
        shutil.copy2(here / f"{part}.py", target)
        compiled = Path(importlib.util.cache_from_source(str(here / f"{part}.py")))
        if compiled.exists():
            shutil.copy2(compiled, target / "__pycache__")
    for path in (folder / "kit").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    (folder / "kit").chmod(0o755)
    return folder / "kit"


def _package(name: str) -> Path:
    """Return a package's folder without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise IsolationRefused(f"{name} is not installed", "Run `uv sync`.")
    return Path(spec.submodule_search_locations[0]).resolve()


def _package_parents() -> list[str]:
    return list(dict.fromkeys(str(_package(name).parent) for name in ("numpy", "msgpack")))


def _can_drop(tier: Tier) -> bool:
    """Say whether a worker started as root can become nobody: in a plain process, where it can still read Python."""
    if not hasattr(os, "getuid") or os.getuid() != 0:
        return False
    if tier == "bubblewrap":
        return True
    needed = [Path(sys.base_prefix), *map(Path, _package_parents())]
    return all(folder.stat().st_mode & 0o001 for path in needed for folder in (path, *path.resolve().parents))


def tasks_of_worker(tier: Tier) -> int:
    """Return how many tasks the worker's user has already: the limit on processes counts them all."""
    if sys.platform != "linux":
        return 0
    user = NOBODY if _can_drop(tier) else os.getuid()
    found = 0
    for entry in os.scandir("/proc"):
        with contextlib.suppress(OSError):  # a process that ends meanwhile
            if entry.name.isdigit() and entry.stat().st_uid == user:
                found += len(os.listdir(f"{entry.path}/task"))
    return found


def _namespaces() -> list[str]:
    command = [shutil.which("bwrap") or "bwrap", "--die-with-parent", "--new-session"]
    command += ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    if os.getuid() == 0:  # no user namespace: as real root the worker can become nobody, so that process limits hold
        return [*command, "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    return [*command, "--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)]


def _bubblewrap(kit: Path, hide: Path) -> list[str]:
    command = [*_namespaces(), "--clearenv"]
    for name, value in ENVIRONMENT.items():
        command += ["--setenv", name, value]
    shown: list[str] = []
    for top in ("/usr", "/lib", "/lib64", "/lib32", "/bin"):
        if os.path.islink(top):
            command += ["--symlink", os.readlink(top), top]
        elif os.path.isdir(top):
            command += ["--ro-bind", top, top]
            shown.append(top)
    command += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    base = os.path.realpath(sys.base_prefix)
    if not any(Path(base).is_relative_to(top) for top in shown):
        # bwrap would copy the mode of a home that is closed to others, which shuts nobody out.
        for parent in reversed(Path(base).parents[:-1]):
            command += ["--perms", "0755", "--dir", str(parent)]
        command += ["--ro-bind", base, base]
        shown.append(base)
    for hidden in (*_site_folders(base), str(hide)):
        if os.path.isdir(hidden) and any(Path(hidden).is_relative_to(top) for top in shown):
            command += ["--tmpfs", hidden, "--remount-ro", hidden]
    command += ["--ro-bind", str(kit), "/grader"]
    for name in ("numpy", "msgpack"):
        found = _package(name)
        for part in (found, found.parent / f"{name}.libs"):
            if part.is_dir():
                (kit / part.name).mkdir()  # a place to mount on, since the kit is read-only inside
                command += ["--ro-bind", str(part), f"/grader/{part.name}"]
    command += ["--proc", "/proc", "--dev", "/dev"]
    command += ["--perms", "1777", "--size", str(SCRATCH_BYTES), "--tmpfs", "/tmp", "--chdir", "/tmp"]
    command += ["--remount-ro", "/dev", "--remount-ro", "/"]  # file systems in memory, too, and without a bound
    return command


def _site_folders(base: str) -> list[str]:
    """Return the folders of installed packages below an interpreter, which a learner's code has no business in."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    found = [sysconfig.get_path("purelib", vars={"base": base}), sysconfig.get_path("platlib", vars={"platbase": base})]
    found += [f"{base}/lib/{version}/site-packages", "/usr/lib/python3/dist-packages", f"/usr/local/lib/{version}"]
    return list(dict.fromkeys(os.path.realpath(path) for path in found))
