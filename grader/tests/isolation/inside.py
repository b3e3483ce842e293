"""A learner's module that looks around: what it can read, write, import, start and reach."""

from __future__ import annotations

SOURCE = '''
import importlib
import os
import socket
import sys


def read(path):
    with open(path) as file:
        return file.read()


def listed(path):
    return sorted(os.listdir(path))


def exists(path):
    return os.path.exists(path)


def environment():
    return dict(os.environ)


def who():
    return os.getuid(), os.geteuid(), os.getgid(), os.getgroups()


def importable(name):
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def found_by_path(name):
    """Past the import hook: is the package anywhere on the path, or in a site folder?"""
    own = (os.path.dirname(os.__file__), "/usr/lib/python3", "/usr/local/lib")  # below /usr lies other software too
    folders = [os.path.join(root, f) for top in own for root, below, _ in os.walk(top) for f in below]
    places = [*sys.path, *(f for f in folders if f.endswith("-packages"))]
    return any(os.path.isdir(os.path.join(place, name)) for place in places)


def writable(folders):
    found = []
    for folder in folders:
        try:
            path = os.path.join(folder, "probe_of_a_test")
            with open(path, "w") as file:
                file.write("x")
            os.remove(path)
            found.append(folder)
        except OSError:
            pass
    return found


def mounts_that_can_be_written():
    with open("/proc/mounts") as file:
        lines = [line.split() for line in file]
    return sorted(line[1] for line in lines if "rw" in line[3].split(",") and writable([line[1]]))


def dial(host, port):
    try:
        socket.create_connection((host, port), timeout=2).close()
    except OSError as error:
        return type(error).__name__
    return "connected"


def interfaces():
    with open("/proc/net/dev") as file:
        return [line.split(":")[0].strip() for line in file.readlines()[2:]]


def processes():
    return sorted(int(name) for name in os.listdir("/proc") if name.isdigit())


def raise_limits():
    import resource
    done = []
    for name in ("AS", "CPU", "NOFILE", "NPROC", "FSIZE"):
        kind = getattr(resource, "RLIMIT_" + name)
        try:
            resource.setrlimit(kind, (resource.getrlimit(kind)[0], resource.RLIM_INFINITY))
            done.append(name)
        except (OSError, ValueError):
            pass
    return done


def become_root():
    try:
        os.setuid(0)
    except OSError:
        return False
    return True


def fill(megabytes):
    written = 0
    try:
        for number in range(megabytes):
            with open("part%d" % number, "wb") as file:
                written += file.write(bytes(1 << 20))
    except OSError:
        pass
    return written >> 20


def descriptors():
    found = []
    for number in range(256):
        try:
            found.append(os.readlink("/proc/self/fd/%d" % number))
        except OSError:
            pass
    return found


def runs(program):
    import subprocess
    try:
        return subprocess.run([program]).returncode
    except OSError as error:
        return type(error).__name__
'''
