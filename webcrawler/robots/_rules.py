"""From the bytes of a robots.txt, or another answer, to what holds for one crawler."""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from webcrawler import urls
from webcrawler.robots._matcher import Matcher

MAX_BYTES = 500 * 1024  # 2.5: at least 500 kibibytes are parsed
MAX_LINE = 8 * 2_083 - 1  # characters; what Google's parser keeps of a line
COSTLY = 1_000  # parts of patterns; about half a millisecond a question
MAX_CRAWL_DELAY = 86_400.0  # seconds; a longer delay would mean "never", for which there is Disallow

# The name of a field and what separates it from the value. People misspell Disallow, and leave the colon out.
_FIELD = re.compile(
    r"(?:(?P<agent>user[- ]?agent)|(?P<delay>crawl[- ]delay)|(?P<sitemap>site-?maps?)|(?P<allow>allow)"
    r"|(?P<disallow>disallow|dissallow|dissalow|disalow|diasllow|disallaw))\s*[:\s]",
    re.IGNORECASE,
)
# 2.2.1 has letters, "_" and "-" only; digits are taken as well, for names such as MJ12bot.
_AGENT = re.compile(r"\*(?=\s|$)|[A-Za-z0-9_-]+")
_COMPATIBLE = re.compile(r"\(compatible;\s*([A-Za-z0-9_-]+)")
# A byte order mark, even half of one, then what the charset of a mark says.
_BROKEN_MARK = re.compile(rb"\xef(?:\xbb\xbf?)?")
_LINE_END = re.compile(r"\r\n?|\n")  # 2.2, NL; str.splitlines knows more


@dataclass(eq=False, slots=True)
class Group:
    """All that a robots.txt says to one crawler."""

    is_named: bool = False
    rules: list[tuple[bool, str]] = field(default_factory=list)  # (allow?, pattern)
    delays: list[float] = field(default_factory=list)  # seconds


class Rules:
    """The rules of one robots.txt for one crawler; those for others are not kept.

    Attributes:
        crawl_delay: the longest pause asked for, 0 to 86,400 seconds, or None. No part of RFC 9309.
        sitemaps: what `Sitemap` lines name, as written.
    """

    __slots__ = ("_matcher", "crawl_delay", "sitemaps")

    def __init__(self, body: bytes, user_agent: str) -> None:
        """Read any bytes, whatever they are; up to 0.3 s for 500 KiB of rules."""
        group, self.sitemaps = read(body, user_agent)
        self.crawl_delay: float | None = max(group.delays, default=None)
        self._matcher = Matcher(group.rules)

    def allowed(self, url: str) -> bool:
        """Say whether a resolved URL of this server may be fetched; `/robots.txt` always may (2.2.2)."""
        path = path_of(url)
        return path.partition("?")[0] == "/robots.txt" or self._matcher.allows(path)

    @property
    def is_costly(self) -> bool:
        """Say whether a question may take too long for an event loop: up to about 0.1 s."""
        return self._matcher.cost > COSTLY

    @property
    def size(self) -> int:
        """How much of it is kept in memory, in rules."""
        return self._matcher.size + len(self.sitemaps)


def verdict(status: int | None, body: bytes, user_agent: str) -> Rules | None:
    """Return the rules that an answer to /robots.txt stands for; None when nothing may be fetched for now.

    Args:
        status: of the last answer, after at most five redirects; None when there was no answer.

    Source: 2.3.1.1 (2xx: its rules), 2.3.1.2 and 2.3.1.3 (too many redirects and 4xx: no rules), 2.3.1.4
    (5xx, no answer: complete disallow, to be asked again). Ours: 429 is a server that cannot answer now, as
    Google reads it; 206 is a part of the rules, and nobody knows what the others forbid.
    """
    if status in (None, 206, 429):
        return None
    if 200 <= status < 300:
        return Rules(body, user_agent)
    return ALLOW_ALL if 300 <= status < 500 else None


