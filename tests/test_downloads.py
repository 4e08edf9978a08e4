"""Slow servers do not hold up fast ones: a download that lasts over two seconds is exempt from the limit."""

from __future__ import annotations

from pathlib import Path

import pytest
from localweb import Answer, page, scrapy, sites
from waiting import until

from webcrawler.connection import connect
from webcrawler.crawl.open_leases import LOOK_UP_SECONDS, Downloads, OpenLeases
from webcrawler.records import Lease


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_there_is_room_up_to_the_limit(clock: Clock) -> None:
    downloads = Downloads(2, clock)
    downloads.begin("a")
    assert downloads.wait() == 0

    downloads.begin("b")
    assert downloads.wait() == 2.0

    downloads.end("a")
    assert downloads.wait() == 0


def test_an_old_download_makes_room_for_a_young_one(clock: Clock) -> None:
    downloads = Downloads(2, clock)
    downloads.begin("slow")
    clock.now += 1.5
    downloads.begin("young")
    assert downloads.wait() == 0.5

    clock.now += 0.5

    assert downloads.wait() == 0


def test_the_look_up_of_a_name_makes_room_soon_and_what_follows_counts_anew(clock: Clock) -> None:
    downloads = Downloads(1 + 1, clock)
    downloads.begin("known")
    downloads.begin("looked up", doubtful=True, patience=LOOK_UP_SECONDS)
    assert downloads.wait() == pytest.approx(LOOK_UP_SECONDS)

    clock.now += 2 * LOOK_UP_SECONDS
    assert downloads.wait() == 0
    assert downloads.exempt == {"looked up"}

    downloads.begin("looked up", doubtful=True)
    assert downloads.exempt == set()
    assert downloads.wait() == pytest.approx(2.0 - 2 * LOOK_UP_SECONDS)
    assert downloads.doubtful_room() == 0


def test_one_at_a_time_stays_one_at_a_time(clock: Clock) -> None:
    downloads = Downloads(1, clock)
    downloads.begin("slow")
    clock.now += 3600

    assert downloads.wait() > 0
    assert downloads.scrapy_limit == 1


def test_without_a_limit_there_is_always_room(clock: Clock) -> None:
    downloads = Downloads(0, clock)
    for n in range(1000):
        downloads.begin(n)

    assert downloads.wait() == downloads.scrapy_limit == 0


def test_three_quarters_may_be_of_doubtful_servers(clock: Clock) -> None:
    downloads = Downloads(8, clock)
    for n in range(6):
        downloads.begin(n, doubtful=True)
    assert downloads.doubtful_room() == 0

    downloads.end(0)
    assert downloads.doubtful_room() == 1

    clock.now += 2
    assert downloads.doubtful_room() == 6


def test_scrapy_itself_lets_so_many_through_as_may_be_exempt() -> None:
    assert Downloads(32).scrapy_limit == 16 * 32


def test_a_lease_is_unread_until_it_is_decided_or_its_download_is_exempt(clock: Clock) -> None:
    leases = OpenLeases(4)
    leases.downloads = Downloads(4, clock)
    for url in ("slow", "young", "waiting"):
        leases.open[url] = Lease(1, url, url, "site.test", 1)
    leases.downloads.begin("slow")
    assert leases.unread() == 3

    clock.now += 2
    leases.downloads.begin("young")
    assert leases.unread() == 2

    leases.end_download("slow")
    assert leases.unread() == 3

    leases.close(leases.open["slow"])
    assert leases.unread() == 2


@pytest.mark.slow
def test_servers_that_hang_do_not_hold_up_one_that_answers(tmp_path: Path) -> None:
    """They are more than there are downloads at a time, and they come first."""
    names = [f"hangs{n}" for n in range(6)]
    with sites(**{name: {"*": lambda site: None} for name in names}, answers={}) as opened:
        fast = opened["answers"]
        fast.routes = {"/robots.txt": Answer("", 404), **{f"/{n}": page(f"/{n + 1}") for n in range(30)}}
        seeds = ",".join([*(f"{opened[name].url}/" for name in names), f"{fast.url}/0"])
        options = ("-sCONCURRENT_REQUESTS=4", "-sFRONTIER_DELAY=0", "-sADDRESSES_ALLOWED=127.0.0.1/32")
        words = ("crawl", "index", "-a", f"seeds={seeds}", "-a", "mode=fifo")
        process = scrapy(*words, *options, folder=tmp_path)
        try:
            until(lambda: len(fast.pages) == 31, "all pages", process)
        finally:
            process.kill()
            process.communicate()
            connect(None, tmp_path).close()  # the last user stops the server
        assert all(len(opened[name].asked) <= 1 for name in names)
