"""The frontier does what its model in plain Python does, whatever happens in whatever order.

Times are in units of a million seconds, far more than a test takes: no real second decides anything.
FRONTIER_EXAMPLES says how many histories are tried.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import redis
from frontier_pair import Pair
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from webcrawler.frontier import Budgets, Done, Failed, Politeness, Report
from webcrawler.frontier.leasing import UNLIMITED
from webcrawler.records import Lease, Link
from webcrawler.urls import url_id

T = 1e6  # seconds
SERVERS = ("http://a.x.test", "http://b.x.test", "http://c.x.test:8080", "https://y.test", "http://z.test")
NUMBERS = range(40)


def _link(n: int) -> Link:
    url = f"{SERVERS[n % 5]}/{'pq'[n // 5 % 2]}/{n}"
    request = "" if n % 3 else f'{{"priority":{n % 4 - 1}}}'
    return Link(url, url_id(url), url if n % 7 else url + "?utm_source=x", request=request)


LINKS = [_link(n) for n in NUMBERS]

number = st.sampled_from(NUMBERS)
some = st.lists(number, max_size=6)  # numbers of links
server = st.sampled_from(SERVERS)
worker = st.sampled_from(["ann", "bob"])
doubtful = st.sampled_from([UNLIMITED, UNLIMITED, 0, 1])


def small(*numbers: int) -> st.SearchStrategy[int]:
    """A limit that is mostly off."""
    return st.sampled_from([0, 0, 0, *numbers])


budgets = st.just(Budgets(repeats=1)) | st.builds(
    Budgets,
    server=small(2, 4),
    domain=small(3, 6),
    domain_servers=small(1, 2),
    prefix=small(1, 3, 3),
    share=small(1, 2),
    share_of=st.sampled_from([2, 3]),
    queued=small(3, 8),
    repeats=small(1, 2, 2),
)
politenesses = st.builds(
    Politeness,
    delay=st.sampled_from([0.0, T]),
    crawl_delay_max=st.just(4 * T),
    slowness=st.just(10.0),
    slowness_max=st.just(3 * T),
    slow=st.just(0.15 * T),
    server_concurrency=st.sampled_from([1, 2]),
    tries=st.sampled_from([1, 3, 3]),
    deaths=st.sampled_from([0, 1, 2]),
    backoff=st.just(2 * T),
    backoff_max=st.just(6 * T),
    lease=st.just(4 * T),
)
reports: st.SearchStrategy[dict[str, Any]] = st.builds(
    dict,
    seconds=st.sampled_from([0.0, 0.1 * T, 0.2 * T, T]),
    slow_down=st.sampled_from([False, False, True]),
    retry_after=st.sampled_from([0.0, 0.0, 5 * T]),
    downloaded=st.sampled_from([True, True, True, False]),
)
ENDS = (
    "document",
    "document",
    "repeats",
    "repeats",
    "redirect",
    "again",
    "never",
    "poison",
    "open",
    "silent",
)


class Histories(RuleBasedStateMachine):
    """Two workers on one frontier, a web of five servers, and all that can happen to them."""

    client: redis.Redis
    leases: Bundle[Lease] = Bundle("leases")
    old: Bundle[Lease] = Bundle("old")  # somebody said what became of them

    @initialize(
        mode=st.sampled_from(["breadth", "breadth", "fifo", "random", "priority"]),
        polite=politenesses,
        budget=budgets,
        partitions=st.sampled_from([1, 1, 3]),
        seeds=st.lists(number, min_size=3, max_size=15),
    )
    def open(self, mode: str, polite: Politeness, budget: Budgets, partitions: int, seeds: list[int]) -> None:
        if partitions > 1:  # the model's partitions know nothing of each other: see test_poison.py
            polite = replace(polite, deaths=0)
        self.pair = Pair(self.client, mode, polite, budget, partitions, ["ann", "bob"])
        self.pair.discover("ann", [LINKS[n] for n in seeds])

    @rule(worker=worker, found=some)
    def discover(self, worker: str, found: list[int]) -> None:
        self.pair.discover(worker, [LINKS[n] for n in found])

    @rule(target=leases, worker=worker, limit=st.integers(0, 5), doubtful=doubtful)
    def lease(self, worker: str, limit: int, doubtful: int) -> Any:
        return multiple(*self.pair.lease(worker, limit, doubtful))

    @rule(
        target=leases,
        worker=worker,
        limit=st.integers(1, 5),
        doubtful=doubtful,
        rounds=st.integers(1, 4),
        units=st.sampled_from([0, 0, 1, 5]),
        said=reports,
        ends=st.lists(st.tuples(st.sampled_from(ENDS), some), min_size=5, max_size=5),
    )
    def visit(
        self,
        worker: str,
        limit: int,
        doubtful: int,
        rounds: int,
        units: int,
        said: dict[str, Any],
        ends: list[tuple[str, list[int]]],
    ) -> Any:
        """Some from lease to decision; returns all of them, as some stay open."""
        seen = []
        for n in range(rounds):
            self.pair.let_pass(units * T)
            leases = self.pair.lease(worker, limit, doubtful)
            for lease, (end, found) in zip(leases, ends[n:] + ends[:n], strict=False):
                if end != "silent":
                    self.pair.fetched(worker, Report(lease, **said))
                self._end(worker, lease, end, found)
            seen += leases
        return multiple(*seen)

    def _end(self, worker: str, lease: Lease, end: str, found: list[int]) -> None:
        if end in ("document", "repeats", "redirect"):
            reason = "redirect" if end == "redirect" else "document"
            refused = {"scheme": 1} if len(found) > 4 else {}
            links = [LINKS[n] for n in found]
            done = Done(lease, reason, reason == "document", links, refused, end == "repeats")
            self.pair.complete(worker, [done])
        elif end in ("again", "never", "poison"):
            outcome = "quarantined" if end == "poison" else "failed/server-error"
            self.pair.fail(worker, Failed(lease, outcome, end == "again"))

    @rule(worker=worker, lease=leases, said=reports)
    def fetched(self, worker: str, lease: Lease, said: Any) -> None:
        self.pair.fetched(worker, Report(lease, **said))

    @rule(target=old, worker=worker, lease=consumes(leases), end=st.sampled_from(ENDS[:-2]), found=some)
    def end(self, worker: str, lease: Lease, end: str, found: list[int]) -> Lease:
        self._end(worker, lease, end, found)
        return lease

    @rule(target=old, worker=worker, one=consumes(leases), two=leases | old, found=some)
    def complete_together(self, worker: str, one: Lease, two: Lease, found: list[int]) -> Lease:
        links = [LINKS[n] for n in found]
        done = [Done(one, "document", True, links[:4], {}, True), Done(two, "document", True, links[2:])]
        self.pair.complete(worker, done)
        return one

    @rule(worker=worker, lease=old)
    def an_old_token_changes_nothing(self, worker: str, lease: Lease) -> None:
        self.pair.change_nothing(worker, lease)

    @rule(
        worker=worker,
        act=st.sampled_from(["release", "reclaim", "leave"]),
        lease=leases,
        known=st.sets(number),
    )
    def give_back(self, worker: str, act: str, lease: Lease, known: set[int]) -> None:
        if act == "release":
            self.pair.release(worker, [lease])
        elif act == "reclaim":
            self.pair.reclaim(worker, {LINKS[n].url for n in known})
        else:
            self.pair.leave(worker)

    @rule(worker=worker, alive=st.sampled_from([0.0, 2 * T, 5 * T]))
    def expire(self, worker: str, alive: float) -> None:
        self.pair.expire(worker, alive)

    @rule(
        target=old,
        worker=worker,
        limit=st.integers(1, 3),
        ends=st.lists(st.sampled_from(["dies", "dies", "sleeps"]), min_size=1, max_size=3),
    )
    def hold_until_it_is_taken_back(self, worker: str, limit: int, ends: list[str]) -> Any:
        leases = []
        for end in ends:
            self.pair.expire(worker, T if end == "dies" else 9 * T)
            leases += self.pair.lease(worker, limit)
            if end == "dies":
                self.pair.bury(worker)
            else:
                self.pair.let_pass(5 * T)
                self.pair.expire(worker)
        return multiple(*leases)

    @rule(target=leases, worker=worker, lease=consumes(leases))
    def give_back_and_take_again(self, worker: str, lease: Lease) -> Any:
        self.pair.release(worker, [lease])
        self.pair.let_pass(3 * T)
        leases = self.pair.lease(worker, 5)
        self.pair.change_nothing(worker, lease)
        return multiple(*leases)

    @rule(units=st.sampled_from([1, 2, 5, 5, 30]))
    def time_goes_by(self, units: int) -> None:
        self.pair.let_pass(units * T)

    @rule(
        server=server,
        act=st.sampled_from(["block", "block", "unblock", "postpone", "postpone", "postpone"]),
        units=st.sampled_from([0, 3]),
        crawl_delay=st.sampled_from([None, 0.0, 2 * T, 9 * T]),
    )
    def somebody_writes_in(self, server: str, act: str, units: int, crawl_delay: float | None) -> None:
        if act == "block":
            self.pair.block(server)
            return
        self.pair.unblock(server)
        if act == "postpone":
            self.pair.postpone(server, units * T, crawl_delay)

    @rule(worker=worker, priorities=st.dictionaries(number, st.integers(-2, 2), max_size=20))
    def rescore(self, worker: str, priorities: dict[int, int]) -> None:
        self.pair.rescore(worker, {LINKS[n]: priority for n, priority in priorities.items()})

    @rule(mode=st.sampled_from(["breadth", "fifo", "random"]))
    def change_mode(self, mode: str) -> None:
        self.pair.change_mode(mode)

    @invariant()
    def both_hold_the_same(self) -> None:
        self.pair.compare()

    def teardown(self) -> None:
        if hasattr(self, "pair"):
            self.pair.finish()


def test_the_frontier_does_what_its_model_does(client: redis.Redis) -> None:
    Histories.client = client
    Histories.TestCase.settings = settings(
        max_examples=int(os.environ.get("FRONTIER_EXAMPLES", 120)),
        stateful_step_count=30,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    Histories.TestCase().runTest()
