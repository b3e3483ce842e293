"""What the exploration of stage 1 draws of what its steps found."""

from __future__ import annotations

import numpy as np

from drawings.rightness import caption, differing, titled
from drawings.s01.steps import WORDS, A, B, terms
from grader.explore.model import Drawing, Image, Images, Known, rows

HIGHEST = 50.0  # of the cells of A B
FARTHEST = 4.0  # of dot products and squared distances of words
TABLES = {"products": "dot products", "cosines": "cosines", "distances": "squared distances"}


def drawings(known: Known) -> tuple[Drawing, ...]:
    """Return the product cell by cell, the slices that it is the sum of, and tables of the words."""
    return (*_product(known), *_slices(known), *_words(known))


def _product(known: Known) -> tuple[Drawing, ...]:
    """Return what is there after each cell, and what one call for the whole gives."""
    there = [key for key in ("cells", "whole") if key in known]
    if not there:
        return ()
    panels: list[Image] = []
    if "cells" in known:
        cells = known["cells"]
        for last in range(4):
            shown = np.where(np.arange(4).reshape(2, 2) <= last, cells, np.nan)
            wrong = differing(cells.ravel()[: last + 1], (A @ B).ravel()[: last + 1], "cells")
            panels.append(Image(titled(f"cell [{last // 2}, {last % 2}]", wrong), rows(shown)))
    if "whole" in known:
        panels.append(Image(titled("matmul(A, B)", known["whole-wrong"]), rows(known["whole"])))
    notice = "Each cell is one row of A times one column of B."
    if "cells" in known:
        notice += f" Cell [0, 1] is row 0 times column 1: {terms(0, 1)}."
    if len(there) == 2:
        notice += " One call for the whole gives the same four cells."
    said = caption(notice, *(known[f"{key}-wrong"] for key in there))
    name = "A times B, cell by cell" if "cells" in known else "A times B"
    return (Images("product", name, said, "column of B", "row of A", tuple(panels), 0.0, HIGHEST),)


def _slices(known: Known) -> tuple[Drawing, ...]:
    """Return the two outer products and their sum."""
    if "slices" not in known:
        return ()
    slices, wrong = known["slices"], known["slices-wrong"]
    panels = []
    for i, table in enumerate(slices):
        off = differing(table, np.multiply.outer(A[:, i], B[i]), "slice")
        panels.append(Image(titled(f"column {i}, row {i}", off), rows(table)))
    panels.append(Image(titled("their sum", wrong), rows(slices.sum(axis=0))))
    said = caption(
        "Column i of A times row i of B is a table of the whole size; the sum of the two is A times B.", wrong
    )
    return (
        Images("slices", "A times B, slice by slice", said, "column of B", "row of A", tuple(panels), 0.0, HIGHEST),
    )


def _words(known: Known) -> tuple[Drawing, ...]:
    """Return what each word has in common with each."""
    there = [key for key in TABLES if key in known]
    if not there:
        return ()
    panels = tuple(Image(titled(TABLES[key], known[f"{key}-wrong"]), rows(known[key]), WORDS, WORDS) for key in there)
    told = {
        "products": "their dot product is 2",
        "cosines": "the cosine of their angle is 0.8",
        "distances": "their squared distance is 1",
    }
    listed = ", ".join(told[key] for key in there)
    said = caption(
        f"Of two different words sat and down agree most: {listed}.", *(known[f"{key}-wrong"] for key in there)
    )
    low = float(min(0.0, *(np.min(known[key]) for key in there)))
    return (Images("words", "Word with word", said, "word", "word", panels, low, FARTHEST),)
