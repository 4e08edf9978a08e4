"""The form that starts a search of the web, as templates need it."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from webcrawler.errors import BadInput
from webcrawler.realtime import ENOUGH
from webcrawler.web.config import Config
from webcrawler.web.live.request import MAX_ENOUGH
from webcrawler.web.live.strategies import DEFAULT, STRATEGIES
from webcrawler.web.parameters import Parameters

LABELS = {
    "enough": "Similar pages wanted",
    "max_pages": "Pages to fetch at most",
    "max_time": "Seconds at most",
}


class LiveForm(NamedTuple):
    """Of /live, and of the button below the number of results."""

    token: str
    strategies: dict[str, str] = STRATEGIES
    max_enough: int = MAX_ENOUGH


class Running(NamedTuple):
    """The search that keeps its client from another one, and what is needed to stop it."""

    job: str
    token: str


def labelled(line: str) -> str:
    """What is wrong, with the field as the form calls it: its name is for programs."""
    name, blank, rest = line.partition(" ")
    return f"“{LABELS[name]}”{blank}{rest}" if name in LABELS else line


def typed(given: Parameters, config: Config) -> dict[str, str]:
    """What the fields hold: nobody has to type it again. What was not given, or twice, is as at first."""
    most = {"max_pages": str(config.live_pages), "max_time": str(config.live_seconds)}
    fields = {"q": "", "examples": "", "seeds": "", "strategy": DEFAULT, "enough": str(ENOUGH)} | most
    for name, at_first in fields.items():
        with suppress(BadInput):
            fields[name] = given.one(name, at_first)
    return fields
