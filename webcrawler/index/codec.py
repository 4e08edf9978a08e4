"""Whoosh's segment format, written and read a term at a time; Whoosh itself goes posting by posting.

Whoosh's own readers can read these segments. The format is the same; the blocks are longer, nothing is
compressed, and numbers are stored as bytes. Names of Whoosh that begin with an underscore belong to its W3
codec, which is the same in all builds of 2.7.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import count
from operator import sub
from pickle import dumps
from struct import Struct
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from whoosh.codec.whoosh3 import (
    STORED_COLUMN,
    WHOOSH3_HEADER_MAGIC,
    W3Codec,
    W3FieldWriter,
    W3PerDocReader,
    W3TermInfo,
    W3TermsReader,
)
from whoosh.columns import VarBytesColumn
from whoosh.system import pack_int, pack_ushort, unpack_int

from webcrawler.index.files import FACE, MappedSegment, load, loads
from webcrawler.index.postings import Numbers, Postings, Values, packed, unpacked


class BulkPerDocReader(W3PerDocReader):  # type: ignore[misc]
    def stored_fields(self, docnum: int) -> dict[str, Any]:
        pickled = self._cached_reader("_stored", STORED_COLUMN)._child[docnum]
        return loads(pickled) if pickled else {}

    def array(self, column: str, dtype: str) -> NDArray[Any]:
        """Return the column's number of each document, also of deleted ones; 0 where there is none."""
        found = np.zeros(self._doccount, dtype)
        if self.has_column(column):
            file, offset, size = self._get_column_file(column)
            with file:
                data = np.frombuffer(bytes(file.get(offset, size)), dtype)[: self._doccount]
                found[: len(data)] = data
        return found

    def bytes_of(self, column: str, document: int) -> bytes:
        """Return what a document has in a column of bytes, b"" where there is nothing; takes 2 µs."""
        reader = self._cached_reader(column, _BYTES)
        return bytes(reader[document]) if reader else b""


_BYTES = VarBytesColumn()
_EXTENT = Struct("!qi")  # offset and size in bytes of a term's blocks, at the end of its entry
_FIELD_BYTES = len(pack_ushort(0))  # of a key, before the term
_INFO_BYTES = W3TermInfo._struct.size  # of an entry, before the extent or a single posting
_BLOCK_POSTINGS = 4096
_FEW_POSTINGS = 16  # in a block of fewer, a tuple of hit lists takes less room than Values
_PROTOCOL = 3  # of pickles: the last one without frames, the first with bytes as they are


class Arrays(NamedTuple):
    """The postings of one term as searches read them."""

    documents: NDArray[np.int64]
    counts: NDArray[np.int64]
    values: Values


Row = tuple[str, bytes, Postings]  # field, term, postings; sorted by the first two
# Differences of document numbers; counts, None where all are 1; hit lists.
Block: TypeAlias = "tuple[Numbers, Numbers | None, Values | tuple[bytes, ...] | None]"


class BulkCodec(W3Codec):  # type: ignore[misc]
    """Whoosh's W3 codec with the readers and writers of this module, and memory-mapped segments."""

    __module__ = FACE  # in pickles

    def new_segment(self, storage: Any, name: str) -> MappedSegment:
        return MappedSegment(self, name)

    def field_writer(self, storage: Any, segment: Any) -> BulkFieldWriter:
        return BulkFieldWriter(self, storage, segment)

    def terms_reader(self, storage: Any, segment: Any) -> BulkTermsReader:
        name = segment.make_filename(self.TERMS_EXT)
        postings = segment.open_file(storage, self.POSTS_EXT)
        return BulkTermsReader(self, storage.open_file(name), storage.file_length(name), postings)

    def per_document_reader(self, storage: Any, segment: Any) -> BulkPerDocReader:
        return BulkPerDocReader(storage, segment)


