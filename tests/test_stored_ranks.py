"""Ranks for search: of one catalog, old or new and never half, as networkx has them."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from webcrawler.linkgraph.stored import Ranks, load, store


def some(folder: Path, *values: float, seq: int = 7, identity: str = "abc") -> None:
    store(folder, np.array(values), seq, identity)


def test_what_is_stored_comes_back_by_page_number(tmp_path: Path) -> None:
    some(tmp_path / "ranks", 0.5, 1.5, 1.0)

    ranks = load(tmp_path / "ranks", "abc")

    assert ranks is not None
    assert (ranks.seq, ranks.identity, ranks.damping) == (7, "abc", 0.85)
    assert ranks.of([2, 1]).tolist() == [1.5, 0.5]


def test_a_page_found_later_has_the_rank_of_one_that_nobody_links_to() -> None:
    ranks = Ranks(np.array([0.5, 1.5]), 1, "abc", 0.85)

    assert ranks.of([0, 2, 3]) == pytest.approx([0.15, 1.5, 0.15])


def test_ranks_of_another_catalog_are_none(tmp_path: Path) -> None:
    some(tmp_path, 1.0)

    assert load(tmp_path, "other") is None
    assert load(tmp_path / "nowhere", "abc") is None


def test_no_ranks_are_ranks_too(tmp_path: Path) -> None:
    some(tmp_path)

    ranks = load(tmp_path, "abc")

    assert ranks is not None and ranks.of([1]) == pytest.approx([0.15])


def test_new_ones_take_the_place_of_old_ones_which_their_readers_keep(tmp_path: Path) -> None:
    some(tmp_path, 1.0, 1.0)
    old = load(tmp_path, "abc")

    some(tmp_path, 0.5, 1.5, seq=8)

    new = load(tmp_path, "abc")
    assert old is not None and old.of([1, 2]).tolist() == [1.0, 1.0]
    assert new is not None and (new.seq, new.of([2]).tolist()) == (8, [1.5])
    assert len(list(tmp_path.glob("*"))) == 1


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.unlink(),
        lambda file: os.truncate(file, 600),
        lambda file: os.truncate(file, 10),
        lambda file: file.write_bytes(b"[]".ljust(9000)),
    ],
    ids=["gone", "array cut", "head cut", "head of another form"],
)
def test_what_is_damaged_is_none_until_it_is_stored_again(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    some(tmp_path, *np.ones(1000))
    damage(tmp_path / "ranks.bin")

    assert load(tmp_path, "abc") is None
    some(tmp_path, 1.0)
    assert load(tmp_path, "abc") is not None


WRITER = """
import sys
import numpy
from itertools import count
from pathlib import Path
from webcrawler.linkgraph.stored import store
for seq in count(1):
    store(Path(sys.argv[1]), numpy.full(50 + seq % 3, float(seq)), seq, "abc")
"""


@pytest.mark.deep("test_new_ones_take_the_place_of_old_ones_which_their_readers_keep")
def test_who_reads_while_others_write_sees_one_or_the_other(tmp_path: Path) -> None:
    some(tmp_path, *np.zeros(50), seq=0)
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)])

    seen = set()
    while writer.poll() is None and len(seen) < 30:
        ranks = load(tmp_path, "abc")
        assert ranks is not None
        assert len(ranks.values) == 50 + ranks.seq % 3
        assert set(ranks.values) == {float(ranks.seq)}
        seen.add(ranks.seq)
    writer.kill()
    writer.wait()

    after = load(tmp_path, "abc")
    assert len(seen) == 30 and after is not None
    some(tmp_path, 1.0)  # takes what the dead one left with it
    assert [file.name for file in tmp_path.iterdir()] == ["ranks.bin"]
