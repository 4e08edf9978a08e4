"""Which blocks does a page have, and what do their elements say of them?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from webcrawler.parsing.text import TextFlow

MAX_BLOCKS = 100_000  # what is beyond is part of the block that it stands in

_TAGS = """address article aside blockquote body button center details dialog div dl figcaption figure footer
    form h2 h3 h4 header label li main menu nav ol p pre section select table td ul"""
BLOCKS = frozenset(_TAGS.split())
_PLAIN = frozenset({"li", "p", "td"})  # of no interest without attributes, and half of all

# HTML Standard and ARIA: what stands beside the main content, or is there to be clicked on.
_BESIDE = "aside button dialog footer form label menu nav select"
_ROLES = "alert alertdialog banner complementary contentinfo dialog menu menubar navigation search toolbar"
_AROUND_TAGS, _AROUND_ROLES = frozenset(_BESIDE.split()), frozenset(_ROLES.split())
# Words in names of classes and ids, by which news sites, blogs and manuals alike call such parts.
_AROUND = """ad ads advert advertisement banner breadcrumb breadcrumbs byline caption comment comments consent
    cookie cookies copyright crumb crumbs disqus footer gdpr headerlink login masthead menu modal nav navbar
    navfooter navheader navigation newsletter outbrain pager pagination popular popup promo recirc
    recommendations recommended related search searchbox share sharing sidebar signup skip skiplink social
    sphinxsidebar sponsored submenu subscribe subscription taboola tags toolbar topbar trending widget"""
_OWN = "article body chapter content document entry main page post sect section story text"
_AROUND_NAMES, _OWN_NAMES = frozenset(_AROUND.split()), frozenset(_OWN.split())
_MOST_WORDS = 3  # of a name; longer ones say what the block is about
_NEVER_NAMED = frozenset({"article", "body", "h2", "h3", "h4", "main", "pre"})

_WORDS = re.compile(r"(?<![0-9])[A-Z]?[a-z]+(?![a-z0-9])|[A-Z]{2,}(?![a-z])")
_NOT_DISPLAYED = re.compile(r"display\s*:\s*none", re.IGNORECASE)


class Block:
    """An element with the text from `start` to `end`; the properties are of its tag and attributes alone."""

    __slots__ = ("_attributes", "end", "linked", "start", "tag")

    def __init__(self, tag: str, attributes: Mapping[str, str], start: int, linked: int) -> None:
        self.tag, self.start, self.end = tag, start, start
        # Characters of its text that are in links; while it is open, of the page before it.
        self.linked = linked
        self._attributes = attributes

    @property
    def is_around(self) -> bool:
        """Whether such an element is for what stands around the main content, or is hidden."""
        told = self._attributes
        if self.tag in _AROUND_TAGS:
            return True
        if not told:
            return False
        is_hidden = "hidden" in told or ("style" in told and bool(_NOT_DISPLAYED.search(told["style"])))
        return is_hidden or told.get("role", "") in _AROUND_ROLES

    @property
    def is_named_around(self) -> bool:
        """Whether its class or id is what such blocks are called; a section's id is made of its heading."""
        told = self._attributes
        if not told or self.tag in _NEVER_NAMED:
            return False
        id = "" if self.tag == "section" else told.get("id", "")
        return _is_named_around(f"{told.get('class', '')} {id}")

    @property
    def is_main(self) -> bool:
        told = self._attributes
        return self.tag == "main" or (
            bool(told) and (told.get("role") == "main" or told.get("itemprop") == "articleBody")
        )


@lru_cache(4096)
def _is_named_around(names: str) -> bool:
    found = False
    for name in names.split():
        words = {word.lower() for word in _WORDS.findall(name)}
        if len(words) > _MOST_WORDS:
            continue
        if not words.isdisjoint(_AROUND_NAMES):
            found = True
        elif not words.isdisjoint(_OWN_NAMES):
            return False
    return found


class Blocks:
    """Receives the events of elements in BLOCKS, after the `TextFlow` has."""

    def __init__(self, flow: TextFlow) -> None:
        self.all: list[Block] = []  # in the order of their beginnings
        self._flow = flow
        self._open: list[Block | None] = []

    def open(self, tag: str, attributes: Mapping[str, str], linked: int) -> None:
        if len(self.all) == MAX_BLOCKS or (tag in _PLAIN and not attributes):
            self._open.append(None)
            return
        block = Block(tag, attributes, self._flow.length, linked)
        self._open.append(block)
        self.all.append(block)

    def close(self, linked: int) -> None:
        if block := self._open.pop():
            block.end, block.linked = self._flow.length, linked - block.linked
