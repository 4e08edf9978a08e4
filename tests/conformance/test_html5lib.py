"""html5lib's tokenizer, tree-construction and encoding cases, from bytes to a page: never an exception.

libxml2 reads them, which builds other trees than a browser; so what is checked is that each becomes a page
that can be stored, and that the charset is a browser's.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from functools import cache

import pytest
from testdata import archive

from webcrawler.parsing import parse
from webcrawler.parsing.encoding import declared_encoding
from webcrawler.records import Page
from webcrawler.urls import canonical

URL = "http://h.example/dir/page"


@cache
def _files() -> dict[str, bytes]:
    return dict(archive("html5lib/html5lib.tar.xz"))


def _tokenizer_inputs() -> Iterator[str]:
    for name, body in _files().items():
        if name.endswith(".test"):
            tests = json.loads(body)
            for test in tests.get("tests") or tests["xmlViolationTests"]:
                yield _unescaped(test["input"]) if test.get("doubleEscaped") else test["input"]


def _unescaped(text: str) -> str:
    return re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)


def _blocks(folder: str, second: bytes) -> Iterator[tuple[bytes, bytes]]:
    """(data, what follows `second`) of each case in the .dat files of a folder."""
    for name, body in _files().items():
        if name.startswith(folder) and name.endswith(".dat"):
            for case in (b"\n" + body).split(b"\n#data\n")[1:]:
                data, _, rest = case.partition(b"\n" + second + b"\n")
                yield data, rest


def _check(page: Page) -> None:
    """Can it be stored?"""
    fields = (page.title, page.description, page.keywords, page.text, *page.headings)
    for text in (*fields, *(link.anchor for link in page.links)):
        text.encode()  # no lone surrogate
        assert "\0" not in text
    for link in page.links:
        assert canonical(link.url) == link.url
    for span in page.emphasis:
        assert 0 <= span[0] <= span[1] <= len(page.text)


@pytest.mark.slow
def test_tokenizer_cases() -> None:
    inputs = list(_tokenizer_inputs())

    for text in inputs:
        for encoding in ("utf-8", "utf-16-le"):
            _check(parse(text.encode(encoding, "surrogatepass"), URL, f"text/html; charset={encoding}"))

    assert len(inputs) == 4_622


@pytest.mark.slow
def test_tree_construction_cases() -> None:
    inputs = [data for data, _ in _blocks("tree-construction", b"#errors")]

    for data in inputs:
        for body in (data, data[: len(data) // 2], b"<a href=x>" + data + b"<a href=y>", data * 9):
            for kind in ("text/html", "application/xhtml+xml"):
                _check(parse(body, URL, kind))

    assert len(inputs) == 1_183


def test_encoding_cases() -> None:
    cases = list(_blocks("encoding", b"#encoding"))

    for data, encoding in cases:
        _check(parse(data, URL))
        expected = codecs.lookup(encoding.decode().split("\n")[0]).name
        assert codecs.lookup(declared_encoding(data) or "cp1252").name == expected, data

    assert len(cases) == 59
