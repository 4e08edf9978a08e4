"""How does any spider use the frontier? With `SCHEDULER`, or the add-on, and nothing else.

`SpiderWorker` hands leases to a spider's callbacks and takes what they yield for the links of the lease;
`kept` turns requests into JSON and back; `seeds` reads those that people push to a Redis key.
"""

from webcrawler.crawl.base import Worker, is_crawl
from webcrawler.crawl.dropin.project import identity_of, key_of, key_of_get, options, seeds_key
from webcrawler.crawl.dropin.worker import SpiderWorker

__all__ = [
    "SpiderWorker",
    "Worker",
    "identity_of",
    "is_crawl",
    "key_of",
    "key_of_get",
    "options",
    "seeds_key",
]
