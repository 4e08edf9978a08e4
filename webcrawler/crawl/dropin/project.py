"""What a Scrapy project says: our settings, which requests are the same, and seeds pushed to a Redis key.

A setting is the project's, else the environment's, else what Scrapy's own say. The identity of a request is
the text by which the frontier knows it; the URL of its Link.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from scrapy import Request, Spider
from scrapy.settings import BaseSettings
from scrapy.utils import request as scrapy_request
from scrapy.utils.request import RequestFingerprinter
from w3lib.url import canonicalize_url

from webcrawler import urls
from webcrawler.errors import BadInput
from webcrawler.frontier import Client
from webcrawler.records import Link
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


Fingerprint = Callable[[Request], bytes]
Key = Callable[[Request, str], str]  # of a request, and of what makes one that is not filtered unlike others


def identity_of(rule: str, fingerprinter: object) -> str:
    """What a frontier is claimed for: FRONTIER_IDENTITY, with the class of a project's own fingerprinter."""
    kind = type(fingerprinter)
    if rule != "scrapy" or kind is RequestFingerprinter:
        return rule
    return f"scrapy:{kind.__module__}.{kind.__qualname__}"


def key_of(identity: str, fingerprint: Fingerprint) -> Key:
    """The rule of that `identity_of`, with the fingerprinter's method.

    The rule raises BadUrl: the URL is neither http nor https.
    """
    if identity == "canonical":
        return lambda request, nonce: _by_canonical_url(request, nonce, fingerprint)
    if identity == "scrapy":
        return lambda request, nonce: _by_scrapys_url(request, nonce, fingerprint)
    return lambda request, nonce: _by_fingerprint(_server(request.url) + "/", request, nonce, fingerprint)


def key_of_get(identity: str, url: str, fingerprint: Fingerprint | None = None, nonce: str = "") -> str:
    """By what the frontier knows the GET of a URL.

    Args:
        fingerprint: of the project; None: Scrapy's.
        nonce: makes it one that is not filtered, unlike all others.
    Raises:
        BadUrl: it is neither http nor https.
        BadInput: requests are told apart by a class of another project.
    """
    if fingerprint is None and ":" in identity:
        raise BadInput(
            f"{identity.partition(':')[2]} tells requests of this frontier apart: "
            "run `scrapy frontier` in the project that has it"
        )
    request = Request(urls.resolve(url), dont_filter=bool(nonce))
    return key_of(identity, fingerprint or scrapy_request.fingerprint)(request, nonce)


def _by_canonical_url(request: Request, nonce: str, fingerprint: Fingerprint) -> str:
    url = urls.canonical(request.url.partition("#")[0])
    return url if _is_plain(request) else _by_fingerprint(url, request, nonce, fingerprint)


def _by_scrapys_url(request: Request, nonce: str, fingerprint: Fingerprint) -> str:
    """Equal exactly where Scrapy's fingerprints are: of method, body and this form of the URL."""
    url, theirs = _scrapys_url(request.url)
    if url == theirs and _is_plain(request):
        return url
    return _by_fingerprint(url, request, nonce, fingerprint)


@lru_cache(maxsize=16_384)  # most links of a page are those of the pages before it: its navigation
def _scrapys_url(url: str) -> tuple[str, str]:
    """The URL that Scrapy's fingerprint is of, with its server's canonical name, and as Scrapy has it."""
    theirs = canonicalize_url(url)
    resolved = urls.resolve(theirs)
    return _server(resolved) + urls.split(resolved)[1], theirs


def _by_fingerprint(url: str, request: Request, nonce: str, fingerprint: Fingerprint) -> str:
    digest = fingerprint(request)
    if request.dont_filter and nonce:
        digest = hashlib.sha1(digest + nonce.encode()).digest()
    return f"{url}#{digest.hex()}"


def _is_plain(request: Request) -> bool:
    return request.method == "GET" and not request.body and not request.dont_filter


def _server(url: str) -> str:
    return _canonical_server(urls.server(urls.resolve(url)))


@lru_cache(maxsize=4096)
def _canonical_server(server: str) -> str:
    return urls.server(urls.canonical(server + "/"))


logger = logging.getLogger(__name__)

BATCH = 500  # seeds
LOCK_MS = 10_000  # one process at a time reads the key


class SeedKey:
    """A list of URLs or JSON.

    A seed leaves the key when it is in the frontier; what is not a seed is moved to the list KEY:refused.

    Args:
        link: what the frontier takes in for a request.
    """

    def __init__(self, client: Client, key: str, spider: Spider, link: Callable[[Request], Link]) -> None:
        self._client, self.key, self._spider, self._link = client, key, spider, link
        self._is_refused = False  # has the log said that the key is of another kind?

    def take(self, discover: Callable[[Sequence[Link]], object]) -> int:
        """Moves some of what is there into the frontier; returns how many values. Blocks."""
        kind = self._client.type(self.key)
        if kind not in (b"none", b"list") and not self._is_refused:
            self._is_refused = True
            logger.error("%s is a %s: push seeds to a list", self.key, kind.decode())
        if kind != b"list" or not self._client.set(f"{self.key}:reader", "", nx=True, px=LOCK_MS):
            return 0
        try:
            values = list(self._client.lrange(self.key, 0, BATCH - 1))
            links, refused = self._read(values)
            discover(links)  # whatever the budgets say: it leaves the key for good
            if refused:
                self._client.rpush(f"{self.key}:refused", *refused)
            pipe = self._client.pipeline(transaction=False)
            for value in values:
                pipe.lrem(self.key, 1, value)
            pipe.execute()
        finally:
            self._client.delete(f"{self.key}:reader")
        return len(values)

    def _read(self, values: list[bytes]) -> tuple[list[Link], list[bytes]]:
        links: list[Link] = []
        refused: list[bytes] = []
        # Spiders of scrapy-redis have a method of their own for it.
        make = getattr(self._spider, "make_request_from_data", None)
        for value in values:
            try:
                made = make(value) if make else request_of(value.decode().strip(), self._spider)
                requests = [made] if isinstance(made, Request) else made or ()
                links += [self._link(request) for request in requests]
            except Exception as error:  # the spider's own code, and other people's texts
                logger.error("no seed, moved to %s:refused: %.200r (%s)", self.key, value, error)
                refused.append(value)
        return links, refused


def request_of(text: str, spider: Spider) -> Request:
    """From a URL, or JSON with "url" and arguments of a Request.

    Raises:
        ValueError, TypeError, AttributeError: it is neither.
    """
    if not text.startswith("{"):
        return Request(text)
    given: dict[str, Any] = json.loads(text)
    for name in ("callback", "errback"):
        if name in given:
            given[name] = getattr(spider, given[name])
    return Request(**given)


def seeds_key(spider: Spider | type[Spider], settings: BaseSettings) -> str:
    """The key of a spider's seeds: its `redis_key`, else REDIS_START_URLS_KEY, else NAME:start_urls."""
    key = getattr(spider, "redis_key", None) or settings.get("REDIS_START_URLS_KEY")
    return str((key or "%(name)s:start_urls") % {"name": spider.name})
