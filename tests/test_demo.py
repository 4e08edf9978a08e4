"""The demo web: a small web with the oddities of the large one."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from lxml import etree, html
from truth import truth

from webcrawler.demo import DemoWeb
from webcrawler.demo.pages import load
from webcrawler.demo.web import SERVERS, _first_free
from webcrawler.errors import BadInput

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def web() -> Iterator[DemoWeb]:
    with DemoWeb() as web:
        yield web


def fetch(url: str, method: str = "GET", **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
    line = http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)
    line.request(method, urlsplit(url).path, headers=headers)
    response = line.getresponse()
    body = response.read()
    line.close()
    return response, body


def links(web: DemoWeb) -> Iterator[tuple[str, html.HtmlElement]]:
    """Each with the URL of its page."""
    for url in truth(web).documents:
        answer = web.answer(url)
        assert answer is not None
        for link in html.fromstring(answer.body).iter("a"):
            yield url, link


def origin(web: DemoWeb, slug: str) -> str:
    return f"http://127.0.0.1:{web.ports[1 + [topic.slug for topic in load()].index(slug)]}"


# What stands there


def test_there_are_twelve_servers_and_about_three_hundred_pages(web: DemoWeb) -> None:
    documents = truth(web).documents

    assert len({urlsplit(url).port for url in documents}) == len(web.ports) == SERVERS == 12
    assert 270 <= len(documents) <= 330


def test_molecular_biology_and_its_neighbour_fill_more_than_25_pages(web: DemoWeb) -> None:
    servers = Counter(urlsplit(url).port for url in truth(web).documents)

    for slug in ("molecular-biology", "genetics"):
        assert servers[urlsplit(origin(web, slug)).port] >= 25


def test_every_article_has_several_sentences_of_its_own() -> None:
    articles = [article for topic in load() for _, article in topic.articles]

    assert len({article.text for article in articles}) == len(articles) == 132
    assert all(article.text.count(". ") >= 2 and article.text.endswith(".") for article in articles)


def test_every_document_is_well_formed_html_of_its_declared_encoding(web: DemoWeb) -> None:
    for url in truth(web).documents:
        answer = web.answer(url)
        assert answer is not None
        charset = answer.content_type.partition("charset=")[2]
        text = answer.body.decode(charset)

        parser = etree.HTMLParser(encoding=charset, recover=False)
        tree = html.document_fromstring(answer.body, parser=parser)

        assert f'<meta charset="{charset}">' in text
        assert tree.find("body/p") is not None or tree.find("body/ul") is not None, url


def test_every_link_has_an_anchor_text_or_a_picture_with_one(web: DemoWeb) -> None:
    for url, link in links(web):
        assert any(map(str.strip, map(str, link.itertext()))) or link.find("img[@alt]") is not None, url


def test_pages_of_every_server_link_to_another_server(web: DemoWeb) -> None:
    ports = [(urlsplit(url).port, urlsplit(urljoin(url, link.get("href"))).port) for url, link in links(web)]

    assert {source for source, target in ports if source != target} == set(web.ports)


# Oddities


@pytest.mark.parametrize(
    "slug, rule",
    [("birds", b"Disallow: /calendar/"), ("music", b"Disallow: /private/"), ("sailing", b"Crawl-delay: 0.1")],
)
def test_robots_txt_holds_rules(web: DemoWeb, slug: str, rule: bytes) -> None:
    response, body = fetch(origin(web, slug) + "/robots.txt")

    assert response.status == 200
    assert rule in body


def test_one_server_has_no_robots_txt(web: DemoWeb) -> None:
    missing = [port for port in web.ports if fetch(f"http://127.0.0.1:{port}/robots.txt")[0].status == 404]

    assert missing == [urlsplit(origin(web, "geology")).port]


def test_calendar_never_ends_and_is_disallowed(web: DemoWeb) -> None:
    url = origin(web, "birds") + "/calendar/2026/11/"
    assert url in truth(web).disallowed

    months = [url]
    for _ in range(30):
        response, body = fetch(months[-1])
        assert response.status == 200
        months += [urljoin(months[-1], link.get("href")) for link in html.fromstring(body).iter("a")]

    assert months[1].endswith("/calendar/2026/12/")
    assert months[2].endswith("/calendar/2027/01/")
    assert len(set(months)) == 31


@pytest.mark.parametrize(
    "slug, path, status, content_type",
    [
        ("geology", "/field-trips/lost.html", 404, "text/html"),  # a dead link
        ("railways", "/timetable", 301, "text/html"),
        ("railways", "/latest", 302, "text/html"),
        ("railways", "/index.html", 200, "text/html"),  # another spelling of the home page
        ("astronomy", "/pictures/moon.png", 200, "image/png"),
        ("astronomy", "/data/stars.zip", 200, "application/zip"),
        ("computing", "/readme", 200, "text/plain"),  # its name does not tell
        ("cooking", "/recipes/creme-brulee.html", 200, "text/html; charset=iso-8859-1"),
    ],
)
def test_special_pages_answer_as_they_should(
    web: DemoWeb, slug: str, path: str, status: int, content_type: str
) -> None:
    response, _ = fetch(origin(web, slug) + path)

    assert response.status == status
    assert (response.getheader("Content-Type") or "").startswith(content_type)


def test_a_page_has_no_title_and_a_page_wants_no_index(web: DemoWeb) -> None:
    _, untitled = fetch(origin(web, "gardening") + "/notes.html")
    _, members = fetch(origin(web, "music") + "/members.html")

    assert html.fromstring(untitled).find(".//title") is None
    assert html.fromstring(members).xpath("//meta[@name='robots']/@content") == ["noindex"]
    assert truth(web).noindex == {origin(web, "music") + "/members.html"}


def test_a_link_leads_to_a_server_that_does_not_answer(web: DemoWeb) -> None:
    (url,) = truth(web).unreachable

    with pytest.raises(ConnectionRefusedError):
        fetch(url)


# Truth


def test_truth_counts_copies_by_their_bytes(web: DemoWeb) -> None:
    found = truth(web)
    bodies = Counter(fetch(url)[1] for url in found.documents)

    assert sum(count - 1 for count in bodies.values()) == found.duplicates == 3
    assert {url for url in found.documents if bodies[fetch(url)[1]] > 1} == found.copies


def test_truth_holds_what_is_reached_through_a_redirect_or_a_noindex_page(web: DemoWeb) -> None:
    documents = truth(web).documents

    assert origin(web, "railways") + "/news.html" in documents
    assert origin(web, "music") + "/concert.html" in documents


def test_truth_holds_nothing_disallowed_nofollow_missing_or_spelt_twice(web: DemoWeb) -> None:
    found = truth(web)

    assert origin(web, "music") + "/private/rehearsals.html" in found.disallowed - found.documents
    assert origin(web, "computing") + "/sponsored.html" not in found.documents
    assert not any(url.endswith("/index.html") for url in found.documents)
    assert all(fetch(url)[0].status == 200 for url in found.documents)


# Serving


def test_many_connections_are_served_at_once_and_kept_alive(web: DemoWeb) -> None:
    urls = sorted(truth(web).documents)

    def client(number: int) -> list[int]:
        line = http.client.HTTPConnection("127.0.0.1", web.ports[number % SERVERS], timeout=10)
        statuses = []
        for url in urls:
            if urlsplit(url).port == line.port:
                line.request("GET", urlsplit(url).path)
                response = line.getresponse()
                response.read()
                statuses.append(response.status)
                assert line.sock is not None, "kept alive"
        line.close()
        return statuses

    with ThreadPoolExecutor(32) as pool:
        results = list(pool.map(client, range(32)))

    assert {status for statuses in results for status in statuses} == {200}


def test_unchanged_page_is_not_sent_again(web: DemoWeb) -> None:
    response, _ = fetch(web.seeds[0])
    etag = response.getheader("ETag") or ""

    again, body = fetch(web.seeds[0], **{"If-None-Match": etag})

    assert (again.status, body) == (304, b"")
    assert response.getheader("Last-Modified") == again.getheader("Last-Modified")


def test_head_gives_the_length_without_the_body(web: DemoWeb) -> None:
    _, body = fetch(web.seeds[0])
    response, nothing = fetch(web.seeds[0], method="HEAD")

    assert nothing == b""
    assert response.getheader("Content-Length") == str(len(body))


def test_other_methods_are_refused(web: DemoWeb) -> None:
    assert fetch(web.seeds[0], method="POST")[0].status == 405


def test_nonsense_ends_the_connection_and_not_the_server(web: DemoWeb) -> None:
    with socket.create_connection(("127.0.0.1", web.ports[0])) as line:
        line.sendall(b"\x00\xff nonsense\r\n\r\n")
        assert b" 405 " in line.recv(1000)

    assert fetch(web.seeds[0])[0].status == 200


# Ports


def test_folder_remembers_the_ports_for_a_crawl_that_goes_on(tmp_path: Path) -> None:
    with DemoWeb.for_folder(tmp_path) as first:
        ports, seeds, body = first.ports, first.seeds, fetch(first.seeds[0])[1]

    with DemoWeb.for_folder(tmp_path) as second:
        assert (second.ports, second.seeds) == (ports, seeds)
        assert fetch(second.seeds[0])[1] == body
    assert json.loads((tmp_path / "demo.json").read_text()) == {"ports": ports}


def test_two_starts_in_one_folder_share_one_web(tmp_path: Path) -> None:
    with DemoWeb.for_folder(tmp_path) as first:
        with DemoWeb.for_folder(tmp_path) as second:
            assert (first.shared, second.shared) == (False, True)
            assert second.ports == first.ports
            assert truth(second) == truth(first)

        assert fetch(first.seeds[0])[0].status == 200, "who shares does not stop it"


def test_webs_of_two_folders_do_not_meet(tmp_path: Path) -> None:
    with DemoWeb.for_folder(tmp_path / "a") as one, DemoWeb.for_folder(tmp_path / "b") as other:
        assert not set(one.ports) & set(other.ports)


def test_port_held_by_another_program_is_said_in_one_line(tmp_path: Path) -> None:
    with DemoWeb.for_folder(tmp_path) as web:
        ports = web.ports

    with (
        socket.create_server(("127.0.0.1", ports[3])),
        pytest.raises(BadInput, match=r"another program holds a port of .*stop it") as caught,
    ):
        DemoWeb.for_folder(tmp_path).start()

    assert "\n" not in str(caught.value)


def test_folder_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(BadInput, match="cannot write to"):
        DemoWeb.for_folder(tmp_path / "file").start()


def test_forked_child_does_not_keep_the_ports(tmp_path: Path) -> None:
    wait, go = os.pipe()
    with DemoWeb.for_folder(tmp_path) as web:
        child = os.fork()
        if child == 0:
            os.close(go)
            os.read(wait, 1)  # until the parent lets go, or is gone
            os._exit(0)

    try:
        with DemoWeb(web.ports) as again:
            assert not again.shared
    finally:
        os.close(go)
        os.waitpid(child, 0)
        os.close(wait)


def test_module_serves_by_itself_until_interrupted() -> None:
    listeners = _first_free()
    base = listeners[0].getsockname()[1]
    for listener in listeners:
        listener.close()
    command = [sys.executable, "-m", "webcrawler.demo", "--port-base", str(base)]

    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        seed = process.stdout.readline().strip()
        try:
            status = fetch(seed)[0].status
            process.send_signal(signal.SIGINT)
            process.wait()
        finally:
            process.kill()

    assert seed == f"http://127.0.0.1:{base}/"
    assert (status, process.returncode) == (200, 0)


def test_ports_in_a_row_are_taken() -> None:
    with DemoWeb() as web:
        assert all(after == before + 1 for before, after in pairwise(web.ports))
