"""The follower side by side with stock Whoosh on the same documents.

    python bench/index.py CATALOG|FOLDER [-n 400] [--json FILE]

A catalog is a catalog.sqlite; of a folder, its *.html files are parsed and written to a catalog first. Stock
Whoosh has the same fields with its StemmingAnalyzer, and gets the texts from memory with update_document, a
commit per 500 documents; the follower reads its documents from the catalog. Processor time of one process.
"""

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from rich.console import Console
from rich.table import Table
from whoosh.analysis import StemmingAnalyzer
from whoosh.fields import ID, STORED, TEXT, Schema
from whoosh.index import create_in

from webcrawler.archive.catalog import Catalog
from webcrawler.index.follower import BATCH, Follower
from webcrawler.index.schema import url_words
from webcrawler.parsing import index_text, parse
from webcrawler.records import Document, Entry, Fetch, Lease, Text
from webcrawler.urls import url_id

Indexed = list[tuple[Document, Text]]


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = _collect(arguments.source, arguments.n, folder)
        documents = _documents(source)
        runs = {
            "stock Whoosh": _measure(lambda: _stock(documents, _made(folder / "stock"))),
            "follower": _measure(lambda: _follow(folder)),
        }
        sizes = {"stock Whoosh": _size(folder / "stock"), "follower": _size(folder / "index")}
    rows: list[dict[str, float | str]] = [
        {
            "index": run,
            "documents": len(documents),
            "seconds": seconds,
            "documents_per_second": len(documents) / seconds,
            "megabytes": sizes[run] / 1e6,
            "ratio": runs["stock Whoosh"] / seconds,
        }
        for run, seconds in runs.items()
    ]
    _print(rows)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("source", type=Path, help="a catalog.sqlite, or a folder of HTML pages")
    parser.add_argument("-n", type=int, default=400, help="documents (400)")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


def _collect(source: Path, n: int, folder: Path) -> Path:
    """A catalog of n documents in `folder`."""
    entries = _from_html(source, n) if source.is_dir() else _from_catalog(source, n)
    catalog = Catalog(folder / "catalog.sqlite")
    catalog.write([(entry, None) for entry in entries])
    catalog.close()
    return folder / "catalog.sqlite"


def _from_html(source: Path, n: int) -> list[Entry]:
    paths = sorted(source.rglob("*.html"))
    chosen = random.Random(1).sample(paths, min(n, len(paths)))
    pages = (parse(path.read_bytes(), "http://a.example/") for path in chosen)
    return [
        _entry(
            f"http://a.example/{path.relative_to(source)}",
            index_text(page),
        )
        for path, page in zip(chosen, pages, strict=True)
    ]


def _from_catalog(source: Path, n: int) -> list[Entry]:
    return [_entry(document.url, text) for document, text in _documents(source)[:n]]


def _entry(url: str, text: Text) -> Entry:
    fetch = Fetch(Lease(url_id(url), url, url, "http://a.example", 1), "done", "document", 1.0, status=200)
    return Entry(fetch, digest=url.encode(), text=text)


def _documents(path: Path) -> Indexed:
    catalog = Catalog(path, readonly=True)
    numbers = [change.number for change in catalog.changes(0, catalog.last_seq())]
    documents, texts = catalog.documents(numbers), catalog.texts(numbers)
    catalog.close()
    return [(documents[number], text) for number, text in texts.items()]


def _measure(run: Callable[[], None]) -> float:
    started = time.process_time()
    run()
    return time.process_time() - started


def _follow(folder: Path) -> None:
    with closing(Follower(folder)) as follower:
        while follower.step():
            pass


def _stock(documents: Indexed, folder: Path) -> None:
    texts = {name: TEXT(StemmingAnalyzer()) for name in ("meta", "body", "words")}
    title, number = TEXT(StemmingAnalyzer(), stored=True), ID(unique=True, stored=True)
    schema = Schema(number=number, url=STORED, title=title, fetched=STORED, server=ID(stored=True), **texts)
    index = create_in(str(folder), schema)
    for start in range(0, len(documents), BATCH):
        writer = index.writer(limitmb=256)
        for document, text in documents[start : start + BATCH]:
            writer.update_document(
                number=str(document.number),
                url=document.url,
                title=text.title,
                fetched=document.fetched,
                meta=f"{text.description}\n{text.keywords}",
                body=text.body,
                words=url_words(document.url),
                server=document.server,
            )
        writer.commit()


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _print(rows: list[dict[str, float | str]]) -> None:
    table = Table("index", "documents", "seconds", "documents/s", "MB", "ratio")
    for row in rows:
        name, *figures = row.values()
        table.add_row(str(name), *(f"{figure:,.2f}".removesuffix(".00") for figure in figures))
    Console().print(table)


if __name__ == "__main__":
    main()
