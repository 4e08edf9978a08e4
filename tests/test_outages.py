"""A server that is away costs none of its pages: what a URL cannot help is not counted against it."""

from __future__ import annotations

import asyncio
import errno
import itertools
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from handmade import Handmade, made, make
from issuing import self_signed
from localweb import Answer, Site, crawl, page, sites
from scrapy.exceptions import DownloadFailedError
from twisted.internet.error import ConnectBindError
from twisted.python.failure import Failure

from webcrawler.crawl import open_leases
from webcrawler.crawl.open_leases import FAULTS_MAX, LARGE_BYTES, Blame, Outages, is_ours
from webcrawler.frontier import inspect
from webcrawler.records import Lease
from webcrawler.urls import server, url_id

__all__ = ["made", "make"]  # fixtures

PAGES = 8  # each links to the next
BEFORE, AWAY = 4, 6  # answers before the outage, and in it
AWAY_SECONDS = 0.5  # less than the pauses of FRONTIER_BACKOFF together
QUICK = {"FRONTIER_BACKOFF": 0.02, "FRONTIER_SLOWNESS": 0, "DOWNLOAD_TIMEOUT": 2, "RANKER_ENABLED": "no"}
PAGE, SERVER, LONG = Blame.PAGE, Blame.SERVER, Blame.LONG


# ---- whom to blame


def lease(name: str) -> Lease:
    url = f"http://a.test/{name}"
    return Lease(url_id(url), url, url, server(url), 1)


class Seen:
    """What one process has seen of a server that gave a document."""

    def __init__(self) -> None:
        self.now = 100.0
        self.outages = Outages(lambda: self.now)
        self.outages.gave_document(lease("good"))

    def failed(self, name: str, seconds: float = 0.1) -> Blame:
        self.now += 1
        return self.outages.failed(lease(name), seconds)[0]

    def answered(self, name: str = "good") -> None:
        self.now += 1
        self.outages.answered(lease(name))


@pytest.fixture
def seen() -> Seen:
    return Seen()


def test_the_first_of_a_row_is_to_blame_itself_and_the_others_are_not(seen: Seen) -> None:
    assert [seen.failed(name) for name in "abcab"] == [PAGE, SERVER, SERVER, SERVER, SERVER]


def test_a_good_answer_ends_the_row(seen: Seen) -> None:
    seen.failed("a")
    seen.answered()

    assert seen.failed("b") is PAGE


def test_what_failed_before_its_server_was_good_again_is_to_blame_itself(seen: Seen) -> None:
    for name in "abc":
        seen.failed(name)
    seen.answered()

    assert [seen.failed(name) for name in "abcd"] == [PAGE, PAGE, PAGE, SERVER]


def test_of_a_server_that_gave_no_document_each_page_is_to_blame() -> None:
    outages = Outages()

    assert [outages.failed(lease(name), 0.1)[0] for name in "abc"] == [PAGE] * 3


def test_what_is_asked_of_a_server_that_stays_away_is_given_up(seen: Seen) -> None:
    names = [str(n) for n in range(FAULTS_MAX + 2)]

    assert [seen.failed(name) for name in names] == [PAGE, *[SERVER] * (FAULTS_MAX - 1), LONG, LONG]


def test_downloads_that_were_under_way_together_are_one_fault(seen: Seen) -> None:
    began = seen.now
    found = [seen.outages.failed(lease(str(n)), 1.0)[1] for n in range(20)]

    assert found == [1] + 19 * [0]
    seen.now = began + 10
    assert seen.outages.failed(lease("later"), 1.0) == (SERVER, 2)


# ---- crawls


KINDS = {
    **{str(status): Answer(status=status) for status in (429, 500, 502, 503, 504)},
    "half an answer": Answer("<p>half", headers={"Content-Length": "5000", "Connection": "close"}),
    "no HTTP": Answer(headers={"Content-Length": "x"}),
    "none": None,
}


