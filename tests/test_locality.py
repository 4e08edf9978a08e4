"""bench/locality.py and bench/topicwebs.py: where a topic's pages stand, and what that does to Figure 5."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from webcrawler.linkgraph import Graph

BENCH = Path(__file__).parent.parent / "bench"
LOCALITY, WEBS = run_path(str(BENCH / "locality.py")), run_path(str(BENCH / "topicwebs.py"))


def test_shares_are_by_links_from_the_nearest_other_hot_page() -> None:
    chain = Graph.of([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], 6)  # 0 and 2 are hot

    assert LOCALITY["locality"](chain, np.array([True, False, True, False, False, False])) == {
        "hot": pytest.approx(1 / 3),
        "hot_at": [0, 0.5, 0],  # 1 and 3; 2 and 4; 5
        "within": [pytest.approx(share) for share in (2 / 6, 4 / 6, 5 / 6)],
        "links_from_hot": 0,
        "links_from_any": pytest.approx(1 / 5),
    }


LINKS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=40)


@settings(max_examples=examples(60), deadline=None)
@given(LINKS, st.lists(st.booleans(), min_size=10, max_size=10))
def test_distances_are_those_of_walking_backwards(links: list[tuple[int, int]], hot: list[bool]) -> None:
    graph = Graph.of(*zip(*links, strict=True), 10)

    found = LOCALITY["distances"](graph, np.array(hot)).tolist()

    for page, distance in enumerate(found):
        reached = {page}
        for steps in (1, 2, 3):
            reached |= {source for source, target in links if target in reached}
            if any(hot[other] for other in reached - {page}):
                assert distance == steps
                break
        else:
            assert distance == np.inf


def test_links_of_a_made_web_stay_in_their_topic_as_often_as_asked() -> None:
    for density in (0.0, 0.5, 1.0):
        graph = WEBS["web"](density, seed=1, pages=600).graph
        stays = graph.sources // WEBS["TOPIC"] == graph.targets // WEBS["TOPIC"]

        by_chance = (1 - density) * WEBS["TOPIC"] / 600
        assert stays.mean() == pytest.approx(density + by_chance, abs=0.06)


@pytest.mark.slow
def test_where_links_stay_in_their_topic_figure_5_improves_every_order() -> None:
    assert min(WEBS["gains"](0.6, seed=1, pages=300)) > 0


@pytest.mark.slow
def test_where_they_lead_anywhere_it_does_not() -> None:
    assert min(WEBS["gains"](0.0, seed=1, pages=200)) <= 0
