"""Fills a frontier from the catalog, after Redis has lost it."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from webcrawler.archive.batch import DOCUMENTS
from webcrawler.archive.catalog import Catalog, Outcome
from webcrawler.archive.replay import LATE, RECALLED, Replay, as_link, recall
from webcrawler.frontier import Frontier, Ordering, Past, Source, maintenance, marks
from webcrawler.records import Link
from webcrawler.urls import registrable_domain, server, url_id

SOME = 1_000  # URLs in memory at a time
Progress = Callable[[str, int, int], None]  # what is being done, how much is done, of how much


class Rebuilt(NamedTuple):
    """How many URLs of the catalog were added to a frontier, and how many servers are blocked."""

    added: int
    blocked: int


class _Told(Ordering):
    """Gives URLs the priorities and notes that it is told beforehand."""

    takes_notes = True

    def __init__(self) -> None:
        self.first: dict[int, int] = {}  # by URL id
        self.noted: dict[int, int] = {}

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        return self.first[link.id]

    def note(self, link: Link, source: Source) -> int:
        return self.noted[link.id]


def rebuild(
    frontier: Frontier,
    mode: str,
    catalog: Catalog,
    admits: Callable[[Link], bool],
    tries: int,
    sitemaps: Mapping[int, Link] = MappingProxyType({}),
    progress: Progress = lambda step, done, total: None,
    folder: str = "",
    others: Collection[str] | None = None,
) -> Rebuilt:
    """Adds the URLs of the catalog that a frontier does not have, and decides those that were fetched.

    What waits has the priority that the mode gave it; a mode that learns is taught by the newest documents.
    To do it again, also after a kill, gives the same frontier; until it has returned, nobody can crawl it.

    Args:
        mode: that of the frontier's ordering.
        admits: would a crawl follow this link?
        tries: fetches after which a URL has failed for good.
        sitemaps: those known, by page number.
        folder: the name by which the frontier knows the folder of the catalog.
        others: empty the frontier first, as it may know more than the catalog, or lack some of its keys; what
            waited does so again, and nobody can crawl it until these folders have filled it, too.
    Raises:
        BadInput: a crawl is alive, or the frontier has another mode or number of partitions.
    """
    maintenance.refuse_while_in_use(frontier)
    frontier.open(mode, rebuilding=folder)
    if others is not None:
        maintenance.begin_anew(frontier, others)
    ordering, order = frontier.ordering, catalog.fetches.order()
    if ordering.learns:
        for seen in recall(catalog, catalog.last_documents(RECALLED)):
            ordering.learn(seen)
    # What it has learnt says more than the pages one by one.
    replay = Replay(Ordering() if ordering.learns else ordering, catalog.urls.count(), admits)
    _tell_links(replay, catalog, order, tries, progress)
    _tell_sitemaps(replay, catalog, admits)
    for number, link in sitemaps.items():
        replay.name(number, link)
    added = _add(frontier, replay, catalog, sitemaps, progress)
    _settle(frontier, catalog, order, tries, progress)
    for some in maintenance.carried(frontier):
        frontier.discover(some, within_budgets=False, source=Source())
    frontier.replan()
    blocked = catalog.urls.blocked_servers()
    for name in blocked:
        frontier.block(name)
    newest = [one for one in catalog.fetches.newest(order[-marks.KEPT :].tolist()) if one.token]
    for last in newest:
        marks.mark(frontier, folder, last.id, last.token)
    maintenance.count_tokens_from(frontier, max((one.token for one in newest), default=0))
    frontier.rebuilt(folder)
    return Rebuilt(added, len(blocked))


def _steps(order: array[int], step: str, progress: Progress) -> Iterator[list[int]]:
    for start in range(0, len(order), SOME):
        progress(step, start, len(order))
        yield order[start : start + SOME].tolist()


def _tell_links(replay: Replay, catalog: Catalog, order: array[int], tries: int, progress: Progress) -> None:
    for some in _steps(order, "reading links", progress):
        texts = catalog.texts(some) if replay.ordering.takes_notes else {}
        links = catalog.links.followed(some)
        for page in catalog.fetches.newest(some):
            is_decided = not _past(page, tries).retry
            replay.tell(page, links[page.number], texts.get(page.number), is_decided)


def _tell_sitemaps(replay: Replay, catalog: Catalog, admits: Callable[[Link], bool]) -> None:
    """Pages of a sitemap's own domain, and of that which announced it; of any where a person named it."""
    seq = 0
    while some := catalog.signs.named(seq, SOME):
        for one in some:
            domains = {registrable_domain(name) for name in (one.server, one.of)} if one.of else ()
            link = as_link(one.url, one.id, "sitemap")
            if admits(link) and (not domains or registrable_domain(server(one.url)) in domains):
                replay.name(one.number, link)
        seq = some[-1].seq


def _add(
    frontier: Frontier, replay: Replay, catalog: Catalog, sitemaps: Mapping[int, Link], progress: Progress
) -> int:
    """Takes all URLs in, in the order in which they were found; returns how many were new."""
    ordering, told, added = frontier.ordering, _Told(), 0
    frontier.order_by(told)
    for some in _steps(replay.found, "adding URLs", progress):
        known = catalog.urls.of(some)
        spelled = known | catalog.urls.spellings(some)
        links = {n: sitemaps.get(n) or Link(known[n], url_id(known[n]), spelled[n]) for n in some}
        decided = [link for number, link in links.items() if replay.decided[number]]
        waiting = [link for number, link in links.items() if not replay.decided[number]]
        late = {link.id for number, link in links.items() if replay.priorities[number] == LATE}
        told.first = {link.id: replay.priorities[number] for number, link in links.items()}
        told.noted = {link.id: replay.notes[number] for number, link in links.items()}
        if ordering.learns:
            told.first |= {link.id: ordering.first_priority(link, Source()) for link in waiting}
        added += frontier.discover(decided, within_budgets=False, source=Source())
        for repeats in (False, True):
            some_waiting = [link for link in waiting if (link.id in late) == repeats]
            added += frontier.discover(some_waiting, source=Source(repeats=repeats))
    frontier.order_by(ordering)
    return added


def _settle(frontier: Frontier, catalog: Catalog, order: array[int], tries: int, progress: Progress) -> None:
    for some in _steps(order, "deciding what was fetched", progress):
        frontier.settle([_past(outcome, tries) for outcome in catalog.fetches.newest(some)])


def _past(one: Outcome, tries: int) -> Past:
    if one.document:  # though a check of it may have failed since
        return Past(one.url, f"done/{one.document}", one.fetched, is_document=True, repeats=one.repeats)
    failed = one.tries + (one.state != "done")
    outcome = one.state if one.state == "quarantined" else f"{one.state}/{one.reason}"
    again = bool(one.retry) and failed < tries
    return Past(one.url, outcome, one.fetched, failed, again, outcome in DOCUMENTS)
