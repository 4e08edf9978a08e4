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
# Children of lists that are no such item are put into one of the last kind: screen readers count items.
_CHILDREN = {"ul": ("li",), "ol": ("li",), "dl": ("dt", "dd")}
_ITEMS = frozenset({"li", "dt", "dd"})
HIDDEN = frozenset(_HIDDEN.split())
TAGS = frozenset({*_WRITTEN.values(), "a"})
_CELL = frozenset({"colspan", "rowspan"})
ATTRIBUTES = {"*": frozenset({"dir", "lang"}), "a": frozenset({"href"}), "td": _CELL, "th": _CELL}

_DIRECTIONS = frozenset({"ltr", "rtl", "auto"})
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8}){0,4}")  # BCP 47, 2.1
_SPAN = re.compile(r"[1-9][0-9]?")
_HTML = re.compile(r"<html\b([^>]{0,2000})", re.IGNORECASE)  # the parser replaces it by one of its own
_LANG_OR_DIR = re.compile(r"\s(lang|dir)\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)
_NO_COPIES = frozenset({"noarchive", "nocache", "none"})

Marks = Callable[[str], Iterable[tuple[str, bool]]]  # a text in pieces, and whether each is to be marked


class Copy(NamedTuple):
    markup: Markup
    language: str  # of the page; "" where it does not say
    direction: str
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
    root = _HTML.search(html, 0, 4_096)
    of_root = {name.lower(): value for name, value in _LANG_OR_DIR.findall(root[1])} if root else {}
    language, direction = (valid(name, of_root) or simple.of_body[name] for name in ("lang", "dir"))
    noarchive = any(map(forbids_copies, simple.robots))
    return Copy(Markup(clean), language, direction, noarchive, simple.is_full or len(html) > MAX_CHARACTERS)


def forbids_copies(directives: str) -> bool:
    """Do directives of a meta element or X-Robots-Tag forbid copies, for whichever robot?"""
    return not _NO_COPIES.isdisjoint(re.split(r"[\s,:;]+", directives.lower()))


class Simplified:
    """A target of `parsing.page.feed`."""

    def __init__(self, url: str, marks: Marks | None) -> None:
        self.of_body = {"lang": "", "dir": ""}  # attributes of body, for all that is in it
        self.robots: list[str] = []  # what meta elements tell robots
        self.is_full = False
        self._marks = marks
        self._url = self._base = url
        self._has_base = False
        self._parts: list[str] = []
        self._text: list[str] = []  # since the last tag
        self._length = 0
        # what each open element was written as, with a list item added around it
        self._open: list[tuple[str, ...]] = []
        self._parents = [""]  # the open ones that were written
        self._hidden = 0
        self._in_link = False

    @property
    def html(self) -> str:
        return "".join(self._parts)

    # The events, called by lxml.

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._write_text()
        written: tuple[str, ...] = ()
        self._hidden += tag in HIDDEN
        match tag:
            case "body":
                self.of_body = {name: self.of_body[name] or valid(name, attributes) for name in self.of_body}
            case "meta" if attributes.get("name", "").strip().lower() in ROBOTS:
                self.robots.append(attributes.get("content", ""))
            case "base" if not self._has_base and "href" in attributes:
                self._has_base = True
                with suppress(UnfetchableUrl):
                    self._base = resolve(attributes["href"], self._url)
            case "img":
                self.data(f" {attributes.get('alt', '')} ")
            case _ if not self._hidden and len(self._parents) <= MAX_DEPTH and not self.is_full:
                written = self._write_start(tag, attributes)
        self._open.append(written)
        self._parents += written

    def end(self, tag: str) -> None:
        self._write_text()
        self._hidden -= tag in HIDDEN and self._hidden > 0
        for name in reversed(self._open.pop() if self._open else ()):
            self._parents.pop()
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

    def _write_start(self, tag: str, attributes: Mapping[str, str]) -> tuple[str, ...]:
        if tag == "a":
            return self._write_link(attributes)
        name = _WRITTEN.get(tag, "")
        if name in _ITEMS and name not in _CHILDREN.get(self._parents[-1], ()):
            name = "div"
        if not name:
            return ()
        around = self._around(name)
        self._write(f"{_opened(around)}<{name}{''.join(_attributes(name, attributes))}>")
        if name in _VOID:
            self._write("".join(f"</{item}>" for item in around))
            return ()
        return (*around, name)

    def _write_link(self, attributes: Mapping[str, str]) -> tuple[str, ...]:
        """Links to http and https only, and without a user name, which may look like another host."""
        if self._in_link or "href" not in attributes:
            return ()
        try:
            url = resolve(attributes["href"], self._base)
        except UnfetchableUrl:
            return ()
        if not url.startswith("http"):
            return ()
        self._in_link = True
        around = self._around("a")
        self._write(f'{_opened(around)}<a href="{escape(url)}"{"".join(_attributes("a", attributes))}>')
        return (*around, "a")

    def _around(self, name: str) -> tuple[str, ...]:
        """The list item to open first for a child of a list that is none."""
        children = _CHILDREN.get(self._parents[-1], ())
        return children[-1:] if children and name not in children else ()

    def _write_text(self) -> None:
        """The text since the last tag, as a whole: the parser may split a word in two."""
        text = "".join(self._text)
        self._text.clear()
        around = self._around("") if text.strip() else ()
        self._write(_opened(around))
        for piece, is_marked in self._marks(text) if self._marks and text else [(text, False)]:
            self._write(f"<mark>{escape(piece)}</mark>" if is_marked else escape(piece))
        self._write("".join(f"</{item}>" for item in around))

    def _write(self, text: str) -> None:
        self._length += len(text)
        self.is_full = self._length > MAX_OUTPUT
        if not self.is_full:
            self._parts.append(text)


def _opened(names: Iterable[str]) -> str:
    return "".join(f"<{name}>" for name in names)


def valid(attribute: str, attributes: Mapping[str, str]) -> str:
    """The value if it is known to be harmless, else ""."""
    value = attributes.get(attribute, "").strip()
    if attribute == "dir":
        return value.lower() if value.lower() in _DIRECTIONS else ""
    pattern = _LANGUAGE if attribute == "lang" else _SPAN
    return value if pattern.fullmatch(value) else ""


def _attributes(name: str, attributes: Mapping[str, str]) -> Iterator[str]:
    for attribute in ("dir", "lang", *(sorted(_CELL) if name in ("td", "th") else ())):
        if value := valid(attribute, attributes):
            yield f' {attribute}="{value}"'
