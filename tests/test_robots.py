"""Robots Exclusion Protocol, RFC 9309: sections in the comments; "ours" where the RFC leaves it open."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego
from testdata import archive

from webcrawler.robots import ALLOW_ALL, MAX_BYTES, Rules, deciding_line, product_token, verdict
from webcrawler.robots._rules import read
from webcrawler.urls import resolve

UA = "FooBot/1.0 (+https://foo.example/bot; mail@foo.example)"


def allowed(body: str | bytes, path: str = "/x", user_agent: str = UA) -> bool:
    rules = Rules(body.encode() if isinstance(body, str) else body, user_agent)
    return rules.allowed("http://h.example" + path)


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
        ("User-agent: FooBot\nCrawl-delay: 1\nUser-agent: b\nCrawl-delay: 2\nDisallow: /", False),
        ("User-agent: FooBot\nDisallow:\nUser-agent: b\nDisallow: /", True),
        # rules before any group
        ("Disallow: /\nUser-agent: FooBot\nAllow: /y", True),
        # only CR and LF end a line (2.2, NL)
        ("User-agent: FooBot\nDisallow: /y\u2028Disallow: /", True),
        ("User-agent: FooBot\nDisallow: /y\x0bDisallow: /", True),
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
        ("Disallow: /a%3fb", "/a?b", True),
        ("Disallow: /foo?b=https://h", "/foo?b=https%3a//h", False),
        # octets are compared, not characters: Latin-1 paths are no UTF-8
        ("Disallow: /caf%E9", "/caf%e9", False),
        ("Disallow: /caf%E9", "/caf%E8", True),
        ("Disallow: /a b", "/a%20b", False),
        ("Disallow: /100%", "/100%", False),
        # encoded, special characters are themselves (2.2.3)
        ("Disallow: /file-%2A.html", "/file-*.html", False),
        ("Disallow: /file-%2A.html", "/file-x.html", True),
        ("Disallow: /foo-%24", "/foo-$bar", False),
        ("Disallow: /foo-%24", "/foo-", True),
        ("Disallow: /a$b", "/a$b", False),
        # a pattern may begin with one
        ("Disallow: *.gif$", "/a/b.gif", False),
        ("Disallow: *", "/a", False),
        ("Disallow: /a**b*$", "/axbx", False),
        # the parts of a pattern do not overlap
        ("Disallow: /ab*ba$", "/aba", True),
        ("Disallow: /*aa*aa", "/aaa", True),
        # where no path begins, nothing matches
        ("Disallow: a", "/a", True),
        ("Disallow: http://h.example/x", "/x", True),
        # of more octets, whatever they are
        ("Disallow: /*/*/*/x\nAllow: /a/b", "/a/b/c/x", False),
        ("Disallow: /a*\nAllow: /a$", "/a", True),
        ("Disallow: /a$\nAllow: /a", "/a", False),
        ("Allow: /*/b\nDisallow: /*/b\nDisallow: /a/", "/a/b", True),
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


def test_example_of_section_5_1() -> None:
    lines = """
        User-Agent: *
        Disallow: *.gif$
        Disallow: /example/
        Allow: /publications/

        User-Agent: foobot
        Disallow:/
        Allow:/example/page.html
        Allow:/example/allowed.gif

        User-Agent: barbot
        User-Agent: bazbot
        Disallow: /example/page.html

        User-Agent: quxbot

        EOF"""
    paths = "/ /publications/ /a.gif /example/ /example/page.html /example/allowed.gif"

    expected = {
        "other": ["/", "/publications/"],
        "FooBot": ["/example/page.html", "/example/allowed.gif"],
        "BarBot": ["/", "/publications/", "/a.gif", "/example/", "/example/allowed.gif"],
        "bazbot": ["/", "/publications/", "/a.gif", "/example/", "/example/allowed.gif"],
        "quxbot": paths.split(),
    }

    may = {agent: [path for path in paths.split() if allowed(lines, path, agent)] for agent in expected}

    assert may == expected


@given(
    st.lists(st.tuples(st.booleans(), st.text("ab*$", max_size=6)), max_size=6), st.text("ab$", max_size=8)
)
def test_most_specific_rule_is_that_of_a_plain_reading(rules: list[tuple[bool, str]], path: str) -> None:
    """2.2.2 read aloud, one rule after the other, with regular expressions: slow and simple."""
    lines = [f"{'Allow' if allow else 'Disallow'}: /{pattern}" for allow, pattern in rules]
    matching = [(len(pattern) + 1, allow) for allow, pattern in rules if _matches("/" + pattern, "/" + path)]

    assert allowed("\n".join(["User-agent: *", *lines]), "/" + path) is max(matching, default=(0, True))[1]


def _matches(pattern: str, path: str) -> bool:
    expression = re.escape(pattern.removesuffix("$")).replace(r"\*", ".*")
    return re.match(expression + "$" * pattern.endswith("$"), path) is not None


def test_many_wildcards_do_not_explode() -> None:
    """CVE-2026-55520, a pattern that takes for ever, as crawler4j#425 and robots-parser#12."""
    assert allowed("User-agent: *\nDisallow: /" + "*a" * 8_000 + "Z", "/" + "a" * 2_000)
    assert not allowed("User-agent: *\nDisallow: /" + "*" * 16_000 + "Z", "/" + "a" * 2_000 + "Z")
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


