"""A crawl that scrapy-redis has begun goes on: nothing is lost of what Redis held, nothing fetched twice."""

from __future__ import annotations

import datetime
import json
import os
import pickle
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from conftest import MakeFrontier
from localweb import Site
from scrapy import Request, Spider
from scrapy.settings import BaseSettings
from scrapy.utils.request import fingerprint
from scrapy_redis.dupefilter import RFPDupeFilter
from scrapy_redis.queue import FifoQueue, LifoQueue, PriorityQueue
from test_dropin import PAGES, Start, ended, in_any_order, project, site
from test_frontier_elsewhere import scrapy

from webcrawler.connection import connect
from webcrawler.crawl.dropin import key_of
from webcrawler.crawl.dropin.kept import Keeper
from webcrawler.crawl.dropin.pickles import Pickles
from webcrawler.crawl.dropin.takeover import take_over
from webcrawler.frontier import Frontier

__all__ = ["ended", "project", "site"]  # fixtures

SCRAPY_REDIS = {
    "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
    "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
    "SCHEDULER_PERSIST": 1,
}
URL = "http://a.example/{}"


class Named(Spider):
    name = "named"

    def parse_more(self) -> None: ...


class Runs:
    """A value whose pickle runs a command when it is read."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.file}",)


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[str]:
    """The URL of a Redis that both use."""
    with connect(None, tmp_path / "shared"):
        yield f"unix://{tmp_path}/shared/redis/redis.sock"


@pytest.fixture
def taken(make_frontier: MakeFrontier) -> Frontier:
    frontier = make_frontier("priority", name="named")
    frontier.identify_by("scrapy-redis")
    return frontier


def moved(frontier: Frontier, **settings: object) -> dict[str, Any]:
    return take_over(frontier, Named, BaseSettings(settings), lambda done, total: None)


def leased(frontier: Frontier) -> list[str]:
    return [lease.spelling for lease in frontier.lease(100).leases]


EACH = pytest.mark.deep("the next test has each kind of queue")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spider", "pages", "queue"),
    [
        ("author", 9, "PriorityQueue"),
        pytest.param("author", 9, "FifoQueue", marks=EACH),
        pytest.param("author", 9, "LifoQueue", marks=EACH),
        ("quotes", PAGES // 2, "PriorityQueue"),  # its first page yields items
    ],
)
def test_crawl_that_was_stopped_half_way_goes_on(
    project: Path, ended: Start, site: Site, shared: str, spider: str, pages: int, queue: str
) -> None:
    told = "-a", f"site={site.url}"
    whole = ended(spider, *told, plainly=True)
    plain = whole.items
    (whole.folder / "items.jsonl").unlink()
    site.received.clear()

    half = {"SCHEDULER_QUEUE_CLASS": f"scrapy_redis.queue.{queue}", "CLOSESPIDER_PAGECOUNT": pages}
    where = {"REDIS_URL": shared}
    before = ended(spider, *told, plainly=True, CONCURRENT_REQUESTS=2, **SCRAPY_REDIS, **half, **where)
    ours = {"FRONTIER_IDENTITY": "scrapy-redis"} | where
    options = [part for name, value in ours.items() for part in ("-s", f"{name}={value}")]
    name = ["--name", spider, "--json", *options]
    done = scrapy("frontier", "import-scrapy-redis", *name, project=project, folder=before.folder)
    assert done.status == 0, done.err
    found = json.loads(done.out)
    after = ended(spider, *told, **ours)

    assert found["requests"] == found["new"] > 0
    assert found["refused"] == {}
    assert 0 < len(before.items) < len(plain)
    assert in_any_order(before.items + after.items) == in_any_order(plain)
    paths = [request.path for request in site.received if request.path != "/robots.txt"]
    assert len(paths) == len(set(paths))


@pytest.mark.slow
@pytest.mark.parametrize("queue", [PriorityQueue, FifoQueue, LifoQueue])
def test_requests_are_the_same_and_what_was_seen_is_seen(
    client: redis.Redis, taken: Frontier, queue: type[PriorityQueue]
) -> None:
    waiting = queue(client, Named(), "%(spider)s:requests")
    filtered = RFPDupeFilter(client, "named:dupefilter")
    requests = [
        Request(URL.format("a"), waiting.spider.parse_more, meta={"of": (1, {2})}, priority=3),
        Request(URL.format("b"), method="POST", body=b"\xff", headers={"X": "1"}, cb_kwargs={"n": 1}),
        Request(URL.format("c"), dont_filter=True),
    ]
    for request in requests:
        waiting.push(request)
        filtered.request_seen(request)
    filtered.request_seen(Request(URL.format("fetched")))

    assert moved(taken) == {"requests": 3, "new": 3, "refused": {}, "seen": 4}
    spider = waiting.spider
    keeper = Keeper(spider, key_of("scrapy-redis", fingerprint), "")
    given = {request.url: request for request in map(keeper.request, taken.lease(9).leases)}
    assert [given[one.url].to_dict(spider=spider) for one in requests] == [
        one.to_dict(spider=spider) for one in requests
    ]
    again = [keeper.link(one, "") for one in (*requests[:2], Request(URL.format("fetched#top")))]
    taken.identify_by("scrapy-redis")
    assert taken.discover(again) == 0
    assert taken.discover([keeper.link(Request(URL.format("new")), "")]) == 1
    assert not client.exists("named:requests", "named:dupefilter")


@pytest.mark.slow
def test_second_run_moves_nothing_twice(client: redis.Redis, taken: Frontier) -> None:
    for n in range(3):
        PriorityQueue(client, Named(), "%(spider)s:requests").push(Request(URL.format(n), dont_filter=True))
    left = client.zrange("named:requests", 0, -1, withscores=True)

    assert moved(taken)["new"] == 3
    client.zadd("named:requests", dict(left))  # as if it had been killed before they were removed
    assert moved(taken) == {"requests": 3, "new": 0, "refused": {}, "seen": 0}


def test_what_cannot_be_read_is_kept_aside_and_nothing_of_it_runs(
    client: redis.Redis, taken: Frontier, tmp_path: Path
) -> None:
    good = Request(URL.format("good")).to_dict(spider=None)
    touched = tmp_path / "touched"
    refused = {
        pickle.dumps(good | {"meta": {"x": Runs(touched)}}): "it holds posix.system",
        pickle.dumps(good | {"meta": {"x": datetime.date(2026, 1, 1)}}): "it holds datetime.date",
        pickle.dumps(good | {"callback": "parse_less"}): "Method 'parse_less' not found",
        pickle.dumps(
            good | {"_class": "http.server.HTTPServer"}
        ): "http.server.HTTPServer is no class of requests",
        pickle.dumps(good | {"url": "ftp://a.example/"}): "its URL is neither http nor https",
        pickle.dumps(good)[:-9]: "truncated",
        b"no pickle": "",
    }
    client.rpush("named:requests", pickle.dumps(good), *refused)

    found = moved(taken)

    assert (found["requests"], found["new"]) == (len(refused) + 1, 1)
    assert sum(found["refused"].values()) == len(refused)
    told = "\n".join(found["refused"])
    assert [why for why in refused.values() if why not in told] == []
    assert set(client.lrange("named:requests:refused", 0, -1)) == set(refused)
    assert leased(taken) == [URL.format("good")]
    assert not touched.exists()


def test_serializer_of_the_project_reads_what_it_has_written(client: redis.Redis, taken: Frontier) -> None:
    client.rpush("named:requests", "{torn", json.dumps({"url": URL.format("json")}))

    found = moved(taken, SCHEDULER_SERIALIZER="json")

    assert (found["requests"], found["new"], sum(found["refused"].values())) == (2, 1, 1)
    assert client.lrange("named:requests:refused", 0, -1) == [b"{torn"]
    assert leased(taken) == [URL.format("json")]


def test_value_at_which_its_reader_dies_is_refused_and_the_next_is_read() -> None:
    with Pickles() as pickles:
        os.kill(pickles._process.pid, signal.SIGKILL)
        pickles._process.wait()

        [died, read] = pickles.read([pickle.dumps("at which it died"), pickle.dumps("next")])

    assert str(died) == "the process that reads it dies"
    assert read == "next"
