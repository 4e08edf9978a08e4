"""The index as the follower left it last, kept open between searches."""

from __future__ import annotations

from pathlib import Path

from whoosh.index import EmptyIndexError, open_dir
from whoosh.reading import IndexReader

from webcrawler.errors import Unavailable
from webcrawler.index.schema import VERSION

_TRIES = 5  # a commit removes the files of the one before, maybe between our listing and opening them


class LiveIndex:
    """Opens an index again whenever it has a new commit. Not safe between threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._reader: IndexReader | None = None
        self._shows: object = None  # the commit that the reader shows

    def reader(self) -> IndexReader | None:
        """The newest commit that can be read; None where nothing is indexed.

        Raises:
            Unavailable: there is an index, and no commit of it could be read.
        """
        try:
            self._refresh()
        except EmptyIndexError:
            self._reader = None
        except Exception as error:  # a broken file ends in any exception: Whoosh unpickles what it finds
            if self._reader is None:
                message = f"cannot read the index {self._folder}: {error!r}; `scrapy reindex` builds it anew"
                raise Unavailable(message) from error
        return self._reader if self._reader and self._reader.doc_count() else None

    def _refresh(self, tries: int = _TRIES) -> None:
        if not self._folder.is_dir():
            raise EmptyIndexError(str(self._folder))
        try:
            self._open()
        except (FileNotFoundError, EmptyIndexError):
            if tries == 1:
                raise
            self._refresh(tries - 1)

    def _open(self) -> None:
        index = open_dir(str(self._folder), readonly=True)
        if index.schema.version != VERSION:
            raise ValueError("it is of another version")
        # one that was deleted and made again counts its generations from the start: the time tells it apart
        newest = index.latest_generation(), index.last_modified()
        if self._reader is None or newest != self._shows:
            self._reader, self._shows = index.reader(), newest
