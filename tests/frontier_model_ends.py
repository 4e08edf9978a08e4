"""How leases end in the model of the frontier: `frontier_model` has the rest."""

from __future__ import annotations

from collections.abc import Iterable

from frontier_model_intake import Intake, Url
from frontier_shapes import shapes_of

from webcrawler.frontier import Done, Failed, Source
from webcrawler.records import Lease
from webcrawler.urls import registrable_domain, split


class Ends(Intake):
    def complete(self, done: Iterable[tuple[Done, Source]]) -> list[int]:
        """Each with the page that its links stand on."""
        answers = []
        for one, source in done:
            url = self.newest(one.lease)
            if url:
                self.refused.update(one.refused)
                url_links = self.discover(one.links, source)
                self._decide(url, f"done/{one.reason}")
                if one.is_document:
                    url.server.newcomer = 0
                    self._count(url, one.repeats)
            answers.append(url_links if url else -1)
        return answers

    def _count(self, url: Url, repeats: bool) -> None:
        """As a repeat, or as fresh where its domain has given repeats."""
        most, server = self.budgets.repeats, url.server.name
        domain = registrable_domain(server)
        if not most or not (repeats or domain in self.repeats):
            return
        narrow, wide = shapes_of(split(url.link.url)[1])
        names = [domain, server, f"{server} {wide}", f"{server} {narrow}"]
        if repeats and self.repeats[names[2]] + 1 >= most and names[3] not in self.repeats:
            names.pop()
        for name in names:
            self.repeats[name] = max(-most, min(self.repeats[name] + (1 if repeats else -1), 5 * most))

    def is_repetitive(self, url: Url) -> bool:
        """Does the first of shape, wide shape, server and domain say so that says anything?"""
        most, server = self.budgets.repeats, url.server
        narrow, wide = shapes_of(split(url.link.url)[1])
        names = {f"{server.name} {narrow}": most, f"{server.name} {wide}": most, server.name: 4 * most}
        for name, bar in names.items():
            number = self.repeats.get(name, 0)
            if number < 0 or number >= bar:
                return number > 0
        domain = registrable_domain(server.name)
        return server.has_domain and self.repeats.get(domain, 0) >= 4 * most

    def fail(self, one: Failed) -> int:
        url = self.newest(one.lease)
        if not url:
            return -1
        tries = url.tries + (not one.excused)
        if not one.excused and (not one.retry or tries >= self.polite.tries):
            self._decide(url, one.outcome)
            return 0
        self._requeue(url)
        begins = max(self.now, url.server.next) if one.excused else self.now
        url.retry = begins + min(self.polite.backoff * 2 ** max(tries - 1, 0), self.polite.backoff_max)
        url.tries = tries
        return 1

    def release(self, leases: Iterable[Lease]) -> int:
        found = [url for lease in leases if (url := self.newest(lease))]
        for url in found:
            self._requeue(url)
        return len(found)

    def reclaim(self, worker: str, known: Iterable[str]) -> int:
        found = [url for url in self.held(worker) if url.link.url not in known]
        for url in found:
            self._requeue(url)
        return len(found)

    def expire(self, worker: str = "", alive: float = 0.0) -> int:
        if alive:
            if self.now - self.heard > alive:  # Redis was away, and none of them is dead for that
                late = [name for name, until in self.workers.items() if 0 < until <= self.now]
                self.workers |= dict.fromkeys(late, self.now + alive)
            self.heard = self.now
            self.workers[worker] = self.now + alive
        ended = [url for url in self.in_state("leased") if url.end <= self.now]
        for url in ended:
            self._requeue(url)
        dead = [name for name, until in self.workers.items() if until <= self.now]
        left = [url for name in dead for url in self.held(name)]
        for url in left:
            self._died(url)
        self.workers = {name: until for name, until in self.workers.items() if name not in dead}
        return len(ended) + len(left)

    def _died(self, url: Url) -> None:
        url.deaths, url.alone = (url.deaths, url.alone + 1) if self.is_suspect(url) else (url.deaths + 1, 0)
        if url.alone == 2:
            self._decide(url, "quarantined")
        else:
            self._requeue(url)

    def is_suspect(self, url: Url) -> bool:
        """Is it leased alone?"""
        return 0 < self.polite.deaths <= url.deaths

    def _free_place(self, url: Url) -> None:
        url.server.active -= url.downloading
        url.downloading = False

    def _requeue(self, url: Url) -> None:
        self._free_place(url)
        url.state, url.server.trying = "queued", False

    def _decide(self, url: Url, state: str) -> None:
        self._free_place(url)
        url.server.trying &= url.state != "leased"
        url.state = state
        if not self.is_busy(url.server):
            url.server.newcomer, url.server.has_domain = 0, False
