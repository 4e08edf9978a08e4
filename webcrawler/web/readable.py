"""Numbers, times and addresses in a form for people, unless it could deceive them.

A label of a host is shown in its own letters when they are of one script (or of those that are written
together) and do not all look like Latin ones; else it stays punycode, as in browsers.

Source: Unicode UTS 39, 5.2 Restriction-Level Detection ("Highly Restrictive"), with scripts taken from the
names of characters, as Python has no table of them. Departs from it: digits of several scripts may mix.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime
from math import floor, log10
from urllib.parse import unquote

from ada_url import idna_to_unicode

from webcrawler import clock
from webcrawler.records import Hit
from webcrawler.search import day, span
from webcrawler.search import seen as seen_at
from webcrawler.search.rankings import RANKINGS

_TOGETHER = (
    {"LATIN", "CJK", "HIRAGANA", "KATAKANA"},
    {"LATIN", "CJK", "BOPOMOFO"},
    {"LATIN", "CJK", "HANGUL"},
)
_LOOK_LATIN = frozenset("аеорсухіјѕһԁԛԝѵӏαικνορυχϲօսոցհզ")  # Cyrillic, Greek, Armenian
_UNSEEN = ("C", "Z")  # category: control, format, unassigned; space of any kind

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
UNITS = ("bytes", "kB", "MB", "GB", "TB")


def readable(url: str) -> str:
    """The URL without its scheme and a lone slash, decoded if every character of it is visible then."""
    rest = url.partition("://")[2]
    authority, slash, path = rest.partition("/")
    host, colon, port = authority.partition(":") if not authority.startswith("[") else (authority, "", "")
    shown = ".".join(map(_label, host.split(".")))
    return f"{shown}{colon}{port}{_decoded(slash + path) if path else ''}"


def site_and_path(url: str) -> tuple[str, str]:
    """ "docs.example.org", "/guide/": a readable URL in two, without a leading "www."."""
    host, slash, path = readable(url).partition("/")
    return host.removeprefix("www."), slash + path


def link(url: str) -> str:
    """The URL if it may become a link, else ""."""
    return url if url.startswith(("http://", "https://", "ftp://", "gopher://")) else ""


def heading(title: str, url: str) -> str:
    """The title of a page, or its address if it has none."""
    is_url = title == link(url)  # the title that search gives to a page without one
    return title if title.strip() and not is_url else readable(url)


def _label(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    try:
        shown = str(idna_to_unicode(label.encode("ascii")))
    except (ValueError, UnicodeError):
        return label
    return shown if shown and not _deceives(shown) else label


def _deceives(label: str) -> bool:
    letters = [character for character in label if character.isalpha()]
    scripts = {unicodedata.name(letter, "?").split()[0] for letter in letters}
    mixed = len(scripts) > 1 and not any(scripts <= together for together in _TOGETHER)
    unseen = not all(character.isalnum() or character == "-" for character in label)
    return mixed or unseen or (bool(letters) and _LOOK_LATIN.issuperset(letters))


def _decoded(path: str) -> str:
    try:
        shown = unquote(path, errors="strict")
    except UnicodeError:
        return path
    return path if any(unicodedata.category(character)[0] in _UNSEEN for character in shown) else shown


def without_controls(text: str) -> str:
    """The text without C0 and C1 controls and DEL, but for tab, line feed and carriage return.

    Terminals obey them and pages do not show them; titles and texts of strangers contain some.
    """
    return _CONTROLS.sub("", text)


def moment(seconds: float) -> str:
    """ISO 8601 to the second, UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def count(number: int, one: str, many: str = "") -> str:
    """ "1 page", "2,000 pages"."""
    return f"1 {one}" if number == 1 else f"{number:,} {many or one + 's'}"


def amounts(numbers: Sequence[float]) -> list[str]:
    """The numbers of a column, with the decimals that its largest needs for four digits: 12.30, 0.05."""
    largest = max((abs(number) for number in numbers), default=0.0)
    decimals = min(12, max(0, 3 - floor(log10(largest)))) if largest else 0
    return [f"{number:,.{decimals}f}" for number in numbers]


def size(number: float) -> str:
    """ "1.5 MB"; thousands, as disks are sold."""
    unit = 0
    while number >= 1_000 and unit < len(UNITS) - 1:
        number, unit = number / 1_000, unit + 1
    return f"{number:,.0f} {UNITS[unit]}" if unit == 0 or number >= 100 else f"{number:.1f} {UNITS[unit]}"


def seen(hit: Hit) -> str:
    """As `webcrawler.search.seen`, now."""
    return seen_at(hit, clock.now())


def ranking(name: str) -> str:
    """A ranking and what counts in it."""
    return f"{name}: {RANKINGS[name].help}" if name in RANKINGS else name


_FOR_TEMPLATES = (
    *(amounts, count, day, heading, link, moment, ranking, readable, seen, site_and_path, size, span),
)
FILTERS = {filter.__name__: filter for filter in _FOR_TEMPLATES}
