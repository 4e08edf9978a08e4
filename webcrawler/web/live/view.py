"""What templates need of a search of the web; what strangers wrote is text, or a checked link."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlencode

from webcrawler.errors import BadInput
from webcrawler.realtime import ENOUGH, Journal
from webcrawler.search import Snippets
from webcrawler.text.query import parse
from webcrawler.web.config import Config
from webcrawler.web.live.request import DEFAULT, MAX_ENOUGH, STRATEGIES
from webcrawler.web.live.watch import is_over
from webcrawler.web.parameters import Parameters

LABELS = {
    "enough": "Similar pages wanted",
    "max_pages": "Pages to fetch at most",
    "max_time": "Seconds at most",
}
MOST = 100  # of the list
ENDS = {
    "enough": "enough similar pages were found",
    "max_pages": "the limit of pages was reached",
    "max_time": "time is up",
    "nothing_left": "nothing promising is left to follow",
    "stopped": "it was stopped",
    "failed": "it broke off",
}


class LiveForm(NamedTuple):
    """Of /live, and of the button below the number of results."""

    token: str
    strategies: dict[str, str] = STRATEGIES
    max_enough: int = MAX_ENOUGH


class Running(NamedTuple):
    """The search of this client that runs already, and what is needed to stop it."""

    job: str
    token: str


def labelled(line: str) -> str:
    """The complaint with the label of the form's field, instead of its name for programs."""
    name, blank, rest = line.partition(" ")
    return f"“{LABELS[name]}”{blank}{rest}" if name in LABELS else line


def typed(given: Parameters, config: Config) -> dict[str, str]:
    """What was typed into each field, to be shown again; a default where nothing was, or twice."""
    most = {"max_pages": str(config.live_pages), "max_time": str(config.live_seconds)}
    fields = {"q": "", "examples": "", "seeds": "", "strategy": DEFAULT, "enough": str(ENOUGH)} | most
    for name, at_first in fields.items():
        with suppress(BadInput):
            fields[name] = given.one(name, at_first)
    return fields


def state(journal: Journal, is_stopping: bool = False) -> str:
    """How it is, in one sentence."""
    match journal["state"]:
        case "finished":
            return f"Ended: {ENDS.get(journal['reason'], 'nobody knows why')}."
        case _ if is_stopping:
            return "Stopping."
        case "starting":
            return "Starting."
    return "Searching the web."


def values(journal: Journal, is_stopping: bool) -> dict[str, object]:
    """For the template `_live.html`."""
    query = journal["query"]
    words = [asked.term for asked in parse(query).asked] if query.strip() else []
    return {
        "now": journal,
        "hits": journal["hits"][:MOST],
        "snippets": Snippets(words),
        "state": state(journal, is_stopping),
        "over": is_over(journal),
    }


def version(journal: Journal) -> str:
    """Differs as soon as anything that is shown has changed."""
    return f"{journal['state']}-{journal['updated']:.3f}-{journal['seconds']:.0f}"


def results_url(journal: Journal) -> str:
    """Address of the ordinary results; "" where no words were asked for."""
    query = journal["query"].strip()
    return f"/search?{urlencode({'q': query})}" if query else ""
