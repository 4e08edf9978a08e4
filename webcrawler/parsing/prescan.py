"""Which encodings does the page name itself?

Source: HTML Standard, 13.2.3.2, "prescan a byte stream to determine its encoding" and "get an XML encoding".
w3lib's own prescan departs from it in a fifth of the html5lib encoding cases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_HEAD_BYTES = 16_384  # the standard names 1,024 and lets the parser correct itself later; ours does not

_MARKUP = re.compile(
    r"""<!--(?:(?<=<!--)-?>|.*?(?:-->|\Z))     # a comment, to its end
    | <(?P<tag>/?[a-z][^\s>]*)                 # a tag, up to its attributes
    | <[!/?][^>]*>?                            # other declarations
    """,
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_ATTRIBUTE = re.compile(
    r"""[\s/]*(?P<name>[^\s/>][^\s/>=]*)
    (?:\s*=\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^\s>"'][^\s>]*)|(?P<none>(?=>))))?
    (?!\s*=)""",
    re.VERBOSE,
)
_CHARSET = re.compile(r"""charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))""", re.IGNORECASE)
_IS_LABEL = re.compile(r"[a-z0-9_.:-]+").fullmatch
_XML = re.compile(r"""<\?xml\b[^>]*?\bencoding\s*=\s*(?:"([^"\x00-\x20]+)"|'([^'\x00-\x20]+)')""")


def declared_labels(body: bytes) -> Iterator[str]:
    """The encoding labels of a page, lower case, meta elements first; also such that no standard knows."""
    head = body[:_HEAD_BYTES].decode("latin-1")
    if "charset" not in (lower := head.lower()) and "encoding" not in lower:
        return  # saves up to 5 ms
    at = 0
    while found := _MARKUP.search(head, at):
        at = found.end()
        if tag := found["tag"]:
            attributes, at = _attributes(head, at)
            label = _label(attributes).strip().lower() if tag.lower() == "meta" else ""
            if _IS_LABEL(label):
                yield label
    if declaration := _XML.match(head):
        yield (declaration[1] or declaration[2]).lower()


def _attributes(head: str, at: int) -> tuple[dict[str, str], int]:
    attributes: dict[str, str] = {}
    while found := _ATTRIBUTE.match(head, at):
        value = found["double"] or found["single"] or found["bare"] or ""
        attributes.setdefault(found["name"].lower(), value)
        at = found.end()
    return attributes, at


def _label(attributes: dict[str, str]) -> str:
    if "charset" in attributes:
        return attributes["charset"]
    pragma = attributes.get("http-equiv", "").lower() == "content-type"
    found = _CHARSET.search(attributes.get("content", "")) if pragma else None
    return next(filter(None, found.groups()), "") if found else ""
