"""How were the documents of an older catalog fetched? Their WARC records say it: it did not keep it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path

from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import targets
from webcrawler.errors import BadUrl
from webcrawler.records import Place
from webcrawler.urls import canonical

SOME = 10_000  # documents in one transaction

Progress = Callable[[str, int, int | None], None]


def learn_spellings(crawl_dir: Path, progress: Progress = lambda step, done, total: None) -> None:
    """Give a catalog the spellings of documents that an older version has stored; once, also after a kill.

    Reads the beginning of each document's WARC record; one that cannot be read is left out.

    Raises:
        Unavailable: the catalog cannot be written now.
    """
    with closing(Catalog(crawl_dir / "catalog.sqlite")) as catalog:
        if not catalog.lacks_spellings:
            return
        done, last = 0, catalog.urls.count()
        while places := catalog.places(done, SOME):
            progress("spellings", done, last)
            fetched = dict(_fetched(crawl_dir / "pages", places))
            known = catalog.urls.of(list(fetched))
            catalog.spell({n: url for n, url in fetched.items() if _is_spelling(url, known[n])})
            done = places[-1][0]
        catalog.spell({}, is_last=True)


def _fetched(folder: Path, places: Sequence[tuple[int, Place]]) -> Iterator[tuple[int, str]]:
    """The page number of each document and the URL that it was fetched by."""
    for file, some in groupby(sorted((place, number) for number, place in places), lambda one: one[0].file):
        numbers = {place.offset: number for place, number in some}
        yield from ((numbers[offset], url) for offset, url in targets(folder / file, numbers))


def _is_spelling(spelling: str, url: str) -> bool:
    """Is it another one of this canonical URL?"""
    try:
        return spelling != url and canonical(spelling) == url
    except BadUrl:
        return False
