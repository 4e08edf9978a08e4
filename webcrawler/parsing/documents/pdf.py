"""PDF (ISO 32000-2), read by PDFium: pages are sections, and larger lines are headings.

Weakness: text that is a picture is not read, columns come in the order of the file, bold is not seen.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as c

from webcrawler.errors import Unreadable
from webcrawler.parsing.documents.text import NONE, Target, described, element, words

MAX_PAGES = 2_000  # what is beyond is left out; about 1 ms of processor time each
MAX_CHARACTERS = 2**23  # of all pages; the page that passes it is the last one
MAX_LINKS = 1_000  # of a page
_HEADING_CHARACTERS = 200
# Sizes of headings beside that of most characters, GO's "relative to the rest of the document". LaTeX's are
# 1.2, 1.44, 1.73, 2.07.
_TAGS = ((1.9, "h1"), (1.6, "h2"), (1.35, "h3"), (1.12, "h4"))
_SMALL = 0.85
# PDFium's marks of a word that is divided at the end of a line; the line goes on behind it.
_DIVIDED = dict.fromkeys(map(ord, "\x02\ufffe\xad"))


class Link(NamedTuple):
    """A link of a page; start and end are offsets into its text, equal where it has none."""

    start: int
    end: int
    url: str


class Line(NamedTuple):
    text: str
    start: int  # its offset into the text of its page
    size: float  # of its first character, in points


class Sheet(NamedTuple):
    """What stands on one page."""

    lines: list[Line]
    links: list[Link]


def pdf(body: bytes, _: str, target: Target) -> None:
    try:
        document = pdfium.PdfDocument(body)
    except pdfium.PdfiumError as error:
        is_locked = getattr(error, "err_code", 0) == c.FPDF_ERR_PASSWORD
        raise Unreadable("it is encrypted" if is_locked else f"it is damaged: {error}") from None
    about = document.get_metadata_dict()
    described(target, _title(about.get("Title", "")), about.get("Subject", ""), about.get("Keywords", ""))
    sheets = list(_sheets(document))
    if not sheets:
        raise Unreadable("none of its pages can be read")
    most = _size_of_most(sheets)
    for sheet in sheets:
        target.start("section", NONE)
        _tell(sheet, most, target)
        target.end("section")


def _title(text: str) -> str:
    """The title, unless it is the name of a file, as many programs have it."""
    name = text.strip().lower()
    return "" if name.startswith("microsoft word - ") or (" " not in name and "." in name) else text


def _sheets(document: Any) -> Iterator[Sheet]:
    characters = 0
    for number in range(min(len(document), MAX_PAGES)):
        try:
            page = document[number]
            text_page = page.get_textpage()
        except pdfium.PdfiumError:  # this page is damaged
            continue
        text = text_page.get_text_range()
        yield Sheet(list(_lines(text, text_page)), _links(document, page, text_page))
        text_page.close()
        page.close()
        characters += len(text)
        if characters > MAX_CHARACTERS:
            return


def _lines(text: str, text_page: Any) -> Iterator[Line]:
    at = 0
    for line in text.split("\n"):
        if line.strip():
            first = at + len(line) - len(line.lstrip())
            yield Line(line, at, _size(text_page, c.FPDFText_GetCharIndexFromTextIndex(text_page, first)))
        at += len(line) + 1


def _size(text_page: Any, index: int) -> float:
    """The height of a font as it is shown: many programs have fonts of 1 point, and scale them."""
    matrix = c.FS_MATRIX()
    if index < 0 or not c.FPDFText_GetMatrix(text_page, index, matrix):
        return 0.0
    scale = float(matrix.c**2 + matrix.d**2) ** 0.5
    return float(round(c.FPDFText_GetFontSize(text_page, index) * scale, 1))


def _links(document: Any, page: Any, text_page: Any) -> list[Link]:
    """The links of a page to URLs; those within the document are left out."""
    found = []
    position, link, box = ctypes.c_int(0), c.FPDF_LINK(), c.FS_RECTF()
    for _ in range(MAX_LINKS):
        if not c.FPDFLink_Enumerate(page, position, link):
            break
        action = c.FPDFLink_GetAction(link)
        if (url := _url(document, action)) and c.FPDFLink_GetAnnotRect(link, box):
            anchor = text_page.get_text_bounded(box.left, box.bottom, box.right, box.top).strip()
            start = _index_at(text_page, box.left + 1, (box.top + box.bottom) / 2)
            found.append(Link(start, start + len(anchor), url) if start >= 0 else Link(0, 0, url))
    return sorted(found)


def _url(document: Any, action: Any) -> str:
    if not action or c.FPDFAction_GetType(action) != c.PDFACTION_URI:
        return ""
    size = c.FPDFAction_GetURIPath(document, action, None, 0)
    buffer = ctypes.create_string_buffer(size)
    c.FPDFAction_GetURIPath(document, action, buffer, size)
    return buffer.value.decode("utf-8", "replace")


def _index_at(text_page: Any, x: float, y: float) -> int:
    """The offset of the character at this place, or three points beside it; -1: there is none."""
    index = c.FPDFText_GetCharIndexAtPos(text_page, x, y, 3, 3)
    return int(c.FPDFText_GetTextIndexFromCharIndex(text_page, index)) if index >= 0 else -1


def _size_of_most(sheets: list[Sheet]) -> float:
    sizes = Counter[float]()
    for sheet in sheets:
        for line in sheet.lines:
            sizes[line.size] += len(line.text)
    del sizes[0.0]
    return max(sizes, key=sizes.__getitem__, default=0.0)


def _tell(sheet: Sheet, most: float, target: Target) -> None:
    """Tell of a page: lines of one size beside one another are one heading or one paragraph."""
    for tag, lines in groupby(sheet.lines, lambda line: _tag(line, most)):
        block = list(lines)
        if tag.startswith("h") and sum(len(line.text) for line in block) > _HEADING_CHARACTERS:
            tag = "p"
        target.start(tag, NONE)
        for line in block:
            _tell_line(line, sheet.links, target)
            target.data("\n")
        target.end(tag)
    for link in sheet.links:
        if link.start == link.end:
            element(target, "a", "", {"href": link.url})


def _tag(line: Line, most: float) -> str:
    if not most or not line.size:
        return "p"
    if line.size < _SMALL * most:
        return "small"
    return next((tag for least, tag in _TAGS if line.size >= least * most), "p")


def _tell_line(line: Line, links: list[Link], target: Target) -> None:
    at, end = line.start, line.start + len(line.text)

    def piece(start: int, stop: int) -> str:
        return line.text[start - line.start : stop - line.start].translate(_DIVIDED)

    for link in links:
        start, stop = max(link.start, at), min(link.end, end)
        if start < stop:
            words(target, piece(at, start))
            element(target, "a", piece(start, stop), {"href": link.url})
            at = stop
    words(target, piece(at, end))
