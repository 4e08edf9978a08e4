"""The driver of tests/faults/faults.py: the time that it measures is the crawl's, not its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from ports import Canary
from redis import RedisError

FAULTS = Path(__file__).parent


def test_its_client_tries_once_as_it_looks_before_each_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """While Redis is away redis-py's own ten tries would hold up the turn that starts the next worker."""
    monkeypatch.syspath_prepend(FAULTS)  # its programs import one another
    from redisserver import impatient

    nobody = Canary("127.0.0.1")

    with pytest.raises(RedisError):
        impatient(port=nobody.port).ping()

    nobody.stop()
    assert nobody.connections == 1
