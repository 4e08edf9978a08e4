"""The fields of both indexes, and what of a page goes into each; tantivy does no analysis of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from webcrawler.index.engine import Anchored
from webcrawler.index.tantivy.package import tantivy
from webcrawler.index.whoosh import hitlists, schema
from webcrawler.records import Document, Text
from webcrawler.text import tokens

# Of analysis (the other engine's), fields and files together; another one in a folder means: follow again.
VERSION = f"{schema.VERSION}.1"

TEXTS = ("title", "body", "words", "meta")  # searched fields of a document
ANCHOR, CITED = "anchor", "cited"  # of the other index: all anchors, and those of other servers
ANCHORS = (ANCHOR, CITED)
MAX_ANCHOR_WORDS = hitlists.ANCHOR_POSITIONS // 2  # each begins twice as far from the next

_ANALYZER = "terms"
_NO_TERM = "_"  # keeps the place of a stop word; no term of ours has an underscore


def make_schema(texts: Sequence[str]) -> tantivy.Schema:
    """Of an index whose documents are known by their page number."""
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("number", indexed=True, fast=True)
    builder.add_text_field("server", tokenizer_name="raw", index_option="basic")
    for name in texts:
        builder.add_text_field(name, tokenizer_name=_ANALYZER)
    return builder.build()


def register_analyzer(index: tantivy.Index) -> None:
    """Has to be done to every index that is opened."""
    cut = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    index.register_tokenizer(_ANALYZER, cut.filter(tantivy.Filter.custom_stopword([_NO_TERM])).build())


def index_document(document: Document, text: Text) -> tantivy.Document:
    return _document(
        document.number,
        document.server,
        title=joined(text.title),
        body=joined(text.body),
        words=joined(schema.url_words(document.url)),
        meta=joined(f"{text.description}\n{text.keywords}"),
    )


def anchors_document(anchored: Anchored) -> tantivy.Document:
    return _document(
        anchored.number, anchored.server, anchor=_apart(anchored.texts), cited=_apart(anchored.cited)
    )


def joined(text: str) -> str:
    """The terms of a text for a tokenizer that cuts at spaces, each in its place."""
    return " ".join([stored(term) if term else _NO_TERM for term, _ in tokens(text)])


def stored(term: str) -> str:
    """As a term stands in the index: some Arabic ligatures are whole phrases, with spaces (NFKC)."""
    return term.replace(" ", "") if " " in term else term


def _apart(anchors: Iterable[tuple[str, int]]) -> str:
    """Texts, each as often as it counts, each at a multiple of ANCHOR_POSITIONS."""
    found: list[str] = []
    for text, times in anchors:
        spelled = joined(text).split(" ")[:MAX_ANCHOR_WORDS]
        found += (spelled + [_NO_TERM] * (hitlists.ANCHOR_POSITIONS - len(spelled))) * times
    return " ".join(found)


def _document(number: int, server: str, **texts: str) -> tantivy.Document:
    document = tantivy.Document()
    document.add_unsigned("number", number)
    document.add_text("server", server)
    for name, text in texts.items():
        document.add_text(name, text)
    return document
