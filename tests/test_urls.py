"""The URL room: WHATWG URL for what is fetched, Mengozzi's (EW) list for what is the same."""

from __future__ import annotations

import pytest
from ada_url import URL
from hypothesis import example, given
from hypothesis import strategies as st

from webcrawler.errors import BadInput
from webcrawler.urls import UnfetchableUrl, canonical, host_and_port, outlink, resolve, server, split, url_id
from webcrawler.urls._outlink import NAMED, refusal

BASE = "http://a/b/c/d;p?q"


# --- what a page wrote: tests/conformance/test_url_conformance.py has RFC 3986 and WHATWG URL ---


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("../g?y/../x#s", "http://a/b/g?y/../x"),
        ("  \n/x\t/y\r\n", "http://a/x/y"),
        ("http://日本.jp:80", "http://xn--wgv71a.jp/"),
        ("/\ud800", "http://a/%EF%BF%BD"),
        # ours: never with a user name and a password
        ("http://u:p@h/x", "http://h/x"),
        ("http://a@b@h/x", "http://h/x"),
        ("http://h/@user", "http://h/@user"),
    ],
)
def test_href_is_resolved_as_a_browser_does(href: str, url: str) -> None:
    assert resolve(href, BASE) == url


@pytest.mark.parametrize(
    ("href", "reason", "scheme"),
    [
        ("mailto:a@b.example", "scheme", "mailto"),
        ("JavaScript:void(0)", "scheme", "javascript"),
        (" data:text/html,x", "scheme", "data"),
        ("file:///etc/passwd", "scheme", "file"),
        ("FILE:/etc/passwd", "scheme", "file"),
        ("view-source:http://h/", "scheme", "view-source"),
        ("ftp://[broken/", "malformed", "ftp"),
        ("mailto:[broken/", "scheme", "mailto"),
        ("http://", "malformed", "http"),
        ("http://h:99999/", "malformed", "http"),
        ("http://[::1%25lo]/", "malformed", "http"),
        ("http://a b/", "malformed", "http"),
        ("/x" * 40_000, "length", ""),
    ],
)
def test_what_cannot_be_fetched_says_why(href: str, reason: str, scheme: str) -> None:
    with pytest.raises(UnfetchableUrl) as caught:
        resolve(href, BASE)

    assert (caught.value.reason, caught.value.scheme) == (reason, scheme)
    assert isinstance(caught.value, BadInput)
    assert len(str(caught.value)) < 250


def test_a_seed_needs_its_scheme() -> None:
    with pytest.raises(UnfetchableUrl, match="https://host/path"):
        resolve("example.org")


