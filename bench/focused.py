"""Strategies of focused crawling on docweb, by real crawls: how many pages of a topic, how soon?

    python bench/focused.py --docweb DIR [--whole CRAWL_DIR] [--topics 3] [--strategies adaptive,breadth]
        [--least 5] [--known DIR] [--jobs 2] [--json FILE] [--plots DIR]

Each strategy crawls 1,000 documents for each topic of topics.json from http://directory.test/, from an empty
data folder, delays and the ranker off, all else on. Relevant is what the topic's rule says (its terms in the
title, or often enough in the body); CRAWL_DIR is a crawl of all of docweb, which tells how many there are.

With --known it is `scrapy crawl realtime` that looks for new pages, 300 at most, in a copy of the data folder
DIR, where 5,000 random documents are known and indexed; it is made of CRAWL_DIR where it is missing.

What FILE holds is not crawled again, so that a run can be interrupted and added to; `--again` repeats the
strategies that were named. 20 s a crawl on a quiet machine.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from pathlib import Path

import knownfolder
from focusedcrawls import Lab, crawled, judged, needs_query, whole
from focusedstore import Store
from serving import ROOT, proxy

from webcrawler.archive.catalog import Catalog
from webcrawler.evaluation.focused import Topic, draw, read_topics, tables
from webcrawler.orderings import strategies

PAGES, PAGES_KNOWN = 1000, 300
DOCUMENTS_KNOWN, SEED_KNOWN = 5000, 1


def main() -> None:
    asked = _arguments()
    topics = read_topics(asked.rules)[: asked.topics]
    pages = asked.pages or (PAGES_KNOWN if asked.known else PAGES)
    with tempfile.TemporaryDirectory() as temporary, proxy(asked.docweb, asked.proxy) as url:
        lab = Lab(url, pages, asked.concurrency, asked.known)
        store = Store(asked.json, lab)
        if any(topic.query not in store.relevant for topic in topics):
            everything = asked.whole or whole(lab, Path(temporary))
            if asked.known and not asked.known.exists():
                knownfolder.make(everything, asked.known, DOCUMENTS_KNOWN, SEED_KNOWN)
            store.keep_relevant(_relevant(everything, asked.known, topics))
        topics = [topic for topic in topics if store.relevant[topic.query] >= asked.least]
        _crawl(lab, asked, topics, store)
    runs = store.of(asked.strategies, topics)
    print(f"{pages:,} documents a crawl; {' '.join(map('='.join, lab.settings.items()))}\n")
    print(tables(runs, pages))
    if asked.plots:
        asked.plots.mkdir(parents=True, exist_ok=True)
        draw(runs, pages, asked.plots)


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
    known = [mode.name for mode in strategies() if mode.needs != "classifier"]
    parser.add_argument("--strategies", type=_names, default=known, metavar="NAMES")
    parser.add_argument(
        "--pages", type=int, metavar="N", help=f"of a crawl ({PAGES}; {PAGES_KNOWN} with --known)"
    )
    parser.add_argument(
        "--known", type=Path, metavar="DIR", help="data folder to search from, made if missing"
    )
    parser.add_argument("--concurrency", type=int, default=8, metavar="N", help="CONCURRENT_REQUESTS (8)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="crawls at a time (1)")
    parser.add_argument("--again", action="store_true", help="do not take these strategies from the file")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--plots", type=Path, metavar="DIR")
    return parser.parse_args()


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _relevant(crawl_dir: Path, known: Path | None, topics: Sequence[Topic]) -> dict[str, int]:
    """How many documents of a whole crawl are relevant to each topic, and not known beforehand."""
    found = _relevant_in(crawl_dir, topics)
    before = _relevant_in(known, topics) if known else {}
    return {query: len(urls - before.get(query, set())) for query, urls in found.items()}


def _relevant_in(crawl_dir: Path, topics: Sequence[Topic]) -> dict[str, set[str]]:
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        found = judged(catalog, range(1, catalog.urls.count() + 1), topics)
        return {query: set(catalog.urls.of(list(numbers)).values()) for query, numbers in found.items()}


def _crawl(lab: Lab, asked: argparse.Namespace, topics: Sequence[Topic], store: Store) -> None:
    """What is not in the store yet."""
    with ThreadPoolExecutor(asked.jobs) as jobs:
        crawls = [
            jobs.submit(crawled, lab, strategy, some, store.relevant)
            for strategy in asked.strategies
            for some in _missing(
                lab, strategy, [t for t in topics if asked.again or not store.has(strategy, t)]
            )
        ]
        for crawl in as_completed(crawls):
            for run in crawl.result():
                store.keep(run)
                what = f"{run.query}, {run.strategy}: {len(run.found)} of {run.fetched}, {run.seconds} s"
                print(what, file=sys.stderr, flush=True)


def _missing(lab: Lab, strategy: str, topics: list[Topic]) -> list[list[Topic]]:
    """A list for each crawl."""
    return [[topic] for topic in topics] if needs_query(lab, strategy) else [topics] if topics else []


if __name__ == "__main__":
    main()
