"""The rules against traps lose nothing on docweb."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from webcrawler.urls import canonical, path_prefix, server, split
from webcrawler.urls._outlink import refusal

from .conftest import Docweb
from .server import HTML
from .truth import Truth

pytestmark = pytest.mark.docweb


@pytest.fixture(scope="module")
def pages(docweb: Docweb) -> list[str]:
    """The URLs of all HTML files, linked to or not."""
    return [canonical(f"http://{file.relative_to(docweb.folder)}") for file in _files(docweb.folder)]


def test_no_rule_refuses_a_page(pages: list[str], truth: Truth) -> None:
    assert len(pages) > 2_000
    assert {url: why for url in [*pages, *truth.documents] if (why := refusal(url, {"http"}))} == {}


def test_a_server_has_far_fewer_path_prefixes_than_pages(pages: list[str]) -> None:
    prefixes = {(server(url), path_prefix(split(url)[1])) for url in pages}

    assert len(prefixes) < len(pages) / 20


def _files(folder: Path) -> Iterator[Path]:
    for host in folder.iterdir():
        if host.name != "nginx" and not host.name.startswith("."):
            yield from (file for file in host.rglob("*") if file.name.endswith(HTML) and file.is_file())
