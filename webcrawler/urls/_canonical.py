"""The one form by which a URL is known.

Source: Mengozzi (EW), the list of canonicalisation rules. Departures: paths keep their case, the size is
limited by `refusal`, known mirrors are a table of their own (`Mirrors`), and a port is left out only where it
is the scheme's own. What is known of the web's
oddities stands first, as data.
"""

from __future__ import annotations

import re
from hashlib import blake2b

from ada_url import normalize_url

from webcrawler.urls._resolve import resolve, server, split

_UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"


def _decoded(characters: str) -> dict[str, str]:
    return {f"%{ord(character):02X}": character for character in characters}


# Percent-encoded bytes that are written plainly. RFC 3986, 6.2.2.2 asks for the unreserved characters. In a
# path the delimiters delimit nothing for a server but `;` (parameters) and `/`: they are one with their code.
PATH_SPELLINGS = _decoded(_UNRESERVED + "!$&'()*+,:=@")
# In a query `+`, `&`, `=` and `;` mean something else when they are encoded.
QUERY_SPELLINGS = _decoded(_UNRESERVED + "!()*")

# Names of query parameters that say who came from where, never which page; lower case.
_CLICKS = """gclid gclsrc gbraid wbraid dclid fbclid msclkid yclid ysclid twclid ttclid igshid igsh
    mc_cid mc_eid _ga _gl _hsenc _hsmi __hssc __hstc __hsfp hsctatracking mkt_tok vero_id vero_conv
    oly_anon_id oly_enc_id wickedid li_fat_id rb_clickid s_kwcid zanpid _openstat"""
_SESSIONS = """phpsessid phpsession jsessionid asp.net_sessionid cfid cftoken oscsid
    zenid mscsid"""
STRIPPED_NAMES = frozenset(f"{_CLICKS} {_SESSIONS}".split())
STRIPPED_PREFIXES = ("utm_", "aspsessionid")

# Also the names of honest parameters: stripped only when the value looks random.
STRIPPED_IF_TOKEN = frozenset({"sid", "s", "sess", "session", "sessionid", "session_id"})
SESSION_VALUE = re.compile(r"[0-9a-fA-F]{32,}").fullmatch

# Session ids in a path, taken out in this order: of servlets (`;jsessionid=…`), of ASP.NET (`/(S(…))`).
PATH_SESSIONS = (
    re.compile(r";(?:jsessionid|phpsessid)=[^;/]*", re.IGNORECASE),
    re.compile(r"/\([AFS]\([0-9A-Za-z]{24}\)\)(?=/|$)", re.IGNORECASE),
)

# Neither percent-encoded nor one of these: nothing to do. `;` and `(` may open a session id.
_PLAIN_PATH = re.compile(r"[A-Za-z0-9/._~!$&'*+,:=@-]*").fullmatch
_SPELLED = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9/._~!$&'()*+,:;=?@-]")
_INDEX = ("/index.html", "/index.htm")


def canonical(url: str) -> str:
    """Return the canonical URL; the same for all spellings of an address, and for what is likely one page.

    Left out are session ids, parameters that say who came from where, and a final index.html.
    Idempotent, and never raises for what `resolve` has returned.

    Raises:
        UnfetchableUrl: as `resolve`, for other texts.
    """
    return canonical_of(resolve(url))


def canonical_of(url: str) -> str:
    """Return the canonical URL of a resolved one."""
    server, rest = split(url)
    path, _, query = rest.partition("?")
    if server.endswith(".") or server.count(":") > 1:  # `a.example.` is `a.example` (RFC 1034)
        server = re.sub(r"(?<=[^./])\.(?=:\d+$|$)", "", server)
    if not _PLAIN_PATH(path):
        path = _canonical_path(path)
    if path.endswith(_INDEX) and url.startswith("http"):  # FTP answers `/` with what is in the folder
        path = path[: path.rindex("/") + 1]
    url = server + path
    if query:
        if not query.isalnum():
            query = _SPELLED.sub(lambda spelled: _respell(spelled[0], QUERY_SPELLINGS), query)
        query = "&".join(part for part in query.split("&") if not _is_stripped(part))
    return f"{url}?{query}" if query else url


def url_id(url: str) -> int:
    """Return the URL id, a signed 64-bit hash of a canonical URL.

    Two of ten million URLs share an id by chance with a probability of 3 in a million.
    """
    return int.from_bytes(blake2b(url.encode(), digest_size=8).digest(), signed=True)


def _canonical_path(path: str) -> str:
    path = _SPELLED.sub(lambda spelled: _respell(spelled[0], PATH_SPELLINGS), path)
    shorter = path
    for session in PATH_SESSIONS:
        shorter = session.sub("", shorter)
    if shorter != path:  # `..;jsessionid=1` has become a dot segment
        path = split(normalize_url("http://h" + (shorter or "/")))[1]
    return path


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


NO_SUCH_PAGE = "-no-such-page"


def probe(name: str) -> str:
    """The canonical URL that is asked of a server: the same one each time, which no other site has."""
    return canonical(f"{name}/{blake2b(name.encode(), digest_size=8).hexdigest()}{NO_SUCH_PAGE}")


def is_probe(url: str) -> bool:
    """Is this canonical URL its server's probe? It is never a document, however it came to be fetched."""
    return url.endswith(NO_SUCH_PAGE) and url == probe(server(url))
