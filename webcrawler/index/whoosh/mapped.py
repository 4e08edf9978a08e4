"""Segments read where the kernel maps them: Whoosh copies each of their files for each reader."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

from whoosh.codec.whoosh3 import W3Segment
from whoosh.filedb.compound import CompoundStorage
from whoosh.filedb.structfile import BufferFile, StructFile

from webcrawler.index.whoosh.pickles import FACE, load


class MappedSegment(W3Segment):  # type: ignore[misc]
    """What all readers, threads and processes share of it is in memory once.

    Nothing syncs it to disk: after a power loss its checksum, which stands in the commit, may be another.
    """

    __module__ = FACE  # in pickles

    checksum: int | None = None

    def create_compound_file(self, storage: Any) -> None:
        super().create_compound_file(storage)
        self.checksum = _checksum(self._file_in(storage))

    def is_whole(self, storage: Any) -> bool:
        """Is the file what was written? Reads it entirely, once a process: about 1 GB a second."""
        path = self._file_in(storage)
        state = path.stat()
        return self.checksum == _known_checksum(path, state.st_ino, state.st_size, state.st_mtime_ns)

    def _file_in(self, storage: Any) -> Path:
        return Path(storage.folder, self.make_filename(self.COMPOUND_EXT))

    def open_compound_file(self, storage: Any) -> MappedStorage:
        return MappedStorage(storage.open_file(self.make_filename(self.COMPOUND_EXT)))


@lru_cache(maxsize=1024)
def _known_checksum(path: Path, inode: int, size_bytes: int, changed_ns: int) -> int:
    """Kept for as long as the file has not changed."""
    return _checksum(path)


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while data := file.read(1 << 20):
            checksum = crc32(data, checksum)
    return checksum


class MappedStorage(CompoundStorage):  # type: ignore[misc]
    """The files within one segment."""

    def open_file(self, name: str, *arguments: Any, **options: Any) -> Any:
        if self.is_closed or not self._source:
            return super().open_file(name, *arguments, **options)
        offset, length = self.range(name)
        return MappedFile(memoryview(self._source)[offset : offset + length], name)


class MappedFile(BufferFile):  # type: ignore[misc]
    """What is asked for is copied, and nothing else."""

    def __init__(self, view: memoryview, name: str) -> None:
        StructFile.__init__(self, _Cursor(view), name)
        self._buf, self.is_real = view, False

    def read_pickle(self) -> Any:
        return load(self.file)


class _Cursor:
    """A file over a view, as far as Whoosh and pickle read one."""

    def __init__(self, view: memoryview) -> None:
        self._view, self._position = view, 0

    def read(self, size: int = -1) -> bytes:
        end = len(self._view) if size < 0 else self._position + size
        data = bytes(self._view[self._position : end])
        self._position += len(data)
        return data

    def readline(self) -> bytes:
        """Costly, and rare: no pickle that is read from a segment's file has a line."""
        line, end, _ = bytes(self._view[self._position :]).partition(b"\n")
        self._position += len(line) + len(end)
        return line + end

    def seek(self, offset: int, whence: int = 0) -> int:
        self._position = offset + (0, self._position, len(self._view))[whence]
        return self._position

    def tell(self) -> int:
        return self._position

    def close(self) -> None:
        self._view.release()
