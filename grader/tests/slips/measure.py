"""How many slips of the bank are named rightly, falsely, or not at all: `python -m grader.tests.slips.measure s15`.

With --holdout, of those that nothing was made to fit.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import dataclass

from grader.authoring.cases import Case, Result
from grader.authoring.proof import results, workers
from grader.course.manifest import load_course
from grader.diagnosis.slips.telling import LOCATED
from grader.tests.slips.bank import HOLDOUT, SLIPS, Slip, slips_of, stages_with_slips
from grader.tests.support.places import ROOT

SEED = 1


@dataclass(frozen=True)
class Naming:
    """What is told of one slip in the row that has to name it; nothing where that says only where it is."""

    slip: Slip
    told: tuple[str, ...]

    @property
    def state(self) -> str:
        """Return right, false or silent: right where every sentence that is told names the cause."""
        if not self.told:
            return "silent"
        return "right" if all(map(self.slip.is_named_by, self.told)) else "false"


def named(slips: Iterable[Slip], executor: Executor) -> list[Naming]:
    """Grade slips and return what is told of each."""
    known = {f"slips/{slip.id}": slip for slip in slips}
    cases = [Case(name, slip.stage, slip.source, SEED) for name, slip in known.items()]
    return [
        Naming(known[result.case.name], _told(result, known[result.case.name])) for result in results(executor, cases)
    ]


def _told(result: Result, slip: Slip) -> tuple[str, ...]:
    assert result.verdict is not None
    row = next(row for row in result.verdict.criteria if row.id == slip.row)
    found = [failure.diagnosis for failure in row.failures if failure.diagnosis is not None]
    return tuple(dict.fromkeys(f"{each.text} {each.fix}" for each in found if each.mistake != LOCATED))


def main() -> None:
    """Print a line for each stage and, with -v, each slip that is not named rightly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stages", nargs="*", help="all that have slips, where none is named")
    parser.add_argument("--holdout", action="store_true", help="measure the slips that nothing was made to fit")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    file = HOLDOUT if options.holdout else SLIPS
    with workers(load_course(ROOT)) as executor:
        for stage in options.stages or stages_with_slips(file=file):
            started = time.perf_counter()
            found = sorted(named(slips_of(stage, file=file), executor), key=lambda each: each.slip.id)
            counts = {state: sum(each.state == state for each in found) for state in ("right", "false", "silent")}
            words = ", ".join(f"{number} {state}" for state, number in counts.items())
            print(f"{stage}: {len(found)} slips, {words} ({time.perf_counter() - started:.0f} s)", flush=True)
            for each in found if options.verbose else ():
                if each.state != "right":
                    print(f"  {each.state} {each.slip.id}: {each.slip.what}")
                    print(*(f"      {text}" for text in each.told), sep="\n")


if __name__ == "__main__":
    main()
