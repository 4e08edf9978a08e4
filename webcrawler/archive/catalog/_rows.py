"""Entries as rows of the catalog, and rows as records; nothing here reads or writes the database."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha1
from types import MappingProxyType
from typing import Any, NamedTuple

import msgpack

from webcrawler.records import Document, Entry, Lease, Link, Place, Section, Text
from webcrawler.text import content
from webcrawler.urls import MAX_LENGTH, is_probe

_WIDTHS = {0xD9: 1, 0xDA: 2, 0xDB: 4}  # of the length of a string in msgpack, by its first byte
_BODY = 7  # its place among the fields of a packed text; emphasis follows
ZLIB_LEVEL = 1

DOCUMENT = frozenset({"document", "duplicate", "noindex"})
# The URL yields no document now. Other failures tell nothing: what is known is kept.
GONE = frozenset(
    {"not-found", "redirect", "redirect-loop", "too-large", "not-indexable", "unparsable", "sitemap", "probe"}
)

REFUSING = frozenset({401, 403})  # a login or a ban: it does not say that the document is gone

COLUMNS = """position, number, token, fetched, status, state, reason, retry, tries, found, seconds, digest,
    simhash, error, file, "offset", content_type, etag, last_modified, word_count, noindex, packed,
    blocks, text_digest, audit, conditional, spelling, canonical, probe, words_digest, fresh"""

Arrival = tuple[Entry, Place | None]
Row = tuple[Any, ...]


class PastFetch(NamedTuple):
    """A row of the history; `found` is True if there was a document, None if the fetch could not tell."""

    fetched: float
    status: int
    state: str
    reason: str
    retry: bool
    tries: int  # failed fetches before this one
    found: bool | None
    seconds: float
    error: str
    place: Place | None


class Verdict(NamedTuple):
    """What a batch told: sets of URL ids."""

    duplicates: frozenset[int] = frozenset()  # documents that repeat an older one byte for byte
    near: frozenset[int] = frozenset()  # documents with nearly the text of another
    unchanged: frozenset[int] = frozenset()  # checks that found nothing new
    held: frozenset[int] = frozenset()  # checks that found nothing, or failed; the document stays for now
    soft: frozenset[int] = frozenset()  # checks that were answered 200 with what stands for "not found"
    # Of pages whose links were replaced: URL ids of the targets before.
    links_before: Mapping[int, frozenset[int]] = MappingProxyType({})


def joined(first: Verdict, ids: Sequence[int], then: Verdict) -> Verdict:
    """What both told; of these ids, what the second one told."""
    sets = [(old - {*ids}) | new for old, new in zip(first[:-1], then[:-1], strict=True)]
    return Verdict._make((*sets, {**first.links_before, **then.links_before}))


def batch_row(entry: Entry, place: Place | None) -> Row:
    """The columns of `batch` from `token` on."""
    fetch = entry.fetch
    headers = {name.lower(): value for name, value in fetch.headers}
    found = _found(entry)
    text = None if entry.noindex or not found else entry.text
    asked = json.loads(fetch.lease.request or "{}")
    is_compared = fetch.lease.was or fetch.reason == "probe"
    words = entry.text.body.split() if entry.text and (text or is_compared) else []
    fetched, seconds = round(fetch.fetched, 6), round(fetch.seconds, 6)  # as a WARC record keeps them
    return (
        *(fetch.lease.token, fetched, fetch.status, fetch.state, fetch.reason, fetch.retry),
        *(fetch.lease.tries, found, seconds, entry.digest or None, entry.simhash or None),
        *(fetch.error or None, *(place or (None, None))),
        headers.get("content-type", "").partition(";")[0].strip().lower(),
        headers.get("etag"),
        headers.get("last-modified"),
        len(words),
        entry.noindex,
        pack(text) if text else None,
        content.packed(content.digests(text)) if text else None,
        _text_digest(entry, text, words) if found else None,
        "audit" in asked,
        1 if "headers" in asked else 0 if "whole" in asked else None,
        spelling_of(fetch.lease),
        entry.canonical or None,
        is_probe(fetch.lease.url),
        sha1(" ".join(words).encode(), usedforsecurity=False).digest() if words and is_compared else None,
        found is not None,
    )


def spelling_of(one: Lease | Link) -> str | None:
    """How it is fetched, where that is not its canonical URL; None also where it is too long for that."""
    return one.spelling if one.spelling != one.url and len(one.spelling) <= MAX_LENGTH else None


def _text_digest(entry: Entry, text: Text | None, words: list[str]) -> bytes | None:
    """SHA-1 of what is searched and followed; blanks do not count. None where no pipeline says what it is."""
    if text is None and not entry.noindex:
        return None
    said = (*(field.split() for field in text[:4]), words) if text else ()
    links = sorted((link.url, link.anchor.split(), link.rel) for link in entry.links)
    return sha1(msgpack.packb((said, links)), usedforsecurity=False).digest()


def _found(entry: Entry) -> bool | None:
    """True: there is a document; False: there is none; None: this fetch could not tell."""
    fetch = entry.fetch
    if fetch.state == "done" and fetch.reason in DOCUMENT:
        return True
    if fetch.target is not None or (fetch.reason in GONE and not fetch.retry):
        return False
    return None


def named(entry: Entry) -> Iterable[Link]:
    """All URLs that get a page number with this one, the target of a redirect first."""
    target = entry.fetch.target
    if is_probe(entry.fetch.lease.url):
        return ()
    if entry.fetch.reason == "sitemap":
        return [link for link in entry.links if not link.refused and link.id != entry.fetch.lease.id]
    return entry.links if target is None else (target._replace(rel="redirect"), *entry.links)


def outlinks(entry: Entry) -> Iterable[Link]:
    """All edges from this URL; what a sitemap names is none."""
    return () if entry.fetch.reason == "sitemap" else named(entry)


def sitemap_row(entry: Entry) -> dict[str, object]:
    """The columns of `sitemaps` but the first."""
    fetch = entry.fetch
    headers = {name.lower(): value for name, value in fetch.headers}
    etag, last_modified = headers.get("etag"), headers.get("last-modified")
    values = {"fetched": round(fetch.fetched, 6), "digest": entry.digest or None, "etag": etag}
    return {"of": _of(fetch.lease.request), **values, "last_modified": last_modified}


def told_row(number: int, link: Link) -> Row:
    """The columns of `told` from `number` on."""
    return number, link.modified or None, _of(link.request) if link.request else None


def _of(request: str) -> str:
    return str(json.loads(request).get("of", "")) if request else ""


def runs(arrivals: Sequence[Arrival]) -> Iterator[list[Arrival]]:
    """Cut a batch so that no URL comes twice in a part; nearly always one part."""
    run: list[Arrival] = []
    ids: set[int] = set()
    for arrival in arrivals:
        id = arrival[0].fetch.lease.id
        if id in ids:
            yield run
            run, ids = [], set()
        run.append(arrival)
        ids.add(id)
    if run:
        yield run


def pack(text: Text) -> bytes:
    """The column `packed` of texts: what says where something is in the body, then the body.

    Deflating releases the GIL.
    """
    *names, body, emphasis, language, around, sections = text
    said = (language, around, sections, *names, body, emphasis)
    return zlib.compress(msgpack.packb(said), ZLIB_LEVEL)


def unpack(packed: bytes) -> Text:
    return _text(msgpack.unpackb(zlib.decompress(packed), use_list=False))


def unpack_beginning(packed: bytes, most_bytes: int) -> Text:
    """As `unpack`, but only the first bytes of a long body, at most twice so many, without emphasis."""
    unzip, unpacker = zlib.decompressobj(), msgpack.Unpacker(use_list=False)
    data = unzip.decompress(packed, most_bytes)
    unpacker.feed(data)
    unpacker.read_array_header()
    said: list[Any] = []
    end = unpacker.tell()
    while len(said) <= _BODY:
        try:
            said.append(unpacker.unpack())
            end = unpacker.tell()
        except msgpack.OutOfData:
            if len(said) == _BODY and len(data) - end >= most_bytes // 2:
                said.append(_cut_string(data[end:]))
                break
            if not (more := unzip.decompress(unzip.unconsumed_tail, most_bytes)):
                raise
            unpacker.feed(more)
            data += more
    return _text((*said, ()))


def _text(said: Sequence[Any]) -> Text:
    language, around, sections = said[:3]
    named = tuple(Section._make(section) for section in sections)
    return Text._make((*said[3:], language, around, named))


def _cut_string(data: bytes) -> str:
    """The beginning of a string in msgpack that is not there to its end."""
    first = data[0] if data else 0
    start = 1 + _WIDTHS.get(first, 0)
    return data[start:].decode("utf-8", "ignore")


def document(row: Row) -> Document:
    *known, digest, word_count, twin, noindex, file, offset = row
    rest = (digest or b"", word_count, twin or 0, bool(noindex), _place(file, offset))
    return Document._make((*known, *rest))


def past_fetch(row: Row) -> PastFetch:
    fetched, status, state, reason, retry, tries, found, seconds, error, file, offset = row
    verdict = None if found is None else bool(found)
    place = _place(file, offset)
    return PastFetch(fetched, status, state, reason, bool(retry), tries, verdict, seconds, error, place)


def _place(file: str | None, offset: int) -> Place | None:
    return None if file is None else Place(file, offset)
