"""What a learner's code sees in each tier, and which tier is taken."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from grader import cli
from grader.errors import IsolationRefused
from grader.isolation import bundle, landlock, tiers, users, zygote
from grader.sandbox.process import LoadFailed
from grader.worker import kernel
from grader.worker.confine import COUNTED_APART
from grader.worker.kernel import landlock_abi
from grader.worker.supervisor import children_of
from tests.conftest import Start
from tests.support.places import HIDDEN, ROOT


class TestEveryTier:
    def test_the_environment_is_empty_but_for_our_own_settings(
        self, inside: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = inside.environment()
        own = {*tiers.ENVIRONMENT, "LC_CTYPE", "PWD"}
        assert set(found) <= own and found["OPENBLAS_NUM_THREADS"] == "1"

    def test_imports(self, inside: Any) -> None:
        assert all(inside.importable(name) for name in ("numpy", "math", "json", "numpy.linalg"))
        assert not any(
            inside.importable(name)
            for name in ("pytest", "rich", "typer", "hypothesis", "_pytest", "setuptools", "pip")
        )
        assert not any(
            inside.importable(f"grader.{name}")
            for name in ("course.manifest", "cli", "hidden", "judging.session", "remote.connection", "testing")
        )

    def test_limits_cannot_be_raised(self, inside: Any) -> None:
        assert inside.raise_limits() == []

    def test_no_descriptor_but_its_own(self, inside: Any) -> None:
        found = inside.descriptors()
        assert sum(name.startswith("socket:") for name in found) <= 1
        own = ("socket:", "/dev/null", *bundle.closed_folders())
        assert found and not [name for name in found if not name.startswith(own)]


class TestRoot:
    @pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="needs root")
    def test_is_never_what_the_learner_is(self, inside: Any) -> None:
        user, effective, group, groups = inside.who()
        assert user >= users.POOLS[1].start and user == effective == group and groups == []
        assert not inside.become_root()


def lacking(monkeypatch: pytest.MonkeyPatch, **missing: str) -> None:
    monkeypatch.setattr(tiers, "why_missing", missing.get)
    monkeypatch.setattr(landlock, "shortfall", lambda filtered: None)


class TestChoice:
    def test_auto_takes_the_strongest_that_works(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lacking(monkeypatch)
        assert tiers.choose("auto") == ("bubblewrap", None)

    def test_what_bubblewrap_tells_on_an_old_kernel_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lacking(monkeypatch)
        monkeypatch.setattr(kernel, "landlock_abi", lambda: 0)
        assert "names of this system's folders in /proc" in str(tiers.choose("bubblewrap")[1])

    def test_auto_says_why_it_settled_for_less(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lacking(monkeypatch, bubblewrap="no bwrap.")
        assert tiers.choose("auto") == ("landlock", "no bwrap")
        lacking(monkeypatch, bubblewrap="no bwrap.", landlock="no Landlock")
        assert tiers.choose("auto") == ("process", "no bwrap; no Landlock")

    def test_what_landlock_leaves_open_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lacking(monkeypatch, bubblewrap="no bwrap")
        monkeypatch.setattr(landlock, "shortfall", lambda filtered: "UDP")
        assert tiers.choose("auto")[1] == "no bwrap; UDP"
        assert tiers.choose("landlock")[1] == "UDP"
        assert tiers.choose("process")[1] is None

    def test_a_tier_that_is_missing_is_refused_not_replaced(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lacking(monkeypatch, bubblewrap="no bwrap")
        with pytest.raises(IsolationRefused, match=r"'bubblewrap' is unavailable: no bwrap$") as caught:
            tiers.choose("bubblewrap")
        assert caught.value.hint is not None and "doctor" in caught.value.hint
        assert tiers.choose("process") == ("process", None)

    @pytest.mark.parametrize(("wanted", "least"), [("vm", None), ("auto", "vm")])
    def test_an_unknown_tier(self, wanted: str, least: str | None) -> None:
        with pytest.raises(IsolationRefused, match="'vm' is unknown"):
            tiers.choose(wanted, least)

    @pytest.mark.parametrize(
        ("least", "missing", "taken"),
        [
            ("bubblewrap", {}, "bubblewrap"),
            ("landlock", {}, "bubblewrap"),
            ("process", {"bubblewrap": "x", "landlock": "y"}, "process"),
            ("landlock", {"bubblewrap": "x"}, "landlock"),
            ("auto", {"bubblewrap": "x", "landlock": "y"}, "process"),
        ],
    )
    def test_a_tier_that_is_enough(
        self, monkeypatch: pytest.MonkeyPatch, least: str, missing: dict[str, str], taken: str
    ) -> None:
        lacking(monkeypatch, **missing)
        assert tiers.choose("auto", least)[0] == taken

    def test_nothing_below_the_least_is_taken(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lacking(monkeypatch, bubblewrap="no bwrap", landlock="no Landlock")
        with pytest.raises(IsolationRefused) as caught:
            tiers.choose("auto", "landlock")
        assert caught.value.message == (
            "isolation 'bubblewrap' is unavailable: no bwrap; isolation 'landlock' is unavailable: no Landlock; "
            "at least 'landlock' is required"
        )
        assert caught.value.exit_code == 4

    def test_a_weaker_one_that_is_asked_for_is_refused_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lacking(monkeypatch)
        with pytest.raises(
            IsolationRefused, match="'process' was requested, but at least 'landlock' is required"
        ) as caught:
            tiers.choose("process", "landlock")
        assert caught.value.hint == "Leave out --isolation, or request bubblewrap or landlock."
        assert tiers.choose("landlock", "landlock")[0] == "landlock"


@pytest.mark.parametrize(
    ("least", "code", "said"),
    [
        (
            "landlock",
            4,
            "isolation 'bubblewrap' is unavailable: no bwrap; isolation 'landlock' is unavailable: old",
        ),
        ("process", 0, ""),
    ],
)
def test_the_command_grades_in_no_weaker_tier_than_is_required(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], least: str, code: int, said: str
) -> None:
    lacking(monkeypatch, bubblewrap="no bwrap", landlock="old")
    reference = HIDDEN / "s01_matrix_operations" / "solution.py"
    arguments = ["check", "s01", "--submission", str(reference), "--only", "trace", "--require-isolation", least]
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["grader", *arguments])
    with pytest.raises(SystemExit) as left:
        cli.main()
    out, err = capsys.readouterr()
    assert int(left.value.code or 0) == code
    assert said in " ".join(err.split()) and ("trace" in out) == (code == 0)


class TestStart:
    def test_a_process_that_cannot_be_started_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fails(*args: object) -> None:
            raise OSError("no more processes")

        monkeypatch.setattr(zygote, "_shared", {})
        monkeypatch.setattr(tiers, "_spawn", fails)
        with pytest.raises(IsolationRefused, match="no more processes"):
            tiers.start("process", tmp_path)

    @pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
    def test_what_needs_a_fork_is_refused_without(self, tmp_path: Path, tier: tiers.Tier) -> None:
        with pytest.raises(IsolationRefused, match=f"{tier} needs a system that can fork"):
            tiers.start(tier, tmp_path, fork=False)

    def test_a_guard_that_fails_refuses_before_the_module_runs(
        self, start: Start, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        module = "raise ValueError('it ran')"
        with pytest.raises(LoadFailed, match="it ran"):
            start(module, "process")
        monkeypatch.setattr(tiers, "program_for", lambda tier: b"no filter at all")
        with pytest.raises(IsolationRefused, match="'process' is unavailable: the filter of system calls cannot be"):
            start(module, "process")

    def test_what_the_worker_put_up_is_told(self, tier: tiers.Tier, start: Start) -> None:
        guards = start("", tier).process.guards
        assert "an ordinary user" in guards
        assert os.getuid() != 0 or COUNTED_APART in guards
        assert any(name.startswith("Landlock") for name in guards) == (tier != "process" and landlock_abi() >= 4)
        assert ("seccomp" in guards) == bool(tiers.program_for(tier))


needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="counts in /proc")


@needs_proc
def test_the_limit_on_processes_comes_on_top_of_those_that_the_user_has_already() -> None:
    sleepers = [subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE) for _ in range(3)]
    try:
        found = users.tasks_of(os.getuid())
    finally:
        for sleeper in sleepers:
            sleeper.communicate(b"\n")
    assert found > len(sleepers)  # they, and this process


@needs_proc
def test_processes_that_are_closed_to_others_are_counted_too(start: Start) -> None:
    supervisor = start("", "process").started.process.pid
    (worker,) = children_of(supervisor)
    user = os.stat(f"/proc/{worker}").st_uid
    assert user != 0 and users.tasks_of(user) >= 1
