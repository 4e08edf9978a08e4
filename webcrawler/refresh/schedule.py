"""When does each page come again? What the refresher holds in memory, and the laboratory tries.

With it: how much of the collection is current, and how right were such estimates?
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.errors import BadInput
from webcrawler.refresh.belief import POLICIES
from webcrawler.refresh.bursts import Bursts
from webcrawler.refresh.signs import Signs
from webcrawler.refresh.value import Floats, Numbers, Pages, choose

DAY_SECONDS = 86400.0
CHUNK = 1 << 16  # pages computed at a time: what is between two formulas stays in the processor's cache
BINS = 10
DOUBT = 100  # checks in each bin that count as if they had turned out as predicted
KNOWN = 0.062  # half the interval of a normal distribution whose mean distance from its middle is .03
NORMAL_90 = 1.645  # standard deviations on each side that hold 90 % of a normal distribution


class Schedule:
    """All pages of a collection: when each was checked, how it changes, what it weighs, and who is next.

    Pages are numbered from 0 in the order of `add`, servers by the caller, from 0 on. Times are days since
    any epoch. Memory: 25 bytes a page, by `eb` 37.

    Args:
        policy: `expected`, `ep` or `eb`.
        at_most: days for which a page that was checked is left alone.
    Raises:
        BadInput: no such policy.
    """

    def __init__(self, policy: str = "expected", at_most: float = 0.0) -> None:
        if policy not in POLICIES:
            raise BadInput(f"REFRESH_POLICY={policy[:60]}: choose one of {', '.join(POLICIES)}")
        self.policy, self._at_most = policy, at_most
        self.beliefs, self.signs, self.bursts = POLICIES[policy](), Signs(), Bursts()
        self.calibration = Calibration()
        self._seconds = np.empty(0, np.uint32)  # of the last check
        self.weights = np.empty(0, np.float32)

    def __len__(self) -> int:
        return len(self._seconds)

    @property
    def checked(self) -> NDArray[np.float64]:
        """When each page was checked last, in days, to a second; a copy."""
        return self._seconds / DAY_SECONDS

    @property
    def servers(self) -> NDArray[np.int32]:
        """The server of each page."""
        return self.beliefs.servers

    def add(self, servers: Numbers, checked: Floats, weights: Floats | float = 1.0) -> None:
        """Know more pages. Cost: O(all pages), so add many at a time.

        Args:
            checked: when they were fetched first; weights: see `value.importance`.
        """
        self._seconds = np.concatenate((self._seconds, _seconds(checked)))
        self.weights = np.concatenate((self.weights, np.broadcast_to(np.float32(weights), len(servers))))
        for part in (self.beliefs, self.signs):
            part.add(servers)

    def see(self, pages: Numbers, at: Floats, changed: NDArray[np.integer]) -> None:
        """Take in checks in the order in which they were made; a page may be among them several times.

        Args:
            at: when; not before the page's last check.
            changed: 1 the page had changed since its last check, 0 it had not, -1 nobody can tell.
        """
        order = np.argsort(pages, kind="stable")
        nth = np.empty(len(pages), np.int64)  # the how-manieth check of its page each is
        nth[order] = np.arange(len(pages)) - np.searchsorted(pages[order], pages[order])
        for number in range(int(nth.max(initial=-1)) + 1):
            some = nth == number
            self._see(pages[some], at[some], changed[some])

    def _see(self, pages: Numbers, at: Floats, outcome: NDArray[np.integer]) -> None:
        told = outcome >= 0
        before = self._seconds[pages] / DAY_SECONDS
        self._seconds[pages] = _seconds(at)
        pages, at, before, changed = pages[told], at[told], before[told], outcome[told] == 1
        servers, days = self.beliefs.servers[pages], np.maximum(at - before, 0)
        known = np.clip(self.signs.known_until(pages, servers, before) - before, 0, days)
        odds, since = self.signs.odds(pages, servers), np.minimum(before + known, at)
        by_time = self.beliefs.chance(pages, days, np.ones(len(pages)), self.bursts.passed(before, at))
        chance = self.beliefs.chance(pages, days - known, odds, self.bursts.passed(since, at))
        self.calibration.see(chance, changed, len(self))
        self.signs.see(pages, servers, by_time, changed)
        self.bursts.see(since, at, chance, changed)
        none = np.zeros(len(pages), bool)
        self.beliefs.see(pages, known, none, none)
        self.beliefs.see(pages, days - known, changed, self.bursts.passed(since, at))

    def forget_future(self, now: float) -> None:
        """What lies in the future is now: a clock was ahead, and was set right."""
        np.minimum(self._seconds, _seconds(np.array(now)), out=self._seconds)
        np.minimum(self.signs.same_until, now, out=self.signs.same_until)

    def empty(self) -> Schedule:
        """One by the same rules that knows no page."""
        return Schedule(self.policy, self._at_most)

    def learn(self) -> None:
        """Learn what each server's pages are like; call it when about 1 % of the pages were checked since."""
        self.bursts.learn()
        self.beliefs.learn()

    def chances(self, now: float) -> NDArray[np.float32]:
        """The probability that each page has changed since its last check, as such predictions turned out."""
        return self.calibration.corrected(self._of_all(self.beliefs.chance, now)).astype(np.float32)

    def values(self, now: float) -> NDArray[np.float32]:
        """Weight · expected value of a fetch now, in days of freshness."""
        return self._of_all(partial(self.beliefs.value, often=self.bursts.often()), now) * self.weights

    def choose(
        self, now: float, number: int, caps: Numbers | None = None, waiting: Numbers | None = None
    ) -> NDArray[np.int64]:
        """The pages to fetch next, best first.

        Args:
            caps: by server, how many of its pages at most; waiting: pages that are not to be chosen.
        """
        values, days = self.values(now), now - self.checked
        if self._at_most:
            values[days < self._at_most] = 0
        if waiting is not None:
            values[waiting] = 0
        return choose(values, number, self.beliefs.servers, caps)

    def current(self, now: float, pages: Pages = slice(None), chances: Floats | None = None) -> Current:
        """The share of the importance, of these pages, that is estimated to be current; `chances` of all."""
        weights, changed = self.weights[pages], (self.chances(now) if chances is None else chances)[pages]
        shares = weights * (1 - changed) / max(weights.sum(), 1e-9)
        error = self.bursts.error(shares, self.checked[pages], now)
        return current(weights, changed, float(np.hypot(error, self.calibration.doubt())))

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """All that is known, by name, for `numpy.savez`; `restore` takes it back."""
        return {name: getattr(part, of) for name, part, of in self._state()}

    def restore(self, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        """Raises KeyError: an array is missing, as in what another policy has left."""
        state = [(part, of, arrays[name]) for name, part, of in self._state()]
        for part, of, array in state:
            setattr(part, of, array)

    def _state(self) -> list[tuple[str, object, str]]:
        parts = [(name, getattr(self, name)) for name in ("beliefs", "signs", "bursts", "calibration")]
        inner = [(f"{name}.{of}", part, of) for name, part in parts for of in part.state]
        return [*((of, self, of) for of in ("_seconds", "weights")), *inner]

    def _of_all(
        self, formula: Callable[[slice, Floats, Floats, Floats], Floats], now: float
    ) -> NDArray[np.float32]:
        found = np.empty(len(self), np.float32)
        for start in range(0, len(self), CHUNK):
            pages = slice(start, start + CHUNK)
            servers = self.beliefs.servers[pages]
            known = self.signs.known_until(pages, servers, self._seconds[pages] / DAY_SECONDS)
            bursts = self.bursts.passed(known, np.array(now))
            found[pages] = formula(pages, np.maximum(now - known, 0), self.signs.odds(pages, servers), bursts)
        return found


def _seconds(days: Floats) -> NDArray[np.uint32]:
    """Rounded down: else what was checked just now would have been checked later than now."""
    seconds: NDArray[np.uint32] = np.floor(np.asarray(days) * DAY_SECONDS).astype(np.uint32)
    return seconds


class Current(NamedTuple):
    """The share of the importance that is current, with an interval that holds the truth in 9 cases of 10."""

    share: float
    low: float
    high: float

    @property
    def is_known(self) -> bool:
        """Is the share expected to be right within .03? Else the interval alone is worth telling."""
        return self.high - self.low <= 2 * KNOWN


def current(weights: Floats, changed: Floats, error: float = 0.0) -> Current:
    """Σ w · P(unchanged) / Σ w.

    Args:
        changed: the probability that each page has changed.
        error: standard deviation of what all pages have in common; independent pages even out, this does not.
    """
    total = float(weights.sum(dtype=np.float64))
    if not total:
        return Current(1.0, 0.0, 1.0)
    share = 1 - float(weights @ changed / total)
    spread = float((weights.astype(np.float64) ** 2) @ (changed * (1 - changed))) / total**2
    half = NORMAL_90 * (spread + error**2) ** 0.5
    return Current(share, max(0.0, share - half), min(1.0, share + half))


class Calibration:
    """Had 3 pages of 10 changed where a chance of 30 % was predicted? Ten bins of predicted chances."""

    state = ("counts", "lately")

    def __init__(self) -> None:
        self.counts = np.zeros((BINS, 3))  # checks, sum of predicted chances, changed
        self.lately = np.zeros((BINS, 3))  # the same, the more faded the longer ago

    def see(self, predicted: Floats, changed: NDArray[np.bool_], pages: int) -> None:
        """Take in checks; with as many as there are pages, what was lately seen fades to a third."""
        bins = np.minimum((predicted * BINS).astype(np.int64), BINS - 1)
        self.lately *= np.exp(-len(bins) / pages)
        for counts in (self.counts, self.lately):
            np.add.at(counts, bins, np.stack((np.ones(len(bins)), predicted, changed), axis=1))

    def corrected(self, predicted: Floats) -> Floats:
        """Such chances as they turned out: of each bin the share seen, and straight lines between bins.

        By what was lately seen: the first predictions were made when nothing was known yet.
        """
        checks, chances, changed = self.lately.T
        middle = (np.arange(BINS) + 0.5) / BINS
        means = (chances + DOUBT * middle) / (checks + DOUBT)
        seen = (changed + DOUBT * middle) / (checks + DOUBT)
        found: Floats = np.interp(predicted, [0, *means, 1], [0, *seen, 1])
        return found

    def error(self) -> float:
        """The mean distance between predicted and seen; 0 before the first check."""
        checks, predicted, changed = self.counts.T
        return float(np.abs(predicted - changed).sum() / max(checks.sum(), 1))

    def doubt(self) -> float:
        """By how much a report may be wrong: what was lately wrong in all bins together, or in each alone."""
        checks, predicted, changed = self.lately.T
        wrong = predicted - changed
        return float(max(abs(wrong.sum()), np.linalg.norm(wrong)) / max(checks.sum(), 1))
