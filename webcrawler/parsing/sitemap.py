"""Which URLs does a sitemap or a feed name, and when did they change?

Sitemaps are XML or text, gzipped or not; feeds are RSS and Atom. Elements are known by their local names,
as many files have wrong namespaces.
"""

from __future__ import annotations

import contextlib
import re
import zlib
from codecs import BOM_UTF8, iterdecode
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any, NamedTuple

from lxml import etree

from webcrawler.parsing.encoding import encoding_of
from webcrawler.parsing.robots import moment
from webcrawler.records import Link, Sitemap
from webcrawler.urls import UnfetchableUrl, outlink

# Both of sitemaps.org, "Sitemap files", of a file as it is inflated.
SITEMAP_BYTES = 50 * 2**20
MAX_ENTRIES = 50_000
_HEAD_BYTES = 4_096
_PIECE = 2**18

_GZIP = b"\x1f\x8b"
_MEMBERS_MAX = 1_000  # of a gzip file
_ENTRIES = {"urlset": "url", "sitemapindex": "sitemap", "rss": "item", "rdf": "item", "feed": "entry"}
_DATES = frozenset({"lastmod", "pubdate", "date", "published", "updated", "issued", "modified"})
# People forget to escape "&" in URLs; a parser that goes on would leave out what follows it.
_AMPERSAND = re.compile(
    rb"(<!\[CDATA\[.*?(?:\]\]>|\Z))|&(?!#\d+;|#x[0-9a-f]+;|[a-z]\w*;)", re.DOTALL | re.IGNORECASE
)
_LINE = re.compile(rb"(?<![^\r\n])[ \t]*https?://[^\r\n]*", re.IGNORECASE)


class _Entry(NamedTuple):
    """A URL as the file has it, and the dates that stand beside it."""

    href: str
    dates: tuple[str, ...] = ()


def parse_sitemap(
    body: bytes,
    url: str,
    content_type: str = "",
    now: float = float("inf"),
    protocols: Collection[str] = ("http", "https"),
) -> Sitemap | None:
    """Return what a sitemap or a feed names, each URL once; None where it is neither.

    Never raises, whatever the bytes. Up to SITEMAP_BYTES of a file are read, as it is inflated, and up to
    MAX_ENTRIES of its entries; of a broken or long one the beginning counts. Nothing external is read, and
    a file that declares entities is not read at all.

    Args:
        url: where it was fetched: what relative URLs are relative to.
        content_type: the HTTP header.
        now: dates after it are nonsense, in seconds.
        protocols: URLs with others of http and https are kept, marked as refused.
    """
    body = _inflated(body)
    root, entries = _entries(body, content_type)
    if root is None:
        return None
    links: dict[int, Link] = {}
    refused = Counter({"too-large": 1} if len(body) >= SITEMAP_BYTES else {})
    if len(entries) > MAX_ENTRIES:
        refused["too-many"] = 1
    for entry in entries[:MAX_ENTRIES]:
        try:
            target = outlink(entry.href.strip(), url, protocols, "sitemap")
        except UnfetchableUrl as bad:
            refused[bad.reason] += 1
            continue
        modified = max((moment(date, now) for date in entry.dates), default=0.0)
        if known := links.get(target.id):
            links[target.id] = known._replace(modified=max(known.modified, modified))
        else:
            link = Link(target.url, target.id, target.spelling, rel="sitemap", refused=target.refused)
            links[target.id] = link._replace(modified=modified)
    return Sitemap(root == "sitemapindex", tuple(links.values()), dict(refused))


def begins_as_sitemap(body: bytes, content_type: str = "") -> bool:
    """Say by its first bytes whether this is XML that begins as a sitemap or a feed does."""
    root, _ = _of_xml(_in_utf_8(_inflated(body[:_HEAD_BYTES], _HEAD_BYTES), content_type))
    return root is not None


