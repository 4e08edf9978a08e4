"""Pages of a catalog as rows of the tables."""

from __future__ import annotations

import re
from base64 import b32encode
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow as pa

from webcrawler.archive.catalog import Catalog, ToldLink, ToldUrl
from webcrawler.dataset.schema import TABLES
from webcrawler.index import Indexable, indexable, once
from webcrawler.urls import DEFAULT_PORTS, host_and_port, is_address, registrable_domain

MAX_ANCHOR = 200  # characters, as in the index
FINDABLE = ("document", "uncrawled")
_WWW = re.compile(r"^www\d*\.")

Tables = dict[str, pa.RecordBatch]


class Host(NamedTuple):
    """What is said of each URL of a server."""

    name: str
    tld: str
    domain: str
    name_reversed: str
    protocol: str
    port: int | None
    surt: str  # up to the path


def tables_of(catalog: Catalog, home: str, epoch: int, seqs: Mapping[int, int]) -> Tables:
    """All that a catalog says of some pages.

    Args:
        home, epoch: whose rows they are.
        seqs: the change that tells of each, by page number; 0: nothing but links to it is known.
    """
    numbers = sorted(seqs)
    urls = {told.number: told for told in catalog.tables.urls(numbers)}
    documents = catalog.tables.documents(numbers)
    known = catalog.documents([document.number for document in documents])
    texts = {indexed.document.number: indexed for indexed in indexable(catalog, known)}
    links = list(catalog.tables.links(numbers))
    rows = {
        "urls": _url_columns(list(urls.values())),
        "documents": _document_columns(documents, urls, texts),
        "links": _link_columns(links, urls),
        "texts": _text_columns(texts, urls),
        "postings": _posting_columns(texts, urls),
    }
    return {name: _batch(TABLES[name], columns, home, epoch, seqs) for name, columns in rows.items()}


def _batch(
    schema: pa.Schema, columns: dict[str, Any], home: str, epoch: int, seqs: Mapping[int, int]
) -> pa.RecordBatch:
    """Columns, of which `page` says by number which page each row is of, as they are exported."""
    columns["seq"] = [seqs[number] for number in columns.pop("page")]
    rows = len(columns["seq"])
    columns["home"] = pa.repeat(pa.scalar(home), rows)
    columns["epoch"] = pa.repeat(pa.scalar(epoch, pa.int64()), rows)
    return pa.RecordBatch.from_pydict(columns, schema)


def _url_columns(urls: Sequence[ToldUrl]) -> dict[str, Any]:
    hosts = [_host(url.server) for url in urls]
    paths = [url.path.partition("?") for url in urls]
    return {
        "page": [url.number for url in urls],
        "url_id": [url.id for url in urls],
        "url": [url.server + url.path for url in urls],
        "url_surtkey": list(map(_surt, urls)),
        "url_host_name": [host.name for host in hosts],
        "url_host_tld": [host.tld for host in hosts],
        "url_host_registered_domain": [host.domain for host in hosts],
        "url_host_name_reversed": [host.name_reversed for host in hosts],
        "url_protocol": [host.protocol for host in hosts],
        "url_port": [host.port for host in hosts],
        "url_path": [path for path, _, _ in paths],
        "url_query": [query if mark else None for _, mark, query in paths],
        "server": [url.server for url in urls],
        "state": [url.state for url in urls],
        "findable": [url.state in FINDABLE for url in urls],
        "fetch_time": [_microseconds(url.fetched) for url in urls],
    }


