"""Figures as rows for other programs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from webcrawler.errors import BadInput
from webcrawler.evaluation import tidy

ROWS = [{"start": 0, "value": 1.5}, {"start": "http://a.test/", "value": None, "more": "é"}]


def test_unknown_values_are_empty_cells_and_later_columns_are_kept(tmp_path: Path) -> None:
    tidy.write(ROWS, tmp_path / "f.part", ".csv")

    lines = (tmp_path / "f.part").read_text("utf-8").splitlines()
    assert lines == ["start,value,more", "0,1.5,", "http://a.test/,,é"]


def test_a_column_of_numbers_and_texts_becomes_text() -> None:
    assert tidy.columns(ROWS) == {
        "start": ["0", "http://a.test/"],
        "value": [1.5, None],
        "more": [None, "é"],
    }


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_library_that_is_not_there_is_one_line_that_says_what_to_install(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)

    with pytest.raises(BadInput, match=f"^this needs {name}: pip install {name}$"):
        getattr(tidy, f"to_{name}")(ROWS)
