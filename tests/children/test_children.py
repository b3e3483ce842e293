"""Child interpreters: none runs a file of the current folder, and no argument is a secret."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from grader import children
from grader.course.manifest import load_course
from grader.isolation import tiers
from grader.judging.fresh_judge import FreshJudges
from grader.judging.grading import Grader, Options
from grader.submission import take
from grader.worker.supervisor import below
from tests.support.command import NUMBERS, Place
from tests.support.places import HOUSE

SHADOWS = ("typing", "json", "tomli", "tomllib", "numpy", "msgpack", "multiprocessing", "selectors", "pytest", "rich")


@contextmanager
def judge(place: Place) -> Iterator[None]:
    """Have a judge run as where nothing forks."""
    course = load_course(place.root)
    stage = course.stages[0]
    with Grader(course, stage) as grader, closing(FreshJudges(stage)) as judges:
        snapshot = take(stage, None, course.root)
        judges.begin(grader._task(snapshot, Options(1, "process", fork=False), "process", None))
        yield


@pytest.fixture
def shadows(tmp_path: Path) -> tuple[Path, Path]:
    """Return a folder with files that have the names of modules, and the marker that each of them leaves."""
    folder, marker = tmp_path / "folder", tmp_path / "marker"
    folder.mkdir()
    for name in SHADOWS:
        text = f"import os\nwith open({str(marker)!r}, 'a') as file:\n    file.write('{name} ')\n"
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder, marker


def test_a_child_has_this_grader_these_packages_and_no_setting_of_pythons(
    shadows: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, marker = shadows
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setenv("PYTHONSTARTUP", str(folder / "json.py"))
    process = children.start(
        children.own("grader.__main__", "--version"), cwd=folder, stdout=subprocess.PIPE, text=True
    )
    assert process.communicate()[0].startswith("grader ") and process.returncode == 0
    assert not marker.exists()
    assert not [name for name in children.environment() if name.startswith("PYTHON")]


def test_a_secret_is_all_that_a_child_reads_from_its_standard_input() -> None:
    command = [*children.bare(), "-c", "import sys; print(sys.stdin.read(), sys.argv, sys.flags.isolated)"]
    process = children.start(command, secret=b"a secret", stdout=subprocess.PIPE, text=False)
    assert process.communicate()[0].split() == [b"a", b"secret", b"['-c']", b"1"]


def test_a_course_is_on_no_path_of_a_child(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(place.root))
    monkeypatch.syspath_prepend(str(place.numbers.parent))
    command = children.own("grader.__main__")
    path = json.loads(command[command.index("-c") + 2])["path"]
    assert path and not {"", str(place.root), str(place.numbers.parent), str(HOUSE.parent)} & set(path)


@pytest.mark.parametrize("arguments", [("--version",), ("class", "--help"), ("status",)])
def test_python_m_grader_runs_no_file_of_the_current_folder(shadows: tuple[Path, Path], arguments: Any) -> None:
    folder, marker = shadows
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "grader", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert not marker.exists(), marker.read_text()
    assert done.returncode in (0, 2) and "Traceback" not in done.stderr, done.stderr


def test_a_class_runs_no_file_of_the_current_folder(shadows: tuple[Path, Path], place: Place) -> None:
    folder, marker = shadows
    (folder / "handed" / "ada").mkdir(parents=True)
    (folder / "handed" / "ada" / "numbers_.py").write_text(NUMBERS, encoding="utf-8")
    for path in folder.glob("*.py"):
        path.rename(place.root / path.name)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    arguments = ["class", "grade", str(folder / "handed"), "--stage", "s01", "--out", str(folder / "out")]
    isolation = ["--isolation", "process", "--require-isolation", "process"]
    done = subprocess.run(
        [sys.executable, "-m", "grader", *arguments, *isolation], cwd=place.root, env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "s01: 1 passed, 0 did not\n"), done.stderr
    assert not marker.exists(), marker.read_text()


class TestAJudgeThatIsNoFork:
    def test_no_file_of_the_current_folder_runs_in_it(
        self, shadows: tuple[Path, Path], place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder, marker = shadows
        monkeypatch.chdir(folder)
        with judge(place):
            pass
        assert not marker.exists(), marker.read_text()

    @pytest.mark.skipif(sys.platform != "linux", reason="reads arguments and environments from /proc")
    def test_its_token_stands_in_no_argument_and_no_environment(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        token = b"\x01t0k" * 8
        monkeypatch.setattr(secrets, "token_bytes", lambda number: token[:number])
        with judge(place):
            shown = _shown()
        assert b"grader.judging.fresh_judge" in shown
        assert token not in shown and token.hex().encode() not in shown

    @pytest.mark.skipif(sys.platform != "linux", reason="reads arguments and environments from /proc")
    def test_nor_does_its_workers(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        token = b"\x01w0r" * 8
        monkeypatch.setattr(os, "urandom", lambda number: token[:number])
        started = tiers.start("process", tmp_path, fork=False)
        try:
            shown = _shown()
        finally:
            started.kill()
        assert b"grader/worker/main.py" in shown
        assert token not in shown and token.hex().encode() not in shown

    def test_whoever_else_connects_is_turned_away(self, tmp_path: Path) -> None:
        with socket.create_server(("127.0.0.1", 0), backlog=4) as listener:
            port = listener.getsockname()[1]
            strangers = [socket.create_connection(("127.0.0.1", port)) for _ in range(2)]
            strangers[0].sendall(b"x" * 32)
            strangers[1].close()
            code = "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); "
            code += "s.sendall(sys.stdin.buffer.read()); s.sendall(b'here'); s.recv(1)"
            process = children.start([*children.bare(), "-c", code, str(port)], secret=b"t" * 32)
            with tiers.accepted(listener, b"t" * 32, process) as connection:
                assert connection.recv(4) == b"here"
            assert strangers[0].recv(1) == b""
            strangers[0].close()
            process.wait()

    def test_one_that_ends_at_once_is_not_waited_for(self) -> None:
        with socket.create_server(("127.0.0.1", 0), backlog=4) as listener:
            process = children.start([*children.bare(), "-c", "raise SystemExit(7)"])
            with pytest.raises(OSError, match="exit code 7"):
                tiers.accepted(listener, b"t" * 32, process, seconds=600)


def _shown() -> bytes:
    """Return what every user can read of the processes below this one, and what their own user can."""
    found = [Path(f"/proc/{each}/{name}") for each in below(os.getpid()) for name in ("cmdline", "environ")]
    return b"\n".join(path.read_bytes() for path in found if path.exists())


def test_what_python_takes_from_a_parents_surroundings_stays_there(tmp_path: Path) -> None:
    (tmp_path / "msgpack.py").write_text("")
    code = "import json; from grader import children; print(json.dumps(children.own('grader.__main__', '--version')))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), ""])}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, cwd=HOUSE.parent, check=True
    )
    command = json.loads(done.stdout)
    assert "-S" in command, "sitecustomize would run"
    path = json.loads(command[command.index("-c") + 2])["path"]
    assert path and not {str(tmp_path), str(HOUSE.parent), ""} & set(path)


def test_python_m_grader_in_a_removed_folder_says_so_in_words(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    start = "os.execv(sys.executable, [sys.executable, '-m', 'grader', '--version'])"
    code = f"import os, sys; os.rmdir(os.getcwd()); {start}"
    done = subprocess.run([sys.executable, "-c", code], cwd=gone, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr, done.stderr
