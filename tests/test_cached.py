"""The cached copy: what of a stranger's page is shown, and that nothing of it is active; from real WARCs."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hostile import VECTORS
from httpx import Response
from hypothesis import given
from hypothesis import strategies as st
from lxml import html as lxml_html
from searched import entry
from starlette.testclient import TestClient

from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import PageStore
from webcrawler.parsing.page import markup
from webcrawler.records import Entry, Fetch, Lease, Link, Original, Text
from webcrawler.urls import canonical, server, url_id
from webcrawler.web import Config, make_app
from webcrawler.web.sanitiser import MAX_DEPTH, TAGS, forbids_copies, sanitised

PAGE = "http://a.test/b/page.html"
HTML = "text/html"
FETCHED = 1_700_000_000.0


def assert_harmless(markup: str) -> None:
    """By the tree of a parser that is not the sanitiser's: only what we listed, links only to the web."""
    tree = lxml_html.fragment_fromstring(markup, create_parent="article")
    for element in tree.iterdescendants():
        assert element.tag in TAGS, element.tag
        for name, value in element.attrib.items():
            assert name in {"dir", "lang", "href", "rel", "colspan", "rowspan"}, name
            if name == "href":
                assert value.startswith(("http://", "https://")), value
                assert "@" not in value.split("/")[2]
                assert element.get("rel") == "noopener noreferrer nofollow"


def show(text: str, url: str = PAGE, **rest: Any) -> str:
    return str(sanitised(markup(text.encode("utf-8", "surrogatepass")), url, **rest).markup)


@pytest.mark.parametrize("vector", VECTORS)
def test_nothing_of_a_hostile_page_is_active(vector: str) -> None:
    for text in (vector, f"<html><body><p>before{vector}after</p>", f"<table><tr><td>{vector}", vector * 3):
        assert_harmless(show(text))


def test_there_are_enough_vectors() -> None:
    assert len(set(VECTORS)) >= 60


@given(
    st.lists(
        st.sampled_from(["<", ">", "</", "'", '"', "&", ";", "=", "/", "a", " ", "p", *VECTORS]), max_size=12
    )
)
def test_no_mixture_of_attacks_becomes_active(pieces: list[str]) -> None:
    assert_harmless(show("".join(pieces)))


@given(st.text())
def test_sanitising_twice_changes_nothing_more(text: str) -> None:
    once = show(text)

    assert show(once) == once


@pytest.mark.parametrize(
    "html, shown",
    [
        ("<h1>A</h1><p>b <b>c</b></p>", "<h1>A</h1><p>b <b>c</b></p>"),
        ("<main><p>x</p></main>", "<div><p>x</p></div>"),  # there is one main on our page
        ("<p>a<img src=x alt='a <cat>'>b", "<p>a a &lt;cat&gt; b</p>"),
        ("<p>a<script>var x</script>b", "<p>ab</p>"),
        ("<table><tr><td colspan=2>x", '<table><tbody><tr><td colspan="2">x</td></tr></tbody></table>'),
        ("<table><tr><td rowspan=999>x", "<table><tbody><tr><td>x</td></tr></tbody></table>"),
        ("<p lang=ar dir=RTL>x", '<p lang="ar" dir="rtl">x</p>'),
        ("<font size=7>x</font>", "x"),
        ("<ul><li>a<li>b", "<ul><li>a</li><li>b</li></ul>"),
        ("a &amp; b &lt; c", "a &amp; b &lt; c"),
    ],
)
def test_structure_and_text_stay(html: str, shown: str) -> None:
    ours = lxml_html.fragment_fromstring(show(html), create_parent="div")
    wanted = lxml_html.fragment_fromstring(shown, create_parent="div")

    assert [(e.tag, dict(e.attrib)) for e in ours.iter()] == [(e.tag, dict(e.attrib)) for e in wanted.iter()]
    assert "".join(ours.itertext()).split() == "".join(wanted.itertext()).split()


@pytest.mark.parametrize(
    "href, base, leads_to",
    [
        ("x", "", "http://a.test/b/x"),
        ("/x", "", "http://a.test/x"),
        ("//c.test/x", "", "http://c.test/x"),
        ("https://c.test", "", "https://c.test/"),
        ("#part", "", "http://a.test/b/page.html"),
        ("x", "http://c.test/d/", "http://c.test/d/x"),
        ("x", "/d/", "http://a.test/d/x"),
        ("http://user:secret@c.test/", "", "http://c.test/"),
        ("x?a=1&b=2", "", "http://a.test/b/x?a=1&b=2"),
        ("mailto:a@a.test", "", None),
        ("http://[", "", None),
    ],
)
def test_links_are_made_absolute_and_lead_to_the_web(href: str, base: str, leads_to: str | None) -> None:
    text = f'<base href="{base}">' * bool(base) + f'<a href="{href}">x</a>'
    tree = lxml_html.fragment_fromstring(show(text), create_parent="div")

    assert [a.get("href") for a in tree.iter("a")] == ([leads_to] if leads_to else [])


