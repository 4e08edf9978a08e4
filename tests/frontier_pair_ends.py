"""How leases end in the frontier and in its model: `frontier_pair` has the rest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from frontier_model import Model
from frontier_pair_crawl import Crawl

from webcrawler.frontier import Done, Failed, Frontier, Report, Source, intake
from webcrawler.frontier.leases import UNLIMITED
from webcrawler.records import Lease, Link


class Ends(Crawl):
    def complete(self, worker: str, done: Sequence[Done]) -> None:
        frontier = self.frontiers[worker]
        for some in intake.chunks(done):
            expected = self._decided(self._sent_before(frontier, some), frontier)

            assert frontier.complete(some) == expected

    def complete_and_lease(self, worker: str, done: Sequence[Done], limit: int) -> list[Lease]:
        frontier = self.frontiers[worker]
        expected = self._decided(self._sent_before(frontier, done), frontier)
        leased = self._leased(frontier, limit, UNLIMITED)

        answers, found = frontier.complete_and_lease(done, limit)

        assert answers == expected
        return self._compare_leased(found, leased, limit, UNLIMITED)

    def die_between(self, worker: str, done: Sequence[Done]) -> None:
        """The process sends what goes before the completion of pages, and then no more."""
        self._sent_before(self.frontiers[worker], done)

        self.frontiers[worker].intake.prepare(done)

    def _sent_before(self, frontier: Frontier, done: Sequence[Done]) -> list[tuple[Done, Source]]:
        """Pages with those of their links that are completed with them.

        Taken in before, whoever holds the leases by now: what is too much for one call, then what belongs to
        other partitions.
        """
        some, left = intake.LINKS_PER_CALL, []
        for one in done:
            repeats = one.repeats and frontier.budgets.repeats > 0
            source = Source(one.lease.priority, one.note, max(1, len(one.links)), one.lease.id, repeats)
            links = self._sent(frontier, one.links)
            for start in range(0, len(links) - some, some):
                part = links[start : min(start + some, len(links) - some)]
                self._take_in(frontier, self.split(part), source, f"{one.lease.id}:{start}")
            left.append((one._replace(links=links[-some:]), source))
        return [self._sent_abroad(frontier, *page) for page in left]

    def _sent_abroad(self, frontier: Frontier, one: Done, source: Source) -> tuple[Done, Source]:
        home = self.model_of(one.lease.server)
        split = self.split(one.links)
        own = [link for model, links in split if model is home for link in links]
        abroad = [(model, links) for model, links in split if model is not home]
        self._take_in(frontier, abroad, source, str(one.lease.id))
        return one._replace(links=own), source

    def _take_in(
        self, frontier: Frontier, split: Iterable[tuple[Model, list[Link]]], source: Source, part: str
    ) -> None:
        for model, links in split:
            model.discover(links, source, part)

    def _decided(self, pages: Iterable[tuple[Done, Source]], frontier: Frontier) -> list[int]:
        by_home: dict[Model, list[tuple[int, tuple[Done, Source]]]] = defaultdict(list)
        for n, page in enumerate(pages):
            by_home[self.model_of(page[0].lease.server)].append((n, page))
        answers: dict[int, int] = {}
        for model, some in by_home.items():
            found = model.complete([page for _, page in some])
            answers |= dict(zip([n for n, _ in some], found, strict=True))
        return [answers[n] for n in sorted(answers)]

    def fail(self, worker: str, failed: Failed) -> None:
        expected = self.model_of(failed.lease.server).fail(failed)

        assert self.frontiers[worker].fail([failed]) == [expected]

    def release(self, worker: str, leases: Sequence[Lease]) -> None:
        expected = sum(self.model_of(lease.server).release([lease]) for lease in leases)

        assert self.frontiers[worker].release(leases) == expected

    def reclaim(self, worker: str, known: Iterable[str]) -> None:
        expected = sum(model.reclaim(worker, known) for model in self.models.values())

        assert self.frontiers[worker].reclaim(set(known)) == expected

    def change_nothing(self, worker: str, lease: Lease) -> None:
        """By a token that is not the newest any more."""
        assert self.model_of(lease.server).newest(lease) is None
        frontier, before = self.frontiers[worker], self.dump()

        assert frontier.complete([Done(lease, "document", True, (), {"scheme": 1}, True)]) == [-1]
        assert frontier.fail([Failed(lease, "quarantined", False)]) == [-1]
        assert frontier.release([lease]) == 0
        frontier.fetched([Report(lease, 1.0, True, 10**6)])

        assert self.dump() == before

    def dump(self) -> dict[bytes, bytes]:
        keys = [key for key in self.client.keys("*") if not key.endswith(b"}:clock")]  # time goes by
        pipe = self.client.pipeline(transaction=False)
        for key in keys:
            pipe.dump(key)
        return dict(zip(keys, pipe.execute(), strict=True))
