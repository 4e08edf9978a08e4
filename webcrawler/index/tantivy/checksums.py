"""Whether files are what tantivy wrote: it opens torn ones without a look, and fails later."""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterator
from pathlib import Path
from struct import Struct
from struct import error as StructError
from zlib import crc32

from webcrawler.index.tantivy.state import META

_PARTS = ("fast", "fieldnorm", "idx", "pos", "store", "term")  # files of a segment
_END = Struct("<II")  # length of the JSON before it, and a number that all footers end with
_MAGIC = 1337


def torn_file(folder: Path) -> str:
    """The name of one that is missing or not what was written, "" where all are whole.

    Of the newest commit; about a second a GB.
    """
    return next((name for name in _committed(folder) if not _is_whole(folder / name)), "")


def _committed(folder: Path) -> Iterator[str]:
    for segment in json.loads((folder / META).read_bytes())["segments"]:
        name, deletes = segment["segment_id"].replace("-", ""), segment["deletes"]
        yield from (f"{name}.{part}" for part in _PARTS)
        if deletes:
            yield f"{name}.{deletes['opstamp']}.del"


def _is_whole(path: Path) -> bool:
    """Its footer has the CRC-32 of all that is before it."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            length, magic = _END.unpack(content[-_END.size :])
            end = len(content) - _END.size - length
            footer = json.loads(content[end : -_END.size]) if magic == _MAGIC else {}
            with memoryview(content)[: max(0, end)] as before:
                return bool(crc32(before) == footer.get("crc"))
    except (
        FileNotFoundError,
        StructError,
        ValueError,
        AttributeError,
    ):
        return False
