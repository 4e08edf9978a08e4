"""Where records begin and end: in our files, and in those of others, which may be damaged and not compressed.

A gzip member is whole if its checksum says so. In a plain file a record is, if the next one or the end of the
file stands behind it.
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
_WARC, _ARC = rb"WARC/\d\.\d+\r?\n", rb":[^\n\0]+ \d{14} \S+ \d+\r?\n"
_BEGINNING = re.compile(_WARC + rb"|[a-zA-Z]+" + _ARC)
# Or a gzip member (RFC 1952, 2.3). URLs have no blanks here, as sentences would be taken for heads.
_FOUND = _ARC.replace(rb"[^\n\0]+", rb"[^\s\0]{1,2083} [^\s\0]{1,45}")
_ANYWHERE = re.compile(rb"\x1f\x8b\x08|" + _WARC + rb"|https?" + _FOUND)
_HEAD = re.compile(_WARC + rb"(?:[^\n\0]+\n)+?\r?\n|[a-zA-Z]+" + _ARC)
# What stands between a record of a plain file and the next one; some programs err a little in the length.
_BEHIND = re.compile(rb"\s*\Z|(?:\r?\n){2}\s*|(?:[^\n\0]{0,16}\n\s*)?(?=" + _BEGINNING.pattern + rb")")
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
    stream.seek(0 if due else offset)
    record, end = _begun(stream)
    at = stream.tell()
    stream.seek(end)
    behind = stream.read(CHUNK_BYTES)
    if due and _BEGINNING.match(behind.lstrip()):
        raise BadInput(_AS_A_WHOLE)
    if not due:
        blank = _BEHIND.match(behind)
        if not blank or stream.seek(0, SEEK_END) < end:
            raise ValueError("its block is cut, or has another length")
        is_next = blank.end() == len(behind) or _BEGINNING.match(behind, blank.end())
        if not is_next and 0 < next_record(file, offset + 1) < end:
            raise ValueError("its block goes on in that of the next record")
        due = end + blank.end()
    stream.seek(at)
    return record, due


def _begun(stream: BinaryIO) -> tuple[Any, int]:
    """The record that begins where a stream stands, and where it ends."""
    start = stream.tell()
    head = _HEAD.match(stream.read(CHUNK_BYTES))
    again = head and re.search(rb"(?s)(.)" + _WARC, head[0][1:])
    names = re.findall(rb"(?m)^[\w-]+:", head[0]) if head and again else []
    # One that is cut goes on as that of the next record; but a URL may end so, too.
    if not head or (again and (again[1] != b"/" or len(names) > len(set(names)))):
        raise ValueError("no head of one record")
    stream.seek(start)
    records = reader(stream)
    # Ours are in UTF-8; those of others are as they were sent, and no byte of them may be lost.
    records.loader.http_parser.decode_header = partial(str, encoding="latin-1")
    record = next(records)
    if int(record.rec_headers.get_header("Content-Length")) < 0:
        raise ValueError("a record of a negative length")
    return record, stream.tell() - records.reader.rem_length() + record.raw_stream.limit


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
    """Where the next record begins, or the member that has it; 0: nowhere."""
    while True:
        file.seek(offset)
        chunk = file.read(CHUNK_BYTES)
        for found in _ANYWHERE.finditer(chunk):
            if _is_record(chunk[found.start() : found.start() + FIRST_BYTES]):
                return offset + found.start()
        if len(chunk) < CHUNK_BYTES:
            return 0
        offset += len(chunk) - FIRST_BYTES  # one may begin in this chunk and go on in the next


def _is_record(head: bytes) -> bool:
    with suppress(zlib.error):
        head = zlib.decompressobj(wbits=31).decompress(head, FIRST_BYTES)
    return _BEGINNING.match(head) is not None