@pytest.fixture
def away() -> Iterator[tuple[Site, list[Any]]]:
    """A site that gives no good answer to some requests behind the first ones; and what it gives then."""
    with sites(site={}) as opened:
        site, given, numbers = opened["site"], [Answer()], itertools.count(1)

        def answer(number: int) -> Callable[[Site], Answer | None]:
            good = page(*([f"/{number + 1}"] if number + 1 < PAGES else ()))
            return lambda _: given[0] if BEFORE < next(numbers) <= BEFORE + AWAY else good

        site.routes |= {f"/{number or ''}": answer(number) for number in range(PAGES)}
        yield site, given


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_page_is_lost_while_its_server_is_away(
    tmp_path: Path, away: tuple[Site, list[Any]], kind: str
) -> None:
    site, given = away
    given[0] = KINDS[kind]

    crawled = crawl(tmp_path, "index", "-a", f"seeds={site.url}/", **QUICK)

    assert len(crawled.documents()) == PAGES


def chain(site: Site, at: int, act: Callable[[Site], None]) -> None:
    """Pages that each link to the next, on connections of their own; one of them has something happen."""

    def answer(number: int) -> Callable[[Site], Answer]:
        good = page(*([f"/{number + 1}"] if number + 1 < PAGES else ()))

        def answered(site: Site) -> Answer:
            if number == at and site.times(f"/{number}") == 1:
                threading.Thread(target=act, args=(site,)).start()
            return good._replace(headers={"Connection": "close"})

        return answered

    site.routes |= {f"/{number or ''}": answer(number) for number in range(PAGES)}


@pytest.mark.slow
def test_no_page_is_lost_while_nobody_listens(tmp_path: Path) -> None:
    def leave_and_come_back(site: Site) -> None:
        site.port = site.server.server_port
        site.server.shutdown()
        site.server.server_close()
        threading.Event().wait(AWAY_SECONDS)
        site.start()

    with sites(site={}) as opened:
        site = opened["site"]
        chain(site, BEFORE, leave_and_come_back)

        crawled = crawl(tmp_path, "index", "-a", f"seeds={site.url}/", **QUICK)

    assert len(crawled.documents()) == PAGES


@pytest.mark.slow
def test_no_page_is_lost_while_a_certificate_has_expired(tmp_path: Path) -> None:
    root = self_signed("Root", is_authority=True)
    root.write(tmp_path / "trusted.pem")
    good, expired = root.issue("127.0.0.1"), root.issue("127.0.0.1", days=(-30, -1))
    expired.context(tmp_path)

    def expire_and_be_renewed(site: Site) -> None:
        for issued, seconds in ((expired, AWAY_SECONDS), (good, 0.0)):
            assert site.tls
            site.tls.load_cert_chain(tmp_path / f"{issued.certificate.serial_number}.pem")
            threading.Event().wait(seconds)

    site = Site(tls=good.context(tmp_path)).start()
    chain(site, BEFORE, expire_and_be_renewed)
    given = {"SSL_CERT_FILE": tmp_path / "trusted.pem"}
    options = {**QUICK, "DOWNLOAD_VERIFY_CERTIFICATES": "yes"}

    crawled = crawl(tmp_path / "crawl", "index", "-a", f"seeds={site.url}/", variables=given, **options)
    site.stop()

    assert len(crawled.documents()) == PAGES


@pytest.mark.slow
def test_what_an_outage_took_that_lasted_two_nights_is_fetched_in_the_third(tmp_path: Path) -> None:
    """It begins in the middle of the first crawl, and is over its end."""
    away = [False]
    with sites(site={}) as opened:
        site = opened["site"]
        chain(site, BEFORE, lambda _: away.insert(0, True))
        answers = dict(site.routes)

        def answer(path: str) -> Callable[[Site], Answer | None]:
            return lambda site: Answer(status=500) if away[0] else answers[path](site)  # type: ignore[operator]

        site.routes |= {path: answer(path) for path in answers}
        nights = []
        for night in range(3):
            away[0] &= night < 2
            refresh = ("-a", "refresh=once") if night else ()
            crawled = crawl(tmp_path, "index", "-a", f"seeds={site.url}/", *refresh, **QUICK)
            nights.append(len(crawled.documents()))

    assert nights[0] < PAGES and nights[2] == PAGES


