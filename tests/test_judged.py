"""Judged collections: what is read, what is built of them, and what the figures mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crawled import crawled, fetched
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from judged import ABOUT_DOLPHINS, DOLPHINS, collection, dolphins, paper

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import BadInput
from webcrawler.evaluation.chance import interval, p_value
from webcrawler.evaluation.judged import MEASURES, Comparison, build, compare, measure, read, read_feedback
from webcrawler.evaluation.judged.collection import Judgments
from webcrawler.index import wait_until_caught_up
from webcrawler.search import Searcher

pytest.importorskip("ir_measures", reason="the extra `judge` is not installed")

GOOD, BAD = ["q\tword"], ["q 0 a 1"]


def ranked(folder: Path, ids: Mapping[int, str], query: str, *ranking: str) -> list[str]:
    return [ids[number] for number, _ in Searcher(folder).rank(query, *ranking)]


def test_dolphins_have_the_precision_and_recall_that_wc_says(tmp_path: Path) -> None:
    papers, judgments = read(dolphins(tmp_path / "dolphins"))
    ids = build(papers, tmp_path / "crawl")
    found = ranked(tmp_path / "crawl", ids, "dolphin-safe tuna")

    figures = measure({"tuna": found}, judgments.grades, ("SetP", "SetR"))["tuna"]

    assert set(found) == {"d1", "d2", "d3", "d4", "x1", "x2"}
    assert math.floor(100 * figures["SetP"]) / 100 == 0.66  # 4 of 6, which WC does not round up
    assert figures["SetR"] == pytest.approx(0.80)


def test_measures_are_those_of_their_definitions() -> None:
    """Worked by hand: hits n r n r, three relevant documents, gain 1 each."""
    grades = {"q": {"a": 1, "b": 1, "c": 1, "x": 0}}

    figures = measure({"q": ["x", "a", "y", "b"]}, grades)["q"]

    dcg = 1 / math.log2(3) + 1 / math.log2(5)
    ideal = 1 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)
    of_best = {"Success@1": 0, "Success@3": 1, "RR": 1 / 2}
    assert figures == pytest.approx(
        {"nDCG@10": dcg / ideal, "AP": (1 / 2 + 2 / 4) / 3, "P@10": 2 / 10, "R@100": 2 / 3} | of_best
    )


def test_the_grade_is_the_gain_and_only_the_highest_grade_is_a_success() -> None:
    """Worked by hand: hits of grades 1 1 unjudged 2, and one of grade 1 is not found."""
    grades = {"q": {"a": 1, "b": 1, "c": 2, "d": 1, "x": 0}}

    figures = measure({"q": ["a", "b", "y", "c"]}, grades)["q"]

    dcg = 1 / math.log2(2) + 1 / math.log2(3) + 2 / math.log2(5)
    ideal = 2 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4) + 1 / math.log2(5)
    assert figures["nDCG@10"] == pytest.approx(dcg / ideal)
    assert figures["AP"] == pytest.approx((1 / 1 + 2 / 2 + 3 / 4) / 4)
    assert (figures["Success@1"], figures["Success@3"], figures["RR"]) == (0, 0, 1 / 4)


@given(st.permutations("abcdefghijklm"), st.dictionaries(st.sampled_from("abcdefghijkl"), st.integers(0, 3)))
def test_measures_are_shares_and_as_a_few_lines_count(hits: Sequence[str], grades: dict[str, int]) -> None:
    found = [grades.get(hit, 0) for hit in hits]
    best = max(grades.values(), default=0)
    first = found.index(best) + 1 if best else math.inf

    def dcg(gains: Sequence[int]) -> float:
        return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains[:10], 1))

    figures = measure({"q": hits}, {"q": grades})["q"]

    assert all(0 <= value <= 1 + 1e-9 for value in figures.values())
    ideal = dcg(sorted(grades.values(), reverse=True))
    assert figures["nDCG@10"] == pytest.approx(dcg(found) / ideal if ideal else 0)
    assert figures["RR"] == pytest.approx(1 / first)
    assert (figures["Success@1"], figures["Success@3"]) == (first <= 1, first <= 3)


def test_a_query_without_hits_counts_as_zero() -> None:
    assert measure({"q": []}, {"q": {"a": 1}}) == {"q": dict.fromkeys(MEASURES, 0.0)}
    assert measure({"p": ["a"], "q": []}, {"p": {"a": 1}, "q": {"a": 1}})["q"]["AP"] == 0


def test_negative_grades_are_not_judged_and_the_last_judgment_wins(tmp_path: Path) -> None:
    qrels = ["q 0 a 1", "q 0 b -1", "q 0 c 2", "q 0 a 0"]

    judgments = read(collection(tmp_path, [paper(id, "word") for id in "abc"], GOOD, qrels)).judgments

    assert judgments.grades == {"q": {"a": 0, "c": 2}}


def test_queries_without_a_relevant_document_are_left_out(tmp_path: Path) -> None:
    queries, qrels = ["p\tpotato", "q\tword", "r\tradish"], ["p 0 a 0", "q 0 a 1", "z 0 a 1"]

    judgments = read(collection(tmp_path, [paper("a", "word")], queries, qrels)).judgments

    assert judgments == Judgments({"q": "word"}, {"q": {"a": 1}})


@pytest.mark.parametrize(
    ("papers", "queries", "qrels", "said"),
    [
        ([], GOOD, BAD, "docs.jsonl has no documents"),
        ([paper("a", ""), paper("a", "")], GOOD, BAD, "docs.jsonl has the same id twice"),
        ([{"title": "no id"}], GOOD, BAD, "docs.jsonl, line 1: expected"),
        ([paper("a", "", links=7)], GOOD, BAD, "docs.jsonl, line 1: expected"),
        ([paper("a", "", links="b")], GOOD, BAD, "docs.jsonl, line 1: expected"),
        ([paper("a", "\ud800")], GOOD, BAD, "docs.jsonl, line 1: expected"),
        ([{"id": None, "title": "", "text": ""}], GOOD, BAD, "docs.jsonl, line 1: expected"),
        ([paper("a", "") | {"title": ["x"]}], GOOD, BAD, "docs.jsonl, line 1: expected"),
        ([paper("a", "")], ["no tab"], BAD, "queries.tsv, line 1: expected a query's id, a tab"),
        ([paper("a", "")], GOOD, ["", "q a 1"], "qrels.txt, line 2: expected `query 0 document grade`"),
        ([paper("a", "")], GOOD, ["q 0 a high"], "qrels.txt, line 1: expected"),
        ([paper("a", "")], GOOD, ["q 0 a 4294967297"], "qrels.txt, line 1: expected"),
        ([paper("a", "")], GOOD, ["q 0 a 0"], "qrels.txt has no relevant document for any query"),
        ([paper("b", "")], GOOD, BAD, "qrels.txt: no relevant document is in docs.jsonl"),
    ],
)
def test_what_is_no_collection_is_said_in_one_line(
    tmp_path: Path, papers: list[dict[str, object]], queries: list[str], qrels: list[str], said: str
) -> None:
    with pytest.raises(BadInput) as error:
        read(collection(tmp_path, papers, queries, qrels))

    assert said in str(error.value) and "\n" not in str(error.value)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(("docs.jsonl", "queries.tsv", "qrels.txt")), st.binary())
@example("docs.jsonl", b"[" * 100_000)
@example("docs.jsonl", b'"id"')
def test_whatever_a_file_holds_it_is_read_or_refused(tmp_path: Path, name: str, content: bytes) -> None:
    folder = collection(tmp_path / "any", [paper("a", "word")], GOOD, BAD)
    (folder / name).write_bytes(content)

    with suppress(BadInput):
        read(folder)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"cannot read .*docs\.jsonl: No such file"):
        read(tmp_path)


def test_identical_documents_are_documents_all_the_same(tmp_path: Path) -> None:
    papers, _ = read(collection(tmp_path / "two", [paper(id, "same words") for id in "ab"], GOOD, BAD))

    ids = build(papers, tmp_path / "crawl")

    assert set(ranked(tmp_path / "crawl", ids, "words")) == {"a", "b"}


def test_who_cites_a_document_calls_it_by_the_citing_title(tmp_path: Path) -> None:
    """An id that is not a document, and a document's own, are no links."""
    papers: list[dict[str, Any]] = [
        {"id": "new", "title": "On radishes", "text": "", "links": ["old", "gone", "new"]},
        {"id": "old", "title": "", "text": "turnips"},
    ]
    read_papers, _ = read(collection(tmp_path / "cited", papers, GOOD, ["q 0 old 1"]))

    ids = build(read_papers, tmp_path / "crawl")

    with closing(Catalog(tmp_path / "crawl" / "catalog.sqlite", readonly=True)) as catalog:
        links = [(ids[link.source], ids[link.target], link.anchor) for link in catalog.links.all()]
    assert links == [("new", "old", "On radishes")]
    assert set(ranked(tmp_path / "crawl", ids, "radishes", "bm25f")) == {"new", "old"}


