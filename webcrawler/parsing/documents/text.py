"""Plain text: paragraphs, and the URLs that stand in them."""

from __future__ import annotations

import re

from webcrawler.parsing.documents.reading import NONE, Target, element
from webcrawler.parsing.encoding import decode

_EMPTY_LINES = re.compile(r"\n[^\S\n]*\n\s*")
# What follows a URL in a sentence, or closes the bracket that it stands in, does not belong to it.
_URL = re.compile(r"https?://[^\s<>\"'\[\]{}|\\^`]{1,2000}(?<![.,;:!?)*_])", re.IGNORECASE)


def read(body: bytes, content_type: str, target: Target) -> None:
    paragraphs(target, decode(body, content_type).replace("\r", "\n"))


def paragraphs(target: Target, text: str) -> None:
    """Tell of the paragraphs of a text, which empty lines separate."""
    for paragraph in _EMPTY_LINES.split(text):
        if paragraph.strip():
            target.start("p", NONE)
            words(target, paragraph)
            target.end("p")


def words(target: Target, text: str) -> None:
    """Tell of words, and of the URLs among them as links."""
    at = 0
    for found in _URL.finditer(text):
        target.data(text[at : found.start()])
        element(target, "a", found[0], {"href": found[0]})
        at = found.end()
    target.data(text[at:])
