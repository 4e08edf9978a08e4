"""A stranger's page made harmless: structure, text and links; nothing that runs, loads, sends or covers.

Two filters, one behind the other. `simplifier` reads the page as our parser did, and writes a small language
of its own: few elements, well nested, none deep. nh3 has the last word, and little to do: a megabyte of
`<ul><li>`, which would take html5ever 80 s, never reaches it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import nh3
from markupsafe import Markup

from webcrawler.parsing import feed, flatten
from webcrawler.web.cached.simplifier import ATTRIBUTES, HIDDEN, TAGS, Marks, Simplified, valid

MAX_CHARACTERS = 2**20  # of a page; the rest is left out
MANY_TAGS = 5_000  # from so many on, counting open tags costs less than libxml2 would take

_HTML = re.compile(r"<html\b([^>]{0,2000})", re.IGNORECASE)  # the parser gives a page one of its own
_SAID = re.compile(r"\s(lang|dir)\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)
_NO_COPIES = frozenset({"noarchive", "nocache", "none"})


class Copy(NamedTuple):
    markup: Markup
    language: str  # of the page; "" where it does not say
    direction: str
    noarchive: bool  # its authors want no copy shown
    cut: bool  # something was left out at the end


def sanitised(html: str, url: str, marks: Marks | None = None) -> Copy:
    """The page as we may show it: never raises, about 30 ms for 100 kB, 0.7 s for the worst of any size.

    Args:
        html: as `parsing.page.markup` gives it.
        url: where it was fetched: links are made absolute.
    """
    simple = Simplified(url, marks)
    feed(flatten(html[:MAX_CHARACTERS], MANY_TAGS), simple)
    clean = nh3.clean(
        simple.html,
        tags=set(TAGS),
        clean_content_tags=set(HIDDEN),
        attributes={name: set(attributes) for name, attributes in ATTRIBUTES.items()},
        url_schemes={"http", "https"},
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
    )
    whole = _HTML.search(html, 0, 4_096)
    said = {name.lower(): value for name, value in _SAID.findall(whole[1])} if whole else {}
    language, direction = (valid(name, said) or simple.said[name] for name in ("lang", "dir"))
    noarchive = any(map(forbids_copies, simple.robots))
    return Copy(Markup(clean), language, direction, noarchive, simple.is_full or len(html) > MAX_CHARACTERS)


def forbids_copies(directives: str) -> bool:
    """Whether directives for robots, of a meta element or X-Robots-Tag, say noarchive, to whomever."""
    return not _NO_COPIES.isdisjoint(re.split(r"[\s,:;]+", directives.lower()))
