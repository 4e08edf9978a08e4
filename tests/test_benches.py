"""Each program of bench/README.md runs; tests/docweb/test_docweb_benches.py has those that crawl docweb."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from benching import BENCHES, SMALLEST, SMALLEST_OF_DOCWEB, runs
from judged import dolphins
from localweb import PROJECT, scrapy

QUERY = "molecular biology"  # has answers in the demo web

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """By the word that stands for it in a command: above all a crawl of the demo web."""
    folder = tmp_path_factory.mktemp("data")
    crawl_dir = folder / "crawl"
    _answer(crawl_dir, "crawl")
    _answer(crawl_dir, "report")
    for name in ("adi", "cacm", "cranfield"):
        dolphins(folder / "collections" / name)
    best = json.loads(_answer(crawl_dir, "search", QUERY, "--json"))["hits"][0]
    (folder / "queries.tsv").write_text(f"{QUERY}\t{best['url']}\n")
    (folder / "page.html").write_text("<title>A page</title>" + "<p>of some words" * 100)
    return {
        "CATALOG": crawl_dir / "catalog.sqlite",
        "COLLECTIONS": folder / "collections",
        "CRAWL_DIR": crawl_dir,
        "PAGE": folder / "page.html",
        "QUERIES": folder / "queries.tsv",
        "SIX_SITES": PROJECT / "tests/fixtures/six-sites",
        "TABLES": folder / "tables",
    }


def _answer(crawl_dir: Path, *words: str) -> str:
    process = scrapy(*words, folder=crawl_dir)
    answer, told = process.communicate()
    assert process.returncode == 0, told[-4000:]
    return answer


@pytest.mark.parametrize("name", SMALLEST)
def test_bench_runs_at_its_smallest_size(tmp_path: Path, data: dict[str, Path], name: str) -> None:
    assert runs(tmp_path, name, SMALLEST[name], data)


def test_memory_of_the_frontier_is_measured(tmp_path: Path) -> None:
    assert runs(tmp_path, "frontier", "--memory --urls 2000", {})


def test_each_bench_of_the_table_runs_in_ci() -> None:
    table = (BENCHES / "README.md").read_text("utf-8")

    named = re.findall(r"(?m)^\| `(\w+)\.py", table)

    assert sorted({*named}) == sorted({*SMALLEST, *SMALLEST_OF_DOCWEB})
