"""Is this body HTML or XHTML? By what it is called, and by what it looks like."""

from __future__ import annotations

import re

DOCUMENT_TYPES = frozenset({"text/html", "application/xhtml+xml"})
UNKNOWN_TYPES = frozenset({"", "unknown/unknown", "application/unknown", "*/*"})

# WHATWG MIME Sniffing, 7.1: tags by which an unlabelled body is known as HTML, after white space.
_HTML = re.compile(
    rb"[\t\n\x0c\r ]*"
    rb"<(?:!--|(?:!DOCTYPE HTML|HTML|HEAD|SCRIPT|IFRAME|H1|DIV|FONT|TABLE|A|STYLE|TITLE|B|BODY|BR|P)"
    rb"[\t\n\x0c\r >])",
    re.IGNORECASE,
)
# Binary data under the name of HTML: the signatures of 6.1, 6.2 and 7.1 that the web really mislabels.
_BINARY = re.compile(
    rb"\x89PNG|GIF8[79]a|\xff\xd8\xff|RIFF....WEBP|BM....\0{4}|%PDF-|%!PS-Adobe|PK\x03\x04|\x1f\x8b\x08"
    rb"|Rar!\x1a|\x7fELF",
    re.DOTALL,
)
# WHATWG MIME Sniffing, 3: "binary data bytes". Without NUL, of which UTF-16 is full.
_BINARY_BYTES = bytes([*range(0x01, 0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])
_BINARY_SHARE = 0.03  # of the first bytes; noise has 0.1, pages none, or a few by mistake
_SNIFFED_BYTES = 1_445  # the standard's resource header


def is_other_type(content_type: str) -> bool:
    """Is it called something that is never a document, whatever it looks like?"""
    kind = content_type.partition(";")[0].strip().lower()
    return kind not in DOCUMENT_TYPES and kind not in UNKNOWN_TYPES


def is_document(content_type: str, body: bytes) -> bool:
    """By Content-Type where there is one, but never binary data; by sniffing where there is none."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind in DOCUMENT_TYPES:
        return not (_BINARY.match(body) or _is_noise(body[:_SNIFFED_BYTES]))
    return kind in UNKNOWN_TYPES and bool(_HTML.match(body[:_SNIFFED_BYTES].lstrip(b"\xef\xbb\xbf")))


def _is_noise(start: bytes) -> bool:
    binary = len(start) - len(start.translate(None, _BINARY_BYTES))
    return binary > _BINARY_SHARE * len(start)
