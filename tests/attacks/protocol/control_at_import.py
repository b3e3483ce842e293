"""Take the connection to the grader while the module is loaded, and answer in the worker's place that all went well."""

import gc
import socket
import sys
import time

ATTACK = "the worker's connection taken over while the module is loaded"
OUTCOME = ("not loaded", "failed", "crashed", "timed_out")
TIERS = ("bubblewrap", "landlock", "process")


for each in gc.get_objects():
    if isinstance(each, socket.socket):
        wire = sys.modules["grader.protocol.codec"]
        table = [["double", "function", 1, []]]
        for part in wire.Encoder().frame(["loaded", table, ["all rows passed", []]], []):
            each.send(bytes(part))
        time.sleep(60)