def deciding_line(body: bytes, user_agent: str, url: str) -> str:
    """Return the line of a robots.txt that decides on a resolved URL, as "Allow: /"; "" where none does.

    Compares each rule with the path, so it is not for crawls.
    """
    path, (group, _) = path_of(url), read(body, user_agent)
    decision = Matcher(group.rules).decision(path)
    for allow, pattern in group.rules if decision.octets else ():
        if Matcher([(allow, pattern)]).decision(path) == decision:
            return f"{'Allow' if allow else 'Disallow'}: {pattern}"
    return ""


def robots_url(server: str) -> str:
    """Return the URL of a server's robots.txt: 2.3 has it for HTTP and FTP, Gopher as an item of text."""
    return f"{server}/0/robots.txt" if server.startswith("gopher:") else f"{server}/robots.txt"


def path_of(url: str) -> str:
    """Return what rules are compared with: the path and query of a resolved URL, of Gopher the selector."""
    if url.startswith("gopher:"):
        return "/" + urls.gopher_item(url)[1].removeprefix("/")
    return urls.split(url)[1]


def product_token(user_agent: str) -> str:
    """Return the name by which robots.txt files call a crawler, lower case: "foobot" of "FooBot/1.0 (+…)".

    Source: 2.2.1; browser-like texts, "Mozilla/5.0 (compatible; FooBot/1.0)", have it behind "compatible;".
    """
    found = _COMPATIBLE.search(user_agent)
    if found:
        return found[1].lower()
    found = _AGENT.match(user_agent.strip())
    return found[0].lower() if found else ""


def read(body: bytes, user_agent: str) -> tuple[Group, tuple[str, ...]]:
    """Return the group that speaks to a crawler, and the sitemaps, which are named to all (2.2.4).

    Lines that are no rules are passed over (2.3.1.5). Groups of one name are one; `*` counts only where no
    group has the name (2.2.1). Crawl-delay is not part of the RFC and does not end a group of rules; it is
    for the User-agent lines above it, back to the rule or Crawl-delay that stands before them.
    """
    named, default = Group(), Group()
    groups = {"*": default, product_token(user_agent) or None: named}
    ruled: list[Group] = []  # to which an Allow or Disallow speaks
    delayed: list[Group] = []  # to which a Crawl-delay speaks
    sitemaps: list[str] = []
    before = "agent"  # the last line that was no sitemap
    has_rules = False  # since the group began
    for name, value in records(lines(decode(body))):
        if name == "sitemap":
            sitemaps.append(value)
            continue
        if name == "agent":
            if before != "agent":
                delayed = []
            if has_rules:
                ruled, has_rules = [], False
            if group := groups.get(product_token(value)):
                group.is_named = True
                ruled += [group] if group not in ruled else []
                delayed += [group] if group not in delayed else []
        elif name == "delay":
            for group in delayed:
                group.delays.extend(_delay(value))
        else:
            has_rules = True
            for group in ruled:
                group.rules.append((name == "allow", value))
        before = name
    return (named if named.is_named else default), tuple(sitemaps)


def decode(body: bytes) -> str:
    """Return the text of the first MAX_BYTES, up to the last whole line."""
    whole_lines = len(body) <= MAX_BYTES
    body = body[:MAX_BYTES]
    if not whole_lines:  # half a line could be "Disallow: /"
        body = body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1] or body
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", "replace")
    mark = _BROKEN_MARK.match(body)
    text = body[mark.end() if mark else 0 :].decode("utf-8", "replace")
    return text.replace("\0", "")  # UTF-16 without a mark reads as ASCII then


def lines(text: str) -> list[str]:
    return _LINE_END.split(text)


def records(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield "agent", "allow", "disallow", "delay" or "sitemap" with its value; other lines are skipped."""
    for line in lines:
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


ALLOW_ALL = Rules(b"", "")
