"""Python values as JSON and back, faithfully; what JSON has no type for is tagged: {"!tuple": [1, 2]}.

No pickle: whoever can write to Redis must not run code. Of classes, only items are made, and what tells the
browser of scrapy-playwright which method of a page to call; and only such as are loaded already. No method is
kept that opens files of this machine or writes them.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Collection
from typing import Any

from itemadapter import ItemAdapter

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
