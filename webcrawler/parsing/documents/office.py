"""Documents of Word (ECMA-376; before 2007 by antiword) and OpenDocument, and books (EPUB 3.3).

All are XML, told as the HTML that it stands for. Weakness: antiword leaves out where links lead.
"""

from __future__ import annotations

import re
import resource
import subprocess
from collections.abc import Mapping
from functools import partial
from posixpath import dirname, join, normpath
from typing import Any
from urllib.parse import unquote

from webcrawler.errors import Unreadable
from webcrawler.parsing.documents.packages import (
    Element,
    Package,
    links_of,
    name_of,
    read_xml,
    tell,
    tell_about,
    value_of,
)
from webcrawler.parsing.documents.text import NONE, Target, inner_html
from webcrawler.parsing.markup import markup

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
HIDDEN = "hidden"  # in the place of an element
_OFF = frozenset({"0", "false", "off", "none"})
_OPEN = {"table": "table", "table-row": "tr", "table-cell": "td", "s": " ", "tab": " ", "line-break": " "}


def doc(body: bytes, _: str, target: Target) -> None:
    try:
        done = subprocess.run(_ANTIWORD, input=body, capture_output=True, preexec_fn=_limit)
    except FileNotFoundError:
        raise Unreadable("antiword is not installed: apt install antiword") from None
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip() or f"antiword ended with {done.returncode}"
        raise Unreadable(reason[:200])
    tell(read_xml(done.stdout), target, _of_docbook, lambda node: True)


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (_ANTIWORD_SECONDS, _ANTIWORD_SECONDS))


def _of_docbook(node: Any) -> Element | None:
    if node.tag == "bookinfo":  # what the document says of itself
        return None
    if node.tag == "title":
        depth = sum(1 for _ in node.iterancestors(*_DOCBOOK_SECTIONS))
        return f"h{min(depth, 6)}" if depth else "title", NONE
    return _DOCBOOK.get(node.tag, ""), NONE


def docx(body: bytes, _: str, target: Target) -> None:
    package = Package(body)
    if "word/document.xml" not in package:
        raise Unreadable("there is no word/document.xml in it")
    tell_about(package.xml("docProps/core.xml"), target, "keywords")
    styles = dict[str, str]()  # by id; known by their English names, as ids are translated
    for style in package.xml("word/styles.xml").iter("{*}style"):
        for name in (value_of(node, "val") for node in style.iter("{*}name")):
            if heading := _HEADING.fullmatch(name):
                styles[value_of(style, "styleId")] = f"h{heading[1]}"
            elif name.lower() == "title":
                styles[value_of(style, "styleId")] = "h1"
    for part in ("document", "footnotes", "endnotes"):
        element = partial(_of_word, styles, links_of(package, f"word/{part}.xml"))
        tell(package.xml(f"word/{part}.xml"), target, element, lambda node: name_of(node) == "t")


def _of_word(styles: Mapping[str, str], urls: Mapping[str, str], node: Any) -> Element:
    match name_of(node):
        case "p":
            style = node.find("{*}pPr/{*}pStyle")
            return styles.get(value_of(style, "val"), "p") if style is not None else "p", NONE
        case "r":
            marks = (mark for mark in node.iterfind("{*}rPr/*") if name_of(mark) in ("b", "i"))
            return next((name_of(mark) for mark in marks if value_of(mark, "val") not in _OFF), ""), NONE
        case "hyperlink" if url := urls.get(value_of(node, "id")):
            return "a", {"href": url}
    return _WORD.get(name_of(node), ""), NONE


def odt(body: bytes, _: str, target: Target) -> None:
    root, styles = open_document(body, target)
    tell(root, target, partial(of_open, styles), is_in_paragraph)


def open_document(body: bytes, target: Target) -> tuple[Any, Mapping[str, str]]:
    """Tell what a document of OpenDocument says of itself; return its content, and elements by style."""
    package = Package(body)
    if b"encryption-data" in package.part("META-INF/manifest.xml"):
        raise Unreadable("it is encrypted")
    if "content.xml" not in package:
        raise Unreadable("there is no content.xml in it")
    tell_about(package.xml("meta.xml"), target, "keyword")
    root = package.xml("content.xml")
    styles = {"Title": "h1"}
    for style in root.iter("{*}style"):
        if value_of(style, "parent-style-name") == "Title":
            styles[value_of(style, "name")] = "h1"
        elif any(value_of(node, "font-weight") == "bold" for node in style.iter("{*}text-properties")):
            styles[value_of(style, "name")] = "b"
        elif any(map(_is_hidden, style)):
            styles[value_of(style, "name")] = HIDDEN
    return root, styles


def _is_hidden(properties: Any) -> bool:
    """Are they those of a slide or of a sheet that is not shown?"""
    return value_of(properties, "visibility") == "hidden" or value_of(properties, "display") == "false"


def is_in_paragraph(node: Any) -> bool:
    return name_of(node) in ("p", "h") or any(True for _ in node.iterancestors("{*}p", "{*}h"))


def of_open(styles: Mapping[str, str], node: Any) -> Element | None:
    style = styles.get(value_of(node, "style-name"), "")
    match name_of(node):
        case "tracked-changes" | "notes":  # what was deleted, and what a speaker reads
            return None
        case "page" | "table" if style == HIDDEN:
            return None
        case "h":
            level = value_of(node, "outline-level") or "1"
            return f"h{level if level in tuple('123456') else 6}", NONE
        case "p":
            return "h1" if style == "h1" else "p", NONE
        case "span":
            return "b" if style == "b" else "", NONE
        case "a" if url := value_of(node, "href"):
            return "a", {"href": url}
    return _OPEN.get(name_of(node), ""), NONE


def epub(body: bytes, _: str, target: Target) -> None:
    """Tell of the chapters of a book in the order of its spine; they are XHTML."""
    package = Package(body)
    encrypted = {
        node.get("URI") for node in package.xml("META-INF/encryption.xml").iter("{*}CipherReference")
    }
    path = next(
        (node.get("full-path", "") for node in package.xml("META-INF/container.xml").iter("{*}rootfile")), ""
    )
    book = package.xml(path)
    tell_about(book, target, "subject")
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
