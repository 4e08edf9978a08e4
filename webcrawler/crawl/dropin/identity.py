"""Which requests are the same? The text by which the frontier knows a request; the URL of its Link."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache

from scrapy import Request
from scrapy.utils import request as scrapy_request
from w3lib.url import canonicalize_url

from webcrawler import urls

Key = Callable[[Request, str], str]  # of a request, and of what makes one that is not filtered unlike others


def key_of(identity: str, fingerprint: Callable[[Request], bytes], is_custom: bool = False) -> Key:
    """The rule of that name, FRONTIER_IDENTITY.

    Args:
        fingerprint: of Scrapy's fingerprinter; or, `is_custom`, of the project's own.
    The rule raises BadUrl: the URL is neither http nor https.
    """
    if identity == "scrapy-redis":
        from scrapy_redis.dupefilter import RFPDupeFilter

        theirs = RFPDupeFilter(None, "").request_fingerprint
        return lambda request, nonce: _by_fingerprint(
            _scrapys_url(request.url)[0], request, nonce, lambda request: bytes.fromhex(theirs(request))
        )
    if identity == "canonical":
        return lambda request, nonce: _by_canonical_url(request, nonce, fingerprint)
    if is_custom:
        return lambda request, nonce: _by_fingerprint(_server(request.url) + "/", request, nonce, fingerprint)
    return lambda request, nonce: _by_scrapys_url(request, nonce, fingerprint)


def key_of_get(identity: str, url: str, nonce: str = "") -> str:
    """By what the frontier knows the GET of a URL, unless the project has a fingerprinter of its own.

    Args:
        nonce: makes it one that is not filtered, unlike all others.
    Raises:
        BadUrl: it is neither http nor https.
    """
    request = Request(urls.resolve(url), dont_filter=bool(nonce))
    return key_of(identity, scrapy_request.fingerprint)(request, nonce)


def _by_canonical_url(request: Request, nonce: str, fingerprint: Callable[[Request], bytes]) -> str:
    url = urls.canonical(request.url.partition("#")[0])
    return url if _is_plain(request) else _by_fingerprint(url, request, nonce, fingerprint)


def _by_scrapys_url(request: Request, nonce: str, fingerprint: Callable[[Request], bytes]) -> str:
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


def _by_fingerprint(url: str, request: Request, nonce: str, fingerprint: Callable[[Request], bytes]) -> str:
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
