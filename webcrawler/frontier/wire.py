"""How links, leases and budgets are written for the Lua operations, and their answers are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

import msgpack

from webcrawler import clock, urls
from webcrawler.frontier.messages import Again, Budgets, Done, Past
from webcrawler.orderings import UNKNOWN, Ordering, Source
from webcrawler.records import Lease, Link

PRIORITY_STEP = 2**32  # as NUMBERS in _1_names.lua
LEASE_VALUES = 10
NO_LINKS: list[Any] = [[], [], [], [], {}, {}, {}, "", 0, 0]

pack = msgpack.Packer(autoreset=True).pack


def columns(
    links: Sequence[Link], ordering: Ordering, is_watched: Callable[[str], bool], source: Source | None = None
) -> list[Any]:
    """Links as columns, for _4_intake.lua: grouped by server; each score holds its link's place among all.

    Args:
        is_watched: are links of a server sent with their path prefixes?
        source: the page that the links stand on; without one they raise nothing that waits, and neither do
            the entries of a sitemap.
    """
    if not links:
        return NO_LINKS
    places: dict[str, list[int]] = {}
    split = [urls.split(link.url) for link in links]
    for place, (server, _) in enumerate(split):
        places.setdefault(server, []).append(place)
    groups: list[list[Any]] = [
        [server, urls.registrable_domain(server), len(own)] for server, own in places.items()
    ]
    first = 1
    for group in groups:
        if is_watched(group[0]):
            group += [[urls.path_prefix(split[place][1]) for place in places[group[0]]], first]
        first += group[2]
    order = list(chain.from_iterable(places.values()))
    ordered = list(enumerate([links[place] for place in order], 1))

    def priority(link: Link) -> int:
        return ordering.first_priority(link, UNKNOWN if link.rel == "sitemap" else source)

    notes = {}
    if source is not None and ordering.takes_notes:
        notes = {n: note for n, link in ordered if (note := ordering.note(link, source))}
    return [
        groups,
        [str(link.id) for _, link in ordered],
        [split[place][1] for place in order],
        [place + 1 - priority(links[place]) * PRIORITY_STEP for place in order],
        {n: link.spelling for n, link in ordered if link.spelling != link.url},
        {n: link.request for n, link in ordered if link.request},
        notes,
        ordering.on_repeat if source and links[0].rel != "sitemap" else "",
        ordering.band,
        int(source is not None and source.repeats),
    ]


def by_server(rows: Iterable[tuple[Any, ...]]) -> bytes:
    """Rows that begin with a canonical URL, as columns grouped by server: [server, paths, column, …]."""
    groups: dict[str, list[Any]] = {}
    for url, *values in rows:
        server, path = urls.split(url)
        group = groups.setdefault(server, [server, [], *([] for _ in values)])
        for column, value in zip(group[1:], (path, *values), strict=True):
            column.append(value)
    return pack(list(groups.values()))  # type: ignore[no-any-return]


def again(due: Iterable[Again]) -> bytes:
    """Decided URLs that are due again, for again-2.lua."""
    return by_server(
        (url, str(urls.url_id(url)), was, request, spelling if spelling != url else "")
        for url, was, request, spelling in due
    )


def done(one: Done, columns: list[Any]) -> bytes:
    """A lease that is decided, with the columns of its links, for complete-2.lua."""
    domain = urls.registrable_domain(one.lease.server)
    told = (one.reason, one.is_document, one.repeats, domain, dict(one.refused), columns)
    return pack([one.lease.url, one.lease.token, *told])  # type: ignore[no-any-return]


def past(one: Past, retry_seconds: Callable[[int], float]) -> list[Any]:
    """What came of a URL, for settle-2.lua; the arguments are those of `Intake.settle`."""
    server, path = urls.split(one.url)
    ago = max(0.0, clock.now() - one.fetched) - (retry_seconds(one.tries) if one.retry else 0.0)
    outcome = "" if one.retry else one.outcome
    rest = (one.is_document, one.repeats, urls.registrable_domain(server))
    return [server, path, outcome, one.tries, round(ago * 1000), *rest]


def limits(budgets: Budgets) -> bytes:
    """Budgets, for _4_intake.lua."""
    of_urls = (budgets.server, budgets.domain, budgets.domain_servers, budgets.prefix)
    return pack([*of_urls, budgets.share, budgets.share_of, budgets.queued])  # type: ignore[no-any-return]


def leases(values: Sequence[bytes | int]) -> list[Lease]:
    """Reads the leases from an answer of lease-2.lua, ten values each."""
    return [_lease(values[i : i + LEASE_VALUES]) for i in range(0, len(values), LEASE_VALUES)]


def _lease(values: Sequence[Any]) -> Lease:
    url, server, spelling, request, token, tries, doubtful, score, note, was = values
    url = url.decode()
    return Lease(
        urls.url_id(url),
        url,
        spelling.decode() or url,
        server.decode(),
        token,
        int(tries),
        request.decode(),
        doubtful == b"1",
        -(int(float(score)) // PRIORITY_STEP),
        int(note),
        was.decode(),
    )


def milliseconds(seconds: float) -> int:
    return round(min(seconds, 10**9) * 1000)
