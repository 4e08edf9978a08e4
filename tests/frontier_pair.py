"""The frontier and its model side by side: both are told the same, and their answers are compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from frontier_keys import COUNTED, Keys
from frontier_pair_ends import Ends
from frontiers import let_pass, set_back

from webcrawler.errors import BadInput
from webcrawler.frontier import Done, Known, inspect, maintenance, ordering
from webcrawler.records import Link

ROUNDS = 1_000  # a URL is decided in each


class Pair(Ends):
    # ---- workers and time

    def expire(self, worker: str, alive_seconds: float = 0.0) -> None:
        expected = sum(model.expire(worker, alive_seconds) for model in self.models.values())

        assert self.frontiers[worker].expire(alive_seconds) == expected

    def leave(self, worker: str) -> None:
        for model in self.models.values():
            model.reclaim(worker, ())
            model.workers.pop(worker, None)

        self.frontiers[worker].leave()

    def expire_dead(self, dead: str) -> None:
        for model in self.models.values():
            model.workers.update({dead: 0.0} if dead in model.workers else {})
        expected = sum(model.expire() for model in self.models.values())

        assert self.frontier.expire_dead(lambda worker: worker == dead) == expected

    def let_pass(self, seconds: float) -> None:
        for model in self.models.values():
            model.now += seconds

        let_pass(self.frontier, seconds)

    def set_back(self, seconds: float) -> None:
        """Redis' clock is: nothing happens, but that the second in which it is may come again."""
        self.let_pass(2.0)
        for model in self.models.values():
            model.expire()

        set_back(self.frontier, seconds)

    # ---- people

    def rescore(self, worker: str, priorities: dict[Link, int]) -> None:
        expected = sum(
            model.rescore({link: priorities[link] for link in own}) for model, own in self.split(priorities)
        )

        assert self.frontiers[worker].rescore(list(priorities), list(priorities.values())) == expected

    def rank(self, worker: str, ranks: dict[Link, float]) -> None:
        """As the ranker does, in a mode that follows ranks."""
        ids = np.array([link.id for link in ranks], np.int64)
        counts = np.arange(len(ids))
        known = Known(ids, np.array(list(ranks.values())), counts, 1 + counts % 3)
        priorities = self.frontier.ordering.priorities(known)
        self.rescore(worker, dict(zip(ranks, priorities.tolist(), strict=True)))

    def change_mode(self, mode: str) -> None:
        for model in self.models.values():
            model.expire()
        if any(model.workers for model in self.models.values()):
            with pytest.raises(BadInput):
                maintenance.rescore(self.frontier, mode)
            return
        for frontier in self.frontiers.values():
            frontier.order_by(ordering(mode))
        expected = sum(model.change_ordering(ordering(mode)) for model in self.models.values())

        assert maintenance.rescore(self.frontier, mode) == expected

    def block(self, server: str) -> None:
        expected = self.model_of(server).block(self.server(server))

        assert self.frontier.block(server) == expected

    def refuse(self, links: Sequence[Link]) -> None:
        expected = sum(model.refuse(links) for model in self.models.values())

        assert self.frontier.refuse([link.url for link in links], "removed") == expected

    def unblock(self, server: str) -> None:
        self.server(server).blocked = False

        assert self.frontier.block(server, False) == 0

    def postpone(self, server: str, seconds: float, crawl_delay: float | None) -> None:
        self.model_of(server).postpone(self.server(server), seconds, crawl_delay)

        self.frontier.postpone(server, seconds, crawl_delay)

    # ---- what holds after each step

    def compare(self) -> None:
        self._compare_states()
        for partition, model in self.models.items():
            Keys(self.client, partition).compare(model)

    def _compare_states(self) -> None:
        stats, states = inspect.stats(self.frontier), self.states()
        assert stats["seen"] == states.total()
        for name in ("queued", "leased", "quarantined"):
            assert stats[name] == states[name]
        assert stats["reasons"] == {s.partition("/")[2]: n for s, n in states.items() if "/" in s}
        assert stats["refused"] == sum((model.refused for model in self.models.values()), Counter())

    def finish(self) -> None:
        """Nothing is stuck: in the end all that is known can be decided, and leaves but its id and counts."""
        frontier = self.frontier
        let_pass(frontier, 10**9)
        frontier.expire_dead(lambda _: True)
        frontier.expire()
        for name in {server for model in self.models.values() for server in model.servers}:
            frontier.block(name, False)
        frontier.lease(0)
        foretold, visited = inspect.peek(frontier, 1000), list[str]()
        for _ in range(ROUNDS):
            for lease in frontier.lease(1).leases:
                visited.append(lease.url)
                assert frontier.complete([Done(lease, "document", True)]) == [0]
            if not frontier.lease(0).queued:
                break
            let_pass(frontier, frontier.politeness.delay)
        assert not frontier.lease(0).queued
        is_sure = not any(model.repeats for model in self.models.values())  # that nothing goes behind
        if len(self.models) == 1 and not frontier.politeness.delay and is_sure:  # nothing but rank decides
            assert visited == foretold
        for worker in self.frontiers.values():
            worker.leave()
        stats = inspect.stats(frontier)
        assert stats["seen"] == stats["done"] + stats["failed"] + stats["quarantined"]
        kinds = {key.decode().split(":")[3] for key in self.client.keys("*}:index:*")}
        assert kinds <= {"meta", "counts", "seen", "raised", "site", "quarantined", *COUNTED}
        assert maintenance.clear(frontier) == stats["seen"]
        clocks = {(partition.base + "clock").encode() for partition in self.models}
        assert {*self.client.keys("*")} <= clocks
