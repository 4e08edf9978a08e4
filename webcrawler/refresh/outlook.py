"""When does one page come again, and why not sooner? For `webcrawler frontier explain`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from webcrawler import clock
from webcrawler.archive.catalog import Catalog, Known
from webcrawler.refresh.belief import Gamma
from webcrawler.refresh.collection import DAY_SECONDS, Collection, pause_after_failure
from webcrawler.refresh.schedule import Schedule
from webcrawler.scope import read

LAST = 5  # checks that are shown


def outlook(catalog: Catalog, crawl_dir: Path, settings: Mapping[str, Any], url: str) -> dict[str, Any]:
    """What docs/reference/commands.md says of `refresh` in `webcrawler frontier explain --json`.

    Cost: as `report`, since the place in line is that among all documents.
    """
    document, now = catalog.find(url), clock.now()
    checks = [{"fetched": fetched, "found": found} for fetched, found in catalog.checks.of(url, LAST)]
    if document is None:
        since, again = catalog.checks.gone_since(url)
        return {"checks": checks, "gone_since": since, "not_before": again, "why": _why_gone(since, again)}
    at_least, at_most = float(settings["REFRESH_AT_LEAST"]), float(settings["REFRESH_AT_MOST"])
    collection = Collection(catalog, crawl_dir, Schedule(settings["REFRESH_POLICY"]))
    collection.hear()
    place = int(collection.places(np.array([document.number]))[0])
    if place < 0 or not collection.schedule.weights[place]:
        return {"checks": checks, "why": "a search of the web has found it: what it found is not checked"}
    if read(crawl_dir).is_outside(url):
        return {"checks": checks, "why": "it is outside the scope of crawls, and not checked"}
    known, tried = catalog.checks.known([document.number])[document.number], float(collection.tried[place])
    line = _line(collection.schedule, place, now)
    at_risk = min((when for when in (known.missing_since, known.failing_since) if when), default=0.0)
    pause = float(pause_after_failure(tried, at_risk)) if at_risk else at_most * 3600
    not_before = (tried if at_risk else known.checked) + pause
    latest = known.checked + at_least * DAY_SECONDS if at_least else None
    why = _why(known, now, not_before, latest, line["position"], len(collection))
    times = {name: when or None for name, when in known._asdict().items()}
    return {"checks": checks, **times, **line, "not_before": not_before, "latest": latest, "why": why}


def _line(schedule: Schedule, place: int, now: float) -> dict[str, Any]:
    """What is believed of the page, and how many are worth a check more."""
    values, page = schedule.values(now / DAY_SECONDS), np.array([place])
    found: dict[str, Any] = {
        "chance_of_change": float(schedule.chances(now / DAY_SECONDS)[place]),
        "importance": float(schedule.weights[place]),
        "value_days": float(values[place]),
        "position": int((values > values[place]).sum()) + 1,
    }
    if isinstance(schedule.beliefs, Gamma):
        found["changes_every_days"] = schedule.beliefs.intervals(page)[:, 0].tolist()
    return found


def _why(known: Known, now: float, not_before: float, latest: float | None, position: int, of: int) -> str:
    if known.missing_since:
        return f"nothing is there since {_moment(known.missing_since)}: asked for again to confirm it"
    if known.failing_since:
        return f"it cannot be fetched since {_moment(known.failing_since)}: tried again"
    if now < not_before:
        return "it was checked not long ago (REFRESH_AT_MOST)"
    if latest is not None and now >= latest:
        return "it was not checked for long (REFRESH_AT_LEAST): it goes before others"
    if position == 1:
        return "no document is worth a check more"
    return f"{position - 1:,} of {of:,} documents are worth a check more"


def _why_gone(since: float | None, again: float | None) -> str:
    if since is None:
        return "it is not a document: only documents are checked"
    if again is None:
        return "it has failed or is gone: not asked for again, unless a page that changes links to it"
    return "it has failed or is gone: asked for a few times more, ever later"


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(sep=" ", timespec="minutes")
