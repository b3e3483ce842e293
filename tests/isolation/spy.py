"""A learner's module that looks everywhere for secrets of its course, and these secrets."""

from __future__ import annotations

# Each secret is written in the course in two halves or not at all as here, so that this file does not give it away.
SECRET = {
    "test": "MARK_OF_THE_" + "HIDDEN_TEST",
    "reference": "MARK_OF_THE_" + "REFERENCE",
    "mistake": "MARK_OF_THE_" + "MISTAKE",
    "expected": "9071" + "50321.125",
}

# Printed text reaches the grader as notes: what the spy finds it says in a line of JSON.
SPY = '''
    import ctypes
    import gc
    import inspect
    import json
    import os
    import stat
    import struct
    import sys
    import time

    import numpy as np

    HALVES = {"test": ("MARK_OF_THE_", "HIDDEN_TEST"), "reference": ("MARK_OF_THE_", "REFERENCE"),
              "mistake": ("MARK_OF_THE_", "MISTAKE"), "expected": ("9071", "50321.125")}
    BORN = time.time() - 900
    found = []
    read = [0, 0]


    def secrets():
        """Put together when they are looked for, so that the spy does not find itself."""
        made = {name: "".join(halves).encode() for name, halves in HALVES.items()}
        made["expected value"] = struct.pack("<d", float("".join(HALVES["expected"])))
        return made


    def search(data, place):
        for name, secret in secrets().items():
            if secret in data:
                found.append([name, place])


    def files(ends):
        seen = set()
        for path in PLACES:  # even whoever knows where to look
            try:
                with open(path, "rb") as file:
                    search(file.read(), path)
            except OSError:
                pass
        packages = {p for m in list(sys.modules.values()) for p in getattr(m, "__path__", ())}
        tops = ["/"] if listed("/") else [*sys.path, *sorted(packages), "..", "."]
        for root, folders, names in (each for top in tops for each in os.walk(top)):
            folders[:] = [f for f in folders if os.path.join(root, f) not in ("/proc", "/sys", "/dev")]
            for name in names:
                path = os.path.join(root, name)
                read[0] += 1
                try:
                    status = os.stat(path)
                    older = max(status.st_ctime, status.st_mtime) < BORN  # than the course
                    if older or not stat.S_ISREG(status.st_mode) or (status.st_dev, status.st_ino) in seen:
                        continue
                    seen.add((status.st_dev, status.st_ino))
                    with open(path, "rb") as file:
                        search(file.read(), path)
                        read[1] += 1
                except OSError:
                    pass
            if time.monotonic() > ends:
                return


    def listed(folder):
        try:
            return os.listdir(folder)
        except OSError:
            return []


    def processes():
        near = range(max(2, os.getpid() - 300), os.getpid() + 30)
        for process in listed("/proc") or ["self", *map(str, near)]:
            if process.isdigit() or process == "self":
                for name in ("environ", "cmdline", "status", "maps"):
                    try:
                        with open("/proc/%s/%s" % (process, name), "rb") as file:
                            search(file.read(), "/proc/.../" + name)
                    except OSError:
                        pass
                for name in ("cwd", "root", "exe"):
                    try:
                        search(os.readlink("/proc/%s/%s" % (process, name)).encode(), name)
                    except OSError:
                        pass


    def descriptors():
        for number in range(256):
            try:
                if stat.S_ISREG(os.fstat(number).st_mode):
                    search(os.pread(number, 1 << 22, 0), "descriptor")
            except OSError:
                pass


    def text_of(value):
        try:
            if isinstance(value, (bytes, bytearray)):
                return bytes(value)
            if isinstance(value, str):
                return value.encode("utf-8", "replace")
            if isinstance(value, np.ndarray):
                return value.tobytes()
            if isinstance(value, (float, int)):
                return struct.pack("<d", float(value))
            if hasattr(value, "co_consts"):
                return repr(value.co_consts).encode()
        except Exception:
            pass
        return b""


    def objects(starts):
        """Walk over everything that can be reached."""
        seen = {}
        queue = list(starts)
        while queue and len(seen) < 600_000:
            value = queue.pop()
            if id(value) in seen or value is HALVES:
                continue
            seen[id(value)] = value
            search(text_of(value), "object of type " + type(value).__name__)
            queue += gc.get_referents(value)
        read.append(len(seen))


    def frames():
        frame = sys._getframe()
        names = []
        while frame is not None:
            names.append(os.path.basename(frame.f_code.co_filename))
            yield frame.f_locals
            yield frame.f_globals
            frame = frame.f_back
        search(repr(names).encode(), "frames")


    def look(x):
        start = time.monotonic()
        processes()
        descriptors()
        objects([*frames(), *sys.modules.values(), *gc.get_objects(), *inspect.stack()])
        in_memory = list(found)
        del found[:]
        files(start + BUDGET)
        modules = [m for m in sys.modules if m.split(".")[0] in ("grader", "pytest", "_pytest", "py")]
        print(json.dumps({"memory": in_memory, "files": found[:50], "read": read, "modules": modules}))
        return x
'''
