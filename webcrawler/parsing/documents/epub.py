"""Books (EPUB 3.3): the chapters of their spine, which are XHTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from posixpath import dirname, join, normpath
from urllib.parse import unquote

from webcrawler.errors import Unreadable
from webcrawler.parsing.documents.inner import inner_html
from webcrawler.parsing.documents.reading import NONE, Target, described
from webcrawler.parsing.documents.zipped import Events, Package, feed_xml, local
from webcrawler.parsing.markup import markup

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"  # lists what is encrypted: often fonts alone
MAX_CHAPTERS = 5_000


def read(body: bytes, _: str, target: Target) -> None:
    package = Package(body)
    encrypted = set(_attributes(package.part(_ENCRYPTION), "CipherReference", "URI"))
    for path in _attributes(package.part(_CONTAINER), "rootfile", "full-path"):
        book = _Book(dirname(path))
        feed_xml(package.part(path), book)
        described(target, book.title, book.description, ", ".join(book.subjects))
        chapters = [path for path in dict.fromkeys(book.chapters()) if path in package][:MAX_CHAPTERS]
        if not chapters:
            raise Unreadable("it has no chapters")
        if encrypted.issuperset(chapters):
            raise Unreadable("it is encrypted")
        for chapter in chapters:
            if chapter not in encrypted:
                target.start("section", NONE)
                xhtml = markup(package.part(chapter), "application/xhtml+xml")
                inner_html(xhtml, target, keeps_relative=False)
                target.end("section")
        return
    raise Unreadable("it names no book")


class _Book(Events):
    """A package document (EPUB 3.3, 5): what the book says of itself, and its chapters in order."""

    def __init__(self, folder: str) -> None:
        self.title = self.description = ""
        self.subjects: list[str] = []
        self._folder = folder
        self._items: dict[str, str] = {}  # path by id
        self._spine: list[str] = []  # ids
        self._text = ""  # of the open element

    def chapters(self) -> Iterator[str]:
        for id in self._spine:
            if id in self._items:
                yield normpath(join(self._folder, unquote(self._items[id])))

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._text = ""
        match local(tag):
            case "item":
                self._items[attributes.get("id", "")] = attributes.get("href", "")
            case "itemref":
                self._spine.append(attributes.get("idref", ""))

    def data(self, chunk: str) -> None:
        self._text += chunk

    def end(self, tag: str) -> None:
        match local(tag):
            case "title":
                self.title = self.title or self._text
            case "description":
                self.description = self.description or self._text
            case "subject":
                self.subjects.append(self._text)
        self._text = ""


class _Attributes(Events):
    def __init__(self, element: str, attribute: str) -> None:
        self.found: list[str] = []
        self._element, self._attribute = element, attribute

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if local(tag) == self._element and self._attribute in attributes:
            self.found.append(attributes[self._attribute])


def _attributes(xml: bytes, element: str, attribute: str) -> list[str]:
    target = _Attributes(element, attribute)
    feed_xml(xml, target)
    return target.found
