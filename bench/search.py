"""How long does an answer take? From the query's text to the page's HTML, side by side with stock Whoosh.

    python bench/search.py CRAWL_DIR [--folder DIR] [-n 50000] [--queries 200] [--seed 1] [--json FILE]

CRAWL_DIR is a crawl of docweb full. Its documents, and as many copies as are missing to n with their lines in
another order and some words exchanged, are a collection in FOLDER (default: a temporary one; a folder that is
there already is used as it is). Queries are drawn from the documents' titles and texts: 62 % of one word,
28 % of two, 7 % of three, 3 % of four (1.5 in the mean); a third of those of several words are phrases, a
third join by OR. Each is asked once, after three others that are not measured. "cpu" is the median of the
processor time: what counts on a busy machine.

- `page`: the application of `scrapy serve`, called without a socket: parsing, matching, ranking, folding,
  snippets, suggestions of words, HTML.
- `page, 20 words`: the same for runs of 20 words of the texts, which get pseudo-relevance feedback.
- `ranked`: matching and ranking alone, up to 1,000 page numbers.
- `stock Whoosh, shown`: on the same index, with its own reading of segments: MultifieldParser on title, body,
  words and meta, OR group, its BM25F, its snippets of the top 10 from the same texts; no HTML, no links.
- `stock Whoosh, body`: QueryParser on the body alone, OR group, BM25F, the top 10 document numbers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from rich.console import Console
from rich.table import Table
from whoosh.analysis import StemmingAnalyzer
from whoosh.codec.whoosh3 import W3Segment
from whoosh.highlight import ContextFragmenter, UppercaseFormatter, highlight
from whoosh.index import open_dir
from whoosh.qparser import MultifieldParser, OrGroup, QueryParser

from webcrawler.archive.catalog import Catalog, snapshot
from webcrawler.index.files import MappedSegment
from webcrawler.index.follower import Follower
from webcrawler.records import Entry, Fetch, Lease, Text
from webcrawler.search import Searcher
from webcrawler.text.analysis import terms
from webcrawler.urls import server, url_id
from webcrawler.web.app import make_app
from webcrawler.web.config import Config

LENGTHS = {1: 62, 2: 28, 3: 7, 4: 3}  # words of a query: how many of a hundred
SENTENCES, SENTENCE = 50, 20  # how many, and words of each
WARM_UP = ("apple", "blue sky", "tree house garden")
AT_ONCE = 500  # documents read or written
VIEWS = ("index", "anchors", "ranks", "vocabulary")

Row = dict[str, Any]


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary) / "collection"
        if not folder.exists():
            _collect(arguments.source, folder, arguments.n, random.Random(arguments.seed))
        queries = list(draw_queries(folder, arguments.queries, random.Random(arguments.seed)))
        sentences = list(draw_queries(folder, SENTENCES, random.Random(arguments.seed), _sentence))
        rows = list(_rows(folder, queries, sentences))
    _print(rows, queries)
    if arguments.json:
        arguments.json.write_text(json.dumps({"rows": rows, "queries": queries}, indent=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("source", type=Path, metavar="CRAWL_DIR")
    parser.add_argument("--folder", type=Path, help="where the collection is, or is made and kept")
    parser.add_argument("-n", type=int, default=50_000, help="documents (50,000)")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


# The collection


def _collect(source: Path, folder: Path, n: int, chance: random.Random) -> None:
    folder.mkdir(parents=True)
    for name in VIEWS:
        if (source / name).exists():
            shutil.copytree(source / name, folder / name)
    snapshot(source / "catalog.sqlite", folder / "catalog.sqlite", lambda done, all: None)
    catalog = Catalog(folder / "catalog.sqlite")
    known = _originals(catalog)
    while len(known) < n:
        copies = [
            _changed(url, text, len(known), chance) for url, text in _texts(catalog, known[: n - len(known)])
        ]
        for start in range(0, len(copies), AT_ONCE):
            catalog.write([(entry, None) for entry in copies[start : start + AT_ONCE]])
        known = _originals(catalog)
    catalog.close()
    _follow(folder)


def _follow(folder: Path) -> None:
    with closing(Follower(folder)) as follower:
        follower.catch_up()
        follower.optimize()


def _originals(catalog: Catalog) -> list[int]:
    """Page numbers of what is in the index."""
    found: list[int] = []
    for start in range(1, catalog.urls.count() + 1, AT_ONCE):
        documents = catalog.documents(range(start, start + AT_ONCE))
        found += sorted(n for n, one in documents.items() if not one.duplicate_of and not one.noindex)
    return found


def _texts(catalog: Catalog, numbers: list[int]) -> Iterator[tuple[str, Text]]:
    for start in range(0, len(numbers), AT_ONCE):
        some = numbers[start : start + AT_ONCE]
        urls = catalog.urls.of(some)
        yield from ((urls[number], text) for number, text in catalog.texts(some).items())


def _changed(url: str, text: Text, turn: int, chance: random.Random) -> Entry:
    lines = text.body.splitlines(keepends=True)
    chance.shuffle(lines)
    words = "".join(lines).split(" ")
    for _ in range(len(words) // 20):
        i, j = chance.randrange(len(words)), chance.randrange(len(words))
        words[i], words[j] = words[j], words[i]
    new = url.replace("://", f"://copy{turn}-", 1)
    lease = Lease(url_id(new), new, new, server(new), 1)
    fetch = Fetch(lease, "done", "document", 1.0, status=200, headers=(("Content-Type", "text/html"),))
    return Entry(fetch, new.encode(), text=text._replace(body=" ".join(words), emphasis=()))


# The queries


def _query(text: Text, chance: random.Random) -> str:
    """A run of words of the title or, every other time, of the text."""
    (length,) = chance.choices(list(LENGTHS), list(LENGTHS.values()))
    spelled = (text.title if chance.random() < 0.5 else text.body[:20_000]).split()
    words = [word for word in spelled if word.isalpha() and terms(word)]
    if len(words) < length:
        return ""
    start = chance.randrange(len(words) - length + 1)
    run = words[start : start + length]
    kind = chance.choice(("words", "phrase", "or")) if length > 1 else "words"
    return {"words": " ".join(run), "phrase": f'"{" ".join(run)}"', "or": " OR ".join(run)}[kind]


def _sentence(text: Text, chance: random.Random) -> str:
    words = [word for word in text.body[:20_000].split() if word.isalpha()]
    start = chance.randrange(max(1, len(words) - SENTENCE + 1))
    return " ".join(words[start : start + SENTENCE]) if len(words) >= SENTENCE else ""


def draw_queries(
    folder: Path,
    n: int,
    chance: random.Random,
    make: Callable[[Text, random.Random], str] = _query,
) -> Iterator[str]:
    """Queries made of texts drawn at random."""
    catalog = Catalog(folder / "catalog.sqlite", readonly=True)
    texts = [text for _, text in _texts(catalog, chance.sample(_originals(catalog), 4 * n))]
    catalog.close()
    made = dict.fromkeys(filter(None, (make(text, chance) for text in texts)))
    yield from list(made)[:n]


# The answers


def _rows(folder: Path, queries: list[str], sentences: list[str]) -> Iterator[Row]:
    yield _figures("page", _page(folder), queries)
    yield _figures(f"page, {SENTENCE} words", _page(folder), sentences)
    yield _figures("ranked", Searcher(folder).rank, queries)
    MappedSegment.open_compound_file = W3Segment.open_compound_file  # type: ignore[method-assign]
    yield _figures("stock Whoosh, shown", _stock_shown(folder), queries)
    yield _figures("stock Whoosh, body", _stock(folder), queries)


def _figures(name: str, answer: Callable[[str], object], queries: list[str]) -> Row:
    for query in WARM_UP:
        answer(query)
    times, busy = [], []
    for query in queries:
        started, used = time.perf_counter(), time.process_time()
        answer(query)
        times.append(1000 * (time.perf_counter() - started))
        busy.append(1000 * (time.process_time() - used))
    times.sort()
    return {
        "answer": name,
        "queries": len(times),
        "cpu_median_ms": statistics.median(busy),
        "median_ms": statistics.median(times),
        "p90_ms": times[int(0.9 * len(times))],
        "p99_ms": times[int(0.99 * len(times))],
        "max_ms": times[-1],
    }


def _page(folder: Path) -> Callable[[str], bytes]:
    app = make_app(Config(folder, threads=1))
    loop = asyncio.new_event_loop()

    def answer(query: str) -> bytes:
        return loop.run_until_complete(_asked(app, query))

    return answer


async def _asked(app: Any, query: str) -> bytes:
    """The body of GET /search as an ASGI server would ask for it."""
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/search",
        "raw_path": b"/search",
        "root_path": "",
        "query_string": urlencode({"q": query}).encode(),
        "headers": [(b"host", b"127.0.0.1")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    if sent[0]["status"] != 200:
        raise SystemExit(f"{query!r} is answered with {sent[0]['status']}")
    return b"".join(message.get("body", b"") for message in sent[1:])


def _stock_shown(folder: Path) -> Callable[[str], object]:
    searcher = open_dir(str(folder / "index"), readonly=True).searcher()
    catalog = Catalog(folder / "catalog.sqlite", readonly=True)
    parser = MultifieldParser(["title", "body", "words", "meta"], searcher.schema, group=OrGroup)
    analyzer, fragmenter, formatter = StemmingAnalyzer(), ContextFragmenter(), UppercaseFormatter()

    def answer(query: str) -> object:
        parsed = parser.parse(query)
        hits = [dict(hit) for hit in searcher.search(parsed, limit=10)]
        texts = catalog.texts([hit["number"] for hit in hits])
        words = {term for _, term in parsed.iter_all_terms()}
        return hits, [highlight(text.body, words, analyzer, fragmenter, formatter) for text in texts.values()]

    return answer


def _stock(folder: Path) -> Callable[[str], object]:
    searcher = open_dir(str(folder / "index"), readonly=True).searcher()
    parser = QueryParser("body", searcher.schema, group=OrGroup)

    def answer(query: str) -> object:
        return [hit.docnum for hit in searcher.search(parser.parse(query), limit=10)]

    return answer


def _print(rows: list[Row], queries: list[str]) -> None:
    table = Table("answer", "queries", "cpu ms", "median ms", "90 %", "99 %", "most")
    for name, count, *times in (row.values() for row in rows):
        table.add_row(name, str(count), *(f"{ms:,.1f}" for ms in times))
    Console().print(table)
    Console().print(f"such as: {' · '.join(queries[:6])}", markup=False)


if __name__ == "__main__":
    main()
