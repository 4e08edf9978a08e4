"""Which modes are there?"""

from __future__ import annotations

import inspect
import logging
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import entry_points
from operator import index
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from webcrawler.errors import BadInput, is_installed, require
from webcrawler.orderings.base import PRIORITY_MAX, Ordering, Source
from webcrawler.records import Link

_log = logging.getLogger(__name__)


class Mode(NamedTuple):
    """A mode that comes with the crawler."""

    name: str
    path: str  # of its class below webcrawler.orderings; `load` imports it
    spiders: tuple[str, ...]  # none: for spiders of a user's own
    looks_for: str  # "query": it needs one; "examples": pages like the seeds, a query adds words; "": nothing
    help: str
    needs: str = ""  # the extra without which it cannot run; "": the frontier is enough

    @property
    def is_strategy(self) -> bool:
        """Is it a way to search the web? `breadth` is there to compare the others with."""
        return "realtime" in self.spiders

    @property
    def can_run(self) -> bool:
        return is_installed(self.needs)

    def load(self) -> type[Ordering]:
        """Imports its class. Raises BadInput: its extra is not installed; one line says how to do that."""
        require(self.needs, f"mode={self.name}")
        found = _at(f"webcrawler.orderings.{self.path}")
        assert isinstance(found, type) and issubclass(found, Ordering)
        return found


NOTE_MAX = 2**53 - 1  # a number of Lua's
INDEX, BOTH = ("index",), ("index", "realtime")
QUERY, EXAMPLES = "query", "examples"
# fmt: off
_ROWS = (
    Mode("adaptive", "adaptive.Adaptive", BOTH, QUERY,
         "learns from each page which links and servers are worth following; the best one known here",
         "search"),
    Mode("credit", "adaptive.Credit", BOTH, QUERY,
         "is adaptive, and credits every page on the way to a wanted one (reinforcement learning)",
         "search"),
    Mode("webcrawler", "webcrawler.WebCrawler", BOTH, QUERY,
         "follows those links of the best pages whose words fit the query, as the WebCrawler did",
         "search"),
    Mode("best-first", "words.BestFirst", BOTH, QUERY,
         "follows the links of pages that are most like the query"),
    Mode("shark", "words.Shark", BOTH, QUERY,
         "lets pages hand on what they promise, and reads the words in and around links (SharkSearch)"),
    Mode("hot", "words.Hot", BOTH, QUERY,
         "takes links first that name a word of the query, or lie near a page full of them"),
    Mode("seed-similarity", "examples.SeedSimilarity", BOTH, EXAMPLES,
         "compares pages with all the example pages together, instead of with a query",
         "search"),
    Mode("classifier", "classifier.Classifier", BOTH, EXAMPLES,
         "learns from the example pages what belongs to the subject, and crosses pages that do not",
         "classifier"),
    Mode("context-graph", "context.ContextGraph", BOTH, EXAMPLES,
         "learns how far pages are from the subject, and follows those that are expected to be nearest",
         "search"),
    Mode("breadth", "base.Breadth", BOTH, "",
         "takes every server in turn, whatever it is about: to compare the others with"),
    Mode("fifo", "base.Fifo", INDEX, "", "takes what was found first"),
    Mode("random", "base.Random", INDEX, "", "takes any known URL, each with the same chance"),
    Mode("backlink", "links.Backlink", INDEX, "", "takes what most pages seen so far link to", "search"),
    Mode("pagerank", "links.PageRank", INDEX, "",
         "takes the highest PageRank over the links seen so far", "search"),
    Mode("blend", "links.Blend", INDEX, "",
         "finds important pages soonest: PageRank, backlinks and chance", "search"),
    Mode("blend-in-turn", "links.BlendInTurn", INDEX, "",
         "is blend within each server; servers take turns", "search"),
    Mode("location", "words.Location", INDEX, "", "takes URLs with few slashes, and with wanted words"),
    Mode("anchor", "words.Anchor", INDEX, QUERY, "takes links whose anchor is most like the query"),
    Mode("hot-anchor", "words.HotAnchor", INDEX, QUERY, "is hot, by anchor and address alone"),
    Mode("ic", "words.Combined", INDEX, QUERY, "adds words of the query in anchors to backlinks"),
    Mode("priority", "base.Priority", (), "", "takes the highest priority of the Scrapy request"),
)
# fmt: on
MODES = {row.name: row for row in _ROWS}


def strategies() -> list[Mode]:
    return [row for row in _ROWS if row.is_strategy]


