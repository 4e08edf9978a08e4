"""May I fetch this? The Robots Exclusion Protocol, RFC 9309; sections below are its.

Which lines hold for a crawler is decided here; whether a path matches them by Protego, which alone would
also let `User-agent: web` speak to `webcrawler`, and end a group at an unknown line.
"""

from __future__ import annotations

import codecs
import math
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from protego import Protego

MAX_BYTES = 500 * 1024  # 2.5: at least 500 kibibytes are parsed
MAX_LINE = 8 * 2_083 - 1  # characters; what Google's parser keeps of a line
MAX_CRAWL_DELAY = 86_400.0  # seconds; who asks for more than a day means "never", and says so by Disallow

# The field of a line and what parts it from the value; Disallow also as people misspell it, a colon left out.
_FIELD = re.compile(
    r"(?:(?P<agent>user[- ]?agent)|(?P<delay>crawl[- ]delay)|(?P<allow>allow)"
    r"|(?P<disallow>disallow|dissallow|dissalow|disalow|diasllow|disallaw))\s*[:\s]",
    re.IGNORECASE,
)
# 2.2.1 has letters, "_" and "-" only; digits are taken as well, for names such as MJ12bot.
_AGENT = re.compile(r"\*(?=\s|$)|[A-Za-z0-9_-]+")
_COMPATIBLE = re.compile(r"\(compatible;\s*([A-Za-z0-9_-]+)")
# A byte order mark, even half of one, then what the charset of a mark says.
_BROKEN_MARK = re.compile(rb"\xef(?:\xbb\xbf?)?")


@dataclass(slots=True)
class _Group:
    """Consecutive user-agent lines and what follows them; rules are shared by all agents of the group."""

    rules: list[str] = field(default_factory=list)
    delays: list[float] = field(default_factory=list)


# Product token -> its groups, each with the number of delays that stood before the token's own line.
_Groups = dict[str, list[tuple[_Group, int]]]


class Rules:
    """The rules of one robots.txt.

    Memory and time grow with the body alone, however many agents share however many rules: what is compiled
    is compiled at the first question, for the one who asks.
    """

    __slots__ = ("_groups", "_matchers")

    def __init__(self, groups: _Groups) -> None:
        self._groups = groups
        self._matchers: dict[str, Protego] = {}

    @classmethod
    def parse(cls, body: bytes) -> Rules:
        """Read any bytes, whatever they are: lines that are no rules are passed over (2.3.1.5)."""
        return cls(_groups(_decode(body)))

    def allowed(self, url: str, user_agent: str) -> bool:
        """Say whether a resolved URL of this server may be fetched; `/robots.txt` always may (2.2.2)."""
        token = product_token(user_agent)
        if token not in self._matchers:
            rules = (rule for group, _ in self._groups_of(token) for rule in group.rules)
            self._matchers[token] = Protego.parse("\n".join(("User-agent: *", *rules)))
        return self._matchers[token].can_fetch(url, token)

    def crawl_delay(self, user_agent: str) -> float | None:
        """Return the longest pause asked for, 0 to 86,400 seconds, or None. No part of RFC 9309."""
        groups = self._groups_of(product_token(user_agent))
        return max((delay for group, start in groups for delay in group.delays[start:]), default=None)

    def _groups_of(self, token: str) -> list[tuple[_Group, int]]:
        """All groups of that name are one; `*` counts only where there is none (2.2.1)."""
        return self._groups.get(token) or self._groups.get("*", [])


def product_token(user_agent: str) -> str:
    """Return the name by which robots.txt files call a crawler, lower case: "foobot" of "FooBot/1.0 (+…)".

    Source: 2.2.1; browser-like texts, "Mozilla/5.0 (compatible; FooBot/1.0)", have it behind "compatible;".
    """
    found = _COMPATIBLE.search(user_agent)
    if found:
        return found[1].lower()
    found = _AGENT.match(user_agent.strip())
    return found[0].lower() if found else ""


def verdict(status: int | None, body: bytes) -> Rules | None:
    """Return the rules that an answer to /robots.txt stands for; None when nothing may be fetched for now.

    Args:
        status: of the last answer, after at most five redirects; None when there was no answer.

    Source: 2.3.1.1 (2xx: its rules), 2.3.1.2 and 2.3.1.3 (too many redirects and 4xx: no rules), 2.3.1.4
    (5xx, no answer: complete disallow, to be asked again). 429 is no "unavailable" but a server that cannot
    answer now, as Google reads it.
    """
    if status is None or status == 429:
        return None
    if 200 <= status < 300:
        return Rules.parse(body)
    return ALLOW_ALL if 300 <= status < 500 else None


def _decode(body: bytes) -> str:
    whole_lines = len(body) <= MAX_BYTES
    body = body[:MAX_BYTES]
    if not whole_lines:  # half a line could be "Disallow: /"
        body = body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1] or body
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", "replace")
    mark = _BROKEN_MARK.match(body)
    text = body[mark.end() if mark else 0 :].decode("utf-8", "replace")
    return text.replace("\0", "")  # UTF-16 without a mark reads as ASCII then


def _groups(text: str) -> _Groups:
    groups: _Groups = defaultdict(list)
    group = _Group()
    for name, value in _records(text):
        if name == "agent":
            if group.rules:
                group = _Group()
            named = groups[product_token(value)]
            if not named or named[-1][0] is not group:
                named.append((group, len(group.delays)))
        elif name == "delay":
            group.delays.extend(_delay(value))
        else:
            group.rules.append(f"{name}: {value}")
    return dict(groups)


def _records(text: str) -> Iterator[tuple[str, str]]:
    """Yield "agent", "delay", "allow" or "disallow" with the value; other lines part nothing (2.2.4)."""
    for line in text.splitlines():
        line = line.strip()[:MAX_LINE].partition("#")[0]
        found = _FIELD.match(line)
        if found:
            yield found.lastgroup or "", line[found.end() :].strip()


def _delay(value: str) -> list[float]:
    try:
        delay = float(value)
    except ValueError:
        return []
    return [min(delay, MAX_CRAWL_DELAY)] if math.isfinite(delay) and delay >= 0 else []


ALLOW_ALL = Rules.parse(b"")
