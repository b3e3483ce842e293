"""The pictures in the READMEs are those that the references make now, and each can be read: no text covers another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest

from grader.classroom.release import copied
from illustrations.__main__ import main
from illustrations.album import FOLDER, PICTURES, folder_of, places
from illustrations.canvas import INKS, STYLE
from illustrations.references import course
from tests.support.places import ROOT

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
SHOWN = re.compile(r"^!\[([^]]*)\]\(pictures/([\w-]+)\.svg\)$", re.MULTILINE)
NEAR = 0.15  # coordinates have one decimal, and machines round ties differently
LETTER = 0.62  # widths of a letter, at most on average, in units of its size: those of a wide font
LONGEST = 70  # characters: `grader show` prints it with "Picture: " on one line of 80 columns
IDS = [f"{stage}-{name}" for stage, pictures in PICTURES.items() for name in pictures]


@cache
def drawn(place: Path) -> str:
    return places()[place]().svg()


def parts(svg: str) -> Iterator[tuple[str, str, str, tuple[float, ...]]]:
    """Yield of each part its kind, text, and attributes: what is no number in them, and the numbers."""
    for part in ElementTree.fromstring(svg).iter():
        said = " ".join(f"{name}={value}" for name, value in sorted(part.attrib.items()))
        yield part.tag, part.text or "", NUMBER.sub("0", said), tuple(map(float, NUMBER.findall(said)))


def same(first: str, second: str) -> bool:
    """Say whether two pictures agree: each text exactly, each number as nearly as two machines do."""
    ours, theirs = list(parts(first)), list(parts(second))
    return len(ours) == len(theirs) and all(
        a[:3] == b[:3] and all(abs(x - y) <= (NEAR if abs(x) > 1 else 0.011) for x, y in zip(a[3], b[3], strict=True))
        for a, b in zip(ours, theirs, strict=True)
    )


def boxes(svg: str) -> list[tuple[str, float, float, float, float]]:
    """Return each text with its left, top, right and bottom, as wide as a wide font makes it."""
    found = []
    for part in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        words, size = part.text or "", float(part.attrib["font-size"])
        wide = len(words) * size * LETTER
        left = float(part.attrib["x"]) - {"start": 0.0, "middle": 0.5, "end": 1.0}[part.attrib["text-anchor"]] * wide
        base = float(part.attrib["y"])
        found.append((words, left, base - 0.75 * size, left + wide, base + 0.2 * size))
    return found


@pytest.mark.some_of(6, "illustrations", "stages", "hidden")
@pytest.mark.parametrize("place", list(places()), ids=IDS)
def test_a_picture_is_what_the_reference_makes_now(place: Path) -> None:
    again = "draw it again: uv run --group dev python -m illustrations"
    assert same(place.read_text(encoding="utf-8"), drawn(place)), again


def test_another_number_or_word_is_another_picture() -> None:
    svg = '<svg><text x="10.1">0.73</text><rect fill-opacity="0.50"/></svg>'
    assert same(svg, svg.replace("10.1", "10.2")) and same(svg, svg.replace("0.50", "0.51"))
    for was, now in (("10.1", "10.4"), ("0.73", "0.74"), ("0.50", "0.60"), ("rect", "path"), ("fill-opacity", "y")):
        assert not same(svg, svg.replace(was, now))


def test_no_text_covers_another_or_leaves_the_picture() -> None:
    for place in places():
        svg = place.read_text(encoding="utf-8")
        *_, width, height = map(float, ElementTree.fromstring(svg).attrib["viewBox"].split())
        texts = boxes(svg)
        outside = [each for each in texts if each[1] < 0 or each[2] < 0 or each[3] > width or each[4] > height]
        across = [
            (a[0], b[0])
            for a, b in combinations(texts, 2)
            if a[1] < b[3] and b[1] < a[3] and a[2] < b[4] and b[2] < a[4]
        ]
        assert (outside, across) == ([], []), place


def test_a_picture_can_be_read_on_a_telephone() -> None:
    for place in places():
        root = ElementTree.fromstring(place.read_text(encoding="utf-8"))
        sizes = [float(each.attrib["font-size"]) for each in root.iter("{http://www.w3.org/2000/svg}text")]
        seen = min(sizes) * 360 / float(root.attrib["width"])
        assert seen >= 9, f"{place}: pixels of the smallest letters, 360 wide"


def test_text_over_text_is_found() -> None:
    at = '<text x="{}" y="20" font-size="10" text-anchor="middle">word</text>'
    svg = '<svg xmlns="http://www.w3.org/2000/svg">{}</svg>'
    (_, left, top, right, bottom), other = boxes(svg.format(at.format(50) + at.format(60)))
    assert (left < other[3], other[1] < right) == (True, True)
    assert right - left == pytest.approx(24.8) and (top, bottom) == (12.5, 22)


def test_every_readme_shows_its_pictures_and_no_others() -> None:
    for owner in [*(stage.id for stage in course().stages), "capstone"]:
        found = SHOWN.findall((folder_of(owner) / "README.md").read_text(encoding="utf-8"))
        assert sorted(name for _, name in found) == sorted(PICTURES[owner]), owner
        assert [alt for alt, _ in found if not 20 <= len(alt) <= LONGEST] == [], owner
        files = {path.name for path in (folder_of(owner) / FOLDER).iterdir()}
        assert files == {f"{name}.svg" for name in PICTURES[owner]}, owner


def test_learners_get_the_pictures_with_the_readmes() -> None:
    stage = course().find("s15")
    files = copied(course(), (stage,))
    shown = [name for _, name in SHOWN.findall(files[f"stages/{stage.name}/README.md"].decode())]
    assert shown and all(f"stages/{stage.name}/{FOLDER}/{name}.svg" in files for name in shown)
    assert not [name for name in files if name.startswith("illustrations/")]


def test_a_picture_has_a_light_and_a_dark_side_and_loads_nothing() -> None:
    light, _, dark = STYLE.partition("@media(prefers-color-scheme:dark)")
    for colours in INKS.values():
        assert colours[0] in light and colours[1] in dark
    for place in places():
        svg = place.read_text(encoding="utf-8")
        assert STYLE in svg and "<title>" in svg
        assert not re.search(r"<script|href|url\(|@import|font-face", svg)
        assert len(svg) < 100_000, "a README's picture loads at once"


def test_a_stage_without_pictures_is_named_before_anything_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    before = {place: place.stat().st_mtime_ns for place in places()}
    assert main(["s15", "s99"]) == 2
    assert "s99: no stage with pictures. There are s01, s02," in capsys.readouterr().err
    assert {place: place.stat().st_mtime_ns for place in places()} == before


def test_drawing_names_what_was_written(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    written: dict[Path, str] = {}
    monkeypatch.setattr(Path, "write_text", lambda path, text, **_: written.update({path: text}))
    assert main(["s04"]) == 0
    named = [f"stages/s04_probability/pictures/{name}.svg" for name in PICTURES["s04"]]
    assert capsys.readouterr().out.splitlines() == named
    assert [path.relative_to(ROOT).as_posix() for path in written] == named
