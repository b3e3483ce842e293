"""How many slips of the bank are named rightly, falsely, or not at all: `python -m grader.tests.slips.measure s15`.

With --holdout, of those that nothing was made to fit; with --half, where the functions of later rows are to be written.
"""

from __future__ import annotations

import argparse
import ast
import time
from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from grader.authoring.cases import Case, Result
from grader.authoring.proof import results, workers
from grader.course.manifest import load_course
from grader.course.stage import Stage
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


def half_written(slip: Slip, stage: Stage) -> Slip:
    """Return a slip in a module of which the functions are missing that no row asks but those after the slip's."""
    later = rows_that_need(slip.row, stage)
    asked = {name for row in stage.criteria if row.id not in later for name in row.functions}
    missing = {name for row in stage.criteria if row.id in later for name in row.functions} - asked
    tree = ast.parse(slip.source)
    bodies = [("", tree.body), *((f"{each.name}.", each.body) for each in tree.body if isinstance(each, ast.ClassDef))]
    for owner, body in bodies:
        whole = owner.rstrip(".") in missing  # a class of which nothing is asked yet
        for each in body:
            if isinstance(each, ast.FunctionDef) and (whole or owner + each.name in missing):
                each.body = ast.parse("raise NotImplementedError").body
    return replace(slip, source=ast.unparse(tree)) if missing else slip


def rows_that_need(needed: str, stage: Stage) -> set[str]:
    """Return the rows that need one, be it by others."""
    found = {needed}
    for _ in stage.criteria:
        found |= {row.id for row in stage.criteria if found & set(row.needs)}
    return found - {needed}


def _told(result: Result, slip: Slip) -> tuple[str, ...]:
    assert result.verdict is not None
    row = next(row for row in result.verdict.criteria if row.id == slip.row)
    found = [failure.diagnosis for failure in row.failures if failure.diagnosis is not None]
    return tuple(dict.fromkeys(f"{each.text} {each.fix}" for each in found))


def main() -> None:
    """Print a line for each stage and, with -v, each slip that is not named rightly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stages", nargs="*", help="all that have slips, where none is named")
    parser.add_argument("--holdout", action="store_true", help="measure the slips that nothing was made to fit")
    parser.add_argument("--half", action="store_true", help="leave out what the rows after a slip's ask for")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    file = HOLDOUT if options.holdout else SLIPS
    course = load_course(ROOT)
    with workers(course) as executor:
        for stage in options.stages or stages_with_slips(file=file):
            started = time.perf_counter()
            slips = slips_of(stage, file=file)
            if options.half:
                slips = tuple(half_written(slip, course.find(stage)) for slip in slips)
            found = sorted(named(slips, executor), key=lambda each: each.slip.id)
            counts = {state: sum(each.state == state for each in found) for state in ("right", "false", "silent")}
            words = ", ".join(f"{number} {state}" for state, number in counts.items())
            print(f"{stage}: {len(found)} slips, {words} ({time.perf_counter() - started:.0f} s)", flush=True)
            for each in found if options.verbose else ():
                if each.state != "right":
                    print(f"  {each.state} {each.slip.id}: {each.slip.what}")
                    print(*(f"      {text}" for text in each.told), sep="\n")


if __name__ == "__main__":
    main()
