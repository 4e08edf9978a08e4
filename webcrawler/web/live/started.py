"""A search of the web that was started here, and what is said of it before it speaks for itself."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from webcrawler.realtime import Journal
from webcrawler.web.live.request import Asked

NOT_READ = Asked()  # while what is asked for is being read


@dataclass(slots=True)
class Started:
    job: str
    client: str
    asked: Asked = NOT_READ
    began: float = field(default_factory=time.time)
    is_over: bool = False
    why: str = ""  # it was asked to end, as journals say it
    complaint: str = ""


def is_over(journal: Journal) -> bool:
    return journal["state"] == "finished"


def told(one: Started, journal: Journal) -> Journal:
    """One that had to be killed ended for the reason that it was asked to end for."""
    if one.why and is_over(journal) and journal["reason"] == "failed":
        journal["reason"] = one.why
    return journal


def unsaid(one: Started) -> Journal:
    """Of a search that has not said anything."""
    now = time.time()
    return Journal(
        job=one.job,
        query=one.asked.query,
        strategy=one.asked.strategy,
        state="finished" if one.is_over else "starting",
        reason=(one.why or "failed") if one.is_over else "",
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
