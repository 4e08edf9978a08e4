"""FTP and Gopher, where PROTOCOLS names them: their lists are pages with links, under the rules of the web.

With real servers: pyftpdlib and pygopherd (`oldservers`).
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from dumped import differences, dumped
from hypothesis import given
from hypothesis import strategies as some
from inprocess import command
from localweb import Crawled, Route, Site, copy_at_rest, crawl, page
from lxml import html
from oldservers import FTPHandler, ftp, gopher
from test_rebuild_command import WITH_INDEX

from webcrawler import urls
from webcrawler.crawl.ftp_gopher import menu
from webcrawler.robots import robots_url, verdict
from webcrawler.urls import AddressRules, UnfetchableUrl

ALL = "http,https,ftp,gopher"
DELAY_SECONDS = 1.0
READ = "text,pdf"  # plain text, too, of which such servers have most
OTHERS = {"http", "https", "ftp", "gopher"}

# ---- URLs


@pytest.mark.parametrize(
    ("written", "base", "canonical"),
    [
        ("FTP://Example.ORG:21/pub/", None, "ftp://example.org/pub/"),
        ("../a%20b.txt", "ftp://example.org/pub/x/", "ftp://example.org/pub/a%20b.txt"),
        ("ftp://me:secret@example.org/a", None, "ftp://example.org/a"),
        ("ftp://a/b", None, "ftp://a/b"),  # a host of one letter
        ("ftp://example.org/index.html", None, "ftp://example.org/index.html"),  # `/` is the folder
        ("Gopher://Example.ORG:70", None, "gopher://example.org/"),
        ("gopher://example.org:80/1/a", None, "gopher://example.org:80/1/a"),
        ("/0/b", "gopher://example.org/1/a", "gopher://example.org/0/b"),
        ("gopher://bücher.example/0/ü", None, "gopher://xn--bcher-kva.example/0/%C3%BC"),
        ("http://example.org/x", "gopher://example.org/1/", "http://example.org/x"),
    ],
)
def test_urls_have_one_canonical_form(written: str, base: str | None, canonical: str) -> None:
    assert urls.canonical(urls.resolve(written, base)) == canonical


@pytest.mark.parametrize("protocol", ["ftp", "gopher"])
def test_links_are_followed_only_where_the_protocol_is_named(protocol: str) -> None:
    url = f"{protocol}://example.org/1/a"

    with pytest.raises(UnfetchableUrl, match="scheme"):
        urls.outlink(url, "http://a.test/", {"http", "https"})
    assert urls.outlink(url, "http://a.test/", OTHERS).refused == ""


@pytest.mark.parametrize("written", ["data:text/html,a", "file:///etc/passwd", "gopher:", "javascript:a()"])
def test_no_setting_permits_anything_else(written: str) -> None:
    with pytest.raises(UnfetchableUrl, match="scheme"):
        urls.outlink(written, "ftp://a.test/", {*OTHERS, "data", "file", "javascript"})


@pytest.mark.parametrize("url", ["gopher://a.test/0x%0D%0AFLUSHALL", "ftp://a.test/x%0aDELE%20y"])
def test_a_url_that_holds_another_command_is_malformed(url: str) -> None:
    with pytest.raises(UnfetchableUrl, match="malformed"):
        urls.resolve(url)


@pytest.mark.parametrize(
    ("item", "refused"),
    [("0", ""), ("1", ""), ("h", ""), ("9", ""), ("7", "extension"), ("g", "extension"), ("8", "extension")],
)
def test_items_of_gopher_that_are_no_documents_are_refused(item: str, refused: str) -> None:
    assert urls.outlink(f"gopher://a.test/{item}/x", "gopher://a.test/", OTHERS).refused == refused


@pytest.mark.parametrize(
    ("scheme", "port", "is_permitted"),
    [
        ("ftp", 21, True),
        ("gopher", 70, True),
        ("gopher", 7070, True),
        ("http", 21, False),
        ("ftp", 22, False),
        ("gopher", 25, False),  # mail
        ("gopher", 389, False),
        ("gopher", 6379, False),  # Redis
    ],
)
def test_gopher_and_ftp_speak_to_no_port_of_another_protocol(
    scheme: str, port: int, is_permitted: bool
) -> None:
    assert AddressRules(["127.0.0.1/32"]).permits_port(port, scheme) == is_permitted


def test_robots_txt_is_a_file_of_ftp_and_an_item_of_gopher_whose_rules_are_for_selectors() -> None:
    rules = verdict(200, b"User-agent: *\nDisallow: /private", "webcrawler")
    assert rules is not None

    assert robots_url("ftp://a.test") == "ftp://a.test/robots.txt"
    assert robots_url("gopher://a.test") == "gopher://a.test/0/robots.txt"
    assert rules.allowed("gopher://a.test/1/public")
    assert not rules.allowed("gopher://a.test/1/private/x")
    assert not rules.allowed("gopher://a.test/0private")
    assert rules.allowed("gopher://a.test/0/robots.txt")


# ---- Menus


@pytest.mark.parametrize(
    ("line", "href"),
    [
        ("1A menu\t/a\ta.test\t70", "gopher://a.test:70/1/a"),
        ("0Text\tx y?#\ta.test\t7070\t+", "gopher://a.test:7070/0x%20y%3F%23"),
        ("hThe web\tURL:http://b.test/\ta.test\t70", "http://b.test/"),
        ("0Old\t/v6\tfe80::1\t70", "gopher://[fe80::1]:70/0/v6"),
        ("iOnly words\tfake\t(NULL)\t0", None),
        ("3An error\t\terror.host\t1", None),
        ("1Without a port\t/a\ta.test\tx", None),
        ("1Half a line", None),
    ],
)
def test_lines_of_a_menu_that_name_a_place_are_links(line: str, href: str | None) -> None:
    read = html.fromstring(menu(f"{line}\r\n.\r\n".encode(), "gopher://a.test/"))

    assert [link.get("href") for link in read.iter("a")] == ([href] if href else [])
    assert line[1:].partition("\t")[0] in read.text_content()


def test_the_title_of_a_menu_is_the_first_line_that_says_something() -> None:
    lines = b"i-----\t\t\t0\r\niOwls <b>\t\t\t0\r\n1Bears\t/b\ta.test\t70\r\n"

    assert html.fromstring(menu(lines, "gopher://a")).findtext(".//title") == "Owls <b>"


@given(some.binary(max_size=300))
def test_any_bytes_make_a_page(body: bytes) -> None:
    assert menu(body, "gopher://a.test/").startswith(b"<!doctype html>")


# ---- Crawls


class Old(NamedTuple):
    """A web of three protocols, and what a crawl of it has left."""

    ftp: str
    gopher: str
    web: Site
    crawled: Crawled


def _ftp_folder(folder: Path) -> Path:
    (folder / "pub" / "owls ü").mkdir(parents=True)
    (folder / "pub" / "owls ü" / "snowy.txt").write_text("The snowy owl hunts by day.")
    (folder / "pub" / "README").write_text("Read this about barn owls.")
    (folder / "pub" / "page.html").write_text('<title>Eagle owl</title><a href="/private/">p</a>')
    (folder / "pub" / "picture.png").write_bytes(b"\x89PNG")
    (folder / "private").mkdir()
    (folder / "private" / "secret.txt").write_text("secret")
    (folder / "robots.txt").write_text("User-agent: *\nDisallow: /private/\n")
    return folder


def _gopher_folder(folder: Path, web: str) -> Path:
    (folder / "sub").mkdir(parents=True)
    (folder / "private").mkdir()
    (folder / "owls.txt").write_text("The tawny owl calls at night.")
    (folder / "sub" / "page.html").write_text("<title>Little owl</title>")
    (folder / "robots.txt").write_text("User-agent: *\nDisallow: /private\n")
    items = ["1Sub\t/sub", "0Owls\t/owls.txt", "0Not there\t/gone", "1Private\t/private"]
    (folder / "gophermap").write_text("\n".join(["Gopher of owls", *items, f"hThe web\tURL:{web}/web", ""]))
    return folder


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Old]:
    make = tmp_path_factory.mktemp
    routes: dict[str, Route] = {"/web": page("/")}
    web = Site(routes).start()
    with (
        ftp(_ftp_folder(make("ftp"))) as files,
        gopher(_gopher_folder(make("gopher"), web.url), make("work")) as menus,
    ):
        web.routes["/"] = page(f"{files}pub", menus)
        arguments = ("index", "-a", f"seeds={web.url}/", "-a", "mode=fifo")
        given = {"PROTOCOLS": ALL, "DOCUMENT_TYPES": READ, "ITEM_PIPELINES": WITH_INDEX}
        found = crawl(make("crawl"), *arguments, LOG_LEVEL="INFO", **given)
        yield Old(files, menus, web, found)
    web.stop()


@pytest.mark.slow
def test_folders_and_menus_are_pages_and_their_links_are_followed(old: Old) -> None:
    of_ftp = {"pub/", "pub/README", "pub/page.html", "pub/owls%20%C3%BC/", "pub/owls%20%C3%BC/snowy.txt"}
    of_gopher = {"", "1/sub", "0/owls.txt", "h/sub/page.html"}

    assert old.crawled.status == 0, old.crawled.log
    of_old = {old.ftp + path for path in of_ftp} | {old.gopher + path for path in of_gopher}
    assert old.crawled.documents() == {f"{old.web.url}/", f"{old.web.url}/web"} | of_old


@pytest.mark.slow
@pytest.mark.parametrize(
    ("of", "path", "reason"),
    [
        ("ftp", "pub", "done/redirect"),  # a folder: its links are relative to `pub/`
        ("ftp", "private/", "failed/robots-disallowed"),
        ("gopher", "0/gone", "failed/not-found"),
        ("gopher", "1/private", "failed/robots-disallowed"),
    ],
)
def test_each_url_comes_to_the_state_that_it_would_have_by_http(
    old: Old, of: str, path: str, reason: str
) -> None:
    assert old.crawled.reason(getattr(old, of) + path) == reason


@pytest.mark.slow
def test_every_url_is_in_one_state_and_pictures_are_refused(old: Old) -> None:
    states = old.crawled.frontier["states"]

    assert states["refused"] == {"extension": 1}
    assert states["seen"] == states["done"] + states["failed"]
    assert states["queued"] == states["leased"] == states["quarantined"] == 0


@pytest.mark.slow
def test_a_rebuild_has_their_documents_with_all_words_and_links(old: Old, tmp_path: Path) -> None:
    folder = copy_at_rest(old.crawled.folder, tmp_path / "crawl")
    before = dumped(folder)

    assert command("check", "--deep", folder=folder).status == 0
    assert command("rebuild", folder=folder, PROTOCOLS=ALL, DOCUMENT_TYPES=READ).status == 0

    assert differences(before, dumped(folder)) == {}


@pytest.fixture(scope="module")
def held_back(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Old]:
    """A crawl with a delay, and a budget of four URLs a server; each server has a list of six files."""
    files, menus, work = (tmp_path_factory.mktemp(name) for name in ("ftp", "gopher", "work"))
    for folder in (files, menus):
        for number in range(6):
            (folder / f"{number}.txt").write_text(f"The owl number {number} of {folder.name} sleeps.")
    (menus / "gophermap").write_text("".join(f"0Owl {number}\t/{number}.txt\n" for number in range(6)))
    with ftp(files) as of_files, gopher(menus, work) as of_menus:
        arguments = ("index", "-a", f"seeds={of_files},{of_menus}", "-a", "mode=fifo")
        bounds = {"FRONTIER_DELAY": DELAY_SECONDS, "BUDGET_SERVER": 4, "BUDGET_REPEATS": 0}
        found = crawl(work / "crawl", *arguments, PROTOCOLS=ALL, DOCUMENT_TYPES=READ, **bounds)
        yield Old(of_files, of_menus, Site(), found)


@pytest.mark.slow
@pytest.mark.parametrize("of", ["ftp", "gopher"])
def test_a_server_has_no_more_urls_than_its_budget_and_is_left_alone_between_two_downloads(
    held_back: Old, of: str
) -> None:
    urls = {url for url in held_back.crawled.documents() if url.startswith(getattr(held_back, of))}
    times = sorted(held_back.crawled.fetch(url).fetched for url in urls)

    assert len(urls) == 4 and getattr(held_back, of) in urls
    assert held_back.crawled.frontier["states"]["refused"].keys() == {"budget-server"}
    assert min(after - before for before, after in pairwise(times)) >= DELAY_SECONDS


@pytest.mark.slow
def test_a_file_that_did_not_change_is_not_sent_again(tmp_path: Path) -> None:
    (tmp_path / "served").mkdir()
    for number in range(12):  # one in five is fetched whole, until the server is known to tell the truth
        (tmp_path / "served" / f"{number}.html").write_text(f"<title>Owl {number}</title>")
    sent: list[str] = []
    with ftp(tmp_path / "served", on_file_sent=lambda _, file: sent.append(Path(file).name)) as served:
        seed = ("index", "-a", f"seeds={served}", "-a", "mode=fifo")
        crawl(tmp_path / "crawl", *seed, PROTOCOLS=ALL, BUDGET_REPEATS=0)
        sent.clear()

        again = crawl(tmp_path / "crawl", *seed, "-a", "refresh=once", PROTOCOLS=ALL, BUDGET_REPEATS=0)

    unchanged = {n for n in range(12) if again.reason(f"{served}{n}.html") == "done/not-modified"}
    assert unchanged
    assert sorted(sent) == sorted(f"{n}.html" for n in range(12) if n not in unchanged)


@pytest.mark.slow
@pytest.mark.parametrize("missing", [("MLSD",), ("EPSV",)])
def test_servers_that_know_only_the_first_commands_are_read(tmp_path: Path, missing: tuple[str, ...]) -> None:
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "a.html").write_text("<title>Owls</title>")
    known = {name: value for name, value in FTPHandler.proto_cmds.items() if name not in missing}
    # The address that it says is another one: the data are fetched from where the answer comes.
    attributes = {"proto_cmds": known, "masquerade_address": "192.0.2.1"}

    with ftp(tmp_path / "served", **attributes) as served:
        found = crawl(tmp_path / "crawl", "index", "-a", f"seeds={served}", PROTOCOLS=ALL)

    assert found.documents() == {served, f"{served}a.html"}


def test_a_seed_that_no_protocol_is_named_for_is_one_clear_line(tmp_path: Path) -> None:
    found = crawl(tmp_path, "index", "-a", "seeds=gopher://127.0.0.1/")

    assert found.status != 0
    assert "gopher://127.0.0.1/ is not fetched: set PROTOCOLS=gopher,http,https" in found.log
    assert "Traceback" not in found.log


@pytest.mark.slow
def test_private_addresses_are_refused_however_they_are_written(tmp_path: Path) -> None:
    seeds = ["ftp://127.0.0.1:2121/", "gopher://localhost:7070/", "ftp://localhost.:2121/"]

    seeded = ("index", "-a", f"seeds={','.join(seeds)}")
    found = crawl(tmp_path, *seeded, PROTOCOLS=ALL, ADDRESSES_ALLOWED="10.0.0.1/32")

    assert {found.reason(urls.canonical(seed)) for seed in seeds} == {"failed/address-refused"}


@contextmanager
def _answering(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server of Gopher that does something wrong."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def serve() -> None:
            while True:
                try:
                    connection = server.accept()[0]
                    with connection:
                        asked = connection.recv(999)
                        connection.sendall(b"") if b"robots" in asked else answer(connection)
                except OSError:
                    if server.fileno() < 0:
                        return

        threading.Thread(target=serve, daemon=True).start()
        yield f"gopher://127.0.0.1:{server.getsockname()[1]}/"
        server.shutdown(socket.SHUT_RDWR)


def _endless(connection: socket.socket) -> None:
    while True:
        connection.sendall(b"iMore\t\t\t0\r\n" * 1000)


def _silent(connection: socket.socket) -> None:
    connection.recv(1)


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "reason"), [(_endless, "too-large"), (_silent, "timeout")])
def test_downloads_have_an_end(tmp_path: Path, answer: Callable[[socket.socket], None], reason: str) -> None:
    timeout_s = 2 if reason == "timeout" else 60
    bounds = {"DOWNLOAD_MAXSIZE": 100_000, "DOWNLOAD_TIMEOUT": timeout_s, "FRONTIER_TRIES": 1}

    with _answering(answer) as served:
        found = crawl(tmp_path, "index", "-a", f"seeds={served}", PROTOCOLS=ALL, **bounds)

    assert found.reason(served) == f"failed/{reason}"
