"""Raise a class of one's own straight below BaseException, past every `except Exception`."""

ATTACK = "an exception below BaseException"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock", "process")


class Gone(BaseException):
    pass


def double(x):
    raise Gone
