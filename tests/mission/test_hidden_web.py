"""SV: the hidden web. Row 45."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from localweb import Answer, Site, crawl

from .town import EVERYTHING, html

WORDS = ("gene", "genome", "cell", "membrane", "enzyme", "protein", "virus", "ribosome", "nucleus", "tissue")
TITLES = [f"{one} and {other}" for one, other in combinations(WORDS, 2)]
FORM = '<form action="/search"><label>Words <input name="words"></label><button>Find</button></form>'


def _answer(site: Site) -> Answer:
    """The results for a word: links to records."""
    if not site.request.path.startswith("/search?"):
        return Answer("", 404)
    (word, *_) = parse_qs(urlsplit(site.request.path).query).get("words", [""])
    titles = [title for title in TITLES if word.lower() in title.split()]
    found = [(f"/record/{title.replace(' ', '-')}", title) for title in titles]
    return html(f"Results for {word}", f"{len(found)} records", *found)


@pytest.fixture
def catalogue() -> Iterator[Site]:
    """A catalogue of 45 records: no page but those with results has a link to one."""
    records = {f"/record/{title.replace(' ', '-')}": html(title, f"All about {title}.") for title in TITLES}
    site = Site({"/": Answer(f"<title>Catalogue</title><p>Look for a gene.</p>{FORM}"), **records}).start()
    site.routes["*"] = _answer
    yield site
    site.stop()


@pytest.mark.slow
def test_45_what_is_hidden_behind_a_search_form_is_found(catalogue: Site, tmp_path: Path) -> None:
    """SV, hidden web crawler: crawlers "ignore the tremendous amount of high quality content \\hidden" behind
    search forms, in large searchable electronic databases".
    """
    records = {f"{catalogue.url}{path}" for path in catalogue.routes if path.startswith("/record/")}
    seeds = ("index", "-a", f"seeds={catalogue.url}/")
    asking = {"ITEM_PIPELINES": EVERYTHING, "FORMS": catalogue.url, "BUDGET_REPEATS": 0}

    without = crawl(tmp_path / "without", *seeds, ITEM_PIPELINES=EVERYTHING)
    assert without.documents() == {f"{catalogue.url}/"}

    catalogue.asked.clear()
    bounded = crawl(tmp_path / "bounded", *seeds, **asking, FORMS_MAX=2)
    assert len(queries(catalogue)) == 2
    assert len(records & bounded.documents()) <= 9 + 8  # each word has nine records, and two share one

    catalogue.asked.clear()
    whole = crawl(tmp_path / "whole", *seeds, **asking)
    assert len(records) == 45 and records <= whole.documents(), whole.log
    assert len(queries(catalogue)) == len(set(queries(catalogue)))


def queries(catalogue: Site) -> list[str]:
    return [path for path in catalogue.pages if path.startswith("/search?")]
