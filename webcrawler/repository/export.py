"""Writes WARC files for others: documents of the collection, each with its answer as it came."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha1
from pathlib import Path
from typing import BinaryIO, NamedTuple

from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import WarcFile, raw_at, record_at
from webcrawler.errors import Unavailable
from webcrawler.parsing import is_private

SOME = 500  # documents looked up at a time
Progress = Callable[[str, int, int | None], None]


class Exported(NamedTuple):
    """What an export has written."""

    documents: int
    missing: int  # documents whose records cannot be read
    private: int = 0  # documents that were fetched with a login: they are for nobody else


def export(
    crawl_dir: Path, file: BinaryIO, name: str, numbers: Sequence[int], catalog: Catalog, progress: Progress
) -> Exported:
    """Write the newest answer of each of these documents as a `response` record.

    Args:
        name: of the file, which its first record tells.
        numbers: page numbers, in the order in which they are written.
    """
    pages, out, missing, private = crawl_dir / "pages", WarcFile(file, name), 0, 0
    for start in range(0, len(numbers), SOME):
        progress("documents", start, len(numbers))
        some = numbers[start : start + SOME]
        for document in map(catalog.documents(some).get, some):
            try:
                if document is None or document.place is None:
                    missing += 1
                    continue
                if document.noindex and is_private(record_at(pages, document.place).response.headers):
                    private += 1
                    continue
                raw = raw_at(pages, document.place)
                if raw.field("WARC-Type") == "response":
                    out.copy(raw)
                    continue
                first = catalog.first_with_bytes_of(document.number)
                place = catalog.documents([first])[first].place
                body = record_at(pages, place).response.body if place else b""
                if sha1(body, usedforsecurity=False).digest() != document.digest:
                    missing += 1  # the page that had these bytes has others by now, or has gone
                    continue
                out.write(raw.as_response(body))
            except (Unavailable, KeyError):
                missing += 1
    return Exported(len(numbers) - missing - private, missing, private)
