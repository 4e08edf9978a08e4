"""What belongs to a collection: patterns of URLs, and the file that keeps them."""

from __future__ import annotations

import fnmatch
import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.errors import BadInput
from webcrawler.scope import Patterns, Scope, Watched, change, expand, read


def means(pattern: str, url: str) -> bool:
    return Patterns(expand(pattern)).match(url)


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("https://example.org/docs/*", ["https://example.org/docs/*"]),
        ("https://example.org", ["https://example.org/*"]),  # a server
        ("https://example.org/", ["https://example.org/"]),  # its home page alone
        ("example.org/docs/*", ["http://example.org/docs/*", "https://example.org/docs/*"]),
        ("HTTPS://Example.ORG:443/%7Ea/*", ["https://example.org/~a/*"]),
        ("https://example.org/a/index.html", ["https://example.org/a/"]),
        ("https://*.example.org", ["https://*.example.org/*"]),
        ("https://example.org/*?page=*", ["https://example.org/*?page=*"]),
        ("*.example.org", ["http://*.example.org/*", "https://*.example.org/*"]),
        ("*/print/*", ["*/print/*"]),
        (" * ", ["*"]),
    ],
)
def test_a_pattern_is_made_canonical_as_urls_are(written: str, canonical: list[str]) -> None:
    assert list(expand(written)) == canonical


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("", "is not a pattern of URLs"),
        ("file:///etc/*", "is not a pattern of URLs"),
        ("http://", "is not a pattern of URLs"),
        ("https://example.org:*/", "is not a pattern of URLs"),
        ("https://example.org/a#*", r"a \* in a part that is left out"),
        ("https://example.org/*?utm_source=*", r"a \* in a part that is left out"),
    ],
)
def test_a_bad_pattern_is_one_clear_line(wrong: str, told: str) -> None:
    with pytest.raises(BadInput, match=told) as refused:
        expand(wrong)

    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("pattern", "url", "is_meant"),
    [
        ("https://a.test/docs", "https://a.test/docs", True),
        ("https://a.test/docs", "https://a.test/docs/1", False),  # without a star: one URL
        ("https://a.test/docs*", "https://a.test/docs/1?x=1", True),
        ("https://a.test/docs/*", "https://a.test/docs", False),
        ("https://a.test", "https://a.test/", True),
        ("https://a.test", "https://a.test.evil.test/", False),
        ("https://a.test", "https://a.test:8080/", False),
        ("a.test", "http://a.test/1", True),
        ("https://a.test/*/print", "https://a.test/1/2/print", True),
        ("https://a.test/*/print", "https://a.test/1/printed", False),
        ("https://*.a.test/x*", "https://b.c.a.test/xy", True),
        ("https://*.a.test/x*", "https://a.test/x", False),
        ("https://*.a.test/x*", "https://evil.test/b.a.test/x", False),  # a star in a host stays in the host
        ("https://a.test/a*b*c", "https://a.test/abbc", True),
        ("https://a.test/a*b*c", "https://a.test/acb", False),
        ("https://a.test/a+(b)*", "https://a.test/a+(b)c", True),  # nothing else is special
        ("*/print/*", "https://a.test/1/print/2", True),
        ("*/print/*", "https://a.test/print", False),
        ("*?sort=*", "http://a.test/x?sort=up", True),
        ("*", "http://anything.test/", True),
    ],
)
def test_a_star_stands_for_any_characters(pattern: str, url: str, is_meant: bool) -> None:
    assert means(pattern, url) is is_meant


paths = st.text("ab/*", max_size=6)


@given(st.lists(paths, max_size=8), st.text("ab/", max_size=8))
def test_many_patterns_together_are_as_each_of_them_alone(patterns: list[str], path: str) -> None:
    texts = [f"https://h.test/{pattern}" for pattern in patterns]
    url = f"https://h.test/{path}"

    alone = any(re.fullmatch(fnmatch.translate(text), url) for text in texts)

    assert Patterns(texts).match(url) is alone


@given(paths, paths, st.text("ab/", max_size=8))
def test_a_pattern_that_another_one_matches_means_nothing_else(wide: str, narrow: str, path: str) -> None:
    wide, narrow, url = (f"https://h.test/{end}" for end in (wide, narrow, path))

    if Patterns([wide]).match(narrow) and Patterns([narrow]).match(url):
        assert Patterns([wide]).match(url)


def test_a_url_that_no_star_of_many_meets_takes_no_time() -> None:
    """It does not end within the time of a test where each star is tried at each place."""
    assert not means("https://a.test/" + "*a" * 40 + "b", "https://a.test/" + "a" * 2000)


@pytest.mark.parametrize(
    ("scope", "url", "refusal"),
    [
        (Scope(), "https://a.test/", ""),
        (Scope(include=("https://a.test/docs/*",)), "https://a.test/docs/1", ""),
        (Scope(include=("https://a.test/docs/*",)), "https://a.test/", "scope"),
        (Scope(exclude=("https://a.test/docs/*",)), "https://a.test/docs/1", "scope"),
        (Scope(("https://a.test/*",), ("https://a.test/b*",)), "https://a.test/b", "scope"),  # both must hold
        (Scope(removed=("https://a.test/1",)), "https://a.test/1", "removed"),
        (Scope(removed=("https://a.test/1",)), "https://a.test/12", ""),
    ],
)
def test_what_is_included_not_excluded_and_not_removed_belongs(scope: Scope, url: str, refusal: str) -> None:
    assert scope.refusal(url) == refusal


# ---- the file


def test_the_scope_is_kept_and_nothing_else_is(tmp_path: Path) -> None:
    scope = change(tmp_path / "new", lambda before: replace(before, include=("https://a.test/*",)))

    assert read(tmp_path / "new") == scope == Scope(include=("https://a.test/*",))
    assert json.loads((tmp_path / "new" / "scope.json").read_text()) == {
        "include": ["https://a.test/*"],
        "exclude": [],
        "removed": [],
        "domains": [],
    }


def test_changes_of_several_processes_are_all_kept(tmp_path: Path) -> None:
    def remove(n: int) -> None:
        change(tmp_path, lambda before: replace(before, removed=(*before.removed, f"https://a.test/{n}")))

    with ThreadPoolExecutor(20) as beside:
        list(beside.map(remove, range(20)))

    assert len(read(tmp_path).removed) == 20


@pytest.mark.parametrize("text", ["{", "[1]", '{"include": 1}', '{"unknown": []}'])
def test_a_file_that_is_no_scope_is_one_clear_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "scope.json").write_text(text)

    with pytest.raises(BadInput, match=r"scope\.json cannot be read.*put it back from a backup"):
        read(tmp_path)


def test_who_watches_sees_each_change(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    first = watched.now()
    change(tmp_path, lambda before: replace(before, exclude=("https://a.test/*",)))

    assert first == Scope()
    assert watched.now() == Scope(exclude=("https://a.test/*",))
    assert watched.now() is watched.now()
