"""Bounds of time and memory: every run reports them, and five times as much is red in `make test-all`."""

from __future__ import annotations

import os

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"


def report(what: str, value: float, bound: float) -> None:
    """Benchmarks judge what is between: a test must not depend on how busy the machine is."""
    print(f"{what}: {value:.2f}, bound {bound:g}")
    assert not DEEP or value <= 5 * bound, f"{what}: {value:.2f} is more than five times {bound:g}"
