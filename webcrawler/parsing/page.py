"""From bytes to a page."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Mapping
from typing import Protocol

from lxml import etree

from webcrawler.parsing.encoding import decode
from webcrawler.parsing.links import base_url, merge
from webcrawler.parsing.nesting import flatten
from webcrawler.parsing.reader import Reader
from webcrawler.records import Page
from webcrawler.text import simhash


class Target(Protocol):
    """What `feed` calls."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None: ...

    def end(self, tag: str) -> None: ...

    def data(self, chunk: str) -> None: ...

    def close(self) -> None: ...


# In XHTML these may be empty elements; read as HTML they would swallow the rest of the page.
_EMPTY_XHTML = re.compile(r"<(script|style|title|textarea|iframe|noscript|a)\b([^<>]*)/>", re.IGNORECASE)


def parse(
    body: bytes, url: str, content_type: str = "", protocols: Collection[str] = ("http", "https")
) -> Page:
    """What a document says and links to.

    Never raises, whatever the bytes; time and memory grow with their number, about 2 ms for 60 KB.

    Args:
        url: where it was fetched, canonical or not: what relative links are relative to.
        content_type: the HTTP header.
        protocols: links to others of http and https are kept, marked as refused.
    Raises:
        MemoryError: the process met its memory limit.

    Weakness: all is read as HTML; CDATA sections of XHTML are taken for comments, as browsers do in HTML.
    """
    reader = _read(markup(body, content_type))
    text = reader.text
    links, refused = merge(reader.outlinks, text, base_url(reader.base, url), protocols)
    if reader.links_left_out:
        refused["too-many"] = reader.links_left_out
    return Page(
        title=reader.title,
        description=reader.description,
        keywords=reader.keywords,
        headings=tuple(" ".join(text[start:end].split()) for start, end in reader.headings),
        text=text,
        emphasis=tuple(reader.spans),
        links=links,
        refused=dict(refused),
        noindex=not reader.robots.isdisjoint(("noindex", "none")),
        nofollow=not reader.robots.isdisjoint(("nofollow", "none")),
        simhash=simhash(text),
    )


def markup(body: bytes, content_type: str = "") -> str:
    """The characters of a document, as they are parsed: as HTML, and not nested too deep."""
    html = decode(body, content_type)
    if "xhtml" in content_type.lower():
        html = _EMPTY_XHTML.sub(r"<\1\2></\1>", html)
    return flatten(html)


def feed(html: str, target: Target) -> None:
    """Have the target called for each element and text of `markup`; the elements nest properly."""
    # lxml does without comment(), its stub does not
    parser = etree.HTMLParser(target=target, encoding="utf-8", huge_tree=True)  # type: ignore[arg-type]
    with contextlib.suppress(etree.LxmlError):
        parser.feed(b"<html>" + html.encode("utf-8", "replace"))
        parser.close()


def _read(html: str) -> Reader:
    reader = Reader()
    feed(html, reader)
    if not reader.is_complete:  # out of memory, libxml2 stops in the middle and may not say so
        raise MemoryError
    return reader
