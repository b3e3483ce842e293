"""What to notice in an example of one's own: each is said only where the numbers show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from grader.explore.model import Array, Known
from grader.explore.values import CLOSE, number

EQUAL = 1e-9  # between weights that are told as equal
LISTED = 3  # words that are named one by one


def _raw(known: Known) -> str | None:
    """Name the pair of different words that scores highest, if it is one."""
    raw, words, keys = known["raw"], known["words"], known["keys"]
    others = raw - np.diag(np.full(len(raw), np.inf)) if known["is_self"] else raw
    best = float(others.max())
    places = [(int(i), int(j)) for i, j in np.argwhere(others > best - EQUAL)]
    if not np.isfinite(best) or len({frozenset(place) if known["is_self"] else place for place in places}) != 1:
        return None
    i, j = places[0]
    if known["is_self"]:
        return f"{words[i]} and {words[j]} score {number(best)}: more than any other two words."
    return f"query {words[i]} and key {keys[j]} score {number(best)}: more than any other two."


def _scaled(known: Known) -> str | None:
    if "raw" not in known or not np.ptp(known["scaled"]) < np.ptp(known["raw"]):
        return None
    d_k = known["Q"].shape[1]
    root = number(float(np.sqrt(d_k)))
    return f"the range is narrower by √{d_k} = {root}, and which score is the higher of two is as before."


def _masked(known: Known) -> str | None:
    mask = known["mask"].astype(bool)
    columns = [known["keys"][place] for place in np.flatnonzero(~mask.any(axis=0))]
    gone = int((~mask).sum())
    if not gone:
        return None
    told = f"{gone} of {mask.size} scores go"
    return f"{told}: no query may see {_listed(columns)}." if columns else f"{told}."


def _weights(known: Known) -> str | None:
    """Tell who looks at itself most, which rows are equal and why, and which column the mask empties."""
    found = [_matches(known), _twice(known), _zeros(known)]
    told = " ".join(each for each in found if each is not None)
    return told or None


def _matches(known: Known) -> str | None:
    """Say which queries attend most to the key at their own place; of other words, to which key each attends most."""
    weights, words, keys = known["weights"], known["words"], known["keys"]
    best = weights.max(axis=1)
    if weights.shape[1] < 2 or (np.sort(weights, axis=1)[:, -2] > best - EQUAL).all():
        return None
    if not known["is_causal"]:
        place = int(best.argmax())
        return f"query {words[place]} is the surest: it gives {keys[int(weights[place].argmax())]} {best[place]:.2f}."
    own = np.diag(weights)
    selves = own > best - EQUAL
    if selves.all():
        least = float(own.min())
        who = "each word attends most to itself" if known["is_self"] else "each query matches its own key best"
        return f"{who}: {_share(own)}." if least > EQUAL else None
    place = int(np.where(selves, -1, best).argmax())
    there = f"{words[place]} looks most at {keys[int(weights[place].argmax())]} ({best[place]:.2f}), not at itself"
    return f"{int(selves.sum())} of {len(words)} words attend most to themselves; {there} ({own[place]:.2f})."


def _share(own: Array) -> str:
    low, high = f"{own.min():.2f}", f"{own.max():.2f}"
    return low if low == high else f"from {low} to {high}"


def _twice(known: Known) -> str | None:
    """Name a word that stands twice with one vector: without positions or training nothing tells the two apart."""
    if not known["is_self"]:
        return None
    x, weights, words = known["Q"], known["weights"], known["words"]
    pairs = [
        words[second]
        for first in range(len(words))
        for second in range(first + 1, len(words))
        if words[first].casefold() == words[second].casefold()
        and np.array_equal(x[first], x[second])
        and np.abs(weights[first] - weights[second]).max() < EQUAL
    ]
    if not pairs:
        return None
    word = max(pairs, key=len)
    return (
        f"{word} stands there more than once, with one vector, so its rows are equal: embeddings that are not trained, "
        f"without positions, cannot tell one {word} from the other."
    )


def _zeros(known: Known) -> str | None:
    masked = known.get("causal-weights")
    if masked is None or known["is_causal"]:
        return None
    empty = [known["keys"][place] for place in np.flatnonzero(np.abs(masked).max(axis=0) < CLOSE)]
    if not empty:
        return None
    return f"Under the mask the column of {_listed(empty)} is all zeros, and each row still sums to 1."


def _output(known: Known) -> str | None:
    causal = known.get("causal-output")
    if causal is None or not known["is_causal"] or np.abs(causal[0] - known["V"][0]).max() > CLOSE:
        return None
    if len(causal) < 2:
        return None
    return f"under the mask {known['words'][0]} has its own value alone: there is nothing else to average."


def _heads(name: str) -> Callable[[Known], str | None]:
    """Return the notice where two heads look at different words."""

    def notice(known: Known) -> str | None:
        heads = known.get(name)
        if heads is None or len(heads) < 2 or heads.shape[2] < 2:
            return None
        tops = heads.argmax(axis=2)
        differ = np.flatnonzero((tops != tops[0]).any(axis=0))
        if not differ.size:
            return None
        gaps = [float(heads[:, place].max(axis=1).min()) for place in differ]
        place = int(differ[int(np.argmax(gaps))])
        other = int(np.flatnonzero(tops[:, place] != tops[0, place])[0])
        ends = [(head, known["keys"][int(tops[head, place])], heads[head, place].max()) for head in (0, other)]
        told = ", ".join(f"at {key} in head {head} ({weight:.2f})" for head, key, weight in ends)
        return f"{known['words'][place]} looks most {told}."

    return notice


def _listed(words: list[str]) -> str:
    more = len(words) - LISTED
    return ", ".join(words[:LISTED]) + (f" and {more} more" if more > 0 else "")


OWN: Mapping[str, Callable[[Known], str | None]] = {
    "raw-scores": _raw,
    "scaled-scores": _scaled,
    "masked-scores": _masked,
    "weights": _weights,
    "output": _output,
    "heads": _heads("head-weights"),
    "projections": _heads("projected-weights"),
}
