"""How the catalog says that people come to a page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from crawled import crawled, fetched, link

from webcrawler.archive.catalog import Catalog
from webcrawler.records import Entry
from webcrawler.urls import url_id

PAGE, ONE, TWO, THREE = (f"http://{name}.test/" for name in ("page", "one", "two", "three"))


def leading(folder: Path, *entries: Entry) -> tuple[str, str, str] | None:
    """URL, anchor and rel of the link that led to PAGE; the entries were fetched in this order."""
    timed = [replace(one, fetch=replace(one.fetch, fetched=float(n))) for n, one in enumerate(entries, 1)]
    catalog = Catalog(crawled(folder, *timed) / "catalog.sqlite")
    numbers = {url: number for number, url in catalog.urls.all()}
    found = catalog.links.leading_to(numbers[PAGE])
    return (found.url, found.anchor, found.rel) if found else None


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([fetched(ONE, link(PAGE, "one")), fetched(TWO, link(PAGE, "two")), fetched(PAGE)], (ONE, "one", "")),
        ([fetched(ONE, link(PAGE, "one")), fetched(TWO, link(PAGE, "two"))], (ONE, "one", "")),
        ([fetched(PAGE), fetched(ONE, link(PAGE, "back"))], None),
        ([fetched(ONE, link(PAGE, "no", rel="nofollow")), fetched(PAGE)], None),
        ([fetched(PAGE, link(PAGE, "itself"))], None),
        ([fetched(ONE, reason="redirect", target=PAGE), fetched(PAGE)], (ONE, "", "redirect")),
    ],
    ids=["earliest", "not fetched yet", "after it", "nofollow", "itself", "redirect"],
)
def test_the_link_that_led_to_a_page_was_there_before_it(
    tmp_path: Path, entries: list[Entry], said: tuple[str, str, str] | None
) -> None:
    assert leading(tmp_path, *entries) == said


def test_what_redirects_to_a_page_is_known_by_any_number_of_steps(tmp_path: Path) -> None:
    first = fetched(ONE, reason="redirect", target=TWO)
    second = fetched(TWO, reason="redirect", target=PAGE)
    catalog = Catalog(crawled(tmp_path, first, second, fetched(PAGE, link(THREE))) / "catalog.sqlite")

    assert catalog.links.redirecting_to(url_id(PAGE)) == {url_id(ONE), url_id(TWO)}
    assert catalog.links.redirecting_to(url_id(THREE)) == set()