# --- one form for one address ---


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        # scheme and host lower case, paths never
        ("HTTP://Example.ORG/Path", "http://example.org/Path"),
        # no fragment
        ("http://h/a#b", "http://h/a"),
        # percent-encoding: unreserved decoded, upper-case hex, one form for the same bytes
        ("http://h/%7euser", "http://h/~user"),
        ("http://h/%c3%a9", "http://h/%C3%A9"),
        ("http://h/é", "http://h/%C3%A9"),
        ("http://h/a|b[c]", "http://h/a%7Cb%5Bc%5D"),
        ("http://h/?a[]=|", "http://h/?a%5B%5D=%7C"),
        ("http://h/100%", "http://h/100%25"),
        ("http://h/%%34%31", "http://h/%2541"),
        ("http://h/%zz", "http://h/%25zz"),
        ("http://h/operator%28%29%2b%2B", "http://h/operator()++"),
        # … but what is another address stays one
        ("http://h/a%2fb", "http://h/a%2Fb"),
        ("http://h/a%3Fb", "http://h/a%3Fb"),
        ("http://h/a%3bb", "http://h/a%3Bb"),
        ("http://h/a%25b", "http://h/a%25b"),
        ("http://h/?a%26b=%2b", "http://h/?a%26b=%2B"),
        # dot segments
        ("http://h/a/./b/../c", "http://h/a/c"),
        ("http://h/a/%2e%2E/c", "http://h/c"),
        # default port only
        ("http://h:80/", "http://h/"),
        ("http://h:443/", "http://h:443/"),
        # trailing /
        ("http://h", "http://h/"),
        ("http://h?a=1", "http://h/?a=1"),
        ("http://h/a", "http://h/a"),
        # default pages
        ("http://h/index.html", "http://h/"),
        ("http://h/d/index.htm", "http://h/d/"),
        ("http://h/d/index.html?a=1", "http://h/d/?a=1"),
        ("http://h/d/index%2Ehtml", "http://h/d/"),
        ("http://h/d/myindex.html", "http://h/d/myindex.html"),
        ("http://h/d/Index.html", "http://h/d/Index.html"),
        ("http://h/d/index.html/e", "http://h/d/index.html/e"),
        # root dot of the host
        ("http://h.example./", "http://h.example/"),
        ("http://h.example.:8080/", "http://h.example:8080/"),
        ("http://h../", "http://h../"),
        # tracking and sessions
        ("http://h/?utm_source=x&a=1&UTM_MEDIUM=y&gclid=z", "http://h/?a=1"),
        ("http://h/?fbclid=z", "http://h/"),
        ("http://h/?%75tm_source=x", "http://h/"),
        ("http://h/a?PHPSESSID=1&b", "http://h/a?b"),
        ("http://h/a;jsessionid=1F?b", "http://h/a?b"),
        ("http://h/a;JSESSIONID=1F/b;v=2", "http://h/a/b;v=2"),
        ("http://h/..;jsessionid=1/x", "http://h/x"),
        ("http://h/index.html;jsessionid=1", "http://h/"),
        ("http://h/(S(lit3py55t21z5v55vlm25s55))/x.aspx", "http://h/x.aspx"),
        ("http://h/(S(lit3py55t21z5v55vlm25s55));jsessionid=1", "http://h/"),
        ("http://h/?sid=0123456789abcdef0123456789abcdef&t=1", "http://h/?t=1"),
        ("http://h/?sid=99/10/12/1", "http://h/?sid=99/10/12/1"),
        ("http://h/?session_id=42", "http://h/?session_id=42"),
        # empty query; otherwise parameters keep their order and number
        ("http://h/?", "http://h/"),
        ("http://h/?b=2&a=1&b=2", "http://h/?b=2&a=1&b=2"),
    ],
)
def test_spellings_of_one_address_have_one_canonical_form(url: str, expected: str) -> None:
    assert canonical(url) == expected
    assert canonical(expected) == expected


_PIECES = """/ . .. %2e %2E%2e ; ;jsessionid=1 ? & = % %4 %41 %%34%31 %2F %C3%A9 é | [ ] ' \\ @ : :80 #
    a B 0 ~ index.html /index.htm utm_a=1 PHPSESSID=2 sid= (S(aaaaaaaaaaaaaaaaaaaaaaaa)) \x00 \ud800 \u3002"""
_HOSTS = "h H.example h. h.. 127.1 0x7f.1 [::1] u:p@h h:80 h.:8080 xn--a 日本.jp"
_URLS = st.builds(
    lambda host, rest: f"http://{host}/{''.join(rest)}",
    st.sampled_from(_HOSTS.split()),
    st.lists(st.sampled_from(['"', " ", "\t", *_PIECES.split()]), max_size=12),
)


@given(_URLS | st.text())
@example("http://h/;jsessionid=/..;jsessionid=//index.html")
def test_canonical_form_is_reached_at_once_and_nothing_ever_raises(text: str) -> None:
    try:
        url = resolve(text, "http://base.example/dir/")
    except UnfetchableUrl:
        return

    form = canonical(url)

    assert canonical(form) == form
    assert URL(form).href == form, "a browser reads it as the same"
    assert url.isascii() and url.isprintable() and " " not in url
    assert split(form) == (server(form), form[len(server(form)) :])
    assert isinstance(refusal(form, {"http"}), str)


