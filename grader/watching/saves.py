"""Notices that a module, or another file, was saved: by the system's notifications, and by looking where none arrive.

Editors write in place, in pieces, or replace the file by another one: what counts is that the file differs from before
and has stopped changing. Folders are what is watched, since a replaced file takes its own watch along.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from grader.watching.board import Event, FileSaved

POLL_SECONDS = 0.1
LOOK_MS = 1000  # how often the file is looked at, although nothing was notified
STEP_MS = 15
QUIET_SECONDS = 0.015  # without a change: the save is over
SETTLE_SECONDS = 0.4  # at most for a file that keeps changing
GONE_SECONDS = 0.5  # an editor that replaces a file may leave none for a moment
# File systems whose other side, a server or the host of a virtual machine, changes files without a notification.
SILENT = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "drvfs", "vboxsf", "virtiofs", "fuse.sshfs", "fuse.vmhgfs-fuse",
          "fuse.grpcfuse", "fuse.rclone", "fuse.gcsfuse", "afs", "ncpfs", "prl_fs")  # fmt: skip
MOUNTS = Path("/proc/self/mounts")
Print = tuple[int, int, int] | None
Post = Callable[[Event], None]
Others = Callable[[], tuple[Path, ...]]


class Saves:
    """Watches one module at a time, and other files beside it, in a thread."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self, path: Path, others: Others = tuple) -> None:
        """Watch this module, and the files that others returns at each look, instead of the one before."""
        self.close()
        self._stop = threading.Event()
        arguments = (path, self._post, self._stop, others)
        self._thread = threading.Thread(target=follow, args=arguments, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop; nothing is posted for the module any more."""
        self._stop.set()
        self._thread = None


def follow(path: Path, post: Post, stop: threading.Event, others: Others = tuple) -> None:
    """Post each save of a module, and of other files, until told to stop."""

    def prints() -> dict[Path, Print]:
        return {each: fingerprint(each) for each in (path, *others())}

    last = prints()
    folders = [folder for folder in dict.fromkeys(each.parent for each in last) if folder.is_dir()]
    silent = any(is_silent(folder) for folder in folders)
    for ticks in [_looks(stop)] if silent else [_notified(folders, stop), _looks(stop)]:
        for is_notified in ticks:
            now = prints()
            changed = [each for each in {**now, **last} if now.get(each) != last.get(each)]
            last = now | {each: settled(each, stop) for each in changed}
            if stop.is_set():
                return
            for each in changed:
                post(FileSaved(each))
            if changed and not is_notified:
                break  # it was saved and nothing told of it: from here on, looking is what works


def _notified(folders: list[Path], stop: threading.Event) -> Iterator[bool]:
    """Yield True at each notification and False when it is time to look; ends where notifications do not work."""
    try:
        from watchfiles import watch

        for changes in watch(
            *folders, recursive=False, watch_filter=None, debounce=100, step=STEP_MS, stop_event=stop,
            rust_timeout=LOOK_MS, yield_on_timeout=True, raise_interrupt=False, ignore_permission_denied=True,
        ):  # fmt: skip
            yield bool(changes)
    except (OSError, RuntimeError, ImportError):  # no watch is left, no such call, or the folder is gone
        return


def _looks(stop: threading.Event) -> Iterator[bool]:
    """Yield when it is time to look."""
    while not stop.wait(POLL_SECONDS):
        yield True


def fingerprint(path: Path) -> Print:
    """Return what differs once a file has been saved; None where there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def settled(path: Path, stop: threading.Event, clock: Callable[[], float] = time.monotonic) -> Print:
    """Wait until a file stops changing, and one that is gone has come back or stays away; return what it is then."""
    started, last = clock(), fingerprint(path)
    while clock() - started < (GONE_SECONDS if last is None else SETTLE_SECONDS):
        if stop.wait(QUIET_SECONDS):
            break
        before, last = last, fingerprint(path)
        if last == before and last is not None:
            break
    return last


def is_silent(folder: Path, mounts: str | None = None) -> bool:
    """Say whether a folder is on a file system that tells nothing of changes; mounts is the system's list of them."""
    if mounts is None:
        try:
            mounts = MOUNTS.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return False
    place = folder.resolve()
    best, kind = -1, ""
    for line in mounts.splitlines():
        _, point, name, *_ = [*line.split(" "), "", "", ""]
        root = Path(point.replace("\\040", " "))
        if point and place.is_relative_to(root) and len(root.parts) >= best:
            best, kind = len(root.parts), name
    return kind in SILENT
