"""The web searched now over the demo web, in a real browser: from the click to the list's end."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import barriers, opened, served
from hostile import PAYLOADS
from live import found
from live import journal as made
from localweb import Answer, share_demo_web, sites
from playwright.sync_api import Browser, Page, expect
from test_serve_command import serving
from waiting import until

from webcrawler.demo import DemoWeb
from webcrawler.realtime import journal
from webcrawler.realtime.journal import Writer

pytestmark = pytest.mark.browser

QUERY = "solar eclipse"
ASKED = "/search?q=solar+eclipse"
BUTTON = "Search the web now"
SLOWLY = """
from webcrawler.settings import *

CONCURRENT_REQUESTS = 1
DOWNLOAD_DELAY = 0.15
"""
HOSTILE = [text for text in PAYLOADS if text.isprintable()]
ACTIVE = "main :is(script, iframe, object, embed, img, math, [style], [onerror], [onload], [href^=java])"
NARROW = {"width": 320, "height": 640}


@pytest.fixture(scope="module")
def crawl_dir(demo_web: DemoWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return share_demo_web(demo_web, tmp_path_factory.mktemp("crawl"))


@pytest.fixture(scope="module")
def address(crawl_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its searches take a moment for each page, so that there is something to watch."""
    project = tmp_path_factory.mktemp("project")
    (project / "slowly.py").write_text(SLOWLY)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SCRAPY_SETTINGS_MODULE", "slowly")
        environment.setenv("PYTHONPATH", str(project), prepend=os.pathsep)
        with served(crawl_dir, ADDRESSES_ALLOWED="127.0.0.1/32") as address:
            yield address
    settled(crawl_dir)


@pytest.fixture
def page(chromium: Browser, address: str, crawl_dir: Path) -> Iterator[Page]:
    settled(crawl_dir)
    with opened(chromium, address) as page:
        yield page


def settled(crawl_dir: Path) -> None:
    """Waits until no search of an earlier test runs."""
    until(lambda: all(one["state"] == "finished" for one in journal.jobs(crawl_dir)), "their end")


def fetched(page: Page) -> int:
    return int(page.locator("#live-figures dd").first.inner_text())


def ended(page: Page) -> None:
    expect(page.locator("#live-state")).to_have_text(re.compile("^Ended"))


def search(page: Page, query: str, strategy: str = "breadth", keep: str = "similar", **limits: str) -> None:
    """By the form with all there is."""
    page.goto("/live")
    page.get_by_label("Words to search for").fill(query)
    page.locator(f"#live-{strategy}").check()
    for label, value in {"Similar pages wanted": "0", **limits}.items():
        page.get_by_label(label).fill(value)
    page.get_by_label("What stays in the index").select_option(keep)
    page.get_by_role("main").get_by_role("button", name=BUTTON).click()
    expect(page).to_have_url(re.compile(r"/live/\w+$"))


def test_click_streams_results_until_stopped(page: Page, crawl_dir: Path) -> None:
    page.goto(ASKED)
    expect(page.get_by_role("heading", level=2)).to_have_text("Nothing was crawled here yet")
    page.get_by_role("button", name=BUTTON).click()

    expect(page).to_have_url(re.compile(r"/live/\w+$"))
    page.evaluate("document.body.dataset.loaded = 'once'")
    found = page.locator("#live-list .hit")
    expect(found.first).to_be_visible()
    expect(page.locator("#live-list")).to_contain_text("just found")
    expect(page.locator("#live-list .via").first).to_contain_text(re.compile("^by (the|a) link"))
    before = fetched(page)
    expect(page.locator("#live-figures dd").first).not_to_have_text(str(before))
    assert page.evaluate("document.body.dataset.loaded") == "once"  # it is still the same page
    page.get_by_role("button", name="Stop").click()

    ended(page)
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    expect(found.first).to_be_visible()  # what was found stays
    (told,) = journal.jobs(crawl_dir)
    assert (told["query"], told["reason"]) == (QUERY, "stopped")
    assert page.locator("#live-list .hit").count() == min(len(told["hits"]), 100)


def test_focus_and_place_stay_while_the_list_changes(page: Page) -> None:
    search(page, "telescopes galaxies")
    expect(page.locator("#live-list .hit").nth(2)).to_be_visible()
    page.locator("#live-list .hit h2 a").first.focus()
    id = page.evaluate("document.activeElement.closest('.hit')?.id")  # the list may have changed just before
    at = page.evaluate("document.activeElement.getBoundingClientRect().top")
    before = fetched(page)
    expect(page.locator("#live-figures dd").first).not_to_have_text(str(before))

    assert page.evaluate("document.activeElement.closest('.hit')?.id") == id
    assert abs(page.evaluate("document.activeElement.getBoundingClientRect().top") - at) < 2
    page.get_by_role("button", name="Stop").click()
    ended(page)


def test_who_listens_is_told_the_end(page: Page) -> None:
    search(page, "comets", **{"Pages to fetch at most": "3"})
    ended(page)

    said = page.locator("#live-said")
    expect(said).to_have_attribute("aria-live", "polite")
    expect(said).to_have_text(re.compile(r"^Ended: .+ \d+ pages fetched, \d+ similar ones\.$"))


