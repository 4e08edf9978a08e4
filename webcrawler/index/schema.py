"""The fields of the index, and what of a document goes into each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple
from urllib.parse import unquote

from whoosh.columns import NumericColumn, VarBytesColumn
from whoosh.fields import COLUMN, ID, STORED, FieldType, Schema
from whoosh.formats import Existence

from webcrawler.archive.catalog import NO_REPEATS, Catalog, Repeats
from webcrawler.index.elsewhere import Elsewhere
from webcrawler.index.files import FACE
from webcrawler.index.hits import (
    VECTOR_CHARACTERS,
    HitList,
    anchor_lists,
    encode_vector,
    field,
    hit_lists,
    pack,
    section_list,
    vector,
)
from webcrawler.records import Document, Text
from webcrawler.text import content, terms
from webcrawler.urls import url_id

MAX_TEXTS = 200  # different anchors of a page, those of the most servers first
MAX_CHARACTERS = 200  # of an anchor
VERSION = 13  # of fields, analysis and hit lists together; another one in a folder means: follow again


class Indexable(NamedTuple):
    """A document that searches may find."""

    document: Document
    text: Text
    repeats: Repeats = NO_REPEATS  # which blocks repeat over the pages of its server


class Anchored(NamedTuple):
    """A page that others link to, fetched or not, and what they call it."""

    number: int
    url: str
    server: str
    texts: tuple[tuple[str, int], ...]  # anchor texts and how often each counts, the most used first
    cited: tuple[tuple[str, int], ...] = ()  # the same of what pages of other servers say


class Hits(FieldType):  # type: ignore[misc]
    """A field of text that is searched: one hit list per term, as `hit_lists` makes them."""

    __module__ = FACE  # in pickles

    def __init__(self, stored: bool = False) -> None:
        super().__init__(HitList(), None, scorable=True, stored=stored)

    def index(self, value: dict[str, list[int]], **options: Any) -> Iterable[tuple[bytes, int, float, bytes]]:
        return [(term.encode(), len(hits), float(len(hits)), pack(hits)) for term, hits in value.items()]

    def process_text(self, qstring: str, mode: str = "", **options: Any) -> list[str]:
        """What Whoosh's own query parsers ask for."""
        return list(terms(qstring))


class Number(FieldType):  # type: ignore[misc]
    """The unique page number: a term, and a column by Whoosh's document number."""

    __module__ = FACE  # in pickles

    def __init__(self) -> None:
        super().__init__(Existence(), None, stored=True, unique=True, sortable=NumericColumn("I"))

    def index(self, value: int, **options: Any) -> Iterable[tuple[bytes, int, float, bytes]]:
        return [(self.to_bytes(value), 1, 1.0, b"")]

    def to_bytes(self, value: int | bytes) -> bytes:
        return value if isinstance(value, bytes) else b"%d" % value

    def from_bytes(self, bs: bytes) -> int:
        return int(bs)

    def to_column_value(self, value: int) -> int:
        return value


def make_schema() -> Schema:
    """Return the fields of a document.

    `body` is the main content with its headings, `around` the rest of the text; `part` has the parts of
    compounds in title and body, where those stand. Title, description and text are analysed in the `language`
    of the document, ISO 639; `words`, those of the URL, and anchors as English.

    The others are columns. `length` is the number of words in the body; it is exact, while Whoosh rounds its
    own field lengths to a byte. `sampled` is how many pages told which blocks repeat over the server, when
    the document was indexed. `sections` is a hit list of the positions in `body` where sections begin, in
    their order, and in place of a size how many words their headings have. `vector`: see `hits`.
    """
    return _marked(
        Schema(
            number=Number(),
            url=STORED(),
            title=Hits(stored=True),
            fetched=STORED(),
            meta=Hits(),
            body=Hits(),
            part=Hits(),
            around=Hits(),
            words=Hits(),
            server=ID(stored=True),
            language=ID(),
            length=COLUMN(NumericColumn("I")),
            sampled=COLUMN(NumericColumn("B")),
            sections=COLUMN(VarBytesColumn()),
            vector=COLUMN(VarBytesColumn()),
        )
    )


def make_anchors_schema() -> Schema:
    """Return the fields of a page that is linked to; `title` is what most links call it."""
    return _marked(
        Schema(
            number=Number(),
            url=STORED(),
            title=STORED(),
            anchor=Hits(),
            cited=Hits(),
            server=ID(stored=True),
        )
    )


def _marked(schema: Schema) -> Schema:
    schema.version = VERSION
    schema.applied_seq = 0  # the last change of the catalog in this commit
    schema.catalog = ""  # its identity
    schema.elsewhere_seq = 0  # of anchors: the last of what other folders say
    return schema


