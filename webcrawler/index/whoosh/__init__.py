"""Whoosh's segments, written and read as arrays.

`engine` commits documents and anchors, by way of `schema` (fields), `writer` and `codec`. `live` opens the
newest commit; `reader` and `segment_reader` read it. `folder` makes, checks and exchanges index folders.
`hit_encoding` encodes where a term stands; `values` decodes many hit lists at once.
"""

from webcrawler.index.whoosh.codec import BulkCodec
from webcrawler.index.whoosh.engine import WhooshEngine
from webcrawler.index.whoosh.files import MappedSegment
from webcrawler.index.whoosh.folder import applied_seq, discard, indexed_documents, is_outdated
from webcrawler.index.whoosh.hit_encoding import ANCHOR_POSITIONS, HitList, Vector
from webcrawler.index.whoosh.live import Finds, Live, followed
from webcrawler.index.whoosh.reader import Reading
from webcrawler.index.whoosh.schema import Anchored, Hits, Indexable, Number
from webcrawler.index.whoosh.segment_reader import Posted
from webcrawler.index.whoosh.values import Flat, Values

__all__ = [
    "ANCHOR_POSITIONS",
    "Anchored",
    "BulkCodec",
    "Finds",
    "Flat",
    "HitList",
    "Hits",
    "Indexable",
    "Live",
    "MappedSegment",
    "Number",
    "Posted",
    "Reading",
    "Values",
    "Vector",
    "WhooshEngine",
    "applied_seq",
    "discard",
    "followed",
    "indexed_documents",
    "is_outdated",
]
