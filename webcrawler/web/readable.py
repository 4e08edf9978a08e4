"""Addresses as people read them, where that cannot deceive.

A label of a host is shown in its own letters when they are of one script (or of those that are written
together) and do not all look like Latin ones; else it stays punycode, as in browsers.

Source: Unicode UTS 39, 5.2 Restriction-Level Detection ("Highly Restrictive"), with scripts taken from the
names of characters, as Python has no table of them. Departs from it: digits of several scripts may mix.
"""

from __future__ import annotations

import unicodedata
from urllib.parse import unquote

from ada_url import idna_to_unicode

_TOGETHER = (
    {"LATIN", "CJK", "HIRAGANA", "KATAKANA"},
    {"LATIN", "CJK", "BOPOMOFO"},
    {"LATIN", "CJK", "HANGUL"},
)
_LOOK_LATIN = frozenset("аеорсухіјѕһԁԛԝѵӏαικνορυχϲօսոցհզ")  # Cyrillic, Greek, Armenian
_UNSEEN = ("C", "Z")  # category: control, format, unassigned; space of any kind


def readable(url: str) -> str:
    """The URL without what says nothing (scheme, a lone slash), decoded where every character is seen."""
    rest = url.partition("://")[2]
    authority, slash, path = rest.partition("/")
    host, colon, port = authority.partition(":") if not authority.startswith("[") else (authority, "", "")
    shown = ".".join(map(_label, host.split(".")))
    return f"{shown}{colon}{port}{_decoded(slash + path) if path else ''}"


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