def test_building_tells_how_far_it_is(tmp_path: Path) -> None:
    papers, _ = read(dolphins(tmp_path / "dolphins"))
    told: list[tuple[str, int, int]] = []

    build(papers, tmp_path / "crawl", lambda *far: told.append(far))

    assert told[0] == ("writing", 10, 10)
    assert told[-1] == ("indexing", 10, 10)


def test_judging_asks_in_the_language_of_who_asks(tmp_path: Path) -> None:
    for language in ("de", "en"):
        entry = fetched(f"http://{language}.test/", title="Owls")
        assert entry.text
        crawled(tmp_path, replace(entry, text=entry.text._replace(language=language)))
    wait_until_caught_up(tmp_path)
    judgments = Judgments({"q": "owls"}, {"q": {"http://en.test/": 1}})

    first = []
    with closing(Catalog(tmp_path / "catalog.sqlite", readonly=True)) as catalog:
        for language in ("de", "en"):
            found = compare(Searcher(tmp_path), judgments, ["bm25f"], catalog.urls.of, language=language)
            first.append(found.scores["bm25f"]["q"]["Success@1"])

    assert first == [0, 1]


def test_judging_asks_every_query_in_every_ranking(tmp_path: Path) -> None:
    papers, judgments = read(dolphins(tmp_path / "dolphins"))
    ids = build(papers, tmp_path / "crawl")

    rankings = ["peculiarity", "bm25f"]
    comparison = compare(Searcher(tmp_path / "crawl"), judgments, rankings, lambda numbers: ids)

    assert list(comparison.scores) == ["peculiarity", "bm25f"]
    assert all(of["tuna"]["R@100"] == pytest.approx(0.8) for of in comparison.scores.values())
    assert len(DOLPHINS) == 2 * len(ABOUT_DOLPHINS)
    assert comparison.scores == comparison.alone, "documents without addresses are not folded or spread"


