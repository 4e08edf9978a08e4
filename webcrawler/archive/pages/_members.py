"""Where records begin and end: in our files, and in those of others, which may be damaged and not compressed.

A gzip member is whole if its checksum says so. In a plain file a record is, if the next one or the end of the
file stands behind it; what stands behind damage is not looked for there, as the body of a page may look so.
"""

from __future__ import annotations

import logging
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from io import SEEK_END, BytesIO
from math import inf
from typing import Any, BinaryIO

from warcio.archiveiterator import ArchiveIterator

from webcrawler.errors import BadInput

CHUNK_BYTES = 65_536  # also of the longest head
FIRST_BYTES = 4_096  # which have the first line
# How a record begins: of WARC, and of ARC with URL, address, time, type and length.
_WARC, _ARC = rb"WARC/\d\.\d+\r?\n", rb"[a-zA-Z]+:[^\n\0]+ \d{14} \S+ \d+\r?\n"
_BEGINNING = re.compile(_WARC + b"|" + _ARC)
_HEAD = re.compile(_WARC + rb"(?:[^\n\0]+\n)+?\r?\n|" + _ARC)
_GZIP = b"\x1f\x8b\x08"  # RFC 1952, 2.3
_AS_A_WHOLE = "it was compressed as a whole, not record by record; `warcio recompress OLD NEW` mends that"
logging.getLogger("warcio").setLevel(logging.ERROR)  # its warnings have URLs with all that is in them


def reader(stream: BinaryIO) -> Any:
    """warcio's reader of the records from where a stream stands."""
    opened = ArchiveIterator(stream, arc2warc=True)
    opened.loader.HTTP_SCHEMES = ("",)  # else HTTP://, ftp:// and gopher:// have no status and no body
    return opened


def members(
    file: BinaryIO, offset: int, damaged: Callable[[int], object] = lambda offset: None
) -> Iterator[tuple[int, int, bytes]]:
    """Begin, end and content of the gzip members from an offset on.

    What is damaged is passed over, up to the next record that begins; a torn one (kill -9) ends the file.

    Args:
        damaged: is told where each damaged part begins.
    """
    while True:
        end, content = _member(file, offset)
        if not end:
            following = next_record(file, offset + 1)
            if not following:
                return
            damaged(offset)
            offset = following
            continue
        yield offset, end, content
        offset = end


def whole_record(file: BinaryIO, offset: int, most_bytes: int) -> tuple[Any, int]:
    """The record at an offset as warcio reads it, and where the next one is due.

    Args:
        most_bytes: of a block in a gzip member; it is cut if it is far beyond.
    Raises:
        BadInput: the gzip member has several records; often the file was compressed as a whole.
        Exception: whatever warcio makes of what is no record, or not whole.
    """
    due, content = _member(file, offset, most_bytes + CHUNK_BYTES)
    stream: BinaryIO = BytesIO(content) if due else file
    start = stream.seek(0 if due else offset)
    if not _HEAD.match(stream.read(CHUNK_BYTES)):
        raise ValueError("no head of a record")
    stream.seek(start)
    records = reader(stream)
    # Ours are in UTF-8; those of others are as they were sent, and no byte of them may be lost.
    records.loader.http_parser.decode_header = partial(str, encoding="latin-1")
    record = next(records)
    if int(record.rec_headers.get_header("Content-Length")) < 0:
        raise ValueError("a record of a negative length")
    at = stream.tell()
    end = at - records.reader.rem_length() + record.raw_stream.limit
    stream.seek(end)
    behind = stream.read(CHUNK_BYTES)
    following = behind.lstrip()
    if due and _BEGINNING.match(following):
        raise BadInput(_AS_A_WHOLE)
    if not due:
        due = end + len(behind) - len(following)
        if stream.seek(0, SEEK_END) < end or (following and not _BEGINNING.match(following)):
            raise ValueError("its block is cut, or has another length")
    stream.seek(at)
    return record, due


def _member(file: BinaryIO, offset: int, most_bytes: float = inf) -> tuple[int, bytes]:
    """End and content of the gzip member at an offset; 0 where none is whole.

    Args:
        most_bytes: what goes far beyond is read and not returned.
    """
    file.seek(offset)
    inflate, content = zlib.decompressobj(wbits=31), bytearray()
    chunk = file.read(CHUNK_BYTES)
    with suppress(zlib.error):
        while chunk and not inflate.eof:
            part = inflate.decompress(chunk)
            content += part if len(content) <= most_bytes else b""
            chunk = inflate.unused_data or file.read(CHUNK_BYTES)
    return (file.tell() - len(chunk), bytes(content)) if inflate.eof else (0, b"")


def next_record(file: BinaryIO, offset: int) -> int:
    """Where the next gzip member begins that has a record; 0: nowhere."""
    while True:
        file.seek(offset)
        chunk = file.read(CHUNK_BYTES)
        place = chunk.find(_GZIP)
        while place >= 0:
            with suppress(zlib.error):
                head = chunk[place : place + FIRST_BYTES]
                if _BEGINNING.match(zlib.decompressobj(wbits=31).decompress(head, FIRST_BYTES)):
                    return offset + place
            place = chunk.find(_GZIP, place + 1)
        if len(chunk) < CHUNK_BYTES:
            return 0
        offset += len(chunk) - FIRST_BYTES  # one may begin in this chunk and go on in the next
