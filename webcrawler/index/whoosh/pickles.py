"""Reading the pickles in Whoosh's files without running code that somebody put there.

Whoosh pickles a commit's schema and segments, directories of files and blocks of postings. Plain unpickling
would call any function that those bytes name; here every name that is not in the lists below is refused.
"""

from __future__ import annotations

import pickle
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from whoosh.filedb.filestore import FileStorage
from whoosh.filedb.structfile import StructFile

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
    ("whoosh.fields", "COLUMN"),
    ("whoosh.fields", "ID"),
    ("whoosh.fields", "STORED"),
    ("whoosh.fields", "Schema"),
    ("whoosh.formats", "Existence"),
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if name in _OURS and (module == FACE or module.startswith(f"{FACE}.")):
            return super().find_class(FACE, name)  # up to 93d953f, files name the module that defined it
        if (module, name) in _THEIRS:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is no part of an index")


def load(file: IO[bytes]) -> Any:
    """Do the same as `pickle.load`.

    Raises:
        UnpicklingError: the pickle names something that is no part of an index. Damaged pickles raise nearly
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
