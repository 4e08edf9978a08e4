"""What is asked of a search of the web."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs

import pytest

from webcrawler.errors import BadInput
from webcrawler.orderings import strategies
from webcrawler.realtime.job import RealtimeJob
from webcrawler.web.judge import JudgmentFiles

QUERY = "molecular  biology"
A = "http://a.test/"


def arguments(mode: str) -> dict[str, list[str]]:
    return parse_qs(mode.partition("?")[2])


# ---- the query


@pytest.mark.parametrize("strategy", [mode.name for mode in strategies() if mode.name != "breadth"])
def test_a_strategy_gets_the_words_that_are_asked_for_and_the_index_the_query(strategy: str) -> None:
    if strategy == "classifier":
        pytest.importorskip("sklearn", reason="the extra `classifier` is not installed")

    job = RealtimeJob.read(query="java -coffee site:example.org", strategy=strategy)

    assert job.query == "java -coffee site:example.org"
    assert arguments(job.mode)["query"] == ["java"]


@pytest.mark.parametrize("query", ["-coffee", "site:example.org", "of the"])
@pytest.mark.parametrize("strategy", ["adaptive", "shark", "breadth"])
def test_a_query_that_asks_for_no_word_is_refused(query: str, strategy: str) -> None:
    with pytest.raises(BadInput, match="has no word to look for"):
        RealtimeJob.read(query=query, strategy=strategy)


@pytest.mark.parametrize("given, together", [({}, "gene,cell"), ({"also": "dna,rna"}, "dna,rna,gene,cell")])
def test_words_of_the_thesaurus_stand_behind_those_of_the_user(given: dict[str, str], together: str) -> None:
    job = RealtimeJob.read(query=QUERY, **given)

    assert arguments(job.with_words(["gene", "cell"]))["also"] == [together]
    assert arguments(job.with_words(["gene", "cell"]))["query"] == ["molecular biology"]


# ---- examples that people judged


def test_what_was_judged_good_for_the_query_is_an_example(tmp_path: Path) -> None:
    judged = JudgmentFiles(tmp_path / "feedback")
    for query, url, verdict in [
        (QUERY, A + "1", "good"),
        (QUERY, A + "2", "bad"),
        (QUERY.title(), A + "3 ?", "good"),
        ("another", A + "4", "good"),
        (QUERY, A + "5", "bad"),
        (QUERY, A + "5", "good"),
    ]:
        judged.save(query, url, verdict)

    job = RealtimeJob.read(query=QUERY, examples="@feedback", seeds=A).with_judged(tmp_path)

    assert job.examples == (A + "1", A + "3%20?", A + "5")
    assert job.seeds == (*job.examples, A)


def test_where_nobody_judges_nothing_is_read(tmp_path: Path) -> None:
    job = RealtimeJob.read(query=QUERY, examples=A)

    assert job.with_judged(tmp_path / "nowhere") == job


@pytest.mark.parametrize(
    "qrels, queries, message",
    [
        (None, None, "no page was judged good for 'molecular biology'"),
        (f"q 0 {A} 0\n", "q\tmolecular biology\n", "no page was judged good"),
        (f"q 0 {A} -1\n", "q\tmolecular biology\n", "no page was judged good"),
        (f"q 0 {A} 1\n", "q\tanother\n", "no page was judged good"),
        ("q 0 ftp://a.test/ 1\n", "q\tmolecular biology\n", "no page was judged good"),
        (f"q 0 {A} good\n", "q\tmolecular biology\n", "expected `query 0 URL grade`"),
        ("q\n", "q\tmolecular biology\n", "expected `query 0 URL grade`"),
        ("\udcff", "q\tmolecular biology\n", "cannot read .*qrels.txt"),
    ],
)
def test_what_cannot_be_learnt_from_is_bad_input_with_one_line(
    tmp_path: Path, qrels: str | None, queries: str | None, message: str
) -> None:
    (tmp_path / "feedback").mkdir()
    for name, content in {"qrels.txt": qrels, "queries.tsv": queries}.items():
        if content is not None:
            (tmp_path / "feedback" / name).write_text(content, errors="surrogateescape")

    with pytest.raises(BadInput, match=message) as found:
        RealtimeJob.read(query=QUERY, examples="@feedback").with_judged(tmp_path)

    assert "\n" not in str(found.value)


def test_judgments_are_those_of_a_query() -> None:
    with pytest.raises(BadInput, match="add -a query=WORDS"):
        RealtimeJob.read(strategy="classifier", examples="@feedback")
