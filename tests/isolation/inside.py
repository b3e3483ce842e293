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


def dial(host, port):
    try:
        socket.create_connection((host, port), timeout=2).close()
    except OSError as error:
        return type(error).__name__
    return "connected"


def interfaces():
    try:
        return [name for _, name in socket.if_nameindex()]
    except PermissionError:  # without any socket
        return []


def processes():
    return [number for number in range(1, 100) if os.path.exists(f"/proc/{number}")]


def told_of_places():
    """All that names a place: what the interpreter knows, what links lead to, and what /proc lets be read."""
    import sysconfig
    import numpy
    told = [sys.path, sys.argv, sys.orig_argv, sys.prefix, dict(os.environ), os.getcwd(), numpy.__file__, __file__]
    told += [sysconfig.get_paths(), [str(getattr(each, "__file__", "")) for each in sys.modules.values()]]
    for name in ("exe", "cwd", "root", *(f"fd/{number}" for number in range(64))):
        try:
            told.append(os.readlink(f"/proc/self/{name}"))
        except OSError:
            pass
    for process in ("self", *range(1, 20)):
        for name in ("mountinfo", "mounts", "mountstats", "maps", "smaps", "environ", "cmdline", "cgroup"):
            try:
                told.append(read(f"/proc/{process}/{name}"))
            except OSError:
                pass
    return repr(told)


def locked(path):
    import fcntl
    found = []
    with open(path) as file:
        for lock in (lambda: fcntl.flock(file, fcntl.LOCK_SH), lambda: fcntl.lockf(file, fcntl.LOCK_SH)):
            try:
                lock()
                found.append("locked")
            except OSError as error:
                found.append(type(error).__name__)
        return found


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
    for name in os.listdir("."):  # other tests write there, too
        if name.startswith("part"):
            os.remove(name)
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
