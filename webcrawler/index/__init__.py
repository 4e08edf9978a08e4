"""Which documents hold these words? An inverted index: derived data, rebuilt from the catalog at any time.

`follower` keeps index and anchors up to date, by way of `changes`. `Live` opens what was
committed last. `whoosh/` writes and reads the files.
"""

from webcrawler.index import follower
from webcrawler.index.changes import indexable
from webcrawler.index.follower import reindex, wait_until_caught_up
from webcrawler.index.whoosh import (
    ANCHOR_POSITIONS,
    BulkCodec,
    Finds,
    Flat,
    HitList,
    Hits,
    Live,
    MappedSegment,
    Number,
    Posted,
    Reading,
    Values,
    Vector,
    applied_seq,
    followed,
    indexed_documents,
)

__all__ = [
    "ANCHOR_POSITIONS",
    "BulkCodec",
    "Finds",
    "Flat",
    "HitList",
    "Hits",
    "Live",
    "MappedSegment",
    "Number",
    "Posted",
    "Reading",
    "Values",
    "Vector",
    "applied_seq",
    "followed",
    "follower",
    "indexable",
    "indexed_documents",
    "reindex",
    "wait_until_caught_up",
]
