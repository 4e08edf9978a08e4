"""The search page over a crawl of docweb, in a real browser: what people see, click and type."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browsing import barriers, opened, served
from playwright.sync_api import Browser, Locator, Page, expect

from .conftest import PROJECT, Crawled
from .truth import SEED

pytestmark = [
    pytest.mark.docweb,
    pytest.mark.deep("test_search_in_browser.py, test_web.py and test_xss.py search a smaller web"),
]

PAGES, MORE = 600, 60
QUERY = "sqlalchemy session"
ASKED = "/search?q=sqlalchemy+session"
LOOKED_AT = ("/", ASKED, f"{ASKED}&explain=1", "/search?q=xyzzyplugh", "/status", "/nowhere")
ACTIVE = "script, iframe, object, embed, img, .copy form, .copy [style], .copy [id]"
IS_AFTER = "stops[n - 1].compareDocumentPosition(stop) & Node.DOCUMENT_POSITION_FOLLOWING"
EXPLAIN, CACHED = re.compile("^explain"), re.compile("^cached")  # not what a page is called
NARROW = {"width": 320, "height": 640}


@pytest.fixture(scope="session")
def crawled(crawl: Callable[..., Crawled]) -> Crawled:
    crawled = crawl("breadth", "-a", f"max_pages={PAGES}")
    crawled.scrapy("report")  # waits until the index has it all
    return crawled


@pytest.fixture(scope="module")
def address(crawled: Crawled) -> Iterator[str]:
    with served(crawled.folder) as address:
        yield address


@pytest.fixture
def page(chromium: Browser, address: str) -> Iterator[Page]:
    with opened(chromium, address, color_scheme="light") as page:
        yield page


def hits(page: Page) -> Locator:
    return page.locator(".hit")


def links(page: Page) -> list[str]:
    return [str(link.get_attribute("href")) for link in page.locator(".hit h2 a").all()]


def suggestions(page: Page) -> Locator:
    return page.locator(".suggestions").get_by_role("option")


def figure(text: str) -> float:
    return float(text.replace(",", ""))


def test_words_typed_on_the_first_page_bring_results_with_all_that_is_known_of_them(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type(QUERY)
    page.keyboard.press("Enter")

    expect(page).to_have_title(f"{QUERY} · webcrawler")
    expect(page.locator(".found")).to_have_text(re.compile(r"^[\d,]+ pages · \d\.\d{3} s$"))
    expect(hits(page)).to_have_count(15)
    first = hits(page).first
    expect(first.locator("h2 a")).to_have_attribute("href", re.compile(r"^http://\w"))
    expect(first.locator("h2 a")).to_have_attribute("rel", "noopener noreferrer nofollow")
    expect(first.locator("time")).to_have_attribute("datetime", re.compile(r"^20\d\d-\d\d-\d\dT"))
    expect(first.locator(".address")).to_contain_text("docs.sqlalchemy.org/")
    marked = {mark.lower() for mark in page.locator(".snippet mark").all_inner_texts()}
    assert {"sqlalchemy", "session"} <= marked


def test_pages_lead_forth_and_back_and_no_result_stands_on_two(page: Page) -> None:
    page.goto(ASKED)
    first = links(page)
    page.get_by_role("link", name="Next", exact=True).click()
    expect(page.locator("[aria-current=page]")).to_have_text("2")
    second = links(page)
    page.get_by_role("link", name="Previous", exact=True).click()
    expect(page.locator("[aria-current=page]")).to_have_text("1")

    assert links(page) == first and second and not set(first) & set(second)


def test_cached_copy_says_what_it_is_and_nothing_in_it_is_active(page: Page) -> None:
    page.goto(ASKED)
    title = hits(page).first.locator("h2").inner_text().partition(" › ")[0]  # without the section
    hits(page).first.get_by_role("link", name=CACHED).click()

    expect(page).to_have_title(f"Copy of {title} · webcrawler")
    expect(page.get_by_label("About this copy")).to_contain_text("as it was fetched on")
    expect(page.locator(".banner time")).to_have_attribute("datetime", re.compile(r"^20\d\d-\d\d-\d\dT"))
    expect(page.locator("article.copy")).to_contain_text("SQLAlchemy")
    assert (
        page.locator("script, iframe, object, embed, img, .copy form, .copy [style], .copy [id]").all() == []
    )


def test_suggestions_come_as_one_types_and_are_taken_by_key(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("sqlalch")
    options = suggestions(page)
    expect(options.first).to_contain_text(re.compile("sqlalch", re.IGNORECASE))
    page.keyboard.press("ArrowDown")
    chosen = options.first.inner_text()

    expect(page.get_by_role("combobox")).to_have_value(chosen)
    assert barriers(page) == []
    page.keyboard.press("Enter")
    expect(page).to_have_title(f"{chosen} · webcrawler")
    expect(hits(page).first).to_be_visible()


def test_escape_takes_suggestions_away_and_leaves_what_was_typed(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("sqlalch")
    expect(suggestions(page).first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")

    expect(page.get_by_role("listbox", name="Suggestions")).to_be_hidden()
    expect(page.get_by_role("combobox")).to_have_value("sqlalch")


def test_misspelt_word_is_corrected_and_may_be_searched_for_as_typed(page: Page) -> None:
    page.goto("/search?q=sqlalchmy+session")
    expect(page.locator(".mean")).to_contain_text(f"Results for {QUERY}.")
    expect(hits(page).first).to_be_visible()
    page.locator(".mean a").first.click()

    expect(page).to_have_url(re.compile("exact=1"))


def test_results_may_be_searched_within(page: Page) -> None:
    page.goto("/search?q=sqlalchemy")
    outer = figure(page.locator(".found").inner_text().split(" ")[0])
    page.get_by_text("Options", exact=True).click()
    page.get_by_label("search within these results").check()
    page.locator("#q").fill("session")
    page.get_by_role("button", name="Search", exact=True).click()

    chip = page.get_by_role("link", name="sqlalchemy : search elsewhere, too")
    expect(chip).to_be_visible()
    inner = figure(page.locator(".found").inner_text().split(" ")[0])
    assert 0 < inner < outer
    chip.click()
    expect(chip).to_have_count(0)


def test_related_word_is_added_and_dropped(page: Page) -> None:
    page.goto("/search?q=sqlalchemy+title:session&expand=0")  # few hits: others need no further words
    chip = page.get_by_role("link", name=": add it").first
    word = chip.locator("bdi").inner_text()
    chip.click()

    added = page.get_by_role("link", name=f"{word} : drop it")
    expect(added).to_be_visible()
    added.click()
    expect(page).to_have_url(re.compile(r"/search\?q=sqlalchemy\+title%3Asession&expand=0$"))


def test_other_ranking_may_be_chosen_and_stays_chosen(page: Page) -> None:
    page.goto(ASKED)
    page.get_by_text("Options", exact=True).click()
    page.get_by_label("Ranking").select_option("hitlists")
    page.get_by_role("button", name="Search", exact=True).click()

    expect(page).to_have_url(re.compile("ranking=hitlists"))
    page.get_by_role("link", name="Next", exact=True).click()
    expect(page.get_by_label("Ranking")).to_have_value("hitlists")


def test_only_one_server_may_be_asked_for(page: Page) -> None:
    page.goto("/search?q=documentation")
    page.get_by_role("link", name="Filters", exact=True).click()
    page.get_by_role("region", name="Filters").get_by_role("link").first.click()

    expect(page.locator(".chip").first).to_contain_text("site:")
    assert len({link.split("/")[2] for link in links(page)}) == 1


def test_all_can_be_done_by_keys(page: Page) -> None:
    page.goto(ASKED)
    titles = page.locator(".hit h2 a")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    for key, focused in (("j", 0), ("j", 1), ("ArrowDown", 2), ("k", 1)):
        page.keyboard.press(key)
        expect(titles.nth(focused)).to_be_focused()
    page.keyboard.press("/")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("orm")  # what stood there was selected
    page.keyboard.press("Enter")
    expect(page).to_have_title("orm · webcrawler")


def test_enter_opens_a_result(page: Page, address: str) -> None:
    page.goto(ASKED)
    page.keyboard.press("j")
    target = str(page.locator(".hit h2 a").first.get_attribute("href"))
    page.evaluate("addEventListener('click', e => { e.preventDefault(); document.title = e.target.href })")
    page.keyboard.press("Enter")

    expect(page).to_have_title(target)


def test_tab_goes_through_the_page_in_its_order(page: Page) -> None:
    page.goto("/search?q=sqlalchemy")
    page.evaluate("stops = []; addEventListener('focusin', event => stops.push(event.target))")
    for _ in range(12):
        page.keyboard.press("Tab")

    assert page.evaluate("stops.length") == 12
    assert page.evaluate(f"stops.every((stop, n) => !n || {IS_AFTER})")


def test_without_scripts_searching_paging_and_explaining_work(chromium: Browser, address: str) -> None:
    with opened(chromium, address, java_script_enabled=False) as page:
        page.goto("/")
        page.locator("#q").fill(QUERY)
        page.get_by_role("button", name="Search", exact=True).click()
        page.get_by_role("link", name="Next", exact=True).click()
        expect(page).to_have_title(f"{QUERY} · page 2 · webcrawler")
        hits(page).first.get_by_role("link", name=EXPLAIN).click()
        expect(page.locator(".parts tfoot")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_shut_nobody_out_and_fit_narrow_screens(chromium: Browser, address: str, scheme: str) -> None:
    look = {"color_scheme": scheme, "viewport": NARROW, "bypass_csp": True}  # else axe cannot run on copies
    with opened(chromium, address, **look) as page:
        page.goto(ASKED)
        found = [hits(page).first.get_by_role("link", name=name) for name in (CACHED, EXPLAIN)]
        found_at = [str(link.get_attribute("href")) for link in found]
        for path in (*LOOKED_AT, *found_at):
            page.goto(path)
            rules = barriers(page)
            wide = page.evaluate("document.documentElement.scrollWidth")

            assert (path, rules, wide) == (path, [], NARROW["width"])


def test_dark_and_light_differ(chromium: Browser, address: str) -> None:
    for scheme, ground in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(21, 25, 23)")):
        with opened(chromium, address, color_scheme=scheme) as page:
            page.goto("/")
            assert page.evaluate("getComputedStyle(document.body).backgroundColor") == ground


def test_searches_are_answered_while_a_crawl_commits(page: Page, crawled: Crawled, tmp_path: Path) -> None:
    before = page.request.get("/api/status").json()["documents"]
    asked = 0
    with crawling(crawled, tmp_path) as crawl:
        while crawl.poll() is None or not asked:
            asked += 1
            page.goto(f"/search?q=documentation&limit={asked % 100 + 1}")  # none that is remembered
            while not hits(page).count() and page.get_by_text("stopped after").count():
                page.reload()  # the deadline came first
            expect(hits(page).first).to_be_visible()
    crawled.scrapy("report")

    assert crawl.returncode == 0
    page.goto("/status")  # it looks now and then only
    while page.request.get("/api/status").json()["documents"] <= before:
        page.wait_for_timeout(200)


def crawling(crawled: Crawled, tmp_path: Path) -> "subprocess.Popen[bytes]":
    """The same crawl goes on, for a few pages more."""
    asked = ["-a", "mode=breadth", "-a", f"seeds={SEED}", "-a", f"max_pages={MORE}"]
    return subprocess.Popen(
        [sys.executable, "-m", "scrapy", "crawl", "index", *asked, "-O", str(tmp_path / "more.jsonl")],
        cwd=PROJECT,
        env=crawled.docweb.environment | {"CRAWL_DIR": str(crawled.folder)},
        stderr=subprocess.DEVNULL,
    )
