"""Strategies of focused crawling on docweb, by real crawls: how many pages of a topic, how soon?

    python bench/focused.py --docweb DIR [--whole CRAWL_DIR] [--topics 3] [--strategies adaptive,breadth]
        [--least 5] [--jobs 2] [--json FILE] [--plots DIR]

Each strategy crawls 1,000 documents for each topic of topics.json from http://directory.test/, from an empty
data folder, delays and the ranker off, all else on. Relevant is what the topic's rule says (its terms in the
title, or often enough in the body); CRAWL_DIR is a crawl of all of docweb, which tells how many there are.
20 s a crawl on a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from pathlib import Path

from focusedcrawls import Lab, crawled, judged, needs_query, whole
from serving import ROOT, proxy

from webcrawler.archive.catalog import Catalog
from webcrawler.evaluation.focused import Run, Topic, draw, read_topics, tables
from webcrawler.orderings import strategies


def main() -> None:
    asked = _arguments()
    topics = read_topics(asked.rules)[: asked.topics]
    with tempfile.TemporaryDirectory() as temporary, proxy(asked.docweb, asked.proxy) as url:
        lab = Lab(url, asked.pages, asked.concurrency)
        relevant = _relevant(asked.whole or whole(lab, Path(temporary)), topics)
        topics = [topic for topic in topics if relevant[topic.query] >= asked.least]
        runs = _crawl(lab, asked, topics, relevant)
    if asked.json:
        rows = [run.as_json(asked.pages) for run in runs]
        figures = {"pages": asked.pages, "settings": lab.settings, "relevant": relevant, "runs": rows}
        asked.json.write_text(json.dumps(figures, indent=1))
    print(f"{asked.pages:,} documents a crawl; {' '.join(map('='.join, lab.settings.items()))}\n")
    print(tables(runs, asked.pages))
    if asked.plots:
        asked.plots.mkdir(parents=True, exist_ok=True)
        draw(runs, asked.pages, asked.plots)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    source = Path(os.environ.get("DOCWEB_SOURCE", ROOT / "../shared/docweb"))
    parser.add_argument("--docweb", type=Path, metavar="DIR", help="made by `docweb.py build`; is served")
    parser.add_argument("--proxy", default="", metavar="URL", help="of a docweb that is served already")
    parser.add_argument("--whole", type=Path, metavar="CRAWL_DIR", help="a crawl of all of it (made first)")
    parser.add_argument("--rules", type=Path, default=source / "topics.json", metavar="FILE")
    parser.add_argument("--topics", type=int, metavar="N", help="the first N (all)")
    parser.add_argument(
        "--least", type=int, default=0, metavar="N", help="topics with at least N relevant documents (0)"
    )
    names = [mode.name for mode in strategies() if mode.needs != "classifier"]
    parser.add_argument("--strategies", type=_names, default=names, metavar="NAMES")
    parser.add_argument("--pages", type=int, default=1000, metavar="N", help="of a crawl (1000)")
    parser.add_argument("--concurrency", type=int, default=8, metavar="N", help="CONCURRENT_REQUESTS (8)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="crawls at a time (1)")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--plots", type=Path, metavar="DIR")
    return parser.parse_args()


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _relevant(crawl_dir: Path, topics: Sequence[Topic]) -> dict[str, int]:
    """How many documents of a whole crawl are relevant to each topic."""
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        found = judged(catalog, range(1, catalog.urls.count() + 1), topics)
        return {query: len(numbers) for query, numbers in found.items()}


def _crawl(
    lab: Lab, asked: argparse.Namespace, topics: Sequence[Topic], relevant: dict[str, int]
) -> list[Run]:
    runs = list[Run]()
    with ThreadPoolExecutor(asked.jobs) as jobs:
        crawls = [
            jobs.submit(crawled, lab, strategy, some, relevant)
            for strategy in asked.strategies
            for some in ([[topic] for topic in topics] if needs_query(strategy) else [topics])
        ]
        for crawl in as_completed(crawls):
            for run in crawl.result():
                runs.append(run)
                what = f"{run.query}, {run.strategy}: {len(run.found)} of {run.fetched}, {run.seconds} s"
                print(what, file=sys.stderr, flush=True)
    return runs


if __name__ == "__main__":
    main()
