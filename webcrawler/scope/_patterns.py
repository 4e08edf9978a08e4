"""Patterns of URLs: what people write, and which canonical URLs it means."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property

from webcrawler import urls
from webcrawler.errors import BadInput, BadUrl

ALL = "*"
_STAR = "zq7star7qz"  # in place of `*` while a pattern is made canonical: may stand in a host, too


def expand(text: str) -> tuple[str, ...]:
    """Return the canonical patterns that a text means.

    `*` stands for any characters, in the host for any but `/`. Without `*` it is one URL, without a path a
    whole server, without a scheme http and https. What begins with `*`, but for a host (`*.example.org`), is
    compared with the whole URL as it is: `*/print/*`; `*` alone is every URL.

    Raises:
        BadInput: it is no URL, or a `*` stands in a part that canonical URLs lack: a fragment, a session id.
    """
    text = text.strip()
    if text.startswith("*") and not text.startswith("*."):
        return (text,)
    written = [text] if "://" in text else [f"http://{text}", f"https://{text}"]
    return tuple(_canonical(one, text) for one in written)


def _canonical(pattern: str, text: str) -> str:
    marked = pattern.replace("*", _STAR)
    try:
        url = urls.canonical(marked)
        if ";" in urls.server(url):  # which may stand in a host, and is typed in place of a comma
            raise BadUrl(url)
    except BadUrl:
        raise BadInput(f"{text[:200]!r} is not a pattern of URLs: write https://example.org/docs/*") from None
    if url.count(_STAR) != pattern.count("*"):
        raise BadInput(
            f"{text[:200]!r} has a * in a part that is left out of URLs, as fragments and session ids are"
        )
    is_server = not set(marked.partition("://")[2]) & set("/?#")
    return url.replace(_STAR, "*") + ("*" if is_server else "")


class Patterns:
    """Canonical patterns, compiled.

    About 1 µs for a URL among any number of patterns without `*`, or with one at the end. Of the others,
    those with its server or with a `*` in the host are tried one by one: 0.2 µs each.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.texts = tuple(dict.fromkeys(texts))

    def match(self, url: str) -> bool:
        """Tell whether one of the patterns means this canonical URL.

        A pattern in place of the URL is matched only if all its URLs are.
        """
        exact, prefixes, others = self._compiled
        if url in exact:
            return True
        place = bisect_right(
            prefixes, url
        )  # what lies between a prefix and its URL begins with the prefix, too
        if place and url.startswith(prefixes[place - 1]):
            return True
        return bool(others) and any(others[one](url) for one in {"", urls.server(url)} & others.keys())

    @cached_property
    def _compiled(self) -> tuple[set[str], list[str], dict[str, Callable[[str], object]]]:
        exact: set[str] = set()
        prefixes: list[str] = []
        others = defaultdict[str, list[str]](list)
        for text in self.texts:
            if "*" not in text:
                exact.add(text)
            elif text == ALL or "*" not in text[:-1]:
                prefixes.append(text[:-1])
            elif text.startswith("*"):
                others[""].append(_glob(text, ".*"))
            else:
                server = urls.server(text)
                others["" if "*" in server else server].append(_regex(text))
        shortest: list[str] = []  # no prefix of another one is needed beside it
        for prefix in sorted(prefixes):
            if not (shortest and prefix.startswith(shortest[-1])):
                shortest.append(prefix)
        compiled = {server: re.compile("|".join(some), re.DOTALL) for server, some in others.items()}
        return exact, shortest, {server: regex.fullmatch for server, regex in compiled.items()}


def _regex(pattern: str) -> str:
    server = urls.server(pattern)
    return _glob(server, "[^/]*") + _glob(pattern[len(server) :], ".*")


def _glob(pattern: str, star: str) -> str:
    """Each part but the last is taken where it comes first, for good: no URL takes long."""
    first, *rest = map(re.escape, pattern.split("*"))
    return first + "".join(f"(?>{star}?{part})" for part in rest[:-1]) + (star + rest[-1] if rest else "")
