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
from webcrawler.search.opened import BEGINNING_BYTES, Opened
from webcrawler.search.snippets import Snippets
from webcrawler.text import content

PER_SERVER = 2  # hits of a server on a result page that keep the place of their relevance, at least
FEW_SERVERS = 100  # with documents: in a collection of so many or fewer, no hit is put off
CROWDED = 0.7  # by which the relevance of its further hits is multiplied when others compete
PAGES = 10  # result pages that are arranged together: no hit is put off by more than nine pages
TITLE_CHARACTERS = 200  # of a title that are shown; all of it is searched
_ANCHORS = 20  # of a page without a title that are looked at
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


def visible(answer: Answer, opened: Opened, chunk: int) -> Iterator[Ranked]:
    """Yield the pages that may be shown, best first; looks up `chunk` pages at a time, as they are needed."""
    catalog = opened.catalog
    if catalog is None:
        return
    for start in range(0, len(answer.pages), chunk):
        numbers = answer.pages[start : start + chunk].tolist()
        hidden, older = catalog.urls.hidden(numbers), catalog.near_duplicates(numbers)
        servers = catalog.urls.servers_of(numbers)
        for number, score in zip(numbers, answer.scores[start : start + chunk].tolist(), strict=True):
            if number in servers and number not in hidden:
                yield Ranked(number, score, older.get(number, number), servers[number])


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


def hits(
    shown: Sequence[Ranked], highest: float, snippets: Snippets, opened: Opened, answer: Answer
) -> list[Hit]:
    """Return what people see of the pages; relevance is 1000 for the highest score (WC, Figure 3)."""
    catalog = opened.catalog
    if catalog is None or not shown:
        return []
    numbers = [page.number for page in shown]
    documents, texts, urls = catalog.documents(numbers), opened.beginnings(numbers), catalog.urls.of(numbers)
    known, sections = catalog.checks.known(numbers), answer.sections(numbers)
    extracts, found = Extracts(snippets, opened), []
    for page in shown:
        document, text = documents.get(page.number), texts.get(page.number)
        title = text.title or text.headings.strip().partition("\n")[0] if text else ""
        anchors = [] if title.strip() else catalog.anchors.most_frequent(page.number, _ANCHORS)
        url = urls[page.number]
        snippet, best = " · ".join(anchors)[:400], tuple[HitSection, ...]()
        if text:
            snippet, best = extracts.of(page.number, url, page.server, text, sections.get(page.number, ()))
        relevance = round(1000 * page.score / highest) if highest > 0 else 0
        found.append(
            Hit(
                url=url,
                title=cut_title(" ".join(title.split()) or next(iter(anchors), "") or url),
                relevance=max(0, min(1000, relevance)),
                server=page.server,
                fetched=document.fetched if document else 0.0,
                snippet=snippet,
                number=page.number,
                near_duplicates=page.folded,
                from_server=page.from_server,
                cached=bool(document and document.place),
                language=text.language if text else "",
                sections=best,
                href=best[0].url if best else url,
                **_checked(known.get(page.number)),
            )
        )
    return found


class Extracts:
    """What is shown of texts, for one query."""

    def __init__(self, snippets: Snippets, opened: Opened) -> None:
        self._snippets, self._opened = snippets, opened

    def of(
        self, number: int, url: str, server: str, beginning: Text, best: Sequence[int]
    ) -> tuple[str, tuple[HitSection, ...]]:
        """Return the snippet of a page, and its sections that answer.

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
        return found[0].snippet if found else self._extract(number, server, main), found

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
