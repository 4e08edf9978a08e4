"""Where is Redis: at a URL, in a cluster, or in a private server inside the crawl's data folder?

`connect` gives a `Connection`, `visit` one that keeps no server up.
"""

from redis.exceptions import RedisError

from webcrawler.connection.connection import (
    Connection,
    connect,
    from_settings,
    serialized,
    set_log_aside,
    visit,
)
from webcrawler.connection.retry import FOREVER, attempt, is_damage, is_passing, retry
from webcrawler.connection.server import DamagedLog

__all__ = [
    "FOREVER",
    "Connection",
    "DamagedLog",
    "RedisError",
    "attempt",
    "connect",
    "from_settings",
    "is_damage",
    "is_passing",
    "retry",
    "serialized",
    "set_log_aside",
    "visit",
]
