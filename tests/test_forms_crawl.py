"""Crawls that fill in search forms: of a catalogue whose records no link leads to."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import failpoints
import pytest
from hiddenweb import Catalogue, Record, catalogue, library, oracle
from localweb import Answer, Crawled, Site, crawl, page, robots, sites
from waiting import until

from webcrawler.crawl import wiring
from webcrawler.frontier import Again, Done, Failed, Frontier, inspect
from webcrawler.job import seed_link

WITH_TEXTS = json.dumps(wiring.SETTINGS["ITEM_PIPELINES"])
FORM = "<form action=/search><input name=q></form>"


def asking(folder: Path, url: str, *arguments: str, forms: str = "", **settings: object) -> Crawled:
    """A crawl that fills in the forms of a site, unless told otherwise."""
    given = {"ITEM_PIPELINES": WITH_TEXTS, "BATCH_SECONDS": 0.1, "LOG_LEVEL": "INFO", **settings}
    return crawl(folder, "index", "-a", f"seeds={url}/", *arguments, FORMS=forms or url, **given)


def records(number: int) -> list[Record]:
    """Abstracts of one collection, which has its own vocabulary."""
    return library(5000)[3204 : 3204 + number]


@pytest.fixture(scope="module")
def papers() -> Iterator[Catalogue]:
    with catalogue(records(150), pages=3) as opened:
        yield opened


@pytest.fixture(scope="module")
def crawled(papers: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    return asking(tmp_path_factory.mktemp("crawl"), papers.url)


@pytest.mark.slow
def test_records_that_only_the_form_finds_are_fetched(crawled: Crawled, papers: Catalogue) -> None:
    assert crawled.status == 0, crawled.log
    assert len(papers.fetched) >= 140


@pytest.mark.slow
def test_nine_records_of_ten_take_at_most_twice_the_queries_of_an_oracle(
    crawled: Crawled, papers: Catalogue
) -> None:
    wanted = 0.9 * len(papers.index.records)

    assert (papers.queries_for(wanted) or 150) <= 2 * len(oracle(papers.index.answers(), wanted))


@pytest.mark.slow
def test_each_word_is_asked_once(crawled: Crawled, papers: Catalogue) -> None:
    assert set(first_pages(papers.paths).values()) == {1}


@pytest.mark.slow
def test_further_pages_of_results_are_followed(crawled: Crawled, papers: Catalogue) -> None:
    assert any("page=3" in path for path in papers.paths)


@pytest.mark.slow
def test_form_is_in_the_catalog_and_was_not_asked_for_nothing(crawled: Crawled, papers: Catalogue) -> None:
    assert (f"{papers.url}/", f"{papers.url}/search?q=", "form") in crawled.edges()
    assert "" not in papers.asked


@pytest.mark.slow
def test_queries_are_counted(crawled: Crawled, papers: Catalogue) -> None:
    assert f"'webcrawler/forms/queries': {len(papers.asked)}" in crawled.log
    assert f"asked {papers.url}/search for {len(papers.asked)} words" in crawled.log


@pytest.mark.slow
def test_next_crawl_asks_nothing_again(crawled: Crawled, papers: Catalogue) -> None:
    before = len(papers.paths)

    again = asking(crawled.folder, papers.url)

    assert again.status == 0, again.log
    assert set(papers.paths[before:]) <= {"/robots.txt"}


def first_pages(paths: Sequence[str]) -> Counter[str]:
    """How often the first results for each word were asked for."""
    queries = (dict(parse_qsl(urlsplit(path).query)) for path in paths if path.startswith("/search"))
    return Counter(query["q"] for query in queries if "page" not in query)


@pytest.mark.slow
def test_crawl_that_was_killed_goes_on_with_other_words(tmp_path: Path) -> None:
    with catalogue(records(60), pages=2) as site:
        amid = {"process": "is killed", "variables": failpoints.environment("download.after:kill:45")}
        killed = asking(tmp_path, site.url, FRONTIER_DELAY=0.02, **amid)
        assert killed.status == -signal.SIGKILL, killed.log
        documents = Crawled(tmp_path, 0, "").documents()
        known = first_pages([url.removeprefix(site.url) for url in documents])
        before = len(site.asked)

        found = asking(tmp_path, site.url)

        asked = first_pages(site.paths)
        assert found.status == 0, found.log
        assert len(site.fetched) >= 54
        assert len(site.asked) > before
        assert {asked[word] for word in known} == {1}  # what was durable is not asked again
        assert sum(asked.values()) <= len(asked) + 1  # of the rest, the one that was on its way


def hidden(**routes: Any) -> dict[str, Any]:
    home = Answer(f"<title>A library of apples and pears</title><p>Apples, pears and trees</p>{FORM}")
    return {"/": home, "*": lambda _: page("/found"), **routes}


@pytest.fixture
def site() -> Iterator[Site]:
    with sites(a=hidden()) as opened:
        yield opened["a"]


def queries(site: Site) -> list[str]:
    return [path for path in site.asked if path.startswith("/search")]


@pytest.mark.slow
def test_no_form_is_filled_in_unless_its_site_is_named(site: Site, tmp_path: Path) -> None:
    crawl(tmp_path, "index", "-a", f"seeds={site.url}/", ITEM_PIPELINES=WITH_TEXTS)

    assert site.pages == ["/"]


@pytest.mark.slow
def test_site_without_a_form_is_crawled_as_ever(site: Site, tmp_path: Path) -> None:
    site.routes = {"/": page("/one"), "*": page()}

    found = asking(tmp_path, site.url)

    assert found.status == 0, found.log
    assert site.pages == ["/", "/one"]


@pytest.mark.slow
def test_several_agents_ask_each_word_once(site: Site, tmp_path: Path) -> None:
    found = asking(tmp_path, site.url, "-a", "agents=2")

    assert found.status == 0, found.log
    assert set(Counter(queries(site)).values()) == {1}


@pytest.mark.slow
def test_form_on_the_last_page_is_asked_also_where_another_agent_has_fetched_it(tmp_path: Path) -> None:
    log, turns = tmp_path / "log", count()

    def home(_: Site) -> Answer:
        if next(turns):
            until(lambda: "asked http" in log.read_text(), "the other form to be exhausted")
        return hidden()["/"]

    with sites(a=hidden(**{"/": home}), b=hidden(**{"/": home})) as opened:
        both = ",".join(f"{site.url}/" for site in opened.values())
        named = ",".join(site.url for site in opened.values())
        seeds = ("index", "-a", f"seeds={both}", "-a", "agents=2")
        given = {"ITEM_PIPELINES": WITH_TEXTS, "BATCH_SECONDS": 0.1, "CONCURRENT_REQUESTS": 1, "FORMS": named}
        found = crawl(tmp_path / "crawl", *seeds, LOG_FILE=log, LOG_LEVEL="INFO", FORMS_MAX=1, **given)

        assert found.status == 0, log.read_text()
        assert queries(opened["a"]) and queries(opened["b"])


@pytest.mark.slow
def test_form_that_asks_another_site_is_left_alone(site: Site, tmp_path: Path) -> None:
    with sites(other={"*": page()}) as opened:
        foreign = FORM.replace("/search", f"{opened['other'].url}/search")
        site.routes["/"] = Answer(f"<title>Apples</title>{foreign}")

        asking(tmp_path, site.url)

        assert opened["other"].asked == []


@pytest.mark.slow
def test_robots_txt_holds_for_queries(site: Site, tmp_path: Path) -> None:
    site.routes["/robots.txt"] = robots("User-agent: *", "Disallow: /search")

    found = asking(tmp_path, site.url)

    assert queries(site) == []
    assert "'webcrawler/failed/robots-disallowed'" in found.log


@pytest.mark.slow
def test_scope_holds_for_queries(site: Site, tmp_path: Path) -> None:
    asking(tmp_path, site.url, "-a", f"exclude={site.url}/search*")

    assert queries(site) == []


@pytest.mark.slow
def test_no_more_words_are_asked_than_permitted(site: Site, tmp_path: Path) -> None:
    for _ in range(2):
        asking(tmp_path, site.url, FORMS_MAX=2)

    assert len(queries(site)) == 2


@pytest.mark.slow
def test_forms_of_a_site_share_its_bound(site: Site, tmp_path: Path) -> None:
    both = FORM + FORM.replace("/search", "/search2") + FORM.replace("/search", "/search3")
    site.routes["/"] = Answer(f"<title>Apples, pears, trees and plums</title>{both}")

    asking(tmp_path, site.url, FORMS_MAX=1)

    assert len(queries(site)) == 2


def test_pattern_that_is_none_is_told_in_one_line(tmp_path: Path) -> None:
    found = asking(tmp_path, "http://127.0.0.1:1", forms="http://[")

    assert found.status == 2
    assert "is not a pattern of URLs" in found.log


def test_url_waits_until_it_is_decided(frontier: Frontier) -> None:
    frontier.discover(map(seed_link, ("http://a.example/1", "http://a.example/2", "http://b.example/")))
    assert inspect.waiting(frontier, "http://a.example") == 2

    found = frontier.lease(3).leases
    assert inspect.waiting(frontier, "http://a.example") == 2

    frontier.fail([Failed(lease, "failed/not-found", False) for lease in found])
    assert inspect.waiting(frontier, "http://a.example") == 0


def test_check_that_is_not_due_does_not_wait(frontier: Frontier) -> None:
    frontier.discover([seed_link("http://a.example/")])
    frontier.complete([Done(lease, "document", True, [], {}) for lease in frontier.lease(1).leases])
    frontier.again([Again("http://a.example/", "done/document")])

    assert inspect.waiting(frontier, "http://a.example") == 0


@pytest.mark.deep("its figures stand in the docs; the tests above have its rules on smaller forms")
@pytest.mark.timeout(3600)
def test_of_five_thousand_records_too(tmp_path: Path) -> None:
    some = library(5000)
    with catalogue(some, pages=20) as site:
        best = len(oracle(site.index.answers(), 0.9 * len(some)))

        asking(tmp_path, site.url, FORMS_MAX=2 * best, seconds=3400)

        assert (site.queries_for(0.9 * len(some)) or 10**6) <= 2 * best
