"""A search of the web that was started here, and what is said of it before it speaks for itself."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from webcrawler.realtime.journal import Journal
from webcrawler.web.live.asking import Asked

LISTS = ("seeds", "examples")


@dataclass(slots=True)
class Started:
    job: str
    asked: Asked
    client: str
    began: float = field(default_factory=time.time)
    told_to_stop: float = 0.0  # when
    is_over: bool = False
    complaint: str = ""


def written(new: Started, folder: Path) -> dict[str, str]:
    """The arguments of the spider; addresses stand in files, one a line, as they may hold commas."""
    asked = new.asked
    numbers = {name: str(getattr(asked, name)) for name in ("enough", "max_pages", "max_time")}
    lists: Mapping[str, tuple[str, ...]] = {name: getattr(asked, name) for name in LISTS}
    files = {name: folder / f"{new.job}.{name}" for name, urls in lists.items() if urls}
    for name, file in files.items():
        file.touch(mode=0o600)
        file.write_text("\n".join(lists[name]), "utf-8")
    query = {"query": asked.query} if asked.query else {}
    given = {name: f"@{file}" for name, file in files.items()}
    return {"job": new.job, **query, "strategy": asked.strategy, **numbers, **given}


def unsaid(one: Started) -> Journal:
    """Of a search that has not said anything."""
    now = time.time()
    ended = ("stopped" if one.told_to_stop else "failed") if one.is_over else ""
    return Journal(
        job=one.job,
        query=one.asked.query,
        strategy=one.asked.strategy,
        state="finished" if one.is_over else "starting",
        reason=ended,
        started=one.began,
        updated=one.began,
        seconds=0.0 if one.is_over else now - one.began,
        fetched=0,
        similar=0,
        enough=one.asked.enough,
        waiting=0,
        note=one.complaint,
        hits=[],
    )
