"""The page for webmasters: who crawls, how to be left alone, what is kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from browsing import ANY, barriers, opened, served
from lxml import html as lxml_html
from playwright.sync_api import Browser
from starlette.testclient import TestClient

from webcrawler.robots import product_token, verdict
from webcrawler.settings import user_agent
from webcrawler.web import Config, Crawler, make_app
from webcrawler.web.app import href_of

LOCAL, STRANGER = "127.0.0.1", "203.0.113.9"
HINT = "Set USER_AGENT_CONTACT"


@contextmanager
def web(folder: Path, client: str = LOCAL, **changes: Any) -> Iterator[TestClient]:
    config = Config(folder, **changes)
    with TestClient(make_app(config), "http://localhost", client=(client, 1)) as client_of:
        yield client_of


def text_of(page: TestClient, **headers: str) -> str:
    answer = page.get("/about", headers=headers)
    assert answer.status_code == 200
    return " ".join("".join(map(str, lxml_html.fromstring(answer.text).itertext())).split())


def test_footer_of_each_page_leads_to_it(tmp_path: Path) -> None:
    with web(tmp_path) as page:
        for path in ("/", "/status", "/about", "/nowhere"):
            assert '<a href="/about">For webmasters</a>' in page.get(path).text


def test_it_says_who_comes_why_and_what_is_kept(tmp_path: Path) -> None:
    crawler = Crawler("gardenbot", "GardenBot/2 (+https://garden.test/bot)", True, 2.5, 30.0, 1.0, 14.0)
    about = "To search <all> gardens."
    with web(tmp_path, crawler=crawler, about=about, contact="bot@garden.test") as page:
        text = text_of(page)

    assert "GardenBot/2 (+https://garden.test/bot)" in text
    assert about in text
    assert "waits 2.5 seconds or more" in text and "Crawl-delay up to 30 seconds" in text
    assert "1 hour later" in text and "after 14 days" in text
    assert "bot@garden.test" in text and HINT not in text


def test_the_robots_txt_that_it_shows_shuts_the_crawler_out(tmp_path: Path) -> None:
    agent = "Mozilla/5.0 (compatible; GardenBot/2; +https://garden.test)"
    crawler = Crawler(product_token(agent), agent)
    with web(tmp_path, crawler=crawler) as page:
        tree = lxml_html.fromstring(page.get("/about").text)
    all_of_it, a_part = (str(pre.text_content()).encode() for pre in tree.iter("pre"))

    assert not verdict(200, all_of_it, agent).allowed("http://a.test/")
    assert not verdict(200, a_part, agent).allowed("http://a.test/private/x")
    assert verdict(200, a_part, agent).allowed("http://a.test/")


def test_crawler_that_does_not_obey_robots_txt_does_not_say_that_it_does(tmp_path: Path) -> None:
    with web(tmp_path, crawler=Crawler(obeys_robots=False)) as page:
        text = text_of(page)

    assert "robots.txt" not in text
    assert "X-Robots-Tag: noindex" in text


@pytest.mark.parametrize(
    "client, headers, told",
    [
        (LOCAL, {}, True),
        ("::1", {}, True),
        (STRANGER, {}, False),
        (LOCAL, {"X-Forwarded-For": STRANGER}, False),  # a proxy that nobody told us of
    ],
)
def test_how_to_set_the_contact_is_told_to_the_owner_alone(
    tmp_path: Path, client: str, headers: dict[str, str], told: bool
) -> None:
    with web(tmp_path, client) as page:
        text = text_of(page, **headers)

    assert (HINT in text) is told
    assert ("has not said how to be reached" in text) is not told


@pytest.mark.parametrize(
    "contact, href",
    [
        ("bot@garden.test", "mailto:bot@garden.test"),
        ("https://garden.test/bot?a=1", "https://garden.test/bot?a=1"),
        ("javascript:alert(1)", ""),
        ("javascript:a@b", ""),
        ("call 555-0199", ""),
        ("a@b.test?bcc=c@d.test", ""),
        ("<a@b.test>", "mailto:<a@b.test>"),  # escaped where it is shown
        ("", ""),
    ],
)
def test_only_addresses_of_pages_and_mail_are_links(contact: str, href: str) -> None:
    assert href_of(contact) == href


def test_all_that_the_owner_says_is_escaped(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    crawler = Crawler(evil, evil)
    with web(tmp_path, crawler=crawler, about=evil, contact=f"{evil}@b.test", title=evil) as page:
        found = page.get("/about").text

    assert "<script>alert" not in found


def test_user_agent_names_the_contact_once() -> None:
    named = {"USER_AGENT": "bot/1", "USER_AGENT_CONTACT": "https://a.test"}
    assert user_agent(named) == "bot/1 (+https://a.test)"
    assert user_agent(named | {"USER_AGENT": "bot/1 https://a.test"}) == "bot/1 https://a.test"
    assert user_agent(named | {"USER_AGENT_CONTACT": ""}) == "bot/1"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_it_shuts_nobody_out_and_fits_the_screen(
    chromium: Browser, tmp_path: Path, scheme: str, width: int
) -> None:
    options = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    with served(tmp_path) as address, opened(chromium, address, **options) as page:
        page.goto("/about")

        assert barriers(page, ANY) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
