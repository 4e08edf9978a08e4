"""Google's published robots.txt cases: 21 tests, 180 expectations, 201 with the rows of its tables.

Left out are those that RFC 9309 contradicts, each with the reason in `EXCLUDED`. Where Google's parser is
asked for a crawler's name, ours is given a User-Agent; where it counts lines, ours shows what it reads.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

import pytest

from webcrawler.robots import Rules, product_token
from webcrawler.robots._matcher import spelling
from webcrawler.robots._rules import decode, lines, records
from webcrawler.urls import resolve, split

EXCLUDED = {
    ("ID_Encoding", "http://foo.bar/foo/bar/ツ"): (
        "2.2.2: octets outside ASCII MUST be percent-encoded prior to comparison, in the URI too; "
        "Google's matcher leaves that to its caller"
    ),
    ("ID_Encoding", "http://foo.bar/foo/bar/baz"): (
        "2.2.2: percent-encoded ASCII MUST be unencoded prior to comparison: its table has %62%61%7A as baz"
    ),
    ("GoogleOnly_AcceptUserAgentUpToFirstSpace", "Foo Bar"): (
        "2.2.1: a product token MUST contain only letters, _ and -; that of the User-Agent `Foo Bar` is Foo"
    ),
}


@cache
def _tests() -> dict[str, list[dict[str, Any]]]:
    text = files(__package__).joinpath("data/google_robots.json").read_text("utf-8")
    tests: dict[str, list[dict[str, Any]]] = json.loads(text)["tests"]
    return tests


def _rows(kind: str) -> list[tuple[Any, ...]]:
    """(name of the test, robots.txt or "", *row) of all cases that have such rows."""
    return [
        (name, case.get("robots", ""), *row)
        for name, cases in _tests().items()
        for case in cases
        for row in case.get(kind, ())
    ]


def _body(case: dict[str, Any]) -> bytes:
    return case["latin1"].encode("latin-1") if "latin1" in case else case["robots"].encode()


def _unfold(text: str) -> str:
    return re.sub(r"<(.)\*(\d+)>", lambda found: found[1] * int(found[2]), text)


def _excluded(name: str, agent: str, url: str) -> str | None:
    return EXCLUDED.get((name, url)) or EXCLUDED.get((name, agent))


@pytest.mark.parametrize(("name", "robots", "agent", "url", "is_allowed"), _rows("allowed"))
def test_allowed(name: str, robots: str, agent: str, url: str, is_allowed: bool) -> None:
    rules = Rules(_unfold(robots).encode(), agent)
    verdict = rules.allowed(resolve(_unfold(url), "http://foo.bar/"))

    if _excluded(name, agent, url):
        assert verdict is not is_allowed, "as the RFC has it, not Google"
    else:
        assert verdict is is_allowed


@pytest.mark.parametrize(("test", "robots", "name", "is_valid"), _rows("names"))
def test_valid_product_token(test: str, robots: str, name: str, is_valid: bool) -> None:
    assert (name != "" and product_token(name) == name.lower()) is is_valid


@pytest.mark.parametrize(
    "case", [case for cases in _tests().values() for case in cases if "directives" in case], ids=repr
)
def test_what_is_read(case: dict[str, Any]) -> None:
    read = lines(decode(_body(case)))
    directives = list(records(read))
    while not read[-1]:
        read.pop()

    assert len(directives) == case["directives"]
    assert len(read) == case.get("last_line", len(read))
    assert len(read) - len(directives) == case.get("unknown", len(read) - len(directives))


@pytest.mark.parametrize("case", _tests()["ID_NonStandardLineExample_Sitemap"])
def test_sitemap(case: dict[str, str]) -> None:
    assert Rules(_body(case), "foo").sitemaps == (case["sitemap"],)


@pytest.mark.parametrize(("test", "robots", "url", "path"), _rows("paths"))
def test_path_that_is_matched(test: str, robots: str, url: str, path: str) -> None:
    """Google takes URLs without a scheme; ours are resolved before anybody asks."""
    is_host = url[:1] not in ("", "/") and "://" not in url

    assert split(resolve(f"http://{url}" if is_host else url, "http://h/"))[1] == path


@pytest.mark.parametrize(("test", "robots", "pattern", "escaped"), _rows("patterns"))
def test_escaped_pattern(test: str, robots: str, pattern: str, escaped: str) -> None:
    assert spelling(pattern) == escaped


def test_all_are_here_but_four_with_a_reason() -> None:
    cases = [case for cases in _tests().values() for case in cases]
    single = ("directives", "last_line", "unknown", "sitemap")
    tables = {kind: len(_rows(kind)) for kind in ("allowed", "names", "paths", "patterns")}
    left_out = [row for row in _rows("allowed") if _excluded(row[0], row[2], row[3])]

    assert len(_tests()) == 21
    assert sum(tables.values()) + sum(name in case for case in cases for name in single) == 201
    assert 201 - tables["paths"] - tables["patterns"] + 2 == 180, "two helpers are called once a row"
    assert len(left_out) == 4
