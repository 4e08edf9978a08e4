"""The frontier: URLs known and not yet fetched, and what has become of the others."""

from __future__ import annotations

import os
import socket
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from itertools import chain
from shlex import quote
from typing import Self

from webcrawler import urls
from webcrawler.errors import BadInput
from webcrawler.frontier import decisions, wire
from webcrawler.frontier.intake import LINKS_PER_CALL, Intake, Plans
from webcrawler.frontier.leases import UNLIMITED, Leases
from webcrawler.frontier.messages import Again, Budgets, Done, Failed, Leased, Past, Politeness, Report
from webcrawler.frontier.slots import Call, Client, Partitions, Slots
from webcrawler.frontier.wire import milliseconds
from webcrawler.orderings import Ordering, Source
from webcrawler.records import Lease, Link


class Frontier:
    """One named frontier. Every method is one round trip, or one per 1,000 links.

    Several processes share one frontier. Several threads may share an instance, but for `discover` and
    `complete`, which want one each.

    Args:
        client: answers in bytes; a client of its own, as its new connections are counted.
        ordering: gives URLs their first priority.
        worker: the name under which URLs are leased; host and process id by default.
        partitions: their number if the frontier is still empty; 0: as it was made, else one.
    Raises:
        BadInput: no frontier can have that name.
    """

    def __init__(
        self,
        client: Client,
        ordering: Ordering,
        name: str = "index",
        politeness: Politeness | None = None,
        worker: str = "",
        budgets: Budgets | None = None,
        partitions: int = 0,
    ) -> None:
        self.client, self.name = client, name
        self.politeness, self.budgets = politeness or Politeness(), budgets or Budgets()
        self.worker = worker or f"{socket.gethostname()}-{os.getpid()}"
        self.slots = Slots(client, name, partitions)
        self.intake = Intake(self.slots, ordering, self.budgets)
        self.leases = Leases(self.slots, self.politeness, self.worker, self.budgets)
        self._plans = Plans(ordering)
        self._wanted = partitions

    def on(self, client: Client) -> Self:
        """The same frontier over another client, for another thread; both tell what its ordering plans."""
        other = type(self)(
            *(client, self.ordering, self.name, self.politeness, self.worker, self.budgets, self._wanted)
        )
        other._plans, other.leases.homes = self._plans, self.leases.homes
        other.slots.outlook = self.slots.outlook
        return other

    # ---- opening

    @property
    def partitions(self) -> Partitions:
        return self.slots.partitions

    @property
    def connections(self) -> int:
        """How many connections the client has made since this frontier was given it."""
        return self.slots.connections

    @property
    def ordering(self) -> Ordering:
        return self.intake.ordering

    def order_by(self, ordering: Ordering) -> None:
        """Gives URLs their first priority by another ordering from now on; what waits keeps its own."""
        self.intake.ordering = ordering
        self._plans = Plans(ordering)

    def stored_partitions(self) -> int:
        """The number of partitions that it was made with; 0: it was not made yet."""
        return self.slots.stored_partitions()

    def stored_mode(self) -> str:
        """The mode that it was last opened with; "": it was not opened yet."""
        return self.slots.stored("mode")

    def open(self, mode: str, rebuilding: str | None = None) -> None:
        """Claims the frontier for a mode.

        Args:
            rebuilding: the data folder that fills it again; nobody else may open it until `rebuilt`.
        Raises:
            BadInput: it is not empty and was made with another mode, or with another number of partitions;
                or its rebuilding is not over.
        """
        if rebuilding is None and self.client.exists(self.rebuilding):
            raise BadInput(
                "the frontier is not whole: `webcrawler frontier rebuild` was interrupted, or is still at "
                "work; run it to its end, for each data folder that shares the frontier, or with --alone if "
                "the others are gone"
            )
        made, stored = self.stored_partitions(), self.stored_mode()
        if made and made != len(self.partitions) and self._has_seen(Partitions.of(self.name, made)):
            raise BadInput(
                f"the frontier was made with FRONTIER_PARTITIONS={made}: "
                f"set it so, or start anew after `frontier clear`"
            )
        if stored and stored != mode and self._has_seen(self.partitions):
            raise BadInput(
                f"the frontier was filled with mode={stored}: go on with -a mode={quote(stored)}, "
                f"change it with --rescore, or start anew after `frontier clear`"
            )
        self.set_mode(mode)
        if rebuilding is not None:
            self.client.sadd(self.rebuilding, rebuilding)

    @property
    def identity(self) -> str:
        """The FRONTIER_IDENTITY that it was made with; our own crawls claim none: "canonical"."""
        return self.slots.stored("identity") or "canonical"

    def identify_by(self, identity: str) -> None:
        """Claims the frontier, after `open`, for a rule of which requests are the same.

        Raises:
            BadInput: it is not empty and was made with another one.
        """
        if self._has_seen(self.partitions):
            self.refuse_other_identity(identity)
        self.client.hset(self.partitions[0].prefix + "meta", "identity", identity)

    def refuse_other_identity(self, identity: str) -> None:
        """Raises BadInput: it was made with another one; the message names the settings."""
        if self.identity == identity:
            return
        rule, _, fingerprinter = self.identity.partition(":")
        told = f"FRONTIER_IDENTITY={rule}"
        if fingerprinter:
            told += f" and REQUEST_FINGERPRINTER_CLASS={fingerprinter}"
        elif identity.startswith(f"{rule}:"):
            told += " and Scrapy's own REQUEST_FINGERPRINTER_CLASS"
        raise BadInput(
            f"the frontier {self.name!r} was made with {told}: "
            f"set it so, or start anew with SCHEDULER_FLUSH_ON_START=1"
        )

    @property
    def rebuilding(self) -> str:
        """The key of the data folders that have to fill it again before anybody may open it."""
        return self.partitions[0].prefix + "rebuilding"

    def rebuilt(self, folder: str) -> None:
        """It has all that this data folder knows."""
        self.client.srem(self.rebuilding, folder)

    @property
    def refresh(self) -> str:
        """Which documents are checked while a crawl is alive: "", "yes", "only", or "once SECONDS".

        Then each one that was not checked since that time; "" follows when all these checks are made.
        """
        return self.slots.stored("refresh")

    @refresh.setter
    def refresh(self, what: str) -> None:
        self.client.hset(self.partitions[0].prefix + "meta", "refresh", what)

    def set_mode(self, mode: str) -> None:
        turns, partitions = int(self.ordering.servers_take_turns), len(self.partitions)
        meta = {"mode": mode, "turns": turns, "partitions": partitions}
        for partition in self.partitions:
            self.client.hset(partition.prefix + "meta", mapping=meta)

    def _has_seen(self, partitions: Partitions) -> bool:
        return any(int(self.client.hget(one.prefix + "counts", "seen") or 0) for one in partitions)

    def keys_of(self, start: str) -> Iterable[str]:
        """All keys of Redis that begin with `start`; reads the names of all keys."""
        pattern = start.replace("{", "\\{") + "*"
        return (key.decode() for key in self.client.scan_iter(match=pattern, count=1000))

    # ---- the way of a URL

    def discover(
        self, links: Iterable[Link], within_budgets: bool = True, source: Source | None = None
    ) -> int:
        """Takes links in, once each.

        Args:
            within_budgets: False for seeds, which are added whatever the budgets are.
            source: the page that they stand on, unless that is completed with them.
        Returns:
            How many were new.
        """
        return self.intake.discover(links, within_budgets, source)

    def lease(self, limit: int, reports: Sequence[Report] = (), doubtful: int = UNLIMITED) -> Leased:
        """Leases URLs, best first, from servers that are due and have a place free.

        Partitions are leased from in turn; when none of those asked has anything, the others are asked.

        Args:
            limit: URLs at most.
            reports: downloads that are over; told before, in the same round trip.
            doubtful: URLs at most from servers that did not answer in time, or have not been asked yet.
        """
        found = self.leases.lease(limit, reports, doubtful)
        if decisions.are_logged():
            decisions.log_leased(found.leases)
        return found

    def fetched(self, reports: Sequence[Report]) -> None:
        """Downloads are over: their servers have a place again, and are due after a pause."""
        self.leases.fetched(reports)

    def complete(self, done: Sequence[Done]) -> list[int]:
        """Decides leases as done, and takes in their links.

        Links of other partitions are added before: should this process die between, the fetch is
        repeated, and they are known then.

        Returns:
            For each lease the number of new links; -1 where somebody else holds it by now.
        """
        return self.intake.complete(done)

    def complete_and_lease(self, done: Sequence[Done], limit: int) -> tuple[list[int], Leased]:
        """`complete`, then `lease`: in one round trip where there is one partition and all fits one call.

        For crawls in exact order, where nothing is leased ahead; `done` is a few pages.
        """
        if len(self.partitions) > 1 or not done:
            return self.complete(done), self.lease(limit)
        before, prepared = self.connections, self.intake.prepare(done)
        calls = self.intake.calls(prepared) + self.leases.calls(self.partitions, limit, UNLIMITED)
        decided, leased = self.slots.run(calls)
        return self.intake.decided(prepared, [decided], before), self.leases.leased(leased)

    def fail(self, failed: Sequence[Failed]) -> list[int]:
        """Decides leases that came to nothing, or queues their URLs again.

        Returns:
            For each: 1 it is queued again, 0 it is decided, -1 somebody else holds it by now.
        """
        return self.leases.fail(failed)

    def release(self, leases: Sequence[Lease]) -> int:
        """Gives leases back unused; returns how many."""
        return self.leases.release(leases)

    def rescore(self, links: Sequence[Link], priorities: Sequence[int], keep_classes: bool = True) -> int:
        """Gives links that still wait another priority. A thousand of them hold Redis for some milliseconds.

        Args:
            priorities: within ±PRIORITY_MAX; ties stay in order of discovery.
            keep_classes: each stays in its class of the ordering (`Ordering.band`).
        Returns:
            How many waited.
        """
        band = self.ordering.band if keep_classes else 0
        return self.intake.rescore([link.url for link in links], priorities, band)

    def again(self, due: Sequence[Again]) -> int:
        """Queues decided URLs again, before all that is new, in this order; those never seen as new ones.

        What waits or is leased already stays as it is. A thousand of them hold Redis for some milliseconds.

        Returns:
            How many are queued by this call.
        """
        queued, unseen = 0, set[str]()
        for start in range(0, len(due), LINKS_PER_CALL):
            answers = self.slots.run_split(
                "again",
                due[start : start + LINKS_PER_CALL],
                lambda one: urls.server(one.url),
                lambda own: (wire.again(own),),
            )
            for _, (number, unknown) in answers:
                queued += int(number)
                unseen.update(url.decode() for url in unknown)
        new = [one for one in due if one.url in unseen]
        links = [Link(one.url, urls.url_id(one.url), one.spelling or one.url) for one in new]
        return queued + self.discover(links, within_budgets=False)

    def withdraw(self, checks: Sequence[str]) -> set[str]:
        """Takes back checks of canonical URLs that wait, which count again as what they were; 1,000 at most.

        Returns:
            Which of the URLs are leased, and stay so.
        """
        found = self.slots.run_split("withdraw", checks, urls.server, lambda own: (wire.by_server(zip(own)),))
        return {url.decode() for _, leased in found for url in leased}

    def recount(self, decided: Sequence[Again], outcome: str) -> None:
        """Counts decided URLs as another outcome than what they were."""
        for partition, own in self.partitions.split(decided, lambda one: urls.server(one.url)).items():
            for was, number in Counter(one.was for one in own).items():
                self.client.hincrby(partition.prefix + "counts", was, -number)
                self.client.hincrby(partition.prefix + "counts", outcome, number)

    def turns(self) -> int:
        """How many leases were handed out so far."""
        counts = (self.client.hget(one.prefix + "counts", "turn") for one in self.partitions)
        return sum(int(turn or 0) for turn in counts)

    def checks(self) -> int:
        """How many decided URLs are queued again, or leased."""
        return sum(int(self.client.hlen(one.prefix + "again")) for one in self.partitions)

    def replan(self) -> None:
        """Gives what waits the priorities that an ordering which learns wants by now; for any thread.

        After an error of Redis the next call tells them.
        """
        self._plans.tell(self.rescore)

    def settle(self, past: Sequence[Past]) -> None:
        """Gives waiting URLs the states that the catalog remembers; others stay as they are.

        A thousand of them hold Redis for some milliseconds. Pages are to be told in the order in which they
        were fetched: so do servers take turns from then on.
        """
        polite = self.leases.politeness
        self.intake.settle(past, lambda tries: min(polite.backoff * 2.0 ** (tries - 1), polite.backoff_max))

    # ---- workers

    def expire(self, alive_seconds: float = 0.0) -> int:
        """Takes back leases of dead workers, and those past their end; up to 1,000 a call.

        Args:
            alive_seconds: for how long this worker counts as alive from now; 0: it says nothing of itself.
        Returns:
            How many leases.
        """
        return self.leases.expire(alive_seconds)

    def expire_dead(self, is_dead: Callable[[str], bool]) -> int:
        """The same for workers that are known to be dead, before their time has run out."""
        return self.leases.expire_dead(is_dead)

    def reclaim(self, known: Container[str]) -> int:
        """Gives back what this worker holds but does not know of: leased by a call whose answer was lost."""
        return self.leases.reclaim(known)

    def leave(self) -> None:
        """Ends this worker in good order: its leases go back, and nobody counts it as dead."""
        self.leases.leave()

    def meet(self) -> int:
        """Asks who is alive, and so which partitions are this worker's own; returns how many are alive.

        From then on it leases from those first, and from others where more is due than their owners take.
        """
        return self.leases.meet()

    def workers(self) -> list[str]:
        """Those that are alive, or were until a few seconds ago."""
        return self.leases.workers()

    # ---- servers

    def servers(self) -> list[str]:
        """All servers that were ever seen."""
        names = (self.client.hkeys(partition.prefix + "taken") for partition in self.partitions)
        return [name.decode() for name in chain.from_iterable(names)]

    def block(self, server: str, blocked: bool = True) -> int:
        """Asks a server no more; what waits or is out is decided as failed/blocked.

        Args:
            blocked: False lets it in again; what was decided stays so.
        Returns:
            How many URLs were decided.
        """
        partition, decided = self.partitions.of_server(server), 0
        while some := self.slots.run([Call(partition, "block", (server, int(blocked)))])[0]:
            decided += int(some)
        return decided

    def refuse(self, waiting: Sequence[str], reason: str) -> int:
        """Decides canonical URLs that wait as failed/REASON, without a fetch; 1,000 at most.

        Returns:
            How many waited. What is leased is left to its worker.
        """
        found = self.slots.run_split(
            "refuse", waiting, urls.server, lambda own: (f"failed/{reason}", wire.by_server(zip(own)))
        )
        return sum(int(refused) for _, refused in found)

    def postpone(self, server: str, seconds: float, crawl_delay: float | None = None) -> None:
        """Makes a server not due before that time; a Crawl-delay holds from now on, for all frontiers."""
        delay = "" if crawl_delay is None else milliseconds(crawl_delay)
        arguments = (server, milliseconds(seconds), delay)
        self.slots.run([Call(self.partitions.of_server(server), "postpone", arguments)])

    def shared_key(self, kind: str, server: str) -> str:
        """The key of something that all frontiers know of a server ("robots")."""
        return f"{self.partitions.of_server(server).base}{kind}:{server}"
