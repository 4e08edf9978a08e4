"""Hosts are reached by any of their addresses, wherever they move, and beside names that nobody knows."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from localweb import Answer, Crawled, Site, crawl, page

from webcrawler.crawl.middlewares import OutcomeMiddleware
from webcrawler.crawl.robots import RobotsMiddleware

ADDRESSES = {
    "by-ipv6.test": ["::1"],
    "one-dead.test": ["127.0.0.9", "127.0.0.1"],  # nobody listens at the first
    "dead-by-ipv4.test": ["127.0.0.9", "::1"],
}


class Names:
    """The system's resolver: it knows these hosts, and says nothing of those that begin with silent."""

    def __init__(self) -> None:
        self.addresses = dict(ADDRESSES)
        self.asked: list[str] = []
        self.answers = threading.Event()  # to silent names: that there are none
        self.system = socket.getaddrinfo

    def getaddrinfo(self, host: Any, port: Any, *rest: Any, **options: Any) -> Any:
        self.asked.append(host)
        if host.startswith("silent"):
            assert self.answers.wait(240), "nobody has told it to go on"
            raise socket.gaierror(host)
        found = [self.system(ip, port, *rest, **options) for ip in self.addresses.get(host, [host])]
        return [one for answers in found for one in answers]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    known = Names()
    monkeypatch.setattr(socket, "getaddrinfo", known.getaddrinfo)
    return known


@pytest.mark.parametrize("name", ADDRESSES)
def test_a_host_is_reached_by_any_of_its_addresses(tmp_path: Path, names: Names, name: str) -> None:
    site = Site({"/": page("/a", "/b"), "*": page()}, host=ADDRESSES[name][-1]).start()
    seed = f"http://{name}:{site.server.server_port}/"

    crawled = crawl(tmp_path, "index", "-a", f"seeds={seed}", ADDRESSES_ALLOWED="127.0.0.0/8,::1/128")

    site.stop()
    assert crawled.documents() == {seed, f"{seed}a", f"{seed}b"}


# ---- hosts that move


def crawl_while_it_moves(folder: Path, names: Names, allowed: str) -> tuple[Crawled, str, Site]:
    """What came of it, the seed, and the server at its new address, which it has from the first page on."""

    def move(site: Site) -> Answer:
        names.addresses["moves.test"] = [new.host]
        site.stop()
        return page("/a", "/b")._replace(headers={"Connection": "close"})

    names.addresses["moves.test"] = ["127.0.0.1"]
    old = Site({"/": move}).start()
    new = Site({"*": page()}, host="127.0.0.2", port=old.server.server_port).start()
    seed = f"http://moves.test:{new.port}/"
    crawled = crawl(folder, "index", "-a", f"seeds={seed}", ADDRESSES_ALLOWED=allowed)
    new.stop()
    return crawled, seed, new


def test_a_host_that_moves_is_asked_where_it_is(tmp_path: Path, names: Names) -> None:
    crawled, seed, new = crawl_while_it_moves(tmp_path, names, "127.0.0.0/8")

    assert crawled.documents() == {seed, f"{seed}a", f"{seed}b"}
    assert sorted(new.pages) == ["/a", "/b"]


def test_a_host_that_moves_to_a_private_address_is_refused(tmp_path: Path, names: Names) -> None:
    crawled, seed, new = crawl_while_it_moves(tmp_path, names, "127.0.0.1/32")

    assert {crawled.reason(f"{seed}{path}") for path in "ab"} == {"failed/address-refused"}
    assert new.asked == []


# ---- names that nobody knows


@pytest.mark.parametrize("name", ["a..b.test", "a" * 64 + ".test"])
def test_a_name_that_cannot_be_one_is_not_waited_for(tmp_path: Path, names: Names, name: str) -> None:
    seed = f"http://{name}/"

    crawled = crawl(tmp_path, "index", "-a", f"seeds={seed}", DOWNLOAD_TIMEOUT=600)

    assert crawled.reason(seed) == "failed/robots-unreachable"


def test_a_host_does_not_wait_behind_names_that_nobody_answers_for(tmp_path: Path, names: Names) -> None:
    """They are more than there are downloads at a time; its last page lets them go on."""

    def last(site: Site) -> Answer:
        held.extend(name for name in names.asked if name.startswith("silent"))
        names.answers.set()
        return page()

    held: list[str] = []
    names.addresses["calm.test"] = ["127.0.0.1"]
    site = Site({"/": page("/a"), "/a": page("/b"), "/b": last}).start()
    seed = f"http://calm.test:{site.server.server_port}/"
    silent = [f"http://silent{n}.test/" for n in range(40)]

    crawled = crawl(
        tmp_path, "index", "-a", f"seeds={','.join([*silent, seed])}", "-a", "mode=fifo", FRONTIER_TRIES=1
    )

    site.stop()
    assert len(set(held)) == len(silent)
    assert crawled.documents() == {seed, f"{seed}a", f"{seed}b"}
    assert {crawled.reason(url) for url in silent} == {"failed/robots-unreachable"}


@pytest.mark.parametrize(
    ("part", "begins", "robots"),
    [(RobotsMiddleware, "_download", True), (OutcomeMiddleware, "process_request", False)],
)
def test_the_time_of_a_download_begins_when_its_name_is_known(
    tmp_path: Path, names: Names, monkeypatch: pytest.MonkeyPatch, part: type, begins: str, robots: bool
) -> None:
    """That of a robots.txt, or of a page where none is asked for."""

    def begin(*arguments: Any, **options: Any) -> Any:
        asked_before.append(list(names.asked))
        return original(*arguments, **options)

    asked_before: list[list[str]] = []
    original = getattr(part, begins)
    monkeypatch.setattr(part, begins, begin)
    names.addresses["calm.test"] = ["127.0.0.1"]
    site = Site({"/": page()}).start()
    seed = f"http://calm.test:{site.server.server_port}/"

    crawled = crawl(tmp_path, "index", "-a", f"seeds={seed}", ROBOTSTXT_OBEY=robots)

    site.stop()
    assert crawled.documents() == {seed}
    assert asked_before == [["calm.test"]] and names.asked == ["calm.test"]