def test_words_are_marked_in_text_and_nowhere_else() -> None:
    def marks(text: str) -> Iterator[tuple[str, bool]]:
        return ((piece, piece == "cat") for piece in text.replace("cat", "|cat|").split("|"))

    shown = show("<p lang=cat>a cat <b>cat</b><a href=/cat>dog</a>", marks=marks)

    assert shown.count("<mark>cat</mark>") == 2 == shown.count("<mark>")


@pytest.mark.slow
@pytest.mark.parametrize("text", ["<div>" * 80_000 + "<p>" * 80_000, "<ul><li>" * 80_000, "<a><b>" * 100_000])
def test_deep_page_becomes_a_shallow_one(text: str) -> None:
    shown = show(text + "the end")

    assert "the end" in shown
    assert shown.count("</") <= MAX_DEPTH


def test_long_page_is_cut_and_says_so() -> None:
    links = f'<base href="http://a.test/{"x" * 60_000}/">' + "<a href=y>z</a>" * 1_000

    assert sanitised("<p>" + "word " * 300_000, PAGE).cut
    assert sanitised(links, PAGE).cut
    assert not sanitised("<p>word", PAGE).cut


@pytest.mark.parametrize(
    "directives, forbidden",
    [
        ("noarchive", True),
        ("index, NOARCHIVE", True),
        ("none", True),
        ("otherbot: noarchive", True),  # ours: who forbids it to one means it
        ("noindex,nofollow", False),
        ("", False),
    ],
)
def test_robots_directives_that_forbid_copies(directives: str, forbidden: bool) -> None:
    assert forbids_copies(directives) == forbidden


# ---- the page


def archive(crawl_dir: Path, url: str, body: bytes, **more: Any) -> int:
    """Fetch it, as far as catalog and WARC can tell; returns its page number."""
    lease = Lease(url_id(canonical(url)), canonical(url), url, server(url), token=1)
    headers = more.get("headers", (("Content-Type", HTML),))
    fetch = Fetch(lease, "done", "document", FETCHED, status=200, headers=headers, body=body)
    entry = Entry(
        fetch,
        hashlib.sha1(body).digest(),
        original=more.get("original"),
        text=Text("The title", "", "", "", more.get("text", "body")),
        noindex=more.get("noindex", False),
    )
    with closing(PageStore(crawl_dir / "pages")) as store:
        place = store.append(entry)
    with closing(Catalog(crawl_dir / "catalog.sqlite")) as catalog:
        catalog.write([(entry, place if more.get("kept", True) else None)])
        document = catalog.find(canonical(url))
    assert document
    return document.number


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with TestClient(make_app(Config(tmp_path)), "http://localhost") as client:
        yield client


Copied = Callable[..., Response]


@pytest.fixture
def copied(client: TestClient, tmp_path: Path) -> Copied:
    """Archives a page, and asks for its copy."""

    def ask(body: bytes, url: str = PAGE, q: str = "", **more: Any) -> Response:
        number = archive(tmp_path, url, body, **more)
        return client.get("/cached", params={"number": number} | ({"q": q} if q else {}))

    return ask


def test_copy_says_whose_it_is_and_when_it_was_fetched(copied: Copied) -> None:
    answer = copied(b"<title>x</title><p>Hello <a href=c.html>c</a>")

    assert answer.status_code == 200
    said = ("This is a copy of", PAGE, "14 Nov 2023", "not affiliated", "http://a.test/b/c.html", "Hello")
    assert [words for words in said if words not in answer.text] == []


def test_copy_is_in_a_sandbox_and_for_no_index(copied: Copied) -> None:
    answer = copied(b"<p>x")

    policy = answer.headers["content-security-policy"]
    assert "sandbox" in policy and "allow-scripts" not in policy and "script-src" not in policy
    assert "noindex" in answer.headers["x-robots-tag"]
    assert "<script" not in answer.text


