"""The search box in a page of another origin, in a real browser, with the markup that the how-to gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from browsing import ANY, barriers, opened, served
from localweb import Answer, Site, sites
from playwright.sync_api import Browser, Page, expect
from searched import entry, publish

pytestmark = pytest.mark.browser

HOW_TO = (Path(__file__).parent.parent / "docs/how-to/search-box-in-your-pages.md").read_text("utf-8")
(MARKUP,) = re.findall(r"```html\n(.*?)```", HOW_TO, re.DOTALL)
STYLE = """* { font-size: 40px; letter-spacing: 9px; text-transform: uppercase; color: red !important }
form, input, ol, li, a, p, div { display: none !important } site-search { --search-radius: 7px }"""
LOOKS = """box => (({ fontSize, letterSpacing, textTransform, borderRadius, color }) =>
  [fontSize, letterSpacing, textTransform, borderRadius, color])(getComputedStyle(box))"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src {0}; connect-src {0}; form-action {0}"
ROWS = [
    ("http://docs.test/pilots", "Harbour pilots", "harbour pilots steer ships <b>bold</b>"),
    ("http://docs.test/lights", "Lighthouses", "a lighthouse near the harbour"),
    ("http://other.test/", "Another harbour", "harbour of another site"),
]


def page_with(markup: str, headers: dict[str, str] | None = None) -> Answer:
    head = f"<!doctype html><html lang=en><title>Docs</title><style>{STYLE}</style>"
    return Answer(f"{head}<main><h1>Docs</h1>{markup}</main>", headers=headers or {})


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with sites(docs={}) as opened:
        yield opened["docs"]


@pytest.fixture(scope="module")
def search(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("crawl")
    publish(folder, map(entry, ROWS))
    with served(folder, SERVE_ORIGINS=site.url) as address:
        markup = MARKUP.replace("https://search.example.org", address).replace(
            "docs.example.org", "docs.test"
        )
        site.routes["/"] = page_with(markup, {"Content-Security-Policy": POLICY.format(address)})
        site.routes["/alone"] = page_with(f'<script src="{address}/static/box.js"></script>')
        site.routes["/favicon.ico"] = Answer()
        yield address


@pytest.fixture
def page(chromium: Browser, site: Site, search: str) -> Iterator[Page]:
    with opened(chromium, site.url, also=search) as page:
        yield page


def test_hits_appear_as_one_types_and_keys_lead_through_them(page: Page, search: str) -> None:
    page.goto("/")
    box, hits = page.get_by_role("searchbox", name="Search the docs"), page.locator("site-search ol > li")
    box.fill("harbour")

    expect(hits).to_have_count(2)  # of the site that the hidden field names
    expect(page.get_by_role("status")).to_have_text("2 pages")
    expect(hits.first.get_by_role("link")).to_have_attribute("href", "http://docs.test/pilots")
    expect(hits.first).to_contain_text("<b>bold</b>")
    page.keyboard.press("ArrowDown")
    expect(hits.first.get_by_role("link")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(box).to_be_focused()
    page.keyboard.press("Escape")
    expect(hits.first).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{search}/search?q=harbour&within=site%3Adocs.test")


def test_styles_of_the_page_do_not_reach_into_the_box_but_its_properties_do(page: Page) -> None:
    page.goto("/")
    box = page.get_by_role("searchbox")
    box.fill("harbour")
    expect(page.locator("site-search ol > li").first).to_be_visible()

    assert box.evaluate(LOOKS) == ["16px", "normal", "none", "7px", "rgb(0, 0, 0)"]
    assert barriers(page, ANY) == []


def test_script_alone_makes_a_box_where_it_stands(page: Page) -> None:
    page.goto("/alone")
    page.get_by_role("searchbox", name="Search").fill("harbour")

    expect(page.locator("main > site-search ol > li")).to_have_count(3)


def test_search_that_finds_nothing_or_cannot_be_reached_or_refuses_says_so(page: Page, search: str) -> None:
    page.goto("/")
    box, said = page.get_by_role("searchbox"), page.get_by_role("status")
    box.fill("xyzzyplugh")
    expect(said).to_have_text("No page was found.")
    page.route(f"{search}/api/**", lambda route: route.abort("aborted"))
    box.fill("harbour")
    expect(said).to_have_text("The search cannot be reached now.")
    page.unroute(f"{search}/api/**")
    box.fill("h" * 2001)

    expect(said).to_have_text("'q' is too long: 2,000 characters at most")


def test_box_says_what_the_page_says(page: Page, search: str) -> None:
    page.goto("/")
    box, said = page.get_by_role("searchbox"), page.get_by_role("status")
    box.fill("harbour xyzzyplugh")
    expect(said).to_contain_text("no page has xyzzyplugh")
    expect(page.locator("site-search mark").first).to_have_text("harbour")
    box.fill("lighthuose +harbour")
    expect(said).to_contain_text("Results for lighthouse +harbour")
    typed = page.get_by_role("link", name="Search for lighthuose +harbour as typed")
    expect(typed).to_have_attribute(
        "href", f"{search}/search?q=lighthuose+%2Bharbour&within=site%3Adocs.test&exact=1"
    )
    assert barriers(page, ANY) == []


def test_without_scripts_the_form_leads_to_the_search_page(
    chromium: Browser, site: Site, search: str
) -> None:
    with opened(chromium, site.url, also=search, java_script_enabled=False) as page:
        page.goto("/")
        box = page.get_by_role("searchbox", name="Search the docs", include_hidden=True)
        box.evaluate("(box, text) => { box.value = text; box.form.submit(); }", "harbour")

        expect(page).to_have_url(f"{search}/search?q=harbour&within=site%3Adocs.test")


def test_origins_that_are_not_allowed_cannot_read(site: Site, search: str) -> None:
    def told(path: str, origin: str) -> str | None:
        answer = httpx.get(search + path, headers={"Origin": origin}, timeout=60)
        return answer.headers.get("access-control-allow-origin")

    asked, ours = "/api/search?q=harbour", site.url
    assert [told(path, ours) for path in (asked, "/api/search", "/api/suggest?q=x")] == [ours] * 3
    assert not any(told(asked, other) for other in ("http://evil.test", "null", f"{ours}.evil.test", ""))
    assert not any(told(path, ours) for path in ("/api/status", "/search?q=x", "/api/live", "/"))
