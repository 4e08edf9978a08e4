"""Link farms: small groups of domains that link to each other, and to which hardly anybody else links."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from webcrawler.archive.catalog import Catalog
from webcrawler.arrays import READING
from webcrawler.durable import replaced
from webcrawler.urls import registrable_domain

NAME = "farms.npz"
LEAST, MOST = 4, 100  # domains of a farm: three friends are none, and what is larger is a part of the web
SHARE = 0.1  # of all domains that link, which a farm has at most: else it is the collection
DENSITY = 0.5  # of its pairs, which link to each other, at least
OUTSIDE = 0.1  # of the links to it, one for each pair of domains, that come from elsewhere, at most

IntArray = NDArray[np.int64]
Shares = NDArray[np.float64]


class Groups(NamedTuple):
    """Domains that are connected by links both ways; arrays are by group, but `of`."""

    of: IntArray  # the group of each domain
    members: IntArray  # how many domains it has
    density: Shares  # of its pairs, which link to each other
    outside: Shares  # of the links to it, which come from elsewhere
    linking: int  # domains that link to another one, in all groups


class Farms(NamedTuple):
    """Pages on domains of farms."""

    pages: IntArray  # page numbers, ascending
    sizes: IntArray  # domains of the farm, aligned to `pages`


def farms(sources: IntArray, targets: IntArray, domains: int) -> IntArray:
    """Return for each domain how many the farm has that it belongs to, 0 for none.

    A farm is a connected group of domains, by links both ways, that is small, dense, and linked to by hardly
    any other.

    Args:
        sources, targets: the domains of each link, from 0; links within a domain do not count.
    Source: the dense groups of Gibson, Kumar, Tomkins 2005, "Discovering Large Dense Subgraphs in Massive
    Graphs", which were mostly link spam.
    Weakness: a farm whose domains link one way only, in a ring, is not found, nor one that a single domain
    outside links back to, as both are one group then.
    """
    found = groups(sources, targets, domains)
    is_farm = (
        (found.members >= LEAST)
        & (found.members <= min(MOST, SHARE * found.linking))
        & (found.density >= DENSITY)
        & (found.outside <= OUTSIDE)
    )
    return np.where(is_farm[found.of], found.members[found.of], 0)


def groups(sources: IntArray, targets: IntArray, domains: int) -> Groups:
    """Return the groups that are connected by links both ways; links within a domain do not count."""
    # Not above: searches import this module too, and would begin later
    from scipy.sparse.csgraph import connected_components

    far = sources != targets
    links = csr_array((np.ones(far.sum()), (sources[far], targets[far])), shape=(domains, domains))
    links.data[:] = 1.0  # however many there are between two domains
    mutual = links.multiply(links.T).tocsr()
    _, group = connected_components(mutual, directed=False)
    members = np.bincount(group)
    pairs = np.bincount(group, np.diff(mutual.indptr), len(members))  # each twice
    source, target = links.nonzero()
    to = np.bincount(group[target], minlength=len(members))
    within = np.bincount(group[target], group[source] == group[target], len(members))
    return Groups(
        group.astype(np.int64),
        members,
        pairs / np.maximum(members * (members - 1), 1),
        (to - within) / np.maximum(to, 1),
        int(np.count_nonzero(np.diff(links.indptr))),
    )


def find(catalog: Catalog) -> Farms:
    """Find the farms of a catalog; a second for a million links."""
    sources, targets = catalog.links.arrays()
    names, domains = by_domain(catalog)
    sizes = farms(domains[sources - 1], domains[targets - 1], len(names)) if len(sources) else domains * 0
    of_page = sizes[domains] if len(sources) else sizes
    pages = np.flatnonzero(of_page)
    return Farms(pages + 1, of_page[pages])


def by_domain(catalog: Catalog) -> tuple[list[str], IntArray]:
    """Return the registrable domains, and the place among them of each page's, from page 1 on."""
    names, servers = catalog.urls.servers()
    known = dict[str, int]()
    domain_of = np.zeros(max(names, default=0) + 1, np.int64)
    for number, name in names.items():
        domain_of[number] = known.setdefault(registrable_domain(name), len(known))
    return list(known), domain_of[servers]


def store(folder: Path, found: Farms, identity: str) -> None:
    """Replaces what is stored. Raises OSError: the old one stays."""
    with replaced(folder / NAME) as file:
        np.savez(file, pages=found.pages, sizes=found.sizes, identity=np.array(identity))


def load(folder: Path, identity: str) -> Farms | None:
    """The farms of that catalog; None if there are none that can be read."""
    with (
        suppress(OSError, ValueError, KeyError, BadZipFile),
        READING,
        np.load(folder / NAME, allow_pickle=False) as held,
    ):
        if str(held["identity"]) == identity:
            return Farms(held["pages"], held["sizes"])
    return None
