"""The executor on a cluster: what travels, who is refused, and that results are those of this machine."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader import __version__
from grader.course.manifest import load_course
from grader.course.stage import Course
from grader.errors import GraderFault, IsolationRefused, UsageError
from grader.gradebook import cluster
from grader.gradebook.cluster import Cluster, Order, _expect_able, _pools, packed, unpacked, why_unable
from grader.gradebook.job import course_version
from grader.gradebook.process_pool import WorkerDied
from tests.support.command import Place


def order(version: str = __version__) -> Order:
    return Order(version, "process", 60.0, print, ())


def test_a_course_arrives_as_it_was_sent(place: Place) -> None:
    course = load_course(place.root)
    bundle = packed(course)
    there = unpacked(bundle)
    assert there.root != course.root and there is unpacked(bundle)
    assert [course_version(stage) for stage in there.stages] == [course_version(stage) for stage in course.stages]
    assert packed(course) == bundle
    with pytest.raises(GraderFault, match="damaged"):
        unpacked(replace(bundle, digest="0" * 64))


def test_the_key_of_sealed_tests_goes_along(place: Place, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"secret")
    course = load_course(place.root)
    course = replace(course, stages=tuple(stage.with_key(tmp_path / "key") for stage in course.stages))
    (key,) = {stage.key_file for stage in unpacked(packed(course)).stages}
    assert key and key != tmp_path / "key" and key.read_bytes() == b"secret"
    assert key.parent.stat().st_mode & 0o077 == 0


def test_hidden_tests_that_lie_elsewhere_are_not_sent(place: Place, tmp_path: Path) -> None:
    with pytest.raises(GraderFault, match="outside of the course"):
        packed(load_course(place.root, tmp_path))


def test_a_worker_that_cannot_grade_is_named_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    assert why_unable(__version__, "process") is None
    assert why_unable("9.9", "process") == f"has grader {__version__}, expected 9.9"
    monkeypatch.setattr("grader.isolation.tiers.why_missing", lambda tier: "no user namespaces")
    assert why_unable(__version__, "bubblewrap") == "has no isolation 'bubblewrap': no user namespaces"
    with pytest.raises(UsageError, match="has no workers"):
        _expect_able({})
    with pytest.raises(IsolationRefused, match=r"^tcp://b has grader 1$") as found:
        _expect_able({"tcp://a": None, "tcp://b": "has grader 1"})
    assert found.value.hint and "nothing was sent" in found.value.hint


class Client:
    """What the grader uses of Dask's client; its one worker is a thread of this process."""

    def __init__(self, address: str, **options: Any) -> None:
        self.closed = False
        self.workers = {address: 1}

    def nthreads(self) -> dict[str, int]:
        return self.workers

    def run(self, function: Any, *arguments: Any) -> dict[str, Any]:
        return {worker: function(*arguments) for worker in self.workers}

    def submit(self, function: Any, *arguments: Any, **options: Any) -> Any:
        return function(*arguments)

    def wait_for_workers(self, number: int, timeout: float) -> None:
        if not self.workers:
            raise TimeoutError

    def get_executor(self, **options: Any) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1)

    def close(self) -> None:
        self.closed = True


SEEN: list[Any] = []


def prepare(course: Course, more: str) -> None:
    SEEN[:] = [[stage.id for stage in course.stages], more]


def seen() -> tuple[list[Any], int]:
    return SEEN, os.getpid()


def fail() -> None:
    raise KeyError("not there")


def test_a_call_is_done_in_a_process_beside_its_worker(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = SimpleNamespace(state=SimpleNamespace(nthreads=1))
    dask = SimpleNamespace(Client=Client, get_worker=lambda: worker)
    monkeypatch.setitem(sys.modules, "distributed", dask)
    given = replace(order(), prepare=prepare, given=("more",))
    there = Cluster("tcp://a", packed(load_course(place.root)), given)
    assert there.width == 1
    found, process = there.submit(seen).result(60)
    assert found == [["s01", "s02"], "more"] and process != os.getpid()
    with pytest.raises(GraderFault, match="KeyError: 'not there'"):
        there.submit(fail).result(60)
    with pytest.raises(WorkerDied):
        there.submit(os._exit, 3).result(60)
    assert there.submit(seen).result(60)[1] != process
    there.shutdown()
    assert there._client.closed
    for pool in _pools.values():
        pool.shutdown()
    _pools.clear()
    with pytest.raises(IsolationRefused, match="tcp://a has grader"):
        Cluster("tcp://a", packed(load_course(place.root)), order("9.9"))


class Losing(Client):
    """A client some of whose workers end while they are asked, so many times."""

    losses = 0

    def run(self, function: Any, *arguments: Any) -> dict[str, Any]:
        if Losing.losses:
            Losing.losses -= 1
            raise ConnectionResetError("Stream is closed")
        return super().run(function, *arguments)


@pytest.fixture
def losing(monkeypatch: pytest.MonkeyPatch) -> type[Losing]:
    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(Client=Losing))
    monkeypatch.setattr(cluster, "NOTICED_SECONDS", 0.0)
    return Losing


def test_workers_are_asked_again_where_one_ends_meanwhile(losing: type[Losing], place: Place) -> None:
    losing.losses = cluster.TRIES - 1
    found = Cluster("tcp://a", packed(load_course(place.root)), order())
    assert (losing.losses, found.width) == (0, 1)
    found.shutdown()
    losing.losses = 1
    with pytest.raises(IsolationRefused, match="tcp://a has grader"):
        Cluster("tcp://a", packed(load_course(place.root)), order("9.9"))


def test_workers_that_never_answer_are_told(losing: type[Losing], place: Place) -> None:
    losing.losses = cluster.TRIES
    with pytest.raises(GraderFault, match=f"did not answer in {cluster.TRIES} tries: Stream is closed") as found:
        Cluster("tcp://a", packed(load_course(place.root)), order())
    assert found.value.hint and "run the command again" in found.value.hint


def test_without_dask_the_extra_is_named(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match="needs Dask") as found:
        Cluster("tcp://127.0.0.1:1", packed(load_course(place.root)), order())
    assert found.value.hint == "`uv sync --extra cluster` installs it; without uv: pip install distributed."
