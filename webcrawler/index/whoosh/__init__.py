"""The default engine: Whoosh's segments, written and read as arrays."""

from webcrawler.index.whoosh import folder, schema
from webcrawler.index.whoosh.codec import BulkCodec
from webcrawler.index.whoosh.folder import applied_seq, discard, indexed_documents
from webcrawler.index.whoosh.hitlists import ANCHOR_POSITIONS, HitList
from webcrawler.index.whoosh.live import LiveIndex
from webcrawler.index.whoosh.mapped import MappedSegment
from webcrawler.index.whoosh.schema import Hits, Number
from webcrawler.index.whoosh.segment_reader import Cache, Key, Posted, Segment, joint, readable, segments
from webcrawler.index.whoosh.values import Flat, Values, flat

__all__ = [
    "ANCHOR_POSITIONS",
    "BulkCodec",
    "Cache",
    "Flat",
    "HitList",
    "Hits",
    "Key",
    "LiveIndex",
    "MappedSegment",
    "Number",
    "Posted",
    "Segment",
    "Values",
    "applied_seq",
    "discard",
    "flat",
    "folder",
    "indexed_documents",
    "joint",
    "readable",
    "schema",
    "segments",
]
