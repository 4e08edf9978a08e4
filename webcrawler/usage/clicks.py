"""What opened results say of pages: clicks, freed from the places at which the hits stood."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.errors import BadInput
from webcrawler.usage.figures import reading
from webcrawler.usage.log import query_id

RANKS = 30  # that are fitted; few look farther
ROUNDS = 500  # of EM, at most
SETTLED = 1e-5  # change of the probabilities that ends it
LEAST_ASKED = 10  # times: of a query whose pages are judged
LEAST_LOOKS = 5.0  # at a page for a query, as the model counts them, to be judged
GRADES = 10  # of a page that everybody opens who looks at it

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Counts(NamedTuple):
    """How often each pair of a query and a page was shown at a rank, and opened there."""

    pairs: Sequence[tuple[str, str]]  # id of the query, URL
    pair: Ints  # place in `pairs` of each row
    rank: Ints  # from 0 on
    shown: Floats
    clicked: Floats
    queries: dict[str, tuple[str, int]]  # by id: the text, and how often it was asked


class Model(NamedTuple):
    examined: Floats  # by rank: how likely somebody looks at the hit there
    attractive: Floats  # by pair: how likely who looks at it opens it


def counts(crawl_dir: Path) -> Counts:
    """Read the log of a data folder; only of result pages where nothing but the query was asked for.

    Raises:
        BadInput: there is no log.
    """
    places, rows = dict[tuple[str, str], int](), dict[tuple[int, int], tuple[int, int]]()
    with reading(crawl_dir) as db:
        asked = dict[str, tuple[str, int]]()
        for query, times in db.execute(_ASKED):
            id = query_id(query)
            asked[id] = query, times + (asked[id][1] if id in asked else 0)
        for query, url, rank, shown, clicked in db.execute(_SHOWN, (RANKS,)):
            place = places.setdefault((query_id(query), url), len(places))
            before = rows.get((place, rank), (0, 0))
            rows[place, rank] = before[0] + shown, before[1] + clicked
    table = np.array([(*key, *of) for key, of in rows.items()], np.int64).reshape(-1, 4)
    pair, rank, shown, clicked = table.T
    return Counts(list(places), pair, rank - 1, shown.astype(float), clicked.astype(float), asked)


_ASKED = "SELECT query, sum(start = 0) FROM answers WHERE plain GROUP BY query"
_SHOWN = """
    SELECT a.query, p.url, h.rank, count(*), sum(h.clicked)
    FROM answers a JOIN hits h ON h.answer = a.id JOIN pages p USING (page)
    WHERE a.plain AND h.rank <= ? GROUP BY a.query, h.page, h.rank"""


def fit(of: Counts) -> Model:
    """Fit the position-based model by expectation maximisation.

    A hit is opened if somebody looks at it, which depends on its rank alone, and finds it attractive, which
    depends on the query and the page alone. Rank 1 is always looked at. Each other probability begins with
    one case for it and one against it, so that what was seen once is not certain.

    Source: Craswell, Zoeter, Taylor, Ramsey 2008, "An Experimental Comparison of Click Position-Bias Models";
    EM as in Chuklin, Markov, de Rijke 2015, "Click Models for Web Search", chapter 4.
    Weakness: of a page that always stood at the same rank, attraction and place can be told apart only by
    what else stood there. Cost: some milliseconds a round for 100,000 rows.
    """
    pairs, rest = len(of.pairs), of.shown - of.clicked
    examined, attractive = np.full(RANKS, 0.5), np.full(pairs, 0.5)
    examined[0] = 1.0
    shown_at = np.bincount(of.rank, of.shown, RANKS)
    shown_of = np.bincount(of.pair, of.shown, pairs)
    for _ in range(ROUNDS):
        looks, likes = examined[of.rank], attractive[of.pair]
        passed = rest / (1 - looks * likes + 1e-12)
        looked = np.bincount(of.rank, of.clicked + passed * looks * (1 - likes), RANKS)
        liked = np.bincount(of.pair, of.clicked + passed * (1 - looks) * likes, pairs)
        before = Model(examined, attractive)
        examined, attractive = (looked + 1) / (shown_at + 2), (liked + 1) / (shown_of + 2)
        examined[0] = 1.0
        moved = (
            np.abs(examined - before.examined).max(),
            np.abs(attractive - before.attractive).max(initial=0),
        )
        if max(moved) < SETTLED:
            break
    return Model(examined, attractive)


def judged(crawl_dir: Path) -> tuple[dict[str, str], dict[str, dict[str, int]]]:
    """Return queries by id, and grades of URLs by query: tenths of how likely who looks at one opens it.

    Only of queries that were asked LEAST_ASKED times, and of pages that were looked at LEAST_LOOKS times.

    Raises:
        BadInput: there is no log, or it has no such query with a page that anybody opens.
    """
    of = counts(crawl_dir)
    model = fit(of)
    looks = np.bincount(of.pair, of.shown * model.examined[of.rank], len(of.pairs))
    grades = dict[str, dict[str, int]]()
    for (query, url), seen, likes in zip(of.pairs, looks, model.attractive, strict=True):
        if seen >= LEAST_LOOKS and of.queries.get(query, ("", 0))[1] >= LEAST_ASKED:
            grades.setdefault(query, {})[url] = round(GRADES * float(likes))
    grades = {query: of_query for query, of_query in grades.items() if any(of_query.values())}
    if not grades:
        raise BadInput(
            f"the log in {crawl_dir} says too little: a query counts once it was asked {LEAST_ASKED} times, "
            "and a result of it was opened"
        )
    return {query: of.queries[query][0] for query in grades}, grades
