"""How leases end in the model of the frontier: `frontier_model` has the rest."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from frontier_model_intake import Intake, Server, Url

from webcrawler.frontier import Done, Failed, Source
from webcrawler.records import Lease
from webcrawler.urls import path_prefix, split


class Ends(Intake):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._to_sweep: list[tuple[Server, str]] = []  # path prefixes that are to go behind all others

    def complete(self, done: Iterable[tuple[Done, Source]], watched: Container[str]) -> list[int]:
        """Each with the page that its links stand on; `sweep` has the rest of it."""
        answers = []
        for one, source in done:
            url = self.newest(one.lease)
            if url:
                self.refused.update(one.refused)
                url_links = self.discover(one.links, watched, source)
                self._decide(url, f"done/{one.reason}")
                if one.is_document:
                    url.server.newcomer = 0
                    self._judge(url, one.repeats)
            answers.append(url_links if url else -1)
        return answers

    def _judge(self, url: Url, repeats: bool) -> None:
        """Is its prefix to go behind all others?"""
        server, prefix = url.server, path_prefix(split(url.link.url)[1])
        server.repeats[prefix] = max(0, server.repeats[prefix] + (1 if repeats else -1))
        if 0 < self.budgets.repeats <= server.repeats[prefix]:
            server.behind.add(prefix)
        if repeats and prefix in server.behind and not url.behind:
            self._to_sweep.append((server, prefix))

    def sweep(self) -> None:
        for server, prefix in self._to_sweep:
            for waiting in self.queue(server):
                waiting.behind |= path_prefix(split(waiting.link.url)[1]) == prefix
        self._to_sweep.clear()

    def fail(self, one: Failed) -> int:
        url = self.newest(one.lease)
        if not url:
            return -1
        if not one.retry or url.tries + 1 >= self.polite.tries:
            self._decide(url, one.outcome)
            return 0
        self._requeue(url)
        url.retry = self.now + min(self.polite.backoff * 2**url.tries, self.polite.backoff_max)
        url.tries += 1
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
        if 0 < self.polite.deaths <= url.deaths:
            self._decide(url, "quarantined")
        else:
            url.deaths += 1
            self._requeue(url)

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
            url.server.newcomer = 0
