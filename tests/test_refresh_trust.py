"""Who answers 304 for ever is found out by the checks that are sent without validators."""

from __future__ import annotations

import numpy as np
import pytest

from webcrawler.refresh.signs import SHOWN, Trust

DRAWS = 2000


def conditional(trust: Trust, server: int = 0) -> float:
    """The share of the server's checks that are sent with validators."""
    return sum(trust.is_conditional(server) for _ in range(DRAWS)) / DRAWS


def see(trust: Trust, checks: str, server: int = 0) -> None:
    """Checks as letters: c found a change with validators, w without; C and W found none."""
    letters = np.array(list(checks), str)
    lower = np.char.lower(letters)
    trust.see(np.full(len(letters), server), lower == "c", letters == lower)


TRUSTED, FIRST, DOUBTED = (0.92, 0.98), (0.75, 0.85), (0.02, 0.08)


@pytest.mark.parametrize(
    ("checks", "share"),
    [
        ("", FIRST),
        ("C" * 100, FIRST),
        ("W" * (SHOWN - 1), FIRST),
        ("W" * SHOWN, TRUSTED),
        ("c", TRUSTED),
        ("www", FIRST),
        ("wwww", DOUBTED),
        ("www" + "W" * SHOWN, TRUSTED),
        ("www" + "W" * SHOWN + "w", DOUBTED),
        ("wwww" + "C" * 10 + "W" * SHOWN, DOUBTED),
        ("www" + "c" + "w", TRUSTED),
        ("w" * 100 + "c", TRUSTED),
    ],
)
def test_what_checks_have_told_says_how_many_are_sent_with_validators(
    checks: str, share: tuple[float, float]
) -> None:
    at_once, one_by_one = Trust(), Trust()
    see(at_once, checks)
    for check in checks:
        see(one_by_one, check)

    assert share[0] < conditional(at_once) < share[1]
    assert (at_once.counts == one_by_one.counts).all()


def test_each_server_is_judged_alone() -> None:
    trust = Trust()
    see(trust, "wwww", server=3)
    see(trust, "c", server=1)

    assert trust.doubted().tolist() == [3]
    assert FIRST[0] < conditional(trust, server=0) < FIRST[1]
    assert FIRST[0] < conditional(trust, server=9) < FIRST[1]
