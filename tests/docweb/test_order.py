"""With one request at a time, documents come in the order of the mode; the rules are written anew here."""

import os
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from .conftest import WITHOUT_INDEX, Crawled
from .truth import SEED, Truth, Visit

pytestmark = [
    pytest.mark.docweb,
    pytest.mark.deep("test_orderings.py has the same references, test_scheduler.py max_pages"),
]

PAGES = int(os.environ.get("DOCWEB_PAGES", "300"))
Web = dict[str, Visit]


def fifo(web: Web) -> list[str]:
    """First found first, over all servers."""
    waiting, seen, documents = [SEED], {SEED}, []
    for url in waiting:
        if web[url].reason == "document":
            documents.append(url)
        new = [link for link, _ in web[url].followed if link not in seen]
        waiting += new
        seen.update(new)
    return documents


def breadth(web: Web) -> list[str]:
    """A server without a document yet, first found first; else all servers in turn, least recently accessed
    first; within a server first found first. A server stays new until a document of it is there or its known
    URLs are used up (Pinkerton 1994, "The Search Engine")."""
    waiting, seen, documents = {_server(SEED): [SEED]}, {SEED}, []
    new, accessed = [_server(SEED)], {_server(SEED): 0}
    while any(waiting.values()):
        newcomers = [server for server in new if waiting[server]]
        rest = sorted((server for server in waiting if waiting[server]), key=lambda server: accessed[server])
        server = (newcomers or rest)[0]
        accessed[server] = max(accessed.values()) + 1
        url = waiting[server].pop(0)
        for link in [link for link, _ in web[url].followed if link not in seen]:
            seen.add(link)
            if _server(link) not in waiting:
                new.append(_server(link))
                accessed[_server(link)] = 0
            waiting.setdefault(_server(link), []).append(link)
        if web[url].reason == "document":
            documents.append(url)
        if server in new and (web[url].reason == "document" or not waiting[server]):
            new.remove(server)
    return documents


def _server(url: str) -> str:
    return urlsplit(url).netloc


@pytest.mark.parametrize("reference", [breadth, fifo])
def test_order_of_fetching_is_that_of_the_rule(
    crawl: Callable[..., Crawled], truth: Truth, reference: Callable[[Web], list[str]]
) -> None:
    one_at_a_time = ("-s", "CONCURRENT_REQUESTS=1", "-s", "FRONTIER_TRIES=1")

    crawled = crawl(reference.__name__, *one_at_a_time, *WITHOUT_INDEX, "-a", f"max_pages={PAGES}")

    assert [item["url"] for item in crawled.items] == reference(truth.visits)[:PAGES]


def test_max_pages_are_never_exceeded(
    crawl: Callable[..., Crawled], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("bounded")

    first = crawl("breadth", *WITHOUT_INDEX, "-a", "max_pages=50", into=folder)

    assert len(first.items) == len(first.documents) == 50

    second = crawl("breadth", *WITHOUT_INDEX, "-a", "max_pages=70", into=folder)

    assert len(second.items) == 70
    assert len(second.documents) == 50 + 70
