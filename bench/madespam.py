"""Spam in steps of strength, made of honest pages of a crawl, and the share of it that each rule finds."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from searched import entry, publish

from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import record_at
from webcrawler.linkgraph.farms import farms
from webcrawler.parsing import parse
from webcrawler.search import Searcher
from webcrawler.search.spam import FEWEST_WORDS
from webcrawler.text import content

Rows = list[dict[str, Any]]

QUERY = "cheap flights luxury hotels bargain tickets"
DIFFERENT = (1, 3, 4, 6)  # words of the query that are repeated
STUFFING = (0.1, 0.3, 0.5, 0.6, 0.65, 0.7, 0.8, 0.9)  # share of the words that is put in

DOMAINS, LINKS = 2_000, 5  # of the web around a farm: each links to so many others
SIZES = (2, 3, 4, 10, 50, 100, 101, 200)
FARMS = {  # share of the pairs that link to each other, and of the links to the farm that come from outside
    "all pairs": (1.0, 0.0),
    "60 % of the pairs": (0.6, 0.0),
    "50 % of the pairs": (0.5, 0.0),
    "40 % of the pairs": (0.4, 0.0),
    "all pairs, 5 % of the links from outside": (1.0, 0.05),
    "all pairs, 20 % of the links from outside": (1.0, 0.2),
}

HIDDEN = 0.3  # of the words of a page, in the first table
SHARES = (0.05, 0.09, 0.11, 0.2, 0.5)
HIDING = {
    "style=display:none": "<div style='display:none'><p>{}</p></div>",
    "a rule for a class": "<style>.kw {{ display: none }}</style><p class=kw>{}</p>",
    "visibility, opacity": "<p style='visibility:hidden'>{}</p>",
    "font-size:0": "<p style='font-size:0'>{}</p>",
    "off the screen": "<p style='position:absolute; left:-9999px'>{}</p>",
    "white on white": "<div style='background:#fff'><font color=white>{}</font></div>",
    "nearly white on white": "<div style='background:#fff'><font color='#fefefe'>{}</font></div>",
    "font-size:1px": "<p style='font-size:1px'>{}</p>",
    "a rule for what is inside of another": "<style>.a .kw {{ display: none }}</style><p class=kw>{}</p>",
    "an external style sheet": "<p class=kw-external>{}</p>",
    "in nav": "<nav style='display:none'>{}</nav>",
}
VOCABULARY = (2, 5, 8, 10, 12, 20, 50)  # different words that are hidden, each equally often


def figures(folder: Path, pages: int, seed: int) -> dict[str, Rows]:
    """All tables."""
    chance = np.random.default_rng(seed)
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        texts, htmls = _honest(folder, catalog, pages, chance)
    return {
        "stuffed: share found, by the share of words put in": stuffed(texts),
        "farm: share found, by its domains": farmed(chance),
        "hidden: share found, by the share of the page that is hidden": hidden_by_share(htmls),
        "hidden: share found, by different words": hidden_by_words(htmls),
    }


def bodies(folder: Path, catalog: Catalog) -> Iterator[tuple[bytes, str, str]]:
    """The body, URL and Content-Type of each document whose body is kept."""
    for document in catalog.documents(catalog.first_documents(sys.maxsize >> 1)).values():
        if document.place and not document.duplicate_of:
            body = record_at(folder / "pages", document.place).response.body
            yield body, document.url, document.content_type


def _honest(
    folder: Path, catalog: Catalog, pages: int, chance: np.random.Generator
) -> tuple[list[str], list[str]]:
    """Texts and HTML of pages that are drawn, each with enough words to be stuffed."""
    held = [*bodies(folder, catalog)]
    texts, htmls = list[str](), list[str]()
    for place in chance.permutation(len(held)).tolist():
        body, url, content_type = held[place]
        page = parse(body, url, content_type)
        if len(main := content.outside(page.text, page.around).split()) >= 2 * FEWEST_WORDS:
            texts.append(" ".join(main))
            htmls.append(body.decode("utf-8", "replace"))
        if len(texts) == pages:
            break
    return texts, htmls


def stuffed(texts: Sequence[str]) -> Rows:
    """Words are put in evenly; the query has the same words."""
    return [
        {"different words": number}
        | {f"{share:g}": _stuffed_found(texts, number, share) for share in STUFFING}
        for number in DIFFERENT
    ]


def _stuffed_found(texts: Sequence[str], number: int, share: float) -> float:
    query = QUERY.split()[:number]
    rows = [
        (f"http://spam{place}.example/", "Cheap", with_words(text, query, share))
        for place, text in enumerate(texts)
    ]
    with tempfile.TemporaryDirectory() as name:
        publish(Path(name), map(entry, rows))
        before, after = (dict(Searcher(Path(name), spam=spam).rank(" ".join(query))) for spam in (1.0, 0.5))
    return sum(after[page] < 0.75 * score for page, score in before.items()) / len(texts)


def with_words(text: str, words: Sequence[str], share: float) -> str:
    """The text with words put in between its own, in turn, until they are this share of all."""
    own = text.split()
    more = round(len(own) * share / (1 - share))
    places = np.linspace(0, len(own), more).astype(int) if more else []
    put_in = {place: list[str]() for place in range(len(own) + 1)}
    for turn, place in enumerate(places):
        put_in[int(place)].append(words[turn % len(words)])
    return " ".join(
        word for place in range(len(own) + 1) for word in (*put_in[place], *own[place : place + 1])
    )


def farmed(chance: np.random.Generator, draws: int = 20) -> Rows:
    return [
        {"links": style}
        | {
            str(size): np.mean([_farm_found(size, *how, chance) for _ in range(draws)]).item()
            for size in SIZES
        }
        for style, how in FARMS.items()
    ]


def _farm_found(size: int, density: float, outside: float, chance: np.random.Generator) -> bool:
    """Is a farm found in a web where each other domain links to some that are drawn?"""
    first, second = np.triu_indices(size, 1)
    kept = chance.permutation(len(first))[: int(np.ceil(density * len(first)))]
    first, second = first[kept], second[kept]
    others = np.repeat(np.arange(size, DOMAINS), LINKS)
    far = round(2 * len(first) * outside / (1 - outside))
    from_outside = np.divmod(chance.choice((DOMAINS - size) * size, far, replace=False), size)
    sources = np.concatenate((first, second, others, size + from_outside[0]))
    targets = np.concatenate((second, first, chance.integers(size, DOMAINS, len(others)), from_outside[1]))
    return bool((farms(sources, targets, DOMAINS)[:size] == size).all())


def hidden_by_share(htmls: Sequence[str]) -> Rows:
    """Four different words are hidden."""
    return [
        {"how": how} | {f"{share:g}": _hidden_found(htmls, hiding, share, 4) for share in SHARES}
        for how, hiding in HIDING.items()
    ]


def hidden_by_words(htmls: Sequence[str]) -> Rows:
    how, hiding = next(iter(HIDING.items()))
    return [
        {"how": how} | {str(number): _hidden_found(htmls, hiding, HIDDEN, number) for number in VOCABULARY}
    ]


def _hidden_found(htmls: Sequence[str], hiding: str, share: float, number: int) -> float:
    return float(np.mean([_is_hidden(html, hiding, share, number) for html in htmls]))


def _is_hidden(html: str, hiding: str, share: float, number: int) -> bool:
    """Hide a share of the page's words in it, at its end."""
    url = "http://spam.example/"
    shown = len(parse(html.encode(), url, "text/html; charset=utf-8").text.split())
    count = int(np.ceil(shown * share / (1 - share)))
    words = " ".join(f"word{'x' * (turn % number)}" for turn in range(count))
    start, end, rest = html.rpartition("</body>")
    page = f"{start}{hiding.format(words)}{end}{rest}" if end else html + hiding.format(words)
    return parse(page.encode(), url, "text/html; charset=utf-8").hidden > 0