@pytest.mark.parametrize(
    "body, content_type",
    [
        ("<p>Grüße</p>".encode("latin-1"), "text/html; charset=iso-8859-1"),
        ("<p>Grüße</p>".encode(), "text/html"),
        ('<meta charset="windows-1252"><p>Grüße</p>'.encode("cp1252"), "text/html"),
        ("<p>Grüße</p>".encode("utf-16"), "text/html"),
    ],
)
def test_bytes_are_read_as_the_parser_read_them(copied: Copied, body: bytes, content_type: str) -> None:
    assert "Grüße" in copied(body, headers=(("Content-Type", content_type),)).text


def test_copy_of_another_document_is_its_text(copied: Copied) -> None:
    headers = (("Content-Type", "application/pdf"),)

    answer = copied(b"%PDF-1.7 bytes", q="words", headers=headers, text="one <b>\ntwo words").text

    assert "<p>one &lt;b&gt;</p><p>two <mark>words</mark></p>" in answer
    assert "bytes" not in answer.partition("<article")[2]


def test_of_a_long_page_a_megabyte_is_read_up_to_a_whole_character(copied: Copied) -> None:
    answer = copied(b"<p>x " + "ü".encode() * 2**20).text

    assert 2**19 - 10 < answer.count("ü") < 2**19  # not the 2**20 characters that there are
    assert "�" not in answer and "Ã" not in answer
    assert "left out" in answer


def test_words_of_the_query_are_marked(copied: Copied) -> None:
    assert "<mark>genes</mark>" in copied(b"<p>Molecular biology of genes", q="gene").text


def test_duplicate_is_shown_from_its_twins_record(copied: Copied, tmp_path: Path) -> None:
    body = b"<p>the same <a href=x>x</a>"
    archive(tmp_path, PAGE, body)

    answer = copied(body, "http://b.test/", original=Original(PAGE, FETCHED))

    assert "the same" in answer.text
    assert "http://b.test/x" in answer.text


def test_original_whose_bytes_a_copy_brought_first_is_shown(client: TestClient, tmp_path: Path) -> None:
    archive(tmp_path, PAGE, b"<p>the same")
    second = archive(tmp_path, "http://b.test/", b"<p>the same", original=Original(PAGE, FETCHED))
    citing = entry(("http://c.test/", "", ""), Link("http://b.test/", url_id("http://b.test/"), ""))
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        catalog.write([(citing, None)])
        assert not catalog.documents([second])[second].duplicate_of

    assert "the same" in client.get("/cached", params={"number": second}).text


@pytest.mark.parametrize(
    "more",
    [
        {"body": b"<meta name=robots content=noarchive><p>secret"},
        {"body": b"<meta name=ROBOTS content='index, none'><p>secret"},
        {"body": b"<p>secret", "headers": (("Content-Type", HTML), ("X-Robots-Tag", "noarchive"))},
        {"body": b"<p>secret", "noindex": True},
        {"body": b"<p>secret", "kept": False},
    ],
)
def test_what_is_not_to_be_shown_is_not(copied: Copied, more: dict[str, Any]) -> None:
    answer = copied(**more)

    assert answer.status_code == 404
    assert "secret" not in answer.text


def test_duplicate_whose_own_server_wants_no_copies_is_not_shown(copied: Copied, tmp_path: Path) -> None:
    archive(tmp_path, PAGE, b"<p>the same")
    headers = (("Content-Type", HTML), ("X-Robots-Tag", "noarchive"))

    answer = copied(b"<p>the same", "http://b.test/", original=Original(PAGE, FETCHED), headers=headers)

    assert answer.status_code == 404


@pytest.mark.parametrize("number", ["", "0", "-1", "x", "1e3", "9" * 30, "%00", "1&number=2"])
def test_number_that_is_none_is_refused(client: TestClient, number: str) -> None:
    assert client.get(f"/cached?number={number}").status_code == 400


def test_unknown_page_has_no_copy(client: TestClient, tmp_path: Path) -> None:
    assert client.get("/cached?number=7").status_code == 404  # nothing was crawled at all

    archive(tmp_path, PAGE, b"<p>x")

    assert client.get("/cached?number=7").status_code == 404


def test_torn_or_missing_file_is_told_in_one_line(client: TestClient, tmp_path: Path) -> None:
    number = archive(tmp_path, PAGE, b"<p>x" * 1_000)
    (file,) = (tmp_path / "pages").iterdir()
    file.write_bytes(file.read_bytes()[:-20])

    torn = client.get(f"/cached?number={number}")
    file.unlink()
    missing = client.get(f"/cached?number={number}")
    file.write_bytes(gzip.compress(b"whole, and no WARC"))
    other = client.get(f"/cached?number={number}")

    assert [torn.status_code, missing.status_code, other.status_code] == [410, 410, 410]
    assert "missing or damaged" in torn.text
    assert str(tmp_path) not in torn.text + missing.text
