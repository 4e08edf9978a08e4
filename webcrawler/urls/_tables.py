"""What `canonical` knows about the web: oddities as data."""

import re

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

# Also the names of honest parameters: stripped only when the value looks drawn by lot.
STRIPPED_IF_TOKEN = frozenset({"sid", "s", "sess", "session", "sessionid", "session_id"})
SESSION_VALUE = re.compile(r"[0-9a-fA-F]{32,}").fullmatch

# Session ids in a path, taken out in this order: of servlets (`;jsessionid=…`), of ASP.NET (`/(S(…))`).
PATH_SESSIONS = (
    re.compile(r";(?:jsessionid|phpsessid)=[^;/]*", re.IGNORECASE),
    re.compile(r"/\([AFS]\([0-9A-Za-z]{24}\)\)(?=/|$)", re.IGNORECASE),
)

# Known mirrors: server -> the server that it copies ("http://www.example.org": "http://example.org").
# No target may be a key. Empty until a crawl shows one that matters.
MIRRORS: dict[str, str] = {}
