"""Our rankings on judged collections, beside Whoosh's BM25F and bm25s, in one run.

    python bench/quality.py DATA [--search URL] [--json FILE]

DATA holds ir-cranfield, ir-cacm and ir-adi with an archive each (smart.py says what is read of them), or a
folder for each collection as `scrapy judge` reads it. Ours go the whole way: catalog, follower, index,
`Searcher.rank`. Takes two minutes.

Nobody sees CACM's links, but in the rows "with links": there the titles of citing articles are anchors. bm25f
is the default; "one pass" is without its feedback. peculiarity is WC's formula to the letter, sane the best
variant of it, each with general English or the collection itself as its reference domain.

With the URL of a cluster, as SINK_URL, the collections go there as well, as URL-COLLECTION; two rows more are
what the folder's searches show, and the cluster's.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
from rich.console import Console
from rich.table import Table
from rivals import MOST, RIVALS, Queries, Runs
from smart import COLLECTIONS, convert

from webcrawler.evaluation.judged import MEASURES, Collection, Paper, build, measure, read
from webcrawler.opensearch import ClusterSearcher
from webcrawler.search import MAX_HITS, Answering, Searcher
from webcrawler.search.matches import Matches, Ranking, Scores, weights
from webcrawler.search.rankings import FIELDS, RANKINGS, Row
from webcrawler.search.rankings.bm25f import BM25F
from webcrawler.text.analysis import words
from webcrawler.text.query import QueryTerm
from webcrawler.text.reference import Reference, english
from webcrawler.views import derive

Figures = dict[str, float]
PIVOT = 0.2  # of the sane variant: how far a long text's counts count less


@dataclass(frozen=True)
class SanePeculiarity:
    """WC's idea with what is known since: logarithms of the count and of the ratio, length pivoted."""

    reference: Callable[[str], float]

    def __call__(self, terms: Sequence[QueryTerm], matches: Matches) -> Scores:
        mean = sum(map(matches.mean_length, FIELDS))
        pivoted = 1 - PIVOT + PIVOT * sum(matches.lengths(field) for field in FIELDS) / mean
        scores = np.zeros(len(matches.pages))
        for word, weight in weights(terms).items():
            counts = sum(matches.counts(field, word) for field in FIELDS)
            tapered = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0)
            # in the document's weight and in the query's, as WC has it
            scores += weight * tapered / pivoted * np.log(self.reference(word)) ** 2
        return Scores(scores, list)


OURS: dict[str, Callable[[Callable[[], Reference]], Ranking]] = {
    "bm25f": RANKINGS["bm25f"].made_with,
    "bm25f, one pass": lambda reference: BM25F(),
    "hitlists": RANKINGS["hitlists"].made_with,
    "peculiarity": RANKINGS["peculiarity"].made_with,
    "sane peculiarity": lambda reference: SanePeculiarity(reference().frequency),
}
BY_REFERENCE = ("peculiarity", "sane peculiarity")  # also with the collection as their reference
BY_LINKS = ("bm25f", "bm25f, one pass", "hitlists")  # also with citing titles as anchors


def main() -> None:
    arguments = _arguments()
    RANKINGS.update((name, Row(make, name)) for name, make in OURS.items())
    rows: dict[str, dict[str, Figures]] = {}
    with tempfile.TemporaryDirectory() as name:
        for collection in COLLECTIONS:
            read_in = _read(collection, arguments.data, Path(name))
            cluster = arguments.search and f"{arguments.search}-{collection}"
            for row, run in _runs(read_in, Path(name, f"{collection}-crawls"), cluster).items():
                rows.setdefault(row, {})[collection] = _means(run, read_in)
    for of in rows.values():
        of["mean"] = {one: fmean(figures[one] for figures in of.values()) for one in MEASURES}
    _print(rows)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


def _read(name: str, data: Path, folder: Path) -> Collection:
    if (data / name / "docs.jsonl").exists():
        return read(data / name)
    (archive,) = (data / f"ir-{name}").glob("*.tar.*")
    convert(name, archive, folder / name)
    return read(folder / name)


def _runs(collection: Collection, folder: Path, cluster: str) -> dict[str, Runs]:
    papers, queries = collection.papers, collection.judgments.queries
    runs = {name: rival(papers, queries) for name, rival in RIVALS.items()}
    plain = Crawl([paper._replace(links=()) for paper in papers], folder / "plain")
    for name in OURS:
        runs[name] = plain.ask(queries, name, english())
    if cluster:
        runs["shown"] = plain.shown(queries, Searcher(plain.folder, english()))
        derive(plain.folder, {"SINK_URL": cluster, "RANKER_ENABLED": "no"})
        there = ClusterSearcher(cluster, plain.folder, english(), deadline_seconds=60)
        runs["shown by the cluster"] = plain.shown(queries, there)
    own = _reference(papers)
    for name in BY_REFERENCE:
        runs[f"{name} (collection)"] = plain.ask(queries, name, own)
    linked = Crawl(papers, folder / "linked")
    for name in BY_LINKS:
        runs[f"{name}, with links"] = linked.ask(queries, name, english())
    return runs


class Crawl:
    """A data folder of a collection."""

    def __init__(self, papers: Sequence[Paper], folder: Path) -> None:
        folder.mkdir(parents=True)
        self.folder, self._ids = folder, build(papers, folder)

    def ask(self, queries: Queries, ranking: str, reference: Reference) -> Runs:
        searcher = Searcher(self.folder, reference)
        return {
            query: [self._ids[number] for number, _ in searcher.rank(text, ranking, MOST)]
            for query, text in queries.items()
        }

    def shown(self, queries: Queries, searcher: Answering) -> Runs:
        """The hits, which have the folder's page numbers also where a cluster answers."""
        return {
            query: [self._ids[hit.number] for hit in searcher.search(text, MAX_HITS, expand=False).hits]
            for query, text in queries.items()
        }


def _reference(papers: Sequence[Paper]) -> Reference:
    """The words of a collection by their share."""
    counts = Counter(word.lower() for paper in papers for word in words(f"{paper.title} {paper.text}"))
    return Reference((word, count / counts.total()) for word, count in counts.items())


def _means(run: Runs, collection: Collection) -> Figures:
    found = measure(run, collection.judgments.grades, MEASURES)
    return {one: fmean(of[one] for of in found.values()) for one in MEASURES}


def _print(rows: dict[str, dict[str, Figures]]) -> None:
    console = Console(width=110)
    for measures in (("nDCG@10", "AP"), ("P@10", "R@100")):
        table = Table(title=" / ".join(measures))
        for column in ("", *COLLECTIONS, "mean"):
            table.add_column(column, justify="right" if column else "left", no_wrap=True)
        for name, row in rows.items():
            table.add_row(name, *(" / ".join(f"{of[one]:.3f}" for one in measures) for of in row.values()))
        console.print(table)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--search", metavar="URL", default="", help="of a cluster, as SINK_URL")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


if __name__ == "__main__":
    main()
