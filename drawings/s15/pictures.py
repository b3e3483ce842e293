"""What the exploration of stage 15 draws beside the weights: scores, before and after the scale, and the mask."""

from __future__ import annotations

import numpy as np

from drawings.labels import short
from grader.explore.model import Drawing, Image, Images, Known, rows


def drawings(known: Known) -> tuple[Drawing, ...]:
    """Return the scores that are known on one scale, and the mask."""
    words, keys = short(known["words"]), short(known["keys"])
    found = []
    scores = [(title, known[name]) for name, title in (("raw", "raw"), ("scaled", "scaled")) if name in known]
    if scores:
        panels = tuple(Image(title, rows(values), words, keys) for title, values in scores)
        low, high = (float(end([end(values) for _, values in scores])) for end in (np.min, np.max))
        signed, most = low < 0, max(abs(low), abs(high)) or 1.0
        low, high = (-most, most) if signed else (0.0, most)
        nearer = len(scores) > 1 and np.ptp(scores[1][1]) < np.ptp(scores[0][1])
        caption = "Both on one scale: divided by √d_k, they lie nearer together." if nearer else "A row for each query."
        found.append(Images("scores", "Scores", caption, "key", "query", panels, low, high, signed))
    if "mask" in known:
        panels = (Image("mask", rows(known["mask"].astype(np.float64)), words, keys),)
        caption = "1 where a query may attend to a key, 0 where it may not."
        found.append(Images("mask", "Mask", caption, "key", "query", panels, 0.0, 1.0))
    return tuple(found)
