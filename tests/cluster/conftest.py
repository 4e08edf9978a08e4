"""Clusters of OpenSearch that tests share; each test has a collection of its own name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from testdata import absent

from .opensearch import Absent, Cluster, cluster, jars, jdk


def _needed() -> None:
    try:
        jdk(), jars()
    except Absent as why:
        absent(str(why))


@pytest.fixture(scope="session")
def opensearch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One node. A laptop may do without it, CI may not."""
    _needed()
    with cluster(tmp_path_factory.mktemp("opensearch")) as made:
        yield made


@pytest.fixture(scope="module")
def three_nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three nodes, for what one of them may not survive."""
    _needed()
    with cluster(tmp_path_factory.mktemp("three"), nodes=3) as made:
        yield made
