"""Which documents hold these words? An inverted index: derived data, rebuilt from the catalog at any time.

Its segments are Whoosh's, written and read as arrays. `follower` keeps index and anchors up to date;
`writer` commits them, by way of `schema` (fields) and `codec`. `Live` opens what was committed last, and
`Reading` reads it. `folder` makes, checks and exchanges index folders. `hits` encodes where a term stands;
`postings` decodes many hit lists at once.
"""

from webcrawler.index import follower, once
from webcrawler.index.codec import BulkCodec
from webcrawler.index.elsewhere import Elsewhere
from webcrawler.index.files import MappedSegment
from webcrawler.index.folder import applied_seq, indexed_documents
from webcrawler.index.follower import reindex, wait_until_caught_up
from webcrawler.index.hits import ANCHOR_POSITIONS, HitList, Vector, pack
from webcrawler.index.live import Finds, Live, followed
from webcrawler.index.postings import Flat, Posted, Values
from webcrawler.index.reader import DOCUMENT_FIELDS, ENGLISH_FIELDS, LANGUAGE, SERVER, Reading
from webcrawler.index.schema import (
    VERSION,
    Anchored,
    Hits,
    Indexable,
    Number,
    anchors_document,
    anchors_of,
    indexable,
)
from webcrawler.index.segments import Segment

__all__ = [
    "ANCHOR_POSITIONS",
    "DOCUMENT_FIELDS",
    "ENGLISH_FIELDS",
    "LANGUAGE",
    "SERVER",
    "VERSION",
    "Anchored",
    "BulkCodec",
    "Elsewhere",
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
    "Segment",
    "Values",
    "Vector",
    "anchors_document",
    "anchors_of",
    "applied_seq",
    "followed",
    "follower",
    "indexable",
    "indexed_documents",
    "once",
    "pack",
    "reindex",
    "wait_until_caught_up",
]
