"""How much of a collection is current, and what keeps it so: `webcrawler freshness`.

The estimate is what the refresher goes by, so it cannot say how wrong it is itself. Beside it stands an
audit: of documents drawn at random, the share that was found unchanged. `outlook` says the same of one page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler import clock
from webcrawler.archive.catalog import Catalog
from webcrawler.refresh.belief import Gamma
from webcrawler.refresh.collection import DAY_SECONDS, Collection
from webcrawler.refresh.schedule import NORMAL_90, Schedule
from webcrawler.refresh.value import Floats

LATELY_DAYS = 7
AUDIT_DAYS = 30  # a hundredth of the checks: a week of them would say little
MOST = 20  # servers, and documents that were not checked for long
LAST = 5  # checks of a page that are shown
OUTCOMES = ("changed", "unchanged", "not-modified", "missing", "gone", "failed")
WASTED = ("unchanged", "not-modified")


def report(catalog: Catalog, crawl_dir: Path, policy: str, most: int = MOST) -> dict[str, Any]:
    """What docs/reference/commands.md says of `webcrawler freshness --json`.

    It only reads, also beside a refresher. Cost: some seconds for a million documents.

    Args:
        policy: the setting REFRESH_POLICY.
        most: how many servers and old documents are listed.
    """
    now = clock.now()
    collection = _collection(catalog, crawl_dir, policy)
    schedule = collection.schedule
    there, checkable = np.flatnonzero(schedule.weights > 0), np.flatnonzero(collection.checkable())
    days = now / DAY_SECONDS
    chances = schedule.chances(days)
    share = schedule.current(days, there, chances)
    checks = catalog.checks.by_day()
    return {
        "time": now,
        "documents": len(there),
        "outside_scope": len(there) - len(checkable),
        "unchecked": catalog.checks.count_unchecked(),
        "current": share._asdict() | {"known": share.is_known} if len(there) else None,
        "audit": _audit(collection, catalog.checks.audits(now - AUDIT_DAYS * DAY_SECONDS)),
        "checks": _counted(checks),
        "lately": _lately(checks, int(now // DAY_SECONDS)),
        "oldest": _oldest(collection, catalog, checkable, most),
        "servers": _servers(
            schedule, catalog, collection.numbers[there].astype(np.int64), there, chances, days, most
        ),
    }


def outlook(catalog: Catalog, crawl_dir: Path, settings: Mapping[str, Any], url: str) -> dict[str, Any]:
    """What docs/reference/commands.md says of `refresh` in `webcrawler frontier explain --json`.

    Cost: as `report`, since the place in line is that among all documents.
    """
    checks = [{"fetched": when, "found": outcome} for when, outcome in catalog.checks.of(url, LAST)]
    document = catalog.find(url)
    if document is None:
        since, again = catalog.checks.gone_since(url)
        return {"checks": checks, "gone_since": since, "not_before": again}
    collection = _collection(catalog, crawl_dir, settings["REFRESH_POLICY"])
    schedule, place = collection.schedule, int(collection.places(np.array([document.number]))[0])
    if place < 0 or not collection.checkable()[place]:
        return {"checks": checks, "why": "not checked: a search has found it, or it is outside the scope"}
    times = catalog.checks.known([document.number])[document.number]._asdict()
    days = clock.now() / DAY_SECONDS
    values = schedule.values(days)
    line = {
        "chance_of_change": float(schedule.chances(days)[place]),
        "importance": float(schedule.weights[place]),
        "value_days": float(values[place]),
        "position": int((values > values[place]).sum()) + 1,
    }
    if isinstance(schedule.beliefs, Gamma):
        line["changes_every_days"] = schedule.beliefs.intervals(np.array([place]))[:, 0].tolist()
    return {"checks": checks, **{name: when or None for name, when in times.items()}, **line}


def _collection(catalog: Catalog, crawl_dir: Path, policy: str) -> Collection:
    collection = Collection(catalog, crawl_dir, Schedule(policy))
    collection.hear()
    return collection


def _counted(checks: dict[tuple[int, str], int]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for (_, outcome), number in checks.items():
        counts[outcome] += number
    return {outcome: counts[outcome] for outcome in OUTCOMES}


def _lately(checks: dict[tuple[int, str], int], today: int) -> dict[str, Any]:
    """The last seven days, today included, or fewer where the first check is not so long ago."""
    some = {key: number for key, number in checks.items() if key[0] > today - LATELY_DAYS}
    counts, days = _counted(some), today + 1 - min((day for day, _ in some), default=today)
    total = sum(counts.values())
    wasted = sum(counts[outcome] for outcome in WASTED) / total if total else None
    return {"checks": counts, "days": days, "a_day": total / days, "wasted": wasted}


def _audit(collection: Collection, audits: list[tuple[int, int]]) -> dict[str, Any] | None:
    """Which share of the importance was found unchanged, with Wilson's interval for as many equal documents.

    Source: Wilson 1927, "Probable inference"; the number of equal ones is that of Kish 1965.
    """
    if not audits:
        return None
    numbers, changed = np.array(audits, np.int64).T
    places = collection.places(numbers)
    weights = np.where(places < 0, 0, collection.schedule.weights[places]).astype(np.float64)
    weights[weights == 0] = 1  # what the audit found gone had the mean weight, as far as is known
    share, equal = 1 - weights @ changed / weights.sum(), weights.sum() ** 2 / (weights**2).sum()
    square = NORMAL_90**2 / equal
    middle = (share + square / 2) / (1 + square)
    half = np.sqrt(square * (share * (1 - share) + square / 4)) / (1 + square)
    found = {"share": share, "low": middle - half, "high": middle + half}
    return {name: float(value) for name, value in found.items()} | {
        "documents": len(audits),
        "changed": int(changed.sum()),
        "days": AUDIT_DAYS,
    }


def _oldest(
    collection: Collection, catalog: Catalog, there: NDArray[np.int64], most: int
) -> list[dict[str, Any]]:
    """The documents that were not known to be current for the longest time."""
    checked = collection.schedule.checked[there]
    oldest = there[np.argsort(checked, kind="stable")[:most]]
    urls = catalog.urls.of(collection.numbers[oldest].tolist())
    times = collection.schedule.checked[oldest] * DAY_SECONDS
    return [
        {"url": urls[number], "checked": when}
        for number, when in zip(collection.numbers[oldest].tolist(), times.tolist(), strict=True)
    ]


def _servers(
    schedule: Schedule,
    catalog: Catalog,
    numbers: NDArray[np.int64],
    there: NDArray[np.int64],
    chances: Floats,
    days: float,
    most: int,
) -> list[dict[str, Any]]:
    """By server; those first whose changes cost most of the freshness of the whole."""
    servers = schedule.servers[there]
    lost = np.bincount(servers, schedule.weights[there] * chances[there])
    present, first = np.unique(servers, return_index=True)
    some = np.argsort(-lost[present], kind="stable")[:most]
    names = catalog.urls.servers_of(numbers[first[some]].tolist())
    found = []
    for server, number in zip(present[some].tolist(), numbers[first[some]].tolist(), strict=True):
        pages = servers == server
        share = schedule.current(days, there[pages], chances)
        found.append({"server": names[number], "documents": int(pages.sum()), **share._asdict()})
    return found