@pytest.mark.parametrize(
    ("rule", "is_costly"), [("Disallow: /{}", False), ("Disallow: /*{}*", True), ("Disallow: /{}$", True)]
)
def test_only_special_characters_make_a_question_costly(rule: str, is_costly: bool) -> None:
    """Costly questions are asked in a thread."""
    lines = (rule.format(number) for number in range(20_000))
    rules = Rules("\n".join(("User-agent: *", *lines)).encode(), UA)

    assert rules.is_costly is is_costly
    assert not rules.allowed("http://h/19999")
    assert rules.allowed("http://h/x")


@given(
    st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
def test_no_body_ever_raises(body: bytes) -> None:
    rules = Rules(b"User-agent: *\nDisallow: " + body, UA)

    assert rules.allowed("http://h/a%C3%A9?b") in (True, False)
    assert rules.allowed("http://h/robots.txt")
    assert rules.crawl_delay is None or 0 <= rules.crawl_delay <= 86_400


# --- Crawl-delay, ours ---


@pytest.mark.parametrize(
    ("lines", "delay"),
    [
        ("User-agent: *\ncrawl-delay: 0.5 # half a second", 0.5),
        ("User-agent: *\nCrawl-delay: 0.0001", 0.0001),
        ("User-agent: *\nCrawl-delay: 1e9", 86_400.0),
        ("User-agent: *\nCrawl-delay: 0", 0.0),
        *[
            (f"User-agent: *\nCrawl{spelled}", 10.0)
            for spelled in ("-delay: 10", "-delay: 1_0", "-delay: \0 10", " delay 10")
        ],
        ("User-agent: *\nCrawl-delay: \u0661", 1.0),
        *[
            (f"User-agent: *\nCrawl-delay: {insane}", None)
            for insane in ["1e999", "9" * 5_000, "5s", "5;", "1,5", "0x10", "-1", "NaN", "inf", "soon", ""]
        ],
        ("User-agent: *\nCrawl-delay: 2\nCrawl-delay: 5\nCrawl-delay: x", 5.0),
        ("User-agent: FooBot\nCrawl-delay: 3\nDisallow:\nUser-agent: *\nCrawl-delay: 9", 3.0),
        ("User-agent: b\nCrawl-delay: 3", None),
        # a delay is for those named before it: many files slow one robot down, then speak to all
        ("User-agent: b\nCrawl-delay: 120\nUser-agent: *\nDisallow: /y", None),
        ("Crawl-delay: 7\nUser-agent: *\nDisallow: /y", None),
        # nor for those named between it and another one, with or without blank lines
        ("User-agent: *\nCrawl-delay: 1\n\nUser-agent: BadBot\nCrawl-delay: 3600", 1.0),
        ("User-agent: *\nCrawl-delay: 1\nUser-agent: BadBot\nCrawl-delay: 3600", 1.0),
        ("User-agent: BadBot\nCrawl-delay: 3600\n\nUser-agent: *\nCrawl-delay: 1", 1.0),
        ("User-agent: *\nCrawl-delay: soon\nUser-agent: BadBot\nCrawl-delay: 3600", None),
        ("User-agent: *\nCrawl-delay: 1\nSitemap: http://h/s\nUser-agent: b\nCrawl-delay: 3600", 1.0),
        # it is for all that are named above it, before and behind rules
        ("User-agent: b\nUser-agent: *\nCrawl-delay: 2", 2.0),
        ("User-agent: *\nUser-agent: b\n\nCrawl-delay: 2", 2.0),
        ("User-agent: *\nDisallow: /y\nCrawl-delay: 2", 2.0),
        ("User-agent: *\nDisallow: /y\nUser-agent: b\nDisallow: /z\nCrawl-delay: 2", None),
        ("User-agent: b\nCrawl-delay: 9\nUser-agent: *\nDisallow: /y\nCrawl-delay: 2", 2.0),
        ("User-agent: *\nCrawl-delay: 1\nUser-agent: b\nDisallow: /y\nCrawl-delay: 9", 1.0),
        ("User-agent: *\nCrawl-delay: 1\nUser-agent: *\nCrawl-delay: 3", 3.0),
        ("", None),
    ],
)
def test_crawl_delay_is_the_longest_sane_one_of_our_group(lines: str, delay: float | None) -> None:
    assert Rules(lines.encode(), UA).crawl_delay == delay


# --- 2.3.1 what an answer means ---


@pytest.mark.parametrize(
    ("status", "x_is_allowed"),
    [
        (200, False),
        (203, False),
        (204, False),
        # 2.3.1.3 unavailable; 2.3.1.2 redirects without end
        *[(status, True) for status in (400, 401, 403, 404, 410, 418, 451, 499, 301, 302, 307, 308)],
        # 2.3.1.4 unreachable: complete disallow for now
        *[(status, None) for status in (None, 206, 500, 502, 503, 504, 599, 429, 999, 100, 0)],
    ],
)
def test_status_decides_what_an_answer_means(status: int | None, x_is_allowed: bool | None) -> None:
    rules = verdict(status, b"User-agent: *\nDisallow: /x", UA)

    assert (rules and rules.allowed("http://h/x")) is x_is_allowed


def test_all_and_nothing() -> None:
    nothing = Rules(b"User-agent: *\nDisallow: /", UA)

    assert ALLOW_ALL.allowed("http://h/x")
    assert not nothing.allowed("http://h/x")
    assert nothing.allowed("http://h/robots.txt")


def test_real_robots_txt_files_all_parse() -> None:
    parsed = restricted = slowed = 0
    for _, body in archive("robots-real/robots-real.tar.xz"):
        rules = Rules(body, UA)
        parsed += 1
        restricted += not (rules.allowed("http://h/search?q=a") and rules.allowed("http://h/admin/"))
        slowed += rules.crawl_delay is not None

    assert parsed == 2_110
    assert restricted > parsed / 10
    assert slowed > parsed / 50


def test_real_rules_are_matched_as_protego_matches_them() -> None:
    """An independent reading; it differs on rules that are whole URLs, which no path begins with."""
    asked, differing = 0, set()
    for number, (name, body) in enumerate(archive("robots-real/robots-real.tar.xz")):
        if number % 5 == 0:
            rules, written = Rules(body, UA), read(body, UA)[0].rules
            lines = (f"{'Allow' if allow else 'Disallow'}: {pattern}" for allow, pattern in written)
            protego = Protego.parse("\n".join(("User-agent: *", *lines)))
            for path in _paths_about([pattern for _, pattern in written[:20] if "://" not in pattern]):
                url = resolve(f"http://h/{path.lstrip('/')}")
                asked += 1
                if rules.allowed(url) != protego.can_fetch(url, "foobot"):
                    differing.add((name, url))

    assert asked > 10_000
    assert differing == set()


def _paths_about(patterns: list[str]) -> set[str]:
    """Such as they match, and such as they almost do."""
    paths = {"/", "/search?q=a", "/index.html"}
    for pattern in patterns:
        path = pattern.rstrip("$").replace("*", "x7")
        paths |= {path, path + "a", path[:-1], path + "/index.html"}
    return paths


# --- which line decides: for people who ask why ---


ROBOTS = """
User-agent: other
Disallow: /private/

User-agent: *
Disallow: /private/   # all of it
Allow: /private/open
Disallow: /*.cgi$
dissallow: /misspelt
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("/", ""),
        ("/private/page", "Disallow: /private/"),
        ("/private/open/page", "Allow: /private/open"),  # the longer one
        ("/run.cgi", "Disallow: /*.cgi$"),
        ("/run.cgi?x", ""),
        ("/misspelt", "Disallow: /misspelt"),
    ],
)
def test_the_line_that_decides_is_told(path: str, line: str) -> None:
    assert deciding_line(ROBOTS.encode(), UA, f"http://h.example{path}") == line


@given(
    st.lists(st.tuples(st.sampled_from(["Allow", "Disallow"]), st.text("/ab*$", max_size=5))), st.text("/ab")
)
def test_the_line_that_decides_says_what_the_rules_say(rules: list[tuple[str, str]], path: str) -> None:
    body = "\n".join(["User-agent: *", *(f"{name}: {pattern}" for name, pattern in rules)]).encode()

    line = deciding_line(body, UA, f"http://h.example/{path}")

    assert not line.startswith("Disallow" if allowed(body, f"/{path}") else "Allow")
    assert line in ("", *(f"{name}: {pattern}" for name, pattern in rules)) or "index" in line
