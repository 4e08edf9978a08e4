"""Whoosh's files: segments are mapped into memory, and pickles are read without running code in them.

Whoosh copies each file of a segment for each reader; here the kernel maps them, once for all processes.

Whoosh pickles a commit's schema and segments, directories of files and blocks of postings. Plain unpickling
would call any function that those bytes name; here every name that is not in the lists below is refused.
"""

from __future__ import annotations

import pickle
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import IO, Any
from zlib import crc32

from whoosh.codec.whoosh3 import W3Segment
from whoosh.filedb.compound import CompoundStorage
from whoosh.filedb.filestore import FileStorage
from whoosh.filedb.structfile import BufferFile, StructFile

# The module of our classes as the files name it: never changed, whichever file defines them.
FACE = "webcrawler.index"
_OURS = {"BulkCodec", "HitList", "Hits", "MappedSegment", "Number", "Values"}
_THEIRS = {
    ("array", "_array_reconstructor"),
    ("array", "array"),
    ("builtins", "int"),
    ("collections", "defaultdict"),
    ("whoosh.analysis.tokenizers", "IDTokenizer"),
    ("whoosh.columns", "NumericColumn"),
    ("whoosh.columns", "VarBytesColumn"),
    ("whoosh.fields", "COLUMN"),
    ("whoosh.fields", "ID"),
    ("whoosh.fields", "STORED"),
    ("whoosh.fields", "Schema"),
    ("whoosh.formats", "Existence"),
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (name in _OURS and module == FACE) or (module, name) in _THEIRS:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is not part of an index")


def load(file: IO[bytes]) -> Any:
    """Do the same as `pickle.load`.

    Raises:
        UnpicklingError: the pickle names something that is not part of an index. Damaged pickles raise nearly
            anything.
    """
    return _Unpickler(file).load()


def loads(data: bytes) -> Any:
    """Do the same as `pickle.loads`; raises as `load` does."""
    return load(BytesIO(data))


class SafeFile(StructFile):  # type: ignore[misc]
    """A file of an index."""

    def read_pickle(self) -> Any:
        return load(self.file)


class SafeStorage(FileStorage):  # type: ignore[misc]
    """The folder of an index."""

    def open_file(self, name: str, **options: Any) -> SafeFile:
        return SafeFile(Path(self.folder, name).open("rb"), name=name, **options)


class MappedSegment(W3Segment):  # type: ignore[misc]
    """A segment that all threads and processes share in memory.

    It is not synced to disk. After a power loss, its checksum may differ from that in the commit.
    """

    __module__ = FACE  # in pickles

    checksum: int | None = None

    def create_compound_file(self, storage: Any) -> None:
        super().create_compound_file(storage)
        self.checksum = _checksum(self._file_in(storage))

    def is_whole(self, storage: Any) -> bool:
        """Tell whether the file is what was written. Reads all of it, once a process: 1 GB a second."""
        path = self._file_in(storage)
        state = path.stat()
        return self.checksum == _known_checksum(path, state.st_ino, state.st_size, state.st_mtime_ns)

    def _file_in(self, storage: Any) -> Path:
        return Path(storage.folder, self.make_filename(self.COMPOUND_EXT))

    def open_compound_file(self, storage: Any) -> MappedStorage:
        return MappedStorage(storage.open_file(self.make_filename(self.COMPOUND_EXT)))


@lru_cache(maxsize=1024)
def _known_checksum(path: Path, inode: int, size_bytes: int, changed_ns: int) -> int:
    """Return the checksum of a file in that state, computed once."""
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


class MappedFile(BufferFile, SafeFile):  # type: ignore[misc]
    """Copies what is read, and nothing else."""

    def __init__(self, view: memoryview, name: str) -> None:
        StructFile.__init__(self, _Cursor(view), name)
        self._buf, self.is_real = view, False


class _Cursor:
    """A file over a view, with the methods that Whoosh and pickle need."""

    def __init__(self, view: memoryview) -> None:
        self._view, self._position = view, 0

    def read(self, size: int = -1) -> bytes:
        end = len(self._view) if size < 0 else self._position + size
        data = bytes(self._view[self._position : end])
        self._position += len(data)
        return data

    def readline(self) -> bytes:
        """Read a line; slow, but no pickle in a segment's file has any."""
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
