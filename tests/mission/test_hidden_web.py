"""SV: the hidden web. Row 45."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from localweb import Answer, Site, crawl

from .town import EVERYTHING, html

RECORDS = {
    "gene": ["gene and genome", "genome and cell"],
    "genome": ["gene and genome", "genome and cell"],
    "cell": ["genome and cell", "cell and membrane"],
    "membrane": ["cell and membrane"],
}
FORM = '<form action="/search"><label>Words <input name="words"></label><button>Find</button></form>'


def _answer(site: Site) -> Answer:
    """The results for a word: links to records."""
    (word, *_) = parse_qs(urlsplit(site.asked[-1]).query).get("words", [""])
    found = [(f"/record/{title.replace(' ', '-')}", title) for title in RECORDS.get(word.lower(), [])]
    return html(f"Results for {word}", f"{len(found)} records", *found)


@pytest.fixture
def catalogue() -> Iterator[Site]:
    """A catalogue of three records: no page but those with results has a link to one."""
    titles = {title for found in RECORDS.values() for title in found}
    records = {f"/record/{title.replace(' ', '-')}": html(title, f"All about {title}.") for title in titles}
    site = Site({"/": Answer(f"<title>Catalogue</title><p>Look for a gene.</p>{FORM}"), **records}).start()
    site.routes["*"] = lambda one: _answer(one) if one.asked[-1].startswith("/search?") else Answer("", 404)
    yield site
    site.stop()


@pytest.mark.slow
def test_45_what_is_hidden_behind_a_search_form_is_found(catalogue: Site, tmp_path: Path) -> None:
    """SV, hidden web crawler: crawlers "ignore the tremendous amount of high quality content \\hidden" behind
    search forms, in large searchable electronic databases".
    """
    records = {f"{catalogue.url}{path}" for path in catalogue.routes if path.startswith("/record/")}
    seeds = ("index", "-a", f"seeds={catalogue.url}/")

    without = crawl(tmp_path / "without", *seeds, ITEM_PIPELINES=EVERYTHING)
    asking = crawl(tmp_path / "asking", *seeds, ITEM_PIPELINES=EVERYTHING, FORMS=catalogue.url)

    assert without.documents() == {f"{catalogue.url}/"}
    assert len(records) == 3 and records <= asking.documents(), asking.log
