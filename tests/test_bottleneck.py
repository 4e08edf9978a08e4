"""What holds a crawl back: one sentence, by rules over figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from webcrawler.frontier import CAUSES, Standing, bottleneck

COUNTS = {"seen": 10, "queued": 5, "leased": 1, "done": 4, "failed": 0, "quarantined": 0}
STATS: dict[str, Any] = {**COUNTS, "reasons": {}, "refused": {}}
QUIET = Standing(STATS, 0, 0, 0, 0, 1, 1, None, [], True)
POLITE = {"delay_seconds": 1.0}


def standing_of(**changes: Any) -> Standing:
    counts = {name: changes.pop(name) for name in tuple(changes) if name in STATS}
    return replace(QUIET, stats={**STATS, **counts}, **changes)


@pytest.mark.parametrize(
    "state, gauges, cause, says",
    [
        (None, {}, "redis", "Redis is away: because"),
        (standing_of(queued=0, leased=0), {}, "done", "Nothing is left to fetch: every URL"),
        (
            standing_of(queued=0, leased=0, refused={"budget-server": 30, "full": 4, "domain": 9}),
            {},
            "budget",
            "within the budgets: they kept 34 links out",
        ),
        (standing_of(workers=0), {}, "no-worker", "No worker is running: a crawl starts or ends"),
        (standing_of(), {"batch_full": 1, "batch_queue": 400}, "disk", "queue is full, 400 fetches wait"),
        (standing_of(), {"parser_pages": 32, "parsers": 2}, "parsers", "32 pages wait for 2 parser proc"),
        (standing_of(), {"parser_pages": 31, "parsers": 2}, "politeness", "every server"),
        (standing_of(leased=900, downloading=10), {}, "disk", "Parsers and disk: 890 pages"),
        (standing_of(queued=0, leased=3), {}, "ending", "last 3 URLs"),
        (
            standing_of(waiting=7, due_seconds=0.4),
            {},
            "politeness",
            "Politeness: 7 servers with 5 URLs must not be asked yet. The next is due in 0.4 s.",
        ),
        (
            standing_of(queued=3_400, waiting=12),
            POLITE,
            "politeness",
            "12 servers with 3,400 URLs must not be asked yet. Each is asked at most every 1 s.",
        ),
        (standing_of(waiting=1), {}, "politeness", "Politeness: 1 server with"),
        (standing_of(retrying=4, due_seconds=30.0), {}, "retries", "Tries: 4 URLs"),
        (standing_of(), {}, "politeness", "every server with URLs has a download"),
        (standing_of(doubtful=12, waiting=3), {}, "slow-servers", "Slow servers: of 12 servers"),
        (standing_of(ready=2, waiting=40), {}, "few-servers", "Few servers: 2 of 42"),
        (standing_of(ready=40, doubtful=2), {}, "downloads", "Downloads: 42 servers"),
        (standing_of(ready=40), {"downloads": 32, "downloads_max": 32}, "downloads", "all 32 places"),
        (standing_of(ready=40), {"downloads": 9, "downloads_max": 0}, "downloads", "or the network"),
    ],
)
def test_what_holds_the_crawl_back(
    state: Standing | None, gauges: dict[str, float], cause: str, says: str
) -> None:
    found = bottleneck(True, state, "because", gauges)

    assert says in found.sentence
    assert found.cause == cause in CAUSES
    assert "\n" not in found.sentence and found.sentence.endswith(".")


def test_where_no_crawl_runs_it_says_so() -> None:
    assert bottleneck(False, QUIET) == ("idle", "No crawl runs on this data folder.")
