"""Who answers 304 for ever is found out by the checks that are sent without validators."""

from __future__ import annotations

import numpy as np

from webcrawler.refresh.trust import MISSED, Trust

TIMES = [1_790_000_000.25 + 3600 * n for n in range(1000)]


def conditional(trust: Trust, server: int = 0) -> list[float]:
    """The times, of TIMES, at which page 7 is asked for with validators."""
    return [since for since in TIMES if trust.is_conditional(7, server, since)]


def see(trust: Trust, *since: float, server: int = 0) -> None:
    trust.see(np.full(len(since), 7), np.full(len(since), server), np.array(since))


def found_out() -> Trust:
    trust = Trust()
    unconditional = [since for since in TIMES if since not in conditional(trust)]
    see(trust, *unconditional[:MISSED])
    return trust


def test_one_check_in_twenty_is_sent_without_validators() -> None:
    assert 0.92 < len(conditional(Trust())) / len(TIMES) < 0.98


def test_server_whose_changes_only_these_find_is_asked_without_validators() -> None:
    assert 0.02 < len(conditional(found_out())) / len(TIMES) < 0.08


def test_another_server_is_believed_as_before() -> None:
    assert conditional(found_out(), server=1) == conditional(Trust())


def test_a_change_that_a_conditional_check_finds_counts_anew() -> None:
    trust = Trust()
    believed = conditional(trust)
    unconditional = [since for since in TIMES if since not in believed]

    see(trust, *unconditional[: MISSED - 1], believed[0], *unconditional[: MISSED - 1])

    assert conditional(trust) == believed


def test_server_that_tells_again_is_believed_again() -> None:
    trust = found_out()

    see(trust, conditional(trust)[0])

    assert conditional(trust) == conditional(Trust())
