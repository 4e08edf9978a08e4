"""How a cluster of OpenSearch is named, and the one line for each reason why it cannot be used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from issuing import self_signed
from localweb import Answer, Site, sites
from ports import dead_server

from webcrawler.errors import BadInput, Unavailable
from webcrawler.opensearch.client import Cluster, address
from webcrawler.opensearch.indexes import Indexes
from webcrawler.opensearch.state import State


def test_address_names_nodes_login_and_collection() -> None:
    found = address("https://me:p%40ss@a.example,b.example:9300/web-1")

    assert found == (("https://a.example:9200", "https://b.example:9300"), "web-1", "me", "p@ss")


@pytest.mark.parametrize("url", ["ftp://a/x", "https://a", "https:///x", "https://a/Big", "https://a b/x"])
def test_address_that_is_none_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(BadInput) as told:
        address(url.replace("//", "//me:secret@"))

    assert "secret" not in str(told.value)


def test_it_is_said_that_no_node_answers() -> None:
    with pytest.raises(Unavailable, match="no node of the cluster answers"):
        Cluster(f"{dead_server()}/any").check()


def _version(number: str, **more: str) -> Answer:
    return Answer(json.dumps({"version": {"number": number, **more}}))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(status=401), "user or password is wrong"),
        (
            Answer(json.dumps({"version": {"number": "2.19.1", "distribution": "opensearch"}})),
            "opensearch 2.19.1",
        ),
        (_version("7.17.0"), "elasticsearch 7.17.0"),
        (Answer("<h1>It works!</h1>"), "is no OpenSearch"),
        (Answer(json.dumps({"error": {"reason": "who are you"}}), status=403), "403, who are you"),
    ],
)
def test_it_is_said_in_one_line_why_a_server_cannot_be_used(answer: Answer, said: str) -> None:
    with sites(proxy={"/": answer}) as web, pytest.raises(BadInput, match=said):
        Cluster(f"{web['proxy'].url}/any").check()


def test_what_a_busy_cluster_does_not_say_is_not_taken_for_nothing() -> None:
    with sites(busy={"*": Answer(status=429)}) as web:
        cluster = Cluster(f"{web['busy'].url}/any")
        state = State(cluster)
        for ask in (lambda: state.checkpoint("ann", 1), Indexes(cluster, state).searched):
            with pytest.raises(Unavailable, match="429"):
                ask()


def test_it_is_said_that_a_certificate_is_not_trusted(tmp_path: Path) -> None:
    site = Site(tls=self_signed("127.0.0.1").context(tmp_path)).start()

    with pytest.raises(BadInput, match="is not trusted"):
        Cluster(f"{site.url}/any").check()

    site.stop()
