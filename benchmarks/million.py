"""What a million submissions cost: core hours, and bytes of the gradebook."""

from __future__ import annotations

from benchmarks.classes import Classes
from benchmarks.result import Result

MILLION = 1_000_000
SECONDS_AN_HOUR = 3600


def million(classes: Classes, cpu_s: float | None) -> Result:
    """Measure what each further submission of a class costs, and multiply it.

    cpu_s is the processor time of a submission where it has been measured better, as by `class` with more runs.
    """
    classes.warm_up()
    further = classes.measured()
    seconds = further.cpu_s if cpu_s is None else cpu_s
    text = sum(len(each.text.encode()) for each in classes.further) / len(classes.further)
    values = {
        "processor time of a submission, s": seconds,
        "gradebook, bytes of a submission": further.gradebook_bytes,
        "submitted text, bytes of a submission": text,
        "core hours of a million": seconds * MILLION / SECONDS_AN_HOUR,
        "gradebook of a million, GB": further.gradebook_bytes * MILLION / 1e9,
    }
    facts = {"submissions": f"{classes.low} and {classes.high}"}
    return Result(f"million of {classes.mix}", classes.stage.id, 1, "", values, (), facts)
