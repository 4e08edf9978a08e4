"""One index folder: opened or made anew, written in commits, exchanged."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from webcrawler.index.tantivy import state
from webcrawler.index.tantivy.checksums import torn_file
from webcrawler.index.tantivy.package import tantivy
from webcrawler.index.tantivy.schema import VERSION, make_schema, register_analyzer
from webcrawler.index.tantivy.state import State

_HEAP_BYTES = 64 * 2**20  # what is written before a commit as a segment of its own
_log = logging.getLogger(__name__)


class Folder:
    """The one writer of an index; made new where there is none, or none that can be used.

    Args:
        texts: the searched fields.
        catalog: the identity of the one that is followed.
    """

    def __init__(self, folder: Path, texts: Sequence[str], catalog: str) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)  # the pages of somebody's crawl
        self._folder = folder
        self._state = _usable(folder, texts, catalog)
        state.write(folder, self._state)
        index = tantivy.Index(make_schema(texts), str(folder))
        register_analyzer(index)
        # one thread: the catalog is read beside it, and segments stay few
        self._index, self._writer = index, index.writer(_HEAP_BYTES, 1)

    @property
    def applied(self) -> int:
        return self._state.applied

    def commit(self, gone: Collection[int], documents: Iterable[tantivy.Document], seq: int) -> None:
        """All or nothing; synced to the disk by tantivy."""
        try:
            # by query: `delete_documents_by_term` takes a number for a signed one, and finds nothing
            named = tantivy.Query.term_set_query(self._index.schema, "number", list(gone))
            self._writer.delete_documents_by_query(named)
            for document in documents:
                self._writer.add_document(document)
            self._writer.commit()
        except BaseException:
            self._writer.rollback()
            raise
        self._remember(seq)

    def settle(self) -> None:
        """Waits for the merges under way."""
        self._writer.wait_merging_threads()
        self._writer = self._index.writer(_HEAP_BYTES, 1)

    def close(self) -> None:
        self._writer.wait_merging_threads()

    def _remember(self, seq: int) -> None:
        self._state = self._state._replace(applied=seq)
        state.write(self._folder, self._state)


def exchange(built: Path, folder: Path) -> None:
    """Puts an index built aside in the folder's place; searchers keep the old one open meanwhile."""
    old = folder.with_name(f"{folder.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    built.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _usable(folder: Path, texts: Sequence[str], catalog: str) -> State:
    """What the folder has applied, once nothing is left in it that is of no use."""
    known, fault = state.read(folder), ""
    if not any(folder.iterdir()):
        return State(VERSION, catalog, 0)
    if known is None:
        fault = "it is damaged, or of another engine"
    elif (known.version, known.catalog) != (VERSION, catalog):
        fault = "it follows another catalog, or is of another version"
    else:
        fault = _damage(folder, texts)
    if known and not fault:
        return known
    _log.warning("the index in %s cannot be used (%s): it is made anew", folder, fault)
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return State(VERSION, catalog, 0)


def _damage(folder: Path, texts: Sequence[str]) -> str:
    try:
        index = tantivy.Index(make_schema(texts), str(folder))
        register_analyzer(index)
        index.searcher().search(tantivy.Query.all_query(), limit=1)
        torn = torn_file(folder)
    except (OSError, KeyboardInterrupt, SystemExit):
        raise  # no rights, no descriptors: the index is not to blame
    except BaseException as damage:  # a panic of tantivy's is no Exception
        return f"{type(damage).__name__}: {damage}"
    return torn and f"{torn} is not what was written"
