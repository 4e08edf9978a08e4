"""By which URLs were records fetched? Reads only where each begins."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

HEAD_BYTES = 8192  # of a record, deflated or not: its own lines come first
_TARGET = re.compile(rb"^WARC-Target-URI: ([!-~]+)\r$", re.MULTILINE)


def targets(path: Path, offsets: Iterable[int]) -> Iterator[tuple[int, str]]:
    """The offset of each of these records, and the URL as it was fetched; what cannot be read is left out."""
    with suppress(OSError), path.open("rb") as file:
        for offset in offsets:
            file.seek(offset)
            with suppress(zlib.error):
                head = zlib.decompressobj(wbits=31).decompress(file.read(HEAD_BYTES), HEAD_BYTES)
                if found := _TARGET.search(head):
                    yield offset, found[1].decode()
