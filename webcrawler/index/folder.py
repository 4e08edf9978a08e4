"""An index folder: how it is made, opened, checked, exchanged and thrown away."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from whoosh.fields import Schema
from whoosh.index import TOC, EmptyIndexError, FileIndex, clean_files

from webcrawler.index.files import MappedSegment, SafeStorage, load, loads
from webcrawler.index.schema import VERSION

NAME = "MAIN"
VIEWS = ("index", "anchors")
_FORMAT = (4, 8, 4, -12345, -111)  # bytes of int, long and float, order of bytes, version of Whoosh's file
_TRIES = 10  # a commit removes the files of the one before, maybe between listing and opening them
_log = logging.getLogger(__name__)
T = TypeVar("T")


class Index(FileIndex):  # type: ignore[misc]
    """As Whoosh's, but nothing that a file names is executed."""

    def __init__(self, folder: Path) -> None:
        self.storage, self.indexname, self._folder = SafeStorage(str(folder)), NAME, folder
        self._read_toc()

    def _read_toc(self) -> TOC:
        return read_toc(self._folder)


def open_index(folder: Path, catalog: str, make_schema: Callable[[], Schema]) -> Index:
    """Open the index that follows the catalog of this identity, or make a new one.

    One that is damaged, of another version or of another catalog is thrown away: the catalog can be followed
    again.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)  # the pages of somebody's crawl
    for torn in folder.glob("*.toc.*"):  # of a follower that died while it wrote its commit
        torn.unlink()
    try:
        return _checked(folder, catalog)
    except EmptyIndexError:
        if any(folder.iterdir()):
            _throw_away(folder, ValueError("it is none of ours"))
    except Exception as damage:  # a torn file raises nearly anything out of pickle and struct
        if isinstance(damage, OSError) and not isinstance(damage, FileNotFoundError):
            raise  # no rights, no descriptors: the index is not to blame
        _throw_away(folder, damage)
    made = make_schema()
    made.catalog = catalog
    TOC.create(SafeStorage(str(folder)), made, NAME)
    return Index(folder)


def discard(crawl_dir: Path, aside: bool = False) -> None:
    """Remove index and anchors, or what was built aside; the catalog can be followed again."""
    for name in VIEWS:
        shutil.rmtree(crawl_dir / (f"{name}.new" if aside else name), ignore_errors=True)


def check_segments(toc: TOC, folder: Path) -> None:
    """Compare checksums.

    Raises:
        ValueError: the file of a segment is not what was written.
    """
    storage = SafeStorage(str(folder))
    for segment in toc.segments:
        if not isinstance(segment, MappedSegment) or not segment.is_whole(storage):
            raise ValueError(f"segment {segment.segment_id()} is not what was written")


def read_again(read: Callable[[], T], *passing: type[Exception]) -> T:
    """Call `read`, again while a commit removes a file that it needs, or one of these errors is raised."""
    for _ in range(_TRIES - 1):
        with suppress(FileNotFoundError, *passing):
            return read()
    return read()


def read_toc(folder: Path) -> TOC:
    """Read the newest commit.

    Raises:
        EmptyIndexError: there is none. A damaged one raises nearly anything.
    """
    return read_again(lambda: _newest_toc(SafeStorage(str(folder))))


def _newest_toc(storage: SafeStorage) -> TOC:
    """Do the same as `TOC.read`, which would execute what the file names."""
    generation = TOC._latest_generation(storage, NAME)
    if generation < 0:
        raise EmptyIndexError(f"no index in {storage.folder}")
    with storage.open_file(TOC._filename(NAME, generation)) as file:
        sizes = tuple(file.read_varint() for _ in range(3))
        if (*sizes, file.read_int(), file.read_int()) != _FORMAT:
            raise ValueError("it is of another format, or of another kind of computer")
        for _ in range(3):
            file.read_varint()  # Whoosh's release
        schema = loads(file.read_string())
        if file.read_int() != generation:
            raise ValueError("it is not the commit that its name says")
        file.read_int()  # unused
        return TOC(schema, load(file), generation)


def applied_seq(folder: Path, catalog: str | None = None) -> int:
    """Return the last change of the catalog that searchers can see; takes 0.1 ms.

    0 without an index, and where it follows another catalog than the one of this identity.
    """
    try:
        schema = read_toc(folder).schema
        return int(schema.applied_seq) if catalog in (None, schema.catalog) else 0
    except Exception:  # none yet, or damaged: it is begun anew
        return 0


def indexed_documents(folder: Path) -> int:
    """Return how many documents a search would look at; 0 without an index. Takes 0.1 ms."""
    try:
        return sum(segment.doc_count() for segment in read_toc(folder).segments)
    except Exception:  # none yet, or being exchanged
        return 0


def exchange(crawl_dir: Path) -> None:
    """Put the segments built aside in place of the others, in one step each: searchers see old or new."""
    for name in VIEWS:
        built, folder = crawl_dir / f"{name}.new", crawl_dir / name
        folder.mkdir(mode=0o700, exist_ok=True)
        new, storage = read_toc(built), SafeStorage(str(folder))
        for segment in new.segments:
            for file in segment.list_files(SafeStorage(str(built))):
                (built / file).rename(folder / file)
        generation = TOC._latest_generation(storage, NAME) + 1
        TOC(new.schema, new.segments, generation).write(storage, NAME)
        clean_files(storage, NAME, generation, new.segments)
        shutil.rmtree(built)


def _checked(folder: Path, catalog: str) -> Index:
    index = Index(folder)
    known = index.schema
    if (known.version, known.catalog) != (VERSION, catalog):
        raise ValueError("it follows another catalog, or is of another version")
    toc = read_toc(folder)
    check_segments(toc, folder)
    index.reader().close()
    # What a writer left that was killed before its commit.
    shutil.rmtree(folder / f"{NAME}.tmp", ignore_errors=True)
    clean_files(index.storage, NAME, toc.generation, toc.segments)
    return index


def _throw_away(folder: Path, why: Exception) -> None:
    _log.warning("the index in %s cannot be used (%s: %s): it is rebuilt", folder, type(why).__name__, why)
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
