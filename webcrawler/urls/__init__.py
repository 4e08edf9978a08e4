"""Is this the same URL? On which server? Worth taking in at all?

`resolve` turns what a page or a person wrote into the spelling that is fetched, `canonical` turns that into
the one form by which a URL is known, `url_id` into 64 bits. `outlink` does all of it for a parser.
`registrable_domain` and `path_prefix` name the groups that budgets are kept for, `AddressRules` says which
addresses may be connected to, `Mirrors` what is a copy of what, `probe` what cannot exist. Check and fetch
both use these functions, so they cannot disagree about a host.
"""

from webcrawler.urls._canonical import NO_SUCH_PAGE, canonical, is_probe, probe, url_id
from webcrawler.urls._groups import path_prefix, registrable_domain
from webcrawler.urls._mirrors import Mirrors
from webcrawler.urls._outlink import DOCUMENTS, MAX_LENGTH, NAMED, Target, ending, gopher_item, is_at, outlink
from webcrawler.urls._resolve import (
    DEFAULT_PORTS,
    UnfetchableUrl,
    host_and_port,
    query_in,
    resolve,
    server,
    split,
)
from webcrawler.urls.addresses import AddressRules, is_address

__all__ = [
    "DEFAULT_PORTS",
    "DOCUMENTS",
    "MAX_LENGTH",
    "NAMED",
    "NO_SUCH_PAGE",
    "AddressRules",
    "Mirrors",
    "Target",
    "UnfetchableUrl",
    "canonical",
    "ending",
    "gopher_item",
    "host_and_port",
    "is_address",
    "is_at",
    "is_probe",
    "outlink",
    "path_prefix",
    "probe",
    "query_in",
    "registrable_domain",
    "resolve",
    "server",
    "split",
    "url_id",
]
