"""Stage 2 explored: elimination column by column, errors of pivots and columns, a line, a dominant direction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.explore.exploring import broken, charts, drawing, explored, images, parts, reference, wrong_is_told

pytestmark = pytest.mark.full_matrix("stages", "hidden", "drawings")
SCRAMBLED = "P, L, U = _right(*args); L = L.copy(); L[1, 0], L[2, 0] = L[2, 0], L[1, 0]; return P, L, U"
NO_PIVOTS = (
    "A = np.array(args[0], dtype=float); n = len(A); L = np.eye(n)\n"
    "    for k in range(n):\n"
    "        for i in range(k + 1, n):\n"
    "            L[i, k] = A[i, k] / A[k, k]; A[i] = A[i] - L[i, k] * A[k]\n"
    "    return np.eye(n), L, A"
)
GRAM_SCHMIDT = (
    "A = args[0]; Q = np.zeros(A.shape); R = np.zeros((A.shape[1],) * 2)\n"
    "    for j in range(A.shape[1]):\n"
    "        R[:j, j] = Q[:, :j].T @ A[:, j]; v = A[:, j] - Q[:, :j] @ R[:j, j]\n"
    "        R[j, j] = np.linalg.norm(v); Q[:, j] = v / R[j, j]\n"
    "    return Q, R"
)


def test_the_reference_eliminates_column_by_column(tmp_path: Path) -> None:
    found = explored(tmp_path, "s02")
    assert found.fine, parts(found)
    steps = images(found, "elimination")
    assert list(steps) == ["A", "P A", "column 0 cleared", "column 1 cleared"]
    assert steps["A"].values == ((1.0, 2.0, 0.0), (4.0, 4.0, 4.0), (2.0, 0.0, 5.0))
    assert steps["P A"].row_names == ("row 1", "row 2", "row 0")
    np.testing.assert_allclose(
        np.array(steps["column 0 cleared"].values), [[4, 4, 4], [0, -2, 3], [0, 1, -1]], atol=1e-12
    )
    np.testing.assert_allclose(
        np.array(steps["column 1 cleared"].values), [[4.0, 4.0, 4.0], [0.0, -2.0, 3.0], [0.0, 0.0, 0.5]], atol=1e-12
    )
    assert "-0.5 times row 2 off row 0" in drawing(found, "elimination").caption
    (pivots,) = charts(found, "pivots").values()
    assert (pivots.series[0].x[0], pivots.series[0].x[-1]) == (1e-20, 0.01) and max(pivots.series[0].y) < 1e-14
    (dominant,) = charts(found, "dominant").values()
    np.testing.assert_allclose(np.array(dominant.series[0].y[1:6]) / dominant.series[0].y[:5], 1 / 9, rtol=0.05)
    near = images(found, "near")
    assert near["rank 3"].values == near["picture"].values != near["rank 2"].values


test_what_is_wrong_is_told = wrong_is_told("s02", [
    ("forward_substitution", "return args[1]", "forward", "warning", "x: 2 of 2 values are not right"),
    ("lu_decomposition", "return _right(*args)[1:]", "lu", "failed", "returned 2 values where (P, L, U)"),
    (
        "lu_decomposition",
        "P, L, U = _right(*args); return P * 2, L, U",
        "lu",
        "warning",
        "P should hold a single 1",
    ),
    ("lu_decomposition", "P, L, U = _right(*args); return P, U, L", "lu", "warning", "L should have 1 on its"),
    ("lu_decomposition", SCRAMBLED, "lu", "warning", "do not clear column 0: 1.000 is left in row 1 of P A"),
    ("lu_decomposition", NO_PIVOTS, "largest", "warning", "a factor of 4.000 stands in L"),
    ("determinant", "return abs(_right(*args))", "determinant", "warning", "at [0] 4 where -4 is right"),
    ("qr_decomposition", GRAM_SCHMIDT, "stable", "warning", "orthogonality is lost"),
    ("least_squares", "return np.array([1.0, 2.5])", "line", "warning", "at [0] 1 where 0.5 is right"),
    ("power_iteration", "return 1.0, np.array([1.0, 0.0])", "power", "warning", "should be near 3, it is 1.000"),
    ("low_rank_approximation", "return args[0]", "near", "warning", "rank 1: "),
], looks=True)  # fmt: skip


def test_factors_that_stayed_behind_are_drawn_as_they_are_and_called_not_right(tmp_path: Path) -> None:
    found = explored(tmp_path, "s02", broken("s02", "lu_decomposition", SCRAMBLED))
    steps = images(found, "elimination")
    assert list(steps) == ["A", "P A", "column 0 cleared: not right", "column 1 cleared: not right"]
    assert steps["column 0 cleared: not right"].values[1][0] == 1.0
    assert drawing(found, "elimination").caption.startswith("Not right yet: the factors of L do not clear column 0")


def test_without_pivoting_the_row_of_the_checklist_about_it_is_named(tmp_path: Path) -> None:
    found = explored(tmp_path, "s02", broken("s02", "lu_decomposition", NO_PIVOTS))
    assert (parts(found)["lu"].status, found.look_criterion) == ("passed", "pivoting")
    assert "the largest of column 0" not in drawing(found, "elimination").caption
    assert "P A: not right" in images(found, "elimination")


def test_columns_that_are_no_longer_perpendicular_are_drawn_and_called_not_right(tmp_path: Path) -> None:
    found = explored(tmp_path, "s02", broken("s02", "qr_decomposition", GRAM_SCHMIDT))
    (chart,) = charts(found, "orthogonality").values()
    assert chart.title.endswith(": not right") and chart.series[0].y[0] < 1e-14 < 1e-3 < chart.series[0].y[-1]
    assert drawing(found, "orthogonality").caption.startswith("Not right yet: with ")


def test_only_the_rank_that_is_not_right_is_called_so(tmp_path: Path) -> None:
    body = "return _right(*args) + (args[1] == 2)"
    found = explored(tmp_path, "s02", broken("s02", "low_rank_approximation", body))
    assert list(images(found, "near")) == ["picture", "rank 1", "rank 2: not right", "rank 3"]


def test_elimination_alone_is_drawn_while_the_rest_is_not_written(tmp_path: Path) -> None:
    text = reference("s02") + "\n\ndef solve(A, b):\n    raise NotImplementedError('solve')\n"
    found = explored(tmp_path, "s02", text)
    assert "pivots" not in [each.id for each in found.drawings] and found.next_function == "solve"
    assert drawing(found, "elimination").caption.startswith("Row 1 of A comes to the top")
