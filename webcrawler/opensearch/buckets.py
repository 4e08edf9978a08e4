"""Hit lists as a cluster keeps them: in buckets by the first letters of their terms.

A search needs those of a few words, of each of its candidates. The buckets are doc values, so a node reads
those that are asked for, and nothing else of a page: from `_source` the same takes ten times as long.
"""

from __future__ import annotations

from base64 import b64encode
from binascii import a2b_base64
from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import lru_cache
from zlib import crc32

import msgpack

MANY = 256
LETTERS = 3  # that terms of a bucket begin with
HITS = "hits"  # begins their names
BUCKETS = [f"{HITS}{number}" for number in range(MANY)]
Lists = Mapping[str, Mapping[str, bytes]]  # hit lists by field and term
NONE: Lists = {}


@lru_cache(200_000)
def bucket(term: str) -> str:
    """Return the name of the bucket of a term; of one with LETTERS, all that begins so is there, too."""
    letters = term[:LETTERS] if term[:LETTERS].isascii() else term[:1]
    return BUCKETS[crc32(letters.encode()) % MANY]


def filled(lists: Lists) -> dict[str, str]:
    """Return the buckets of a document."""
    found = defaultdict[str, dict[str, dict[str, bytes]]](dict)
    for field, by_term in lists.items():
        for term, hits in by_term.items():
            found[bucket(term)].setdefault(field, {})[term] = hits
    return {name: b64encode(msgpack.packb(some)).decode() for name, some in found.items()}


def decoded(value: str) -> bytes:
    """Return a binary doc value; a cluster leaves the padding out."""
    return a2b_base64(value + "==")


def opened(values: Mapping[str, str]) -> dict[str, Lists]:
    """Return the hit lists of some buckets of a document, by the name of the bucket."""
    return {name: msgpack.unpackb(decoded(value)) for name, value in values.items()}


def without(value: str, fields: Collection[str]) -> str:
    """Return a bucket without the hit lists of some fields."""
    kept = {name: lists for name, lists in msgpack.unpackb(decoded(value)).items() if name not in fields}
    return b64encode(msgpack.packb(kept)).decode()
