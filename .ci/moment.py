"""A plugin of pytest: each test begins at a moment of the second, or of the day (`--begins-at SECONDS`)."""

from __future__ import annotations

import os

import pytest

DAY = 86_400


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--begins-at", type=float, required=True, help="below 1: of any second; else of the day")


@pytest.hookimpl(tryfirst=True)  # before its fixtures
def pytest_runtest_setup(item: pytest.Item) -> None:
    """By the clock of the product, here and in what the test starts; it never goes back."""
    from webcrawler import clock

    moment = item.config.getoption("begins_at")
    ahead = float(os.environ.get(clock.NAME) or 0) + (moment - clock.now()) % (1 if moment < 1 else DAY)
    os.environ[clock.NAME] = f"+{ahead:.6f}"
    clock.set_to(os.environ[clock.NAME])