def _document_columns(
    documents: Sequence[Any], urls: Mapping[int, ToldUrl], texts: Mapping[int, Indexable]
) -> dict[str, Any]:
    said = [texts.get(document.number) for document in documents]
    told = [urls[document.number] for document in documents]
    hosts = [_host(url.server) for url in told]
    return {
        "page": [document.number for document in documents],
        "url_id": [url.id for url in told],
        "url": [url.server + url.path for url in told],
        "url_surtkey": list(map(_surt, told)),
        "url_host_name": [host.name for host in hosts],
        "url_host_registered_domain": [host.domain for host in hosts],
        "fetch_time": [_microseconds(document.fetched) for document in documents],
        "fetch_status": [document.status for document in documents],
        "content_digest": [_base32(document.digest) for document in documents],
        "content_mime_type": [document.content_type for document in documents],
        "language": [one.text.language if one else "" for one in said],
        "title": [one.text.title if one else None for one in said],
        "words": [document.words for document in documents],
        "warc_filename": [document.file for document in documents],
        "warc_record_offset": [document.offset for document in documents],
        "text_digest": [_base32(document.text_digest) for document in documents],
        "simhash": [document.simhash for document in documents],
        "canonical_id": [document.canonical for document in documents],
        "duplicate_of": [document.duplicate_of for document in documents],
        "near_duplicate_of": [document.near_duplicate_of for document in documents],
        "noindex": [bool(document.noindex) for document in documents],
        "findable": [url.state in FINDABLE for url in told],
        "changed": [_microseconds(document.changed) for document in documents],
    }


def _link_columns(links: Sequence[ToldLink], urls: Mapping[int, ToldUrl]) -> dict[str, Any]:
    sources = [urls[link.source] for link in links]
    return {
        "page": [link.source for link in links],
        "source_id": [source.id for source in sources],
        "target_id": [link.target for link in links],
        **_ends("source", [source.server for source in sources]),
        **_ends("target", [link.server for link in links]),
        "anchor": [" ".join(link.anchor[:MAX_ANCHOR].split()) for link in links],
        "rel": [link.rel for link in links],
    }


def _ends(end: str, servers: Sequence[str]) -> dict[str, Any]:
    """Domain, host and server of one end of each link; looked up once for each server."""
    place = {server: place for place, server in enumerate(dict.fromkeys(servers))}
    hosts = [_host(server) for server in place]
    each = pa.array([place[server] for server in servers], pa.int32())
    return {
        f"{end}_domain": pa.array([host.domain for host in hosts], pa.string()).take(each),
        f"{end}_host_name": pa.array([host.name for host in hosts], pa.string()).take(each),
        f"{end}_server": pa.array(list(place), pa.string()).take(each),
    }


def _text_columns(texts: Mapping[int, Indexable], urls: Mapping[int, ToldUrl]) -> dict[str, Any]:
    said = [one.text for one in texts.values()]
    sections = [[section._asdict() for section in text.sections] for text in said]
    return {
        "page": list(texts),
        "url_id": [urls[number].id for number in texts],
        "language": [text.language for text in said],
        "title": [text.title for text in said],
        "description": [text.description for text in said],
        "keywords": [text.keywords for text in said],
        "headings": [text.headings.splitlines() for text in said],
        "body": [text.body for text in said],
        "sections": sections,
    }


def _posting_columns(texts: Mapping[int, Indexable], urls: Mapping[int, ToldUrl]) -> dict[str, Any]:
    ids, languages, pages = list[int](), list[str](), list[int]()
    found, times = list[str](), list[int]()
    for number, one in texts.items():
        document = once.made(one)
        title, body = document["title"], document["body"]
        terms = {**title, **body}
        found += terms
        times += (len(title.get(term, ())) + len(body.get(term, ())) for term in terms)
        pages += [number] * len(terms)
        ids += [urls[number].id] * len(terms)
        languages += [one.text.language] * len(terms)
    return {"page": pages, "url_id": ids, "language": languages, "term": found, "tf": times}


@lru_cache(maxsize=16_384)
def _host(server: str) -> Host:
    name, port = host_and_port(server)
    protocol = server.partition(":")[0]
    labels = name.split(".")
    is_name = not is_address(name.strip("[]"))
    surt = ",".join(reversed(_WWW.sub("", name).split("."))) if is_name else name
    shown = None if port == DEFAULT_PORTS.get(protocol) else port
    return Host(
        name,
        labels[-1] if is_name else "",
        registrable_domain(server),
        ".".join(reversed(labels)) if is_name else name,
        protocol,
        shown,
        (f"{surt}:{shown})" if shown else f"{surt})"),
    )


def _surt(url: ToldUrl) -> str:
    """The URL's place in an order where pages of a domain stand together (Common Crawl's, by and large)."""
    return _host(url.server).surt + url.path.lower()


def _microseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1_000_000)


def _base32(digest: bytes | None) -> str | None:
    return None if digest is None else b32encode(digest).decode()
