"""The documents of a data folder as a schedule: it follows the checks, and outlives the process."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from webcrawler import clock
from webcrawler.archive.catalog import Catalog, KnownSitemap, Told
from webcrawler.files import replaced
from webcrawler.linkgraph import stored
from webcrawler.refresh.schedule import Schedule
from webcrawler.refresh.signs import Trust
from webcrawler.refresh.value import Floats, Numbers, importance
from webcrawler.scope import Scope, Watched

DAY_SECONDS = 86400.0
# Fetches read in one step: a tenth of the documents, so that what is learnt of servers is there for the next.
AT_LEAST, AT_MOST = 100, 100_000
LEARN_SHARE = 0.01  # of the documents: checks after which servers are looked at again
NAME = "schedule.npz"
UNREADABLE = (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile)
SOME = 10_000  # URLs in memory at a time
AGAIN = 20  # times as long as a reading of the history took, before it is all read again


class Collection:
    """What is known of each document, in the order in which they were met; 38 bytes each by `expected`.

    A page that is gone keeps its place with weight 0, and is never chosen; nor is one outside the scope.

    Args:
        folder: `refresh/` of the data folder. It is a view: what is missing or broken there is read again
            from the history.
    """

    def __init__(self, catalog: Catalog, crawl_dir: Path, schedule: Schedule) -> None:
        self._catalog, self._crawl_dir = catalog, crawl_dir
        self.schedule, self.trust = schedule, Trust()
        self._file, self._ranks_dir = crawl_dir / "refresh" / NAME, crawl_dir / "ranks"
        began = time.monotonic()
        self._forget()
        self._restore()
        self._doubted = self.trust.doubted()  # the servers whose 304 count for nothing here
        self.follow()
        if self._doubts_others():
            self._read_again()
        self._compare()
        self.weigh()
        self._made = time.monotonic()
        self._lasts = AGAIN * (self._made - began)

    def _forget(self) -> None:
        self.numbers: NDArray[np.int32] = np.empty(0, np.int32)  # page number by place
        # Seconds since 1970, failures included. Not rounded: a pass begins amid a second.
        self.tried: Floats = np.empty(0)
        self._places = np.empty(0, np.int32)  # by page number; -1: no document so far
        self._seq = self._news = 0
        self._heard: dict[int, float] = {}  # sitemaps by page number, and when they were read
        self._outside = Outside(self._catalog, self._crawl_dir)

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def documents(self) -> int:
        """How many there are now, those outside the scope among them."""
        return int(np.count_nonzero(self.schedule.weights > 0))

    def is_outdated(self) -> bool:
        """Is another server's 304 believed, or not, than when the history was read? Then make another one.

        Not at once again: a server may be believed, and doubted, time after time.
        """
        return self._doubts_others() and time.monotonic() - self._made > self._lasts

    def _doubts_others(self) -> bool:
        return not np.array_equal(self._doubted, self.trust.doubted())

    def outside(self) -> NDArray[np.bool_]:
        """Is the document at each place outside the scope of crawls, as it is now?"""
        return self._outside.of(self.numbers)

    def checkable(self) -> NDArray[np.bool_]:
        """Is there a document at each place, and within the scope?"""
        return (self.schedule.weights > 0) & ~self.outside()

    def places(self, numbers: Numbers) -> NDArray[np.int32]:
        """The place of each page number; -1 for what was never a document."""
        if len(numbers) and numbers.max() >= len(self._places):
            more = np.full(int(numbers.max()) + 1 - len(self._places), -1, np.int32)
            self._places = np.concatenate((self._places, more))
        return self._places[numbers]

    def follow(self) -> NDArray[np.int64]:
        """Take in what was fetched since the last call; returns the page numbers."""
        numbers = [np.empty(0, np.int64)]
        for told in self._untold():
            self._take_in(told)
            tells = (told.changed >= 0) & (told.conditional >= 0)
            self.trust.see(told.server[tells], told.conditional[tells] == 1, told.changed[tells] == 1)
            numbers.append(told.number)
            self._learn()
        self.schedule.forget_future(now_days())
        return np.concatenate(numbers)

    def _untold(self) -> Iterator[Told]:
        while True:
            at_once = min(max(len(self) // 10, AT_LEAST), AT_MOST)
            told = self._catalog.checks.after(self._seq, at_once)
            if not len(told.seq):
                return
            self._seq = int(told.seq[-1])
            yield told

    def _read_again(self) -> None:
        """Read the whole history by whom is believed now: a false 304 has made pages look as if they lasted.

        What is known of sitemaps stays, as no history of theirs is kept.
        """
        before = self.schedule.signs
        self._forget()
        self._doubted, self.schedule = self.trust.doubted(), self.schedule.empty()
        self.schedule.signs.counts, self.schedule.signs.since = before.counts, before.since
        for told in self._untold():
            self._take_in(told)
            self._learn()

    def _learn(self) -> None:
        if self._news > LEARN_SHARE * len(self):
            self.schedule.learn()
            self.weigh()
            self._news = 0

    def hear(self) -> list[KnownSitemap]:
        """Take in what sitemaps that were read since the last call say of documents; returns all sitemaps."""
        sitemaps = self._catalog.signs.sitemaps()
        for sitemap in sitemaps:
            if sitemap.fetched == self._heard.get(sitemap.number, 0.0):
                continue
            self._heard[sitemap.number] = sitemap.fetched
            if sitemap.server < len(self.schedule.signs.since):
                self.schedule.signs.fetched(np.array([sitemap.server]))
            if said := self._catalog.signs.said_by(sitemap.number):
                self._hear(sitemap.fetched / DAY_SECONDS, *map(np.array, zip(*said, strict=True)))
        return sitemaps

    def _hear(
        self, at: float, numbers: Numbers, modified: NDArray[np.float64], seen: NDArray[np.float64]
    ) -> None:
        """Many dates are days, and stand for their beginning: one given since the check may be newer."""
        places = self.places(numbers)
        known = places >= 0
        checked = self.schedule.checked[places[known]] * DAY_SECONDS
        given_since = (seen[known] > checked) & (modified[known] > checked - DAY_SECONDS)
        self.schedule.signs.say(places[known], (modified[known] > checked) | given_since, at)

    def _take_in(self, told: Told) -> None:
        first = (told.found == 1) & (self.places(told.number) < 0)
        _, at = np.unique(told.number[first], return_index=True)
        self._add(told.number[first][at], told.server[first][at], told.fetched[first][at])
        places = self.places(told.number)
        is_false = told.not_modified & np.isin(told.server, self._doubted)
        is_check = (places >= 0) & (told.changed >= 0) & ~np.isnan(told.since) & ~is_false
        some = places[is_check]
        days = told.fetched[is_check] / DAY_SECONDS
        self.schedule.see(some, days, told.changed[is_check])
        self._news += len(some)
        known = places >= 0
        self.tried[places[known]] = told.fetched[known]
        # Back from the dead, or gone: the last fetch that could tell has it.
        tells = known & (told.found >= 0)
        self._set_there(places[tells], told.found[tells] == 1)

    def _set_there(self, places: Numbers, there: NDArray[np.bool_]) -> None:
        last = dict(zip(places.tolist(), there.tolist(), strict=True))
        changed = np.fromiter(last, np.int64, len(last))
        there = np.fromiter(last.values(), bool, len(last))
        weights = self.schedule.weights
        weights[changed[~there]] = 0
        back = changed[there]
        weights[back[weights[back] == 0]] = 1

    def _add(self, numbers: Numbers, servers: Numbers, checked: NDArray[np.float64]) -> None:
        self.places(numbers)
        self._places[numbers] = np.arange(len(self), len(self) + len(numbers))
        self.numbers = np.concatenate((self.numbers, numbers.astype(np.int32)))
        self.tried = np.concatenate((self.tried, checked))
        self.schedule.add(servers, checked / DAY_SECONDS)

    def weigh(self) -> None:
        """Give documents the importance that their ranks say; those that are gone keep 0."""
        ranks = stored.load(self._ranks_dir, self._catalog.identity)
        there = self.schedule.weights > 0
        if ranks is not None and there.any():
            self.schedule.weights[there] = importance(ranks.of(self.numbers[there]))

    def _compare(self) -> None:
        """Hold the history against the documents that are there: a blocked server loses its own at once."""
        there = self._catalog.checks.documents()
        new = there[self.places(there["number"]) < 0]
        self._add(new["number"], new["server"], new["checked"])
        self._set_there(np.arange(len(self)), np.isin(self.numbers, there["number"]))

    # ---- kept between crawls

    def store(self) -> None:
        """Not what is outdated. Raises OSError: for example, the disk is full; what was kept before stays."""
        if self._doubts_others():
            return
        self._file.parent.mkdir(exist_ok=True)
        head = {"identity": self._catalog.identity, "seq": self._seq, "policy": self.schedule.policy}
        own = {"numbers": self.numbers, "tried": self.tried, "trust": self.trust.counts}
        with replaced(self._file) as file:
            arrays = {**own, **self.schedule.arrays(), "head": np.array(json.dumps(head))}
            np.savez(file, **arrays)  # type: ignore[arg-type]

    def _restore(self) -> None:
        with suppress(*UNREADABLE), np.load(self._file) as file:
            kept = {name: file[name] for name in file.files}
            head = json.loads(str(kept["head"]))
            wanted = (self._catalog.identity, self.schedule.policy)
            is_ahead = head["seq"] > self._catalog.checks.last_seq()  # it was restored from a backup
            if (head["identity"], head["policy"]) != wanted or is_ahead:
                return
            numbers, tried, trust = kept["numbers"], kept["tried"].astype(np.float64), kept["trust"]
            self.schedule.restore(kept)
            self.numbers, self.tried, self._seq, self.trust.counts = numbers, tried, head["seq"], trust
            self.places(self.numbers)
            self._places[self.numbers] = np.arange(len(self))

    def at_risk(self, now: float) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Places of documents whose last fetch found nothing or failed, and of those that are due again."""
        known = np.array(self._catalog.checks.at_risk(), np.float64).reshape(-1, 2)
        places = self.places(known[:, 0].astype(np.int64))
        places, known = places[places >= 0], known[places >= 0]
        tried = self.tried[places].astype(np.float64)
        is_due = (tried > now) | (now - tried >= pause_after_failure(tried, known[:, 1]))
        return places, places[is_due & ~self.outside()[places]]


