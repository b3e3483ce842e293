"""The same executor on a Dask cluster: course and submissions travel as data, and each worker has a pool of its own.

Workers have the same grader installed, and need no disk in common. Each is asked for its version and its isolation
before anything is sent. A worker may end at any moment: all that is asked or sent is asked and sent again.
"""

from __future__ import annotations

import hashlib
import io
import multiprocessing
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader import __version__
from grader.course.manifest import load_course
from grader.course.settings import PROJECT
from grader.course.stage import STAGES, Course
from grader.errors import GraderError, GraderFault, IsolationRefused, UsageError, installs
from grader.gradebook.process_pool import ProcessPool
from grader.isolation import tiers

CONNECT_SECONDS = 20
TRIES = 5  # of asking all workers, as long as some of them end meanwhile
NOTICED_SECONDS = 0.5  # until the scheduler knows that a worker has ended
SHOWN = 5
_pools: dict[tuple[str, bytes | None, Order], ProcessPool] = {}
_making = threading.Lock()
_WHEN = (1980, 1, 1, 0, 0, 0)  # so that the same course gives the same bytes
_KEY = "tests.key"
_unpacked: dict[tuple[str, bytes | None], tuple[tempfile.TemporaryDirectory[str], Course]] = {}


@dataclass(frozen=True)
class Order:
    """What a worker has to be able to do, and what its pool gets; a process is prepared by prepare(course, *given)."""

    version: str
    isolation: str
    seconds: float
    prepare: Callable[..., None]
    given: tuple[Any, ...]
    kind: Callable[..., Hashable] | None = None


class Cluster(Executor):
    """Has calls done by the workers of a Dask cluster at an address; UsageError where there is none."""

    def __init__(self, address: str, bundle: Bundle, order: Order) -> None:
        try:
            import distributed
        except ImportError as error:
            raise UsageError("--cluster needs Dask", installs("cluster", "distributed")) from error
        client: Any = distributed.Client  # it has no types
        try:
            self._client = client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise UsageError(f"no cluster answers at {address}: {error}", "Expected tcp://HOST:PORT.") from error
        try:
            _expect_able(_asked(self._client, order))
            self.width = max(1, sum(self._client.nthreads().values()))
            # What a task gave is made again where all that held it have ended; what is scattered would be gone.
            self._bundle = self._client.submit(itself, bundle, pure=False)
        except BaseException:
            self._client.close()
            raise
        self._order = order
        self._executor = self._client.get_executor(pure=False)

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Have a function called in a process of some worker; arguments and result are pickled."""
        assert not named, "only what stands in place"
        found: Future[Any] = self._executor.submit(call_there, self._bundle, self._order, function, arguments)
        return found

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel what waits, and leave the cluster."""
        with suppress(Exception):  # a cluster that is gone already
            self._executor.shutdown(wait=False, cancel_futures=cancel_futures)
        with suppress(Exception):
            self._client.close()


def why_unable(version: str, isolation: str) -> str | None:
    """Return why this machine must not grade; None where it may."""
    if version != __version__:
        return f"has grader {__version__}, expected {version}"
    missing = tiers.why_missing(isolation)
    return None if missing is None else f"has no isolation {isolation!r}: {missing}"


def itself(bundle: Bundle) -> Bundle:
    """Return what a worker was sent, as the result of a task, which others fetch from it."""
    return bundle


def _asked(client: Any, order: Order) -> dict[str, str | None]:
    """Return the answer of every worker; where one ends meanwhile, all are asked again."""
    for _ in range(TRIES):
        try:
            found: dict[str, str | None] = client.run(why_unable, order.version, order.isolation)
            return found
        except OSError as error:  # a connection that closed, or that nobody answers
            lost = error
        time.sleep(NOTICED_SECONDS)
        with suppress(TimeoutError):
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)  # a nanny starts another
    what = f"the cluster's workers did not answer in {TRIES} tries: {str(lost) or type(lost).__name__}"
    raise GraderFault(what, "Look at their logs, and run the command again; nothing was sent.") from lost


def _expect_able(found: dict[str, str | None]) -> None:
    if not found:
        raise UsageError("the cluster has no workers", "Start some: `dask worker ADDRESS`.")
    unable = [f"{worker} {why}" for worker, why in sorted(found.items()) if why is not None]
    if unable:
        more = f"; and {len(unable) - SHOWN} more" if len(unable) > SHOWN else ""
        hint = "Every worker needs this grader and this isolation; nothing was sent."
        raise IsolationRefused("; ".join(unable[:SHOWN]) + more, hint)


def call_there(bundle: Bundle, order: Order, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Do a call on a worker, in a process beside it, which may die without the worker."""
    if (why := why_unable(order.version, order.isolation)) is not None:  # it came later than the others
        raise GraderFault(f"a worker {why}")
    try:
        return _pool(bundle, order).submit(function, *arguments).result()
    except GraderError:
        raise
    except Exception as error:  # what its module is, the other side may not know
        raise GraderFault(f"{type(error).__name__}: {error}") from None


def _pool(bundle: Bundle, order: Order) -> ProcessPool:
    with _making:
        key = bundle.digest, bundle.key, order
        if key not in _pools:
            # Dask's nanny marks its workers as daemons, whose children Python refuses; these end with their pipes.
            multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
            given = unpacked(bundle), *order.given
            _pools[key] = ProcessPool(_threads(), order.seconds, order.prepare, given, order.kind)
        return _pools[key]


def _threads() -> int:
    """Return how many calls this worker does at once."""
    from distributed import get_worker

    return int(get_worker().state.nthreads)


@dataclass(frozen=True)
class Bundle:
    """The files that grading needs, as a zip archive, and its SHA-256; key opens what is sealed."""

    data: bytes
    digest: str
    key: bytes | None = None


def packed(course: Course) -> Bundle:
    """Return a course's stages, answers, and what its own table names."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in _files(course):
            archive.writestr(zipfile.ZipInfo(path.relative_to(course.root).as_posix(), _WHEN), path.read_bytes())
    key_file = course.stages[0].key_file
    key = key_file.read_bytes() if key_file is not None else None
    return Bundle(out.getvalue(), hashlib.sha256(out.getvalue()).hexdigest(), key)


def _files(course: Course) -> Iterator[Path]:
    settings = course.settings
    if not course.stages[0].hidden_root.resolve().is_relative_to(course.root.resolve()):
        raise GraderFault("the hidden tests lie outside of the course, so that it cannot be sent to other machines")
    names = {STAGES, settings.hidden, settings.drawings, settings.demo.file if settings.demo else None, PROJECT}
    for name in sorted(filter(None, names)):
        place = course.root / name
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


def unpacked(bundle: Bundle) -> Course:
    """Return the course of a bundle, from a folder that only this user reads and that goes with this process."""
    known = bundle.digest, bundle.key
    if known not in _unpacked:
        if hashlib.sha256(bundle.data).hexdigest() != bundle.digest:
            raise GraderFault("the course came damaged")
        room = tempfile.TemporaryDirectory(prefix="grader-course-", ignore_cleanup_errors=True)
        root = Path(room.name) / "course"
        with zipfile.ZipFile(io.BytesIO(bundle.data)) as archive:
            archive.extractall(root)  # it comes from the process that gives out the work
        course = load_course(root)
        if bundle.key is not None:
            key = Path(room.name) / _KEY
            key.write_bytes(bundle.key)
            course = replace(course, stages=tuple(stage.with_key(key) for stage in course.stages))
        _unpacked[known] = room, course
    return _unpacked[known][1]