def index_document(document: Document, text: Text, repeats: Repeats = NO_REPEATS) -> dict[str, Any]:
    """Return the keyword arguments of the writer's `add_document`."""
    main, around = content.split(text, repeats.digests)
    starts = [section.start for section in main.sections]
    language = text.language
    body = field(main.body, language, main.emphasis, [*starts, VECTOR_CHARACTERS])
    title = field(text.title, language)
    return {
        "number": document.number,
        "url": document.url,
        "title": title.terms,
        "_stored_title": text.title or text.headings.partition("\n")[0] or document.url,
        "fetched": document.fetched,
        "meta": hit_lists(f"{text.description}\n{text.keywords}", language),
        "body": body.terms,
        "part": _either(title.parts, body.parts),
        "around": hit_lists(around, language),
        "words": hit_lists(url_words(document.url)),
        "server": document.server,
        "language": language or None,
        "length": sum(map(len, body.spelled.values())),
        "sampled": repeats.pages,
        "sections": section_list(body.positions[:-1], (section.heading for section in main.sections)),
        "vector": encode_vector(vector(title.spelled, body.spelled, body.positions[-1], language)),
    }


def anchors_document(anchored: Anchored) -> dict[str, Any]:
    """Return the keyword arguments of the writer's `add_document`."""
    texts = anchored.texts
    return {
        "number": anchored.number,
        "url": anchored.url,
        "title": texts[0][0] if texts else "",
        "anchor": anchor_lists(texts),
        "cited": anchor_lists(anchored.cited),
        "server": anchored.server,
    }


def _either(one: dict[str, list[int]], other: dict[str, list[int]]) -> dict[str, list[int]]:
    """Return the hits of both: those of a title are at the top of the page."""
    if not one:
        return other
    return {term: sorted({*one.get(term, ()), *other.get(term, ())}) for term in {**one, **other}}


def url_words(url: str) -> str:
    """Return host, path and query of a URL, unquoted, as a text."""
    return unquote(url.partition("://")[2])


def indexable(catalog: Catalog, documents: Mapping[int, Document]) -> list[Indexable]:
    """Return those of the documents that searches may find, with what repeats over their servers."""
    shown = [n for n, document in documents.items() if not document.duplicate_of and not document.noindex]
    repeats: dict[str, Repeats] = {}
    indexables = []
    for number, text in sorted(catalog.texts(shown).items()):
        server = documents[number].server
        if server not in repeats:
            repeats[server] = catalog.blocks.repeats(server)
        indexables.append(Indexable(documents[number], text, repeats[server]))
    return indexables


def anchors_of(
    catalog: Catalog, numbers: list[int], elsewhere: Elsewhere | None = None
) -> Iterator[Anchored]:
    """Yield the anchors of those pages that have any, by ascending number.

    All links of the page's own server count as one: navigation that stands on each page would outweigh what
    others say.

    Args:
        elsewhere: what links in other folders say; None: nothing.
    """
    named = catalog.anchors.findable(numbers)
    ids = {page.number: url_id(page.url) for page in named}
    hidden = elsewhere.hidden(ids.values()) if elsewhere else set()
    crawled = catalog.documents([number for number, id in ids.items() if id in hidden])
    pages = {page.number: page for page in named if ids[page.number] not in hidden or page.number in crawled}
    said = elsewhere.anchors(ids.values()) if elsewhere else {}
    for number, links in _each(pages, catalog.anchors.of(list(pages))):
        page = pages[number]
        votes, others = Counter[str](), Counter[str]()
        for _, anchor, server in links:
            text = " ".join(anchor[:MAX_CHARACTERS].split())
            if server == page.server_number:
                votes[text] = 1
            else:
                others[text] += 1
        for text, more, own in said.get(ids[number], ()):
            others[text] += more
            if own:
                votes[text] = 1
        if votes or others:
            yield Anchored(number, page.url, page.server, _tapered(votes + others), _tapered(+others))


def _each(
    numbers: Iterable[int], links: Iterable[tuple[int, str, int]]
) -> Iterator[tuple[int, Iterable[Any]]]:
    """Give each of these pages with its links, which come page by page in ascending order, or with none."""
    found = groupby(links, key=itemgetter(0))
    linked, group = next(found, (None, ()))
    for number in sorted(numbers):
        if number == linked:
            yield number, group
            linked, group = next(found, (None, ()))
        else:
            yield number, ()


def _tapered(votes: Counter[str]) -> tuple[tuple[str, int], ...]:
    """Count a text 1 + floor(log2(n)) times (GO 4.5.1: count-weights taper off quickly)."""
    best = sorted(votes.items(), key=lambda item: (-item[1], item[0]))[:MAX_TEXTS]
    return tuple((text, n.bit_length()) for text, n in best)
