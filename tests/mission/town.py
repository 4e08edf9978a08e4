"""A town of four servers whose pages show what the papers speak of, and a fifth beyond it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localweb import Answer, Crawled, Route, Site, copy_at_rest, crawl, redirect, robots
from papers import TYPES, owls
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from webcrawler.crawl import wiring
from webcrawler.search import Searcher
from webcrawler.web import Config, make_app

EVERYTHING = json.dumps(wiring.SETTINGS["ITEM_PIPELINES"])
WITHIN = "127.0.0.1/32,127.0.0.3/32"
Link = tuple[str, str]  # address, anchor text


def found(folder: Path, query: str, **options: Any) -> list[str]:
    """The URLs of the hits, best first, however slow the machine is."""
    return [hit.url for hit in Searcher(folder, deadline_seconds=60).search(query, **options).hits]


def figure(folder: Path, sample: str) -> float:
    """What `/metrics` says of a crawl; for all labels together."""
    with TestClient(make_app(Config(folder)), "http://localhost", client=("127.0.0.1", 50_000)) as web:
        text = web.get("/metrics").text
    families = text_string_to_metric_families(text)
    return sum(
        one.value for family in families for one in family.samples if one.name == f"webcrawler_{sample}"
    )


def html(title: str, body: str, *links: Link, description: str = "") -> Answer:
    anchors = "\n".join(f'<p><a href="{address}">{anchor}</a></p>' for address, anchor in links)
    meta = f'<meta name="description" content="{description}">' * bool(description)
    return Answer(f"<!doctype html><title>{title}</title>{meta}\n<p>{body}</p>\n{anchors}")


@dataclass(frozen=True)
class Town:
    """The servers, and what one breadth-first crawl of the four has left. `beyond` is only linked to."""

    biology: Site
    library: Site
    physics: Site
    music: Site
    beyond: Site
    crawled: Crawled

    @property
    def folder(self) -> Path:
        return self.crawled.folder

    @property
    def servers(self) -> tuple[Site, ...]:
        return self.biology, self.library, self.physics, self.music

    @property
    def mirrors(self) -> str:
        return json.dumps({f"{self.music.url}/mirror/": f"{self.biology.url}/"})


def _biology(others: dict[str, Site], own: str) -> dict[str, Route]:
    odd = own.replace("http", "HTTP")
    return {
        "/robots.txt": robots("User-agent: *", "Disallow: /private/"),
        "/": html(
            "Molecular Biology",
            "Molecular biology asks how the genes of a cell copy and repair what they say.",
            ("/genes/", "Genes and genomes"),
            (f"{others['library'].url}/", "the library"),
            ("/proteins", "Proteins"),
            ("/cgi-bin/vote", "vote for us"),
            ("/picture.png", "a picture"),
            ("/sounds", "sounds of the laboratory"),
            ("/private/plans", "quagga breeding plans"),
            ("/owls.pdf", "owls to print"),
            ("/owls.doc", "owls to edit"),
            (f"{others['beyond'].url}/", "molecular biology abroad"),
        ),
        "/genes/": html(
            "Genes",
            "DNA is a double helix. Genes are its words, and a running cell reads them.",
            ("/", "Molecular biology"),
        ),
        "/proteins": html(
            "Proteins",
            "An alpha helix is no double one. Chaperones help proteins to fold.",
            ("/", "Molecular biology"),
            ("/genes/#top", "genes once more"),
            (f"{odd}/./x/../genes/index.html", "genes in an odd spelling"),
            (f"{others['music'].url}/mirror/genes/", "genes in the mirror"),
        ),
        "/sounds": Answer(b"RIFF....WAVE", kind="audio/wav"),
        "/owls.pdf": Answer(owls("pdf"), kind=TYPES["pdf"]),
        "/owls.doc": Answer(owls("doc"), kind=TYPES["doc"]),
    }


def _library(others: dict[str, Site]) -> dict[str, Route]:
    shelf = html("A shelf", "Novels, atlases and dictionaries stand on this shelf.", ("/", "the library"))
    return {
        "/": html(
            "Library",
            "Books on many subjects.",
            (f"{others['physics'].url}/", "physics"),
            (f"{others['biology'].url}/", "molecular biology"),
            ("/shelf/1", "a shelf"),
            ("/shelf/copy", "the same shelf"),
            ("/moved", "moved"),
            ("/lost", "a book that was lost"),
        ),
        "/shelf/1": shelf,
        "/shelf/copy": shelf,
        "/moved": redirect("/shelf/1"),
    }


def _physics(others: dict[str, Site]) -> dict[str, Route]:
    return {
        "/": html(
            "Physics",
            "Matter and motion.",
            (f"{others['music'].url}/", "music"),
            ("/1", "first notes"),
            ("/2", "second notes"),
        ),
        "/1": html("First notes", "quark quark and light", ("/", "physics")),
        "/2": html("Second notes", "people people and light", ("/", "physics")),
    }


MUSIC: dict[str, Route] = {
    "/": html("Music", "Voices that follow each other.", ("/fugue", "fugues")),
    "/fugue": html("Fugue", "A theme, and its <b>Answer</b>.", ("/", "music"), description="Counterpoint"),
}
BEYOND: dict[str, Route] = {
    "/": html(
        "Molecular biology abroad",
        "Molecular biology of other countries.",
        ("/weather", "the weather"),
        ("/dna", "molecular biology of DNA"),
    ),
    "/dna": html("Molecular biology of DNA", "Molecular biology " * 5, ("/rna", "molecular biology of RNA")),
    "/rna": html("Molecular biology of RNA", "Molecular biology " * 4, ("/", "home")),
    "/weather": html("Weather", "It rains.", ("/rain", "rain")),
    "/rain": html("Rain", "It rains."),
}


@contextmanager
def opened_town(folder: Path) -> Iterator[Town]:
    names = ("biology", "library", "physics", "music")
    sites = {name: Site().start() for name in names} | {"beyond": Site(BEYOND, host="127.0.0.3").start()}
    sites["biology"].routes |= _biology(sites, sites["biology"].url)
    sites["library"].routes |= _library(sites)
    sites["physics"].routes |= _physics(sites)
    sites["music"].routes |= MUSIC
    biology, music = sites["biology"].url, sites["music"].url
    try:
        found = crawl(
            folder / "crawl",
            *("index", "-a", "mode=breadth", "-a", f"seeds={biology}/", "-a", "domains=127.0.0.1"),
            CONCURRENT_REQUESTS=1,  # so that what is found counts for the very next page
            ITEM_PIPELINES=EVERYTHING,
            MIRRORS=json.dumps({f"{music}/mirror/": f"{biology}/"}),
            RANKER_ENABLED="yes",
            LOG_LEVEL="INFO",
        )
        at_rest = copy_at_rest(folder / "crawl", folder / "at-rest")
        yield Town(**sites, crawled=Crawled(at_rest, found.status, found.log))
    finally:
        for site in sites.values():
            site.stop()
