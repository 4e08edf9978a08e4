"""May I fetch this? The Robots Exclusion Protocol, RFC 9309; sections in this room are its.

`verdict` turns an answer to /robots.txt into the `Rules` for one crawler: `_rules` reads those that speak
to it, `_matcher` says which of them decides on a path.
Pure functions; any bytes are accepted, and the first `MAX_BYTES` count. Where the RFC leaves a choice, they
do as Google's parser does.
"""

from webcrawler.robots._rules import (
    ALLOW_ALL,
    MAX_BYTES,
    Rules,
    deciding_line,
    product_token,
    robots_url,
    verdict,
)

__all__ = ["ALLOW_ALL", "MAX_BYTES", "Rules", "deciding_line", "product_token", "robots_url", "verdict"]