def _comparison(**ndcg: list[float]) -> Comparison:
    """Of queries 0, 1, …: the nDCG@10 that each ranking reached."""
    scores = {
        name: {str(place): dict.fromkeys(MEASURES, 0.0) | {"nDCG@10": one} for place, one in enumerate(of)}
        for name, of in ndcg.items()
    }
    return Comparison({query: f"query {query}" for query in next(iter(scores.values()))}, scores, scores)


def test_the_ranking_with_the_best_ndcg_has_won_a_query() -> None:
    comparison = _comparison(a=[0.5, 0.2, 0.3], b=[0.5, 0.4, 0.1])

    assert [comparison.won(query) for query in "012"] == ["", "b", "a"]
    assert comparison.against("b", "a") == (1, 1, 1)
    ndcg = comparison.cells["nDCG@10"]
    assert ndcg["a"].mean.value == pytest.approx(1 / 3)
    assert ndcg["b"].difference and ndcg["b"].difference.mean.value == pytest.approx(0)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1))
def test_what_is_better_one_way_is_worse_the_other_way(pairs: list[tuple[float, float]]) -> None:
    comparison = _comparison(a=[mine for mine, _ in pairs], b=[others for _, others in pairs])

    better, worse, same = comparison.against("a", "b")

    assert better + worse + same == len(pairs)
    assert comparison.against("b", "a") == (worse, better, same)
    assert comparison.against("a", "a") == (0, 0, len(pairs))


# How much may be chance


def test_a_difference_that_chance_gives_in_one_of_four_cases() -> None:
    """By hand: of the eight ways to give three differences of .1 a sign, two have a mean of .1 or -.1."""
    assert p_value([0.1] * 3) == pytest.approx(2 / 8, abs=0.02)


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=8))
def test_p_is_the_share_of_all_signs_with_as_large_a_mean(differences: list[int]) -> None:
    as_large = [
        abs(sum(sign * one for sign, one in zip(signs, differences, strict=True))) >= abs(sum(differences))
        for signs in product((-1, 1), repeat=len(differences))
    ]

    assert p_value([one / 10 for one in differences]) == pytest.approx(np.mean(as_large), abs=0.03)


def test_an_interval_is_that_of_the_normal_distribution_where_there_are_many_queries() -> None:
    """300 of 500 queries: .6 with a standard error of sqrt(.6 * .4 / 500)."""
    low, high = interval([1.0] * 300 + [0.0] * 200)

    error = math.sqrt(0.6 * 0.4 / 500)
    assert (low, high) == pytest.approx((0.6 - 1.96 * error, 0.6 + 1.96 * error), abs=0.003)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_an_interval_holds_its_mean_and_only_values_that_may_be(values: list[float]) -> None:
    low, high = interval(values)

    assert min(values) - 1e-9 <= low <= np.mean(values) + 1e-9
    assert np.mean(values) - 1e-9 <= high <= max(values) + 1e-9


def test_feedback_is_read_as_the_search_page_writes_it(tmp_path: Path) -> None:
    (tmp_path / "queries.tsv").write_text("q1\tradish\nq2\tturnip\n")
    judged = [("q1", "a", 1), ("q2", "a", 0), ("q1", "b", 1), ("q1", "a", 0)]
    lines = [f"{query} 0 http://{host}.example/ {grade}\n" for query, host, grade in judged]
    (tmp_path / "qrels.txt").write_text("".join(lines))

    assert read_feedback(tmp_path) == Judgments(
        {"q1": "radish"}, {"q1": {"http://a.example/": 0, "http://b.example/": 1}}
    )
