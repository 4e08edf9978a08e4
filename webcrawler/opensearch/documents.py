"""From the catalog to documents of the cluster: our terms, hit lists and what is shown, of each page number.

A text stands there twice: as our terms in the order of their positions, of which the cluster makes the same
postings as our index has, and as hit lists by term, by which our rankings put the pages in order.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from webcrawler.archive.catalog import Catalog, Known
from webcrawler.archive.catalog import pack as pack_text
from webcrawler.index import (
    Anchored,
    Elsewhere,
    Indexable,
    anchors_document,
    anchors_of,
    indexable,
    once,
    pack,
)
from webcrawler.linkgraph import stored
from webcrawler.opensearch import buckets
from webcrawler.opensearch.mapping import FILLER
from webcrawler.records import Document
from webcrawler.text import content
from webcrawler.urls import host_and_port, registrable_domain, url_id

OF_PAGES = ("title", "meta", "body", "part", "around", "words")
OF_ANCHORS = ("anchor", "cited")
Source = dict[str, Any]  # of a document


class Writer(NamedTuple):
    """Who has written a document."""

    home: str  # name of the folder
    term: int  # how often it has begun anew


class Made(NamedTuple):
    """What the cluster has to hold of one URL: a page, or one that is only linked to, or neither."""

    id: str
    url: str
    server: str
    page: Source | None
    named: Source | None


def made(
    catalog: Catalog,
    numbers: Sequence[int],
    ranks: stored.Ranks | None,
    writer: Writer,
    elsewhere: Elsewhere,
) -> Iterator[Made]:
    """Yield the documents of these page numbers as the catalog has them now.

    Args:
        elsewhere: what other folders say of them. A page whose original they have is none.
    """
    urls, servers = catalog.urls.of(numbers), catalog.urls.servers_of(numbers)
    unseen = set(catalog.unseen().tolist())  # finds of searches of the web are no part of the collection
    seen = [number for number in numbers if number not in unseen]
    documents = catalog.documents(seen)
    copies = elsewhere.originals(document.id for document in documents.values())
    originals = {
        number: document
        for number, document in documents.items()
        # `seq` is also when that was said: what was fetched later may be a copy no more
        if document.id not in copies or document.fetched > elsewhere.seq
    }
    pages = {one.document.number: one for one in indexable(catalog, originals)}
    anchored = {one.number: one for one in anchors_of(catalog, seen, elsewhere)}
    known, near = catalog.checks.known(list(pages)), _near(catalog, originals, elsewhere)
    targets = catalog.links.targets(list(pages))
    for number in urls:
        said = _said(urls[number], servers[number], rank_of(ranks, number), writer)
        one, names = pages.get(number), anchored.get(number)
        page = named = None
        if one:
            page = said | _page(one, names, known[number], targets[number], near.get(number))
        elif names and (number in originals or number not in documents):
            named = said | _named(names)
        yield Made(hexadecimal(url_id(urls[number])), urls[number], servers[number], page, named)


def tombstone(now: float, writer: Writer) -> Source:
    """What stands where a document was, so that no older write brings it back."""
    return {"gone": True, "gone_at": now, **writer._asdict()}


def hexadecimal(id: int) -> str:
    """The `_id` of a URL id."""
    return f"{id & 0xFFFF_FFFF_FFFF_FFFF:016x}"


def _said(url: str, server: str, rank: float, writer: Writer) -> Source:
    found: Source = {"url": url, "server": server, "domain": registrable_domain(server)}
    found |= {"site": _sites(server), **writer._asdict(), "gone": False, "rank": rank}
    return found | ({"pagerank": rank} if rank > 0 else {})  # of such a feature, 0 is an error


def _page(
    one: Indexable, names: Anchored | None, known: Known, targets: list[int], near: int | None
) -> Source:
    document = once.made(one)
    main, _ = content.split(one.text, one.repeats.digests)
    found = _texts({name: document[name] for name in OF_PAGES} | _anchors(names))
    found["lengths"]["body"] = document["length"]
    found["names"] = digest_of(names)
    found |= {"crawled": True, "language": document["language"], "sampled": document["sampled"]}
    found |= {"sections": _base64(document["sections"]), "vector": _base64(document["vector"])}
    found |= {"text": _base64(pack_text(main)), "links": [hexadecimal(id) for id in targets]}
    found |= {"fetched": one.document.fetched, "changed": known.changed, "checked": known.checked}
    return found | ({"near": hexadecimal(near)} if near is not None else {})


def _named(names: Anchored) -> Source:
    called = {"crawled": False, "called": names.texts[0][0], "names": digest_of(names)}
    return _texts(_anchors(names)) | called


def _anchors(names: Anchored | None) -> dict[str, dict[str, list[int]]]:
    document = anchors_document(names) if names else {}
    return {name: document[name] for name in OF_ANCHORS if name in document}


def _texts(fields: Mapping[str, dict[str, list[int]]]) -> Source:
    filled = {name: hits for name, hits in fields.items() if hits}
    found: Source = {name: in_order(hits) for name, hits in filled.items()}
    found["lengths"] = {name: sum(map(len, hits.values())) for name, hits in filled.items()}
    return found | buckets.filled(
        {name: {term: pack(places) for term, places in hits.items()} for name, hits in filled.items()}
    )


def digest_of(names: Anchored | None) -> str:
    """Tells anchor texts from others."""
    said = repr(names and (names.texts, names.cited)).encode()
    return blake2b(said, digest_size=8).hexdigest()


def in_order(hits: Mapping[str, Sequence[int]]) -> str:
    """The terms by their positions, "a|b" where two stand, for the analyser of the mapping."""
    row = [FILLER] * (1 + max(places[-1] for places in hits.values()) // 16)
    for term, places in hits.items():
        for hit in places:
            position = hit >> 4
            row[position] = term if row[position] is FILLER else f"{row[position]}|{term}"
    return " ".join(row)


def _sites(server: str) -> list[str]:
    """All that `site:` may say of a server: its host and those above it, and its host with the port."""
    host, port = host_and_port(server)
    host = f"[{host}]" if ":" in host else host
    labels = host.split(".")
    return [name for n in range(len(labels)) if (name := ".".join(labels[n:]))] + [f"{host}:{port}"]


def _near(catalog: Catalog, pages: Mapping[int, Document], elsewhere: Elsewhere) -> dict[int, int]:
    """By page number, the URL id of the oldest document that it nearly repeats, here or in other folders."""
    older = catalog.near_duplicates(list(pages))
    ids = {number: document.id for number, document in catalog.documents([*{*older.values()}]).items()}
    found = {number: ids[first] for number, first in older.items() if first in ids}
    said = elsewhere.originals((page.id for page in pages.values()), "near")
    return found | {number: said[page.id] for number, page in pages.items() if page.id in said}


def rank_of(ranks: stored.Ranks | None, number: int) -> float:
    return float(f"{ranks.of([number])[0]:.4g}") if ranks else 1.0


def _base64(data: bytes) -> str:
    return b64encode(data).decode()
