"""What do documents beyond HTML say and link to, and which kind of document is this?

`KINDS` is the table of them: which Content-Type, which ending of a file, which reader. A reader is a function
of the kind's name, (body, content_type, target). It tells a target what stands in a document by the events
of an HTML parser, so that headings, emphasis and links are those of a page (`parsing.reader`). Its library
is imported by the first document that needs it. The Content-Type tells the kind; where that is vague, first
bytes and ending do.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple
from urllib.parse import urlsplit

from webcrawler import urls
from webcrawler.errors import Unreadable
from webcrawler.parsing.documents.text import NONE, Target

HTML = "html"
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_UNKNOWN_TYPES = frozenset({"", "unknown/unknown", "application/unknown", "*/*"})
# What servers say of files whose ending they do not know, or that are to be saved: the ending says more.
_VAGUE = """application/octet-stream application/x-octet-stream application/octetstream binary/octet-stream
    application/binary application/zip application/x-zip-compressed application/download application/save
    application/x-download application/force-download application/x-force-download application/x-msdownload
    text/plain"""
_VAGUE_TYPES = _UNKNOWN_TYPES.union(_VAGUE.split())


class Kind(NamedTuple):
    """One kind of document. Its key in `KINDS` is its name in DOCUMENT_TYPES, and that of its reader."""

    module: str  # of its reader, in this package
    types: str  # of media
    endings: str  # of files
    needs: str = ""  # a library of the extra "documents"
    program: str = ""  # or a program


_OFFICE = "application/vnd.openxmlformats-officedocument"
_WORD, _SHEET, _SLIDES = (f"{_OFFICE}.{one}ml" for one in ("wordprocessing", "spreadsheet", "presentation"))
_MACROS = "application/vnd.ms-excel.sheet.macroenabled.12"
_OPEN = "application/vnd.oasis.opendocument"
KINDS = {
    "pdf": Kind("pdf", "application/pdf application/x-pdf", "pdf", needs="pypdfium2"),
    "doc": Kind("office", "application/msword application/vnd.ms-word", "doc dot", program="antiword"),
    "docx": Kind("office", f"{_WORD}.document {_WORD}.template", "docx dotx"),
    "xlsx": Kind("sheets_and_slides", f"{_SHEET}.sheet {_SHEET}.template {_MACROS}", "xlsx xltx xlsm"),
    "pptx": Kind(
        "sheets_and_slides",
        f"{_SLIDES}.presentation {_SLIDES}.slideshow {_SLIDES}.template",
        "pptx ppsx potx",
    ),
    "odt": Kind("office", f"{_OPEN}.text", "odt ott"),
    "ods": Kind("sheets_and_slides", f"{_OPEN}.spreadsheet", "ods ots"),
    "odp": Kind("sheets_and_slides", f"{_OPEN}.presentation", "odp otp"),
    "rtf": Kind("text", "application/rtf text/rtf application/x-rtf text/richtext", "rtf", needs="striprtf"),
    "epub": Kind("office", "application/epub+zip", "epub"),
    "markdown": Kind("text", "text/markdown text/x-markdown", "md markdown", needs="markdown_it"),
    "text": Kind("text", "text/plain", "txt text"),
}
_BY_TYPE = {media: name for name, kind in KINDS.items() for media in kind.types.split()}
_BY_ENDING = {ending: name for name, kind in KINDS.items() for ending in kind.endings.split()}
_AS_TEXT = frozenset({"markdown", "text"})  # they have no first bytes of their own

# WHATWG MIME Sniffing, 7.1: tags by which an unlabelled body is known as HTML, after white space.
_BEGINS_AS_HTML = re.compile(
    rb"[\t\n\x0c\r ]*"
    rb"<(?:!--|(?:!DOCTYPE HTML|HTML|HEAD|SCRIPT|IFRAME|H1|DIV|FONT|TABLE|A|STYLE|TITLE|B|BODY|BR|P)"
    rb"[\t\n\x0c\r >])",
    re.IGNORECASE,
)
_OPEN_TYPE = re.compile(rb"mimetype(application/vnd\.oasis\.opendocument\.[a-z]+)")
_MAIN_PARTS = {b"word/document.xml": "docx", b"xl/workbook.xml": "xlsx", b"ppt/presentation.xml": "pptx"}
# Binary data under the name of text: the signatures of 6.1, 6.2 and 7.1 that the web really mislabels.
_BINARY = re.compile(
    rb"\x89PNG|GIF8[79]a|\xff\xd8\xff|RIFF....WEBP|BM....\0{4}|%PDF-|%!PS-Adobe|PK\x03\x04|\x1f\x8b\x08"
    rb"|Rar!\x1a|\x7fELF",
    re.DOTALL,
)
# WHATWG MIME Sniffing, 3: "binary data bytes". Without NUL, of which UTF-16 is full.
_BINARY_BYTES = bytes([*range(0x01, 0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])
_BINARY_SHARE = 0.03  # of the first bytes; noise has 0.1, pages none, or a few by mistake
_SNIFFED_BYTES = 1_445  # the standard's resource header
_PDF_BYTES = 1_024  # in which readers look for the mark of a PDF


def read(kind: str, body: bytes, content_type: str, target: Target) -> None:
    """Tell a target what stands in a document of this kind.

    Raises:
        Unreadable: it is encrypted or damaged, or its reader is not installed.
    """
    try:
        module = import_module(f"{__name__}.{KINDS[kind].module}")
        target.start("html", NONE)
        getattr(module, kind)(body, content_type, target)
        target.end("html")
    except (MemoryError, Unreadable):
        raise
    except ImportError as error:
        why = f'{error.name} is not installed: pip install "scrapy-webcrawler[documents]"'
        raise Unreadable(why) from None
    except Exception as error:  # of libraries that read damaged files: zlib's, struct's, lxml's, …
        raise Unreadable(f"it is damaged: {type(error).__name__}: {error}"[:200]) from error


def readable_kinds(names: Iterable[str]) -> frozenset[str]:
    """Return those of these kinds whose reader is installed here, and HTML."""
    return frozenset({HTML, *(name for name in names if _is_installed(KINDS[name]))})


def _is_installed(kind: Kind) -> bool:
    if kind.program:
        return shutil.which(kind.program) is not None
    return not kind.needs or find_spec(kind.needs) is not None


def unread_endings(kinds: Collection[str]) -> frozenset[str]:
    """Return the endings of documents that are of none of these kinds."""
    return urls.DOCUMENTS - {ending for ending, name in _BY_ENDING.items() if name in kinds}


def declared_kind(content_type: str, url: str) -> str:
    """Return what a document should be, before its body is known; "" for none of ours."""
    media = content_type.partition(";")[0].strip().lower()
    if media in _HTML_TYPES:
        return HTML
    if media in _VAGUE_TYPES:
        path = urlsplit(url).path
        by_ending = _BY_ENDING.get(path[path.rfind("/") + 1 :].rpartition(".")[2].lower(), "")
        return by_ending or _BY_TYPE.get(media, "") or (HTML if media in _UNKNOWN_TYPES else "")
    return _BY_TYPE.get(media, "")


def kind_of(content_type: str, body: bytes, url: str) -> str:
    """Return the kind of a document, "" for none of ours; if its header is vague, its first bytes decide."""
    media = content_type.partition(";")[0].strip().lower()
    if media in _HTML_TYPES:
        return "" if _is_binary(body) else HTML
    if media not in _VAGUE_TYPES and media not in _BY_TYPE:
        return ""
    if media in _UNKNOWN_TYPES and _BEGINS_AS_HTML.match(body[:_SNIFFED_BYTES].lstrip(b"\xef\xbb\xbf")):
        return HTML
    declared = declared_kind(content_type, url)
    found = _by_mark(body)
    if found or declared not in _AS_TEXT:
        return found
    return "" if _is_binary(body) else declared


def _by_mark(body: bytes) -> str:
    """The kind that the bytes show."""
    if body.startswith(b"PK\x03\x04"):
        return _in_zip(body)
    if body.startswith(b"{\\rtf"):
        return "rtf"
    if body.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):  # Excel's and PowerPoint's begin so, too
        return "doc" if "WordDocument".encode("utf-16-le") in body else ""
    return "pdf" if b"%PDF-" in body[:_PDF_BYTES] else ""


def _in_zip(body: bytes) -> str:
    """By the names in an archive, which are never compressed."""
    start = body[:_SNIFFED_BYTES]
    if b"mimetypeapplication/epub+zip" in start or b"META-INF/container.xml" in body:
        return "epub"
    if found := _OPEN_TYPE.search(start):
        return _BY_TYPE.get(found[1].decode(), "")
    last = max(_MAIN_PARTS, key=body.rfind)  # in the archive's own list: what is embedded stands before that
    return _MAIN_PARTS[last] if last in body else ""


def _is_binary(body: bytes) -> bool:
    start = body[:_SNIFFED_BYTES]
    binary_bytes = len(start) - len(start.translate(None, _BINARY_BYTES))
    return bool(_BINARY.match(body)) or binary_bytes > _BINARY_SHARE * len(start)
