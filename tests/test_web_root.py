"""The page below a path of a host with other pages, behind proxies that take the path off or leave it."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from searched import entry, publish
from starlette.testclient import TestClient

from webcrawler.errors import BadInput
from webcrawler.web import Config, make_app

ADDRESS = "https://example.org"
PAGES = [
    "/",
    "/search?q=harbour&facets=1&within=pilots&add=ships",
    "/search?q=harbuor",
    "/search?q=xyzzyplugh",
    "/explain?q=harbour&number=1",
    "/cached?number=1",
    "/status",
    "/status/pages",
    "/about",
    "/live",
    "/nowhere/at/all",
    "/search?q=harbour&page=x",
]


class Links(HTMLParser):
    """The addresses of a page that are its own, not those of hits."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.own: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = [value or "" for name, value in attrs if name in ("href", "src", "action", "ping")]
        self.own += [value for value in named if not value.startswith(("http", "#"))]


def served(folder: Path, path: str) -> TestClient:
    app = make_app(Config(folder, url=ADDRESS + path, live="all", feedback=True, query_log_days=1))
    return TestClient(app, ADDRESS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawl")
    publish(folder, [entry((f"http://s{n}.test/", "Harbour", "harbour pilots and ships")) for n in range(20)])
    return folder


@pytest.fixture(scope="module", params=["", "/find"], ids=["taken off", "left"])
def below(request: pytest.FixtureRequest, folder: Path) -> Iterator[tuple[TestClient, str]]:
    """The page at /find/, and what its proxy leaves of that path."""
    with served(folder, "/find/") as client:
        yield client, request.param


@pytest.mark.parametrize("page", PAGES)
def test_all_links_of_a_page_stay_below_its_path_and_lead_somewhere(
    below: tuple[TestClient, str], page: str
) -> None:
    client, left = below
    links = Links(client.get(left + page).text).own

    assert len(links) > 5
    for link in links:
        assert urljoin(f"{ADDRESS}/find{page}", link).startswith(f"{ADDRESS}/find/"), link
        answer = client.get(left + link.removeprefix("/find"))
        assert answer.status_code == 200 or urlsplit(link).path in ("/find/judge", "/find/used"), link


def test_who_judges_is_led_back_below_the_path(below: tuple[TestClient, str]) -> None:
    client, left = below
    token = client.get(f"{left}/search?q=harbour").text.partition('name="token" value="')[2][:64]
    given = {"q": "harbour", "number": 1, "token": token, "verdict": "good"}
    answer = client.post(f"{left}/judge", data=given, follow_redirects=False)

    assert answer.headers["location"] == "/find/search?q=harbour#hit-1"


def test_programs_and_browsers_are_told_the_path(below: tuple[TestClient, str]) -> None:
    client, left = below

    assert f'template="{ADDRESS}/find/search?q=' in client.get(f"{left}/opensearch.xml").text


@pytest.mark.parametrize("path", ["/find", "/find/", "/a/b/", "/search", "/s%C3%BCche/", "/~me/"])
def test_page_is_at_its_path_with_and_without_a_slash(folder: Path, path: str) -> None:
    path = path.rstrip("/")
    with served(folder, path) as client:
        for address in (path, f"{path}/", "/"):
            answer = client.get(address)
            assert answer.status_code == 200 and f'action="{path}/search"' in answer.text, address
        for address in (f"{path}/search?q=harbour", "/search?q=harbour"):
            assert 'class="hits' in client.get(address).text, address


def test_path_that_only_begins_alike_is_not_taken_off(folder: Path) -> None:
    with served(folder, "/s") as client:
        assert client.get("/status").status_code == client.get("/s/status").status_code == 200
        assert client.get("/search?q=harbour").status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/find?q=x",
        "/find#top",
        "//find/",
        "/a/../b",
        "/a b/",
        '/"x/',
        "/süche/",
        "/api",
        "/live/",
        "/static/x",
        "/status",
        "/about/us",
        "/%61pi",
        "/robots.txt",
    ],
)
def test_path_that_links_cannot_begin_with_is_refused(folder: Path, path: str) -> None:
    with pytest.raises(BadInput, match="SERVE_URL"):
        served(folder, path)
