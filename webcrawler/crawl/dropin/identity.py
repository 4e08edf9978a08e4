"""Which requests are the same? The text by which the frontier knows a request; the URL of its Link."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache

from scrapy import Request
from scrapy.utils import request as scrapy_request
from scrapy.utils.request import RequestFingerprinter
from w3lib.url import canonicalize_url

from webcrawler import urls
from webcrawler.errors import BadInput

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
