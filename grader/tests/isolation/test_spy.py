"""A learner's file that looks everywhere finds no test, no reference and no expected value."""

from __future__ import annotations

import json
from typing import Any

import pytest

from grader.isolation import bundle, tiers
from grader.tests.conftest import Graded, SmallCourse

# Each secret is written in the course in two halves or not at all as here, so that this file does not give it away.
SECRET = {
    "test": "MARK_OF_THE_" + "HIDDEN_TEST",
    "reference": "MARK_OF_THE_" + "REFERENCE",
    "mistake": "MARK_OF_THE_" + "MISTAKE",
    "expected": "9071" + "50321.125",
}

MANIFEST = """
    schema = 1
    id = "s90"
    title = "Small things"
    module = "small.py"
    requires = []

    [limits]
    stage_seconds = 60
    call_seconds = 40
    memory_mb = 1024

    [[criteria]]
    id = "look"
    text = "look around"
    functions = ["look"]
    needs = []
    hints = ["a", "b", "c"]
"""

SOLUTION = f'''
    def look(x):
        return "{SECRET["reference"]}"
'''

MISTAKES = f'''
    @mistake(criterion="look", replaces="look", text="{SECRET["mistake"]}", fix="x")
    def looks_away(x):
        return None
'''

HIDDEN = f'''
    EXPECTED = float("{SECRET["expected"]}")


    @pytest.mark.criterion("look")
    def test_look(learner):
        """{SECRET["test"]}"""
        expected = np.full(3, EXPECTED)
        assert len(learner.look(np.ones(3))) >= expected.size
'''

# Printed text reaches the grader as notes: what the spy finds it says in a line of JSON.
SPY = '''
    import ctypes
    import gc
    import inspect
    import json
    import os
    import stat
    import struct
    import sys
    import time

    import numpy as np

    HALVES = {"test": ("MARK_OF_THE_", "HIDDEN_TEST"), "reference": ("MARK_OF_THE_", "REFERENCE"),
              "mistake": ("MARK_OF_THE_", "MISTAKE"), "expected": ("9071", "50321.125")}
    BORN = time.time() - 900
    found = []
    read = [0, 0]


    def secrets():
        """Put together when they are looked for, so that the spy does not find itself."""
        made = {name: "".join(halves).encode() for name, halves in HALVES.items()}
        made["expected value"] = struct.pack("<d", float("".join(HALVES["expected"])))
        return made


    def search(data, place):
        for name, secret in secrets().items():
            if secret in data:
                found.append([name, place])


    def files(ends):
        seen = set()
        for path in PLACES:  # even whoever knows where to look
            try:
                with open(path, "rb") as file:
                    search(file.read(), path)
            except OSError:
                pass
        packages = {p for m in list(sys.modules.values()) for p in getattr(m, "__path__", ())}
        tops = ["/"] if listed("/") else [*sys.path, *sorted(packages), "..", "."]
        for root, folders, names in (each for top in tops for each in os.walk(top)):
            folders[:] = [f for f in folders if os.path.join(root, f) not in ("/proc", "/sys", "/dev")]
            for name in names:
                path = os.path.join(root, name)
                read[0] += 1
                try:
                    status = os.stat(path)
                    older = max(status.st_ctime, status.st_mtime) < BORN  # than the course
                    if older or not stat.S_ISREG(status.st_mode) or (status.st_dev, status.st_ino) in seen:
                        continue
                    seen.add((status.st_dev, status.st_ino))
                    with open(path, "rb") as file:
                        search(file.read(), path)
                        read[1] += 1
                except OSError:
                    pass
            if time.monotonic() > ends:
                return


    def listed(folder):
        try:
            return os.listdir(folder)
        except OSError:
            return []


    def processes():
        near = range(max(2, os.getpid() - 300), os.getpid() + 30)
        for process in listed("/proc") or ["self", *map(str, near)]:
            if process.isdigit() or process == "self":
                for name in ("environ", "cmdline", "status", "maps"):
                    try:
                        with open("/proc/%s/%s" % (process, name), "rb") as file:
                            search(file.read(), "/proc/.../" + name)
                    except OSError:
                        pass
                for name in ("cwd", "root", "exe"):
                    try:
                        search(os.readlink("/proc/%s/%s" % (process, name)).encode(), name)
                    except OSError:
                        pass


    def descriptors():
        for number in range(256):
            try:
                if stat.S_ISREG(os.fstat(number).st_mode):
                    search(os.pread(number, 1 << 22, 0), "descriptor")
            except OSError:
                pass


    def text_of(value):
        try:
            if isinstance(value, (bytes, bytearray)):
                return bytes(value)
            if isinstance(value, str):
                return value.encode("utf-8", "replace")
            if isinstance(value, np.ndarray):
                return value.tobytes()
            if isinstance(value, (float, int)):
                return struct.pack("<d", float(value))
            if hasattr(value, "co_consts"):
                return repr(value.co_consts).encode()
        except Exception:
            pass
        return b""


    def objects(starts):
        """Walk over everything that can be reached."""
        seen = {}
        queue = list(starts)
        while queue and len(seen) < 600_000:
            value = queue.pop()
            if id(value) in seen or value is HALVES:
                continue
            seen[id(value)] = value
            search(text_of(value), "object of type " + type(value).__name__)
            queue += gc.get_referents(value)
        read.append(len(seen))


    def frames():
        frame = sys._getframe()
        names = []
        while frame is not None:
            names.append(os.path.basename(frame.f_code.co_filename))
            yield frame.f_locals
            yield frame.f_globals
            frame = frame.f_back
        search(repr(names).encode(), "frames")


    def look(x):
        start = time.monotonic()
        processes()
        descriptors()
        objects([*frames(), *sys.modules.values(), *gc.get_objects(), *inspect.stack()])
        in_memory = list(found)
        del found[:]
        files(start + BUDGET)
        modules = [m for m in sys.modules if m.split(".")[0] in ("grader", "pytest", "_pytest", "py")]
        print(json.dumps({"memory": in_memory, "files": found[:50], "read": read, "modules": modules}))
        return x
'''


