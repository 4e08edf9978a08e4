"""Which text, headings, sections and links are in this HTML?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from webcrawler.parsing.around import BLOCKS, Blocks
from webcrawler.parsing.language import subtag
from webcrawler.parsing.outline import HEADED, Outline
from webcrawler.parsing.robots import directives
from webcrawler.parsing.text import FLOWING, TextFlow, plain
from webcrawler.urls import query_in

MAX_LINKS = 50_000  # different ones of a page; more is an attack: the rest is only counted

# HTML Standard, "shared declarative refresh steps"; group 2 is the URL, up to its closing quote.
_REFRESH = re.compile(r"\s*[\d.]+\s*[;,\s]\s*(?:url\s*=\s*)?(['\"]?)(.*)", re.IGNORECASE | re.DOTALL)

_READ = frozenset(("a", "area", "base", "body", "frame", "iframe", "img", "link", "meta", "svg", "title"))

_CLOSED = frozenset(("a", "html", "svg", "title"))

_FLOWING = FLOWING | BLOCKS
_HEADED = HEADED | {"a"}  # also without an id

Attributes = Mapping[str, str]


class Outlink(NamedTuple):
    """A link as the page has it; `start` and `end` are offsets into the text."""

    href: str
    start: int
    end: int
    nofollow: bool = False
    labels: tuple[tuple[int, str], ...] = ()  # (offset, img alt) within the anchor


class Reader:
    """Receives lxml's events and keeps what the page says.

    Events, not a tree: libxml2's trees lose all below level 2,048, its events do not, and cost less.
    The events of one element nest properly, whatever the tags do.
    """

    def __init__(self, encoding: str = "utf-8", robot: str = "") -> None:
        """Make a reader of one page.

        Args:
            encoding: Python's name of the page's, in which the queries of its links are sent.
            robot: name by which pages address this crawler, lower case.
        """
        self._encoding, self._robot = encoding, robot
        self.flow = TextFlow()
        self.outline = Outline(self.flow)
        self.blocks = Blocks(self.flow)
        self.title = self.description = self.keywords = self.base = self.canonical = ""
        self.language = ""  # as the page declares it; what its html element has is known before
        self.is_complete = False  # the end of the document was seen
        self.robots: set[str] = set()
        self.outlinks: list[Outlink] = []
        self.links_left_out = 0
        self.linked = 0  # characters in links that were closed
        self._hrefs: set[str] = set()
        self._foreign = 0  # open svg elements: their title is not the page's
        self._title: list[str] | None = None  # while in the title
        self._anchor: Attributes | None = None  # of the open link, where it leads somewhere
        self._anchor_start: int | None = None  # of the open link
        self._anchor_end = 0  # of the last link that had text
        self._labels: list[tuple[int, str]] = []

    # The events, called by lxml.

    def start(self, tag: str, attributes: Attributes) -> None:
        if tag in _READ:
            self._read(tag, attributes)
        if tag in _FLOWING:
            self.flow.open(tag, attributes)
            if tag in BLOCKS:
                self.blocks.open(tag, attributes, self._linked())
        if "id" in attributes or tag in _HEADED:
            self.outline.open(tag, attributes)

    def end(self, tag: str) -> None:
        if tag in _FLOWING:
            self.flow.close(tag)
            if tag in BLOCKS:
                self.blocks.close(self._linked())
            if tag in HEADED:
                self.outline.close(tag)
        if tag in _CLOSED:
            self._close(tag)

    def data(self, chunk: str) -> None:
        if self._title is not None:
            self._title.append(chunk)
            return
        flow = self.flow
        if flow.hidden:
            return
        if self._anchor_start is not None and self._anchor_end == flow.length:
            flow.space()  # links beside one another: words of a menu
        flow.write(chunk)

    def close(self) -> None:
        self._close_link()

    def _close(self, tag: str) -> None:
        if tag == "a":
            self._close_link()
        elif tag == "title":
            if self._title is None:
                self.flow.hidden -= 1
            else:
                self.title = plain("".join(self._title))
                self._title = None
        elif tag == "svg":
            self._foreign -= 1
        elif tag == "html":
            self.is_complete = True

    def _read(self, tag: str, attributes: Attributes) -> None:
        match tag:
            case "a":
                self._close_link()
                self._anchor_start, self._labels = self.flow.length, []
                self._anchor = attributes if "href" in attributes else None
            case "img":
                if self._anchor is not None and (label := attributes.get("alt")):
                    self._labels.append((self.flow.length, label))
            case "area" if "href" in attributes:
                self._add_here(attributes["href"], attributes.get("alt", ""), _is_nofollow(attributes))
            case "frame" | "iframe" if "src" in attributes:
                self._add_here(attributes["src"], attributes.get("title", ""))
            case "link" if "canonical" in attributes.get("rel", "").lower().split():
                self.canonical = self.canonical or query_in(self._encoding, attributes.get("href", ""))
            case "meta":
                self._meta(attributes)
            case "base":
                self.base = self.base or query_in(self._encoding, attributes.get("href", ""))
            case "title" if self.title or self._foreign or self._title is not None:
                self.flow.hidden += 1
            case "title":
                self._title = []
            case "body":
                self.language = self.language or subtag(attributes.get("lang", ""))
            case "svg":
                self._foreign += 1

    def _meta(self, attributes: Attributes) -> None:
        name, content = attributes.get("name", "").strip().lower(), attributes.get("content", "")
        if name == "description":
            self.description = self.description or plain(content)
        elif name == "keywords":
            self.keywords = self.keywords or plain(content)
        elif name == "robots" or (name and name == self._robot):
            self.robots |= directives(content, self._robot)
        pragma = attributes.get("http-equiv", "").strip().lower()
        if pragma == "content-language":
            self.language = self.language or subtag(content)
        elif pragma == "refresh" and (match := _REFRESH.match(content)):
            quote, url = match.groups()
            if url := (url.partition(quote)[0] if quote else url).strip():
                self._add_here(url)

    def _close_link(self) -> None:
        if (start := self._anchor_start) is None:
            return
        if anchor := self._anchor:
            nofollow, labels = _is_nofollow(anchor), tuple(self._labels)
            self.linked += self.flow.length - start
            self._add(anchor["href"], start, nofollow, labels)
        if self.flow.length > start:
            self._anchor_end = self.flow.length
        self._anchor = self._anchor_start = None

    def _linked(self) -> int:
        """How many characters of the text so far are in links."""
        return self.linked + (self.flow.length - (self._anchor_start or 0) if self._anchor else 0)

    def _add_here(self, href: str, label: str = "", nofollow: bool = False) -> None:
        at = self.flow.length
        self._add(href, at, nofollow, ((at, label),) if label else ())

    def _add(self, href: str, start: int, nofollow: bool, labels: tuple[tuple[int, str], ...]) -> None:
        href = query_in(self._encoding, href)
        known = href in self._hrefs
        if not known and len(self._hrefs) == MAX_LINKS:
            self.links_left_out += 1
        elif not known or len(self.outlinks) < MAX_LINKS:  # past that, no further anchors of a known link
            self._hrefs.add(href)
            self.outlinks.append(Outlink(href, start, self.flow.length, nofollow, labels))


def _is_nofollow(attributes: Attributes) -> bool:
    return "nofollow" in attributes.get("rel", "").lower().split()
