"""Whoosh's segments, written and read as arrays.

`engine.WhooshEngine` commits documents and anchors, by way of `schema` (fields), `writer`, `codec` and
`postings`; `live` opens the newest commit and `segment_reader` reads it. `folder` makes, checks and exchanges
index folders; `hitlists` encodes where a term stands, and `values` decodes many such at once.
"""

from webcrawler.index.whoosh import folder, schema
from webcrawler.index.whoosh.codec import BulkCodec
from webcrawler.index.whoosh.engine import WhooshEngine
from webcrawler.index.whoosh.folder import applied_seq, discard, indexed_documents
from webcrawler.index.whoosh.hitlists import ANCHOR_POSITIONS, HitList
from webcrawler.index.whoosh.live import LiveIndex
from webcrawler.index.whoosh.mapped import MappedSegment
from webcrawler.index.whoosh.schema import Anchored, Hits, Number
from webcrawler.index.whoosh.segment_reader import Cache, Key, Posted, Segment, joint, readable, segments
from webcrawler.index.whoosh.values import Flat, Values, flat

__all__ = [
    "ANCHOR_POSITIONS",
    "Anchored",
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
    "WhooshEngine",
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