@pytest.fixture(scope="module")
def spied(tier: tiers.Tier, small_course: SmallCourse) -> dict[str, Any]:
    """What the spy says in each tier."""
    small_course.write(manifest=MANIFEST, solution=SOLUTION, hidden=HIDDEN, mistakes=MISTAKES)
    (small_course.stage_folder / "tests" / "test_small.py").unlink(missing_ok=True)
    places = [str(path) for folder in (small_course.root, small_course.hidden) for path in folder.rglob("*.*")]
    assert len(places) > 3
    budget = "1" if tier == "process" else "30"  # what is not guarded need not be walked
    spy = SPY.replace("PLACES", repr(places)).replace("BUDGET", budget)
    graded: Graded = small_course.grade(spy, isolation=tier)
    outcome = graded.outcomes["test_look"]
    printed = next((note for note in outcome.notes if note.startswith("printed: ")), None)
    assert printed is not None, outcome
    said: dict[str, Any] = json.loads(printed.removeprefix("printed: ").splitlines()[0])
    return said


def test_the_spy_knows_what_to_look_for(small_course: SmallCourse) -> None:
    """The secrets do stand in the course's files, in the form that is searched for."""
    small_course.write(manifest=MANIFEST, solution=SOLUTION, hidden=HIDDEN, mistakes=MISTAKES)
    text = "".join(path.read_text() for path in small_course.hidden.glob("*.py"))
    assert all(secret in text for secret in SECRET.values())


def test_the_spy_finds_what_is_there(tier: tiers.Tier, small_course: SmallCourse) -> None:
    """It is no use if it is blind: a secret within its own process is found."""
    small_course.write(manifest=MANIFEST, solution=SOLUTION, hidden=HIDDEN, mistakes=MISTAKES)
    (small_course.stage_folder / "tests" / "test_small.py").unlink(missing_ok=True)
    planted = SPY.replace("files(start + BUDGET)", "pass").replace(
        "start = time.monotonic()", 'start = time.monotonic(); planted = "%s%s" % HALVES["test"]', 1
    )
    graded = small_course.grade(planted, isolation=tier)
    said = json.loads(graded.outcomes["test_look"].notes[0].removeprefix("printed: ").splitlines()[0])
    assert "test" in [name for name, _ in said["memory"]]


def test_memory_frames_modules_and_processes_hold_no_secret(spied: dict[str, Any]) -> None:
    assert spied["memory"] == []
    assert spied["read"][2] > 10_000  # objects that it walked over


def test_no_module_of_the_grader_but_the_workers(spied: dict[str, Any]) -> None:
    allowed = {"grader", "grader.protocol", "grader.worker"}
    allowed |= {f"grader.{part.parent.name}.{part.stem}" for part in bundle.parts()}
    assert set(spied["modules"]) <= allowed


def test_files_hold_no_secret(spied: dict[str, Any], tier: tiers.Tier) -> None:
    if tier == "process":
        pytest.skip("tier process does not guard the file system: the learner's own machine is the learner's to read")
    assert spied["read"][0] > 500  # files that it met
    assert spied["files"] == []
