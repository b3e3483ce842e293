"""Windows and macOS as far as Linux can play them: what they lack is gone, in a process and in all that it starts.

Run by `program(platform)` alone, as the code of a fresh interpreter: what is taken away does not come back.
"""

# It takes away what the types of a module promise.
# mypy: ignore-errors

import builtins
import errno
import io
import os
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

MODULES = ("fcntl", "grp", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty")  # Windows has none of them
LACKS = {
    "win32": {
        os: """
            fork forkpty vfork geteuid getuid getegid getgid getgroups setsid setpgid getpgid getpgrp killpg
            wait wait3 wait4 waitid chown fchown lchown mkfifo mknod setuid setgid setgroups
            getloadavg sysconf uname nice statvfs fstatvfs pipe2 sched_yield sched_getaffinity
            sched_setaffinity pidfd_open memfd_create posix_spawn register_at_fork O_DIRECTORY
            O_NOCTTY O_PATH O_SYNC pread pwrite sendfile getxattr listxattr setxattr
            prlimit sync ctermid ttyname
        """,
        signal: """
            SIGALRM SIGHUP SIGUSR1 SIGUSR2 SIGCHLD SIGKILL SIGSTOP SIGCONT SIGPIPE SIGPROF SIGVTALRM SIGXCPU
            SIGQUIT setitimer getitimer alarm pause pthread_sigmask pthread_kill sigwait ITIMER_PROF
            ITIMER_REAL ITIMER_VIRTUAL
        """,
        select: """
            poll epoll
        """,
        socket: """
            AF_UNIX recv_fds send_fds MSG_DONTWAIT SOCK_CLOEXEC SOCK_NONBLOCK
        """,
    },
    "darwin": {
        os: """
            sched_getaffinity sched_setaffinity sched_setscheduler pidfd_open memfd_create O_PATH getxattr
            listxattr setxattr posix_fadvise prlimit eventfd setresuid
        """,
        select: """
            epoll
        """,
        socket: """
            SOCK_CLOEXEC SOCK_NONBLOCK
        """,
    },
}
PRELOADED = """\
import asyncio, concurrent.futures, ctypes, getpass, multiprocessing.connection, multiprocessing.context
import multiprocessing.resource_tracker, multiprocessing.spawn, multiprocessing.util, platform, shutil
import subprocess, sysconfig, tempfile, threading, uuid
sysconfig.get_config_vars()
for name in ("numpy", "numpy.linalg", "numpy.random", "msgpack", "filelock", "pytest", "rich.console", "typer"):
    try:
        __import__(name)
    except ImportError:
        pass
"""  # what these import is their own affair: they are there before anything is taken away
BECOME = """\
exec({preloaded!r})
exec(
    compile(open({here!r}, encoding="utf-8").read(), {here!r}, "exec"),
    {{"__name__": "poor", "PLATFORM": {platform!r}, "__file__": {here!r}}},
)
"""
CHILD = """\
import json, sys
before = sys.path[:]
sys.path += json.loads(sys.argv[1])["path"]
{become}
sys.path[:] = before
"""
ENDED = "-- that was it --"
ONE_BY_ONE = f"""
import sys
from grader.cli import main
for line in sys.argv[1:]:
    sys.argv[1:] = line.split()
    try:
        main()
    except SystemExit as left:
        print("", left.code or 0, {ENDED!r}, sep="\\n", end="")
"""
HERE = str(Path(__file__).resolve())


def become(platform: str) -> str:
    """Return code that makes an interpreter as poor as a platform."""
    return BECOME.format(preloaded=PRELOADED, here=HERE, platform=platform)


def program(platform: str) -> str:
    """Return the code of the command `grader` on a platform, with its arguments behind it."""
    return become(platform) + "from grader.cli import main\nmain()\n"


def one_by_one(platform: str) -> str:
    """Return code that runs a command line for each of its arguments, and writes its exit code and ENDED behind it."""
    return become(platform) + ONE_BY_ONE


def impose(platform: str) -> None:
    """Take from this process, and from those that it starts, what a platform lacks."""
    for module, names in LACKS[platform].items():
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)
    sys.platform = platform
    _close_proc()
    _hand_on(platform)
    if platform == "darwin":
        _refuse_address_space()
        return
    for name in MODULES:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, _Missing())
    os.environ.setdefault("SYSTEMROOT", "C:\\Windows")
    os.supports_dir_fd.clear()
    os.supports_fd.clear()
    shutil._use_fd_functions = False  # decided where it was imported
    _bind_files()
    _bind_processes()


class _Missing:
    def find_spec(self, name, path=None, target=None):
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def _close_proc() -> None:
    """Let nothing be found below /proc."""

    def without(function):
        def called(path=".", *args, **options):
            if isinstance(path, str | os.PathLike) and os.fspath(path).startswith("/proc"):
                raise FileNotFoundError(errno.ENOENT, "No such file or directory", os.fspath(path))
            return function(path, *args, **options)

        return called

    for name in ("open", "listdir", "scandir", "stat"):
        setattr(os, name, without(getattr(os, name)))
    builtins.open = io.open = without(io.open)


