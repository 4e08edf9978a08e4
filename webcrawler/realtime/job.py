"""What is looked for? The arguments of a real-time search, checked before anything is opened or fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar
from urllib.parse import parse_qsl, urlencode

from webcrawler.errors import BadInput
from webcrawler.job import Job
from webcrawler.orderings import (
    MODES,
    arguments_of,
    number,
    ordering,
    ordering_type,
    strategies,
    whole_number,
)
from webcrawler.orderings.topic import SIMILAR, Wanted, asked_for
from webcrawler.realtime import journal
from webcrawler.realtime.examples import JUDGED, judged_good, read_urls
from webcrawler.realtime.journal import KEEP

ENOUGH, MAX_PAGES, MAX_TIME_SECONDS = 20, 500, 300.0
MOST = 10**9 - 1
OWN = ("query", "strategy", "enough", "similarity", "examples", "keep", "job")
OF_A_CRAWL = ("seeds", "max_pages", "max_time", "domains")


@dataclass(frozen=True, slots=True)
class RealtimeJob(Job):
    """One real-time search."""

    strategy: str = "adaptive"
    enough: int = ENOUGH  # similar documents found by it; 0: any number
    similarity: float = SIMILAR  # from which on a document is similar to query or examples, 0 to 1
    examples: tuple[str, ...] = ()  # pages to learn from, as they are fetched
    keep: str = KEEP[0]  # which of its finds stay in the index when it ends: one of KEEP
    judged: bool = False  # are the pages that people judged good for the query examples?
    name: str = ""
    resumed: bool = False  # does it go on with the frontier of one that was killed?
    asked: tuple[tuple[str, str], ...] = ()  # the words that it was made from, without its name

    is_search: ClassVar[bool] = True

    @classmethod
    def read(cls, **given: str | None) -> RealtimeJob:
        """From the words of a command line, whose help has these lines; `_…` are Scrapyd's.

        Args:
            query: what to look for, in the query language
            strategy: the order of the links: adaptive, shark, best-first, classifier … (adaptive)
            examples: pages to learn from: URL,URL or @FILE, or @feedback for those judged good
            seeds: where to start beside what the index knows, in the same form
            enough: end with so many similar documents; 0 for no limit (20)
            similarity: from which on a document is similar, above 0 and up to 1 (0.5)
            max_pages: the most documents that it fetches (500)
            max_time: the most seconds that it takes (300)
            domains: a.org,b.org: only links to these hosts and those below them
            keep: which of its finds stay in the index: similar, yes, no (similar)
            job: its name, by which one that was killed goes on
        Raises:
            BadInput: with one line on what to write instead.
        """
        words = {word: text for word, text in given.items() if text is not None and not word.startswith("_")}
        strategy, own = _strategy(words)
        query, judged = _query(words, strategy), words.get("examples") == JUDGED
        examples = () if judged else read_urls(words.get("examples", ""))
        crawl = Job.read(
            max_pages=words.get("max_pages", str(MAX_PAGES)),
            max_time=words.get("max_time", str(MAX_TIME_SECONDS)),
            domains=words.get("domains"),
        )
        share = words.get("similarity", str(SIMILAR))
        seeds = read_urls(words.get("seeds", ""))
        lists = {"seeds": seeds, "examples": examples}  # as texts: their files may be gone when it is resumed
        asked = words | {name: "\n".join((*urls, "")) for name, urls in lists.items() if urls}
        asked.pop("job", None)
        return cls(
            mode=_mode(strategy, query, own),
            seeds=tuple(dict.fromkeys((*examples, *seeds))),
            max_pages=crawl.max_pages,
            max_time=crawl.max_time,
            domains=crawl.domains,
            query=query,
            strategy=strategy,
            enough=whole_number("enough", words.get("enough", str(ENOUGH)), 0, MOST, "of at least 0"),
            similarity=number("similarity", share, lambda value: 0 < value <= 1, "above 0 and up to 1"),
            examples=examples,
            keep=_keep(words),
            judged=judged,
            name=journal.check_name(words.get("job") or given.get("_job") or journal.new_job()),
            asked=tuple(sorted(asked.items())),
        )

    def with_judged(self, crawl_dir: Path) -> RealtimeJob:
        """With the pages that were judged good as examples, where these are wanted.

        Raises:
            BadInput: there is none.
        """
        if not self.judged:
            return self
        good = judged_good(crawl_dir / "feedback", self.query)
        return replace(self, examples=good, seeds=tuple(dict.fromkeys((*good, *self.seeds))))

    def with_words(self, also: Sequence[str]) -> str:
        """The mode, with words of a thesaurus beside those of the query, and behind those that it has."""
        strategy, _, text = self.mode.partition("?")
        arguments = dict(parse_qsl(text, keep_blank_values=True))
        together = ",".join(filter(None, (arguments.get("also"), *also)))
        return f"{strategy}?{urlencode(arguments | {'also': together})}"

    @property
    def frontier(self) -> str:
        return f"realtime:{self.name}"

    @property
    def marks_finds(self) -> str:
        return "" if self.keep == "yes" else self.name


def _strategy(words: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The strategy, and the arguments that it alone takes."""
    strategy, names = words.get("strategy", "adaptive"), [mode.name for mode in strategies()]
    if strategy not in names:
        raise BadInput(f"unknown strategy {strategy[:100]!r}: choose one of {', '.join(names)}")
    takes = [word for word in arguments_of(ordering_type(strategy)) if word not in OWN]
    known = [*OWN, *OF_A_CRAWL, *takes]
    if unknown := words.keys() - set(known):
        named = ", ".join(sorted(unknown))[:200]
        raise BadInput(f"no such argument: {named}; strategy={strategy} takes {', '.join(known)}")
    return strategy, {word: words[word] for word in takes if word in words}


def _query(words: Mapping[str, str], strategy: str) -> str:
    query = " ".join(words.get("query", "").split())
    if not query.isprintable():
        raise BadInput("the query has characters that cannot be printed: write it in plain text")
    if query:
        Wanted.of(query)
    elif MODES[strategy].looks_for != "examples":
        raise BadInput('what is looked for? Add -a query="molecular biology"')
    elif words.get("examples") == JUDGED:
        raise BadInput(f"examples={JUDGED} are the pages judged good for a query: add -a query=WORDS")
    elif not (words.get("examples") or words.get("seeds")):
        raise BadInput(f"strategy={strategy} learns from pages: add -a examples=URL,URL or @bookmarks.html")
    return query


def _keep(words: Mapping[str, str]) -> str:
    keep = words.get("keep") or KEEP[0]
    if keep not in KEEP:
        raise BadInput(f"keep={keep[:100]} is not known: choose one of {', '.join(KEEP)}")
    return keep


def _mode(strategy: str, query: str, own: Mapping[str, str]) -> str:
    """Orderings get the words that are looked for; what else the query says is the index's to answer."""
    takes_query = query and "query" in arguments_of(ordering_type(strategy))
    arguments = ({"query": asked_for(query)} if takes_query else {}) | dict(own)
    mode = f"{strategy}?{urlencode(arguments)}" if arguments else strategy
    ordering(mode)
    return mode
