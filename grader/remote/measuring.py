"""How much memory a call takes: of a learner's function in its own process, of any other in this one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grader.remote.proxies import RemoteValue
from grader.remote.refusals import Unusable
from grader.worker.operations import traced


def peak_memory(function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, int]:
    """Return what function(*args, **kwargs) returns, and how many bytes the call held at most, its result among them.

    Arguments do not count, nor does what was held before. The process that runs the call measures it, by tracemalloc:
    a learner's code can meddle with the figure, while the limit on its address space is certain. Choose sizes at which
    what must not be held does not fit under the memory_mb of the stage, and say `alone = true` beside it: no child
    holds it then. The call is not replayed for the diagnosis.
    Raises what the call raises; Unusable for an answer of another form.
    """
    if not isinstance(function, RemoteValue):
        return traced(function, *args, **kwargs)
    match function._measured(*args, **kwargs):
        case (result, int(peak)) if type(peak) is int and peak >= 0:
            return result, peak
    raise Unusable(f"{function!r} was measured by its process in a form that holds no figure")
