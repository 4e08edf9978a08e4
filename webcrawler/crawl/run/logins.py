"""What a crawl shows to sites that want to know who asks: cookies and headers that their owner has given it.

Each goes to its own site only. Nothing of it is stored, logged, or kept in a WARC file.
"""

from __future__ import annotations

import json
import re
import stat
import warnings
from collections.abc import Mapping, Sequence
from http.cookiejar import CookieJar, DefaultCookiePolicy, MozillaCookieJar
from io import StringIO
from pathlib import Path
from typing import Self
from urllib.request import Request

from scrapy.settings import BaseSettings

from webcrawler import urls
from webcrawler.errors import BadInput, BadUrl
from webcrawler.job import read_patterns
from webcrawler.scope import Patterns

WANTED = '{"https://wiki.example.org": {"Authorization": "Bearer …"}}'
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+").fullmatch  # RFC 9110, 5.6.2
_VALUE = re.compile(r"[!-~]([ -~]*[!-~])?").fullmatch
# They belong to the request itself.
_OURS = frozenset(("host", "connection", "content-length", "transfer-encoding", "cookie"))
NO_COOKIES = CookieJar()


class Logins:
    """Cookies and headers, by site.

    Args:
        headers: by server ("https://a.example"): these are sent to no other scheme, host or port.
        indexed: pages that may be found in searches although they were fetched with a login.
        complaints: what is to be said of the files.
    """

    def __init__(
        self,
        cookies: CookieJar = NO_COOKIES,
        headers: Mapping[str, Mapping[str, str]] | None = None,
        indexed: Patterns | None = None,
        complaints: Sequence[str] = (),
    ) -> None:
        self.complaints = complaints
        self._cookies, self._headers, self._indexed = cookies, headers or {}, indexed or Patterns()
        self._hosts = {urls.host_and_port(server)[0] for server in self._headers}
        domains = {cookie.domain for cookie in cookies}
        self._domains = domains | {domain.removesuffix(".local") for domain in domains}

    @classmethod
    def read(cls, settings: BaseSettings) -> Self:
        """Those of LOGIN_COOKIES, LOGIN_HEADERS and LOGIN_INDEXED; none where these are empty.

        Raises:
            BadInput: a file cannot be read, or has something else in it. The message has nothing of it.
        """
        given = {name: settings[name] for name in ("LOGIN_COOKIES", "LOGIN_HEADERS")}
        files = {name: Path(value).expanduser() for name, value in given.items() if value}
        complaints = [
            f"others may read {name}={file}, which is as good as a password: chmod 600 {file}"
            for name, file in files.items()
            if _is_open(file)
        ]
        cookies = _cookies(files["LOGIN_COOKIES"]) if "LOGIN_COOKIES" in files else NO_COOKIES
        if "LOGIN_COOKIES" in files and not len(cookies):
            expired = (
                f"no cookie in LOGIN_COOKIES={files['LOGIN_COOKIES']} is valid any more: export them again"
            )
            complaints.append(expired)
        headers = _headers(files["LOGIN_HEADERS"]) if "LOGIN_HEADERS" in files else {}
        return cls(cookies, headers, Patterns(read_patterns(settings["LOGIN_INDEXED"])), complaints)

    def of(self, url: str) -> dict[str, str]:
        """The headers that are for this resolved URL, by name."""
        own = dict(self._headers.get(urls.server(url), {}))
        if self._domains:
            request = Request(url)
            self._cookies.add_cookie_header(request)
            if cookie := request.get_header("Cookie"):
                own["Cookie"] = cookie
        return own

    def knows(self, host: str) -> bool:
        """May something secret be sent to this host? Then it has to prove by its certificate who it is."""
        dotted = f".{host}"
        return host in self._hosts or any(dotted.endswith(f".{one.lstrip('.')}") for one in self._domains)

    def is_private(self, url: str) -> bool:
        """Is what was fetched here with a login for nobody else? `url` is canonical."""
        return not self._indexed.match(url)


def _cookies(file: Path) -> CookieJar:
    """Cookies in the format of Netscape, cookies.txt, without those that have expired."""
    found = MozillaCookieJar()
    try:
        with warnings.catch_warnings(action="ignore"):  # what they and errors say may show a cookie
            text = f"# Netscape HTTP Cookie File\n{file.read_text('utf-8-sig')}"
            # As `load`, which cannot read a file with a byte order mark, or without that first line.
            found._really_load(StringIO(text), str(file), ignore_discard=True, ignore_expires=True)  # type: ignore[attr-defined]
    except (OSError, ValueError):
        how = "let your browser export the cookies of the site in that format"
        raise BadInput(f"LOGIN_COOKIES={file} is no cookies.txt that can be read: {how}") from None
    # A cookie without a domain of its own is for the host that has set it, and for none below it.
    jar = CookieJar(DefaultCookiePolicy(strict_ns_domain=DefaultCookiePolicy.DomainStrictNonDomain))
    for cookie in found:
        if "." not in cookie.domain:
            cookie.domain += ".local"  # as the library calls such hosts when it compares them
        cookie.expires = max(0, cookie.expires or 0) or None  # 0 or -1: until the browser is closed
        if not cookie.is_expired():
            jar.set_cookie(cookie)
    return jar


def _headers(file: Path) -> dict[str, dict[str, str]]:
    """Headers by server, from JSON."""
    wanted = BadInput(f"LOGIN_HEADERS={file} is not valid: write JSON as {WANTED}")
    try:
        given = json.loads(file.read_bytes())
        found = {_server(url): dict(headers) for url, headers in given.items()}
    except (OSError, ValueError, TypeError, AttributeError, BadUrl):
        raise wanted from None
    for headers in found.values():
        for name, value in headers.items():
            if not (isinstance(value, str) and _NAME(name) and _VALUE(value)) or name.lower() in _OURS:
                raise wanted
    return found


def _server(text: str) -> str:
    """Raises ValueError: it is more than a server."""
    url = urls.canonical(text)
    if urls.split(url)[1] != "/":
        raise ValueError(text)
    return urls.server(url)


def _is_open(file: Path) -> bool:
    """May others read it? One that is missing is told of when it is read."""
    try:
        return bool(file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))
    except OSError:
        return False
