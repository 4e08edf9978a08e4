"""A data folder that older code left half way, and the web that it crawled.

The pages never change, and are served through a proxy: so the same URLs can be crawled wherever a test runs.
`fixtures/make_old_crawl.py` made the folder with the code of 93d953f.
"""

from __future__ import annotations

import itertools
import random
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from localweb import Answer, Route, Site, sites

from webcrawler.archive.catalog import Catalog

PACKED = Path(__file__).parent / "fixtures" / "crawl-93d953f.tar.xz"
MODE = "foreign.modes.ShortestFirst"
SERVERS = ("http://north.test", "http://south.test", "http://west.test")
PAGES = 20  # of each server
QUOTES = "http://quotes.test"
QUOTE_PAGES = 8
AUTHORS = {
    f"{QUOTES}/author/{page}{n}": f"Author {page}{n}" for page in range(1, QUOTE_PAGES + 1) for n in range(3)
}
_TEXT = "amber badger cedar dune ember fern granite heron island juniper kelp lichen marsh "
_TEXT += "needle otter pebble quartz river sedge thistle upland valley willow yarrow zephyr"
WORDS = _TEXT.split()
JUDGED = "badger river"
SETTINGS = {"PROTOCOLS": "http", "FRONTIER_BACKOFF": 0.05, "PARSER_WORKERS": 1}
DOCUMENTS = {f"{server}/{path}" for server in SERVERS for path in ("", *map(str, range(1, PAGES)))}


def _document(server: int, page: int) -> Answer:
    words = random.Random(f"{server} {page}").choices(WORDS, k=60)
    links = [f"{SERVERS[server]}/{one}" for one in (2 * page + 1, 2 * page + 2) if one < PAGES]
    links.append(f"{SERVERS[(server + 1) % len(SERVERS)]}/{page * 7 % PAGES or ''}")
    anchors = " ".join(f'<a href="{link}">{words[at]} {words[-at]}</a>' for at, link in enumerate(links, 1))
    return Answer(f"<!doctype html><title>{words[0]} {server} {page}</title><p>{' '.join(words)}<p>{anchors}")


def _quotes(page: int) -> Answer:
    quotes = "".join(
        f"<div class=quote><small class=author>A{n}</small><a href=/author/{page}{n}>about</a></div>"
        for n in range(3)
    )
    following = f'<li class=next><a href="/page/{page + 1}/">next</a></li>' if page < QUOTE_PAGES else ""
    return Answer(f"<html>{quotes}{following}")


@contextmanager
def served() -> Iterator[Site]:
    """The proxy; it was asked for whole URLs."""
    numbers = itertools.product(range(len(SERVERS)), range(PAGES))
    routes: dict[str, Route] = {f"{SERVERS[n]}/{page or ''}": _document(n, page) for n, page in numbers}
    routes |= {f"{QUOTES}/page/{page}/": _quotes(page) for page in range(1, QUOTE_PAGES + 1)}
    routes |= {url: Answer(f"<h3>{name}</h3>") for url, name in AUTHORS.items()}
    with sites(proxy=routes) as opened:
        yield opened["proxy"]


def unpacked(folder: Path) -> Path:
    with tarfile.open(PACKED) as archive:
        archive.extractall(folder, filter="data")
    return folder / "crawl"


def upgraded(folder: Path) -> Path:
    """The same with the newest tables, as a crawl or `scrapy reindex` brings them."""
    crawl_dir = unpacked(folder)
    Catalog(crawl_dir / "catalog.sqlite").close()
    return crawl_dir
