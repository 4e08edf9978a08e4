"""Documents that are XML in a zip archive: their parts, and how trees are told as the HTML they stand for."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from io import BytesIO
from posixpath import basename, dirname, join, normpath
from typing import Any

from lxml import etree

from webcrawler.errors import Unreadable
from webcrawler.parsing.documents.text import NONE, Target, described

MAX_BYTES = 50 * 2**20  # of all parts that are read, inflated; what is beyond is left out

_ON = ("no_network", "recover", "remove_comments", "remove_pis")
_SAFE: dict[str, Any] = {"resolve_entities": False} | dict.fromkeys(_ON, True)

Element = tuple[str, Mapping[str, str]]


class Package:
    """The parts of a document in a zip archive.

    Raises, as all of its methods:
        Unreadable: it is encrypted, or declares entities.
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

    def xml(self, name: str) -> Any:
        return read_xml(self.part(name))


def links_of(package: Package, part: str) -> dict[str, str]:
    """Return where the links of a part of an Office document lead, by id."""
    return {
        node.get("Id", ""): node.get("Target", "")
        for node in _relations(package, part)
        if node.get("TargetMode") == "External" and node.get("Type", "").endswith("/hyperlink")
    }


def parts_of(package: Package, part: str) -> dict[str, str]:
    """Return the names of the parts of an Office document to which a part refers, by id."""
    return {
        node.get("Id", ""): normpath(join("/", dirname(part), node.get("Target", "")))[1:]
        for node in _relations(package, part)
        if node.get("TargetMode") != "External"
    }


def _relations(package: Package, part: str) -> Iterator[Any]:
    found: Iterator[Any] = package.xml(join(dirname(part), "_rels", f"{basename(part)}.rels")).iter(
        "{*}Relationship"
    )
    return found


def read_xml(xml: bytes) -> Any:
    """Return the root of a part as far as it can be read; an empty element where there is none.

    Nothing external is read. Its memory is bounded by that of the parser's process.
    """
    _refuse_entities(xml)
    root = None
    with suppress(etree.LxmlError):
        root = etree.fromstring(xml, etree.XMLParser(**_SAFE))
    return etree.Element("nothing") if root is None else root


def elements(xml: bytes, *names: str) -> Iterator[Any]:
    """Yield the elements of these names as they end, and keep none of them: for parts that are long."""
    _refuse_entities(xml)
    with suppress(etree.LxmlError):
        for _, node in etree.iterparse(BytesIO(xml), tag=[f"{{*}}{name}" for name in names], **_SAFE):
            yield node
            node.clear()
            while node.getprevious() is not None:
                del node.getparent()[0]


def _refuse_entities(xml: bytes) -> None:
    if b"<!ENTITY" in xml:  # as no such document does
        raise Unreadable("it declares entities")


def tell(
    root: Any, target: Target, element: Callable[[Any], Element | None], is_text: Callable[[Any], bool]
) -> None:
    """Tell a target of a tree.

    Args:
        element: the HTML element that stands for a node; "" for none, " " for a blank, None: it is left out
            with all that is in it.
        is_text: whether the characters in a node are text of the document.
    """
    walk = etree.iterwalk(root, events=("start", "end"))
    opened: list[str] = []
    for event, node in walk:
        if event == "start":
            tag, attributes = element(node) or ("", None)
            opened.append(tag.strip())
            if opened[-1]:
                target.start(tag, attributes or NONE)
            elif tag:
                target.data(tag)
            if attributes is None:
                walk.skip_subtree()
            elif node.text and is_text(node):
                target.data(node.text)
        else:
            if tag := opened.pop():
                target.end(tag)
            if node.tail and is_text(node.getparent()):
                target.data(node.tail)


def tell_about(root: Any, target: Target, keywords: str) -> None:
    """Tell what a document says of itself."""
    title, description = (
        next((node.text for node in root.iter(f"{{*}}{name}") if node.text), "")
        for name in ("title", "description")
    )
    words = (node.text for node in root.iter(f"{{*}}{keywords}"))
    described(target, title, description, ", ".join(filter(None, words)))


def name_of(node: Any) -> str:
    """Return the name of an element without its namespace."""
    return str(node.tag).rpartition("}")[2]


def value_of(node: Any, name: str) -> str:
    """Return the value of an attribute, whatever its namespace."""
    return next((value for key, value in node.attrib.items() if key.rpartition("}")[2] == name), "")
