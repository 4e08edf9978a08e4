"""What a crawl does to the frontier and to its model: `frontier_pair` has the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from frontier_model import Model
from frontier_model_intake import Server, Url

from webcrawler import clock
from webcrawler.frontier import Budgets, Frontier, Leased, Politeness, Report, intake, ordering
from webcrawler.frontier.leases import UNLIMITED
from webcrawler.frontier.slots import Client
from webcrawler.records import Lease, Link
from webcrawler.urls import split

HOUR = 3600  # seconds; no answer of the tests is later or earlier by as much as this


class Crawl:
    """A frontier with some workers, and a model for each of its partitions."""

    def __init__(
        self,
        client: Client,
        mode: str,
        polite: Politeness,
        budgets: Budgets,
        partitions: int,
        workers: Sequence[str],
    ) -> None:
        self.client, self.frontiers = client, dict[str, Frontier]()
        client.flushdb()
        for name in workers:
            frontier = Frontier(client, ordering(mode), "index", polite, name, budgets, partitions)
            frontier.open(mode)
            self.frontiers[name] = frontier
        self.frontier = frontier  # any will do where it does not matter which
        self.partitions = self.frontier.partitions
        self.models = {
            p: Model(ordering(mode), polite, budgets.of_partition(partitions)) for p in self.partitions
        }
        self.newest = dict.fromkeys(self.partitions, 0)  # tokens

    def model_of(self, server: str) -> Model:
        return self.models[self.partitions.of_server(server)]

    def server(self, name: str) -> Server:
        return self.model_of(name).server(name)

    def split(self, links: Iterable[Link]) -> list[tuple[Model, list[Link]]]:
        found = self.partitions.split(links, lambda link: split(link.url)[0])
        return [(self.models[partition], own) for partition, own in found.items()]

    def states(self) -> Counter[str]:
        return Counter(url.state for model in self.models.values() for url in model.urls.values())

    # ---- in and out

    def discover(self, worker: str, links: Sequence[Link]) -> None:
        """Call by call, as budgets are looked at once in each."""
        frontier = self.frontiers[worker]
        for start in range(0, len(links), intake.LINKS_PER_CALL):
            part = links[start : start + intake.LINKS_PER_CALL]
            sent = self._sent(frontier, part)
            expected = sum(model.discover(own) for model, own in self.split(sent))

            assert frontier.discover(part) == expected

    def _sent(self, frontier: Frontier, links: Sequence[Link]) -> list[Link]:
        """What a process knows to be known it leaves out, but where links do something to known URLs."""
        if frontier.ordering.on_repeat or frontier.ordering.takes_notes:
            return list(links)
        return frontier.intake.unknown(links)

    def lease(self, worker: str, limit: int, doubtful: int = UNLIMITED) -> list[Lease]:
        frontier = self.frontiers[worker]
        expected = self._leased(frontier, limit, doubtful)

        return self._compare_leased(frontier.lease(limit, doubtful=doubtful), expected, limit, doubtful)

    def _leased(self, frontier: Frontier, limit: int, doubtful: int) -> list[Url]:
        """Partitions take turns; where none of those asked has anything, the others are asked."""
        models, first = list(self.models.values()), frontier.leases.turn
        asked = min(limit, len(models)) or len(models)
        found: list[Url] = []
        for n in range(asked):
            own, own_doubtful = ((total + asked - 1 - n) // asked for total in (limit, doubtful))
            found += models[(first + n) % len(models)].lease(frontier.worker, own, own_doubtful)
        for n in range(asked, len(models)):
            if not found:
                found = models[(first + n) % len(models)].lease(frontier.worker, limit, doubtful)
        return found

    def _compare_leased(self, found: Leased, expected: list[Url], limit: int, doubtful: int) -> list[Lease]:
        assert [lease.url for lease in found.leases] == [url.link.url for url in expected]
        for lease, url in zip(found.leases, expected, strict=True):
            self._compare_lease(lease, url)
        if limit == 0 or limit >= len(self.models):  # else not all are asked
            self._compare_rest(found, doubtful)
        return found.leases

    def _compare_lease(self, lease: Lease, url: Url) -> None:
        link, partition = url.link, self.partitions.of_server(lease.server)
        assert lease.token > self.newest[partition]
        self.newest[partition] = url.token = lease.token
        named = (link.id, link.url, link.spelling, url.server.name)
        doubtful = not url.server.in_time
        assert lease == Lease(*named, lease.token, url.tries, link.request, doubtful, url.told, url.note)

    def _compare_rest(self, found: Leased, doubtful: int) -> None:
        states = self.states()
        assert (found.queued, found.leased) == (states["queued"], states["leased"])
        if doubtful == UNLIMITED:
            waits = [wait for model in self.models.values() for wait in model.waits()]
            assert (found.wait is None) == (not waits)
            assert found.wait is None or abs(found.wait - min(waits)) < HOUR

    def fetched(self, worker: str, report: Report) -> None:
        before = clock.draws.getstate()
        jitter = round(clock.draws.uniform(0.5, 1.5), 3)  # as the frontier will draw it
        clock.draws.setstate(before)
        self.model_of(report.lease.server).fetched(report, jitter)

        self.frontiers[worker].fetched([report])
