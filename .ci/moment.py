"""A plugin of pytest (`--begins-at`): a test begins at a moment of the second, or a file at one of the day.

The tests of a file share what was made on one day: a day for each would make it old.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DAY = 86_400
_begun: set[Path] = set()  # files


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--begins-at", type=float, required=True, help="below 1: of any second; else of the day")


@pytest.hookimpl(tryfirst=True)  # before its fixtures
def pytest_runtest_setup(item: pytest.Item) -> None:
    """By the clock of the product, here and in what the test starts; it never goes back."""
    from webcrawler import clock

    moment = item.config.getoption("begins_at")
    if moment >= 1 and item.path in _begun:
        return
    _begun.add(item.path)
    ahead = float(os.environ.get(clock.NAME) or 0) + (moment - clock.now()) % (1 if moment < 1 else DAY)
    os.environ[clock.NAME] = f"+{ahead:.6f}"
    clock.set_to(os.environ[clock.NAME])
