"""The supervisor's bounds on all that a learner's processes take together; test_leftovers.py holds it to its work."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from grader.worker import supervisor
from tests.support.alone import alone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="children are adopted on Linux only")
START = """
import os, signal, sys, time
from grader.worker import kernel
from grader.worker.supervisor import Children, below
kernel.adopt_orphans()
children = Children()
def leave(*steps):
    "Start a process that does something, and then nothing; return its number, and that of a child of its own."
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        inner = os.fork()
        for step in steps:
            step()
        if inner:
            os.write(write, b"%d" % inner)
        while True:
            time.sleep(60)
    return process, int(os.read(read, 20))
def there(process):
    return os.path.exists("/proc/%d" % process)
"""


@pytest.mark.parametrize("listed", [True, False], ids=["with the kernel's list", "without"])
@pytest.mark.parametrize(
    "step",
    [
        "os.setsid",
        "lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN)",
        "lambda: signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))",
    ],
)
def test_all_are_ended(step: str, listed: bool) -> None:
    forget = "" if listed else "children.close(); children._file = None"
    found = alone(f"{START}\n{forget}\nleft = leave({step})\nprint([children.end(), [there(each) for each in left]])")
    assert found == [True, [False, False]]


def test_what_has_stopped_itself_is_ended() -> None:
    code = f"""{START}
process = os.fork()
if process == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
os.waitpid(process, os.WUNTRACED)
print([children.end(), there(process)])
"""
    assert alone(code) == [True, False]


def test_a_bomb_is_ended() -> None:
    """Each process forks as fast as it can, until the limit, and again whenever another one ends."""
    code = f"""{START}
import resource
process = os.fork()
if process == 0:
    if os.getuid() == 0:
        os.setgid(54321)
        os.setuid(54321)
    resource.setrlimit(resource.RLIMIT_NPROC, (30, 30) if os.getuid() == 54321 else resource.getrlimit(7))
    until = time.monotonic() + 50
    while time.monotonic() < until:
        try:
            if os.fork() == 0:
                os.setsid()
        except OSError:
            pass
    os._exit(0)
many, until = 0, time.monotonic() + 30
while many <= 5 and time.monotonic() < until:
    time.sleep(0.1)
    many = len(below(os.getpid()))
print([many > 5, children.end(seconds=15), list(below(os.getpid()))])
"""
    if os.getuid() != 0:
        pytest.skip("needs a user of its own to bound the bomb")
    assert alone(code, seconds=120) == [True, True, []]


def test_some_can_be_spared() -> None:
    code = f"{START}\na, b = leave(), leave()\nprint([children.end({{a[0]}}), [there(n) for n in (*a, *b)]])"
    found = alone(code + "\nchildren.end()")
    assert found == [True, [True, True, False, False]]


def test_no_children_are_ended_at_once() -> None:
    assert alone(f"{START}\nprint([children.numbers() == set(), children.end(seconds=0)])") == [True, True]


def test_it_says_when_it_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        children = supervisor.Children()
        assert child.pid in children.numbers()

        def refuse(*_: int) -> None:
            raise PermissionError

        with monkeypatch.context() as patch:
            patch.setattr(os, "kill", refuse)
            others = children.numbers() - {child.pid}
            assert not children.end(others)
        children.close()
        child.kill()


def test_it_says_when_time_is_up() -> None:
    assert alone(f"{START}\nleave()\nprint([children.end(seconds=-1)])\nchildren.end()") == [False]


def test_what_a_process_takes() -> None:
    own = os.getpid()
    assert 1 << 20 < supervisor.memory_of(own) < 1 << 36
    assert supervisor.parent_of(own) == os.getppid()
    code = "import resource, sys; resource.setrlimit(9, (1 << 33, 1 << 33)); print(1, flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert supervisor.address_space_of(child.pid) == 1 << 33
        assert child.pid in supervisor.below(own) and child.pid in supervisor.children_of(own)
        child.communicate("")


def test_an_unbounded_address_space() -> None:
    lines = Path("/proc/self/limits").read_text().splitlines()
    limit = next(line for line in lines if "Max address space" in line)
    assert "unlimited" not in limit or supervisor.address_space_of(os.getpid()) is None


def test_a_process_that_has_ended_takes_nothing() -> None:
    with subprocess.Popen(["true"]) as child:
        child.wait()
    number = child.pid
    assert (supervisor.memory_of(number), supervisor.parent_of(number), supervisor.children_of(number)) == (
        0,
        0,
        set(),
    )
    assert supervisor.address_space_of(number) is None and supervisor.below(number) == set()


def test_without_proc_nobody_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(os, "listdir", fails)
    assert supervisor.everyone() == set()


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
    found = alone(
        f"""
        import os, socket, time
        from grader.worker import kernel
        from grader.worker import supervisor
        ours, theirs = socket.socketpair()
        process = os.fork()
        if process == 0:
            ours.close()
            supervisor.supervise(theirs, {str(tmp_path)!r})
            if os.fork() == 0:
                os.setsid()
            theirs.send(b"x")
            time.sleep(600)
        theirs.close()
        ours.recv(1)
        ours.recv(1)
        running = supervisor.below(process)
        (worker,) = supervisor.children_of(process)
        {end}
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        print([code, len(running), [each for each in running if os.path.exists("/proc/%d" % each)]])
    """,
        seconds=60,
    )
    assert found == [0, 2, []]


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
