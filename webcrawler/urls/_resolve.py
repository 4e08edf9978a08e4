"""From what is written to what is fetched, by the WHATWG URL standard.

The standard reads Gopher's URLs (RFC 4266) as those of no protocol it knows; here they are read as FTP's are.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from ada_url import join_url, normalize_url, replace_url

from webcrawler.errors import BadUrl

MAX_HREF = 65_536  # longer is not an address but data; bounds the work a page can ask for
DEFAULT_PORTS = {"http": 80, "https": 443, "ftp": 21, "gopher": 70}
_PORT = re.compile(r":(\d+)$")
_SCHEME = re.compile(r"[\x00-\x20]*([A-Za-z][A-Za-z0-9+.-]*):")
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
# Control characters would end a line of FTP or Gopher, and the rest be another command. A tab (%09) stands
# before the words of a Gopher search.
_ENDS_A_LINE = re.compile(r"%(?:0[0-8A-F]|1[0-9A-F]|7F)", re.IGNORECASE)


class UnfetchableUrl(BadUrl):
    """Raised by `resolve`.

    Attributes:
        reason: "scheme" (none of `DEFAULT_PORTS`), "malformed" or "length".
        scheme: as written, lower case ("mailto", "javascript", …); "" when there is none.
    """

    def __init__(self, href: str, reason: str) -> None:
        found = _SCHEME.match(href)
        self.reason = reason
        self.scheme = found[1].lower() if found else ""
        super().__init__(f"not a URL that can be crawled ({reason}): {href[:100]!r}; write https://host/path")


def resolve(href: str, base: str | None = None) -> str:
    """Return the absolute URL that `href` means on the page `base`: no fragment, no user name or password.

    About 2.5 µs. The result is ASCII without control characters, its path is never empty.

    Raises:
        UnfetchableUrl: its scheme is none of `DEFAULT_PORTS`, or it is no URL at all.

    Source: WHATWG URL, 4.4 URL parsing; `query_in` is for pages that are not in UTF-8.
    """
    if len(href) > MAX_HREF:
        raise UnfetchableUrl(href, "length")
    url = _parse(href, base).partition("#")[0]
    if not url.startswith("http") or not url.startswith(("http://", "https://")):
        url = _of_other_protocols(url, href)
    if "@" in url:
        url = replace_url(url, username="", password="")
    return url


def query_in(encoding: str, href: str) -> str:
    """Return a link of a page in that encoding with its query in it; the path stays for `resolve` and UTF-8.

    Source: HTML Standard, 2.4.2 "encoding-parse a URL"; WHATWG URL, 1.3 "percent-encode after encoding".
    """
    if href.isascii() or encoding.startswith("utf"):
        return href
    address, sharp, fragment = href.partition("#")
    path, mark, query = address.partition("?")
    query = _FOREIGN.sub(lambda run: quote(run[0].encode(encoding, "xmlcharrefreplace"), safe=""), query)
    return path + mark + query + sharp + fragment


def _parse(href: str, base: str | None) -> str:
    try:
        return normalize_url(href) if base is None else join_url(base, href)
    except ValueError:
        # Lone surrogates are replaced by U+FFFD, as a browser does before it parses.
        valid = href.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if valid != href:
            return _parse(valid, base)
        found = _SCHEME.match(href)
        foreign = found and found[1].lower() not in DEFAULT_PORTS
        raise UnfetchableUrl(href, "scheme" if foreign else "malformed") from None


def _of_other_protocols(url: str, href: str) -> str:
    """Return what is not of http as a URL of FTP or Gopher."""
    scheme, _, rest = url.partition("://")
    if scheme == "gopher" and rest:
        authority, slash, path = _parse(f"ftp://{rest}", None)[6:].partition("/")
        url = f"gopher://{authority.removesuffix(':70')}{slash}{path}"
    elif scheme != "ftp":
        raise UnfetchableUrl(href, "scheme")
    if _ENDS_A_LINE.search(url):
        raise UnfetchableUrl(href, "malformed")
    return url


def server(url: str) -> str:
    """Return scheme, host and port of a resolved URL: "http://a.example:8080", a default port left out."""
    return url[: url.index("/", url.index(":") + 3)]


def split(url: str) -> tuple[str, str]:
    """Return a resolved URL as its server and its path with query."""
    cut = url.index("/", url.index(":") + 3)
    return url[:cut], url[cut:]


def host_and_port(server: str) -> tuple[str, int]:
    """Return the host of a server, IPv6 without brackets, and its port, also where it is the default."""
    scheme, _, authority = server.partition("://")
    found = _PORT.search(authority)
    host = authority[: found.start()] if found else authority
    return host.strip("[]"), int(found[1]) if found else DEFAULT_PORTS[scheme]
