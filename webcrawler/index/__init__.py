"""Which documents hold these words? An inverted index, followed from the catalog and never the truth.

`analysis.terms` makes terms of a text, `follower.start` keeps index and anchors up to date, `reading.Live`
reads what it left last. Inside: `following` and `anchors` apply changes through an `engine`, of which
`whooshengine` is one (with `schema`, `folder`, `merging`) and `tantivy` another; `hits` encodes where a term
stands, and `values` decodes many such at once; `codec`, `writer` and `postings` write segments in bulk,
`segments`, `columns`, `mapped` and `live` read them.
"""

from webcrawler.index import follower
from webcrawler.index.engine import ENGINES, engine_type
from webcrawler.index.follower import reindex, wait_until_caught_up
from webcrawler.index.reader import Live, Posted, Reading
from webcrawler.index.whoosh import ANCHOR_POSITIONS, BulkCodec, HitList, Hits, MappedSegment, Number, Values

__all__ = [
    "ANCHOR_POSITIONS",
    "ENGINES",
    "BulkCodec",
    "HitList",
    "Hits",
    "Live",
    "MappedSegment",
    "Number",
    "Posted",
    "Reading",
    "Values",
    "engine_type",
    "follower",
    "reindex",
    "wait_until_caught_up",
]
