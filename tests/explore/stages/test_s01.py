"""Stage 1 explored: a product cell by cell and slice by slice, and tables of the words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.explore.exploring import broken, drawing, explored, images, parts, wrong_is_told

pytestmark = pytest.mark.full_matrix("stages", "hidden", "drawings")


def test_the_reference_builds_the_product_cell_by_cell(tmp_path: Path) -> None:
    found = explored(tmp_path, "s01")
    assert found.fine, parts(found)
    assert [each.id for each in found.drawings] == ["product", "slices", "words"]
    product = images(found, "product")
    assert list(product) == ["cell [0, 0]", "cell [0, 1]", "cell [1, 0]", "cell [1, 1]", "matmul(A, B)"]
    for place, name in enumerate(product):
        there = np.isfinite(np.array(product[name].values))
        assert there.ravel().tolist() == [cell <= place for cell in range(4)]
    assert product["cell [1, 1]"].values == product["matmul(A, B)"].values == ((19.0, 22.0), (43.0, 50.0))
    assert "1·6 + 2·8 = 22" in drawing(found, "product").caption
    slices = images(found, "slices")
    assert slices["column 0, row 0"].values == ((5.0, 6.0), (15.0, 18.0))
    assert slices["their sum"].values == ((19.0, 22.0), (43.0, 50.0))
    words = images(found, "words")
    assert (words["dot products"].values[2][3], words["squared distances"].values[2][3]) == (2.0, 1.0)
    assert words["cosines"].values[2][3] == pytest.approx(0.8)


test_what_is_wrong_is_told = wrong_is_told("s01", [
    ("dot_product", "return 2.0", "dot", "warning", "cat · sat is 2 where 1 is right"),
    ("outer_product", "return _right(*args).T", "slices", "warning", "column 0 times row 0: 2 of 4 values"),
    ("matmul", "return _right(*args).T", "whole", "warning", "row 0 times column 1, 1·6 + 2·8 = 22, not 43"),
    ("matmul", "return args[0] * args[1]", "cells", "failed", "row 0 times column 0: shape (2, 2) should be"),
    ("matmul", "return _right(*args) + 1", "cells", "warning", "row 0 times column 0 should be 1·5 + 2·7 = 19"),
    ("swap_last_axes", "return args[0].reshape(6, 4)", "swapped", "warning", "E with axes swapped: "),
    ("broadcast_shape", "return (8, 1, 6)", "broadcast", "warning", "should be (8, 7, 6), not (8, 1, 6)"),
    ("broadcast_shape", "return np.array([8, 7, 6])", "broadcast", "failed", "a tuple of ints was expected"),
    ("trace", "return np.sum(args[0])", "trace", "warning", "trace is 19.25 where 8.75 is right"),
    ("one_hot", "return np.eye(4)[::-1][args[0]]", "hot", "warning", "rows: 4 of 8 values are not right"),
], looks=True)  # fmt: skip


def test_a_transposed_product_is_drawn_as_it_is_and_called_not_right(tmp_path: Path) -> None:
    found = explored(tmp_path, "s01", broken("s01", "matmul", "return _right(*args).T"))
    product = images(found, "product")
    assert "matmul(A, B)" not in product
    assert product["matmul(A, B): not right"].values == ((19.0, 43.0), (22.0, 50.0))
    assert drawing(found, "product").caption.startswith("Not right yet: cell [0, 1] should be")


def test_a_product_of_entries_has_no_cells_to_show_but_the_whole(tmp_path: Path) -> None:
    found = explored(tmp_path, "s01", broken("s01", "matmul", "return args[0] * args[1]"))
    assert images(found, "product")["matmul(A, B): not right"].values == ((5.0, 12.0), (21.0, 32.0))
    assert list(images(found, "words")) == ["cosines", "squared distances"]


def test_only_what_shows_a_wrong_value_is_called_not_right(tmp_path: Path) -> None:
    found = explored(tmp_path, "s01", broken("s01", "matmul", "return np.minimum(_right(*args), 43)"))
    assert list(images(found, "product"))[:4] == ["cell [0, 0]", "cell [0, 1]", "cell [1, 0]", "cell [1, 1]: not right"]
    found = explored(tmp_path, "s01", broken("s01", "outer_product", "return np.minimum(_right(*args), 18)"))
    assert list(images(found, "slices")) == ["column 0, row 0", "column 1, row 1: not right", "their sum: not right"]
