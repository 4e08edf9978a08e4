"""Documents of Word (ECMA-376; before 2007 by antiword) and OpenDocument, and books (EPUB 3.3).

All are XML, told as the HTML that it stands for. Weakness: antiword leaves out where links lead.
"""

from __future__ import annotations

import re
import resource
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from io import BytesIO
from posixpath import dirname, join, normpath
from typing import Any
from urllib.parse import unquote

from lxml import etree

from webcrawler.errors import Unreadable
from webcrawler.parsing.documents.text import NONE, Target, described, inner_html
from webcrawler.parsing.markup import markup

MAX_BYTES = 50 * 2**20  # of all parts that are read, inflated; what is beyond is left out
MAX_CHAPTERS = 5_000  # of a book

_ANTIWORD = ("antiword", "-x", "db", "-m", "UTF-8.txt", "-")
_ANTIWORD_SECONDS = 5  # of processor time; the parser's own timers do not hold for its children
_DOCBOOK = {
    "para": "p",
    "emphasis": "b",
    "informaltable": "table",
    "row": "tr",
    "entry": "td",
    "listitem": "li",
}
_DOCBOOK_SECTIONS = ("chapter", "sect1", "sect2", "sect3", "sect4", "sect5")
_WORD = {"tbl": "table", "tr": "tr", "tc": "td", "tab": " ", "br": " ", "cr": " "}
_HEADING = re.compile(r"heading ([1-6])", re.IGNORECASE)
_OFF = frozenset({"0", "false", "off", "none"})
_OPEN = {"table": "table", "table-row": "tr", "table-cell": "td", "s": " ", "tab": " ", "line-break": " "}

_Element = tuple[str, Mapping[str, str]]


def doc(body: bytes, _: str, target: Target) -> None:
    try:
        done = subprocess.run(_ANTIWORD, input=body, capture_output=True, preexec_fn=_limit)
    except FileNotFoundError:
        raise Unreadable("antiword is not installed: apt install antiword") from None
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip() or f"antiword ended with {done.returncode}"
        raise Unreadable(reason[:200])
    _tell(_tree(done.stdout), target, _of_docbook, lambda node: True)


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (_ANTIWORD_SECONDS, _ANTIWORD_SECONDS))


def _of_docbook(node: Any) -> _Element | None:
    if node.tag == "bookinfo":  # what the document says of itself
        return None
    if node.tag == "title":
        depth = sum(1 for _ in node.iterancestors(*_DOCBOOK_SECTIONS))
        return f"h{min(depth, 6)}" if depth else "title", NONE
    return _DOCBOOK.get(node.tag, ""), NONE


def docx(body: bytes, _: str, target: Target) -> None:
    package = _Package(body)
    if "word/document.xml" not in package:
        raise Unreadable("there is no word/document.xml in it")
    _tell_about(package.xml("docProps/core.xml"), target, "keywords")
    styles = dict[str, str]()  # by id; known by their English names, as ids are translated
    for style in package.xml("word/styles.xml").iter("{*}style"):
        for name in (_of(node, "val") for node in style.iter("{*}name")):
            if heading := _HEADING.fullmatch(name):
                styles[_of(style, "styleId")] = f"h{heading[1]}"
            elif name.lower() == "title":
                styles[_of(style, "styleId")] = "h1"
    for part in ("document", "footnotes", "endnotes"):
        relations = package.xml(f"word/_rels/{part}.xml.rels").iter("{*}Relationship")
        urls = {node.get("Id"): node.get("Target", "") for node in relations if _leads_out(node)}
        element = partial(_of_word, styles, urls)
        _tell(package.xml(f"word/{part}.xml"), target, element, lambda node: _name(node) == "t")


def _leads_out(relation: Any) -> bool:
    is_link: bool = relation.get("Type", "").endswith("/hyperlink")
    return is_link and relation.get("TargetMode") == "External"


def _of_word(styles: Mapping[str, str], urls: Mapping[str, str], node: Any) -> _Element:
    match _name(node):
        case "p":
            style = node.find("{*}pPr/{*}pStyle")
            return styles.get(_of(style, "val"), "p") if style is not None else "p", NONE
        case "r":
            marks = (mark for mark in node.iterfind("{*}rPr/*") if _name(mark) in ("b", "i"))
            return next((_name(mark) for mark in marks if _of(mark, "val") not in _OFF), ""), NONE
        case "hyperlink" if url := urls.get(_of(node, "id")):
            return "a", {"href": url}
    return _WORD.get(_name(node), ""), NONE


