"""A Redis that somebody else runs, found through scrapy-redis's setting names."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from webcrawler.connection.cluster import Cluster
from webcrawler.connection.retry import retry
from webcrawler.errors import BadInput, Unavailable

SETTINGS = ("REDIS_URL", "REDIS_HOST", "REDIS_PORT", "REDIS_DB", "REDIS_ENCODING", "REDIS_PARAMS")
LOADING_SECONDS = 30.0
PROBE_SECONDS = 5.0  # a slow Redis is no wrong one
logger = logging.getLogger(__name__)


def told(settings: Mapping[str, Any], mode: str = "") -> bytes:
    """What another process needs to know to reach the same Redis, as JSON; passwords are in it.

    What JSON cannot say in REDIS_PARAMS, as an object, is left out with a warning.

    Args:
        mode: of the crawl, told as FRONTIER_MODE; "": as the frontier has it.
    """
    found = {name: settings.get(name) for name in SETTINGS if settings.get(name)}
    if mode:
        found["FRONTIER_MODE"] = mode
    if params := found.get("REDIS_PARAMS"):
        found["REDIS_PARAMS"] = {
            key: value for key, value in dict(params).items() if _can_be_told(key, value)
        }
    return json.dumps(found, default=_plain).encode()


def _can_be_told(key: str, value: Any) -> bool:
    try:
        json.dumps({key: value}, default=_plain)
    except (TypeError, ValueError):
        logger.warning("REDIS_PARAMS: processes beside the crawl are not told of %s, a %s", key, type(value))
        return False
    return True


def _plain(value: Any) -> Any:
    """Raises TypeError, or UnicodeDecodeError: there is no such thing in JSON."""
    if isinstance(value, bytes):
        return value.decode()
    return dict(value) if isinstance(value, Mapping) else os.fspath(value)


def client(settings: Mapping[str, Any], cluster: bool = False, **options: Any) -> Any:
    """A redis-py client as scrapy-redis builds it, or a `Cluster`; REDIS_PARAMS override `options`."""
    # Imported here: it costs half a second, and the embedded server needs none of it.
    from scrapy.settings import BaseSettings
    from scrapy_redis.connection import get_redis_from_settings

    params = {**options, **dict(settings.get("REDIS_PARAMS") or {})}
    if cluster:
        params["redis_cls"] = Cluster
    return get_redis_from_settings(BaseSettings({**settings, "REDIS_PARAMS": params}))


def wait_until_it_answers(settings: Mapping[str, Any]) -> bool:
    """Return when Redis answers a PING, and whether it is a node of a cluster.

    One that is loading its data gets 30 s, as does a cluster of which a node is away.

    Raises:
        BadInput: it does not; the message names it, without password, and says what to do.
    """
    impatient = {
        "protocol": 2,
        "retry": Retry(NoBackoff(), 0),
        "socket_timeout": PROBE_SECONDS,
        "socket_connect_timeout": PROBE_SECONDS,
    }
    params = {**dict(settings.get("REDIS_PARAMS") or {}), **impatient}
    try:
        with client({**settings, "REDIS_PARAMS": params}) as probe:
            _wait(probe.ping)
            if not _is_in_cluster(probe):
                return False
        with client({**settings, "REDIS_PARAMS": params}, cluster=True) as whole:
            _wait(whole.check)
            return True
    except (redis.RedisError, ValueError, OSError) as error:
        raise BadInput(
            f"Redis at {_where(settings)} does not answer ({_one_line(error)}): start it, correct REDIS_URL,"
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


def _wait(ask: Callable[[], object]) -> None:
    """Until it no longer says that it will be there soon."""
    soon = redis.exceptions.BusyLoadingError, redis.exceptions.ClusterDownError
    retry(
        ask,
        seconds=LOADING_SECONDS,
        pause=0.1,
        is_passing=lambda error: isinstance(error, soon),
        on_failure=lambda error: None,
    )


def _is_in_cluster(probe: redis.Redis) -> bool:
    try:
        return bool(probe.info("cluster").get("cluster_enabled"))
    except redis.ResponseError:  # an access list, or a proxy, that lets no INFO through
        return False


def _where(settings: Mapping[str, Any]) -> str:
    if url := settings.get("REDIS_URL"):
        return re.sub(r"//[^/@]*@", "//", str(url))
    return f"{settings.get('REDIS_HOST', 'localhost')}:{settings.get('REDIS_PORT', 6379)}"


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__
