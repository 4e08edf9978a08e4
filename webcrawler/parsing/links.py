"""Where do the links of a page lead?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from webcrawler.parsing.reader import Outlink
from webcrawler.parsing.text import plain
from webcrawler.records import Link
from webcrawler.urls import Target, UnfetchableUrl, outlink, resolve

ANCHOR_CHARACTERS = 500
CONTEXT_WORDS = 10  # on either side
_CONTEXT_CHARACTERS = 200  # in which to look for them: bounds the work per link

# What the permalink of a heading shows; U+F0C1 is the chain of an icon font.
_SIGNS = frozenset("¶§#◆🔗⚓\uf0c1 \n")


@dataclass(slots=True)
class _Draft:
    """One target, while the links to it are collected."""

    target: Target
    first: Outlink
    nofollow: bool = True
    anchors: dict[str, None] = field(default_factory=dict)  # a set that keeps its order


def base_url(href: str, url: str) -> str:
    """Return what relative links are relative to. Source: HTML Standard, 4.2.3, "set the frozen base URL"."""
    try:
        return resolve(href, url) if href else url
    except UnfetchableUrl as bad:
        foreign = bad.reason == "scheme" and bad.scheme not in ("data", "javascript")
        return href if foreign else url  # what is relative to ftp: is ftp, and refused link by link


def canonical_url(href: str, base: str) -> str:
    """Return the canonical URL that a page names as its own (RFC 6596), or "" where it is none."""
    if not (href := href.partition("#")[0].strip()):
        return ""
    target = _target(href, base, frozenset(("http", "https")))
    return "" if isinstance(target, str) else target.url


def merge(
    outlinks: Iterable[Outlink], text: str, base: str, protocols: Collection[str]
) -> tuple[tuple[Link, ...], Counter[str]]:
    """Return one link for each target, in the order of the page, and a count of what is not one, by reason.

    Distinct anchors are joined; a target is nofollow only where every link to it is.
    """
    drafts: dict[int, _Draft] = {}
    refused: Counter[str] = Counter()
    targets: dict[str, Target | str] = {}  # by href, as far as read; a text is the reason of a refusal
    protocols = frozenset(protocols)
    for found in outlinks:
        href = found.href.partition("#")[0]
        if (target := targets.get(href)) is None:
            target = targets[href] = _target(href, base, protocols)
        if isinstance(target, str):
            refused[target] += 1
            continue
        if (draft := drafts.get(target.id)) is None:
            draft = drafts[target.id] = _Draft(target, found)
        draft.nofollow &= found.nofollow
        if anchor := _anchor(found, text):
            draft.anchors[anchor] = None
    return tuple(_link(draft, text) for draft in drafts.values()), refused


def permalinks(links: Sequence[Outlink], text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of links within a page that show nothing but a sign."""
    for link in links:
        start, end = link.start, link.end
        if start < end <= start + 4 and "#" in link.href and _SIGNS.issuperset(text[start:end]):
            yield start, end


def joined(links: Iterable[Link]) -> tuple[Link, ...]:
    """One link for each target again, after targets have become the same: a mirror and its original."""
    found: dict[int, Link] = {}
    for link in links:
        if first := found.get(link.id):
            anchor = " · ".join(dict.fromkeys(filter(None, (first.anchor, link.anchor))))
            link = first._replace(anchor=anchor[:ANCHOR_CHARACTERS].rstrip(), rel=first.rel and link.rel)
        found[link.id] = link
    return tuple(found.values())


def _target(href: str, base: str, protocols: Collection[str]) -> Target | str:
    try:
        return outlink(href, base, protocols)
    except UnfetchableUrl as bad:
        return bad.reason


def _link(draft: _Draft, text: str) -> Link:
    anchor = " · ".join(draft.anchors)[:ANCHOR_CHARACTERS].rstrip()
    rel = "nofollow" if draft.nofollow else ""
    url, id, spelling, refused = draft.target
    start, end = draft.first.start, draft.first.end
    before = text[max(0, start - _CONTEXT_CHARACTERS) : start].split()[-CONTEXT_WORDS:]
    after = text[end : end + _CONTEXT_CHARACTERS].split()[:CONTEXT_WORDS]
    return Link(url, id, spelling, anchor, " ".join(before + after), rel, refused)


def _anchor(found: Outlink, text: str) -> str:
    parts: list[str] = []
    at = found.start
    for offset, label in found.labels:
        parts += text[at:offset], label
        at = offset
    parts.append(text[at : found.end])
    return plain(" ".join(parts))[:ANCHOR_CHARACTERS].rstrip()