@pytest.mark.slow
def test_pages_that_fail_at_the_end_do_not_hold_the_crawl_up(tmp_path: Path) -> None:
    """They look like a server that is away, until a page that was good is fetched again."""
    broken = Answer(status=500)
    with sites(site={"/": page("/a", "/b", "/c"), **dict.fromkeys(("/a", "/b", "/c"), broken)}) as opened:
        site = opened["site"]

        crawled = crawl(tmp_path, "index", "-a", f"seeds={site.url}/", **QUICK)

    assert {crawled.reason(site.url + path) for path in ("/a", "/b", "/c")} == {"failed/server-error"}
    assert max(site.times(path) for path in ("/a", "/b", "/c")) < FAULTS_MAX
    assert "fails now" not in crawled.log


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["500", "half an answer"])
def test_what_failed_is_asked_for_by_the_next_pass_over_all_pages(tmp_path: Path, kind: str) -> None:
    routes = {"/": page("/a", "/b"), "/a": KINDS[kind], "/b": page("/c"), "/c": page()}
    with sites(site=routes) as opened:
        site = opened["site"]
        seeds = f"seeds={site.url}/"
        crawl(tmp_path, "index", "-a", seeds, FRONTIER_TRIES=1, **QUICK)
        site.routes["/a"] = page("/d")
        site.routes["/d"] = page()

        crawled = crawl(tmp_path, "index", "-a", seeds, "-a", "refresh=once", **QUICK)

    assert {site.url + path for path in ("/", "/a", "/b", "/c", "/d")} == crawled.documents()


# ---- faults of this machine


def too_many_files() -> Exception:
    try:
        raise DownloadFailedError("no") from ConnectBindError(errno.EMFILE, "Too many open files")
    except DownloadFailedError as error:
        return error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.EMFILE, "Too many open files"), True),
        (too_many_files(), True),
        (DownloadFailedError([Failure(ConnectBindError(errno.ENFILE))]), False),
        (OSError(errno.ECONNREFUSED, "refused"), False),
        (OSError(errno.EADDRNOTAVAIL, "no IPv6 here"), False),
    ],
)
def test_what_this_machine_lacks_is_told_from_what_a_server_does(error: Exception, expected: bool) -> None:
    assert is_ours(error) == expected


def test_what_this_machine_could_not_ask_goes_back_and_is_no_try(made: Handmade) -> None:
    failure = Failure(too_many_files())
    failure.request = made.request("http://127.0.0.1/", started=1.0)  # type: ignore[attr-defined]

    async def fail() -> None:
        made.crawl.outcomes.failed(failure)
        await asyncio.gather(*made.crawl.outcomes._tasks)

    asyncio.run(fail())

    (report,) = made.crawl.take_reports()
    assert report.slow_down
    assert made.crawl.leases.open == {}
    assert inspect.stats(made.frontier)["queued"] == 1


@pytest.mark.slow
def test_the_time_for_which_a_large_body_waits_for_room_is_not_its_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_leases, "PLACES", 0)
    large = Answer("<p>word</p>" * (LARGE_BYTES // 10))

    def answer(site: Site) -> Answer:
        if site.times("/") == 2:
            monkeypatch.setattr(open_leases, "PLACES", 1)
        return large

    with sites(site={"/": answer}) as opened:
        seed = f"{opened['site'].url}/"

        crawled = crawl(tmp_path, "index", "-a", f"seeds={seed}", FRONTIER_TRIES=1, **QUICK)

    assert crawled.documents() == {seed}
