"""Robots Exclusion Protocol, RFC 9309: sections in the comments; "ours" where the RFC leaves it open."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.robots import ALLOW_ALL, MAX_BYTES, Rules, product_token, verdict

UA = "FooBot/1.0 (+https://foo.example/bot; mail@foo.example)"


def allowed(body: str | bytes, path: str = "/x", user_agent: str = UA) -> bool:
    rules = Rules.parse(body.encode() if isinstance(body, str) else body)
    return rules.allowed("http://h.example" + path, user_agent)


# --- 2.2.1 which group speaks to us ---


@pytest.mark.parametrize(
    ("user_agent", "token"),
    [
        ("FooBot/1.0 (+https://foo.example)", "foobot"),
        ("FooBot", "foobot"),
        ("Mozilla/5.0 (compatible; Foo_Bot-x/2.1; +https://foo.example)", "foo_bot-x"),
        ("  MJ12bot v1", "mj12bot"),
        ("", ""),
        ("(x)", ""),
    ],
)
def test_product_token_is_the_name_in_a_user_agent(user_agent: str, token: str) -> None:
    assert product_token(user_agent) == token


@pytest.mark.parametrize(
    ("lines", "is_allowed"),
    [
        ("User-agent: FooBot\nDisallow: /", False),
        ("user-AGENT: fOObOT\ndisALLOW: /", False),
        ("User-agent: FooBot/2.0 beta\nDisallow: /", False),
        # the whole token, not a part of it
        ("User-agent: Foo\nDisallow: /", True),
        ("User-agent: Bot\nDisallow: /", True),
        ("User-agent: FooBot-News\nDisallow: /", True),
        ("User-agent: Mozilla\nDisallow: /", True),
        # `*` only where no group has the name
        ("User-agent: *\nDisallow: /", False),
        ("User-agent: *\nDisallow: /\nUser-agent: FooBot\nAllow: /y", True),
        ("User-agent: FooBot\nDisallow: /y\nUser-agent: *\nDisallow: /", True),
        ("User-agent: *foo\nDisallow: /", True),
        # several groups of one name are one
        (
            "User-agent: FooBot\nDisallow: /y\n\nUser-agent: b\nDisallow:\n\nUser-agent: FooBot\nDisallow: /",
            False,
        ),
        # several names share a group; blank and unknown lines and sitemaps do not end it (2.2.4)
        ("User-agent: FooBot\nUser-agent: b\nDisallow: /", False),
        ("User-agent: FooBot\n\nSitemap: http://h/s\nFoo: bar\nUser-agent: b\nDisallow: /", False),
        ("User-agent: FooBot\nCrawl-delay: 1\nUser-agent: b\nDisallow: /", False),
        ("User-agent: FooBot\nDisallow:\nUser-agent: b\nDisallow: /", True),
        # rules before any group
        ("Disallow: /\nUser-agent: FooBot\nAllow: /y", True),
        ("", True),
    ],
)
def test_rules_of_the_group_with_our_name_hold(lines: str, is_allowed: bool) -> None:
    assert allowed(lines) is is_allowed


# --- 2.2.2, 2.2.3 which rule decides ---


@pytest.mark.parametrize(
    ("rules", "path", "is_allowed"),
    [
        # the longest match, Allow among equals
        ("Disallow: /\nAllow: /x", "/x/page", True),
        ("Allow: /x/\nDisallow: /x/page.html", "/x/page.html", False),
        ("Disallow: /x\nAllow: /x", "/x", True),
        ("Allow: /p\nDisallow: /*.html", "/page.html", False),
        # case counts
        ("Disallow: /X", "/x", True),
        # special characters
        ("Disallow: /a*z", "/abcz1", False),
        ("Disallow: /*.gif$", "/a.gif", False),
        ("Disallow: /*.gif$", "/a.gif?b", True),
        ("Disallow: /a$", "/a/", True),
        ("Disallow: /a # Disallow: /", "/b", True),
        # percent-encoding, either side
        ("Disallow: /é", "/%C3%A9", False),
        ("Disallow: /%c3%a9", "/%C3%A9", False),
        ("Disallow: /%7Ejoe", "/~joe", False),
        ("Disallow: /~joe", "/%7ejoe", False),
        ("Disallow: /a%2fb", "/a/b", True),
        # the query belongs to the path
        ("Disallow: /*?s=", "/a?s=1", False),
        # robots.txt itself
        ("Disallow: /", "/robots.txt", True),
        ("Disallow: /", "/a/robots.txt", False),
        # empty means nothing
        ("Disallow:", "/x", True),
        # ours: misspelt, and without a colon
        ("Disalow: /x", "/x", False),
        ("disallow /x", "/x", False),
        ("Disallow:/x", "/x", False),
        ("  Disallow : /x", "/x", False),
    ],
)
def test_most_specific_rule_decides(rules: str, path: str, is_allowed: bool) -> None:
    assert allowed(f"User-agent: *\n{rules}", path) is is_allowed


def test_many_wildcards_do_not_explode() -> None:
    assert allowed("User-agent: *\nDisallow: /" + "*1" * 2_000 + "Z", "/" + "1" * 2_000)


# --- 2.3.1.5, 2.5 whatever is served there ---


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_all_line_ends_count(end: str) -> None:
    assert not allowed(end.join(("User-agent: a", "User-agent: *", "", "Disallow: /")))


@pytest.mark.parametrize(
    "body",
    [
        b"\xef\xbb\xbfUser-agent: *\nDisallow: /",
        b"\xef\xbbUser-agent: *\nDisallow: /",
        "User-agent: *\nDisallow: /".encode("utf-16"),
        "User-agent: *\nDisallow: /".encode("utf-16-le"),
        b"User-\0agent: *\nDis\0allow: /\0",
        b"\xff\xfa\x00\x80 binary\nUser-agent: *\nDisallow: /\n\xff",
        b"<!doctype html><title>Oops</title>\n<pre>\nUser-agent: *\nDisallow: /\n</pre>",
    ],
)
def test_lines_that_can_be_read_are_used(body: bytes) -> None:
    assert not allowed(body)


def test_html_page_in_place_of_a_robots_txt_forbids_nothing() -> None:
    assert allowed("<html><body>User-agent: * Disallow: /<p>Disallow: /</body></html>")


def test_first_500_kib_count_and_no_half_line() -> None:
    def body(size: int) -> bytes:
        filler = b"# " + b"x" * 97 + b"\n"
        head = b"User-agent: *\nDisallow: /y\n" + filler * (MAX_BYTES // 100 - 1)
        return head + b"#" * (size - len(head) - 1) + b"\n"

    assert MAX_BYTES >= 500 * 1024
    assert not allowed(body(MAX_BYTES - 12) + b"Disallow: /x")
    assert allowed(body(MAX_BYTES - 11) + b"Disallow: /x"), "cut, it would read `Disallow: /`"
    assert not allowed(body(MAX_BYTES - 11) + b"Disallow: /x", "/y")


def test_one_endless_line_is_cut() -> None:
    assert allowed(b"User-agent: *\nDisallow: /x" + b"x" * 10_000_000)
    assert not allowed(b"User-agent: *\nDisallow: /" + b"y" * 20_000 + b"\nDisallow: /x")


def test_many_agents_sharing_many_rules_cost_no_more_than_their_lines() -> None:
    agents = "".join(f"User-agent: {number}\nUser-agent: *\n" for number in range(8_000))
    rules = "".join(f"Disallow: /{number}\n" for number in range(8_000))

    assert not allowed(agents + rules, "/7999")


@given(
    st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
def test_no_body_ever_raises(body: bytes) -> None:
    rules = Rules.parse(b"User-agent: *\nDisallow: " + body)

    assert rules.allowed("http://h/a%C3%A9?b", UA) in (True, False)
    assert rules.allowed("http://h/robots.txt", UA)
    assert rules.crawl_delay(UA) is None or 0 <= (rules.crawl_delay(UA) or 0) <= 86_400


# --- Crawl-delay, ours ---


@pytest.mark.parametrize(
    ("lines", "delay"),
    [
        ("User-agent: *\nCrawl-delay: 10", 10.0),
        ("User-agent: *\ncrawl-delay: 0.5 # half a second", 0.5),
        ("User-agent: *\nCrawl-delay: 0", 0.0),
        ("User-agent: *\nCrawl-delay: 1e9", 86_400.0),
        ("User-agent: *\nCrawl-delay: -1", None),
        ("User-agent: *\nCrawl-delay: NaN", None),
        ("User-agent: *\nCrawl-delay: inf", None),
        ("User-agent: *\nCrawl-delay: soon", None),
        ("User-agent: *\nCrawl-delay:", None),
        ("User-agent: *\nCrawl-delay: 2\nCrawl-delay: 5\nCrawl-delay: x", 5.0),
        ("User-agent: FooBot\nCrawl-delay: 3\nDisallow:\nUser-agent: *\nCrawl-delay: 9", 3.0),
        ("User-agent: b\nCrawl-delay: 3", None),
        # a delay is for those named before it: many files slow one robot down, then speak to all
        ("User-agent: b\nCrawl-delay: 120\nUser-agent: *\nDisallow: /y", None),
        ("Crawl-delay: 7\nUser-agent: *\nDisallow: /y", None),
        ("", None),
    ],
)
def test_crawl_delay_is_the_longest_sane_one_of_our_group(lines: str, delay: float | None) -> None:
    assert Rules.parse(lines.encode()).crawl_delay(UA) == delay


# --- 2.3.1 what an answer means ---


@pytest.mark.parametrize(
    ("status", "x_is_allowed"),
    [
        (200, False),
        (206, False),
        (204, False),
        # 2.3.1.3 unavailable; 2.3.1.2 redirects without end
        *[(status, True) for status in (400, 401, 403, 404, 410, 418, 451, 499, 301, 302, 307, 308)],
        # 2.3.1.4 unreachable: complete disallow for now
        *[(status, None) for status in (None, 500, 502, 503, 504, 599, 429, 999, 100, 0)],
    ],
)
def test_status_decides_what_an_answer_means(status: int | None, x_is_allowed: bool | None) -> None:
    rules = verdict(status, b"User-agent: *\nDisallow: /x")

    assert (rules and rules.allowed("http://h/x", UA)) is x_is_allowed


def test_all_and_nothing() -> None:
    nothing = Rules.parse(b"User-agent: *\nDisallow: /")

    assert ALLOW_ALL.allowed("http://h/x", UA)
    assert not nothing.allowed("http://h/x", UA)
    assert nothing.allowed("http://h/robots.txt", UA)


def test_real_robots_txt_files_all_parse() -> None:
    shared = Path(os.environ.get("SHARED_DIR", Path(__file__).parents[1] / "../shared"))
    archive = shared / "data/robots-real/robots-real.tar.xz"
    if not archive.exists():
        pytest.skip("robots-real is not there (SHARED_DIR)")

    parsed = restricted = 0
    with tarfile.open(archive) as files:
        for number, member in enumerate(file for file in files if file.isfile()):
            body = files.extractfile(member)
            if body and number % 5 == 0:
                rules = Rules.parse(body.read())
                restricted += not rules.allowed("http://h/search?q=a", UA) or not rules.allowed(
                    "http://h/admin/", UA
                )
                parsed += 1

    assert parsed > 400
    assert restricted > parsed / 10