class BulkFieldWriter(W3FieldWriter):  # type: ignore[misc]
    """Writes whole posting lists."""

    def add_rows(self, schema: Any, rows: Iterable[Row], lengths: dict[str, bytes]) -> None:
        """Write all terms; `lengths` has the field lengths of each document, coded as Whoosh's byte."""
        current = None
        for field, term, postings in rows:
            if field != current:
                self.start_field(field, schema[field])
                current = field
            self._add_term(term, postings, lengths[field])

    def _add_term(self, term: bytes, postings: Postings, lengths: bytes) -> None:
        documents, counts, _, values = postings
        found = bytes(map(lengths.__getitem__, documents))
        single = len(documents) == 1
        if single:
            where = dumps(((documents[0],), (counts[0],), (values or None,)), _PROTOCOL)
        else:
            offset = self._postfile.tell()
            for part in _block_parts(postings, found):
                self._postfile.write(part)
            where = _EXTENT.pack(offset, self._postfile.tell() - offset)
        info = W3TermInfo._struct.pack(
            *(single, sum(counts), len(documents), min(found), max(found), max(counts)),
            *(documents[0], documents[-1]),
        )
        self._tindex.add(pack_ushort(self._fieldid) + term, info + where)


def _block_parts(postings: Postings, lengths: bytes) -> Iterator[bytes]:
    """Yield a header, and of each block its size, what lets a reader skip it, and its postings."""
    yield WHOOSH3_HEADER_MAGIC
    for first, block in zip(count(0, _BLOCK_POSTINGS), postings.blocks(_BLOCK_POSTINGS), strict=False):
        documents, counts, sizes, joined = block
        end = first + len(documents)
        some = None if counts.count(1) == len(counts) else packed(counts)
        values: Values | tuple[bytes, ...] | None = None
        if joined:
            values = Values(None if sizes.count(2) == len(sizes) else packed(sizes), joined)
            values = tuple(values) if len(documents) < _FEW_POSTINGS else values
        deltas = packed((documents[0], *map(sub, documents[1:], documents)))
        data = dumps((deltas, some, values), _PROTOCOL)
        shortest, longest = min(lengths[first:end]), max(lengths[first:end])
        info = dumps((len(documents), documents[-1], max(counts), 0, shortest, longest), _PROTOCOL)
        size = len(info) + len(data)
        yield from (pack_int(-size if end == len(lengths) else size), info, data)


class BulkTermsReader(W3TermsReader):  # type: ignore[misc]
    """Reads whole posting lists."""

    def rows(self, numbers: NDArray[np.int64]) -> Iterator[Row]:
        """Yield all rows with the document numbers that a table gives; -1 there leaves a document out."""
        for key, info in self._tindex.items():
            documents, counts, values = self._arrays(info)
            documents = numbers[documents]
            if -1 in documents:
                rest = np.flatnonzero(documents >= 0)
                documents, counts = documents[rest], counts[rest]
                values = values.some(rest) if len(values) else values
            if len(documents):
                lists = documents.tolist(), counts.tolist(), values.lengths.tolist()
                yield *self._keydecoder(key), Postings(*lists, values.joined)

    def arrays(self, field: str, term: bytes) -> Arrays | None:
        """Return the postings of a term, also of deleted documents; takes 10 µs and 20 µs a block."""
        try:
            return self._arrays(self._tindex[self._keycoder(field, term)])
        except KeyError:
            return None

    def _arrays(self, info: bytes) -> Arrays:
        if info[0]:
            documents, counts, values = loads(info[_INFO_BYTES:])
            return Arrays(np.array(documents), np.array(counts), Values.of([values[0] or b""]))
        parts, counts, lists = list[NDArray[np.int64]](), list[NDArray[np.int64]](), list[Values]()
        for deltas, some, values in self._blocks(info):
            parts.append(np.cumsum(unpacked(deltas)))
            counts.append(np.ones(len(deltas), np.int64) if some is None else unpacked(some))
            if values is not None:
                lists.append(Values.of(values) if isinstance(values, tuple) else values)
        return Arrays(np.concatenate(parts), np.concatenate(counts), Values.joint(lists))

    def starting(self, field: str, letters: bytes) -> Iterator[tuple[bytes, int]]:
        """Yield the terms that begin so, ascending, and how many documents have each, deleted or not."""
        if field not in self._fieldmap:
            return
        start = self._keycoder(field, letters)
        for key, info in self._tindex.items_from(start):
            if not key.startswith(start):
                return
            yield key[_FIELD_BYTES:], W3TermInfo._struct.unpack_from(info)[2]

    def _blocks(self, info: bytes) -> Iterator[Block]:
        file = BytesIO(self._postfile.get(*_EXTENT.unpack_from(info, _INFO_BYTES)))
        file.seek(len(WHOOSH3_HEADER_MAGIC))
        last = False
        while not last:
            (size,) = unpack_int(file.read(4))
            end, last = file.tell() + abs(size), size < 0
            load(file)  # what lets others skip the block
            yield loads(file.read(end - file.tell()))
