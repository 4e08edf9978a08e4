"""Spam: pages that repeat the query are marked with a reason and rank lower."""

from __future__ import annotations

from pathlib import Path

import pytest
from searched import entry, publish

from webcrawler.search import Searcher

PROSE = (
    "The boat leaves the harbour at dawn and comes back before the tide turns. Its crew has mended nets all "
    "winter, and what they catch is sold on the quay by noon. In a storm nobody sails: the lighthouse keeper "
    "raises a black ball, and children count the waves. Old people remember years without herring, when half "
    "of the village went to work on the railway and wrote home about mountains. Today tourists rent sheds, "
    "photograph ropes and ask when the museum opens, which is on Thursdays, if the key is found in time."
)
TARGET, HONEST = "http://stuffed.example/", "http://honest.example/"


@pytest.fixture
def stuffed_dir(tmp_path: Path) -> Path:
    stuffed = " ".join(["cheap flights"] * 160) + " " + PROSE
    rows = [(TARGET, "Cheap flights", stuffed), (HONEST, "Cheap flights", f"Cheap flights. {PROSE}")]
    publish(tmp_path, map(entry, rows))
    return tmp_path


def test_a_page_stuffed_with_the_query_ranks_below_an_honest_one_and_says_why(stuffed_dir: Path) -> None:
    hits = Searcher(stuffed_dir).search("cheap flights", explain=True)

    assert [hit.url for hit in hits.hits] == [HONEST, TARGET]
    (part,) = [part for part in hits.explanations[1] if part.what == "stuffed"]
    assert "of its words are of the query: × 0.5" in part.detail and part.contribution < 0
    assert "stuffed" not in {part.what for part in hits.explanations[0]}


def test_it_is_never_left_out_and_ranks_as_before_for_other_words(
    stuffed_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marking = Searcher(stuffed_dir)
    total, other, after = (
        marking.search("cheap flights").total,
        marking.rank("lighthouse"),
        dict(marking.rank("cheap flights")),
    )

    monkeypatch.setattr("webcrawler.search.engine.SPAM", 1)
    before = dict(marking.rank("cheap flights"))

    assert total == 2
    assert other == marking.rank("lighthouse")
    assert after == pytest.approx({1: before[1] * 0.5, 2: before[2]})


@pytest.mark.parametrize(
    "text",
    [
        "cheap flights " * 20,  # short texts name their subject often
        PROSE + " cheap flights" * 15,  # a quarter of the words
        PROSE + " cheap flights" * 60,  # more than half, as a list of constants may
    ],
)
def test_what_honest_pages_repeat_is_no_mark(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(tmp_path, [entry((TARGET, "Cheap flights", text))])

    marked = Searcher(tmp_path).rank("cheap flights")
    monkeypatch.setattr("webcrawler.search.engine.SPAM", 1)

    assert marked == Searcher(tmp_path).rank("cheap flights")
