"""What the user asked for beside the papers: a Scrapy project, with these commands and parts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import MakeFrontier, Run
from frontiers import lease_one, links
from localweb import PROJECT
from test_scrapyd import Scrapyd, clone, egg, python, scrapyd
from waiting import until
from whoosh.index import open_dir

from webcrawler.crawl import wiring

from .conftest import Searched
from .town import Town, found

__all__ = ["clone", "egg", "python", "scrapyd"]  # fixtures


@pytest.mark.slow
def test_01_scrapy_project_crawls_by_mode(town: Town, run: Run) -> None:
    """The user: "project layout; `webcrawler crawl index -a mode=…`"."""
    assert run("list").out.split() == ["index", "realtime"]
    assert all((PROJECT / name).exists() for name in ("scrapy.cfg", "spiders/index.py", "pipelines/pages.py"))
    assert town.crawled.status == 0, town.crawled.log
    assert {f"{site.url}/" for site in town.servers} <= town.crawled.documents()


def test_02_priority_queue_is_in_redis(make_frontier: MakeFrontier) -> None:
    """EW, frontier: "it useful to implement the frontier as priority queue".

    The user: "Redis priority scheduler".
    """
    here, elsewhere = (make_frontier("location", worker=worker) for worker in ("ann", "bob"))
    deep, shallow, middle = "http://a.test/x/y/z", "http://b.test/", "http://a.test/x"

    here.discover(links(deep, shallow, middle))

    assert wiring.SETTINGS["SCHEDULER"] == "webcrawler.scheduler.Scheduler"
    assert [lease_one(worker).url for worker in (elsewhere, here, elsewhere)] == [shallow, middle, deep]


@pytest.mark.slow
def test_03_pipelines_tell_duplicates_keep_links_and_index_by_peculiarity(town: Town) -> None:
    """WC, the database: "Words that appear frequently in the document, and infrequently in the reference
    domain are weighted most highly".
    """
    library, physics = town.library.url, town.physics.url
    rare, common = f"{physics}/1", f"{physics}/2"  # "quark quark and light", "people people and light"

    assert town.crawled.reason(f"{library}/shelf/copy") == "done/duplicate"
    assert town.crawled.edges()[f"{library}/", f"{physics}/", ""] == 1
    assert open_dir(str(town.folder / "index")).doc_count() > 0
    assert found(town.folder, "quark people", ranking="peculiarity") == [rare, common]


@pytest.mark.slow
def test_04_scrapy_crawl_realtime_answers_a_query_from_index_and_web(searched: Searched) -> None:
    """WC: "Users can issue queries directly to the pre-computed index or to a search program that explores
    new documents in real time".
    """
    assert {hit["source"] for hit in searched.journal["hits"]} == {"index", "web"}
    assert searched.journal["hits"][0]["relevance"] == 1000


@pytest.mark.scrapyd
def test_05_scrapyd_runs_what_is_deployed_to_it(scrapyd: Scrapyd, egg: Path) -> None:
    """The user: "deployment to Scrapyd"."""
    folder = scrapyd.folder / "mission"
    order = {"project": "webcrawler", "spider": "index", "jobid": "mission", "max_pages": "12"}

    scrapyd.ask("schedule", [*order.items(), ("setting", f"CRAWL_DIR={folder}")])
    until(lambda: scrapyd.finished("mission"), "the job")

    assert "Spider closed (max_pages)" in scrapyd.log("mission"), scrapyd.log("mission")
    assert json.loads((folder / "demo.json").read_text())["ports"]
    assert (folder / "catalog.sqlite").exists()
