"""Packages of a course: imported from its folder, whatever else has their name, and forgotten afterwards."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.course.import_guard import Sources, forget, load, serving
from grader.errors import CourseError
from tests.support.command import Place

NAME = "some_course_package"


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Two packages of one name, in two courses."""
    found = [tmp_path / course / NAME for course in ("one", "two")]
    for folder in found:
        folder.mkdir(parents=True)
        (folder / "plans.py").write_text(f"from {NAME} import parts\nPLACE = {folder.parent.name!r} + parts.MARK\n")
        (folder / "parts.py").write_text("MARK = '!'\n")
    return found


def test_each_course_gets_its_own_package(folders: list[Path]) -> None:
    for folder in (*folders, folders[0]):
        with serving(Sources(folders={NAME: folder})):
            assert f"{folder.parent.name}!" == importlib.import_module(f"{NAME}.plans").PLACE
        assert not [name for name in sys.modules if name.startswith(NAME)]


def test_packages_are_forgotten_while_another_thread_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the first module that a process grades is a fault now and then."""

    class Meanwhile(str):
        def __eq__(self, other: object) -> bool:
            monkeypatch.setitem(sys.modules, f"{NAME}_{len(sys.modules)}", sys)
            return False

        __hash__ = str.__hash__

    assert forget([Meanwhile("nothing.of.this.name")]) == {}


def test_a_missing_folder_is_not_looked_for_elsewhere(folders: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(folders[0].parent))
    with (
        serving(Sources(folders={NAME: folders[0].parent / "gone" / NAME})),
        pytest.raises(ModuleNotFoundError, match="there is no folder"),
    ):
        importlib.import_module(NAME)


def test_what_is_loaded_stays_until_another_course_comes(folders: list[Path]) -> None:
    first = load(folders[0], "plans")
    assert load(folders[0], "plans") is first and first.PLACE == "one!"
    assert load(folders[1], "plans").PLACE == "two!"
    for name in [name for name in sys.modules if name.startswith(NAME)]:
        del sys.modules[name]


@pytest.mark.parametrize(("text", "said"), [(None, "ModuleNotFoundError"), ("1 / 0", "ZeroDivisionError")])
def test_what_cannot_be_imported_is_the_courses_fault(folders: list[Path], text: str | None, said: str) -> None:
    (folders[0] / "plans.py").unlink()
    if text is not None:
        (folders[0] / "plans.py").write_text(text)
    with pytest.raises(CourseError, match=rf"{NAME}/plans\.py cannot be imported: {said}"):
        load(folders[0], "plans")
    sys.modules.pop(NAME, None)


INSTALLED = """
import sys
from pathlib import Path
from grader.course.import_guard import GUARD, Sources, load, serving
from grader.course.manifest import load_course

root = Path(sys.argv[1])
sys.path[:0] = ["", str(root), str(root / "stages" / "s01_numbers")]
course = load_course(root)
GUARD.install()
assert not {"", str(root), str(root / "stages" / "s01_numbers")} & set(sys.path)
sys.path[:0] = [str(root)]  # as something that comes later may do
for name in ("stages", "stages.s01_numbers", "stages.s01_numbers.numbers_", "hidden", "hidden.s01_numbers.solution"):
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        assert "the grader imports no file of a course that it was not given" in str(error), error
    else:
        raise AssertionError(name)
(root / "drawn").mkdir()
(root / "drawn" / "plans.py").write_text("def late():\\n    from drawn import more\\n    return more.__name__\\n")
(root / "drawn" / "more.py").touch()
GUARD.know(["drawn"])
assert load(root / "drawn", "plans").late() == "drawn.more"
with serving(Sources({"stages.s01_numbers.numbers_": lambda: "WHO = 'a text'"})):
    from stages.s01_numbers.numbers_ import WHO
assert WHO == "a text" and "stages" not in sys.modules and sys.meta_path[0] is GUARD
"""


def test_where_it_is_installed_no_file_of_a_course_is_imported(place: Place) -> None:
    command = [sys.executable, "-c", INSTALLED, str(place.root)]
    done = subprocess.run(command, cwd=place.root, env=dict(os.environ), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
