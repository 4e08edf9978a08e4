"""A catalogue on loopback whose records only its search form finds: SQLite's FTS5 behind a web server."""

from __future__ import annotations

import heapq
import re
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from typing import NamedTuple
from urllib.parse import parse_qsl, quote_plus, urlsplit

from localweb import Answer, Site, sites
from testdata import archive

PER_PAGE = 10
NEWEST = 10  # records that the home page names
_WORD = re.compile(r"[^\W_]+")
_FIELD = re.compile(r"^\.([A-Z])[ \n](.*?)(?=^\.[A-Z][ \n]|\Z)", re.MULTILINE | re.DOTALL)


class Record(NamedTuple):
    title: str
    text: str


def library(number: int) -> list[Record]:
    """Abstracts of CACM, Cranfield and ADI, then the questions asked of these collections: 5,008 at most."""
    of = {
        "ir-cacm/cacm.tar.xz": ("cacm.all", "query.text"),
        "ir-cranfield/cran.tar.gz": ("cran.all.1400", "cran.qry"),
        "ir-adi/adi.tar.gz": ("ADI.ALL", "ADI.QRY"),
    }
    found = {
        name.rpartition("/")[2]: body.decode("latin-1").replace("\r", "")
        for file in of
        for name, body in archive(file)
    }
    parts = [*(abstracts for abstracts, _ in of.values()), *(questions for _, questions in of.values())]
    records = [record for part in parts for record in _records(found[part])]
    return records[:number]


def _records(text: str) -> Iterator[Record]:
    for part in re.split(r"^\.I *\d+ *\n", text, flags=re.MULTILINE)[1:]:
        fields = {name: " ".join(value.split()) for name, value in _FIELD.findall(part)}
        words = fields.get("W", "")
        if fields.get("T") or words:
            yield Record(fields.get("T") or words[:60], words)


class Index:
    """Full-text search of records, best first; a query has `pages` pages of results at most."""

    def __init__(self, records: Sequence[Record], pages: int) -> None:
        self.records, self.pages = records, pages
        self._lock = threading.Lock()
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        self._db.execute("CREATE VIRTUAL TABLE records USING fts5 (title, text)")
        rows = [(number, *record) for number, record in enumerate(records)]
        self._db.executemany("INSERT INTO records (rowid, title, text) VALUES (?, ?, ?)", rows)

    def search(self, query: str) -> list[int]:
        words = " ".join(f'"{word}"' for word in _WORD.findall(query))
        if not words:
            return []
        wanted = "SELECT rowid FROM records WHERE records MATCH ? ORDER BY rank, rowid LIMIT ?"
        with self._lock:
            return [number for (number,) in self._db.execute(wanted, (words, self.pages * PER_PAGE))]

    @property
    def vocabulary(self) -> list[str]:
        return sorted({word for record in self.records for word in _WORD.findall(" ".join(record).lower())})

    def answers(self) -> dict[str, list[int]]:
        """What each word of the vocabulary would bring: no crawler can know this."""
        return {word: self.search(word) for word in self.vocabulary}


def oracle(answers: Mapping[str, Sequence[int]], wanted: float) -> list[str]:
    """The words that somebody asks who knows all answers, and always takes the one that brings the most.

    Args:
        wanted: how many records are enough.
    """
    seen: set[int] = set()
    asked: list[str] = []
    heap = [(-len(found), word) for word, found in answers.items()]
    heapq.heapify(heap)
    while len(seen) < wanted and heap:
        _, word = heapq.heappop(heap)
        new = len(set(answers[word]) - seen)
        if heap and new < -heap[0][0]:  # less than the next one may bring
            heapq.heappush(heap, (-new, word))
        else:
            seen.update(answers[word])
            asked.append(word)
    return asked


class Catalogue:
    """The web server. `asked` are the words in the order in which they were asked, `fetched` the records.

    `curve` has a pair for each new record: how many words were asked before, how many records were fetched.
    """

    def __init__(self, index: Index, site: Site) -> None:
        self.index, self.url, self.paths = index, site.url, site.asked
        self.asked: list[str] = []
        self.fetched: set[int] = set()
        self.curve: list[tuple[int, int]] = []

    def answer(self, site: Site) -> Answer:
        parts = urlsplit(site.request.path)
        query = dict(parse_qsl(parts.query))
        if parts.path == "/":
            newest = range(len(self.index.records) - 1, -1, -1)[:NEWEST]
            return _page("Catalogue of papers", f"<p>Newest papers</p>{self._listed(newest)}")
        if parts.path == "/search":
            return self._results(query.get("q", ""), int(query.get("page", "1")))
        if parts.path.startswith("/record/") and (number := int(parts.path[8:])) < len(self.index.records):
            return self._record(number)
        return _page("Not found", "<p>There is nothing here.</p>", 404)

    def _results(self, words: str, page: int) -> Answer:
        if words not in self.asked:
            self.asked.append(words)
        found = self.index.search(words)
        shown = self._listed(found[(page - 1) * PER_PAGE : page * PER_PAGE])
        more = f"/search?q={quote_plus(words)}&page={page + 1}"
        after = f'<p><a href="{escape(more)}">More</a></p>' if len(found) > page * PER_PAGE else ""
        return _page(f"Results for {escape(words)}, page {page}", shown + after)

    def _record(self, number: int) -> Answer:
        if number not in self.fetched:
            self.fetched.add(number)
            self.curve.append((len(self.asked), len(self.fetched)))
        title, text = map(escape, self.index.records[number])
        return _page(title, f"<h2>Abstract</h2><p>{text}</p><p>Record {number}.</p>")

    def _listed(self, numbers: Sequence[int]) -> str:
        items = (f'<li><a href="/record/{n}">{escape(self.index.records[n].title)}</a>' for n in numbers)
        return f"<ol>{''.join(items)}</ol>"

    def queries_for(self, wanted: float) -> int | None:
        """How many words were asked when so many records had been fetched; None: there were never so many."""
        return next((asked for asked, fetched in self.curve if fetched >= wanted), None)


def _page(title: str, body: str, status: int = 200) -> Answer:
    """With the search form on every page, as sites have it."""
    field = '<label>Search <input type="search" name="q"></label> <button>Go</button>'
    form = f'<form action="/search">{field}</form>'
    menu = '<nav><a href="/">Home</a> <a href="/about">About this catalogue</a></nav>'
    foot = "<footer>Papers of a library</footer>"
    whole = f"<!doctype html><title>{title}</title>{menu}{form}<main><h1>{title}</h1>{body}</main>{foot}"
    return Answer(whole, status, kind="text/html; charset=utf-8")


@contextmanager
def catalogue(records: Sequence[Record], pages: int) -> Iterator[Catalogue]:
    with sites(catalogue={}) as opened:
        site = opened["catalogue"]
        made = Catalogue(Index(records, pages), site)
        site.routes["*"] = made.answer
        yield made
