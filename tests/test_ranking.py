"""PageRank, HITS and counts: small graphs by hand, real graphs by networkx, and what must always hold."""

from __future__ import annotations

import gzip
import lzma
from itertools import chain

import networkx
import numpy as np
import pytest
from conftest import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from testdata import data

from webcrawler.errors import BadInput
from webcrawler.linkgraph import Graph, backlinks, forward_links, hits, pagerank
from webcrawler.linkgraph.graph import distinct


def graph(*links: tuple[int, int], pages: int = 0) -> Graph:
    highest = max((max(link) for link in links), default=-1)
    sources, targets = np.array(links, np.int64).reshape(-1, 2).T
    return Graph.of(sources, targets, max(pages, highest + 1))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    pages = draw(st.integers(1, 8))
    page = st.integers(0, pages - 1)
    return graph(*draw(st.lists(st.tuples(page, page), max_size=30)), pages=pages)


# ---- Graph


def test_a_graph_has_no_self_links_and_each_link_once() -> None:
    made = graph((2, 0), (0, 1), (2, 0), (1, 1), (2, 1))

    assert (made.pages, made.links) == (3, 3)
    assert [made.outlinks(page).tolist() for page in range(3)] == [[1], [], [0, 1]]
    assert list(zip(made.sources.tolist(), made.targets.tolist(), strict=True)) == [(0, 1), (2, 0), (2, 1)]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9))))
def test_the_order_of_links_does_not_matter(links: list[tuple[int, int]]) -> None:
    made, sorted_first = graph(*links, pages=10), graph(*sorted(set(links)), pages=10)

    assert made.starts.tolist() == sorted_first.starts.tolist()
    assert made.targets.tolist() == sorted_first.targets.tolist()


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
@example([-(2**63), 2**63 - 1, 0, 0])
def test_distinct_values_ascend(values: list[int]) -> None:
    assert distinct(np.array(values, np.int64)).tolist() == sorted(set(values))


@pytest.mark.parametrize("link", [(-1, 0), (0, -1), (3, 0), (0, 3)])
def test_a_link_of_no_page_is_refused(link: tuple[int, int]) -> None:
    with pytest.raises(BadInput, match="not in 0 … 2"):
        Graph.of([link[0]], [link[1]], 3)


# ---- PageRank (Cho 1998, 2 (3); Brin 1998, 2.1.1)


@pytest.mark.parametrize(
    ("made", "damping", "ranks"),
    [
        (graph(), 0.85, []),
        (graph(pages=3), 0.85, [1, 1, 1]),
        (graph((0, 1), (1, 0)), 0.85, [1, 1]),
        # Page 1 has no links, so it counts as linking to both: its rank r is spread evenly.
        # x0 = 1/2 + r/4, r = 1/2 + x0/2 + r/4; their sum is 2, so x0 = 4/5 and r = 6/5.
        (graph((0, 1)), 0.5, [0.8, 1.2]),
        # A page divides its rank among its links: x1 = x2 = 0.2 + 0.4·x0, x0 = 0.2 + 0.8·(x1 + x2).
        (graph((0, 1), (0, 2), (1, 0), (2, 0)), 0.8, [13 / 9, 7 / 9, 7 / 9]),
    ],
)
def test_pagerank_by_hand(made: Graph, damping: float, ranks: list[float]) -> None:
    assert pagerank(made, damping).tolist() == pytest.approx(ranks)


@given(graphs(), st.floats(0.01, 0.99))
def test_the_mean_is_one_and_the_formula_holds(made: Graph, damping: float) -> None:
    ranks = pagerank(made, damping, tolerance=1e-10)

    assert ranks.mean() == pytest.approx(1)
    dangling = ranks[forward_links(made) == 0].sum() / made.pages
    for page in range(made.pages):
        given_here = sum(
            ranks[source] / len(made.outlinks(source))
            for source in range(made.pages)
            if page in made.outlinks(source)
        )
        assert ranks[page] == pytest.approx(1 - damping + damping * (given_here + dangling), abs=1e-8)


@given(graphs(), st.randoms(use_true_random=False))
def test_other_numbers_for_the_pages_permute_their_scores(made: Graph, random: object) -> None:
    renamed = np.arange(made.pages)
    random.shuffle(renamed)  # type: ignore[attr-defined]
    other = Graph.of(renamed[made.sources], renamed[made.targets], made.pages)

    assert pagerank(other)[renamed] == pytest.approx(pagerank(made), abs=1e-7)
    for found, again in zip(hits(made), hits(other), strict=True):
        assert again[renamed] == pytest.approx(found, abs=1e-6)


@given(graphs(), st.sampled_from([0.5, 0.85, 0.9]))
@settings(max_examples=examples(30))
def test_engines_agree(made: Graph, damping: float) -> None:
    ours = pagerank(made, damping, 1e-10)

    assert pagerank(made, damping, 1e-10, engine="networkx") == pytest.approx(ours, abs=1e-8)


@given(graphs(), st.integers(1, 5))
def test_links_count_in_however_many_parts_they_are_read(made: Graph, at_once: int) -> None:
    ranks = pagerank(made)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("webcrawler.linkgraph.graph.LINKS_AT_ONCE", at_once)

        assert pagerank(made) == pytest.approx(ranks, abs=1e-8)


@given(graphs())
def test_the_start_changes_nothing(made: Graph) -> None:
    start = np.arange(1.0, made.pages + 1)

    for engine in ("scipy", "networkx"):
        assert pagerank(made, start=start, engine=engine) == pytest.approx(pagerank(made), abs=1e-6)


