"""What is looked for? The arguments of a real-time search, checked before anything is opened or fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from webcrawler.errors import BadInput
from webcrawler.focus import SIMILAR, Wanted
from webcrawler.frontier.orderings import arguments_of, ordering, ordering_type
from webcrawler.job import Job
from webcrawler.realtime import journal
from webcrawler.realtime.bookmarks import read_urls

# Of a search, in the words of docs/reference/commands.md.
STRATEGIES = (
    "adaptive",
    "webcrawler",
    "best-first",
    "shark",
    "hot",
    "seed-similarity",
    "classifier",
    "breadth",
)
BY_EXAMPLES = ("seed-similarity", "classifier")
ENOUGH, MAX_PAGES, MAX_TIME_SECONDS = 20, 500, 300.0
OWN = ("query", "strategy", "enough", "similarity", "examples", "job")
OF_A_CRAWL = ("seeds", "max_pages", "max_time", "domains")


@dataclass(frozen=True, slots=True)
class RealtimeJob(Job):
    """One real-time search."""

    strategy: str = "adaptive"
    enough: int = ENOUGH  # similar documents found by it; 0: any number
    similarity: float = SIMILAR  # from which on a document is similar, 0 to 1
    examples: tuple[str, ...] = ()  # pages to learn from, as they are fetched
    name: str = ""

    @classmethod
    def read(cls, **given: str | None) -> RealtimeJob:
        """From the words of a command line; those that begin with an underscore are Scrapyd's.

        Raises:
            BadInput: with one line on what to write instead.
        """
        words = {name: value for name, value in given.items() if value is not None}
        name = words.get("job") or words.get("_job") or journal.new_job()
        words = {word: value for word, value in words.items() if not word.startswith("_")}
        strategy = _strategy(words.get("strategy", "adaptive"))
        takes = tuple(word for word in arguments_of(ordering_type(strategy)) if word not in OWN)
        if unknown := words.keys() - {*OWN, *OF_A_CRAWL, *takes}:
            there = ", ".join((*OWN, *OF_A_CRAWL, *takes))
            raise BadInput(
                f"no such argument: {', '.join(sorted(unknown))[:200]}; strategy={strategy} takes {there}"
            )
        seeds, examples = read_urls(words.get("seeds", "")), read_urls(words.get("examples", ""))
        limits = {"max_pages": str(MAX_PAGES), "max_time": str(MAX_TIME_SECONDS)} | words
        crawl = Job.read(**{word: limits.get(word) for word in ("max_pages", "max_time", "domains")})
        query = _query(words, strategy, bool(seeds or examples))
        asked = {"query": query} if query else {}
        mode = _mode(strategy, asked | {word: words[word] for word in takes if word in words})
        ordering(mode)
        return cls(
            mode=mode,
            seeds=tuple(dict.fromkeys((*examples, *seeds))),
            max_pages=crawl.max_pages,
            max_time=crawl.max_time,
            domains=crawl.domains,
            query=query,
            strategy=strategy,
            enough=_count("enough", words.get("enough", str(ENOUGH))),
            similarity=_share("similarity", words.get("similarity", str(SIMILAR))),
            examples=examples,
            name=journal.check_name(name),
        )

    def with_words(self, also: Sequence[str]) -> str:
        """The mode, with words of a thesaurus beside those of the query."""
        joint = "&" if "?" in self.mode else "?"
        return f"{self.mode}{joint}{urlencode({'also': ','.join(also)})}"

    @property
    def frontier(self) -> str:
        return f"realtime:{self.name}"

    @property
    def is_search(self) -> bool:
        return True


def _strategy(name: str) -> str:
    if name not in STRATEGIES:
        raise BadInput(f"unknown strategy {name[:100]!r}: choose one of {', '.join(STRATEGIES)}")
    return name


def _query(words: Mapping[str, str], strategy: str, has_examples: bool) -> str:
    query = " ".join(words.get("query", "").split())
    if not query.isprintable():
        raise BadInput("the query has characters that cannot be printed: write it in plain text")
    if query:
        Wanted.of(query)
    elif strategy not in BY_EXAMPLES:
        raise BadInput('what is looked for? Add -a query="molecular biology"')
    elif not has_examples:
        raise BadInput(f"strategy={strategy} learns from pages: add -a examples=URL,URL or @bookmarks.html")
    return query


def _mode(strategy: str, arguments: Mapping[str, str]) -> str:
    known = arguments_of(ordering_type(strategy))
    taken = {word: value for word, value in arguments.items() if word in known}
    return f"{strategy}?{urlencode(taken)}" if taken else strategy


def _count(name: str, text: str) -> int:
    if not (text.isdecimal() and len(text) < 10):
        raise BadInput(f"{name}={text[:100]} is no whole number of at least 0")
    return int(text)


def _share(name: str, text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 < share <= 1:
        raise BadInput(f"{name}={text[:100]} is no number above 0 and up to 1")
    return share
