"""Pictures of an exploration: really drawn, the same each time, written whole, and asked for with care."""

from __future__ import annotations

import io
import os
import struct
import sys
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.image import imread

from grader.errors import UsageError
from grader.explore import picture
from grader.explore.example import example
from grader.explore.figure import WIDTH, figure_of
from grader.explore.model import WRONG, Exploration, ExplorationRun, Image, Images, Origin, WeightMap, weight_map

SVG = "{http://www.w3.org/2000/svg}"
RAN = ExplorationRun("attention.py", "0" * 64, "process", None, None)


def maps(count: int, heads: int = 2) -> tuple[WeightMap, ...]:
    weights = np.tril(np.ones((count, count)))
    weights /= weights.sum(axis=1, keepdims=True)
    whole = (weight_map("Plain", False, None, weights[::-1]), weight_map("Causal", True, None, weights))
    return (*whole, *(weight_map(f"Head {head}", False, head, weights) for head in range(heads)))


def exploration(words: str | None = None, heads: int = 2) -> Exploration:
    sentence = example(words, None, None)
    return Exploration("s15", "Attention", sentence, RAN, maps=maps(len(sentence.words), heads))


def texts(data: bytes) -> list[str]:
    root = ElementTree.fromstring(data)
    return ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]


def test_a_png_is_drawn_in_the_size_of_its_plan(tmp_path: Path) -> None:
    file = tmp_path / "weights.png"
    picture.draw(exploration(), file, "png")
    data = file.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    assert width == WIDTH * picture.DOTS
    assert 1000 < height < 1200
    assert len(data) > 30_000
    assert os.listdir(tmp_path) == ["weights.png"]


def test_an_svg_holds_words_weights_and_titles_as_text(tmp_path: Path) -> None:
    file = tmp_path / "weights.svg"
    picture.draw(exploration(), file, "svg")
    found = texts(file.read_bytes())
    for word in ("The", "cat", "sat", "down"):
        assert found.count(word) == 4 + 2  # below four maps, and beside the first of each row
    for text in ("Plain", "Causal", "Head 0", "Head 1", "Weights", "s15 · Attention"):
        assert found.count(text) == 1
    assert found.count("key") == 4
    assert {"1.00", "0.50", "0.33", "0.25", "0"} <= set(found)
    assert "“The cat sat down” · 4 words, 6 features, 2 heads" in found


@pytest.mark.full_matrix
def test_the_same_exploration_gives_the_same_file() -> None:
    assert picture.drawn(exploration(), "svg") == picture.drawn(exploration(), "svg")
    assert picture.drawn(exploration(), "png") == picture.drawn(exploration(), "png")


@pytest.mark.full_matrix
def test_nobodys_settings_change_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib

    before = picture.drawn(exploration(), "svg")
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red"}):
        assert picture.drawn(exploration(), "svg") == before
        assert matplotlib.rcParams["font.size"] == 30


@pytest.mark.full_matrix
def test_words_are_text_and_nothing_else() -> None:
    found = texts(picture.drawn(exploration("$x^2$ \\frac{1}{ <b>&amp; a\x1bb 日本語"), "svg"))
    for word in ("$x^2$", "\\frac{1}{", "<b>&amp;", "a\\x1bb", "日本語"):
        assert word in found
    assert picture.drawn(exploration("日本語 $_{"), "png").startswith(b"\x89PNG")


def test_long_words_are_cut_and_long_sentences_take_more_lines() -> None:
    found = texts(picture.drawn(exploration(" ".join(["extraordinarily"] * 12)), "svg"))
    assert found.count("extraordinari…") == 2 * 12 * 4
    assert " ".join(found).count("extraordinarily") == 12


SIZES = {
    size: () if size in ((1, 0), (4, 3), (9, 5), (32, 2)) else pytest.mark.full_matrix("grader/explore")
    for size in product((1, 4, 9, 32), (0, 1, 2, 3, 5))
}


@pytest.mark.parametrize(("count", "heads"), [pytest.param(*size, marks=marks) for size, marks in SIZES.items()])
def test_no_map_lies_outside_or_over_another(count: int, heads: int) -> None:
    figure = figure_of(exploration(" ".join(["extraordinarily"] * count), heads))
    figure.canvas.draw()
    whole, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert whole.x0 >= 0 and whole.y0 >= 0 and whole.x1 <= width and whole.y1 <= height
    boxes = [axes.get_tightbbox() for axes in figure.axes]
    assert len(boxes) == 2 + heads and all(box is not None for box in boxes)
    assert not any(one.overlaps(other) for one, other in combinations(filter(None, boxes), 2))


def test_maps_are_in_pairs_where_there_is_room() -> None:
    def rows(count: int, heads: int) -> list[int]:
        tops = [axes.get_position().y1 for axes in figure_of(exploration(" ".join(["word"] * count), heads)).axes]
        return [tops.count(top) for top in dict.fromkeys(tops)]

    assert (rows(4, 2), rows(5, 3), rows(9, 1)) == ([2, 2], [2, 2, 1], [1, 1, 1])


