"""What a crawl does with what /robots.txt answers: RFC 9309, 2.3 to 2.5, case by case, in one real crawl.

Each case is a server of its own with two pages, one of which its rules disallow where they can be had.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from itertools import count
from typing import NamedTuple

import brotli
import pytest
from backports import zstd
from localweb import Crawled, crawl

from .rawweb import RESET, Answer, RawWeb, Server, http

RULES = b"User-agent: *\nDisallow: /secret\n"
ALLOWING = b"User-agent: *\nDisallow:\n"
COMMENT = b"# comment\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
# What becomes of (/page, /secret).
BY_RULES = ("done/document", "failed/robots-disallowed")
EVERYTHING = ("done/document", "done/document")
NOTHING = ("failed/robots-unreachable", "failed/robots-unreachable")

CUT_LINE = (b"#" * 26 + b"\n", b"Disallow: /secret/but/not/page")
TRIES = 2
KIB = 1024
_pages = count()


class Case(NamedTuple):
    """`answer` is bytes for /robots.txt, or a function of the path; `asked`: how often robots.txt is."""

    name: str
    section: str
    answer: Answer | Callable[[str], Answer]
    outcome: tuple[str, str]
    asked: int = 1


def padded(size: int, *tail: bytes) -> bytes:
    """The rules after so many bytes of comments."""
    return b"User-agent: *\n" + (b"#" * 63 + b"\n") * (size // 64) + b"".join(tail)


def wildcards(number: int) -> bytes:
    """Rules of which each has to be tried (CVE-2026-55520)."""
    return b"".join(b"Disallow: /*%x*Z\n" % n for n in range(number))


def chain(length: int, status: int = 301) -> Callable[[str], Answer]:
    """/robots.txt -> /1 -> /2 -> … -> the rules, after so many redirects."""

    def answer(path: str) -> Answer:
        done = 0 if path == "/robots.txt" else int(path[1:])
        return http(status, b"", f"Location: /{done + 1}") if done < length else http(200, RULES)

    return answer


def to(location: str, status: int = 302) -> bytes:
    return http(status, b"", f"Location: {location}")


def then(*answers: Answer) -> Callable[[str], Answer]:
    """One after the other; the last for ever."""
    left = list(answers)
    return lambda path: left.pop(0) if len(left) > 1 else left[0]


CODINGS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "deflate without a header": lambda body: zlib.compress(body, wbits=-zlib.MAX_WBITS),
    "br": brotli.compress,
    "zstd": zstd.compress,
}
# Longer than what a decoder holds back, with the rule that counts at the end.
LONG_RULES = b"User-agent: *\n" + b"".join(b"Disallow: /%x\n" % (n * n) for n in range(15_000)) + RULES


def coded(coding: str, keep: float = 1.0, status: int = 200) -> bytes:
    """The long rules, of which that share came, or all but that many bytes."""
    sent = CODINGS[coding](LONG_RULES)
    sent = sent[: int(keep) if keep < 0 else int(keep * len(sent))]
    return http(status, sent, f"Content-Encoding: {coding.split()[0]}")


def gzipped(*members: bytes, cut: int = 0) -> bytes:
    body = b"".join(gzip.compress(member, 1) for member in members)
    return http(200, body[: len(body) - cut], "Content-Encoding: gzip")


def gzip_in_deflate(cut: int = 0) -> bytes:
    inner = gzip.compress(RULES)
    return http(200, zlib.compress(inner[: len(inner) - cut]), "Content-Encoding: gzip, deflate")


CASES = [
    # Successful access: the rules hold
    *[Case(f"{status}", "2.3.1.1", http(status, RULES), BY_RULES) for status in (200, 201, 203)],
    Case("204, which has no body", "2.3.1.1", b"HTTP/1.1 204 x\r\nConnection: close\r\n\r\n", EVERYTHING),
    Case("200 and empty", "2.3.1.1", http(200), EVERYTHING),
    Case("HTTP/1.0, ended by closing", "2.3.1.1", b"HTTP/1.0 200 OK\r\n\r\n" + RULES, BY_RULES),
    Case("gzip", "2.3.1.1", gzipped(RULES), BY_RULES),
    # Redirects
    *[Case(f"{status}", "2.3.1.2", chain(1, status), BY_RULES) for status in (301, 302, 303, 307, 308)],
    *[Case(f"{length} redirects", "2.3.1.2", chain(length), BY_RULES) for length in (2, 3, 4, 5)],
    Case("6 redirects", "2.3.1.2", chain(6), EVERYTHING),
    Case("redirects to itself", "2.3.1.2", chain(10**6), EVERYTHING),
    Case("a redirect without a target", "2.3.1.2", http(301), EVERYTHING),
    Case("300 without a target", "2.3.1.2", http(300, RULES), EVERYTHING),
    Case("304, never asked for", "2.3.1.2", http(304), EVERYTHING),
    Case("to another host", "2.3.1.2", to("{other}/rules"), BY_RULES),
    Case("to another host's /robots.txt", "2.3.1.2", to("{other}/robots.txt"), EVERYTHING),
    Case("to a host that disallows it", "2.3.1.2", to("{strict}/rules"), BY_RULES),
    Case("to what is not there", "2.3.1.3", to("{other}/gone"), EVERYTHING),
    Case("to a host that is not there", "2.3.1.4", to("http://127.0.0.1:9/"), NOTHING, TRIES),
    Case("to a special address", "S3", to("http://127.0.0.2/"), NOTHING, TRIES),
    Case("to a file", "S6", to("file:///etc/passwd"), EVERYTHING),
    Case("to no URL", "2.3.1.2", to("http://["), EVERYTHING),
    Case("to //host", "2.3.1.2", to("{relative}/rules"), BY_RULES),
    Case("with a fragment", "2.3.1.2", to("/rules#x"), BY_RULES),
    # "Unavailable": no rules
    *[
        Case(f"{status}", "2.3.1.3", http(status, RULES), EVERYTHING)
        for status in (400, 401, 402, 403, 404, 405, 406, 410, 418, 421, 451, 499)
    ],
    # "Unreachable": complete disallow
    *[
        Case(f"{status}", "2.3.1.4", http(status, RULES), NOTHING, TRIES)
        for status in (429, 500, 501, 502, 503, 504, 505, 507, 508, 511, 520, 599, 999)
    ],
    Case("503, then the rules", "2.3.1.4", then(http(503), http(200, RULES)), BY_RULES, 2),
    Case("reset, then the rules", "2.3.1.4", then(RESET, http(200, RULES)), BY_RULES, 2),
    Case("503, then 404", "2.3.1.4", then(http(503), http(404)), EVERYTHING, 2),
    Case("connection reset", "2.3.1.4", RESET, NOTHING, TRIES),
    Case("closed without an answer", "2.3.1.4", b"", NOTHING, TRIES),
    Case("no answer in time", "2.3.1.4", None, NOTHING, TRIES),
    Case("no HTTP", "2.3.1.4", b"SSH-2.0-OpenSSH\r\n\r\n" + RULES, NOTHING, TRIES),
    Case("a body cut short", "2.3.1.4", http(200, RULES, length=999), NOTHING, TRIES),
    Case("a chunk cut short", "2.3.1.4", CHUNKED + b"1f\r\n" + RULES[:9], NOTHING, TRIES),
    Case("206, which nobody asked for", "2.3.1.4", http(206, RULES), NOTHING, TRIES),
    Case("206, then the rules", "2.3.1.4", then(http(206, ALLOWING), http(200, RULES)), BY_RULES, 2),
    *[Case(f"{name} cut short", "2.3.1.4", coded(name, keep=0.8), NOTHING, TRIES) for name in CODINGS],
    *[Case(f"{name} without its end", "2.3.1.4", coded(name, keep=-4), NOTHING, TRIES) for name in CODINGS],
    Case("second of two gzip members cut short", "2.3.1.4", gzipped(COMMENT, RULES, cut=10), NOTHING, TRIES),
    # Each member costs a decoder, and a copy of all that stands behind it.
    Case("gzip of very many members", "2.3.1.4", gzipped(RULES, *[b""] * 20_000), NOTHING, TRIES),
    Case("gzip in deflate, cut short", "2.3.1.4", gzip_in_deflate(cut=9), NOTHING, TRIES),
    Case("gzip cut short, then whole", "2.3.1.4", then(coded("gzip", keep=-9), coded("gzip")), BY_RULES, 2),
    # A coded body that is whole, and one of which nobody wants to know
    *[Case(f"{name}, whole", "2.3.1.1", coded(name), BY_RULES) for name in CODINGS],
    Case("two gzip members", "2.3.1.1", gzipped(COMMENT, RULES), BY_RULES),
    Case("gzip in deflate", "2.3.1.1", gzip_in_deflate(), BY_RULES),
    Case("404 in gzip cut short", "2.3.1.3", coded("gzip", keep=-9, status=404), EVERYTHING),
    # Parsing errors: what can be read counts
    Case("an HTML page", "2.3.1.5", http(200, b"<html>" + RULES, kind="text/html"), EVERYTHING),
    Case("rules as text/html", "2.3.1.5", http(200, RULES, kind="text/html"), BY_RULES),
    Case("rules as a picture", "2.3.1.5", http(200, RULES, kind="image/png"), BY_RULES),
    Case("binary, then rules", "2.3.1.5", http(200, bytes(range(128, 256)) * 9 + b"\n" + RULES), BY_RULES),
    Case("UTF-8 with a byte order mark", "2.3", http(200, b"\xef\xbb\xbf" + RULES), BY_RULES),
    Case("UTF-16", "2.2.2", http(200, RULES.decode().encode("utf-16")), BY_RULES),
    Case("UTF-16, big-endian, no mark", "2.2.2", http(200, RULES.decode().encode("utf-16-be")), BY_RULES),
    Case("a charset that lies", "2.3", http(200, RULES, kind="text/plain; charset=utf-16"), BY_RULES),
    Case("Latin-1", "2.3.1.5", http(200, "# é\n".encode("latin-1") + RULES), BY_RULES),
    Case("NUL", "2.3.1.5", http(200, RULES.replace(b"D", b"\0D\0")), BY_RULES),
    Case("CR only", "2.2", http(200, RULES.replace(b"\n", b"\r")), BY_RULES),
    Case("CR LF", "2.2", http(200, RULES.replace(b"\n", b"\r\n")), BY_RULES),
    # Limits
    Case("rules at the end of 500 KiB", "2.5", http(200, padded(499 * KIB, RULES)), BY_RULES),
    Case("rules behind 500 KiB", "2.5", http(200, padded(500 * KIB, RULES)), EVERYTHING),
    Case("rules, then 8 MiB", "2.5", http(200, RULES + padded(8192 * KIB)), BY_RULES),
    Case("rules, then one line of 8 MiB", "2.5", http(200, RULES + b"#" * 8192 * KIB), BY_RULES),
    Case("500 KiB of wildcards", "2.5", http(200, RULES + wildcards(30_000)), BY_RULES),
    Case("a line cut at 500 KiB", "2.5", http(200, padded(500 * KIB - 64, *CUT_LINE)), EVERYTHING),
    Case("rules, then more than is read, in gzip", "2.5", gzipped(RULES + bytes(900 * KIB)), BY_RULES),
    Case(
        "rules, then a gzip bomb: no more is inflated than of a page",
        "2.3.1.4",
        gzipped(RULES + bytes(32 * KIB * KIB)),
        NOTHING,
        TRIES,
    ),
]


def behave(case: Case, helpers: dict[str, str]) -> Callable[[str], Answer]:
    def answer(path: str) -> Answer:
        if path in ("/page", "/secret"):
            page = f"<title>{case.name}</title><p>Page {next(_pages)}"
            return http(200, page.encode(), kind="text/html")
        if path == "/rules":
            return http(200, RULES)
        if not isinstance(case.answer, bytes | None):
            return case.answer(path)
        answer = case.answer
        for name, url in helpers.items():
            answer = answer and answer.replace(f"{{{name}}}".encode(), url.encode())
        return answer

    return answer


class Fetched(NamedTuple):
    crawled: Crawled
    servers: list[Server]


@pytest.fixture(scope="module")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fetched]:
    web = RawWeb()
    disallow = http(200, b"User-agent: *\nDisallow: /")
    other = web.add(lambda path: http(200, RULES) if path == "/rules" else http(404))
    strict = web.add(lambda path: http(200, RULES) if path == "/rules" else disallow)
    helpers = {"other": other.url, "strict": strict.url, "relative": other.url.removeprefix("http:")}
    servers = [web.add(behave(case, helpers)) for case in CASES]
    folder = tmp_path_factory.mktemp("robots")
    seeds = folder / "seeds"
    seeds.write_text("".join(f"{server.url}{path}\n" for server in servers for path in ("/page", "/secret")))

    crawled = crawl(
        folder / "crawl",
        "index",
        *("-a", f"seeds=@{seeds}", "-a", "mode=fifo"),
        FRONTIER_TRIES=TRIES,
        FRONTIER_SERVER_CONCURRENCY=2,
        DOWNLOAD_TIMEOUT=30,
        DOWNLOAD_MAXSIZE=1_000_000,
    )

    yield Fetched(crawled, servers)
    web.stop()


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(CASES)), ids=[f"{case.section} {case.name}" for case in CASES])
def test_case(fetched: Fetched, number: int) -> None:
    case, server = CASES[number], fetched.servers[number]

    outcome = tuple(fetched.crawled.reason(server.url + path) for path in ("/page", "/secret"))

    assert outcome == case.outcome
    assert server.asked["/robots.txt"] == case.asked
    pages = {path for path in ("/page", "/secret") if server.asked[path]}
    assert len(pages) == sum(reason == "done/document" for reason in outcome), "asked for what it may only"


@pytest.mark.slow
def test_the_crawl_ends_well_with_every_url_decided(fetched: Fetched) -> None:
    states = fetched.crawled.frontier["states"]

    assert len(CASES) >= 40
    assert fetched.crawled.status == 0
    assert "Traceback" not in fetched.crawled.log
    assert states["seen"] == 2 * len(CASES) == states["done"] + states["failed"]
