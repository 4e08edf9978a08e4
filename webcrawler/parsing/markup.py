"""From bytes to the events of an HTML parser."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from typing import Any

from lxml import etree

from webcrawler.parsing.encoding import decode

MAX_DEPTH = 1_000
_FEW_TAGS = 50_000  # a page with fewer costs libxml2 1.5 s at worst, and flattening is not free

_TAG_NAME = re.compile(r"<(/?)([a-z][a-z0-9]*)", re.IGNORECASE)
# Void elements, raw text (ends by itself), and what has a meaning of its own and is closed by its own kind.
_NEVER_DEEP = """area base br col embed frame hr img input link meta param source track wbr
    a body head html iframe noembed noframes plaintext script style textarea title xmp"""
_KEPT = frozenset(_NEVER_DEEP.split())

# In XHTML these may be empty elements; read as HTML they would swallow the rest of the page.
_EMPTY_XHTML = re.compile(r"<(script|style|title|textarea|iframe|noscript|a)\b([^<>]*)/>", re.IGNORECASE)
# The slash at the end of a start tag means nothing in HTML: libxml2 would end the link or the heading there.
_LINK_OR_HEADING = re.compile(r"""<(?:a|h[1-6])(?:[\s/][^<>]*(?<=[\s"']))?\Z""", re.IGNORECASE)
_BREAK_ENDS = re.compile(r"</br(?=[\s/>])", re.IGNORECASE)
# libxml2 ends a link right before a table, unless an element stands between the two.
_LINK_AROUND_TABLE = re.compile(
    r"<a[\s/][^<>]*+>[^<]*+(?:<(?!/?a[\s>]|table|fieldset)[^<]*+)*(?=<(?:table|fieldset)\b)", re.IGNORECASE
)


def markup(body: bytes, content_type: str = "", encoding: str = "") -> str:
    """Return the characters of a document as they are parsed: as HTML, and not nested too deep.

    Args:
        encoding: what `encoding_of` returned, where it was asked already.
    """
    html = decode(body, content_type, encoding)
    is_xhtml = "xhtml" in content_type.lower()
    html = _EMPTY_XHTML.sub(r"<\1\2></\1>", html) if is_xhtml else _without_slashes(html)
    lower = html.lower()
    if "</br" in lower:
        html = _BREAK_ENDS.sub("<br", html)
    if "<table" in lower or "<fieldset" in lower:
        html = _LINK_AROUND_TABLE.sub(r"\g<0><span>", html)
    return flatten(html)


def _without_slashes(html: str) -> str:
    *tags, rest = html.split("/>")
    ended = (f"{tag}>" if _LINK_OR_HEADING.match(tag, tag.rfind("<")) else f"{tag}/>" for tag in tags)
    return "".join(ended) + rest


def flatten(html: str, few_tags: int = _FEW_TAGS) -> str:
    """Return a page that reads the same, with no more than about `MAX_DEPTH` elements open at a time.

    For every end tag libxml2 searches all open elements: quadratic where many are open and none fits. So a
    start tag that is too deep becomes `<br>`, and an end tag without a start becomes a comment. Only names
    are changed, so that comments, scripts and attributes end where they did. A page with fewer than
    `few_tags` tags is returned unchanged.
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


def feed(html: str, target: Any) -> None:
    """Call the target for each element and text of what `markup` returned; the elements nest properly.

    Args:
        target: lxml calls its start(tag, attributes), end(tag), data(chunk) and close().
    """
    parser = etree.HTMLParser(target=target, encoding="utf-8", huge_tree=True)
    with contextlib.suppress(etree.LxmlError):
        parser.feed(b"<html>" + html.encode("utf-8", "replace"))
        parser.close()


def tree(html: str) -> Any:
    """Return the root element of what `markup` returned; what is nested very deep is missing in it."""
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    with contextlib.suppress(etree.LxmlError):
        if (root := etree.fromstring(b"<html>" + html.encode("utf-8", "replace"), parser)) is not None:
            return root
    return etree.Element("html")
