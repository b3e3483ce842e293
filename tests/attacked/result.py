"""What became of a submission that attacks: the verdict, and all that is shown of it; and the memory that it took."""

from __future__ import annotations

import json
from dataclasses import dataclass

from grader.verdict import Verdict


@dataclass(frozen=True)
class Result:
    """What became of a submission: a verdict, or why none was given, and the document that is shown of it."""

    verdict: Verdict | None
    text: str
    seconds: float

    def outcome(self, row: str) -> str:
        if self.verdict is None:
            return "refused"
        if self.verdict.problem is not None:
            return "not loaded"
        return next(each.status for each in self.verdict.criteria if each.id == row)

    def told(self, row: str) -> str:
        """Return all that is told of a row, whatever the submission printed among it."""
        document = json.loads(self.text)
        rows = [each for each in document.get("criteria", ()) if each["id"] == row]
        return json.dumps([rows, document.get("problem"), document.get("refused")], ensure_ascii=False)


def peak_mb() -> int:
    """Return the most memory that the grader has had, in MB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
