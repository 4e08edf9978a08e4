"""Are the answers right? Questions with judged pages, asked of our search and of SQLite's FTS5 side by side.

    python bench/answers.py CRAWL_DIR FOLDER [--language en] [--sections FILE] [--fts FILE] [--misses]
                            [--search URL]

FOLDER holds queries.tsv, qrels.txt and perhaps same.tsv, as `scrapy judge` reads them: the test data's
queries-docs for a crawl of docweb full, tests/fixtures/six-sites for one of its six sites. The first result
page is judged:

- how often a best page is first, or among the first three; nDCG@10;
- of the questions in FILE (tests/fixtures/sections.tsv), how many are led to a section that answers: by the
  first hit that is one of their pages, among the first ten.

FTS5 has the same titles and texts: porter, each word in quotes, joined by OR, bm25 with title weight 5. Its
index takes a minute for docweb full; --fts says where it is, or is made and kept.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import fmean, median
from time import perf_counter
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
from rich.console import Console
from rich.table import Table

from webcrawler.archive.catalog import Catalog
from webcrawler.evaluation.judged import measure, read_judgments
from webcrawler.evaluation.judged.collection import Judgments
from webcrawler.index import Live
from webcrawler.opensearch import ClusterSearcher
from webcrawler.records import Hit
from webcrawler.search import Searcher

MEASURES = {"Success@1": "first", "Success@3": "in three", "nDCG@10": "nDCG@10"}
FIRST = 10  # hits that are looked at for a section
AT_ONCE = 1_000  # texts read

Answers = dict[str, list[str]]  # documents by query id


def main() -> None:
    arguments = _arguments()
    judgments = read_judgments(arguments.folder)
    searcher = Searcher(arguments.crawl_dir, deadline_seconds=60)
    hits = {
        query: searcher.search(text, language=arguments.language).hits
        for query, text in judgments.queries.items()
    }
    with closing(_fts5(arguments.crawl_dir, arguments.fts)) as database:
        theirs = {query: _asked(database, text) for query, text in judgments.queries.items()}
    ours = {query: [hit.url for hit in found] for query, found in hits.items()}
    rows = {"ours": _figures(ours, judgments), "FTS5": _figures(theirs, judgments)}
    found: dict[str, Any] = {"queries": len(hits), "answers": rows}
    if arguments.search:
        found["cluster"] = _cluster(arguments, judgments, ours)
    if arguments.sections:
        found["sections"] = _sections(arguments.sections, hits, judgments)
    _print(found)
    if arguments.misses:
        _print_misses(found, hits, judgments)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=2) + "\n")


def _figures(answers: Answers, judgments: Judgments) -> dict[str, float]:
    documents = {query: _documents(urls, judgments) for query, urls in answers.items()}
    figures = measure(documents, judgments.grades, list(MEASURES))
    return {name: fmean(of[name] for of in figures.values()) for name in MEASURES}


def _cluster(arguments: argparse.Namespace, judgments: Judgments, ours: Answers) -> dict[str, Any]:
    """What a cluster answers to the same questions, how much of it is the same, and how long it takes."""
    searcher = ClusterSearcher(arguments.search, arguments.crawl_dir, deadline_seconds=60)
    found: Answers = {}
    seconds = list[float]()
    for query, text in [*judgments.queries.items()] * 2:  # the second time it is warm
        began = perf_counter()
        found[query] = [hit.url for hit in searcher.search(text, language=arguments.language).hits]
        seconds.append(perf_counter() - began)
    warm = seconds[len(found) :]
    return {
        "figures": _figures(found, judgments),
        "same first hit": fmean(found[query][:1] == ours[query][:1] for query in found),
        "same ten in order": fmean(found[query][:FIRST] == ours[query][:FIRST] for query in found),
        "of our ten": fmean(
            len({*found[query][:FIRST]} & {*ours[query][:FIRST]}) / len(ours[query][:FIRST])
            for query in found
            if ours[query]
        ),
        "median ms": round(1000 * median(warm), 1),
        "slowest ms": round(1000 * max(warm), 1),
    }


def _documents(urls: Sequence[str], judgments: Judgments) -> list[str]:
    return list(dict.fromkeys(judgments.copies.get(url, url) for url in urls))


def _sections(file: Path, hits: dict[str, list[Hit]], judgments: Judgments) -> dict[str, Any]:
    """Where each question is led: "right", "wrong", "page" (to no section) or "not found"."""
    wanted = defaultdict[str, dict[str, set[str]]](lambda: defaultdict(set))
    for line in file.read_text().splitlines():
        query, url, fragment = line.split("\t")
        wanted[query][url].add(fragment)
    led = {}
    for query, pages in wanted.items():
        found = [(judgments.copies.get(hit.url, hit.url), hit) for hit in hits[query][:FIRST]]
        url, hit = next(((url, hit) for url, hit in found if url in pages), ("", None))
        fragment = unquote(urlsplit(hit.href).fragment) if hit else ""
        right = "right" if fragment in pages[url] else "wrong" if fragment else "page"
        led[query] = (right if hit else "not found", fragment)
    return {"questions": len(led), "right": sum(how == "right" for how, _ in led.values()), "led": led}


def _fts5(crawl_dir: Path, file: Path | None) -> sqlite3.Connection:
    made = file is not None and file.exists()
    database = sqlite3.connect(file or ":memory:")
    if made:
        return database
    database.execute("CREATE VIRTUAL TABLE pages USING fts5(url UNINDEXED, title, body, tokenize='porter')")
    reading = Live(crawl_dir).reading()
    numbers = np.flatnonzero(reading.indexed).tolist() if reading else []
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog, database:
        for start in range(0, len(numbers), AT_ONCE):
            texts = catalog.texts(numbers[start : start + AT_ONCE])
            urls = catalog.urls.of(list(texts))
            rows = ((urls[number], text.title, text.body) for number, text in texts.items())
            database.executemany("INSERT INTO pages VALUES (?, ?, ?)", rows)
    return database


def _asked(database: sqlite3.Connection, text: str) -> list[str]:
    words = " OR ".join(f'"{word}"' for word in text.replace('"', " ").split())
    best = "SELECT url FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, 0, 5, 1) LIMIT 30"
    return [url for (url,) in database.execute(best, (words,))]


def _print(found: dict[str, Any]) -> None:
    answers = found["answers"]
    table = Table("", "ours", "FTS5", "ours / FTS5", title=f"{found['queries']} questions")
    for name, shown in MEASURES.items():
        ours, theirs = answers["ours"][name], answers["FTS5"][name]
        table.add_row(shown, f"{ours:.3f}", f"{theirs:.3f}", f"{ours / theirs:.2f}" if theirs else "")
    for name, figure in found.get("cluster", {}).get("figures", {}).items():
        table.add_row(f"{MEASURES[name]}, cluster", f"{figure:.3f}")
    for name, figure in found.get("cluster", {}).items():
        if name != "figures":
            table.add_row(f"cluster: {name}", f"{figure:.3f}")
    if sections := found.get("sections"):
        table.add_row("led to the right section", f"{sections['right'] / sections['questions']:.2f}")
    Console().print(table)


def _print_misses(found: dict[str, Any], hits: dict[str, list[Hit]], judgments: Judgments) -> None:
    for query, text in judgments.queries.items():
        grades = judgments.grades[query]
        urls = _documents([hit.url for hit in hits[query]], judgments)
        best = [url for url, grade in grades.items() if grade == max(grades.values())]
        place = next((place for place, url in enumerate(urls, 1) if url in best), 0)
        if place != 1:
            print(f"{place or '-':>4}  {query} {text}: {' '.join(urls[:3])}")
    for query, (how, fragment) in found.get("sections", {}).get("led", {}).items():
        if how != "right":
            print(f"      {query} {judgments.queries[query]}: {how} {fragment}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("crawl_dir", type=Path, metavar="CRAWL_DIR")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--sections", type=Path, metavar="FILE", help="query, URL, fragment, with tabs")
    parser.add_argument("--fts", type=Path, metavar="FILE", help="the index of FTS5")
    parser.add_argument("--language", metavar="CODE", default="", help="of who asks, as browsers send it")
    parser.add_argument("--search", metavar="URL", help="of a cluster that has the same pages, as SEARCH_URL")
    parser.add_argument("--misses", action="store_true", help="show what is not right")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


if __name__ == "__main__":
    main()
