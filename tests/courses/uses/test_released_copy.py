"""In a released copy, what an earlier stage gives is the sealed text, and its own where the key is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.classroom import release as releasing
from grader.classroom.release import release, whole
from grader.course.bundle import new_key
from grader.course.manifest import load_course
from grader.progress.store import Store
from tests.courses.conftest import solution
from tests.courses.uses.building import SPY, Grade, sources, wrote

pytestmark = pytest.mark.usefixtures("brief_search")


class TestACopy:
    @pytest.fixture
    def copy(self, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], Path]:
        monkeypatch.setattr(releasing, "_own_files", list)

        def released(keyed: bool) -> Path:
            course = load_course(root)
            stages = whole(course, [course.find("s04")])
            assert [stage.id for stage in stages] == ["s01", "s02", "s03", "s04"]
            target = tmp_path / "copy"
            release(course, releasing.ReleaseOptions(stages, new_key() if keyed else None), target)
            monkeypatch.chdir(target)
            Store(target).record_skip(["s01", "s02", "s03"])
            return target

        return released

    def test_references_data_and_what_is_given_are_the_sealed_ones(
        self, grader: Grade, copy: Callable[[bool], Path]
    ) -> None:
        root = copy(False)
        folder = root / "stages" / "s04_ladders"
        assert (folder / "data" / "words.txt").is_file() and (folder / "data" / "README.md").is_file()
        (folder / "data" / "words.txt").write_text("cat dog")
        (folder / "given" / "s02_distance.py").write_text("raise RuntimeError\n")
        wrote(root, "s04")
        done = grader("check", "s04", "--isolation", "process", "--json")
        assert done.json["passed"] and sources(done.json) == {"s02": "given", "s03": "reference"}, done.out

    def test_nothing_around_the_tests_runs_where_they_do(
        self, grader: Grade, copy: Callable[[bool], Path], tmp_path: Path
    ) -> None:
        root, marker = copy(False), tmp_path / "marker"
        for folder in ("", "s04_ladders/", "s04_ladders/tests/", "s03_graphs/"):
            (root / "stages" / f"{folder}__init__.py").write_text(SPY.format(marker=str(marker)))
        wrote(root, "s04", solution("s04").read_text().replace("== 1", "<= 1"))
        done = grader("check", "s04", "--isolation", "process", "--json")
        assert done.code == 1 and not done.json["faults"] and not marker.exists(), done.out

    def test_without_the_key_the_learners_own_serves_as_it_is(
        self, grader: Grade, copy: Callable[[bool], Path]
    ) -> None:
        root = copy(True)
        wrote(root, "s03")
        wrote(root, "s04")
        done = grader("check", "s04", "--isolation", "process", "--json")
        assert done.json["public_only"] and sources(done.json) == {"s02": "given", "s03": "own"}, done.out
        assert [row["status"] for row in done.json["criteria"]] == ["passed", "passed"]
        (root / "stages" / "s04_ladders" / "data" / "words.txt").write_text("cat dog")
        assert "data/words.txt differs from the released file" in grader("check", "s04", "--isolation", "process").err