def ordering(mode: str, by_path: bool = True) -> Ordering:
    """The ordering of a mode: `name`, or `name?word=value&…` with arguments.

    The name is a built-in one, an entry point of the group `webcrawler.orderings`, or a class path.

    Args:
        by_path: False where the mode comes from data: naming a module imports it, and so runs it.
    Raises:
        BadInput: there is none, with the names that there are; or its arguments are wrong.
    """
    name, _, words = mode.partition("?")
    given = dict(parse_qsl(words, keep_blank_values=True))
    found = ordering_type(name, by_path)
    if unknown := given.keys() - arguments_of(found):
        takes = ", ".join(arguments_of(found)) or "no arguments"
        raise BadInput(f"mode={name} knows no {', '.join(sorted(unknown))[:200]}: it takes {takes}")
    arguments: dict[str, Any] = dict(given)
    if "then" in given:
        arguments["then"] = _within(given["then"], given.get("query", ""), by_path)
    if name in MODES:
        return found(**arguments)
    try:
        return _checked(found(**arguments))
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError) as error:
        raise BadInput(f"mode={name} cannot be used: {type(error).__name__}: {error}") from None


def guarded(mode: str) -> Ordering:
    """The same for a crawl: its threads take turns to ask, and an error costs no page."""
    return guard(ordering(mode), mode)


def _within(mode: str, query: str, by_path: bool) -> Ordering:
    """The ordering within the queues of another one. If it looks for words, then for the same."""
    row = MODES.get(mode)
    if row and row.looks_for == QUERY and not row.is_strategy:
        return row.load()(query=query)  # type: ignore[call-arg]
    return ordering(mode, by_path)


def _checked(own: Ordering) -> Ordering:
    """Asks a user's ordering for two priorities, so that an error is reported before the crawl begins."""
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
    """The class of a mode without its arguments.

    Raises:
        BadInput: there is none, or its extra is not installed.
    """
    if name in MODES:
        return MODES[name].load()
    plugins = {point.name: point for point in entry_points(group="webcrawler.orderings")}
    found: object = None
    cause = ""
    try:
        found = plugins[name].load() if name in plugins else _own(name) if by_path else None
    except (ImportError, AttributeError, ValueError, TypeError, SyntaxError) as error:
        cause = f" ({error})" if "." in name.strip(".") else ""
    if isinstance(found, type) and issubclass(found, Ordering):
        return found
    names = ", ".join(sorted([*MODES, *plugins]))
    cause = cause or (" (that is not an Ordering)" if found else "")
    raise BadInput(
        f"unknown mode {name[:200]!r}{cause[:200]}: choose one of {names}, or the path of a class of your own"
    )


def _own(path: str) -> object:
    """A class of the user's own, also in a file of the working folder: commands run from any."""
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)  # behind all else, so that no file there hides a module
    return _at(path)


def _at(path: str) -> object:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def guard(own: Ordering, mode: str) -> Ordering:
    """Has an ordering's methods called one at a time; logs once for each what it raises, or says wrongly.

    Where one fails, a link has the priority of its page (a seed has 0) and no note, a page the note that it
    was leased with, and nothing is learnt or planned. `priorities` is the ranker's to ask, which reports
    errors itself.
    """
    lock = RLock()  # several threads ask
    for method, (check, instead) in METHODS.items():
        setattr(own, method, _guarded(lock, getattr(own, method), check, instead, f"mode={mode}: {method}"))
    return own


def _guarded(
    lock: RLock, ask: Callable[..., Any], check: Callable[[Any], Any], instead: Callable[..., Any], what: str
) -> Callable[..., Any]:
    has_failed = False

    def asked(*arguments: Any, **named: Any) -> Any:
        nonlocal has_failed
        with lock:
            try:
                return check(ask(*arguments, **named))
            except Exception as error:
                if not has_failed:
                    has_failed = True
                    _log.error(
                        "%s failed: %s; the crawl goes on without it, and no page is lost; "
                        "correct it, and start again with --rescore",
                        what,
                        ascii(f"{type(error).__name__}: {error}"[:500])[1:-1],
                    )
                return instead(*arguments, **named)

    return asked


def _whole(value: object, most: int) -> int:
    number = index(value)  # type: ignore[arg-type]
    if abs(number) > most:
        raise ValueError(f"{number} is not within ±{most:,}")
    return number


def _note(value: object) -> int:
    return _whole(value, NOTE_MAX)


def _priority(value: object) -> int:
    return _whole(value, PRIORITY_MAX)


def _plan(plan: tuple[Sequence[Link], Sequence[int]]) -> tuple[list[Link], list[int]]:
    links, priorities = plan
    if len(links) != len(priorities) or not all(isinstance(link, Link) for link in links):
        raise ValueError(f"{len(links)} links and {len(priorities)} priorities")
    return list(links), [_priority(value) for value in priorities]


def _of_page(link: Link, source: Source | None = None) -> int:
    return max(-PRIORITY_MAX, min(source.priority, PRIORITY_MAX)) if source else 0


METHODS: dict[str, tuple[Callable[[Any], Any], Callable[..., Any]]] = {  # how each answer is checked; else
    "first_priority": (_priority, _of_page),
    "note": (_note, lambda link, source: 0),
    "page_note": (_note, lambda text, lease: lease.note),
    "learn": (lambda nothing: nothing, lambda seen: None),
    "plan": (_plan, lambda: ([], [])),
    "out_of_turn": (lambda source: source, lambda source: source),
}
