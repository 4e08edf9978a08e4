"""How deep may elements stand in each other?"""

from __future__ import annotations

import re
from collections import Counter

MAX_DEPTH = 1_000
_FEW_TAGS = 50_000  # a page with fewer costs libxml2 1.5 s at worst, and flattening is not free

_TAG_NAME = re.compile(r"<(/?)([a-z][a-z0-9]*)", re.IGNORECASE)
# Void, raw text (ends by itself), or of a meaning that must not get lost and closed by its own kind.
_NEVER_DEEP = """area base br col embed frame hr img input link meta param source track wbr
    a body head html iframe noembed noframes plaintext script style textarea title xmp"""
_KEPT = frozenset(_NEVER_DEEP.split())


def flatten(html: str, few_tags: int = _FEW_TAGS) -> str:
    """The same page for a reader, with no more than about `MAX_DEPTH` elements open at a time.

    For every end tag libxml2 searches all open elements: quadratic where many are open and none fits. So
    a start tag that lies too deep becomes a `<br>`, an end tag of nothing a comment; names only, so that
    comments, scripts and attributes end where they ended. A page with less than `few_tags` stays as it is.
    """
    if html.count("<") < few_tags:
        return html
    opened: Counter[str] = Counter()
    depth = 0

    def rename(tag: re.Match[str]) -> str:
        nonlocal depth
        slash, name = tag[1], tag[2].lower()
        if name in _KEPT:
            return tag[0]
        if slash:
            if not opened[name]:
                return f"<!{name}"
            opened[name] -= 1
            depth -= 1
            return tag[0]
        if depth >= MAX_DEPTH:
            return "<br"
        opened[name] += 1
        depth += 1
        return tag[0]

    return _TAG_NAME.sub(rename, html)
