"""The search page and its API over a small real crawl: what is shown, what is refused, and how it is said."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import fields, replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit
from xml.etree.ElementTree import fromstring

import httpx
import pytest
from conftest import examples
from crawled import link
from documented import api_names
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from searched import Row, entry, publish
from starlette.applications import Starlette
from starlette.testclient import TestClient

from webcrawler.errors import Unavailable
from webcrawler.records import Section
from webcrawler.search import Related
from webcrawler.search.rankings import RANKINGS
from webcrawler.search.snippets import Snippets
from webcrawler.web import Config, make_app
from webcrawler.web.answers import BUSY, MAX_WAITING, Answers
from webcrawler.web.parameters import MAX_ADDED, MAX_WITHIN, SearchRequest
from webcrawler.web.readable import RANKINGS as SAID
from webcrawler.web.readable import readable, site_and_path
from webcrawler.web.render import NotNow

NAMESPACE = "http://a9.com/-/spec/opensearch/1.1/"
ATTACK = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
PAGES: list[Row] = [
    ("http://a.test/1", "Molecular biology", "Genes and proteins of molecular biology"),
    ("http://a.test/2", "Biology", "biology of the garden"),
    ("http://b.test/3", "Cooking", "molecular cooking with steam"),
    ("http://c.test:8080/attack", f"Title {ATTACK}", f"Body {ATTACK} yeast genome"),
    ("http://xn--bcher-kva.test/%C3%BC", "", "Sourdough rises"),
    *((f"http://s{n}.test/", f"Server {n}", "lighthouse keepers") for n in range(40)),
    *((f"http://many.test/{n}", f"Harbour {n}", "harbour pilots steer ships") for n in range(6)),
    *((f"http://h{n}.test/{n}", f"Harbour {n}", "harbour pilots steer ships") for n in range(3)),
    *((f"http://m{n}.test/", f"Quartet {n}", "The violin and the cello play.") for n in range(6)),
    # so many servers that a page of results is shared among them
    *((f"http://d{n}.test/", f"Dune {n}", "sand and grass") for n in range(200)),
]


class Seen(HTMLParser):
    """Elements of a page with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def crawl_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawl")
    unfetched = link("http://elsewhere.test/page", "unvisited island")
    german = entry(("http://de.test/", "Der Leuchtturm", "Ein Turm mit Feuer"))
    assert german.text
    german = replace(german, text=german.text._replace(language="de"))
    publish(folder, [entry(PAGES[0], unfetched), *map(entry, PAGES[1:]), german])
    return folder


def served(folder: Path, **config: Any) -> TestClient:
    app = make_app(Config(folder, **{"deadline_seconds": 60, **config}))
    return TestClient(app, "http://localhost:8000")


@pytest.fixture(scope="module")
def client(crawl_dir: Path) -> Iterator[TestClient]:
    with served(crawl_dir) as client:
        yield client


def seen(client: TestClient, path: str, **parameters: Any) -> Seen:
    response = client.get(path, params=parameters or None)
    assert response.status_code == 200, response.text
    return Seen(response.text)


def links(page: Seen) -> list[str]:
    """The URLs of the results, in their order."""
    return [a["href"] or "" for a in page.all("a") if "nofollow" in (a.get("rel") or "")]


def href(page: Seen, start: str, **wanted: str) -> str:
    """The link with that path whose parameters have these values."""
    for a in page.all("a"):
        address = urlsplit(a.get("href") or "")
        if address.path == start and wanted.items() <= dict(parse_qsl(address.query)).items():
            return a["href"] or ""
    raise AssertionError(f"no link to {start} with {wanted}")


def followed(client: TestClient, page: Seen, start: str, **wanted: str) -> Seen:
    """The page behind that link."""
    return seen(client, href(page, start, **wanted))


def chips(page: Seen) -> list[str]:
    return [a["href"] or "" for a in page.all("a") if a.get("class") == "chip"]


# ---- the page


def test_first_page_is_a_form_with_a_labelled_box_and_says_how_much_can_be_searched(
    client: TestClient,
) -> None:
    page = seen(client, "/")

    assert f"{len(PAGES) + 1} pages can be searched" in page.text
    assert any(form.get("action") == "/search" for form in page.all("form"))
    assert any(label.get("for") == "q" for label in page.all("label"))
    assert page.all("html")[0]["lang"] == "en"


