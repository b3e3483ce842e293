"""Where slips of the bank are told: at their own line, by a known mistake, elsewhere, or nowhere.

    python -m tests.slips.measure s15

counts what the golden file of a stage holds. With --half it grades the slips instead, where the functions of later rows
are to be written.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import replace

from grader.authoring.naming import change_of, replaced_by
from grader.authoring.proof import workers
from grader.course.manifest import load_course
from grader.course.stage import Stage
from grader.diagnosis.obvious import OBVIOUS
from tests.slips.bank import HOLDOUT, SLIPS, Slip, slips_of, solution_of, stages_with_slips
from tests.slips.golden import Told, graded, read_golden
from tests.support.places import ROOT

ELSEWHERE, FUNCTION, KNOWN_BESIDE, KNOWN, SHOWN, LINE = PLACES = (
    "elsewhere",
    "in their function",
    "by a known mistake in another line",
    "by a known mistake",
    "by what the answer shows",
    "at their own line",
)
SILENT = "silent"


def place_of(slip: Slip, right: str, told: Told, stage: Stage) -> str:
    """Return where a slip of a right module is told; of several causes the one that is furthest from it counts."""
    change = change_of(right, slip.source, stage)
    replaced = replaced_by(stage)
    places = {SILENT}
    for id, function, line in told:
        if id in replaced:
            is_there = line in change.lines or not line
            is_here = bool(replaced[id] & change.functions)
            places.add(ELSEWHERE if not is_here else KNOWN if is_there else KNOWN_BESIDE)
        elif id in OBVIOUS:
            places.add(SHOWN)
        else:
            places.add(LINE if line in change.lines else FUNCTION if function in change.functions else ELSEWHERE)
    return next((place for place in PLACES if place in places), SILENT)


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


def told_half_written(slips: Iterable[Slip], stage: Stage, executor: Executor) -> dict[str, tuple[str, Told]]:
    """Grade slips where later functions are to be written; return where each is told, and what.

    Those of which the search came to no end are left out.
    """
    halves = {slip.id: (slip, half_written(slip, stage)) for slip in slips}
    found = {}
    for half, told in graded([half for _, half in halves.values()], executor):
        if not isinstance(told, str):
            right = half_written(replace(halves[half.id][0], source=solution_of(stage.id)), stage).source
            found[half.id] = place_of(half, right, told, stage), told
    return found


def told_in_golden(slips: Iterable[Slip], stage: Stage) -> dict[str, tuple[str, Told]]:
    """Return where slips are told, and what, as their golden file has it."""
    golden, right = read_golden(stage.id), solution_of(stage.id)
    known = [slip for slip in slips if slip.id in golden]
    return {slip.id: (place_of(slip, right, golden[slip.id], stage), golden[slip.id]) for slip in known}


def counted(places: Iterable[str]) -> str:
    """Return how many slips are told where, in words."""
    counts = Counter(places)
    return ", ".join(f"{counts[place]} {place}" for place in (*PLACES[::-1], SILENT))


def main() -> None:
    """Print a line for each stage and, with -v, each slip that is told in another line or not at all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stages", nargs="*", help="all that have slips, where none is named")
    parser.add_argument("--holdout", action="store_true", help="measure the slips that nothing was made to fit")
    parser.add_argument("--half", action="store_true", help="leave out what the rows after a slip's ask for")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    file = HOLDOUT if options.holdout else SLIPS
    course, every = load_course(ROOT), list[str]()
    with workers(course, None if options.half else 0) as executor:
        for name in options.stages or stages_with_slips(file=file):
            stage, slips = course.find(name), slips_of(name, file=file)
            found = told_half_written(slips, stage, executor) if options.half else told_in_golden(slips, stage)
            every += [place for place, _ in found.values()]
            print(
                f"{name}: {len(found)} of {len(slips)} slips; {counted(place for place, _ in found.values())}",
                flush=True,
            )
            for slip in slips if options.verbose else ():
                place, told = found.get(slip.id, ("", ()))
                if place in (ELSEWHERE, FUNCTION, KNOWN_BESIDE, SILENT):
                    print(f"  {place} {slip.id}: {slip.what} {told or ''}")
    print(f"{len(every)} slips; {counted(every)}")


if __name__ == "__main__":
    main()
