"""Every file that others made has its licence beside it, and the package names that licence and brings its text."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

from tests.support.places import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PLACES = ("benchmarks", "demo", "docs", "drawings", "grader", "hidden", "illustrations", "stages")
TEXTS = {  # by the name that SPDX has for it: what the text of the licence holds
    "MIT": "Permission is hereby granted, free of charge, to any person obtaining a copy",
    "CC-BY-4.0": "Section 8 -- Interpretation.",
}
FONTS = {".woff2", ".woff", ".ttf", ".otf"}
OWN = "that of the course"


def files() -> list[Path]:
    found = [path for place in PLACES for path in sorted((ROOT / place).rglob("*")) if path.is_file()]
    return [path for path in found if "__pycache__" not in path.parts and "tests" not in path.parts]


DATA = sorted({path.parent for path in files() if path.parent.name == "data"})


def packaged() -> set[str]:
    """Return the licence files that the wheel and the sdist get."""
    return set(ProjectMetadata(str(ROOT), PluginManager()).core.license_files)


def expect_named_and_packaged(licence: Path, name: str) -> None:
    """Assert that a licence file has a licence's text, that pyproject.toml names it, and that it goes along."""
    assert TEXTS[name] in licence.read_text(encoding="utf-8")
    assert name in re.split(r" (?:AND|OR|WITH) ", PROJECT["license"])
    assert licence.relative_to(ROOT).as_posix() in packaged()


def test_there_are_no_fonts_and_no_code_of_others() -> None:
    found = files()
    assert [path for path in found if path.suffix in FONTS or ".min." in path.name] == []


@pytest.mark.parametrize("folder", DATA, ids=[path.relative_to(ROOT).as_posix() for path in DATA])
def test_data_name_their_origin_and_their_licence(folder: Path) -> None:
    told = (folder / "README.md").read_text(encoding="utf-8")
    assert all(path.name in told for path in folder.iterdir() if path.name != "README.md")
    if OWN in told:
        assert "made for this course" in " ".join(told.split()) and not (folder / "LICENSE.txt").exists()
        return
    assert "https://creativecommons.org/licenses/by/4.0/" in told
    licence = folder / "LICENSE.txt"
    expect_named_and_packaged(licence, "CC-BY-4.0")
    source = re.search(r"https://doi\.org/[\w./]+\w", told)
    assert source is not None and source[0] in licence.read_text(encoding="utf-8")


def test_the_whole_is_named_once_and_no_licence_without_a_text() -> None:
    texts = [(ROOT / path).read_text(encoding="utf-8") for path in packaged()]
    for name in PROJECT["license"].split(" AND "):
        assert any(TEXTS[name] in text for text in texts), name
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License") and "LICENSE" in packaged()