def test_results_show_title_url_date_and_snippet_best_first(client: TestClient) -> None:
    page = seen(client, "/search", q="molecular biology")

    assert links(page)[0] == "http://a.test/1"
    assert "a.test/1" in page.text and "14 Nov 2023" in page.text
    assert "3 pages" in page.text
    assert page.all("mark")


def test_relevance_is_told_where_explained_or_the_owner_wants_it(client: TestClient, crawl_dir: Path) -> None:
    asked = {"q": "molecular biology"}
    page = seen(client, "/search", **asked)

    assert "Relevance 1000" not in page.text
    assert "Relevance 1000" in seen(client, "/search", explain="1", **asked).text
    assert "relevance 1000 of 1000" in followed(client, page, "/explain", **asked).text
    with served(crawl_dir, relevance=True) as web:
        assert "Relevance 1000" in seen(web, "/search", **asked).text


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://docs.example.org/guide/", "docs.example.org"),
        ("https://www.example.org/", "example.org"),
        ("http://xn--bcher-kva.test:8080/%C3%BC", "bücher.test:8080"),
        ("http://[::1]:80/", "[::1]:80"),
    ],
)
def test_site_of_a_result_has_a_name(url: str, site: str) -> None:
    assert "".join(site_and_path(url)) == readable(url).removeprefix("www.")
    assert site_and_path(url)[0] == site


def test_language_of_a_page_is_told_to_browsers_and_programs(client: TestClient) -> None:
    page, answer = seen(client, "/search", q="Leuchtturm"), client.get("/api/search?q=Leuchtturm").json()

    assert [a["hreflang"] for a in page.all("a") if "hreflang" in a] == ["de"]
    assert page.all("h2")[0]["lang"] == "de"
    assert answer["hits"][0]["language"] == "de"


def test_a_title_has_no_more_of_a_long_heading_than_tells_it(tmp_path: Path) -> None:
    heading = "violin(" + ", ".join(f"string_{number}=None" for number in range(20)) + ")"
    manual = entry(("http://a.test/", "Manual", f"Text before it.\n{heading}\nPlays."))
    assert manual.text
    manual = replace(manual, text=manual.text._replace(sections=(Section(16, "violin", heading),)))
    publish(tmp_path, [manual])

    with served(tmp_path) as client:
        page = seen(client, "/search", q="violin plays")

    assert links(page)[0] == "http://a.test/#violin"
    assert "Manual › violin(string_0=None, string_1=None" in page.text
    assert "string_6=None …" not in page.text and heading not in page.text


def test_query_stands_in_the_title_and_in_the_box(client: TestClient) -> None:
    response = client.get("/search", params={"q": 'a "phrase" <b>'})

    assert "<title>a &#34;phrase&#34; &lt;b&gt; · webcrawler</title>" in response.text
    assert Seen(response.text).all("input")[0]["value"] == 'a "phrase" <b>'


def test_links_to_results_give_nothing_away(client: TestClient) -> None:
    page = seen(client, "/search", q="biology")

    outside = [a for a in page.all("a") if not (a["href"] or "").startswith(("/", "#"))]
    assert outside
    assert all(a.get("rel") == "noopener noreferrer nofollow" for a in outside)


def test_page_without_a_title_is_shown_by_what_people_read_of_its_url(client: TestClient) -> None:
    assert seen(client, "/search", q="sourdough").text.count("bücher.test/ü") >= 2


@pytest.mark.parametrize("path", ["/search", "/api/search", "/suggest", "/api/suggest"])
def test_no_text_of_a_page_or_query_becomes_markup(client: TestClient, path: str) -> None:
    for query in ("yeast", ATTACK, f'"{ATTACK}"', f"yeast {ATTACK}"):
        response = client.get(path, params={"q": query, "explain": "1"})

        assert response.status_code == 200
        if response.headers["content-type"].startswith("text/html"):
            page = Seen(response.text)
            assert not page.all("img")
            assert not any(name.startswith("on") or name == "style" for _, at in page.elements for name in at)
            assert all(script.get("src", "").startswith("/static/") for script in page.all("script"))  # type: ignore[union-attr]


