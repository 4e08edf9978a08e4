"""HTTPS: a chain of certificates is verified; what is wrong with one is noted, or fails its pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import Run
from issuing import Issued, self_signed
from localweb import Crawled, Site, crawl, page, robots
from test_docs import cells
from test_docs import page as docs

from webcrawler.archive.pages import records
from webcrawler.crawl.peers import FAULTS_MAX, INVALID, KINDS, Certificates, names

HOST = "127.0.0.1"


def served(folder: Path) -> dict[str, tuple[Issued, str]]:
    """Certificates by name, each with the fault that it has."""
    root = self_signed("Root", is_authority=True)
    root.write(folder / "trusted.pem")
    between = root.issue("Intermediate", is_authority=True)
    foreign, unknown = self_signed("Nobody knows me", is_authority=True), "certificate-unknown-issuer"
    return {
        "good": (between.issue(HOST, "localhost"), ""),
        "of the root itself": (root.issue(HOST), ""),
        "expired": (between.issue(HOST, days=(-30, -1)), "certificate-expired"),
        "of tomorrow": (between.issue(HOST, days=(1, 30)), "certificate-not-yet-valid"),
        "of another host": (between.issue("bank.test", "127.0.0.2"), "certificate-wrong-host"),
        "self-signed": (self_signed(HOST), "certificate-self-signed"),
        "of an unknown issuer": (foreign.issue(HOST), unknown),
        "with an unknown root": (foreign.issue(HOST, links=(foreign.certificate,)), unknown),
        "without its chain": (between.issue(HOST, links=()), unknown),
        "of no authority": (between.issue("Leaf").issue(HOST), INVALID),
    }


class Web(NamedTuple):
    sites: dict[str, Site]
    faults: dict[str, str]  # by the URL of a site's home page
    crawled: Crawled


@pytest.fixture(scope="module")
def web(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """One crawl of all: a home page behind each certificate links to a second page."""
    folder = tmp_path_factory.mktemp("https")
    made = served(folder)
    rules = robots("User-agent: *", "Disallow: /private")
    sites = {
        name: Site(
            {"/robots.txt": rules, "/": page("/more", "/private"), "/more": page()},
            tls=issued.context(folder),
        ).start()
        for name, (issued, _) in made.items()
    }
    seeds = [f"{site.url}/" for site in sites.values()]
    crawled = crawl(
        folder / "crawl",
        *("index", "-a", f"seeds={','.join(seeds)}"),
        variables={"SSL_CERT_FILE": folder / "trusted.pem"},
        DOWNLOAD_VERIFY_CERTIFICATES="yes" if request.param else "no",
    )
    faults = {f"{sites[name].url}/": fault for name, (_, fault) in made.items()}
    yield Web(sites, faults, crawled)
    for site in sites.values():
        site.stop()


noted, refused = (
    pytest.mark.parametrize("web", [pytest.param(is_refused, marks=pytest.mark.slow, id=name)], indirect=True)
    for name, is_refused in (("noted", False), ("refused", True))
)


@noted
def test_page_behind_a_bad_certificate_is_fetched_with_a_note(web: Web) -> None:
    for url, fault in web.faults.items():
        assert web.crawled.reason(url) == "done/document"
        assert web.crawled.fetch(url).error == fault
        assert web.crawled.reason(f"{url}more") == "done/document"
        assert web.crawled.reason(f"{url}private") == "failed/robots-disallowed"


@noted
def test_statistics_count_the_notes_by_kind(web: Web) -> None:
    for fault in set(web.faults.values()) - {""}:
        fetches = 2 * list(web.faults.values()).count(fault)  # a home page and the second one
        assert re.search(rf"'webcrawler/noted/{fault}': {fetches}\b", web.crawled.log)


@noted
def test_record_of_the_archive_has_the_note(web: Web) -> None:
    kept = {record.response.url: record.error for record in records(web.crawled.folder / "pages")}

    assert {url: kept[url] for url in web.faults} == web.faults


@noted
def test_explain_shows_the_note(web: Web, run: Run) -> None:
    url = f"{web.sites['expired'].url}/"

    found = json.loads(run("frontier", "explain", url, "--json", folder=web.crawled.folder).out)

    assert found["last_fetch"]["error"] == "certificate-expired"


@refused
def test_good_chain_is_accepted_where_bad_ones_are_refused(web: Web) -> None:
    for url, fault in web.faults.items():
        assert web.crawled.reason(url) == (f"failed/{fault}" if fault else "done/document")


@refused
def test_refused_server_is_sent_no_request_and_is_not_tried_again(web: Web) -> None:
    assert [name for name, site in web.sites.items() if site.asked] == ["good", "of the root itself"]
    assert not any(web.crawled.fetch(url).retry for url, fault in web.faults.items() if fault)


@refused
def test_frontier_counts_the_kinds(web: Web) -> None:
    found, faults = web.crawled.frontier["states"]["reasons"], list(web.faults.values())

    assert [found[kind] for kind in KINDS] == [faults.count(kind) for kind in KINDS]


@refused
def test_seed_that_is_refused_is_told_with_what_to_do(web: Web) -> None:
    url = f"{web.sites['expired'].url}/"

    told = "certificate-expired; DOWNLOAD_VERIFY_CERTIFICATES=no fetches it all the same"
    assert f"the seed {url} failed: {told}" in web.crawled.log


@pytest.mark.slow
def test_name_of_a_host_is_looked_for_in_the_certificate(tmp_path: Path) -> None:
    made = served(tmp_path)
    site = Site({"/": page()}, host="localhost", tls=made["good"][0].context(tmp_path)).start()

    crawled = crawl(
        tmp_path / "crawl",
        *("index", "-a", f"seeds={site.url}/"),
        variables={"SSL_CERT_FILE": tmp_path / "trusted.pem"},
        DOWNLOAD_VERIFY_CERTIFICATES="yes",
        ADDRESSES_ALLOWED="127.0.0.1/32,::1/128",
    )

    assert crawled.reason(f"{site.url}/") == "done/document"
    site.stop()


@pytest.mark.parametrize(
    ("host", "is_named"),
    [
        ("www.a.test", True),
        ("WWW.a.test", True),
        ("www.a.test.", True),  # the root's dot is not in certificates
        ("a.test", False),
        ("x.sub.test", True),  # *.sub.test
        ("sub.test", False),
        ("x.y.sub.test", False),  # one label only (RFC 9525, 6.3)
        ("127.0.0.1", True),
        ("127.0.0.2", False),
        ("::1", True),
        ("under_score.test", False),
        ("-.test", False),
    ],
)
def test_certificate_is_for_the_hosts_that_it_names(host: str, is_named: bool) -> None:
    from OpenSSL.crypto import X509

    leaf = self_signed("www.a.test", "*.sub.test", "127.0.0.1", "::1").certificate

    assert names(X509.from_cryptography(leaf), host) is is_named


def test_fault_is_forgotten_when_the_certificate_is_good_again() -> None:
    known = Certificates(refuses=False)
    known.note("a.test", 443, KINDS[0])
    assert known.fault("https://a.test/page") == KINDS[0]
    assert known.fault("http://a.test/page") == known.fault("https://a.test:8443/") == ""

    known.note("a.test", 443, "")

    assert known.fault("https://a.test/page") == ""


def test_faults_of_the_latest_servers_are_remembered() -> None:
    known = Certificates(refuses=False)
    for number in range(FAULTS_MAX + 1):
        known.note(f"{number}.test", 443, INVALID)

    assert known.fault("https://0.test/") == ""
    assert known.fault(f"https://{FAULTS_MAX}.test/") == INVALID


def test_each_kind_stands_in_the_table_of_states() -> None:
    assert set(KINDS) <= cells(docs("reference/states.md"))
