"""Links to what a search form asks for as well: they are followed and counted as any other."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from crawled import crawled, fetched, link
from inprocess import command
from localweb import Answer, crawl, page, sites

from webcrawler.archive.catalog import Catalog
from webcrawler.evaluation.recorded import from_catalog

HOME, OTHER, BLANK = "http://a.test/", "http://b.test/", "http://a.test/search?q="


@pytest.mark.parametrize(("rel", "is_link"), [("", True), ("form-and-link", True), ("form", False)])
def test_only_a_link_is_explored_and_names_its_target(tmp_path: Path, rel: str, is_link: bool) -> None:
    folder = crawled(tmp_path, fetched(HOME, link(BLANK, "all records", rel)))
    with closing(Catalog(folder / "catalog.sqlite")) as catalog:
        numbers = {url: number for number, url in catalog.urls.all()}
        found = [one.url for one in catalog.links.open([numbers[HOME]])]
        anchors = [anchor for _, anchor, _ in catalog.anchors.of([numbers[BLANK]])]
        frequent = catalog.anchors.most_frequent(numbers[BLANK], 5)

    assert found == [BLANK] * is_link
    assert anchors == frequent == ["all records"] * is_link


def test_orderings_are_compared_over_such_links_too(tmp_path: Path) -> None:
    home = fetched(HOME, link(BLANK, "all records", "form-and-link"), link(OTHER, "", "form"))

    recorded = from_catalog(crawled(tmp_path, home, fetched(BLANK), fetched(OTHER)) / "catalog.sqlite")

    assert recorded.anchors == ["all records"]


PICTURE = "<a href='/search?q='><img src=lens.png></a>"  # a link without anchor text
FORM = "<form action=/{}><input name=q></form>"


@pytest.mark.slow
def test_link_beside_a_form_waits_again_after_redis_was_lost(tmp_path: Path) -> None:
    home = Answer(f"<title>Apples and pears</title>{PICTURE}{FORM.format('search')}{FORM.format('find')}")
    with sites(a={"/": home, "*": page()}) as opened:
        site = opened["a"]
        seed = ("-a", f"seeds={site.url}/")
        before = crawl(tmp_path, "index", *seed, "-a", "max_pages=1", FORMS=site.url).frontier["states"]
        assert site.pages == ["/"]
        assert command("frontier", "clear", folder=tmp_path).status == 0

        rebuilt = command("frontier", "rebuild", "--json", folder=tmp_path)

        assert json.loads(rebuilt.out)["frontier"] | {"refused": {}} == before | {"refused": {}}
        last = crawl(tmp_path, "index", *seed)
        assert site.pages == ["/", "/search?q="]
        assert (f"{site.url}/", f"{site.url}/search?q=", "form-and-link") in last.edges()
        assert (f"{site.url}/", f"{site.url}/find?q=", "form") in last.edges()
