"""The frontier does what its model in plain Python does, whatever happens in whatever order.

FRONTIER_EXAMPLES says how many histories are tried.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import pytest
import redis
from conftest import examples
from frontier_pair import Pair
from frontier_web import (
    ENDS,
    LINKS,
    NUMBER_OF,
    T,
    budgets,
    doubtful,
    mode,
    number,
    of_page,
    page,
    politenesses,
    reports,
    server,
    some,
    worker,
)
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from webcrawler.frontier import Budgets, Done, Failed, Politeness, Report, intake
from webcrawler.records import Lease


class Histories(RuleBasedStateMachine):
    """Two workers on one frontier, a web of five servers, and all that can happen to them."""

    client: redis.Redis
    leases: Bundle[Lease] = Bundle("leases")
    old: Bundle[Lease] = Bundle("old")  # somebody said what became of them

    @initialize(
        mode=mode,
        polite=politenesses,
        budget=budgets,
        partitions=st.sampled_from([1, 4]),  # of four, three have servers
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
        units=st.sampled_from([0, 1, 5, 9]),
        said=reports,
        ends=st.lists(st.tuples(st.sampled_from(ENDS), of_page), min_size=5, max_size=5),
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
        if end == "twice":
            self.pair.die_between(worker, [page(lease, end, found)])
        if end in ("document", "repeats", "redirect", "twice"):
            self.pair.complete(worker, [page(lease, end, found)])
        elif end in ("again", "excused", "never", "poison"):
            outcome = "quarantined" if end == "poison" else "failed/server-error"
            self.pair.fail(worker, Failed(lease, outcome, end == "again", end == "excused"))

    @rule(worker=worker, lease=leases, said=reports)
    def fetched(self, worker: str, lease: Lease, said: Any) -> None:
        self.pair.fetched(worker, Report(lease, **said))

    @rule(target=old, worker=worker, lease=consumes(leases), end=st.sampled_from(ENDS[:-2]), found=of_page)
    def end(self, worker: str, lease: Lease, end: str, found: list[int]) -> Lease:
        self._end(worker, lease, end, found)
        return lease

    @rule(target=old, worker=worker, one=consumes(leases), two=leases | old, found=of_page)
    def complete_together(self, worker: str, one: Lease, two: Lease, found: list[int]) -> Lease:
        self.pair.complete(worker, [page(one, "repeats", found[:4]), page(two, "document", found[2:])])
        return one

    @rule(worker=worker, lease=leases | old, found=of_page, again=of_page | st.none())
    def complete_again(self, worker: str, lease: Lease, found: list[int], again: list[int] | None) -> None:
        """The answer was lost, or another worker had the page as well; it may have changed between."""
        self.pair.complete(worker, [page(lease, "document", found)])
        self.pair.complete(worker, [page(lease, "document", found if again is None else again)])

    @rule(worker=worker, lease=leases | old, found=of_page)
    def die_between(self, worker: str, lease: Lease, found: list[int]) -> None:
        self.pair.die_between(worker, [page(lease, "document", found)])

    @rule(
        target=leases,
        worker=worker,
        limit=st.integers(1, 3),
        pages=st.lists(of_page, min_size=2, max_size=6),
        units=st.sampled_from([0, 5, 9]),
        is_lost=st.sampled_from([False, False, True]),
    )
    def visit_in_exact_order(
        self, worker: str, limit: int, pages: list[list[int]], units: int, is_lost: bool
    ) -> Any:
        """A page is completed and more are leased in one step; the last answer may be lost."""
        found, done = self.pair.lease(worker, limit), list[Done]()
        for links in pages:
            self.pair.let_pass(units * T)
            done = [page(lease, "document" if len(links) % 2 else "repeats", links) for lease in found[:1]]
            found = found[1:] + self.pair.complete_and_lease(worker, done, limit)
        if is_lost:
            self.pair.complete(worker, done)
            self.pair.reclaim(worker, ())
        return multiple(*found)

    @rule(target=old, worker=worker, limit=st.integers(2, 4), found=of_page)
    def link_to_what_has_failed(self, worker: str, limit: int, found: list[int]) -> Any:
        leases = self.pair.lease(worker, limit)
        for lease in leases[1:]:
            self._end(worker, lease, "again", [])
        for lease in leases[:1]:
            links = dict.fromkeys([*found, *(NUMBER_OF[lease.url] for lease in leases[1:])])
            self._end(worker, lease, "document", list(links))
        return multiple(*leases)

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
                self.pair.expire_dead(worker)
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

    @rule(units=st.sampled_from([1, 5, 30]))
    def the_clock_is_set_back(self, units: int) -> None:
        self.pair.set_back(units * T)

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

    @rule(numbers=st.sets(number, min_size=1, max_size=12))
    def the_owner_removes(self, numbers: set[int]) -> None:
        self.pair.refuse([LINKS[n] for n in numbers])

    @rule(worker=worker, steps=st.dictionaries(number, st.integers(0, 4), min_size=8, max_size=30))
    def rescore(self, worker: str, steps: dict[int, int]) -> None:
        """As the ranker does it; in other modes by anybody."""
        ordering = self.pair.frontier.ordering
        if ordering.follows_ranks:
            self.pair.rank(worker, {LINKS[n]: 0.1 * 3**step for n, step in steps.items()})
        else:
            least = 0 if ordering.band else -2
            self.pair.rescore(worker, {LINKS[n]: step + least for n, step in steps.items()})

    @rule(mode=mode)
    def change_mode(self, mode: str) -> None:
        self.pair.change_mode(mode)

    @invariant()
    def both_hold_the_same(self) -> None:
        self.pair.compare()

    def teardown(self) -> None:
        if hasattr(self, "pair"):
            self.pair.finish()


def test_the_frontier_does_what_its_model_does(client: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "LINKS_PER_CALL", 3)  # some pages have too many for one call
    Histories.client = client
    Histories.TestCase.settings = settings(
        max_examples=int(os.environ.get("FRONTIER_EXAMPLES", examples(40))),
        stateful_step_count=30,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    Histories.TestCase().runTest()
