"""Who may ask, how often, and under which host name? This holds for every request."""

from webcrawler.web.guard.hosts import KnownHosts, host_of, is_loopback, known_hosts
from webcrawler.web.guard.limits import CLIENT, ClientLimits, Proxies, networks
from webcrawler.web.guard.origins import AllowedOrigins, origins
from webcrawler.web.guard.protocol import TimeoutProtocol, give_time
from webcrawler.web.guard.root import BelowRoot
from webcrawler.web.guard.security import HANDING_OVER, JUDGING, USED, RequestBounds, SecurityHeaders
from webcrawler.web.guard.tokens import KEY_BYTES, Tokens, check_sender, is_foreign, key_of

__all__ = [
    "CLIENT",
    "HANDING_OVER",
    "JUDGING",
    "KEY_BYTES",
    "USED",
    "AllowedOrigins",
    "BelowRoot",
    "ClientLimits",
    "KnownHosts",
    "Proxies",
    "RequestBounds",
    "SecurityHeaders",
    "TimeoutProtocol",
    "Tokens",
    "check_sender",
    "give_time",
    "host_of",
    "is_foreign",
    "is_loopback",
    "key_of",
    "known_hosts",
    "networks",
    "origins",
]
