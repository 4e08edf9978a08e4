"""Whoosh's own segment format, written and read a term at a time where Whoosh goes posting by posting.

Segments stay readable by Whoosh's stock readers; only how they are made differs, and what of its choices the
format leaves open: longer blocks, nothing deflated, numbers as bytes. The names with an underscore are of
Whoosh's W3 codec, the same in all builds of 2.7.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import accumulate
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
from whoosh.system import pack_int, pack_ushort, unpack_int

from webcrawler.index.whoosh.mapped import MappedSegment
from webcrawler.index.whoosh.pickles import FACE, load, loads
from webcrawler.index.whoosh.postings import Postings
from webcrawler.index.whoosh.values import Numbers, Values, packed, unpacked


class BulkPerDocReader(W3PerDocReader):  # type: ignore[misc]
    """Reads whole columns."""

    def stored_fields(self, docnum: int) -> dict[str, Any]:
        pickled = self._cached_reader("_stored", STORED_COLUMN)._child[docnum]
        return loads(pickled) if pickled else {}

    def array(self, column: str, dtype: str) -> NDArray[Any]:
        """The numbers of all documents, deleted ones included; 0 where a document has none."""
        found = np.zeros(self._doccount, dtype)
        if self.has_column(column):
            file, offset, size = self._get_column_file(column)
            with file:
                data = np.frombuffer(bytes(file.get(offset, size)), dtype)[: self._doccount]
                found[: len(data)] = data
        return found


_EXTENT = Struct("!qi")  # offset and size in bytes of a term's blocks: the end of what W3TermInfo packs
_FIELD = len(pack_ushort(0))  # bytes of a key that say of which field the term is
_INLINED = W3TermInfo._struct.size  # where a single posting stands in its place
_BLOCK_POSTINGS = 4096
_FEW_POSTINGS = 16  # less: a tuple of values is shorter than Values are
_PROTOCOL = 3  # of pickles: the last one without frames, the first with bytes as they are


class Arrays(NamedTuple):
    """As `Postings`, for reading."""

    documents: NDArray[np.int64]
    counts: NDArray[np.int64]
    values: Values


Row = tuple[str, bytes, Postings]  # field, term, postings; sorted by the first two
# deltas, counts (None: all 1), values
Block: TypeAlias = "tuple[Numbers, Numbers | None, Values | tuple[bytes, ...] | None]"


class BulkCodec(W3Codec):  # type: ignore[misc]
    """W3 with the classes below and in `columns`, and segments that stay in the kernel's memory."""

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
        """`lengths` holds each document's field length as Whoosh's byte."""
        current = None
        for field, term, postings in rows:
            if field != current:
                self.start_field(field, schema[field])
                current = field
            self._add_term(term, postings, lengths[field])

    def _add_term(self, term: bytes, postings: Postings, lengths: bytes) -> None:
        documents, counts, values, _ = postings
        found = bytes(map(lengths.__getitem__, documents))
        single = len(documents) == 1
        where = (
            dumps(((documents[0],), (counts[0],), (values,)), _PROTOCOL)
            if single
            else self._write_blocks(postings, found)
        )
        info = W3TermInfo._struct.pack(
            *(single, sum(counts), len(documents), min(found), max(found), max(counts)),
            *(documents[0], documents[-1]),
        )
        self._tindex.add(pack_ushort(self._fieldid) + term, info + where)

    def _write_blocks(self, postings: Postings, lengths: bytes) -> bytes:
        offset, written = self._postfile.tell(), 0
        for block in postings.blocks(_BLOCK_POSTINGS):
            end = written + len(block.documents)
            data = _block(block, lengths[written:end], not written, end == len(postings.documents))
            self._postfile.write(data)
            written = end
        return _EXTENT.pack(offset, self._postfile.tell() - offset)


