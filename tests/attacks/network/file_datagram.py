"""Write into a service of the machine, as the system's log, by a pair of sockets whose datagrams can be addressed."""

import socket

ATTACK = "datagrams to a socket with a file name"
OUTCOME = "failed"
TIERS = ("bubblewrap", "landlock")
SUCCEEDS_IN = ("process",)
NEEDS = "seccomp"
SAYS = "PermissionError"


def double(x):
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"taken", "@LOG@")
    raise RuntimeError("sent")
