"""The chance of the product: the same for the same seed, and another for each agent."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import numpy as np
import pytest

from webcrawler import clock
from webcrawler.refresh.signs import Trust

AGENTS = """
import os
from webcrawler import clock
from webcrawler.crawl.run.agents import Agents
agents = Agents(3)
agents.start()
os.write(1, f"{agents.number} {clock.draws.random()}\\n".encode())
"""


def drawn(seed: str) -> list[float]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEBCRAWLER_SEED", seed)
        clock.seed()
        return [clock.draws.random() for _ in range(5)]


def drawn_by_agents(seed: str) -> set[str]:
    environment = os.environ | {"WEBCRAWLER_SEED": seed}
    command = [sys.executable, "-c", AGENTS]
    return set(subprocess.run(command, env=environment, capture_output=True, text=True).stdout.splitlines())


@pytest.mark.parametrize("seed", ["0", "4711", "any text"])
def test_a_seed_draws_the_same_again(seed: str) -> None:
    assert drawn(seed) == drawn(seed) != drawn(seed + "1")


def test_without_a_seed_nothing_is_drawn_twice() -> None:
    assert drawn("") != drawn("")


@pytest.mark.slow
def test_each_agent_of_a_crawl_draws_for_itself_and_again_the_same() -> None:
    found = drawn_by_agents("7")

    assert {line.split()[0] for line in found} == {"1", "2", "3"}
    assert len({line.split()[1] for line in found}) == 3
    assert drawn_by_agents("7") == found


def test_checks_without_validators_are_drawn_by_the_seed() -> None:
    def drawn_by(trust: Trust) -> list[bool]:
        clock.seed()
        return [trust.is_conditional(0) for _ in range(100)]

    first = drawn_by(Trust())

    assert np.unique(first).tolist() == [False, True]
    assert drawn_by(Trust()) == first


def test_each_test_begins_with_the_seed_of_the_run(request: pytest.FixtureRequest) -> None:
    begun = clock.draws.getstate(), random.getstate()

    clock.seed()
    random.seed(f"{os.environ['WEBCRAWLER_SEED']} {request.node.nodeid}")

    assert (clock.draws.getstate(), random.getstate()) == begun
