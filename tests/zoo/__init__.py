"""A web of hostile servers, and crawls of it: what a crawler has to survive, a function each.

`server` serves them on loopback addresses of their own; `framing`, `slow`, `sizes`, `encodings`, `redirects`,
`content`, `documents`, `tls` and `traps` are the behaviours; `probe` watches from within the crawl, `watch`
from without.
The numbers (N4, C1, T5) are those of the list of threats that the behaviours come from.
"""
