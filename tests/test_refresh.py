"""A collection that lives: pages come again, what is gone leaves, what is new is found; real crawls."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from inprocess import command
from localweb import PROJECT, Answer, Crawled, Site, copy_at_rest, crawl, robots, sites
from test_catalog import number_of

from webcrawler.archive.catalog import Catalog
from webcrawler.clock import now
from webcrawler.connection import connect
from webcrawler.crawl import wiring
from webcrawler.frontier import Frontier, ordering
from webcrawler.refresh.admission import Admission
from webcrawler.refresh.collection import Collection
from webcrawler.refresh.refresher import schedule_of
from webcrawler.search import Searcher
from webcrawler.settings import SETTINGS
from webcrawler.urls import NO_SUCH_PAGE

pytestmark = pytest.mark.slow

ALL = ["", "a", "b", "c", "d"]
HOW_TO = PROJECT / "docs" / "how-to" / "search-engine-for-my-sites.md"
INDEXED = json.dumps(wiring.SETTINGS["ITEM_PIPELINES"])
FAST = {"REFRESH_GONE": 0, "FRONTIER_DELAY": 0, "ADDRESSES_ALLOWED": "127.0.0.1/32", "FRONTIER_BACKOFF": 0.05}


@dataclass
class Page:
    """A page of a web that changes; its text has a word that names it and its version."""

    links: list[str]
    version: int = 1
    changed: float = 1_790_000_000.0

    def text(self, name: str) -> str:
        links = "".join(f'<a href="{link}">to {link}</a> ' for link in self.links)
        return f"<!doctype html><title>Page {name}</title><p>word{name}v{self.version} {links}</p>"


@dataclass
class LivingSite:
    """A site with true ETags, that answers 304 to who has the page already."""

    site: Site
    pages: dict[str, Page] = field(
        default_factory=lambda: {"": Page(list("abcd"))} | {n: Page([]) for n in "abcd"}
    )
    status: dict[str, int] = field(default_factory=dict)  # of paths that are not answered 200
    etags: bool = True
    missing: int = 404  # what is answered for other paths
    missing_page: bool = False  # the home page is

    def __post_init__(self) -> None:
        self.site.routes = {"*": self._answer}

    def _answer(self, site: Site) -> Answer:
        received = site.request
        path = received.path.strip("/")
        if self.missing_page and path not in self.pages:
            path = ""
        if path in self.status or path not in self.pages:
            kind = "text/html" if self.missing == 200 else "text/plain"
            return Answer("Sorry, nothing is here.", self.status.get(path, self.missing), kind=kind)
        page = self.pages[path]
        etag = f'"{page.version}"'
        if self.etags and received.headers.get("If-None-Match") == etag:
            return Answer(status=304, headers={"ETag": etag})
        headers = {"ETag": etag, "Last-Modified": formatdate(page.changed, usegmt=True)} if self.etags else {}
        return Answer(page.text(path or "home"), headers=headers)

    @property
    def asked(self) -> list[str]:
        paths = [path.strip("/") for path in self.site.pages]
        return [path for path in paths if not path.endswith(NO_SUCH_PAGE)]


@pytest.fixture(scope="module")
def server() -> Iterator[Site]:
    with sites(site={}) as opened:
        yield opened["site"]


@pytest.fixture
def living(server: Site) -> LivingSite:
    return LivingSite(server)


@pytest.fixture(scope="module")
def first_crawl(server: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return once(tmp_path_factory.mktemp("first") / "crawl", LivingSite(server)).folder


@pytest.fixture(scope="module")
def first_check(server: Site, first_crawl: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = copy_at_rest(first_crawl, tmp_path_factory.mktemp("check") / "crawl")
    return once(folder, LivingSite(server), "-a", "refresh=once").folder


@pytest.fixture
def crawled(first_crawl: Path, living: LivingSite, tmp_path: Path) -> Path:
    """All five pages are documents."""
    return copy_at_rest(first_crawl, tmp_path / "crawl")


@pytest.fixture
def checked(first_check: Path, living: LivingSite, tmp_path: Path) -> Path:
    """The same, after each was checked once; the server was asked for a path that cannot exist."""
    return copy_at_rest(first_check, tmp_path / "crawl")


def night(tmp_path: Path, living: LivingSite) -> Crawled:
    """Run the command of the timer that the how-to describes, as the owner of this site would write it."""
    line = re.search(r"^ExecStart=\S+/webcrawler (crawl .*)$", HOW_TO.read_text("utf-8"), re.MULTILINE)
    assert line
    told = line[1].replace("@seeds.txt", living.site.url).replace("example.org,example.com", "127.0.0.1")
    living.site.asked.clear()
    ended = command(*shlex.split(told), folder=tmp_path, **FAST)
    return Crawled(tmp_path, ended.status, ended.err)


def found(tmp_path: Path, words: str) -> set[str]:
    return {hit.url.rpartition("/")[2] for hit in Searcher(tmp_path, deadline_seconds=60).search(words).hits}


def test_the_story_of_a_site_that_changes_and_is_crawled_every_night(
    tmp_path: Path, living: LivingSite
) -> None:
    night(tmp_path, living)
    assert found(tmp_path, "wordav1") == {"a"}

    living.pages |= {"": Page([*"abcd", "new"], version=2), "a": Page([], version=2), "new": Page([])}
    del living.pages["b"]
    living.status["c"] = 410
    second = night(tmp_path, living)

    assert second.status == 0
    assert "checked 5 documents: 2 changed, 1 gone, 1 missing, 1 unchanged; 1 new" in second.log
    assert sorted(living.asked) == ["", "a", "b", "c", "d", "new"]
    assert found(tmp_path, "wordav2") == {"a"}
    assert found(tmp_path, "wordav1") == set()
    assert found(tmp_path, "wordnewv1") == {"new"}
    assert found(tmp_path, "wordcv1") == set()  # 410: at once

    third = night(tmp_path, living)
    assert found(tmp_path, "wordbv1") == set()  # 404: the second time
    assert found(tmp_path, "worddv1") == {"d"}
    states = third.frontier["states"]
    assert states["seen"] == states["done"] + states["failed"] == 7  # with the path that cannot exist


def test_a_night_in_which_nothing_changed_indexes_nothing(tmp_path: Path, living: LivingSite) -> None:
    night(tmp_path, living)
    changes = last_change(tmp_path)

    second = night(tmp_path, living)

    assert sorted(living.asked) == ALL
    assert last_change(tmp_path) == changes
    assert second.frontier["states"]["reasons"] == {"document": 5, "not-found": 1}


def last_change(tmp_path: Path) -> int:
    return Crawled(tmp_path, 0, "")._catalog.last_seq()


def once(tmp_path: Path, living: LivingSite, *arguments: str, **settings: Any) -> Crawled:
    living.site.asked.clear()
    return crawl(tmp_path, "index", "-a", f"seeds={living.site.url}", *arguments, **{**FAST, **settings})


def test_without_refresh_nothing_is_fetched_again_and_the_crawl_says_what_can_be_checked(
    crawled: Path, living: LivingSite
) -> None:
    after = once(crawled, living)

    assert living.asked == []
    assert "nothing new to fetch; 5 documents can be checked: -a refresh=once" in after.log


def test_max_pages_counts_checks_and_new_documents_alike_and_the_pass_goes_on_next_time(
    crawled: Path, living: LivingSite
) -> None:
    first = once(crawled, living, "-a", "refresh=once", "-a", "max_pages=3")
    asked = list(living.asked)
    second = once(crawled, living, "-a", "refresh=once", "-a", "max_pages=3")

    assert "going on with the checks of" not in first.log
    assert re.search(r"going on with the checks of \d\d \w+ \d\d:\d\d UTC: 2 left", second.log)
    assert (len(asked), len(living.asked)) == (3, 2)
    assert sorted(asked + living.asked) == ALL
    assert first.frontier["states"]["seen"] == 6


def test_checks_come_before_what_is_new(tmp_path: Path, living: LivingSite) -> None:
    once(tmp_path, living, "-a", "max_pages=3")
    before = set(living.asked)

    once(tmp_path, living, "-a", "refresh=once", "-a", "max_pages=3")

    assert set(living.asked) == before


def test_pages_that_fail_on_their_last_try_stay_and_are_known_to_fail(
    crawled: Path, living: LivingSite
) -> None:
    living.status = {"": 500, "a": 503, "b": 500, "c": 403}

    after = once(crawled, living, "-a", "refresh=once", FRONTIER_TRIES=2)

    assert len(after.documents()) == 5
    assert after.frontier["states"]["reasons"] == {"document": 5, "not-found": 1}
    assert "'webcrawler/checked/failed': 4" in after.log
    catalog = Catalog(crawled / "catalog.sqlite", readonly=True)
    failing = {number_of(catalog, f"{living.site.url}/{path}") for path in living.status}
    assert {number for number, _ in catalog.checks.at_risk()} == failing


def test_a_page_without_validators_is_fetched_whole_and_still_changes_nothing(
    tmp_path: Path, living: LivingSite
) -> None:
    living.etags = False
    once(tmp_path, living)
    changes = last_change(tmp_path)

    after = once(tmp_path, living, "-a", "refresh=once")

    assert "'webcrawler/checked/unchanged': 5" in after.log
    assert last_change(tmp_path) == changes


@pytest.mark.parametrize("mode", ["breadth", "backlink", "fifo"])
def test_links_that_a_check_finds_are_followed_in_the_same_run(
    tmp_path: Path, living: LivingSite, mode: str
) -> None:
    once(tmp_path, living, "-a", f"mode={mode}")
    living.pages["a"] = Page(["new"], version=2)
    living.pages["new"] = Page(["newer"])
    living.pages["newer"] = Page([])

    after = once(tmp_path, living, "-a", "refresh=once")

    assert {"new", "newer"} <= set(living.asked)
    assert len(after.documents()) == 7


def test_only_checks_are_made_with_refresh_only(tmp_path: Path, living: LivingSite) -> None:
    once(tmp_path, living, "-a", "max_pages=3")
    before = set(living.asked)

    after = once(tmp_path, living, "-a", "refresh=only", "-a", "max_pages=2", REFRESH_AT_MOST=0)

    assert len(living.asked) >= 2
    assert set(living.asked) <= before
    assert len(after.documents()) == 3


def test_with_refresh_yes_both_go_on_until_a_bound_is_reached(tmp_path: Path, living: LivingSite) -> None:
    once(tmp_path, living, "-a", "max_pages=2")

    after = once(tmp_path, living, "-a", "refresh=yes", "-a", "max_pages=12", REFRESH_AT_MOST=0)

    assert len(after.documents()) == 5
    assert len(living.asked) == 12


def test_a_wrong_word_is_one_line(tmp_path: Path) -> None:
    after = crawl(tmp_path, "index", "-a", "refresh=daily")

    assert after.status == 2
    assert after.log.strip() == "error: refresh='daily' is not valid: choose one of no, once, yes, only"


def test_what_only_the_sitemap_names_is_found_by_a_later_pass(tmp_path: Path, living: LivingSite) -> None:
    def urls(site: Site) -> Answer:
        entries = "".join(f"<url><loc>{site.url}/{name}</loc></url>" for name in living.pages)
        return Answer(f"<urlset>{entries}</urlset>", kind="application/xml")

    living.site.routes["/sitemap.xml"] = urls
    living.site.routes["/robots.txt"] = robots(f"Sitemap: {living.site.url}/sitemap.xml")
    bounded = ("-a", "domains=127.0.0.1")
    once(tmp_path, living, *bounded)
    living.pages["unlinked"] = Page([])

    after = once(tmp_path, living, *bounded, "-a", "refresh=once")

    assert "sitemap.xml" in living.asked
    assert f"{living.site.url}/unlinked" in after.documents()
    assert after.frontier["states"]["reasons"] == {"document": 6, "sitemap": 1, "not-found": 1}


def again(tmp_path: Path, what: str) -> str:
    answered = command("frontier", "again", what, folder=tmp_path)
    assert answered.status == 0, answered.err
    return answered.out


@pytest.mark.parametrize(("what", "asked"), [("/a", ["a"]), ("", ALL), ("/", [""]), ("/*", ALL), ("/x*", [])])
def test_pages_are_queued_again_by_url_server_or_pattern(
    crawled: Path, living: LivingSite, what: str, asked: list[str]
) -> None:
    out = again(crawled, living.site.url + what)
    after = once(crawled, living)

    assert re.search(rf"queued +{len(asked)}$", out, re.MULTILINE)
    assert sorted(living.asked) == asked
    assert after.frontier["states"]["reasons"] == {"document": 5}


def test_a_pass_lasts_until_its_last_check_is_made(checked: Path, living: LivingSite) -> None:
    """Else a crawl that is killed before would begin another one."""
    defaults = {name: setting.default for name, setting in SETTINGS.items()}
    with connect(None, checked) as opened, closing(Catalog(checked / "catalog.sqlite")) as catalog:
        frontier = Frontier(opened.client, ordering("fifo"))
        frontier.refresh = f"once {now()}"
        collection = Collection(catalog, checked, schedule_of(defaults))
        admission = Admission(collection, catalog, frontier, 0.3, 0)

        admission.step()
        admission.step()  # nothing is left to queue

        assert frontier.checks() == 5
        assert frontier.refresh.startswith("once ")


def test_a_page_that_becomes_a_soft_404_leaves_the_second_time(tmp_path: Path, living: LivingSite) -> None:
    living.missing = 200
    once(tmp_path, living, ITEM_PIPELINES=INDEXED)
    del living.pages["b"]

    first, second = [once(tmp_path, living, "-a", "refresh=once", ITEM_PIPELINES=INDEXED) for _ in range(2)]

    assert "'webcrawler/checked/missing': 1" in first.log
    assert "'webcrawler/checked/gone': 1" in second.log
    assert {url.rpartition("/")[2] for url in second.documents()} == {"", "a", "c", "d"}
    assert second.frontier["states"]["reasons"] == {"document": 4, "probe": 1, "not-found": 1}


def test_a_page_that_always_said_what_stands_for_not_found_stays(tmp_path: Path, living: LivingSite) -> None:
    """As pages do that a program in the browser would fill."""
    living.missing = 200
    living.pages[""].links.append("shell")
    once(tmp_path, living, ITEM_PIPELINES=INDEXED)

    for _ in range(3):
        after = once(tmp_path, living, "-a", "refresh=once", ITEM_PIPELINES=INDEXED)

    assert f"{living.site.url}/shell" in after.documents()


def test_a_page_that_was_checked_and_removed_and_let_in_again_is_counted_once(
    checked: Path, living: LivingSite
) -> None:
    for undo in ((), ("--undo",)):
        assert command("remove", f"{living.site.url}/*", *undo, folder=checked).status == 0

    after = once(checked, living)

    assert after.frontier["states"]["reasons"] == {"document": 5, "not-found": 1}


def test_a_gone_page_that_was_removed_does_not_keep_a_pass_going(crawled: Path, living: LivingSite) -> None:
    living.status = {"a": 410}
    once(crawled, living, "-a", "refresh=once")
    with closing(sqlite3.connect(crawled / "catalog.sqlite")) as db, db:
        db.execute("UPDATE gone SET since = 0")
    assert command("remove", f"{living.site.url}/a", folder=crawled).status == 0

    after = once(crawled, living, "-a", "refresh=once")

    assert after.status == 0


def test_the_home_page_is_no_soft_404_where_it_stands_for_all_that_is_missing(
    tmp_path: Path, living: LivingSite
) -> None:
    once(tmp_path, living, ITEM_PIPELINES=INDEXED)
    living.pages[""].version = 2
    living.missing_page = True

    for _ in range(2):
        after = once(tmp_path, living, "-a", "refresh=once", ITEM_PIPELINES=INDEXED)

    assert f"{living.site.url}/" in after.documents()


def test_a_pass_whose_refresher_cannot_work_ends_and_the_next_goes_on(
    crawled: Path, living: LivingSite, tmp_path: Path
) -> None:
    fails = "import sys\nif 'webcrawler.views' in ' '.join(sys.orig_argv): raise SystemExit('it fails')\n"
    (tmp_path / "sitecustomize.py").write_text(fails)
    broken = {"process": "its views fail at their start", "variables": {"PYTHONPATH": tmp_path}}

    failed = once(crawled, living, "-a", "refresh=once", **broken)
    checked = once(crawled, living, "-a", "refresh=once")

    assert failed.status == 1
    assert "the process that derives views fails again and again" in failed.log
    assert sorted(living.asked) == ALL
    assert "checked 5 documents: 5 unchanged" in checked.log
