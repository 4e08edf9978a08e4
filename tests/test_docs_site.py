"""The documentation as a site: built without warnings, crawled and searched by ourselves."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from localweb import crawl
from test_rebuild_command import WITH_INDEX

from webcrawler.index import wait_until_caught_up
from webcrawler.search import Searcher
from webcrawler.search.vocabulary import wait_until_made

DOCS = Path(__file__).parents[1] / "docs"
QUESTIONS = {
    "REFRESH_GONE": "/reference/settings.html",
    "deploy to scrapyd": "/how-to/deploy-to-scrapyd.html",
    "near-duplicates": "/explanation/near-duplicates.html",
    "query language": "/reference/query-language.html",
    "webcrawler.search.Searcher": "/reference/python.html",
}  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of it, as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", DOCS, folder]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def crawled(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The data folder of a crawl of the site, and its index."""
    folder = tmp_path_factory.mktemp("crawled") / "crawl"
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever).start()
        seed = f"http://127.0.0.1:{server.server_port}/"
        done = crawl(folder, "index", "-a", f"seeds={seed}", ITEM_PIPELINES=WITH_INDEX)
        server.shutdown()
    assert done.status == 0, done.log
    wait_until_caught_up(folder)
    wait_until_made(folder)
    yield folder


@pytest.mark.slow
def test_each_page_of_the_documentation_is_a_page_of_the_site(site: Path) -> None:
    found = [*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb")]
    sources = {path.relative_to(DOCS).with_suffix("") for path in found}
    pages = {path.relative_to(site).with_suffix("") for path in site.rglob("*.html")}

    assert sources <= pages


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS)
def test_our_own_search_finds_what_was_asked_for_first(crawled: Path, question: str) -> None:
    [first, *_] = Searcher(crawled, deadline_seconds=60).search(question).hits

    assert urlsplit(first.url).path == QUESTIONS[question]