@pytest.mark.parametrize("damping", [-1, 0, 1, 1.5, float("nan")])
def test_damping_outside_of_its_range_is_refused(damping: float) -> None:
    with pytest.raises(BadInput, match="between 0 and 1"):
        pagerank(graph((0, 1)), damping)


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(BadInput, match="'spark': choose one of scipy, networkx"):
        pagerank(graph((0, 1)), engine="spark")
    with pytest.raises(BadInput, match="'spark'"):
        hits(graph((0, 1)), "spark")


# ---- HITS (Kleinberg 1999)


@given(graphs())
def test_hubs_and_authorities_make_each_other(made: Graph) -> None:
    hubs, authorities = hits(made)

    assert (hubs.sum(), authorities.sum()) == pytest.approx((1, 1))
    assert min(hubs.min(), authorities.min()) >= 0
    if made.links:
        raised = made.matrix().T @ hubs
        assert raised / raised.sum() == pytest.approx(authorities, abs=1e-4)


RING = ((0, 1), (1, 2), (2, 0))
STARS = ((0, 1), (0, 2), (3, 4), (3, 5), (6, 7), (6, 8))
CHAIN = ((0, 1), (1, 2), (2, 3))
GOLDEN = (1 + 5**0.5) / 2


@pytest.mark.parametrize(
    ("made", "hubs", "authorities"),
    [
        (graph(), [], []),
        (graph(pages=2), [0.5, 0.5], [0.5, 0.5]),
        # A·Aᵀ on (0, 1) is [[2, 1], [1, 1]], whose first eigenvector is (φ, 1).
        (graph((0, 2), (0, 3), (1, 3)), [1 / GOLDEN, 1 / GOLDEN**2, 0, 0], [0, 0, 1 / GOLDEN**2, 1 / GOLDEN]),
        # Clusters that are equally dense begin with all pages alike: any mixture would satisfy the formula.
        (graph(*RING), [1 / 3] * 3, [1 / 3] * 3),
        (graph(*STARS), [1 / 3, 0, 0] * 3, [0, 1 / 6, 1 / 6] * 3),
        (graph(*CHAIN), [1 / 3, 1 / 3, 1 / 3, 0], [0, 1 / 3, 1 / 3, 1 / 3]),
    ],
)
def test_hits_by_hand(made: Graph, hubs: list[float], authorities: list[float]) -> None:
    found = hits(made)

    assert found[0] == pytest.approx(hubs)
    assert found[1] == pytest.approx(authorities)


@given(graphs())
@example(graph(*CHAIN))
@settings(max_examples=examples(50), deadline=None)  # the first imports networkx
def test_hits_of_networkx_are_no_nonsense(made: Graph) -> None:
    try:
        found = hits(made, engine="networkx")
    except BadInput as refused:
        assert "equally dense" in str(refused)
    else:
        for scores in found:
            assert scores.min() >= 0
            assert scores.sum() == pytest.approx(1)


# ---- counts (Cho 1998, 2 (2) and (4))


def test_counts() -> None:
    made = graph((0, 1), (2, 1), (2, 0), (1, 1), (2, 1), pages=4)

    assert backlinks(made).tolist() == [1, 2, 0, 0]
    assert forward_links(made).tolist() == [1, 0, 2, 0]


# ---- real graphs


def hollins() -> Graph:
    _, *lines = gzip.decompress(data("webgraph-hollins/hollins.dat.gz").read_bytes()).splitlines()
    return graph(*((int(source) - 1, int(target) - 1) for source, target in map(bytes.split, lines)))


def wikispeedia() -> Graph:
    text = lzma.decompress(data("wikispeedia/links.tsv.xz").read_bytes()).decode()
    links = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(chain.from_iterable(links)))}
    return graph(*((numbers[source], numbers[target]) for source, target in links))


REAL = {"hollins": hollins, "wikispeedia": wikispeedia}


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_pagerank_and_hits_agree_with_networkx_on_real_graphs(name: str) -> None:
    made = REAL[name]()
    nodes = networkx.DiGraph(zip(made.sources.tolist(), made.targets.tolist(), strict=True))
    nodes.add_nodes_from(range(made.pages))

    theirs = by_page(networkx.pagerank(nodes, 0.85, tol=1e-14, max_iter=500), made.pages)
    assert pagerank(made) == pytest.approx(theirs * made.pages, abs=1e-6)
    assert pagerank(made, engine="networkx") == pytest.approx(theirs * made.pages, abs=1e-6)
    for ours, other in zip(hits(made), networkx.hits(nodes), strict=True):
        assert ours == pytest.approx(by_page(other, made.pages), abs=1e-6)


def by_page(scores: dict[int, float], pages: int) -> NDArray[np.float64]:
    return np.array([scores[page] for page in range(pages)])


@pytest.mark.slow
def test_hot_pages_of_cnr_2000_are_as_many_as_its_readme_says() -> None:
    pages, *lines = gzip.decompress(data("webgraph-cnr-2000/cnr-2000.graph-txt.gz").read_bytes()).split(b"\n")
    sources = np.repeat(np.arange(int(pages)), [len(line.split()) for line in lines[: int(pages)]])
    made = Graph.of(sources, np.array(b" ".join(lines).split(), np.int64), int(pages))

    counts = backlinks(made)
    assert made.links == 3_128_710
    assert [int((counts >= least).sum()) for least in (3, 10, 100)] == [106_587, 31_275, 2_152]
    assert int((pagerank(made, damping=0.9) >= 13).sum()) == 1_999
