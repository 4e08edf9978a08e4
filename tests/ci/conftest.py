"""What runs the tests, and all tests that there are."""

from __future__ import annotations

import sys

import pytest
from localweb import PROJECT

sys.path.append(str(PROJECT / ".ci"))
COLLECTED = pytest.StashKey[list[pytest.Item]]()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """All that this run has collected, before anybody chooses."""
    config.stash[COLLECTED] = items.copy()


@pytest.fixture
def collected(request: pytest.FixtureRequest) -> list[pytest.Item]:
    return request.config.stash[COLLECTED]
