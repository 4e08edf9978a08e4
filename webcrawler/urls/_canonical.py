"""The one form by which a URL is known.

Source: Mengozzi (EW), the list of canonicalisation rules. Departures: paths keep their case, the size is
limited by `refusal`, and a port is left out only where it is the scheme's own.
"""

from __future__ import annotations

import re
from hashlib import blake2b

from ada_url import normalize_url

from webcrawler.urls._resolve import resolve, split
from webcrawler.urls._tables import (
    MIRRORS,
    PATH_SESSIONS,
    PATH_SPELLINGS,
    QUERY_SPELLINGS,
    SESSION_VALUE,
    STRIPPED_IF_TOKEN,
    STRIPPED_NAMES,
    STRIPPED_PREFIXES,
)

# Neither percent-encoded nor one of these: nothing to do. `;` and `(` may open a session id.
_PLAIN_PATH = re.compile(r"[A-Za-z0-9/._~!$&'*+,:=@-]*").fullmatch
_SPELLED = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9/._~!$&'()*+,:;=?@-]")
_INDEX = ("/index.html", "/index.htm")


def canonical(url: str) -> str:
    """Return the canonical URL; the same for all spellings of an address that a server would not tell apart.

    Idempotent, and never raises for what `resolve` has returned.

    Raises:
        UnfetchableUrl: as `resolve`, for other texts.
    """
    return canonical_of(resolve(url))


def canonical_of(url: str) -> str:
    """Return the canonical URL of a resolved one."""
    server, rest = split(url)
    path, _, query = rest.partition("?")
    if server.endswith(".") or server.count(":") > 1:
        server = _without_root_dot(server)
    if not _PLAIN_PATH(path):
        path = _canonical_path(path)
    if path.endswith(_INDEX):
        path = path[: path.rindex("/") + 1]
    url = MIRRORS.get(server, server) + path
    query = query and _canonical_query(query)
    return f"{url}?{query}" if query else url


def url_id(url: str) -> int:
    """Return the URL id, a signed 64-bit hash of a canonical URL.

    Two of ten million URLs share an id by chance with a probability of 3 in a million.
    """
    return int.from_bytes(blake2b(url.encode(), digest_size=8).digest(), signed=True)


def _without_root_dot(server: str) -> str:
    """`a.example.` is `a.example` (RFC 1034, 3.1); `a..` is no name and stays as it is."""
    return re.sub(r"(?<=[^./])\.(?=:\d+$|$)", "", server)


def _canonical_path(path: str) -> str:
    path = _SPELLED.sub(lambda spelled: _respell(spelled[0], PATH_SPELLINGS), path)
    shorter = path
    for session in PATH_SESSIONS:
        shorter = session.sub("", shorter)
    if shorter != path:  # `..;jsessionid=1` has become a dot segment
        path = split(normalize_url("http://h" + (shorter or "/")))[1]
    return path


def _canonical_query(query: str) -> str:
    if not query.isalnum():
        query = _SPELLED.sub(lambda spelled: _respell(spelled[0], QUERY_SPELLINGS), query)
    return "&".join(part for part in query.split("&") if not _is_stripped(part))


def _respell(spelled: str, spellings: dict[str, str]) -> str:
    """Return the one spelling of a percent-encoded byte, or of a character that must be encoded."""
    code = spelled.upper() if len(spelled) == 3 else f"%{ord(spelled):02X}"
    return spellings.get(code, code)


def _is_stripped(part: str) -> bool:
    name, _, value = part.partition("=")
    name = name.lower()
    if name in STRIPPED_NAMES or name.startswith(STRIPPED_PREFIXES):
        return True
    return name in STRIPPED_IF_TOKEN and SESSION_VALUE(value) is not None
