"""The index by tantivy, for collections that outgrow pure Python: `INDEX_ENGINE=tantivy`, extra `[tantivy]`.

`engine.TantivyEngine` is what the follower writes through; `state` says what a folder has applied, also where
the package is not installed. Inside: `schema` names the fields and hands over our own terms, `folder` opens,
throws away and exchanges, `package` is the one place that imports tantivy.
"""

from webcrawler.index.tantivy import state
from webcrawler.index.tantivy.package import tantivy
from webcrawler.index.tantivy.schema import (
    ANCHOR,
    ANCHORS,
    CITED,
    MAX_ANCHOR_WORDS,
    TEXTS,
    VERSION,
    make_schema,
    register_analyzer,
    stored,
)

__all__ = [
    "ANCHOR",
    "ANCHORS",
    "CITED",
    "MAX_ANCHOR_WORDS",
    "TEXTS",
    "VERSION",
    "make_schema",
    "register_analyzer",
    "state",
    "stored",
    "tantivy",
]
