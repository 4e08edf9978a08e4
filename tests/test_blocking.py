"""`webcrawler frontier block`: a server is asked no more, and what it had is found no more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from inprocess import command
from localweb import WITHOUT_INDEX, Answer, Site, crawl, sites

from webcrawler.commands._elsewhere import servers_named
from webcrawler.errors import BadInput

WITH_INDEX = json.dumps(json.loads(WITHOUT_INDEX) | {"pipelines.fulltext.FullTextPipeline": 400})


class Two(NamedTuple):
    folder: Path
    leaving: Site
    staying: Site

    def crawl(self, max_pages: int) -> None:
        seeds = f"seeds={self.leaving.url}/,{self.staying.url}/"
        crawl(self.folder, "index", "-a", seeds, "-a", f"max_pages={max_pages}", ITEM_PIPELINES=WITH_INDEX)

    def ask(self, *arguments: str) -> Any:
        answered = command(*arguments, "--json", folder=self.folder)
        assert answered.out, answered.err
        return json.loads(answered.out)

    def servers_found(self) -> set[str]:
        return {hit["server"] for hit in self.ask("search", "armadillo")["hits"]}


def told(name: str, path: str, links: list[str]) -> Answer:
    anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
    return Answer(f"<title>{path}</title><p>The armadillo of {name}{path} sleeps in its burrow. {anchors}")


def routes(name: str) -> dict[str, Any]:
    pages = [f"/{n}" for n in range(9)]
    return {path: told(name, path, pages) for path in ("/", *pages)}


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Two]:
    """A server that is to leave and one that stays, crawled in part and indexed."""
    with sites(leaving=routes("leaving"), staying=routes("staying")) as opened:
        both = Two(tmp_path / "crawl", opened["leaving"], opened["staying"])
        both.crawl(6)
        yield both


@pytest.mark.slow
def test_a_blocked_server_is_found_no_more_and_asked_no_more(two: Two) -> None:
    assert two.servers_found() == {two.leaving.url, two.staying.url}

    answer = two.ask("frontier", "block", two.leaving.url)

    assert answer["blocked"] == [two.leaving.url]
    assert answer["documents_removed"] > 0 and answer["urls_decided"] > 0
    assert two.servers_found() == {two.staying.url}

    before = len(two.leaving.asked)
    two.crawl(100)

    assert len(two.leaving.asked) == before
    assert len(two.staying.asked) == len(set(two.staying.asked)) == 11  # its pages and robots.txt
    states = two.ask("frontier", "stats")
    assert states["reasons"]["blocked"] == answer["urls_decided"]
    assert states["queued"] == states["leased"] == 0


def test_a_host_alone_means_its_servers_of_http_and_https(tmp_path: Path) -> None:
    told = command("frontier", "block", "www.Example.org", "--json", folder=tmp_path)

    assert json.loads(told.out)["blocked"] == ["http://www.example.org", "https://www.example.org"]


@pytest.mark.slow
def test_what_is_no_server_is_one_clear_line(tmp_path: Path) -> None:
    told = command("frontier", "block", "http://", folder=tmp_path)

    assert "is not a server: write http://host" in told.err
    assert told.status == 2


@pytest.mark.parametrize("page", ["http://a.example/", "http://a.example/page", "a.example?q", "a.example#x"])
def test_a_page_is_refused_and_its_server_stays(page: str) -> None:
    with pytest.raises(BadInput, match=r"is not a server but a page.*`webcrawler remove` is for pages"):
        servers_named(page)
