"""Which modes are there?"""

from __future__ import annotations

import inspect
from importlib import import_module
from importlib.metadata import entry_points
from urllib.parse import parse_qsl

from webcrawler.errors import BadInput
from webcrawler.frontier.orderings.base import Ordering
from webcrawler.frontier.orderings.blend import Blend
from webcrawler.frontier.orderings.links import Backlink, PageRank
from webcrawler.frontier.orderings.plain import Breadth, Fifo, Priority, Random
from webcrawler.frontier.orderings.words import Anchor, Combined, Hot, HotAnchor, Location

BUILT_IN: dict[str, type[Ordering]] = {
    "breadth": Breadth,
    "fifo": Fifo,
    "random": Random,
    "backlink": Backlink,
    "pagerank": PageRank,
    "blend": Blend,
    "location": Location,
    "anchor": Anchor,
    "hot": Hot,
    "hot-anchor": HotAnchor,
    "ic": Combined,
    "priority": Priority,
}


def ordering(mode: str) -> Ordering:
    """The ordering of a mode: `name`, or `name?word=value&…` with arguments.

    The name is a built-in one, an entry point of the group `webcrawler.orderings`, or a class path.

    Raises:
        BadInput: there is none, with the names that there are; or its arguments are wrong.
    """
    name, _, words = mode.partition("?")
    found = _find(name)
    arguments = dict(parse_qsl(words, keep_blank_values=True))
    if unknown := arguments.keys() - arguments_of(found):
        takes = ", ".join(arguments_of(found)) or "no arguments"
        raise BadInput(f"mode={name} knows no {', '.join(sorted(unknown))[:200]}: it takes {takes}")
    return found(**arguments)


def arguments_of(kind: type[Ordering]) -> tuple[str, ...]:
    """The words that a mode takes."""
    return tuple(inspect.signature(kind).parameters)


def _find(name: str) -> type[Ordering]:
    if name in BUILT_IN:
        return BUILT_IN[name]
    plugins = {point.name: point for point in entry_points(group="webcrawler.orderings")}
    module, _, path = name.rpartition(".")
    try:
        found = plugins[name].load() if name in plugins else getattr(import_module(module), path)
        if issubclass(found, Ordering):
            return found  # type: ignore[no-any-return]
    except (ImportError, AttributeError, TypeError, ValueError):
        pass
    names = ", ".join(sorted([*BUILT_IN, *plugins]))
    raise BadInput(f"unknown mode {name[:200]!r}: choose one of {names}, or the path of a class of your own")
