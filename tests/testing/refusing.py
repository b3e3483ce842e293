"""What an assertion that is to refuse something said of it, and an array for it to refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.testing import Mismatch

X = np.array([[1.0, 2.0, 4.0], [7.0, 11.0, 16.0]])


def refused(check: Any, *args: Any, **options: Any) -> Mismatch:
    with pytest.raises(Mismatch) as caught:
        check(*args, **options)
    return caught.value
