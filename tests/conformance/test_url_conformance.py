"""URLs against what others have collected: RFC 3986, the Web Platform Tests, and links as they are found.

`resolve` has the WHATWG reading, which is what browsers fetch, for http and https. It leaves out what no
server sees, the fragment, and what no crawler may send, user name and password.
"""

from __future__ import annotations

import gzip
import json
import lzma
from typing import Any

import pytest
from testdata import data

from webcrawler.urls import UnfetchableUrl, canonical, resolve, server, split

# The one choice that RFC 3986 leaves (5.4.2): strictly `http:g` is itself; "for backward compatibility", and
# for WHATWG, it is relative to a base of the same scheme.
HTTP_G = ("http:g", "http:g", "http://a/b/c/g")


def _load(name: str) -> Any:
    path = data(f"url-conformance/{name}")
    return json.loads(gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes())


def _resolved(href: str, base: str | None = None) -> str:
    try:
        return resolve(href, base)
    except UnfetchableUrl:
        return "refused"


def test_rfc_3986_section_5_4_holds_in_all_42_examples() -> None:
    examples = _load("rfc3986-5.4.json")
    table = [*examples["normal"], *examples["abnormal"]]
    wrong = [
        (reference, expected, found)
        for reference, expected in table
        if (found := _resolved(reference, examples["base"])) != _fetched(expected)
    ]

    assert len(table) == 42
    assert wrong == [HTTP_G]


def _fetched(expected: str) -> str:
    """An example's answer as it is fetched: no fragment, http only, and no empty path (6.2.3)."""
    url = expected.partition("#")[0]
    if url == "g:h":
        return "refused"
    return url + "/" * (url == "http://g")


def test_wpt_cases_for_http_https_and_ftp_hold() -> None:
    """Gopher is left out, which the standard does not know: tests/test_protocols.py has its own."""
    cases = [case for case in _load("urltestdata.json.gz") if isinstance(case, dict)]
    cases = [case for case in cases if case.get("protocol") != "gopher:"]

    wrong = [case for case in cases if _resolved(case["input"], case.get("base")) != _expected(case)]

    assert len(cases) > 800
    assert wrong == [], "none is left out"


def _expected(case: dict[str, str]) -> str:
    """The href without fragment, user name and password."""
    if case.get("failure") or case["protocol"] not in ("http:", "https:", "ftp:"):
        return "refused"
    search = case["search"] or "?" * case["href"].partition("#")[0].endswith("?")
    return f"{case['protocol']}//{case['host']}{case['pathname']}{search}"


def test_wpt_percent_encoding_holds_for_utf_8() -> None:
    """Ours: a link's query is UTF-8, whatever the charset of its page; see `resolve`."""
    cases = [case for case in _load("percent-encoding.json") if isinstance(case, dict)]

    assert len(cases) == 7
    for case in cases:
        assert _resolved(f"http://h/?{case['input']}") == f"http://h/?{case['output']['utf-8']}"


def test_wpt_domain_to_ascii_holds() -> None:
    cases = [case for case in _load("toascii.json") if isinstance(case, dict)]

    wrong = [
        (case["input"], found)
        for case in cases
        if (found := _resolved(f"http://{case['input']}/x"))
        != (f"http://{case['output']}/x" if case["output"] else "refused")
    ]

    assert len(cases) > 80
    assert wrong == []


@pytest.fixture(scope="module")
def found() -> list[str]:
    """24,005 URLs, many of them of phishing reports: parsed, never fetched."""
    return lzma.decompress(data("urls-real/urls.txt.xz").read_bytes()).decode("utf-8", "replace").splitlines()


def test_every_url_that_people_have_found_is_read(found: list[str]) -> None:
    refused = [url for url in found if _resolved(url) == "refused"]

    assert len(found) == 24_005
    assert refused == []


def test_canonical_form_of_found_urls_is_reached_at_once(found: list[str]) -> None:
    for url in found:
        form = canonical(url)

        assert canonical(form) == form
        assert form.isascii() and form.isprintable()
        assert split(form)[0] == server(form)
        assert server(canonical(resolve(url))) == server(form), "another spelling, never another server"


def test_found_urls_resolve_against_each_other_without_an_error(found: list[str]) -> None:
    for base, href in zip(found[::7], found[1::7], strict=False):
        scheme, _, rest = href.partition("://")
        for relative in (
            rest,
            f"//{rest}",
            rest.partition("/")[2],
            f"?{rest}",
            f"{scheme}:{rest}",
            f"\\{rest}",
        ):
            url = _resolved(relative, resolve(base))
            assert url == "refused" or canonical(canonical(url)) == canonical(url)
