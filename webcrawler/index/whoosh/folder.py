"""The index folder: making, opening, throwing away, exchanging; what it has applied."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from pathlib import Path

from whoosh.fields import Schema
from whoosh.filedb.filestore import FileStorage
from whoosh.index import TOC, EmptyIndexError, FileIndex, clean_files

from webcrawler.index.tantivy import state as by_tantivy
from webcrawler.index.whoosh import schema
from webcrawler.index.whoosh.mapped import MappedSegment

NAME = "MAIN"
VIEWS = ("index", "anchors")  # folders of any engine
_log = logging.getLogger(__name__)


def open_index(
    folder: Path, catalog: str, make_schema: Callable[[], Schema] = schema.make_schema
) -> FileIndex:
    """The index that follows the catalog of this identity, made new where there is none.

    One that is damaged, of another version or of another catalog is thrown away: it can be followed again.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)  # Whoosh's files hold pickles: who writes here runs code in every searcher
    for torn in folder.glob("*.toc.*"):  # of a follower that died while it wrote its commit
        torn.unlink()
    try:
        return _checked(folder, catalog)
    except EmptyIndexError:
        if any(folder.iterdir()):
            _throw_away(folder, ValueError("it is of another engine"))
    except OSError as fault:
        if not isinstance(fault, FileNotFoundError):
            raise  # no rights, no descriptors: the index is not to blame
        _throw_away(folder, fault)
    except Exception as damage:  # a torn file raises nearly anything out of pickle and struct
        _throw_away(folder, damage)
    made = make_schema()
    made.catalog = catalog
    return FileIndex.create(FileStorage(str(folder)), made, NAME)


def discard(crawl_dir: Path, aside: bool = False) -> None:
    """Removes index and anchors, or what was built aside; the catalog can be followed again."""
    for name in VIEWS:
        shutil.rmtree(crawl_dir / (f"{name}.new" if aside else name), ignore_errors=True)


def read_toc(folder: Path) -> TOC:
    """The newest commit. Raises EmptyIndexError where there is none, nearly anything where it is damaged."""
    for _ in range(10):
        try:
            return TOC.read(FileStorage(str(folder)), NAME)
        except FileNotFoundError:  # a commit came between listing and opening
            continue
    raise EmptyIndexError(f"no index in {folder}")


def applied_seq(folder: Path, catalog: str | None = None) -> int:
    """The last change of the catalog that searchers can see; costs 0.1 ms.

    0 without an index, and where it follows another catalog than the one of this identity.
    """
    try:
        known = read_toc(folder).schema
        return int(known.applied_seq) if catalog in (None, known.catalog) else 0
    except Exception:  # none yet, or damaged: the follower says so and starts anew
        return 0


def indexed_documents(folder: Path) -> int:
    """How many documents a search would look at, by either engine; 0 without an index. About 0.1 ms."""
    if by_tantivy.is_here(folder):
        return by_tantivy.indexed_documents(folder)
    try:
        return sum(segment.doc_count() for segment in read_toc(folder).segments)
    except Exception:  # none yet, or being exchanged
        return 0


def exchange(built: Path, folder: Path) -> None:
    """Puts the segments built aside in place of the folder's, in one step: searchers see old or new."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if by_tantivy.is_here(folder):
        _throw_away(folder, ValueError("it is of another engine"))
    new, storage = read_toc(built), FileStorage(str(folder))
    for segment in new.segments:
        for name in segment.list_files(FileStorage(str(built))):
            (built / name).rename(folder / name)
    generation = TOC._latest_generation(storage, NAME) + 1
    TOC(new.schema, new.segments, generation).write(storage, NAME)
    clean_files(storage, NAME, generation, new.segments)
    shutil.rmtree(built)


def _checked(folder: Path, catalog: str) -> FileIndex:
    index = FileIndex(FileStorage(str(folder)), None, NAME)
    known = index.schema
    if (known.version, known.catalog) != (schema.VERSION, catalog):
        raise ValueError("it follows another catalog, or is of another version")
    index.reader().close()
    for segment in index._segments():
        if not isinstance(segment, MappedSegment) or not segment.is_whole(index.storage):
            raise ValueError(f"segment {segment.segid} is not what was written")
    return index


def _throw_away(folder: Path, why: Exception) -> None:
    _log.warning("the index in %s cannot be used (%s: %s): it is made anew", folder, type(why).__name__, why)
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
