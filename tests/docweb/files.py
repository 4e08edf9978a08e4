"""What a file of docweb says: its title and where it links to, by regular expressions.

No HTML parser, so that the project's has something else to agree with; good for docweb, not for the web.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from string import punctuation
from urllib.parse import quote, urljoin

from webcrawler.errors import BadUrl
from webcrawler.urls import canonical

# What holds no tags, then the tags that link or say how to. A quoted value may hold ">"; a quote opens one
# only behind "=" (HTML Standard, 13.2.5.32: elsewhere it is a character of a name).
TOKEN = re.compile(
    r"<!--.*?-->|<(script|style|textarea|title)\b[^>]*>(.*?)</\1\s*>"
    r"|<(a|area|frame|iframe|meta|base)(?=[\s/>])((?>=\s*\"[^\"]*\"|=\s*'[^']*'|[^>])*)>",
    re.IGNORECASE | re.DOTALL,
)
ATTRIBUTE = re.compile(r"([^\s=/>\"']+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))")
REFRESH = re.compile(r"\s*[\d.]+\s*[;,]\s*(?:url\s*=\s*)?['\"]?([^'\"]+)", re.IGNORECASE)
CHARSET = re.compile(rb"charset\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)
PLACES = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}

Tag = tuple[str, dict[str, str]]


@dataclass
class File:
    """One HTML file, fetched from `url`."""

    content: bytes
    url: str

    @cached_property
    def text(self) -> str:
        declared = CHARSET.search(self.content[:4096])
        return self.content.decode(declared[1].decode() if declared else "cp1252", "replace")

    @cached_property
    def title(self) -> str:
        titles = (token[2] for token in TOKEN.finditer(self.text) if (token[1] or "").lower() == "title")
        return " ".join(unescape(next(titles, "")).split())

    @cached_property
    def robots(self) -> set[str]:
        said = [
            tag.get("content", "")
            for name, tag in self._tags
            if name == "meta" and _is(tag, "name", "robots")
        ]
        return {word.strip().lower() for content in said for word in content.split(",")}

    @cached_property
    def links(self) -> dict[str, tuple[str, bool]]:
        """Each target once, in the order of the file: canonical URL -> (as spelled first, to be followed)."""
        found: dict[str, tuple[str, bool]] = {}
        for href, follow in dict.fromkeys(self._hrefs()):
            url = resolved(self._base, href)
            if url:
                name = canonical(url)
                spelling, followed = found.get(name, (url, False))
                found[name] = spelling, followed or (follow and "nofollow" not in self.robots)
        return found

    @cached_property
    def _tags(self) -> list[Tag]:
        return [(token[3].lower(), _attributes(token[4])) for token in TOKEN.finditer(self.text) if token[3]]

    @cached_property
    def _base(self) -> str:
        bases = (tag["href"] for name, tag in self._tags if name == "base" and "href" in tag)
        return urljoin(self.url, next(bases, ""))

    def _hrefs(self) -> Iterator[tuple[str, bool]]:
        for name, tag in self._tags:
            refresh = _is(tag, "http-equiv", "refresh") and REFRESH.match(tag.get("content", ""))
            href = refresh[1] if name == "meta" and refresh else tag.get(PLACES.get(name, ""))
            if href is not None:
                yield href.partition("#")[0], "nofollow" not in tag.get("rel", "").lower().split()


def resolved(base: str, href: str) -> str:
    """The absolute URL; "" for what is malformed, or neither http nor https."""
    href = re.sub(r"[\t\r\n]", "", href).strip()
    path, mark, query = href.partition("?")
    try:
        url = quote(urljoin(base, path.replace("\\", "/") + mark + query), punctuation)
        canonical(url)
    except (ValueError, BadUrl):
        return ""
    return url


def _attributes(text: str) -> dict[str, str]:
    """The first of a name counts."""
    found: dict[str, str] = {}
    for name, *values in ATTRIBUTE.findall(text):
        found.setdefault(name.lower(), unescape("".join(values)))
    return found


def _is(tag: dict[str, str], name: str, value: str) -> bool:
    return tag.get(name, "").strip().lower() == value
