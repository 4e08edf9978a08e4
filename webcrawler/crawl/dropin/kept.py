"""Requests as the frontier keeps them: a URL, and JSON of whatever else is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from inspect import ismethod
from typing import Any

from scrapy import Request, Spider

from webcrawler import urls
from webcrawler.crawl.dropin.identity import Key
from webcrawler.crawl.dropin.values import loaded, name_of, plain, restored
from webcrawler.errors import BadInput, BadUrl
from webcrawler.records import Lease, Link

_REQUEST = Request("http://plain.example/")
_PLAIN = {name: getattr(_REQUEST, name) for name in _REQUEST.attributes}  # what equals these is omitted
_as_json = json.JSONEncoder(separators=(",", ":")).encode


class NotKept(BadInput):
    """Raised when a request cannot be JSON; the message says why, and what to do."""


class Keeper:
    """Turns requests of one spider into links, and leases into requests.

    Args:
        key: says which requests are the same.
        private: a key of meta that is never kept.
    """

    def __init__(self, spider: Spider, key: Key, private: str) -> None:
        self._spider, self._key, self._private = spider, key, private

    def link(self, request: Request, nonce: str) -> Link:
        """Converts a request to a Link; requests with the same URL key are one.

        Args:
            nonce: makes a request that asks not to be filtered one of its own.
        Raises:
            NotKept: it cannot be kept.
        """
        spelling, _, fragment = request.url.partition("#")
        if not spelling.lower().startswith(("http:", "https:")):
            raise NotKept("its URL is neither http nor https")
        try:
            url = self._key(request, nonce)
        except BadUrl:
            raise NotKept("its URL is neither http nor https") from None
        kept = self._kept(request)
        if fragment:
            kept["url"] = request.url
        text = _as_json(kept) if kept else ""
        return Link(url, urls.url_id(url), spelling, request=text)

    def request(self, lease: Lease) -> Request:
        """The request that became this lease.

        Raises:
            ValueError: the spider has no such callback any more, or it was never kept here.
        """
        if not lease.request:
            return Request(lease.spelling)
        kept: dict[str, Any] = json.loads(lease.request)
        kind = kept.pop("class", "")
        made_by = loaded(kind) if kind else Request
        if made_by is None or not issubclass(made_by, Request):
            raise ValueError(f"{kind} is not a request class of this project; is it renamed?")
        for name in {"callback", "errback"} & kept.keys():
            method = getattr(self._spider, kept[name], None)
            if not ismethod(method) or kept[name].startswith("__"):
                raise ValueError(f"the spider has no method {kept[name]!r} any more; is it renamed?")
            kept[name] = method
        if "headers" in kept:
            kept["headers"] = {
                name.encode("latin-1"): [value.encode("latin-1") for value in values]
                for name, values in kept["headers"].items()
            }
        values = {name: restored(value) if name in _TAGGED else value for name, value in kept.items()}
        return made_by(**{"url": lease.spelling, **values})

    def _kept(self, request: Request) -> dict[str, Any]:
        """What differs from a plain GET; priority first, as orderings look for it."""
        kept: dict[str, Any] = {}
        if request.priority:
            kept["priority"] = request.priority
        for name in ("callback", "errback"):
            if function := getattr(request, name):
                kept[name] = self._name(function, name)
        if request.headers:
            kept["headers"] = {
                name.decode("latin-1"): [value.decode("latin-1") for value in values]
                for name, values in request.headers.items()
            }
        for name in request.attributes:
            value = getattr(request, name)
            if name == "meta" and self._private in value:
                value = {key: one for key, one in value.items() if key != self._private}
            if name not in kept and name not in ("url", "headers") and value != _PLAIN.get(name):
                try:
                    kept[name] = plain(value)
                except (TypeError, RecursionError) as error:
                    advice = "pass text, numbers, lists, dicts or items"
                    raise NotKept(f"{name} holds {error}; {advice}") from None
        if type(request) is not Request:
            kept["class"] = name_of(type(request))
        return kept

    def _name(self, function: Callable[..., Any], role: str) -> str:
        name: str = getattr(function, "__name__", "")
        if getattr(function, "__self__", None) is self._spider:
            if getattr(self._spider, name, None) == function:
                return name
            for kind in type(self._spider).__mro__:  # of a private one: __parse is kept as _Spider__parse
                mangled = f"_{kind.__name__.lstrip('_')}{name}"
                if getattr(self._spider, mangled, None) == function:
                    return mangled
        raise NotKept(f"its {role} {name or function!r} is not a method of the spider; make it one")


_TAGGED = frozenset({"body", "cookies", "meta", "cb_kwargs", "flags", "data", "dumps_kwargs"})
