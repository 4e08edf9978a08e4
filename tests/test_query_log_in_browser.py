"""What a real browser reports of opened results: by pings without scripts, by beacons, and after typing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import chromium_browser, opened, served
from localweb import Site, page, sites
from playwright.sync_api import Browser, Page
from searched import entry, publish
from waiting import until

from webcrawler.usage import NAME, figures

pytestmark = pytest.mark.browser

PROSE = "harbour pilots steer ships past the lighthouse into the harbour " * 3


@pytest.fixture
def site() -> Iterator[Site]:
    with sites(site={f"/{number}": page() for number in range(5)} | {"/favicon.ico": page()}) as found:
        yield found["site"]


@pytest.fixture
def crawl_dir(tmp_path: Path, site: Site) -> Path:
    publish(tmp_path, [entry((f"{site.url}/{number}", f"Harbour {number}", PROSE)) for number in range(5)])
    return tmp_path


@pytest.fixture
def logging_address(crawl_dir: Path) -> Iterator[str]:
    """The address of a server that keeps a log of queries."""
    with served(crawl_dir, QUERY_LOG_DAYS="7") as address:
        yield address


def open_second(shown: Page, site: Site) -> None:
    shown.locator(".hit h2 a").nth(1).click()
    shown.wait_for_url(f"{site.url}/*")


@pytest.mark.parametrize(
    "arguments, scripts", [([], False), (["--no-pings"], True), ([], True)], ids=["ping", "beacon", "both"]
)
def test_an_opened_result_is_reported_once_with_and_without_scripts(
    crawl_dir: Path, logging_address: str, site: Site, arguments: list[str], scripts: bool
) -> None:
    with (
        chromium_browser(*arguments) as browser,
        opened(browser, logging_address, site.url, java_script_enabled=scripts) as shown,
    ):
        shown.goto("/search?q=harbour")
        open_second(shown, site)
        wait_for_clicks(crawl_dir)

    found = figures(crawl_dir, 10)
    assert found["asked"] == [{"query": "harbour", "times": 1, "clicks": 1}]
    assert [one["clicks"] for one in found["ranks"]] == [0, 1, 0, 0, 0]


def test_what_was_typed_is_one_query_and_half_words_are_none(
    crawl_dir: Path, logging_address: str, site: Site, chromium: Browser
) -> None:
    with opened(chromium, logging_address, site.url) as shown:
        shown.goto("/")
        for typed in ("har", "harb", "harbour"):
            with shown.expect_response(lambda response: "/search?" in response.url):
                shown.locator("#q").fill(typed)
            shown.wait_for_function("q => location.search.includes('q=' + q)", arg=typed)
        open_second(shown, site)
        wait_for_clicks(crawl_dir)

    assert figures(crawl_dir, 10)["asked"] == [{"query": "harbour", "times": 1, "clicks": 1}]


def test_box_in_a_page_of_another_site_reports_what_was_looked_at_or_opened(
    crawl_dir: Path, site: Site, chromium: Browser
) -> None:
    with (
        served(crawl_dir, QUERY_LOG_DAYS="7", SERVE_ORIGINS=site.url) as address,
        opened(chromium, site.url, address) as shown,
    ):
        site.routes["/docs"] = page(f'<script src="{address}/static/box.js"></script>')
        shown.goto("/docs")
        box, hits = shown.get_by_role("searchbox"), shown.locator("site-search ol > li")
        for typed in ("harb", "pilots", "ships"):
            with shown.expect_response(lambda response: "/api/search?" in response.url):
                box.fill(typed)
            if typed == "pilots":
                hits.nth(4).wait_for()
                with shown.expect_response("**/used?*"):
                    box.blur()
        hits.nth(1).get_by_role("link").first.click()
        shown.wait_for_url(f"{site.url}/*")
        wait_for_clicks(crawl_dir)

        shown.goto("/docs")
        box.fill("lighthouse")
        hits.nth(4).wait_for()
        box.press("Enter")
        shown.wait_for_url(f"{address}/search?q=lighthouse")

    asked = {one["query"]: (one["times"], one["clicks"]) for one in figures(crawl_dir, 10)["asked"]}
    assert asked == {"pilots": (1, 0), "ships": (1, 1), "lighthouse": (1, 0)}


def test_nothing_is_sent_by_default(crawl_dir: Path, site: Site, chromium: Browser) -> None:
    with served(crawl_dir) as address, opened(chromium, address, site.url) as shown:
        sent = list[str]()
        shown.on("request", lambda request: sent.append(request.url))
        shown.goto("/search?q=harbour")
        open_second(shown, site)

    assert not [url for url in sent if "/used" in url]
    assert not (crawl_dir / NAME).exists()


def wait_for_clicks(crawl_dir: Path) -> None:
    """The browser sends reports after the page was left, and the server writes once a second."""
    until(lambda: any(one["clicks"] for one in figures(crawl_dir, 0)["ranks"]), "a report")
