"""Makes a stranger's page harmless: structure, text and links stay; nothing runs, loads, sends or overlays.

Two filters, one after the other. `Simplified` reads the events of our parser and writes a small language of
its own: few elements, well nested, never deep. nh3 checks the result and has little to do: a megabyte of
`<ul><li>`, which would take html5ever 80 s, never reaches it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from html import escape
from typing import NamedTuple

import nh3
from markupsafe import Markup

from webcrawler.parsing import feed, flatten
from webcrawler.urls import UnfetchableUrl, resolve

MAX_CHARACTERS = 2**20  # of a page; the rest is left out
MANY_TAGS = 5_000  # from this number on, counting open tags costs less than libxml2 would take
MAX_OUTPUT = 4 * 2**20  # characters: links grow when they are resolved
MAX_DEPTH = 64
ROBOTS = frozenset({"robots", "webcrawler"})  # names of meta elements that address us

_SAME = """abbr b bdi bdo blockquote br caption cite code col colgroup dd del dfn div dl dt em figcaption
    figure h1 h2 h3 h4 h5 h6 hr i ins kbd li mark ol p pre q rp rt ruby s samp small span strong sub sup table
    tbody td tfoot th thead tr u ul var wbr"""
_AS_DIV = """address article aside center details dialog dir fieldset footer form header hgroup legend main
    menu nav search section summary"""
_HIDDEN = """applet audio canvas datalist embed frameset iframe math noembed noframes noscript object
    plaintext script select style svg template textarea title video xmp"""
# How elements are written. Of others only the text is kept, of hidden ones nothing.
_WRITTEN = {name: name for name in _SAME.split()} | dict.fromkeys(_AS_DIV.split(), "div")
_WRITTEN |= {"strike": "s", "tt": "code", "acronym": "abbr"}
_VOID = frozenset({"br", "hr", "wbr", "col"})
HIDDEN = frozenset(_HIDDEN.split())
TAGS = frozenset({*_WRITTEN.values(), "a"})
_CELL = frozenset({"colspan", "rowspan"})
ATTRIBUTES = {"*": frozenset({"dir", "lang"}), "a": frozenset({"href"}), "td": _CELL, "th": _CELL}

_PLAIN = re.compile(r"[a-z0-9-]{1,12}")  # a language, a direction
_SPAN = re.compile(r"[1-9][0-9]?")  # cells: with more, a browser lays out for minutes
_NO_COPIES = frozenset({"noarchive", "nocache", "none"})

Marks = Callable[[str], Iterable[tuple[str, bool]]]  # a text in pieces, and whether each is to be marked


class Copy(NamedTuple):
    markup: Markup
    noarchive: bool  # its authors want no copy shown
    cut: bool  # something was left out at the end


def sanitised(html: str, url: str, marks: Marks | None = None) -> Copy:
    """The page as we may show it: never raises, about 30 ms for 100 kB, 0.7 s for the worst of any size.

    Args:
        html: as `parsing.page.markup` gives it.
        url: where it was fetched: links are made absolute.
    """
    simple = Simplified(url, marks)
    feed(flatten(html[:MAX_CHARACTERS], MANY_TAGS), simple)
    clean = nh3.clean(
        simple.html,
        tags=set(TAGS),
        clean_content_tags=set(HIDDEN),
        attributes={name: set(attributes) for name, attributes in ATTRIBUTES.items()},
        url_schemes={"http", "https"},
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
    )
    noarchive = any(map(forbids_copies, simple.robots))
    return Copy(Markup(clean), noarchive, simple.is_full or len(html) > MAX_CHARACTERS)


def forbids_copies(directives: str) -> bool:
    """Do directives of a meta element or X-Robots-Tag forbid copies, for whichever robot?"""
    return not _NO_COPIES.isdisjoint(re.split(r"[\s,:;]+", directives.lower()))


class Simplified:
    """A target of `parsing.page.feed`."""

    def __init__(self, url: str, marks: Marks | None) -> None:
        self.robots: list[str] = []  # what meta elements tell robots
        self.is_full = False
        self._marks = marks
        self._url = self._base = url
        self._has_base = False
        self._parts: list[str] = []
        self._text: list[str] = []  # since the last tag
        self._length = 0
        self._open: list[str] = []  # what each open element was written as; "": not at all
        self._depth = 0  # of those that were written
        self._hidden = 0
        self._in_link = False

    @property
    def html(self) -> str:
        return "".join(self._parts)

    # The events, called by lxml.

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._write_text()
        written = ""
        self._hidden += tag in HIDDEN
        match tag:
            case "meta" if attributes.get("name", "").strip().lower() in ROBOTS:
                self.robots.append(attributes.get("content", ""))
            case "base" if not self._has_base and "href" in attributes:
                self._has_base = True
                with suppress(UnfetchableUrl):
                    self._base = resolve(attributes["href"], self._url)
            case "img":
                self.data(f" {attributes.get('alt', '')} ")
            case _ if not self._hidden and self._depth < MAX_DEPTH and not self.is_full:
                written = self._write_start(tag, attributes)
        self._open.append(written)
        self._depth += written != ""

    def end(self, tag: str) -> None:
        self._write_text()
        self._hidden -= tag in HIDDEN and self._hidden > 0
        if name := self._open.pop() if self._open else "":
            self._depth -= 1
            self._in_link &= name != "a"
            self._parts.append(f"</{name}>")

    def data(self, chunk: str) -> None:
        if not self._hidden:
            self._text.append(chunk)

    def close(self) -> None:
        self._write_text()
        while self._open:
            self.end("")

    # What is written for them.

    def _write_start(self, tag: str, attributes: Mapping[str, str]) -> str:
        """Write it, and return its name; "": it is not written, or has no end."""
        name = "a" if tag == "a" else _WRITTEN.get(tag, "")
        href = self._href(attributes) if name == "a" else ""
        if not name or (name == "a" and not href):
            return ""
        self._in_link |= name == "a"
        self._write(f"<{name}{href}{''.join(_attributes(name, attributes))}>")
        return "" if name in _VOID else name

    def _href(self, attributes: Mapping[str, str]) -> str:
        """Links to http and https only, and without a user name, which may look like another host."""
        if self._in_link or "href" not in attributes:
            return ""
        try:
            url = resolve(attributes["href"], self._base)
        except UnfetchableUrl:
            return ""
        return f' href="{escape(url)}"' if url.startswith("http") else ""

    def _write_text(self) -> None:
        """The text since the last tag, as a whole: the parser may split a word in two."""
        text = "".join(self._text)
        self._text.clear()
        for piece, is_marked in self._marks(text) if self._marks and text else [(text, False)]:
            self._write(f"<mark>{escape(piece)}</mark>" if is_marked else escape(piece))

    def _write(self, text: str) -> None:
        self._length += len(text)
        self.is_full = self._length > MAX_OUTPUT
        if not self.is_full:
            self._parts.append(text)


def _attributes(name: str, attributes: Mapping[str, str]) -> Iterator[str]:
    for attribute in ("dir", "lang", *(sorted(_CELL) if name in ("td", "th") else ())):
        value = attributes.get(attribute, "").strip().lower()
        if (_SPAN if attribute in _CELL else _PLAIN).fullmatch(value):
            yield f' {attribute}="{value}"'
