"""Where is Redis: at a URL, in a cluster, or in a private server inside the crawl's data folder?

`connect` gives a `Connection`, `visit` one that keeps no server up. The one room that touches scrapy-redis:
its connection and setting names (REDIS_URL, REDIS_HOST, REDIS_PORT, REDIS_DB, REDIS_PARAMS) mean here what
they mean there.
"""

from redis.exceptions import RedisError

from webcrawler.connection import remote
from webcrawler.connection.connection import Connection, connect, from_settings, set_log_aside, visit
from webcrawler.connection.remote import serialized
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
    "remote",
    "retry",
    "serialized",
    "set_log_aside",
    "visit",
]
