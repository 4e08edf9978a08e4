"""Whoosh's own segment format, written and read a term at a time where Whoosh goes posting by posting.

Segments stay readable by Whoosh's stock readers; only how they are made differs. The names with an underscore
are of Whoosh's W3 codec, the same in all builds of 2.7.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import accumulate, compress
from operator import sub
from pickle import dumps, load, loads
from struct import Struct
from typing import Any, NamedTuple

from whoosh.codec.whoosh3 import (
    WHOOSH3_HEADER_MAGIC,
    W3Codec,
    W3FieldWriter,
    W3TermInfo,
    W3TermsReader,
)
from whoosh.system import pack_int, pack_ushort, unpack_int

_EXTENT = Struct("!qi")  # offset and size in bytes of a term's blocks: the end of what W3TermInfo packs
_BLOCK_POSTINGS = 128
_COMPRESS_FROM_BYTES = 256  # zlib costs more than it saves below


class Postings(NamedTuple):
    """Whoosh document numbers, ascending, with a term's weight and encoded value in each."""

    documents: list[int]
    weights: list[float]
    values: list[bytes]

    def part(self, start: int, end: int) -> Postings:
        return Postings(self.documents[start:end], self.weights[start:end], self.values[start:end])

    def without_deleted(self) -> Postings:
        kept = [document >= 0 for document in self.documents]
        return Postings(
            list(compress(self.documents, kept)),
            list(compress(self.weights, kept)),
            list(compress(self.values, kept)),
        )


Row = tuple[str, bytes, Postings]  # field, term, postings; sorted by the first two


class BulkCodec(W3Codec):  # type: ignore[misc]
    """W3 with the two classes below."""

    def field_writer(self, storage: Any, segment: Any) -> BulkFieldWriter:
        return BulkFieldWriter(self, storage, segment)

    def terms_reader(self, storage: Any, segment: Any) -> BulkTermsReader:
        name = segment.make_filename(self.TERMS_EXT)
        postings = segment.open_file(storage, self.POSTS_EXT)
        return BulkTermsReader(self, storage.open_file(name), storage.file_length(name), postings)


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
        offset = self._postfile.tell()
        documents, weights, _ = postings
        found = bytes(map(lengths.__getitem__, documents))
        size = 0
        for start in range(0, len(documents), _BLOCK_POSTINGS):
            block = self._block(postings, found, start)
            self._postfile.write(block)
            size += len(block)
        info = W3TermInfo._struct.pack(
            0, sum(weights), len(documents), min(found), max(found), max(weights), documents[0], documents[-1]
        )
        self._tindex.add(pack_ushort(self._fieldid) + term, info + _EXTENT.pack(offset, size))

    def _block(self, postings: Postings, lengths: bytes, start: int) -> bytes:
        """Up to 128 postings behind a few bytes that let a reader skip them."""
        end = start + _BLOCK_POSTINGS
        last = end >= len(postings.documents)
        if start or not last:
            postings, lengths = postings.part(start, end), lengths[start:end]
        documents, weights, values = postings
        data = dumps((_deltas(documents), _short(weights), tuple(values) if values[0] else None), 2)
        level = self._codec._compression if len(data) >= _COMPRESS_FROM_BYTES else 0
        if level:
            data = zlib.compress(data, level)
        info = dumps((len(documents), documents[-1], max(weights), level, min(lengths), max(lengths)), 2)
        size = len(info) + len(data)
        return b"".join(
            (b"" if start else WHOOSH3_HEADER_MAGIC, pack_int(-size if last else size), info, data)
        )


class BulkTermsReader(W3TermsReader):  # type: ignore[misc]
    """Reads whole posting lists, for merging."""

    def rows(self, numbers: list[int]) -> Iterator[Row]:
        """All rows, with documents renumbered by a table; -1 there leaves a document out."""
        complete = -1 not in numbers
        for key, info in self._tindex.items():
            offset, size = _EXTENT.unpack_from(info, len(info) - _EXTENT.size)
            postings = _decoded(self._postfile.get(offset, size))
            documents = [numbers[document] for document in postings.documents]
            postings = Postings(documents, postings.weights, postings.values)
            if not complete:
                postings = postings.without_deleted()
            if postings.documents:
                yield *self._keydecoder(key), postings


def _decoded(data: bytes) -> Postings:
    """The blocks of one term, as `BulkFieldWriter` writes them."""
    found = Postings([], [], [])
    file = BytesIO(data)
    file.seek(len(WHOOSH3_HEADER_MAGIC))
    last = False
    while not last:
        (size,) = unpack_int(file.read(4))
        start, last, info = file.tell(), size < 0, load(file)
        block = file.read(abs(size) - (file.tell() - start))
        count, level = info[0], info[3]
        deltas, weights, values = loads(zlib.decompress(block) if level else block)
        found.documents.extend(accumulate(deltas))
        found.weights.extend(weights if isinstance(weights, tuple) else [weights or 1.0] * count)
        found.values.extend(values or [b""] * count)
    return found


def _deltas(documents: list[int]) -> tuple[int, ...]:
    return (documents[0], *map(sub, documents[1:], documents))


def _short(weights: list[float]) -> float | tuple[float, ...] | None:
    """As Whoosh stores weights: None when all are 1, one number when all are alike."""
    if weights.count(weights[0]) < len(weights):
        return tuple(weights)
    return None if weights[0] == 1.0 else weights[0]
