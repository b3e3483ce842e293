"""Ask the kernel for the machine's addresses and routes."""

import socket

ATTACK = "netlink"
OUTCOME = "failed"
TIERS = ("landlock",)
NEEDS = "seccomp"
SAYS = "PermissionError"


def double(x):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as connection:
        connection.bind((0, 0))
    raise RuntimeError("open")
