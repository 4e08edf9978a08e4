"""The search page in a real browser: what is seen first on a phone, keys, and who must not be shut out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from browsing import ANY, barriers, opened, served
from crawled import link
from playwright.sync_api import Browser, Page, expect
from searched import entry, publish

from webcrawler.records import Section

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 800}
LOOKS = [(PHONE, "light"), (DESK, "dark")]
BELOW_BOX = 200  # pixels in which the first hit begins
PARTS = ("Anchors", "Moorings", "Ropes")  # of a guide, each with a fragment of that name
HOLD = "".join(f"{name} Hold the dinghy by its {name} at low tide. " * 9 for name in PARTS)
GUIDE = "All about boats. " * 20 + HOLD
PROSE = "harbour pilots steer ships past the lighthouse into the harbour " * 3
# What people may see, by what they asked.
STATES = {
    "first page": "/",
    "many hits": "/search?q=harbour",
    "one hit": "/search?q=violin",
    "never fetched": "/search?q=unvisited",
    "no hit": "/search?q=xyzzyplugh",
    "nothing to look for": "/search?q=-harbour",
    "another spelling": "/search?q=lighthuose+%2Bharbour",
    "note": "/search?q=harbour+xyzzyplugh",
    "page 2": "/search?q=harbour&page=2",
    "filter": "/search?q=harbour&within=site%3As1.test",
    "sections": "/search?q=dinghy+moorings",
    "filters": "/search?q=harbour&facets=1",
    "options": "/search?q=harbour&sort=changed&expand=0",
    "explained": "/search?q=harbour&explain=1",
    "why": "/explain?q=harbour&number=1",
    "error": "/search?q=harbour&page=0",
    "not found": "/nowhere",
}


@pytest.fixture(scope="module")
def crawl_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawl")
    never = link("http://elsewhere.test/page", "unvisited island")
    rows = [(f"http://s{n}.test/pilots/{n}", f"Harbour pilots {n}", PROSE) for n in range(20)]
    guide = entry(("http://guide.test/", "Guide", GUIDE))
    assert guide.text
    text = guide.text._replace(sections=tuple(Section(GUIDE.index(name), name, name) for name in PARTS))
    music = entry(("http://music.test/", "Quartet", "The violin"), never)
    publish(folder, [replace(guide, text=text), music, *map(entry, rows)])
    return folder


@pytest.fixture(scope="module")
def address(crawl_dir: Path) -> Iterator[str]:
    with served(crawl_dir) as address:
        yield address


@pytest.fixture
def page(chromium: Browser, address: str) -> Iterator[Page]:
    with opened(chromium, address, viewport=DESK) as page:
        yield page


@pytest.mark.parametrize(("viewport", "scheme"), LOOKS)
def test_no_state_shuts_anybody_out_or_is_wider_than_the_screen(
    chromium: Browser, address: str, viewport: dict[str, int], scheme: str
) -> None:
    with opened(chromium, address, viewport=viewport, color_scheme=scheme) as page:
        for state, path in STATES.items():
            page.goto(path)
            page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            wide = page.evaluate("document.documentElement.scrollWidth")

            assert (state, barriers(page, ANY), wide) == (state, [], viewport["width"])


@pytest.mark.parametrize(
    "state",
    ["many hits", "one hit", "never fetched", "another spelling", "note", "filter", "filters", "options"],
)
def test_first_hit_begins_near_the_box_on_a_phone(chromium: Browser, address: str, state: str) -> None:
    with opened(chromium, address, viewport=PHONE) as page:
        page.goto(STATES[state])
        box, hit = (page.locator(one).first.bounding_box() for one in ("#q", ".hit"))

        assert box and hit
        assert hit["y"] - (box["y"] + box["height"]) <= BELOW_BOX


def test_title_leads_to_the_section_that_answers_and_others_stand_below(page: Page) -> None:
    page.goto(STATES["sections"])
    hit = page.locator(".hit").first

    expect(hit.locator("h2 a")).to_have_attribute("href", "http://guide.test/#Moorings")
    expect(hit.locator("h2 a")).to_have_text("Guide › Moorings")
    expect(hit.locator(".address")).to_contain_text("guide.test")
    others = {one.get_attribute("href") for one in hit.locator(".sections a").all()}
    assert others <= {"http://guide.test/#Anchors", "http://guide.test/#Ropes"}


def test_search_of_the_web_is_offered_below_the_hits_or_where_there_are_none(page: Page) -> None:
    button = page.get_by_role("button", name="Search the web now")
    page.goto(STATES["many hits"])
    last, below = page.locator(".hit").last.bounding_box(), button.bounding_box()
    assert last and below and below["y"] > last["y"]

    page.goto(STATES["no hit"])
    expect(button).to_be_visible()


def test_keys_lead_from_the_box_through_suggestions_and_hits(page: Page) -> None:
    page.goto(STATES["many hits"])
    box, titles = page.locator("#q"), page.locator(".hit h2 a")
    page.keyboard.press("/")
    expect(box).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(titles.nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(titles.nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(box).to_be_focused()
    box.fill("harb")
    page.locator("[role=option]").first.wait_for()
    page.keyboard.press("ArrowDown")
    expect(page.locator("[role=option][aria-selected=true]")).to_have_count(1)
    assert barriers(page, ANY) == []
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile("/search[?]q=[Hh]arbour[^&]*$"))


def test_hits_follow_what_is_typed_and_back_leads_to_what_was_there_before(page: Page) -> None:
    page.goto("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("violin", delay=20)
    expect(page.locator(".hit h2")).to_have_text("Quartet")
    expect(page).to_have_url(re.compile("[?]q=violin$"))
    expect(page).to_have_title("violin · webcrawler")
    page.locator("#q").fill("lighthouse")
    expect(page.locator(".hit h2").first).to_have_text(re.compile("Harbour pilots"))
    expect(page.get_by_role("status")).to_have_text(re.compile("^20 pages"))
    assert barriers(page, ANY) == []
    page.go_back()

    expect(page).to_have_url(re.compile("/$"))  # one step, though two queries were shown
    expect(page.locator("body")).to_have_class("home")
    expect(page.locator("#q")).to_have_value("")
    page.go_forward()
    expect(page.locator(".hit h2").first).to_have_text(re.compile("Harbour pilots"))
    expect(page.locator("#q")).to_have_value("lighthouse")


def test_scripts_ask_below_the_path_that_the_page_has(chromium: Browser, crawl_dir: Path) -> None:
    """Whatever they ask elsewhere is a fault, which `opened` reports."""
    settings = {"SERVE_URL": "http://localhost/find/", "QUERY_LOG_DAYS": "1"}
    with served(crawl_dir, **settings) as host, opened(chromium, f"{host}/find") as page:
        page.goto(f"{host}/find/")
        page.locator("#q").fill("harb")
        page.locator("[role=option]").first.wait_for()
        page.locator("#q").fill("lighthouse")
        expect(page.locator(".hit h2").first).to_have_text(re.compile("Harbour pilots"))
        expect(page).to_have_url(re.compile(f"^{host}/find/search[?]q=lighthouse"))
        with page.expect_response("**/used?*") as told:
            page.locator("#q").blur()

        assert told.value.status == 204


def test_typing_asks_once_a_pause_and_what_is_refused_leaves_the_hits(page: Page) -> None:
    asked = list[str]()
    page.clock.install(time=0)
    page.on("request", lambda request: asked.append(request.url) if "/search?" in request.url else None)
    page.goto("/")
    expect(page.locator("#q")).to_be_focused()
    page.clock.pause_at(3600)  # typing may take longer than a pause
    page.keyboard.type("violin")
    assert asked == []
    page.clock.run_for(300)
    expect(page.locator(".hit h2")).to_have_text("Quartet")
    assert len(asked) == 1

    page.route("**/search?*", lambda route: route.fulfill(status=429, headers={"Retry-After": "60"}))
    page.locator("#q").fill("lighthouse")
    with page.expect_response("**/search?*"):
        page.clock.run_for(300)
    page.locator("#q").fill("harbour")
    page.clock.run_for(300)
    assert len(asked) == 2  # not again before it may
    expect(page.locator(".hit h2")).to_have_text("Quartet")
