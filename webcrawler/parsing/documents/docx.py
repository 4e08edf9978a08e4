"""Word's documents since 2007 (ECMA-376, Part 1, 17 WordprocessingML)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from webcrawler.errors import Unreadable
from webcrawler.parsing.documents.reading import NONE, Target, described
from webcrawler.parsing.documents.zipped import Events, Package, feed_xml, local, texts

_MAIN = "word/document.xml"
_TEXTS = (_MAIN, "word/footnotes.xml", "word/endnotes.xml")
_TABLES = {"tbl": "table", "tr": "tr", "tc": "td"}
_OFF = frozenset({"0", "false", "off", "none"})
_HEADING = re.compile(r"heading ([1-6])", re.IGNORECASE)


def read(body: bytes, _: str, target: Target) -> None:
    package = Package(body)
    if _MAIN not in package:
        raise Unreadable(f"there is no {_MAIN} in it")
    about = texts(package.part("docProps/core.xml"))
    described(target, *(about.get(name, "") for name in ("title", "description", "keywords")))
    styles = _Styles()
    feed_xml(package.part("word/styles.xml"), styles)
    for name in _TEXTS:
        folder, _, file = name.rpartition("/")
        relations = _Relations()
        feed_xml(package.part(f"{folder}/_rels/{file}.rels"), relations)
        feed_xml(package.part(name), _Text(target, styles.tags, relations.urls))


class _Styles(Events):
    """Which HTML element stands for a style of paragraphs: by its English name, as ids are translated."""

    def __init__(self) -> None:
        self.tags: dict[str, str] = {}  # by id
        self._id = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        match local(tag):
            case "style":
                self._id = _of(attributes, "styleId")
            case "name":
                name = _of(attributes, "val")
                if found := _HEADING.fullmatch(name):
                    self.tags[self._id] = f"h{found[1]}"
                elif name.lower() == "title":
                    self.tags[self._id] = "h1"


class _Relations(Events):
    """Where the links of a part lead, by their ids."""

    def __init__(self) -> None:
        self.urls: dict[str, str] = {}

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if attributes.get("TargetMode") == "External" and attributes.get("Type", "").endswith("/hyperlink"):
            self.urls[attributes.get("Id", "")] = attributes.get("Target", "")


class _Text(Events):
    """Tells a target of paragraphs, runs, links and tables as HTML would have them.

    What a paragraph or a run is stands in its first child, so its element begins with its first text.
    """

    def __init__(self, target: Target, styles: Mapping[str, str], urls: Mapping[str, str]) -> None:
        self._target, self._styles, self._urls = target, styles, urls
        self._open: list[tuple[str, str]] = []  # (local name, HTML element that was begun for it)
        self._paragraph = ""  # the element that the open paragraph will be
        self._emphasis = ""  # and that of the open run
        self._is_text = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name, begun = local(tag), ""
        match name:
            case "p":
                self._paragraph = "p"
            case "r":
                self._emphasis = ""
            case "pStyle":
                self._paragraph = self._styles.get(_of(attributes, "val"), "p")
            case "b" | "i" if _of(attributes, "val") not in _OFF:
                self._emphasis = name
            case "hyperlink" if url := self._urls.get(_of(attributes, "id")):
                self._begin_paragraph()
                begun = self._begin("a", {"href": url})
            case "tbl" | "tr" | "tc":
                begun = self._begin(_TABLES[name])
            case "tab" | "br" | "cr":
                self._target.data(" ")
            case "t":
                self._is_text = True
        self._open.append((name, begun))

    def end(self, tag: str) -> None:
        name, begun = self._open.pop()
        self._is_text = False
        if begun:
            self._target.end(begun)
        if name == "p":
            self._paragraph = ""

    def data(self, chunk: str) -> None:
        if not self._is_text:
            return
        self._begin_paragraph()
        if self._emphasis:
            self._target.start(self._emphasis, NONE)
        self._target.data(chunk)
        if self._emphasis:
            self._target.end(self._emphasis)

    def _begin_paragraph(self) -> None:
        """Begin the innermost open paragraph, unless that was done."""
        for at in range(len(self._open) - 1, -1, -1):
            name, begun = self._open[at]
            if name == "p":
                if not begun:
                    self._open[at] = (name, self._begin(self._paragraph or "p"))
                return

    def _begin(self, tag: str, attributes: Mapping[str, str] = NONE) -> str:
        self._target.start(tag, attributes)
        return tag

    def close(self) -> None:
        """End what a damaged part has left open."""
        while self._open:
            self.end("")


def _of(attributes: Mapping[str, str], name: str) -> str:
    """The value of an attribute, whatever its namespace."""
    return next((value for key, value in attributes.items() if local(key) == name), "")
