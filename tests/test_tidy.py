"""Figures as rows for other programs."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from webcrawler.errors import BadInput
from webcrawler.evaluation import Metrics, Recorded, Results, compare, tidy
from webcrawler.linkgraph import Graph

ROWS = [{"start": 0, "value": 1.5}, {"start": "http://a.test/", "value": None, "more": "é"}]


def test_unknown_values_are_empty_cells_and_later_columns_are_kept(tmp_path: Path) -> None:
    tidy.write(ROWS, tmp_path / "f.part", ".csv")

    lines = (tmp_path / "f.part").read_text("utf-8").splitlines()
    assert lines == ["start,value,more", "0,1.5,", "http://a.test/,,é"]


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_library_that_is_not_there_is_one_line_that_says_what_to_install(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)

    with pytest.raises(BadInput, match=f"^this needs {name}: pip install {name}$"):
        getattr(tidy, f"to_{name}")(ROWS)


# Data frames


@pytest.fixture(scope="module")
def results() -> Results:
    """Crawls of thirty pages in three orders, one of which uses chance."""
    chance = np.random.default_rng(1)
    sources, targets = chance.integers(0, 30, (2, 150))
    urls = [f"http://graph.example/{n}" for n in range(30)]
    graph = Recorded(Graph.of([*sources, 0], [*targets, 1], 30), np.arange(30), urls)
    metrics = Metrics(hot=("ib:6",), buffer=0.5)
    return compare(graph, ["fifo", "backlink", "random"], seeds=[1, 2], metrics=metrics, jobs=1)


@pytest.mark.slow
def test_frames_of_both_libraries_hold_the_rows_of_the_results(results: Results) -> None:
    rows = results.rows()
    pandas, polars = results.to_pandas(), results.to_polars()

    names = list(dict.fromkeys(name for row in rows for name in row))
    filled = [{name: row.get(name) for name in names} for row in rows]
    assert polars.to_dicts() == filled
    assert pandas.astype(object).where(pandas.notna(), None).to_dict("records") == filled


def test_a_mean_over_seeds_in_either_frame_is_that_of_the_tables(results: Results) -> None:
    pandas, polars = results.to_pandas(), results.to_polars()
    (wanted,) = [
        of["mean"]["value"]
        for of in results.compared()
        if (of["ordering"], of["measure"]) == ("random", "auc") and of["start"]
    ]

    chosen = pandas[(pandas.ordering == "random") & (pandas.measure == "auc")]
    assert chosen.seed.tolist() == [1, 2] and chosen.value.mean() == pytest.approx(wanted)
    chosen = polars.filter((polars["ordering"] == "random") & (polars["measure"] == "auc"))
    assert chosen["seed"].to_list() == [1, 2] and chosen["value"].mean() == pytest.approx(wanted)


def test_columns_of_numbers_are_numbers_in_either_frame(results: Results) -> None:
    assert results.to_pandas().dtypes["value"] == "float64"
    assert results.to_polars().schema["value"].is_float()
    assert results.to_polars().schema["seed"].is_integer()


def test_a_column_of_numbers_and_texts_is_text_in_either_frame() -> None:
    assert tidy.to_pandas(ROWS)["start"].tolist() == ["0", "http://a.test/"]
    assert tidy.to_polars(ROWS)["start"].to_list() == ["0", "http://a.test/"]