class BulkTermsReader(W3TermsReader):  # type: ignore[misc]
    """Reads whole posting lists: lists for merging, arrays for searching."""

    def rows(self, numbers: list[int]) -> Iterator[Row]:
        """All rows, with documents renumbered by a table; -1 there leaves a document out."""
        complete = -1 not in numbers
        for key, info in self._tindex.items():
            postings = self._postings(info).renumbered(numbers, complete)
            if postings.documents:
                yield *self._keydecoder(key), postings

    def arrays(self, field: str, term: bytes) -> Arrays | None:
        """The postings of a term, deleted documents included; some 10 µs and 20 µs a block."""
        try:
            info = self._tindex[self._keycoder(field, term)]
        except KeyError:
            return None
        if info[0]:
            documents, counts, values = loads(info[_INLINED:])
            return Arrays(
                np.array(documents), np.array(counts), Values.of([value or b"" for value in values])
            )
        blocks = list(self._blocks(info))
        parts = [np.cumsum(unpacked(deltas)) for deltas, _, _ in blocks]
        counts = [_counts(block, len(part)) for block, part in zip(blocks, parts, strict=True)]
        lists = [values for _, _, values in blocks if values is not None]
        values = Values.joint([Values.of(part) if isinstance(part, tuple) else part for part in lists])
        return Arrays(np.concatenate(parts), np.concatenate(counts), values)

    def starting(self, field: str, letters: bytes) -> Iterator[tuple[bytes, int]]:
        """The terms that begin so, ascending, and how many documents have each, deleted ones included."""
        if field not in self._fieldmap:
            return
        start = self._keycoder(field, letters)
        for key, info in self._tindex.items_from(start):
            if not key.startswith(start):
                return
            yield key[_FIELD:], W3TermInfo._struct.unpack_from(info)[2]

    def _postings(self, info: bytes) -> Postings:
        if info[0]:
            documents, counts, values = loads(info[_INLINED:])
            return Postings.of(list(documents), list(counts), [value or b"" for value in values])
        found = Postings([], [], b"", [])
        joined: list[bytes] = []
        for deltas, counts, values in self._blocks(info):
            base, count = len(found.documents), len(deltas)
            found.documents.extend(accumulate(deltas))
            found.counts.extend(counts or (1,) * count)
            if isinstance(values, tuple):
                values = Values.of(values)
            if values is not None:
                found.wide.extend(base + place for place in values.wide)
                joined.append(values.joined)
        return found._replace(values=b"".join(joined) or None)

    def _blocks(self, info: bytes) -> Iterator[Block]:
        file = BytesIO(self._postfile.get(*_EXTENT.unpack_from(info, _INLINED)))
        file.seek(len(WHOOSH3_HEADER_MAGIC))
        last = False
        while not last:
            (size,) = unpack_int(file.read(4))
            end, last = file.tell() + abs(size), size < 0
            load(file)  # what lets others skip the block
            yield loads(file.read(end - file.tell()))


def _block(postings: Postings, lengths: bytes, first: bool, last: bool) -> bytes:
    """Postings behind a few bytes that let a reader skip them."""
    documents, counts, joined, wide = postings
    some = None if counts.count(1) == len(counts) else packed(counts)
    values: Values | tuple[bytes, ...] | None = Values(some, wide, joined) if joined else None
    if values is not None and len(documents) < _FEW_POSTINGS:
        values = tuple(values)
    deltas = packed((documents[0], *map(sub, documents[1:], documents)))
    data = dumps((deltas, some, values), _PROTOCOL)
    info = dumps((len(documents), documents[-1], max(counts), 0, min(lengths), max(lengths)), _PROTOCOL)
    size = len(info) + len(data)
    return b"".join((WHOOSH3_HEADER_MAGIC if first else b"", pack_int(-size if last else size), info, data))


def _counts(block: Block, documents: int) -> NDArray[np.int64]:
    counts = block[1]
    return np.ones(documents, np.int64) if counts is None else unpacked(counts)
