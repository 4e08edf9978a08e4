"""bench/boilerplate.py: which extracts of a page hold more than its own text."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

import pytest

boilerplate = run_path(str(Path(__file__).parent.parent / "bench" / "boilerplate.py"))["boilerplate"]

PAGE = b"""<!DOCTYPE html><title>Owls</title>
<div class="docs-sidebar-nav"><a>Owls of the north</a> <a>Feeding owls at home</a></div>
<nav><a>Start page of all birds</a></nav>
<main><header><h1>Owls and their ears</h1></header>
<p>Owls hear mice under snow, and Feeding owls is a bad idea.</p>
<div class="toc-backref">The ears stand at different heights.</div><p>Further owls hear as well.</p></main>
<footer>Made by friends of owls</footer>"""


@pytest.mark.parametrize(
    ("extract", "found"),
    [
        ("Owls hear mice under snow …", ""),
        ("Owls and their ears", ""),  # a header inside of the main content
        ("… The ears stand at different heights.", ""),  # only a whole name, or a part such as "nav", counts
        ("Feeding owls", ""),  # the content says so as well
        ("Start page of all birds", "start page of all"),
        ("Owls hear mice … Feeding owls at home", "feeding owls at home"),
        ("Made by friends of owls", "made by friends of"),
        ("Owls hear mice under snow¶", "¶"),
        ("Birds » Owls hear mice", "s » O"),
        ("Copyright 2026 friends of owls", "Copyright 2026"),
        ("", ""),
    ],
)
def test_an_extract_holds_boilerplate_or_not(extract: str, found: str) -> None:
    assert boilerplate(extract, PAGE) == found


@pytest.mark.parametrize(
    "page",
    [
        *(b"", b"<!-- -->", b"plain text", b"<frameset><frame src=x></frameset>"),
        b'<div class="with sidebar">Owls hear mice under snow</div><p>Owls</p>',  # most of the page
    ],
)
def test_a_page_without_a_body_and_most_of_a_page_are_no_boilerplate(page: bytes) -> None:
    assert boilerplate("Owls hear mice under snow", page) == ""
