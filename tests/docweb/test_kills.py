"""kill -9 at random times during a crawl of docweb loses nothing; tests/faults/kills.py does it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from whoosh.index import open_dir

from .conftest import PROJECT, Crawled, Docweb
from .test_documents import ANSWERED
from .truth import Truth

pytestmark = [
    pytest.mark.docweb,
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found by /proc"),
]

KILLS = os.environ.get("KILLS", "3")  # of each kind
RESUME_SECONDS = 10  # issue 2


class Survivor(NamedTuple):
    """What is there after the kills, and their figures."""

    crawled: Crawled
    figures: dict[str, Any]


@pytest.fixture(scope="module")
def survivor(docweb: Docweb, tmp_path_factory: pytest.TempPathFactory) -> Survivor:
    folder, figures = tmp_path_factory.mktemp("kills"), tmp_path_factory.mktemp("figures") / "kills.json"
    command = [
        sys.executable,
        "tests/faults/kills.py",
        str(docweb.folder),
        "--proxy",
        docweb.proxy,
        "--kills",
        KILLS,
    ]
    if seed := os.environ.get("KILLS_SEED"):
        command += ["--seed", seed]

    done = subprocess.run(
        [*command, "--proxy", docweb.proxy, "--folder", str(folder), "--json", str(figures)],
        cwd=PROJECT, env=docweb.environment, capture_output=True, text=True,
    )  # fmt: skip

    print(done.stdout)  # the seed, and the table
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    return Survivor(Crawled(docweb, folder / "crawl", folder / "none"), json.loads(figures.read_text()))


def test_crawls_fail_by_no_kill_but_their_own(survivor: Survivor) -> None:
    assert survivor.figures["crashes"] == []
    assert survivor.figures["exit_status"] == 0


def test_every_document_is_there_and_no_other(survivor: Survivor, truth: Truth) -> None:
    assert survivor.crawled.documents.keys() == truth.documents.keys()


def test_nothing_disallowed_was_fetched(survivor: Survivor, truth: Truth) -> None:
    allowed = {url for url, visit in truth.visits.items() if visit.reason in ANSWERED}

    assert survivor.crawled.answered.keys() == allowed


def test_every_url_came_to_what_stands_there(survivor: Survivor, truth: Truth) -> None:
    ends = {url: history[-1][0] for url, history in survivor.crawled.fetches.items()}

    assert {url: end.replace("duplicate", "document") for url, end in ends.items()} == {
        url: visit.reason for url, visit in truth.visits.items()
    }


def test_links_are_those_of_the_files(survivor: Survivor, truth: Truth) -> None:
    assert survivor.crawled.edges(of_redirects=False) == truth.links
    assert survivor.crawled.edges(of_redirects=True) == truth.redirects


def test_each_text_is_in_the_index_once(survivor: Survivor, truth: Truth) -> None:
    with open_dir(str(survivor.crawled.folder / "index")).searcher() as searcher:
        indexed = [stored["url"] for stored in searcher.documents()]

    texts = [url for url, is_duplicate in survivor.crawled.documents.items() if not is_duplicate]
    assert sorted(indexed) == sorted(url for url in texts if not truth.documents[url].noindex)


def test_states_add_up_and_nothing_is_quarantined(survivor: Survivor, truth: Truth) -> None:
    states = survivor.figures["states"]

    assert states["seen"] == len(truth.visits) == states["done"] + states["failed"]
    assert states["queued"] == states["leased"] == states["quarantined"] == 0
    assert states["reasons"] == dict(truth.reasons)


def test_what_is_fetched_again_was_in_flight(survivor: Survivor) -> None:
    kills = survivor.figures["kills"]

    assert [kill for kill in kills if kill["refetched"] > kill["in_flight"]] == []
    assert survivor.figures["refetched_unexplained"] == 0


@pytest.mark.deep("how busy the machine is decides; tests/faults/kills.py reports it")
def test_work_goes_on_soon_after_each_kill(survivor: Survivor) -> None:
    kills = survivor.figures["kills"]

    assert [kill for kill in kills if kill["resumed"] > 5 * RESUME_SECONDS] == []


def test_no_process_is_left_over(survivor: Survivor) -> None:
    assert survivor.figures["leftovers"] == []
