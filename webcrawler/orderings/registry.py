"""Which modes are there?"""

from __future__ import annotations

import inspect
from importlib import import_module
from importlib.metadata import entry_points
from typing import cast
from urllib.parse import parse_qsl

from webcrawler.errors import BadInput
from webcrawler.orderings.base import PRIORITY_MAX, Ordering, Source
from webcrawler.orderings.best_first import BestFirst, Shark
from webcrawler.orderings.blend import Blend, BlendInTurn
from webcrawler.orderings.links import Backlink, PageRank
from webcrawler.orderings.plain import Breadth, Fifo, Priority, Random
from webcrawler.orderings.words import Anchor, Combined, Hot, HotAnchor, Location
from webcrawler.records import Link

BUILT_IN: dict[str, type[Ordering]] = {
    "breadth": Breadth,
    "fifo": Fifo,
    "random": Random,
    "backlink": Backlink,
    "pagerank": PageRank,
    "blend": Blend,
    "blend-in-turn": BlendInTurn,
    "location": Location,
    "anchor": Anchor,
    "hot": Hot,
    "hot-anchor": HotAnchor,
    "ic": Combined,
    "best-first": BestFirst,
    "shark": Shark,
    "priority": Priority,
}

# Built in as well, in rooms that know what a frontier does not: they are imported when they are named.
BUILT_IN_PATHS = {
    "adaptive": "webcrawler.orderings.adaptive.adaptive.Adaptive",
    "webcrawler": "webcrawler.orderings.webcrawler.WebCrawler",
    "seed-similarity": "webcrawler.orderings.by_example.seeds.SeedSimilarity",
    "classifier": "webcrawler.orderings.by_example.classifier.Classifier",
}


def ordering(mode: str, by_path: bool = True) -> Ordering:
    """The ordering of a mode: `name`, or `name?word=value&…` with arguments.

    The name is a built-in one, an entry point of the group `webcrawler.orderings`, or a class path.

    Args:
        by_path: False where the mode comes from data: naming a module imports it, and so runs it.
    Raises:
        BadInput: there is none, with the names that there are; or its arguments are wrong.
    """
    name, _, words = mode.partition("?")
    found = ordering_type(name, by_path)
    arguments = dict(parse_qsl(words, keep_blank_values=True))
    if not by_path:
        _refuse_paths(arguments.get("then", ""))
    if unknown := arguments.keys() - arguments_of(found):
        takes = ", ".join(arguments_of(found)) or "no arguments"
        raise BadInput(f"mode={name} knows no {', '.join(sorted(unknown))[:200]}: it takes {takes}")
    if name in BUILT_IN or name in BUILT_IN_PATHS:
        return found(**arguments)
    try:
        return _tried(found(**arguments))
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError) as error:
        raise BadInput(f"mode={name} cannot be used: {type(error).__name__}: {error}") from None


def _refuse_paths(then: str) -> None:
    """A mode within a mode, and so on: none of them may name a module."""
    while then:
        name, _, words = then.partition("?")
        ordering_type(name, by_path=False)
        then = dict(parse_qsl(words)).get("then", "")


def _tried(own: Ordering) -> Ordering:
    """A user's ordering, when it gives priorities: else its first page would come to nothing."""
    link = Link("http://a.example/1", 1, "http://a.example/1", "anchor")
    for source in (None, Source()):
        priority = own.first_priority(link, source)
        if not isinstance(priority, int) or abs(priority) > PRIORITY_MAX:
            raise ValueError(f"first_priority gave {priority!r}, no whole number within ±{PRIORITY_MAX:,}")
    if own.on_repeat not in ("", "add", "raise"):
        raise ValueError(f'on_repeat is {own.on_repeat!r}: there are "", "add" and "raise"')
    return own


def arguments_of(kind: type[Ordering]) -> tuple[str, ...]:
    """The words that a mode takes."""
    return tuple(inspect.signature(kind).parameters)


def ordering_type(name: str, by_path: bool = False) -> type[Ordering]:
    if name in BUILT_IN:
        return BUILT_IN[name]
    if name in BUILT_IN_PATHS:
        return cast(type[Ordering], _at(BUILT_IN_PATHS[name]))
    plugins = {point.name: point for point in entry_points(group="webcrawler.orderings")}
    found, cause = None, ""
    try:
        found = plugins[name].load() if name in plugins else _at(name) if by_path else None
    except (ImportError, AttributeError, ValueError, TypeError, SyntaxError) as error:
        cause = f" ({error})" if "." in name.strip(".") else ""
    if isinstance(found, type) and issubclass(found, Ordering):
        return found
    names = ", ".join(sorted([*BUILT_IN, *BUILT_IN_PATHS, *plugins]))
    cause = cause or (" (that is no Ordering)" if found else "")
    raise BadInput(
        f"unknown mode {name[:200]!r}{cause[:200]}: choose one of {names}, or the path of a class of your own"
    )


def _at(path: str) -> object:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)
