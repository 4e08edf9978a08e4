"""From page numbers to hits: near-duplicates are folded, servers share a result page, words are shown.

Of a page its sections that answer are shown, and an extract of its main content.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote

from webcrawler.archive.catalog import Known
from webcrawler.records import Hit, HitSection, Text
from webcrawler.search.engine import Answer
from webcrawler.search.opened import BEGINNING_BYTES
from webcrawler.search.shown import Pages, title_of
from webcrawler.search.snippets import Snippets

PER_SERVER = 2  # hits of a server on a result page that keep the place of their relevance, at least
FEW_SERVERS = 100  # with documents: in a collection of so many or fewer, no hit is put off
CROWDED = 0.7  # by which the relevance of its further hits is multiplied when others compete
PAGES = 10  # result pages that are arranged together: no hit is put off by more than nine pages
TITLE_CHARACTERS = 200  # of a title that are shown; all of it is searched
_LEAST = 300  # characters of a section that are looked at, if need be of the next ones
_IN_FRAGMENTS = "!$&'()*+,;=:@/?"  # RFC 3986, 3.5; letters, digits and "-._~" are never quoted


class Ranked(NamedTuple):
    """A page that answers the query."""

    number: int  # its page number
    score: float
    repeats: int  # the page number of the older document that it nearly repeats, else its own
    server: str
    folded: int = 0  # hits that nearly repeat it
    from_server: int = 0  # hits of its server that were put off, at the last one of that server


def visible(answer: Answer, chunk: int) -> Iterator[Ranked]:
    """Yield the pages that may be shown, best first; looks up `chunk` pages at a time, as they are needed."""
    for start in range(0, len(answer.pages), chunk):
        numbers = answer.pages[start : start + chunk].tolist()
        listed = answer.shown.listed(numbers)
        for number, score in zip(numbers, answer.scores[start : start + chunk].tolist(), strict=True):
            if page := listed.get(number):
                yield Ranked(number, score, page.repeats, page.server)


def fold(ranked: Iterable[Ranked], limit: int) -> list[Ranked]:
    """Return the best hits without near-duplicates, at most `limit`.

    A document is folded into one that it nearly repeats, or that nearly repeats it, or the same third one.
    It is not enough to be near to a folded one: after a few such steps, two may have nothing in common.
    Reads as far as the first document that has no place, so every document folded ranks before that one.
    """
    kept: dict[int, Ranked] = {}
    folded: Counter[int] = Counter()
    first: dict[int, int] = {}  # page number -> the one kept for it
    for hit in ranked:
        into = first.get(hit.number, first.get(hit.repeats))
        if into is not None:
            folded[into] += 1
        elif len(kept) == limit:
            break
        else:
            kept[hit.number] = hit
            first[hit.number] = first[hit.repeats] = hit.number
    return [hit._replace(folded=folded[number]) for number, hit in kept.items()]


def result_page(hits: Sequence[Ranked], start: int, limit: int, servers: int) -> list[Ranked]:
    """Return the hits from `start` on, a multiple of `limit`; too many of a server may be put off.

    They are put off to the next result page while other servers have hits at least CROWDED times as relevant,
    so nothing is lost. Within a page the best come first. Whoever collects a few sites wants the best of
    them; of the web, a page of one server would say little.

    Args:
        servers: how many of the collection have documents.
    """
    block = start // (PAGES * limit) * PAGES * limit
    left, page = list(hits[block : block + PAGES * limit]), list[Ranked]()
    most = max(PER_SERVER, limit * FEW_SERVERS // max(servers, 1))
    for _ in range(block, start + 1, limit):
        seen, order = Counter[str](), []
        for place, hit in enumerate(left):
            seen[hit.server] += 1
            order.append((-hit.score * (1 if seen[hit.server] <= most else CROWDED), place))
        taken = {place for _, place in sorted(order)[:limit]}
        page = [hit for place, hit in enumerate(left) if place in taken]
        left = [hit for place, hit in enumerate(left) if place not in taken]
    if len({hit.server for hit in page}) == 1:
        return page
    waiting = Counter(hit.server for hit in left)
    return [hit._replace(from_server=waiting.pop(hit.server, 0)) for hit in reversed(page)][::-1]


def hits(shown: Sequence[Ranked], highest: float, snippets: Snippets, answer: Answer) -> list[Hit]:
    """Return what people see of the pages; relevance is 1000 for the highest score (WC, Figure 3)."""
    if not shown:
        return []
    numbers = [page.number for page in shown]
    pages, sections = answer.shown.seen(numbers), answer.sections(numbers)
    extracts, found = Extracts(snippets, answer.shown), []
    for page in shown:
        seen = pages[page.number]
        url, text, called = seen.url, seen.text, seen.called
        snippet, best = " · ".join(called)[:400], tuple[HitSection, ...]()
        if text:
            snippet, best = extracts.of(page.number, url, text, sections.get(page.number, ()))
        relevance = round(1000 * page.score / highest) if highest > 0 else 0
        found.append(
            Hit(
                url=url,
                title=cut_title(title_of(text) or next(iter(called), "") or url),
                relevance=max(0, min(1000, relevance)),
                server=page.server,
                fetched=seen.fetched,
                snippet=snippet,
                number=seen.number,
                near_duplicates=page.folded,
                from_server=page.from_server,
                cached=seen.cached,
                language=text.language if text else "",
                sections=best,
                href=best[0].url if best else url,
                **_checked(seen.known),
            )
        )
    return found


class Extracts:
    """What is shown of texts, for one query."""

    def __init__(self, snippets: Snippets, pages: Pages) -> None:
        self._snippets, self._pages = snippets, pages

    def of(
        self, number: int, url: str, main: Text, best: Sequence[int]
    ) -> tuple[str, tuple[HitSection, ...]]:
        """Return the snippet of a page, and its sections that answer.

        Args:
            main: the beginning of its main content; the rest is read where it must be.
            best: the places of the sections that answer, best first.
        """
        if any(place >= len(main.sections) for place in best):
            best = ()  # the index is of another fetch than the text
        if any(main.sections[place].start + _LEAST > len(main.body) for place in best):
            main = self._pages.whole(number) or main
        found = tuple(self._section(url, main, place) for place in best)
        return found[0].snippet if found else self._extract(number, main), found

    def _section(self, url: str, main: Text, place: int) -> HitSection:
        start, fragment, heading = main.sections[place]
        ends = (one.start for one in main.sections[place + 1 :] if one.start >= start + _LEAST)
        text = main.body[start : next(ends, len(main.body))]
        first, _, rest = text.lstrip().partition("\n")
        if first.startswith(heading[:40]) and rest.strip():
            text = rest  # the heading is shown anyway
        address = f"{url}#{quote(fragment, safe=_IN_FRAGMENTS)}"
        return HitSection(" ".join(heading.split()), address, self._snippets.cut(text, main.language))

    def _extract(self, number: int, main: Text) -> str:
        """Cut from the text, else from the description, else from the beginning of the text."""
        cut = self._snippets.cut(main.body, main.language)
        if self._snippets.holds(cut, main.language):
            return cut
        if main.description and self._snippets.holds(main.description, main.language):
            return self._snippets.cut(main.description, main.language)
        if len(main.body) * 4 >= BEGINNING_BYTES // 2:  # that may not be all of it
            whole = self._snippets.cut((self._pages.whole(number) or main).body, main.language)
            if self._snippets.holds(whole, main.language):
                return whole
        return self._snippets.cut(main.description, main.language) if main.description.strip() else cut


def cut_title(title: str) -> str:
    """Return the beginning of a long title, to the end of a word where there is one in its second half."""
    if len(title) <= TITLE_CHARACTERS:
        return title
    words = title[:TITLE_CHARACTERS].rpartition(" ")[0]
    return f"{words if len(words) > TITLE_CHARACTERS // 2 else title[: TITLE_CHARACTERS - 1]}…"


def _checked(known: Known | None) -> dict[str, float]:
    if known is None:
        return {}
    at_risk = min((when for when in (known.missing_since, known.failing_since) if when), default=0.0)
    return {"checked": known.checked, "changed": known.changed, "missing_since": at_risk}
