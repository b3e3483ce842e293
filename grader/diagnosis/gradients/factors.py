"""What a constant factor between two gradients may be: the size of an axis, its root, or one over these."""

from __future__ import annotations

import math
import types
from collections.abc import Iterator, Mapping

import numpy as np

from grader.course.stage import Stage
from grader.diagnosis.calls import parameter_names
from grader.sandbox.record import Record

CLOSE = 1e-5  # relative: as near as a factor has to be to the number that it is called
LARGEST = 1 << 20  # of a size that a factor is named by
MOST_NAMES = 4  # past that a name says nothing
MOST_RECORDS = 60


def named(factor: float, sizes: Mapping[str, int]) -> str:
    """Return in words which sizes give a factor; empty where none does.

    >>> named(0.25, {"batch": 4, "seq": 6}), named(6**0.5, {"batch": 4, "seq": 6}), named(0.3, {"batch": 4})
    ('1/batch', '√seq', '')
    """
    found = [name for name, value in _candidates(sizes) if math.isclose(factor, value, rel_tol=CLOSE)]
    return " or ".join(dict.fromkeys(found)) if len(found) <= MOST_NAMES else ""


def _candidates(sizes: Mapping[str, int]) -> Iterator[tuple[str, float]]:
    for name, length in sizes.items():
        if length > 1:
            shown = f"({name})" if "/" in name else name
            yield from ((name, length), (f"1/{shown}", 1 / length))
            yield from ((f"√{shown}", length**0.5), (f"1/√{shown}", length**-0.5))


def sizes_of(records: list[Record], stage: Stage, module: types.ModuleType) -> dict[str, int]:
    """Return the sizes that a test's calls name: axes of arguments, whole numbers, and quotients of the two.

    A name that stands for several sizes in one test says nothing, and is left out.
    """
    seen: dict[str, set[int]] = {}
    numbers: dict[str, set[int]] = {}
    for record in records[:MOST_RECORDS]:
        axes = stage.axes.get(record.label, {})
        names = parameter_names(module, record.label) if record.kind == "call" else []
        given = [*zip(names, record.args, strict=False), *record.kwargs.items()]
        for name, value in given:
            if isinstance(value, np.ndarray) and len(axes.get(name, ())) == value.ndim:
                for axis, size in zip(axes[name], value.shape, strict=True):
                    seen.setdefault(axis, set()).add(size)
            elif type(value) is int and 1 < value <= LARGEST:
                numbers.setdefault(name, set()).add(value)
    sizes = {name: next(iter(found)) for name, found in (numbers | seen).items() if len(found) == 1}
    whole = {name: next(iter(found)) for name, found in numbers.items() if len(found) == 1}
    parts = {
        f"{name}/{other}": sizes[name] // count
        for name in seen
        for other, count in whole.items()
        if name in sizes and name != other and sizes[name] % count == 0 and sizes[name] > count
    }
    return sizes | parts
