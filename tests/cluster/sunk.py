"""Small catalogs, sinks of them, and how a cluster differs from what catalogs hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from crawled import link
from waiting import until

from webcrawler.archive.catalog import Catalog
from webcrawler.frontier import Frontier, folder_name
from webcrawler.index import Elsewhere
from webcrawler.opensearch.bulk import Bulk
from webcrawler.opensearch.client import Cluster
from webcrawler.opensearch.documents import Writer, made
from webcrawler.opensearch.homes import Homes
from webcrawler.opensearch.mapping import OUTSIDE, TEXTS
from webcrawler.opensearch.refused import Refused
from webcrawler.opensearch.sink import Sink
from webcrawler.opensearch.state import State
from webcrawler.opensearch.view import Sinking
from webcrawler.records import Entry, Fetch, Lease, Text
from webcrawler.urls import server, url_id

from .opensearch import Cluster as Nodes

UNCOMPARED = {*TEXTS, "sampled", "rank", "pagerank", "term", "home", "checked"}
NO_WRITER = Writer("", 1)


def page(url: str, *linked: str, at: float = 1.0, title: str = "", body: str = "its body") -> Entry:
    """What was fetched at a time, and calls each of its links by the last part of its URL."""
    lease = Lease(url_id(url), url, url, server(url), int(at))
    fetch = Fetch(lease, "done", "document", at, 0.1, 200, (("Content-Type", "text/html"),))
    text = Text(title or f"Title of {url}", "", "", "", body, language="en")
    links = tuple(link(to, to.rpartition("/")[2]) for to in linked)
    return Entry(fetch, f"{title} {body} {url}".encode()[:20] + url.encode(), links=links, text=text)


def gone(url: str, at: float) -> Entry:
    lease = Lease(url_id(url), url, url, server(url), int(at))
    return Entry(Fetch(lease, "failed", "not-found", at, 0.1, 404))


def write(folder: Path, *entries: Entry) -> Path:
    with closing(Catalog(folder / "catalog.sqlite")) as catalog:
        for entry in entries:
            catalog.write([(entry, None)])
    return folder


def pages(number: int, at: float = 1.0, body: str = "its body", site: str = "http://a.test") -> list[Entry]:
    """Pages each of which links to the next, and to one that nobody fetches."""
    return [
        page(f"{site}/{n}", f"{site}/{n + 1}", f"{site}/new/{n}", at=at, body=f"{body} {n}")
        for n in range(number)
    ]


@contextmanager
def sink(
    folder: Path,
    url: str,
    name: str = "",
    frontier: Frontier | None = None,
    pause: Callable[[float], None] = lambda seconds: None,
    tell: Callable[[str], None] = lambda trouble: None,
) -> Iterator[Sink]:
    """A sink that does not pause; `name`: as a folder of that name."""
    path = folder / "catalog.sqlite"
    with closing(Cluster(url)) as cluster, closing(Catalog(path, readonly=True)) as catalog:
        homes = Homes(State(cluster), name or folder_name(folder), frontier)
        made = Sink(catalog, folder, cluster, homes, Bulk(cluster, Refused(folder), pause, tell))
        made.open()
        yield made


def drain(opened: Sink) -> None:
    """Write all that the catalog has."""
    while opened.step():
        pass
    while opened.step_round(with_ranks=True):
        pass
    opened.tidy()


def sunk(folder: Path, url: str) -> None:
    with sink(folder, url) as opened:
        drain(opened)


@contextmanager
def following(folder: Path, url: str) -> Iterator[Callable[[], None]]:
    """The sink as a view of a crawl that is alive; gives what waits until all is there, as the crawl ends."""
    catalog = Catalog(folder / "catalog.sqlite", readonly=True)
    with closing(catalog), closing(Sinking(catalog, folder, {"SINK_URL": url})) as view:

        def is_there() -> bool:
            view.step(crawling=True)  # as by the next crawl, its patience begins anew
            view.step(crawling=False)
            return not view.is_behind()

        def finish() -> None:
            until(is_there, "all is in the cluster")

        yield finish


class Differences(NamedTuple):
    """URLs in which a cluster is not as the catalogs are."""

    missing: set[str]
    stale: set[str]
    resurrected: set[str]  # no catalog has them
    doubled: set[str]  # a page and only linked to as well

    @property
    def none(self) -> bool:
        return not any(self)


def differences(nodes: Nodes, name: str, *folders: Path) -> Differences:
    there = [(kind, one["url"], one) for kind in ("pages", "named") for one in documents(nodes, name, kind)]
    wanted = {(kind, one["url"]): one for folder in folders for kind, one in _wanted(folder)}
    found = {(kind, url): one for kind, url, one in there}
    times = Counter(url for _, url, _ in there)
    return Differences(
        {url for _, url in wanted.keys() - found.keys()},
        {url for kind, url in wanted.keys() & found.keys() if _differ(wanted[kind, url], found[kind, url])},
        {url for _, url in found.keys() - wanted.keys()},
        {url for url, number in times.items() if number > 1},
    )


def documents(nodes: Nodes, name: str, kind: str) -> list[dict[str, Any]]:
    """All that searches may see."""
    nodes.ask(f"/{name}-{kind}/_refresh", "POST")
    wanted = {"size": 1000, "docvalue_fields": list(OUTSIDE)}
    found = nodes.ask(f"/{name}-{kind}/_search?scroll=1m", "POST", wanted)
    sources: list[dict[str, Any]] = []
    while hits := found["hits"]["hits"]:
        sources += [hit["_source"] | {name: of[0] for name, of in hit["fields"].items()} for hit in hits]
        again = {"scroll": "1m", "scroll_id": found["_scroll_id"]}
        found = nodes.ask("/_search/scroll", "POST", again)
    return sources


def _wanted(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        numbers = list(dict(catalog.urls.all()))
        for one in made(catalog, numbers, None, NO_WRITER, Elsewhere(folder)):
            yield from ((kind, of) for kind, of in (("pages", one.page), ("named", one.named)) if of)


def _differ(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return _compared(one) != _compared(other)


def _compared(source: dict[str, Any]) -> dict[str, Any]:
    """A cluster leaves out the padding of base64, and what is empty."""
    outside = {name: source[name].rstrip("=") for name in OUTSIDE if source.get(name)}
    return {k: v for k, v in source.items() if k not in {*UNCOMPARED, *OUTSIDE}} | outside
