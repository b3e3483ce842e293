"""What is told of each slip of the bank, without its words: `python -m tests.slips.golden s15 --write`.

A stage's golden.json has, by slip, the cause ids, functions and lines that its row is told. A change of it needs a
reason in its commit.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from pathlib import Path

from grader.authoring.cases import CaseResult, ProofCase
from grader.authoring.proof import results, workers
from grader.course.manifest import load_course
from grader.outcome import SEARCH
from tests.slips.bank import FOLDER, HOLDOUT, SLIPS, Slip, slips_of, stages_with_slips
from tests.support.places import ROOT

SEED = 1
Told = tuple[tuple[str, str, int], ...]  # ids, functions and lines of causes, each once
Golden = dict[str, Told]  # by slip


def golden_path(stage: str, folder: Path = FOLDER) -> Path:
    """Return where a stage's golden file lies."""
    return folder / stage / "golden.json"


def read_golden(stage: str, folder: Path = FOLDER) -> Golden:
    """Return what a stage's golden file holds; nothing where there is none."""
    path = golden_path(stage, folder)
    plain = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {name: tuple((id, function, line) for id, function, line in told) for name, told in plain.items()}


def write_golden(stage: str, golden: Golden, folder: Path = FOLDER) -> None:
    """Write a stage's golden file, a line a slip."""
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(golden[name])}" for name in sorted(golden))
    golden_path(stage, folder).write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def difference(slip: Slip, before: Told | None, now: Told) -> str:
    """Return what is told otherwise of a slip than its golden file has, and the command that writes it anew."""
    if before == now:
        return ""
    told = "nothing is written down" if before is None else f"it was {_shown(before)}"
    return (
        f"{slip.stage} {slip.id} is told {_shown(now)}; {told} in {golden_path(slip.stage).name}. "
        f"`python -m tests.slips.golden {slip.stage} {slip.id} --write` writes it anew; "
        "the commit has to say why it changed."
    )


def _shown(told: Told) -> str:
    return ", ".join(f"{id} ({function or '-'}, line {line})" for id, function, line in told) or "nothing"


def told(result: CaseResult, slip: Slip) -> Told | str:
    """Return the causes that a slip's row is told, or why the search came to no end: on a busy machine it may not."""
    assert result.verdict is not None
    row = next(row for row in result.verdict.criteria if row.id == slip.row)
    found = [each.diagnosis for each in row.failures if each.diagnosis is not None]
    reasons = [each.unexplained for each in row.failures if each.unexplained.startswith(SEARCH)]
    return reasons[0] if reasons else tuple(sorted({(each.cause, each.function, each.line) for each in found}))


def all_slips(stage: str) -> list[Slip]:
    """Return the slips of a stage and of its holdout."""
    return [
        slip
        for file in (SLIPS, HOLDOUT)
        if stage in stages_with_slips(file=file)
        for slip in slips_of(stage, file=file)
    ]


def graded(slips: Iterable[Slip], executor: Executor) -> Iterator[tuple[Slip, Told | str]]:
    """Grade slips and yield each with what it is told, or why that is not known, as they come."""
    return ((slip, told(result, slip)) for slip, result in runs(slips, executor))


def runs(slips: Iterable[Slip], executor: Executor) -> Iterator[tuple[Slip, CaseResult]]:
    """Grade slips and yield each with its result, as they come."""
    known = {f"slips/{slip.id}": slip for slip in slips}
    cases = [ProofCase(name, slip.stage, slip.source, SEED) for name, slip in known.items()]
    return ((known[result.case.name], result) for result in results(executor, cases))


def main() -> None:
    """Print what differs from the golden files, or write them; exit code 1 where something differs or was cut short."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stage")
    parser.add_argument("slips", nargs="*", help="all of the stage, where none is named")
    parser.add_argument("--write", action="store_true", help="write what differs, slip by slip, and drop unknown slips")
    parser.add_argument("--missing", action="store_true", help="only slips that the file does not have")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    stage, slips = options.stage, all_slips(options.stage)
    before = read_golden(stage)
    golden = {name: before[name] for name in before if name in {each.id for each in slips}}
    chosen = [each for each in slips if not options.slips or each.id in options.slips]
    chosen = [each for each in chosen if not (options.missing and each.id in golden)]
    is_same = len(golden) == len(before)
    with workers(load_course(ROOT), options.workers) as executor:
        for slip, now in graded(chosen, executor):
            if isinstance(now, str):
                print(f"{stage} {slip.id}: {now}", flush=True)
            elif said := difference(slip, golden.get(slip.id), now):
                print(f"{stage} {slip.id}: {golden.get(slip.id)} -> {now}" if options.write else said, flush=True)
                golden[slip.id] = now
            is_same = is_same and now == before.get(slip.id)
            if options.write:
                write_golden(stage, golden)
    sys.exit(0 if is_same or options.write else 1)


if __name__ == "__main__":
    main()
