"""Of a site among traps nearly all pages are found, and the traps do not take the crawl."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from zoo.mazecrawl import ENOUGH, crawl_maze
from zoo.mazes import KINDS, PAGES, Maze

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="as the rest of the zoo")


def test_a_maze_is_drawn_from_its_seed() -> None:
    assert Maze(1).pages == Maze(1).pages != Maze(2).pages
    assert len(Maze(1).pages) == PAGES


def test_its_traps_lead_elsewhere_at_each_visit() -> None:
    maze = Maze(3)
    start = f"http://www.{maze.domain}/"

    assert maze.answer(start) != maze.answer(start)
    assert {maze._kind(maze._link(kind, start, maze._draw)) for kind in KINDS} == {*KINDS}


@pytest.mark.zoo
@pytest.mark.deep("a study; test_traps.py has the rules")
@pytest.mark.parametrize("mode", ["breadth", "blend"])
@pytest.mark.parametrize("seed", [3, 6])
def test_its_pages_are_found_within_1500_fetches_of_which_half_go_elsewhere(
    tmp_path: Path, seed: int, mode: str
) -> None:
    # Where many downloads have nothing else to do, as a busy machine is late with the links of pages that
    # are fetched, they go into traps; with few of them, and small batches, the order is that of the mode.
    found = crawl_maze(tmp_path, Maze(seed), mode, 1500, CONCURRENT_REQUESTS=4, BATCH_DOCUMENTS=4)

    assert found.recall >= ENOUGH
    assert found.traps <= 0.5
    assert found.neighbours == 1.0
