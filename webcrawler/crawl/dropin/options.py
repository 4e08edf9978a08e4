"""Our settings in any Scrapy project: the project's, else the environment's, else what Scrapy's own say."""

from __future__ import annotations

import os
from typing import Any

from scrapy.settings import BaseSettings

from webcrawler.errors import BadInput
from webcrawler.settings import SETTINGS, complaint, unknown

# Settings of Scrapy that say the same.
SCRAPY_NAMES = {
    "FRONTIER_DELAY": "DOWNLOAD_DELAY",
    "FRONTIER_SERVER_CONCURRENCY": "CONCURRENT_REQUESTS_PER_DOMAIN",
}
# Limits that Scrapy does not have: off unless they are set.
OFF: dict[str, object] = {
    "FRONTIER_SLOWNESS": 0.0,
    "BUDGET_SERVER": 0,
    "BUDGET_DOMAIN": 0,
    "BUDGET_DOMAIN_SERVERS": 0,
    "BUDGET_PREFIX": 0,
    "BUDGET_REPEATS": 0,
}


OF_REDIS = ("REDIS_HOST", "REDIS_PORT", "REDIS_DB", "REDIS_PARAMS")  # scrapy-redis reads them


def options(settings: BaseSettings, spider: str) -> BaseSettings:
    """All our settings as they hold for that spider, those of Redis among them.

    Raises:
        BadInput: a value is not valid, or a name.
    """
    if why := unknown(settings):
        raise BadInput(why)
    if (ignored := [name for name in OF_REDIS if settings.get(name)]) and not _value(settings, "REDIS_URL"):
        raise BadInput(f"{', '.join(ignored)}: not read here; set REDIS_URL, as redis://HOST:PORT/DB")
    found: dict[str, Any] = {}
    for name in SETTINGS:
        value = _value(settings, name)
        if value == "":
            scrapys = SCRAPY_NAMES.get(name)
            value = settings[scrapys] if scrapys else OFF.get(name, SETTINGS[name].default)
        if name.startswith(("FRONTIER_", "BUDGET_", "CRAWL_", "REDIS_")) and (why := complaint(name, value)):
            raise BadInput(why)
        found[name] = value
    found["FRONTIER_NAME"] = found["FRONTIER_NAME"] or spider
    return BaseSettings(found)


def is_given(settings: BaseSettings, name: str) -> bool:
    """Whether the project or the environment says what it is."""
    return bool(_value(settings, name) != "")


def _value(settings: BaseSettings, name: str) -> Any:
    """What the project or the environment says that it is; "" where neither says something."""
    value = settings.get(name, "")
    return os.environ.get(name, "") if value == "" else value
