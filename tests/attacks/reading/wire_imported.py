"""Import the package that carries values between the processes, as if it were there for everybody."""

import msgpack

ATTACK = "the wire's package imported"
OUTCOME = "not loaded"
TIERS = ("bubblewrap", "landlock", "process")


def double(x):
    return msgpack.unpackb(msgpack.packb(2)) * x
