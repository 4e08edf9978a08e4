"""Spreadsheets and slides of Excel and PowerPoint since 2007 (ECMA-376), and of OpenDocument.

A sheet is a table under its name, a slide a section under its title. Weakness: a number is read as it is
stored, so a date of Excel's is the number of days since 1900; charts and pictures have no words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from webcrawler.errors import Unreadable
from webcrawler.parsing.documents.office import HIDDEN, is_in_paragraph, of_open, open_document
from webcrawler.parsing.documents.packages import (
    Element,
    Package,
    elements,
    links_of,
    name_of,
    parts_of,
    tell,
    tell_about,
    value_of,
)
from webcrawler.parsing.documents.text import NONE, Target, element

MAX_ROWS = 10_000  # of all sheets of Excel's,
MAX_CHARACTERS = 2 * 2**20  # and of their cells: many cells may share a long text
_HIDDEN = ("hidden", "veryHidden")
_SLIDE = {"sp": "div", "tbl": "table", "tr": "tr", "tc": "td", "br": " "}
_TITLES = ("title", "ctrTitle")
_YES = ("1", "true")

_Row = list[tuple[str, str]]  # of each cell that says something: its name, such as "A1", and what it says


def xlsx(body: bytes, _: str, target: Target) -> None:
    package = _package(body, "xl/workbook.xml", target)
    parts = parts_of(package, "xl/workbook.xml").values()
    shared = next((part for part in parts if part.lower().endswith("sharedstrings.xml")), "")
    strings = [_text(node) for node in elements(package.part(shared), "si")]
    rows_left, characters_left = MAX_ROWS, MAX_CHARACTERS
    for sheet, part in _parts(package, "xl/workbook.xml", "sheet"):
        if sheet.get("state") in _HIDDEN:
            continue
        rows, ids = _sheet(package.part(part), strings, rows_left)
        links = links_of(package, part)
        urls = {cell: links.get(id, "") for cell, id in ids.items()}
        element(target, "h2", sheet.get("name", ""))
        target.start("table", NONE)
        rows_left -= len(rows)
        for row in rows:
            characters_left -= sum(len(said) for _, said in row)
            if characters_left >= 0:
                _tell_row(row, urls, target)
        target.end("table")


def _sheet(xml: bytes, strings: Sequence[str], most: int) -> tuple[list[_Row], dict[str, str]]:
    """Return rows of a sheet, and the ids of its links by the cell where they begin; they stand behind it."""
    rows, ids = list[_Row](), dict[str, str]()
    for node in elements(xml, "row", "hyperlink"):
        if name_of(node) == "hyperlink":
            ids[node.get("ref", "").partition(":")[0]] = value_of(node, "id")
        elif len(rows) < most:
            cells = ((cell.get("r", ""), _said(cell, strings)) for cell in node.iter("{*}c"))
            rows.append([(cell, said) for cell, said in cells if said])
    return rows, ids


def _tell_row(row: _Row, urls: Mapping[str, str], target: Target) -> None:
    target.start("tr", NONE)
    for cell, said in row:
        target.start("td", NONE)
        if url := urls.get(cell):
            element(target, "a", said, {"href": url})
        else:
            target.data(said)
        target.end("td")
    target.end("tr")


def _said(cell: Any, strings: Sequence[str]) -> str:
    """Return what a cell shows, as far as it is known without its format."""
    value = cell.findtext("{*}v") or ""
    match cell.get("t"):
        case "s":
            place = int(value) if value.isdecimal() and len(value) < 10 else len(strings)
            return strings[place] if place < len(strings) else ""
        case "inlineStr":
            return _text(cell)
        case "b" | "e":  # true or false, an error
            return ""
    return value


def _text(node: Any) -> str:
    """Return the text in a node, without how its characters are pronounced."""
    texts = (one for one in node.iter("{*}t") if name_of(one.getparent()) != "rPh")
    return "".join(one.text or "" for one in texts)


def pptx(body: bytes, _: str, target: Target) -> None:
    package = _package(body, "ppt/presentation.xml", target)
    for _slide, part in _parts(package, "ppt/presentation.xml", "sldId"):
        root = package.xml(part)
        if root.get("show") not in ("0", "false"):
            target.start("section", NONE)
            tell(root, target, partial(_of_slide, links_of(package, part)), lambda node: name_of(node) == "t")
            target.end("section")


def _of_slide(urls: Mapping[str, str], node: Any) -> Element:
    match name_of(node):
        case "sp" if _is_title(node):
            return "h2", NONE
        case "p":
            return " " if any(map(_is_title, node.iterancestors("{*}sp"))) else "p", NONE
        case "r":
            link = node.find("{*}rPr/{*}hlinkClick")
            if link is not None and (url := urls.get(value_of(link, "id"))):
                return "a", {"href": url}
            marks = node.find("{*}rPr")
            return "b" if marks is not None and marks.get("b") in _YES else "", NONE
    return _SLIDE.get(name_of(node), ""), NONE


def _is_title(shape: Any) -> bool:
    place = shape.find("{*}nvSpPr/{*}nvPr/{*}ph")
    return place is not None and place.get("type") in _TITLES


def _package(body: bytes, main: str, target: Target) -> Package:
    """Return the parts of a document whose main part is there; tell what it says of itself."""
    package = Package(body)
    if main not in package:
        raise Unreadable(f"there is no {main} in it")
    tell_about(package.xml("docProps/core.xml"), target, "keywords")
    return package


def _parts(package: Package, main: str, named: str) -> Iterator[tuple[Any, str]]:
    """Yield the sheets or slides in their order: the node that names each, and its part."""
    parts = parts_of(package, main)
    for node in package.xml(main).iter(f"{{*}}{named}"):
        ids = (value for key, value in node.attrib.items() if key.endswith("}id"))  # a slide has an id, too
        if (part := parts.get(next(ids, ""), "")) in package:
            yield node, part


def ods(body: bytes, _: str, target: Target) -> None:
    root, styles = open_document(body, target)
    for table in root.iterfind("{*}body/{*}spreadsheet/{*}table"):
        if styles.get(value_of(table, "style-name")) != HIDDEN:
            element(target, "h2", value_of(table, "name"))
            tell(table, target, partial(_of_open_sheet, styles), is_in_paragraph)


def _of_open_sheet(styles: Mapping[str, str], node: Any) -> Element | None:
    return (" ", NONE) if name_of(node) == "p" else of_open(styles, node)


def odp(body: bytes, _: str, target: Target) -> None:
    root, styles = open_document(body, target)
    tell(root, target, partial(_of_open_slide, styles), is_in_paragraph)


def _of_open_slide(styles: Mapping[str, str], node: Any) -> Element | None:
    match name_of(node):
        case "page" if of_open(styles, node) is not None:
            return "section", NONE
        case "frame" if value_of(node, "class") == "title":
            return "h2", NONE
        case "p" if any(value_of(one, "class") == "title" for one in node.iterancestors("{*}frame")):
            return " ", NONE
    return of_open(styles, node)
