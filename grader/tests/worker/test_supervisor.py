"""The supervisor's bounds on all that a learner's processes take together; test_leftovers.py holds it to its work."""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path

import pytest

from grader.tests.support.alone import alone
from grader.worker import supervisor

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a supervisor needs Linux")


def over(folder: Path) -> int:
    return supervisor.excess(os.getpid(), str(folder))


def test_within_bounds(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert over(tmp_path) == 0


def test_too_many_files_at_any_depth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "SCRATCH_FILES", 4)
    folder = tmp_path / "a" / "b" / "c"
    folder.mkdir(parents=True)
    (folder / "file").touch()
    assert over(tmp_path) == 0
    (folder / "another").touch()
    assert over(tmp_path) == supervisor.TOO_MANY_FILES


def test_too_much_written_in_all_files_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "SCRATCH_BYTES", 1 << 20)
    (tmp_path / "folder").mkdir()
    (tmp_path / "one").write_bytes(os.urandom(600 << 10))
    assert over(tmp_path) == 0
    (tmp_path / "folder" / "other").write_bytes(os.urandom(600 << 10))
    assert over(tmp_path) == supervisor.TOO_MUCH_WRITTEN


def test_no_link_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "SCRATCH_FILES", 10)
    (tmp_path / "link").symlink_to("/usr")
    (tmp_path / "round").symlink_to(tmp_path)
    assert over(tmp_path) == 0


def test_what_is_mounted_there_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the interpreter lies below the folder that is scratch inside."""
    monkeypatch.setattr(supervisor, "SCRATCH_FILES", 3)
    (tmp_path / "mounted").mkdir()
    for number in range(5):
        (tmp_path / "mounted" / str(number)).touch()
    assert over(tmp_path) == supervisor.TOO_MANY_FILES
    monkeypatch.setattr(supervisor, "_disk", lambda folder: -1)
    assert over(tmp_path) == 0


def test_a_folder_that_is_gone_takes_nothing(tmp_path: Path) -> None:
    assert over(tmp_path / "absent") == 0


@pytest.mark.parametrize(
    ("bound", "sizes", "too_much"),
    [
        (100, {0: 30, 1: 31, 2: 32}, False),  # forks of a worker share what it has
        (100, {0: 30, 1: 100, 2: 100}, False),
        (100, {0: 30, 1: 120, 2: 120}, True),
        (100, {0: 201}, True),
        (None, {0: 10**9}, False),
    ],
)
def test_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: int | None, sizes: dict[int, int], too_much: bool
) -> None:
    monkeypatch.setattr(supervisor, "address_space_of", lambda process: bound)
    monkeypatch.setattr(supervisor, "below", lambda process: {each for each in sizes if each})
    monkeypatch.setattr(supervisor, "memory_of", sizes.__getitem__)
    assert (supervisor.excess(0, str(tmp_path)) == supervisor.TOO_MUCH_MEMORY) == too_much


def test_the_exit_code_says_which_bound_it_was(tmp_path: Path) -> None:
    found = alone(f"""
        import os, socket, time
        from grader.worker import supervisor
        supervisor.SCRATCH_FILES = 0
        open({str(tmp_path / "file")!r}, "w").close()
        ours, theirs = socket.socketpair()
        process = os.fork()
        if process == 0:
            ours.close()
            supervisor.supervise(theirs, {str(tmp_path)!r})
            time.sleep(60)
        theirs.close()
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
    """)
    assert found == supervisor.TOO_MANY_FILES


@pytest.mark.parametrize("end", ["ours.close()", "os.kill(worker, 9)"], ids=["the connection", "the worker"])
def test_it_leaves_with(end: str, tmp_path: Path) -> None:
    started = time.monotonic()
    found = alone(f"""
        import os, socket, time
        from grader.worker import kernel
        from grader.worker import supervisor
        from grader.worker import process_tree
        ours, theirs = socket.socketpair()
        process = os.fork()
        if process == 0:
            ours.close()
            supervisor.supervise(theirs, {str(tmp_path)!r})
            if os.fork() == 0:
                os.setsid()
            theirs.send(b"x")
            time.sleep(60)
        theirs.close()
        ours.recv(1)
        ours.recv(1)
        running = process_tree.below(process)
        (worker,) = process_tree.children_of(process)
        {end}
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        print([code, len(running), [each for each in running if os.path.exists("/proc/%d" % each)]])
    """)
    assert found == [0, 2, []]
    assert time.monotonic() - started < 20


def test_what_a_worker_leaves_before_its_parent_has_begun_is_ended(tmp_path: Path) -> None:
    """On a loaded machine a parent may come to run long after its child."""
    found = alone(f"""
        import os, socket, time
        from grader.worker import supervisor
        ours, theirs = socket.socketpair()
        fork = os.fork

        def late():
            number = fork()
            if number:
                time.sleep(1)
            return number

        process = fork()
        if process == 0:
            ours.close()
            os.fork = late
            supervisor.supervise(theirs, {str(tmp_path)!r})
            if fork() == 0:
                os.setsid()
                theirs.send(str(os.getpid()).encode())
                time.sleep(15)
            os._exit(0)
        theirs.close()
        left = int(ours.recv(20))
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        print([code, os.path.exists("/proc/%d" % left)])
    """)
    assert found == [0, False]


def test_an_end_of_the_connection_is_told_without_reading() -> None:
    """What the supervisor relies on: a closed socket shows, and what lies in it unread does not."""
    import select

    ours, theirs = socket.socketpair()
    with theirs:
        poll = select.poll()
        poll.register(theirs, 0)
        ours.send(b"x")
        assert poll.poll(0) == []
        ours.close()
        assert poll.poll(1000) != []
