"""What a cause costs: processor time of a failing `grader check` beyond that of one which looks for no cause.

The modules are slips of the bank, spread over it; each is checked in both ways in turn. Time is that of all processes
of a check: the judge's, the worker's and the command's own. What is needed for the marks alone is in both: the tests
that fail, and the reference that says whose fault it is.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from grader.bench.check import COMMAND, seconds_of
from grader.course.manifest import find_course_root
from grader.tests.slips.bank import Slip, slips_of, stages_with_slips

GOAL_S = 0.6  # of processor time, at most
FINE = (0, 1)  # exit codes: passed, and not
MARKS_ALONE = f"from grader.bench.causes import without_causes; without_causes(); {COMMAND}"


@dataclass(frozen=True)
class Cost:
    """Processor time of a slip's check beyond that of one without a cause, the median of some pairs."""

    stage: str
    slip: str
    beyond_s: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a table or JSON, and return 0 where every slip is within the goal."""
    parser = argparse.ArgumentParser(prog="python -m grader.bench.causes", description=__doc__)
    parser.add_argument("stages", nargs="*", help="all that have slips, where none is named")
    parser.add_argument("--slips", type=int, default=3, help="of each stage, spread over its bank (3)")
    parser.add_argument("--only", action="append", help="this slip alone; may be repeated")
    parser.add_argument("--runs", type=int, default=3, help="pairs of checks of each slip (3)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    found: list[Cost] = []
    for stage in options.stages or stages_with_slips():
        known = slips_of(stage)
        chosen = [each for each in known if each.id in options.only] if options.only else spread(known, options.slips)
        for each in measured(stage, chosen, options.runs):
            found.append(each)
            if not options.json:
                print(f"  {each.beyond_s:5.2f} s   {each.stage} {each.slip}", flush=True)
    if not found:
        raise SystemExit(f"No slip is called {', '.join(options.only or ())}.")
    print(json.dumps([asdict(each) for each in found]) if options.json else summary(found))
    return 0 if max(each.beyond_s for each in found) <= GOAL_S else 1


def spread(slips: Sequence[Slip], number: int) -> list[Slip]:
    """Return so many slips, at equal distances."""
    number = min(number, len(slips))
    return [slips[(2 * place + 1) * len(slips) // (2 * number)] for place in range(number)]


def measured(stage: str, slips: Iterable[Slip], runs: int) -> Iterator[Cost]:
    """Yield what the cause of each slip costs, after one check that does not count."""
    with tempfile.TemporaryDirectory(prefix="grader-bench-") as folder:
        for place, slip in enumerate(slips):
            wrong = Path(folder) / f"{slip.id}.py"
            wrong.write_text(slip.source, encoding="utf-8")
            if place == 0:
                processor_seconds(stage, wrong, COMMAND)
            pairs = [[processor_seconds(stage, wrong, each) for each in (COMMAND, MARKS_ALONE)] for _ in range(runs)]
            yield Cost(stage, slip.id, statistics.median(a - b for a, b in pairs))


def processor_seconds(stage: str, module: Path, command: str) -> float:
    """Return the processor time that a check of a module takes, of all its processes."""
    before = _of_children()
    arguments = [sys.executable, "-c", command, "check", stage, "--submission", str(module), "--json"]
    seconds_of(arguments, find_course_root(Path.cwd()), FINE)
    return _of_children() - before


def without_causes() -> None:
    """Have this process, and those that it forks, mark alone: nothing is explained, or run again as evidence."""
    from grader.judging.assessment import Assessor
    from grader.judging.calls import Involved

    Assessor.explains = property(lambda _: False)  # type: ignore[assignment,method-assign]
    Involved.telling = lambda *_: lambda *_: False  # type: ignore[method-assign]


def summary(found: Sequence[Cost]) -> str:
    """Return the middle, the ninetieth of a hundred and the most, with how many are over the goal."""
    seconds = sorted(each.beyond_s for each in found)
    over = sum(each > GOAL_S for each in seconds)
    middle, ninety = statistics.median(seconds), seconds[min(len(seconds) - 1, 9 * len(seconds) // 10)]
    return (
        f"{len(seconds)} slips, processor time beyond that of a check without causes\n"
        f"  median {middle:.2f} s, p90 {ninety:.2f} s, most {seconds[-1]:.2f} s; {over} over the goal of {GOAL_S} s"
    )


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
