"""The grader's own name, requirements and licence, from its sources and from an installed package."""

from __future__ import annotations

from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from grader.errors import CourseError
from grader.setup.installed import entry_points_text, licence, metadata_text, project
from grader.tests.support.places import ROOT

METADATA = """Metadata-Version: 2.4
Name: attention-grader
Version: 0.1.0
License-Expression: MIT
Requires-Python: >=3.11
Requires-Dist: numpy>=2.2
Requires-Dist: tomli>=2; python_version < "3.11"
Provides-Extra: class
Requires-Dist: cryptography>=43; extra == 'class'
Provides-Extra: empty
"""


POINTS = """[console_scripts]
grader = grader.__main__:main

[pytest11]
grader = grader.judging.plugin
"""


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A folder of installed packages: the grader, and another that has put a pyproject.toml beside it."""
    for name, files in {"attention_grader": ("grader/__init__.py", "grader/cli.py"), "other": ("other.py",)}.items():
        folder = tmp_path / f"{name}-0.1.0.dist-info"
        (folder / "licenses").mkdir(parents=True)
        (folder / "METADATA").write_text(METADATA.replace("attention-grader", name.replace("_", "-")))
        (folder / "RECORD").write_text("".join(f"{file},,\n" for file in files))
        (folder / "entry_points.txt").write_text(POINTS)
        (folder / "licenses" / "LICENSE").write_text(f"the licence of {name}")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "other"\n')
    return tmp_path


def test_an_installed_grader_is_described_by_its_metadata(packages: Path) -> None:
    assert project(packages) == {
        "project": {
            "name": "attention-grader",
            "license": "MIT",
            "requires-python": ">=3.11",
            "dependencies": ["numpy>=2.2", 'tomli>=2; python_version < "3.11"'],
            "optional-dependencies": {"class": ["cryptography>=43"], "empty": []},
            "scripts": {"grader": "grader.__main__:main"},
            "entry-points": {"pytest11": {"grader": "grader.judging.plugin"}},
        }
    }
    assert licence(packages) == "the licence of attention_grader"


def test_beside_its_sources_the_grader_is_described_by_pyproject() -> None:
    assert project(ROOT)["project"]["name"] == "attention-grader" and "uv" in project(ROOT)["tool"]
    assert licence(ROOT) == (ROOT / "LICENSE").read_text("utf-8")


def test_a_licence_that_is_missing_is_told(packages: Path, tmp_path: Path) -> None:
    (packages / "attention_grader-0.1.0.dist-info" / "licenses" / "LICENSE").unlink()
    with pytest.raises(CourseError, match="lacks its licence"):
        licence(packages)
    with pytest.raises(CourseError, match="LICENSE cannot be read: No such file"):
        licence(tmp_path / "nowhere")


def test_what_a_wheel_says_of_itself_is_read_as_what_it_was_made_of(packages: Path, tmp_path: Path) -> None:
    given = project(packages)["project"]
    given["optional-dependencies"]["class"].append('jinja2; python_version > "3"')
    home = tmp_path / "again"
    about = home / "attention_grader-0.1.0.dist-info"
    about.mkdir(parents=True)
    (about / "RECORD").write_text("grader/__init__.py,,\n")
    (about / "METADATA").write_text(metadata_text(given, "0.1.0"))
    (about / "entry_points.txt").write_text(entry_points_text(given))
    assert project(home)["project"] == given
    needs = map(Requirement, next(iter(distributions(path=[str(home)]))).requires or ())
    assert [str(each.marker) for each in needs if each.name == "jinja2"] == [
        'python_version > "3" and extra == "class"'
    ]
