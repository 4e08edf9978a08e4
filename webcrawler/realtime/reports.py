"""What searches on other machines report of themselves (SV: many agents, which report to one place).

A report is the journal of a search, sent by a machine that has the token of this server. All of it is
checked, as it is shown to visitors.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_type_hints

from webcrawler import clock
from webcrawler.errors import BadInput, BadUrl
from webcrawler.realtime import journal
from webcrawler.realtime.journal import KEEP, REASONS, STATES, Found, Journal, Via
from webcrawler.urls import resolve

MAX_CHARACTERS = 10_000  # of a text
MAX_HITS = 100
MAX_NUMBER = 2**53  # what JSON holds exactly everywhere
ONE_OF = {"state": STATES, "reason": ("", *REASONS), "keep": KEEP, "source": ("index", "web")}


class NameTaken(BadInput):
    """Raised when a search of this machine has the name."""


def take_in(crawl_dir: Path, job: str, given: object) -> bool:
    """Keep how a search on another machine stands. Returns whether it is asked to end.

    Args:
        given: the JSON of the report; its times are moved to the clock of this machine.
    Raises:
        BadInput: it is not the journal of that search.
        NameTaken: another search has its name.
        OSError: it cannot be kept.
    """
    found: Journal = _record("the journal", Journal, given)
    if found["job"] != journal.check_name(job):
        raise BadInput(f"that is the journal of another search than {job}")
    known = journal.read(crawl_dir, job)
    if known and not known["reported"]:
        raise NameTaken(f"a search of this server has the name {job}: choose another one")
    found["updated"] = clock.now()
    found["started"] = found["updated"] - found["seconds"]
    found["reported"] = True
    journal.take_report(crawl_dir, found)
    return journal.is_stopped(crawl_dir, job)


def _record(name: str, kind: type[Any], given: object) -> Any:
    """The keys of this kind of record, and no others. Raises BadInput."""
    if not isinstance(given, dict):
        raise BadInput(f"{name} must be an object")
    return {key: _value(key, wanted, given.get(key)) for key, wanted in get_type_hints(kind).items()}


def _value(name: str, wanted: Any, given: Any) -> Any:
    """Raises BadInput: it is not of the type that is wanted, or cannot be what it says."""
    if wanted == list[Found]:
        if not isinstance(given, list) or len(given) > MAX_HITS:
            raise BadInput(f"{name} must be a list of at most {MAX_HITS} hits")
        return [_record("a hit", Found, hit) for hit in given]
    if wanted == Via | None:
        return given and _record(name, Via, given)
    if wanted is float and type(given) is int and given <= MAX_NUMBER:
        given = float(given)
    if type(given) is not wanted or not (_is_text(name, given) if wanted is str else _is_number(given)):
        raise BadInput(f"{name} is not valid")
    return given


def _is_text(name: str, given: str) -> bool:
    if len(given) > MAX_CHARACTERS or given not in ONE_OF.get(name, (given,)):
        return False
    try:
        given.encode("utf-8")  # JSON can hold halves of characters
        return name != "url" or bool(resolve(given))
    except (UnicodeError, BadUrl):
        return False


def _is_number(given: float) -> bool:
    return 0 <= given <= MAX_NUMBER
