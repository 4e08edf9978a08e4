"""The frontier said again in plain Python, for one partition: no Redis, no speed, and a clock that tests set.

Nothing is counted along the way: what is asked of URLs is found by looking at all of them.
Source: design.md, section 5, and the docstrings and reference of the frontier.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from frontier_model_ends import Ends
from frontier_model_intake import Server, Url

from webcrawler.frontier import Ordering, Report
from webcrawler.records import Link


class Model(Ends):
    # ---- out

    def lease(self, worker: str, limit: int, doubtful: int) -> list[Url]:
        for url in self.in_state("queued"):
            url.retry = url.retry if url.retry > self.now else 0.0
        if not self.held(worker):
            self.letting_go.discard(worker)
        found: list[Url] = []
        while len(found) < limit and worker not in self.letting_go:
            due = [s for s in self.servers.values() if self._is_due(s) and (s.in_time or doubtful > 0)]
            if not due:
                break
            server = min(due, key=self.rank)
            if server.blocked:
                self._drop(server)
                continue
            url = self.queue(server)[0]
            if not url.repetitive and self.repeats and self.is_repetitive(url):
                url.repetitive = True
                continue
            if self.is_suspect(url):
                self.letting_go.add(worker)
                if self.held(worker):
                    break
            doubtful -= not server.in_time
            self._hand_out(url, worker)
            found.append(url)
        return found

    def _is_due(self, server: Server) -> bool:
        is_slow = server.in_time is False or min(server.crawl_delay, self.polite.crawl_delay_max) > 0
        places = 1 if is_slow else self.polite.server_concurrency
        return server.next <= self.now and server.active < places and bool(self.queue(server))

    def rank(self, server: Server) -> tuple[object, ...]:
        head = self.queue(server)[0]
        if not self.ordering.servers_take_turns:
            return head.place
        turn = server.newcomer if self._is_new(server) else server.turn
        level = -1 if head.level is None else head.level
        return (level, not self._is_new(server), turn, not server.in_time, server.name)

    def _is_new(self, server: Server) -> bool:
        """Does it come before all that take turns?"""
        in_turn = self.ordering.servers_take_turns and self.queue(server)[0].level is None
        return in_turn and bool(server.newcomer) and not server.trying

    def _hand_out(self, url: Url, worker: str) -> None:
        self.turn += 1
        url.server.trying |= self._is_new(url.server)
        url.state, url.worker, url.downloading, url.end = "leased", worker, True, self.now + self.polite.lease
        url.server.turn, url.server.active = self.turn, url.server.active + 1
        if self.polite.server_concurrency > 1 and self.polite.delay:
            url.server.next = self.now + self.polite.delay

    def fetched(self, report: Report, jitter: float) -> None:
        url = self.newest(report.lease)
        if not url or not url.downloading:
            return
        server, polite = url.server, self.polite
        self._free_place(url)
        if not report.downloaded:
            return
        slowness = min(polite.slowness * report.seconds, polite.slowness_max) if polite.delay else 0.0
        crawl_delay = min(server.crawl_delay, polite.crawl_delay_max)
        server.backoff = min(server.backoff + 1, 20) if report.slow_down else 0
        doubled = polite.backoff * 2 ** (server.backoff - 1) * jitter if server.backoff else 0.0
        pause = max(polite.delay, slowness, crawl_delay, report.retry_after, min(doubled, polite.backoff_max))
        server.next = max(server.next, self.now + pause)
        server.in_time = report.seconds < polite.slow and not report.slow_down

    # ---- what people say

    def rescore(self, priorities: Mapping[Link, int]) -> int:
        some = [(self.urls.get(link.url), priority) for link, priority in priorities.items()]
        waiting = [(url, priority) for url, priority in some if url and url.state == "queued"]
        band = self.ordering.band
        for url, priority in waiting:
            url.priority = priority + (url.priority // band * band if band else 0)
        return len(waiting)

    def change_ordering(self, ordering: Ordering) -> int:
        """Of what waits only the URL is known by now, not how it was found."""
        self.ordering = ordering
        for url in self.in_state("queued"):
            link = url.link
            url.priority = ordering.first_priority(Link(link.url, link.id, link.url))
        return len(self.in_state("queued"))

    def block(self, server: Server) -> int:
        server.blocked = True
        left = [u for u in self.urls.values() if u.server is server and u.state in ("queued", "leased")]
        for url in left:
            self._decide(url, "failed/blocked")
        return len(left)

    def refuse(self, links: Iterable[Link]) -> int:
        named = {link.id for link in links}
        left = [u for u in self.urls.values() if u.link.id in named and u.state == "queued"]
        for url in left:
            self._decide(url, "failed/removed")
        return len(left)

    def _drop(self, server: Server) -> None:
        for url in self.queue(server):
            self._decide(url, "failed/blocked")

    def postpone(self, server: Server, seconds: float, crawl_delay: float | None) -> None:
        server.next = max(server.next, self.now + seconds)
        if crawl_delay is not None:
            server.crawl_delay = crawl_delay
