"""The tier landlock: what its plan covers, what it leaves open, and where it is missing."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

import pytest

from grader.isolation import bundle, landlock, users
from grader.worker import kernel


class TestWhyMissing:
    @pytest.fixture(autouse=True)
    def _linux(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "platform", "linux")

    @pytest.mark.parametrize(
        ("abi", "said"), [(0, "the kernel has no Landlock"), (3, "is at ABI 3, which knows no network"), (4, None)]
    )
    def test_levels(self, monkeypatch: pytest.MonkeyPatch, abi: int, said: str | None) -> None:
        monkeypatch.setattr(kernel, "landlock_abi", lambda: abi)
        found = landlock.why_missing()
        assert found is None if said is None else said in str(found)

    def test_another_system(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "platform", "darwin")
        assert landlock.why_missing() == "Landlock is a part of Linux only"


@pytest.mark.skipif(os.name != "posix", reason="users of POSIX")
@pytest.mark.parametrize(
    ("abi", "user", "filtered", "said"),
    [
        (7, 1000, True, []),
        (7, 1000, False, ["sockets other than TCP"]),
        (5, 1000, True, ["ABI 5 it can signal"]),
        (5, 0, True, []),  # the learner is another user then
        (4, 1000, False, ["sockets other than TCP", "ABI 4 it can signal"]),
    ],
)
def test_what_it_leaves_open(
    monkeypatch: pytest.MonkeyPatch, abi: int, user: int, filtered: bool, said: list[str]
) -> None:
    monkeypatch.setattr(kernel, "landlock_abi", lambda: abi)
    monkeypatch.setattr(users, "can_change", lambda: user == 0)
    found = landlock.shortfall(filtered)
    assert (found is None) == (not said) and all(each in str(found) for each in said)


@pytest.mark.skipif(os.name != "posix", reason="the plan is for Linux")
class TestPlan:
    @pytest.fixture
    def covered(self, tmp_path: Path) -> list[str]:
        """All that may be read with the plan for a course in a folder."""
        plan = landlock.plan(tmp_path / "bundle", tmp_path / "scratch", tmp_path / "course")
        around = [path for folder in plan["around"] for path in kernel.around(folder, plan["holes"])]
        return [*around, *plan["read"], *plan["use"], *plan["write"]]

    @staticmethod
    def within(path: Path | str, covered: list[str]) -> bool:
        return any(kernel.lies_in(os.path.realpath(path), folder) for folder in covered)

    def test_interpreter_packages_bundle_and_scratch(self, covered: list[str], tmp_path: Path) -> None:
        needed: list[str | Path] = [
            bundle.package("numpy"),
            bundle.package("msgpack"),
            os.__file__,
            tmp_path / "bundle",
            tmp_path / "scratch",
        ]
        assert [each for each in needed if not self.within(each, covered)] == []

    def test_neither_course_nor_grader_nor_other_packages(self, covered: list[str], tmp_path: Path) -> None:
        import pytest as package

        forbidden = [tmp_path / "course" / "x", Path(__file__), Path(landlock.__file__), Path(package.__file__)]
        forbidden += [Path("/etc/passwd"), Path("/proc")]
        assert [each for each in forbidden if self.within(each, covered)] == []
        assert not {"/", "/usr", "/home", "/tmp", "/etc", "/lib", "/usr/lib"} & set(covered)

    def test_few_rules_start_soon(self, covered: list[str]) -> None:
        assert len(covered) < 600

    def test_a_course_within_the_libraries_is_a_hole_in_them(self, tmp_path: Path) -> None:
        course = Path(bundle.standard_library()) / "json"
        plan = landlock.plan(tmp_path / "bundle", tmp_path / "scratch", course)
        covered = [path for folder in plan["around"] for path in kernel.around(folder, plan["holes"])]
        assert not self.within(course / "decoder.py", covered)
        assert self.within(course.parent / "email", covered)


def test_single_libraries_have_rules_of_their_own_and_many_share_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: None)
    folder = tmp_path / "lib"
    folder.mkdir()
    for name in ("libfirst.so.1", "secret.txt"):
        (folder / name).touch()
    base = os.path.realpath(tmp_path)
    mine = [each for each in landlock._libraries(str(tmp_path)) if each.startswith(base)]
    assert mine == [f"{base}/lib/libfirst.so.1"]
    for number in range(landlock.FEW):
        (folder / f"lib{number}.so").touch()
    mine = [each for each in landlock._libraries(str(tmp_path)) if each.startswith(base)]
    assert mine == [f"{base}/lib"]
