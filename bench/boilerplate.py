"""Does an extract hold navigation or boilerplate? Told from the page's HTML, not as the parser tells it.

Boilerplate is what stands in `nav`, `footer`, `header` and `aside` outside of `main` and `article`, and in
elements with such a role, class or id, if it is not half of the page; and ¶, breadcrumbs, "previous | next",
lines on copyright.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import html
from lxml.etree import ParserError

RUN = 4  # words in a row that stand there, and nowhere else on the page

ELEMENTS = ("nav", "footer", "header", "aside")
CONTENT = ("main", "article")
ROLES = ("navigation", "banner", "contentinfo", "search", "complementary")
NAMES = {
    "menu",
    "navfooter",
    "navheader",
    "related",
    "searchbox",
    "submenu",
    "tableofcontents",
    "toc",
    "topbar",
}
PARTS = {"breadcrumb", "breadcrumbs", "footer", "nav", "navbar", "navigation", "sidebar", "sphinxsidebar"}

_MARKS = re.compile(
    r"¶|©|\w\s+»\s+\w|copyright\s+(\(c\)\s*)?\d{4}|all rights reserved|created using sphinx"
    r"|skip to (main )?content|previous\s*\|\s*next|\bprev\s+up\s+next\b|\blast updated\b",
    re.IGNORECASE,
)
_WORDS = re.compile(r"\w+")


def boilerplate(extract: str, page: bytes) -> str:
    """The first words of an extract that are boilerplate of its page; "" where there are none."""
    if mark := _MARKS.search(extract):
        return mark[0]
    around, own = _texts(page)
    for part in re.split(r"…| · ", extract):
        words = _words(part)
        for start in range(max(1, len(words) - RUN + 1)):
            run = f" {' '.join(words[start : start + RUN])} "
            if len(words) > 1 and run in around and run not in own:
                return run.strip()
    return ""


def _texts(page: bytes) -> tuple[str, str]:
    """The words of the boilerplate and those of the rest."""
    try:
        body = html.document_fromstring(page).find("body")
    except ParserError:
        body = None
    if body is None:
        return "", ""
    around, half = list[str](), sum(map(len, _itertext(body))) / 2
    for element in [one for one in body.iterdescendants() if isinstance(one.tag, str) and _is_named_so(one)]:
        texts = [*_itertext(element)]
        if sum(map(len, texts)) < half:  # an inner one that was dropped with an outer one is told twice
            around += texts
            element.drop_tree()
    return _spaced(around), _spaced(_itertext(body))


def _is_named_so(element: html.HtmlElement) -> bool:
    if element.tag in ELEMENTS or element.get("role") in ROLES:
        return not any(one.tag in CONTENT for one in element.iterancestors())
    names = f"{element.get('class', '')} {element.get('id', '')}".lower()
    return bool(NAMES & set(names.split()) or PARTS & set(re.split(r"[\s_-]+", names)))


def _itertext(element: html.HtmlElement) -> Iterator[str]:
    for one in element.iter():
        if isinstance(one.tag, str) and one.tag not in ("script", "style"):
            yield one.text or ""
        if one is not element:
            yield one.tail or ""


def _spaced(texts: Iterator[str] | list[str]) -> str:
    return f" {' '.join(_words(' '.join(texts)))} "


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(text)]