def test_headings_are_in_order_and_one_is_the_first(client: TestClient) -> None:
    for path in ("/", "/search?q=biology", "/search?q=zzzz", "/nowhere"):
        elements = Seen(client.get(path).text).elements
        levels = [int(tag[1]) for tag, _ in elements if re.fullmatch("h[1-6]", tag)]

        assert levels[0] == 1 and levels.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))


def test_search_within_these_results_narrows_them(client: TestClient) -> None:
    page = seen(client, "/search", q="molecular")
    box = next(i for i in page.all("input") if i.get("name") == "within")

    narrowed = seen(client, "/search", q="cooking", within=box["value"])

    assert links(narrowed) == ["http://b.test/3"]
    assert [i["value"] for i in narrowed.all("input") if i.get("type") == "hidden"] == ["molecular"]
    assert chips(narrowed) == ["/search?q=cooking"]  # one click leads out


def test_pages_follow_each_other_without_gap_or_repetition(client: TestClient) -> None:
    found: list[str] = []
    address = "/search?q=lighthouse"
    for number in (1, 2, 3):
        page = Seen(client.get(address).text)
        found += links(page)
        assert any(span.get("aria-current") == "page" for span in page.all("span"))
        if number < 3:
            address = next(a["href"] or "" for a in page.all("a") if a.get("rel") == "next")

    assert sorted(found) == sorted(f"http://s{number}.test/" for number in range(40))
    assert not [a for a in Seen(client.get(address).text).all("a") if a.get("rel") == "next"]


def test_page_behind_the_last_leads_back(client: TestClient) -> None:
    page = seen(client, "/search", q="molecular", page="9")

    assert "No more results" in page.text
    assert "Pages of results" not in [nav.get("aria-label") for nav in page.all("nav")]
    assert href(page, "/search", q="molecular")


def test_more_from_a_server_is_one_click_away(client: TestClient) -> None:
    page = seen(client, "/search", q="harbour", limit="5")

    (more,) = [a for a in page.all("a") if "site%3A" in (a["href"] or "")]
    assert "more from this server" in page.text
    found = links(seen(client, more["href"] or ""))
    assert {urlsplit(url).netloc for url in found} == {"many.test"}


@pytest.mark.parametrize("query", ["harbour OR pilots", '"harbour pilots', "(harbour", "harbour) OR (pilots"])
def test_one_server_is_searched_whatever_a_query_left_open(client: TestClient, query: str) -> None:
    found = links(seen(client, SearchRequest(query).on_server("http://many.test")))

    assert {urlsplit(url).netloc for url in found} == {"many.test"}


def test_filters_say_how_many_pages_each_leaves_and_keep_these(client: TestClient) -> None:
    page = followed(client, seen(client, "/search", q="harbour OR Leuchtturm"), "/search", facets="1")
    told = " ".join(page.text.split())
    assert "many.test 6 pages" in told and "de 1 page" in told

    site = followed(client, page, "/search", within="site:many.test")
    german = followed(client, page, "/search", within="lang:de")

    assert len(links(site)) == 6 and links(german) == ["http://de.test/"]
    assert "Only in" in site.text and chips(site)[0] == "/search?q=harbour+OR+Leuchtturm"  # which drops it


def test_one_more_filter_than_there_may_be_replaces_the_oldest() -> None:
    full = SearchRequest("harbour", within=tuple(f"site:{number}.test" for number in range(MAX_WITHIN)))

    within = parse_qs(urlsplit(full.narrowed("lang:de")).query)["within"]
    assert within == [*full.within[1:], "lang:de"]


def test_nothing_found_gives_hints(client: TestClient) -> None:
    page = seen(client, "/search", q="xyzzyplugh")

    assert "No page was found" in page.text and "How to ask" in page.text


