"""Plain text, Rich Text Format and Markdown, and how readers tell what stands in a document.

Weakness: of Rich Text headings, emphasis and the words of links are not told apart from other text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Protocol

from webcrawler.parsing.encoding import decode
from webcrawler.parsing.markup import feed, flatten

NONE: Mapping[str, str] = {}

_EMPTY_LINES = re.compile(r"\n[^\S\n]*\n\s*")
# What follows a URL in a sentence, or closes the bracket that it stands in, does not belong to it.
_URL = re.compile(r"https?://[^\s<>\"'\[\]{}|\\^`]{1,2000}(?<![.,;:!?)*_])", re.IGNORECASE)
_RTF_LINK = re.compile(r'HYPERLINK\s+"([^"{}\\\s]{1,2000})"')
_RTF_TITLE = re.compile(r"{\\title ([^{}]{1,1000})}")
# What site generators keep before the text: YAML between two lines of dashes.
_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?\n)---[ \t]*\r?\n", re.DOTALL)
_TITLE = re.compile(r"^title:[ \t]*(\S.*)$", re.MULTILINE)
# Elements for an HTML page, not for a part of a document.
_OF_A_PAGE = frozenset({"html", "base", "link", "meta"})


class Target(Protocol):
    """Receives what stands in a document, as lxml tells of HTML; elements nest properly."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None: ...
    def end(self, tag: str) -> None: ...
    def data(self, chunk: str) -> None: ...


def text(body: bytes, content_type: str, target: Target) -> None:
    _paragraphs(target, decode(body, content_type).replace("\r", "\n"))


def rtf(body: bytes, _: str, target: Target) -> None:
    rtf = body.decode("latin-1")  # RTF is ASCII: what is not stands in escapes
    title = _RTF_TITLE.search(rtf)
    described(target, _text_of_rtf(f"{{\\rtf1 {title[1]}}}") if title else "")
    _paragraphs(target, _text_of_rtf(rtf).replace("\n", "\n\n"))
    for link in _RTF_LINK.finditer(rtf):
        element(target, "a", "", {"href": link[1]})


def _text_of_rtf(rtf: str) -> str:
    """Return the text; characters beyond the basic plane come as two surrogates."""
    from striprtf import striprtf

    text: str = striprtf.rtf_to_text(rtf, errors="replace")  # type: ignore[no-untyped-call]
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def markdown(body: bytes, content_type: str, target: Target) -> None:
    """Tell of CommonMark with tables as the HTML that it stands for."""
    from markdown_it import MarkdownIt

    text = decode(body, content_type)
    if front := _FRONT_MATTER.match(text):
        title = _TITLE.search(front[1])
        described(target, title[1].strip().strip("\"'") if title else "")
        text = text[front.end() :]
    inner_html(MarkdownIt("commonmark").enable("table").render(text), target, keeps_relative=True)


def element(target: Target, tag: str, text: str, attributes: Mapping[str, str] = NONE) -> None:
    """Tell of an element that holds text alone, or nothing."""
    target.start(tag, attributes)
    if text:
        target.data(text)
    target.end(tag)


def described(target: Target, title: str = "", description: str = "", keywords: str = "") -> None:
    """Tell what a document says of itself."""
    if title:
        element(target, "title", title)
    for name, content in (("description", description), ("keywords", keywords)):
        element(target, "meta", "", {"name": name, "content": content})


def _paragraphs(target: Target, text: str) -> None:
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


def inner_html(html: str, target: Target, keeps_relative: bool) -> None:
    """Tell a target of HTML within a document: a chapter of a book, or what Markdown means.

    Args:
        keeps_relative: relative links lead out of the document; False: to its own parts, they are left out.
    """
    part = _Part(target, keeps_relative)
    feed(flatten(html), part)
    if not part.is_complete:  # as for pages: out of memory, libxml2 stops without a word
        raise MemoryError


class _Part:
    """Hands events on, without those that are for a page alone."""

    def __init__(self, target: Target, keeps_relative: bool) -> None:
        self.is_complete = False
        self._target, self._keeps_relative = target, keeps_relative
        self.data = target.data

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag not in _OF_A_PAGE:
            kept = {name: value for name, value in attributes.items() if self._keeps(name, value)}
            self._target.start(tag, kept)

    def _keeps(self, name: str, value: str) -> bool:
        leads_out = self._keeps_relative or name not in ("href", "src")
        return leads_out or value.strip().lower().startswith(("http://", "https://"))

    def end(self, tag: str) -> None:
        if tag not in _OF_A_PAGE:
            self._target.end(tag)
        self.is_complete |= tag == "html"

    def close(self) -> None: ...
