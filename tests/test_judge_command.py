"""`webcrawler judge`: what people type, see, and are told; what programs read."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Answered, Run
from crawled import crawled, fetched
from judged import collection, dolphins, paper

from webcrawler.index.follower import wait_until_caught_up
from webcrawler.web.judge import JudgmentFiles

pytest.importorskip("ir_measures", reason="the extra `judge` is not installed")


Judge = Callable[..., Answered]


@pytest.fixture
def judge(run: Run) -> Judge:
    return lambda *arguments: run("judge", *map(str, arguments))


def test_a_row_for_each_query_then_the_means(judge: Judge, tmp_path: Path) -> None:
    answer = judge(dolphins(tmp_path / "dolphins"), "--rankings", "peculiarity,bm25f")

    lines = answer.out.splitlines()
    assert answer.status == 0
    figures = [f"{name} {of}" for name in ("peculiarity", "bm25f") for of in ("nDCG", "AP")]
    assert re.split("  +", lines[0]) == ["query", *figures, "won"]
    assert lines[1].split()[:3] == ["tuna", "dolphin-safe", "tuna"]
    measures = ["nDCG@10", "AP", "P@10", "R@100", "Success@1", "Success@3", "RR"]
    means, differences = (table.splitlines() for table in answer.out.split("\n\n")[1:3])
    assert [line.split()[0] for line in means[1::2]] == measures
    assert all(line.strip().startswith("ranking alone") for line in means[2::2])
    assert differences[0].split() == ["compared", "with", "peculiarity", "bm25f"]
    assert [line.split()[0] for line in differences[1:-1]] == measures


def test_every_ranking_is_compared_by_default_and_programs_read_means(judge: Judge, tmp_path: Path) -> None:
    answer = judge(dolphins(tmp_path / "dolphins"), "--json", tmp_path / "judged.json")

    written = json.loads((tmp_path / "judged.json").read_text())
    assert answer.status == 0
    assert list(written["rankings"]) == ["peculiarity", "bm25f", "hitlists"]
    for figures in written["rankings"].values():
        assert list(figures) == ["nDCG@10", "AP", "P@10", "R@100", "Success@1", "Success@3", "RR"]
        assert figures["R@100"] == pytest.approx(0.8)
        assert figures["P@10"] == pytest.approx(0.4)


def test_ranks_alike_have_won_nothing(judge: Judge, tmp_path: Path) -> None:
    folder = collection(tmp_path / "one", [paper("a", "word")], ["q\tword"], ["q 0 a 1"])

    answer = judge(folder, "--rankings", "bm25f,peculiarity")

    assert answer.out.splitlines()[1].split() == ["q", "word", *["1.000"] * 4, "="]
    assert re.search(r"better / worse / as good +0 / 0 / 1\n", answer.out)


def test_feedback_judges_the_index_as_it_is(judge: Judge, tmp_path: Path) -> None:
    good, bad = "http://a.example/", "http://b.example/"
    crawl = crawled(
        tmp_path / "crawl", fetched(bad, title="radish"), fetched(good, title="radish and turnip")
    )
    wait_until_caught_up(crawl)
    saved = JudgmentFiles(crawl / "feedback")
    for url, verdict in ((bad, "good"), (good, "good"), (bad, "bad")):
        saved.save("radish turnip", url, verdict)

    answer = judge("feedback", "--rankings", "bm25f", "--json", tmp_path / "judged.json")

    assert answer.status == 0
    assert json.loads((tmp_path / "judged.json").read_text())["rankings"]["bm25f"]["AP"] == 1


def test_a_folder_without_documents_judges_urls_and_their_copies(judge: Judge, tmp_path: Path) -> None:
    best, useful, copy = (f"http://{name}.example/" for name in "abc")
    crawl = crawled(
        tmp_path / "crawl",
        fetched(copy, title="radish radish"),
        fetched(useful, title="radish and turnip"),
        fetched(best, title="radish, turnip, potato, leek"),
    )
    wait_until_caught_up(crawl)
    folder = tmp_path / "judged"
    folder.mkdir()
    (folder / "queries.tsv").write_text("q\tradish\n")
    (folder / "qrels.txt").write_text(f"q 0 {best} 2\nq 0 {useful} 1\n")

    figures = []
    for copies in ("", f"{copy}\t{best}\n"):
        (folder / "same.tsv").write_text(copies)
        answer = judge(folder, "--rankings", "bm25f", "--json", tmp_path / "judged.json")
        assert answer.status == 0
        figures.append(json.loads((tmp_path / "judged.json").read_text())["rankings"]["bm25f"])

    assert figures[0]["Success@1"] == 0 and figures[0]["RR"] == pytest.approx(1 / 3)
    assert figures[1]["Success@1"] == figures[1]["nDCG@10"] == 1, "it counts once, where it is found first"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name one folder, or `feedback`"),
        (["one", "two"], "name one folder, or `feedback`"),
        (["nowhere"], "cannot read nowhere/queries.tsv: No such file"),
        (["nowhere", "--rankings", "best"], "no ranking is called 'best': choose from"),
        (["nowhere", "--rankings", ","], "--rankings needs at least one item"),
        (["feedback"], "crawl/feedback yet: `webcrawler serve -s SERVE_FEEDBACK=1` lets people judge"),
    ],
)
def test_what_is_asked_wrongly_is_said_in_one_line(judge: Judge, arguments: list[str], said: str) -> None:
    answer = judge(*arguments)

    assert answer.status == 2
    assert answer.err.startswith("error: ") and said in answer.err
    assert answer.err.count("\n") == 1 and not answer.out


def test_without_ir_measures_one_line_says_what_to_do(
    judge: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)

    answer = judge(dolphins(tmp_path / "dolphins"))

    assert answer.status == 2
    assert answer.err == (
        'error: `webcrawler judge` needs ir_measures: pip install "scrapy-webcrawler[judge]"\n'
    )


def test_a_file_that_could_not_be_written_is_said_before_the_work(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    answer = judge(dolphins(tmp_path / "dolphins"), "--json", tmp_path / "file" / "judged.json")

    assert answer.status == 2
    assert "cannot write to" in answer.err
