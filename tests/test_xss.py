"""Nothing that a stranger wrote is active on a page of ours, in a real browser (reliability.md, W1 and W2).

Every payload stands in every place that a crawl takes from strangers, and in all that a visitor may send.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from hashlib import sha1
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from xml.etree.ElementTree import fromstring

import pytest
from browsing import opened, served
from crawled import link
from hostile import PAYLOADS
from playwright.sync_api import Browser, Page, expect
from searched import entry

from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import PageStore
from webcrawler.index.follower import Follower
from webcrawler.records import Entry, Text
from webcrawler.search.vocabulary import build
from webcrawler.search.vocabulary.stored import store
from webcrawler.urls import canonical
from webcrawler.web.sanitiser import TAGS

FULL = 100  # results of a page
NEEDLE, PEACE = "needle", "peaceful"  # words of all hostile documents, of all others
SHOWN = f"/search?limit={FULL}&q="
EXPLAINED = "/search?limit=20&explain=1&q="

# The elements of a page as "name attribute attribute"; and what is active among them.
SCAN = r"""
document => {
  const elements = [...document.querySelectorAll("*")];
  const active = ({ name, value }) => /^on|^style$|^srcdoc$|^ping$/i.test(name)
    || (/href|src|action|data$/i.test(name) && !/^(https?:\/\/[^@/]+(\/|$)|\/(?!\/)|#)/.test(value));
  return {
    shapes: [...new Set(elements.map(e => [e.localName, ...e.getAttributeNames().sort()].join(" ")))],
    active: elements.filter(e => [...e.attributes].some(active) || (e.localName == "script" && e.text))
      .map(e => e.outerHTML.slice(0, 200)),
    ran: "pwned" in window,
  };
}
"""
SUGGESTED = {"li aria-selected id role", "ul aria-label class id role"}
ATTRIBUTES_OF_COPIES = ("", " dir", " lang", " dir lang", " colspan", " href rel")
# The same of many addresses, each parsed by the browser and not run.
SCAN_ALL = (
    "addresses => Promise.all(addresses.map(async address => {"
    " const answer = await fetch(address);"
    f" return ({SCAN})(new DOMParser().parseFromString(await answer.text(), 'text/html')); }}))"
)


def hostile(number: int, payload: str) -> Entry:
    """A document with the payload everywhere, and a link to a page that nobody has fetched."""
    url = canonical(f"http://hostile{number}.test/{payload}")
    never = canonical(f"http://never{number}.test/{payload}")
    words = f"{payload} {NEEDLE}"
    text = Text(words, payload, words, payload, f"w{number} {words}")
    made = entry((url, "", ""), link(never, words))
    body = f"<title>{words}</title><meta name=description content='{payload}'><p>{payload}</p>"
    fetch = replace(made.fetch, body=body.encode("utf-8", "surrogatepass"))
    return replace(made, fetch=fetch, text=text, digest=sha1(url.encode()).digest())


def peaceful(number: int) -> Entry:
    row = f"http://peace{number}.test/", f"{PEACE} w{number}", f"{PEACE} w{number}"
    made = entry(row, link(f"http://elsewhere{number}.test/", PEACE))
    return replace(made, fetch=replace(made.fetch, body=b"<p>Peace, and <a href=/>a link</a>"))


@pytest.fixture(scope="module")
def crawl_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    entries = [hostile(number, payload) for number, payload in enumerate(PAYLOADS)]
    entries += map(peaceful, range(40))
    with closing(PageStore(folder / "pages")) as pages:
        places = [pages.append(one) for one in entries]
    with closing(Catalog(folder / "catalog.sqlite")) as catalog:
        catalog.write(list(zip(entries, places, strict=True)))
        store(folder / "vocabulary", build(catalog, until=1_000_000), 1, catalog.identity)
    with closing(Follower(folder)) as follower:
        follower.catch_up()
    return folder


@pytest.fixture(scope="module")
def address(crawl_dir: Path) -> Iterator[str]:
    with served(crawl_dir, SERVE_FEEDBACK="yes") as address:
        yield address


@pytest.fixture
def page(chromium: Browser, address: str) -> Iterator[Page]:
    with opened(chromium, address) as page:
        yield page


@pytest.fixture(scope="module")
def numbers(crawl_dir: Path) -> list[int]:
    """Of the hostile documents, as PAYLOADS."""
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        found = [catalog.find(hostile(n, payload).fetch.lease.url) for n, payload in enumerate(PAYLOADS)]
    return [document.number for document in found if document]


def scan(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(f"({SCAN})(document)")
    return found


@pytest.fixture(scope="module")
def ours(chromium: Browser, address: str) -> set[str]:
    """The elements that our pages consist of when nobody means harm."""
    found: set[str] = set()
    asked = f"/search?limit=30&q={PEACE}"
    with opened(chromium, address) as page:
        page.goto(asked)
        links = [page.get_by_role("link", name=name).first for name in ("cached", "explain", "Next")]
        paths = [str(link.get_attribute("href")) for link in links]
        refused = [f"{asked}{rest}" for rest in ("&page=0", "xyz", "d")]
        fuller = f"{EXPLAINED}{PEACE}&within={PEACE}&add={PEACE}&ranking=hitlists&expand=0"
        told = f"{asked}+is:uncrawled&facets=1"
        for path in (asked, *paths, *refused, fuller, told, f"{asked}&facets=1"):
            page.goto(path)
            found |= set(scan(page)["shapes"])
    return found


def assert_inert(found: dict[str, Any], allowed: set[str]) -> None:
    assert (found["active"], found["ran"]) == ([], False)
    assert set(found["shapes"]) <= allowed


def test_there_are_300_payloads(numbers: list[int]) -> None:
    assert len(set(PAYLOADS)) >= 300
    assert len(set(numbers)) == len(PAYLOADS)


@pytest.mark.parametrize(
    "query", [NEEDLE, f"{NEEDLE} alert script img href javascript", f"{NEEDLE} is:uncrawled"]
)
def test_no_text_of_a_page_is_active_among_results(page: Page, ours: set[str], query: str) -> None:
    titles = 0
    page.goto(f"{SHOWN}{query}")
    while True:
        assert_inert(scan(page), ours)
        titles += page.locator(".hit h2").count()
        following = page.get_by_role("link", name="Next", exact=True)
        if not following.count():
            break
        following.click()
        page.wait_for_load_state()

    assert titles >= len(PAYLOADS) - FULL // 2  # the fetched, or those that links tell of


def test_nothing_of_a_copy_is_active(page: Page, ours: set[str], numbers: list[int]) -> None:
    own = {f"{tag}{attributes}" for tag in TAGS for attributes in ATTRIBUTES_OF_COPIES}
    page.goto("/")
    found = page.evaluate(SCAN_ALL, [f"/cached?number={number}&q=alert" for number in numbers])

    assert len(found) == len(PAYLOADS)
    for one in found:
        assert_inert(one, ours | own)


def test_copies_do_nothing_when_they_are_looked_at(page: Page, numbers: list[int]) -> None:
    for number in numbers[::6]:
        page.goto(f"/cached?number={number}", wait_until="load")
        expect(page.locator(".banner")).to_be_visible()


def test_nothing_that_a_visitor_sends_is_active(page: Page, ours: set[str]) -> None:
    page.goto("/")
    sent = [payload.replace("\0", "") for payload in PAYLOADS]
    for first in range(0, len(sent), 20):
        some = sent[first : first + 20]
        asked = urlencode({"q": NEEDLE + "".join(some)[:1_900], "within": some[:5], "add": some}, doseq=True)
        page.goto(f"/search?{asked}"[:8_000])
        assert_inert(scan(page), ours)


@pytest.mark.parametrize("name", ["page", "ranking", "number", "expand"])
def test_nothing_of_a_refusal_is_active(page: Page, ours: set[str], name: str) -> None:
    page.goto("/")
    paths = ["/explain?q=x&number=1&", "/cached?"] if name == "number" else ["/search?"]
    asked = [path + urlencode({name: sent}) for path in paths for sent in PAYLOADS[:: len(paths)]]
    for one in page.evaluate(SCAN_ALL, asked):
        assert_inert(one, ours)


def test_explanations_are_inert(page: Page, ours: set[str]) -> None:
    page.goto(f"/search?q={NEEDLE}+alert+script&limit=20")
    links = [str(link.get_attribute("href")) for link in page.get_by_role("link", name="explain").all()]
    for path in (f"{EXPLAINED}{NEEDLE}+alert+script", *links[::4]):
        page.goto(path)
        assert_inert(scan(page), ours)


def test_suggestions_are_text_alone(page: Page, ours: set[str]) -> None:
    page.route("**/suggest?*", lambda route: route.fulfill(json=["x", PAYLOADS]))  # the worst that can come
    page.goto("/")
    before = set(scan(page)["shapes"])
    page.keyboard.type("x")
    options = page.locator(".suggestions li")
    expect(options).to_have_count(len(PAYLOADS))
    found = scan(page)

    assert options.all_text_contents() == PAYLOADS
    assert {shape for shape in found["shapes"] if shape not in before} <= SUGGESTED
    assert (found["active"], found["ran"]) == ([], False)


@pytest.mark.parametrize(
    "path",
    [
        f"/api/search?limit={FULL}&q={NEEDLE}",
        f"/api{EXPLAINED}{NEEDLE}",
        "/api/suggest?q=%3Cscript",
        "/suggest?q=%3Cimg",
        "/api/status",
    ],
)
def test_answers_for_programs_are_no_pages(page: Page, path: str) -> None:
    answer = page.goto(path)
    elements = {shape.split()[0] for shape in scan(page)["shapes"]}

    assert answer
    assert answer.headers["content-type"].startswith(("application/json", "application/x-suggestions+json"))
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert elements <= {"html", "head", "meta", "body", "pre", "div"}  # as the browser shows any text
    json.loads(answer.text())


def test_description_for_browsers_holds_nothing_of_who_asks(page: Page, address: str) -> None:
    for payload in PAYLOADS[::20]:
        told = page.request.get(f"/opensearch.xml?{urlencode({'q': payload})}")
        root = fromstring(told.body())

        templates = [str(url.get("template")) for url in root if "template" in url.attrib]
        assert templates and all(template.startswith(f"{address}/") for template in templates)


def test_status_page_is_inert(page: Page) -> None:
    page.goto("/status")
    found = scan(page)

    assert (found["active"], found["ran"]) == ([], False)


def test_judging_a_hostile_result_runs_nothing(page: Page, ours: set[str]) -> None:
    page.goto(f"/search?{urlencode({'q': f'{NEEDLE} {PAYLOADS[0]}', 'within': PAYLOADS[:3]})}")
    page.goto(f"/search?{urlencode({'q': f'{NEEDLE} {PAYLOADS[0]}'})}")
    page.get_by_role("button", name="Good result").first.click()

    expect(page.locator("button[aria-pressed=true]")).to_have_count(1)
    assert_inert(scan(page), ours)