def _refuse_address_space() -> None:
    """macOS refuses most limits on address space."""
    import resource

    real = resource.setrlimit

    def setrlimit(kind, values):
        if kind == resource.RLIMIT_AS:
            raise ValueError("current limit exceeds maximum limit")
        real(kind, values)

    resource.setrlimit = setrlimit


def _bind_files() -> None:
    """Give text Windows' line ends and encoding, and keep open files, folders and links as it does."""
    opened, os_open, readlink, listdir = io.open, os.open, os.readlink, os.listdir
    real_list = listdir.__closure__[0].cell_contents if listdir.__closure__ else listdir

    def text(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
        if "b" not in mode:
            encoding = "cp1252" if encoding in (None, "locale") else encoding
            newline = "\r\n" if newline is None and set(mode) & set("wax+") and mode != "r" else newline
        return opened(file, mode, buffering, encoding, errors, newline, closefd, opener)

    builtins.open = io.open = text

    def no_folder(path, flags, mode=0o777, *, dir_fd=None):
        if dir_fd is not None:
            raise NotImplementedError("dir_fd unavailable on this platform")
        if isinstance(path, str | os.PathLike) and os.path.isdir(path):
            raise PermissionError(errno.EACCES, "Permission denied", os.fspath(path))
        return os_open(path, flags, mode)

    os.open = no_folder

    def is_held(path) -> bool:
        wanted = os.path.join(os.path.realpath(os.path.dirname(os.path.abspath(path))), os.path.basename(path))
        for number in real_list("/proc/self/fd"):
            try:
                if readlink(f"/proc/self/fd/{number}") == wanted:
                    return True
            except OSError:
                continue
        return False

    def unless_held(function, which):
        def called(*paths, **options):
            options.pop("dir_fd", None)
            for path in paths[:which]:
                if isinstance(path, str | os.PathLike) and is_held(os.fspath(path)):
                    raise PermissionError(errno.EACCES, "The process cannot access the file", os.fspath(path))
            if function.__name__ == "rename" and os.path.lexists(paths[1]):
                raise FileExistsError(errno.EEXIST, "File exists", os.fspath(paths[1]))
            return function(*paths, **options)

        return called

    for name, which in (("replace", 2), ("rename", 2), ("unlink", 1), ("remove", 1)):
        setattr(os, name, unless_held(getattr(os, name), which))

    def symlink(*_args, **_options):
        raise OSError(errno.EPERM, "A required privilege is not held by the client")

    os.symlink = symlink


def _bind_processes() -> None:
    """A signal is an end at once, a number of 0 is refused, and only sockets are waited for."""
    kill, wait, pair = os.kill, select.select, socket.socketpair

    def end(process, number):
        if number == 0:
            raise OSError(errno.EINVAL, "The parameter is incorrect")
        kill(process, 9)

    os.kill = end
    subprocess.Popen.kill = subprocess.Popen.terminate

    def sockets(reading, writing, others, *seconds):
        for each in (*reading, *writing, *others):
            number = each if isinstance(each, int) else each.fileno()
            if not stat.S_ISSOCK(os.fstat(number).st_mode):
                raise OSError(errno.ENOTSOCK, "An operation was attempted on something that is not a socket")
        return wait(reading, writing, others, *seconds)

    select.select = sockets
    socket.socketpair = lambda family=None, type=socket.SOCK_STREAM, proto=0: pair(1, type, proto)


def _hand_on(platform: str) -> None:
    """Start interpreters as poor as this one; on Windows, refuse what it cannot give them."""
    started = subprocess.Popen.__init__

    def start(self, args, *more, **options):
        if platform == "win32":
            if options.get("pass_fds") or options.get("preexec_fn"):
                raise ValueError("pass_fds and preexec_fn are not supported on Windows platforms")
            if options.get("env") is not None and "SYSTEMROOT" not in options["env"]:
                raise OSError("without SYSTEMROOT no socket can be made")
        words = [args] if isinstance(args, str) else [os.fspath(each) for each in args]
        if "python" in os.path.basename(words[0]) and "-S" in words:
            words = poor_child(words, platform)
        started(self, words, *more, **options)

    subprocess.Popen.__init__ = start


def poor_child(words: list[str], platform: str) -> list[str]:
    """Return the command of an interpreter that becomes poor first."""
    place = words.index("-S") + 1
    before = CHILD.format(become=become(platform))
    if words[place] == "-c":
        return [*words[: place + 1], before + words[place + 1], *words[place + 2 :]]
    run = f"sys.argv[0] = {words[place]!r}\n"
    run += f"exec(compile(open({words[place]!r}, encoding='utf-8').read(), {words[place]!r}, 'exec'))\n"
    return [*words[:place], "-c", before + run, *words[place + 1 :]]


if __name__ == "poor":
    impose(PLATFORM)  # noqa: F821  # given by whoever runs this file
