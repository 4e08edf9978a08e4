"""What the docweb server answers, from its files and web.json: nginx' rules, written anew.

`root`, `index index.html`, `rewrite … permanent` in order, one 301 server per alias, 502 for the rest.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

HTML = (".html", ".htm", ".shtml")  # nginx' mime.types for text/html
LOCATION_SAFE = "/:@!$&'()*+,;=~-._"


class Answer(NamedTuple):
    status: int
    location: str = ""
    file: Path | None = None

    @property
    def is_html(self) -> bool:
        return self.file is not None and self.file.name.endswith(HTML)


class Server:
    """All hosts behind the proxy."""

    def __init__(self, folder: Path) -> None:
        web = json.loads((folder / "web.json").read_text("utf-8"))
        self.folder, self.aliases = folder, web["aliases"]
        self._rewrites = {
            host: [(re.compile(pattern), target) for pattern, target in facts["redirects"]]
            for host, facts in web["hosts"].items()
        }
        self.get = cache(self._get)
        self._robots = cache(self._robots_of)

    def _get(self, url: str) -> Answer:
        """One request, no redirect followed."""
        parts = urlsplit(url)
        host, query = parts.hostname or "", f"?{parts.query}" if parts.query else ""
        if host in self.aliases:
            return Answer(301, f"http://{self.aliases[host]}{parts.path}{query}")
        if host not in self._rewrites:
            return Answer(502)
        path = re.sub("/+", "/", unquote(parts.path)) or "/"
        for file_path in (path, path + "index.html") if path.endswith("/") else (path,):
            if target := self._rewritten(host, file_path):
                return Answer(301, f"http://{host}{quote(target, LOCATION_SAFE)}{query}")
        return self._file(host, path, query)

    def _rewritten(self, host: str, path: str) -> str:
        for pattern, target in self._rewrites[host]:
            if match := pattern.search(path):
                return re.sub(r"\$(\d)", lambda group: match[int(group[1])] or "", target)
        return ""

    def _file(self, host: str, path: str, query: str) -> Answer:
        place = Path(f"{self.folder}/{host}{path}")
        if path.endswith("/"):
            if (place / "index.html").is_file():
                return Answer(200, file=place / "index.html")
            return Answer(403 if place.is_dir() else 404)
        if place.is_dir():
            return Answer(301, f"http://{host}{quote(path, LOCATION_SAFE)}/{query}")
        return Answer(200, file=place) if place.is_file() else Answer(404)

    def allowed(self, url: str) -> bool | None:
        """By its host's robots.txt, the longest rule wins (RFC 9309, 2.2.2); None: there is no answer."""
        parts = urlsplit(url)
        rules = self._robots(f"http://{parts.netloc}")
        if rules is None:
            return None
        path = unquote(parts.path) + (f"?{parts.query}" if parts.query else "")
        matching = [(len(rule), allow) for rule, allow in rules if _matches(rule, path)]
        return max(matching, default=(0, True))[1]

    def _robots_of(self, server: str) -> list[tuple[str, bool]] | None:
        answer = self.get(f"{server}/robots.txt")
        for _ in range(5):
            if answer.location:
                answer = self.get(answer.location)
        if answer.status >= 500:
            return None
        return _rules(answer.file.read_text("utf-8")) if answer.file else []


def _rules(text: str) -> list[tuple[str, bool]]:
    """The (path, is allowed) of the group for all crawlers; docweb's files hold one agent line a group."""
    rules, ours = [], False
    for line in text.splitlines():
        name, _, value = (part.strip() for part in line.partition(":"))
        if name.lower() == "user-agent":
            ours = value == "*"
        elif ours and name.lower() in ("allow", "disallow") and value:
            rules.append((unquote(value), name.lower() == "allow"))
    return rules


def _matches(rule: str, path: str) -> bool:
    pattern = re.escape(rule).replace(r"\*", ".*")
    return re.match(pattern.removesuffix(r"\$") + ("$" if rule.endswith("$") else ""), path) is not None