def test_a_map_of_a_wrong_step_says_so_and_the_others_do_not() -> None:
    found = replace(exploration(), origins=(Origin("head-1", "heads", True),))
    said = [axes.get_title(loc="left") for axes in figure_of(found).axes]
    assert said == ["Plain", "Causal", "Head 0", f"Head 1\n{WRONG}"]


def test_an_svg_is_dark_where_its_page_is() -> None:
    data = picture.drawn(exploration(), "svg").decode()
    assert "@media (prefers-color-scheme: dark) { #figure_1 { filter: url(#dark) } }" in data
    assert data.count('id="figure_1"') == data.count('id="dark"') == 1
    (matrix,) = (node.attrib["values"] for node in ElementTree.fromstring(data).iter(f"{SVG}feColorMatrix"))
    rows = np.array(matrix.split(), float).reshape(4, 5)
    for colour in np.random.default_rng(0).uniform(size=(20, 3)):
        np.testing.assert_allclose((rows @ [*colour, 1, 1])[:3].clip(0, 1), picture.mirrored(colour))


@pytest.mark.full_matrix
def test_a_dark_png_is_the_light_one_mirrored() -> None:
    light, dark = (imread(io.BytesIO(picture.drawn(exploration(), "png", dark=dark))) for dark in (False, True))
    assert light.shape[:2] == dark.shape[:2]
    assert light[0, 0, :3].tolist() == [1, 1, 1] and dark[0, 0, :3].tolist() == [0, 0, 0]
    np.testing.assert_allclose(picture.mirrored(light[..., :3].astype(float)), dark[..., :3], atol=1 / 254)


@pytest.mark.full_matrix
def test_a_very_large_picture_has_fewer_dots(monkeypatch: pytest.MonkeyPatch) -> None:
    most = 200_000  # its rows and columns would need more than a million
    monkeypatch.setattr(picture, "MAX_DOTS", most)
    data = picture.drawn(exploration("a b c d e f", 2), "png")
    width, height = struct.unpack(">II", data[16:24])
    assert most * 9 // 10 < width * height < most * 31 // 30


def test_a_picture_that_is_there_is_replaced_and_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "real.png", tmp_path / "link.png"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    picture.expect_possible(link, None)
    picture.draw(exploration(), link, "png")
    assert link.is_symlink()
    assert target.read_bytes().startswith(b"\x89PNG")


def test_places_where_no_picture_can_be_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder: expected the name of a file"):
        picture.expect_possible(tmp_path, None)
    with pytest.raises(UsageError, match="there is no folder"):
        picture.expect_possible(None, tmp_path / "nowhere" / "a.svg")
    with pytest.raises(UsageError, match="both name"):
        picture.expect_possible(tmp_path / "a.png", tmp_path / "." / "a.png")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(UsageError, match="is not a regular file"):
            picture.expect_possible(tmp_path / "pipe", None)


def test_a_folder_that_may_not_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(UsageError, match="not yours to write in"):
        picture.expect_possible(tmp_path / "a.png", None)


def test_a_write_that_fails_leaves_the_old_picture_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.png"
    file.write_text("old", encoding="utf-8")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(UsageError, match="No space left on device"):
        picture.draw(exploration(), file, "png")
    assert file.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["a.png"]


def test_without_matplotlib_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(picture, "find_spec", lambda name: None)
    picture.expect_possible(None, None)
    with pytest.raises(UsageError, match="pictures need matplotlib") as refused:
        picture.expect_possible(tmp_path / "a.png", None)
    assert "uv sync --extra plot" in str(refused.value.hint)


@pytest.mark.full_matrix
def test_maps_and_drawings_share_a_picture_with_room_for_both() -> None:
    image = Image("small", ((0.0, 1.0), (1.0, 0.0)), ("one", "two"), ("extraordinarily", "long"))
    drawings = (Images("small", "Small images", "See.", "key", "query", (image,) * 7, 0.0, 1.0),)
    found = replace(exploration(), drawings=drawings)
    data = texts(picture.drawn(found, "svg"))
    assert {"Plain", "Small images", "extraordinarily", "See."} <= set(data)
    both = figure_of(found)
    boxes = [axes.get_position() for axes in both.axes]
    assert all(box.x0 >= 0 and box.x1 <= 1 and box.y0 >= 0 and box.y1 <= 1 for box in boxes)
    assert not any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place])


def test_keys_of_other_words_stand_below_their_columns() -> None:
    words = example("who did", None, None)
    found = replace(exploration(), example=replace(words, key_words=("the", "dog", "bit")),
                    maps=(weight_map("Plain", False, None, np.full((2, 3), 1 / 3)),))  # fmt: skip
    data = texts(picture.drawn(found, "svg"))
    assert (data.count("who"), data.count("dog"), data.count("0.33")) == (1, 1, 6)
    assert any("2 queries, 3 keys" in text for text in data)
