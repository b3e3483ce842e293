"""Raise the process' own limits again."""

import resource

ATTACK = "setrlimit"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")
SAYS = "not allowed|PermissionError"


def double(x):
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE):
        resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    raise RuntimeError("no limits")
