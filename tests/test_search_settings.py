"""The settings SEARCH_… hold for whatever answers people: terminal, search page, searches of the web."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from crawled import link
from localweb import crawl, page, sites
from scrapy.settings import Settings
from searched import entry, publish
from starlette.testclient import TestClient
from test_blocking import WITH_INDEX

from webcrawler import settings as defaults
from webcrawler.errors import BadInput
from webcrawler.realtime import RealtimeJob, RealtimeSearch, journal
from webcrawler.search import Searcher, SearchSettings
from webcrawler.web import Config, make_app

Found = list[tuple[str, int]]  # URLs and relevances
QUERY = "cheap flights"
STUFFED, HONEST = "http://stuffed.example/", "http://honest.example/"


def read(**given: str) -> SearchSettings:
    made = Settings()
    made.setmodule(defaults)
    made.update(given)
    return SearchSettings.read(made)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two pages about cheap flights, of which one says little else."""
    prose = " ".join(f"sentence {number} about the harbour and its boats" for number in range(12))
    pages = [
        entry((STUFFED, "Cheap flights", "cheap flights " * 160 + prose), link(HONEST)),
        entry((HONEST, "Cheap flights", f"Cheap flights. {prose}"), link(STUFFED)),
    ]
    publish(tmp_path / "crawl", pages)
    return tmp_path / "crawl"


def by_search(folder: Path, run: Run, spam: str) -> Found:
    found = json.loads(run("search", QUERY, "--json", "-s", f"SEARCH_SPAM={spam}", folder=folder).out)
    return [(hit["url"], hit["relevance"]) for hit in found["hits"]]


def by_report(folder: Path, run: Run, spam: str) -> Found:
    lines = run("report", "-s", f"SEARCH_SPAM={spam}", folder=folder).out.splitlines()
    starts = [number for number, line in enumerate(lines) if line.endswith("Cheap flights")]
    return [(lines[number + 1].strip(), int(lines[number].split()[0])) for number in starts]


def by_page(folder: Path, run: Run, spam: str) -> Found:
    config = Config(folder, search=read(SEARCH_SPAM=spam))
    with TestClient(make_app(config), "http://localhost") as web:
        found = web.get("/api/search", params={"q": QUERY}).json()
    return [(hit["url"], hit["relevance"]) for hit in found["hits"]]


def by_search_of_the_web(folder: Path, run: Run | None = None, spam: str = "1", **given: str) -> Found:
    search = RealtimeSearch(folder, RealtimeJob.read(query=QUERY), read(SEARCH_SPAM=spam, **given))
    search.begin()
    found = search.end("finished")
    return [(hit["url"], hit["relevance"]) for hit in found["hits"]]


def wanted(folder: Path, **given: Any) -> Found:
    hits = Searcher(folder, deadline_seconds=60, **given).search(QUERY).hits
    return [(hit.url, hit.relevance) for hit in hits]


@pytest.mark.slow
@pytest.mark.parametrize("ask", [by_search, by_report, by_page, by_search_of_the_web])
@pytest.mark.parametrize(("spam", "leads"), [("1", STUFFED), ("0.5", HONEST), ("0", HONEST)])
def test_a_stuffed_page_falls_as_far_as_the_owner_wants(
    folder: Path, run: Run, ask: Callable[[Path, Run, str], Found], spam: str, leads: str
) -> None:
    found = ask(folder, run, spam)

    assert found == wanted(folder, spam=float(spam))
    assert found[0][0] == leads and len(found) == 2


@pytest.mark.slow
@pytest.mark.parametrize(("spam", "leads"), [("1", STUFFED), ("0.5", HONEST)])
def test_a_search_of_the_web_reads_the_settings_of_its_crawl(folder: Path, spam: str, leads: str) -> None:
    with sites(a={"/": page()}) as web:
        asked = ("-a", f"query={QUERY}", "-a", f"seeds={web['a'].url}/", "-a", "job=test")
        done = crawl(folder, "realtime", *asked, ITEM_PIPELINES=WITH_INDEX, SEARCH_SPAM=spam)
    found = journal.read(folder, "test")

    assert done.status == 0, done.log
    assert found and found["hits"][0]["url"] == leads


def test_words_of_a_field_count_in_searches_of_the_web(folder: Path) -> None:
    (folder / "words.txt").write_text("cheap 0.5\nflights 0.5\n")
    given = {"SEARCH_REFERENCE": str(folder / "words.txt")}

    found = by_search_of_the_web(folder, **given)

    assert found == wanted(folder, reference=read(**given).reference, spam=1)


WRONG = [
    ("SEARCH_SPAM", "2", "from 0 to 1"),
    ("SEARCH_SPAM", "much", "SEARCH_SPAM=much is not valid"),
    ("SEARCH_UNCRAWLED", "never", "choose one of few, always"),
    ("SEARCH_REFERENCE", "missing.txt", "cannot read SEARCH_REFERENCE"),
]


@pytest.mark.parametrize(("name", "value", "line"), WRONG)
def test_a_wrong_value_is_told_in_one_line(run: Run, folder: Path, name: str, value: str, line: str) -> None:
    with pytest.raises(BadInput, match=line):
        read(**{name: value})

    for command in (("search", QUERY), ("report",)):
        status, _, said = run(*command, "-s", f"{name}={value}", folder=folder)
        assert status == 2
        assert line in said and said.count("\n") == 1
