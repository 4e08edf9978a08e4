"""Which crawls are to be compared? What `--orderings` and `--seeds` say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from webcrawler.errors import BadInput
from webcrawler.orderings import BUILT_IN, arguments_of, ordering


class Experiment(NamedTuple):
    """One crawl to be made."""

    ordering: str  # as it was asked for: "blend", "hot:backlink"
    mode: str  # as the frontier knows it: "blend?seed=1"
    seed: int | None


def experiments(orderings: Sequence[str], seeds: Sequence[int], query: str = "") -> list[Experiment]:
    """One for each ordering, or for each seed of those that take one.

    `hot:MODE` is the ordering `hot` with both queues in the order of MODE. Orderings that take a query get
    that one. `name?word=value` is left as it is.

    Raises:
        BadInput: there is no such ordering.
    """
    found = []
    for name in orderings:
        for seed in seeds if _takes_seed(name) else (None,):
            mode = _mode(name, seed, query)
            ordering(mode)
            found.append(Experiment(name, mode, seed))
    return found


def _arguments(name: str) -> tuple[str, ...]:
    """Those that are still to be given."""
    if "?" in name:
        return ()
    return arguments_of(BUILT_IN[name] if name in BUILT_IN else type(ordering(name)))


def _takes_seed(name: str) -> bool:
    first, _, then = name.partition(":")
    return "seed" in _arguments(first) or bool(then and _takes_seed(then))


def _mode(name: str, seed: int | None, query: str) -> str:
    first, _, then = name.partition(":")
    takes, given = _arguments(first), {}
    if "query" in takes:
        if not query:
            raise BadInput(f"--orderings: {name} wants a query: add --query WORDS")
        given["query"] = query
    if "seed" in takes and seed is not None:
        given["seed"] = str(seed)
    if then and "then" not in takes:
        raise BadInput(f"--orderings: {first} takes no other ordering after a colon, as hot:backlink does")
    if then:
        given["then"] = _mode(then, seed, query)
    return f"{first}?{urlencode(given)}" if given else first