def test_url_id_is_a_signed_64_bit_number_that_never_changes() -> None:
    assert url_id("http://a.example/") == 4217531930129133507
    assert url_id("http://a.example/b") != url_id("http://a.example/")
    assert all(-(2**63) <= url_id(f"http://h/{number}") < 2**63 for number in range(100))
    assert any(url_id(f"http://h/{number}") < 0 for number in range(100))


# --- servers ---


@pytest.mark.parametrize(
    ("url", "parts", "host", "port"),
    [
        ("http://a.example/", ("http://a.example", "/"), "a.example", 80),
        ("https://a.example/x?y=/z", ("https://a.example", "/x?y=/z"), "a.example", 443),
        ("http://a.example:8080/x", ("http://a.example:8080", "/x"), "a.example", 8080),
        ("http://[::1]/", ("http://[::1]", "/"), "::1", 80),
        ("http://[::1]:81//x", ("http://[::1]:81", "//x"), "::1", 81),
    ],
)
def test_url_is_a_server_and_a_path(url: str, parts: tuple[str, str], host: str, port: int) -> None:
    assert split(url) == parts
    assert server(url) == parts[0]
    assert host_and_port(parts[0]) == (host, port)


# --- worth taking in at all? ---

_UNINDEXABLE = "png jpg gif svg zip gz tar bz2 ps xls mp3 mp4 woff2 exe rss"
# Whether the last three are read is for DOCUMENT_TYPES.
_PAGES = "html php aspx cgi pl xml md com net 1 unknown js css h c py o json csv ai so pdf doc txt"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        *[(f"http://h/x.{ending}", "extension") for ending in _UNINDEXABLE.split()],
        *[(f"http://h/x.{ending}", "") for ending in _PAGES.split()],
        ("http://h/X.PNG", "extension"),
        ("http://h/wiki/Svchost.exe", ""),  # a page about a file
        ("http://h/Wiki/Svchost.exe?x", ""),
        ("http://h/wiki/images/Map.png", "extension"),
        ("http://h/de/Datei:Map.png", ""),
        ("http://h:80/Datei/Map.png", "extension"),
        ("http://h/o/r/blob/main/logo.png", ""),
        ("http://h/x/x/x/x/x.png", "repeats"),
        ("http://h/x.tar.gz?download=1", "extension"),
        ("http://h/foo.h.html", ""),
        ("http://h/x.php?file=y.png", ""),
        ("http://h/v1.2", ""),
        ("http://h/x.png/", ""),
        ("http://h.py/", ""),
        ("http://h/.zip", ""),
        ("http://h/x.", ""),
        ("https://h/", "scheme"),
        ("https://h/x.png", "scheme"),
        ("http://h/" + "x" * (2_083 - 9), ""),
        ("http://h/" + "x" * (2_084 - 9), "length"),
    ],
)
def test_what_is_not_worth_a_request_is_refused_with_a_reason(url: str, reason: str) -> None:
    assert refusal(url, {"http"}) == reason


def test_outlink_has_all_that_a_parser_wants() -> None:
    target = outlink("../a;jsessionid=7/%7eb?utm_x=1#c", "http://h/d/e")

    assert target == ("http://h/a/~b", url_id("http://h/a/~b"), "http://h/a;jsessionid=7/%7eb?utm_x=1", "")
    assert outlink("https://h/", "http://h/", protocols=["http"]).refused == "scheme"
    assert outlink("https://h/", "http://h/").refused == ""


@pytest.mark.parametrize(
    ("href", "plain", "named"),
    [("/Map.png", "extension", ""), ("/x/x/x/x/Map.png", "repeats", "repeats")],
)
def test_what_is_named_as_a_page_may_end_in_any_way(href: str, plain: str, named: str) -> None:
    assert outlink(href, "http://h/").refused == plain
    assert {outlink(href, "http://h/", rel=rel).refused for rel in NAMED} == {named}


def test_spelling_too_long_to_fetch_is_refused_even_when_its_canonical_form_is_short() -> None:
    assert outlink("/a?utm_source=" + "x" * 2_083, "http://h/").refused == "length"
