"""What came of visits, on its way to the frontier: many in one call."""

from __future__ import annotations

from collections.abc import Callable

from webcrawler.crawl.dropin.visits import Visit
from webcrawler.frontier import Done, Failed, Frontier
from webcrawler.records import Lease

Decided = Callable[[list[tuple[Lease, str]], int], None]


class Decisions:
    """`put` and `gather` are for the event loop, `send` is for the scheduler's thread.

    Args:
        decided: called by `send` with leases and what became of them, as in `Batch`, and the number of links
            that were new.
    """

    def __init__(self, frontier: Frontier, decided: Decided) -> None:
        self._frontier, self._decided = frontier, decided
        self._waiting: list[Visit] = []
        self._gathered: list[Visit] = []

    def put(self, visit: Visit) -> None:
        self._waiting.append(visit)

    def gather(self) -> None:
        """Has those put by now be sent next: their downloads have been reported."""
        self._gathered += self._waiting
        self._waiting = []

    def __bool__(self) -> bool:
        return bool(self._gathered)

    def send(self) -> None:
        """May be repeated when it fails: nothing is decided twice."""
        visits = {visit.lease: visit for visit in self._gathered if visit.lease}
        done = {lease: visit for lease, visit in visits.items() if not visit.failure}
        failed = {lease: visit for lease, visit in visits.items() if visit.failure}
        new = self._complete(done) if done else {}
        outcomes = {**{lease: f"done/{done[lease].reason}" for lease in done}, **self._fail(failed)}
        outcomes.update({lease: "stale" for lease, number in new.items() if number < 0})
        self._gathered = []
        self._decided(list(outcomes.items()), sum(number for number in new.values() if number > 0))

    def _complete(self, visits: dict[Lease, Visit]) -> dict[Lease, int]:
        done = [
            Done(lease, visit.reason, visit.reason == "document", visit.links)
            for lease, visit in visits.items()
        ]
        return dict(zip(visits, self._frontier.complete(done), strict=True))

    def _fail(self, visits: dict[Lease, Visit]) -> dict[Lease, str]:
        """The links of what is not tried again are added all the same, as far as the callback came."""
        if not visits:
            return {}
        tries = self._frontier.politeness.tries
        reasons = {lease: visit.failure for lease, visit in visits.items() if visit.failure}
        final = [lease for lease, why in reasons.items() if not (why.retry and lease.tries + 1 < tries)]
        self._frontier.discover(link for lease in final for link in visits[lease].links)
        failed = [Failed(lease, f"failed/{why.reason}", why.retry) for lease, why in reasons.items()]
        answers = self._frontier.fail(failed)
        named = {-1: "stale", 0: "failed", 1: "retry"}
        return {
            lease: "stale" if answer < 0 else f"{named[answer]}/{why.reason}"
            for (lease, why), answer in zip(reasons.items(), answers, strict=True)
        }
