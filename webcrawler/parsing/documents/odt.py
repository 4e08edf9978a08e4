"""Texts of OpenOffice and LibreOffice (OpenDocument 1.3, Part 3)."""

from __future__ import annotations

from collections.abc import Mapping

from webcrawler.errors import Unreadable
from webcrawler.parsing.documents.reading import NONE, Target, described
from webcrawler.parsing.documents.zipped import Events, Package, feed_xml, texts

_STYLE, _TEXT, _TABLE, _FO, _XLINK = (
    f"{{{name}}}"
    for name in (
        "urn:oasis:names:tc:opendocument:xmlns:style:1.0",
        "urn:oasis:names:tc:opendocument:xmlns:text:1.0",
        "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
        "urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0",
        "http://www.w3.org/1999/xlink",
    )
)
_TAGS = {f"{_TABLE}table": "table", f"{_TABLE}table-row": "tr", f"{_TABLE}table-cell": "td"}
_SPACES = frozenset({f"{_TEXT}s", f"{_TEXT}tab", f"{_TEXT}line-break"})
_PARAGRAPHS = frozenset({f"{_TEXT}p", f"{_TEXT}h"})
_DELETED = f"{_TEXT}tracked-changes"


def read(body: bytes, _: str, target: Target) -> None:
    package = Package(body)
    if b"encryption-data" in package.part("META-INF/manifest.xml"):
        raise Unreadable("it is encrypted")
    if "content.xml" not in package:
        raise Unreadable("there is no content.xml in it")
    about = texts(package.part("meta.xml"))
    described(target, *(about.get(name, "") for name in ("title", "description", "keyword")))
    feed_xml(package.part("content.xml"), _Text(target))


class _Text(Events):
    """Tells a target of headings, paragraphs, links and tables as HTML would have them."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._open: list[tuple[str, str]] = []  # (name, HTML element that was begun for it)
        self._style = ""  # that is being described: styles come before the text
        self._titles = {"Title"}  # styles of titles, and of what is bold
        self._bold: set[str] = set()
        self._paragraphs = 0  # open ones: what stands outside of them is no text
        self._deleted = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        begun = ""
        self._deleted += tag == _DELETED
        if tag == f"{_STYLE}style":
            self._style = attributes.get(f"{_STYLE}name", "")
            if attributes.get(f"{_STYLE}parent-style-name") == "Title":
                self._titles.add(self._style)
        elif tag == f"{_STYLE}text-properties" and attributes.get(f"{_FO}font-weight") == "bold":
            self._bold.add(self._style)
        elif tag in _SPACES:
            self._target.data(" ")
        elif not self._deleted and (found := self._element(tag, attributes)):
            begun, attributes = found
            self._target.start(begun, attributes)
        self._paragraphs += tag in _PARAGRAPHS
        self._open.append((tag, begun))

    def _element(self, tag: str, attributes: Mapping[str, str]) -> tuple[str, Mapping[str, str]] | None:
        """The HTML element that stands for this one."""
        style = attributes.get(f"{_TEXT}style-name", "")
        if tag == f"{_TEXT}h":
            level = attributes.get(f"{_TEXT}outline-level", "1")
            return f"h{level if level in tuple('123456') else 6}", NONE
        if tag == f"{_TEXT}p":
            return "h1" if style in self._titles else "p", NONE
        if tag == f"{_TEXT}span" and style in self._bold:
            return "b", NONE
        if tag == f"{_TEXT}a" and (url := attributes.get(f"{_XLINK}href")):
            return "a", {"href": url}
        return (_TAGS[tag], NONE) if tag in _TAGS else None

    def end(self, tag: str) -> None:
        name, begun = self._open.pop()
        self._deleted -= name == _DELETED
        self._paragraphs -= name in _PARAGRAPHS
        if begun:
            self._target.end(begun)

    def data(self, chunk: str) -> None:
        if self._paragraphs and not self._deleted:
            self._target.data(chunk)

    def close(self) -> None:
        """End what a damaged part has left open."""
        while self._open:
            self.end("")
