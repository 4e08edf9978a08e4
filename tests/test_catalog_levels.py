"""The look-up of URL ids: each row is in one level, whatever comes and goes."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import failpoints
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from test_catalog import failure, link, page, write

from webcrawler.archive.catalog import Catalog, _database, _writer
from webcrawler.archive.catalog._database import passed
from webcrawler.records import Entry

SMALL = 8, 32
S = 0x0123_4567_89AB_CDEF
URLS = [f"http://www{n % 3}.example/{n}" for n in range(12)]
# A URL, the links of its page, and the fingerprint; None: it is not found.
arrivals = st.tuples(
    st.sampled_from(URLS),
    st.lists(st.integers(0, 99), max_size=8),
    st.none() | st.integers(0, 15) | st.integers(-(2**63), 2**63 - 1),
)
batches = st.lists(st.tuples(st.lists(arrivals, min_size=1, max_size=6), st.booleans()), max_size=12)


@pytest.fixture
def small_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if few rows were many: all move on within some batches."""
    monkeypatch.setattr(_database, "ID_TURNS", SMALL)


def arrival(url: str, targets: list[int], simhash: int | None, time: float) -> Entry:
    if simhash is None:
        return failure(url, time, "not-found")
    links = [link(f"http://far{target}.example/") for target in targets]
    return replace(page(url, time, f"{simhash}", links), simhash=S ^ simhash if simhash >= 0 else simhash)


def assert_each_row_is_in_one_level(path: Path) -> None:
    """The tables themselves are the model: every URL."""
    with closing(sqlite3.connect(path)) as db:
        found = sorted(db.execute("SELECT id, number FROM leveled_ids"))
        assert found == sorted(db.execute("SELECT id, number FROM urls"))
        assert found == sorted(db.execute("SELECT id, number FROM ids"))


def levels(path: Path) -> set[int]:
    with closing(sqlite3.connect(path)) as db:
        return {level for (level,) in db.execute("SELECT DISTINCT level FROM leveled_ids")}


def interrupted(db: sqlite3.Connection, before: object) -> Iterator[None]:
    raise KeyboardInterrupt


# A hand that goes around the keys

PASSED = [
    ("nothing was added", (5, 5, 8, 16), []),
    ("one of eight steps over 16 keys", (3, 4, 8, 16), [(6, 7)]),
    ("to the end", (6, 8, 8, 16), [(12, 15)]),
    ("beyond the end, and from the beginning", (7, 10, 8, 16), [(14, 15), (0, 3)]),
    ("a second turn", (19, 20, 8, 16), [(6, 7)]),
    ("a whole turn", (3, 11, 8, 16), [(6, 15), (0, 5)]),
    ("more than a turn", (3, 99, 8, 16), [(6, 15), (0, 5)]),
]


@pytest.mark.parametrize(("times", "ranges"), [row[1:] for row in PASSED], ids=[row[0] for row in PASSED])
def test_a_hand_passes_as_many_keys_as_its_time_says(
    times: tuple[int, int, int, int], ranges: list[tuple[int, int]]
) -> None:
    assert list(passed(*times)) == ranges


@given(st.lists(st.integers(0, 9), min_size=1), st.sampled_from([1, 4, 16]), st.integers(0, 99))
def test_however_the_time_is_cut_each_key_is_passed_once_a_turn(
    steps: list[int], turn: int, start: int
) -> None:
    seen, time = list[int](), start
    for step in steps:
        for first, last in passed(time, time + min(step, turn), turn, 64):
            seen += range(first, last + 1)
        time += min(step, turn)

    begun = start % turn * (64 // turn)
    assert seen == [key % 64 for key in range(begun, begun + (time - start) * (64 // turn))]


# In the catalog


@pytest.mark.slow
@settings(max_examples=examples(25), deadline=None)
@given(batches)
def test_whatever_is_written_and_undone_each_row_is_in_one_level(
    history: list[tuple[list[tuple[str, list[int], int | None]], bool]],
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(_database, "ID_TURNS", SMALL)
        path = Path(folder) / "catalog.sqlite"
        with closing(Catalog(path)) as catalog:
            time, there = 0.0, dict.fromkeys(URLS, False)
            for batch, fails in history:
                time += 10
                entries = [arrival(*row, time=time + place) for place, row in enumerate(batch)]
                with pytest.MonkeyPatch.context() as undone:
                    if fails:
                        undone.setattr(_writer, "sweep", interrupted)
                    try:
                        write(catalog, *entries)
                    except KeyboardInterrupt:
                        assert fails
                if not fails:
                    there |= {url: simhash is not None for url, _, simhash in batch}
                assert_each_row_is_in_one_level(path)
            with closing(Catalog(path, readonly=True)) as other:
                assert {url: other.find(url) is not None for url in URLS} == there


@pytest.mark.usefixtures("small_turns")
def test_rows_move_on_level_by_level_and_are_found_in_each(tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    urls = {f"http://a.example/{n}" for n in range(60)}
    with closing(Catalog(path)) as catalog:
        for n, url in enumerate(sorted(urls)):
            write(catalog, page(url, n, url))

        assert levels(path) == {0, 1, 2}
        assert {document.url for url in urls if (document := catalog.find(url))} == urls


@pytest.mark.slow
def test_a_batch_moves_about_as_many_rows_as_it_adds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_turns: None
) -> None:
    """However many wait: no batch has to do the work of many."""
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        for n in range(150):
            write(catalog, page(f"http://a.example/{n}", n, str(n)))
        moved = list[int]()
        counted = _database.run
        monkeypatch.setattr(
            _database, "run", lambda *a, **values: moved.append(counted(*a, **values).rowcount)
        )
        for n in range(150, 300):
            moved.append(0)
            write(catalog, page(f"http://a.example/{n}", n, str(n)))

    assert sum(moved) <= 2 * 150 + 32
    assert max(moved) < 32


@pytest.mark.slow
@pytest.mark.parametrize("passing", [1, 4, 9])
def test_killed_before_the_commit_the_rows_are_where_they_were(tmp_path: Path, passing: int) -> None:
    code = (
        "import sys; from pathlib import Path; from test_catalog import page, write;"
        "from webcrawler.archive.catalog import Catalog, _database; _database.ID_TURNS = (2, 8);"
        "catalog = Catalog(Path(sys.argv[1]));"
        "[write(catalog, page(f'http://a.example/{n}', n, str(n))) for n in range(12)]"
    )
    path = tmp_path / "catalog.sqlite"
    armed = failpoints.environment(f"catalog.before-commit:kill:{passing}")
    paths = os.pathsep.join([armed["PYTHONPATH"], str(Path(__file__).parent)])

    python = [sys.executable, "-c", code, str(path)]
    killed = subprocess.run(python, env=os.environ | armed | {"PYTHONPATH": paths})

    assert killed.returncode == -9
    with closing(Catalog(path)) as catalog:
        assert catalog.urls.count() == passing - 1
        assert_each_row_is_in_one_level(path)
        write(catalog, page("http://a.example/0", 99, "0"), page("http://a.example/11", 99, "11"))
        assert catalog.urls.count() == max(passing - 1, 1) + 1
    assert_each_row_is_in_one_level(path)