def odt(body: bytes, _: str, target: Target) -> None:
    package = _Package(body)
    if b"encryption-data" in package.part("META-INF/manifest.xml"):
        raise Unreadable("it is encrypted")
    if "content.xml" not in package:
        raise Unreadable("there is no content.xml in it")
    _tell_about(package.xml("meta.xml"), target, "keyword")
    root = package.xml("content.xml")
    styles = {"Title": "h1"}
    for style in root.iter("{*}style"):
        if _of(style, "parent-style-name") == "Title":
            styles[_of(style, "name")] = "h1"
        elif any(_of(node, "font-weight") == "bold" for node in style.iter("{*}text-properties")):
            styles[_of(style, "name")] = "b"
    _tell(root, target, partial(_of_open, styles), _is_in_paragraph)


def _is_in_paragraph(node: Any) -> bool:
    return _name(node) in ("p", "h") or any(True for _ in node.iterancestors("{*}p", "{*}h"))


def _of_open(styles: Mapping[str, str], node: Any) -> _Element | None:
    style = styles.get(_of(node, "style-name"), "")
    match _name(node):
        case "tracked-changes":  # what was deleted
            return None
        case "h":
            level = _of(node, "outline-level") or "1"
            return f"h{level if level in tuple('123456') else 6}", NONE
        case "p":
            return "h1" if style == "h1" else "p", NONE
        case "span":
            return "b" if style == "b" else "", NONE
        case "a" if url := _of(node, "href"):
            return "a", {"href": url}
    return _OPEN.get(_name(node), ""), NONE


def epub(body: bytes, _: str, target: Target) -> None:
    """Tell of the chapters of a book in the order of its spine; they are XHTML."""
    package = _Package(body)
    encrypted = {
        node.get("URI") for node in package.xml("META-INF/encryption.xml").iter("{*}CipherReference")
    }
    path = next(
        (node.get("full-path", "") for node in package.xml("META-INF/container.xml").iter("{*}rootfile")), ""
    )
    book = package.xml(path)
    _tell_about(book, target, "subject")
    items = {item.get("id"): item.get("href", "") for item in book.iter("{*}item")}
    hrefs = [items.get(node.get("idref")) for node in book.iter("{*}itemref")]
    paths = dict.fromkeys(normpath(join(dirname(path), unquote(href))) for href in filter(None, hrefs))
    chapters = [chapter for chapter in paths if chapter in package][:MAX_CHAPTERS]
    if not chapters:
        raise Unreadable("it has no chapters")
    if encrypted.issuperset(chapters):
        raise Unreadable("it is encrypted")
    for chapter in chapters:
        if chapter not in encrypted:  # often fonts alone are
            target.start("section", NONE)
            xhtml = markup(package.part(chapter), "application/xhtml+xml")
            inner_html(xhtml, target, keeps_relative=False)
            target.end("section")


class _Package:
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
        return _tree(self.part(name))


def _tree(xml: bytes) -> Any:
    """Return the root of a part as far as it can be read; an empty element where there is none.

    Nothing external is read. Its memory is bounded by that of the parser's process.
    """
    if b"<!ENTITY" in xml:  # as no such document does
        raise Unreadable("it declares entities")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, recover=True, remove_comments=True, remove_pis=True
    )
    root = None
    with suppress(etree.LxmlError):
        root = etree.fromstring(xml, parser)
    return etree.Element("nothing") if root is None else root


def _tell(
    root: Any, target: Target, element: Callable[[Any], _Element | None], is_text: Callable[[Any], bool]
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


def _tell_about(root: Any, target: Target, keywords: str) -> None:
    """Tell what a document says of itself."""
    title, description = (
        next((node.text for node in root.iter(f"{{*}}{name}") if node.text), "")
        for name in ("title", "description")
    )
    words = (node.text for node in root.iter(f"{{*}}{keywords}"))
    described(target, title, description, ", ".join(filter(None, words)))


def _name(node: Any) -> str:
    """Return the name of an element without its namespace."""
    return str(node.tag).rpartition("}")[2]


def _of(node: Any, name: str) -> str:
    """Return the value of an attribute, whatever its namespace."""
    return next((value for key, value in node.attrib.items() if key.rpartition("}")[2] == name), "")
