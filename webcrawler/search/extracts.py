"""What of a page is shown: its sections that answer, and an extract of its main content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

from webcrawler.records import HitSection, Text
from webcrawler.search.opened import BEGINNING_BYTES, Opened
from webcrawler.search.snippets import Snippets
from webcrawler.text import content

_LEAST = 300  # characters of a section that are looked at, if need be of the next ones
_IN_FRAGMENTS = "!$&'()*+,;=:@/?"  # RFC 3986, 3.5; letters, digits and "-._~" are never quoted


class Extract(NamedTuple):
    """What a hit shows of its text."""

    snippet: str
    sections: tuple[HitSection, ...]


class Extracts:
    """Extracts for one query."""

    def __init__(self, snippets: Snippets, opened: Opened) -> None:
        self._snippets, self._opened = snippets, opened

    def of(self, number: int, url: str, server: str, beginning: Text, best: Sequence[int]) -> Extract:
        """Return what to show of a page.

        Args:
            beginning: of its text, as `Opened.beginnings` gives it; the rest is read where it must be.
            best: the places of the sections that answer, best first.
        """
        main = self._main(server, beginning)
        if any(place >= len(main.sections) for place in best):
            best = ()  # the index is of another fetch than the text
        if any(main.sections[place].start + _LEAST > len(main.body) for place in best):
            main = self._whole(number, server, beginning)
        found = tuple(self._section(url, main, place) for place in best)
        return Extract(found[0].snippet if found else self._extract(number, server, main), found)

    def _section(self, url: str, main: Text, place: int) -> HitSection:
        start, fragment, heading = main.sections[place]
        ends = (one.start for one in main.sections[place + 1 :] if one.start >= start + _LEAST)
        text = main.body[start : next(ends, len(main.body))]
        first, _, rest = text.lstrip().partition("\n")
        if first.startswith(heading[:40]) and rest.strip():
            text = rest  # the heading is shown anyway
        address = f"{url}#{quote(fragment, safe=_IN_FRAGMENTS)}"
        return HitSection(" ".join(heading.split()), address, self._snippets.cut(text))

    def _extract(self, number: int, server: str, main: Text) -> str:
        """Cut from the text, else from the description, else from the beginning of the text."""
        cut = self._snippets.cut(main.body)
        if self._snippets.holds(cut):
            return cut
        if main.description and self._snippets.holds(main.description):
            return self._snippets.cut(main.description)
        if len(main.body) * 4 >= BEGINNING_BYTES // 2:  # that may not be all of it
            whole = self._snippets.cut(self._whole(number, server, main).body)
            if self._snippets.holds(whole):
                return whole
        return self._snippets.cut(main.description) if main.description.strip() else cut

    def _main(self, server: str, text: Text) -> Text:
        return content.split(text._replace(emphasis=()), self._opened.repeated(server))[0]

    def _whole(self, number: int, server: str, beginning: Text) -> Text:
        texts = self._opened.catalog.texts([number]) if self._opened.catalog else {}
        return self._main(server, texts.get(number, beginning))
