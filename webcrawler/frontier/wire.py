"""How links, leases and budgets are written for the Lua operations, and their answers are read."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import chain
from typing import Any

import msgpack

from webcrawler import urls
from webcrawler.frontier.messages import Budgets, Done
from webcrawler.orderings import Ordering, Source
from webcrawler.records import Lease, Link

PRIORITY_STEP = 2**32  # as NUMBERS in _1_names.lua
LEASE_VALUES = 9
NO_LINKS: list[Any] = [[], [], [], [], {}, {}, {}, "", 0]

pack = msgpack.Packer(autoreset=True).pack


def columns(
    links: Sequence[Link], ordering: Ordering, watched: Container[str], source: Source | None = None
) -> list[Any]:
    """Links as columns, for _4_intake.lua: grouped by server; each score holds its link's place among all.

    Args:
        watched: servers whose links are sent with their path prefixes.
        source: the page that the links stand on; without one they raise nothing that waits.
    """
    if not links:
        return NO_LINKS
    places: dict[str, list[int]] = {}
    split = [urls.split(link.url) for link in links]
    for place, (server, _) in enumerate(split):
        if server in places:
            places[server].append(place)
        else:
            places[server] = [place]
    groups: list[list[Any]] = [
        [server, urls.registrable_domain(server), len(own)] for server, own in places.items()
    ]
    first = 1
    for group in groups:
        if group[0] in watched:
            group += [[urls.path_prefix(split[place][1]) for place in places[group[0]]], first]
        first += group[2]
    order = list(chain.from_iterable(places.values()))
    priority = ordering.first_priority
    return [
        groups,
        [str(links[place].id) for place in order],
        [split[place][1] for place in order],
        [place + 1 - priority(links[place], source) * PRIORITY_STEP for place in order],
        {
            n: links[place].spelling
            for n, place in enumerate(order, 1)
            if links[place].spelling != links[place].url
        },
        {n: links[place].request for n, place in enumerate(order, 1) if links[place].request},
        _notes([links[place] for place in order], ordering, source),
        ordering.on_repeat if source else "",
        ordering.band,
    ]


def _notes(links: Sequence[Link], ordering: Ordering, source: Source | None) -> dict[int, int]:
    if source is None or not ordering.takes_notes:
        return {}
    notes = ((n, ordering.note(link, source)) for n, link in enumerate(links, 1))
    return {n: note for n, note in notes if note}


def priorities(some: Iterable[tuple[Link, int]]) -> list[list[Any]]:
    """Links and their new priorities, grouped by server, for rescore-2.lua."""
    found: dict[str, list[Any]] = {}
    for link, priority in some:
        server, path = urls.split(link.url)
        group = found.setdefault(server, [server, [], []])
        group[1].append(path)
        group[2].append(priority)
    return list(found.values())


def done(one: Done, columns: list[Any]) -> bytes:
    """A lease that is decided, with the columns of its links, for complete-2.lua."""
    lease = one.lease
    prefix = urls.path_prefix(lease.url[len(lease.server) :])
    return pack(  # type: ignore[no-any-return]
        [
            lease.url,
            lease.token,
            one.reason,
            one.is_document,
            one.repeats,
            prefix,
            dict(one.refused),
            columns,
        ]
    )


def limits(budgets: Budgets) -> bytes:
    """Budgets, for _4_intake.lua."""
    return pack(  # type: ignore[no-any-return]
        [
            budgets.server,
            budgets.domain,
            budgets.domain_servers,
            budgets.prefix,
            budgets.share,
            budgets.share_of,
            budgets.queued,
        ]
    )


def leases(values: Sequence[bytes | int]) -> list[Lease]:
    """Reads the leases from an answer of lease-2.lua, nine values each."""
    return [_lease(values[i : i + LEASE_VALUES]) for i in range(0, len(values), LEASE_VALUES)]


def _lease(values: Sequence[Any]) -> Lease:
    url, server, spelling, request, token, tries, doubtful, score, note = values
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
    )


def milliseconds(seconds: float) -> int:
    return round(min(seconds, 10**9) * 1000)
