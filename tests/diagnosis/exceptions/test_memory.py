"""What is told of too much memory: one unit, and what was held already where the array alone would have fitted."""

from __future__ import annotations

import numpy as np
import pytest

from grader.diagnosis.exceptions.help import too_much

END = "than the 1024 MB that a stage may use"


def said(size: str) -> str:
    return too_much(f"Unable to allocate {size} for an array with shape (8, 3) and data type float64", 1024)


def test_an_array_that_would_fit_alone_is_told_with_what_is_held() -> None:
    assert said("488. MiB") == (
        f"an array of shape (8, 3) takes 488 MB, and about 536 MB or more are held already: together more {END}"
    )


@pytest.mark.parametrize(("size", "mb"), [("7.45 GiB", 7629), ("1.5 TiB", 1572864)])
def test_an_array_that_never_fits_is_told_alone(size: str, mb: int) -> None:
    assert said(size) == f"an array of shape (8, 3) takes {mb} MB, more {END}"


@pytest.mark.parametrize("words", ["", "out of memory"])
def test_what_does_not_say_how_much_is_told_without(words: str) -> None:
    assert too_much(words, 1024) == f"with this the module would use more {END}"


def test_numpy_still_says_it_so() -> None:
    with pytest.raises(MemoryError) as caught:
        np.zeros((2**30, 2**25))  # 2**58 bytes
    assert too_much(str(caught.value), 1024).startswith(f"an array of shape ({2**30}, {2**25}) takes 274877906944 MB")


@pytest.mark.parametrize("size", ["9" * 3000 + " GiB", "0." + "9" * 3000 + " GiB"])
def test_a_size_that_a_learner_made_up(size: str) -> None:
    assert said(size) == f"with this the module would use more {END}"
