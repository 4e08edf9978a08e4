"""Calls to the nodes of a real cluster."""

from __future__ import annotations

import pytest
from localweb import Answer, sites
from ports import dead_server

from webcrawler.opensearch.client import Cluster

from .opensearch import Cluster as Nodes

pytestmark = pytest.mark.opensearch


def test_cluster_of_a_version_that_can_be_used_is_taken(opensearch: Nodes) -> None:
    cluster = Cluster(opensearch.url("any"))
    cluster.check()

    assert cluster.ask("GET", "/")["version"]["distribution"] == "opensearch"


def test_next_node_is_asked_where_one_does_not_answer(opensearch: Nodes) -> None:
    dead = dead_server().removeprefix("http://")

    cluster = Cluster(f"http://{dead},127.0.0.1:{opensearch.nodes[0].port}/any")

    assert cluster.ask("GET", "/_cluster/health")["number_of_nodes"] == 1


def test_next_node_is_asked_where_one_is_too_busy(opensearch: Nodes) -> None:
    with sites(busy={"/": Answer('{"error": "Data too large"}', 429)}) as opened:
        busy = opened["busy"].url.removeprefix("http://")

        cluster = Cluster(f"http://{busy},127.0.0.1:{opensearch.nodes[0].port}/any")

        assert cluster.ask("GET", "/")["version"]["distribution"] == "opensearch"
