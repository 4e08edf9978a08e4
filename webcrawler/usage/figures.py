"""What the log says: how much is asked, what is asked most, and which results are opened."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from webcrawler.errors import BadInput
from webcrawler.usage.log import DAY_SECONDS, NAME

RANKS = 15  # of a result page


@contextmanager
def reading(crawl_dir: Path) -> Iterator[sqlite3.Connection]:
    """Open the log of a data folder for reading. Raises BadInput: there is none."""
    path = crawl_dir / NAME
    if not path.is_file():
        raise BadInput(
            f"no query was logged in {crawl_dir} yet: `webcrawler serve -s QUERY_LOG_DAYS=30` logs them"
        )
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=10)) as db:
        yield db


def figures(crawl_dir: Path, most: int) -> dict[str, Any]:
    """Sum up the log; a query counts once, however many of its result pages were looked at.

    Args:
        most: how many queries are listed, of those asked most and of those that found nothing.
    Raises:
        BadInput: there is no log.
    """
    with reading(crawl_dir) as db:
        days = db.execute("SELECT day, count(*) FROM answers WHERE start = 0 GROUP BY day").fetchall()
        opened = dict(db.execute(_BY_DAY))
        asked = _queries(db.execute(_BY_QUERY))
        ranks = db.execute(_BY_RANK, (RANKS,)).fetchall()
        (clicked,) = db.execute(_CLICKED).fetchone()
    number = sum(times for _, times in days)
    words = sum(len(query.split()) * times for query, (times, _, _) in asked.items())
    nothing = {query: one for query, one in asked.items() if one[1]}
    span = days[-1][0] - days[0][0] + 1 if days else 0
    return {
        "queries": number,
        "days": span,
        "a_day": number / span if span else 0.0,
        "words": words / number if number else 0.0,
        "clicked": clicked / number if number else 0.0,
        "nothing_found": sum(one[1] for one in asked.values()) / number if number else 0.0,
        "by_day": [{"day": _date(day), "queries": n, "clicks": opened.get(day, 0)} for day, n in days],
        "asked": _listed(asked, 0, most),
        "found_nothing": _listed(nothing, 1, most),
        "ranks": [{"rank": rank, "shown": shown, "clicks": clicks} for rank, shown, clicks in ranks],
    }


_BY_DAY = """
    SELECT a.day, sum(h.clicked) FROM answers a JOIN hits h ON h.answer = a.id GROUP BY a.day"""
_BY_QUERY = """
    SELECT query, sum(start = 0), sum(start = 0 AND total = 0),
           sum((SELECT coalesce(sum(clicked), 0) FROM hits WHERE answer = id))
    FROM answers GROUP BY query"""
_BY_RANK = """
    SELECT rank, count(*), sum(clicked) FROM hits WHERE rank <= ? GROUP BY rank ORDER BY rank"""
_CLICKED = """
    SELECT count(*) FROM answers a
    WHERE start = 0 AND EXISTS (SELECT 1 FROM hits WHERE answer = a.id AND clicked)"""

_Counts = tuple[int, int, int]  # how often it was asked, found nothing, and led to a click


def _queries(rows: Iterable[tuple[str, int, int, int]]) -> dict[str, _Counts]:
    """Counts by query, whether in capitals or not; spelled as most people did."""
    times, spelled = dict[str, list[int]](), dict[str, Counter[str]]()
    for query, *counts in rows:
        key = query.casefold()
        times[key] = [a + b for a, b in zip(times.get(key, [0, 0, 0]), counts, strict=True)]
        spelled.setdefault(key, Counter())[query] += counts[0]
    return {spelled[key].most_common(1)[0][0]: (a, b, c) for key, (a, b, c) in times.items()}


def _listed(queries: dict[str, _Counts], by: int, most: int) -> list[dict[str, Any]]:
    """Those with most of what stands at `by`; of equal ones by the alphabet."""
    order = sorted(queries.items(), key=lambda one: (-one[1][by], one[0]))[:most]
    return [{"query": query, "times": one[by], "clicks": one[2]} for query, one in order]


def _date(day: int) -> str:
    return datetime.fromtimestamp(day * DAY_SECONDS, UTC).date().isoformat()
