"""What is shown of pages, whoever has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from webcrawler.archive.catalog import Known
from webcrawler.records import Text


class Listed(NamedTuple):
    """What the place of a page among the hits depends on."""

    server: str
    repeats: int  # the page number of the older document that it nearly repeats, else its own


class Seen(NamedTuple):
    """What is shown of a page."""

    url: str
    number: int  # by which people ask for its copy and for its explanation
    text: Text | None = None  # its main content, maybe not to its end; None where it was never fetched
    called: Sequence[str] = ()  # what links call it, most often first; asked of pages without a title only
    fetched: float = 0.0
    cached: bool = False
    known: Known | None = None


class Pages(Protocol):
    """What is shown of pages, by page number."""

    def listed(self, numbers: Sequence[int]) -> Mapping[int, Listed]:
        """Return those that may be shown."""

    def seen(self, numbers: Sequence[int]) -> Mapping[int, Seen]:
        """Return what is shown of pages that are listed."""

    def whole(self, number: int) -> Text | None:
        """Return all of the main content of a page."""

    def numbered(self, number: int) -> int:
        """Return the page number of the page for which people ask by this number; 0 for none."""


def title_of(text: Text | None) -> str:
    """Return the title of a page, else its first heading, in one line; "" where it has neither."""
    if text is None:
        return ""
    return " ".join((text.title or text.headings.strip().partition("\n")[0]).split())
