"""From page numbers to hits: what a person sees of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from webcrawler.archive.catalog import Catalog
from webcrawler.records import Hit, Text
from webcrawler.search.engine import Answer
from webcrawler.search.fold import Ranked, Shown
from webcrawler.search.opened import BEGINNING_BYTES, Opened
from webcrawler.search.snippets import Snippets

_ANCHORS = 20  # of a page without a text that are looked at


def visible(answer: Answer, opened: Opened, chunk: int) -> Iterator[Ranked]:
    """The pages that may be shown, best first; looks them up as far as somebody reads."""
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


def hits(shown: Sequence[Shown], highest: float, snippets: Snippets, opened: Opened) -> list[Hit]:
    """Relevance is 1000 for the highest score, the others in proportion (WC, Figure 3)."""
    catalog = opened.catalog
    if catalog is None or not shown:
        return []
    numbers = [hit.number for hit, _ in shown]
    documents, texts = catalog.documents(numbers), opened.beginnings(numbers)
    without = [number for number in numbers if not title(texts.get(number))]
    anchors = {number: catalog.anchors.most_frequent(number, _ANCHORS) for number in without}
    urls = catalog.urls.of(numbers)
    return [
        Hit(
            url=urls[hit.number],
            title=title(texts.get(hit.number)) or next(iter(said), "") or urls[hit.number],
            relevance=_relevance(hit.score, highest),
            server=hit.server,
            fetched=document.fetched if document else 0.0,
            snippet=_snippet(hit.number, texts.get(hit.number), said, snippets, catalog),
            number=hit.number,
            near_duplicates=hit.folded,
            from_server=from_server,
            cached=bool(document and document.place),
        )
        for hit, from_server in shown
        for document, said in [(documents.get(hit.number), anchors.get(hit.number, ()))]
    ]


def title(text: Text | None) -> str:
    """The title, else the first heading; "" where there is neither."""
    return " ".join((text.title or text.headings.strip().partition("\n")[0]).split()) if text else ""


def _snippet(
    number: int, text: Text | None, anchors: Sequence[str], snippets: Snippets, catalog: Catalog
) -> str:
    """Where the words stand: in the beginning of the text, in the description, or anywhere.

    Of a page that was never fetched: what links to it say.
    """
    if text is None:
        return " · ".join(anchors)[:400]
    cut = snippets.cut(text.body)
    if snippets.holds(cut):
        return cut
    if text.description and snippets.holds(text.description):
        return snippets.cut(text.description)
    if sum(map(len, text[:5])) * 4 < BEGINNING_BYTES:  # all of it: a character has up to four bytes
        return cut
    return snippets.cut(catalog.texts([number]).get(number, text).body)


def _relevance(score: float, highest: float) -> int:
    return max(0, min(1000, round(1000 * score / highest))) if highest > 0 else 0
