"""Test collections: documents, queries and judgments; read, and made into a data folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import BadInput
from webcrawler.evaluation.runner import Progress
from webcrawler.index import wait_until_caught_up
from webcrawler.records import Entry, Fetch, Lease, Link, Text
from webcrawler.urls import server, url_id

BATCH = 500  # documents in a transaction

MAX_GRADE = 1_000_000  # trec_eval calculates with 32 bits


class Judgments(NamedTuple):
    """Queries that have at least one relevant document, and the grades of documents by query id."""

    queries: dict[str, str]
    grades: dict[str, dict[str, int]]  # 0: not relevant; of negative grades there are none
    copies: dict[str, str] = {}  # documents that count as the judged one that they copy


class Paper(NamedTuple):
    """A document of a collection."""

    id: str
    title: str
    text: str
    links: tuple[str, ...]  # ids of documents that it cites


class Collection(NamedTuple):
    papers: tuple[Paper, ...]
    judgments: Judgments


def read(folder: Path) -> Collection:
    """docs.jsonl, queries.tsv and qrels.txt of a folder.

    Raises:
        BadInput: a file is missing, or a line of it is something else; no judged document is there.
    """
    papers = tuple(_papers(folder / "docs.jsonl"))
    ids = {paper.id for paper in papers}
    if not papers or len(ids) < len(papers):
        what = "has no documents" if not papers else "has the same id twice"
        raise BadInput(f"{folder / 'docs.jsonl'} {what}")
    judgments = read_judgments(folder)
    if not any(grade and id in ids for of in judgments.grades.values() for id, grade in of.items()):
        raise BadInput(f"{folder / 'qrels.txt'}: no relevant document is in docs.jsonl: their ids differ")
    return Collection(papers, judgments)


def read_feedback(folder: Path) -> Judgments:
    """What was judged on the search page; document ids are URLs. Raises BadInput where nothing was."""
    if not (folder / "qrels.txt").exists():
        raise BadInput(
            f"nothing was judged in {folder} yet: `webcrawler serve -s SERVE_FEEDBACK=1` lets people judge"
        )
    return read_judgments(folder)


def read_judgments(folder: Path) -> Judgments:
    """queries.tsv, qrels.txt and, where it is there, same.tsv of a folder.

    Of several judgments of a pair the last wins; negative grades, not judged, are left out (TREC).

    Raises:
        BadInput: a file is missing, or a line of it is something else; there is no relevant document.
    """
    grades = dict[str, dict[str, int]]()
    queries = dict(_pairs(folder / "queries.tsv", "a query's id, a tab, and the query"))
    for query, document, grade in _qrels(folder / "qrels.txt"):
        grades.setdefault(query, {})[document] = grade
    answered = {
        query: {document: grade for document, grade in of.items() if grade >= 0}
        for query, of in grades.items()
        if query in queries and any(grade > 0 for grade in of.values())
    }
    if not answered:
        raise BadInput(f"{folder / 'qrels.txt'} has no relevant document for any query of queries.tsv")
    same = folder / "same.tsv"
    copies = dict(_pairs(same, "a copy, a tab, and the judged document")) if same.exists() else {}
    return Judgments({query: text for query, text in queries.items() if query in answered}, answered, copies)


def _papers(file: Path) -> Iterator[Paper]:
    """Only the id must be there."""
    for number, line in _lines(file):
        try:
            row = json.loads(line)
            links = row.get("links") or []
            if not isinstance(links, list):
                raise TypeError("links")
            yield Paper(
                _id(row["id"]), _text(row.get("title")), _text(row.get("text")), tuple(map(_id, links))
            )
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            expected = '{"id": …, "title": …, "text": …, "links": […]}'
            raise BadInput(f"{file}, line {number}: expected {expected}") from None


def _id(value: object) -> str:
    if not isinstance(value, str | int) or not str(value).strip():
        raise TypeError("id")
    return str(value).strip()


def _text(value: object) -> str:
    if not isinstance(value, str | None):
        raise TypeError("text")
    (value or "").encode()  # a surrogate is not a character
    return value or ""


def _pairs(file: Path, expected: str) -> Iterator[tuple[str, str]]:
    for number, line in _lines(file):
        first, tab, second = line.partition("\t")
        if not (first.strip() and tab):
            raise BadInput(f"{file}, line {number}: expected {expected}")
        yield first.strip(), second.strip()


def _qrels(file: Path) -> Iterator[tuple[str, str, int]]:
    """TREC: query, an unused column, document, grade."""
    for number, line in _lines(file):
        try:
            query, _, document, text = line.split()
            grade = int(text)
            if abs(grade) > MAX_GRADE:
                raise ValueError(text)
        except ValueError:
            raise BadInput(f"{file}, line {number}: expected `query 0 document grade`") from None
        yield query, document, grade


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """Numbered from 1, without the empty ones."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        fault = error.strerror if isinstance(error, OSError) else "it is not in UTF-8"
        raise BadInput(f"cannot read {file}: {fault}") from None
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line.rstrip("\r")


def build(
    papers: Sequence[Paper],
    crawl_dir: Path,
    progress: Progress = lambda what, done, all: None,
) -> dict[int, str]:
    """Write a catalog and an index of the documents; citations become links with the citing title as anchor.

    All documents are on one server: the title of a citing document says what a document is about, and is
    not a name that other servers give it. There are no ranks, so PageRank does not count. Cost: 1 s for
    1,500 abstracts.

    Returns:
        Ids by page number.
    """
    # words that no query has
    urls = {paper.id: f"http://0judged/0judged{place}" for place, paper in enumerate(papers)}
    with closing(Catalog(crawl_dir / "catalog.sqlite")) as catalog:
        for start in range(0, len(papers), BATCH):
            catalog.write([(_entry(paper, urls), None) for paper in papers[start : start + BATCH]])
            progress("writing", min(start + BATCH, len(papers)), len(papers))
        numbers = {url: number for number, url in catalog.urls.all()}
    wait_until_caught_up(crawl_dir, lambda done, last: progress("indexing", done, last))
    return {numbers[url]: id for id, url in urls.items()}


def _entry(paper: Paper, urls: dict[str, str]) -> Entry:
    """Each has a digest of its own, so that identical texts are not duplicates."""
    url = urls[paper.id]
    lease = Lease(url_id(url), url, url, server(url), token=1)
    fetch = Fetch(lease, "done", "document", 1.0, status=200, headers=(("content-type", "text/html"),))
    cited = dict.fromkeys(id for id in paper.links if id in urls and id != paper.id)
    links = tuple(Link(urls[id], url_id(urls[id]), urls[id], paper.title) for id in cited)
    digest = hashlib.sha1(url.encode(), usedforsecurity=False).digest()
    return Entry(fetch, digest, links=links, text=Text(paper.title, "", "", "", paper.text))