def test_a_running_search_shuts_nobody_out_and_who_has_the_focus_on_stop_is_led_to_the_reason(
    page: Page, crawl_dir: Path
) -> None:
    writer = Writer(crawl_dir, "focused")
    writer.write(made("focused"))
    page.goto("/live/focused")
    assert barriers(page) == []  # of a search that does not end meanwhile
    page.get_by_role("button", name="Stop").focus()
    writer.write(made("focused", state="finished", reason="enough"))
    writer.close()
    ended(page)

    assert page.evaluate("document.activeElement.id") == "live-state"


def test_page_that_loses_its_server_says_so_keeps_its_list_and_goes_on(
    chromium: Browser, tmp_path: Path
) -> None:
    writer = Writer(tmp_path, "j1")
    writer.write(made("j1"))
    with chromium.new_context() as context:
        page = context.new_page()
        state, hits = page.locator("#live-state"), page.locator("#live-list .hit")
        with serving(tmp_path) as (process, address):
            page.goto(f"{address}/live/j1")
            expect(state).to_have_text("Searching the web.")
            process.send_signal(signal.SIGTERM)
            expect(state).to_have_text("The connection is lost; trying again.")
            expect(hits).to_have_count(2)
        with serving(tmp_path, "--port", address.rpartition(":")[2]):
            expect(state).to_have_text("Searching the web.")
            expect(hits).to_have_count(2)
    writer.close()


def test_without_scripts_the_page_loads_itself_anew(chromium: Browser, address: str, crawl_dir: Path) -> None:
    settled(crawl_dir)
    with opened(chromium, address, java_script_enabled=False) as page:
        search(page, "supernovae")
        expect(page.locator("#live-list .hit").first).to_be_visible()
        before = fetched(page)
        expect(page.locator("#live-figures dd").first).not_to_have_text(str(before))
        page.get_by_role("button", name="Stop").click()
        ended(page)
        expect(page.locator("meta[http-equiv]")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_shut_nobody_out_and_fit_narrow_screens(
    chromium: Browser, address: str, crawl_dir: Path, scheme: str
) -> None:
    settled(crawl_dir)
    with opened(chromium, address, color_scheme=scheme, viewport=NARROW) as page:
        job = journal.jobs(crawl_dir)[0]["job"]
        for path in ("/live", f"/live/{job}", ASKED):
            page.goto(path)
            rules = barriers(page)
            wide = page.evaluate("document.documentElement.scrollWidth")

            assert (path, rules, wide) == (path, [], NARROW["width"])


def test_nothing_that_streams_in_is_active(page: Page, crawl_dir: Path) -> None:
    writer = Writer(crawl_dir, "hostile")
    writer.write(made("hostile", query=HOSTILE[0], hits=[]))
    page.goto("/live/hostile")
    hits = [
        found(n, text, url=text, snippet=text, via={"url": text, "title": text, "anchor": text}, source="web")
        for n, text in enumerate(HOSTILE, 1)
    ]
    writer.write(made("hostile", query=HOSTILE[0], note=HOSTILE[0], hits=hits[:100]))
    expect(page.locator("#live-list .hit")).to_have_count(len(hits[:100]))
    writer.write(made("hostile", query=HOSTILE[0], note=HOSTILE[1], hits=hits[-100:]))
    expect(page.locator("#live-note")).to_contain_text(" ".join(HOSTILE[1].split())[:20])
    writer.write(made("hostile", query=HOSTILE[0], state="finished", reason="enough"))
    writer.close()
    ended(page)

    assert not page.evaluate("'pwned' in window")
    assert page.locator(ACTIVE).count() == 0


@pytest.mark.parametrize(("keep", "told"), [("no", 1), ("yes", 0)])
def test_what_is_not_kept_says_so_and_what_is_is_among_the_ordinary_results(
    page: Page, keep: str, told: int
) -> None:
    # As the searches of the tests above, on which depends where this one begins.
    search(page, "astronomy", keep=keep, **{"Pages to fetch at most": "40"})
    ended(page)
    expect(page.locator("#live-list")).to_contain_text("just found")
    expect(page.locator("#live-list", has_text="not kept in the index")).to_have_count(told)
    page.get_by_role("link", name="Ordinary results").click()

    expect(page).to_have_url(re.compile(r"/search\?q=astronomy"))
    if keep == "yes":
        until(lambda: page.reload() and page.locator(".hit").count(), "it to be in the index")


def test_bookmarks_are_enough_to_start_from(page: Page, tmp_path: Path) -> None:
    home = Answer("<title>Zithers</title><p>Zithers and lutes. <a href='/more'>More on zithers</a>")
    more = Answer("<title>Zithers and lutes</title><p>A zither has more strings than a lute.")
    bookmarks = tmp_path / "bookmarks.html"
    with sites(music={"/": home, "/more": more}) as web:
        row = f'<DT><A HREF="{web["music"].url}/">Zithers</A>'
        bookmarks.write_text(f"<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>{row}</DL>")
        page.goto("/live")
        page.get_by_label("A bookmarks file").set_input_files(bookmarks)
        page.get_by_role("radio", name="seed-similarity").check()
        page.get_by_role("main").get_by_role("button", name=BUTTON).click()

        expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("^The web, searched now"))
        via = page.locator("#live-list .via", has_text="More on zithers")
        expect(via).to_have_text("by the link More on zithers on Zithers")
        ended(page)
