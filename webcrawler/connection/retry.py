"""Retries, for when Redis or a disk does not answer."""

from __future__ import annotations

import logging
import math
import re
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import TypeVar

from redis import exceptions
from redis.exceptions import AuthenticationError, RedisError

from webcrawler.errors import Unavailable, WebcrawlerError

logger = logging.getLogger(__name__)
T = TypeVar("T")

FOREVER = math.inf
START_SECONDS = 30.0  # that a start waits for a Redis that answers and refuses
END_TRIES = 20
# Answers of Redis that are others later. For some of them redis-py has types, and leaves out the names.
_TYPES = (
    *(exceptions.AskError, exceptions.ClusterDownError, exceptions.NoScriptError),
    *(exceptions.OutOfMemoryError, exceptions.ReadOnlyError, exceptions.TryAgainError),
)
_NAMES = re.compile(
    r"\b(BUSY|CLUSTERDOWN|LOADING|MASTERDOWN|MISCONF|NOREPLICAS|OOM|READONLY|SCRIPT KILL|max number)\b"
)
_DAMAGE = re.compile(r"LOST|WRONGTYPE|user_script: ?\d+: ")


def is_passing(error: Exception) -> bool:
    """May the same call succeed later? What Redis refuses, it refuses again, but for a few reasons."""
    if isinstance(error, exceptions.ResponseError):
        return isinstance(error, _TYPES) or bool(_NAMES.search(str(error)))
    return isinstance(error, RedisError | Unavailable) and not isinstance(error, AuthenticationError)


def is_damage(error: Exception) -> bool:
    """Does it say that keys are missing, or are not what they should be?"""
    return isinstance(error, exceptions.ResponseError) and bool(_DAMAGE.search(str(error)))


def retry(
    step: Callable[[], T],
    revive: Callable[[], object] = lambda: None,
    *,
    seconds: float = START_SECONDS,
    tries: float = math.inf,
    pause: float = 0.5,
    longest_pause: float = 0.0,
    is_passing: Callable[[Exception], bool] = is_passing,
    on_failure: Callable[[Exception], object] = lambda error: logger.warning("trying again: %s", error),
) -> T:
    """Call `step` until it succeeds. Blocks: not for the event loop.

    Args:
        revive: called after each pause; its own failures do not count.
        seconds: since the first call, after which the error is raised.
        tries: the most calls, after which it is raised as well.
        pause: seconds between two calls; it doubles up to `longest_pause`.
        is_passing: which errors are worth another call; others are raised at once.
        on_failure: called with each error after which there is another call.
    Returns:
        What `step` returned.
    """
    deadline = time.monotonic() + seconds
    for calls in count(1):
        try:
            return step()
        except Exception as error:
            if not is_passing(error) or calls >= tries or time.monotonic() > deadline:
                raise
            on_failure(error)
        time.sleep(pause)
        pause = max(pause, min(2 * pause, longest_pause))
        with suppress(RedisError, WebcrawlerError):
            revive()
    raise AssertionError("unreachable")


def while_loading(ask: Callable[[], object], seconds: float, pause: float) -> None:
    """Ask until Redis no longer says that it will be there soon."""
    soon = exceptions.BusyLoadingError, exceptions.ClusterDownError
    retry(
        ask,
        seconds=seconds,
        pause=pause,
        is_passing=lambda error: isinstance(error, soon),
        on_failure=lambda error: None,
    )


def attempt(step: Callable[[], object], revive: Callable[[], object] = lambda: None) -> None:
    """Retry for about ten seconds, then give up without an error: leases of this worker expire anyway."""
    with suppress(RedisError, Unavailable):
        retry(step, revive, seconds=FOREVER, tries=END_TRIES)
