"""HTML that stands in a document: a chapter of a book, or what Markdown means."""

from __future__ import annotations

from collections.abc import Mapping

from webcrawler.parsing.documents.reading import Target
from webcrawler.parsing.markup import feed, flatten

# Elements for an HTML page, not for a part of a document.
_OF_A_PAGE = frozenset({"html", "base", "link", "meta"})
_REFERENCES = frozenset({"href", "src"})


def inner_html(html: str, target: Target, keeps_relative: bool) -> None:
    """Tell a target of HTML within a document.

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

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag not in _OF_A_PAGE:
            kept = attributes if self._keeps_relative else _without_relative(attributes)
            self._target.start(tag, kept)

    def end(self, tag: str) -> None:
        if tag not in _OF_A_PAGE:
            self._target.end(tag)
        self.is_complete |= tag == "html"

    def data(self, chunk: str) -> None:
        self._target.data(chunk)

    def close(self) -> None:
        pass


def _without_relative(attributes: Mapping[str, str]) -> Mapping[str, str]:
    if _REFERENCES.isdisjoint(attributes):
        return attributes
    return {
        name: value
        for name, value in attributes.items()
        if name not in _REFERENCES or value.strip().lower().startswith(("http://", "https://"))
    }
