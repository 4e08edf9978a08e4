"""Documents that are XML files in a zip archive."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from contextlib import suppress
from io import BytesIO
from typing import Any

from lxml import etree

from webcrawler.errors import Unreadable

MAX_BYTES = 50 * 2**20  # of all parts that are read, inflated; what is beyond is left out


class Package:
    """The parts of such a document.

    Raises, as all of its methods:
        Unreadable: it is encrypted.
        zipfile.BadZipFile and others: it is damaged.
    """

    def __init__(self, body: bytes) -> None:
        self._zip = zipfile.ZipFile(BytesIO(body))
        self._left = MAX_BYTES

    def __contains__(self, name: str) -> bool:
        return name in self._zip.NameToInfo

    def part(self, name: str) -> bytes:
        """Return a part, or its beginning; nothing where there is none."""
        if name not in self:
            return b""
        if self._zip.getinfo(name).flag_bits & 1:
            raise Unreadable("it is encrypted")
        with self._zip.open(name) as file:
            content = file.read(self._left)
        self._left -= len(content)
        return content


class Events:
    """A target of `feed_xml` that does nothing yet."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None: ...
    def end(self, tag: str) -> None: ...
    def data(self, chunk: str) -> None: ...
    def close(self) -> None: ...


def feed_xml(xml: bytes, target: Events) -> None:
    """Call a target for each element and text of a part, up to the first error in it; `close` may come twice.

    Nothing external is read.

    Args:
        target: gets names as "{namespace}name".
    Raises:
        Unreadable: it declares entities, as no such document does.
    """
    if b"<!ENTITY" in xml:
        raise Unreadable("it declares entities")
    lxml_target: Any = target  # its type asks for comments, too
    parser = etree.XMLParser(target=lxml_target, resolve_entities=False, no_network=True, recover=True)
    with suppress(etree.LxmlError):
        parser.feed(xml)
        parser.close()
    target.close()


def local(name: str) -> str:
    """Return a name without its namespace."""
    return name.rpartition("}")[2]


class Texts(Events):
    """Collects the text of elements, by local name: what a document says of itself."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self._open: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = local(tag)
        self._open.append(name)
        if name in self.found:
            self.found[name] += ", "

    def end(self, tag: str) -> None:
        self._open.pop()

    def data(self, chunk: str) -> None:
        name = self._open[-1] if self._open else ""
        self.found[name] = self.found.get(name, "") + chunk


def texts(xml: bytes) -> dict[str, str]:
    """Return the text of each element of a small part, by local name; of several with one name a list."""
    target = Texts()
    feed_xml(xml, target)
    return target.found
