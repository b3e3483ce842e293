"""The world that attacks are graded in: a small course with secrets in every corner, and services that listen."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import re
import secrets
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest import mock

from grader.course.manifest import load_course
from grader.course.stage import Course, Stage
from grader.errors import SubmissionError
from grader.isolation import users
from grader.judging.grading import Grader, Options
from grader.report.document import dumps, verdict_document
from grader.report.feedback import known_names, shown
from grader.sandbox import process
from grader.submission import take
from tests.attacked.archive import archive, filled, pack
from tests.attacked.catalogue import Attack
from tests.attacked.course import HIDDEN, HONEST, MANIFEST, MISTAKES, PLANTED, PUBLIC, ROW
from tests.attacked.result import Result
from tests.attacked.services import Services
from tests.conftest import SmallCourse
from tests.pace.kept import begin_anew, clean_processes
from tests.pace.matrix import BRIEF, search_times
from tests.support.places import ROOT

AUTHORS = load_course(ROOT)
MEMORY_MB = 400  # more than the largest result takes on its way


class World:
    """A course, a gradebook, a neighbour's work and services, all in a folder that everyone may read."""

    def __init__(self, stack: ExitStack, is_full: bool, ahead: bool = False) -> None:
        self._is_full = is_full
        self._ahead = ahead
        self.root = Path(tempfile.mkdtemp(prefix="attacks-"))
        stack.callback(shutil.rmtree, self.root, ignore_errors=True)
        self.token = secrets.token_hex(8)
        self.course = SmallCourse(self.root)
        rows = "".join(map(ROW.format, ("double", "visit", "tell")))
        self.course.write(
            manifest=MANIFEST.format(rows=rows),
            solution=f'{HONEST}\n\n    NOTE = "{self.token}-reference"\n',
            public=PUBLIC,
            hidden=HIDDEN.format(token=self.token, length=len(self.token) + 7),
            mistakes=MISTAKES.format(token=self.token),
        )
        self._stage = self.course.stage
        (self.root / "gradebook.json").write_text(f'{{"other": "{self.token}-marks"}}')
        (self.root / "neighbour.py").write_text(f"# {self.token}-neighbour\n")
        self.workers = self.root / "workers"
        self.workers.mkdir()
        for folder in (self.root, *(path for path in self.root.rglob("*") if path.is_dir())):
            folder.chmod(0o755)
        self._secret = ctypes.create_string_buffer(f"{self.token}-memory".encode(), 100)
        self.signals: list[int] = []
        self._services = Services(stack, self.root)
        self._places = self._known_places()
        self._files = dict(self._digests())
        self._graders: dict[str, Grader] = {}
        stack.callback(self._forget)

    def _known_places(self) -> dict[str, object]:
        return {
            "COURSE": self.course.root, "ANSWERS": self.course.hidden.parent, "GRADEBOOK": self.root / "gradebook.json",
            "NEIGHBOUR": self.root / "neighbour.py", "PID": os.getpid(), "ADDRESS": ctypes.addressof(self._secret),
            "AUTHORS": AUTHORS.root, "PORT": self._services.port, "ABSTRACT": self.root.name,
            "SOCKET": self.root / "service", "LOG": self.root / "log", "TOKEN_HINT": self.token[:6],
        }  # fmt: skip

    @contextmanager
    def hearing(self) -> Iterator[None]:
        """Note the signals that attacks send to this process, which would end it."""
        before = signal.signal(signal.SIGUSR1, lambda number, frame: self.signals.append(number))
        try:
            yield
        finally:
            signal.signal(signal.SIGUSR1, before)

    @contextmanager
    def grading(self) -> Iterator[None]:
        """Have workers live in a folder of the world while one submission is graded, and no other temporary files."""
        with ExitStack() as stack:
            stack.enter_context(mock.patch.dict(os.environ, {"GRADER_SECRET": f"{self.token}-environment"}))
            stack.enter_context(mock.patch.object(tempfile, "tempdir", str(self.workers)))
            stack.enter_context(mock.patch.object(process, "LOAD_SECONDS", 3.0))
            for place, name, seconds in search_times(1.0 if self._is_full else BRIEF):
                stack.enter_context(mock.patch.object(place, name, seconds))
            yield

    def placed(self, text: str) -> str:
        """Return a text with the places that it names; attackers know all of them."""
        for name, value in self._places.items():
            text = text.replace(f"@{name}@", str(value))
        return text

    def grade(self, attack: Attack, tier: str) -> Result:
        """Grade an attack as `grader check --submission` does."""
        course, stage = self.place_of(attack)
        folder = self.root / "handed_in"
        shutil.rmtree(folder, ignore_errors=True)
        try:
            self._write(folder, attack, stage.module)
            handed_in = archive(folder, attack.packed) if attack.packed else folder
            if attack.files or attack.links:  # they may be after the tests that are loaded: those are not kept
                self._forget()
            only = "" if self._is_full or stage.id == "s90" else attack.row
            return self._graded(handed_in, tier, attack.feedback, (course, stage), only)
        finally:
            shutil.rmtree(folder)

    def place_of(self, attack: Attack) -> tuple[Course, Stage]:
        """Return the course and the stage that an attack is handed in for."""
        course = self.course.course if attack.stage == "s90" else AUTHORS
        return course, course.find(attack.stage)

    def _write(self, folder: Path, attack: Attack, module: str) -> None:
        folder.mkdir()
        linked = attack.links.keys() & {module, "stages"}
        texts = {} if linked else {module: self.placed(attack.source)}
        texts |= {name: self.placed(text.replace("@PLANTED@", PLANTED)) for name, text in attack.files.items()}
        if attack.packed:
            links = {name: self.placed(target) for name, target in attack.links.items()}
            pack(folder, attack.packed, {self.placed(name): filled(text) for name, text in texts.items()}, links)
            return
        for name, text in texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(filled(text))
        for name, target in attack.links.items():
            (folder / name).symlink_to(self.placed(target))

    def honest(self, tier: str) -> Result:
        """Grade the honest submission."""
        folder = self.root / "honest"
        folder.mkdir(exist_ok=True)
        self.course._put(folder / "small.py", HONEST)
        return self._graded(folder, tier)

    def grader(self, course: Course, stage: Stage) -> Grader:
        """Return what grades; one that asks ahead is warm."""
        return Grader(course, stage, warm=self._ahead)

    def options(self, tier: str, only: str | None = None) -> Options:
        """Return how it grades; where it asks ahead, the tests are planned before the first grading."""
        return Options(1, tier, only, recurs=self._ahead)

    def runs_as_root(self, tier: str) -> bool:
        """Say whether a tier leaves learners' code root's rights: then no attack is let loose in it."""
        if not users.is_root() or (users.is_counted() and not users.can_change()):  # in name alone
            return False
        asking = "import os\n\ndef double(x):\n    raise ValueError(f'user {os.getuid()}')\n"
        folder = self.root / "asking"
        folder.mkdir(exist_ok=True)
        self.course._put(folder / "small.py", asking)
        return re.search(r"user [1-9]", self._graded(folder, tier).text) is None

    def _graded(
        self, folder: Path, tier: str, feedback: Any = "full", of: tuple[Course, Stage] | None = None, only: str = ""
    ) -> Result:
        course, stage = of or (self.course.course, self._stage)
        started = time.monotonic()
        try:
            snapshot = take(stage, folder, course.root)
        except SubmissionError as error:
            return Result(None, json.dumps({"refused": str(error)}), time.monotonic() - started)
        grader = self._graders.setdefault(stage.id, self.grader(course, stage))
        with self.grading():
            found = grader.grade(snapshot, self.options(tier, only or None))
        verdict = shown(found, feedback, known_names(stage))
        return Result(verdict, dumps(verdict_document(verdict)), time.monotonic() - started)

    def _forget(self) -> None:
        """Have the next submissions graded with tests that are loaded anew."""
        while self._graders:
            self._graders.popitem()[1].close()

    def visits(self) -> list[str]:
        """Return what reached a service or the grader since the last call."""
        found = [f"signal {number}" for number in self.signals]
        self.signals.clear()
        return [*found, *self._services.visits()]

    def changes(self) -> set[str]:
        """Return the files that are not as they were; the world is put right again where one was added."""
        now = dict(self._digests())
        return {path for path in now.keys() | self._files.keys() if now.get(path) != self._files.get(path)}

    def _digests(self) -> Iterator[tuple[str, str]]:
        for top in (self.course.root, self.course.hidden.parent, self.root / "gradebook.json"):
            for path in [top, *top.rglob("*")]:
                if path.is_file() and "__pycache__" not in path.parts:
                    yield str(path), hashlib.sha256(path.read_bytes()).hexdigest()

    def secret_in_memory(self) -> bytes:
        """Return what stands in the grader's memory where attackers know of a secret."""
        return self._secret.value

    def survivors(self) -> list[str]:
        """Return the processes that are left of learners' processes, after a moment to end in."""
        for _ in range(40):
            if not (left := list(self._left())):
                return []
            time.sleep(0.05)
        return left

    def _left(self) -> Iterator[str]:
        """Yield processes that were started with, run in, or have mounted a folder of our workers."""
        mark = str(self.workers).encode()
        clean = {os.getpid(), *clean_processes()}
        for name in filter(str.isdigit, os.listdir("/proc")):
            if int(name) in clean:
                continue
            told = b""
            for file in ("cmdline", "mountinfo"):
                with suppress(OSError):
                    told += Path(f"/proc/{name}/{file}").read_bytes()
            with suppress(OSError):
                told += os.readlink(f"/proc/{name}/cwd").encode()
            if mark in told:
                yield f"{name}: {told[:200]!r}"


@contextmanager
def world(is_full: bool, ahead: bool = False) -> Iterator[World]:
    """Give a world and take all of it away again.

    is_full, nothing that an attack may do there is shortened; ahead, questions are asked before the tests run.
    """
    begin_anew()  # else workers would not live in the folder in which this world looks for them
    with ExitStack() as stack:
        yield World(stack, is_full, ahead)
