"""What is shown of pages, and what this folder knows of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from webcrawler.archive.catalog import Known
from webcrawler.records import Text
from webcrawler.text import content

if TYPE_CHECKING:
    from webcrawler.search.opened import Opened

_ANCHORS = 20  # of a page without a title that are looked at


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


class FolderPages:
    """Those of a data folder."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened

    def listed(self, numbers: Sequence[int]) -> dict[int, Listed]:
        if (catalog := self._opened.catalog) is None:
            return {}
        hidden, older = catalog.urls.hidden(numbers), catalog.near_duplicates(numbers)
        servers = catalog.urls.servers_of(numbers)
        return {
            number: Listed(servers[number], older.get(number, number))
            for number in numbers
            if number in servers and number not in hidden
        }

    def seen(self, numbers: Sequence[int]) -> dict[int, Seen]:
        if (catalog := self._opened.catalog) is None:
            return {}
        documents, texts = catalog.documents(numbers), self._opened.beginnings(numbers)
        urls, servers = catalog.urls.of(numbers), catalog.urls.servers_of(numbers)
        known, found = catalog.checks.known(numbers), dict[int, Seen]()
        for number in numbers:
            document = documents.get(number)
            text = self._main(servers[number], texts[number]) if number in texts else None
            found[number] = Seen(
                urls[number],
                number,
                text,
                [] if title_of(text) else catalog.anchors.most_frequent(number, _ANCHORS),
                document.fetched if document else 0.0,
                bool(document and document.place),
                known.get(number),
            )
        return found

    def whole(self, number: int) -> Text | None:
        if (catalog := self._opened.catalog) is None or not (texts := catalog.texts([number])):
            return None
        return self._main(catalog.urls.servers_of([number])[number], texts[number])

    def numbered(self, number: int) -> int:
        return number

    def _main(self, server: str, text: Text) -> Text:
        return content.split(text._replace(emphasis=()), self._opened.repeated(server))[0]


def title_of(text: Text | None) -> str:
    """Return the title of a page, else its first heading, in one line; "" where it has neither."""
    if text is None:
        return ""
    return " ".join((text.title or text.headings.strip().partition("\n")[0]).split())