def test_page_over_a_folder_without_a_crawl_says_so_and_nothing_else(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        home, page = client.get("/").text, client.get("/search?q=x").text
        answer = client.get("/api/search?q=x").json()

    assert "Nothing was crawled here yet" in home
    assert page.count("Nothing was crawled here yet") == 1 and "Fewer words" not in page
    assert (answer["hits"], answer["note"]) == ([], "nothing was crawled here yet")


def test_page_goes_by_the_name_it_is_given(crawl_dir: Path) -> None:
    with served(crawl_dir, title="Ours & yours, all of it") as web:
        home, found = seen(web, "/"), seen(web, "/search", q="biology")
        described = web.get("/opensearch.xml").text

    assert "biology · Ours & yours, all of it" in found.text
    assert found.all("link")[-1]["title"] == "Ours & yours, all of it"
    assert "Ours & yours, all of it" in home.text and "webcrawler" not in home.text + found.text
    assert "<ShortName>Ours &amp; yours, al</ShortName>" in described


def test_each_ranking_says_what_counts_in_it() -> None:
    assert set(SAID) == set(RANKINGS)


def test_icon_is_where_browsers_look_for_it(client: TestClient) -> None:
    assert client.get("/favicon.ico").headers["content-type"] == "image/svg+xml"


def test_search_engines_may_keep_the_first_page_alone(client: TestClient) -> None:
    for path, told in (("/", []), ("/search?q=biology", ["noindex"])):
        answer = client.get(path)

        metas = [one for one in Seen(answer.text).all("meta") if one.get("name") == "robots"]
        assert [one["content"] for one in metas] == told
        assert ("x-robots-tag" in answer.headers) == bool(told)


def test_page_that_was_never_fetched_is_shown_as_such(client: TestClient) -> None:
    page = seen(client, "/search", q="unvisited")

    assert links(page) == ["http://elsewhere.test/page"]
    assert "not fetched yet" in page.text and "unvisited island" in page.text
    assert not [a for a in page.all("a") if (a["href"] or "").startswith("/cached")]


# ---- words that were not typed


def test_better_spelling_is_one_click_away(client: TestClient) -> None:
    page = seen(client, "/search", q="+lighthuose keepers")

    assert "Did you mean +lighthouse keepers?" in page.text
    assert len(links(followed(client, page, "/search", q="+lighthouse keepers"))) == 15


def test_query_as_typed_is_one_click_away_from_results_in_better_spellings(client: TestClient) -> None:
    page = seen(client, "/search", q="lighthuose +keepers")
    assert "Results for lighthouse +keepers." in page.text and len(links(page)) == 15

    typed = followed(client, page, "/search", q="lighthuose +keepers", exact="1")
    assert "Did you mean lighthouse +keepers?" in typed.text


def test_words_of_the_thesaurus_are_shown_and_each_can_be_dropped(client: TestClient) -> None:
    page = seen(client, "/search", q="violin")
    assert "Also searched for" in page.text and "cello ×" in page.text

    only = followed(client, page, "/search", q="violin", expand="0")
    assert "Also searched for" not in only.text

    kept = [parse_qs(urlsplit(address).query).get("add", []) for address in chips(page)]
    assert all(len(words) == len(kept) - 1 for words in kept)


def test_related_word_is_added_and_dropped_by_one_click(client: TestClient) -> None:
    page = seen(client, "/search", q="violin", expand="0")
    assert "Related" in page.text

    more = followed(client, page, "/search", q="violin", expand="0", add="cello")
    assert "You added" in more.text

    assert "You added" not in seen(client, chips(more)[0]).text


def test_no_more_words_are_offered_than_may_be_added(client: TestClient) -> None:
    few = {"q": "violin", "expand": "0"}
    full = seen(client, "/search", **few, add=[f"w{number}" for number in range(MAX_ADDED)])

    assert "Related" in seen(client, "/search", **few).text and "Related" not in full.text


# ---- explain


def test_explanation_adds_up_and_is_linked_from_the_hit(client: TestClient) -> None:
    asked = {"q": "molecular biology"}
    hit = client.get("/api/search", params=asked).json()["hits"][0]

    page = followed(client, seen(client, "/search", **asked), "/explain", **asked)
    explained = client.get("/api/explain", params={**asked, "number": hit["number"]}).json()

    assert page.all("table") and links(page) == [hit["url"]] == [explained["url"]]
    assert explained["score"] == pytest.approx(sum(part["contribution"] for part in explained["parts"]))


def test_hit_of_a_later_page_is_explained_by_the_search_that_found_it(client: TestClient) -> None:
    asked = {"q": "lighthouse", "page": "3"}
    last = client.get("/api/search", params=asked).json()["hits"][-1]

    explained = client.get("/api/explain", params={**asked, "number": last["number"]}).json()
    elsewhere = client.get("/api/explain", params={"q": "lighthouse", "number": last["number"]})

    assert explained["url"] == last["url"] and explained["parts"]
    assert elsewhere.status_code == 404 and "page and limit" in elsewhere.json()["error"]


def test_explaining_costs_one_search_also_of_what_is_not_there(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, asked = client.app.state.answers, list[Any]()  # type: ignore[attr-defined]
    really = answers.ask

    async def counted(question: Any) -> Any:
        asked.append(question)
        return await really(question)

    monkeypatch.setattr(answers, "ask", counted)

    assert client.get("/explain?q=lighthouse&number=99999").status_code == 404
    assert client.get("/api/explain?q=lighthouse&number=99999").json() == {
        "error": "that page is not on this page of the results: give page and limit as in the search"
    }
    assert len(asked) == 2


def test_explanation_counts_the_words_of_the_thesaurus(client: TestClient) -> None:
    results = client.get("/api/search", params={"q": "violin", "explain": "1"}).json()
    assert results["added"]

    for hit in results["hits"]:
        explained = client.get("/api/explain", params={"q": "violin", "number": hit["number"]}).json()
        assert explained["parts"] == hit["explanation"]


# ---- what is refused

WRONG = [
    "page=0",
    "lang=1",
    "page=-1",
    "page=1e9",
    "page=1000000000",
    "page=٣",
    "page=1&page=2",
    "q=other",
    "limit=101",
    "ranking=nothing",
    "expand=yes",
    "explain=1&limit=21",
    "within=%00",
    "&".join(f"add=w{number}" for number in range(21)),
    "&".join(f"within=w{number}" for number in range(6)),
    "&".join("x=" for _ in range(100)),
    f"within={'a' * 2001}",
]


@pytest.mark.parametrize("wrong", WRONG)
def test_what_cannot_be_is_told_in_one_line(client: TestClient, wrong: str) -> None:
    page, api = client.get(f"/search?q=biology&{wrong}"), client.get(f"/api/search?q=biology&{wrong}")

    assert page.status_code == api.status_code == 400
    (line,) = api.json().values()
    assert line and "\n" not in line
    assert line in Seen(page.text).text


@pytest.mark.parametrize(
    "sent, read",
    [
        ("caf%C3%A9", "café"),
        ("caf%E9", "café"),  # of a form on a page in ISO-8859-1
        ("100+%80", "100 €"),  # windows-1252, as browsers take that for
        ("%CF%F0%E8", "Ïðè"),  # windows-1251 is not told from it
        ("%ed%a0%80", "í\xa0€"),  # UTF-8 has no surrogates
        ("%81", "\ufffd"),  # stands for nothing in windows-1252
    ],
)
def test_query_that_is_no_utf_8_is_read_as_windows_1252(client: TestClient, sent: str, read: str) -> None:
    assert client.get(f"/api/search?q={sent}").json()["query"] == read
    assert Seen(client.get(f"/search?q={sent}&x=%ff").text).all("input")[0]["value"] == read


@pytest.mark.parametrize("query", ["%00", "a" * 2001])
def test_query_that_is_no_text_or_too_long_is_refused(client: TestClient, query: str) -> None:
    for path in ("/search", "/api/search", "/suggest", "/api/suggest", "/explain"):
        assert client.get(f"{path}?q={query}&number=1").status_code == 400


def test_what_was_typed_is_kept_where_another_parameter_is_wrong(client: TestClient) -> None:
    page = Seen(client.get("/search?q=a+%22b&page=0").text)

    assert page.all("input")[0]["value"] == 'a "b'
    assert href(page, "/search", q='a "b')


def test_api_names_what_is_missing_and_the_page_shows_the_form_without_a_query(client: TestClient) -> None:
    assert client.get("/api/explain?q=x").json() == {"error": "number is missing"}
    assert client.get("/search").status_code == client.get("/search?q=").status_code == 200


def test_other_paths_are_not_found_and_other_methods_not_allowed(client: TestClient) -> None:
    assert client.get("/nowhere").status_code == 404
    assert client.get("/api/nowhere").json()["error"]
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert client.request(method, "/search?q=x").status_code == 405


def test_failure_of_our_own_is_told_without_a_trace(crawl_dir: Path) -> None:
    app = make_app(Config(crawl_dir))
    app.state.answers.search = None  # whatever goes wrong
    with TestClient(app, "http://localhost", raise_server_exceptions=False) as client:
        page, api = client.get("/search?q=x"), client.get("/api/search?q=x")

    assert page.status_code == api.status_code == 500
    assert "Traceback" not in page.text and "NoneType" not in page.text + api.text
    assert "content-security-policy" in page.headers


@settings(
    max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(query=st.text(max_size=80))
def test_any_text_gets_an_answer(client: TestClient, query: str) -> None:
    for path in ("/search", "/api/search", "/suggest"):
        response = client.get(path, params={"q": query.encode("utf-8", "replace").decode()})

        assert response.status_code in (200, 400)


@asynccontextmanager
async def busy(answers: Answers, searches: int) -> AsyncIterator[threading.Event]:
    """While so many searches wait for the event, at the latest for the end of the block; all are finished."""
    release = threading.Event()
    waiting = asyncio.gather(*(answers.ask(lambda _: release.wait()) for _ in range(searches)))
    await asyncio.sleep(0)
    try:
        yield release
    finally:
        release.set()
    assert all(await waiting)


def test_more_searches_than_can_be_answered_in_time_are_refused(client: TestClient) -> None:
    answers = client.app.state.answers  # type: ignore[attr-defined]

    async def crowd() -> None:
        async with busy(answers, MAX_WAITING):
            with pytest.raises(Unavailable):
                await answers.ask(lambda _: None)

    asyncio.run(crowd())


def test_who_waits_too_long_is_told_so_then(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webcrawler.web.answers.LATE_SECONDS", 0.01)
    answers = client.app.state.answers  # type: ignore[attr-defined]

    async def ask() -> None:
        async with busy(answers, 2):
            with pytest.raises(NotNow):
                await answers.ask(lambda _: None)

    asyncio.run(ask())


def client_of(app: Starlette) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost")


def test_busy_threads_are_no_broken_index(crawl_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webcrawler.web.answers.LATE_SECONDS", 0.01)
    app = make_app(Config(crawl_dir))

    async def ask() -> httpx.Response:
        async with client_of(app) as web, busy(app.state.answers, app.state.config.threads):
            return await web.get("/healthz")

    answer = asyncio.run(ask())

    assert (answer.status_code, answer.json()["reason"]) == (503, BUSY)


# ---- for programs


def test_api_gives_what_the_command_prints(client: TestClient) -> None:
    answer = client.get("/api/search", params={"q": "molecular biology", "limit": "2"}).json()

    assert [hit["url"] for hit in answer["hits"]] == links(seen(client, "/search", q="molecular biology"))[:2]
    assert answer["total"] == 3 and answer["more"] is True
    assert answer["hits"][0]["fetched"] == "2023-11-14T22:13:20+00:00"


def test_reference_page_names_the_keys_of_each_answer(client: TestClient) -> None:
    results = client.get("/api/search?q=molecular+biology&explain=1&typed=1").json()
    (hit, *_), number = results["hits"], results["hits"][0]["number"]

    for name, answer in {
        "Results": results,
        "Hit": hit,
        "Part": hit["explanation"][0],
        "Explained": client.get("/api/explain", params={"q": "molecular biology", "number": number}).json(),
        "Related": Related("genome", "gene", 0.3)._asdict(),
        "Suggestions": client.get("/api/suggest?q=mol").json(),
        "Status": client.get("/api/status").json(),
    }.items():
        assert api_names(name) == set(answer), name
    assert set(client.get("/api/search").json()) == {"error"}


def test_boxes_are_told_the_words_of_the_query_in_each_snippet(client: TestClient) -> None:
    asked = client.get("/api/search", params={"q": "molecular genome", "typed": "1"}).json()
    plain = client.get("/api/search", params={"q": "molecular genome"}).json()

    assert asked["answer"] == "" and "answer" not in plain  # nothing is logged
    for hit, same in zip(asked["hits"], plain["hits"], strict=True):
        assert "".join(hit["marked"]) == hit["snippet"] and "marked" not in same
        assert {word.lower() for word in hit["marked"][1::2]} <= {"molecular", "genome"}
    assert any(hit["marked"][1::2] for hit in asked["hits"])


def test_words_are_marked_in_a_thread_and_not_on_the_event_loop(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mark(snippets: Snippets, text: str, language: str) -> list[tuple[str, bool]]:
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()
        return [("marked", True)]

    monkeypatch.setattr(Snippets, "mark", mark)
    answer = client.get("/api/search", params={"q": "molecular genome", "typed": "1"})

    assert answer.status_code == 200 and answer.json()["hits"][0]["marked"] == ["marked"]


def test_api_demands_what_the_reference_page_says_is_required(client: TestClient) -> None:
    demanding = {
        "/api/search": True,
        "/api/explain?q=biology": True,
        "/api/suggest": False,
        "/api/status": False,
    }

    assert {path: client.get(path).status_code == 400 for path in demanding} == demanding


def test_reference_page_names_each_parameter_that_is_read() -> None:
    names = {field.name for field in fields(SearchRequest)} - {"language"}  # that is a header's

    assert api_names("Parameters") == names | {"lang", "typed", "number"}


def test_browser_can_add_the_search(client: TestClient) -> None:
    page = seen(client, "/")
    (link,) = [link for link in page.all("link") if link.get("rel") == "search"]

    described = fromstring(client.get(link["href"] or "").content)

    urls = {url.get("type"): url.get("template") for url in described.iter(f"{{{NAMESPACE}}}Url")}
    assert (urls["text/html"] or "").startswith("http://localhost:8000/search?q={searchTerms}")
    assert urls["application/x-suggestions+json"] == "http://localhost:8000/suggest?q={searchTerms}"


def test_public_address_is_used_where_it_is_set(crawl_dir: Path) -> None:
    with served(crawl_dir, url="https://search.example.org/") as client:
        assert 'template="https://search.example.org/search?q=' in client.get("/opensearch.xml").text


def test_suggestions_are_a_query_and_a_list(client: TestClient) -> None:
    response = client.get("/suggest", params={"q": "mol"})

    query, suggested = response.json()
    assert query == "mol" and all(isinstance(one, str) for one in suggested)
    assert response.headers["content-type"].startswith("application/x-suggestions+json")


# ---- caching


def test_answer_is_remembered_until_the_index_changes(tmp_path: Path) -> None:
    publish(tmp_path, [entry(PAGES[0])])
    with served(tmp_path, fresh_seconds=0) as client:
        first, again = (client.get("/api/search?q=biology").json() for _ in range(2))
        assert first == again  # seconds, too

        publish(tmp_path, [entry(PAGES[1])])

        assert client.get("/api/search?q=biology").json()["total"] == 2


def test_large_answers_are_not_remembered(crawl_dir: Path) -> None:
    with served(crawl_dir) as client:
        known = client.app.state.metrics.answers_cached._value  # type: ignore[attr-defined]
        for more in ("limit=40", "limit=40", "explain=1", "explain=1"):
            client.get(f"/search?q=lighthouse&{more}")
        assert known.get() == 0

        for _ in range(2):
            client.get("/search?q=lighthouse&limit=20")
        assert known.get() == 1


def test_answers_are_kept_by_nobody_else_and_static_files_for_long(client: TestClient) -> None:
    page = client.get("/search?q=biology")
    (style,) = (one["href"] or "" for one in Seen(page.text).all("link") if one.get("rel") == "stylesheet")

    assert page.headers["cache-control"] == "private, no-cache"
    assert "immutable" in client.get(style).headers["cache-control"]
    assert client.get("/static/style.css").status_code == 404
    assert client.get("/static/../app.py").status_code == 404


# ---- addresses as people read them


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://example.com/", "example.com"),
        ("https://example.com/a%20b", "example.com/a%20b"),  # a space cannot be seen
        ("http://example.com:8080/caf%C3%A9", "example.com:8080/café"),
        ("http://xn--bcher-kva.de/", "bücher.de"),
        ("http://xn--r8jz45g.jp/", "例え.jp"),  # Han and Hiragana are written together
        ("http://xn--e1afmkfd.xn--p1ai/", "пример.рф"),
        ("http://xn--pple-43d.com/", "xn--pple-43d.com"),  # a Cyrillic a before pple
        ("http://xn--80ak6aa92e.com/", "xn--80ak6aa92e.com"),  # all Cyrillic, all look Latin
        ("http://example.com/%E2%80%AEgpj.exe", "example.com/%E2%80%AEgpj.exe"),  # turns the direction
        ("http://example.com/%FF", "example.com/%FF"),
    ],
)
def test_address_is_shown_as_people_read_it(url: str, shown: str) -> None:
    assert readable(url) == shown
