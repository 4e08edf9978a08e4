"""What clicks are good for: judgments by a click model, and popularity as a signal, on simulated users.

    python bench/clicks.py FOLDER [--visits 50] [--json FILE]

FOLDER is a judged collection (bench/smart.py makes some). Its documents are indexed, and simulated users ask
half of its queries: each is shown the first 15 hits of a ranking drawn at random. Who looks at a hit opens it
with probability 0.8 if it is judged relevant, else 0.1. There are two kinds of users:

- position-based, as the click model that is fitted supposes: they look at the hit of rank r with probability
  r^-1, whatever else they have seen;
- cascade, which it does not suppose: they look at each hit from the first one down, and leave when they have
  opened one (Craswell et al. 2008, "An Experimental Comparison of Click Position-Bias Models").

The real log, click model and popularity are made of what they open, five times, each with halves of its own.

First table: how well judgments by clicks (those of the model, and plain shares of clicks) tell relevant
documents from others that were shown, as the area under the ROC curve; 0.5 is chance. Second table: nDCG@10
of the default ranking on the OTHER half of the queries, by the weight of popularity (SEARCH_POPULARITY), with
the 95 % interval of the gain over queries, and how likely chance alone gives as much: as `webcrawler judge`.
"""

import argparse
import json
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from webcrawler.archive.catalog import Catalog
from webcrawler.evaluation.chance import intervals, p_values
from webcrawler.evaluation.judged import Collection, build, measure, read
from webcrawler.search import Searcher
from webcrawler.usage import NAME, QueryLog, Shown, new_id, popularity, renew, today
from webcrawler.usage.clicks import counts, fit, query_id

RANKINGS = ("bm25f", "hitlists", "peculiarity")
HITS = 15
OPENS, OPENS_OTHER = 0.8, 0.1
WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
SEEDS = (1, 2, 3, 4, 5)


Scored = tuple[int, float]  # a page number and its score
User = Callable[
    [Sequence[float], random.Random], list[int]
]  # which ranks are opened, by what is liked of each
ByQuery = Mapping[str, float]


class Web(NamedTuple):
    folder: Path
    collection: Collection
    ids: Mapping[int, str]  # documents by page number
    urls: Mapping[int, str]


def by_position(likes: Sequence[float], chance: random.Random) -> list[int]:
    return [rank for rank, like in enumerate(likes, 1) if chance.random() < like / rank]


def by_cascade(likes: Sequence[float], chance: random.Random) -> list[int]:
    return next(([rank] for rank, like in enumerate(likes, 1) if chance.random() < like), [])


USERS: Mapping[str, User] = {"position-based": by_position, "cascade": by_cascade}


def main() -> None:
    arguments = _arguments()
    figures = dict[str, Mapping[str, Any]]()
    with tempfile.TemporaryDirectory() as name:
        web = _indexed(arguments.folder, Path(name))
        shown = {query: _shown(web, text) for query, text in web.collection.judgments.queries.items()}
        for users, user in USERS.items():
            found = [_one(web, shown, user, seed, arguments.visits) for seed in SEEDS]
            figures[users] = {
                "areas": {key: float(np.mean([areas[key] for areas, _ in found])) for key in found[0][0]},
                "weights": _compared([by_weight for _, by_weight in found]),
            }
            _print(users, figures[users])
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="a judged collection")
    parser.add_argument("--visits", type=int, default=50, help="of each query that is asked (50)")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


def _indexed(judged: Path, folder: Path) -> Web:
    collection = read(judged)
    ids = build(collection.papers, folder, lambda *_: None)
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        return Web(folder, collection, ids, catalog.urls.of(list(ids)))


def _shown(web: Web, text: str) -> dict[str, list[Scored]]:
    """The hits of each ranking."""
    searcher = Searcher(web.folder)
    return {ranking: searcher.rank(text, ranking) for ranking in RANKINGS}


