"""Read what the own process was started with."""

import sys

ATTACK = "sys.argv and the worker's own module"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SUCCEEDS_IN = ()


def double(x):
    main = sys.modules["__main__"]
    raise RuntimeError(f"{sys.argv} {sys.orig_argv} {vars(main).keys()} {sys.path}")
