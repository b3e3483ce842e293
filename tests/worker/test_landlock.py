"""Landlock: what is allowed works, the rest does not, at every level of it."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from grader.worker import kernel
from tests.support.alone import alone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what the kernel of Linux has")
needs_landlock = pytest.mark.skipif(kernel.landlock_abi() < kernel.LEAST_ABI, reason="needs Landlock with ABI 4")
ENCLOSED = """
import encodings.idna, os, socket, subprocess, sys
from grader.worker import kernel
inside, outside, abi = sys.argv[1], sys.argv[2], int(sys.argv[3])
known = kernel.landlock_abi()
kernel.landlock_abi = lambda: min(abi, known)
plan = {"around": [], "holes": [], "read": [inside + "/read"], "use": ["/dev/null"], "write": [inside + "/write"]}
kernel.set_no_new_privileges()
kernel.restrict(kernel.rules_for(plan))
"""


@pytest.fixture
def places(tmp_path: Path) -> tuple[str, str]:
    for path in ("inside/read", "inside/write", "outside"):
        (tmp_path / path).mkdir(parents=True)
        (tmp_path / path / "file").write_text("x")
    (tmp_path / "inside/read/link").symlink_to(tmp_path / "outside/file")
    return str(tmp_path / "inside"), str(tmp_path / "outside")


@needs_landlock
@pytest.mark.parametrize("abi", range(4, 8))
def test_files_at_each_level(places: tuple[str, str], abi: int) -> None:
    found = alone(
        f"""{ENCLOSED}
def write(path):
    with open(path, "w") as file:
        return file.write("x")
print([
    tried(lambda: open(inside + "/read/file").read()),
    tried(write, inside + "/write/new"),
    tried(lambda: os.rename(inside + "/write/new", inside + "/write/other")),
    tried(lambda: os.remove(inside + "/write/other")),
    tried(write, "/dev/null"),
    tried(lambda: open(outside + "/file").read()),
    tried(lambda: open(inside + "/read/link").read()),
    tried(os.listdir, outside),
    tried(write, outside + "/new"),
    tried(write, inside + "/read/file"),
    tried(lambda: os.rename(inside + "/write/file", inside + "/read/moved")),
    tried(lambda: os.symlink("/", inside + "/write/link")),
    tried(lambda: os.mkfifo(inside + "/write/fifo")),
    tried(lambda: subprocess.run(["/bin/true"])),
])""",
        *places,
        str(abi),
    )
    assert found[:5] == ["x", 1, None, None, 1]
    assert found[5:] == ["PermissionError"] * 9


@needs_landlock
def test_truncation_is_a_way_of_writing(places: tuple[str, str]) -> None:
    code = f"{ENCLOSED}\nprint([tried(os.truncate, path, 0) for path in (inside + '/write/file', outside + '/file')])"
    assert alone(code, *places, "7") == [None, "PermissionError"]


@needs_landlock
def test_tcp(places: tuple[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        code = f"""{ENCLOSED}
port = {listener.getsockname()[1]}
def bound():
    socket.create_server(("127.0.0.1", 0)).close()
print([tried(lambda: socket.create_connection(("127.0.0.1", port)).close()), tried(bound)])
"""
        assert alone(code, *places, "4") == ["PermissionError"] * 2


@pytest.mark.skipif(kernel.landlock_abi() < kernel.SCOPING_ABI, reason="needs Landlock with ABI 6")
def test_signals_and_abstract_sockets(places: tuple[str, str]) -> None:
    name = b"\0grader-test-%d" % os.getpid()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(name)
        listener.listen()
        code = f"""{ENCLOSED}
with socket.socket(socket.AF_UNIX) as out:
    print([tried(out.connect, {name!r}), tried(os.kill, {os.getpid()}, 0), tried(os.kill, os.getpid(), 0)])
"""
        assert alone(code, *places, "6") == ["PermissionError", "PermissionError", None]
        assert alone(code, *places, "5") == [None, None, None]


@pytest.mark.skipif(kernel.landlock_abi() < kernel.SCOPING_ABI, reason="needs Landlock with ABI 6")
def test_signals_alone(tmp_path: Path) -> None:
    found = alone(f"""
        import os
        from grader.worker import kernel
        kernel.set_no_new_privileges()
        kernel.scope_signals()
        print([tried(os.kill, {os.getpid()}, 0), tried(os.listdir, {str(tmp_path)!r})])
    """)
    assert found == ["PermissionError", []]


def test_an_older_kernel_scopes_no_signals(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def fails(*arguments: object) -> int:
        made.append(1)
        return -1

    monkeypatch.setattr(kernel, "_syscall", fails)
    monkeypatch.setattr(kernel, "landlock_abi", lambda: 5)
    kernel.scope_signals()
    assert made == []
    monkeypatch.setattr(kernel, "landlock_abi", lambda: 6)
    kernel.scope_signals()  # that fails, and is no more than a second guard
    assert made == [1]


class TestFailures:
    def test_no_landlock(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(kernel, "_syscall", lambda *_: -1)
        assert kernel.landlock_abi() == 0
        with pytest.raises(kernel.Unconfined, match="Landlock makes no rules here"):
            kernel.rules_for({"around": [], "holes": [], "read": [], "use": [], "write": []})

    @needs_landlock
    def test_a_place_that_takes_no_rule(self) -> None:
        with pytest.raises(kernel.Unconfined, match="takes no rule for /proc/self/ns/net"):
            kernel.rules_for({"around": [], "holes": [], "read": ["/proc/self/ns/net"], "use": [], "write": []})

    @needs_landlock
    def test_a_place_that_is_not_there(self, tmp_path: Path) -> None:
        absent = str(tmp_path / "absent")
        os.close(kernel.rules_for({"around": [absent], "holes": [], "read": [absent], "use": [], "write": []}))

    def test_rules_that_are_none(self) -> None:
        with open("/dev/null") as file, pytest.raises(kernel.Unconfined, match="cannot be put up"):
            kernel.restrict(os.dup(file.fileno()))
