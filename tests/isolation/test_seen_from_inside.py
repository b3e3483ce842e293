"""What a learner's module finds in the tiers bubblewrap and landlock, asked from inside."""

from __future__ import annotations

import importlib.util
import shutil
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from grader.isolation import bundle, tiers
from grader.worker.kernel import LEAST_ABI, landlock_abi
from tests.conftest import Learner, Start
from tests.isolation.inside import SOURCE
from tests.pace.matrix import why_missing
from tests.support.places import HOUSE, ROOT


class TestBubblewrap:
    def test_not_root_for_good(self, in_bubblewrap: Any) -> None:
        assert 0 not in in_bubblewrap.who()[:3]
        assert not in_bubblewrap.become_root()

    def test_no_file_of_the_course_or_of_the_grader(self, in_bubblewrap: Any) -> None:
        here = Path(__file__)
        for path in (
            here,
            HOUSE / "errors.py",
            ROOT / "stages",
            ROOT,
            str(Path.home() / ".ssh"),
            "/home",
            "/etc/passwd",
        ):
            assert not in_bubblewrap.exists(str(path)), path
        assert in_bubblewrap.listed("/grader/grader/worker") == sorted(
            ["__pycache__", *(part.name for part in bundle.parts() if part.parent.name == "worker")]
        )

    def test_no_packages_beyond_numpy_and_msgpack(self, in_bubblewrap: Any) -> None:
        assert in_bubblewrap.found_by_path("numpy") and in_bubblewrap.found_by_path("msgpack")
        assert not any(
            in_bubblewrap.found_by_path(name) for name in ("pytest", "rich", "typer", "hypothesis", "pip", "setuptools")
        )

    def test_no_network(self, in_bubblewrap: Any) -> None:
        assert set(in_bubblewrap.interfaces()) <= {"lo"}
        assert in_bubblewrap.dial("1.1.1.1", 53) != "connected" and in_bubblewrap.dial("127.0.0.1", 22) != "connected"

    def test_no_process_but_its_own(self, in_bubblewrap: Any) -> None:
        assert max(in_bubblewrap.processes()) < 50 and len(in_bubblewrap.processes()) <= 6

    def test_only_the_scratch_can_be_written(self, in_bubblewrap: Any) -> None:
        folders = [
            "/",
            "/usr",
            "/usr/lib",
            "/grader",
            "/grader/grader/worker",
            "/grader/numpy",
            "/etc",
            "/proc",
            sys.base_prefix,
            "/tmp",
            "/var/tmp",
            "/run",
        ]
        folders += ["/dev", "/dev/shm", "/dev/pts", "/dev/mqueue"]
        assert in_bubblewrap.writable(folders) == ["/tmp"]

    @pytest.mark.skipif(landlock_abi() < LEAST_ABI, reason="needs Landlock")
    def test_no_folder_of_the_host_is_told(self, in_bubblewrap: Any, bubbled: Learner) -> None:
        told = in_bubblewrap.told_of_places()
        assert bubbled.started.zygote is not None
        job, modules = bubbled.process.job, bubbled.started.zygote.place.bundle.parent
        places = [ROOT, HOUSE, bundle.package("numpy").parent, job.hide, modules, modules.name]
        assert [str(place) for place in places if str(place) in told] == []

    @pytest.mark.skipif(landlock_abi() < LEAST_ABI, reason="needs Landlock")
    def test_nothing_of_proc_is_read(self, in_bubblewrap: Any) -> None:
        for name in ("self/mountinfo", "self/maps", "1/environ", "1/cmdline", "mounts", "net/dev"):
            with pytest.raises(PermissionError):
                in_bubblewrap.read(f"/proc/{name}")

    def test_the_scratch_is_bounded(self, in_bubblewrap: Any) -> None:
        assert 48 <= in_bubblewrap.fill(90) <= 64


class TestLandlock:
    def test_no_file_of_the_course_of_the_grader_or_of_anybody(self, in_landlock: Any) -> None:
        here = Path(__file__)
        for path in (here, HOUSE / "errors.py", "/etc/passwd", "/proc/self/environ", "/proc/1/cmdline"):
            assert Path(path).exists()
            with pytest.raises(PermissionError):
                in_landlock.read(str(path))

    def test_no_folder_is_listed_but_its_own(self, in_landlock: Any) -> None:
        here = Path(__file__)
        for path in ("/", "/tmp", "/proc", "/etc", here.parent, ROOT, bundle.package("numpy").parent):
            with pytest.raises(PermissionError):
                in_landlock.listed(str(path))
        assert in_landlock.listed(".") == []

    def test_only_the_scratch_can_be_written(self, in_landlock: Any) -> None:
        folders = [
            "/",
            "/tmp",
            "/var/tmp",
            "/dev/shm",
            "/run",
            "..",
            str(Path.home()),
            ".",
            "/grader",
            "../bundle/grader",
        ]
        assert in_landlock.writable(folders) == ["."]

    def test_no_network(self, in_landlock: Any) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            assert in_landlock.dial("127.0.0.1", listener.getsockname()[1]) == "PermissionError"

    def test_no_program(self, in_landlock: Any) -> None:
        for path in (shutil.which("true"), sys.executable):
            assert in_landlock.runs(str(path)) == "PermissionError"

    def test_modules_of_the_standard_library_can_still_be_imported(self, in_landlock: Any) -> None:
        names = "wave sqlite3 ssl json.tool xml.dom.minidom numpy.testing numpy.polynomial curses"
        here = [name for name in names.split() if importlib.util.find_spec(name)]
        assert len(here) > 4 and [name for name in here if not in_landlock.importable(name)] == []


@pytest.mark.skipif(not tiers.program_for("landlock"), reason="needs libseccomp")
@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
def test_a_file_that_all_can_read_carries_no_lock_from_run_to_run(tier: tiers.Tier, start: Start) -> None:
    if reason := why_missing(tier):
        pytest.skip(f"tier {tier} is missing here: {reason}")
    one, another = start(SOURCE, tier), start(SOURCE, tier)
    shared = "/grader/numpy/__init__.py" if tier == "bubblewrap" else str(bundle.package("numpy") / "__init__.py")
    for learner in (one, another):
        remote: Any = learner.open()
        assert remote.locked(shared) == ["PermissionError"] * 2
        learner.done()
