"""`webcrawler remove`: what the owner takes out is neither found nor fetched, until that is undone."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conftest import Run
from inprocess import command
from localweb import WITHOUT_INDEX, Answer, Crawled, Site, copy_at_rest, crawl, redirect, scrapy, sites
from waiting import until

WITH_INDEX = json.dumps(json.loads(WITHOUT_INDEX) | {"pipelines.fulltext.FullTextPipeline": 400})


class Collection(NamedTuple):
    folder: Path
    site: Site

    def crawl(self, *arguments: str) -> Crawled:
        return crawl(self.folder, "index", *arguments, ITEM_PIPELINES=WITH_INDEX)

    def run(self, *arguments: str) -> tuple[int, str, str]:
        return command(*arguments, folder=self.folder)

    def ask(self, *arguments: str) -> Any:
        status, out, told = self.run(*arguments, "--json")
        assert status == 0, told
        return json.loads(out)

    def url(self, path: str) -> str:
        return self.site.url + path

    def found(self, query: str = "armadillo") -> set[str]:
        hits = self.ask("search", query, "-n", "50")["hits"]
        return {hit["url"].removeprefix(self.site.url) for hit in hits}


def told(path: str, *links: str) -> Answer:
    anchors = "".join(f'<a href="{link}">armadillo of {link}</a> ' for link in links)
    return Answer(f"<title>{path}</title><p>The armadillo of {path} sleeps in its burrow. {anchors}")


DOCS = [f"/docs/{n}" for n in range(6)]
PAGES = ["/", "/about", *DOCS]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    routes = {path: told(path, *PAGES) for path in PAGES}
    with sites(site=routes) as opened:
        made = Collection(tmp_path_factory.mktemp("removing") / "crawl", opened["site"])
        made.crawl("-a", f"seeds={made.url('/')}")
        made.run("report")  # until the index has caught up
        yield made


@pytest.fixture
def collection(crawled: Collection, tmp_path: Path) -> Collection:
    """A site, crawled to its end and indexed."""
    return Collection(copy_at_rest(crawled.folder, tmp_path / "crawl"), crawled.site)


@pytest.mark.slow
def test_a_removed_page_leaves_the_search_and_stays_away_until_it_is_undone(collection: Collection) -> None:
    page = collection.url("/docs/1")
    assert collection.found() == set(PAGES)

    answer = collection.ask("remove", page)

    assert answer == {"patterns": [page], "urls": 1, "documents": 1, "urls_decided": 0}
    assert collection.found() == set(PAGES) - {"/docs/1"}
    assert collection.found('"armadillo of /docs/1"') <= set(PAGES) - {"/docs/1"}  # by what others call it
    assert collection.found(f"link:{page}") == set(PAGES) - {"/docs/1"}

    # Neither a crawl that has lost its frontier, nor an index that is built anew, brings it back.
    collection.ask("frontier", "clear")
    asked = len(collection.site.asked)
    collection.crawl("-a", f"seeds={collection.url('/')},{page}")
    assert "/docs/1" not in collection.site.asked[asked:]
    assert collection.run("reindex")[0] == 0
    assert collection.found() == set(PAGES) - {"/docs/1"}
    assert collection.ask("frontier", "explain", page)["refused"] == "removed"

    undone = collection.ask("remove", page, "--undo")
    assert (undone["undone"], undone["urls_queued"]) == (1, 1)
    collection.crawl()
    collection.run("report")
    assert collection.found() == set(PAGES)
    states = collection.ask("frontier", "stats")
    assert states["reasons"] == {"document": len(PAGES)}


@pytest.mark.slow
def test_a_dry_run_only_counts(collection: Collection) -> None:
    below = collection.url("/docs/*")

    assert collection.ask("remove", below, "--dry-run") == {"patterns": [below], "urls": 6, "documents": 6}
    assert collection.found() == set(PAGES)
    assert not (collection.folder / "scope.json").exists()


@pytest.mark.slow
def test_what_it_does_is_said_before(collection: Collection) -> None:
    status, out, told = collection.run("remove", collection.url("/docs/*"))

    assert (status, told) == (0, "removing 6 documents of 6 known URLs …\n")
    assert "documents            6" in out
    assert collection.found() == {"/", "/about"}


@pytest.mark.slow
def test_what_waits_is_decided_and_the_states_add_up(tmp_path: Path) -> None:
    routes = {path: told(path, *PAGES) for path in PAGES}
    with sites(site=routes) as opened:
        half = Collection(tmp_path / "crawl", opened["site"])
        half.crawl("-a", f"seeds={half.url('/')}", "-a", "max_pages=1")

        answer = half.ask("remove", half.url("/docs/*"))
        states = half.ask("frontier", "stats")

        assert answer["urls_decided"] == 6
        assert states["reasons"]["removed"] == 6
        assert states["seen"] == sum(states[s] for s in ("queued", "leased", "done", "failed", "quarantined"))

        half.crawl()
        assert half.site.pages == ["/", "/about"]


@pytest.mark.slow
def test_links_and_redirects_to_a_removed_page_are_refused(tmp_path: Path) -> None:
    routes = {"/": told("/", "/gone", "/moved"), "/moved": redirect("/gone"), "/gone": told("/gone")}
    with sites(site=routes) as opened:
        made = Collection(tmp_path / "crawl", opened["site"])
        assert made.ask("remove", made.url("/gone"))["documents"] == 0  # before anybody has seen it

        made.crawl("-a", f"seeds={made.url('/')}")

        assert made.site.pages == ["/", "/moved"]
        assert made.ask("frontier", "stats")["refused"] == {"removed": 2}


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((), "error: name what to remove: URL"),
        (("file:///etc/1",), "error: 'file:///etc/1' is not a pattern of URLs"),
        (("https://a.test/1", "--undo"), "error: https://a.test/1 was not removed"),
        (("@missing.txt",), "error: cannot read patterns from missing.txt"),
    ],
)
def test_wrong_usage_is_one_clear_line(run: Run, arguments: tuple[str, ...], line: str) -> None:
    status, _, told = run("remove", *arguments)

    assert status == 2
    assert [one[: len(line)] for one in told.splitlines()] == [line]


def test_a_page_below_a_removed_prefix_is_undone_with_that(tmp_path: Path, run: Run) -> None:
    assert run("remove", "https://a.test/docs/1").status == 0
    assert run("remove", "https://a.test/docs/*").status == 0

    status, _, told = run("remove", "https://a.test/docs/2", "--undo")
    assert status == 2
    assert "was not removed; scope.json has all that was" in told

    assert run("remove", "https://a.test", "--undo").status == 0
    assert json.loads((tmp_path / "crawl" / "scope.json").read_text())["removed"] == []


@pytest.mark.slow
def test_a_running_crawl_obeys_at_once(tmp_path: Path) -> None:
    pages = [f"/{kind}/{n}" for n in range(100) for kind in ("keep", "drop")]
    routes = {"/": told("/", "/keep/0"), **{path: told(path, *pages) for path in pages}}
    with sites(site=routes) as opened:
        made = Collection(tmp_path / "crawl", opened["site"])
        options = ("-sADDRESSES_ALLOWED=127.0.0.1/32", "-sFRONTIER_DELAY=0.5", "-sRANKER_ENABLED=no")
        crawling = scrapy("crawl", "index", *options, f"-aseeds={made.url('/')}", folder=made.folder)
        until(lambda: len(made.site.pages) >= 3, "pages", crawling)

        made.ask("remove", made.url("/drop/*"))

        asked = len(made.site.pages) + 1  # one more may be under way
        assert not [path for path in made.found() if path.startswith("/drop")]
        until(lambda: len(made.site.pages) >= asked + 5, "more pages", crawling)
        crawling.send_signal(signal.SIGINT)
        crawling.communicate(timeout=120)
        assert [path for path in made.site.pages[asked:] if path.startswith("/drop")] == []
        assert not [url for url in Crawled(made.folder, 0, "").documents() if "/drop" in url]


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_a_pattern_that_no_known_url_matches_says_what_patterns_look_like(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    made = Collection(tmp_path / "crawl", Site())

    status, _, told = made.run("remove", "https://a.test/docs", *options)

    assert status == 0  # it may be found later
    assert (
        "no known URL matches; https://example.org/page means one page, 'https://example.org/docs/*'" in told
    )
