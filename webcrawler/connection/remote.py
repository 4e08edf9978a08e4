"""How Redis is spoken to, and one that somebody else runs: a server or a cluster at a URL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import redis
from redis.backoff import NoBackoff
from redis.cluster import ClusterPipeline, RedisCluster
from redis.connection import HiredisRespSerializer
from redis.exceptions import RedisClusterException
from redis.retry import Retry

from webcrawler.connection.retry import while_loading
from webcrawler.errors import BadInput, Unavailable

NUMBERS = frozenset((int, float))
LOADING_SECONDS = 30.0
PROBE_SECONDS = 5.0  # a slow Redis is not a wrong one


class Packer:
    """Writes commands by hiredis, with numbers as text.

    hiredis (3.5.0, too) crashes the process if a signal whose handler raises, as Ctrl-C's does, arrives while
    it turns a number into text: its `pack_command` uses what PyObject_Repr returns without a check.
    Costs 0.6 µs a command of nine arguments.
    """

    def __init__(self) -> None:
        self._hiredis = HiredisRespSerializer()

    def pack(self, *command: Any) -> list[bytes]:
        text: Iterator[Any] = (str(given) if type(given) in NUMBERS else given for given in command)
        return list(self._hiredis.pack(*text))


def client(url: str, cluster: bool = False, **options: Any) -> Any:
    """A client of a server, or a `Cluster`, by scrapy-redis; parameters of the URL override `options`."""
    # Imported here: it costs half a second, and the embedded server needs none of it.
    from scrapy_redis.connection import get_redis

    return get_redis(url=url, redis_cls=Cluster if cluster else redis.Redis, **options)


def wait_until_it_answers(url: str) -> bool:
    """Return when Redis answers a PING, and whether it is a node of a cluster.

    One that is loading its data gets 30 s, as does a cluster of which a node is away.

    Raises:
        BadInput: it does not; the message names it, without password, and says what to do.
    """
    once: dict[str, Any] = {
        "protocol": 2,
        "retry": Retry(NoBackoff(), 0),
        "socket_timeout": PROBE_SECONDS,
        "socket_connect_timeout": PROBE_SECONDS,
    }
    try:
        with client(url, **once) as probe:
            while_loading(probe.ping, LOADING_SECONDS, 0.1)
            is_cluster = False
            with suppress(redis.ResponseError):  # an access list, or a proxy, that lets no INFO through
                is_cluster = bool(probe.info("cluster").get("cluster_enabled"))
        if is_cluster:
            with client(url, cluster=True, **once) as whole:
                while_loading(whole.check, LOADING_SECONDS, 0.1)
        return is_cluster
    except (redis.RedisError, ValueError, OSError) as error:
        where = _where(url)
        # What redis-py says of a URL that it reads otherwise, or cannot read, has parts of the password.
        unread = "no such URL; percent-encode what its user and password have of /, @, # and ?"
        why = _one_line(error) if where and not isinstance(error, ValueError) else unread
        raise BadInput(
            f"Redis at {where or 'REDIS_URL'} does not answer ({why}): start it, correct REDIS_URL,"
            " or unset REDIS_URL to use the embedded server"
        ) from error


def check(live: redis.Redis | Cluster) -> None:
    """Ping once; each primary of a cluster.

    Raises:
        Unavailable: no answer.
    """
    try:
        if isinstance(live, Cluster):
            live.check()
        else:
            live.ping()
    except redis.RedisError as error:
        raise Unavailable(f"Redis does not answer: {_one_line(error)}") from error


def _where(address: str) -> str:
    """An address without user, password and parameters; "" where it is not clear which part is which."""
    try:
        scheme, place, path, *_ = urlsplit(address if "://" in address else f"//{address}")
    except ValueError:
        return ""
    is_clear = place.count("@") == address.count("@")
    return f"{scheme}://{place.rpartition('@')[2]}{path}".removeprefix("://") if is_clear else ""


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


class _Routed:
    """What redis-py's cluster does otherwise than we need it, in clients and pipelines alike."""

    def determine_slot(self, *command: Any) -> int | None:
        try:
            slot: int | None = super().determine_slot(*command)  # type: ignore[misc]
        except RedisClusterException as error:  # keys of several nodes in one command: our bug
            raise ValueError(f"{error}: {command[:5]}") from error
        return slot

    def _get_command_keys(self, *command: Any) -> Any:
        # Else a pipeline asks the server first, with all arguments, and waits: once for each EVALSHA.
        if command[0] == "EVALSHA":
            return command[3 : 3 + int(command[2])]
        return super()._get_command_keys(*command)  # type: ignore[misc]


class Cluster(_Routed, RedisCluster):
    """A client of all nodes; its start node is enough to find the others.

    It fails as `redis.Redis` does: with a `redis.RedisError`, also where no node answers at all.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        with _no_node_is_no_connection():
            super().__init__(*arguments, **options)

    def on_connect(self, connection: Any) -> None:
        connection._command_packer = Packer()  # the option is not one of those that reach a node
        super().on_connect(connection)  # type: ignore[no-untyped-call]

    def execute_command(self, *command: Any, **options: Any) -> Any:
        with _no_node_is_no_connection():
            return super().execute_command(*command, **options)  # type: ignore[no-untyped-call]

    def pipeline(self, transaction: bool | None = None, shard_hint: Any = None) -> Any:
        """Commands for several nodes in one round trip.

        Where a node is away when it is sent, nothing is. Where one goes away later, its commands' answers
        are errors, and the other nodes have done theirs.
        """
        pipe = super().pipeline(transaction, shard_hint)  # type: ignore[no-untyped-call]
        pipe.__class__ = _Pipeline  # redis-py has no way to say which; it differs in methods only
        return pipe

    def check(self) -> None:
        """Ask every primary.

        Raises:
            redis.RedisError: one does not answer, or does not know that all slots are served.
        """
        self.ping(target_nodes=self.PRIMARIES)
        states: Any = self.cluster_info(target_nodes=self.PRIMARIES)
        for node, state in states.items():
            if state["cluster_state"] != "ok":
                raise redis.exceptions.ClusterDownError(f"{node} says that the cluster is down")


class _Pipeline(_Routed, ClusterPipeline):
    def execute(self, raise_on_error: bool = True) -> list[Any]:
        with _no_node_is_no_connection():
            return list(super().execute(raise_on_error))


@contextmanager
def _no_node_is_no_connection() -> Iterator[None]:
    try:
        yield
    except RedisClusterException as error:  # no RedisError
        raise redis.ConnectionError(str(error)) from error
