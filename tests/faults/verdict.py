"""What a crawl of the odd web must have left behind, and what it has: nothing lost, nothing twice."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from hashlib import sha1
from pathlib import Path
from typing import Any, NamedTuple

from truth import Truth
from whoosh.index import open_dir

from webcrawler.archive.pages import record_at
from webcrawler.errors import WebcrawlerError
from webcrawler.records import Place
from webcrawler.urls import NO_SUCH_PAGE

LAST = """
    SELECT s.name || u.path, f.reason FROM fetches f
    JOIN urls u ON u.number = f.number JOIN servers s ON s.number = u.server
    WHERE NOT f.retry AND f.reason <> 'not-modified' ORDER BY f.fetched"""
DOCUMENTS = """
    SELECT s.name || u.path, d.duplicate_of IS NOT NULL, d.digest, d.file, d."offset" FROM documents d
    JOIN urls u ON u.number = d.number JOIN servers s ON s.number = u.server"""


class Verdict(NamedTuple):
    """Counts of what is wrong; all of them are 0 when nothing is."""

    urls_lost: int = 0  # within reach, and never decided
    urls_wrong: int = 0  # decided as something else than stands there
    urls_too_many: int = 0  # decided, and not within reach
    documents_lost: int = 0
    documents_twice: int = 0
    duplicates_wrong: int = 0  # more or fewer than there are
    pages_unreadable: int = 0  # documents whose WARC record is not there, or holds other bytes
    index_lost: int = 0  # documents that no search finds
    index_twice: int = 0
    index_too_many: int = 0  # found, though duplicate or noindex
    states_wrong: int = 0  # URLs by which the frontier's table of states differs from what must be there

    @property
    def is_good(self) -> bool:
        return not any(self)


def judge(folder: Path, truth: Truth, states: dict[str, Any]) -> Verdict:
    """Of a crawl that has come to its end; `states` is the frontier's table."""
    expected = reasons(truth)
    with closing(sqlite3.connect(f"file:{folder}/catalog.sqlite?mode=ro", uri=True)) as catalog:
        last = dict(catalog.execute(LAST).fetchall())
        rows = catalog.execute(DOCUMENTS).fetchall()
    probes = [url for url in last if url.endswith(NO_SUCH_PAGE)]  # one of each server that was checked
    expected |= {url: {"not-found"} for url in probes}
    documents = Counter(row[0] for row in rows)
    searchable = {row[0] for row in rows if not row[1]} - truth.noindex
    found = in_index(folder)
    return Verdict(
        urls_lost=len(expected.keys() - last.keys()),
        urls_wrong=sum(last[url] not in right for url, right in expected.items() if url in last),
        urls_too_many=len(last.keys() - expected.keys()),
        documents_lost=len(truth.documents - documents.keys()),
        documents_twice=sum(documents.values()) - len(documents),
        duplicates_wrong=abs(sum(row[1] for row in rows) - truth.duplicates),
        pages_unreadable=_unreadable(folder, rows),
        index_lost=len(searchable - found.keys()),
        index_twice=sum(found.values()) - len(found),
        index_too_many=len(found.keys() - searchable),
        states_wrong=states_wrong(truth, states, len(probes)),
    )


def reasons(truth: Truth) -> dict[str, set[str]]:
    """What each URL within reach may come to."""
    kinds = {
        "redirect": truth.redirects,
        "not-found": truth.not_found,
        "not-indexable": truth.not_indexable,
        "robots-disallowed": truth.disallowed,
        "noindex": truth.noindex,
        "document": truth.documents - truth.noindex - truth.copies,
    }
    expected = {url: {reason} for reason, urls in kinds.items() for url in urls}
    for url in truth.noindex:
        expected[url] = {"document", "noindex"}  # the catalog has a column for it
    return expected | {url: {"document", "duplicate"} for url in truth.copies}


def states_wrong(truth: Truth, states: dict[str, Any], probes: int = 0) -> int:
    """By how many URLs the table is off: nothing may be left to do, the reasons must be the truth's."""
    expected = Counter(
        {
            "document": len(truth.documents - truth.noindex) - truth.duplicates,
            "duplicate": truth.duplicates,
            "noindex": len(truth.noindex),
            "redirect": len(truth.redirects),
            "not-found": len(truth.not_found) + probes,
            "not-indexable": len(truth.not_indexable),
            "robots-disallowed": len(truth.disallowed),
        }
    )
    there = Counter(states["reasons"])
    off = (expected - there).total() + (there - expected).total()
    left = states["queued"] + states["leased"] + states["quarantined"]
    return off + left + abs(states["seen"] - expected.total())


def in_index(folder: Path) -> Counter[str]:
    """How often each URL is in the index."""
    with open_dir(str(folder / "index")).searcher() as searcher:
        return Counter(stored["url"] for stored in searcher.documents())


def in_anchors(folder: Path) -> Counter[str]:
    """How often each URL is in the anchors, with what most call it."""
    with open_dir(str(folder / "anchors")).searcher() as searcher:
        return Counter(f"{stored['url']} {stored['title']}" for stored in searcher.documents())


def _unreadable(folder: Path, rows: list[tuple[str, bool, bytes, str, int]]) -> int:
    """Originals are read and hashed; a duplicate's record has no body."""
    bad = 0
    for _, is_duplicate, digest, file, offset in rows:
        try:
            body = record_at(folder / "pages", Place(file, offset)).response.body
            bad += not is_duplicate and sha1(body).digest() != digest
        except WebcrawlerError:
            bad += 1
    return bad
