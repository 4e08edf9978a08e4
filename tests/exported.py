"""A dataset as its readers have it: the rows of each table, by DuckDB over the parts of all homes."""

from __future__ import annotations

from base64 import b32encode
from collections import Counter
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pyarrow as pa
from pyarrow import parquet

from webcrawler.archive.catalog import Catalog
from webcrawler.dataset import manifest
from webcrawler.dataset.export import Exporting
from webcrawler.dataset.place import Place
from webcrawler.dataset.schema import TABLES
from webcrawler.dataset.texts import text
from webcrawler.index import Indexable, indexable
from webcrawler.text import analysed, content, indexed_words

Row = tuple[Any, ...]


def export(folder: Path, url: str) -> Exporting:
    """Export all that a folder knows, as after a crawl."""
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        exporting = Exporting(catalog, folder, url)
        while exporting.step(crawling=False):
            pass
        assert not exporting.is_behind()
    return exporting


class Dataset:
    """The tables at a URL, as the SQL of the package reads them.

    Attributes:
        rows_held: of each table, what has been replaced included.
    """

    def __init__(self, url: str) -> None:
        place = Place(url)
        self.manifests = manifest.newest(place)
        self.rows_held = dict[str, int]()
        self._db = duckdb.connect()
        for name, schema in TABLES.items():
            parts = manifest.parts_of(self.manifests, name)
            manifest.refuse_halves(place, parts)
            with TemporaryDirectory() as copies:
                read = [parquet.read_table(place.local(part.path, Path(copies))) for part in parts]
            held = pa.concat_tables([schema.empty_table(), *read])
            assert len(held) == sum(part.rows for part in parts)
            self.rows_held[name] = len(held)
            self._db.register(f"all_{name}", held)
        self._db.execute(f"CREATE TABLE urls AS {text('current_urls')}")
        for name in ("documents", "links", "texts", "postings"):
            key = "source_id" if name == "links" else "url_id"
            self._db.execute(
                f"""CREATE TABLE {name} AS SELECT r.* FROM all_{name} r JOIN urls u
                ON u.url_id = r.{key} AND u.home = r.home AND u.epoch = r.epoch AND u.seq = r.seq"""
            )

    def rows(self, query: str) -> list[Row]:
        return self._db.execute(query).fetchall()


def difference(dataset: Dataset, *folders: Path) -> str:
    """What of these folders' catalogs the dataset lacks, or should not have; "": nothing.

    Folders have no page in common.
    """
    told, wanted = _of_dataset(dataset), dict[str, list[Row]]()
    for folder in folders:
        with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
            for name, rows in _of_catalog(catalog).items():
                wanted[name] = wanted.get(name, []) + rows
    found = {name: (sorted(map(repr, told[name])), sorted(map(repr, wanted[name]))) for name in told}
    return "; ".join(
        f"{name} lacks {sorted({*others} - {*rows})[:3]}, should not have {sorted({*rows} - {*others})[:3]}"
        for name, (rows, others) in found.items()
        if rows != others
    )


def _of_dataset(dataset: Dataset) -> dict[str, list[Row]]:
    queries = {
        "urls": "SELECT url_id, url, findable FROM urls",
        "documents": """SELECT url_id, url, epoch_us(fetch_time), content_digest, words, noindex,
            duplicate_of IS NOT NULL, findable FROM documents""",
        "links": "SELECT source_id, target_id, anchor, rel FROM links",
        "texts": "SELECT url_id, language, title, body FROM texts",
        "postings": "SELECT url_id, language, term, tf FROM postings",
    }
    return {name: dataset.rows(query) for name, query in queries.items()}


def _of_catalog(catalog: Catalog) -> dict[str, list[Row]]:
    """The same, by other ways of the catalog than those of the export."""
    urls = dict(catalog.urls.all())
    ids = dict(zip(urls, catalog.urls.ids().tolist(), strict=True))
    findable = {page.number for page in catalog.anchors.findable(list(urls))}
    documents = catalog.documents(list(urls))
    texts = indexable(catalog, documents)
    terms = [(one, *said) for one in texts for said in _occurrences(one).items()]
    links = catalog.links.all()
    said = {n: (d.word_count, d.noindex, bool(d.duplicate_of), n in findable) for n, d in documents.items()}
    digests = {n: b32encode(d.digest).decode() for n, d in documents.items()}
    return {
        "urls": [(ids[n], url, n in findable) for n, url in urls.items()],
        "documents": [
            (d.id, d.url, round(d.fetched * 1e6), digests[n], *said[n]) for n, d in documents.items()
        ],
        "links": [(ids[s], ids[t], " ".join(anchor[:200].split()), rel) for s, t, anchor, rel in links],
        "texts": [(one.document.id, one.text.language, one.text.title, one.text.body) for one in texts],
        "postings": [(one.document.id, one.text.language, *said) for one, *said in terms],
    }


def _occurrences(one: Indexable) -> Counter[str]:
    """How often each term is in title and main content, counted in the text."""
    main, _ = content.split(one.text, one.repeats.digests)
    words = indexed_words(f"{one.text.title}\n{main.body}")
    return Counter(term for term, _ in analysed(words, one.text.language))