def _one(
    web: Web, shown: Mapping[str, Mapping[str, list[Scored]]], user: User, seed: int, visits: int
) -> tuple[dict[str, float], dict[float, ByQuery]]:
    """The areas, and nDCG@10 by weight and query."""
    chance = random.Random(seed)
    queries = sorted(shown)
    chance.shuffle(queries)
    asked, kept = queries[: len(queries) // 2], queries[len(queries) // 2 :]
    (web.folder / NAME).unlink(missing_ok=True)
    with closing(QueryLog(web.folder / NAME, 30)) as log:
        for query in asked:
            pages = [_visited(web, query, shown[query], user, chance) for _ in range(visits)]
            clicks = [(page.id, rank) for page, ranks in pages for rank in ranks]
            log.write([page for page, _ in pages], clicks, today())
    renew(web.folder)
    ranked = {query: shown[query][RANKINGS[0]] for query in kept}
    return _areas(web, asked), {weight: _ndcg(web, ranked, weight) for weight in WEIGHTS}


def _visited(
    web: Web, query: str, shown: Mapping[str, list[Scored]], user: User, chance: random.Random
) -> tuple[Shown, list[int]]:
    """A result page and the ranks that were opened."""
    numbers = [number for number, _ in shown[chance.choice(RANKINGS)][:HITS]]
    judgments = web.collection.judgments
    page = Shown(
        new_id(),
        today(),
        judgments.queries[query],
        len(numbers),
        0,
        True,
        tuple(web.urls[number] for number in numbers),
    )
    grades = judgments.grades[query]
    is_relevant = (grades.get(web.ids[number], 0) > 0 for number in numbers)
    return page, user([OPENS if relevant else OPENS_OTHER for relevant in is_relevant], chance)


def _areas(web: Web, asked: Sequence[str]) -> dict[str, float]:
    """How well what was opened tells relevant pages from others, over all pairs that were shown."""
    of, judgments = counts(web.folder), web.collection.judgments
    model = fit(of)
    shares = np.bincount(of.pair, of.clicked) / np.bincount(of.pair, of.shown)
    documents = {url: web.ids[number] for number, url in web.urls.items()}
    by_id = {query_id(" ".join(judgments.queries[query].split())[:400]): query for query in asked}
    is_relevant = np.array(
        [judgments.grades[by_id[query]].get(documents[url], 0) > 0 for query, url in of.pairs]
    )
    by = {"click model": model.attractive, "share of clicks": shares}
    return {name: _area(values, is_relevant) for name, values in by.items()}


def _area(values: np.ndarray, is_relevant: np.ndarray) -> float:
    """Under the ROC curve: how likely a relevant one has the higher value; half for equal ones."""
    good, bad = values[is_relevant], np.sort(values[~is_relevant])
    below = (np.searchsorted(bad, good, "left") + np.searchsorted(bad, good, "right")) / 2
    return float(below.mean() / len(bad))


def _ndcg(web: Web, ranked: Mapping[str, Sequence[Scored]], weight: float) -> ByQuery:
    """As the engine does it, which multiplies the score of each page; so nobody has to ask again."""
    liked, judgments = popularity(web.folder), web.collection.judgments
    run = dict[str, list[str]]()
    for query, pages in ranked.items():
        scored = [(score * (1 + weight * liked.get(web.urls[number], 0)), -number) for number, score in pages]
        run[query] = [web.ids[-number] for _, number in sorted(scored, reverse=True)[:100]]
    scores = measure(run, {query: judgments.grades[query] for query in ranked})
    return {query: of["nDCG@10"] for query, of in scores.items()}


def _compared(found: Sequence[Mapping[float, ByQuery]]) -> dict[str, dict[str, Any]]:
    """By weight: the means of each division, and the gain, whose trials are queries.

    What a query gains is its mean over the divisions in which nobody clicked for it.
    """
    queries = sorted({query for by_weight in found for query in by_weight[0.0]})
    rows = dict[str, dict[str, Any]]()
    for weight in WEIGHTS:
        gains = [
            [of[weight][query] - of[0.0][query] for of in found if query in of[0.0]] for query in queries
        ]
        table = np.array([[np.mean(of_query)] for of_query in gains])
        (low,), (high,) = intervals(table)
        rows[f"{weight:g}"] = {
            "divisions": [float(np.mean([*of[weight].values()])) for of in found],
            "queries": len(queries),
            "gain": float(table.mean()),
            "interval": [float(low), float(high)],
            "p": float(p_values(table)[0]) if weight else 1.0,
        }
    return rows


def _print(users: str, figures: Mapping[str, Mapping]) -> None:
    for title, head, rows in (
        ("relevant or not, by clicks", ("by", "area"), _area_rows(figures["areas"])),
        (
            "nDCG@10 on queries that nobody clicked for",
            ("weight", *map(str, SEEDS), "mean", "gain", "95 %", "p"),
            _gains(figures["weights"]),
        ),
    ):
        table = Table(*head, title=f"{users} users: {title}")
        for row in rows:
            table.add_row(*row)
        Console(width=120).print(table)


def _area_rows(areas: Mapping[str, float]) -> Iterator[tuple[str, ...]]:
    for name, area in areas.items():
        yield name, f"{area:.3f}"


def _gains(weights: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    for weight, of in weights.items():
        means = [f"{value:.4f}" for value in (*of["divisions"], np.mean(of["divisions"]))]
        low, high = of["interval"]
        yield weight, *means, f"{of['gain']:+.4f}", f"{low:+.4f} to {high:+.4f}", f"{of['p']:.4f}"


if __name__ == "__main__":
    main()