def _inflated(body: bytes, most: int = SITEMAP_BYTES) -> bytes:
    """What the members of a gzip file hold (RFC 1952, 2.2), as far as they are whole; others as they are."""
    if not body.startswith(_GZIP):
        return body[:most]
    parts, size = list[bytes](), 0
    while body.startswith(_GZIP) and size < most and len(parts) < _MEMBERS_MAX:
        member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            parts.append(member.decompress(body, most - size))
        except zlib.error:
            break
        size, body = size + len(parts[-1]), member.unused_data
    return b"".join(parts)


def _entries(body: bytes, content_type: str) -> tuple[str | None, list[_Entry]]:
    """The kind of file, by its root element ("text": none); None where it is no such file."""
    text = _in_utf_8(body, content_type)
    if text.startswith(b"<"):
        return _of_xml(text)
    lines = islice(_LINE.finditer(text), MAX_ENTRIES + 1)
    found = [_Entry(line[0].decode()) for line in lines]
    return ("text" if found else None), found


def _in_utf_8(body: bytes, content_type: str) -> bytes:
    """The text of a file, in pieces, as a whole one takes up to four times as much memory as its bytes."""
    encoding = encoding_of(body[:_PIECE], content_type)
    pieces = (body[at : at + _PIECE] for at in range(0, len(body), _PIECE))
    text = b"".join(piece.encode("utf-8", "replace") for piece in iterdecode(pieces, encoding, "replace"))
    return text.removeprefix(BOM_UTF8).replace(b"\0", b"").lstrip()


def _of_xml(text: bytes) -> tuple[str | None, list[_Entry]]:
    """The local name of the root element, if the file is of a known kind, and its entries."""
    root: str | None = None
    entries: list[_Entry] = []
    if b"<!ENTITY" in text:
        return root, entries
    xml = _AMPERSAND.sub(lambda found: found[1] or b"&amp;", text)
    depth = inside = 0  # open elements, and those outside of the open entry and with it
    with contextlib.suppress(etree.LxmlError):
        for event, node in _events(xml):
            name = _local(node)
            depth += 1 if event == "start" else -1
            if event == "start" and depth == 1:
                root = name if name in _ENTRIES else None
                if root is None:
                    break
            elif event == "start" and not inside and root and name == _ENTRIES[root]:
                inside = depth
            elif event == "end" and depth < inside:
                entries += _entry(node)
                inside = 0
                if len(entries) > MAX_ENTRIES:
                    break
            if event == "end" and not inside:
                node.clear()
    return root, entries


def _events(xml: bytes) -> Iterator[tuple[str, Any]]:
    """Yield what begins and what ends, up to the first error; what is never closed does not end."""
    parser: Any = etree.XMLPullParser(
        ("start", "end"),
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        recover=True,
        huge_tree=True,  # the file is bounded, and no entity expands; else blanks of 10 MB end the reading
    )
    for at in range(0, len(xml), _PIECE):
        parser.feed(xml[at : at + _PIECE])
        yield from parser.read_events()


def _entry(node: Any) -> list[_Entry]:
    """The entry that an element is, or none."""
    found: dict[str, list[str]] = {}
    for child in node:
        text = _own_text(child)
        if _local(child) == "link" and child.get("rel", "alternate") == "alternate":
            text = child.get("href", "") + text
        found.setdefault(_local(child), []).append(text.strip())
    guids = [text for text in found.get("guid", ()) if text.startswith(("http://", "https://"))]
    hrefs = [*found.get("loc", ()), *found.get("link", ()), *guids, _own_text(node).strip()]
    href = next(filter(None, hrefs), "")
    dates = [date for name in found.keys() & _DATES for date in found[name] if date]
    return [_Entry(href, tuple(dates))] if href else []


def _own_text(node: Any) -> str:
    return "".join([node.text or "", *(child.tail or "" for child in node)])


def _local(node: Any) -> str:
    return str(node.tag).rpartition("}")[2].rpartition(":")[2].lower()
