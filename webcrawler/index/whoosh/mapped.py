"""Segments read where the kernel maps them: Whoosh copies each of their files for each reader."""

from __future__ import annotations

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
        self.checksum = self._computed(storage)

    def is_whole(self, storage: Any) -> bool:
        """Reads it entirely, about 1 GB a second."""
        return self.checksum == self._computed(storage)

    def _computed(self, storage: Any) -> int:
        checksum = 0
        with storage.open_file(self.make_filename(self.COMPOUND_EXT)) as file:
            while data := file.read(1 << 20):
                checksum = crc32(data, checksum)
        return checksum

    def open_compound_file(self, storage: Any) -> MappedStorage:
        return MappedStorage(storage.open_file(self.make_filename(self.COMPOUND_EXT)))


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
