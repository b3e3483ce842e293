"""What is told of each slip of the bank, without its words: `python -m grader.tests.slips.golden s15 --write`.

A stage's golden.json has, by slip, the cause ids, functions and lines that its row is told. A change of it needs a
reason in its commit.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from grader.authoring.cases import Case, Result
from grader.authoring.proof import results, workers
from grader.course.manifest import load_course
from grader.tests.slips.bank import FOLDER, HOLDOUT, SLIPS, BankError, Slip, slips_of
from grader.tests.support.places import ROOT

SEED = 1
Told = list[list[str | int]]


def golden_path(stage: str) -> Path:
    """Return where a stage's golden file lies."""
    return FOLDER / stage / "golden.json"


def told(result: Result, slip: Slip) -> Told:
    """Return the cause ids, functions and lines that a slip's row is told, each once."""
    assert result.verdict is not None
    row = next(row for row in result.verdict.criteria if row.id == slip.row)
    found = [each.diagnosis for each in row.failures if each.diagnosis is not None]
    return [list(each) for each in sorted({(each.cause, each.function, each.line) for each in found})]


def all_slips(stage: str) -> list[Slip]:
    """Return the slips of a stage and of its holdout."""
    found: list[Slip] = []
    for file in (SLIPS, HOLDOUT):
        try:
            found += slips_of(stage, file=file)
        except BankError:
            continue
    return found


def main() -> None:
    """Print what differs from the golden files, or write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stages", nargs="+")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    with workers(load_course(ROOT), options.workers) as executor:
        for stage in options.stages:
            slips = {f"slips/{each.id}": each for each in all_slips(stage)}
            cases = [Case(name, each.stage, each.source, SEED) for name, each in slips.items()]
            found = {slips[each.case.name].id: told(each, slips[each.case.name]) for each in results(executor, cases)}
            path = golden_path(stage)
            before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
            for name in sorted(found.keys() | before.keys()):
                if found.get(name) != before.get(name):
                    print(f"{stage} {name}: {before.get(name)} -> {found.get(name)}")
            if options.write:
                lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found))
                path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
