"""Requests as the frontier keeps them: a URL, and JSON of whatever else is said.

Python values as JSON and back, faithfully; what JSON has no type for is tagged: {"!tuple": [1, 2]}.

No pickle: whoever can write to Redis must not run code. Of classes, only items are made, and what tells the
browser of scrapy-playwright which method of a page to call; and only such as are loaded already. No method is
kept that opens files of this machine or writes them.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable, Collection
from inspect import ismethod
from typing import Any

from itemadapter import ItemAdapter
from scrapy import Request, Spider

from webcrawler import urls
from webcrawler.crawl.dropin.project import Key
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


PAGE_METHOD = "scrapy_playwright.page:PageMethod"
_OF_FILES = frozenset({"goto", "route_from_har", "set_input_files"})  # and any with a path


def plain(value: Any) -> Any:
    """The value in types of JSON.

    Raises:
        TypeError: JSON cannot express it; the message names its type.
    """
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list():
            return [plain(one) for one in value]
        case dict() if all(isinstance(key, str) and key[:1] != "!" for key in value):
            return {key: plain(one) for key, one in value.items()}
        case dict():
            return {"!dict": [[plain(key), plain(one)] for key, one in value.items()]}
        case bytes():
            return {"!bytes": base64.b64encode(value).decode()}
        case tuple() | set() | frozenset() if type(value) in (tuple, set, frozenset):
            return {f"!{type(value).__name__}": [plain(one) for one in value]}
        case _ if ItemAdapter.is_item(value):
            return {"!item": [name_of(type(value)), plain(dict(ItemAdapter(value)))]}
        case _ if name_of(type(value)) == PAGE_METHOD:
            if not _is_harmless(value.method, value.kwargs):
                raise TypeError("a PageMethod that opens or writes files")
            return {"!page-method": [plain(value.method), plain(value.args), plain(value.kwargs)]}
    raise TypeError(f"a {type(value).__name__}")


def restored(value: Any) -> Any:
    """What `plain` was given.

    Raises:
        ValueError: `plain` returns no such value.
    """
    match value:
        case list():
            return [restored(one) for one in value]
        case {"!bytes": content}:
            return base64.b64decode(content)
        case {"!dict": pairs}:
            return {restored(key): restored(one) for key, one in pairs}
        case {"!tuple": members}:
            return tuple(map(restored, members))
        case {"!set": members}:
            return set(map(restored, members))
        case {"!frozenset": members}:
            return frozenset(map(restored, members))
        case {"!item": [name, fields]}:
            kind = loaded(name)
            if kind is None or not ItemAdapter.is_item_class(kind):
                raise ValueError(f"{name} is not an item class of this project; is it renamed?")
            return kind(**restored(fields))
        case {"!page-method": [str(method), {"!tuple": list(args)}, dict(kwargs)]} if (
            method[:1] != "_" and _is_harmless(method, kwargs) and (kind := loaded(PAGE_METHOD))
        ):
            return kind(method, *restored(args), **restored(kwargs))
        case dict():
            if unknown := [key for key in value if key[:1] == "!"]:
                raise ValueError(f"no such kind of value: {unknown[0]}")
            return {key: restored(one) for key, one in value.items()}
    return value


def _is_harmless(method: str, kwargs: Collection[str]) -> bool:
    return method not in _OF_FILES and not any(name == "path" or name[:1] == "!" for name in kwargs)


def name_of(kind: type) -> str:
    """Return "module:Class.Inner", by which `loaded` finds it."""
    return f"{kind.__module__}:{kind.__qualname__}"


def loaded(name: str) -> type | None:
    """The class of that name if its module is loaded: nothing is imported."""
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, type) else None
