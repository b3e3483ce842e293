"""Sentences about shapes: products, broadcasting, axes and indices."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

from grader.diagnosis.exceptions.place import Operation, Place, Shape, product, together

Sentence = Callable[[re.Match[str], Place], str]
SHAPE = r"(\([\d, ]*\))"


def _read(text: str) -> Shape:
    return tuple(int(size) for size in re.findall(r"\d+", text))


def _text(shape: Shape) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def _product(found: re.Match[str], place: Place) -> str:
    """A product of matrices whose inner sizes differ: which operand transposed would fit."""
    first, second = int(found["left"]), int(found["right"])
    fitting = [each for each in place.products() if _summed(each.shapes) == (first, second)]
    if len(fitting) != 1:
        return (
            f"A matrix product sums over the last axis of its left operand, which has {_entries(first)}, and the last "
            f"but one of its right operand (the only one of a vector), which has {second}: these have to be equal."
        )
    (operation,) = fitting
    ways = [turned for which in (1, 0) if (turned := Turned.of(operation, which)) is not None]
    if named := [way for way in ways if way.sums_one_name(place)]:
        return f"{named[0].name} has to be {named[0].how}: {named[0].sizes(place)}"
    if ways:
        return "; ".join(f"{way.name} {way.how} would fit: {way.sizes(place)}" for way in ways)
    left, right = operation.names
    where = "the only axis" if len(operation.shapes[1] or ()) == 1 else "the last axis but one"
    return f"The last axis of {left} has {_entries(first)}, {where} of {right} has {second}: these have to be equal."


def _summed(shapes: tuple[Shape | None, Shape | None]) -> tuple[int, int] | None:
    left, right = shapes
    return (left[-1], right[-2:][0]) if left and right else None


@dataclass(frozen=True)
class Turned:
    """A product that fits with the last two axes of one operand swapped: which is 0 for the left, 1 for the right."""

    operation: Operation
    which: int
    shapes: tuple[Shape, Shape]

    @classmethod
    def of(cls, operation: Operation, which: int) -> Turned | None:
        left, right = (_turned(each) if at == which else each for at, each in enumerate(operation.shapes))
        if left is None or right is None or product(left, right) is None:
            return None
        return cls(operation, which, (left, right))

    @property
    def name(self) -> str:
        return self.operation.names[self.which]

    @property
    def how(self) -> str:
        return "transposed" if len(self.shapes[self.which]) == 2 else "transposed (its last two axes swapped)"

    def axes(self, place: Place) -> tuple[list[str], list[str]] | None:
        """Return the names of the last two axes of both; None where one has none."""
        found = []
        for at, (name, shape) in enumerate(zip(self.operation.names, self.shapes, strict=True)):
            names = list(place.axes.get(name, ()))
            if not 2 <= len(names) <= len(shape):  # batch axes come first
                return None
            found.append(names[-2:][::-1] if at == self.which else names[-2:])
        return found[0], found[1]

    def sums_one_name(self, place: Place) -> bool:
        """Say whether both of the axes that are summed over then have one name."""
        axes = self.axes(place)
        return axes is not None and axes[0][-1] == axes[1][-2]

    def sizes(self, place: Place) -> str:
        """Return the last two sizes of both as they are then, with names where the axes have them."""
        names = self.axes(place) or ([], [])
        texts = []
        for own, shape in zip(names, self.shapes, strict=True):
            sizes = [f"{name} {size}" for name, size in zip(own, shape[-2:], strict=False)] or map(str, shape[-2:])
            texts.append(f"({', '.join(sizes)})")
        return " · ".join(texts)


def _entries(count: int) -> str:
    return f"{count} {'entry' if count == 1 else 'entries'}"


def _turned(shape: Shape | None) -> Shape | None:
    return (*shape[:-2], shape[-1], shape[-2]) if shape is not None and len(shape) > 1 else None


def _broadcast(found: re.Match[str], place: Place) -> str:
    """Two shapes that do not broadcast: which axes differ, and where an axis of length 1 would mend it."""
    shapes = [_read(each) for each in re.findall(SHAPE, found[1])]
    if len(shapes) != 2 or together(*shapes) is not None:
        return ""
    a, b = shapes
    fitting = {each.names for each in place.computations() if each.shapes == (a, b)}
    left, right = fitting.pop() if len(fitting) == 1 else ("the first", "the second")
    back = next(i for i in range(1, min(len(a), len(b)) + 1) if a[-i] != b[-i] and 1 not in (a[-i], b[-i]))
    text = (
        "Shapes are compared from the last axis on: "
        f"axis {len(a) - back} of {left} has {_entries(a[-back])}, axis {len(b) - back} of {right} has {b[-back]}."
    )
    longer, shorter, name = (a, b, right) if len(a) > len(b) else (b, a, left)
    fits = {
        (*shorter[:at], 1, *shorter[at:])
        for at in range(len(shorter) + 1)
        if len(shorter) + 1 == len(longer) and shorter == longer[:at] + longer[at + 1 :]
    }
    if fits:
        ways = " or ".join(map(_text, sorted(fits, reverse=True)))
        text += f" With an axis of length 1, {name} would fit as {ways}: keepdims=True keeps one, np.newaxis makes one."
    return text


def _assigned(found: re.Match[str], place: Place) -> str:
    source, target = _read(found[1]), _read(found[2])
    if len(source) > len(target):
        return f"What is assigned has {len(source)} axes, and its place {len(target)}: is one left to sum or to index?"
    return f"The place takes shape {_text(target)}, and what is assigned has shape {_text(source)}."


def _output(found: re.Match[str], place: Place) -> str:
    own, result = _read(found[1]), _read(found[2])
    name = next((ast.unparse(node.target) for node in place.nodes if isinstance(node, ast.AugAssign)), "the output")
    return f"In place, {name} keeps its shape {_text(own)}; the result has shape {_text(result)} and needs a new array."


def _axis(found: re.Match[str], place: Place) -> str:
    if not place.nodes or place.calls("expand_dims", "stack"):  # what counts there are the axes of the result
        return ""
    count = int(found[1])
    if count == 0:
        return "A single number has no axes."
    axes = (
        "only axis 0, which is -1 as well" if count == 1 else f"axes 0 to {count - 1}, or -{count} to -1 from the end"
    )
    return f"The array has {axes}."


def _index(found: re.Match[str], place: Place) -> str:
    axis, size = int(found[1]), int(found[2])
    if size == 0:
        return f"Axis {axis} is empty: it has no index at all."
    return f"Indices start at 0: axis {axis} has {'index 0 only' if size == 1 else f'0 to {size - 1}'}."


def _many_indices(found: re.Match[str], place: Place) -> str:
    return f"The array has {found[1]} {'axis' if found[1] == '1' else 'axes'}, and {found[2]} indices are given."


def _mask(found: re.Match[str], place: Place) -> str:
    sizes = f"axis {found[1]} has {found[2]} entries, the mask {found[3]}"
    return f"A mask is as long as the axis that it picks from: {sizes}."


def _reshape(found: re.Match[str], place: Place) -> str:
    sizes = [int(size) for size in re.findall(r"-?\d+", found[2])]
    if not sizes or place.has(ast.USub):  # NumPy leaves -1 out of the shape that it shows
        return ""
    total = 1
    for size in sizes:
        total *= size
    return f"{' × '.join(map(str, sizes))} = {total} values are asked for, and there are {found[1]}."


def _reshape_nothing(found: re.Match[str], place: Place) -> str:
    return "The array is empty, and of nothing -1 cannot tell how long its axis is: write the size of that axis out."


SENTENCES: tuple[tuple[re.Pattern[str], Sentence], ...] = (
    (
        re.compile(r"^matmul: .*operand 1 has a mismatch .*\(size (?P<right>\d+) is different from (?P<left>\d+)\)"),
        _product,
    ),
    (re.compile(r"^shapes \S+ and \S+ not aligned: (?P<left>\d+) \(dim \d+\) != (?P<right>\d+) \(dim \d+\)"), _product),
    (re.compile(r"^operands could not be broadcast together with shapes ((?:\([\d,]*\) ?){2})$"), _broadcast),
    (re.compile(rf"^could not broadcast input array from shape {SHAPE} into shape {SHAPE}"), _assigned),
    (re.compile(rf"^non-broadcastable output operand with shape {SHAPE} .* broadcast shape {SHAPE}"), _output),
    (re.compile(r"axis -?\d+ is out of bounds for array of dimension (\d+)$"), _axis),
    (re.compile(r"^index -?\d+ is out of bounds for axis (\d+) with size (\d+)$"), _index),
    (re.compile(r"^too many indices for array: array is (\d+)-dimensional, but (\d+) were indexed"), _many_indices),
    (re.compile(r"^boolean index did not match .* axis (\d+); size of axis is (\d+) but size of .* is (\d+)$"), _mask),
    (re.compile(r"^cannot reshape array of size (\d+) into shape (\([\d,-]*\))"), _reshape),
    (re.compile(r"^cannot reshape array of size 0 into shape \(.*newaxis"), _reshape_nothing),
)
