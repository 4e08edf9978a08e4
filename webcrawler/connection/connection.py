"""One handle on Redis, wherever it stands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import redis
from redis.backoff import ExponentialBackoff
from redis.retry import Retry

from webcrawler.connection import remote
from webcrawler.connection.embedded import EmbeddedServer, installed_binaries, socket_path
from webcrawler.connection.remote import Cluster, Packer
from webcrawler.errors import BadInput, Unavailable

FSYNCS = ("always", "everysec", "no")

# RESP2 is all we need. Few and short retries: redis-py's own ten would hold
# the reactor thread for 4.6 s on a dead server. The time-out is shorter than the six seconds after which a
# worker counts as dead, and longer than that of an answer which is two seconds late.
RETRIES = 2
CLIENT_OPTIONS: dict[str, Any] = {"protocol": 2, "socket_timeout": 3.0, "socket_connect_timeout": 2.0}


class _Retry(Retry):
    """Closes the idle connections of the pool after a time-out: each would cost another time-out."""

    def __init__(self, retries: int) -> None:
        super().__init__(ExponentialBackoff(cap=0.1, base=0.01), retries)
        self.pool: Any = None

    def __deepcopy__(self, memo: dict[int, Any]) -> _Retry:
        return self  # each connection copies what it is given; this one is for all of a pool

    def call_with_retry(self, do: Any, fail: Any, *rest: Any, **named: Any) -> Any:
        def failed(error: Exception, *count: int) -> None:
            fail(error, *count)
            if isinstance(error, redis.TimeoutError) and self.pool is not None:
                self.pool.disconnect(inuse_connections=False)

        return super().call_with_retry(do, failed, *rest, **named)


class Connection:
    """A Redis that answered when this was made. Safe to share between threads.

    A call is tried up to three times within about 0.2 s when the line breaks, so an operation may run twice:
    send only what may. After that it raises `redis.ConnectionError`: call `revive`, then go on.
    """

    def __init__(self, make_client: Callable[[Retry], Any], server: EmbeddedServer | None = None) -> None:
        self._make_client = make_client
        self._server = server
        self.embedded = server is not None
        self.client = self.new_client()

    @property
    def is_cluster(self) -> bool:
        """Then only commands on keys of one {tag} go together, and a frontier wants several partitions."""
        return isinstance(self.client, Cluster)

    def new_client(self, retries: int = RETRIES) -> redis.Redis:
        """A client with connections of its own, to be closed by the caller."""
        retry = _Retry(retries)
        client: redis.Redis = self._make_client(retry)
        retry.pool = getattr(client, "connection_pool", None)  # a cluster has one for each node
        if retry.pool is not None:
            retry.pool.connection_kwargs["command_packer"] = Packer()
        return client

    @property
    def evicts(self) -> bool:
        """Does Redis drop keys that never expire, once its memory is full? False where it does not say."""
        with suppress(redis.RedisError):
            told = self.client.info("memory")
            return bool(told.get("maxmemory")) and str(told.get("maxmemory_policy")).startswith("allkeys")
        return False

    def revive(self) -> None:
        """Return when Redis answers; an embedded server that died is started again from its log.

        Many threads and processes may call this at once: one of them starts it.

        Raises:
            Unavailable: it does not answer (a remote one), or cannot be started.
        """
        if self._server is not None:
            try:
                self._server.ensure_running()
            except (OSError, BadInput) as error:  # a full disk, no descriptors left
                raise Unavailable(f"the embedded Redis cannot be started now: {error}") from error
        else:
            remote.check(self.client)

    def close(self) -> None:
        """Close the connections; the last user of an embedded server stops it. May be called twice."""
        self.client.close()
        if self._server is not None:
            self._server.leave()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def connect(
    redis_url: str | None,
    crawl_dir: Path,
    fsync: str = "everysec",
    *,
    binaries: Callable[[], Iterable[Path]] = installed_binaries,
) -> Connection:
    """Connect to the Redis at `redis_url`, or to the embedded server of `crawl_dir`, started if need be.

    Args:
        redis_url: of a server, or of any node of a Redis Cluster; it is asked which it is.
        fsync: when the embedded server's log reaches the disk: always, everysec or no. With everysec a power
            cut loses up to 2 s of acknowledged writes, and killing the server those that it acknowledged
            during an fsync; with always nothing is lost.
        binaries: server programs to try for the embedded server, best first.
    Raises:
        BadInput: no such Redis answers, or no server program or no folder to write to was found.
        Unavailable: the embedded server does not start.
    """
    if redis_url:
        cluster = remote.wait_until_it_answers(redis_url)
        return Connection(lambda retry: remote.client(redis_url, cluster, retry=retry, **CLIENT_OPTIONS))
    if fsync not in FSYNCS:
        raise BadInput(f"REDIS_FSYNC must be one of {', '.join(FSYNCS)}, not {fsync!r}")
    server = EmbeddedServer(crawl_dir / "redis", fsync, binaries)
    server.join()
    return Connection(_at(server.socket), server)


def from_settings(settings: Mapping[str, Any]) -> Connection:
    """Connect as the settings say: REDIS_URL, else CRAWL_DIR and REDIS_FSYNC."""
    fsync = str(settings.get("REDIS_FSYNC") or "everysec")
    return connect(settings.get("REDIS_URL"), _folder(settings), fsync)


def visit(settings: Mapping[str, Any]) -> Connection:
    """Connect as `from_settings`, but neither start the embedded server nor keep it from stopping.

    Raises:
        BadInput: no Redis answers at the URL.
        Unavailable: the embedded server does not run.
    """
    if settings.get("REDIS_URL"):
        return from_settings(settings)
    found = Connection(_at(socket_path((_folder(settings) / "redis").absolute())))
    found.revive()
    return found


def serialized(settings: Mapping[str, Any], mode: str = "", others: Sequence[str] = ()) -> bytes:
    """What another process needs to reach the same Redis, as JSON; a password in the URL is in it.

    Args:
        mode: of the crawl, for FRONTIER_MODE; "": as the frontier has it.
        others: names of more settings that it needs.
    """
    found = {name: settings.get(name) for name in others}
    found |= {name: settings[name] for name in ("REDIS_URL",) if settings.get(name)}
    return json.dumps(found | ({"FRONTIER_MODE": mode} if mode else {})).encode()


def set_log_aside(settings: Mapping[str, Any]) -> Path:
    """After a DamagedLog: have the private server begin with nothing, and return where its log is now."""
    return EmbeddedServer(_folder(settings) / "redis", FSYNCS[0], installed_binaries).set_log_aside()


def _folder(settings: Mapping[str, Any]) -> Path:
    return Path(str(settings.get("CRAWL_DIR") or "crawl"))


def _at(socket: Path) -> Callable[[Retry], redis.Redis]:
    return lambda retry: redis.Redis(unix_socket_path=str(socket), retry=retry, **CLIENT_OPTIONS)
