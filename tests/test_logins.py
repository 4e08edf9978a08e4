"""Logging in: cookies and headers go to their own site only, and others do not see what they open."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conftest import Run
from issuing import self_signed
from localweb import Answer, Crawled, Route, Site, copy_at_rest, crawl, page, redirect
from scrapy.settings import BaseSettings
from warcio.archiveiterator import ArchiveIterator

from webcrawler import urls
from webcrawler.archive.catalog import Catalog
from webcrawler.crawl import wiring
from webcrawler.crawl.run import Logins
from webcrawler.errors import BadInput
from webcrawler.parsing import parse, with_headers

SECRET, TOKEN, NEW = "s3cr3t-of-the-cookie", "t0ken-of-the-header", "n3w-cookie-of-the-answer"
WITH_TEXTS = json.dumps(wiring.SETTINGS["ITEM_PIPELINES"])
LATER = 4_102_444_800  # 2100


# Domain, below it, too? path, over HTTPS only? when it expires, name=value
Cookie = tuple[str, bool, str, bool, int, str]


def cookies(cookie: Cookie) -> str:
    """A cookies.txt."""
    domain, below, path, secure, expires, pair = cookie
    flags = (str(below).upper(), path, str(secure).upper(), str(expires), *pair.split("="))
    return "# Netscape HTTP Cookie File\n" + "\t".join((domain, *flags)) + "\n"


def logins(folder: Path, cookie_file: str = "", headers: object = None, indexed: str = "") -> Logins:
    given = {"LOGIN_COOKIES": "", "LOGIN_HEADERS": "", "LOGIN_INDEXED": indexed}
    for name, content in (("LOGIN_COOKIES", cookie_file), ("LOGIN_HEADERS", headers)):
        if content:
            file = folder / name.lower()
            file.write_text(content if isinstance(content, str) else json.dumps(content))
            file.chmod(0o600)
            given[name] = str(file)
    return Logins.read(BaseSettings(given))


SENT = [
    (("a.example", False, "/", False, LATER, "id=1"), "http://a.example/x", "id=1"),
    (("a.example", False, "/", False, LATER, "id=1"), "http://b.a.example/x", ""),  # for one host
    (("a.example", False, "/", False, LATER, "id=1"), "http://nota.example/x", ""),
    ((".a.example", True, "/", False, LATER, "id=1"), "http://b.a.example/x", "id=1"),
    ((".a.example", True, "/", False, LATER, "id=1"), "http://nota.example/x", ""),
    ((".a.example", True, "/", False, LATER, "id=1"), "http://a.example.evil.example/x", ""),
    (("a.example", False, "/in/", False, LATER, "id=1"), "http://a.example/out", ""),
    (("a.example", False, "/", True, LATER, "id=1"), "http://a.example/x", ""),  # over HTTPS only
    (("a.example", False, "/", True, LATER, "id=1"), "https://a.example/x", "id=1"),
    (("a.example", False, "/", False, 0, "id=1"), "http://a.example/x", "id=1"),  # of a browser's session
    (
        ("a.example", False, "/", False, -1, "id=1"),
        "http://a.example/x",
        "id=1",
    ),  # the same, as Puppeteer has it
    (("a.example", False, "/", False, 1, "id=1"), "http://a.example/x", ""),  # expired
    (("127.0.0.1", False, "/", False, LATER, "id=1"), "http://127.0.0.1:8080/", "id=1"),
    (("wiki", False, "/", False, LATER, "id=1"), "http://wiki/", "id=1"),
    (("wiki", False, "/", False, LATER, "id=1"), "http://wiki.example/", ""),
]


@pytest.mark.parametrize(("cookie", "url", "sent"), SENT)
def test_cookie_goes_where_a_browser_would_send_it(
    tmp_path: Path, cookie: Cookie, url: str, sent: str
) -> None:
    assert logins(tmp_path, cookies(cookie)).of(url).get("Cookie", "") == sent


@pytest.mark.parametrize(("old", "new"), [("# Net", "\ufeff# Net"), ("# Netscape HTTP Cookie File\n", "")])
def test_a_file_with_a_byte_order_mark_or_without_its_first_line_is_read(
    tmp_path: Path, old: str, new: str
) -> None:
    file = cookies(("a.example", False, "/", False, LATER, "id=1")).replace(old, new)

    assert logins(tmp_path, file).of("http://a.example/x") == {"Cookie": "id=1"}


@pytest.mark.parametrize(
    ("url", "is_sent"),
    [
        ("https://a.example/any", True),
        ("https://A.example:443/any", True),
        ("http://a.example/any", False),
        ("https://a.example:8443/any", False),
        ("https://b.a.example/any", False),
    ],
)
def test_header_goes_to_one_server(tmp_path: Path, url: str, is_sent: bool) -> None:
    given = logins(tmp_path, headers={"https://a.example": {"Authorization": "Bearer 1"}})

    assert given.of(urls.resolve(url)) == ({"Authorization": "Bearer 1"} if is_sent else {})


BAD_HEADERS = [
    "not JSON",
    ["https://a.example"],
    {"https://a.example": TOKEN},
    {"https://a.example/path": {"X-Token": TOKEN}},
    {"a.example": {"X-Token": TOKEN}},
    {"https://a.example": {"X-Token": f"{TOKEN}\r\nX-Other: 1"}},
    {"https://a.example": {"X Token": TOKEN}},
    {"https://a.example": {"X-Token": 7}},
    {"https://a.example": {"Host": TOKEN}},
]
BAD_COOKIES = ["{}", f"# Netscape HTTP Cookie File\na.example {TOKEN}\n"]
BAD_FILES = [
    *(({"headers": headers}, "LOGIN_HEADERS=.* is not valid: write JSON") for headers in BAD_HEADERS),
    *(({"cookie_file": lines}, "LOGIN_COOKIES=.* is no cookies.txt") for lines in BAD_COOKIES),
]


@pytest.mark.parametrize(("files", "told"), BAD_FILES, ids=str)
def test_file_that_is_not_valid_is_told_without_what_is_in_it(
    tmp_path: Path, files: dict[str, Any], told: str
) -> None:
    with pytest.raises(BadInput, match=told) as raised:
        logins(tmp_path, **files)

    assert TOKEN not in str(raised.value)


def test_missing_file_is_told(run: Run, tmp_path: Path) -> None:
    done = run("crawl", "index", "-s", f"LOGIN_HEADERS={tmp_path / 'none'}", "-a", "seeds=http://a.example/")

    assert done.status == 2
    assert "LOGIN_HEADERS" in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_file_that_others_may_read_and_cookies_that_have_expired_are_told(tmp_path: Path) -> None:
    file = tmp_path / "cookies.txt"
    file.write_text(cookies(("a.example", False, "/", False, 1, f"id={SECRET}")))
    file.chmod(0o644)

    given = {"LOGIN_COOKIES": str(file), "LOGIN_HEADERS": "", "LOGIN_INDEXED": ""}
    may_be_read, has_expired = Logins.read(BaseSettings(given)).complaints

    assert "chmod 600" in may_be_read and "export them again" in has_expired


def test_page_with_the_mark_in_any_spelling_is_not_indexed_and_says_nothing_of_others() -> None:
    html = b"<title>Private</title><p>words around <a href='http://b.example/'>the secret plan</a>"
    page = with_headers(parse(html, "http://a.example/"), [("x-WEBCRAWLER-private", "login")])

    assert page.noindex
    assert [(link.url, link.anchor, link.context) for link in page.links] == [("http://b.example/", "", "")]


# ---- a crawl


def greeting(site: Site) -> Answer:
    """Shows its secret page to those who have logged in."""
    received = site.request.headers
    if received.get("Cookie") != f"id={SECRET}" or received.get("X-Token") != TOKEN:
        return Answer("<title>Please log in</title>", 403)
    html = "<title>Minutes of the board</title><p>The plan is mauve</p><a href=/two>the mauve plan</a>"
    return Answer(html, headers={"Set-Cookie": f"id={NEW}"})


class Login(NamedTuple):
    found: Crawled
    inside: Site
    outside: Site
    is_indexed: bool


@pytest.fixture(scope="module", params=["private", "indexed"])
def login(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Login]:
    """A site that wants a login links and redirects to another one, on another host."""
    folder = tmp_path_factory.mktemp("login")
    routes: dict[str, Route] = {"/": greeting, "/two": greeting}
    inside, outside = Site(routes).start(), Site({"*": page()}, host="127.0.0.2").start()
    routes["/away"] = redirect(f"{outside.url}/redirected", 302)
    routes["/links"] = page(f"{outside.url}/linked", "/away")
    header_file, cookie_file = folder / "headers.json", folder / "cookies.txt"
    header_file.write_text(json.dumps({inside.url: {"X-Token": TOKEN}}))
    cookie_file.write_text(cookies(("127.0.0.1", False, "/", False, LATER, f"id={SECRET}")))
    is_indexed = request.param == "indexed"
    found = crawl(
        folder / "crawl",
        *("index", "-a", f"seeds={inside.url}/,{inside.url}/links"),
        ADDRESSES_ALLOWED="127.0.0.0/8",
        ITEM_PIPELINES=WITH_TEXTS,
        LOG_LEVEL="DEBUG",
        LOGIN_COOKIES=cookie_file,
        LOGIN_HEADERS=header_file,
        LOGIN_INDEXED=inside.url if is_indexed else "",
    )
    at_rest = copy_at_rest(folder / "crawl", folder / "at-rest")  # the index has it all, and no file changes
    yield Login(Crawled(at_rest, found.status, found.log), inside, outside, is_indexed)
    inside.stop()
    outside.stop()


@pytest.mark.slow
def test_pages_behind_the_login_are_fetched(login: Login) -> None:
    assert {f"{login.inside.url}/", f"{login.inside.url}/two"} <= login.found.documents()


@pytest.mark.slow
def test_no_other_host_is_sent_anything_and_robots_txt_is_asked_for_without_a_login(login: Login) -> None:
    (robots_txt,) = [one for one in login.inside.received if one.path == "/robots.txt"]

    assert {"/linked", "/redirected"} <= set(login.outside.asked)
    for one in (*login.outside.received, robots_txt):
        assert "Cookie" not in one.headers and "X-Token" not in one.headers


@pytest.mark.slow
def test_nothing_secret_is_stored_or_logged(login: Login) -> None:
    folder = login.found.folder
    written = [file.read_bytes() for file in folder.rglob("*") if file.is_file()]
    for file in folder.rglob("*.warc.gz"):
        with file.open("rb") as stream:
            records = list(ArchiveIterator(stream, no_record_parse=False))
            written += [str(one.rec_headers).encode() + str(one.http_headers).encode() for one in records]
            assert {one.rec_type for one in records} <= {"warcinfo", "response", "revisit", "metadata"}

    assert len(written) > 3
    for secret in (SECRET, TOKEN, NEW):
        assert secret not in login.found.log
        assert not any(secret.encode() in one for one in written)


@pytest.mark.slow
def test_page_is_in_the_index_only_if_its_owner_says_so(login: Login) -> None:
    with closing(Catalog(login.found.folder / "catalog.sqlite", readonly=True)) as catalog:
        document = catalog.find(f"{login.inside.url}/")
        assert document is not None
        (links,) = catalog.links.followed([document.number]).values()
        assert document.noindex is not login.is_indexed
        assert bool(catalog.texts([document.number])) is login.is_indexed
        assert {link.anchor for link in links} == ({"the mauve plan"} if login.is_indexed else {""})


@pytest.mark.slow
def test_search_and_export_have_it_only_if_its_owner_says_so(login: Login, run: Run, tmp_path: Path) -> None:
    found, is_indexed = login.found, login.is_indexed
    searched = run("search", "mauve", "--json", folder=found.folder)
    exported = run("export", str(tmp_path / "out.warc.gz"), "--json", folder=found.folder)

    assert ("Minutes" in searched.out) is is_indexed
    assert json.loads(exported.out)["private"] == (0 if is_indexed else 3)
    with (tmp_path / "out.warc.gz").open("rb") as stream:
        bodies = [one.content_stream().read() for one in ArchiveIterator(stream)]
    assert any(b"mauve" in body for body in bodies) is is_indexed


@pytest.mark.slow
def test_it_stays_private_when_the_catalog_is_made_anew(login: Login, run: Run, tmp_path: Path) -> None:
    done = run("import", *map(str, (login.found.folder / "pages").glob("*.warc.gz")))
    assert done.status == 0, done.err

    with closing(Catalog(tmp_path / "crawl" / "catalog.sqlite", readonly=True)) as catalog:
        document = catalog.find(f"{login.inside.url}/")
        assert document is not None
        assert document.noindex is not login.is_indexed


@pytest.mark.slow
def test_nothing_is_sent_to_a_server_with_a_bad_certificate(tmp_path: Path) -> None:
    made = self_signed("127.0.0.1")
    site = Site({"*": page()}, tls=made.context(tmp_path)).start()
    file = tmp_path / "headers.json"
    file.write_text(json.dumps({site.url: {"X-Token": TOKEN}}))
    try:
        found = crawl(tmp_path / "crawl", "index", "-a", f"seeds={site.url}/", LOGIN_HEADERS=file)
    finally:
        site.stop()

    assert site.received == []
    assert found.reason(f"{site.url}/") == "failed/certificate-self-signed"
