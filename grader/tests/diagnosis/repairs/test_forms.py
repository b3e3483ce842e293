"""The bench holds the changes that are asked for, whatever was made of the same function after them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from grader.diagnosis.repairs.forms import Forms
from grader.diagnosis.repairs.kinds.missing import QUICK
from grader.diagnosis.repairs.relevance import FAR
from grader.tests.diagnosis.repairs.made import written
from grader.tests.diagnosis.slips.made import NO_STAGE


class Bench:
    """Keeps what it was given."""

    def __init__(self) -> None:
        self.codes: list[bytes] = []

    def load(self, code: bytes) -> None:
        self.codes = [code]

    def extend(self, code: bytes) -> None:
        self.codes.append(code)


def test_changes_that_were_made_first_are_put_in_place_again() -> None:
    """A function has the switches of one level at a time: those of the next come in their place."""
    bench: Any = Bench()
    forms = Forms(NO_STAGE, b"", "", bench)
    text = written("def f(a, b):\n    return (a > 0) | (b > 0)", "f(np.ones(3), np.ones(3))")
    forms.hold(text)
    first = forms.made(text, "f", QUICK, {}, range(FAR, FAR + 1))
    quick = bench.codes[-1]
    second = forms.made(text, "f", 0, {}, range(FAR, FAR + 1))
    assert first and second and bench.codes[-1] is not quick
    forms.place(first[0])
    assert bench.codes[-1] is quick
    number = len(bench.codes)
    forms.place(first[0])
    assert len(bench.codes) == number
    other: Any = SimpleNamespace(whole=lambda: [b"another text"])
    forms.hold(other)
    forms.place(first[0])
    assert bench.codes == [*text.whole(), quick]