class Outside:
    """Which documents are outside the scope? No crawl may fetch them, so they are not checked.

    Holds each document against the scope once, and all of them again when that is another.

    Memory: a byte a document. Cost: some 3 µs a document, nothing where there is no scope.
    """

    def __init__(self, catalog: Catalog, crawl_dir: Path) -> None:
        self._catalog, self._scope = catalog, Watched(crawl_dir)
        self._bounds: tuple[tuple[str, ...], tuple[str, ...]] = (), ()
        self._known = np.empty(0, bool)

    def of(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Tell it of each of these page numbers: those of the last call, and any that have been added."""
        scope = self._scope.now()
        if (scope.include, scope.exclude) != self._bounds:
            self._bounds, self._known = (scope.include, scope.exclude), np.empty(0, bool)
        if len(new := numbers[len(self._known) :]):
            self._known = np.concatenate((self._known, self._look_at(new, scope)))
        return self._known

    def _look_at(self, numbers: Numbers, scope: Scope) -> NDArray[np.bool_]:
        found = np.zeros(len(numbers), bool)
        for start in range(0, len(numbers) if any(self._bounds) else 0, SOME):
            some = numbers[start : start + SOME].tolist()
            urls = self._catalog.urls.of(some)
            found[start : start + SOME] = [scope.is_outside(urls[number]) for number in some]
        return found


def pause_after_failure(tried: Floats | float, since: Floats | float) -> Floats:
    """Seconds until a document at risk may be asked for again: an hour, then as long as it lasts, a day."""
    return np.clip(tried - since, 3600.0, DAY_SECONDS)


def now_days() -> float:
    """The present time, as schedules count it."""
    return clock.now() / DAY_SECONDS
