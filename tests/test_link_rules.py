"""Which links does a crawl follow? Its bounds, those of its folder and of the settings, in one table each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import BaseSettings

from webcrawler.crawl.run import LinkRules
from webcrawler.job import Job, seed_link, sitemap_link
from webcrawler.parsing import parse
from webcrawler.records import Lease, Link
from webcrawler.scope import Scope, change
from webcrawler.urls import NAMED

A, MIRROR, MAIN = "http://a.test/", "http://mirror.test/", "http://main.test/docs/"
GIVEN = {
    "PROTOCOLS": "http,https",
    "TRAP_PATHS": "/calendar/",
    "MIRRORS": {MIRROR: MAIN},
    "DOCUMENT_TYPES": "pdf",
    "FORMS": "",
}


class Search(Job):
    is_search = True


def rules(folder: Path, scope: Scope | None = None, job: Job | None = None, **settings: Any) -> LinkRules:
    if scope:
        change(folder, lambda before: scope)
    given = BaseSettings(GIVEN | {"CRAWL_DIR": str(folder)} | settings)
    return LinkRules.from_settings(given, job or Job("fifo"))


def lease(link: Link) -> Lease:
    return Lease(link.id, link.url, link.spelling, A.rstrip("/"), 1, request=link.request)


BOUNDS = [
    # (URL, why it is refused, or "")
    (A, ""),
    (A + "file.pdf", ""),
    (A + "file.docx", "extension"),  # a kind that is not read here
    (A + "calendar/1", "location"),
    ("http://b.test/", "domain"),
    (A + "drafts/1", "scope"),
    (A + "removed", "removed"),
]
BOUNDED = Job("fifo", domains=("a.test",))
SCOPE = Scope(exclude=(A + "drafts/*",), removed=(A + "removed",))


@pytest.mark.parametrize(("url", "why"), BOUNDS)
def test_a_link_has_the_reason_for_which_it_is_not_followed(tmp_path: Path, url: str, why: str) -> None:
    found = rules(tmp_path, SCOPE, BOUNDED)

    assert found.apply(seed_link(url)).refused == why
    assert found.admits(seed_link(url)) == (not why)
    assert [link.refused for link in found.apply_to_all((seed_link(url),))] == [why]


@pytest.mark.parametrize(
    ("url", "given", "why"),
    [
        ("http://b.test/", {"job": BOUNDED}, "domain"),
        (A + "calendar/1", {}, "location"),
        (A + "drafts/1", {"scope": SCOPE, "TRAP_PATHS": ""}, "scope"),
        (A + "file.docx", {"TRAP_PATHS": ""}, "extension"),
    ],
)
def test_one_bound_is_enough(tmp_path: Path, url: str, given: dict[str, Any], why: str) -> None:
    (link,) = rules(tmp_path, **given).apply_to_all((seed_link(url),))

    assert link.refused == why


@pytest.mark.parametrize("rel", sorted(NAMED))
def test_what_is_named_as_a_page_may_end_as_documents_do_that_are_not_read(tmp_path: Path, rel: str) -> None:
    assert rules(tmp_path).apply(seed_link(A + "file.docx")._replace(rel=rel)).refused == ""


def test_a_reason_that_a_link_has_already_stays(tmp_path: Path) -> None:
    link = seed_link("http://b.test/file.zip")._replace(refused="too-long")

    assert rules(tmp_path, SCOPE, BOUNDED).apply(link).refused == "too-long"


def test_a_protocol_that_is_not_asked_for_is_never_admitted(tmp_path: Path) -> None:
    link = seed_link("ftp://a.test/")

    assert not rules(tmp_path).admits(link)
    assert rules(tmp_path, PROTOCOLS="http,ftp").admits(link)


# ---- mirrors


def test_a_link_to_a_mirror_is_one_to_its_original_and_a_page_has_one_of_both(tmp_path: Path) -> None:
    found = rules(tmp_path)
    links = (seed_link(MIRROR + "1"), seed_link(MAIN + "1"))

    assert found.apply(links[0]).url == MAIN + "1"
    assert [link.url for link in found.apply_to_all(links)] == [MAIN + "1"]


@pytest.mark.parametrize(
    ("page", "to", "target"),
    [
        (A, MIRROR + "1", MAIN + "1"),
        (MAIN + "1", MIRROR + "1", MIRROR + "1"),  # the original says that the mirror has it
        (MAIN + "1", MAIN + "1", MAIN + "1"),
        (MAIN + "1", MIRROR + "2", MAIN + "2"),
    ],
)
def test_a_redirect_leads_to_the_original_unless_that_is_where_it_comes_from(
    tmp_path: Path, page: str, to: str, target: str
) -> None:
    assert rules(tmp_path).apply_redirect(lease(seed_link(page)), seed_link(to)).url == target


def test_the_canonical_url_of_a_page_on_a_mirror_is_that_of_its_original(tmp_path: Path) -> None:
    found = rules(tmp_path)

    def named(url: str) -> int:
        return found.canonical_id(parse(f"<link rel=canonical href={url}>".encode(), A))

    assert named(MIRROR + "1") == named(MAIN + "1") == seed_link(MAIN + "1").id
    assert found.canonical_id(parse(b"", A)) == 0


# ---- what was leased and is not to be fetched any more


def test_a_lease_out_of_scope_is_refused_unless_it_is_of_a_sitemap(tmp_path: Path) -> None:
    found = rules(tmp_path, SCOPE)
    draft, removed = lease(seed_link(A + "drafts/map.xml")), lease(seed_link(A + "removed"))

    assert (found.refusal(draft), found.refusal(removed)) == ("scope", "removed")
    assert found.refusal(lease(sitemap_link(draft.url))) == ""
    assert found.refusal(lease(sitemap_link(removed.url))) == "removed"


def test_what_is_removed_meanwhile_is_refused_from_then_on(tmp_path: Path) -> None:
    found = rules(tmp_path)
    assert found.refusal(lease(seed_link(A + "1"))) == ""

    change(tmp_path, lambda scope: replace(scope, removed=(A + "1",)))

    assert found.refusal(lease(seed_link(A + "1"))) == found.apply(seed_link(A + "1")).refused == "removed"


@pytest.mark.parametrize(
    ("given", "is_bounded"),
    [
        ({}, False),
        ({"scope": Scope(exclude=(A + "*",))}, False),
        ({"scope": Scope(include=(A + "*",))}, True),
        ({"job": BOUNDED}, True),
    ],
)
def test_a_crawl_of_certain_sites_is_bounded(tmp_path: Path, given: dict[str, Any], is_bounded: bool) -> None:
    assert rules(tmp_path, **given).is_bounded == is_bounded


def test_a_search_fills_in_no_forms(tmp_path: Path) -> None:
    assert rules(tmp_path, FORMS=A + "*").forms.match(A)
    assert not rules(tmp_path, job=Search("fifo"), FORMS=A + "*").forms.match(A)
