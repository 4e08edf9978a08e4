"""The programs of bench/ that crawl docweb run, a few pages far; tests/test_benches.py has the others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from benching import BENCHES, SMALLEST_OF_DOCWEB, runs

from .conftest import Crawled, Docweb

pytestmark = [pytest.mark.docweb, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def data(docweb: Docweb, crawl: Callable[..., Crawled]) -> dict[str, object]:
    """By the word that stands for it in a command."""
    return {
        "PROXY": docweb.proxy,
        "TOPICS": BENCHES / "topics.json",
        "WHOLE": crawl("breadth", "-a", "max_pages=150").folder,  # one percent of them is a page
    }


@pytest.mark.parametrize("name", SMALLEST_OF_DOCWEB)
def test_bench_runs_some_pages_far(tmp_path: Path, data: dict[str, object], name: str) -> None:
    assert runs(tmp_path, name, SMALLEST_OF_DOCWEB[name], data)
