"""What a worker does to itself: it stops being root, keeps its modules in reach, and refuses where a guard fails."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from grader.worker import confine, kernel
from tests.support.alone import alone

needs_root = pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="needs root")
linux = pytest.mark.skipif(sys.platform != "linux", reason="guards of Linux")
PLAN: dict[str, list[str]] = {"around": [], "holes": [], "read": [], "use": [], "write": []}


def spec(**changes: Any) -> dict[str, Any]:
    return {"landlock": None, "must": False, "user": 0, "apart": False, "reach": [], "name_spaces": False} | changes


@linux
def test_all_guards_of_a_strong_tier() -> None:
    if kernel.landlock_abi() < kernel.LEAST_ABI:
        pytest.skip("needs Landlock")
    found = alone(f"""
        import os, resource
        from grader.worker import confine
        from grader.worker import kernel
        from grader.isolation.seccomp import filter_program
        spec = {spec(landlock=PLAN, must=True, user=0 if os.getuid() else 65534)!r}
        guards = confine.confine(spec, {{"FSIZE": 1000, "NO_SUCH_LIMIT": 1}}, filter_program())
        print([guards, os.getuid() != 0, tried(open, "/etc/passwd"), is_open(),
               resource.getrlimit(resource.RLIMIT_FSIZE)])
    """)
    seccomp = ["seccomp"] if len(found[0]) == 3 else []
    assert found[0] == ["an ordinary user", f"Landlock {kernel.landlock_abi()}", *seccomp]
    assert found[1:] == [True, "PermissionError", False, (1000, 1000)]


@linux
def test_memory_runs_out_for_the_learner_first() -> None:
    found = alone(f"""
        from grader.worker import confine
        confine.confine({spec()!r}, {{}}, b"")
        with open("/proc/self/oom_score_adj") as file:
            print(int(file.read()))
    """)
    assert found == 1000


@linux
def test_a_plan_that_must_be_kept_and_cannot_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "_syscall", lambda *_: -1)
    monkeypatch.setattr(os, "listdir", lambda folder: ["the one thread"])
    with pytest.raises(kernel.Unconfined, match="Landlock makes no rules"):
        confine._rules(PLAN, True)


def test_a_plan_that_need_not_be_kept_is_left_out_where_it_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "_syscall", lambda *_: -1)
    assert confine._rules(PLAN, False) is None
    assert confine._rules(None, True) is None


@linux
def test_a_second_thread_would_be_free() -> None:
    found = alone(f"""
        import threading
        from grader.worker import confine
        threading.Thread(target=threading.Event().wait, args=(20,), daemon=True).start()
        try:
            confine._rules({PLAN!r}, True)
        except confine.Unconfined as error:
            print([str(error)])
    """)
    assert found == ["2 threads run before the learner's module; Landlock would confine one"]


@needs_root
@linux
class TestRoot:
    CODE = """
        import os, sys
        from grader.worker import confine
        folder = sys.argv[1]
        sys.path.append(folder)
        import package_of_a_test
        confine.become(65534, [folder] if sys.argv[2] == "reach" else [])
        def later(name):
            return __import__(name, fromlist=["x"]).x
        print([os.getresuid(), os.getresgid(), os.getgroups(), tried(os.listdir, folder),
               tried(later, "package_of_a_test.inner"), tried(later, "other_of_a_test"), tried(os.setuid, 0)])
    """

    @pytest.fixture
    def closed(self, tmp_path: Path) -> str:
        package = tmp_path / "closed" / "modules" / "package_of_a_test"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        for path in (package / "inner.py", package.parent / "other_of_a_test.py"):
            path.write_text("x = 1")
        (tmp_path / "closed").chmod(0o700)
        return str(package.parent)

    def test_modules_of_a_closed_home_stay_in_reach(self, closed: str) -> None:
        nobody = (65534, 65534, 65534)
        found = alone(self.CODE, closed, "reach")
        assert found == [nobody, nobody, [], "PermissionError", 1, 1, "PermissionError"]

    def test_and_without_being_named_they_do_not(self, closed: str) -> None:
        assert alone(self.CODE, closed, "no")[4:6] == ["ModuleNotFoundError"] * 2

    def test_what_cannot_become_an_ordinary_user_does_not_go_on(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object) -> None:
            raise PermissionError("not in this container")

        monkeypatch.setattr(os, "setgroups", refuse)
        with pytest.raises(kernel.Unconfined, match="root cannot become an ordinary user here: not in this container"):
            confine.become(65534, [])


def test_without_limits_of_the_system_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)
    confine.limit({"AS": 1})  # which would end this process


@linux
def test_memory_counts_on_top_and_processor_time_ends_before_the_kernel_ends_it() -> None:
    found = alone("""
        import resource
        from grader.worker import confine
        before = confine._address_space()
        confine.limit({"AS": 1 << 30, "CPU": 50})
        size = resource.getrlimit(resource.RLIMIT_AS)[0]
        print([size - before - (1 << 30) < 1 << 24, resource.getrlimit(resource.RLIMIT_CPU)])
    """)
    assert found == [True, (50, 51)]


def test_an_unknown_address_space_is_taken_for_a_gigabyte(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr("builtins.open", fails)
    assert confine._address_space() == 1 << 30
