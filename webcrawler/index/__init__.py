"""Which documents hold these words? An inverted index, followed from the catalog and never the truth.

`follower` is the process that keeps index and anchors up to date, `reader.Live` reads what it committed last.
Inside, `changes` and `anchors` apply the catalog's changes; `whoosh/` holds the files.
"""

from webcrawler.index import follower
from webcrawler.index.follower import reindex, wait_until_caught_up
from webcrawler.index.reader import Live, Posted, Reading
from webcrawler.index.whoosh import ANCHOR_POSITIONS, BulkCodec, HitList, Hits, MappedSegment, Number, Values

__all__ = [
    "ANCHOR_POSITIONS",
    "BulkCodec",
    "HitList",
    "Hits",
    "Live",
    "MappedSegment",
    "Number",
    "Posted",
    "Reading",
    "Values",
    "follower",
    "reindex",
    "wait_until_caught_up",
]
